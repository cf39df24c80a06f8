"""`cogniload compare A B --until`: two runs' models answer the same puzzles, block by block.

Each block of each model is one shard of its evaluation, so what is answered stays, and a command
that is started again goes on behind it.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from reprlib import repr as brief
from typing import NamedTuple

from cogniload_gen.files.run_folder import Block, RunFolder, id_of
from cogniload_gen.files.whole import make_inner_folder
from lm_eval_tasks.recorded import evaluate_again, recorded_arguments
from lm_eval_tasks.task_names import our_tasks


class Count(NamedTuple):
    """Puzzles that both models answered, and those that only the first or the second solved."""

    puzzles: int
    only_first: int
    only_second: int


def answer_in_turn(
    runs: Mapping[str, Path], out: Path, budget: int, block_size: int
) -> Iterator[Count]:
    """Have the models of two runs answer the same puzzles, and yield the count after each block.

    `runs` are two folders of `cogniload eval` by name. Models, decoding and the task are those
    that they recorded, and the task must be the same and ours: the puzzles are its first `budget`
    rows. The answers go to `out`, a folder for each name. ValueError for runs of different tasks,
    of none or of others, whose code would run, and for an `out` with other answers.
    """
    begun = [RunFolder(run / "state").begun().arguments for run in runs.values()]
    tasks = [
        [f"--tasks={','.join(run.tasks)}", f"--metadata={json.dumps(run.metadata)}"]
        for run in begun
    ]
    if tasks[0] != tasks[1]:
        raise ValueError(f"the two runs must be of the same puzzles, got {tasks[0]} and {tasks[1]}")
    if others := {*",".join(begun[0].tasks).split(",")} - {*our_tasks()}:
        raise ValueError(f"the two runs must be of tasks of ours, got {brief(min(others))}")
    limit, blocks = ["--limit", str(budget)], -(-budget // block_size)
    settings = [[*tasks[0], *limit, *recorded_arguments(run, [])] for run in runs.values()]
    make_inner_folder(out)
    for number in range(1, blocks + 1):
        for name, arguments in zip(runs, settings, strict=True):
            if not RunFolder(out / name / "state").is_done(Block(number, "", ())):
                shard = {"shard": f"{number}/{blocks}", "block_size": block_size}
                evaluate_again(out / name, arguments, **shard)
        first, second = (read_solved(out / name, number) for name in runs)
        both = first.keys() & second.keys()
        alone = [sum(first[id] != second[id] == right for id in both) for right in (False, True)]
        yield Count(len(both), *alone)


def read_solved(folder: Path, blocks: int) -> dict[object, bool]:
    """Return whether a run solved each puzzle of its first blocks, by the puzzles' ids."""
    state = RunFolder(folder / "state")
    done = [block for block in state.done_blocks(state.begun()) if block.number <= blocks]
    samples = (sample for block in done for _, sample in state.read_block(block))
    return {id_of(sample): sample.get("acc") == 1 for sample in samples}

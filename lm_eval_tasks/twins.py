"""`cogniload why`: a run's model is asked the twins of the puzzles that it failed and solved."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from cogniload_gen.twins import make_twins, write_twins
from lm_eval_tasks.recorded import evaluate_again, recorded_arguments
from lm_eval_tasks.task_names import refuse_files

TWINS, ANSWERS = Path("puzzles") / "twins.parquet", "answers"
"""What `why` writes into its folder: the puzzles, and the evaluation of them."""


def ask_twins(
    run: Path,
    out: Path,
    budget: int,
    seed: int,
    others: Sequence[str] = (),
    shard: str | None = None,
) -> Path:
    """Ask a run's model the twins of its puzzles, and return the folder of the results.

    The model and its decoding are those that the run recorded; `others` are arguments of lm-eval
    that go before them, and `shard` is I/N. Twins that are answered stay. ValueError for what can't
    be evaluated, for a run that names a file as its task, and for an `out` with other twins.
    """
    settings = recorded_arguments(run, others)
    twins, file = make_twins(run, budget, seed), out / TWINS
    refuse_files([twins.task])
    if not file.exists():
        write_twins(twins, file)
    elif pq.read_table(file, columns=["id"])["id"] != twins.table["id"]:
        raise ValueError(f"{out} holds other twins, of another budget or seed: name another --out")
    limit = {"context_budget": twins.context_budget} if twins.context_budget is not None else {}
    metadata = json.dumps({twins.benchmark.dataset: {"path": str(file.parent)} | limit})
    arguments = [f"--tasks={twins.task}", f"--metadata={metadata}", *settings, *others]
    try:
        evaluate_again(out / ANSWERS, arguments, shard)
    finally:
        if not (out / ANSWERS).exists():  # nothing could be asked
            shutil.rmtree(out)
    return out / ANSWERS

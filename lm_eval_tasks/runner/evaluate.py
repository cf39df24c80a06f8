"""`cogniload eval`'s evaluation by lm-eval, in blocks that a crash leaves whole.

lm-eval writes its results when all is done. Here it evaluates a block of documents at a time, in
one process that loads the model once (`blocks.py`); a block's samples are on the disk before the
next begins (`store.py`), and lm-eval's own aggregation makes one result set of all blocks, in its
layout (`results.py`). Shards are processes that evaluate every Nth block. `command.py` is where the
command begins.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from lm_eval.config.evaluate_config import EvaluatorConfig

from cogniload_gen.extras import require
from cogniload_gen.files.inputs import show_controls
from cogniload_gen.files.run_folder import Block
from lm_eval_tasks.runner.arguments import read_configuration
from lm_eval_tasks.runner.blocks import Evaluator
from lm_eval_tasks.runner.caps import Caps, Spending
from lm_eval_tasks.runner.credentials import hidden
from lm_eval_tasks.runner.model import load_model
from lm_eval_tasks.runner.progress import each_warning_once
from lm_eval_tasks.runner.results import merge, print_results, write_results
from lm_eval_tasks.runner.run import Evaluation, resolve
from lm_eval_tasks.runner.search import Until
from lm_eval_tasks.runner.store import Store


def run(arguments: Namespace, others: Sequence[str], include_path: str | None = None) -> None:
    """Run `cogniload eval`, with our arguments in `arguments` and lm-eval's in `others`.

    `include_path` holds the tasks that --merge may load besides the installed ones.
    """
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as lm-eval's own command does
    try:
        with hidden({}), each_warning_once():
            if arguments.merge:
                out = arguments.output_path or arguments.merge[0]
                print_results(merge(arguments.merge, out, include_path))
                say_next(f"cogniload report {out} --out {out / 'report'}")
            else:
                config, ours = read_configuration(arguments, others)
                if config.model == "vllm":
                    require("--model vllm", "vllm", ["vllm"])
                with hidden(config.model_args):
                    evaluate(config, **ours)
    except ImportError as error:  # what a task needs, or another lm-eval (`lm_eval_private.py`)
        raise ValueError(error) from error
    except RecursionError:
        raise ValueError("an argument or a file is nested too deeply") from None


def say_next(command: str) -> None:
    """Write the command that usually follows to standard error."""
    print(f"next: {show_controls(command)}", file=sys.stderr)


def evaluate(
    config: EvaluatorConfig,
    *,
    folder: Path,
    shard: tuple[int, int],
    block_size: int | None,
    until: Until | None,
    caps: Caps,
) -> None:
    """Evaluate the blocks of a shard that are not done, up to a cap; a whole run is merged."""
    store, (index, shards) = Store(folder / "state"), shard
    evaluation = resolve(config, store, block_size, until)
    search, blocks = evaluation.search, evaluation.blocks()
    mine = search.catch_up() if search else blocks[index - 1 :: shards]
    with store.hold([] if search else mine) as lock:
        if not all(map(store.is_done, mine)):
            model, run = load_model(config, evaluation.run, evaluation.context_budget)
            if begun := store.read_run():
                begun.refuse_another(folder, run)
            settings = f"{index}/{shards}", config.confirm_run_unsafe_code
            spending = Spending(store, caps)
            evaluator = Evaluator(model, run, evaluation.tasks, store, lock, *settings, spending)
            if search:
                evaluator.evaluate_search(search, wait=shards > 1)
            else:
                evaluator.evaluate_blocks(mine)
    if not all(map(store.is_done, search.catch_up() if search else mine)):
        say_next("the same command with a higher cap goes on")
        return
    if search:
        search.hand_documents(evaluation.tasks)
        print("\n".join(search.design.summary()))
    finish(folder, store, evaluation, blocks, shard)


def finish(
    folder: Path,
    store: Store,
    evaluation: Evaluation,
    blocks: Sequence[Block],
    shard: tuple[int, int],
) -> None:
    """Print what a shard leaves to others, or the results of the whole; then the next command."""
    index, shards = shard
    if shards > 1:
        left = sum(not store.is_done(block) for block in blocks)
        print(f"shard {index}/{shards} is done; of all {len(blocks)} blocks, {left} are left")
        say_next(f"cogniload eval --merge {folder}" + (", when all are done" if left else ""))
        return
    places = dict.fromkeys((block.number for block in blocks), store)
    print_results(write_results(folder, store.begun(), evaluation.loaded, blocks, places))
    say_next(f"cogniload report {folder} --out {folder / 'report'}")

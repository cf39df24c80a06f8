"""`cogniload eval`'s evaluation by lm-eval, in blocks that a crash leaves whole.

lm-eval writes its results when all is done. Here it evaluates a block of documents at a time, in
one process that loads the model once (`blocks.py`); a block's samples are on the disk before the
next begins (`store.py`), and lm-eval's own aggregation makes one result set of all blocks, in its
layout (`results.py`). Shards are processes that evaluate every Nth block. `command.py` is where the
command begins.
"""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers.utils import add_env_info, add_tokenizer_info, get_commit_from_path
from msgspec.structs import replace

from cogniload_gen.extras import require
from cogniload_gen.files.run_folder import Block, RunSpec
from lm_eval_tasks.responses import keep_what_is_said
from lm_eval_tasks.runner.arguments import arguments_of, read_configuration
from lm_eval_tasks.runner.blocks import Evaluator
from lm_eval_tasks.runner.client import fill_every_slot
from lm_eval_tasks.runner.credentials import hidden, public
from lm_eval_tasks.runner.progress import each_warning_once
from lm_eval_tasks.runner.results import merge, print_results, write_results
from lm_eval_tasks.runner.run import Evaluation, describe_model, plain, resolve
from lm_eval_tasks.runner.search import BLOCK_SIZE as BLOCK_SIZE_UNTIL
from lm_eval_tasks.runner.search import Search, Until
from lm_eval_tasks.runner.server import check_server, vllm_version
from lm_eval_tasks.runner.store import Store

BLOCK_SIZE = 350
"""Documents: 40 blocks of the paper's grid, which 2, 4, 5, 8, 10 and 20 shards share evenly."""


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
    print(f"next: {command}", file=sys.stderr)


def evaluate(
    config: EvaluatorConfig,
    *,
    folder: Path,
    shard: tuple[int, int],
    block_size: int | None,
    until: Until | None,
) -> None:
    """Evaluate the blocks of a shard that are not done; the whole, when done, is merged."""
    arguments, free = arguments_of(config)
    if until:
        arguments["until"] = until
    store, start = Store(folder / "state"), time.time()
    begun = store.read_run()
    usual = BLOCK_SIZE_UNTIL if until else BLOCK_SIZE
    evaluation = resolve(
        arguments,
        block_size or (begun.block_size if begun else usual),
        include_path=config.include_path,
        metadata=arguments["model_args"] | arguments["metadata"],
    )
    now = evaluation.run
    if begun:
        begun.refuse_another(folder, now)
    search = Search(store, now) if until else None
    index, shards = shard
    blocks = search.blocks if search else evaluation.blocks()
    mine = search.catch_up() if search else blocks[index - 1 :: shards]
    with store.hold([] if search else mine) as lock:
        if not search:
            store.clean(mine)
        if not all(store.is_done(block) for block in mine):
            model = load_model(config)
            served = check_server(model, evaluation.context_budget)
            facts = describe_model(model, config.apply_chat_template, served)
            now = replace(now, model=facts, recorded=recorded(model, free, start))

            def begin() -> RunSpec:
                """Write what is begun, unless another process began the same."""
                with lock.setup():
                    begun = store.read_run()
                    if begun:
                        begun.refuse_another(folder, now)
                        return begun
                    store.write_run(now)
                    return now

            if begun:
                begun.refuse_another(folder, now)
            name = f"{index}/{shards}"
            evaluator = Evaluator(model, config, evaluation.tasks, store, begin, name)
            if search:
                evaluator.evaluate_search(search, lock, wait=shards > 1)
            else:
                evaluator.evaluate_blocks(mine)
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


def load_model(config: EvaluatorConfig) -> LM:
    """Return the model, in lm-eval's backend; ValueError if it can't be loaded."""
    sizes = {name: getattr(config, name) for name in ("batch_size", "max_batch_size", "device")}
    try:
        model = get_model(config.model).create_from_arg_obj(config.model_args, sizes)
    except Exception as error:  # every backend fails in its own way
        raise ValueError(f"{config.model}: {error or type(error).__name__}") from error
    if model.world_size > 1:
        raise ValueError(f"--shard takes the place of {model.world_size} processes in one run")
    keep_what_is_said(model)
    fill_every_slot(model)
    return model


def recorded(model: LM, free: dict[str, Any], start: float) -> dict[str, Any]:
    """Return what else lm-eval's results say of a run that began at `start`, in seconds."""
    facts: dict[str, Any] = {
        "date": start,
        "arguments": free,
        "git_hash": get_commit_from_path(Path.cwd()),
        "vllm_version": vllm_version(model),
    }
    add_env_info(facts)
    if hasattr(model, "tok_encode"):
        add_tokenizer_info(facts, model)
    shown: dict[str, Any] = public(plain(facts))
    return shown

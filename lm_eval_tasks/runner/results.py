"""Blocks on the disk -> one result set in lm-eval's layout, aggregated by lm-eval itself."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable, make_table

from cogniload_gen.files.inputs import MALFORMED, read_whole, show_controls
from cogniload_gen.files.run_folder import Block, RunFolder, RunSpec
from cogniload_gen.files.whole import make_inner_folder
from lm_eval_tasks.lm_eval_private import aggregate, experiment
from lm_eval_tasks.metrics import Fields
from lm_eval_tasks.runner.run import resolve_again
from lm_eval_tasks.runner.store import Store, write_lines

SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
"""lm-eval's names for the four of --seed."""

BOOTSTRAP_ITERS = 100_000
"""lm-eval's own default, for the standard errors that have no formula."""


def merge(folders: Sequence[Path], out: Path, include_path: str | None = None) -> Path:
    """Write one result set of lm-eval's below `out`, of the blocks in the folders.

    Return the results file. Only tasks that are installed, or below `include_path`, are loaded.
    ValueError if the folders are not of one run, or were begun with another version than is
    installed, or a block is missing or damaged.
    """
    stores = [Store(Path(folder) / "state") for folder in folders]
    runs = [store.begun() for store in stores]
    run = runs[0]
    for folder, other in zip(folders, runs, strict=True):
        other.refuse_another(folder, run)
    evaluation = resolve_again(stores[0], run, include_path)
    blocks, search = evaluation.blocks(), evaluation.search
    if search:
        if len(folders) > 1:
            raise ValueError("--merge takes one folder of a run with --until: its shards share it")
        if search.catch_up():
            raise ValueError(
                f"{folders[0]}: the design is not done ({search.design.line}): "
                "the same command again goes on"
            )
        search.hand_documents(evaluation.tasks)
    places = product(reversed(stores), blocks)
    where = {block.number: store for store, block in places if store.is_done(block)}
    missing = [block.number for block in blocks if block.number not in where]
    if missing:
        names = ", ".join(map(str, missing[:20])) + (", ..." if len(missing) > 20 else "")
        raise ValueError(
            f"{', '.join(map(str, folders))}: {len(missing)} of {len(blocks)} blocks are missing: "
            f"{names} (shard I/N evaluates blocks I, I + N, I + 2N, ...)"
        )
    return write_results(out, run, evaluation.loaded, blocks, where)


def write_results(
    out: Path,
    run: RunSpec,
    loaded: TaskDict,
    blocks: Sequence[Block],
    where: Mapping[int, RunFolder],
) -> Path:
    """Write samples_*.jsonl of each task, then results_*.json, as lm-eval names and fills them.

    They have the date of the newest block, so the same blocks are one result set, however often
    they are merged: one that is there is left as it is, and of two processes that merge at once,
    one waits for the other.
    """
    names = experiment(
        run.arguments.model,
        run.model_args,
        system_instruction=run.arguments.system_instruction,
        chat_template=run.model.get("chat_template"),
        fewshot_as_multiturn=bool(run.arguments.fewshot_as_multiturn),
    )
    # ".." would lead out of the folder
    folder = out / re.sub(r"^\.{1,2}$", "__", str(names["model_name_sanitized"]))
    make_inner_folder(folder)
    newest = max(where[block.number].file(block).stat().st_mtime for block in blocks)
    date = datetime.fromtimestamp(newest).isoformat().replace(":", "-")
    path = folder / f"results_{date}.json"
    with Store(out / "state").hold([]) as lock, lock.setup():
        if path.exists():
            return path
        for leftover in folder.glob(".*.part"):  # of a merge that was killed
            leftover.unlink(missing_ok=True)
        hashes: dict[str, str] = {}
        metrics: dict[str, dict[tuple[str, str], list[Any]]] = {}
        for name in loaded["tasks"]:
            metrics[name], digest = defaultdict(list), sha256()
            done = ((block, where[block.number]) for block in blocks if block.task == name)
            lines = gather_samples(done, metrics[name], digest)
            # one that is there is of a merge that was killed before it had written the results
            write_lines(folder / f"samples_{name}_{date}.jsonl", lines, force=True)
            hashes[name] = digest.hexdigest()
        try:
            results = aggregate(loaded["tasks"], metrics, loaded["groups"], BOOTSTRAP_ITERS)
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            raise ValueError(
                f"{folder}: lm-eval can't aggregate the metrics of the samples: {error!r}"
            ) from error
        recorded = {name: fact for name, fact in run.recorded.items() if name != "arguments"}
        results["config"] = configuration(run)
        results |= recorded | {"task_hashes": hashes} | names
        written = json.dumps(results, indent=2, default=handle_non_serializable, ensure_ascii=False)
        write_lines(path, [written.encode("utf-8", "backslashreplace")])
    return path


def configuration(run: RunSpec) -> dict[str, Any]:
    """Return the "config" of lm-eval's results."""
    arguments, settings = run.arguments, {"until": run.until} if run.until else {}
    return {
        "model": arguments.model,
        **{name: fact for name, fact in run.model.items() if name != "chat_template"},
        **run.recorded["arguments"],
        "model_args": run.model_args,
        "batch_sizes": [],
        "use_cache": None,
        "limit": arguments.limit,
        "bootstrap_iters": BOOTSTRAP_ITERS,
        "gen_kwargs": arguments.gen_kwargs,
        **dict(zip(SEEDS, arguments.seed or 4 * [None], strict=True)),
        "block_size": run.block_size,
        **settings,
    }


def gather_samples(
    done: Iterable[tuple[Block, RunFolder]], metrics: dict[tuple[str, str], list[Any]], digest: Any
) -> Iterator[bytes]:
    """Yield the lines of blocks; collect their metrics, and lm-eval's hash of their documents.

    `digest` is a hash of hashlib's.
    """
    for block, folder in done:
        for line, sample in folder.read_block(block):
            for name, value in Fields((name, sample[name]) for name in sample["metrics"]).items():
                metrics[name, sample["filter"]].append(with_tuples(value))
            for part in ("doc_hash", "prompt_hash", "target_hash"):
                digest.update(sample[part].encode())
            yield line


def with_tuples(value: Any) -> Any:
    """Return a metric's value as it was before JSON: a number, a string or a tuple of them."""
    return tuple(map(with_tuples, value)) if isinstance(value, list) else value


def print_results(path: Path) -> None:
    """Print lm-eval's table of a results file, and where that is; ValueError for no results."""
    try:
        results = json.loads(read_whole(path))
        for column in ("results", "groups"):
            if column in results:
                results[column] = {name: keep_numbers(row) for name, row in results[column].items()}
                print(show_controls(make_table(results, column)))
    except MALFORMED as error:  # of a folder that is anyone's
        raise ValueError(f"{path} must be results of lm-eval: {error}") from None
    print(f"results  {show_controls(str(path))}")


def keep_numbers(row: dict[str, Any]) -> dict[str, Any]:
    """Return a task's results without the metrics that have no number, as where none is known."""
    words = {
        name
        for name, value in row.items()
        if "," in name and "_stderr," not in name and not isinstance(value, int | float)
    }
    return {
        name: value for name, value in row.items() if name.replace("_stderr,", ",") not in words
    }

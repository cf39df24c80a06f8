"""Blocks on the disk -> one result set in lm-eval's layout, aggregated by lm-eval itself."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable, make_table

from cogniload_gen.files.whole import make_inner_folder
from lm_eval_tasks.lm_eval_private import aggregate, experiment
from lm_eval_tasks.runner.begun import Run
from lm_eval_tasks.runner.cut import Block, cut_in_blocks
from lm_eval_tasks.runner.plan import (
    describe,
    documents_of,
    ids_of,
    load_tasks,
    refuse_another,
)
from lm_eval_tasks.runner.state import State, write_lines
from lm_eval_tasks.runner.until import whole_search

SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
"""lm-eval's names for the four of --seed."""

BOOTSTRAP_ITERS = 100_000
"""lm-eval's own default, for the standard errors that have no formula."""


class Hash(Protocol):
    """What is told of bytes, one after the other, as hashlib's hashes are."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes."""


def merge(folders: Sequence[Path], out: Path) -> Path:
    """Write one result set of lm-eval's below `out`, of the blocks in the folders.

    Return the results file. ValueError if the folders are not of one run, or were begun with
    another version than is installed, or a block is missing or damaged.
    """
    states = [State(Path(folder) / "state") for folder in folders]
    runs = [state.begun() for state in states]
    for folder, begun in zip(folders, runs, strict=True):
        refuse_another(folder, begun, runs[0])
    arguments, told = runs[0]["arguments"], runs[0]["recorded"]
    whole = arguments | {"model_args": arguments["model_args"] | told["arguments"]["model_args"]}
    loaded = load_tasks(whole, told["arguments"]["include_path"])
    size = runs[0]["block_size"]
    refuse_another(folders[0], runs[0], describe(arguments, loaded["tasks"], size))
    tasks = loaded["tasks"]
    if "until" in arguments:
        search = whole_search(folders, states[0], runs[0])
        tasks[search.asked.name].dataset["test"] = search.documents()
        blocks = search.blocks
    else:
        blocks = cut_in_blocks(documents_of(tasks, arguments), size, ids_of(tasks))
    where = {
        block.number: next((state for state in states if state.is_done(block)), None)
        for block in blocks
    }
    found = {number: state for number, state in where.items() if state is not None}
    refuse_missing(folders, blocks, found)
    return write_results(out, runs[0], loaded, blocks, found)


def refuse_missing(
    folders: Sequence[Path], blocks: Sequence[Block], where: Mapping[int, State]
) -> None:
    """Raise ValueError that names the blocks that are in no folder."""
    missing = [block.number for block in blocks if block.number not in where]
    if missing:
        names = ", ".join(map(str, missing[:20])) + (", ..." if len(missing) > 20 else "")
        raise ValueError(
            f"{', '.join(map(str, folders))}: {len(missing)} of {len(blocks)} blocks are missing: "
            f"{names} (shard I/N evaluates blocks I, I + N, I + 2N, ...)"
        )


def write_results(
    out: Path, run: Run, loaded: TaskDict, blocks: Sequence[Block], where: Mapping[int, State]
) -> Path:
    """Write samples_*.jsonl of each task, then results_*.json, as lm-eval names and fills them.

    They have the date of the newest block, so the same blocks are one result set, however often
    they are merged: one that is there is left as it is, and of two processes that merge at once,
    one waits for the other.
    """
    model, told = dict(run["model"]), dict(run["recorded"])
    free = told.pop("arguments")
    names = names_of(run, model.pop("chat_template", None))
    folder = out / str(names["model_name_sanitized"])
    make_inner_folder(folder)
    newest = max(where[block.number].file(block).stat().st_mtime for block in blocks)
    date = datetime.fromtimestamp(newest).isoformat().replace(":", "-")
    path = folder / f"results_{date}.json"
    with State(out / "state").hold([]) as lock, lock.setup():
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
        results["config"] = configuration(run, model, free)
        results |= told | {"task_hashes": hashes} | names
        written = json.dumps(results, indent=2, default=handle_non_serializable, ensure_ascii=False)
        write_lines(path, [written.encode("utf-8", "backslashreplace")])
    return path


def names_of(run: Run, chat_template: str | None) -> dict[str, Any]:
    """Return what lm-eval's results tell of an experiment: the model's names, how it is asked."""
    arguments, free = run["arguments"], run["recorded"]["arguments"]
    return experiment(
        arguments["model"],
        arguments["model_args"] | free["model_args"],
        system_instruction=arguments["system_instruction"],
        chat_template=chat_template,
        fewshot_as_multiturn=bool(arguments["fewshot_as_multiturn"]),
    )


def configuration(run: Run, model: dict[str, Any], free: dict[str, Any]) -> dict[str, Any]:
    """Return the "config" of lm-eval's results."""
    arguments, until = run["arguments"], {}
    if "until" in arguments:
        fingerprint = {name: run["versions"][name] for name in ("design", "prior")}
        until = {"until": arguments["until"] | fingerprint}
    return {
        "model": arguments["model"],
        **model,
        **free,
        "model_args": arguments["model_args"] | free["model_args"],
        "batch_sizes": [],
        "use_cache": None,
        "limit": arguments["limit"],
        "bootstrap_iters": BOOTSTRAP_ITERS,
        "gen_kwargs": arguments["gen_kwargs"],
        **dict(zip(SEEDS, arguments["seed"] or 4 * [None], strict=True)),
        "block_size": run["block_size"],
        **until,
    }


def gather_samples(
    done: Iterable[tuple[Block, State]], metrics: dict[tuple[str, str], list[Any]], digest: Hash
) -> Iterator[bytes]:
    """Yield the lines of blocks; collect their metrics, and lm-eval's hash of their documents."""
    for block, state in done:
        for line, sample in state.read_block(block):
            for name in sample["metrics"]:
                metrics[name, sample["filter"]].append(with_tuples(sample[name]))
            for part in ("doc_hash", "prompt_hash", "target_hash"):
                digest.update(sample[part].encode())
            yield line


def with_tuples(value: Any) -> Any:
    """Return a metric's value as it was before JSON: a number, a string or a tuple of them."""
    return tuple(map(with_tuples, value)) if isinstance(value, list) else value


def print_results(path: Path) -> None:
    """Print lm-eval's table of a results file, and where the file is."""
    results = json.loads(path.read_bytes())
    print(make_table(results))
    if "groups" in results:
        print(make_table(results, "groups"))
    print(f"results  {path}")

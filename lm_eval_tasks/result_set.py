"""Blocks on the disk -> one result set in lm-eval's layout, aggregated by lm-eval itself."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable, make_table

from lm_eval_tasks.internals import aggregate, experiment
from lm_eval_tasks.plan import describe, documents_of, load_tasks, refuse_another
from lm_eval_tasks.state import Block, State, cut_in_blocks, write_lines

SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
"""lm-eval's names for the four of --seed."""

BOOTSTRAP_ITERS = 100_000
"""lm-eval's own default, for the standard errors that have no formula."""


def merge(folders: Sequence[Path], out: Path) -> Path:
    """Writes one result set of lm-eval's below `out`, of the blocks in the folders.

    Returns the results file. ValueError if the folders are not of one run, or were begun with
    another version than is installed, or a block is missing.
    """
    states = [State(Path(folder) / "state") for folder in folders]
    runs = [state.read_run() for state in states]
    for folder, begun in zip(folders, runs, strict=True):
        if begun is None:
            raise ValueError(f"{folder} must hold an evaluation by cogniload eval: none is begun")
        refuse_another(folder, begun, runs[0])
    arguments, told = runs[0]["arguments"], runs[0]["recorded"]
    whole = arguments | {"model_args": arguments["model_args"] | told["arguments"]["model_args"]}
    loaded = load_tasks(whole, told["arguments"]["include_path"])
    size = runs[0]["block_size"]
    refuse_another(folders[0], runs[0], describe(arguments, loaded["tasks"], size))
    blocks = cut_in_blocks(documents_of(loaded["tasks"], arguments), size)
    where = {
        block.number: next((state for state in states if state.file(block).exists()), None)
        for block in blocks
    }
    refuse_missing(folders, blocks, where)
    return write_results(out, runs[0], loaded, blocks, where)


def refuse_missing(folders: Sequence[Path], blocks: Sequence[Block], where: dict) -> None:
    """ValueError that names the blocks that are in no folder."""
    missing = [block.number for block in blocks if where[block.number] is None]
    if missing:
        names = ", ".join(map(str, missing[:20])) + (", ..." if len(missing) > 20 else "")
        raise ValueError(
            f"{', '.join(map(str, folders))}: {len(missing)} of {len(blocks)} blocks are missing: "
            f"{names} (shard I/N evaluates blocks I, I + N, I + 2N, ...)"
        )


def write_results(
    out: Path, run: dict, loaded: TaskDict, blocks: Sequence[Block], where: dict[int, State]
) -> Path:
    """Writes samples_*.jsonl of each task, then results_*.json, as lm-eval names and fills them.

    They have the date of the newest block, so that the same blocks are one result set, however
    often they are merged: one that is there is left as it is.
    """
    arguments, model, told = run["arguments"], dict(run["model"]), dict(run["recorded"])
    free = told.pop("arguments")
    model_args = arguments["model_args"] | free["model_args"]
    names = experiment(
        arguments["model"],
        model_args,
        system_instruction=arguments["system_instruction"],
        chat_template=model.pop("chat_template", None),
        fewshot_as_multiturn=bool(arguments["fewshot_as_multiturn"]),
    )
    folder = out / names["model_name_sanitized"]
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob(".*.part"):  # of a merge that was killed
        leftover.unlink(missing_ok=True)
    newest = max(where[block.number].file(block).stat().st_mtime for block in blocks)
    date = datetime.fromtimestamp(newest).isoformat().replace(":", "-")
    path = folder / f"results_{date}.json"
    if path.exists():
        return path
    metrics, hashes = {}, {}
    for name in loaded["tasks"]:
        metrics[name], digest = defaultdict(list), sha256()
        done = ((block, where[block.number]) for block in blocks if block.task == name)
        lines = gather_samples(done, metrics[name], digest)
        samples = folder / f"samples_{name}_{date}.jsonl"
        samples.unlink(missing_ok=True)  # of a merge that was killed
        write_lines(samples, lines)
        hashes[name] = digest.hexdigest()
    results = aggregate(loaded["tasks"], metrics, loaded["groups"], BOOTSTRAP_ITERS)
    results["config"] = {
        "model": arguments["model"],
        **model,
        **free,
        "model_args": model_args,
        "batch_sizes": [],
        "use_cache": None,
        "limit": arguments["limit"],
        "bootstrap_iters": BOOTSTRAP_ITERS,
        "gen_kwargs": arguments["gen_kwargs"],
        **dict(zip(SEEDS, arguments["seed"] or 4 * [None], strict=True)),
        "block_size": run["block_size"],
    }
    results |= told | {"task_hashes": hashes} | names
    written = json.dumps(results, indent=2, default=handle_non_serializable, ensure_ascii=False)
    write_lines(path, [written.encode("utf-8", "backslashreplace")])
    return path


def gather_samples(
    done: Iterable[tuple[Block, State]], metrics: dict[tuple[str, str], list], digest: object
) -> Iterator[bytes]:
    """The lines of blocks; on the way, their metrics and lm-eval's hash of their documents."""
    for block, state in done:
        for line, sample in state.read_block(block):
            for name in sample["metrics"]:
                metrics[name, sample["filter"]].append(with_tuples(sample[name]))
            for part in ("doc_hash", "prompt_hash", "target_hash"):
                digest.update(sample[part].encode())
            yield line


def with_tuples(value: object) -> object:
    """A metric's value as it was before JSON: lm-eval's are numbers, strings and tuples of them."""
    return tuple(map(with_tuples, value)) if isinstance(value, list) else value


def print_results(path: Path) -> None:
    """Prints lm-eval's table of a results file, and where the file is."""
    results = json.loads(path.read_bytes())
    print(make_table(results))
    if "groups" in results:
        print(make_table(results, "groups"))
    print(f"results  {path}")

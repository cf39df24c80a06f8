"""A `cogniload eval` folder that is still going: its run, and the blocks that are done."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cogniload_analysis.samples.columns import MALFORMED, members
from cogniload_gen.files.inputs import read_whole

RUN_FILE = Path("state", "run.json")
NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
"""The arguments that lm-eval names a model by, the first one first."""


@dataclass(frozen=True)
class Going:
    """The finished blocks of one task of a run: their files, and how many there are in all.

    `total` is None where the run decides as it goes. `results` describes the run as lm-eval's
    results file describes one that is done.
    """

    task: str
    blocks: tuple[Path, ...]
    total: int | None
    results: dict[str, Any]

    @property
    def progress(self) -> str:
        """How far it is, as in "interim: 11 of 25 blocks"."""
        of_all = "" if self.total is None else f" of {self.total}"
        return f"interim: {len(self.blocks)}{of_all} blocks"


def is_going(run_file: Path) -> bool:
    """Return whether the folder of a run.json holds no results yet."""
    folder = run_file.parent.parent
    return not any(folder.glob("**/samples_*.jsonl*"))


def read_going(run_file: Path) -> list[Going]:
    """Return the tasks of a run that is still going and has finished a block of them.

    Raises ValueError if `cogniload eval` did not write the file.
    """
    try:
        run = json.loads(read_whole(run_file))
        arguments, tasks = run["arguments"], run["tasks"]
        results = describe_results(run)
        totals = {
            task: None
            if "until" in arguments
            else count_blocks(arguments, task, counts["documents"], run["block_size"])
            for task, counts in tasks.items()
        }
        numbers = {file: int(file.stem[6:]) for file in _find_blocks(run_file.parent)}
        first, going = 1, []
        for task, total in totals.items():
            after = math.inf if total is None else first + total
            blocks = tuple(file for file, number in numbers.items() if first <= number < after)
            about = {
                "metadata": {"version": str(tasks[task].get("version", ""))},
                "generation_kwargs": members(arguments, "gen_kwargs"),
            }
            if blocks:
                going.append(Going(str(task), blocks, total, results | {"configs": {task: about}}))
            first = int(after) if total is not None else first
    except MALFORMED as error:
        raise ValueError(f"{run_file} must be what cogniload eval wrote: {error!r}") from None
    return going


def count_blocks(arguments: Mapping[str, Any], task: str, documents: int, size: int) -> int:
    """Return how many blocks a task's documents are cut into, by --limit and --samples."""
    listed, limit = members(arguments, "samples").get(task), arguments["limit"]
    if listed is not None:
        documents = len(set(listed))
    elif limit is not None:
        documents = min(documents, math.ceil(documents * limit) if limit < 1 else int(limit))
    return math.ceil(documents / size)


def describe_results(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what run.json holds of a run, in the form of lm-eval's results."""
    arguments, model = run["arguments"], members(run, "model")
    recorded = members(run, "recorded")
    of_model = arguments["model_args"] | members(members(recorded, "arguments"), "model_args")
    names = (of_model[name] for name in NAMES if name in of_model)
    facts = {name: fact for name, fact in model.items() if name != "chat_template"}
    return {name: fact for name, fact in recorded.items() if name != "arguments"} | {
        "model_name": str(next(names, arguments["model"])),
        "lm_eval_version": str(members(run, "versions").get("lm_eval", "")),
        "chat_template": model.get("chat_template"),
        "system_instruction": arguments.get("system_instruction"),
        "config": facts
        | {"model": arguments["model"], "model_args": of_model}
        | ({"until": describe_until(run)} if "until" in arguments else {}),
    }


def describe_until(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what results hold of a run with --until: its settings, its design and its prior."""
    versions = members(run, "versions")
    fingerprint = {name: versions[name] for name in ("design", "prior") if name in versions}
    return members(members(run, "arguments"), "until") | fingerprint


def _find_blocks(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("block-*.jsonl") if file.stem[6:].isdecimal())

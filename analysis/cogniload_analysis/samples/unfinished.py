"""A `cogniload eval` folder that is still going: which blocks are done, and of what run."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cogniload_analysis.samples.columns import members
from cogniload_gen.files.inputs import read_whole

RUN_FILE = Path("state", "run.json")
NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
"""The arguments that lm-eval names a model by, the first one first."""


@dataclass(frozen=True)
class Going:
    """The finished blocks of one task of a run: their files, and how many there are in all.

    `total` is None where the run decides as it goes. `results` says of the run what lm-eval's
    results file says of one that is done.
    """

    task: str
    version: str
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
    """Return the tasks of a run that is still going, of which a block is done.

    Raises ValueError if the file is none of `cogniload eval`.
    """
    try:
        run = json.loads(read_whole(run_file))
        given, counts = run["arguments"], run["tasks"]
        results = describe_results(run)
        until = "until" in given
        totals = {
            task: None if until else count_blocks(given, task, told["documents"], run["block_size"])
            for task, told in counts.items()
        }
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{run_file} must be what cogniload eval wrote: {error!r}") from None
    numbered = {file: int(file.stem[6:]) for file in _find_blocks(run_file.parent)}
    first, going = 1, []
    for task, total in totals.items():
        after = math.inf if total is None else first + total
        blocks = tuple(file for file, number in numbered.items() if first <= number < after)
        if blocks:
            version = str(members(counts, task).get("version", ""))
            going.append(Going(str(task), version, blocks, total, results))
        first = int(after) if total is not None else first
    return going


def count_blocks(given: Mapping[str, Any], task: str, documents: int, size: int) -> int:
    """Return how many blocks a task's documents are cut into, by --limit and --samples."""
    listed, limit = members(given, "samples").get(task), given["limit"]
    if listed is not None:
        asked = len(set(listed))
    elif limit is None:
        asked = documents
    else:
        asked = min(documents, math.ceil(documents * limit) if limit < 1 else int(limit))
    return math.ceil(asked / size)


def describe_results(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what run.json says of a run, in the form of lm-eval's results."""
    given, told, model = run["arguments"], members(run, "recorded"), members(run, "model")
    arguments = given["model_args"] | members(members(told, "arguments"), "model_args")
    named = (arguments[name] for name in NAMES if name in arguments)
    facts = {name: fact for name, fact in model.items() if name != "chat_template"}
    return {name: fact for name, fact in told.items() if name != "arguments"} | {
        "model_name": str(next(named, given["model"])),
        "lm_eval_version": str(members(run, "versions").get("lm_eval", "")),
        "chat_template": model.get("chat_template"),
        "system_instruction": given.get("system_instruction"),
        "config": facts
        | {"model": given["model"], "model_args": arguments}
        | ({"until": describe_until(run)} if "until" in given else {}),
        "generation": members(given, "gen_kwargs"),
    }


def describe_until(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what results say of a run with --until: its settings, its design and its prior."""
    versions = members(run, "versions")
    fingerprint = {name: versions[name] for name in ("design", "prior") if name in versions}
    return members(members(run, "arguments"), "until") | fingerprint


def _find_blocks(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("block-*.jsonl") if file.stem[6:].isdecimal())

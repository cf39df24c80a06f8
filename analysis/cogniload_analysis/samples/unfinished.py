"""A `cogniload eval` folder that is still going: its run, and the blocks that are done."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cogniload_gen.files.run_folder import RunFolder, RunSpec

RUN_FILE = Path("state", "run.json")
NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
"""The arguments that lm-eval names a model by, the first one first."""


@dataclass(frozen=True)
class Going:
    """The finished blocks of one task of a run: their files, and how many there are in all.

    A run that decides as it goes has no `total`. `results` describes the run as lm-eval's
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

    Raises ValueError for a file that is not of `cogniload eval`, and for a block that is damaged
    or of another run.
    """
    folder = RunFolder(run_file.parent)
    run = folder.begun()
    done, going, results = folder.done_blocks(run), [], describe_results(run)
    for block in done:
        for _ in folder.read_block(block):
            pass
    for name, task in run.tasks.items():
        blocks = tuple(folder.file(block) for block in done if block.task == name)
        total = sum(block.task == name for block in run.blocks()) or None
        if blocks:
            about = {
                "metadata": {"version": task.version},
                "generation_kwargs": run.arguments.gen_kwargs,
            }
            going.append(Going(name, blocks, total, results | {"configs": {name: about}}))
    return going


def describe_results(run: RunSpec) -> dict[str, Any]:
    """Return what run.json says of a run, in the form of lm-eval's results."""
    arguments, model = run.arguments, run.model
    named = (run.model_args[name] for name in NAMES if name in run.model_args)
    facts = {name: fact for name, fact in model.items() if name != "chat_template"}
    if run.until:
        facts["until"] = run.until
    return {name: fact for name, fact in run.recorded.items() if name != "arguments"} | {
        "model_name": str(next(named, arguments.model)),
        "lm_eval_version": str(run.versions.get("lm_eval", "")),
        "chat_template": model.get("chat_template"),
        "system_instruction": arguments.system_instruction,
        "config": facts | {"model": arguments.model, "model_args": run.model_args},
    }

"""Task names -> the nearest of our own for one that is misspelt, before lm-eval's are read."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from reprlib import repr as brief

from lm_eval_tasks.links import TASKS

ALIKE = 0.75
"""How similar a name must be to one of ours, as difflib counts it, to be a misspelling of it."""

TURNS = "cogniload_turns"
"""The task that is a conversation (docs/turns.md)."""


def our_tasks() -> list[str]:
    """Return the names of our own tasks and groups, read from their YAML files as text."""
    named = re.compile(r"^(?:task|group):[ \t]*([\w.-]+)[ \t]*$", re.MULTILINE)
    return sorted(
        {name for yaml in TASKS.rglob("*.yaml") for name in named.findall(yaml.read_text("utf-8"))}
    )


def yaml_of(task: str, include_path: str | None = None) -> Path | None:
    """Return the file of a task, by its name; None for a group, or a name that no file has.

    The files are ours and those below `include_path`.
    """
    named = re.compile(rf"^task:[ \t]*{re.escape(task)}[ \t]*$", re.MULTILINE)
    folders = [TASKS, *map(Path, filter(None, [include_path]))]
    files = (file for folder in folders for file in sorted(folder.rglob("*.yaml")))
    return next((file for file in files if named.search(file.read_text("utf-8", "replace"))), None)


def refuse_files(names: Iterable[str], include_path: str | None = None) -> None:
    """Raise ValueError for a task that is a file, as its code runs, unless below `include_path`."""
    trusted = Path(include_path).resolve() if include_path else None
    for name in (part.strip() for listed in names for part in listed.split(",")):
        is_file = name not in our_tasks() and (name.endswith(".yaml") or Path(name).exists())
        if is_file and not (trusted and Path(name).resolve().is_relative_to(trusted)):
            raise ValueError(
                f"the task {brief(name)} is a file of the run's own, which is not loaded: give its "
                "folder as --include_path if you trust its code"
            )


def refuse_misspelt(names: Iterable[str]) -> None:
    """Raise ValueError, with a suggestion, for a name that is nearly one of ours, and none.

    lm-eval has thousands of tasks and reads them all to find out that it has not this one.
    """
    ours = our_tasks()
    for name in names:
        if name == TURNS:
            raise ValueError(f"lm-eval runs no conversations: inspect eval cogniload/{TURNS}")
        if name in ours or re.search(r"[*?\[/]|\.yaml$", name):  # a pattern, or a file
            continue
        near = get_close_matches(name[:200], ours, n=3, cutoff=ALIKE)
        if near:
            raise ValueError(f"there is no task {name!r}: did you mean {' or '.join(near)}?")

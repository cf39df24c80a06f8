"""Our lm-eval tasks: their files by name, and the links that let the installed harness find them.

The YAMLs are read as text, so that a misspelt name is answered before lm-eval reads its thousands.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from reprlib import repr as brief

from cogniload_gen.checks import how_to_install

TASKS = Path(str(files("lm_eval_tasks")))
"""The folder to give to lm-eval's --include_path."""

# How similar a name must be to one of ours, as difflib counts it, to be a misspelling of it.
_ALIKE = 0.75

TURNS = "cogniload_turns"
"""The task that is a conversation (docs/turns.md)."""


# --- names ----------------------------------------------------------------------------------------


def _our_tasks() -> list[str]:
    """Return the names of our own tasks and groups."""
    return sorted({*_files_by_name("task", TASKS), *_files_by_name("group", TASKS)})


def yaml_of(task: str, include_path: str | None = None) -> Path | None:
    """Return the file of a task, by its name; None for a group, or a name that no file has.

    The files are ours and those below `include_path`.
    """
    theirs = _files_by_name("task", Path(include_path)) if include_path else {}
    return (theirs | _files_by_name("task", TASKS)).get(task)


def _files_by_name(kind: str, folder: Path) -> dict[str, Path]:
    named = re.compile(rf"^{kind}:[ \t]*([\w.-]+)[ \t]*$", re.MULTILINE)
    texts = {file: file.read_text("utf-8", "replace") for file in sorted(folder.rglob("*.yaml"))}
    return {name: file for file, text in texts.items() for name in named.findall(text)}


def refuse_files(names: Iterable[str], include_path: str | None = None) -> None:
    """Raise ValueError for a task that is a file, as its code runs, unless below `include_path`."""
    trusted = Path(include_path).resolve() if include_path else None
    for name in (part.strip() for listed in names for part in listed.split(",")):
        is_file = name not in _our_tasks() and (name.endswith(".yaml") or Path(name).exists())
        if is_file and not (trusted and Path(name).resolve().is_relative_to(trusted)):
            raise ValueError(
                f"the task {brief(name)} is a file of the run's own, which is not loaded: give its "
                "folder as --include_path if you trust its code"
            )


def refuse_misspelt(names: Iterable[str]) -> None:
    """Raise ValueError, with a suggestion, for a name that is nearly one of ours, and none."""
    ours = _our_tasks()
    for name in names:
        if name == TURNS:
            raise ValueError(f"lm-eval runs no conversations: inspect eval cogniload/{TURNS}")
        if name in ours or re.search(r"[*?\[/]|\.yaml$", name):  # a pattern, or a file
            continue
        near = get_close_matches(name[:200], ours, n=3, cutoff=_ALIKE)
        if near:
            raise ValueError(f"there is no task {name!r}: did you mean {' or '.join(near)}?")


# --- links ----------------------------------------------------------------------------------------


def link_tasks() -> Path:
    """Link our YAMLs into the installed lm-eval, so that it needs no --include_path; their folder.

    lm-eval 0.4.13 has no entry points for tasks, and its index does not enter linked folders: so
    the folder is real and holds a link for each YAML. Raises FileNotFoundError without lm-eval,
    and FileExistsError if something else has the folder's name.
    """
    folder = _link_folder()
    if folder.exists():  # another release's, perhaps, with links to tasks that are no more
        unlink_tasks()
    folder.mkdir()
    for yaml in TASKS.rglob("*.yaml"):
        (folder / yaml.name).symlink_to(yaml)
    return folder


def unlink_tasks() -> Path:
    """Take the links back; return the folder that held them.

    Raises FileNotFoundError if there is none, and FileExistsError if it holds anything else.
    """
    folder = _link_folder()
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist: nothing to take back")
    links = [*folder.iterdir()]
    if not all(link.is_symlink() and link.suffix == ".yaml" for link in links):
        raise FileExistsError(f"{folder} is not ours: it must hold nothing but links to YAML files")
    for link in links:
        link.unlink()
    folder.rmdir()
    return folder


def _link_folder() -> Path:
    spec = find_spec("lm_eval")
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"lm-eval is not installed: {how_to_install('eval')}")
    return Path(spec.origin).parent / "tasks" / TASKS.name

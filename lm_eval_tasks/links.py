"""Where the lm-eval tasks are, and the links that let the installed harness find them by itself."""

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from cogniload_gen.checks import how_to_install

TASKS = Path(str(files("lm_eval_tasks")))
"""The folder to give to lm-eval's --include_path."""


def link_tasks() -> Path:
    """Link our YAMLs into the installed lm-eval, so that it needs no --include_path; their folder.

    lm-eval 0.4.13 has no entry points for tasks, and its index does not enter linked folders: so
    the folder is real and holds a link for each YAML. Raises FileNotFoundError without lm-eval,
    and FileExistsError if something else has the folder's name.
    """
    folder = link_folder()
    refuse_others(folder)
    folder.mkdir(exist_ok=True)
    for link in folder.iterdir():  # another release's, perhaps, to tasks that are no more
        link.unlink()
    for yaml in TASKS.rglob("*.yaml"):
        (folder / yaml.name).symlink_to(yaml)
    return folder


def unlink_tasks() -> Path:
    """Take the links back.

    Raises FileNotFoundError if there are none, and FileExistsError if their folder holds anything
    else.
    """
    folder = link_folder()
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist: nothing to take back")
    refuse_others(folder)
    for link in folder.iterdir():
        link.unlink()
    folder.rmdir()
    return folder


def link_folder() -> Path:
    """Return where the links belong in the installed lm-eval."""
    spec = find_spec("lm_eval")
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"lm-eval is not installed: {how_to_install('eval')}")
    return Path(spec.origin).parent / "tasks" / TASKS.name


def refuse_others(folder: Path) -> None:
    """Raise FileExistsError if the folder holds anything but links to YAMLs."""
    if folder.is_dir() and not all(
        path.is_symlink() and path.suffix == ".yaml" for path in folder.iterdir()
    ):
        raise FileExistsError(f"{folder} is not ours: it must hold nothing but links to YAML files")

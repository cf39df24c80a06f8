"""The extras of the package: what has not been installed, and how it is."""

from collections.abc import Iterable
from importlib.util import find_spec


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, from an index and from a clone."""
    return f"pip install 'cogniload[{extra}]' (from a clone: pip install '.[{extra}]')"


def require(what: str, extra: str, modules: Iterable[str]) -> None:
    """Raise ImportError, with the command to install it, unless an extra's modules are there."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        listed = ", ".join(missing)
        raise ImportError(f"{what} needs {listed}: {how_to_install(extra)}", name=missing[0])

"""Public names that are imported at their first use, so that a package itself loads at once."""

import ast
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


@cache
def public_modules(package: str) -> dict[str, str]:
    """Return the module of each public name: those that `__init__` imports for type checkers."""
    module = ast.parse(Path(str(sys.modules[package].__file__)).read_text("utf-8"))
    blocks = [node.body for node in module.body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def public_name(package: str, name: str) -> Any:
    """Return a package's public name, imported from its module, or its `__all__`.

    The package's `__init__` imports it under TYPE_CHECKING. Raises AttributeError for another name.
    """
    modules = public_modules(package)
    if name == "__all__":
        return list(modules)
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value = getattr(import_module(modules[name]), name)
    setattr(sys.modules[package], name, value)
    return value

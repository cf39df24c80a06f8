"""Public names that are imported at their first use, so that a package itself loads at once."""

import ast
import inspect
import sys
from importlib import import_module
from typing import Any


def public_name(package: str, name: str) -> Any:
    """Return a name of a package's `__all__`, imported from where its type checkers have it.

    The package's `__init__` imports it under TYPE_CHECKING. Raises AttributeError for another name.
    """
    module = sys.modules[package]
    if name in module.__all__:
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
                value = getattr(import_module(str(node.module)), name)
                setattr(module, name, value)
                return value
    raise AttributeError(f"module {package!r} has no attribute {name!r}")

"""Which words and patterns of a reader change no verdict on the judged texts of the tests?

    python studies/idle_patterns.py cogniload_gen.factor reading

prints the entries of a package's data/NAME.toml that can be missed, all at once: items of lists,
words, alternatives of patterns. They are taken out by halves as long as every text is judged as
before: minutes for CogniLoad's words, longer for FACTOR's patterns.
"""

import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.files import read_words

MARK = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
IS_PATTERN = re.compile(r"[\\|()?<>^$\[]")


def leaves(table: dict[str, Any], *keys: str) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the table, the key and the whole name of each list and text."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, *keys, key)
        elif isinstance(value, str | list):
            yield table, key, ".".join((*keys, key))


def parts(value: Any) -> list[Any]:
    """Return the entries of a list, of a text of words, or of a pattern."""
    if isinstance(value, list) or not IS_PATTERN.search(value):
        return value if isinstance(value, list) else value.split()
    found, depth = [""], 0
    for mark in MARK.findall(value):
        depth += (mark == "(") - (mark == ")")
        if mark == "|" and not depth:
            found.append("")
        else:
            found[-1] += mark
    return found


def take_out(table: dict[str, Any], entries: set[tuple[str, int]]) -> None:
    """Take entries, each the name of its leaf and its number there, out of a table."""
    for owner, key, name in [*leaves(table)]:
        value = owner[key]
        kept = [part for i, part in enumerate(parts(value)) if (name, i) not in entries]
        if isinstance(value, list):
            owner[key] = kept
        elif IS_PATTERN.search(value):
            owner[key] = "|".join(kept) or "(?!)"
        elif kept or not value:
            owner[key] = " ".join(kept) or value
        else:
            del owner[key]


def verdict(row: dict[str, Any]) -> Any:
    """Return what the readers, as they are now, make of a labelled text."""
    readers = import_module("cogniload_gen.benchmarks")
    if "first_error" not in row:
        return str(readers.score(row["response"], row).outcome)
    steps = readers.read_steps(row["response"], row)
    return steps.read, steps.first_error, steps.error


def first_changed(entries: set[tuple[str, int]], rows: list[Any]) -> int | None:
    """Return the place of the first text that is judged otherwise without some entries.

    It runs in a process of its own, and imports the package anew there.
    """
    package, name = sys.argv[1:3]
    take_out(read_words(package, name), entries)
    for module in [*sys.modules]:
        if f"{module}.".startswith((f"{package}.", "cogniload_gen.benchmarks.")):
            del sys.modules[module]
    with suppress(KeyError, re.error, ValueError, TypeError, IndexError, AttributeError):
        return next((i for i, (row, was) in enumerate(rows) if verdict(row) != was), None)
    return 0


def idle(table: dict[str, Any], rows: list[Any]) -> Iterator[str]:
    """Yield the entries of a table that can be missed."""
    texts = {name: parts(of[key]) for of, key, name in leaves(table)}
    lists = [[(name, i) for name in texts for i in range(len(texts[name]))]]
    removed: set[tuple[str, int]] = set()
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        while lists:
            some = lists.pop()
            changed = pool.apply(first_changed, (removed | {*some}, rows))
            if changed is None:
                removed |= {*some}
                yield from (f"{name}: {texts[name][i]}" for name, i in some)
                continue
            rows.insert(0, rows.pop(changed))  # it will tell the most of the halves
            half = len(some) // 2
            lists += [part for part in (some[half:], some[:half]) if part and half]


if __name__ == "__main__":
    package, name = sys.argv[1:3]
    sets = runpy.run_path(str(Path(__file__).parents[1] / "tests/test_gate.py"))["labelled"]()
    rows = [row for rows in sets.values() for row in rows]
    ours = [row for row in rows if type(benchmarks.of(row)).__module__ == package]
    judged = [(row, verdict(row)) for row in ours]
    for entry in idle(read_words(package, name), judged):
        print(entry, flush=True)

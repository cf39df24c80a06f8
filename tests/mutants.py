"""Breaks lines drawn by lot, one at a time, and tells which of the breaks no test notices.

Usage: python tests/mutants.py [how many, 100] [seed, 0]

The lines are of glue, where parts meet. Each break runs the tests of its file and, where these are
green, the chains of commands, in a copy of the tree: the last commit and what was changed since in
files that git knows. mutmut and cosmic-ray make every break there is of a package against one
command; this takes a sample, and asks the tests of a file first, which mostly know.
"""

import ast
import os
import random
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
CHAINS, SECONDS = "tests/chains", 1200
TESTS_OF = tomllib.loads((ROOT / "tests/data/mutants.toml").read_text("utf-8"))
"""The tests that are asked about a file."""
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+"}
OTHER |= {"*": "+", "/": "*", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}
GUARDS = "strict", "observed"
"""Keywords whose value changes nothing: they guard against what must not come, or save time."""
OTHER |= {"and": "or", "or": "and", "True": "False", "False": "True"}


class Break(NamedTuple):
    """A piece of a line that is replaced by another; places in bytes, lines from 1."""

    file: str
    line: int
    start: int
    end: int
    new: str


def breaks_of(file: str) -> Iterator[Break]:
    """Yield the breaks of a file, all within a line each."""
    text = (ROOT / file).read_bytes()
    lines = text.splitlines()
    tree = ast.parse(text)
    keywords = (node for node in ast.walk(tree) if isinstance(node, ast.keyword))
    guards = {id(node.value) for node in keywords if node.arg in GUARDS}
    for node in ast.walk(tree):
        if id(node) in guards:
            continue
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        new, pairs = "", list[tuple[ast.expr, ast.expr]]()
        match node:
            case ast.Constant(value=bool()):
                new = OTHER[str(node.value)]
            case ast.Constant(value=int()):
                new = str(node.value + 1)
            case ast.UnaryOp(op=ast.Not()):
                new = ast.unparse(node.operand)
            case ast.Return(value=ast.expr()) if ast.unparse(node) != "return None":
                new = "return None"
            case ast.Expr(value=ast.Call()):
                new = "pass"
            case ast.Compare() | ast.BoolOp() | ast.BinOp():
                parts = [getattr(node, name, None) for name in ("left", "right")]
                parts[1:1] = getattr(node, "comparators", getattr(node, "values", []))
                pairs = list(pairwise(filter(None, parts)))
        if new and first == last:
            yield Break(file, first, node.col_offset, node.end_col_offset, new)
        for one, other in pairs:
            if one.end_lineno == other.lineno:
                between = lines[other.lineno - 1][one.end_col_offset : other.col_offset].decode()
                word = between.strip(" ()")
                if word in OTHER:
                    bounds = one.end_col_offset, other.col_offset
                    yield Break(file, other.lineno, *bounds, between.replace(word, OTHER[word], 1))


def is_green(tree: Path, tests: str) -> bool:
    """Run some tests in a tree; tests that take too long are red."""
    environment = os.environ | {"PYTHONPATH": f"{tree}:{tree / 'analysis'}", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-B", "-m", "pytest", "-qx", "-n0", "-pno:cacheprovider"]
    run = subprocess.Popen(
        [*command, *tests.split()], cwd=tree, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return run.wait(SECONDS) == 0
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        return False


def survives(broken: Break, trees: SimpleQueue[Path]) -> bool:
    """Return whether no test notices a break, and print it if so."""
    tree = trees.get()
    path, tests = tree / broken.file, tests_of(broken.file)
    text = path.read_bytes()
    lines = text.splitlines(keepends=True)
    before, line = lines[broken.line - 1], lines[broken.line - 1]
    lines[broken.line - 1] = line[: broken.start] + broken.new.encode() + line[broken.end :]
    path.write_bytes(b"".join(lines))
    try:
        survived = all(is_green(tree, each) for each in tests)
    finally:
        path.write_bytes(text)
        trees.put(tree)
    if survived:
        after = lines[broken.line - 1]
        pair = " -> ".join(each.decode().strip() for each in (before, after))
        print(f"{broken.file}:{broken.line}: {pair}", flush=True)
    return survived


def tests_of(file: str) -> list[str]:
    """Return what is run for a break of a file, one after another."""
    own = next(tests for pattern, tests in TESTS_OF.items() if Path(file).match(pattern))
    return [" ".join(own), *([CHAINS] if (ROOT / CHAINS).is_dir() else [])]


def main(count: int = 100, seed: int = 0) -> None:
    """Print the breaks that survive, and how many were noticed."""
    files = sorted({str(f.relative_to(ROOT)) for each in TESTS_OF for f in ROOT.glob(each)})
    by_line: dict[tuple[str, int], list[Break]] = {}
    for broken in (one for file in files for one in breaks_of(file)):
        by_line.setdefault(broken[:2], []).append(broken)
    draw = random.Random(seed)  # noqa: S311
    drawn = [draw.choice(by_line[line]) for line in draw.sample(sorted(by_line), count)]
    git = ["git", "-C", str(ROOT)]
    commit = subprocess.check_output([*git, "stash", "create"], text=True).strip() or "HEAD"
    trees: SimpleQueue[Path] = SimpleQueue()
    with TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        names = [Path(folder, name) for name in ("one", "two")]
        try:
            for tree in names:
                subprocess.check_call([*git, "worktree", "add", "-q", "--detach", tree, commit])
                trees.put(tree)
            every = sorted({tests for broken in drawn for tests in tests_of(broken.file)})
            if red := [tests for tests in every if not is_green(names[0], tests)]:
                sys.exit(f"without any break, these must be green: {'; '.join(red)}")
            noticed = [*pool.map(lambda broken: survives(broken, trees), drawn)].count(False)
        finally:
            for tree in names:
                subprocess.call([*git, "worktree", "remove", "--force", tree])
    print(f"{noticed} of {count} breaks noticed ({noticed / count:.0%})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

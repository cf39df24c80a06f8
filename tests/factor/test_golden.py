"""The same puzzles everywhere, whatever they are made with: golden hashes of each suite."""

import hashlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import run_python
from grids import factor_grid
from symbolic_checker import made, rows

from cogniload_gen import generate_factor
from cogniload_gen.factor.knobs import REALISTIC_VERSION, SYMBOLIC_VERSION, RealisticCell
from cogniload_gen.factor.realistic import columns
from cogniload_gen.factor.training import TRAINING_SETS, select_training_set

GRID = {"N": [1, 5, 39], "context": [0, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000]}
CELLS = [RealisticCell(op, 0, "none") for op in (2, 20, 100)]
CELLS = 3 * [*CELLS, RealisticCell(7, 2000, "close"), RealisticCell(7, 2000, "general")]
KEYS = np.arange(len(CELLS), dtype=np.uint64)


def training_puzzles():
    """Return the first puzzles of each training set but the clean one, which is pretrain's."""
    batches = [select_training_set(name).batch(0, 20) for name in TRAINING_SETS if name != "clean"]
    return [row for cells, _, keys in batches for row in made(keys, cells)]


MADE = {
    "symbolic": lambda: rows(**GRID, num_puzzles=1),
    "realistic": lambda: columns(KEYS, CELLS),
    "training": training_puzzles,
}
GOLDEN = {
    "symbolic": "0c155ff4ff7910be531537e0135fd632be74bdedbf2e6c396bc41c49ee2ca14d",
    "realistic": "c9c3654c08ac29174996978dee040f1383550f912420c54156f0b0c805e2157d",
    "training": "75171684564bdeae5b0c67cbeef5b72a63e1e8b2c17c61a4a3b989cba0eb9ded",
}
"""Change a puzzle, and a version and these change with it."""


def digests():
    """Return the hash of each suite's puzzles."""
    made_here = {name: repr(make()).encode() for name, make in MADE.items()}
    return {name: hashlib.sha256(text).hexdigest() for name, text in made_here.items()}


def test_golden_hashes():
    assert (SYMBOLIC_VERSION, REALISTIC_VERSION) == (2, 1)
    assert digests() == GOLDEN


def test_the_hashes_hold_in_another_process():
    told = {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    program = "from test_golden import digests; print(digests())"
    environment = os.environ | told | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = run_python(program, env=environment, cwd=Path(__file__).parent)
    assert ran.stdout.strip() == str(GOLDEN)


def test_a_realistic_puzzle_does_not_depend_on_its_batch():
    whole = columns(KEYS, CELLS)
    for i in range(len(CELLS)):
        alone = columns(KEYS[i : i + 1], CELLS[i : i + 1])
        assert alone == {name: column[i : i + 1] for name, column in whole.items()}
    assert columns(KEYS[:0], []) == {name: [] for name in whole}


def test_a_symbolic_puzzle_does_not_depend_on_its_batch():
    grid = {"N": [1, 7, 39, 70], "context": [0, 1800, 2500]}
    together = rows(**grid, num_puzzles=3)
    asked = factor_grid("symbolic", **grid, num_puzzles=3)
    cells, _, keys = asked.batch(0, len(asked))
    assert made(keys[::-1], cells[::-1]) == together[::-1]
    assert [made(keys[i : i + 1], cells[i : i + 1])[0] for i in range(len(keys))] == together


@pytest.mark.parametrize(("N", "roots"), [(range(1, 40), "paper"), ([5, 70, 300], [1, 5])])
def test_a_symbolic_puzzle_asked_for_alone_is_the_same(N, roots):
    """It is made in plain Python."""
    asked = {"N": N, "roots": roots, "num_puzzles": 12}
    for row in generate_factor(**asked).to_pylist():
        cell = {"N": row["N"], "roots": row["roots"] if roots != "paper" else roots}
        alone = generate_factor(**cell, num_puzzles=1, first_index=row["index"])
        assert alone.to_pylist() == [row]

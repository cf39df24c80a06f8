"""Parameters: what is taken, and what is refused with one line that says why."""

import math
import reprlib
from fractions import Fraction

import numpy as np
import pytest
from grids import addresses, all_keys, cogniload_grid, factor_grid
from hypothesis import given
from hypothesis import strategies as st

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.knobs import Cell
from cogniload_gen.grid import SPLITS

BAD = [
    *[("d", value) for value in (0, 13, 2.5, "x", True, None, [], [1, 1], [1, 0], {1: 2})],
    *[("N", value) for value in (0, 1_000_001, 2.0, "20")],
    *[("rho", value) for value in (0, 101, "25%", math.nan, [25, "x"], Fraction(1, 10**400))],
    *[("num_puzzles", 0), ("seed", 2**63), ("first_index", -1), ("trace", "no")],
    *[("split", value) for value in ("dev", None, ["test"])],
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_wrong_parameter_is_named_with_what_it_got_and_takes(name, value):
    parameters = {"d": 3, "N": 20, "rho": 50} | {name: value}
    with pytest.raises(ValueError, match=f"^{name} must ") as error:
        generate_puzzles(**parameters)
    offender = value[-1] if isinstance(value, list) and value in ([1, 0], [25, "x"]) else value
    assert f"got {reprlib.repr(offender)}" in str(error.value)
    assert "\n" not in str(error.value)


@given(N=st.integers(1, 10_000), rho=st.floats(0, 100, exclude_min=True))
def test_needles_follow_the_formula_of_the_paper(N, rho):
    """Section 2.1.3: max(1, min(N, round(N * rho / 100)))."""
    assert Cell(3, N, rho).needles == sorted([1, round(N * rho / 100), N])[1]


def test_rows_are_interleaved_over_the_cells():
    grid = cogniload_grid([1, 3], [20, 50], 25, num_puzzles=2)
    cells = [(d, N, 25.0) for d in (1, 3) for N in (20, 50)]
    assert addresses(grid) == [(cell, index) for index in (0, 1) for cell in cells]


def test_every_limit_numpy_numbers_and_ranges_are_taken():
    rows = generate_puzzles(12, 1, 5e-324, 1, seed=2**63 - 1, first_index=2**62).to_pylist()
    assert [(row["seed"], row["index"]) for row in rows] == [(2**63 - 1, 2**62)]
    with pytest.raises(TypeError, match="'M'"):
        generate_puzzles(d=3, N=20, rho=50, M=1)
    grid = cogniload_grid(np.int64(3), range(20, 22), np.array([25, 50.5]))
    assert grid.cells[0] == (3, 20, 25.0)
    assert type(grid.cells[0].d) is int
    assert len(grid.cells) == 4


BAD_FACTOR = [
    *[("symbolic", "N", value) for value in (0, 1001, 2.5, "5", [3, 3])],
    *[("realistic", "noise", value) for value in ("loud", [], 3)],
    *[("realistic", "op", 1), ("symbolic", "context", -1), ("tragic", "suite", "tragic")],
]


@pytest.mark.parametrize(("suite", "name", "value"), BAD_FACTOR)
def test_a_wrong_factor_parameter_is_named(suite, name, value):
    with pytest.raises(ValueError, match=f"^{name} must ") as error:
        factor_grid(**{"suite": suite, name: value})
    assert "\n" not in str(error.value)


def test_the_factor_paper_has_the_defaults():
    """FACTOR, A.2.3: 39 values of N times 50 tasks; section 3.2: op 2 to 20, 1000 of each."""
    symbolic, realistic = factor_grid(), factor_grid("realistic")
    assert (len(symbolic), len(realistic)) == (1950, 19_000)
    assert symbolic.cells == tuple((N, 0, "paper") for N in range(1, 40))
    assert realistic.cells == tuple((op, 0, "none") for op in range(2, 21))


def test_without_context_there_is_no_noise_to_choose():
    grid = factor_grid("realistic", op=3, context=[0, 4000], noise=["close", "general"])
    assert grid.cells == ((3, 0, "none"), (3, 4000, "close"), (3, 4000, "general"))
    again = factor_grid("realistic", op=3, context=[0, 4000], noise=["none", "close", "general"])
    assert again == grid
    assert factor_grid("realistic", op=3, noise="none").cells == ((3, 0, "none"),)
    for noise in ("none", ["close", "none"]):
        with pytest.raises(ValueError, match=r"^noise must "):
            factor_grid("realistic", context=4000, noise=noise)


def test_no_two_addresses_share_a_key():
    grids = [
        make(seed=seed, split=split, num_puzzles=20)
        for seed in (3, 5)
        for split in SPLITS
        for make in (
            lambda **settings: cogniload_grid([3, 5], [3, 5], [3, 5], **settings),
            lambda **settings: factor_grid(N=[3, 5], context=[3, 5], **settings),
            lambda **settings: factor_grid("realistic", op=[3, 5], context=[3, 5], **settings),
        )
    ]
    keys = [all_keys(grid) for grid in grids]
    assert len(np.unique(np.concatenate(keys))) == sum(map(len, grids))

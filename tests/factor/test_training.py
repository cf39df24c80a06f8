"""The training sets of Appendix D: sizes, distributions, and whose puzzles they hold."""

from itertools import islice

import numpy as np
import pytest
from grids import addresses
from scipy.special import ndtr
from scipy.stats import chisquare
from stored import cases
from symbolic_checker import made, relations

from cogniload_gen.factor.training import LENGTH_BOUNDS, TRAINING_SETS, select_training_set

CASES = cases(__file__)
SIZES = {
    "pretrain": 3_000_000,
    "clean": 3_000_000,
    **dict.fromkeys(["course_2", "course_4", "course_8", "course_16"], 15_000),
    "mixed": 60_000,
    "full": 60_000,
}
SCALES = {"pretrain": 1, "course_2": 2, "course_4": 4, "course_8": 8, "course_16": 16, "full": 16}


def drawn(name, count=15_000, **parameters):
    """The N, contexts and indices of a set's first rows."""
    rows = islice(addresses(select_training_set(name, **parameters), 0, count), count)
    return np.array([(cell.N, cell.context, index) for cell, index in rows]).T


def puzzles(name, start, stop):
    """A set's puzzles."""
    training = select_training_set(name)
    cells, _, keys = training.batch(start, stop)
    return made(keys, cells)


def test_the_sets_have_the_sizes_of_the_paper():
    assert {name: len(select_training_set(name)) for name in TRAINING_SETS} == SIZES
    assert len(select_training_set("full", num_puzzles=7)) == 7


@pytest.mark.parametrize("name", SCALES)
def test_N_and_context_have_the_distributions_of_the_paper(name):
    N, context, _ = drawn(name)
    n = np.arange(1, 30)
    expected = (2 * (29 - n) + 1) / 29**2  # of the least of two uniform numbers
    assert chisquare(np.bincount(N, minlength=30)[1:], expected * len(N)).pvalue > 1e-4
    L, rest = np.divmod(context, SCALES[name])
    assert (rest == 0).all()
    assert (L.min(), L.max()) == (0, 900)
    edges = np.array([0, *range(50, 900, 50), 899])  # the last bin is 900 alone
    below = ndtr((np.log(edges + 100.5) - 5) / 2.5)
    counts = np.bincount(np.searchsorted(edges, L), minlength=len(edges) + 1)
    assert chisquare(counts, np.diff(below, prepend=0, append=1) * len(L)).pvalue > 1e-4
    assert abs(np.corrcoef(N, L)[0, 1]) < 0.04


def test_the_bounds_of_the_lengths_are_the_same_on_every_platform():
    """Another library's normal distribution gives the same integers, and none was a close call."""
    exact = 2.0**32 * ndtr((np.log(np.arange(100, 1000) + 0.5) - 5) / 2.5)
    assert (np.rint(exact) == LENGTH_BOUNDS).all()
    assert np.abs(exact % 1 - 0.5).min() > 1e-4


def test_mixed_is_the_course_shuffled():
    course = [row for name in ("course_2", "course_4", "course_8", "course_16")
              for row in addresses(select_training_set(name), 0, 15_000)]  # fmt: skip
    mixed = addresses(select_training_set("mixed"), 0, 60_000)
    assert mixed != course
    assert sorted(mixed) == sorted(course)
    stages = np.array([index // 15_000 for _, index in mixed])
    for quarter in np.split(stages, 4):
        assert chisquare(np.bincount(quarter)).pvalue > 1e-4
    for (_, index), row in zip(mixed[:30], puzzles("mixed", 0, 30), strict=True):
        stage, place = divmod(index, 15_000)
        assert puzzles(f"course_{2 << stage}", place, place + 1) == [row]


def test_clean_is_the_pretraining_set_without_its_filler():
    clean, pretrain = puzzles("clean", 7, 300), puzzles("pretrain", 7, 300)
    assert any(row["context"] for row in pretrain)
    for ours, theirs in zip(clean, pretrain, strict=True):
        assert ours["context"] == 0
        assert relations(ours["puzzle"]) == relations(theirs["puzzle"])
        same = ("N", "roots", "target", "answer", "solution")
        assert [ours[name] for name in same] == [theirs[name] for name in same]
        assert (ours["puzzle"] == theirs["puzzle"]) == (theirs["context"] == 0)


@pytest.mark.parametrize(("parameters", "message"), CASES["training_sets"])
def test_a_wrong_parameter_is_named(parameters, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        select_training_set(parameters.pop("name"), **parameters)

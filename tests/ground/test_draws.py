"""The draws: SplitMix64 as published, uniform, without repetition, a function of the address."""

import numpy as np
import pytest
from scipy.stats import chisquare

from cogniload_gen.draws import child, children, distinct, permutation, uniform

KEYS = child(np.full(20_000, 7, np.uint64), np.arange(20_000))


def test_child_is_the_published_generator():
    """The first outputs of SplitMix64 seeded with 1234567, as its authors' C code prints them."""
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert child(np.array([1234567], np.uint64), np.arange(5)).tolist() == expected


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 13, 152])
def test_uniform_gives_every_number_alike(bound):
    counts = np.bincount(uniform(KEYS, bound), minlength=bound)
    assert len(counts) == bound
    assert bound == 1 or chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("count", [1, 2, 3, 12, 16])
def test_permutation_gives_every_order_alike(count):
    orders = permutation(children(KEYS, count))
    assert (np.sort(orders, axis=0) == np.arange(count)[:, None]).all()
    for place in orders if count > 1 else []:
        assert chisquare(np.bincount(place, minlength=count)).pvalue > 1e-4
    if count == 3:
        assert chisquare(np.unique(orders, axis=1, return_counts=True)[1]).pvalue > 1e-4


@pytest.mark.parametrize(("count", "population"), [(2, 2), (3, 10), (12, 159)])
def test_distinct_numbers_are_distinct_and_uniform(count, population):
    drawn = distinct(children(KEYS, count), population)
    assert drawn.shape == (count, len(KEYS))
    assert (np.diff(np.sort(drawn, axis=0), axis=0) > 0).all()
    for place in drawn:
        assert chisquare(np.bincount(place, minlength=population)).pvalue > 1e-4

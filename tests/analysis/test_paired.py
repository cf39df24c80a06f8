"""Differences of shares: their coverage, other libraries' tests, and enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multinomial
from scipy.stats import t as student
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep

from cogniload_analysis.compare.paired import (
    compare_few_pairs,
    compare_groups,
    compare_means,
    compare_pairs,
)


def test_with_single_attempts_the_interval_is_bonett_and_prices():
    apart = np.repeat([1.0, -1.0, 0.0], [9, 4, 41])
    found = compare_means(apart)
    one, other = 10 / 56, 5 / 56
    error = np.sqrt((one + other - (one - other) ** 2) / 56)
    ends = one - other + np.array([-1, 1]) * student.ppf(0.975, 53) * error
    assert (found.low, found.high) == pytest.approx(tuple(ends))
    # Equal shares of every puzzle leave the interval open.
    same = compare_means(np.zeros(54))
    assert same.low == -same.high < -0.04


def test_p_is_that_of_mcnemar():
    for over, under, puzzles in ((20, 8, 100), (3, 9, 40), (100, 60, 1400), (1, 0, 31)):
        test = mcnemar([[0, over], [under, 0]], exact=False, correction=False)
        assert compare_pairs(over, under, puzzles).p == pytest.approx(test.pvalue, rel=1e-12)


def test_one_puzzle_says_nothing():
    one = np.ones(1)
    for found in (compare_means(one), compare_groups(one, one, (one, one))):
        assert (found.low, found.high) == (-1, 1)


def test_no_difference_at_all_has_tangos_closed_interval():
    """Without a discordant pair, the score's ends are -+z² / (n + z²) (Tango 1998)."""
    found = compare_pairs(0, 0, 50)
    z_squared = 1.959963984540054**2
    assert found.high == pytest.approx(z_squared / (50 + z_squared), abs=1e-9)
    assert found.low == -found.high
    assert found.p == 1


def test_unpaired_is_agresti_and_caffos():
    first, second = np.repeat([1, 0], [420, 580]), np.repeat([1, 0], [600, 1400])
    found = compare_groups(first, second, (np.ones(1000), np.ones(2000)))
    expected = confint_proportions_2indep(420, 1000, 600, 2000, method="agresti-caffo")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-4)
    assert found.value == pytest.approx(0.12)


def test_weights_give_cells_the_same_say():
    """One model answered the hard cell ten times as often: the cells' own differences count."""
    first = np.repeat([1, 0, 1, 0], [80, 20, 30, 70])
    second = np.repeat([1, 0, 1, 0], [70, 30, 200, 800])
    weights = np.repeat([1, 1], [100, 100]), np.repeat([1, 0.1], [100, 1000])
    assert compare_groups(first, second, weights).value == pytest.approx(0.1)


def count_tables(puzzles):
    return [(a, b) for a in range(puzzles + 1) for b in range(puzzles + 1 - a)]


@pytest.mark.parametrize(("alone", "gap"), [(0.02, 0), (0.2, 0), (0.05, 0.1), (0.1, 0.3)])
def test_the_exact_interval_never_holds_in_less_than_95_percent(alone, gap):
    """Every table of 10 puzzles, with its chance."""
    puzzles, coverage = 10, 0.0
    for over, under in count_tables(puzzles):
        shares = [alone + gap, alone, 1 - 2 * alone - gap]
        chance = multinomial.pmf([over, under, puzzles - over - under], puzzles, shares)
        found = compare_few_pairs(over, under, puzzles)
        coverage += chance * (found.low - 1e-4 <= gap <= found.high + 1e-4)
    assert coverage >= 0.95


counts = st.integers(1, 30).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))
)


def assert_turns_with_the_order(compare, over, under, puzzles, tolerance):
    found, turned = compare(over, under, puzzles), compare(under, over, puzzles)
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert 0 <= found.p <= 1
    assert found.low == pytest.approx(-turned.high, abs=tolerance)
    assert found.p == pytest.approx(turned.p)
    assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


@given(counts.filter(lambda each: each[0] + each[1] <= each[2]))
def test_intervals_hold_the_difference_and_turn_with_the_order(counted):
    assert_turns_with_the_order(compare_pairs, *counted, 1e-9)


@pytest.mark.parametrize("counted", [(0, 0, 5), (5, 0, 5), (0, 5, 5), (2, 1, 5), (9, 1, 20)])
def test_exact_intervals_hold_the_difference_and_turn_with_the_order(counted):
    assert_turns_with_the_order(compare_few_pairs, *counted, 1e-4)

"""A change of accuracy with time is seen, and nothing else is taken for one."""

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable

from cogniload_analysis.adaptive.design import flag_drift

CELLS = np.repeat([[d, N] for d in (1, 5) for N in (20, 50, 100)], 80, axis=0)
ACCURACY = np.repeat([0.95, 0.8, 0.5, 0.7, 0.3, 0.05], 80)


def answers(seed, after=1.0):
    """Cells and answers in a random order, whose accuracy is `after` times as high from 240 on."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(CELLS))
    p = ACCURACY[order] * np.where(np.arange(len(order)) < 240, 1, after)
    return CELLS[order], rng.random(len(p)) < p


@pytest.mark.parametrize(("after", "least", "most"), [(1, 0, 4), (0.6, 95, 100), (0.8, 50, 100)])
def test_how_often_a_change_is_seen(after, least, most):
    """In 100 runs of 480 responses: at most 4 for none."""
    found = [" ".join(flag_drift(*answers(seed, after))) for seed in range(100)]
    assert least <= sum(map(bool, found)) <= most
    assert all(
        "fewer puzzles are solved" in sentence for sentence in found if sentence and after < 1
    )


def test_it_is_the_test_of_mantel_and_haenszel():
    """At the middle of the run, where the change is: statsmodels says how clear it is."""
    cells, correct = answers(2, 0.7)
    late = np.arange(len(cells)) >= 240
    tables = []
    for cell in np.unique(cells, axis=0):
        here = (cells == cell).all(axis=1)
        tables.append(
            [
                [(here & late & correct).sum(), (here & late & ~correct).sum()],
                [(here & ~late & correct).sum(), (here & ~late & ~correct).sum()],
            ]
        )
    p = StratifiedTable(np.moveaxis(np.array(tables), 0, 2)).test_null_odds().pvalue
    assert bool([*flag_drift(cells, correct)]) == (p < 0.02 / 3)


def test_a_rise_is_no_fall():
    cells, correct = answers(1, 0.4)
    assert "more puzzles are solved" in " ".join(flag_drift(cells[::-1], correct[::-1]))


def test_other_loads_later_and_few_responses_show_no_change():
    cells, correct = answers(0)
    order = np.lexsort(cells.T)
    for turned in (order, order[::-1]):
        assert not [*flag_drift(cells[turned], correct[turned])]
    assert not [*flag_drift(CELLS[:249], np.arange(249) < 100)]
    assert [*flag_drift(np.ones((250, 1)), np.arange(250) < 100)]
    assert not [*flag_drift(np.empty((0, 3)), np.empty(0))]

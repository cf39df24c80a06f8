"""A change of accuracy with time is seen, and nothing else is taken for one."""

import numpy as np
import pytest

from cogniload_analysis.adaptive import drift
from cogniload_analysis.adaptive.drift import question_drift, score_drift

CELLS = np.repeat([[d, N] for d in (1, 5) for N in (20, 50, 100)], 80, axis=0)
ACCURACY = np.repeat([0.95, 0.8, 0.5, 0.7, 0.3, 0.05], 80)


def answers(seed, after=1.0):
    """Cells and answers in a random order, whose accuracy is `after` times as high from 240 on."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(CELLS))
    p = ACCURACY[order] * np.where(np.arange(len(order)) < 240, 1, after)
    return CELLS[order], rng.random(len(p)) < p


def test_without_a_change_the_statistic_has_mean_0_and_variance_1():
    scores = np.array([score_drift(*answers(seed))[[100, 240, 400]] for seed in range(400)])
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=0.2)
    np.testing.assert_allclose(scores.var(axis=0), 1, atol=0.25)


@pytest.mark.parametrize(("after", "least", "most"), [(1, 0, 4), (0.6, 95, 100), (0.8, 70, 100)])
def test_how_often_a_change_is_seen(after, least, most):
    """In 100 runs of 480 responses: goals are 90 for x .6, 50 for x .8, and at most 2 for none."""
    found = [" ".join(question_drift(*answers(seed, after))) for seed in range(100)]
    assert least <= sum(map(bool, found)) <= most
    assert all("fewer are solved" in sentence for sentence in found if sentence and after < 1)


def test_cells_vary_about_the_curve_as_a_dense_solution_has_it():
    """Cells' own terms, which are solved for by hand, beside a solver of all terms at once."""
    cells, correct = answers(3, 0.7)
    loads, place = np.unique(cells, axis=0, return_inverse=True)
    total, solved = np.bincount(place), np.bincount(place, correct)
    levels = [np.unique(load, return_inverse=True)[1] for load in loads.T]
    curve = drift.curve_terms(np.stack(levels, axis=1), place)
    p = drift.fit_curve(curve, total, solved)
    variance = np.maximum(p * (1 - p), drift.LEAST_VARIANCE)
    weight = p / np.sqrt(variance)
    terms = np.hstack([curve, *(np.eye(len({*level}))[level] for level in levels), np.eye(len(p))])
    spread = np.where(np.arange(terms.shape[1]) < curve.shape[1], drift.CURVED, drift.APART)
    inverse = np.linalg.inv((terms.T * total * variance) @ terms + np.diag(spread**-2.0))
    mean = p + variance * (terms @ inverse @ terms.T @ (solved - total * p))
    for first in (100, 240, 400):
        later = place[first:]
        moved = (variance * weight)[later] @ terms[later]
        information = np.sum((variance * weight**2)[later]) - moved @ inverse @ moved
        score = np.sum((correct[first:] - mean[later]) * weight[later])
        expected = score / np.sqrt(information)
        assert score_drift(cells, correct)[first] == pytest.approx(expected)


def test_a_rise_is_no_fall():
    cells, correct = answers(1, 0.4)
    assert "more are solved" in " ".join(question_drift(cells[::-1], correct[::-1]))


def test_cells_one_after_another_and_few_responses_show_no_change():
    cells, correct = answers(0)
    order = np.lexsort(cells.T)
    assert not [*question_drift(cells[order], correct[order])]
    cliff = np.random.default_rng(0).random(len(CELLS)) < np.where(CELLS[:, 1] < 80, 0.95, 0.05)
    for turned in (order, order[::-1]):
        assert not [*question_drift(CELLS[turned], cliff[turned])]
    assert not [*question_drift(CELLS[:249], np.arange(249) < 100)]
    assert [*question_drift(np.ones((250, 1)), np.arange(250) < 100)]
    assert not [*question_drift(np.empty((0, 3)), np.empty(0))]

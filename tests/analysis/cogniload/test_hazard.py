"""The step hazard: planted hazards come back from simulated responses, with honest intervals."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from cogniload_analysis.cogniload import hazard
from cogniload_analysis.cogniload.hazard import (
    SLIPS,
    TERMS,
    add_steps,
    fit_step_hazard,
    statement_features,
)
from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.planted import trace_key, write_trace

TRUE = pd.Series(
    {
        "const": -4.5, "needle": 0.6, "k": 0.15, "m": 0.1, "position": 0.8, "since": 0.2,
        "near": 1.2, "d": 0.1, "log10_N": 0.0,
    }
)[list(TERMS)]  # fmt: skip


@pytest.fixture(scope="module")
def puzzles():
    table = generate_puzzles([2, 4, 6], [10, 25, 50], [20, 60], 12, split="train").to_pandas()
    return table[["id", "puzzle", "d", "N"]]


@pytest.fixture(scope="module")
def features(puzzles):
    return {id_: statement_features(text) for id_, text in puzzles[["id", "puzzle"]].to_numpy()}


def simulate(puzzles, features, seed, params=TRUE, repeats=3):
    """Responses whose first errors happen by the planted hazard; broken ones are right by luck."""
    rng = np.random.default_rng(seed)
    rows = []
    for row in puzzles.to_dict("records"):
        table = features[row["id"]]
        hazard = 1 / (1 + np.exp(-(table[list(TERMS)].to_numpy() @ params.to_numpy())))
        for _ in range(repeats):
            hit = np.flatnonzero(rng.random(len(hazard)) < hazard)
            broken = len(hit) > 0
            lucky = rng.random() < (0.3 if broken else 0.97)
            rows.append(
                row
                | {
                    "read": rng.random() < 0.9,
                    "first_error": hit[0] + 1 if broken else np.nan,
                    "error": rng.choice(SLIPS) if broken else None,
                    "recovered": bool(lucky) if broken else None,
                    "correct": bool(lucky),
                }
            )
    return pd.DataFrame(rows)


def test_features_are_those_of_the_true_states(puzzles, features):
    for row in puzzles.iloc[::17].to_dict("records"):
        solution, table = solve_steps(row["puzzle"]), features[row["id"]]
        states = [people[solution.poi] for people in solution.states]
        applies = [after is not before for before, after in pairwise(states)]
        assert table["needle"].astype(bool).tolist() == applies
        assert (table.loc[table["needle"] == 1, "near"] == 0).all()
        assert table["near"].between(0, 1, inclusive="left").all()
        assert table["position"].iloc[-1] == 1
        assert table["d"].unique().tolist() == [row["d"]]
        changed = [t for t, (b, a) in enumerate(pairwise(states)) if a != b]
        for t, since in enumerate(np.expm1(table["since"]).round()):
            before = [c for c in changed if c < t]
            assert since == (t - 1 - before[-1] if before else t)


def test_planted_hazards_are_recovered(puzzles, features):
    fit = fit_step_hazard(simulate(puzzles, features, seed=1))
    assert not fit.problems
    assert (abs((fit.params - TRUE) / fit.bse) < 4).all()
    assert fit.trend_p < 0.01


def test_slips_are_counted_by_kind(puzzles, features):
    frame = simulate(puzzles, features, seed=3)
    fit = fit_step_hazard(frame)
    read = frame[frame["read"]]
    at_risk = read["first_error"].fillna(read["N"]).sum()
    assert len(fit.trials) == at_risk
    for kind in SLIPS:
        assert fit.slips.loc[kind, "errors"] == (read["error"] == kind).sum()
        row = fit.slips.loc[kind]
        assert row["low"] < row["per_1000"] < row["high"]
    assert fit.slips.loc["any", "per_1000"] == pytest.approx(
        1000 * read["first_error"].notna().sum() / at_risk
    )
    assert fit.unread == (~frame["read"]).sum()


def test_rates_have_the_intervals_of_the_means_over_puzzles():
    """Puzzles of one length: the error is that of the mean of so many numbers."""
    errors = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]])
    trials = pd.DataFrame(
        {"error": errors.ravel(), "kind": None, "id": np.repeat(list("abc"), errors.shape[1])}
    )
    mean, error = errors.mean(), np.std(errors.mean(axis=1), ddof=1) / np.sqrt(len(errors))
    rate = hazard.slip_rates(trials).loc["any"] / 1000
    assert rate["per_1000"] == pytest.approx(mean)
    assert rate["high"] == pytest.approx(mean * np.exp(1.959964 * error / mean))
    assert rate["low"] == pytest.approx(mean / np.exp(1.959964 * error / mean))


def test_the_same_responses_again_tell_nothing_new(puzzles, features):
    """Clustered by puzzle, the errors of the coefficients stay; without, they shrink by half."""
    frame = simulate(puzzles, features, seed=9, repeats=1)
    once, four_times = fit_step_hazard(frame).bse, fit_step_hazard(pd.concat([frame] * 4)).bse
    assert four_times.to_numpy() == pytest.approx(once.to_numpy(), rel=0.02)


def test_wrong_frames_are_refused_in_one_line(puzzles, features):
    frame = simulate(puzzles, features, seed=5)
    with pytest.raises(ValueError, match="no column 'read'"):
        fit_step_hazard(frame.drop(columns="read"))
    with pytest.raises(ValueError, match="a fit is of one model, and the frame holds 2"):
        fit_step_hazard(frame.assign(model=["a", "b"] * (len(frame) // 2)))


def test_steps_are_added_to_responses(puzzles):
    traces = [write_trace(row.puzzle, trace_key(row.id)) for row in puzzles.itertuples()]
    frame = add_steps(puzzles.assign(response=[trace.response for trace in traces]))
    # some errors are told too faintly to be claimed; what is claimed is as it was planted
    assert frame["read"].mean() > 0.9
    planted = [trace for trace, read in zip(traces, frame["read"], strict=True) if read]
    first = [None if np.isnan(at) else at for at in frame.loc[frame["read"], "first_error"]]
    assert first == [trace.first_error for trace in planted]
    errors = [None if pd.isna(error) else error for error in frame.loc[frame["read"], "error"]]
    assert errors == [trace.error for trace in planted]

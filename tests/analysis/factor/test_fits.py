"""FACTOR's fits: against closed forms, grids written apart, the paper's tables, known decays."""

import itertools
import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import changed, refused
from scipy.stats import binom, norm
from stored import cases

from cogniload_analysis import (
    ACCURACY_RANGES,
    fit_complexity_decay,
    fit_repeated_sampling,
    n_eff_by_attempts,
    name_failure_mode,
    published_table,
    solve_within,
)
from cogniload_analysis.factor import decay

CASES = cases(__file__)
ZERO_CONTEXT = published_table("factor_zero_context")
PRETRAINING = published_table("factor_pretraining")
BY_CONTEXT = published_table("factor_by_context")
POSTTRAINING = published_table("factor_posttraining")
TABLE_7 = published_table("factor_repeated_sampling")
N = np.arange(1, 40)


def fit_line(frame, accuracy_range=ACCURACY_RANGES["pretrained"]):
    """The paper's fit."""
    return fit_complexity_decay(frame, "least squares", accuracy_range=accuracy_range)


def on_a_line(cdf, cdo, fractions=(0.9, 0.6, 0.3, 0.15)):
    """Accuracies on the line itself, from its highest one at a positive N down."""
    log_accuracy = min(cdo, 0) + np.log(fractions)
    return pd.DataFrame({"N": (log_accuracy - cdo) / cdf, "correct": np.exp(log_accuracy)})


def simulate(cdf, cdo, puzzles, generator):
    """The accuracies of `puzzles` responses at each N of the paper's grid."""
    chance = np.exp(np.minimum(cdo + cdf * N, 0))
    return pd.DataFrame({"N": N, "correct": generator.binomial(puzzles, chance) / puzzles})


@pytest.mark.parametrize(
    "row",
    [*ZERO_CONTEXT.to_dict("records"), *PRETRAINING.to_dict("records")],
    ids=lambda row: row["model"],
)
def test_printed_cdf_and_cdo_give_back_every_printed_n_eff(row):
    """Tables 1 and 4, within the rounding of their CDF and CDO."""
    fit = fit_line(on_a_line(row["CDF"], row["CDO"]), (1e-6, 1))
    assert (fit.cdf, fit.cdo) == pytest.approx((row["CDF"], row["CDO"]))
    half_units = itertools.product([-5e-5, 5e-5], repeat=2)
    corners = [-(fit.cdo + cdo) / (fit.cdf + cdf) for cdf, cdo in half_units]
    assert min(corners) - 0.005 <= row["N_eff"] <= max(corners) + 0.005
    assert ("N_eff" in fit.problems) == (row["CDO"] <= 0)


@pytest.fixture(scope="module")
def noisy():
    return simulate(-0.04, 0.3, 50, np.random.default_rng(5))


def test_the_fit_is_least_squares_with_normal_quantiles(noisy):
    fit = fit_line(noisy)
    used = noisy[noisy["correct"].between(0.1, 0.9)]
    assert fit.points["used"].tolist() == noisy["correct"].between(0.1, 0.9).tolist()
    line, covariance = np.polyfit(used["N"], np.log(used["correct"]), 1, cov=True)
    assert (fit.cdf, fit.cdo, fit.n_eff) == pytest.approx((*line, -line[1] / line[0]))
    margin = norm.ppf(0.75) * np.sqrt(np.diag(covariance))
    ends = np.column_stack([line - margin, line + margin])
    assert fit.conf_int(0.5).loc[["CDF", "CDO"]].to_numpy() == pytest.approx(ends)


@pytest.mark.parametrize(
    ("accuracy_range", "used"),
    [
        (ACCURACY_RANGES["pretrained"], [10, 20, 30, 40, 50]),
        (ACCURACY_RANGES["from scratch"], [20, 30, 40, 50]),
        (ACCURACY_RANGES["fine-tuned"], [20, 30, 40]),
        (ACCURACY_RANGES["repeated sampling"], [20, 30, 40, 50, 60]),
    ],
)
def test_the_ends_of_the_papers_ranges_count_in(accuracy_range, used):
    rights = {5: 50, 10: 45, 20: 40, 30: 25, 40: 10, 50: 5, 60: 1, 70: 0}
    rows = [(each, index < right) for each, right in rights.items() for index in range(50)]
    fit = fit_line(pd.DataFrame(rows, columns=["N", "correct"]), accuracy_range)
    assert fit.points["N"][fit.points["used"]].tolist() == used
    assert fit.points["responses"].tolist() == [50] * 8


def frame_of(*accuracies):
    rows = [
        (number, index < round(10 * accuracy))
        for number, accuracy in enumerate(accuracies, start=1)
        for index in range(10)
    ]
    return pd.DataFrame(rows, columns=["N", "correct"])


@pytest.mark.parametrize(("method", "accuracies", "reason"), CASES["no_decay"])
def test_what_has_no_decay_is_nan_with_its_reason(method, accuracies, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_complexity_decay(frame_of(*accuracies), method)
        assert np.isnan([fit.cdf, fit.cdo, fit.n_eff]).all()
        assert fit.conf_int().isna().all(axis=None)
        assert np.isnan(fit.predict(3))
        assert fit.problems == dict.fromkeys(["CDF", "CDO", "N_eff"], reason)
        assert reason in fit.summary()


def test_an_n_eff_without_meaning_is_marked_and_a_rising_line_has_none():
    from_outset = fit_line(frame_of(0.8, 0.6, 0.5, 0.4))
    assert from_outset.cdo < 0
    assert from_outset.n_eff < 0
    assert set(from_outset.problems) == {"N_eff"}
    rising = fit_line(frame_of(0.2, 0.4, 0.5, 0.8))
    assert rising.cdf > 0
    assert np.isnan(rising.n_eff)
    assert rising.conf_int().loc["N_eff"].isna().all()
    assert rising.problems == {"N_eff": "the accuracy does not fall with N"}
    falling = fit_line(frame_of(1, 1, 0.8, 0.5, 0.3))
    assert falling.problems == {}
    assert falling.predict([1, 2]).tolist() == [1, 1]
    assert "3 of 5 N with accuracies from 0.1 to 0.9" in falling.summary()


@pytest.mark.parametrize(("change", "options", "message"), CASES["decay_input"])
def test_wrong_input_is_one_clear_line(change, options, message):
    with refused(message, most=500):
        fit_complexity_decay(
            changed(frame_of(0.5), **change), **{"method": "least squares"} | options
        )


attempt = st.tuples(st.integers(1, 6), st.sampled_from(["a", "b", "c"]), st.booleans())


@settings(max_examples=100)
@given(st.lists(attempt, max_size=40), st.sampled_from(list(ACCURACY_RANGES.values())))
def test_any_handful_of_responses_gives_numbers_or_reasons(attempts, accuracy_range):
    """No exception, no warning, and never a number where there is a reason against it."""
    frame = pd.DataFrame(attempts, columns=["N", "id", "correct"])
    frame["id"] = frame["id"].astype(str) + frame["N"].astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_line(frame, accuracy_range)
        ends = fit.conf_int()
        fit.summary()
        by_attempts = n_eff_by_attempts(frame, accuracy_range)
        sampling = fit_repeated_sampling(by_attempts, fit.n_eff)
    assert np.isnan(fit.cdf) == np.isnan(fit.cdo) == ("CDF" in fit.problems)
    assert np.isfinite(fit.n_eff) or "N_eff" in fit.problems
    assert ("N_eff" in fit.problems) == (not (fit.cdf < 0 < fit.cdo))
    known = ends.dropna()
    assert (known["low"] <= known["high"]).all()
    if len(frame):
        assert by_attempts["t"].tolist()[0] == 1
        assert by_attempts["accuracy"].is_monotonic_increasing
    assert np.isnan(sampling.k) == bool(sampling.problem)


def mode_of(table, model):
    rows = table[table["model"] == model]
    return name_failure_mode(rows["context"], rows["CDF"], rows["CDO"])


@pytest.mark.parametrize(
    ("table", "model", "name"),
    [
        # As section 4.2 names them, with the Llama series ...
        (BY_CONTEXT, "Llama-3.1-70B-Instruct", "stable CDO, degrading CDF"),
        (BY_CONTEXT, "Llama-3.1-8B-Instruct", "stable CDO, degrading CDF"),
        (BY_CONTEXT, "GPT-4o-mini-2024-07-18", "stable CDF, degrading CDO"),
        (BY_CONTEXT, "Mistral-Large-Instruct-2407", "degrading CDO and CDF"),
        # ... and section 5.2, which says of Full that it is poor in both.
        (POSTTRAINING, "Course", "stable CDO, degrading CDF"),
        (POSTTRAINING, "Mixed", "stable CDF, degrading CDO"),
        (POSTTRAINING, "Full", "no steady trend of CDO or CDF"),
    ],
)
@pytest.mark.parametrize("limit", [0.08, 0.1, 0.28])
def test_the_failure_modes_of_the_paper_do_not_hang_on_the_limit(
    monkeypatch, table, model, name, limit
):
    monkeypatch.setattr("cogniload_analysis.factor.sections.contexts.LOSS_THAT_COUNTS", limit)
    assert mode_of(table, model).name == name


def test_losses_are_those_of_the_line_and_one_stray_context_moves_them_little():
    """A CDF that falls by 0.004 a doubling, over 4 doublings of 1,000 + context."""
    contexts = np.array([0, 1000, 3000, 7000, 15000])
    cdf, cdo = -0.03 - 0.004 * np.arange(5), np.full(5, 0.2)
    mode = name_failure_mode(contexts, cdf, cdo, N=10)
    assert mode.name == "stable CDO, degrading CDF"
    assert mode.cdf_loss == pytest.approx(1 - math.exp(-0.004 * 4 * 10))
    assert (mode.cdo_loss, mode.cdf_falls, mode.cdo_falls) == (0, 1, 0)
    order = [3, 0, 4, 2, 1]
    assert name_failure_mode(contexts[order], cdf[order], cdo[order], N=10) == mode
    stray = np.where(np.arange(5) == 4, -0.5, cdf)
    assert name_failure_mode(contexts, stray, cdo, N=10).cdf_loss < 0.3
    missing = np.where(np.arange(5) == 4, np.nan, cdf)
    assert name_failure_mode(contexts, missing, cdo, N=10).cdf_loss < mode.cdf_loss
    assert name_failure_mode(contexts, cdf[::-1], cdo).name == "stable CDO and CDF"
    assert name_failure_mode(contexts, cdf[::-1], cdo).cdf_loss < 0


def test_two_contexts_have_no_mode_and_odd_ones_are_refused():
    mode = name_failure_mode([0, 1000, 2000], [-0.1, np.nan, -0.2], [0, 0, 0])
    assert mode.name == ""
    assert mode.problem == "it takes 3 contexts with a fit, and has 2"
    with pytest.raises(ValueError, match="contexts must be different and 0 or more"):
        name_failure_mode([0, 0, 1], [-1, -1, -1], [0, 0, 0])
    with pytest.raises(ValueError, match="contexts must be different and 0 or more"):
        name_failure_mode([-1, 0, 1], [-1, -1, -1], [0, 0, 0])


def attempts_of(right, attempts, name="a", complexity=5):
    correct = [index < right for index in range(attempts)]
    return pd.DataFrame({"id": name, "N": complexity, "correct": correct})


@pytest.mark.parametrize("attempts", range(1, 8))
def test_the_chance_of_one_of_t_is_that_over_all_draws_of_t(attempts):
    for right, drawn in itertools.product(range(attempts + 1), range(1, attempts + 1)):
        frame = attempts_of(right, attempts)
        draws = list(itertools.combinations(frame["correct"], drawn))
        expected = sum(map(any, draws)) / len(draws)
        solved = solve_within(frame, drawn)
        assert solved["correct"].item() == pytest.approx(expected)


def test_n_eff_by_attempts_is_the_fit_of_the_solved_puzzles():
    generator = np.random.default_rng(1)
    frame = pd.concat(
        attempts_of(generator.binomial(6, math.exp(-0.1 * each)), 6, f"{each}-{index}", each)
        for each in range(1, 25)
        for index in range(20)
    )
    table = n_eff_by_attempts(frame)
    assert table["t"].tolist() == [1, 2, 4, 6]
    assert table["accuracy"].is_monotonic_increasing
    fit = fit_line(solve_within(frame, 4), ACCURACY_RANGES["repeated sampling"])
    row = table.set_index("t").loc[4]
    assert (row["CDF"], row["CDO"], row["N_eff"]) == (fit.cdf, fit.cdo, fit.n_eff)
    assert table["accuracy"][0] == pytest.approx(frame["correct"].mean())
    assert n_eff_by_attempts(frame[:0]).empty


@pytest.mark.parametrize("row", TABLE_7.to_dict("records"), ids=lambda row: str(row["context"]))
def test_k_and_b_come_back(row):
    """N_eff on a curve of Table 7, below the clean model's 26.34; then with errors."""
    attempts = np.array([1, 2, 4, 8, 16, 32])
    n_eff = 26.34 - math.exp(row["b"]) * attempts ** row["k"]
    exact = fit_repeated_sampling(pd.DataFrame({"t": attempts, "N_eff": n_eff}), 26.34)
    assert (exact.k, exact.b, exact.rsquared) == pytest.approx((row["k"], row["b"], 1))
    assert exact.points == 6
    error = np.exp(np.random.default_rng(2).normal(0, 0.02, 6))
    noisy = pd.DataFrame({"t": attempts, "N_eff": 26.34 - (26.34 - n_eff) * error})
    found = fit_repeated_sampling(noisy, 26.34)
    slope, offset = np.polyfit(np.log(attempts), np.log(26.34 - noisy["N_eff"]), 1)
    assert (found.k, found.b) == pytest.approx((slope, offset))


def test_gaps_that_are_closed_are_left_out_and_too_few_have_no_line():
    table = pd.DataFrame({"t": [1, 2, 4, 8, 16], "N_eff": [1.0, 4.0, 6.0, 10.0, 11.0]})
    found = fit_repeated_sampling(table, 10)
    assert found.points == 3
    assert np.isfinite(found.k)
    few = fit_repeated_sampling(table, 5)
    assert few.problem == "Neff is below Nclean at 2 of 5 t (3 are needed)"
    assert np.isnan([few.k, few.b, few.rsquared]).all()
    assert fit_repeated_sampling(table, np.nan).problem.startswith("there is no Neff")
    level = fit_repeated_sampling(table.assign(N_eff=2.0), 5)
    assert level.problem == "Neff is the same for every t"


def curve(cdf, cdo, floor=0.0, lapses=0.0):
    return floor + (1 - floor - lapses) * np.exp(np.minimum(cdf * N + cdo, 0))


def responses(chance, puzzles, seed):
    """A row a response, with `puzzles` at each N."""
    right = np.random.default_rng(seed).binomial(puzzles, chance)
    correct = np.arange(puzzles) < right[:, None]
    return pd.DataFrame({"N": np.repeat(N, puzzles), "correct": correct.ravel()})


@pytest.mark.parametrize(
    ("cdf", "cdo", "floor"), [(-0.06, 0.5, 0), (-0.07, -0.46, 0), (-0.08, 0.3, 0.03)]
)
def test_intervals_are_those_of_a_grid_of_curves(cdf, cdo, floor):
    """Every curve of a grid, one after another: those within 1.92 of the best span the interval.

    The floor's prior is the same for all, since the floor is known.
    """
    fit = fit_complexity_decay(responses(curve(cdf, cdo, floor), 50, 4), floor=floor)
    assert fit.floor == floor
    used = fit.points[fit.points["used"]]
    right = np.rint(used["accuracy"] * used["responses"]).to_numpy()
    tried, fits = [], []
    for lapses in (0, 0.005, 0.01, 0.015, 0.02):
        for slope in np.linspace(1.5 * cdf, 0.6 * cdf, 181):
            offsets = np.linspace(cdo - 0.6, cdo + 0.6, 241)[:, None]
            reasoned = np.exp(np.minimum(slope * used["N"].to_numpy() + offsets, 0))
            chance = np.clip(floor + (1 - floor - lapses) * reasoned, 1e-12, 1 - 1e-12)
            prior = -((lapses / 0.015) ** 2) / 2
            fits.append(np.log(chance) @ right + np.log1p(-chance) @ (50 - right) + prior)
            tried.append(np.column_stack([np.full(len(offsets), slope), offsets]))
    fits, tried = np.concatenate(fits), np.concatenate(tried)
    inside = tried[fits > fits.max() - 1.9207]
    found = fit.conf_int()
    for name, values, step in (
        ("CDF", inside[:, 0], 0.005 * abs(cdf)),
        ("CDO", inside[:, 1], 0.005),
        ("N_eff", -inside[:, 1] / inside[:, 0], 0.15),
    ):
        ends = [values.min(), values.max()]
        assert found.loc[name].tolist() == pytest.approx(ends, abs=3 * step)


@pytest.mark.parametrize(("name", "value"), [("", 0), ("CDF", -0.1), ("CDO", 0.5), ("N_eff", 5)])
def test_a_fit_does_not_hang_on_how_sums_are_rounded(name, value):
    """Another processor adds in another order; here another order of the N does."""
    for seed in range(8):
        points = decay.count_points(responses(curve(-0.08, 0.4, 0.02), 12, seed))
        counts = decay.count_responses(points.assign(used=True), (0.0, 0.05))
        order = np.random.default_rng(seed).permutation(len(counts.N))
        moved = decay.Counts(*(each[order] for each in counts[:3]), counts.floors)
        (one, best), (other, again) = (decay.maximise(c, name, value) for c in (counts, moved))
        assert other == pytest.approx(one, rel=1e-8, abs=1e-8)
        assert again == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("lapses", "floor"), [(0, 0), (0.02, 0), (0, 0.03)])
@pytest.mark.parametrize(("cdf", "cdo"), [(-0.0694, -0.4615), (-0.0401, 0.4303)])
def test_intervals_hold_the_truth_as_often_as_they_say(cdf, cdo, lapses, floor, known):
    """An interval holds what lies less than 1.92 below the best likelihood (the test above)."""
    runs, truths = 150, {"CDF": cdf, "CDO": cdo, "N_eff": -cdo / cdf}
    chance = (1 - lapses) * curve(cdf, cdo, floor)
    falls, slopes = [], []
    for right in np.random.default_rng(5).binomial(50, chance, (4 * runs, len(N))):
        points = pd.DataFrame({"N": N, "accuracy": right / 50, "responses": 50})
        points["used"] = decay.find_window(points["accuracy"], 0.1, 0.9)
        floors = (floor, floor) if known else (0, decay.MOST_FLOOR)
        counts = decay.count_responses(points, floors)
        found, best = decay.maximise(counts)
        slopes.append(found[0])
        if len(slopes) > runs:
            continue
        held = (decay.maximise(counts, name, truth)[1] for name, truth in truths.items())
        falls.append([best - likelihood for likelihood in held])
    assert np.median(slopes) == pytest.approx(cdf, rel=0.03 if known else 0.06)
    for fall in np.transpose(falls):
        assert fall.min() > -1e-4
        assert binom.ppf(0.0005, runs, 0.94) <= (fall < 1.9207).sum()
        # intervals of half the confidence must miss it now and then: none is wide at will
        assert (fall < 0.2275).sum() <= binom.ppf(0.9995, runs, 0.8)


def test_one_lapse_in_the_first_phase_and_zeros_in_the_second_do_no_harm():
    frame = responses(curve(-0.06, 1), 50, 1)
    lapsed = frame.copy()
    lapsed.loc[0, "correct"] = ~lapsed.loc[0, "correct"]
    whole, hurt = fit_complexity_decay(frame), fit_complexity_decay(lapsed)
    assert (hurt.cdf, hurt.cdo) == pytest.approx((whole.cdf, whole.cdo))


def test_a_floor_is_found_and_one_out_of_reach_is_noticed():
    frame = responses(curve(-0.12, 0.2, 0.03), 500, 2)
    fit = fit_complexity_decay(frame)
    assert (fit.floor, fit.cdf) == pytest.approx((0.03, -0.12), rel=0.1)
    assert fit.note == ""
    higher = responses(curve(-0.12, 0.2, 0.08), 500, 2)
    assert "a floor of 8 % fits better than one of up to 5 %" in fit_complexity_decay(higher).note
    assert fit_complexity_decay(higher, floor=0.08).note == ""
    highest = fit_complexity_decay(responses(curve(-0.12, 0.2, 0.43), 500, 2))
    floor, cdf = re.match(r"a floor of (\d+) % .* CDF is (.*?):", highest.note).groups()
    assert (int(floor), float(cdf)) == pytest.approx((43, -0.12), rel=0.1)
    assert highest.cdf > -0.06  # what the warning is about

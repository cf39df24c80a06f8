"""Both meanings in the report, and adaptive runs told again, against computations made apart."""

import re

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import make_puzzle, make_sample, write_run
from lxml import html
from report_reader import page_text, read_table, said_of_runs

from cogniload_analysis import (
    PAPER_MEANS,
    AdaptiveDesign,
    estimate_capacity,
    fit_load_glm,
    goodness_of_fit,
    read_samples,
)
from cogniload_analysis.adaptive.replay import read_until
from cogniload_analysis.cogniload import adaptive_section, tables, words
from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import (
    GLM_LINK,
    PAPER_GRID,
    compare_fits,
    covers_grid,
    curve_crossing,
    refit_published,
)
from cogniload_analysis.report.write import write_report

TRUTH = refit_published("Qwen3-32B", Link(), interactions=True)
UNTIL = {"goal": "ECL50", "target": 0.4, "budget": 300}


@pytest.fixture(scope="module")
def design():
    """A finished design that a model with a known curve answered, in batches."""
    design, rng = AdaptiveDesign(**UNTIL), np.random.default_rng(3)
    while not design.done:
        batch = design.ask()
        chance = [TRUTH.accuracy(p.d, p.N, p.rho / 100)[0] for p in batch]
        design.tell(batch, (rng.random(len(batch)) < chance).tolist())
    return design


def write_design(folder, design, until=UNTIL, repeated=0):
    """Write the samples of a design in the order of asking, with its settings in the results."""
    told = [(p, design.told[p]) for batch in design.batches for p in batch.puzzles]
    samples = [
        make_sample(make_puzzle(*p), "Text.", "correct_valid" if a.correct else "wrong_logic")
        for p, a in told + told[:repeated]
    ]
    config = {"model": "hf", "model_args": {"pretrained": "org/asked"}, "until": until}
    write_run(folder, "org/asked", samples, config=config)
    return folder


def test_an_adaptive_run_is_told_as_its_design_tells_it(undrawn, design, tmp_path):
    out = write_report(write_design(tmp_path, design), tmp_path / "out")
    estimate = design.estimate()
    row = read_table(out.parent, "adaptive").iloc[0]
    assert row["n"] == estimate.n == len(design.told)
    assert row["stopped"] == estimate.stopped
    assert row["width"] == pytest.approx(estimate.half_width)
    assert row["glm_ECL50"] == pytest.approx(estimate.glm_ECL50)
    batches = read_table(out.parent, "adaptive_batches")
    expected = [(b.n, b.value, b.low, b.high, len(b.puzzles)) for b in design.batches]
    found = batches[["n", "value", "low", "high", "puzzles"]].to_numpy()
    np.testing.assert_allclose(found, np.array(expected))
    cells = read_table(out.parent, "adaptive_cells").set_index(["d", "N", "rho"])
    for (d, N, rho), cell in cells.iterrows():
        answers = [a.correct for p, a in design.told.items() if p[:3] == (d, N, round(100 * rho))]
        assert (cell["puzzles"], cell["correct"]) == (len(answers), sum(answers))
    assert cells["puzzles"].sum() == len(design.told)
    thresholds = read_table(out.parent, "thresholds").set_index(["meaning", "threshold"])
    assert set(thresholds.index.get_level_values(0)) == {"crossing"}
    ECL50 = thresholds.loc[("crossing", "ECL50")]
    assert ECL50["value"] == pytest.approx(estimate.ECL50.value)
    assert ECL50["low"] == pytest.approx(estimate.ECL50.low)
    curve = read_table(out.parent, "adaptive_curve").query("load == 'N'")
    np.testing.assert_allclose(curve["high"], estimate.over_N.high)
    assert read_table(out.parent, "glm")["ECL50"].isna().all()
    page = html.fromstring(out.read_text("utf-8"))
    said = said_of_runs(page)
    assert f"{len(design.told)} puzzles in {len(design.batches) - 1} batches." in said[0]
    assert said[1] == f"It stopped there, since {estimate.stopped}."
    assert "Its thresholds are crossings" in said[3]
    for flag in estimate.flags:
        assert f"Note: {flag}." in said
    (shown,) = re.findall(r"ECL50 \(crossing\): ([\d.]+) \(", page_text(page))
    assert float(shown) == pytest.approx(estimate.ECL50.value, rel=0.01)


@pytest.mark.parametrize(
    "until", [{"goal": "NT50"}, {"goal": []}, {"target": "x"}, {"budget": 1e99}, {"N": 3}, [1]]
)
def test_settings_that_are_none_leave_a_plain_report(design, tmp_path, until):
    frame = read_samples(write_design(tmp_path, design, until=until))
    assert adaptive_section.find_replays({"m": frame}) == {}


@pytest.mark.parametrize("text", ["[" * 100_000, "1", '"x"', "{", "null", "NaN", "[[]]"])
def test_settings_may_be_any_text(text):
    assert read_until(pd.Series([text])) == {}


def test_a_puzzle_that_was_answered_twice_is_no_design_s(design, tmp_path):
    frame = read_samples(write_design(tmp_path, design, repeated=1))
    assert adaptive_section.find_replays({"m": frame}) == {}


@pytest.mark.parametrize("named", [True, False])
def test_a_run_with_the_vague_prior_is_told_again_with_it(tmp_path, named):
    design = AdaptiveDesign(**UNTIL | {"budget": 192}, prior="vague")
    while not design.done:
        design.tell(design.ask(), [p.N + 9 * p.d < 130 - p.index for p in design.ask()])
    until = (
        UNTIL | {"budget": 192} | design.plan.fingerprint | ({"prior": "vague"} if named else {})
    )
    frame = read_samples(write_design(tmp_path, design, until=until))
    run = adaptive_section.find_replays({"m": frame})["m"]
    assert run.batches == design.batches
    assert run.estimate.ECL50 == design.estimate().ECL50
    (row,) = adaptive_section.run_table([run]).to_dict("records")
    assert words.say_run(row)[2] == "The prior was the vague one."


def test_a_prior_that_is_not_at_hand_is_said_to_be_none(design, tmp_path):
    """A run with a prior of the user's own: what its answers say under the published one."""
    earlier = pd.DataFrame(
        {"model": "m", "d": 5, "N": [20, 50, 99], "rho": 0.5, "correct": [1, 1, 0]}
    )
    own = AdaptiveDesign(**UNTIL, prior=earlier).plan.fingerprint
    frames = {
        str(number): read_samples(write_design(tmp_path / str(number), design, until=until))
        for number, until in enumerate((UNTIL, UNTIL | own))
    }
    before, run = adaptive_section.find_replays(frames).values()
    assert before.same_prior
    assert not run.same_prior
    assert run.batches == before.batches
    rows = adaptive_section.run_table([before, run]).to_dict("records")
    plain, said = map(words.say_run, rows)
    assert said[1] == (
        "It was asked with a prior that is not at hand, as the results keep no more than its "
        "digest; what stands here is what the answers say under the published prior. "
        f"Under that, they were enough, since {rows[1]['stopped']}."
    )
    assert said[2:] == plain[2:]


@pytest.fixture(scope="module")
def grid():
    """A whole grid that was answered by a curve with a floor and interactions: 100 a cell."""
    d, N, rho = (PAPER_GRID[load].to_numpy() for load in ("d", "N", "rho"))
    right = np.random.default_rng(5).binomial(100, TRUTH.accuracy(d, N, rho))
    return PAPER_GRID.assign(successes=right, failures=100 - right)


def test_on_a_grid_the_crossing_is_near_the_truth_and_the_projection_elsewhere(grid):
    glm, capacity = fit_load_glm(grid), estimate_capacity(grid)
    table = tables.meaning_table({"m": glm}, {"m": capacity}).set_index("threshold")
    row = table.loc["ECL50"]
    assert curve_crossing(TRUTH) == pytest.approx(46.1, abs=0.1)
    assert row["crossing"] == pytest.approx(46.1, rel=0.06)
    assert row["crossing_low"] < 46.1 < row["crossing_high"]
    assert row["projection"] == pytest.approx(55.4, rel=0.05)
    assert not row["projection_low"] < 46.1 < row["projection_high"]
    assert row["difference"] == pytest.approx(row["crossing"] / row["projection"] - 1)
    apart = capacity.ID50.value - glm.thresholds(PAPER_MEANS).ID50.value
    assert table.loc["ID50", "difference"] == pytest.approx(apart)
    sentence = words.say_meanings(row.to_dict())
    share = round(100 * (1 - row["crossing"] / row["projection"]))
    assert sentence.startswith(f"The crossing of ECL50 lies {share} % below the projection (cross")
    shown = tables.MEANINGS.show(table.reset_index()).iloc[0]
    assert shown["Crossing"] == f"{row['crossing']:.1f}"
    assert shown["Projection"] == f"{row['projection']:.1f}"


def test_the_fit_of_a_grid_with_a_floor_is_best_with_a_floor(grid):
    """The chi-square by a loop over the levels; the floor's curves meet the GLM's own equations."""
    glm = fit_load_glm(grid)
    found = compare_fits(glm)
    cells, by_hand = glm.cells, 0.0
    fitted = glm.predict(cells["d"], cells["N"], cells["rho"])
    for load in ("d", "N", "rho"):
        for level in cells[load].unique():
            at = (cells[load] == level).to_numpy()
            expected, total = 100 * fitted[at], 100 * at.sum()
            spread = (expected * (1 - fitted[at])).sum()
            by_hand += (cells["successes"][at].sum() - expected.sum()) ** 2 / spread
            assert total
    assert found["plain"] == pytest.approx(by_hand)
    assert found["degrees"] == 4 + 3 + 6 - 4
    assert found["both"] < 25 < found["plain"]
    assert found["p"] < 0.001
    (row,) = tables.fit_table({"m": glm}).to_dict("records")
    assert row["miss"] == goodness_of_fit(glm).miss
    assert words.say_fit(row).startswith(f"The GLM misses accuracy by up to {row['miss']:.1f} poi")


def test_the_fit_of_a_grid_by_the_glm_is_said_to_fit():
    plain = refit_published("Qwen3-32B", GLM_LINK, interactions=False)
    d, N, rho = (PAPER_GRID[load].to_numpy() for load in ("d", "N", "rho"))
    right = np.random.default_rng(2).binomial(100, plain.accuracy(d, N, rho))
    glm = fit_load_glm(PAPER_GRID.assign(successes=right, failures=100 - right))
    (row,) = tables.fit_table({"m": glm}).to_dict("records")
    assert row["plain"] < 25 < row["floor"]
    assert words.say_fit(row).startswith("The GLM fits: ")


def test_axes_are_no_grid_and_a_grid_that_lacks_some_cells_is():
    assert covers_grid(PAPER_GRID)
    assert covers_grid(PAPER_GRID.iloc[:100])
    axes = PAPER_GRID[(PAPER_GRID["rho"] == 0.5) & (PAPER_GRID["d"] == 5)]
    more = PAPER_GRID[(PAPER_GRID["N"] == 50) & (PAPER_GRID["d"] == 5)]
    third = PAPER_GRID[(PAPER_GRID["N"] == 50) & (PAPER_GRID["rho"] == 0.5)]
    assert not covers_grid(pd.concat([axes, more, third]).drop_duplicates())

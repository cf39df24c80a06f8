"""Where the reasoning breaks: planted errors come back in the tables; strangers' data is safe."""

from itertools import takewhile

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import make_puzzle, make_sample, write_run
from report_reader import assert_numbers_are_of_the_tables, page_text, read_page, read_table

from cogniload_analysis import read_samples
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.cogniload.sections import breaks
from cogniload_analysis.report.examples import pick_responses
from cogniload_analysis.report.write import write_report
from cogniload_analysis.stats import wilson_interval
from cogniload_gen import generate_puzzles
from cogniload_gen.answers.metrics import step_metrics
from cogniload_gen.cogniload.knobs import ERRORS
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.planted import trace_key, write_trace

READING = {"read": True, "first_error": 3, "error": "missed", "recovered": False, "coverage": 1.0}


@pytest.fixture(scope="module")
def puzzles():
    table = generate_puzzles([2, 3], [10, 14], [30, 60], 9, split="train")
    return [row | {"context_budget": None} for row in table.to_pylist()]


@pytest.fixture(scope="module")
def traces(puzzles):
    return [write_trace(row["puzzle"], trace_key(row["id"])) for row in puzzles]


@pytest.fixture(scope="module")
def planted(puzzles, traces, tmp_path_factory):
    """The results of a model whose responses have planted first errors."""
    folder = tmp_path_factory.mktemp("planted")
    samples = []
    for row, trace in zip(puzzles, traces, strict=True):
        right = trace.error is None or trace.states[-1] == solve_steps(row["puzzle"]).states[-1]
        outcome = "correct_valid" if right and trace.error != "answer" else "wrong_logic"
        reading = READING | {"first_error": trace.first_error, "error": trace.error}
        reading |= {"recovered": recovers(row, trace) if trace.error else None}
        samples.append(make_sample(row, trace.response, outcome) | {"steps_read": reading})
    write_run(folder, "org/tracks", samples)
    return folder


def recovers(puzzle, trace):
    """Whether the tracked state of a trace is right again after its first error."""
    if trace.first_error is None or trace.error == "stopped":
        return False
    solution = solve_steps(puzzle["puzzle"])
    later = range(trace.first_error + 1, len(solution.states))
    return any(trace.states[t] == solution.states[t][solution.poi] for t in later)


def simulate(number, seed, stops=True):
    """A frame of readings whose errors are drawn, with the columns that the tables need."""
    rng = np.random.default_rng(seed)
    rows = []
    for index in range(number):
        N = int(rng.choice([10, 20]))
        kind = str(rng.choice([*breaks.SLIPS, "initial", "stopped" if stops else "", "answer", ""]))
        at = {"initial": 0, "answer": np.nan, "": np.nan}.get(kind, int(rng.integers(1, N + 1)))
        rows.append((f"p{index // 2}", 2, N, kind == "", kind or None, at, bool(kind)))
    names = ["id", "d", "N", "correct", "error", "first_error", "recovered"]
    return pd.DataFrame(rows, columns=names)


def with_reading(reading):
    sample = make_sample(make_puzzle(1, 20, 5), "A response.", "wrong_other")
    return sample | {"steps_read": reading}


@pytest.mark.parametrize(
    ("held", "coverage"),
    [
        ({}, np.nan),
        ({"steps_read": None}, np.nan),
        # What is said of a response that could not be read is ignored.
        ({"steps_read": {"read": False, "coverage": 1.0, "first_error": "x", "error": []}}, 1.0),
        ({"steps_read": READING | {"error": "<b>"}}, READING["coverage"]),
        ({"steps_read": READING | {"first_error": 10**12, "coverage": None}}, np.nan),
    ],
)
def test_samples_without_a_reading_have_no_error(tmp_path, held, coverage):
    sample = make_sample(make_puzzle(1, 20, 5), "A response.", "wrong_other") | held
    write_run(tmp_path, "m", [sample])
    row = read_samples(tmp_path).iloc[0]
    assert (row["steps_read"], row["error"], row["recovered"]) == (False, "", False)
    assert np.isnan(row["first_error"])
    assert row["coverage"] == pytest.approx(coverage, nan_ok=True)


def test_planted_errors_are_counted_in_the_tables(undrawn, planted, traces, puzzles, tmp_path):
    page = write_report(planted, tmp_path / "out")
    kinds = read_table(page.parent, "kinds").set_index("error")
    rows = list(zip(puzzles, traces, read_samples(planted)["correct"], strict=True))
    for kind in (*ERRORS, "none"):
        those = [row for row in rows if (row[1].error or "none") == kind]
        mended = sum(recovers(puzzle, trace) for puzzle, trace, _ in those)
        right = sum(right for _, _, right in those)
        counts = kinds.loc[kind, ["responses", "recovered", "right"]]
        assert counts.tolist() == [len(those), mended, right]
        share, low, high = kinds.loc[kind, ["share", "low", "high"]]
        assert share == pytest.approx(len(those) / len(rows))
        assert (low, high) == pytest.approx(wilson_interval(len(those), len(rows)), abs=1e-12)
    broken = [row for row in rows if row[1].first_error is not None]
    lucky = sum(right and not recovers(puzzle, trace) for puzzle, trace, right in broken)
    after = sum(right for _, _, right in broken)
    said = " ".join(said_of_breaks(read_page(page)))
    assert f"right answers, {after} came after an error in tracking: {after - lucky} after" in said
    assert f"{lucky} by luck" in said
    counts = kinds["responses"].drop("none")
    assert f": {counts.max()} of {counts.sum()}. " in said


@pytest.mark.parametrize("seed", range(5))
def test_survival_is_kaplan_and_meier_s_by_a_count_made_apart(seed):
    read = simulate(60, seed)
    curve = breaks.survival_curve(read).set_index("statement")
    ends = read["first_error"].fillna(read["N"]) - (read["error"] == "stopped")
    slips = read["first_error"].where(read["error"] != "stopped")
    share = 1.0
    for t in range(int(ends.max()) + 1):
        share *= 1 - (slips == t).sum() / (ends >= t).sum()
        assert (t in curve.index) == ((slips == t).any() or t in (0, ends.max()))
        if t in curve.index:
            assert curve.loc[t, "share"] == pytest.approx(share)
    assert ((curve["low"] <= curve["share"]) & (curve["share"] <= curve["high"])).all()


def test_the_rate_of_slips_is_that_of_the_statements_at_risk():
    read = simulate(80, 3)
    rate, low, high = breaks.slip_rate(read)
    at_risk = read["first_error"].fillna(read["N"]) - (read["error"] == "stopped")
    slips = read["error"].isin(breaks.SLIPS).sum()
    assert rate == pytest.approx(1000 * slips / at_risk.sum())
    assert low < rate < high < 2 * rate
    assert np.isnan(breaks.slip_rate(read.assign(error=None, first_error=np.nan))).all()


def test_survival_s_intervals_are_wilson_s_where_no_response_ends_early():
    curve = breaks.survival_curve(simulate(80, 3, stops=False).assign(N=20))
    ends = wilson_interval((80 * curve["share"]).round(), 80)
    np.testing.assert_allclose(curve[["low", "high"]].T, ends, atol=1e-9)


def said_of_breaks(page):
    heading = page.get_element_by_id("where-it-breaks")
    return [
        page_text(each)
        for sibling in takewhile(lambda each: each.tag != "details", heading.itersiblings())
        for each in sibling.cssselect(".said")
    ]


def test_the_section_shows_its_table_and_a_figure(planted, tmp_path):
    out = write_report(planted, tmp_path / "out")
    assert_numbers_are_of_the_tables(out)
    page = read_page(out)
    assert len(page.get_element_by_id("kinds").cssselect("tbody tr")) == len(ERRORS) + 1
    assert len(said_of_breaks(page)) == 5
    assert (out.parent / "figures" / "breaks_01_tracks.svg").is_file()


@pytest.mark.parametrize(("read", "others", "enough"), [(19, 0, 0), (20, 181, 0), (20, 180, 1)])
def test_of_too_few_readings_nothing_is_claimed(undrawn, tmp_path, read, others, enough):
    unread = READING | {"read": False}
    samples = [with_reading(READING)] * read + [with_reading(unread)] * others
    samples = [s | {"doc": s["doc"] | {"id": f"p-{n}"}} for n, s in enumerate(samples)]
    write_run(tmp_path, "m", samples)
    out = write_report(tmp_path, tmp_path / "out")
    names = {file.stem for file in out.parent.rglob("*.*")}
    assert ("kinds" in names) == ("breaks_01_m" in names) == enough
    assert ("these are too few to say" in out.read_text("utf-8")) != enough


def test_failures_show_the_step_where_they_broke(undrawn, puzzles, tmp_path):
    row = puzzles[0]
    trace = write_trace(row["puzzle"], 5, "missed", "marks")
    sample = make_sample(row, trace.response, "wrong_logic") | step_metrics(trace.response, row)
    write_run(tmp_path, "m", [sample])
    (example,) = pick_responses(read_samples(tmp_path), COGNILOAD, 1)
    t = trace.first_error
    assert example["where"] == f"statement {t} (missed)"
    solution = solve_steps(row["puzzle"])
    true = solution.states[t][solution.poi]
    assert [each[1] for each in example["states"]] == list(true.values())
    assert [each[2] for each in example["states"]] == [trace.states[t][name] for name in true]
    assert example["states"][0][0] in next(iter(true))
    (marked,) = [text for text, mark in example["parts"] if mark == "step"]
    assert marked in trace.steps[trace.label]
    assert "".join(text for text, _ in example["parts"]) == trace.response[-1500:]

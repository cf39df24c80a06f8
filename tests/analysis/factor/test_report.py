"""FACTOR from lm-eval's files to its part of the report."""

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import (
    BETA,
    SMALL,
    make_factor_puzzle,
    make_factor_samples,
    make_sample,
    make_samples,
    write_factor_runs,
    write_run,
)
from refusals import refused
from report_reader import (
    assert_numbers_are_of_the_tables,
    links_of,
    page_text,
    read_page,
    read_table,
    written_files,
)
from stored import cases

from cogniload_analysis import fit_complexity_decay, read_factor_samples, read_samples
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.display import drawing
from cogniload_analysis.factor import sampling as tries
from cogniload_analysis.factor.analysis import FACTOR, merge_tasks
from cogniload_analysis.factor.sections import contexts
from cogniload_analysis.factor.sections import decays as sections
from cogniload_analysis.report.write import write_report
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_gen.factor.score import FactorOutcome

CASES = cases(__file__)
DECAYS = {("symbolic", 0): (-0.04, 0.43), ("symbolic", 4000): (-0.049, -0.02)}
DECAYS |= {("realistic", 0): (-0.1, 0.2)}
ONE_LENGTH = {("symbolic", 0): (-0.04, 0.3)}


@pytest.fixture(scope="module")
def frame(simulated):
    return read_factor_samples(simulated)


def one_sample(outcome="wrong_set", puzzle=None, **changes):
    return make_sample(puzzle or make_factor_puzzle(3), "v1", outcome) | changes


def test_the_frame_has_a_row_a_response_and_n_for_both_suites(frame):
    sizes = frame.groupby(["model", "suite", "context", "noise"], observed=True).size().to_dict()
    assert sizes == {
        ("org/whole", "symbolic", 0, "none"): 39 * 6,
        ("org/whole", "symbolic", 4000, "filler"): 39 * 6,
        ("org/whole", "symbolic", 64000, "filler"): 39 * 6,
        ("org/whole", "realistic", 0, "none"): 19 * 6,
        ("org/whole", "realistic", 4000, "close"): 19 * 6,
        ("org/tries", "symbolic", 0, "none"): 39 * 4 * 8,
        ("org/tries", "symbolic", 8000, "filler"): 39 * 4 * 8,
    }
    assert sorted(frame["N"][frame["suite"] == "realistic"].unique()) == list(range(2, 21))
    assert tuple(frame["outcome"].cat.categories) == tuple(FactorOutcome)
    assert frame["correct"].eq(frame["outcome"] == "correct").all()
    assert frame["decoding"].unique().tolist() == ["temperature 0.0, do_sample False"]
    assert frame["context_budget"].eq(32768 + frame["context"]).all()
    assert frame["prompt_tokens"].eq(300 + frame["context"]).all()


def test_a_folder_of_both_benchmarks_gives_each_its_own(simulated, frame):
    cogniload = read_samples(simulated)
    assert set(cogniload["task"]) == {"cogniload"}
    assert cogniload["context_budget"].eq(32768).all()
    frames = read_benchmarks(simulated, ANALYSES)
    assert list(frames) == ["CogniLoad", "FACTOR"]
    pd.testing.assert_frame_equal(frames["FACTOR"], frame)


def test_own_tasks_are_told_by_their_puzzles_and_other_factors_left_aside(tmp_path):
    write_run(tmp_path, "m", [one_sample()], task="my_variables")
    write_run(tmp_path, "m", [{"doc": {}, "filter": "none", "acc": 1.0}], task="factor_analysis")
    assert set(read_factor_samples(tmp_path)["task"]) == {"my_variables"}
    with pytest.raises(ValueError, match=r"no CogniLoad task in .* of factor_analysis, my_var"):
        read_samples(tmp_path)


@pytest.mark.parametrize(("changes", "cause"), CASES["factor_lines"])
def test_a_broken_line_is_named_by_file_and_number(tmp_path, changes, cause):
    sample = one_sample(puzzle=make_factor_puzzle(3) | changes.pop("puzzle", {})) | changes
    write_run(tmp_path, "m", [one_sample(), sample], task="factor_symbolic_0")
    with refused(f"samples_factor_.*jsonl line 2: .*{cause}", most=400):
        read_factor_samples(tmp_path)


def test_tasks_of_one_series_share_a_name_and_a_mini_task_stands_apart(tmp_path):
    write_factor_runs(tmp_path, "org/m", DECAYS, puzzles=1)
    frame = read_factor_samples(tmp_path)
    assert set(merge_tasks(frame)) == {"symbolic", "realistic"}
    assert set(FACTOR.label(frame)) == {"m"}
    write_run(tmp_path, "org/m", [one_sample()], task="factor_symbolic_mini")
    frame = read_factor_samples(tmp_path)
    labels = pd.Series(FACTOR.label(frame))
    assert set(labels[frame["suite"] == "symbolic"]) == {
        "m (factor_symbolic)",
        "m (factor_symbolic_mini)",
    }
    assert set(labels[frame["suite"] == "realistic"]) == {"m"}


def test_what_ran_without_noise_belongs_to_every_noise():
    rows = [(0, "none"), (4000, "close"), (8000, "close"), (4000, "general")]
    table = pd.DataFrame(rows, columns=["context", "noise"]).assign(model="m")
    series = {noise: rows for (_, noise), rows in contexts.context_series(table)}
    assert {noise: rows["context"].tolist() for noise, rows in series.items()} == {
        "close": [0, 4000, 8000],
        "general": [0, 4000],
    }


def test_the_regression_of_attempts_stands_beside_table_7(frame):
    attempts = tries.attempts_table(frame)
    assert set(attempts["model"]) == {"org/tries"}
    assert attempts["t"].max() == 8
    table = tries.sampling_table(attempts)
    mine = table[table["source"] == "this report"].set_index("context")
    assert mine.loc[0, "problem"] == "this is the clean context"
    single = attempts[(attempts["context"] == 0) & (attempts["t"] == 1)]["N_eff"].item()
    assert mine.loc[8000, "N_clean"] == single
    without = attempts.assign(problem="the CDO is not positive: there is no phase without errors")
    mine = tries.sampling_table(without).set_index(["source", "context"])
    assert mine.loc[("this report", 8000), "problem"].startswith("there is no Neff of a clean")


def test_figures_and_the_comparison_show_the_numbers_of_the_fits(frame):
    decays = {at: fit for at, fit in sections.fit_decays(frame).items() if at[1] == "symbolic"}
    mine = {at: fit for at, fit in decays.items() if at[0] == "org/whole"}
    accuracy, logarithm = drawing.draw(sections.draw_model(mine, "m")).axes
    first = next(iter(mine.values()))
    np.testing.assert_allclose(accuracy.get_lines()[0].get_ydata(), first.points["accuracy"])
    drawn = first.used["accuracy"][first.used["accuracy"] > 0]
    np.testing.assert_allclose(logarithm.get_lines()[0].get_ydata(), drawn)
    line = logarithm.get_lines()[1]
    np.testing.assert_allclose(line.get_ydata(), first.predict(line.get_xdata()))
    assert logarithm.get_yscale() == "log"
    least_squares = sections.fit_decays(frame, "least squares")
    table = sections.decay_table(decays, least_squares)
    (figure,) = contexts.draw_by_context(table)
    cdf, cdo = drawing.draw(figure).axes
    assert cdf.get_ylabel() == "CDF × 100"
    drawn = {tuple(np.round(line.get_ydata(), 6)) for line in cdo.get_lines()}
    whole = table[table["model"] == "org/whole"].sort_values("context")["CDO"]
    assert tuple(np.round(whole, 6)) in drawn
    assert (-0.014, -0.065, -0.054, -0.104) in drawn
    published = contexts.published_by_context(table).set_index(["source", "model", "context"])
    paper = least_squares["org/whole", "symbolic", 4000, "filler"]
    found = published.loc[("this report", "org/whole", 4000)]
    assert (found["CDF"], found["CDO"]) == (paper.cdf, paper.cdo)
    assert published.loc[("published, Table 1", "o1-mini", 0), "N_eff"] == 53.87
    assert len(published) == len(decays) + 15 + 34 + 5 + 18


def assert_recomputable(page_file):
    """Assert that the page's numbers are those of the CSV files, and the fits those of cells."""
    assert_numbers_are_of_the_tables(page_file)
    cells = read_table(page_file.parent, "factor_cells")
    totals = cells[list(FactorOutcome)].sum(axis=1)
    cells["correct"] = cells["correct"] / totals
    cells = cells.loc[cells.index.repeat(totals)]
    for row in read_table(page_file.parent, "factor_decay").itertuples():
        same = cells[["model", "suite", "context", "noise"]] == [*row[1:5]]
        fit = fit_complexity_decay(cells[same.all(axis=1)])
        expected = pytest.approx((row.CDF, row.CDO, row.N_eff), nan_ok=True)
        assert (fit.cdf, fit.cdo, fit.n_eff) == expected
        assert row.mean_accuracy == pytest.approx(fit.points["accuracy"].mean())


@pytest.fixture
def laid_out(monkeypatch):
    """Lay the figures out, once each, but leave their files empty, which takes most of the time."""

    def save_figure(figure, kind):
        if kind == "svg":
            figure.draw_without_rendering()
        return b"<svg />"

    monkeypatch.setattr(drawing, "save_figure", save_figure)


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        ([one_sample("correct"), one_sample()], "Without filler: no decay can be fitted"),
        ([one_sample("correct", make_factor_puzzle(N)) for N in range(1, 6)], "as every response"),
        (make_factor_samples(-0.1, 0.2, 10, 1, N=range(2, 21), suite="realistic"), "Without noise"),
        (make_factor_samples(-0.05, 0.3, 10, 1, context=4000), "With 4,000 tokens of filler"),
    ],
    ids=["two responses", "all right", "one realistic context", "one symbolic context"],
)
def test_a_handful_of_responses_gives_a_report_that_says_what_it_lacks(
    laid_out, tmp_path, samples, sentence
):
    samples = list(samples)
    write_run(tmp_path, "tiny", samples, task="factor_symbolic_0")
    page = write_report(tmp_path, tmp_path / "out")
    assert_recomputable(page)
    text = page.read_text("utf-8")
    assert sentence in text
    assert ("No response was wrong." in text) == all(sample["acc"] for sample in samples)


def test_a_model_that_solves_nothing_is_in_words_and_in_no_figure_of_zeros(undrawn, tmp_path):
    """Alone, and beside a model that solves some of one suite."""
    nothing = dict.fromkeys(DECAYS, (0, -99))
    write_factor_runs(tmp_path / "runs", "org/none", nothing, puzzles=2)
    drawn = []
    for _ in range(2):
        page_file = write_report(tmp_path / "runs", tmp_path / "out", force=True)
        assert_numbers_are_of_the_tables(page_file)
        page = read_page(page_file)
        drawn.append({figure.get("id") for figure in page.cssselect("figure")})
        sentences = [*map(page_text, page.cssselect(".said"))]
        assert sentences.count("Solves no puzzle at any complexity, so nothing is determined.") == 4
        write_factor_runs(tmp_path / "runs", "org/some", ONE_LENGTH, puzzles=2)
    assert not [name for name in drawn[1] if "none" in name or "realistic" in name] + [*drawn[0]]
    assert {"figure-factor_symbolic_models"} <= drawn[1]


def test_force_removes_what_an_earlier_report_alone_had_and_nothing_else(undrawn, tmp_path):
    both, out = tmp_path / "both", tmp_path / "out"
    write_factor_runs(both, "org/m", ONE_LENGTH, puzzles=3)
    cogniload = write_run(tmp_path / "one", "org/m", make_samples(BETA, 1, 1, grid=SMALL))
    write_report([both, cogniload], out)
    mine = out / "tables" / "mine.csv"
    mine.write_text("mine")
    (out / "notes.txt").write_text("mine")
    page = write_report(cogniload, out, force=True)
    files = written_files(out)
    assert not any("factor" in file for file in files)
    assert files - {"tables/mine.csv", "notes.txt", "report.html"} <= set(links_of(read_page(page)))
    assert mine.read_text() == "mine"

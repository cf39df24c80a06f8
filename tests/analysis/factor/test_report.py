"""FACTOR from lm-eval's files to its part of the report."""

import json
import math
import sys
from base64 import b64encode
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import (
    GRID,
    make_factor_puzzle,
    make_factor_samples,
    make_sample,
    make_samples,
    write_factor_runs,
    write_run,
)
from lxml import html
from report_reader import (
    assert_comparison_is_said_from_csv,
    assert_latex_is_whole,
    assert_no_number_is_left,
    assert_tables_are_formatted_from_csv,
    comparison_formats,
    page_text,
    read_table,
)

from cogniload_analysis import fit_complexity_decay, read_factor_samples, read_samples
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.display import figures as panels
from cogniload_analysis.display.print import run_columns
from cogniload_analysis.display.tables import TableSpec
from cogniload_analysis.factor import figures, tables, words
from cogniload_analysis.factor.analysis import FACTOR, merge_tasks
from cogniload_analysis.report.examples import pick_failures
from cogniload_analysis.report.write import write_report
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_analysis.samples.stop_reasons import ENDING_TABLE
from cogniload_gen import commands
from cogniload_gen.factor.score import FactorOutcome

BETA = [7.22, -0.29, -2.75, -3.21, 2.75]
SMALL = GRID[(GRID["d"] <= 3) & (GRID["N"] <= 50)]
DECAYS = {
    ("symbolic", 0): (-0.04, 0.43),
    ("symbolic", 4000): (-0.049, -0.02),
    ("symbolic", 64000): (-0.05, -0.711),
    ("realistic", 0): (-0.1, 0.2),
    ("realistic", 4000): (-0.12, 0.1),
}
ONE_LENGTH = {("symbolic", 0): (-0.04, 0.3)}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A model with everything, and one with a single context and several attempts."""
    folder = tmp_path_factory.mktemp("results")
    write_factor_runs(folder, "org/whole", DECAYS)
    two = {("symbolic", 0): (-0.08, 0.48), ("symbolic", 8000): (-0.1, 0.34)}
    write_factor_runs(folder, "org/tries", two, puzzles=4, attempts=8)
    write_run(folder, "org/whole", make_samples(BETA, 1, 1, grid=SMALL))
    return folder


@pytest.fixture(scope="module")
def frame(results):
    return read_factor_samples(results)


def one_sample(outcome="wrong_set", puzzle=None, **changes):
    return make_sample(puzzle or make_factor_puzzle(3), "v1", outcome) | changes


# --- reading


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


def test_a_folder_of_both_benchmarks_gives_each_its_own(results, frame):
    cogniload = read_samples(results)
    assert set(cogniload["task"]) == {"cogniload"}
    assert cogniload["context_budget"].eq(32768).all()
    frames = read_benchmarks(results, ANALYSES)
    assert list(frames) == ["CogniLoad", "FACTOR"]
    pd.testing.assert_frame_equal(frames["FACTOR"], frame)


def test_own_tasks_are_told_by_their_puzzles_and_other_factors_left_aside(tmp_path):
    write_run(tmp_path, "m", [one_sample()], task="my_variables")
    write_run(tmp_path, "m", [{"doc": {}, "filter": "none", "acc": 1.0}], task="factor_analysis")
    assert set(read_factor_samples(tmp_path)["task"]) == {"my_variables"}
    with pytest.raises(ValueError, match=r"no CogniLoad task in .* of factor_analysis, my_var"):
        read_samples(tmp_path)


def test_no_task_of_either_benchmark_names_both(tmp_path):
    write_run(tmp_path, "m", [{"doc": {}, "filter": "none"}], task="gsm8k")
    with pytest.raises(ValueError, match=r"no CogniLoad or FACTOR task in .* are of gsm8k"):
        write_report(tmp_path, tmp_path / "out")


def puzzle(**changes):
    return {"puzzle": make_factor_puzzle(3) | changes}


@pytest.mark.parametrize(
    ("sample", "cause"),
    [
        (one_sample(**puzzle(suite="x" * 999)), "suite must be symbolic or realistic, got 'xxx"),
        (one_sample(**puzzle(suite=[1])), "unhashable"),
        (one_sample(**puzzle(N=0)), "N or op must be 1 or more and context 0 or more, got 0 and 0"),
        (one_sample(**puzzle(context=-1)), "context 0 or more, got 3 and -1"),
        (one_sample(**puzzle(N="many")), "N must be an integer of 64 bits, got 'many'"),
        (one_sample(**puzzle(N=float("inf"))), "N must be an integer of 64 bits, got inf"),
        (one_sample(**puzzle(suite="realistic")), "no field 'op'"),
        (
            one_sample(**puzzle(suite="realistic", op=2, noise={"x": 1})),
            "noise must be one of none, filler, close, general, got",
        ),
        (one_sample(outcome="correct_valid"), "outcome must be one of correct, wrong_set"),
        (one_sample(acc=1.0), "acc must agree with the outcome wrong_set, got 1.0"),
        (one_sample(doc=7), "not subscriptable"),
    ],
)
def test_a_broken_line_is_named_by_file_and_number(tmp_path, sample, cause):
    write_run(tmp_path, "m", [one_sample(), sample], task="factor_symbolic_0")
    with pytest.raises(ValueError, match=f"samples_factor_.*jsonl, line 2: .*{cause}") as error:
        read_factor_samples(tmp_path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_decoding_is_said_in_one_short_line_whatever_stands_there(tmp_path):
    run = write_run(tmp_path, "m", [one_sample()], task="factor_symbolic_0")
    file = next(run.glob("results_*"))
    results = json.loads(file.read_text())
    for settings, said in (
        ({"until": [], "max_gen_toks": 5, "top_p": 0.9}, "top_p 0.9"),
        ({"a\u202e\nb": ["x" * 999]}, None),
        ("hot", ""),
        (None, ""),
    ):
        results["configs"]["factor_symbolic_0"]["generation_kwargs"] = settings
        file.write_text(json.dumps(results))
        (decoding,) = read_factor_samples(tmp_path)["decoding"].unique()
        assert decoding == said or (said is None and len(decoding) < 150)
        assert decoding.isprintable()


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


# --- tables and figures


def test_each_condition_is_fitted_alone(frame):
    decays = tables.fit_decays(frame)
    assert len(decays) == 7
    condition = ("org/whole", "symbolic", 4000, "filler")
    mine = frame[(frame["model"] == "org/whole") & (frame["context"] == 4000)]
    alone = fit_complexity_decay(mine[mine["suite"] == "symbolic"])
    assert (decays[condition].cdf, decays[condition].cdo) == (alone.cdf, alone.cdo)
    row = tables.decay_table(decays).set_index(["model", "suite", "context", "noise"])
    row = row.loc[condition]
    assert (row["CDF"], row["N_eff_low"]) == (alone.cdf, alone.conf_int().loc["N_eff", "low"])
    assert row["mean_accuracy"] == pytest.approx(alone.points["accuracy"].mean())
    with pytest.raises(ValueError, match="a fit is of one model, and the frame holds 2"):
        fit_complexity_decay(frame)


def test_what_ran_without_noise_belongs_to_every_noise():
    rows = [(0, "none"), (4000, "close"), (8000, "close"), (4000, "general")]
    table = pd.DataFrame(rows, columns=["context", "noise"]).assign(model="m", suite="realistic")
    series = {noise: rows for (_, _, noise), rows in tables.context_series(table)}
    assert {noise: rows["context"].tolist() for noise, rows in series.items()} == {
        "close": [0, 4000, 8000],
        "general": [0, 4000],
    }


def test_published_figures_print_as_in_the_paper():
    table = tables.decay_table(
        tables.fit_decays(
            pd.DataFrame({"N": [1.0, 2, 3], "correct": [0.8, 0.6, 0.5]}).assign(
                model="new", suite="symbolic", context=0, noise="none"
            ),
            "least squares",
        )
    )
    by_context = tables.by_context_table(table)
    cdf = tables.CDF_BY_CONTEXT.show(by_context).set_index("Model")
    cdo = tables.CDO_BY_CONTEXT.show(by_context).set_index("Model")
    columns = ["0", "1K", "2K", "4K", "8K", "16K", "32K", "64K", "128K", "From"]
    assert cdf.columns.tolist() == columns
    assert cdf.index.tolist()[:3] == ["new", "Mistral-Large-Instruct-2407", "Qwen2.5-72B-Instruct"]
    assert cdf.loc["Mistral-Large-Instruct-2407", "64K"] == "-15.19"
    assert cdf.loc["Course", "16K"] == "-14.56"
    assert cdo.loc["GPT-4o-mini-2024-07-18", ["4K", "64K"]].tolist() == ["-0.020", "-0.711"]
    assert cdo.loc["Llama-3.1-70B-Instruct", "64K"] == "--"
    zero = tables.ZERO_CONTEXT.show(tables.zero_context_table(table))
    zero = zero.set_index("Model")
    assert zero.loc["o1-mini"].tolist() == [
        "-0.0117",
        "0.6303",
        "53.87",
        "--",
        "published, Table 1",
    ]
    assert zero.loc["Gemini-1.5-Pro-002", "Neff"] == "-8.59†"
    assert zero.loc["Diagonal", "Neff"] == "26.69"
    assert "to" in zero.loc["new", "95 % interval"]


def test_the_regression_of_attempts_stands_beside_table_7(frame):
    attempts = tables.attempts_table(frame)
    assert set(attempts["model"]) == {"org/tries"}
    assert attempts["t"].max() == 8
    table = tables.sampling_table(attempts)
    mine = table[table["source"] == "this report"].set_index("context")
    assert mine.loc[0, "problem"] == "this is the clean context"
    single = attempts[(attempts["context"] == 0) & (attempts["t"] == 1)]["N_eff"].item()
    assert mine.loc[8000, "N_clean"] == single
    shown = tables.SAMPLING.show(table).tail(6)
    assert shown["k"].tolist()[0] == "-0.3583"
    assert shown["Context"].tolist() == ["0", "1K", "2K", "4K", "8K", "16K"]
    assert shown["Noise"].tolist() == ["none"] + 5 * ["filler"]
    without = attempts.assign(problem="the CDO is not positive: there is no phase without errors")
    mine = tables.sampling_table(without).set_index(["source", "context"])
    assert mine.loc[("this report", 8000), "problem"].startswith("there is no Neff of a clean")


@pytest.fixture(scope="module")
def decays(frame):
    return tables.fit_decays(frame)


def of(decays, suite, model=None):
    return {
        each: decay
        for each, decay in decays.items()
        if each[1] == suite and model in {None, each[0]}
    }


def test_figures_show_the_numbers_of_the_tables(decays):
    mine = of(decays, "symbolic", "org/whole")
    accuracy, logarithm = figures.draw_by_context(mine).axes
    first = next(iter(mine.values()))
    np.testing.assert_allclose(accuracy.get_lines()[0].get_ydata(), first.points["accuracy"])
    used = first.points[first.points["used"]]
    drawn = used["accuracy"][used["accuracy"] > 0]
    np.testing.assert_allclose(logarithm.get_lines()[0].get_ydata(), drawn)
    line = logarithm.get_lines()[1]
    np.testing.assert_allclose(line.get_ydata(), first.predict(line.get_xdata()))
    assert logarithm.get_yscale() == "log"
    table = tables.decay_table(of(decays, "symbolic"))
    (ranking,) = figures.draw_mean_accuracy(table).axes
    labels = [label.get_text() for label in ranking.get_yticklabels()]
    best = table.groupby("model")["mean_accuracy"].max().sort_values()
    assert labels == best.index.tolist()
    cdf, cdo = figures.draw_cdf_cdo(table).axes
    assert cdf.get_ylabel() == "CDF × 100"
    drawn = {tuple(np.round(line.get_ydata(), 6)) for line in cdo.get_lines()}
    whole = table[table["model"] == "org/whole"].sort_values("context")["CDO"]
    assert tuple(np.round(whole, 6)) in drawn
    assert (-0.014, -0.065, -0.054, -0.104) in drawn


def test_two_phases_are_parted_at_n_eff_where_it_has_a_meaning(decays):
    figure = figures.draw_two_phases(of(decays, "symbolic"))
    found = [axes.get_title() for axes in figure.axes]
    fits = {each[0]: fit for each, fit in of(decays, "symbolic").items() if each[2] == 0}
    assert found == sorted(fits, key=lambda model: -fits[model].n_eff)
    for axes in figure.axes:
        (border,) = [line for line in axes.get_lines() if line.get_linestyle() == ":"]
        fit = fits[axes.get_title()]
        assert border.get_xdata()[0] == fit.n_eff
        *ends, floor = (line for line in axes.get_lines() if line.get_color() == panels.FAINT)
        used = fit.points["N"][fit.points["used"]]
        assert [line.get_xdata()[0] for line in ends] == [used.min(), used.max()]
        assert floor.get_ydata()[0] == fit.floor


@pytest.mark.parametrize("columns", [1, 3])
def test_every_figure_is_drawn_for_paper_and_phone_the_same_each_time(decays, columns):
    realistic = of(decays, "realistic")
    general = {(*each[:3], "general"): fit for each, fit in realistic.items() if each[2] == 4000}
    for some, titles in (
        (realistic, ["Models, shortest context", "By context"]),
        (realistic | general, ["Models, shortest context", "By context", "By noise"]),
    ):
        figure = figures.draw_realistic(some, "org/whole", columns)
        assert [axes.get_title() for axes in figure.axes if axes.get_visible()] == titles
        assert figure.get_figwidth() == (4.2 if columns == 1 else 9.5)
    first, second = (
        panels.save_figure(figures.draw_by_model(realistic, columns), "svg") for _ in range(2)
    )
    assert first == second


# --- the report


SPECS = [spec for spec in vars(tables).values() if isinstance(spec, TableSpec)]
FORMATS = {
    "factor_endings": ENDING_TABLE.show,
    "factor_runs": TableSpec("", "", run_columns(FACTOR.loads)).show,
    **{spec.name: spec.show for spec in SPECS},
    **comparison_formats(FACTOR.loads, "factor_"),
}


def assert_recomputable(page_file, accuracy_range=(0.1, 0.9)):
    """Assert that every number of FACTOR's part follows from the CSV files, and they from cells."""
    folder = page_file.parent
    page = html.fromstring(page_file.read_text("utf-8"))
    assert_tables_are_formatted_from_csv(page, folder, FORMATS.__getitem__)
    assert_comparison_is_said_from_csv(page, folder, "factor_")
    said = [page_text(element) for element in page.cssselect(".said")]
    expected = []
    spoken = {"factor_decay": words.say_decay, "factor_modes": words.say_mode}
    spoken["factor_sampling"] = words.say_sampling
    by_name = {
        name: read_table(folder, name)
        for name in spoken
        if (folder / "tables" / f"{name}.csv").exists()
    }
    decay = by_name["factor_decay"]
    pairs = decay[["suite", "model"]].drop_duplicates().sort_values(["suite", "model"])
    for suite, model in pairs.itertuples(index=False):
        for name, table in by_name.items():
            mine = table[(table["suite"] == suite) & (table["model"] == model)]
            mine = mine[mine["source"] == "this report"] if "source" in mine else mine
            blank = {each: "" for each in ("problem", "note", "N_eff_problem") if each in mine}
            mine = mine.astype(dict.fromkeys(blank, object)).fillna(blank)
            expected += map(spoken[name], mine.to_dict("records"))
    assert said == [" ".join(sentence.split()) for sentence in expected]
    assert_no_number_is_left(page)
    cells = read_table(folder, "factor_cells")
    totals = cells[list(FactorOutcome)].sum(axis=1)
    cells["correct"] = cells["correct"] / totals
    cells = cells.loc[cells.index.repeat(totals)]
    for row in decay.itertuples():
        same = cells[["model", "suite", "context", "noise"]] == [*row[1:5]]
        fit = fit_complexity_decay(cells[same.all(axis=1)], accuracy_range=accuracy_range)
        for value, stored in ((fit.cdf, row.CDF), (fit.cdo, row.CDO), (fit.n_eff, row.N_eff)):
            assert value == pytest.approx(stored, nan_ok=True)


def assert_policy(text):
    """Assert that the page runs its own script alone, and fetches and sends nothing."""
    page = html.fromstring(text)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (script,) = page.xpath("//script")
    digest = b64encode(sha256(script.text.encode()).digest()).decode()
    assert dict(directive.split() for directive in policy.split(";")) == {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": "'unsafe-inline'",
        "script-src": f"'sha256-{digest}'",
        "form-action": "'none'",
        "base-uri": "'none'",
    }


@pytest.fixture
def laid_out(monkeypatch):
    """Lay the figures out, once each, but leave their files empty, which takes most of the time."""

    def save_figure(figure, kind):
        if kind == "svg":
            figure.draw_without_rendering()
        return b"<svg/>"

    monkeypatch.setattr(panels, "save_figure", save_figure)


def keep_factor(results, folder):
    """Copy FACTOR's samples into a folder, and return it."""
    for file in results.rglob("*factor*"):
        (folder / file.parent.name).mkdir(parents=True, exist_ok=True)
        (folder / file.parent.name / file.name).write_bytes(file.read_bytes())
    return folder


def test_every_number_can_be_recomputed_and_every_file_is_linked(undrawn, results, tmp_path):
    page = write_report([next(results.glob(f"*{name}")) for name in ("tries", "whole")], tmp_path)
    text = page.read_text("utf-8")
    assert "CogniLoad and FACTOR report" in text
    assert_policy(text)
    files = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.*")}
    linked = [link.get("href") for link in html.fromstring(text).cssselect("a")]
    assert {link for link in linked if "/" in link} | {"report.html"} == files
    for link in linked:
        assert link in files or len(html.fromstring(text).cssselect(link)) == 1
    for file in tmp_path.rglob("*.tex"):
        assert_latex_is_whole(file.read_text())
    page = write_report(keep_factor(results, tmp_path / "only"), tmp_path / "again")
    assert "<title>FACTOR report</title>" in page.read_text("utf-8")
    assert_recomputable(page)


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        ([one_sample()], "Without filler: no decay can be fitted"),
        ([one_sample("correct", make_factor_puzzle(N)) for N in range(1, 6)], "as every response"),
        (make_factor_samples(-0.1, 0.2, 10, 1, N=range(2, 21), suite="realistic"), "Without noise"),
        (make_factor_samples(-0.05, 0.3, 10, 1, context=4000), "With 4,000 tokens of filler"),
    ],
    ids=["one response", "all right", "one realistic context", "one symbolic context"],
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
    assert "no failure mode" in text
    assert ("No response was wrong." in text) == all(sample["acc"] for sample in samples)


def test_options_of_the_command_reach_the_report(undrawn, results, tmp_path):
    results, out = keep_factor(results, tmp_path / "results"), tmp_path / "report"
    options = ["--factor-range", "0.15", "0.8", "--factor-n-clean", "5.3"]
    assert commands.main(["report", str(results), "--out", str(out), *options]) == 0
    assert_recomputable(out / "report.html", (0.15, 0.8))
    sampling = read_table(out, "factor_sampling")
    here = sampling[sampling["source"] == "this report"]
    assert set(here["N_clean"]) == {5.3}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--factor-range", "0.8", "0.1"], "accuracy_range must be"),
        (["--factor-range", "0", "0.9"], "accuracy_range must be"),
        (["--factor-range", "nan", "0.9"], "accuracy_range must be"),
        (["--factor-range", "0.1"], "expected 2 arguments"),
        (["--factor-n-clean", "-1"], "n_clean must be"),
        (["--factor-n-clean", "nan"], "n_clean must be"),
        (["--factor-n-clean", "many"], "invalid float"),
    ],
)
def test_wrong_options_of_the_command_exit_2(undrawn, tmp_path, capsys, option, message):
    write_factor_runs(tmp_path, "org/one", ONE_LENGTH)
    arguments = ["report", str(tmp_path), "--out", str(tmp_path / "report"), *option]
    with pytest.raises(SystemExit) as stopped:
        sys.exit(commands.main(arguments))
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert not (tmp_path / "report").exists()


def test_a_model_may_be_named_as_a_figure(undrawn, tmp_path):
    write_factor_runs(tmp_path, "org/my_figure_1", ONE_LENGTH, puzzles=3)
    text = write_report(tmp_path, tmp_path / "out").read_text("utf-8")
    assert "figures/factor_symbolic_01_my_figure_1.svg" in text


def test_the_realistic_figure_is_of_the_model_with_most_kinds_of_noise(undrawn, tmp_path):
    write_factor_runs(tmp_path, "best", {("realistic", 4000): (-0.01, 0)}, puzzles=3)
    for noise in ("close", "general"):
        samples = make_factor_samples(
            -0.2, 0, 3, 1, N=range(2, 9), suite="realistic", context=4000, noise=noise
        )
        write_run(tmp_path, "both", samples, task=f"factor_realistic_{noise}_4k")
    text = write_report(tmp_path, tmp_path / "out").read_text("utf-8")
    assert "models at their shortest context; and both by context" in text


@pytest.mark.parametrize("texts", [{"filtered_resps": None}, {"filtered_resps": []}, {}])
def test_failures_without_texts_are_shown_without_them(tmp_path, texts):
    sample = one_sample() | texts
    for name in ("puzzle", "question", "answer"):
        del sample["doc"][name]
    write_run(tmp_path, "m", [sample], task="factor_symbolic_0")
    (example,) = pick_failures(read_factor_samples(tmp_path), FACTOR)
    assert (example["question"], example["puzzle"]) == ("", "")
    shown = "".join(text for text, _ in example["parts"])
    assert shown == ("" if texts else "v1")


def test_a_long_puzzle_is_shown_by_its_ends(undrawn, tmp_path):
    doc = make_factor_puzzle(3) | {"puzzle": "start " + "filler " * 100_000 + " end"}
    write_run(tmp_path, "m", [one_sample(puzzle=doc)], task="factor_symbolic_128k")
    text = write_report(tmp_path, tmp_path / "out").read_text("utf-8")
    assert "characters left out" in text
    assert "start filler" in text
    assert "filler  end" in text
    assert len(text) < 200_000


def test_force_removes_what_an_earlier_report_alone_had_and_nothing_else(undrawn, tmp_path):
    both, out = tmp_path / "both", tmp_path / "out"
    write_factor_runs(both, "org/m", ONE_LENGTH, puzzles=3)
    cogniload = write_run(tmp_path / "one", "org/m", make_samples(BETA, 1, 1, grid=SMALL))
    write_report([both, cogniload], out)
    mine = out / "tables" / "mine.csv"
    mine.write_text("mine")
    (out / "notes.txt").write_text("mine")
    page = write_report(cogniload, out, force=True)
    files = {str(file.relative_to(out)) for file in out.rglob("*.*")}
    assert not any("factor" in file for file in files)
    linked = {link.get("href") for link in html.fromstring(page.read_text()).cssselect("a")}
    assert files - {"tables/mine.csv", "notes.txt", "report.html"} <= linked
    assert mine.read_text() == "mine"


def test_force_follows_no_link_out_of_the_report_s_folders(undrawn, tmp_path):
    run = write_run(tmp_path / "r", "m", [one_sample()], task="factor_symbolic_0")
    out, outside = tmp_path / "out", tmp_path / "outside.csv"
    (out / "tables").mkdir(parents=True)
    for file in (outside, out / "outside.csv", out / "tables" / "kept.txt"):
        file.write_text("mine")
    links = ["tables/../../outside.csv", "../outside.csv", "outside.csv", "tables/kept.txt"]
    links += [str(outside), "tables/gone.csv"]
    (out / "report.html").write_text("".join(f'<a href="{link}">' for link in links))
    write_report(run, out, force=True)
    assert outside.exists()
    assert (out / "outside.csv").exists()
    assert (out / "tables" / "kept.txt").exists()


def test_failures_take_turns_over_the_outcomes(frame):
    examples = pick_failures(frame, FACTOR)
    assert {failure["bucket"] for failure in examples} == set(FactorOutcome) - {"correct"}
    assert all("N = " in failure["load"] for failure in examples)


# --- words


DECAY = {"suite": "symbolic", "context": 4000, "noise": "filler", "problem": "", "note": ""}
DECAY |= {"CDF": -0.0326, "CDF_low": -0.0346, "CDF_high": -0.0306}
DECAY |= {"CDO": 0.085, "CDO_low": -0.01, "CDO_high": 0.18, "floor": 0.012, "lapses": 0.005}
DECAY |= {"N_eff": 2.607, "N_eff_low": 1.04, "N_eff_high": 4.26, "first_N": 4.0, "last_N": 39.0}
NOISY = {"suite": "realistic", "noise": "close"}


@pytest.mark.parametrize(
    ("row", "parts", "absent"),
    [
        ({}, ["4,000 tokens of filler", "falls by 3.2 %", "-0.0346 to -0.0306"], "Careful"),
        ({}, ["2.6 variables", "1.0 to 4.3)", "N = 4 to 39; 1.2 %", "0.5 %"], "open"),
        ({"N_eff_low": -64444.9}, ["interval up to 4.3)"], "-64"),
        ({"CDO_high": math.inf, "N_eff_high": math.inf}, ["(Neff)", "open above"], "inf"),
        (NOISY | {"N_eff_low": math.nan}, ["close noise", "2.6 operations on (Neff)"], "nan"),
        ({"context": 0, "CDO": -0.0834}, ["Without filler", "outset", "at 92 %"], "Neff"),
        ({"note": "at 3 of the N"}, ["Careful: at 3 of the N."], "fitted"),
        (NOISY | {"context": 0, "CDF": 0.01}, ["Without noise", "rises by 1.0 %"], "window"),
        ({"problem": "there are no responses"}, ["as there are no responses."], "CDF"),
    ],
)
def test_a_decay_in_words(row, parts, absent):
    sentence = words.say_decay(DECAY | row)
    assert all(part in sentence for part in parts)
    assert absent not in sentence


def test_a_mode_and_a_regression_in_words():
    mode = {"suite": "symbolic", "noise": "filler", "name": "degrading CDO and CDF", "N": 20.0}
    mode |= {"problem": "", "cdf_loss": 0.352, "cdo_loss": -0.05}
    sentence = words.say_mode(mode)
    parts = (mode["name"], "CDF takes 35 %", "CDO adds 5 %", "N = 20")
    assert all(part in sentence for part in parts)
    assert "close noise" in words.say_mode(mode | NOISY)
    assert words.say_mode(mode | {"problem": "x"}).endswith(", as x.")
    sampling = {"suite": "symbolic", "context": 8000, "noise": "filler", "N_clean": 26.34}
    sampling |= {"k": -0.2457, "b": 3.2424, "rsquared": 0.99265, "problem": "", "given": False}
    sentence = words.say_sampling(sampling)
    parts = ("8,000 tokens", "25.6 × t^-0.25", "below 26.3", "(R² 0.993)")
    assert all(part in sentence for part in parts)
    assert ("single attempt" in sentence) != ("Nclean given" in sentence)
    other = words.say_sampling(sampling | {"context": 0, "given": True, "N_clean": 12.0})
    assert "below 12.0, the Nclean given" in other
    assert words.say_sampling(sampling | {"problem": "x"}).endswith("can't be fitted, as x.")

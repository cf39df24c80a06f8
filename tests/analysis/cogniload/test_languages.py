"""Accuracy by language: pairs of the same puzzle, their tokens, and the report that shows them."""

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import SMALL, make_samples, write_run
from statsmodels.stats.contingency_tables import mcnemar

from cogniload_analysis import compare_runs, read_samples
from cogniload_analysis.cogniload.sections.languages import language_table
from cogniload_analysis.report.write import write_report

EASY, HARD = (7.22, -0.29, -2.75, -3.21, 2.75), (5.5, -0.29, -2.75, -3.21, 2.75)


def samples(language, coefficients, seed, longer=1.0):
    """Yield samples with ids of a language, whose prompts are `longer` times as long."""
    for sample in make_samples(coefficients, 6, seed, grid=SMALL):
        place = "" if language == "en" else f"-{language}"
        id = sample["doc"]["id"].replace("cogniload-42", f"cogniload-v1-test-s42{place}")
        doc = sample["doc"] | {"id": id}
        yield sample | {"doc": doc, "prompt_tokens": int(sample["prompt_tokens"] * longer)}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("languages")
    write_run(folder / "en", "org/model", samples("en", EASY, 1))
    write_run(folder / "de", "org/model", samples("de", HARD, 2, longer=1.5))
    write_run(folder / "other", "org/other", samples("zh", EASY, 3))
    return folder


def test_pairs_are_counted_by_hand(runs):
    frame = read_samples(runs)
    (row,) = language_table(frame).to_dict("records")  # the other model has no English
    ids = frame["id"].astype(str)
    german, english = (
        frame[ids.str.contains(mark)].assign(id=ids.str.replace("-de-", "-")).set_index("id")
        for mark in ("s42-de-", "s42-d[0-9]")
    )
    german = german.loc[english.index]
    right = pd.crosstab(german["correct"].to_numpy(), english["correct"].to_numpy())
    assert row["puzzles"] == len(english) == len(german)
    assert row["difference"] == pytest.approx(german["correct"].mean() - english["correct"].mean())
    assert row["low"] < row["difference"] < row["high"] < 0
    plain = mcnemar(right, exact=False, correction=False).pvalue
    assert row["p"] == row["p_holm"] == pytest.approx(plain)
    assert row["times_prompt_tokens"] == pytest.approx(
        german["prompt_tokens"].mean() / english["prompt_tokens"].mean()
    )
    assert row["times_prompt_tokens"] == pytest.approx(1.5, abs=0.01)


def test_several_attempts_and_one_file_of_both_languages():
    generator = np.random.default_rng(0)
    rows = [
        {"model": "m", "id": f"cogniload-v1-test-s42{place}-d3-N5-rho50-{index}", "correct": right}
        for place, chance in (("", 0.9), ("-fr", 0.4))
        for index in range(60)
        for right in generator.random(3) < chance
    ]
    frame = pd.DataFrame(rows).assign(prompt_tokens=np.nan, response_tokens=10)
    (row,) = language_table(frame).to_dict("records")
    assert (row["model"], row["language"], row["puzzles"]) == ("m", "fr", 60)
    assert -0.6 < row["low"] < row["difference"] < row["high"] < -0.35
    assert np.isnan(row["times_prompt_tokens"])
    assert row["times_response_tokens"] == 1


def test_the_report_has_a_row_for_each_language_and_the_pairs(runs, tmp_path):
    page = write_report(runs, tmp_path / "report").read_text("utf-8")
    table = pd.read_csv(tmp_path / "report" / "tables" / "languages.csv")
    assert table[["model", "language"]].values.tolist() == [["model", "de"]]
    assert 'id="languages"' in page
    assert set(read_samples(runs)["model"]) == {
        "org/model, language de", "org/model, language en", "org/other",
    }  # fmt: skip


def test_runs_of_two_languages_are_compared_by_pairs(runs):
    accuracy = compare_runs(read_samples([runs / "de", runs / "en"])).accuracy
    assert accuracy["paired"].all()
    assert accuracy["left_out"].eq(0).all()

"""Accuracy by language: the same puzzles, their tokens, and the report that shows them."""

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import SMALL, make_samples, write_run

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


def test_puzzles_that_were_answered_in_each_language_are_counted_by_hand(runs):
    frame = read_samples(runs)
    ids = frame["id"].astype(str)
    left_out = frame[~ids.str.endswith("rho50-1") | ids.str.contains("-de-")]  # in English alone
    table = language_table(left_out).set_index("language")  # the other model has no English
    assert table.index.tolist() == ["de", "en"]
    shared = frame[~ids.str.endswith("rho50-1") & frame["model"].str.startswith("org/model")]
    german = shared["id"].astype(str).str.contains("-de-")
    for language, own in (("de", shared[german]), ("en", shared[~german])):
        row = table.loc[language]
        assert (row["model"], row["responses"]) == ("org/model", len(own))
        assert row["accuracy"] == pytest.approx(own["correct"].mean())
        assert row["prompt_tokens"] == pytest.approx(own["prompt_tokens"].mean())


def test_one_file_of_both_languages():
    ids = [f"cogniload-v1-test-s42{place}-d3-N5-rho50-{i}" for place in ("", "-fr") for i in (1, 2)]
    frame = pd.DataFrame({"model": "m", "id": ids, "correct": [True, True, False, True]})
    table = language_table(frame.assign(prompt_tokens=np.nan, response_tokens=10))
    assert table["accuracy"].tolist() == [1, 0.5]
    assert table["prompt_tokens"].isna().all()
    assert language_table(frame[:2].assign(prompt_tokens=1, response_tokens=1)).empty


def test_the_report_has_a_row_for_each_language(runs, undrawn, tmp_path):
    page = write_report(runs, tmp_path / "report").read_text("utf-8")
    table = pd.read_csv(tmp_path / "report" / "tables" / "languages.csv")
    assert table[["model", "language"]].values.tolist() == [["model", "de"], ["model", "en"]]
    assert 'id="languages"' in page


def test_runs_of_two_languages_are_compared_by_pairs(runs):
    accuracy = compare_runs(read_samples([runs / "de", runs / "en"])).accuracy
    assert accuracy["paired"].all()
    assert accuracy["left_out"].eq(0).all()

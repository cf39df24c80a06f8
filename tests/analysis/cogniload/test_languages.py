"""Runs in several languages: rows of their own, which are compared puzzle by puzzle."""

import pandas as pd
import pytest
from lm_eval_layout import SMALL, make_samples, write_run

from cogniload_analysis import compare_runs, read_samples
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


def test_each_language_is_a_row_of_the_report_with_its_tokens(runs, undrawn, tmp_path):
    write_report(runs, tmp_path / "report")
    table = pd.read_csv(tmp_path / "report" / "tables" / "runs.csv").set_index("model")
    german, english = (f"org/model, language {code}" for code in ("de", "en"))
    tokens = table["spent_prompt_tokens"]
    assert tokens[german] == pytest.approx(1.5 * tokens[english], rel=0.05)


def test_runs_of_two_languages_are_compared_by_pairs(runs):
    accuracy = compare_runs(read_samples([runs / "de", runs / "en"])).accuracy
    assert accuracy["paired"].all()
    assert accuracy["left_out"].eq(0).all()

"""Retrieved prompts in the report: every failure was not retrieved, or not reasoned."""

import itertools

import numpy as np
import pytest
from lm_eval_layout import make_factor_puzzle, make_sample, write_run
from report_reader import page_text, read_page, read_table

from cogniload_analysis import read_factor_samples
from cogniload_analysis.display.drawing import draw
from cogniload_analysis.factor.sections import retrieval
from cogniload_analysis.report.write import write_report

BM25 = "bm25, 2000 tokens"
ORACLE = "oracle, 2000 tokens"
PARTS = list(retrieval.PARTS)


def samples(told, *, N=(3, 5), found=(4, 6), right=(0, 1), repeats=1, needed=6):
    """Samples of every combination, by `told` (None for whole texts)."""
    cells = itertools.product(N, found, right, range(repeats))
    for index, (op, of_them, is_right, _) in enumerate(cells):
        doc = make_factor_puzzle(op, suite="realistic", context=4000, index=index)
        if told:
            doc |= {"retrieval": told, "needed": needed, "found": of_them}
        yield make_sample(doc, "x", "correct" if is_right else "wrong_set")


def make_runs(folder):
    """A model with two retrievers and with whole texts; the oracle finds all."""
    for number, (task, told, options) in enumerate(
        [
            ("factor_realistic_4k", BM25, {"repeats": 3}),
            ("factor_realistic_4k", ORACLE, {"found": (6,)}),
            ("factor_realistic_4k", None, {}),
        ]
    ):
        date = f"2026-11-2{number}T08-26-58.123456"
        write_run(folder, "org/m", list(samples(told, **options)), task=task, date=date)
    return folder


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    return read_factor_samples(make_runs(tmp_path_factory.mktemp("results")))


@pytest.mark.parametrize(
    ("second", "task", "names"),
    [
        (BM25, "factor_realistic_4k", {"org/m"}),
        (None, "factor_realistic_4k", {f"org/m, {BM25}", "org/m, no retrieval"}),
        (None, "factor_realistic_retrieval", {f"org/m, {BM25}", "org/m, no retrieval"}),
    ],
)
def test_runs_of_one_retrieval_are_attempts_and_others_are_told_apart(
    tmp_path, second, task, names
):
    write_run(tmp_path, "org/m", list(samples(BM25)), task=task)
    date = "2026-11-25T08-26-58.123456"
    write_run(tmp_path, "org/m", list(samples(second)), task="factor_realistic_4k", date=date)
    frame = read_factor_samples(tmp_path)
    assert {*frame["model"].astype(str)} == names
    assert set(frame["attempt"]) == ({1, 2} if second else {1})


def test_the_parts_add_up_and_agree_with_a_count_made_apart(frame):
    table = retrieval.retrieval_table(frame)
    assert (table[PARTS].sum(axis=1) == table["responses"]).all()
    assert table["responses"].sum() == frame["needed"].notna().sum() == 28
    rows = table.set_index("retrieval")
    assert rows.loc[BM25, PARTS].tolist() == [6, 6, 6, 6]
    assert rows.loc[ORACLE, PARTS].tolist() == [2, 0, 2, 0]
    assert rows.loc[BM25, ["recall", "closure", "accuracy"]].tolist() == [5 / 6, 0.5, 0.5]
    assert rows.loc[ORACLE, ["recall", "closure"]].tolist() == [1, 1]
    (axes,) = draw(retrieval.draw_retrieval(table)).axes
    widths = [[bar.get_width() for bar in bars] for bars in axes.containers]
    expected = (table[PARTS].div(table["responses"], axis=0)).T
    assert np.array(widths) == pytest.approx(expected.to_numpy())


def test_the_report_has_the_table_the_figure_and_the_sentences(undrawn, tmp_path):
    page = write_report(make_runs(tmp_path / "results"), tmp_path / "report")
    table = read_table(tmp_path / "report", "factor_retrieval")
    assert (table[PARTS].sum(axis=1) == table["responses"]).all()
    root = read_page(page)
    assert retrieval.say_retrieval(table.to_dict("records")[0]) in page_text(root)
    assert (tmp_path / "report/figures/factor_retrieval.svg").exists()
    assert root.xpath("//h2[@id='factor_retrieved']")

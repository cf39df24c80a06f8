"""Accuracy by hops, and beside shortcuts: from puzzles to tables, sentences and figures."""

import numpy as np
import pytest
from lm_eval_layout import make_factor_puzzle, make_sample, write_run

from cogniload_analysis import read_factor_samples
from cogniload_analysis.factor.sections import hops
from cogniload_gen import generate_factor
from cogniload_gen.answers import Sample
from cogniload_gen.factor.baselines import SYMBOLIC_BASELINES

ROWS = generate_factor(N=[2, 8], num_puzzles=60).to_pylist()
ROWS += generate_factor("realistic", op=3, num_puzzles=20).to_pylist()


def responses(right):
    """Samples of the rows, correct where `right` says so of a row."""
    return [make_sample(row, "x", "correct" if right(row) else "wrong_set") for row in ROWS]


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    """A model that finds what is given, and no more."""
    grep = SYMBOLIC_BASELINES["grep or none"]
    made = responses(
        lambda row: row["suite"] == "symbolic" and grep(row["puzzle"]) == row["answer"]
    )
    folder = tmp_path_factory.mktemp("results")
    write_run(folder, "org/shallow", made[:120], task="factor_symbolic_0")
    write_run(folder, "org/shallow", made[120:], task="factor_realistic_0")
    return read_factor_samples(folder)


def test_a_frame_has_the_hops_where_a_variable_has_the_target(frame):
    for row, read in zip(ROWS[:120], frame[frame["suite"] == "symbolic"].itertuples(), strict=True):
        assert np.isnan(read.hops) == (row["answer"] == "none")
        assert read.hops == row["hops"] or row["answer"] == "none"


def test_a_model_that_only_greps_is_right_at_no_hop_and_does_not_beat_grep(frame):
    table = hops.hops_table(frame)
    assert table["responses"].sum() == len(ROWS)
    mine = table[table["suite"] == "symbolic"]
    unknown = mine[mine["hops"].isna()]
    assert unknown["responses"].sum() == sum(row["answer"] == "none" for row in ROWS[:120])
    assert mine.loc[mine["hops"] == 0, "accuracy"].tolist() == [1]
    assert (mine.loc[mine["hops"] > 0, "accuracy"] == 0).all()
    assert mine["accuracy"].tolist() == mine["floor"].tolist()
    assert (mine["one hop"] >= mine["floor"]).all()
    assert "the shortcut “grep or none”" in hops.say_shortcuts(mine)
    reasons = hops.hops_table(frame.assign(correct=1))
    assert hops.say_shortcuts(reasons[reasons["suite"] == "symbolic"]).startswith(
        "Of the answers, 100.0 %"
    )


def test_what_is_no_puzzle_is_not_counted():
    for changed in ({"puzzle": "x"}, {"puzzle": None}, {"hops": "3"}):
        sample = Sample(make_sample(make_factor_puzzle(3) | changed, "x", "wrong_set"))
        assert np.isnan([hops.read_hops(sample), *hops.try_baselines(sample.doc)]).all()

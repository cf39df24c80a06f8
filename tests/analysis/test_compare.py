"""Runs side by side: the numbers of small frames by hand, and the command."""

import json
import re
import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import make_factor_puzzle, make_puzzle, make_sample, write_run
from refusals import assert_refused, refused

from cogniload_analysis import compare_runs
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.compare.differences import FEW_PAIRS, MANY_PAIRS, choose_pairs
from cogniload_analysis.compare.paired import FEW, adjust, anytime_p
from cogniload_cli import main

CASES = tomllib.loads((Path(__file__).parent / "data/cases.toml").read_text("utf-8"))
GENERATOR = np.random.default_rng(1)
CELLS = [(d, N, rho) for d in (1, 5, 10) for N in (20, 100) for rho in (0.1, 0.5, 0.9)]


def respond(model, shares, puzzles=10, attempts=1, generator=GENERATOR, first=0, cells=CELLS):
    """Responses of a model to puzzles of each cell, right with a share (of each cell)."""
    rows = []
    for place, (d, N, rho) in enumerate(cells):
        for index in range(first, first + puzzles):
            for _ in range(attempts):
                right = bool(generator.random() < np.broadcast_to(shares, len(cells))[place])
                outcome = "correct_valid" if right else "wrong_logic"
                identity = f"cogniload-42-d{d}-N{N}-rho{100 * rho:g}-{index}"
                rows.append((model, identity, d, N, rho, right, outcome))
    columns = ["model", "id", "d", "N", "rho", "correct", "outcome"]
    return pd.DataFrame(rows, columns=columns)


def by_hand(frame, first, second, values="correct"):
    """Both models' means over puzzles, in plain Python."""
    means = {}
    for row in frame.to_dict("records"):
        means.setdefault((row["model"], row["id"]), []).append(float(row[values]))
    sides = [
        {puzzle: sum(each) / len(each) for (name, puzzle), each in means.items() if name == model}
        for model in (first, second)
    ]
    common = sides[0].keys() & sides[1].keys()
    return [{puzzle: side[puzzle] for puzzle in common} for side in sides]


@pytest.fixture(scope="module")
def frame():
    easy = np.linspace(0.9, 0.2, len(CELLS))
    return pd.concat([respond("a", easy), respond("b", easy - 0.15), respond("c", easy)])


@pytest.fixture(scope="module")
def comparison(frame):
    return compare_runs(frame)


def test_every_pair_has_its_numbers(frame, comparison):
    found = comparison.accuracy.set_index(["first", "second"])
    assert list(found.index) == list(combinations("abc", 2))
    for first, second in found.index:
        one, other = by_hand(frame, first, second)
        row = found.loc[(first, second)]
        assert row["paired"]
        assert row["first_puzzles"] == row["second_puzzles"] == len(one) == 180
        assert row["first_share"] == pytest.approx(np.mean(list(one.values())))
        assert row["second_share"] == pytest.approx(np.mean(list(other.values())))
        assert row["difference"] == pytest.approx(row["first_share"] - row["second_share"])
        assert row["low"] < row["difference"] < row["high"]
        alone = {puzzle for puzzle in one if one[puzzle] > other[puzzle]}
        assert row["only_first"] == len(alone)
        only = comparison.only_one
        mine = only[(only["first"] == first) & (only["second"] == second)]
        assert set(mine["id"][mine["solved_by"] == first]) == alone
        assert row["only_second"] == (mine["solved_by"] == second).sum()
    np.testing.assert_allclose(found["p_holm"], adjust(found["p"]))
    anytime = [anytime_p(*counts) for counts in found[["only_first", "only_second"]].to_numpy()]
    np.testing.assert_allclose(found["p_anytime"], adjust(anytime))


def test_loads_and_outcomes_have_theirs(frame, comparison):
    loads = comparison.by_load
    assert len(loads) == 3 * (3 + 2 + 3)
    for row in loads.to_dict("records"):
        there = frame[frame[row["load"]] == row["level"]]
        one, other = by_hand(there, row["first"], row["second"])
        expected = np.mean(list(one.values())) - np.mean(list(other.values()))
        assert row["difference"] == pytest.approx(expected)
        assert row["first_puzzles"] == len(one)
    outcomes = comparison.outcomes.pivot(index=["first", "second"], columns="outcome")["difference"]
    np.testing.assert_allclose(outcomes.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(outcomes["correct_valid"], comparison.accuracy["difference"])


def test_the_order_of_rows_changes_nothing_but_the_pairs(frame, comparison):
    shuffled = frame.sample(frac=1, random_state=3)
    shuffled["model"] = pd.Categorical(shuffled["model"], ["a", "b", "c"])
    again = compare_runs(shuffled.sort_values("model", kind="stable"))
    for name in ("accuracy", "by_load", "measures"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(comparison, name))
    turned = compare_runs(frame[frame["model"] != "c"].sort_values("model", ascending=False))
    (row,) = turned.accuracy.to_dict("records")
    ab = comparison.accuracy.iloc[0]
    assert (row["first"], row["second"]) == ("b", "a")
    assert (row["low"], row["high"]) == pytest.approx((-ab["high"], -ab["low"]))


def test_attempts_at_a_puzzle_are_one_cluster():
    generator = np.random.default_rng(4)
    two = [respond(name, 0.5, attempts=2, generator=generator) for name in "ab"]
    twice = pd.concat(two)
    (row,) = compare_runs(twice).accuracy.to_dict("records")
    assert row["method"] == "paired, clustered by puzzle"
    assert row["first_puzzles"] == 180
    assert np.isnan(row["p_anytime"])
    one, other = by_hand(twice, "a", "b")
    apart = [one[each] - other[each] for each in one]
    assert row["difference"] == pytest.approx(np.mean(apart))
    assert row["needed"] == pytest.approx((1.96 + 0.842) ** 2 * np.var(apart) / 0.02**2, rel=0.03)
    # The same answers again are no further evidence.
    once = pd.concat(two).drop_duplicates(["model", "id"])
    repeated = pd.concat([once] * 5)
    widths = [
        found["high"] - found["low"]
        for frame in (once, repeated)
        for found in compare_runs(frame).accuracy.to_dict("records")
    ]
    assert widths[1] == pytest.approx(widths[0], rel=0.05)


@pytest.mark.parametrize(
    ("puzzles", "method"), [(1, FEW_PAIRS), (FEW, FEW_PAIRS), (FEW + 1, MANY_PAIRS)]
)
def test_few_puzzles_are_compared_exactly(puzzles, method):
    few = [respond(name, 0.5, puzzles, cells=CELLS[:1]) for name in "ab"]
    (row,) = compare_runs(pd.concat(few)).accuracy.to_dict("records")
    assert row["method"] == method


def test_a_report_pairs_models_that_met_a_load_in_common():
    """Each two of three models, and neighbours in rank of more."""
    cells = {"a": CELLS[:6], "b": CELLS[4:], "c": CELLS[:2], "d": CELLS[:1]}
    answers = {model: respond(model, share, cells=cells[model])
               for model, share in zip("abcd", (1, 0.9, 0.5, 0), strict=True)}  # fmt: skip
    three = pd.concat([answers[model] for model in "abc"])
    assert choose_pairs(three, COGNILOAD) == [("a", "b"), ("a", "c")]
    assert choose_pairs(pd.concat(answers.values()), COGNILOAD) == [("a", "b"), ("c", "d")]


def test_other_puzzles_are_unpaired_and_said_to_be():
    generator = np.random.default_rng(5)
    mine = respond("a", 0.7, 20, generator=generator)
    yours = respond("b", 0.6, 20, first=100, generator=generator)
    comparison = compare_runs(pd.concat([mine, yours]))
    (row,) = comparison.accuracy.to_dict("records")
    assert not row["paired"]
    assert row["method"] == "unpaired"
    assert row["difference"] == pytest.approx(mine["correct"].mean() - yours["correct"].mean())
    assert "unpaired, as they answered different puzzles" in comparison.conclusions[0]
    assert comparison.only_one.empty
    # Another generator's puzzles are others, whatever their ids.
    same = respond("b", 0.6, 20, generator=generator)
    versions = pd.concat([mine.assign(generator_version="1"), same.assign(generator_version="2")])
    assert not compare_runs(versions).accuracy["paired"].any()


def test_puzzles_that_one_was_not_asked_are_left_out_and_said_to_be():
    generator = np.random.default_rng(6)
    mine, yours = (respond(name, 0.5, 10, generator=generator) for name in "ab")
    part = yours[yours["d"] != 10]
    comparison = compare_runs(pd.concat([mine, part]))
    (row,) = comparison.accuracy.to_dict("records")
    assert (row["first_puzzles"], row["left_out"]) == (120, 60)
    assert "60 that only one answered are left out" in comparison.conclusions[0]
    assert row["first_share"] == pytest.approx(mine["correct"][mine["d"] != 10].mean())


def test_a_larger_difference_needs_fewer_puzzles(frame):
    two = frame[frame["model"] != "c"]
    small, large = (compare_runs(two, detect=each).accuracy["needed"][0] for each in (0.02, 0.2))
    assert small == pytest.approx(100 * large, rel=0.02)
    (more,) = re.findall(r"about ([\d,]+) more", " ".join(compare_runs(two).conclusions))
    assert int(more.replace(",", "")) == pytest.approx(small - 180, rel=0.1)
    assert "These puzzles are enough" in " ".join(compare_runs(two, detect=0.2).conclusions)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame[frame["model"] == "a"], "two or more runs, and the frame holds 1: a"),
        (lambda frame: frame.iloc[:0], "the frame holds 0: no responses"),
        (lambda frame: frame.drop(columns="rho"), "the frame must have the loads of a benchmark"),
        (lambda frame: frame.drop(columns="id"), "the frame has no column 'id'"),
        (
            lambda frame: frame[(frame["model"] == "a") == (frame["d"] == 1)],
            "a and b have no puzzle and no loads in common",
        ),
    ],
)
def test_what_can_not_be_compared_is_one_line(frame, change, message):
    with refused(message):
        compare_runs(change(frame))


@pytest.mark.parametrize("detect", [0, 1, 2, -0.1, float("nan")])
def test_a_difference_to_tell_is_a_fraction(frame, detect):
    with refused("detect must be a fraction between 0 and 1"):
        compare_runs(frame, detect=detect)


def make_run(folder, model, right):
    """Write a run whose puzzle number i is solved where `right` says so."""
    puzzles = [make_puzzle(d, N, 50, index) for d in (1, 3) for N in (5, 9) for index in range(10)]
    samples = [
        make_sample(puzzle, "...", "correct_valid" if solved else "wrong_logic")
        for puzzle, solved in zip(puzzles, right, strict=True)
    ]
    return write_run(folder, model, samples)


@pytest.fixture
def runs(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_run("hot", "org/model", [place % 4 > 0 for place in range(40)])
    make_run("cold", "org/model", [place % 2 > 0 for place in range(40)])
    puzzles = [make_factor_puzzle(N, index=index) for N in (1, 2) for index in range(3)]
    write_run("factor", "org/model", [make_sample(each, "", "correct") for each in puzzles],
              task="factor_symbolic_0")  # fmt: skip
    return tmp_path


def test_compare_prints_and_writes_the_tables(runs, capsys):
    assert main(["compare", "temperature 1=hot", "temperature 0=cold", "--out", "tables"]) == 0
    assert "temperature 1 solves 25.0 points more than temperature 0" in capsys.readouterr().out
    table = pd.read_csv("tables/comparison.csv")
    assert table["difference"].tolist() == [0.25]
    only = pd.read_csv("tables/comparison_only_one.csv")
    assert len(only) == 10
    samples = Path(next(runs.glob("hot/*/samples_*"))).read_text("utf-8").splitlines()
    ids = [json.loads(line)["doc"]["id"] for line in samples]
    assert set(only["id"]) == {name for place, name in enumerate(ids) if place % 4 == 2}
    assert_refused(capsys, "exists", "compare", "x=hot", "y=cold", "--out", "tables")
    assert main(["compare", "x=hot", "y=cold", "--out", "tables", "--force"]) == 0


@pytest.mark.parametrize(("arguments", "message"), CASES["compare_arguments"])
def test_wrong_input_is_one_line_and_exit_code_2(runs, capsys, arguments, message):
    assert_refused(capsys, message, "compare", *arguments)

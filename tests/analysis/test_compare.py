"""Runs side by side: the numbers of small frames by hand, and the command."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import make_factor_puzzle, make_puzzle, make_sample, write_run
from refusals import assert_refused, refused
from stored import cases

from cogniload_analysis import analyses, compare_runs
from cogniload_analysis.compare.differences import comparison_sections
from cogniload_analysis.compare.paired import adjust, puzzles_needed
from cogniload_cli import main

CASES = cases(__file__)
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


def test_every_pair_has_its_numbers_overall_and_at_each_level(frame, comparison):
    found = comparison.accuracy
    assert len(found) == 3 * (1 + 3 + 2 + 3)
    for row in found.to_dict("records"):
        there = frame[frame[row["load"]] == row["level"]] if row["load"] else frame
        one, other = by_hand(there, row["first"], row["second"])
        assert row["paired"]
        assert row["first_puzzles"] == row["second_puzzles"] == len(one)
        assert row["first_share"] == pytest.approx(np.mean(list(one.values())))
        assert row["second_share"] == pytest.approx(np.mean(list(other.values())))
        assert row["difference"] == pytest.approx(row["first_share"] - row["second_share"])
        assert row["low"] < row["difference"] < row["high"]
        assert row["only_first"] == sum(one[puzzle] > other[puzzle] for puzzle in one)
        assert row["only_second"] == sum(one[puzzle] < other[puzzle] for puzzle in one)
    whole = comparison.overall
    assert [*zip(whole["first"], whole["second"], strict=True)] == [*combinations("abc", 2)]
    for family in (whole, found.drop(whole.index)):
        np.testing.assert_allclose(family["p_holm"], adjust(family["p"]))


def test_the_order_of_rows_changes_nothing_but_the_pairs(frame, comparison):
    shuffled = frame.sample(frac=1, random_state=3)
    again = compare_runs(shuffled.sort_values("model", kind="stable"))
    for name in ("accuracy", "measures"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(comparison, name))
    turned = compare_runs(frame[frame["model"] != "c"].sort_values("model", ascending=False))
    (row,) = turned.overall.to_dict("records")
    ab = comparison.accuracy.iloc[0]
    assert (row["first"], row["second"]) == ("b", "a")
    assert (row["low"], row["high"]) == pytest.approx((-ab["high"], -ab["low"]))


def test_attempts_at_a_puzzle_are_one_cluster():
    generator = np.random.default_rng(4)
    two = [respond(name, 0.5, attempts=2, generator=generator) for name in "ab"]
    twice = pd.concat(two)
    (row,) = compare_runs(twice).overall.to_dict("records")
    assert row["method"] == "paired, clustered by puzzle"
    assert row["first_puzzles"] == 180
    one, other = by_hand(twice, "a", "b")
    apart = [one[each] - other[each] for each in one]
    assert row["difference"] == pytest.approx(np.mean(apart))
    # The same answers again are no further evidence.
    once = pd.concat(two).drop_duplicates(["model", "id"])
    repeated = pd.concat([once] * 5)
    widths = [
        found["high"] - found["low"]
        for frame in (once, repeated)
        for found in compare_runs(frame).overall.to_dict("records")
    ]
    assert widths[1] == pytest.approx(widths[0], rel=0.05)


def test_other_puzzles_are_unpaired_and_said_to_be():
    generator = np.random.default_rng(5)
    mine = respond("a", 0.7, 20, generator=generator)
    yours = respond("b", 0.6, 20, first=100, generator=generator)
    comparison = compare_runs(pd.concat([mine, yours]))
    (row,) = comparison.overall.to_dict("records")
    assert not row["paired"]
    assert row["method"] == "unpaired"
    assert row["difference"] == pytest.approx(mine["correct"].mean() - yours["correct"].mean())
    assert "unpaired, as they answered different puzzles" in comparison.conclusions[0]
    # Another generator's puzzles are others, whatever their ids.
    same = respond("b", 0.6, 20, generator=generator)
    versions = pd.concat([mine.assign(generator_version="1"), same.assign(generator_version="2")])
    assert not compare_runs(versions).accuracy["paired"].any()


def test_puzzles_that_one_was_not_asked_are_left_out_and_said_to_be():
    generator = np.random.default_rng(6)
    mine, yours = (respond(name, 0.5, 10, generator=generator) for name in "ab")
    part = yours[yours["d"] != 10]
    comparison = compare_runs(pd.concat([mine, part]))
    (row,) = comparison.overall.to_dict("records")
    assert (row["first_puzzles"], row["left_out"]) == (120, 60)
    assert "60 that only one answered are left out" in comparison.conclusions[0]
    assert row["first_share"] == pytest.approx(mine["correct"][mine["d"] != 10].mean())


@pytest.mark.parametrize(("shares", "cut", "said"), [
    ((0.7, 0.7), (0.3, 0.0), True),
    ((0.9, 0.6), (0.1, 0.1), True),
    ((0.7, 0.3), (0.0, 0.01), False),
])  # fmt: skip
def test_the_difference_without_what_was_cut_stands_beside_the_other(shares, cut, said):
    """By the puzzles that no limit cut in either run."""
    runs = []
    for model, share, often in zip("ab", shares, cut, strict=True):
        run = respond(model, share, 20, generator=np.random.default_rng(int(100 * share)))
        lost = np.random.default_rng(5).random(len(run)) < often
        right = run["correct"] & ~lost
        run = run.assign(correct=right, acc=right.astype(int))
        runs.append(run.assign(acc_uncut=right.astype(float).mask(lost)))
    frame = pd.concat(runs)
    comparison = compare_runs(frame)
    (row,) = comparison.overall.to_dict("records")
    first, second = by_hand(frame.dropna(subset="acc_uncut"), "a", "b", "acc_uncut")
    apart = np.mean([first[puzzle] - second[puzzle] for puzzle in first])
    assert row["uncut_difference"] == pytest.approx(apart)
    assert row["first_overflow"] == runs[0]["acc_uncut"].isna().mean()
    found = [sentence for sentence in comparison.conclusions if "Without them" in sentence]
    size = (
        f"a solves {100 * abs(apart):.1f} points {'more' if apart >= 0 else 'fewer'} (95 % interval"
    )
    assert len(found) == said == sum(size in sentence for sentence in found)


@pytest.mark.parametrize("puzzles", [2, 20])
def test_equal_runs_are_told_which_difference_would_show(puzzles):
    generator = np.random.default_rng(7)
    two = pd.concat([respond(name, 0.5, puzzles, generator=generator) for name in "ab"])
    (row,) = compare_runs(two).overall.to_dict("records")
    said = " ".join(compare_runs(two).conclusions)
    (shows,) = re.findall(r"a true difference of (\d+) points with", said)
    variance = (row["only_first"] + row["only_second"]) / row["first_puzzles"]
    needed = puzzles_needed(variance, int(shows) / 100)
    assert needed == pytest.approx(row["first_puzzles"], rel=0.15)
    # Of a single puzzle any difference is possible, and none shows.
    one = compare_runs(two.groupby("model").head(1)).conclusions
    assert "told apart" in one[0]
    assert not any("points shows" in sentence for sentence in one)


@pytest.mark.parametrize("share", [0.6, 1.0])
def test_the_run_that_lacks_a_measure_is_named(share):
    generator = np.random.default_rng(8)
    falls = [0.95 if N == 20 else 0.3 for _, N, _ in CELLS]
    runs = [respond("falls", falls, 20, generator=generator), respond("level", share, 20)]
    said = compare_runs(pd.concat(runs)).conclusions
    assert "Not determined for level, so not compared: ECL50." in said


def test_the_accuracy_of_an_adaptive_run_is_that_of_no_model(frame):
    """Its own answers chose its puzzles; what was fitted to them is compared."""
    pairs = frame.assign(until=np.where(frame["model"] == "b", '{"goal": "ECL50"}', ""))
    compared = compare_runs(pairs)
    assert [*compared.overall[["first", "second"]].itertuples(index=False)] == [("a", "c")]
    measured = compared.measures[["first", "second"]].drop_duplicates()
    assert [*measured.itertuples(index=False)] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert not [line for line in compared.conclusions if "b" in line.split() and "solves" in line]
    (said, *_) = (
        line for line in compared.conclusions if "a and b are not known to differ" in line
    )
    ends = compared.measures.query("second == 'b' and p_holm >= 0.05")
    assert said.count("95 % interval") == len(ends) > 0


@pytest.mark.parametrize("runs", [2, 4])
@pytest.mark.parametrize("adaptive", [False, True])
def test_a_report_compares_few_runs_in_words_and_more_in_a_table_or_adaptive_ones(runs, adaptive):
    """In a table are all pairs; what was fitted is compared of neighbours in rank."""
    easy = np.linspace(0.95, 0.3, len(CELLS))
    models = [respond(f"m{run}", easy - 0.08 * run, puzzles=20) for run in range(runs)]
    frame = pd.concat(models, ignore_index=True).assign(until='{"d": 1}' if adaptive else "")
    (section,) = comparison_sections(frame, analyses.ANALYSES[0])
    first, numbers = section.content
    fits = next(table for table in numbers.content if table.name == "comparison_fits")
    assert len(fits.data[["first", "second"]].drop_duplicates()) == runs - 1
    if adaptive or runs == 2:
        assert any("50" in line for line in first)
        assert any("solves" in line for line in first) != adaptive
    else:
        assert len(first.data) == runs * (runs - 1)
        mirrored = first.data.set_index(["number", "column"])["difference"]
        assert mirrored[1, 4] == -mirrored[4, 1] > 0
        assert first.shown.shape == (runs, runs + 1)


def test_what_can_not_be_compared_is_one_line(frame):
    apart = frame[(frame["model"] == "a") == (frame["d"] == 1)].query("model != 'c'")
    for each, message in (
        (frame[frame["model"] == "a"], "two or more runs, and the frame holds 1: a"),
        (frame.drop(columns="rho"), "the frame must have the loads of a benchmark"),
        (apart, "a and b have no puzzle and no loads in common"),
    ):
        with refused(message):
            compare_runs(each)


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
    said = capsys.readouterr().out
    assert "temperature 1 solves 25.0 points more than temperature 0" in said
    assert said.endswith("tables   tables\n")
    table = pd.read_csv("tables/comparison.csv")
    assert table["difference"][0] == 0.25
    assert table["load"][1:].tolist() == ["d", "d", "N", "N"]
    assert re.findall(r" (. = \d+) +20 ", said) == ["d = 1", "d = 3", "N = 5", "N = 9"]
    assert_refused(capsys, "exists", "compare", "x=hot", "y=cold", "--out", "tables")
    assert main(["compare", "x=hot", "y=cold", "--out", "tables", "--force"]) == 0


def test_runs_are_compared_in_the_order_typed(runs, capsys):
    make_run("lukewarm", "org/another", [place % 3 > 0 for place in range(40)])
    for order in (("hot", "lukewarm"), ("lukewarm", "hot")):
        assert main(["compare", *order]) == 0
        first = "another" if order[0] == "lukewarm" else "model"
        assert f"org/{first} −" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "message"), CASES["compare_arguments"])
def test_wrong_input_is_one_line_and_exit_code_2(runs, capsys, arguments, message):
    assert_refused(capsys, message, "compare", *arguments)

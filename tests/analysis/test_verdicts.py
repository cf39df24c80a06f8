"""The verdicts of a gate: error rates by enumeration and simulation, and those of finished runs."""

import json
from itertools import product

import inspect_ai.log  # noqa: F401  (which draws a random number)
import numpy as np
import pytest
from command_line import refusal
from hypothesis import given
from hypothesis import strategies as st
from lm_eval_layout import make_answers, write_run
from scipy.stats import multinomial

from cogniload_analysis import gate
from cogniload_analysis.compare.gate import log_capital
from cogniload_cli import main


def draw(runs, puzzles, loss, flips):
    """Runs of pairs, 0 or 1, whose true difference is a loss."""
    kinds = np.array([(0, 1), (1, 0), (0, 0), (1, 1)], dtype=float)
    shares = [(flips - loss) / 2, (flips + loss) / 2, 0.4 - flips / 2, 0.6 - flips / 2]
    return kinds[np.random.default_rng(1).choice(4, (runs, puzzles), p=shares)]


@given(st.floats(0.1, 20), st.floats(1e-6, 1), st.floats(-1, 1))
def test_a_true_bound_wins_nothing_in_the_mean(margin, flips, tilt):
    shares = flips * (1 + tilt) / 2, flips * (1 - tilt) / 2, 1 - flips
    mean = 0.0
    for counts in (each for each in product(range(5), repeat=3) if sum(each) == 4):
        won = log_capital(np.array([1, -1, 0]), np.array(counts), flips * tilt, margin / 100)
        mean += multinomial.pmf(counts, 4, shares) * np.exp(won)
    assert mean == pytest.approx(1)


LOWER = "lower, perhaps within the margin"
WRONG = [(0, LOWER), (0.04, "worse"), (0.04, "no worse"), (0.08, "no worse")]


@pytest.mark.parametrize(("loss", "wrong"), WRONG)
@pytest.mark.parametrize("flips", [0.1, 0.3])
def test_wrong_verdicts_are_rare_and_great_losses_are_stopped_early(loss, wrong, flips):
    looks, runs = range(100, 1501, 100), draw(200, 1500, loss, flips)
    found = ([gate(run[:puzzles], 4) for puzzles in looks] for run in runs)
    ends = (0, 1, 5) if wrong == LOWER else (0, 1)
    first = [next((one for one in run if one.exit_code in ends), run[-1]) for run in found]
    # 5 % of 200, and three standard errors
    assert sum(one.verdict == wrong for one in first) <= 10 + 9
    # three quarters of the puzzles of a test at one look
    assert loss < 0.08 or np.median([one.puzzles for one in first]) <= max(5000 * flips, 100)


@pytest.mark.parametrize(("loss", "wrong"), WRONG)
@pytest.mark.parametrize("flips", [0.05, 0.1, 0.38])
def test_one_look_is_as_rarely_wrong_and_decides_more(loss, wrong, flips):
    runs = draw(400, 1400, min(loss, flips), flips)
    once, often = ([gate(run, 4, **look).verdict for run in runs] for look in ({"once": True}, {}))
    assert once.count(wrong) <= 20 + 13 or loss > flips  # 5 % of 400, and three standard errors
    decided = [sum(one in ("worse", "no worse") for one in said) for said in (once, often)]
    assert decided[0] >= decided[1]
    assert flips > 0.1 or loss or decided[0] > 380


def first_verdict(pairs, margin=2):
    """The first verdict of a gate that looks after each batch."""
    found = (gate(pairs[:stop], margin, batch=50) for stop in range(50, len(pairs) + 1, 50))
    return next((one for one in found if one.is_over), gate(pairs, margin, batch=50))


@pytest.mark.parametrize("place", [0, 1, 5, 12])
def test_an_outage_of_one_batch_is_no_verdict(place):
    kinds, draws = np.array([(0, 1), (1, 0), (1, 1)], float), np.random.default_rng(place)
    pairs = kinds[draws.choice(3, 60 * 50, p=[0.05, 0.05, 0.9])]
    pairs[50 * place : 50 * (place + 1), 1] = 0
    found = first_verdict(pairs)
    assert (found.verdict, found.exit_code) == ("undecided", 3)
    assert "changed from batch to batch" in found.lines[0]
    assert gate(pairs[: found.puzzles], 2).verdict == "worse" or place > 5


def test_copies_and_broken_models_are_told_after_three_batches():
    same, broken = np.ones((200, 2)), np.tile([(1.0, 0.0), (1, 1)], (100, 1))
    found = [first_verdict(pairs, margin=10) for pairs in (same, broken)]
    assert [one.verdict for one in found] == ["no worse", "worse"]
    assert [one.puzzles for one in found] == [150, 150]


@given(st.lists(st.tuples(*2 * [st.sampled_from([0, 0.25, 0.5, 1])]), min_size=1, max_size=60))
def test_a_gate_sees_neither_the_order_nor_whose_side_it_is_on(pairs):
    found, mirrored = gate(pairs, 5), gate([(new, base) for base, new in reversed(pairs)], 5)
    assert (found.low, found.high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-5)
    expected = LOWER if found.high < 0 else "undecided"
    expected = "worse" if found.high < -0.05 else "no worse" if found.low > -0.05 else expected
    assert found.verdict == expected
    assert found.exit_code == {"no worse": 0, "worse": 1, "undecided": 3, LOWER: 5}[expected]
    assert found.needed == 0 or not found.is_decided
    assert found.lines[0].partition("  ")[2].strip().startswith(expected)


def test_what_is_still_needed_is_said_and_what_is_doubtful():
    for won, lost, code in ((8, 5, 0), (5, 14, 1)):
        pairs = np.repeat([(0.0, 1.0), (1, 0), (1, 1)], (won, lost, 186), axis=0)
        times = 1 + gate(pairs, 2).needed // len(pairs)
        assert [gate(np.tile(pairs, (n, 1)), 2).is_decided for n in (times, times + 1)] == [0, 1]
        assert gate(np.tile(pairs, (times + 1, 1)), 2).exit_code == code
    drift = [*([(0, 1)] * 99), *([(1, 0)] * 99)]
    assert "the difference changed" in gate(drift, 2, batch=33).lines[0]
    assert gate(drift, 2).notes == ()  # the order of a finished run is that of its puzzles
    pairs[:20, 1] = np.nan
    found = gate(pairs, 2)
    assert found.notes == ("not answered, perhaps the hard ones: 0 by base, 20 by new",)
    for each in (found, gate(pairs, 2, batch=50)):
        assert "more puzzles such as these would not decide" in each.lines[0]
    for wrong, margin in (([], 2), ([(1, np.nan)], 2), ([(1, 2)], 2), (pairs, 0), (pairs, np.nan)):
        with pytest.raises(ValueError, match=r"shares from 0 to 1|margin must be from 0\.1 to 20"):
            gate(wrong, margin)


@given(
    st.lists(st.tuples(*2 * [st.sampled_from([0, 1, np.nan])]), min_size=9, max_size=60),
    st.randoms(use_true_random=False),
)
def test_a_verdict_holds_whatever_the_missing_answers_are(pairs, random):
    pairs = [(1, 1), *pairs]
    found = gate(pairs, 5)
    filled = [[random.randint(0, 1) if np.isnan(one) else one for one in pair] for pair in pairs]
    for whole in (filled, np.nan_to_num(pairs, nan=0), np.nan_to_num(pairs, nan=1)):
        other = gate(whole, 5)
        assert found.low - 1e-5 <= other.low
        assert other.high <= found.high + 1e-5


def test_a_run_that_goes_on_has_further_looks(tmp_path, capsys):
    base = write(tmp_path, "steady", 100 * [True])
    for name, interim in (("ended", ""), ("begun", "interim")):
        config = {"model": "hf", "model_args": {"pretrained": name}, "interim": interim}
        new = write_run(
            tmp_path / name, name, make_answers(100 * [True], name + " {}."), config=config
        ).parent
        main(["gate", base, str(new), "--margin=2"])
        how = "however often one looks" if interim else "at this one look"
        assert how in capsys.readouterr().out


def write(folder, name, solved):
    """Write a run of a model that solves puzzles by number, and return its folder."""
    return str(write_run(folder / name, name, make_answers(solved, name + " {}.")).parent)


def test_the_command_ends_with_the_verdict_on_two_runs(tmp_path, capsys):
    good, numbers = [n % 5 != 0 for n in range(400)], range(400)
    base, few = write(tmp_path, "base", good), write(tmp_path, "few", good[:50])
    worse = write(tmp_path, "worse", [good[n] and n % 7 != 0 for n in numbers])
    file, junit = tmp_path / "gate.json", tmp_path / "gate.xml"
    odd = [good[n] and n % 41 != 0 for n in numbers]
    runs = (write(tmp_path, "same", good), 0), (few, 3), (write(tmp_path, "lower", odd), 5)
    for new, code in (*runs, (worse, 1)):
        assert main(["gate", base, new, "--margin=2", f"--json={file}", f"--junit={junit}"]) == code
        lines = capsys.readouterr().out.splitlines()
        assert junit.read_text("utf-8").count("<failure ") == (code > 0)
    found = json.loads(file.read_text("utf-8"))
    assert (found["exit_code"], found["verdict"], len(lines)) == (1, "worse", 5)
    said = [(flip["base_response"], flip["new_response"]) for flip in found["flips"]]
    assert said == [(f"base {n}.", f"worse {n}.") for n in numbers if n % 7 == 0 and good[n]]
    for name in ("nowhere", base):
        refusal(capsys, "gate", base, name, "--margin=2", f"--json={file}", f"--junit={junit}")
        assert json.loads(file.read_text("utf-8"))["verdict"] is None
        assert "<error " in junit.read_text("utf-8")
    lower = write(tmp_path, "a bit lower", odd)
    for option, code in (("pass", 0), ("fail", 1)):
        assert (
            main(["gate", base, lower, "--margin=2", "--lower", option, f"--json={file}"]) == code
        )
        assert json.loads(file.read_text("utf-8"))["exit_code"] == code
    # of several candidates, one error rate for all, and the best one that passes
    runs = [base, worse, write(tmp_path, "better", [True] * 400), lower]
    capsys.readouterr()
    assert main(["gate", *runs, "--margin=2", f"--json={file}", f"--junit={junit}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"best        {runs[2]}"
    found = json.loads(file.read_text("utf-8"))
    assert (found["best"], found["exit_code"]) == (runs[2], 0)
    assert [(each["run"], each["verdict"], each["among"]) for each in found["gates"]] == [
        (worse, "worse", 3), (runs[2], "no worse", 3), (lower, LOWER, 3)
    ]  # fmt: skip
    assert sum("96.7 % interval" in line for line in lines) == 3
    assert main(["gate", base, worse, lower, "--margin=2", f"--junit={junit}"]) == 5
    assert capsys.readouterr().out.startswith("best        none: no candidate is shown to pass")
    assert 'failures="1"' in junit.read_text("utf-8")
    assert main(["gate", base, worse, lower, "--margin=2", "--lower=pass"]) == 0
    for option in ("--seed=1", "--budget=9", "--out=x", "--base-config=x"):
        said = refusal(capsys, "gate", base, worse, "--margin=2", option)
        assert f"a gate that only reads runs takes no {option.partition('=')[0]}" in said
    write(tmp_path / "few", "two", good)
    assert "takes two runs of a benchmark" in refusal(capsys, "gate", base, few, "--margin=2")

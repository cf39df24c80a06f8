"""The verdicts of a gate: error rates by enumeration and simulation, and the command."""

import json
from itertools import product
from math import factorial, prod
from xml.etree import ElementTree

import inspect_ai.log  # noqa: F401  (which draws a random number)
import numpy as np
import pytest
from command_line import refusal
from hypothesis import given
from hypothesis import strategies as st
from lm_eval_layout import make_puzzle, make_sample, write_run

from cogniload_analysis import gate
from cogniload_analysis.compare.gate import log_capital
from cogniload_cli import main


def draw(runs, puzzles, loss, flips, seed):
    """Runs of pairs, 0 or 1, whose true difference is a loss."""
    draws = np.random.default_rng(seed)
    kinds = np.array([(0, 1), (1, 0), (0, 0), (1, 1)], dtype=float)
    shares = [(flips - loss) / 2, (flips + loss) / 2, 0.4 - flips / 2, 0.6 - flips / 2]
    return kinds[draws.choice(4, (runs, puzzles), p=shares)]


def first_verdict(pairs, margin, looks):
    found = (gate(pairs[:look], margin) for look in looks)
    return next((one for one in found if one.verdict != "undecided"), None)


@given(st.floats(0.1, 20), st.floats(0, 1), st.floats(0, 1))
def test_a_true_bound_wins_nothing_in_the_mean(margin, flips, tilt):
    flips = max(flips, 1e-6)
    bound = flips * (2 * tilt - 1)
    shares = (flips + bound) / 2, (flips - bound) / 2, 1 - flips
    mean = 0.0
    for counts in product(range(5), repeat=3):
        if sum(counts) == 4:
            ways = factorial(4) / prod(map(factorial, counts))
            chance = ways * prod(p**n for p, n in zip(shares, counts, strict=True))
            capital = log_capital(np.array([1.0, -1.0, 0.0]), np.array(counts), bound, margin / 100)
            mean += chance * np.exp(capital)
    assert mean == pytest.approx(1)


@pytest.mark.parametrize(("loss", "wrong"), [(0, "worse"), (0.04, "no worse")])
@pytest.mark.parametrize("flips", [0.05, 0.3])
def test_wrong_verdicts_are_rare_however_often_one_looks(loss, wrong, flips):
    runs = draw(300, 1500, loss, flips, 1)
    verdicts = [first_verdict(pairs, 4, range(100, 1501, 100)) for pairs in runs]
    # 5 % of 300, and three standard errors
    assert sum(found is not None and found.verdict == wrong for found in verdicts) <= 15 + 11


def test_a_great_loss_is_stopped_in_half_the_puzzles_of_a_fixed_test():
    fixed = (2 * 1.645 / 0.02) ** 2 * 0.1
    runs = draw(100, round(fixed / 2), 0.04, 0.1, 2)
    verdicts = [first_verdict(pairs, 2, range(50, len(pairs) + 1, 50)) for pairs in runs]
    assert sum(found is not None and found.verdict == "worse" for found in verdicts) >= 90


@given(st.lists(st.tuples(*2 * [st.sampled_from([0, 0.25, 0.5, 1])]), min_size=1, max_size=60))
def test_a_gate_sees_neither_the_order_nor_whose_side_it_is_on(pairs):
    found, mirrored = gate(pairs, 5), gate([(new, base) for base, new in reversed(pairs)], 5)
    ends = (-mirrored.high, -mirrored.low)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-5)
    assert (found.only_base, found.only_new) == (mirrored.only_new, mirrored.only_base)
    assert found.low <= found.new - found.base <= found.high
    expected = "no worse" if found.low > -0.05 else "worse" if found.high < 0 else "undecided"
    assert found.verdict == expected


@pytest.mark.parametrize("loss", [0, 0.03])
def test_as_many_more_puzzles_as_are_needed_decide(loss):
    (pairs,) = draw(1, 200, loss, 0.1, 3)
    found = gate(pairs, 2)
    assert found.exit_code == 3
    assert f"{found.needed:,} more" in found.lines[0]
    counts = 200 * np.ceil(1 + found.needed / 200), 200 * np.floor(1 + found.needed / 200)
    more, fewer = (gate(np.tile(pairs, (int(count) // 200, 1)), 2) for count in counts)
    assert more.exit_code != 3
    assert fewer.exit_code == 3


def test_what_makes_a_verdict_doubtful_is_said():
    (pairs,) = draw(1, 2000, 0, 0.1, 4)
    assert gate(pairs, 2).notes == ()
    pairs[:20, 1] = np.nan
    assert "20 by new" in gate(pairs, 2).lines[-1]
    (late,) = draw(1, 2000, 0.06, 0.1, 5)
    assert "changed during the run" in gate([*pairs[20:], *late], 2).lines[-1]


@pytest.mark.parametrize("margin", [0, 21, float("nan")])
def test_margins_and_pairs_that_decide_nothing_are_refused(margin):
    with pytest.raises(ValueError, match=r"from 0\.1 to 20 points"):
        gate([(1, 1)], margin)
    for pairs in ([], [(1, np.nan)], [(1, 2)]):
        with pytest.raises(ValueError, match=r"both models answered|from 0 to 1"):
            gate(pairs, 2)


def write(folder, name, solved, attempts=1):
    """Write a run of a model that solves puzzles by number; True stands for one attempt."""
    outcomes = {True: "correct_valid", False: "wrong_logic"}
    samples = [
        make_sample(make_puzzle(1, 20, 50, index), f"{name} {index}.", outcomes[bool(right)])
        for index, right in enumerate(solved)
        for _ in range(attempts)
    ]
    return write_run(folder / name, f"org/{name}", samples)


def test_the_command_ends_with_the_verdict(tmp_path, capsys):
    numbers = np.arange(400)
    base = write(tmp_path, "base", numbers % 5 != 0)
    same = write(tmp_path, "same", numbers % 5 != 0, attempts=2)
    worse = write(tmp_path, "worse", (numbers % 5 != 0) & (numbers % 7 != 0))
    few = write(tmp_path, "few", numbers[:50] % 5 != 0)
    files = {"json": tmp_path / "gate.json", "junit": tmp_path / "gate.xml"}
    for new, code, kind in ((same, 0, None), (worse, 1, "failure"), (few, 3, "error")):
        words = [f"--{name}={file}" for name, file in files.items()]
        assert main(["gate", str(base), str(new), "--margin=2", *words]) == code
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 5
        written = json.loads(files["json"].read_text("utf-8"))
        assert written["exit_code"] == code
        assert lines[0].split(None, 1)[1].startswith(written["verdict"])
        case = ElementTree.parse(files["junit"]).find("testcase")  # noqa: S314  (our own)
        assert [part.tag for part in case] == [*filter(None, [kind]), "system-out"]
        lost = [number for number in numbers if number % 7 == 0 and number % 5] * (new == worse)
        ids = {f"cogniload-42-d1-N20-rho50-{number}" for number in lost}
        assert {flip["id"] for flip in written["flips"]} == ids
        for flip in written["flips"]:
            number = flip["id"].rpartition("-")[2]
            assert (flip["base"], flip["base_response"]) == (1, f"base {number}.")
            assert (flip["new"], flip["new_response"]) == (0, f"worse {number}.")
    assert "350 by new" in lines[-1]


def test_logs_of_inspect_have_the_verdict_of_the_samples(tmp_path, capsys):
    runs = [write(tmp_path, name, np.arange(60) % each) for name, each in (("a", 3), ("b", 2))]
    for run in runs:
        assert main(["view", str(run), "--out", str(run.parent / "logs"), "--no-open"]) == 0
    capsys.readouterr()
    code = main(["gate", *map(str, runs), "--margin=5"])
    samples = capsys.readouterr().out
    assert main(["gate", *(str(run.parent / "logs") for run in runs), "--margin=5"]) == code
    assert capsys.readouterr().out == samples


def test_what_are_no_two_runs_is_refused_in_one_line(tmp_path, capsys):
    one, other = write(tmp_path, "one", [1, 0]), write(tmp_path, "other", [1, 1])
    write(tmp_path / "both", "one", [1]), write(tmp_path / "both", "other", [1])
    said = refusal(capsys, "gate", one, tmp_path / "both", "--margin", 2)
    assert said.startswith("a gate takes two runs of one benchmark")
    assert "from 0.1 to 20 points" in refusal(capsys, "gate", one, other, "--margin", 0)

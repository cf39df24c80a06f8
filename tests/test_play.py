"""A person at the terminal: responses are scored, timed, kept, and read by the report."""

import io
import json
from pathlib import Path

import pytest
from lxml import html

from cogniload_analysis import read_samples
from cogniload_analysis.report.write import write_report
from cogniload_gen import generate_puzzles
from cogniload_gen.benchmarks import datasets
from cogniload_gen.commands import main
from lm_eval_tasks.play import play

PARAMETERS = {"d": [1, 3], "N": [5], "rho": [50], "num_puzzles": 2}


@pytest.fixture
def source():
    return datasets()["cogniload"].puzzles(**PARAMETERS)


def answers(*lines, end=EOFError):
    """Return what types lines one by one, and then Ctrl-D or Ctrl-C."""
    left = iter(lines)

    def ask(_):
        try:
            return next(left)
        except StopIteration:
            raise end from None

    return ask


def test_responses_are_scored_timed_and_read_by_the_report(source, tmp_path):
    rows, shown = generate_puzzles(**PARAMETERS).to_pylist(), []
    lines = [rows[0]["answer"], "a purple elephant", rows[2]["answer"], rows[3]["answer"]]
    outcomes = play(source, tmp_path / "anna", ask=answers(*lines), say=shown.append)
    assert outcomes.total() == 4
    assert sum(n for outcome, n in outcomes.items() if outcome.correct) == 3
    assert all(any(row["puzzle"] in text for text in shown) for row in rows)
    (file,) = (tmp_path / "anna").iterdir()
    samples = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [sample["doc"]["id"] for sample in samples] == [row["id"] for row in rows]
    assert [sample["acc"] for sample in samples] == [1, 0, 1, 1]
    assert all(sample["seconds"] >= 0 for sample in samples)
    frame = read_samples(tmp_path)
    assert frame["correct"].tolist() == [True, False, True, True]
    page = html.fromstring(write_report(tmp_path, tmp_path / "out").read_text("utf-8"))
    assert page.cssselect(".verdict h2")[0].text_content().startswith("anna")


def test_it_goes_on_where_it_ended_and_leaves_out_empty_lines(source, tmp_path):
    rows, shown = generate_puzzles(**PARAMETERS).to_pylist(), []
    stopped = answers(rows[0]["answer"], " ", end=KeyboardInterrupt)
    assert play(source, tmp_path, ask=stopped, say=shown.append).total() == 1
    shown.clear()
    play(source, tmp_path, ask=answers(*3 * ["x"]), say=shown.append)
    assert [row["puzzle"] in "".join(shown) for row in rows] == [False, True, True, True]
    (file,) = tmp_path.iterdir()
    assert file.read_text("utf-8").count("\n") == 4


def test_a_link_is_not_followed(source, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text(json.dumps({"doc": {"id": "another"}}) + "\n")
    (tmp_path / "me").mkdir()
    (tmp_path / "me" / "samples_cogniload_2026-01-01T00-00-00.000000.jsonl").symlink_to(victim)
    with pytest.raises(FileExistsError, match="link"):
        play(source, tmp_path / "me", ask=answers("x"), say=lambda _: None)
    assert victim.read_text().count("\n") == 1


def test_the_command_shows_three_short_puzzles(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(3 * "red\n"))
    assert main(["play"]) == 0
    assert capsys.readouterr().out.count("Solve this logic puzzle") == 3
    (file,) = Path("human").iterdir()
    assert file.read_text("utf-8").count("\n") == 3

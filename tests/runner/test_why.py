"""`cogniload why`: which twins are chosen, and that a run's own model answers them, once."""

import json
import re
import shutil
from itertools import chain

import pyarrow.parquet as pq
import pytest
from completion_server import serving
from eval_command import arguments, command, done, read, url_of
from report_reader import page_text, read_page
from stored import cases, contents, write_lines

from cogniload_gen import generate_factor, solve
from cogniload_gen.answers.choose_twins import make_twins, write_twins
from lm_eval_tasks.words import read_model

PUZZLES = {"d": [1, 3], "N": [5, 20], "rho": [10, 50], "num_puzzles": 8}
SAMPLING = ["--gen_kwargs", json.dumps({"temperature": 0.7, "do_sample": True})]


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """The folder of a run with sampling."""
    out = tmp_path_factory.mktemp("sampled")
    with serving() as server:
        assert command(*arguments(server, out, *SAMPLING, puzzles=PUZZLES))[0] == 0
    return out


@pytest.fixture
def run(sampled, server, tmp_path):
    """A copy of that run, whose model is at the server of this test."""
    out = shutil.copytree(sampled, tmp_path / "run")
    file = out / "state/run.json"
    begun = json.loads(file.read_bytes())
    begun["free"]["model_args"] = {"base_url": url_of(server)}
    file.write_text(json.dumps(begun))
    return out


def by_base(ids):
    """The changes of each puzzle."""
    changes = {}
    for base, _, change in (id.partition("~") for id in ids):
        changes.setdefault(base, []).append(change)
    return changes


def write(folder, samples, name="cogniload_mini_2026"):
    return write_lines(folder / f"samples_{name}.jsonl", samples)


def test_failures_and_as_many_solved_puzzles_get_twins(sampled, tmp_path):
    """Whose answers are right, over the cells, by the seed."""
    right = {sample["doc"]["id"]: sample["acc"] for sample in read(sampled)[1]}
    table = make_twins(sampled, 60, 1).table
    chosen = by_base(table["id"].to_pylist())
    assert [right[id] for id in chosen].count(1) == [right[id] for id in chosen].count(0) == 5
    wanted = {"again", "needles", "hay", "tail", "from", "only"}
    assert all({change.partition("=")[0] for change in some} == wanted for some in chosen.values())
    rows = table.to_pylist()
    assert all(solve(row["puzzle"]) == row["answer"] for row in rows)
    assert len({tuple(row[name] for name in ("d", "N", "rho")) for row in rows}) > 4
    assert make_twins(sampled, 60, 1).table == table != make_twins(sampled, 50, 2).table
    write_twins(make_twins(sampled, 60, 1), tmp_path / "twins.parquet")
    assert pq.read_table(tmp_path / "twins.parquet").to_pylist() == rows


@pytest.mark.parametrize("greedy", [{"temperature": 0}, {"do_sample": False}])
def test_greedy_decoding_has_no_second_attempt(sampled, tmp_path, greedy):
    """And each changes the statement of the first wrong step, where that is known."""
    samples = read(sampled)[1]
    for sample in samples:
        sample["arguments"]["gen_args_0"]["arg_1"] = greedy
        sample["steps_read"] = {"first_error": 5}
    ids = make_twins(write(tmp_path, samples), 40, 0).table["id"].to_pylist()
    changes = {id.partition("~")[2] for id in ids}
    assert {change for change in changes if change.startswith("only")} == {"only=5"}
    assert "needles" in changes
    assert not {"again", "hay=0"} & changes


def test_first_samples_and_the_budget_choose_the_puzzles(tmp_path):
    """Failures fill what solved puzzles leave; a later attempt and twins choose none."""
    rows = generate_factor("symbolic", N=5, num_puzzles=5).to_pylist()
    twins = generate_factor("symbolic", N=5, num_puzzles=5, twin="order=solved").to_pylist()
    write(tmp_path, [{"doc": row, "acc": row is rows[0]} for row in rows[:4]])
    other = write(
        tmp_path, [{"doc": row, "acc": row is not rows[0]} for row in rows + twins], "x_7"
    )
    with pytest.raises(ValueError, match=r"one task, got .*/cogniload_mini, .*/x: name one run"):
        make_twins(tmp_path, 12, 0)
    other.rename(tmp_path / "samples_cogniload_mini_2027.jsonl")
    for budget, failed, solved in ((15, 3, 2), (12, 2, 2), (11, 1, 1), (4, 1, 1)):
        made = by_base(make_twins(tmp_path, budget, 0).table["id"].to_pylist())
        right = [row["id"] in made for row in (rows[0], rows[4])]
        assert (len(made) - sum(right), sum(right)) == (failed, solved), budget
        assert {"again", "context=0", "order=solved"} >= {*chain(*made.values())}


def test_the_runs_own_model_and_decoding_answer_and_are_asked_once(run, server, tmp_path):
    out, _ = done("why", run, "--budget", "60")
    assert {(each["temperature"], each["model"]) for each in server.requests} == {(0.7, "solver")}
    twins = pq.read_table(run / "why/puzzles/twins.parquet").to_pylist()
    assert sorted(server.asked()) == sorted(row["puzzle"] for row in twins)
    assert len(twins) == 60
    assert (
        "further answers repeat an earlier one word for word: the server keeps its answers" in out
    )
    assert command("why", run, "--budget", "60")[:2] == (0, out)
    report = tmp_path / "report"
    assert command("report", run, "--out", report)[0] == 0
    page = page_text(read_page(report / "report.html"))
    assert all(line.replace("`", "") in page for line in out.splitlines())
    code, _, err = command("why", run, "--budget", "40")
    assert (code, "other twins" in err) == (2, True)
    assert not server.requests


def test_too_few_failures_are_said_before_anything_is_asked(run, server):
    """As many as the report names, which says what to do first."""
    code, _, err = command("why", run)
    failures = sum(not sample["acc"] for sample in read(run)[1])
    assert (code, f"has {failures} failures, and a cause takes 60" in err) == (2, True)
    assert not server.requests


def test_a_puzzle_that_is_not_made_here_is_one_line_and_leaves_nothing(run, server):
    samples = read(run)[1][:6]
    for sample in samples:
        sample["acc"], sample["doc"]["puzzle"] = 0, "Please: " + sample["doc"]["puzzle"]
    (file,) = run.rglob("samples_*")
    write_lines(file, samples)
    code, _, err = command("why", run)
    assert (code, err.count("\n")) == (2, 1), err
    assert "not what this version makes" in err
    assert not (run / "why").exists()
    assert not server.requests


def test_a_folder_that_holds_something_else_is_left_as_it_is(run, server, tmp_path):
    """Whether or not anything can be asked, and the run's own folder too."""
    mine = tmp_path / "mine"
    (mine / "puzzles").mkdir(parents=True)
    for name in ("thesis.txt", "puzzles/notes.txt"):
        (mine / name).write_text("mine")
        for out in (mine, run):
            before = contents(out)
            code, _, err = command("why", run, "--budget", "60", "--out", out)
            assert (code, "something else" in err) == (2, True), err
            assert contents(out) == before
        (mine / name).unlink()
    server.instead = 401, "{}"
    assert command("why", run, "--budget", "60", "--out", mine)[0] == 2
    server.instead = {}
    _, err = done("why", run, "--budget", "60", "--seed", "1", "--out", mine)
    assert f"next: cogniload report {run} --out {run}/report" in err
    assert "ECL50" not in err.partition("next: ")[2]


@pytest.mark.parametrize(("name", "value", "says"), cases(__file__)["planted_settings"])
def test_no_code_and_no_server_elsewhere_is_taken_from_a_folder(run, server, name, value, says):
    """Nor an option, such as --include_path, below which the code of tasks is imported."""
    file, evil = run / "state/run.json", "--include_path=evil"
    begun = json.loads(file.read_bytes())
    begun["what"] |= {"apply_chat_template": evil, "system_instruction": evil}
    file.write_text(json.dumps(begun), "utf-8")
    model = read_model([], run)
    assert model.include_path is None
    assert model.apply_chat_template == model.system_instruction == evil
    begun["free"]["model_args"][name] = value
    file.write_text(json.dumps(begun), "utf-8")
    code, _, err = command("why", run, "--budget", "60")
    assert (code, says in err) == (2, True)
    assert not server.requests


def test_a_task_that_is_a_file_is_not_run(run, server, monkeypatch):
    (file,) = run.rglob("samples_*")
    file.rename(file.with_name("samples_cogniload_mini, evil.yaml_2026-11-24T15-02-22.jsonl"))
    monkeypatch.chdir(run)
    (run / "evil.yaml").write_text("task: evil\ncustom_dataset: !function evil.f\n", "utf-8")
    (run / "evil.py").write_text("raise SystemExit", "utf-8")
    said = command("why", run, "--budget", "60")[2]
    assert re.search(r"'evil\.yaml' is a file of the run's own", said)
    assert not server.requests

"""`cogniload compare A B --until`: who is asked what, when it ends, and how it goes on."""

import json

import pytest
from completion_server import serving
from eval_command import answer_only, arguments, command, start, wait_for

PUZZLES = {"d": [1, 3], "N": [5, 20], "rho": [10, 50], "num_puzzles": 20}


@pytest.fixture
def runs(server, tmp_path):
    """Two runs of one task: the server's model, and one that never knows."""
    with serving() as other:
        other.instead = {
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "no idea"}}]
        }
        for name, at in (("A", server), ("B", other)):
            run = arguments(at, tmp_path / name, "--limit", "3", puzzles=PUZZLES)
            assert command(*run)[0] == 0
        server.requests.clear()
        other.requests.clear()
        yield {"A": server, "B": other, "folders": [tmp_path / "A", tmp_path / "B"]}


def compare(runs, out, until="A>B", *others):
    sizes = "--budget", "60", "--block_size", "8"
    return ["compare", *runs["folders"], "--until", until, "--out", out, *sizes, *others]


def test_two_models_answer_the_same_puzzles_until_one_is_ahead(runs, tmp_path):
    code, out, err = command(*compare(runs, tmp_path / "out"))
    assert code == 0, err
    prompts = [[r["messages"][0]["content"] for r in runs[name].requests] for name in "AB"]
    assert prompts[0] == prompts[1]
    right = sum(len(prompt) % 3 != 0 for prompt in prompts[0])  # what the server solves
    asked = len(prompts[0])
    assert asked % 8 == 0
    assert asked < 60
    assert f"A solves more than B: decided after {asked} puzzles" in out
    assert f"A alone solves {right} of them, B alone 0" in out
    code, again, _ = command(*compare(runs, tmp_path / "out", "B>A"))
    assert code == 0
    assert again.partition(". ")[0] == out.partition(". ")[0]
    assert len(runs["A"].requests) == len(runs["B"].requests) == asked


def test_a_killed_comparison_goes_on_behind_the_blocks_that_are_done(runs, tmp_path):
    answer_only(runs["A"], 12)  # its second block never ends
    process = start(*compare(runs, tmp_path / "out"))
    wait_for(lambda: len(runs["A"].requests) > 12)
    process.kill()
    process.join()
    runs["A"].together = None
    asked = [request["messages"][0]["content"] for request in runs["A"].requests]
    runs["A"].requests.clear()
    assert command(*compare(runs, tmp_path / "out"))[0] == 0
    later = [request["messages"][0]["content"] for request in runs["A"].requests]
    assert not {*asked[:8]} & {*later}
    assert {*asked[8:]} <= {*later}
    assert [request["messages"][0]["content"] for request in runs["B"].requests] == [
        *asked[:8],
        *later,
    ]


def test_two_models_that_solve_the_same_puzzles_spend_the_budget(runs, tmp_path):
    A = runs["folders"][0]
    both = [f"first={A}", f"second={A}", "--until", "first>second", "--budget", "16"]
    code, out, err = command("compare", *both, "--block_size", "8", "--out", tmp_path / "out")
    assert code == 0, err
    assert "After 16 puzzles that both answered, neither first nor second is known" in out


@pytest.mark.parametrize(
    ("until", "others", "says"),
    [
        ("A", (), 'as "A>B"'),
        ("A>C", (), 'as "A>B"'),
        ("A>B", ("--block_size", "0"), "of at least 1"),
    ],
)
def test_what_names_no_two_runs_is_refused(until, others, says, tmp_path):
    folders = {"folders": ["A", "B"]}
    code, _, err = command(*compare(folders, tmp_path / "out", until, *others))
    assert code == 2
    assert says in err


@pytest.mark.parametrize("task", ["evil", "cogniload_mini,evil.yaml", "--include_path=evil"])
def test_tasks_of_others_which_may_bring_code_are_refused(runs, tmp_path, task):
    for folder in runs["folders"]:
        described = folder / "state" / "run.json"
        run = json.loads(described.read_text("utf-8"))
        run["arguments"]["tasks"].append(task)
        described.write_text(json.dumps(run), "utf-8")
    code, _, err = command(*compare(runs, tmp_path / "out"))
    assert (code, "must be of tasks of ours, got " in err) == (2, True), err


def test_runs_of_different_puzzles_are_refused(runs, server, tmp_path):
    other = arguments(server, tmp_path / "C", "--limit", "3", puzzles=PUZZLES | {"rho": 50})
    assert command(*other)[0] == 0
    folders = {"folders": [runs["folders"][0], tmp_path / "C"]}
    code, _, err = command(*compare(folders, tmp_path / "out", "A>C"))
    assert (code, len(err.splitlines())) == (2, 1)
    assert "must be of the same puzzles" in err

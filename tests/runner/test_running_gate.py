"""`cogniload gate RUN`: two models answer fresh puzzles until a verdict, whatever ends them."""

import json
import shutil
from zlib import crc32

import pytest
from command_line import refusal
from eval_command import PUZZLES, arguments, command, model_args
from stored import read_lines, write_lines

from cogniload_gen import solve


def lucky(request):
    """Solve 60 of 100 puzzles, whatever the loads, and "worse" 15 fewer."""
    puzzle = request["messages"][0]["content"]
    fails = crc32(puzzle.encode()) % 100 < (55 if request["model"] == "worse" else 40)
    text = "I can't tell." if fails else f"In the end it is {solve(puzzle)}."
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


@pytest.fixture
def words(server, tmp_path):
    """The command's words, for a run and a new model."""
    server.instead = lucky
    assert (
        command(*arguments(server, tmp_path / "base", puzzles=PUZZLES | {"num_puzzles": 9}))[0] == 0
    )
    server.asked()

    def given(out, model, *others):
        told = ["--model_args", model_args(server, model=model), "--out", tmp_path / out]
        return [str(word) for word in ("gate", tmp_path / "base", *told, *others)]

    return given


def asked(server, model):
    """The puzzles that a model was asked."""
    return sorted(r["messages"][0]["content"] for r in server.requests if r["model"] == model)


def test_a_gate_ends_at_its_verdict(words, server, tmp_path):
    file = tmp_path / "gate.json"
    code, whole, err = command(*words("gate", "worse", "--margin=2", "--json", file))
    assert code == 1, err
    puzzles, found = asked(server, "worse"), json.loads(file.read_text("utf-8"))
    assert asked(server, "solver") == puzzles
    assert len({*puzzles}) == len(puzzles) == found["puzzles"] < 500
    assert len(found["flips"]) == sum(40 <= crc32(p.encode()) % 100 < 55 for p in puzzles)
    server.asked()
    assert command(*words("gate", "worse", "--margin=2"))[:2] == (1, whole)
    assert not server.requests
    server.instead = lambda request: lucky(request | {"model": "same"})
    again = words("gate", "worse", "--margin=2", "--budget=50", "--anew")
    assert command(*again)[0] == 3
    assert (len(asked(server, "worse")), asked(server, "solver")) == (50, [])


def test_answers_from_another_address_are_no_answers_of_this_model(words, server, tmp_path):
    """A name says nothing where another server has it; only --anew asks it again."""
    assert command(*words("gate", "worse", "--margin=2", "--budget=50"))[0] == 3
    server.asked()
    moved = words("gate", "worse", "--margin=2", "--budget=50")
    place = moved.index("--model_args") + 1
    moved[place] = moved[place].replace("127.0.0.1", "localhost")
    code, _, err = command(*moved)
    assert (code, "has answers from http://127.0.0.1:" in err) == (2, True)
    assert not server.requests
    assert command(*moved, "--anew", "--json", tmp_path / "g.json")[0] == 3
    (_, new) = json.loads((tmp_path / "g.json").read_text("utf-8"))["runs"]
    assert new["base_url"].startswith("http://localhost:")


def test_a_gate_of_a_model_beside_itself_asks_nothing(words, server):
    said = words("gate", "solver", "--margin=2")
    place = said.index("--model_args")
    code, _, err = command(*said[:place], *said[place + 2 :])
    assert (code, "the new model is that of " in err) == (2, True)
    assert not server.requests


def test_a_cap_has_a_code_of_its_own_and_a_base_may_name_no_budget(words, server, tmp_path):
    used = {"usage": {"prompt_tokens": 500, "completion_tokens": 9}}
    server.instead = lambda request: lucky(request) | used
    config, file = tmp_path / "new.yaml", tmp_path / "gate.json"
    about = {"model": "local-chat-completions", "apply_chat_template": True}
    for cap, code, verdict in ((1, 4, None), (10**9, 3, "undecided")):
        config.write_text(json.dumps(about | {"max_tokens_total": cap}))
        given = words("gate", "same", "--margin=.1", "--budget=60", f"--config={config}")
        found, _, err = command(*given, "--json", file)
        assert found == code, err
        assert json.loads(file.read_text("utf-8"))["verdict"] == verdict
    for file in tmp_path.glob("base/*/samples_*"):
        lines = read_lines(file)
        for sample in lines:
            del sample["doc"]["context_budget"]
        write_lines(file, lines)
    code, _, err = command(*words("other", "same", "--margin=.1", "--budget=60"))
    assert (code, "context_budget is 32768" in err) == (2, True)  # the task's own


def test_a_larger_budget_goes_on_and_other_puzzles_are_refused(words, server, tmp_path, capsys):
    assert command(*words("gate", "same", "--margin=.1", "--budget=60"))[0] == 3
    assert len(asked(server, "same")) == 60
    config = tmp_path / "new.yaml"
    config.write_text(json.dumps({"model": "local-chat-completions", "apply_chat_template": True}))
    more = words("gate", "same", "--margin=.1", "--budget=90", f"--config={config}")
    assert command(*more)[0] == 3
    both = asked(server, "same")
    assert len({*both}) == len(both) == 90
    file = tmp_path / "gate/seed-0/puzzles/gate.parquet"
    shutil.move(tmp_path / "gate/seed-0", tmp_path / "gate/seed-1")
    assert "holds other puzzles" in refusal(capsys, *more, "--seed=1")
    assert not file.exists()
    assert "budget must be" in refusal(capsys, *more, "--budget=0")
    assert "from 0.1 to 20 points" in refusal(capsys, *more, "--margin=0")
    assert asked(server, "same") == both

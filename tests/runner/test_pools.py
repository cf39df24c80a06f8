"""A recorded base, and what is gated and watched by it, on a server that draws its answers."""

import json
import shutil
from contextlib import chdir
from pathlib import Path
from zlib import crc32

import fsspec
import pyarrow.parquet as pq
import pytest
from command_line import refusal
from completion_server import serving
from eval_command import PUZZLES, arguments, command, model_args

from cogniload_gen import solve
from lm_eval_tasks.cogniload.pool import Pool

RECORD = ["gate", "base", "--record=pool.parquet", "--budget=300", "--attempts=2"]


def drawn(request):
    """Solve 60 puzzles of 100 more or less often, by luck, and "worse" half of them."""
    puzzle = request["messages"][0]["content"]
    luck = crc32(f"{puzzle} {request['seed']}".encode()) % 100
    skill = 90 if crc32(puzzle.encode()) % 100 < 60 else 20
    fails = luck >= skill * (0.5 if request["model"] == "worse" else 1)
    text = "I can't tell." if fails else f"In the end it is {solve(puzzle)}."
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "provider": "Here", "system_fingerprint": "fp_1"}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a run and the pool of its model, and the server that answered."""
    folder = tmp_path_factory.mktemp("made")
    with serving() as server, chdir(folder):
        server.instead = drawn
        assert (
            command(
                *arguments(server, "base", puzzles=PUZZLES | {"num_puzzles": 9}, num_concurrent=8)
            )[0]
            == 0
        )
        server.asked()
        code, out, err = command(*RECORD)
        assert code == 0, err
        assert out.startswith("recorded 300 puzzles in pool.parquet, 2 answers each, ")
        assert len(server.requests) == 600
        yield folder, server


@pytest.fixture
def server(made):
    made[1].asked()
    made[1].instead = drawn
    return made[1]


@pytest.fixture
def words(made, server, tmp_path, monkeypatch):
    """The words of commands that ask "solver", or another model, in a copy of the folder."""
    shutil.copytree(made[0], tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")

    def given(name, *others, model="solver"):
        return [
            name,
            *map(str, others),
            "--model_args",
            model_args(server, model=model, num_concurrent=8),
        ]

    return given


def test_a_pool_holds_the_base_and_what_made_it(words, server, capsys):
    pool = Pool.read("pool.parquet")
    rows = pq.read_table("pool.parquet").to_pylist()
    assert {row["solved"] for row in rows} <= {0, 0.5, 1}
    right = [solve(row["puzzle"]) == row["answer"] for row in rows]
    assert all(right)
    assert pool.describe()["model"] == "solver"
    assert pool.served_by == {"Here fp_1": 600}
    assert pool.run.what["gen_kwargs"] == {}
    assert pool.context_budget == 2048
    before = Path("pool.parquet").read_bytes()
    assert "exists" in refusal(capsys, *RECORD)
    Path("pool.parquet").unlink()
    assert command(*RECORD)[0] == 0
    assert not server.requests
    assert Path("pool.parquet").read_bytes() == before
    with fsspec.open("memory://pool.parquet", "wb") as file:
        file.write(before)
    assert Pool.read("memory://pool.parquet").digest == pool.digest


def test_what_is_no_pool_is_refused(words, server, capsys):
    table = pq.read_table("pool.parquet")
    about = table.schema.metadata
    broken = {
        "bare": table.replace_schema_metadata(),
        "twice": table.take([0, 0]),
        "shares": table.set_column(table.column_names.index("solved"), "solved", [[2.0] * 300]),
        "run": table.replace_schema_metadata(
            {**about, b"cogniload.pool": b'{"run": {}, "attempts": 1, "served_by": {}}'}
        ),
        "attempts": table.replace_schema_metadata(
            {
                b"cogniload.pool": about[b"cogniload.pool"].replace(
                    b'"attempts": 2', b'"attempts": 0'
                )
            }
        ),
    }
    for name, wrong in broken.items():
        pq.write_table(wrong, f"{name}.parquet")
        assert "must be a file of gate --record" in refusal(
            capsys, *words("watch", f"{name}.parquet")
        ), name
    Path("text.parquet").write_text("none")
    assert "must be a file of gate --record" in refusal(
        capsys, *words("gate", "--recorded", "text.parquet", "--margin=2")
    )
    assert "gone.parquet" in refusal(
        capsys, *words("gate", "--recorded", "gone.parquet", "--margin=2")
    )
    assert "base is a folder" in refusal(capsys, *words("gate", "--recorded", "base", "--margin=2"))
    bare = refusal(capsys, *words("gate", "pool.parquet", "--margin=2"))
    assert "gate --recorded pool.parquet" in bare
    for wrong, option in (
        (["--recorded", "pool.parquet", "--attempts=2", "--margin=2"], "--attempts"),
        (["base", "--record=new.parquet", "--margin=2"], "--margin"),
        (["base", "other", "--record=new.parquet"], "other"),
    ):
        assert f"takes no {option}" in refusal(capsys, *words("gate", *wrong))
    assert "--status asks nothing" in refusal(capsys, *words("watch", "pool.parquet", "--status"))
    elsewhere = json.loads(about[b"cogniload.pool"])
    elsewhere["run"]["free"]["model_args"]["base_url"] = (
        "https://elsewhere.example/v1/chat/completions"
    )
    pq.write_table(
        table.replace_schema_metadata({b"cogniload.pool": json.dumps(elsewhere)}), "far.parquet"
    )
    assert "names a server elsewhere" in refusal(capsys, "watch", "far.parquet")
    assert not server.requests


def test_a_gate_on_a_pool_asks_the_new_model_alone(words, server):
    said = words(
        "gate", "--recorded", "pool.parquet", "--margin=10", "--json=g.json", model="worse"
    )
    code, out, err = command(*said)
    assert code == 1, err
    assert {request["model"] for request in server.requests} == {"worse"}
    found = json.loads(Path("g.json").read_text("utf-8"))
    assert len(server.requests) == found["puzzles"] < 301
    base, new = found["runs"]
    assert (base["model"], base["attempts"], new["model"]) == ("solver", 2, "worse")
    assert new["served_by"] == {"Here fp_1": found["puzzles"]}
    recorded = {row["id"]: row for row in pq.read_table("pool.parquet").to_pylist()}
    for flip in found["flips"]:
        row = recorded[flip["id"]]
        assert (flip["base"], flip["base_response"]) == (row["solved"], row["response"])
    server.asked()
    assert command(*said)[:2] == (1, out)
    assert not server.requests
    # another seed has another order, is asked anew, and is counted
    code, out, _ = command(*said, "--seed=1")
    assert "doubts      2 seeds were tried on this model" in out
    assert all(abs(flip["base"] - flip["new"]) > 0.5 for flip in found["flips"])
    assert len(found["flips"]) == found["only_base"] + found["only_new"]
    end = words("gate", "--recorded", "pool.parquet", "--margin=1", "--out=all")
    assert command(*end)[0] == 3  # the pool has no more
    same = [request["messages"][0]["content"] for request in server.requests
            if request["model"] == "solver"]  # fmt: skip
    assert len({*same}) == len(same) == 300


def test_a_watch_alarms_of_a_worse_model_and_asks_no_more(words, server, capsys):
    healthy = words("watch", "pool.parquet", "--puzzles=60", "--json=w.json", "--junit=w.xml")
    for night in range(1, 4):
        code, out, err = command(*healthy)
        assert code == 0, err
        assert out.startswith(f"verdict     no alarm in {night} night")
    asked = [request["messages"][0]["content"] for request in server.requests]
    nights = [asked[60 * night : 60 * (night + 1)] for night in range(3)]
    assert all(len({*night}) == 60 for night in nights)  # no puzzle twice a night
    assert {*nights[0]} != {*nights[1]}
    seeds = [request["seed"] for request in server.requests]
    again = [asked.index(puzzle) for puzzle in {*nights[0]} & {*nights[1]}]
    assert again  # which are drawn anew, also by a server that honours seeds
    assert len({*seeds}) == len(seeds)
    assert 'failures="0"' in Path("w.xml").read_text("utf-8")
    worse = words(*healthy[:5], model="worse")
    codes = []
    while 1 not in codes:
        codes.append(command(*worse)[0])
        assert len(codes) < 8
    found = json.loads(Path("w.json").read_text("utf-8"))
    assert (found["verdict"], found["exit_code"]) == ("worse", 1)
    assert 3 <= found["began"] <= 5
    assert [night["model"] for night in found["by_night"]] == ["solver"] * 3 + ["worse"] * len(
        codes
    )
    assert 'failures="1"' in Path("w.xml").read_text("utf-8")
    server.asked()
    code, out, _ = command(*worse)
    assert (code, server.requests) == (1, [])
    assert command("watch", "pool.parquet", "--status")[:2] == (1, out)
    assert "it is over, and --anew begins another watch" in out
    # mended, it begins again; other nights need the state alone
    for folder in Path("watch").glob("night-*"):
        shutil.rmtree(folder)
    last = 3 + len(codes)
    assert command(*healthy, "--anew")[0] == 0
    _, out, err = command(*healthy)
    assert "no alarm in 2 nights" in out
    assert f"since night {last + 1}" in out
    assert f"night {last + 2}:" in err
    svg = Path("watch/nights.svg").read_text("utf-8")
    assert "evidence" in svg
    code, _, err = command(*words("watch", other_pool()))
    assert (code, "no --model_args: asking solver at " in err, "another pool" in err) == (2, 1, 1)
    few = command(*words("watch", "pool.parquet", "--puzzles=301"))
    assert few[0] == 2
    assert "must be an integer in 10..300" in few[2]
    assert "there was none yet" in refusal(capsys, "watch", "pool.parquet", "--status", "--out=new")


def other_pool():
    """A file with half of the pool."""
    table = pq.read_table("pool.parquet")
    pq.write_table(table.slice(0, 60), "half.parquet")
    return "half.parquet"


def test_a_change_of_the_server_is_a_doubt(words, server):
    said = words("watch", "pool.parquet", "--puzzles=20")
    assert "doubts      none" in command(*said)[1]
    other = command(*said, "--gen_kwargs", "temperature=0.1")[1]
    assert "the base was asked by other settings than gen_kwargs {'temperature': 0.1}" in other
    server.instead = lambda request: drawn(request) | {"system_fingerprint": "fp_2\x1b[31m"}
    doubt = "served_by is Here fp_2<U+001B>[31m, the night before Here fp_1"
    assert doubt in command(*said)[1]
    calls = iter(range(10**6))
    server.instead = lambda request: drawn(request) | {"provider": f"P{next(calls) // 30}"}
    _, out, _ = command(*words("gate", "--recorded", "pool.parquet", "--margin=1", "--budget=50"))
    assert "new was served by 2: P0 fp_1 (30), P1 fp_1 (20)" in out


def test_a_stopped_night_goes_on_and_a_base_may_answer_more_often(words, server):
    used = {"usage": {"prompt_tokens": 500, "completion_tokens": 9}}
    server.instead = lambda request: drawn(request) | used
    said = words("watch", "pool.parquet", "--puzzles=20")
    capped = {"model": "local-chat-completions", "apply_chat_template": True}
    Path("capped.yaml").write_text(json.dumps(capped | {"max_tokens_total": 3000}))
    code, _, err = command(*said, "--config=capped.yaml")
    assert (code, "a higher cap continues" in err) == (4, True), err
    before = len(server.requests)
    assert 0 < before < 20
    assert command(*said)[0] == 0
    assert len(server.requests) == 20
    server.asked()
    often = words("gate", "base", "--margin=10", "--attempts=3", "--budget=50", model="worse")
    assert command(*often)[0] in (1, 3)
    assert len([request for request in server.requests if request["model"] == "solver"]) == 150
    seeds = [request["seed"] for request in server.requests if request["model"] == "solver"]
    assert len({*seeds}) == len(seeds)

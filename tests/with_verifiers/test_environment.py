"""The environment as verifiers installs, validates, evaluates and scores it."""

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import compactor
import loopback
import pytest
import verifiers.v1 as vf
from completion_server import respond, serving
from packaging.requirements import Requirement
from pydantic import ValidationError
from replayed import PARAMETERS, replays
from source_tree import ROOT
from tracker import track
from verifiers.v1.graph import MessageNode
from verifiers.v1.state import state_cls
from verifiers.v1.trace import ModelCall, Trace, TraceTask
from verifiers.v1.types import AssistantMessage, Sampling, Usage, UserMessage
from verifiers.v1.utils.loaders import harness_class, taskset_class

import verifiers_tasks
from cogniload_gen import Frontier, benchmarks
from cogniload_gen.answers.conversations import USUAL, measure, score_replies, script_of
from cogniload_gen.rewards import TRACKING_INSTRUCTION, answer_score, step_score

SMALL = {
    "cogniload": {"d": [1, 3], "N": [5, 20], "rho": [50]},
    "factor-symbolic": {"N": [1, 4, 7], "context": [0]},
    "factor-realistic": {"op": [2, 3], "context": [0, 2000], "noise": ["close"]},
}


def taskset(**given):
    config = vf.taskset_config_type("verifiers_tasks")(id="verifiers_tasks", **given)
    return vf.load_taskset(config)


def same_rows(name, count):
    """Return the first puzzles of the same grid, as every other tool has them."""
    benchmark = benchmarks.named(name)
    asked = {"num_puzzles": count, "split": "train"} | SMALL[name]
    tables = benchmark.source(benchmark.select(**asked)).tables()
    return [row for table in tables for row in table.to_pylist()][:count]


def scored(task, response, usage=None, asked=None, reason=None):
    """Return the trace of a response (or of none), scored from what a server is sent."""
    data = type(task.data).model_validate(task.data.model_dump())
    task = type(task)(data, task.config)
    told = TraceTask(type="PuzzleTask", data=data, key=task.key, hash=task.hash)
    agent = vf.AgentInfo(config=vf.AgentConfig(runtime=vf.SubprocessConfig()))
    trace = Trace(task=told, state=state_cls(type(task))(), agent=agent)
    trace.nodes = [
        MessageNode(message=UserMessage(content=data.prompt)),
        MessageNode(parent=0, message=AssistantMessage(content=response or ""), sampled=True),
    ][: 1 + (response is not None)]
    limit = data.response_limit if asked is None else asked
    about = {"usage": usage, "finish_reason": reason}
    call = ModelCall(node=1, sampling=Sampling(max_tokens=limit), **about)
    trace.calls = [] if response is None else [call]
    asyncio.run(task.score(trace))
    return trace


def test_the_environment_is_the_one_that_it_is_written_for():
    assert version("verifiers") == "0.4.0"
    assert taskset_class("verifiers_tasks") is verifiers_tasks.PuzzleTaskset
    assert harness_class("verifiers_tasks") is verifiers_tasks.PuzzleHarness


class Hub(loopback.Handler):
    """Prime's hub, as far as it names an environment; it takes no wheel."""

    def do_POST(self):
        self.read()
        names = {"id": "1", "created": True, "owner": {"name": "me", "type": "user"}}
        resolved = self.path.endswith("/environmentshub/resolve")
        content = json.dumps({"data": names} if resolved else {}).encode()
        self.send(200 if resolved else 500, content, {"Content-Type": "application/json"})

    do_GET = do_POST


def test_primes_command_takes_the_package_for_one_of_verifiers_1(tmp_path):
    """And the task set keeps the rules of verifiers' guide."""
    subprocess.run([sys.executable, "upstream/write.py", tmp_path / "out"], cwd=ROOT, check=True)
    folder = tmp_path / "out/prime-intellect/environments/cogniload_puzzles"
    with loopback.running(loopback.Server(Hub)) as hub:
        url = f"http://127.0.0.1:{hub.server_port}"
        about = {"PRIME_API_BASE_URL": url, "PRIME_API_KEY": "none", "HOME": str(tmp_path)}
        command = (
            Path(sys.executable).with_name("prime"),
            "env",
            "push",
            "--path",
            folder,
            "--plain",
        )
        given = {"env": os.environ | about, "capture_output": True, "text": True}
        said = subprocess.run([*map(str, command)], check=False, **given).stdout
    assert "Publishing as verifiers v1 (from the verifiers requirement)" in said, said
    needed = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"][
        "dependencies"
    ]
    (ours,) = (Requirement(each) for each in needed if each.startswith("verifiers"))
    assert ours.specifier.contains(version("verifiers"))
    assert "__init__" not in vars(verifiers_tasks.PuzzleTaskset)
    assert verifiers_tasks.PuzzleTaskset.INFINITE


@pytest.mark.parametrize("name", SMALL)
def test_the_rows_of_a_grid_are_valid_tasks_and_endless_without_a_number(name):
    endless = taskset(benchmark=name, tracking=True, **SMALL[name])
    assert not endless.bounded
    tasks, rows = list(islice(endless, 20)), same_rows(name, 20)
    for task, row in zip(tasks, rows, strict=True):
        assert (task.key, task.row) == (row["id"], row)
        assert task.data.prompt == f"{row['puzzle']}\n\n{TRACKING_INSTRUCTION}"
        assert asyncio.run(task.validate(None)) is True
    wrong = tasks[0].with_data(row=tasks[0].data.row | {"answer": "beige"})
    assert asyncio.run(wrong.validate(None)) is False
    some = endless.include(idx=["17:20"]).take(2)
    assert some.bounded
    assert [task.data.id for task in some] == [row["id"] for row in rows[17:19]]


def test_with_a_target_the_puzzles_follow_what_the_frontier_is_told():
    tasks = taskset(target=(0.2, 0.8), **SMALL["cogniload"] | {"N": list(range(2, 41))})
    rows, lengths = Frontier(**SMALL["cogniload"] | {"N": range(2, 41)}), []
    for task, row in zip(islice(tasks, 80), rows, strict=False):
        assert task.row == row
        lengths.append(row["N"])
        for frontier in (tasks.frontier, rows):
            frontier.observe([task.key] * 8, [float(row["N"] < 10)] * 8)
    assert all(4 < length < 16 for length in lengths[-20:])
    assert taskset(**SMALL["cogniload"]).frontier is None
    with pytest.raises(ValidationError, match="target is for the split train, without k and twin"):
        taskset(target=(0.2, 0.8), split="test")
    with pytest.raises(ValidationError, match="target is for puzzles of d, N and rho"):
        taskset(target=(0.2, 0.8), benchmark="factor-symbolic")


@pytest.mark.parametrize("name", PARAMETERS)
def test_stored_responses_have_the_ids_prompts_limits_and_scores_of_every_harness(name):
    stored = {each.id: each for each in replays() if each.benchmark == name}
    given = PARAMETERS[name] | {"benchmark": name.replace("factor_", "factor-"), "split": "test"}
    del given["num_puzzles"]
    tasks, outcomes = list(taskset(**given).take(len(stored))), Counter()
    assert [task.data.id for task in tasks] == [*stored]
    for task in tasks:
        each, usage = stored[task.data.id], None
        assert (task.data.prompt, task.data.response_limit) == (each.prompt, each.limit)
        if each.prompt_tokens is not None:
            counts = {"completion_tokens": each.response_tokens}
            usage = Usage(prompt_tokens=each.prompt_tokens, **counts)
        trace = scored(task, each.response, usage, reason=each.finish_reason)
        assert trace.info["score"]["outcome"] == each.outcome, each.id
        assert trace.metrics["acc"] == each.correct, each.id
        assert (
            trace.rewards["answer"].score == trace.reward == answer_score(each.response, task.row)
        )
        assert trace.rewards["steps"].score == step_score(each.response, task.row)
        outcomes[each.outcome] += 1
    kinds = benchmarks.named(given["benchmark"]).outcomes
    assert set(outcomes) == {kind.value for kind in kinds}


def test_counts_tell_a_response_that_was_cut_off():
    (task,) = taskset(d=1, N=5, rho=50, context_budget=1024).take(1)
    response, limit = f"The answer is {task.row['answer']}.", task.data.response_limit
    for tokens, asked, cut in (
        (limit - 20, None, True), (limit - 21, None, False), (80, 100, True), (79, 100, False),
        (79, 10**6, False), (limit, 10**6, True),
    ):  # fmt: skip
        usage = Usage(prompt_tokens=100, completion_tokens=tokens)
        trace = scored(task, response, usage, asked)
        assert trace.metrics["wrong_max_context"] == cut
        assert trace.info["score"]["response_tokens"] == tokens


@pytest.mark.parametrize(("given", "said"), [
    ({"d": 99}, r"d must be an integer in 1\.\.12 .*, got 99"),
    ({"op": 3}, r"op is not for cogniload, got \[3\]"),
    ({"benchmark": "x"}, "benchmark must be one of cogniload, .* got 'x'"),
    ({"context_budget": 99}, "context_budget must be .*, got 99"),
    ({"k": 2, "twin": "again"}, "k goes with neither twin nor tracking"),
])  # fmt: skip
def test_a_wrong_value_is_refused_in_one_line(given, said):
    with pytest.raises(ValueError, match=said):
        taskset(**given)


def run(command, *arguments, folder):
    """Run a command of verifiers; without a terminal and without its platform."""
    program = Path(sys.executable).with_name(command)
    return subprocess.run(
        [program, "verifiers_tasks", *map(str, arguments), "-o", folder, "--no-rich"],
        cwd=folder, env=os.environ | {"NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def evaluate(server, count, *arguments, folder):
    """Return the traces that `vf-eval` writes of a model that a server answers for."""
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    model = ("--model", "solver", "--client.base-url", url, "--no-push", "--run.name", "run")
    ran = run("vf-eval", *arguments, *model, "-n", count, folder=folder)
    assert ran.returncode == 0, ran.stderr[-3000:]
    lines = (folder / "run" / "traces.jsonl").read_text("utf-8").splitlines()
    return [trace for line in lines for trace in json.loads(line)["traces"]]


def test_the_validate_command_finds_every_puzzle_valid(tmp_path):
    given = ("--taskset.d", 1, 3, "--taskset.N", 5, "-n", 28)
    ran = run("vf-validate", *given, "--runtime.type", "subprocess", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    (summary,) = (json.loads(file.read_text()) for file in tmp_path.rglob("summary.json"))
    assert summary["total"] == summary["outcomes"]["valid"] == 2 * 2 * 7
    assert {check["valid"] for check in summary["checks"].values()} == {28}


def test_the_eval_command_evaluates_a_served_model(tmp_path):
    given = ("--env.taskset.d", 1, "--env.taskset.N", 5, 20, "--env.taskset.rho", 50)
    with serving() as server:
        traces = evaluate(server, 20, *given, folder=tmp_path)
        requests = server.requests
    assert len(traces) == len(requests) == 20
    asked = {each["messages"][-1]["content"]: each["max_tokens"] for each in requests}
    assert all(len(each["messages"]) == 1 for each in requests)
    outcomes = Counter()
    for trace in traces:
        data = trace["task"]["data"]
        assert asked[data["prompt"]] == data["response_limit"]
        response = respond(data["prompt"])
        assert trace["nodes"][-1]["message"]["content"] == response
        row = data["row"] | {"puzzle": data["prompt"]}
        assert trace["rewards"]["answer"]["score"] == answer_score(response, row)
        assert trace["metrics"]["acc"] == benchmarks.score(response, row).correct
        assert trace["info"]["score"]["response_tokens"] == len(response.split())
        outcomes[trace["info"]["score"]["outcome"]] += 1
    assert len(outcomes) == 2


THOUGHT = "Statement 1 changes nothing.\nStatement 2: so it stays."


@pytest.mark.parametrize("place", ["reasoning", "reasoning_content", "reasoning_details", ""])
def test_a_reasoning_is_read_wherever_the_server_puts_it(place, tmp_path):
    """And not scored; without a place, it stands in the response."""

    def answer(request):
        (message,) = request["messages"]
        said = respond(message["content"])
        held = {place: THOUGHT, "content": said}
        if place == "reasoning_details":
            held[place] = [{"type": "reasoning.text", "text": THOUGHT}]
        if not place:
            held = {"content": f"<think>\n{THOUGHT}\n</think>\n\n{said}"}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant"} | held}
        return {"choices": [choice]}

    given = ("--env.taskset.d", 1, "--env.taskset.N", 5, "--env.taskset.rho", 50)
    with serving() as server:
        server.instead = answer
        traces = evaluate(server, 6, *given, folder=tmp_path)
    for trace in traces:
        data, sample = trace["task"]["data"], trace["info"]["score"]
        row, said = data["row"] | {"puzzle": data["prompt"]}, respond(data["prompt"])
        assert (sample["reasoning"], sample["ending"]) == (THOUGHT, "ended")
        assert sample["acc"] == benchmarks.score(said, row).correct
        steps = benchmarks.read_steps(said, row, THOUGHT)
        assert [sample["steps_read"][name] for name in ("read", "error")] == [
            steps.read,
            steps.error,
        ]
        assert trace["rewards"]["steps"]["score"] == step_score(said, row, THOUGHT)


@pytest.mark.parametrize("kept", [False, True])
def test_earlier_reasoning_is_sent_back_if_it_is_asked_for(kept, tmp_path):
    given = {"d": 3, "N": 10, "rho": 50, "k": 5, "keep-reasoning": str(kept).lower()}
    arguments = [part for name, value in given.items() for part in (f"--env.taskset.{name}", value)]
    message = {"role": "assistant", "content": "Nothing.", "reasoning_content": THOUGHT}
    with serving() as server:
        server.reply = lambda _: ""  # the solver knows no turns
        server.instead = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
        traces = evaluate(server, 1, *arguments, folder=tmp_path)
        last = server.requests[-1]["messages"]
    assert [one["role"] for one in last] == ["user", "assistant", "user"]
    assert (last[1].get("reasoning_content") == THOUGHT) == kept
    assert traces[0]["info"]["score"]["keep_reasoning"] == kept


def test_turns_that_never_came_earn_nothing():
    (task,) = taskset(d=3, N=10, rho=50, k=4).take(1)
    turns = task.row["turns"]
    rewards = scored(task, turns[0]["reply"]).rewards
    assert rewards["answer"].score == rewards["steps"].score == pytest.approx(1 / 3)
    hedged = turns[0]["reply"] + " Or maybe not, I am not sure."
    assert scored(task, hedged).rewards["answer"].score == 0
    half_wrong = [turns[0] | {"reply": "Who knows?"}, *turns[1:]]
    for changed in ({"answer": "beige"}, {"turns": half_wrong}):
        wrong = task.with_data(row=task.data.row | changed)
        assert asyncio.run(wrong.validate(None)) is False


@pytest.mark.parametrize("history", USUAL)
def test_a_served_model_takes_the_turns_of_a_puzzle(history, tmp_path):
    """A model that errs in the first turn, and else goes on from the reply that it sees before."""
    given = {"d": 3, "N": 10, "rho": 50, "k": 4, "history": history}
    arguments = [part for name, value in given.items() for part in (f"--env.taskset.{name}", value)]
    with serving() as server:
        server.reply = lambda messages: track(
            [(one["role"], one["content"]) for one in messages], lambda place, _: place == 0
        )
        traces = evaluate(server, 4, *arguments, folder=tmp_path)
        requests = server.requests
    tasks = {task.data.id: task for task in islice(taskset(**given), 4)}
    assert len(traces) == 4
    for trace in traces:
        data, task = trace["task"]["data"], tasks[trace["task"]["data"]["id"]]
        script = script_of(task.row)
        assert data["id"].endswith(f"/{history}")
        assert asyncio.run(task.validate(None)) is True
        mine = [r["messages"] for r in requests if r["messages"][0]["content"] == script[0][0]]
        longest = max(mine, key=len)
        assert sorted(map(len, mine)) == [1, 3, 5]
        assert [one["content"] for one in longest[::2]] == [message for message, _ in script]
        assert {r["max_tokens"] for r in requests if r["messages"] in mine} == {
            task.data.response_limit // 3
        }
        replies = [n["message"]["content"] for n in trace["nodes"] if n.get("sampled")]
        seen = [other or reply for (_, other), reply in zip(script, replies, strict=True)]
        assert [one["content"] for one in longest[1::2]] == seen[:2]
        scores = score_replies(task.row, replies)
        assert trace["info"]["score"] == scores
        assert scores["right"][0] == 0
        assert (scores["sound"] == [0, 1, 1]) == (history != "own") or 1 not in scores["sound"][1:]
        assert trace["metrics"] == pytest.approx(measure(scores))
        assert trace["rewards"]["answer"]["score"] == pytest.approx(
            sum(scores["state_share"]) / len(script)
        )
        assert trace["rewards"]["steps"]["score"] == 0


@pytest.mark.parametrize("strategy", ["json", "none"])
def test_a_served_model_compacts_its_conversation(strategy, tmp_path):
    """A compactor that swaps two people: replies and summaries are told apart and scored."""
    given = {"d": 3, "N": 8, "rho": 50, "k": 2, "history": "compacted", "poi": "late"}
    given |= {"every": 2, "strategy": strategy}
    arguments = [part for name, value in given.items() for part in (f"--env.taskset.{name}", value)]
    with serving() as server:
        server.reply = lambda messages: compactor.reply(
            [(one["role"], one["content"]) for one in messages], compactor.swap
        )
        traces = evaluate(server, 3, *arguments, folder=tmp_path)
        lengths = sorted(len(request["messages"]) for request in server.requests)
    assert len(traces) == 3
    one = [1, 3, 5, 5, 7] if strategy == "none" else [1, 1, 3, 3, 5]
    assert lengths == sorted(3 * one)
    for trace in traces:
        scores = trace["info"]["score"]
        (summary,) = scores["summaries"]
        assert (len(scores["right"]), summary["after"]) == (4, 2)
        assert {*summary["kind"]} == {"kept", "changed"}
        if strategy == "none":
            assert all(scores["right"])
        else:
            assert [not held for held in scores["held"][2:]] == [not r for r in scores["right"][2:]]
        assert trace["metrics"]["kept"] == summary["kind"].count("kept") / len(summary["kind"])

"""--sweep: the same puzzles at each level, and what servers do with a setting."""

import re
from zlib import crc32

import pytest
from eval_command import DOCUMENTS, answered, arguments, command, done, error_of
from stored import cases

LEVELS = {"low": 1, "medium": 2, "high": 4}


def spending(tokens):
    """Have a server spend tokens by a function of the request and of a number from 50 to 149."""

    def usage(request):
        seed = f"{request['messages']} {request.get('reasoning_effort')}".encode()
        spent = tokens(request, 50 + crc32(seed) % 100)
        return {"usage": {"prompt_tokens": 300, "completion_tokens": spent}}

    return usage


def test_each_level_has_the_same_puzzles_in_a_folder_of_its_own(server, tmp_path):
    server.instead = spending(lambda request, some: some * LEVELS[request["reasoning_effort"]])
    words = arguments(server, tmp_path, "--sweep", "reasoning_effort=low,medium,high")
    words += ["--gen_kwargs", "temperature=0.5"]
    out, _ = done(*words)
    folders = [tmp_path / f"reasoning_effort={level}" for level in LEVELS]
    assert all(answered(folder) == answered(folders[0]) for folder in folders)
    assert {request["temperature"] for request in server.requests} == {0.5}
    tokens = re.findall(
        rf"^reasoning_effort=\w+: {DOCUMENTS} answers, .* right, (\d+) t", out, re.M
    )
    assert 3 < int(tokens[2]) / int(tokens[0]) < 5
    assert "note: " not in out
    server.asked()
    assert command(*words)[0] == 0
    assert not server.requests


@pytest.mark.parametrize("same", [True, False])
def test_a_server_that_ignores_the_effort_is_named(server, tmp_path, same):
    """Whether its responses are the same or drawn anew."""
    server.instead = spending(lambda _, some: 100 if same else some)
    words = arguments(server, tmp_path, "--sweep", "reasoning_effort=low,high")
    said = command(*words)[1].partition(f"the same {DOCUMENTS} puzzles take ")[2]
    times, low, high = re.match(r"(.*) times .* \(95 % interval (.*) to (.*)\)", said).groups()
    assert float(low) <= min(1, float(times)) <= max(1, float(times)) <= float(high)
    assert (low == high) == same


@pytest.mark.parametrize("overrun", [True, False])
def test_a_server_that_overruns_a_budget_is_named(server, tmp_path, overrun):
    server.instead = spending(lambda request, _: request["max_tokens"] * (2 if overrun else 1))
    out, _ = done(*arguments(server, tmp_path, "--sweep", "max_gen_toks=16,64"))
    assert (f"{DOCUMENTS} of {DOCUMENTS} responses overrun max_gen_toks=16" in out) == overrun


@pytest.mark.parametrize("overrun", [True, False])
def test_thinking_beyond_its_budget_is_named(server, tmp_path, overrun):
    """By the tokens of the reasoning alone, which the server sends in a field of its own."""

    def think(request):
        told = "so " * request["thinking_token_budget"] * (2 if overrun else 1)
        message = {"content": "I can't tell." + " Or can I?" * 99, "reasoning": told}
        return {"choices": [{"message": message, "finish_reason": "stop"}]}

    server.instead = think
    words = arguments(server, tmp_path, "--sweep", "thinking_token_budget=20,80")
    out, _ = done(*words)
    assert (
        f"{DOCUMENTS} of {DOCUMENTS} responses overrun thinking_token_budget=20" in out
    ) == overrun


@pytest.mark.parametrize(("given", "levels"), cases(__file__)["levels"])
def test_a_level_has_the_type_that_it_has_as_a_setting(server, tmp_path, given, levels):
    words = arguments(server, tmp_path, "--limit", 2, "--sweep", given)
    assert command(*words)[0] == 0
    name = given.partition("=")[0]
    sent = [request[name] for request in server.requests[::2]]
    assert (sent, [*map(type, sent)]) == (levels, [*map(type, levels)])
    server.asked()
    assert command(*words)[0] == 0
    assert not server.requests


def test_a_setting_of_the_model_is_swept(server, tmp_path):
    """Such as its name, each of which has its own run."""
    words = arguments(server, tmp_path, "--limit", 2, "--sweep", "model=org/a,solver", timeout=99)
    out, _ = done(*words)
    assert [request["model"] for request in server.requests] == ["org/a"] * 2 + ["solver"] * 2
    assert {folder.name for folder in tmp_path.iterdir()} == {"model=org-a", "model=solver"}
    assert "model=org/a: 2 answers" in out


def test_what_a_level_says_stands_before_the_next_fails_and_shards_are_merged(server, tmp_path):
    words = arguments(server, tmp_path / "parts", "--sweep", "effort=1,2", "--shard", "1/2")
    _, err = done(*words)
    assert re.findall(r"^next: (.*)$", err, re.M) == [
        f"cogniload eval --merge {tmp_path}/parts/effort={level}, when all are done"
        for level in (1, 2)
    ]
    server.instead = lambda request: (403, "{}") if request["effort"] == 2 else {}
    code, out, _ = command(*arguments(server, tmp_path / "run", "--sweep", "effort=1,2"))
    assert code == 2
    assert out.count("results  ") == 1


@pytest.mark.parametrize("given", ["effort", "effort=low", "=low,high", "effort=low,low", "a=,"])
def test_a_sweep_has_levels(server, tmp_path, given):
    says = f"sweep must be as reasoning_effort=low,medium,high, got '{given}'"
    assert error_of(*arguments(server, tmp_path, "--sweep", given)) == says

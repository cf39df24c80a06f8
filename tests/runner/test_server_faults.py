"""A server that fails is named in one line, after retries; what it sends is never a sample."""

import asyncio
import gzip
import json
import tracemalloc
import zlib
from socket import create_server
from threading import Event
from types import SimpleNamespace

import pytest
from eval_command import arguments, command, done_blocks, error_of, read, same_samples, url_of

from lm_eval_tasks.responses import NoCompletion, check_answer
from lm_eval_tasks.runner import client
from lm_eval_tasks.runner.client import TooLarge, batches, decode, unpack

CHOICE = {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}


def with_choice(**changes):
    return {"choices": [CHOICE | changes]}


def with_content(content):
    return with_choice(message={"role": "assistant", "content": content})


NO_COMPLETIONS = {
    "an error": {"error": {"message": "overloaded"}},
    "an error beside choices": {"error": "overloaded", "choices": [CHOICE]},
    "no choices": {},
    "null choices": {"choices": None},
    "an empty list of choices": {"choices": []},
    "a choice that is a string": {"choices": ["a"]},
    "an empty choice": {"choices": [{}]},
    "two choices": {"choices": [CHOICE, CHOICE | {"index": 1}]},
    "two choices of one index": {"choices": [CHOICE, CHOICE]},
    "an index of text": with_choice(index="0"),
    "an index of 5": with_choice(index=5),
    "an index below 0": with_choice(index=-1),
    "an index of true": with_choice(index=False),
    "no index": {"choices": [{name: CHOICE[name] for name in ("message", "finish_reason")}]},
    "a null message": with_choice(message=None),
    "no message": {"choices": [{"index": 0, "finish_reason": "stop"}]},
    "an empty message": with_choice(message={}),
    "a message without content": with_choice(message={"role": "assistant"}),
    "a message of text": with_choice(message="a"),
    "a dictionary": with_content({"text": "a"}),
    "a number": with_content(3),
    "true": with_content(True),
    "parts that are numbers": with_content([3]),
    "parts of no type": with_content([{"text": "a"}]),
    "a text part without text": with_content([{"type": "text", "text": None}]),
    "half a response": with_choice(finish_reason="abort"),
    "a response that ends in an error": with_choice(finish_reason="error"),
    "a list": [],
    "a text": "a",
    "null": None,
}


@pytest.mark.parametrize("answer", NO_COMPLETIONS.values(), ids=NO_COMPLETIONS)
def test_what_is_no_completion_or_no_json_is_refused(answer):
    with pytest.raises(NoCompletion, match="the server's answer is no completion, "):
        check_answer(answer, chat=True, prompts=1)
    for body in (b"", b"<html>", b"\xff", b"[" * 100_000, b"9" * 5000, b'{"a": NaN'):
        with pytest.raises(NoCompletion, match="as it is no JSON"):
            decode(body)


@pytest.mark.parametrize(("content", "text"), [
    ("a b", "a b"),
    (None, ""),
    ([], ""),
    ([{"type": "text", "text": "a "}, {"type": "text", "text": "b"}], "a b"),
    ([{"type": "thinking", "thinking": ["x"]}, {"type": "text", "text": "a"}], "a"),
])  # fmt: skip
def test_the_text_of_a_message(content, text):
    (choice,) = check_answer(with_content(content), chat=True, prompts=1)["choices"]
    assert choice["message"]["content"] == text


@pytest.mark.parametrize("choices", [1, 3])
def test_each_prompt_has_one_completion_whose_text_is_a_string(choices):
    answer = {"choices": [{"index": i, "text": "a"} for i in range(choices)]}
    assert len(check_answer(answer, chat=False, prompts=choices)["choices"]) == choices
    with pytest.raises(NoCompletion, match="the indices of its choices are"):
        check_answer(answer, chat=False, prompts=2)
    for text in (None, 3, ["a"], {}):
        answer["choices"][-1]["text"] = text
        with pytest.raises(NoCompletion):
            check_answer(answer, chat=False, prompts=choices)


@pytest.mark.parametrize("concurrent", [1, 4])
@pytest.mark.parametrize(
    "kind", ["an error", "two choices", "a null message", "an index of text", None]
)
def test_it_is_named_with_its_server(server, tmp_path, kind, concurrent):
    server.instead = json.dumps(NO_COMPLETIONS[kind]) if kind else "<html>"
    message = error_of(*arguments(server, tmp_path, num_concurrent=concurrent))
    beginning = f"the server at {url_of(server)} answered what is no completion, "
    assert message.startswith(beginning)
    assert not done_blocks(tmp_path)


@pytest.mark.parametrize("concurrent", [1, 4])
def test_a_fault_that_passes_is_retried(server, tmp_path, undisturbed, concurrent):
    kinds = ("an error", "no choices", "two choices")
    server.once = ["<html>", *(json.dumps(NO_COMPLETIONS[kind]) for kind in kinds)]
    settings = {"num_concurrent": concurrent, "max_retries": 5}
    assert command(*arguments(server, tmp_path, **settings))[0] == 0
    assert not server.once
    assert same_samples(read(tmp_path), undisturbed)


def test_parts_of_a_message_become_its_text_and_none_is_warned_of_once(server, tmp_path):
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "It is blue."}]
    for content, text in ((parts, "It is blue."), (None, "")):
        server.instead = with_content(content)
        code, _, err = command(*arguments(server, tmp_path / f"run{text}"))
        assert (code, err.count("it counts as an empty response")) == (0, int(content is None))
        _, samples = read(tmp_path / f"run{text}")
        assert {sample["resps"][0][0] for sample in samples} == {text}


@pytest.mark.parametrize("concurrent", [1, 4])
def test_a_huge_answer_is_refused(server, tmp_path, monkeypatch, concurrent):
    monkeypatch.setattr(client, "LARGEST_ANSWER", 2**20)
    bomb = zlib.compressobj(wbits=31)
    packed = b"".join(bomb.compress(bytes(2**20)) for _ in range(100)) + bomb.flush()
    for instead in (packed, " " * 100 * 2**20):
        server.instead = instead
        message = error_of(*arguments(server, tmp_path, num_concurrent=concurrent))
        assert message == (
            f"the server at {url_of(server)} answered more than 1 MiB, which is the limit"
        )


def test_a_packed_answer_is_read_up_to_the_limit(monkeypatch):
    monkeypatch.setattr(client, "LARGEST_ANSWER", 1000)
    assert unpack(gzip.compress(b"a" * 1000), "gzip") == b"a" * 1000
    assert unpack(zlib.compress(b"a"), "deflate") == b"a"
    with pytest.raises(TooLarge):
        unpack(gzip.compress(b"a" * 1001), "gzip")
    for packed, encoding in ((b"a", "br"), (b"a", "gzip"), (gzip.compress(b"a" * 99)[:-9], "gzip")):
        with pytest.raises(NoCompletion):
            unpack(packed, encoding)


def test_a_packed_answer_takes_no_more_memory_than_the_limit(monkeypatch):
    monkeypatch.setattr(client, "LARGEST_ANSWER", 2**20)
    packed = gzip.compress(bytes(100 * 2**20))
    tracemalloc.start()
    with pytest.raises(TooLarge):
        unpack(packed, "gzip")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 2**20


def test_a_server_that_never_answers_is_named(tmp_path, monkeypatch):
    """It accepts connections and says nothing."""
    monkeypatch.setattr("lm_eval_tasks.runner.model.PATIENCE", 1)
    with create_server(("127.0.0.1", 0)) as listening:
        silent = SimpleNamespace(server_port=listening.getsockname()[1])
        message = error_of(*arguments(silent, tmp_path))
    url = url_of(silent).replace("chat/completions", "models")
    assert message.startswith(f"the server at {url} did not answer within 1 s: ")


@pytest.mark.parametrize("concurrent", [1, 4])
def test_a_silent_server_is_warned_of_and_given_up(server, tmp_path, monkeypatch, concurrent):
    """First it answers after two warnings, then within no second that it has."""
    server.together, warnings = Event(), []

    def warn(text, *values):
        warnings.append(text % values)
        if len(warnings) == 2:
            server.together.set()

    monkeypatch.setattr(client, "SILENT_FOR", 0.2)
    monkeypatch.setattr(client.log, "warning", warn)
    assert command(*arguments(server, tmp_path / "late", num_concurrent=concurrent))[0] == 0
    silent = f"the server at {url_of(server)} has answered nothing for 0 s: 5 requests wait"
    assert all(line.startswith(silent) for line in warnings[:2])
    server.together.clear()
    settings = {"num_concurrent": concurrent, "timeout": 1}
    message = error_of(*arguments(server, tmp_path / "never", **settings))
    assert message.startswith(f"the server at {url_of(server)} did not answer within 1 s")
    server.together.set()


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://h/v1", "http://", "http://[h/v1", "v1"])
def test_an_url_that_is_none(tmp_path, server, url):
    command_line = arguments(server, tmp_path, base_url=url)
    assert error_of(*command_line).startswith("base_url must be http://")


def test_after_a_failure_nothing_more_is_asked(server, tmp_path):
    for healthy in (0, 7):
        server.healthy, server.requests = healthy, []
        settings = arguments(server, tmp_path / str(healthy), "--block_size", "24")
        assert command(*settings)[0] == 2
        assert len(server.requests) == healthy + 1


def test_no_call_follows_one_that_failed_for_good():
    """Also where its slot comes free before all others are ended: there is no server here."""

    async def call():
        failed = asyncio.Event()
        failed.set()
        model = SimpleNamespace(base_url="http://127.0.0.1:9/v1", header={})
        await client.complete(model, None, asyncio.Semaphore(1), failed, {}, 1)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(call())


def test_batches_hold_what_is_generated_alike():
    settings = [{"max_gen_toks": limit} for limit in (1, 2, 1, 1, 2)]
    assert list(batches(settings, 1)) == [[0], [1], [2], [3], [4]]
    assert list(batches(settings, 2)) == [[0, 2], [3], [1, 4]]


@pytest.mark.parametrize("concurrent", [1, 4])
def test_requests_are_those_of_lm_eval(server, tmp_path, monkeypatch, concurrent):
    """With its own client in the place of ours."""
    settings = {"num_concurrent": concurrent}
    assert command(*arguments(server, tmp_path / "ours", **settings))[0] == 0
    ours, server.requests = server.requests, []
    monkeypatch.setattr("lm_eval_tasks.runner.model.fill_every_slot", lambda _: None)
    assert command(*arguments(server, tmp_path / "theirs", **settings))[0] == 0
    sent = [sorted(map(json.dumps, requests)) for requests in (ours, server.requests)]
    assert sent[0] == sent[1]

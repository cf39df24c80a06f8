"""What servers send: all that is usable is used, and the rest is one line that says what helps."""

import errno
import json
from threading import Barrier

import pytest
from completion_server import prompts_of, respond, serving
from eval_command import (
    DOCUMENTS,
    PUZZLES,
    answered,
    arguments,
    command,
    completions,
    done,
    error_of,
    read,
    url_of,
)
from lm_eval.api.instance import Instance
from lm_eval.models.api_models import JsonChatStr
from lm_eval.models.openai_completions import LocalChatCompletion
from stored import cases, contents, stored

from cogniload_gen import generate_puzzles, solve
from lm_eval_tasks import server as client
from lm_eval_tasks.responses import NoCompletion, keep_facts, read_answer, read_body

TOKENS = {"prompt_tokens": 90, "completion_tokens": 9}


def text(part, name="text"):
    return {"type": name, "text": part}


SENT = json.loads(stored(__file__, "answers.json").read_text("utf-8"))
"""What choices hold, and what of their text is read; what answers hold, and the tokens of prompt
and response that are known then; and answers that fail in passing, by their names."""


def put_on(held, over):
    return {name: value for name, value in (held | over).items() if value != "left out"}


@pytest.mark.parametrize("kind", ["chat", "plain"])
def test_what_is_usable_is_used(server, tmp_path, kind):
    """Each document's answer comes in another dress."""
    wanted, plain = {}, kind == "plain"
    choices = [(over, said) for over, said in SENT["choices"] if not plain or "message" not in over]
    choices += [({"text": None}, ""), ({"text": "left out"}, "")] if plain else []

    def dressed(request):
        (prompt,) = prompts_of(request)
        number = len(wanted)
        held = {"message": {"role": "assistant", "content": respond(prompt)}}
        held = {"text": respond(prompt)} if plain else held
        over, said = choices[number % len(choices)]
        facts, counts = SENT["answers"][number % len(SENT["answers"])]
        choice = put_on({"index": 0, "finish_reason": "stop"} | held, over)
        wanted[prompt] = (respond(prompt) if said is None else said, counts, over, facts)
        answer = put_on({"id": "1", "created": 0, "usage": TOKENS, "choices": [choice]}, facts)
        return 200, json.dumps(answer)

    server.instead = dressed
    words = (completions if plain else arguments)(server, tmp_path)
    done(*words)
    assert len(server.requests) == DOCUMENTS  # none was asked again
    for sample in read(tmp_path)[1]:
        response, counts, over, facts = wanted[sample["doc"]["puzzle"]]
        assert sample["resps"] == [[response]], over
        known = [sample.get(name) for name in ("backend_prompt_tokens", "response_tokens")]
        assert known == ([90, 9] if counts is None else counts), facts
        assert sample["outcome"], over


THOUGHT = "At first, as the puzzle says.\nSo nothing changes."

SHAPES = [
    {"content": f"<think>\n{THOUGHT}\n</think>\n\nSO"},
    {"content": f"{THOUGHT}\n</think>\n\nSO"},
    {"content": "SO", "reasoning": THOUGHT, "reasoning_content": THOUGHT},
    {"content": "SO", "reasoning_details": [text(THOUGHT, "reasoning.text")]},
    {"content": [{"type": "thinking", "thinking": [text(THOUGHT)]}, text("SO")]},
    {"content": "SO", "thinking_blocks": [{"type": "thinking", "thinking": THOUGHT}]},
]


def in_shape(number, request, **choice):
    """An answer whose reasoning is in some place."""
    said = respond(prompts_of(request)[0])
    message = json.loads(json.dumps(SHAPES[number]).replace("SO", json.dumps(said)[1:-1]))
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": message} | choice]}


def test_a_reasoning_is_kept_wherever_the_server_puts_it(server, tmp_path):
    """Each in a run of its own: the samples are alike, also with lm-eval's `think_end_token`."""
    runs = []
    for case, number in enumerate([*range(len(SHAPES)), 1, 0]):  # the texts in both ways
        server.instead = lambda request, number=number: in_shape(number, request)
        settings = {"think_end_token": "</think>"} if case % 2 else {}
        assert command(*arguments(server, tmp_path / str(case), **settings))[0] == 0
        samples = read(tmp_path / str(case))[1]
        assert {sample["reasoning"] for sample in samples} == {THOUGHT}
        assert {sample["ending"] for sample in samples} == {"ended"}
        names = ("acc", "acc_uncut", "overflow", "outcome", "steps_read")
        runs.append([[sample[name] for name in names] for sample in samples])
    assert all(run == runs[0] for run in runs)
    assert {acc for acc, *_ in runs[0]} == {0, 1}


def test_a_hidden_reasoning_is_not_read_and_its_share_is_named(server, tmp_path):
    summary = {"reasoning_details": [text("S.", "reasoning.summary")], "reasoning": "S."}
    counted = {"completion_tokens_details": {"reasoning_tokens": 7}}
    server.instead = lambda request: in_shape(2, request) | {"usage": TOKENS | counted}
    server.once = [
        {"choices": [{"message": {"content": "After 1: blue hat."} | hidden}]} | usage
        for hidden, usage in ((summary, {}), ({}, {"usage": TOKENS | counted}))
    ]
    assert command(*arguments(server, tmp_path))[0] == 0
    samples = read(tmp_path)[1]
    hidden = [sample.get("reasoning_hidden") for sample in samples]
    assert sorted(filter(None, hidden)) == ["summary", "withheld"]
    read_of = [sample["steps_read"]["read"] for sample in samples if sample.get("reasoning_hidden")]
    assert read_of == [False, False]


def test_four_endings_and_two_scores(server, tmp_path):
    """In samples and in lm-eval's table; a response that a limit cut is wrong by the paper."""
    said = ["length", "MAX_TOKENS", "stop", "content_filter", "eos", "a new word"]
    wanted = ["cut", "cut", "empty", "filtered", "ended", "ended"]
    number = iter(range(DOCUMENTS))
    seen = {}

    def ended(request):
        (prompt,) = prompts_of(request)
        place = next(number) % len(said)
        text = "" if wanted[place] == "empty" else f"In the end it is {solve(prompt)}."
        seen[prompt] = wanted[place]
        choice = {"finish_reason": said[place], "message": {"content": text}}
        return {"choices": [choice], "usage": TOKENS}

    server.instead = ended
    code, out, err = command(*arguments(server, tmp_path, "--verbose"))
    assert (code, "acc 50.0%" in err) == (0, True)
    results, samples = read(tmp_path)
    assert {sample["doc"]["puzzle"]: sample["ending"] for sample in samples} == seen
    for sample in samples:
        right = sample["ending"] in ("ended", "filtered")
        assert sample["acc"] == right
        assert sample["acc_uncut"] == (None if sample["ending"] == "cut" else right)
        assert (sample["outcome"] == "wrong_max_context") == (not right)
    scores = results["results"]["cogniload_mini"]
    scores = [scores[f"{name},none"] for name in ("acc", "acc_uncut", "overflow")]
    assert scores == [1 / 2, 3 / 4, 1 / 3]
    assert "overflow" in out


def test_no_request_has_an_empty_stop(server, tmp_path):
    """Servers answer 400 to "stop": []."""
    server.instead = lambda request: (400, '{"error": "stop"}') if "stop" in request else {}
    assert command(*arguments(server, tmp_path / "chat"))[0] == 0
    assert command(*completions(server, tmp_path / "plain"))[0] == 0
    stopping = arguments(server, tmp_path / "stop", "--gen_kwargs", '{"until": ["END"]}')
    assert error_of(*stopping)  # one that is given is sent


def test_prompts_of_a_batch_are_asked_at_once(server, tmp_path):
    """Each in a request of its own; and choices that are too many belong to nobody."""
    server.gate = Barrier(4, timeout=300).wait
    assert command(*completions(server, tmp_path, "--batch_size", 4))[0] == 0
    assert len(server.requests) == DOCUMENTS
    server.instead, server.gate = {"choices": [{"text": "one"}, {"text": "two"}]}, int
    assert "holds 2 for" in error_of(*completions(server, tmp_path / "two"))
    assert not answered(tmp_path / "two")


@pytest.fixture
def waits(monkeypatch):
    """The seconds that the client would have waited; it does not."""
    waited, sleep = [], client.asyncio.sleep

    async def at_once(seconds, *_):
        assert seconds >= 0  # and no NaN
        waited.append(seconds)
        await sleep(0)

    monkeypatch.setattr(client.asyncio, "sleep", at_once)
    return waited


PASSING = {
    name: tuple(sent) if isinstance(sent, list) else sent for name, sent in SENT["passing"].items()
}


def test_what_fails_in_passing_is_asked_again(server, tmp_path, undisturbed, waits):
    """And scored as if nothing had been."""
    server.once = [*PASSING.values()]
    assert command(*arguments(server, tmp_path, max_retries=30))[0] == 0
    assert len(server.requests) == DOCUMENTS + len(PASSING) == DOCUMENTS + len(waits)
    assert read(tmp_path)[1] == undisturbed[1]


@pytest.mark.parametrize("name", PASSING)
def test_what_fails_again_and_again_is_one_line(server, tmp_path, waits, name):
    server.instead = PASSING[name]
    message = error_of(*arguments(server, tmp_path, "--limit", 1, max_retries=3))
    assert message.startswith(f"the server at {url_of(server)}"), message
    assert len(message) < 1000
    assert len(server.requests) == 3
    assert len(waits) == 2
    assert ("max_retries" in message) == (name in ("busy", "down"))
    server.instead = {}
    assert command(*arguments(server, tmp_path))[0] == 0


def test_one_prompt_that_always_fails_does_not_stop_the_others(server, tmp_path, waits):
    """Whatever its status: it is left out, named and asked again; many in a row end the run."""
    puzzle = generate_puzzles([1, 3], [5, 20], [10, 50], num_puzzles=3)["puzzle"][7].as_py()
    for status in (400, 500, "no JSON"):
        refusal, out = (status, "{}"), tmp_path / str(status)
        refusal = (200, "<html>") if status == "no JSON" else refusal
        server.instead = lambda asked, no=refusal: no if prompts_of(asked) == [puzzle] else {}
        for _ in range(2):
            said, err = done(*arguments(server, out, max_retries=2))
            assert "1 of 24 puzzles have no answer" in said
            assert str(status) in err.rpartition("not answered: ")[2]
            results, samples = read(out)
            assert (results["config"]["lost"], len(samples)) == (1, DOCUMENTS - 1)
            right = sum(sample["acc"] for sample in samples)
            assert f"right: {right / DOCUMENTS:.1%} to {(right + 1) / DOCUMENTS:.1%}" in said
        server.instead = {}
        assert command(*arguments(server, out))[0] == 0
        assert "lost" not in read(out)[0]["config"]
    for status in (502, 403):
        server.once, server.instead, out = 5 * [{}], (status, "{}"), tmp_path / f"down {status}"
        assert f"answered {status}" in error_of(*arguments(server, out))
        assert len(answered(out)) == 5


PUZZLE = generate_puzzles(1, 5, 50, num_puzzles=1)["puzzle"][0].as_py()
HALVES = "d83d", "de00"
NOW = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(("told", "least", "most"), cases(__file__)["waits"])
def test_a_server_says_how_long_to_wait(server, tmp_path, waits, told, least, most):
    """It is waited as told, within a bound; a date is that of the server's own clock."""
    server.once = [(429, "{}", told)]
    done(*arguments(server, tmp_path, "--limit", 1, max_retries=2))
    (waited,) = waits
    assert least <= waited <= most


@pytest.mark.parametrize(("status", "asked"), [(400, 10), (401, 1), (404, 1)])
def test_what_is_final_is_asked_once(server, tmp_path, waits, status, asked):
    """A refusal that may be of one prompt is a wrong set-up after ten of them."""
    said = "This model's maximum context length is 400 tokens: max_tokens is too large"
    server.instead = status, json.dumps({"error": {"message": said}})
    message = error_of(*arguments(server, tmp_path, max_retries=5))
    assert (len(server.requests), waits) == (asked, [])
    for part in (str(status), said[13:50], "tokenizer", "context_budget"):
        assert part in message


def test_ten_refusals_wait_for_what_is_under_way(server, monkeypatch):
    """If that is answered, the set-up is right, and the others are asked."""

    async def complete(model, session, body, over):
        number = int(body["messages"][0]["content"])
        for _ in range(100 if number == 10 else 1):
            await client.asyncio.sleep(0)
        if number < 10:
            raise NoCompletion("as it is odd", number)
        return str(number)

    monkeypatch.setattr(client, "_complete", complete)
    model = LocalChatCompletion(model="solver", base_url=url_of(server), num_concurrent=11)
    keep_facts(model)
    client.fill_every_slot(model, lambda: False, lambda *_: None)
    prompts = (json.dumps([{"role": "user", "content": str(i)}]) for i in range(30))
    asked = [
        Instance("generate_until", {}, (JsonChatStr(prompt), {"max_gen_toks": 9}), i)
        for i, prompt in enumerate(prompts)
    ]
    assert model.generate_until(asked) == [None] * 10 + [str(i) for i in range(10, 30)]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("moved", ["POST", "GET"])
def test_no_other_server_is_asked(server, tmp_path, status, moved):
    """Whatever opens the one that is named; the line says where it pointed."""
    with serving() as other:
        answer = status, "", {"Location": url_of(other, user=f"me:{SECRET}@")}
        server.moved, server.instead = (answer, {}) if moved == "GET" else (None, answer)
        words = arguments(server, tmp_path, header={"api-key": SECRET}, max_retries=3)
        message = error_of(*words)
    assert url_of(other) in message
    assert SECRET not in message
    assert len(server.requests) == (moved == "POST")
    assert not other.seen


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_within_a_server_a_redirect_is_followed(server, tmp_path, undisturbed, status):
    """With method, body and key."""
    path = "/elsewhere/v1/chat/completions?a=1"
    place = {"Location": f"HTTP://127.0.0.1:{server.server_port}{path}"}
    server.once = [(status, "", place)]
    assert command(*arguments(server, tmp_path, base_url=url_of(server, user="me:it@")))[0] == 0
    assert server.requests[0] == server.requests[1]
    moved = [key for seen, key in server.seen if seen == path]
    assert len(moved) == 1
    assert moved[0].startswith("Basic ")
    assert read(tmp_path)[1] == undisturbed[1]


def streamed(answer, ends=("\n\n", "\n: ping\r\n\r\n", "\r\n\r\n")):
    """An answer in events: each text by its characters, the finish reason and the counts last."""
    (choice,), deltas = answer["choices"], []
    for name, said in choice["message"].items():
        pieces = [[part] for part in said] if isinstance(said, list) else said or [said]
        deltas += [{name: piece} for piece in ([said] if name == "role" else pieces)]
    events = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events += [{"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}]
    events += [{"choices": [], "usage": answer.get("usage")}]
    written = [f"data: {json.dumps(event)}" for event in events] + ["data: [DONE]"]
    return "".join(event + ends[i % len(ends)] for i, event in enumerate(written))


def reading(text):
    (choice,) = read_answer(read_body(text), chat=True)["choices"]
    return choice["message"]["content"], choice["message"]["content"].facts


@pytest.mark.parametrize("shape", [2, 3, 4])
def test_a_stream_is_the_answer_that_it_streams(shape):
    """Wherever it ends before, it is none; an error in it is one."""
    request = {"messages": [{"content": PUZZLE}]}
    answer = in_shape(shape, request, finish_reason="length") | {"usage": TOKENS}
    text = streamed(answer)
    assert reading(text) == reading(json.dumps(answer))
    ends = text.index('"length"')
    for at in range(5, ends, 7):
        with pytest.raises(NoCompletion):
            reading(text[:at])
    error = '\n\ndata: {"error": {"message": "overloaded"}}\n\ndata: [DONE]'
    with pytest.raises(NoCompletion, match="overloaded"):
        reading(text[: text.rindex("data", 0, ends)] + error)
    halves = [f'data: {{"choices": [{{"delta": {{"content": "\\u{half}"}}}}]}}' for half in HALVES]
    assert reading("\n".join([*halves, "data: [DONE]"]))[0] == "\U0001f600"


@pytest.mark.parametrize("unasked", [True, False])
def test_a_server_that_streams_alone(server, tmp_path, undisturbed, unasked):
    """It may do so unasked; one that has to be asked says so."""
    server.instead = lambda request: (
        (200, streamed(in_shape(2, request)), {"Content-Type": "text/event-stream"})
        if unasked or request.get("stream") is True
        else (400, "stream must be true")
    )
    words = arguments(server, tmp_path)
    if not unasked:
        assert "stream=true in --gen_kwargs" in error_of(*words)
        words += ["--gen_kwargs", "stream=True"]
    assert command(*words)[0] == 0
    assert ("stream_options" in server.requests[-1]) == (not unasked)
    names, both = ("resps", "acc", "finish_reason"), (read(tmp_path)[1], undisturbed[1])
    ours, theirs = ([[sample[name] for name in names] for sample in samples] for samples in both)
    assert ours == theirs


def test_half_an_emoji_blocks_nothing(server, tmp_path, undisturbed_folder):
    """Wherever it stands in an answer, or in the samples of an older version."""
    half = "So \ud83d it is."
    said = {"message": {"content": half, "reasoning": half}, "finish_reason": half}
    server.root, server.instead = half, {"choices": [said]}
    assert command(*arguments(server, tmp_path / "new"))[0] == 0
    files = contents(tmp_path / "new").values()
    assert any("\ufffd".encode() in file for file in files)
    assert not any(b"\\ud83d" in file for file in files)
    (samples,) = (tmp_path / "new").rglob("samples_*.jsonl")
    for old in (False, True):
        if old:
            samples.write_text(samples.read_text("utf-8").replace("\ufffd", "\\ud83d"), "utf-8")
        words = ("gate", undisturbed_folder, tmp_path / "new", "--margin", "2")
        code, _, err = command(*words, "--json", tmp_path / "j", "--junit", tmp_path / "x")
        assert code == 1, err
        assert command("report", tmp_path / "new", "--out", tmp_path / f"report {old}")[0] == 0


def test_an_unknown_model_is_warned_of(server, tmp_path):
    """The server decides."""
    _, err = done(*arguments(server, tmp_path, "--limit", 1, model="solver:nitro"))
    assert "solver:nitro" in err
    assert server.requests[0]["model"] == "solver:nitro"


def test_a_window_below_the_budget_and_a_server_that_is_not_there(server, tmp_path):
    server.window = 300
    message = error_of(*arguments(server, tmp_path))
    assert "300" in message
    assert "context_budget" in message
    assert not server.requests
    with serving() as gone:
        pass
    assert error_of(*arguments(gone, tmp_path)) == (
        f"no server answers at {url_of(gone)}: start it, or correct base_url"
    )
    for url in ("http://h:port/v1", f"http://me:{SECRET}/{SECRET}@h/v1", "h:80/v1", None):
        message = error_of(*arguments(server, tmp_path, base_url=url))
        assert "http://HOST:PORT/v1/chat/completions" in message
        assert SECRET not in message
    assert "/v1/completions" in error_of(*completions(server, tmp_path, base_url=""))
    words = arguments(server, tmp_path)
    words.remove("--apply_chat_template")
    assert "give --apply_chat_template" in error_of(*words)
    assert not server.requests


def test_a_cause_is_named_as_it_is(server, tmp_path, monkeypatch):
    """A proxy is not asked for this machine, and named for another; so is what a key ends with."""
    monkeypatch.setenv("http_proxy", f"http://me:{SECRET}@127.0.0.1:1")
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}\n")
    assert command(*arguments(server, tmp_path / "here"))[0] == 0
    assert server.seen[-1][1] == f"Bearer {SECRET}"
    there = error_of(*arguments(server, tmp_path, base_url="http://example.invalid/v1/completions"))
    assert there.partition(": start it")[0].endswith(
        "http://example.invalid/v1/completions through the proxy http://127.0.0.1:1"
    )
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}\n{SECRET}")
    server.asked()
    message = error_of(*arguments(server, tmp_path))
    assert "Authorization must be one line" in message
    assert SECRET not in message
    assert not server.requests
    many = client.explain(OSError(errno.EMFILE, "Too many open files"), None)
    assert "lower num_concurrent" in str(many)
    monkeypatch.delenv("OPENAI_API_KEY")
    server.instead = 404, "{}"
    path = {"base_url": f"http://127.0.0.1:{server.server_port}/v1"}
    assert "base_url must have its path" in error_of(*arguments(server, tmp_path, **path))
    assert "its path" not in error_of(*arguments(server, tmp_path))


def test_a_tokenizer_without_a_chat_template_does_not_count(server, tmp_path, tiny_model):
    given = {"tokenizer_backend": "huggingface", "tokenizer": str(tiny_model)}
    code, _, err = command(*arguments(server, tmp_path, "--limit", 1, **given))
    assert (code, "of a chat none with a template" in err) == (0, True), err


@pytest.mark.parametrize("counted", [False, True])
def test_a_server_that_cuts_prompts_silently(server, tmp_path, tiny_model, counted):
    """Warned of, and refused where the model's tokenizer has counted."""
    server.reply = lambda _: "It is blue."
    server.instead = {"usage": {"prompt_tokens": 31, "completion_tokens": 3}}
    settings = {"tokenizer_backend": "huggingface", "tokenizer": str(tiny_model)} if counted else {}
    settings |= {"max_length": 4096} if counted else {}
    words = completions(server, tmp_path, **settings)
    code, _, err = command(*words)
    assert (code, "cuts long prompts silently" in err) == (2 if counted else 0, True)
    server.instead = {}
    code, _, err = command(*completions(server, tmp_path / "whole", **settings))
    assert (code, "silently" in err) == (0, False), err


def test_eight_requests_are_in_flight_over_response_limits(server, tmp_path):
    """No request is answered before eight are there, of several limits."""
    together, limits = Barrier(8, timeout=300), []

    def gate():
        if together.wait() == 0:
            limits.append({request["max_tokens"] for request in server.requests[-8:]})

    server.gate = gate
    words = arguments(server, tmp_path, "--gen_kwargs", "max_gen_toks=2000", num_concurrent=8)
    assert command(*words)[0] == 0
    assert len(limits) == DOCUMENTS // 8
    assert all(len(some) > 1 for some in limits)


SECRET = "Zq9b1gS3cr3t"  # noqa: S105


def test_no_key_is_written_or_said(server, tmp_path, monkeypatch):
    """Each place of a key has one of its own; the server gets those that are sent."""
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}env")
    url, said = url_of(server, user=f"me:{SECRET}url@"), []
    places = {
        "environment": {},
        "argument": {"api_key": f"{SECRET}a", "auth_token": f"{SECRET}t", "password": f"{SECRET}p"},
        "header": {"header": {"Authorization": f"Bearer {SECRET}header"}},
        "user": {"base_url": url},
        "query": {"base_url": f"{url_of(server)}?api_key={SECRET}query"},
    }
    for name, settings in places.items():
        out = tmp_path / name
        said += command(*arguments(server, out, "--limit", 2, **settings))
        for instead in ((401, "{}"), "<html>"):
            server.instead = instead
            said.append(error_of(*arguments(server, tmp_path / f"{name} failed", **settings)))
        server.instead = {}
        said.append(error_of(*arguments(server, out, "--limit", 1, **settings)))
        said += command("eval", "--merge", out, "--output_path", tmp_path / "merged" / name)
        said += command("eval", "--status", out)
        assert answered(out)
    assert not [text for text in map(str, said) if SECRET in text]
    files = contents(tmp_path)
    assert len(files) > 15
    assert not [name for name, content in files.items() if SECRET.encode() in content]
    paths, keys = map(" ".join, zip(*((path, str(key)) for path, key in server.seen), strict=True))
    assert f"{SECRET}query" in paths
    assert all(f"Bearer {SECRET}{sent}" in keys for sent in ("env", "header"))
    assert "Basic " in keys
    kwargs = ("--gen_kwargs", json.dumps({"api_key": SECRET}))
    assert SECRET not in error_of(*arguments(server, tmp_path / "kwargs", *kwargs))


def test_a_text_of_the_config_is_read_as_the_command_line_is(server, tmp_path):
    """So a key in it is refused or dropped, and nothing else is taken for one."""
    out, url = tmp_path / "run", url_of(server)
    said = "Answer as key=VALUE, {'token': 'x'}."
    given = {
        "model_args": f"model=solver,base_url={url},api_key={SECRET}",
        "gen_kwargs": 'temperature=0.6,until=["key=1","b"]',
        "metadata": json.dumps({"cogniload": PUZZLES}),
        **{"system_instruction": said, "model": "local-chat-completions", "limit": 2},
        **{"tasks": ["cogniload_mini"], "apply_chat_template": True, "output_path": str(out)},
    }
    server.reply = lambda _: "So."
    for kwargs in (
        f"temperature=0.6,api_key={SECRET}",
        json.dumps({"extra_body": {"key": SECRET}}),
    ):
        (tmp_path / "c.yaml").write_text(json.dumps(given | {"gen_kwargs": kwargs}), "utf-8")
        assert "gen_kwargs must hold no key" in error_of("eval", "--config", tmp_path / "c.yaml")
    assert not out.exists()
    for words in (["--gen_kwargs", f"key={SECRET},a={{'b': 1}}"], ["--model_args", f"{{{SECRET}"]):
        assert SECRET not in error_of("eval", "--config", tmp_path / "c.yaml", *words)
    (tmp_path / "c.yaml").write_text(json.dumps(given), "utf-8")
    done("eval", "--config", tmp_path / "c.yaml")
    assert not any(SECRET.encode() in content for content in contents(out).values())
    begun = json.loads((out / "state/run.json").read_bytes())["what"]
    assert begun["system_instruction"] == said == server.requests[0]["messages"][0]["content"]
    assert begun["gen_kwargs"] == {"temperature": 0.6, "until": ["key=1", "b"]}

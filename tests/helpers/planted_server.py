"""An OpenAI-like server on loopback for a planted model, which behaves as one record says."""

import json
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from threading import Event, Lock
from types import SimpleNamespace
from zlib import crc32

import loopback
from planted_model import Model, is_wrong


@dataclass(frozen=True)
class Face:
    """How a server behaves. The default is a server that does everything right."""

    seed: bool = True  # a seed and a prompt give one text; else a new one each time
    reasoning: str = "plain"  # in the answer; "field", "inline" (<think>), "hidden" (counted only)
    usage: bool = True  # whether it counts tokens
    stream: str = ""  # "only": events whatever is asked; "must": 400 unless events are asked
    busy: tuple[str, ...] = ()  # the forms of Retry-After with which each 20th request is put off:
    # "seconds", "date", "fraction" or "missing"
    refuses: str = ""  # 400 for each prompt that holds this text
    hangs: str = ""  # no answer to each prompt that holds this text
    redirect: int = 0  # a status, and to another path of the same origin
    emoji: bool = False  # a quarter of the responses holds half an emoji
    loops: int = 0  # the letters after which half of the wrong responses are cut, in a loop
    continues: str = "rest"  # of a response that is begun it sends the rest, or the "whole"


def prompt_of(body):
    """The question of a request, and the response that it begins, as one text."""
    if "messages" not in body:
        return body["prompt"] if isinstance(body["prompt"], str) else body["prompt"][0]
    *_, last = body["messages"]
    begun = last["role"] == "assistant"
    return body["messages"][-2]["content"] + "\n" + last["content"] if begun else last["content"]


class Handler(loopback.Handler):
    def do_GET(self):
        told = {"models": {"data": [{"id": "solver", "max_model_len": 32768}]},
                "version": {"version": "0.99.0"}}.get(self.path.rpartition("/")[2])  # fmt: skip
        self.answer(200 if told else 404, told or {"error": "no such page"})

    def do_POST(self):
        server, body = self.server, json.loads(self.read())
        prompt = prompt_of(body)
        seen = SimpleNamespace(headers=dict(self.headers), body=body, prompt=prompt, status=0)
        with server.lock:
            server.log.append(seen)
            number = len(server.log)
        server.before(prompt)
        status, headers = self.turn_away(server.face, number, prompt, body)
        answer = {"error": {"message": "not now, or not so"}}
        answer = self.complete(prompt, body) if status == 200 else answer
        seen.status = status
        events = server.face.stream == "only" or body.get("stream", False)
        self.answer(status, answer, headers, events=events and status == 200)

    def turn_away(self, face, number, prompt, body):
        """The status and the headers of the answer."""
        if face.redirect and not self.path.startswith("/moved"):
            port = self.server.server_port
            return face.redirect, {"Location": f"http://127.0.0.1:{port}/moved{self.path}"}
        if face.busy and number % 20 == 10:
            form = face.busy[number // 20 % len(face.busy)]
            date = formatdate(time.time() + 1, usegmt=True)
            waits = {"seconds": "1", "date": date, "fraction": "0.2"}
            return 429, {"Retry-After": waits[form]} if form in waits else {}
        if face.stream == "must" and not body.get("stream"):
            return 400, {}
        if face.hangs and face.hangs in prompt:
            self.server.ended.wait()
        return 400 if face.refuses and face.refuses in prompt else 200, {}

    def complete(self, prompt, body):
        """A completion as OpenAI's servers send it."""
        server, face, chat = self.server, self.server.face, "messages" in body
        with server.lock:
            server.times[prompt] += 1
            key = f"time {server.times[prompt]}"
        key = f"seed {body['seed']}" if face.seed and "seed" in body else key
        steps, final = server.model.respond(prompt, key if body.get("temperature", 1) else None)
        begun, kind = prompt.rpartition("?")[2].lstrip("\n"), crc32(repr(prompt).encode()) % 4
        if face.loops and kind > 1 and is_wrong(prompt, final):
            steps, final = steps + "Step 1: " * (face.loops // 8), ""
        steps += "\N{GRINNING FACE}\n" * (face.emoji and kind == 0)
        apart = face.reasoning in ("field", "hidden") and chat
        text = final if apart else steps + final
        if face.reasoning != "plain" and not apart:
            text = f"{'' if begun else '<think>'}\n{steps}</think>\n{final}"
        text = begun + text if face.continues == "whole" else text
        message = {"role": "assistant", "content": text}
        message |= {"reasoning_content": steps} if apart and face.reasoning == "field" else {}
        held = {"index": 0, "finish_reason": "stop" if final else "length"}
        made = {"id": "1", "created": 0, "model": body["model"],
                "choices": [held | ({"message": message} if chat else {"text": text})]}  # fmt: skip
        asked, thought, said = (len(text.split()) for text in (prompt, steps, final))
        usage = {"prompt_tokens": asked, "completion_tokens": thought + said,
                 "total_tokens": asked + thought + said}  # fmt: skip
        if face.reasoning == "hidden":
            usage["completion_tokens_details"] = {"reasoning_tokens": thought}
        return made | ({"usage": usage} if face.usage else {})

    def answer(self, status, answer, headers=(), *, events=False):
        # an escape stands for each half of an emoji: the second one is left out
        content = json.dumps(answer).replace(r"\ude00", "")
        if events:
            told = (f"data: {json.dumps(each)}\n\n" for each in events_of(answer))
            content = "".join(told).replace(r"\ude00", "") + "data: [DONE]\n\n"
        kind = {"Content-Type": "text/event-stream"} if events else {}
        date = {"Date": self.date_time_string()}
        self.send(status, content.encode(), date | kind | dict(headers))


def events_of(answer):
    """The events of a completion: its texts in two pieces each, how it ended, and the usage."""
    (choice,) = answer.pop("choices")
    usage, message = answer.pop("usage", None), choice.get("message")
    for name, text in (message or {"text": choice.get("text")}).items():
        for piece in [text] if name == "role" else (text[: len(text) // 2], text[len(text) // 2 :]):
            delta = {"delta": {name: piece}} if message else {name: piece}
            yield answer | {"choices": [{"index": 0, "finish_reason": None} | delta]}
    ended = {"delta": {}} if message else {"text": ""}
    yield answer | {"choices": [{"index": 0, "finish_reason": choice["finish_reason"]} | ended]}
    if usage:
        yield answer | {"choices": [], "usage": usage}


class Server(loopback.Server):
    """A server with a face and a model, both of which a test may replace.

    `log` has the headers, the body and the prompt of each request as it came, and the status of its
    answer, 0 while there is none. `elsewhere` is a server of another origin, and `before` is
    called with a prompt before it is answered.
    """

    def __init__(self, face, model):
        self.face, self.model, self.log, self.elsewhere = face, model, [], None
        self.lock, self.times, self.ended = Lock(), Counter(), Event()
        self.before = lambda prompt: None
        super().__init__(Handler)

    @property
    def answered(self):
        """The requests that were answered by a completion."""
        return [asked for asked in self.log if asked.status == 200]


@contextmanager
def serving(face=Face(), model=Model()):  # noqa: B008 (both are frozen)
    """A running server, and one elsewhere, of a model that is calibrated before it is asked."""
    model.calibrate()
    server, elsewhere = Server(face, model), Server(Face(), model)
    server.elsewhere = elsewhere
    with loopback.running(server), loopback.running(elsewhere):
        try:
            yield server
        finally:
            server.ended.set()
            elsewhere.ended.set()

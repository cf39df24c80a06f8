"""A server of chat and plain completions on loopback: it solves puzzles, or fails as it is told."""

import json
from threading import Lock

import loopback

from cogniload_gen import solve


class Handler(loopback.Handler):
    """Answers by the solver, or wrongly: a pure function of the prompt; tokens are words."""

    def do_GET(self):
        known = {"id": "solver", "root": self.server.root, "max_model_len": self.server.window}
        told = {"/models": {"data": [known]}, "/version": {"version": "0.99.0"}}
        self.server.seen.append((self.path, self.headers["Authorization"]))
        if self.server.moved:
            return self.answer(*self.server.moved)
        found = next((told[end] for end in told if self.path.partition("?")[0].endswith(end)), None)
        return self.answer(404 if found is None else 200, json.dumps(found))

    def do_POST(self):
        request = json.loads(self.read())
        server = self.server
        with server.lock:
            server.requests.append(request)
            server.seen.append((self.path, self.headers["Authorization"]))
            instead = server.once.pop(0) if server.once else server.instead
        server.gate()
        instead = instead(request) if callable(instead) else instead
        if isinstance(instead, tuple):
            self.answer(*instead)
        elif isinstance(instead, dict):
            self.answer(200, json.dumps(self.complete(request) | instead))
        else:
            self.answer(200, instead)

    def complete(self, request):
        prompts, choices = prompts_of(request), []
        for index, prompt in enumerate(prompts):
            chat, reply = "messages" in request, self.server.reply
            text = reply(request["messages"] if chat else prompt) if reply else respond(prompt)
            held = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
            choices.append({"index": index, "finish_reason": "stop"} | held)
        used = sum(len(prompt) if isinstance(prompt, list) else words(prompt) for prompt in prompts)
        usage = {"prompt_tokens": used, "completion_tokens": words(text)}
        usage["total_tokens"] = sum(usage.values())
        kind = "chat.completion" if "messages" in request else "text_completion"
        return {"id": "1", "object": kind, "created": 0, "model": "solver", "usage": usage,
                "choices": choices}  # fmt: skip

    def answer(self, status, body, headers=()):
        self.send(status, body.encode(), headers)


def prompts_of(request):
    """The prompts of a request: texts, or tokens."""
    if "messages" in request:
        return [request["messages"][0]["content"]]
    prompt = request["prompt"]
    return [prompt] if isinstance(prompt, str) else prompt


def words(text):
    return len(text.split())


def respond(prompt):
    value = solve(prompt)
    if len(prompt) % 3 == 0:
        return "I can't tell — 无法判断."
    return f"So {prompt.splitlines()[-1]} In the end it is {value}."


class Server(loopback.Server):
    """A server whose answers can be set.

    `instead` is put over its answers if it is a dict, and sent in their place if it is a text, or a
    status, a text and headers; a function of the request returns one of these. Each of `once` does
    so one time before. `gate` is called before each answer. `reply`, a function of the messages,
    takes the solver's place. `requests` are all that were sent, `seen` the paths and keys of these
    and of what was asked beside; that is answered by `moved`, if it is set.
    """

    def __init__(self):
        self.lock, self.requests, self.seen = Lock(), [], []
        self.window, self.instead, self.once, self.moved = 2048, {}, [], None
        self.root = "/models/solver"
        self.gate, self.reply = lambda: None, None
        super().__init__(Handler)

    def asked(self):
        """The prompts of all requests since the last call."""
        with self.lock:
            requests, self.requests = self.requests, []
        return [prompt for request in requests for prompt in prompts_of(request)]


def serving():
    """Return what runs a server."""
    return loopback.running(Server())

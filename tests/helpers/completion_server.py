"""A server of chat completions on loopback that answers puzzles by the solver, or fails as told."""

import json
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BrokenBarrierError, Lock, Thread

from cogniload_gen import solve


class Handler(BaseHTTPRequestHandler):
    """Answers by the solver, or wrongly: a pure function of the prompt; tokens are words."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        known = {"id": "solver", "root": "/models/solver", "max_model_len": self.server.window}
        told = {
            "/v1/models": {"object": "list", "data": [known]},
            "/version": {"version": "0.99.0"},
        }
        path = self.path.partition("?")[0]
        found = next((told[end] for end in told if path.endswith(end)), None)
        self.answer(404 if found is None else self.server.status, json.dumps(found))

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append(request)
            server.seen.append((self.path, self.headers["Authorization"]))
            status = server.status if len(server.requests) <= server.healthy else 500
        time.sleep(server.seconds)
        if server.together:
            with suppress(BrokenBarrierError):
                server.together.wait()
        prompt = request["messages"][0]["content"]
        text = server.reply(request["messages"]) if server.reply else respond(prompt)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}
        usage["total_tokens"] = sum(usage.values())
        completion = {"id": "completion", "object": "chat.completion", "created": 0}
        completion |= {"model": "solver", "choices": [choice], "usage": usage}
        with server.lock:
            instead = server.once.pop(0) if server.once else server.instead
        if isinstance(instead, dict):
            instead = json.dumps(completion | instead)
        self.answer(status, instead)

    def answer(self, status, content):
        """Send a text, or bytes that gzip has packed; what a status of 500 says is its own."""
        packed = isinstance(content, bytes)
        body = content if packed else content.encode()
        if status != 200:
            body, packed = self.server.failure.encode(), False
        self.send_response(status)
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def respond(prompt):
    value = solve(prompt)
    if len(prompt) % 3 == 0:
        return "I can't tell — 无法判断."
    return f"So {prompt.splitlines()[-1]} In the end it is {value}."


class Server(ThreadingHTTPServer):
    """What it does can be set: its `status`, the `seconds` that an answer takes, and so on.

    It answers the first `healthy` requests, then with 500 and the text `failure`. `instead` is put
    over its answers, or is sent in their place where it is a text or gzip's bytes; each of `once`
    does so one time before. With a barrier in `together` it answers when that opens. A `reply`,
    of all messages, takes the solver's place.
    """

    daemon_threads = True
    request_queue_size = 128  # a client whose connection waits too long gives up

    def __init__(self):
        self.lock, self.requests, self.seen = Lock(), [], []
        self.status, self.healthy, self.window = 200, 10**9, 2048
        self.seconds, self.together, self.instead, self.once = 0, None, {}, []
        self.reply = None
        self.failure = '{"error": "the engine is dead"}'
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, *_):
        """Clients that were killed are no news."""


@contextmanager
def serving():
    server = Server()
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()

"""Servers on loopback; what one answers is its own."""

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Handler(BaseHTTPRequestHandler):
    """Reads bodies and sends answers, in silence."""

    protocol_version = "HTTP/1.1"

    def read(self):
        """Return the body of the request."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, status, content, headers=()):
        """Send bytes, which are JSON and whole unless headers say otherwise."""
        told = {"Content-Type": "application/json", "Content-Length": len(content)} | dict(headers)
        self.send_response_only(status)  # whose Date is not the machine's
        for name, value in told.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.close_connection = int(told["Content-Length"]) != len(content)

    def log_message(self, *_):
        """Says nothing."""


class Server(ThreadingHTTPServer):
    """A server on a free port."""

    daemon_threads = True
    request_queue_size = 128  # a client whose connection waits too long gives up

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)

    def handle_error(self, *_):
        """Clients that were killed are no news."""


@contextmanager
def running(server):
    """Yield a server that runs, which ends then."""
    with server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()

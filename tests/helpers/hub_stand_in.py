"""A stand-in for the Hub's HTTP API, with what a push and a download ask of it.

It stores what it is sent as the Hub does (large files by their hash, then a commit that names them)
and can be told to fail.
"""

import base64
import hashlib
import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

TOKEN = "hf_good"  # noqa: S105


class Hub:
    """One repository of a data set, and what was asked of it.

    `failures` are parts of requests: one that has the first of them fails, once, with its status.
    """

    def __init__(self, url: str):
        self.url = url
        self.name = self.private = None
        self.files: dict[str, bytes] = {}
        self.large: dict[str, bytes] = {}
        self.commits: list[dict] = []
        self.asked: list[str] = []
        self.failures: list[tuple[str, int]] = []

    @property
    def sha(self) -> str:
        """The name of the last commit."""
        return digest(str(len(self.commits)).encode())

    @property
    def last_commit(self) -> str:
        """Where the last commit can be seen."""
        return f"{self.url}/datasets/{self.name}/commit/{self.sha}"

    def answer(self, method: str, path: str, token: str, body: bytes) -> tuple:
        """Status, headers and content of the answer to a request."""
        self.asked.append(f"{method} {path}")
        if self.failures and self.failures[0][0] in self.asked[-1]:
            return self.failures.pop(0)[1], {}, b"out of order"
        public = method in ("GET", "HEAD") or path.startswith(("/lfs/", "/api/validate-yaml"))
        if not public and token != f"Bearer {TOKEN}":
            return 401, {}, b'{"error": "Invalid credentials"}'
        mine = rf"/(?:api/)?(?:datasets/)?{self.name}"
        for pattern, handle in (
            (r"/api/validate-yaml", self.validate),
            (r"/api/repos/create", self.create),
            (r"/lfs/(.*)", self.store),
            (rf"{mine}/resolve/[^/]+/(.*)", self.resolve),
            (rf"{mine}\.git/info/lfs/objects/batch", self.batch),
            (rf"{mine}/preupload/main", self.preupload),
            (rf"{mine}/commit/main", self.commit),
            (rf"{mine}/tree/.*", self.tree),
            (rf"{mine}(?:/revision/.*)?", self.info),
        ):
            if match := re.fullmatch(pattern, path):
                status, *content = handle(body, *match.groups())
                return (status, *content) if len(content) == 2 else (status, {}, packed(*content))
        return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"

    def validate(self, body: bytes) -> tuple:
        return 200, {}

    def create(self, body: bytes) -> tuple:
        asked = json.loads(body)
        name = f"{asked.get('organization') or 'me'}/{asked['name']}"
        if not name.startswith("me/"):
            return 403, {"error": "Forbidden"}
        if self.name == name:
            return 409, {"url": f"{self.url}/datasets/{name}"}
        self.name = name
        self.private = asked.get("visibility") == "private"
        self.files[".gitattributes"] = b"*.parquet filter=lfs"
        return 200, {"url": f"{self.url}/datasets/{name}"}

    def store(self, body: bytes, oid: str) -> tuple:
        self.large[oid] = body
        return 200, {}

    def preupload(self, body: bytes) -> tuple:
        def mode(path: str) -> dict:
            kind = "lfs" if path.endswith(".parquet") else "regular"
            return {"path": path, "uploadMode": kind, "shouldIgnore": False, "oid": None}

        return 200, {"files": [mode(file["path"]) for file in json.loads(body)["files"]]}

    def batch(self, body: bytes) -> tuple:
        objects = json.loads(body)["objects"]
        for each in objects:
            if each["oid"] not in self.large:  # else there is nothing to do
                each["actions"] = {"upload": {"href": f"{self.url}/lfs/{each['oid']}"}}
        return 200, {"transfer": "basic", "objects": objects}

    def commit(self, body: bytes) -> tuple:
        header, *operations = map(json.loads, body.splitlines())
        if header["value"].get("parentCommit") not in (None, self.sha):
            return 412, {"error": "A commit has happened since"}
        for operation in operations:
            value = operation["value"]
            if operation["key"] == "deletedFile":
                del self.files[value["path"]]
                continue
            large = operation["key"] == "lfsFile"
            content = self.large[value["oid"]] if large else base64.b64decode(value["content"])
            self.files[value["path"]] = content
        self.commits.append(header["value"])
        return 200, {"commitUrl": self.last_commit, "commitOid": self.sha}

    def resolve(self, _: bytes, path: str) -> tuple:
        if path not in self.files:
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        content = self.files[path]
        return 200, {"ETag": f'"{digest(content)}"', "X-Repo-Commit": self.sha}, content

    def tree(self, _: bytes) -> tuple:
        return 200, [
            {"type": "file", "path": path, "size": len(content), "oid": digest(content)}
            for path, content in sorted(self.files.items())
        ]

    def info(self, _: bytes) -> tuple:
        siblings = [{"rfilename": path} for path in sorted(self.files)]
        known = {"id": self.name, "sha": self.sha, "private": self.private, "siblings": siblings}
        return 200, known | {"tags": [], "downloads": 0}


def digest(content: bytes) -> str:
    """A hash such as git's."""
    return hashlib.sha1(content).hexdigest()  # noqa: S324


def packed(content: object) -> bytes:
    """JSON as it is sent."""
    return json.dumps(content).encode()


@contextmanager
def hub():
    """A running stand-in."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = unquote(urlsplit(self.path).path)
            token = self.headers.get("Authorization", "")
            status, headers, content = stand_in.answer(self.command, path, token, body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = do_PUT = answer

        def log_message(self, *_) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stand_in = Hub(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()

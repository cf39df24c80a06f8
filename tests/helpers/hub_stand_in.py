"""A stand-in for the Hub's HTTP API, with what a push and a download ask of it."""

import base64
import hashlib
import json
from urllib.parse import unquote, urlsplit

import loopback

TOKEN = "hf_good"  # noqa: S105


class Handler(loopback.Handler):
    """Answers with what its server, the Hub, says: a status, and JSON or a file's content."""

    def answer(self) -> None:
        path, token = unquote(urlsplit(self.path).path), self.headers.get("Authorization")
        status, said = self.server.answer(self.command, path, token, self.read())
        content = said if isinstance(said, bytes) else json.dumps(said).encode()
        headers = {"ETag": f'"{digest(content)}"', "X-Repo-Commit": self.server.sha}
        if status == 404:
            headers["X-Error-Code"] = "EntryNotFound" if "/resolve/" in path else "RepoNotFound"
        self.send(status, content, headers)

    do_GET = do_HEAD = do_POST = answer


class Hub(loopback.Server):
    """One repository of a data set, and what was asked of it.

    `failures` are parts of requests: one that has the first of them fails, once, with its status.
    """

    def __init__(self):
        super().__init__(Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.name = self.private = None
        self.files: dict[str, bytes] = {}
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

    def answer(self, method: str, path: str, token: str | None, body: bytes) -> tuple:
        """Status and content of the answer to a request."""
        self.asked.append(f"{method} {path}")
        if self.failures and self.failures[0][0] in path:
            return self.failures.pop(0)[1], b"out of order"
        if path == "/api/validate-yaml":
            return 200, {}
        if method == "POST" and token != f"Bearer {TOKEN}":
            return 401, {"error": "Invalid credentials"}
        if path == "/api/repos/create":
            return self.create(**json.loads(body))
        _, mine, asked = path.partition(f"/datasets/{self.name}")
        if not mine:
            return 404, {}
        return self.answer_repository(*asked.strip("/").split("/", 2), body=body)

    def answer_repository(self, what: str, *place: str, body: bytes) -> tuple:
        """The same, of what the repository is asked."""
        files = sorted(self.files.items())
        if what == "resolve":
            return (200, self.files[place[1]]) if place[1] in self.files else (404, b"")
        if what == "preupload":
            return self.preupload(json.loads(body)["files"])
        if what == "commit":
            return self.commit(*map(json.loads, body.splitlines()))
        if what == "tree":
            return 200, [
                {"type": "file", "path": name, "size": len(content), "oid": digest(content)}
                for name, content in files
            ]
        known = {"id": self.name, "sha": self.sha, "private": self.private, "tags": []}
        return 200, known | {"downloads": 0, "siblings": [{"rfilename": name} for name, _ in files]}

    def create(self, name: str, organization: str = "me", **settings) -> tuple:
        known = self.name == f"{organization}/{name}"
        if organization == "me" and not known:
            self.name, self.private = f"me/{name}", settings.get("visibility") == "private"
        status = 403 if organization != "me" else 409 if known else 200
        return status, {"url": f"{self.url}/datasets/{self.name}"}

    def preupload(self, files: list[dict]) -> tuple:
        how = {"uploadMode": "regular", "shouldIgnore": False, "oid": None}
        return 200, {"files": [{"path": file["path"]} | how for file in files]}

    def commit(self, header: dict, *operations: dict) -> tuple:
        if header["value"].get("parentCommit") not in (None, self.sha):
            return 412, {"error": "A commit has happened since"}
        for value in (operation["value"] for operation in operations):
            if "content" in value:
                self.files[value["path"]] = base64.b64decode(value["content"])
            else:
                del self.files[value["path"]]
        self.commits.append(header["value"])
        return 200, {"commitUrl": self.last_commit, "commitOid": self.sha}


def digest(content: bytes) -> str:
    """A hash such as git's."""
    return hashlib.sha1(content).hexdigest()  # noqa: S324


def hub():
    """Return what runs a stand-in."""
    return loopback.running(Hub())

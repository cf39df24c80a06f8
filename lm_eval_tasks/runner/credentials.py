"""Credentials in a run's arguments, URLs and messages: hidden wherever they would show.

The rules of `cogniload_gen.credentials` find them, and one more: of the server's own URL, each part
of the path that is no known word. What these rules find in a run's arguments is also hidden in
every text where it comes up again.
"""

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from cogniload_gen.credentials import HIDDEN, hide_by_rule, names_credential

PATH_WORDS = re.compile(
    r"v\d{1,2}(?:(?:alpha|beta)\d?)?|api|openai|anthropic|chat|completions?|messages|models?|"
    r"deployments|engines|engine|generate|inference|invocations|endpoints?|serving-endpoints|"
    r"public|proxy|llm|vllm|sglang|tgi|version|services|compatible-mode|paas|beta|serve"
)
"""The known words of a server's path; any other part may be a key."""

SHORTEST = 4
"""Characters. A shorter credential is hidden where it stands, not wherever it comes up again."""

PLACEHOLDERS = frozenset({"empty", "none", "null", "token", "dummy", "test", "true", "local"})
"""What people give where a server wants a key that it does not check."""

known: ContextVar[tuple[str, ...]] = ContextVar("known", default=())
"""The credentials of the run in progress, the longest first."""


def public(values: Any, name: str = "") -> Any:
    """Return a copy of JSON-like values in which no credential is left.

    In a mapping, what a credential's name holds is left out, unless it is true, false or null and
    the name is of letters, so that it holds no credential itself. What looks like a credential
    inside a text or a name is hidden as well.
    """
    if isinstance(values, Mapping):
        return {
            hide(str(key)): public(value, str(key))
            for key, value in values.items()
            if not names_credential(str(key))
            or ((value is None or isinstance(value, bool)) and not re.search(r"[^A-Za-z_-]", key))
        }
    if isinstance(values, list | tuple):
        return [public(value, name) for value in values]
    if isinstance(values, str):
        return public_url(values) if name == "base_url" else hide(values)
    return values


def public_url(url: str) -> str:
    """Return a server's URL with its host, and the known words of its path.

    User, password, fragment, the values of the query and unknown parts of the path are hidden. Of
    text that is no URL nothing is left.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return HIDDEN
    if not parts.scheme or not host:
        return HIDDEN
    where = f"[{host}]" if ":" in host else host
    where += "" if port is None else f":{port}"
    path = "/".join(part if is_plain(part) else HIDDEN for part in parts.path.split("/"))
    query = f"?{HIDDEN}" if parts.query else ""
    return f"{parts.scheme}://{where}{path}{query}"


def is_plain(part: str) -> bool:
    """Return whether a part of a URL's path is a known word, and so no key."""
    return not part or PATH_WORDS.fullmatch(part) is not None


def hide(text: str) -> str:
    """Return a text with `***` in the place of every credential; in linear time."""
    for credential in known.get():
        text = text.replace(credential, HIDDEN)
    return hide_by_rule(text)


def credentials_in(values: Any, name: str = "", *, secret: bool = False) -> Iterator[str]:
    """Yield the credentials in JSON-like values: by their names, and in the server's URL."""
    if isinstance(values, Mapping):
        for key, value in values.items():
            yield from credentials_in(value, str(key), secret=secret or names_credential(str(key)))
    elif isinstance(values, list | tuple):
        for value in values:
            yield from credentials_in(value, name, secret=secret)
    elif secret and not isinstance(values, bool) and values is not None:
        yield str(values)
        yield from str(values).split()[1:]  # "Bearer ..." is also known without its first word
    elif isinstance(values, str) and "://" in values:
        yield from credentials_in_url(values, of_server=name == "base_url")


def credentials_in_url(url: str, *, of_server: bool) -> Iterator[str]:
    """Yield a URL's user with its password, the values of its query, and unknown parts of a path.

    The parts of a path only `of_server`, and only long ones: a short one may be any word.
    """
    rest = url.partition("://")[2]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    user, at, _ = authority.rpartition("@")
    if at:
        name, _, password = user.partition(":")
        yield from (user, password or name)
        yield base64.b64encode(unquote(user).encode(errors="replace")).decode()
    query = rest.partition("?")[2].partition("#")[0]
    for pair in re.split("[&;]", query):
        name, has_value, value = pair.partition("=")
        if not has_value:
            yield name
        elif names_credential(unquote(name)) or len(value) >= 2 * SHORTEST:
            yield value
    if of_server:
        path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")[2]
        yield from (p for p in path.split("/") if len(p) >= 2 * SHORTEST and not is_plain(p))


def spellings(credential: str) -> tuple[str, ...]:
    """Return how a credential may be spelled in a URL, a header or JSON."""
    plain = unquote(credential)
    quoted = (quote(plain, safe=""), quote(credential, safe=""), quote(plain))
    return (credential, plain, *quoted, *(json.dumps(text)[1:-1] for text in (plain, credential)))


@contextmanager
def hidden(values: Mapping[str, Any]) -> Iterator[None]:
    """Hide the credentials of a run's arguments, and of the environment, in what is written within.

    `hide` knows them, and an OSError or ValueError that names one is raised again without it.
    """
    in_environment = {
        name: value
        for name, value in os.environ.items()
        if names_credential(name) and not name.endswith("PWD") and len(value) >= 2 * SHORTEST
    }
    credentials = {*credentials_in(values), *in_environment.values()}
    spelled = {
        spelling
        for text in credentials
        for spelling in spellings(text)
        if len(spelling) >= SHORTEST and spelling.lower() not in PLACEHOLDERS
    }
    before = known.set(tuple(sorted(spelled, key=lambda text: (-len(text), text))))
    try:
        yield
    except (OSError, ValueError) as error:
        message = str(error)
        if isinstance(error, OSError) and error.strerror:
            message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        if hide(message) == message:
            raise
        kind = OSError if isinstance(error, OSError) else ValueError
        raise kind(hide(message)) from None
    finally:
        known.reset(before)

"""Credentials are found by rule, and are in nothing that `cogniload eval` writes or says."""

import json
import logging

import pytest
from completion_server import serving
from eval_command import PUZZLES, command, done_blocks, error_of
from hypothesis import given
from hypothesis import strategies as st

from cogniload_gen.commands import main
from lm_eval_tasks.runner.credentials import (
    hidden,
    hide,
    known,
    names_credential,
    public,
    public_url,
)

SECRET = "Zq9-b1g/S3cr3t@here"  # noqa: S105
QUOTED = "Zq9-b1g%2FS3cr3t%40here"
SPELLINGS = ("Zq9-b1g", "S3cr3t")  # parts of it, in whichever way it is quoted

PRIVATE_NAMES = """
api_key apikey apiKey API_KEY key X-Api-Key openai_api_key subscription-key access_key token
auth_token access_token accessToken hf_token bearer_token refresh_token id_token session-token
password passwd pwd passphrase db_password secret client_secret secret_key credential credentials
auth authorization Authorization header headers extra_headers default_headers cookie signature jwt
pat
"""

PUBLIC_NAMES = """
model pretrained base_url tokenizer tokenizer_backend tokenized_requests max_gen_toks max_tokens
max_length num_concurrent timeout eos_string eos_token pad_token add_bos_token think_end_token
custom_prefix_token_id revision dtype seed temperature top_p enable_thinking author keyword
verify_certificate ca_cert_path trust_remote_code gpu_memory_utilization monkey passage
"""


@pytest.mark.parametrize("name", PRIVATE_NAMES.split())
def test_names_of_credentials(name):
    assert names_credential(name)
    assert public({name: SECRET, "model": "m"}) == {"model": "m"}
    assert public({"extra": [{name: SECRET}]}) == {"extra": [{}]}
    assert public({"a": {"sk-0123456789abcdef": name}}) == {"a": {"***": name}}


@pytest.mark.parametrize("name", PUBLIC_NAMES.split())
def test_names_of_other_arguments(name):
    assert not names_credential(name)
    assert public({name: "value"}) == {name: "***" if name == "base_url" else "value"}


@pytest.mark.parametrize(("url", "shown"), [
    ("http://h:80/v1/chat/completions", "http://h:80/v1/chat/completions"),
    ("https://user:pass@h/v1", "https://h/v1"),
    ("https://user:p@ss@h/v1", "https://h/v1"),
    ("https://token@h/v1", "https://h/v1"),
    ("https://h/v1?api_key=x&n=1#part", "https://h/v1?***"),
    ("https://h/k3y/v1/completions", "https://h/***/v1/completions"),
    ("https://h/openai/deployments/x/chat/completions?api-version=1",
     "https://h/openai/deployments/***/chat/completions?***"),
    ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ("http://[::1/v1?key=x", "***"),
    ("http://h:port/v1", "***"),
    ("secret", "***"),
    ("", "***"),
])  # fmt: skip
def test_urls(url, shown):
    assert public_url(url) == shown
    assert public({"base_url": url}) == {"base_url": shown}


@pytest.mark.parametrize(("text", "shown"), [
    ("Authorization: Bearer abcdefgh", "Authorization: ***"),
    ('{"api_key": "abc", "n": 5}', '{"api_key": "***", "n": 5}'),
    ("model=m,auth_token=abc,dtype=auto", "model=m,auth_token=***,dtype=auto"),
    ("Incorrect key sk-proj-abcdefghijklm12345", "Incorrect key ***"),
    ("hf_abcdefghijklmnopqrstuv", "***"),
    ("see http://u:p@ss@host/x", "see http://host/x"),
    ("see https://host/x?sig=a&b=c", "see https://host/x?sig=***&b=***"),
    ("see https://host/x?a=bc;d=ef", "see https://host/x?a=***;d=***"),
    ("max_tokens: 5 is above 4", "max_tokens: 5 is above 4"),
    ("model.root '/models/solver', now '/models/x'",) * 2,
    ("KeyError: 'index'",) * 2,
    ("arguments: --api_key abc --n 3", "arguments: --api_key *** --n 3"),
    ("arguments: --api-key=abc", "arguments: --api-key=***"),
    ("api_key=None",) * 2,
    ("not found: api_key=abc", "not found: api_key=***"),
    ("a=b=token:abc=def", "a=b=token:***"),
    ("hf-internal-testing/tiny-random-llama-3.2-1B",) * 2,
])  # fmt: skip
def test_texts(text, shown):
    assert hide(text) == shown


@given(st.text(max_size=200))
def test_any_text_is_taken(text):
    assert isinstance(hide(text), str)
    public_url(text)
    names_credential(text)


def test_what_is_known_is_hidden_wherever_it_comes_up():
    given = {"headers": {"x": "se/cret"}, "base_url": "http://me:p@ss@h/my-own-key/v1?api_key=kkkk"}
    with pytest.raises(ValueError, match=r"^Bearer \*\*\*|\*\*\*$") as raised, hidden(given):
        assert hide("se/cret se%2Fcret p@ss kkkk my-own-key me") == "*** *** *** *** *** me"
        raise ValueError("the password is p@ss")
    assert str(raised.value) == "the password is ***"
    assert known.get() == ()
    with pytest.raises(OSError, match="a file of ") as raised, hidden(given):
        raise OSError(2, "gone", "a file of se/cret")
    with hidden({"base_url": "http://h/v1?n=1;api_key=kkkk"}):
        assert hide("kkkk") == "***"
    with hidden({"api_key": "kkkk", "token": "kkkk-and-more"}):
        assert hide("kkkk-and-more kkkk") == "*** ***"
    assert "se/cret" not in str(raised.value)


def test_the_environment_is_hidden(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    monkeypatch.setenv("PWD", "/a/folder")  # it names no password
    with hidden({}):
        assert hide("got from-the-environment in /a/folder") == "got *** in /a/folder"
    assert hide("got from-the-environment") == "got from-the-environment"


def own(letter):
    """A secret of one place: what hides those of the others does not hide it."""
    return f"{letter}-{SECRET}"


def quoted(letter):
    return f"{letter}-{QUOTED}"


EVERY_ARGUMENT = {
    **{name: own(name[0]) for name in ("auth_token", "hf_token", "password", "secret")},
    "api_key": own("k"),
    "access_token": own("t"),
    "header": {"Authorization": f"Bearer {own('b')}"},
    "headers": {"X-Auth": own("x")},
    "extra": {"deep": [{"client_secret": own("d")}], f"api_key_{own('n')}": True},
}
HIDING_PLACES = {
    "every argument": EVERY_ARGUMENT,
    "all together": EVERY_ARGUMENT | {
        "base_url": f"http://me:{quoted('u')}@HOST/{quoted('v')}?api_key={quoted('w')}&{quoted('y')}"
    },
    "user in the URL": {"base_url": f"http://{quoted('z')}@HOST"},
}  # fmt: skip


def given_to(server, place):
    """The model's arguments with secrets in their place, HOST being the server's."""
    settings = {"model": "solver", "base_url": "http://HOST", "max_retries": 1}
    settings |= HIDING_PLACES[place]
    host, path = f"127.0.0.1:{server.server_port}", "/v1/chat/completions"
    url = settings["base_url"]
    key, _, query = url.partition("HOST")[2].partition("?")
    url = url.partition("HOST")[0] + host + key + path + (f"?{query}" if query else "")
    return settings | {"base_url": url}


def arguments(server, place, out, **changes):
    return [
        *("eval", "--model", "local-chat-completions", "--tasks", "cogniload_mini"),
        *("--model_args", json.dumps(given_to(server, place) | changes), "--output_path", out),
        *("--metadata", json.dumps({"cogniload": PUZZLES}), "--apply_chat_template"),
    ]


def shows_nothing(*texts):
    return not [text for text in texts for part in SPELLINGS if part in text]


@pytest.mark.parametrize("place", ["all together", "user in the URL"])
def test_no_secret_is_written_or_said(server, tmp_path, place, caplog):
    """By a run that ends well, and by runs that fail in ways that speak of URLs and requests."""
    caplog.set_level(logging.WARNING)
    good = command(*arguments(server, place, tmp_path / "good"))
    assert good[0] == 0, good
    assert done_blocks(tmp_path / "good")
    failed = [command(*arguments(server, place, tmp_path / "unknown", model="x"))]
    letters = "ahpsktbxduvwy" if place == "all together" else "z"
    secrets = [spell(letter) for letter in letters for spell in (own, quoted)]
    server.failure = json.dumps({"error": "bad request", "headers": secrets})
    server.status = 500
    failed.append(command(*arguments(server, place, tmp_path / "dead")))
    server.status, server.healthy = 200, len(server.requests)
    failed.append(command(*arguments(server, place, tmp_path / "failing")))
    server.healthy, server.instead = 10**9, json.dumps({"error": secrets})
    failed.append(command(*arguments(server, place, tmp_path / "wrong")))
    with serving() as gone:
        pass
    failed.append(command(*arguments(gone, place, tmp_path / "gone")))
    failed.append(command(*arguments(server, place, tmp_path / "kind"), "--model", secrets[0]))
    failed.append(command(*arguments(server, place, tmp_path / "good"), "--seed", "9"))
    assert [code for code, *_ in failed] == [2] * len(failed)
    assert shows_nothing(*(text for _, out, err in [good, *failed] for text in (out, err)))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert shows_nothing(*(path.read_text(encoding="utf-8") for path in files))
    merged = command("eval", "--merge", tmp_path / "good", "--output_path", tmp_path / "merged")
    assert merged[0] == 0
    assert shows_nothing(*merged[1:])


def test_gen_kwargs_hold_no_credential_and_a_misspelt_option_repeats_none(tmp_path, capfd):
    arguments = ("--model", "dummy", "--tasks", "cogniload_mini", "--output_path", tmp_path / "out")
    shape = f"sk-{40 * SECRET[:3]}"
    nested = json.dumps({"n": 1, "extra": [{"auth_token": SECRET}]})
    for kwargs in (f"n=1,api_key={SECRET}", f"n=1,api_key_{SECRET}=1", f"n=1,x={shape}", nested):
        error = error_of("eval", *arguments, "--gen_kwargs", kwargs)
        assert "key 2 of gen_kwargs is refused" in error
        assert shows_nothing(error)
    assert not (tmp_path / "out").exists()
    with pytest.raises(SystemExit):
        main(["eval", "--modell_args", f"auth_token={SECRET}", "--output_path", str(tmp_path)])
    assert shows_nothing(*capfd.readouterr())


def test_the_server_still_gets_the_credentials(server, tmp_path):
    for place in HIDING_PLACES:
        code, _, err = command(*arguments(server, place, tmp_path / place))
        assert code == 0, err
    paths = {path for path, _ in server.seen}
    sent = {authorization for _, authorization in server.seen}
    assert f"Bearer {own('b')}" in sent
    assert sum(each.startswith("Basic ") for each in sent) == 2
    assert any(path.endswith(f"?api_key={quoted('w')}&{quoted('y')}") for path in paths)
    assert any(path.startswith(f"/{quoted('v')}") for path in paths)

"""Files: written whole or not at all, without keys, and read as other tools leave them."""

import gzip
import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import refusal
from stored import stored

from cogniload_gen.files import one_line, read_objects, whole_file, whole_folder
from cogniload_gen.never_written import without_keys

COGNILOAD = Path(sys.executable).with_name("cogniload")
KEY = "s3cr3t-0f-31337"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_command_that_is_stopped_leaves_nothing(folder, number, code):
    command = [COGNILOAD, "generate", "a.jsonl", "--num-puzzles", "10000000"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(folder.glob(".a.jsonl.*.part")):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(number)
    _, said = running.communicate()
    assert running.returncode == code
    assert said == "cogniload generate: interrupted\n"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_full_disk_is_named(folder, name):
    """A process whose files may have 100 KB meets the same error as on a full disk."""
    ran = subprocess.run(
        [COGNILOAD, "generate", name, "--num-puzzles", "10"],
        capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )  # fmt: skip
    assert ran.returncode == 2
    assert ran.stderr == f"cogniload generate: error: {folder / name}: File too large\n"
    assert list(folder.iterdir()) == []


def test_nothing_is_replaced_unasked_and_a_failure_leaves_the_old(folder):
    path = folder / "a.txt"
    for text, force in (("one", False), ("two", True)):
        with whole_file(path, force=force) as temporary:
            temporary.write_text(text)
        assert path.read_text() == text
    with pytest.raises(FileExistsError, match="exists"), whole_file(path):
        pytest.fail("the block of a file that can't be written")
    with pytest.raises(FileExistsError, match="exists"), whole_folder(path):
        pytest.fail("the block of a folder that can't be written")
    with pytest.raises(ZeroDivisionError), whole_file(path, force=True) as temporary:
        temporary.write_text(str(1 / 0))
    with pytest.raises(FileExistsError), whole_file(folder / "b.txt") as temporary:
        (folder / "b.txt").write_text("theirs")  # as another process does meanwhile
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        **{"a.txt": "two", "b.txt": "theirs"}
    }


def test_what_a_killed_process_left_goes_and_what_another_writes_stays(folder):
    path = folder / "a[1].txt"
    (folder / ".a[1].txt.0123abcd.part").write_text("half")
    with whole_file(path, force=True) as one, whole_file(path, force=True) as other:
        assert {*folder.iterdir()} == {one, other}
        one.write_text("one")
        other.write_text("other")
    assert [(file, file.read_text()) for file in folder.iterdir()] == [(path, "one")]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_json_lines_are_read_as_tools_leave_them(folder, name, end):
    """With a byte order mark, blank lines and spaces, and without the last line's end."""
    text = end.join(['\ufeff{"a": 1}', "", ' {"a": "x\u2028y"} ', "  ", '{"a": NaN}']).encode()
    Path(name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    places, offsets, rows = zip(*read_objects(Path(name)), strict=True)
    assert places == tuple(f"{name} line {number}" for number in (1, 3, 5))
    assert [text[place:].split(end.encode())[0].strip()[-1:] for place in offsets] == [b"}"] * 3
    assert [str(row["a"]) for row in rows] == ["1", "x\u2028y", "nan"]


@pytest.mark.parametrize(("content", "said"), [
    (b'{}\n{"a"', r"a.jsonl line 2 must be an object of JSON, .*, got '\{\"a\"' \(cut off\?\)$"),
    (b"[1]", r"a.jsonl line 1 must be an object of JSON, .*, got '\[1\]'"),
    (b"\xff", "a.jsonl line 1 must be an object"),
    (b"[" * 100_000, "a.jsonl line 1 must be an object"),
])  # fmt: skip
def test_a_line_that_is_no_object_is_named(folder, content, said):
    Path("a.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match=said):
        list(read_objects(Path("a.jsonl")))


def test_a_message_is_one_line(folder, capsys):
    assert "no<U+001B>[31m<U+202E>.txt: No such" in refusal(capsys, "solve", "no\x1b[31m\u202e.txt")
    assert one_line("a\nb\tc ") == "a b c"
    assert len(one_line("x" * 100_000)) < 1100


@pytest.mark.parametrize("name", [
    "api_key", "apiKey", "API-KEY", "OPENAI_API_KEY", "key", "token", "hf_token", "use_auth_token",
    "X-Auth-Token", "header", "extra_headers", "Authorization", "db_password", "client_secret",
])  # fmt: skip
def test_a_key_is_never_written(name):
    values = {
        name: KEY,
        "model_args": {name: KEY, "model": "m", "nested": [{name: {"x": KEY}, "y": 1}]},
        "url": f"https://user:{KEY}@host:8000/v1?{name}={KEY}&x=1#part",
    }
    written = without_keys(values)
    assert KEY not in json.dumps(written)
    assert written["url"] == f"https://host:8000/v1?{name}=***&x=1#part"
    assert written["model_args"] == {"model": "m", "nested": [{"y": 1}]}
    assert values[name] == KEY  # the caller's own is as before


def test_what_is_no_key_stays():
    values = json.loads(stored(__file__, "no_keys.json").read_text("utf-8"))
    assert without_keys(values) == values

"""Files that are no files, too large, or hostile; a command that is stopped: one line, soon."""

import gzip
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from refusals import refused as one_line

import cogniload_cli
from cogniload_cli import main
from cogniload_gen import benchmarks, generate_factor, generate_puzzles, score, solve
from cogniload_gen.files import inputs
from cogniload_gen.files.whole import whole_file

SMALL = ["--d", "1", "3", "--N", "5", "--rho", "25", "50", "--num-puzzles", "3"]
COMMAND = [sys.executable, "-m", "cogniload_cli"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys, arguments: list[str]) -> str:
    """The one line that a command says before it ends with 2."""
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize(
    "arguments",
    [["solve", "odd"], ["score", "odd"], ["steps", "odd"], ["overlap", "ok.txt", "odd", *SMALL]],
    ids=lambda arguments: arguments[0],
)
def test_what_has_no_end_is_not_waited_for(folder, capsys, arguments):
    Path("ok.txt").write_text("text")
    os.mkfifo("odd")
    assert "odd must be a file, got a named pipe" in refused(capsys, arguments)
    Path("odd").unlink()
    Path("odd").symlink_to("/dev/zero")
    assert "odd must be a file, got a device" in refused(capsys, arguments)


def test_a_pipe_of_the_shell_is_read(folder):
    (row,) = generate_puzzles(3, 5, 50, num_puzzles=1).to_pylist()
    Path("puzzle.txt").write_text(row["puzzle"])
    command = f"{sys.executable} -m cogniload_cli solve <(cat puzzle.txt)"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"{row['answer']}\n")


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_line_without_end_is_refused_within_bounds(folder, capsys, name, monkeypatch):
    monkeypatch.setattr(inputs, "LARGEST", 1000)
    text = b"{}\n" + b" " * 2000
    Path(name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    lines = inputs.read_lines(Path(name))
    assert next(lines) == b"{}\n"
    with pytest.raises(ValueError, match=rf"{name} line 2 must have at most 1000 bytes"):
        next(lines)
    with pytest.raises(ValueError, match=rf"{name} must have at most 999 bytes"):
        inputs.read_whole(Path(name), 999)
    assert inputs.read_whole(Path(name), len(text)) == text


@pytest.mark.parametrize("command", ["solve", "score", "overlap"])
def test_a_gigabyte_of_nothing_takes_little_memory(folder, command):
    """It has 64 MiB and what Python needs; a file without blocks is as large as it says."""
    name = "a.jsonl" if command == "overlap" else "a"
    with Path(name).open("wb") as file:
        file.truncate(1 << 32)
    more = SMALL if command == "overlap" else []
    ran = subprocess.run(
        [*COMMAND, command, name, *more], capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30)),
    )  # fmt: skip
    assert ran.returncode == 2
    assert "must have" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_message_shows_no_control_character_and_has_an_end(folder, capsys):
    said = refused(capsys, ["solve", "no\x1b[31m\u202e.txt"])
    assert "no<U+001B>[31m<U+202E>.txt: No such file" in said
    said = refused(capsys, ["verify", "x" * 100_000])
    assert len(said) < 1100
    assert " ... " in said
    with pytest.raises(SystemExit):
        main(["solve", "a", "\x1b" * 100_000])
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) < 1100
    assert "\x1b" not in said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_command_that_is_stopped_leaves_nothing(folder, number, code):
    command = [*COMMAND, "generate", "a.jsonl", "--num-puzzles", "10000000"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(folder.glob(".a.jsonl.*.part")):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(number)
    _, said = running.communicate()
    assert running.returncode == code
    assert said == ("cogniload generate: interrupted\n" if number == signal.SIGINT else "")
    assert list(folder.iterdir()) == []


AT_IMPORT = """
import signal, sys

class AtImport:
    count, last = 0, int(sys.argv.pop(1))

    def find_spec(self, *_):
        self.count += 1
        if self.count == self.last:
            signal.raise_signal(signal.SIGINT)

from cogniload_cli import main

sys.meta_path.insert(0, imports := AtImport())
code = main()
print(imports.count)
sys.exit(code)
"""
"""The command, which gets Ctrl-C at one of its imports."""


def test_ctrl_c_at_any_import_is_one_line(folder):
    """From the moment when Python runs the command's own code."""

    def generate(last: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", AT_IMPORT, str(last), "generate", "a.jsonl", *SMALL]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    imports = int(generate(0).stdout.split()[-1])
    Path("a.jsonl").unlink()
    assert imports > 100
    for last in (1, 2, *range(3, imports, imports // 12)):
        ran = generate(last)
        assert ran.returncode == 130
        assert ran.stderr in ("cogniload: interrupted\n", "cogniload generate: interrupted\n")
        assert list(folder.iterdir()) == []


def test_of_two_that_write_a_file_at_once_one_is_refused(folder):
    both, ended = threading.Barrier(2), []

    def write(text: str) -> None:
        try:
            with whole_file(Path("a.txt")) as temporary:
                temporary.write_text(text)
                both.wait()
            ended.append(text)
        except FileExistsError as error:
            assert str(error).startswith(f"{folder}/a.txt exists")

    threads = [threading.Thread(target=write, args=(text,)) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [Path("a.txt").read_text()] == ended
    assert list(folder.iterdir()) == [folder / "a.txt"]


def test_without_hard_links_too_what_another_wrote_meanwhile_stays(folder, monkeypatch):
    monkeypatch.setattr(Path, "hardlink_to", lambda *_: os.chdir("no such folder"))  # any OSError
    for other in (None, "theirs"):
        with suppress(FileExistsError), whole_file(Path("a.txt")) as temporary:
            temporary.write_text("ours")
            if other:
                Path("a.txt").write_text(other)
        assert Path("a.txt").read_text() == (other or "ours")
        Path("a.txt").unlink()


def test_a_full_disk_is_named(folder):
    """A process whose files may have 100 KB meets the same error as on a full disk."""
    limit = (100_000, 100_000)
    for name in ("a.jsonl", "a.parquet"):
        ran = subprocess.run(
            [*COMMAND, "generate", name, "--num-puzzles", "10"],
            capture_output=True, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        )  # fmt: skip
        assert ran.returncode == 2
        assert ran.stderr == f"cogniload generate: error: {folder / name}: File too large\n"
    assert list(folder.iterdir()) == []


def test_a_puzzle_that_is_no_text_is_named():
    with pytest.raises(ValueError, match="a puzzle must be a text, got None"):
        solve(None)


@pytest.mark.parametrize("count", ["x", [1], {1: 2}, b"5", object()])
@pytest.mark.parametrize("name", ["prompt_tokens", "response_tokens", "context_budget"])
def test_a_count_of_tokens_that_is_no_number_is_one_line(name, count):
    made = generate_puzzles, generate_factor
    puzzles = [{"d": 2, "N": 5, "rho": 50}, {"d": 2, "N": 5, "rho": 50, "twin": "question=state"}]
    for make, knobs in zip((made[0], *made), (*puzzles, {"N": 2}), strict=True):
        (row,) = make(**knobs, num_puzzles=1).to_pylist()
        with one_line("counts of tokens must be numbers or None: "):
            score("", row, **{name: count})


def test_a_message_does_not_repeat_a_long_name():
    (row,) = generate_puzzles(1, 5, 50, num_puzzles=1).to_pylist()
    with one_line("category must be one of .* got 'xxx"):
        score("It is blue.", row | {"category": "x" * 100_000})
    with one_line("cogniload takes .* got 'xxx"):
        benchmarks.datasets()["cogniload"].puzzles(**{"x" * 100_000: 1})


def test_a_full_memory_is_one_line(folder, capsys, monkeypatch):
    monkeypatch.setattr(cogniload_cli, "_run", lambda *_: bytearray(1 << 62))
    assert refused(capsys, ["solve", "a"]) == "cogniload solve: error: the memory is full\n"

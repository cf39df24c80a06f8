"""Killed, interrupted, out of disk or without a server: the next start goes on."""

import errno
import os
import signal
import subprocess
import sys
from threading import Event, Semaphore
from types import SimpleNamespace

import pytest
from completion_server import serving
from eval_command import (
    BLOCK_SIZE,
    DOCUMENTS,
    SAID,
    answer_only,
    arguments,
    command,
    done_blocks,
    error_of,
    read,
    run_apart,
    same_samples,
    start,
    wait_for,
    with_files_of,
)


def names(folder):
    """The files in a folder, hidden ones and half-written ones too."""
    return {path.name for path in folder.rglob("*")}


@pytest.mark.slow
def test_killed_at_ten_moments_ends_as_undisturbed(server, tmp_path, undisturbed):
    """Ten kills: as it starts, after some answers, or while a block of two is written."""
    command_line = arguments(server, tmp_path, "--block_size", "2")
    before = {}
    for moment in [None, 0, 1, 2, "digest-", "block-", 1, "digest-", "block-", 3]:
        answer_only(server, moment if isinstance(moment, int) else 2)
        files, asked = names(tmp_path), len(server.requests)
        process = start(*command_line)
        if isinstance(moment, str):
            wait_for(lambda: any(moment in name for name in names(tmp_path) - files))  # noqa: B023
        elif moment is not None:
            wait_for(lambda: len(server.requests) > asked + moment)  # noqa: B023
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        done = {file: file.read_bytes() for file in done_blocks(tmp_path)}
        assert done.items() >= before.items()  # none is lost or changed
        before = done
    assert 0 < len(before) < 12
    asked, server.together = len(server.requests), None
    assert command(*command_line)[0] == 0
    assert len(server.requests) == asked + DOCUMENTS - 2 * len(before)
    assert same_samples(read(tmp_path), undisturbed)
    assert not [*tmp_path.rglob("*.part")]


def test_what_a_killed_process_left_is_removed(server, tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    (state / ".block-00001.jsonl.abc.part").write_text("half of")
    (state / ".run.json.abc.part").write_text("half of")
    assert command(*arguments(server, tmp_path))[0] == 0
    assert not [*tmp_path.rglob("*.part")]


@pytest.mark.parametrize("concurrent", [1, 4])
def test_a_server_that_fails_and_comes_back(server, tmp_path, undisturbed, concurrent):
    server.healthy = 12
    command_line = arguments(server, tmp_path, num_concurrent=concurrent)
    message = error_of(*command_line)
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    assert message.startswith(f"the server at {url} answered 500 Internal Server Error: ")
    assert "the engine is dead" in message
    assert len(done_blocks(tmp_path)) == 2
    server.healthy, asked = 10**9, len(server.requests)
    assert command(*command_line)[0] == 0
    late = concurrent - 1  # requests that the server read after their client had gone
    assert 0 <= len(server.requests) - asked - (DOCUMENTS - 2 * BLOCK_SIZE) <= late
    assert same_samples(read(tmp_path), undisturbed)


def test_a_server_that_dies_and_comes_back_elsewhere(tmp_path, undisturbed):
    answers, dead = Semaphore(8), Event()

    def answer_or_die():
        if not answers.acquire(blocking=False):
            dead.wait()
            raise ConnectionAbortedError

    with serving() as server:
        server.together = SimpleNamespace(wait=answer_or_die)
        process = start(*arguments(server, tmp_path))
        wait_for(lambda: len(server.requests) > 8)
    dead.set()
    process.join()
    assert process.exitcode == 2
    assert len(done_blocks(tmp_path)) == 1
    with serving() as server:
        assert command(*arguments(server, tmp_path))[0] == 0
    assert same_samples(read(tmp_path), undisturbed)


def test_a_full_disk(server, tmp_path, undisturbed):
    """As a disk with room for one file of 3 KB: the system refuses to write more."""
    command_line = arguments(server, tmp_path)

    process = run_apart(with_files_of, 3000, tmp_path / "err", *command_line)
    process.join()
    assert process.exitcode == 2
    *_, last = (tmp_path / "err").read_text().splitlines()
    block = tmp_path / "state" / "block-00001.jsonl"
    assert last == f"cogniload eval: error: {block}: {os.strerror(errno.EFBIG)}"
    assert not [*tmp_path.rglob("*.part")]
    assert command(*command_line)[0] == 0
    assert same_samples(read(tmp_path), undisturbed)


@pytest.mark.slow
def test_ctrl_c(server, tmp_path, undisturbed):
    answer_only(server, 7)
    settings = arguments(server, tmp_path, num_concurrent=4)
    command_line = [sys.executable, "-m", "cogniload_gen", *settings]
    process = subprocess.Popen(command_line, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(server.requests) > 7)
    process.send_signal(signal.SIGINT)
    *others, last = process.communicate()[1].splitlines()
    assert process.returncode == 130
    assert all(line.startswith(SAID) for line in others)
    assert last == "cogniload eval: interrupted"
    assert len(done_blocks(tmp_path)) == 1
    server.together = None
    assert command(*arguments(server, tmp_path))[0] == 0
    assert same_samples(read(tmp_path), undisturbed)


def test_a_run_that_is_complete_asks_nothing(server, tmp_path):
    assert command(*arguments(server, tmp_path))[0] == 0
    asked = len(server.requests)
    (results,) = tmp_path.rglob("results_*.json")
    for again in (arguments(server, tmp_path), ["eval", "--merge", tmp_path]):
        code, out, _ = command(*again)
        assert (code, out.splitlines()[-1]) == (0, f"results  {results}")
        assert len(server.requests) == asked
        assert [*tmp_path.rglob("results_*.json")] == [results]
    results.unlink()  # as where a merge was killed between its files
    assert command("eval", "--merge", tmp_path)[0] == 0
    assert len([*tmp_path.rglob("samples_*.jsonl")]) == len([*tmp_path.rglob("results_*")]) == 1
    done_blocks(tmp_path)[0].unlink()
    assert command(*arguments(server, tmp_path))[0] == 0
    assert len([*tmp_path.rglob("results_*.json")]) == 2

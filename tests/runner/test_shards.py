"""Shards: processes that share the blocks of one run."""

import pytest
from eval_command import (
    DOCUMENTS,
    arguments,
    command,
    error_of,
    hold_first,
    read,
    same_samples,
    start,
    wait_for,
)


@pytest.mark.parametrize("together", [True, False])
def test_two_shards_at_once_are_one_run(server, tmp_path, undisturbed, together):
    folders = 2 * [tmp_path / "both"] if together else [tmp_path / "a", tmp_path / "b"]
    processes = [
        start(*arguments(server, folder, "--shard", f"{shard}/2"))
        for shard, folder in enumerate(folders, start=1)
    ]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(server.requests) == DOCUMENTS
    merged = tmp_path / "merged"
    assert command("eval", "--merge", *dict.fromkeys(folders), "--output_path", merged)[0] == 0
    assert same_samples(read(merged), undisturbed)


def test_a_missing_shard_is_named(server, tmp_path):
    code, out, _ = command(*arguments(server, tmp_path, "--shard", "2/2"))
    assert (code, out) == (0, "shard 2/2 is done; of all 5 blocks, 3 are left\n")
    assert error_of("eval", "--merge", tmp_path) == (
        f"{tmp_path}: 3 of 5 blocks are missing: 1, 3, 5 "
        "(shard I/N evaluates blocks I, I + N, I + 2N, ...)"
    )
    assert not [*tmp_path.rglob("results_*")]


def test_a_block_that_two_folders_have_counts_once_and_shards_may_be_others(
    server, tmp_path, undisturbed
):
    folders = [tmp_path / "a", tmp_path / "b"]
    assert command(*arguments(server, folders[0], "--shard", "1/2"))[0] == 0
    assert command(*arguments(server, folders[1], "--shard", "1/3"))[0] == 0
    asked = len(server.requests)
    assert command(*arguments(server, folders[1]))[0] == 0
    assert len(server.requests) == asked + DOCUMENTS - 10  # of two blocks
    assert command("eval", "--merge", *folders, "--output_path", tmp_path / "merged")[0] == 0
    assert same_samples(read(tmp_path / "merged"), undisturbed)


def test_a_folder_takes_one_process_for_a_block(server, tmp_path):
    answer = hold_first(server)
    process = start(*arguments(server, tmp_path, "--shard", "2/2"))
    wait_for(lambda: server.requests)
    message = error_of(*arguments(server, tmp_path))
    assert message == f"{tmp_path}: another process is evaluating block 2"
    assert command(*arguments(server, tmp_path, "--shard", "1/2"))[0] == 0
    answer.set()
    process.join()
    assert process.exitcode == 0

"""Blocks and run.json that were damaged, mixed up or lost are named, when merged and continued."""

import json
import os
import shutil
from datetime import datetime
from hashlib import sha256
from math import inf
from types import SimpleNamespace

import pytest
from completion_server import serving
from eval_command import (
    OWN,
    PUZZLES,
    arguments,
    command,
    done_blocks,
    error_of,
    merge_together,
    read,
    run_apart,
    same_samples,
)

from cogniload_gen.files import inputs, run_folder
from cogniload_gen.files.run_folder import Block, RunFolder, RunSpec
from lm_eval_tasks.in_turn import read_solved
from lm_eval_tasks.runner import store
from lm_eval_tasks.runner.results import merge
from lm_eval_tasks.runner.store import Store


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Folders of two finished runs, that differ in the seed of their puzzles and of lm-eval."""
    folders = [tmp_path_factory.mktemp("seed") for _ in range(2)]
    with serving() as server:
        for folder, seed in zip(folders, (42, 7), strict=True):
            settings = arguments(server, folder, puzzles=PUZZLES | {"seed": seed})
            assert command(*settings, "--seed", seed)[0] == 0
    return folders


@pytest.fixture
def run(finished, tmp_path):
    """A copy of the first run, without its results."""
    shutil.copytree(finished[0] / "state", tmp_path / "run" / "state")
    return tmp_path / "run"


def in_lines(*order):
    """Return a function that has some of a block's five lines in an order."""
    return lambda text: b"".join(text.splitlines(keepends=True)[line] for line in order)


def replace(old, new):
    return lambda text: text.replace(old, new, 1)


def with_another_letter(text):
    assert b"So " in text or b"can" in text
    return text.replace(b"So ", b"Zo ", 1) if b"So " in text else text.replace(b"can", b"man", 1)


DAMAGE = {
    "its last line twice": (in_lines(0, 1, 2, 3, 4, 4), "line 6 repeats document 14"),
    "twice the same": (lambda text: text + text, "line 6 repeats document 10"),
    "a line missing": (in_lines(1, 2, 3, 4), "document 10 is missing"),
    "a line for another": (in_lines(0, 0, 2, 3, 4), "line 2 repeats document 10"),
    "another letter": (with_another_letter, "it has changed since it was written"),
    "another order": (in_lines(4, 3, 2, 1, 0), "it has changed since it was written"),
    "an empty file": (in_lines(), "document 10 is missing"),
    "no end of a line": (lambda text: text[:-1], "line 5 is no sample"),
    "cut within a line": (lambda text: text[: len(text) // 2], "line 3 is no sample"),
    "no JSON": (replace(b"{", b"["), "line 1 is no sample"),
    "JSON without end": (lambda text: b"[" * 10**5 + b"\n" + text, "line 1 is no sample"),
    "numbers": (lambda _: b"1\n2\n", "line 1 is no sample"),
    "an empty line": (lambda text: b"\n" + text, "line 1 is no sample"),
    "zeros": (lambda text: bytes(len(text)), "line 1 is no sample"),
    "an unknown document": (replace(b'_id": 12', b'_id": 99'), "line 3 is of document 99"),
    "no metrics": (replace(b'"metrics"', b'"metric"'), "line 1 is no sample"),
    "an empty metric": (replace(b'"metrics": [', b'"metrics": ["x", '), "line 1 is no sample"),
}


@pytest.mark.parametrize(("damage", "why"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_block_is_named(run, damage, why):
    block = done_blocks(run)[2]
    before = block.read_bytes()
    block.write_bytes(damage(before))
    assert block.read_bytes() != before
    message = (
        f"{block} must hold the samples of the documents 10 to 14 of cogniload_mini: delete it, "
        f"and the block is evaluated again ({why})"
    )
    for option in ("--merge", "--status"):
        assert error_of("eval", option, run) == message
    assert not [*run.rglob("results_*"), *run.rglob("samples_*")]


def test_a_damaged_block_is_named_before_a_run_goes_on(server, tmp_path):
    assert command(*arguments(server, tmp_path, "--shard", "1/2"))[0] == 0
    block = done_blocks(tmp_path)[0]
    block.write_bytes(with_another_letter(block.read_bytes()))
    asked = len(server.requests)
    assert "it has changed since it was written" in error_of(*arguments(server, tmp_path))
    assert len(server.requests) == asked
    block.unlink()
    assert command(*arguments(server, tmp_path))[0] == 0


SECOND = ("block-00002.jsonl", "digest-00002.json")


@pytest.mark.parametrize(("names", "message"), [
    (SECOND[:1], "(line 1 is not of cogniload-v1-test-s42-"),
    (SECOND, "(line 1 is not of cogniload-v1-test-s42-"),
    (["run.json"], "block-00001.jsonl must hold the samples of "),
])  # fmt: skip
def test_files_of_another_run_are_named(finished, run, names, message):
    for name in names:
        shutil.copy(finished[1] / "state" / name, run / "state")
    assert message in error_of("eval", "--merge", run)


@pytest.mark.parametrize("other_block", [1, 5])
def test_a_block_in_the_place_of_another_is_named(run, other_block):
    for name in SECOND:
        other = name.replace("2", str(other_block))
        shutil.copy(run / "state" / other, run / "state" / name)
    assert "(line 1 is of document " in error_of("eval", "--merge", run)


def test_a_block_of_the_same_puzzles_by_another_model_is_named(server, run, tmp_path):
    """Their ids are the same, and so are the digests of either."""
    other = tmp_path / "other"
    settings = arguments(server, other, "--gen_kwargs", "temperature=1")
    puzzles = ["--metadata", json.dumps({"cogniload": PUZZLES | {"seed": 42}})]
    assert command(*settings, *puzzles, "--seed", "42")[0] == 0
    for name in SECOND:
        shutil.copy(other / "state" / name, run / "state")
    assert "(digest-00002.json is of another run)" in error_of("eval", "--merge", run)


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[]", b"[" * 10**5, b'{"sha256": 1}'])
def test_a_damaged_digest_is_named(run, content):
    digest = run / "state" / "digest-00003.json"
    digest.unlink()
    if content is not None:
        digest.write_bytes(content)
    message = error_of("eval", "--merge", run)
    why = "missing" if content is None else "damaged"
    assert message.endswith(f"(digest-00003.json is {why})")


def test_blocks_of_an_earlier_version_have_no_digests(run, finished):
    """A run that was begun without them goes on, and its blocks are merged."""
    described = run / "state" / "run.json"
    said = json.loads(described.read_bytes())
    del said["digests"]
    described.write_text(json.dumps(said))
    for digest in (run / "state").glob("digest-*"):
        digest.unlink()
    assert command("eval", "--merge", run)[0] == 0
    assert same_samples(read(run), read(finished[0]))


def test_blocks_without_run_json_are_refused(server, run):
    """Else a second run would take them for its own."""
    described = run / "state" / "run.json"
    described.unlink()
    for others in (arguments(server, run), ("eval", "--merge", run), ("eval", "--status", run)):
        assert error_of(*others).startswith(f"{described} is missing, and without it nobody knows")
    assert not described.exists()
    assert not server.requests


MISSING = object()
RUN = SimpleNamespace(identity="0" * 64)
PARTS = """
versions arguments block_size tasks model recorded arguments.model arguments.model_args
arguments.tasks arguments.metadata arguments.gen_kwargs arguments.apply_chat_template
arguments.system_instruction arguments.num_fewshot arguments.fewshot_as_multiturn arguments.limit
arguments.samples arguments.seed recorded.date recorded.arguments recorded.arguments.model_args
recorded.arguments.include_path
"""
WRONG = [
    *((path, value) for path in PARTS.split() for value in (MISSING, [[]])),
    *(("block_size", value) for value in (0, True, 1.5)),
    *(("arguments.limit", value) for value in (0, -0.5, "6", inf)),
    *(("arguments.seed", value) for value in ([1, 2], [1, 2, 3, "4"], 5)),
    *[("arguments.tasks", []), ("arguments.other", 1), ("tasks", {}), ("recorded.date", None)],
    *(("arguments.samples", {"x": value}) for value in ([], [-1], ["1"], [0.5])),
    *(("tasks", {"x": {"documents": value}}) for value in (None, -1, 10**7, True)),
    *(("", written) for written in (b"{", b"\xff", b"null", b"[]", b"{}", b'{"versions": 2}')),
]


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_what_is_wrong_in_run_json_is_named(run, server, path, value):
    described = run / "state" / "run.json"
    written = json.loads(described.read_bytes())
    *outer, last = path.split(".")
    inside = written
    for name in outer:
        inside = inside[name]
    inside[last] = value
    if value is MISSING:
        del inside[last]
    content = json.dumps(written).encode() if path else value
    described.write_bytes(content)
    command_lines = [["eval", "--status", run], arguments(server, run), ["eval", "--merge", run]]
    for command_line in command_lines[: 1 if path else 3]:
        error = error_of(*command_line)
        assert error.startswith(f"{described} must be what this version of cogniload eval wrote")
    assert described.read_bytes() == content
    assert not server.requests


def rewrite(run, change):
    """Change run.json and sign the digests again, as whoever gives a folder away can."""
    described = run / "state" / "run.json"
    begun = json.loads(described.read_bytes())
    change(begun)
    described.write_text(json.dumps(begun))
    for digest in (run / "state").glob("digest-*"):
        signed = json.loads(digest.read_bytes()) | {"run": RunSpec.read(begun).identity}
        digest.write_text(json.dumps(signed))


def test_no_name_leads_out_of_the_folder_or_moves_the_terminal(run):
    rewrite(run, lambda begun: begun["arguments"]["model_args"].update(model=".."))
    assert command("eval", "--merge", run)[0] == 0
    assert [path.name for path in run.parent.iterdir()] == ["run"]
    rewrite(run, lambda begun: begun.update(tasks={"\x1b[2J": begun["tasks"]["cogniload_mini"]}))
    assert "<U+001B>[2J" in command("eval", "--status", run)[1]


@pytest.mark.parametrize(("content", "says"), [
    ('{"results": {"\\u001b": {"acc,none": 1}}, "versions": {}, "n-shot": {}}', "<U+001B>"),
    ('{"results": [1]}', "must be results of lm-eval"),
    (None, "must be a file, got a named pipe"),
])  # fmt: skip
def test_results_that_a_folder_brings_are_not_trusted(run, content, says):
    results = merge([run], run)
    results.unlink()
    os.mkfifo(results) if content is None else results.write_text(content)
    code, out, err = command("eval", "--merge", run)
    assert (code, says in out + err, "\x1b" in out) == (0 if "U+" in says else 2, True, False), err


@pytest.mark.parametrize(("name", "value"), [("shard", "1/3000000"), ("shard", "1/900000"),
                                             ("seconds", inf), ("seconds", 10**400),
                                             ("seconds", "1")])  # fmt: skip
def test_no_digest_is_believed_without_bound(run, name, value):
    digest = run / "state" / "digest-00001.json"
    digest.write_text(json.dumps(json.loads(digest.read_bytes()) | {name: value}))
    assert len(command("eval", "--status", run)[1]) in range(1, 1000)


@pytest.mark.parametrize("acc", [10**400, -1, float("nan"), "1", None])
def test_no_accuracy_of_a_folder_is_believed_without_bound(server, run, acc):
    block, digest = done_blocks(run)[0], run / "state" / "digest-00001.json"
    samples = [json.loads(line) | {"acc": acc} for line in block.read_bytes().splitlines()]
    if acc is None:
        samples = [
            {name: value for name, value in sample.items() if name != "acc"} | {"metrics": []}
            for sample in samples
        ]
    block.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    signed = json.loads(digest.read_bytes()) | {"sha256": sha256(block.read_bytes()).hexdigest()}
    digest.write_text(json.dumps(signed))
    done = [command("eval", "--status", run)]
    assert not any(read_solved(run, 1).values())
    done_blocks(run)[-1].unlink()
    done.append(command(*arguments(server, run, "--seed", "42", puzzles=PUZZLES | {"seed": 42})))
    assert done[0][0] == 0
    for code, _, err in done:
        assert (err.count("error: "), "nan" in err) == (code == 2, False)


def test_documents_far_apart_are_not_counted_through(tmp_path):
    line = json.dumps({name: kind() for name, kind in run_folder.SAMPLE.items()}) + "\n"
    (tmp_path / "block-00001.jsonl").write_text(line + line.replace(": 0", f": {10**12}"))
    run = SimpleNamespace(arguments=SimpleNamespace(until={}), tasks=["task"])
    with pytest.raises(ValueError, match="must hold samples of the documents from 0 on"):
        RunFolder(tmp_path).done_blocks(run)


@pytest.mark.parametrize("link", ["/dev/zero", "fifo", "folder", "itself", "nothing"])
@pytest.mark.parametrize("name", ["run.json", "block-00001.jsonl", "digest-00001.json"])
def test_what_is_no_file_is_named(run, name, link):
    path = run / "state" / name
    path.unlink()
    if link == "fifo":
        os.mkfifo(path)
    elif link == "folder":
        path.mkdir()
    else:
        path.symlink_to({"itself": path, "nothing": "gone"}.get(link, link))
    assert name in error_of("eval", "--merge", run)


def test_a_line_and_a_run_json_without_end_are_named(run, monkeypatch):
    monkeypatch.setattr(run_folder, "LARGEST", 2**16)
    for name, message in (
        (done_blocks(run)[2].name, "is no sample"),
        ("run.json", f"run.json must have at most {inputs.LARGEST} bytes"),
    ):
        with (run / "state" / name).open("r+b") as file:
            file.truncate(2**34)
        assert message in error_of("eval", "--merge", run)


def test_a_repeated_sample_of_another_filter_is_none(tmp_path, monkeypatch):
    """A task with two filters has two samples of a document."""
    line = '{"doc_id": 0, "doc": {}, "metrics": [], "filter": "%s", "doc_hash": "", '
    line += '"prompt_hash": "", "target_hash": ""}\n'
    (tmp_path / "block-00001.jsonl").write_text(line % "a" + line % "b")
    monkeypatch.setattr(Store, "read_run", lambda _: None)
    assert len([*Store(tmp_path).read_block(Block(1, "task", (0,)))]) == 2


def test_a_block_has_its_name_once_its_digest_is_written(tmp_path, monkeypatch):
    def write_and_die(*arguments, **options):
        write_lines(*arguments, **options)
        raise KeyboardInterrupt

    write_lines = store.write_lines
    (tmp_path / "state").mkdir()
    folder, block = Store(tmp_path / "state"), Block(1, "cogniload_mini", (0,))
    monkeypatch.setattr(store, "write_lines", write_and_die)
    with pytest.raises(KeyboardInterrupt):
        folder.write_block(block, [b"{}\n"], RUN, shard="1/1", seconds=1.0)
    assert [file.name for file in folder.folder.iterdir()] == ["digest-00001.json"]


def test_merges_at_once_are_one_result_set(run, finished):
    """Each starts when all are ready; what the first writes, the others find."""
    ready = OWN.Barrier(3)
    processes = [run_apart(merge_together, ready, run) for _ in range(3)]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert same_samples(read(run), read(finished[0]))
    assert not [*run.rglob("*.part")]


def test_results_have_the_date_of_the_newest_block(run):
    os.utime(done_blocks(run)[1], (2e9, 2e9))
    assert merge([run], run).name == f"results_{datetime.fromtimestamp(2e9):%Y-%m-%dT%H-%M-%S}.json"


def test_a_merge_never_speaks_of_force(run, monkeypatch):
    """Also where another writes the results in between, on a file system whose locks do nothing."""
    path = merge([run], run)
    content = path.read_bytes()
    path.unlink()
    write_lines = store.write_lines

    def written_before(file, lines, **options):
        if file == path:
            path.write_bytes(content)
        write_lines(file, lines, **options)

    monkeypatch.setattr("lm_eval_tasks.runner.results.write_lines", written_before)
    message = error_of("eval", "--merge", run)
    assert message == f"{path} exists: another process has written it"

"""The answers on the disk: torn, doubled, in shards, capped, refused and merged."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import command_line
import pyarrow.parquet as pq
import pytest
from completion_server import prompts_of, serving
from eval_command import (
    DOCUMENTS,
    answered,
    arguments,
    command,
    done,
    error_of,
    read,
    same,
    start,
    url_of,
    whole_lines,
    with_files_of,
)
from harness import TASKS
from stored import cases

from cogniload_gen import generate_puzzles

RESULTS = ("results_*.json", "samples_*.jsonl")


def copied(undisturbed_folder, out):
    """A run of which all answers are there, and no results; and its one answers file."""
    shutil.copytree(undisturbed_folder / "state", out / "state")
    return out / "state/answers-1.jsonl"


def results_in(out):
    return [file for pattern in RESULTS for file in out.rglob(pattern)]


def test_a_full_disk_is_one_line_and_the_same_command_goes_on(
    server, tmp_path, undisturbed, undisturbed_folder
):
    """As no file may grow beyond a size: of run.json, of the answers, then of the samples."""
    whole = (undisturbed_folder / "state/answers-1.jsonl").stat().st_size
    out = tmp_path / "out"
    for size in (100, whole // 3, whole // 2, whole + 10):
        known = answered(out)
        process = start(*arguments(server, out), prepare=with_files_of, given=(size,))
        process.join()
        assert process.exitcode == 2
        *_, last = process.said.get().splitlines()
        assert last.startswith("cogniload eval: error: ")
        assert "File too large" in last
        assert not {*server.asked()} & {*known}
        assert not results_in(out)
    assert command(*arguments(server, out))[0] == 0
    assert not server.requests
    assert same(read(out), undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_one_line_and_what_was_answered_stays(server, tmp_path, undisturbed, number):
    """Through the installed command's own module, while a sixth answer is awaited."""
    wait, words = Event(), arguments(server, tmp_path)
    server.gate = lambda: len(server.requests) > 5 and wait.wait()
    program = [sys.executable, "-m", command_line.MODULE, *words]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len(server.requests) < 6:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate()
    wait.set()
    assert process.returncode == 128 + number
    assert "Traceback" not in out + err
    assert err.splitlines()[-1].startswith("cogniload eval: interrupted"), err
    assert len(answered(tmp_path)) == 5
    server.asked()
    assert command(*words)[0] == 0
    assert len(server.asked()) == DOCUMENTS - 5
    assert same(read(tmp_path), undisturbed)


CHANGED = cases(__file__)["changed_words"]


def test_what_decides_the_scores_may_not_change(server, tmp_path, undisturbed_folder):
    """Refused in one line that names both values; where and how fast may change."""
    answers = copied(undisturbed_folder, tmp_path)
    answers.write_bytes(answers.read_bytes().splitlines(keepends=True)[0])
    before = (tmp_path / "state/run.json").read_bytes()
    for others, settings, named in CHANGED:
        message = error_of(*arguments(server, tmp_path, *others, **settings))
        assert message.startswith(f"{tmp_path} was begun with ")
        assert all(value in message for value in named), message
        assert "another --output_path" in message
    many = ("--gen_kwargs", "temperature=0.6,top_p=0.5,top_k=9,max_gen_toks=9")
    assert error_of(*arguments(server, tmp_path, *many)).count(", now ") == 3
    server.root = "/models/another"
    message = error_of(*arguments(server, tmp_path))
    assert "root '/models/solver', now '/models/another'" in message
    server.root = "/models/solver"
    assert (tmp_path / "state/run.json").read_bytes() == before
    assert not server.requests
    free = {"num_concurrent": 3, "timeout": 77, "max_retries": 2}
    free["base_url"] = url_of(server).replace("127.0.0.1", "localhost")
    others = ("--batch_size", 1, "--device", "cpu")
    assert command(*arguments(server, tmp_path, *others, **free))[0] == 0
    assert len(server.requests) == DOCUMENTS - 1


def test_each_request_has_a_seed_of_its_own(server, tmp_path, few_tasks):
    """By run, document and attempt: the same after a kill, others with another seed."""
    (tmp_path / "thrice.yaml").write_text(
        f"include: {TASKS}/cogniload/cogniload_mini.yaml\ntask: thrice\nrepeats: 3\n"
    )
    given = ("--include_path", tmp_path, "--limit", 4, "--gen_kwargs", "temperature=0.6")
    seeds = {}
    for out, others in (("a", ()), ("b", ("--seed", "5")), ("c", ("--gen_kwargs", "seed=5"))):
        words = arguments(server, tmp_path / out, *given, *others, tasks="thrice", num_concurrent=4)
        assert command(*words)[0] == 0
        sent = [(request["seed"], *prompts_of(request)) for request in server.requests]
        assert len({seed for seed, _ in sent}) == 12
        seeds[out], server.requests = sorted(sent), []
    assert len({seed for some in seeds.values() for seed, _ in some}) == 36
    file = tmp_path / "a/state/answers-1.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    assert {json.loads(line)["seed"] for line in lines} == {seed for seed, _ in seeds["a"]}
    file.write_bytes(b"".join(lines[:5]))
    assert command(*arguments(server, tmp_path / "a", *given, tasks="thrice"))[0] == 0
    again = {request["seed"] for request in server.requests}
    assert again == {json.loads(line)["seed"] for line in lines[5:]}


def test_an_answer_belongs_to_the_prompt_that_was_sent(server, tmp_path, few_tasks):
    """Puzzles of a path, or a task's text, that change under the same ids are refused."""
    table = generate_puzzles(1, 5, 50, num_puzzles=6)
    puzzles, tasks = tmp_path / "puzzles", tmp_path / "tasks"
    puzzles.mkdir()
    tasks.mkdir()
    pq.write_table(table, puzzles / "test.parquet")
    text = f"include: {TASKS}/cogniload/cogniload_mini.yaml\ntask: own\n"
    (tasks / "own.yaml").write_text(text)
    of_path = arguments(server, tmp_path / "a", puzzles={"path": str(puzzles)})
    of_task = arguments(server, tmp_path / "b", "--include_path", tasks, tasks="own")
    for words in (of_path, of_task):
        assert command(*words)[0] == 0
        assert command(*words)[0] == 0
    server.asked()
    place, texts = table.column_names.index("puzzle"), table["puzzle"].to_pylist()
    others = table.set_column(place, "puzzle", [texts[::-1]])
    pq.write_table(others, puzzles / "test.parquet")
    (tasks / "own.yaml").write_text(text + 'doc_to_text: "Please. {{puzzle}}"\n')
    for words in (of_path, of_task):
        code, _, err = command(*words)
        assert (code, "is to another prompt" in err.splitlines()[-1]) == (2, True), err
        assert not server.requests
        done(*words, "--anew")
        assert len(server.asked()) == len(answered(Path(words[2])))
        assert command(*words)[0] == 0


def test_a_run_is_one_result_set(server, tmp_path, undisturbed, undisturbed_folder):
    """Whatever the files' times, also in a copy; asked anew, the new one takes its place."""
    out = tmp_path / "out"
    shutil.copytree(undisturbed_folder, out)
    before = {*results_in(out)}
    for file in [*out.rglob("*.jsonl"), *out.rglob("*.json")]:
        os.utime(file, (1e9, 1e9))
    assert command(*arguments(server, out))[0] == 0
    assert command("eval", "--merge", out)[0] == 0
    assert {*results_in(out)} == before
    assert read(out)[0]["config"]["run_id"] == undisturbed[0]["config"]["run_id"]
    assert not server.requests
    with serving() as gone:
        pass  # whose model need not be there
    code, _, err = command(*arguments(gone, out))
    assert (code, f"{DOCUMENTS} answers are there, of a run that was begun 20" in err) == (0, True)
    server.reply = lambda _: "Another model."
    assert command(*arguments(server, out), "--anew")[0] == 0
    assert len(server.requests) == DOCUMENTS
    assert {*results_in(out)} == before
    results, samples = read(out)
    assert {sample["resps"][0][0] for sample in samples} == {"Another model."}
    assert results["config"]["run_id"] != undisturbed[0]["config"]["run_id"]


def test_two_of_the_same_command_ask_once(server, tmp_path, undisturbed):
    """The second says who holds the answers; another shard goes on."""
    wait = Event()
    server.gate = lambda: len(server.requests) > 5 and wait.wait()
    first = start(*arguments(server, tmp_path))
    while len(server.requests) < 6:
        assert first.is_alive()
        time.sleep(0.01)
    assert f"{tmp_path} is held by process {first.pid} on " in error_of(
        *arguments(server, tmp_path)
    )
    wait.set()
    assert command(*arguments(server, tmp_path, "--shard", "2/2"))[0] == 0
    first.join()
    assert first.exitcode == 0
    assert len(server.requests) <= DOCUMENTS + DOCUMENTS // 2
    assert same(read(tmp_path), undisturbed)


def test_files_of_the_state_may_hold_anything(server, tmp_path, undisturbed, undisturbed_folder):
    """What is no answer is asked again, of two the first counts; a wrong run.json is one line."""
    file = copied(undisturbed_folder, tmp_path)
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    again = lines[9] | {"answer": "another"}
    lines[0]["arguments"], lines[1]["task"], lines[2] = None, [], 7
    del lines[3]["answer"]
    lines[4] |= {"prompt_tokens": "many", "acc": "yes"}
    written = [json.dumps(line).encode() for line in (*lines, again)]
    more = [b"\0" * 4096, b"", b"{}", b"[1]", b'"\xff"', written[5][7:]]
    file.write_bytes(b"\n".join([*written[:9], *more, *written[9:], b""]))
    assert command("eval", "--status", tmp_path)[0] == 0
    assert command(*arguments(server, tmp_path))[0] == 0
    assert len(server.asked()) == 4
    runs = read(tmp_path), undisturbed
    said, wanted = ([sample["resps"] for sample in samples] for _, samples in runs)
    assert said == wanted
    run = tmp_path / "state/run.json"
    sound = json.loads(run.read_bytes())
    for part in ("what", "free", "about", "model", "total"):
        run.write_text(json.dumps(sound | {part: "x"}), "utf-8")
        for words in (arguments(server, tmp_path), ["eval", "--merge", tmp_path]):
            assert f"{run} must be what this version" in error_of(*words)
        assert command("eval", "--status", tmp_path)[0] == 2


def test_a_run_without_an_answer_binds_nobody(server, tmp_path, undisturbed_folder):
    """As one that was refused after run.json was written."""
    copied(undisturbed_folder, tmp_path).write_bytes(b"")
    others, settings, _ = CHANGED[0]
    assert command(*arguments(server, tmp_path, *others, **settings))[0] == 0
    assert len(server.requests) > 0


@pytest.mark.parametrize("together", [True, False])
def test_any_shards_are_one_run(server, tmp_path, undisturbed, together):
    """Of one folder or of two; other shards use all that is answered."""
    folders = 2 * [tmp_path / "both"] if together else [tmp_path / "a", tmp_path / "b"]
    processes = [
        start(*arguments(server, folder, "--shard", f"{i}/{n}"))
        for folder, i, n in zip(folders, (1, 3), (2, 4), strict=True)
    ]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    some = server.asked()
    assert len({*some}) == 12
    assert together or len(some) == 18
    known = {*answered(folders[1])}
    for i, n in ((2, 3), (1, 1), (1, 5)):
        assert command(*arguments(server, folders[1], "--shard", f"{i}/{n}"))[0] == 0
        asked = server.asked()
        assert not {*asked} & known
        known |= {*asked}
    assert len(known) == DOCUMENTS
    merged = tmp_path / "merged"
    assert command("eval", "--merge", *dict.fromkeys(folders), "--output_path", merged)[0] == 0
    assert same(read(merged), undisturbed)


def test_missing_answers_are_counted_and_what_is_there_is_scored(server, tmp_path, undisturbed):
    run, part = tmp_path / "run", tmp_path / "part"
    code, out, err = command(*arguments(server, run, "--shard", "2/3"))
    assert (code, "16 puzzles are left" in out, "--merge" in err) == (0, True, True)
    message = error_of("eval", "--merge", run)
    assert message.startswith(f"{run}: 16 of 24 puzzles have no answer yet")
    assert not results_in(run)
    assert command("eval", "--merge", run, "--output_path", part)[0] == 0
    results, samples = read(part)
    wanted = undisturbed[1][1::3]
    assert samples == wanted
    accuracy = sum(sample["acc"] for sample in wanted) / len(wanted)
    assert results["results"]["cogniload_mini"]["acc,none"] == accuracy
    assert results["config"]["interim"] == "interim: 8 of 24 puzzles"
    assert command(*arguments(server, tmp_path / "other", "--limit", "6"))[0] == 0
    assert "limit" in error_of("eval", "--merge", run, tmp_path / "other")
    assert "shard" in error_of(*arguments(server, run, "--shard", "3/2"))


def test_merge_loads_no_code_of_a_folder(tmp_path, undisturbed_folder, monkeypatch):
    """A task's file that run.json names, beside it; and what --metadata may make tasks load."""
    copied(undisturbed_folder, tmp_path)
    (tmp_path / "evil.yaml").write_text("task: evil\ncustom_dataset: !function evil.f\n")
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "state/run.json"
    run = json.loads(file.read_bytes())
    for task in ("evil.yaml", str(tmp_path)):
        run["what"]["tasks"] = [task]
        file.write_text(json.dumps(run))
        assert "--include_path" in error_of("eval", "--merge", tmp_path)
    assert not (tmp_path / "ran").exists()


def test_the_status_of_a_run(server, tmp_path, undisturbed):
    """After a merge, the report is next."""
    assert error_of("eval", "--status", tmp_path).startswith(f"{tmp_path} must hold an evaluation")
    for shard in ("2/3", "3/3"):
        assert command(*arguments(server, tmp_path, "--shard", shard))[0] == 0
    known = [sample for i, sample in enumerate(undisturbed[1]) if i % 3]
    prompts, responses = (
        sum(sample[f"{part}_tokens"] for sample in known) for part in ("prompt", "response")
    )
    code, out, err = command("eval", "--status", tmp_path, "--price", "1000,2000")
    assert (code, err) == (0, "")
    right = sum(sample["acc"] for sample in known) / 16
    cost = (1000 * prompts + 2000 * responses) / 1e6
    for figure in ("16 of 24", f"{right:.1%}", f"{prompts:,}", f"{responses:,}", f"{cost:,.2f}"):
        assert f" {figure} " in out
    (told,) = json.loads(command("eval", "--status", tmp_path, "--json")[1])
    assert (told["answered"], told["puzzles"], told["accuracy"]) == (16, 24, right)
    assert (told["prompt_tokens"], told["response_tokens"]) == (prompts, responses)
    assert command(*arguments(server, tmp_path, "--shard", "1/3"))[0] == 0
    for following in (f"eval --merge {tmp_path}", f"report {tmp_path} --out {tmp_path}/report"):
        assert command("eval", "--status", tmp_path)[1].endswith(f"next: cogniload {following}\n")
        for _ in range(2):  # a merge again is the same result set
            assert command("eval", "--merge", tmp_path)[0] == 0
            assert same(read(tmp_path), undisturbed)


def test_a_cap_stops_and_a_higher_one_goes_on(server, tmp_path, undisturbed):
    tokens = [sample["prompt_tokens"] + sample["response_tokens"] for sample in undisturbed[1]]
    half = sum(tokens) // 2

    def capped(cap):
        return "--price", "1000,1000", "--max-cost", cap / 1000

    code, _, err = command(*arguments(server, tmp_path, *capped(half), num_concurrent=2))
    assert (code, "stopped: " in err, "higher cap" in err) == (4, True, True), err
    assert not results_in(tmp_path)
    assert command("eval", "--status", tmp_path)[1].endswith("with a higher cap continues\n")
    known = answered(tmp_path)
    spent = sum(
        record["prompt_tokens"] + record["response_tokens"]
        for lines in whole_lines(tmp_path).values()
        for record in map(json.loads, lines)
    )
    assert half <= spent <= half + 2 * max(tokens)  # two were in flight
    assert sorted(server.asked()) == sorted(known)  # nothing else is an answer
    assert command(*arguments(server, tmp_path, *capped(spent)))[0] == 4
    assert not server.requests
    assert command(*arguments(server, tmp_path, *capped(sum(tokens))))[0] == 0  # by the last
    assert len(server.asked()) == DOCUMENTS - len(known)
    assert same(read(tmp_path), undisturbed)


@pytest.mark.parametrize(("others", "message"), cases(__file__)["eval_words"])
def test_wrong_arguments(server, tmp_path, others, message):
    out = tmp_path / "out"
    said = error_of(*arguments(server, out, *others))
    assert said.startswith(message)
    assert "must be fr" not in message or f"from 0 to {DOCUMENTS - 1}" in said
    assert not server.requests
    assert not out.exists()


def test_a_cap_needs_counts(server, tmp_path):
    server.instead = {"usage": None}
    message = error_of(*arguments(server, tmp_path, "--max-tokens-total", "1M"))
    assert "no counts of tokens" in message
    assert server.requests

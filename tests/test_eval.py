"""`cogniload eval` with the real lm-eval, against a server that answers from the puzzle's text.

Processes that are killed, or that share a folder, are forks of this one: they start at once.
"""

import errno
import json
import multiprocessing
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Lock, Thread
from types import SimpleNamespace

import pytest
import torch
import yaml
from harness import TASKS, global_random_state_is_left_alone, manager  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI
from lm_eval.models.utils import postprocess_generated_text
from lm_eval.tasks import TaskManager
from statsmodels.stats.proportion import proportion_confint
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.trainers import WordLevelTrainer
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from cogniload_analysis import read_samples
from cogniload_gen import GENERATOR_VERSION, generate_puzzles, solve
from cogniload_gen.cli import main
from lm_eval_tasks.blocks import sample_line
from lm_eval_tasks.budget import count_response_tokens
from lm_eval_tasks.internals import slots
from lm_eval_tasks.progress import Progress
from lm_eval_tasks.responses import Response, Said, keep_what_is_said, said_of
from lm_eval_tasks.server import fill_every_slot
from lm_eval_tasks.state import cut_in_blocks

pytest.importorskip("tenacity", reason="lm-eval[api] is not installed")

fork = multiprocessing.get_context("fork")

PUZZLES = {"d": [1, 3], "N": [5, 20], "rho": [10, 50], "num_puzzles": 3}
DOCUMENTS, BLOCK_SIZE, BLOCKS = 24, 5, 5


# --- a server


class Handler(BaseHTTPRequestHandler):
    """Answers by the solver, or wrongly: a pure function of the prompt; tokens are words."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        known = {"id": "solver", "root": "/models/solver", "max_model_len": self.server.window}
        told = {
            "/v1/models": {"object": "list", "data": [known]},
            "/version": {"version": "0.99.0"},
        }
        self.answer(self.server.status, json.dumps(told[self.path]))

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append(request)
            status = server.status if len(server.requests) <= server.healthy else 500
        time.sleep(server.seconds)
        if server.together:
            with suppress(BrokenBarrierError):
                server.together.wait()
        prompt = request["messages"][0]["content"]
        text = respond(prompt)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}
        instead = server.instead
        if isinstance(instead, dict):
            instead = json.dumps({"choices": [choice], "usage": usage} | instead)
        self.answer(status, instead)

    def answer(self, status, content):
        body = (content if status == 200 else '{"error": "the engine is dead"}').encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def respond(prompt):
    value = solve(prompt)
    if len(prompt) % 3 == 0:
        return "I can't tell — 无法判断."
    return f"So {prompt.splitlines()[-1]} In the end it is {value}."


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        self.lock, self.requests = Lock(), []
        self.status, self.healthy, self.window = 200, 10**9, 2048
        self.seconds, self.together, self.instead = 0, None, {}
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, *_):
        """Clients that were killed are no news."""


running_servers = []


@contextmanager
def serving():
    server = Server()
    running_servers.append(server)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        running_servers.remove(server)


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def quick_environment(monkeypatch):
    """In place of lm-eval's look at the machine, which takes two seconds, and shorter retries."""
    facts = {"pretty_env_info": "", "lm_eval_version": version("lm_eval")}
    monkeypatch.setattr("lm_eval_tasks.evaluate.add_env_info", lambda told: told.update(facts))


def model_args(server, **settings):
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    given = {"model": "solver", "base_url": url, "max_retries": 1} | settings
    return json.dumps(given)


def arguments(server, out, *others, puzzles=PUZZLES, **settings):
    return [
        *("eval", "--output_path", str(out), "--block_size", str(BLOCK_SIZE)),
        *("--model", "local-chat-completions", "--model_args", model_args(server, **settings)),
        *("--apply_chat_template", "--tasks", "cogniload_mini"),
        *("--metadata", json.dumps({"cogniload": puzzles}), *others),
    ]


def command(*arguments):
    """The exit code, standard output and standard error of the command, run here."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def start(*arguments):
    """The command in a process of its own, which says nothing."""
    process = fork.Process(target=quietly, args=arguments)
    process.start()
    return process


def wait_for(condition):
    """Returns when it holds; fails after half a minute."""
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def quietly(*arguments):
    for server in running_servers:  # of which a fork must not hold a copy
        server.socket.close()
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        sys.exit(main([str(argument) for argument in arguments]))


def error_of(*arguments):
    """The one line of an error with exit code 2, warnings aside."""
    code, _, err = command(*arguments)
    assert code == 2, err
    (line,) = (line for line in err.splitlines() if not line.startswith("warning: "))
    assert line.startswith("cogniload eval: error: ")
    return line.removeprefix("cogniload eval: error: ")


def read(out):
    """The results and the samples of the only result set below a folder."""
    (results,), (samples,) = out.rglob("results_*.json"), out.rglob("samples_*.jsonl")
    lines = samples.read_text(encoding="utf-8").splitlines()
    return json.loads(results.read_bytes()), [json.loads(line) for line in lines]


def done_blocks(out):
    return sorted((out / "state").glob("block-*.jsonl"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The samples of a run that nothing disturbs, by its blocks' own command."""
    out = tmp_path_factory.mktemp("undisturbed")
    with serving() as server:
        assert command(*arguments(server, out))[0] == 0
    return read(out)


# --- the same as lm-eval's


@pytest.mark.parametrize("concurrent", [1, 4])
def test_results_are_those_of_lm_eval_without_blocks(server, tmp_path, undisturbed, concurrent):
    """And written as its own command writes them."""
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    tracker = EvaluationTracker(output_path=str(tmp_path))
    plain = simple_evaluate(
        "local-chat-completions",
        model_args={"model": "solver", "base_url": url, "num_concurrent": concurrent},
        tasks=["cogniload_mini"],
        task_manager=manager(cogniload=PUZZLES),
        apply_chat_template=True,
        fewshot_as_multiturn=True,
        evaluation_tracker=tracker,
    )
    samples = plain.pop("samples")
    tracker.save_results_aggregated(results=plain, samples=samples)
    tracker.save_results_samples(task_name="cogniload_mini", samples=samples["cogniload_mini"])
    theirs, our = read(tmp_path), undisturbed
    assert our[1] == theirs[1]
    assert 0 < our[0]["results"]["cogniload_mini"]["acc,none"] < 1
    same = ("results", "n-samples", "versions", "n-shot", "higher_is_better", "group_subtasks")
    also = ("task_hashes", "model_name", "model_name_sanitized", "model_source")
    for part in (*same, *also):
        assert our[0][part] == theirs[0][part], part
    assert theirs[0].keys() - {"transformers_version", "upper_git_hash"} <= our[0].keys()
    assert theirs[0]["config"].keys() <= our[0]["config"].keys()


def test_several_tasks_are_those_of_lm_eval(server, tmp_path):
    """FACTOR's among them."""
    server.window = 4096
    tasks = ["factor_symbolic_mini", "cogniload_mini", "factor_realistic_mini"]
    plain = simple_evaluate(
        "local-chat-completions",
        model_args=json.loads(model_args(server)),
        tasks=tasks,
        task_manager=manager(),
        apply_chat_template=True,
        limit=8,
    )
    settings = ["--tasks", *tasks, "--limit", "8"]
    assert command(*arguments(server, tmp_path, *settings, puzzles={}))[0] == 0
    (results,) = tmp_path.rglob("results_*.json")
    assert json.loads(results.read_bytes())["results"] == plain["results"]
    assert len(done_blocks(tmp_path)) == 3 * 2
    for task in tasks:
        (file,) = tmp_path.rglob(f"samples_{task}_*.jsonl")
        told = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert [sample_line(sample) for sample in plain["samples"][task]] == (
            file.read_bytes().splitlines(keepends=True)
        )
        assert all(s["prompt_tokens"] == s["backend_prompt_tokens"] for s in told)


@pytest.mark.slow
def test_the_report_reads_the_results(server, tmp_path):
    assert command(*arguments(server, tmp_path))[0] == 0
    frame = read_samples(tmp_path)
    assert len(frame) == DOCUMENTS
    assert set(frame["model"]) == {"solver"}
    assert frame["generator_version"].astype(float).eq(GENERATOR_VERSION).all()
    report = tmp_path / "report"
    assert command("report", tmp_path, "--out", report)[0] == 0
    assert (report / "report.html").exists()


def test_samples_have_what_the_server_said(undisturbed):
    _, samples = undisturbed
    for sample in samples:
        said = respond(sample["doc"]["puzzle"])
        assert sample["resps"] == [[said]]
        assert sample["finish_reason"] == "stop"
        words = len(sample["doc"]["puzzle"].split())
        assert sample["prompt_tokens"] == sample["backend_prompt_tokens"] == words
        assert sample["response_tokens"] == len(said.split())


def test_the_version_of_vllm_is_recorded(undisturbed):
    results, _ = undisturbed
    assert results["vllm_version"] == "0.99.0"


def test_hidden_reasoning_counts(server, tmp_path):
    """A response of two words that took all its tokens was cut."""
    server.instead = {"usage": {"prompt_tokens": 90, "completion_tokens": 64}}
    assert command(*arguments(server, tmp_path))[0] == 0
    _, samples = read(tmp_path)
    assert {sample["outcome"] for sample in samples} == {"wrong_max_context"}


# --- killed, and started again


@pytest.mark.slow
def test_killed_at_ten_moments_ends_as_undisturbed(server, tmp_path, undisturbed):
    """Ten kills: as it starts, or some time after a number of requests, of which a block has 2."""
    server.seconds, moments = 0.02, random.Random(5)  # noqa: S311
    command_line = arguments(server, tmp_path, "--block_size", "2")
    before = {}
    for _ in range(10):
        process, asked, more = start(*command_line), len(server.requests), moments.randrange(4)
        if more:
            wait_for(lambda: len(server.requests) >= asked + more)  # noqa: B023
        time.sleep(moments.uniform(0, 0.03 if more else 0.5))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        done = {file: file.read_bytes() for file in done_blocks(tmp_path)}
        assert done.items() >= before.items()  # none is lost or changed
        before = done
    assert 0 < len(before) < 12
    asked = len(server.requests)
    assert command(*command_line)[0] == 0
    assert len(server.requests) == asked + DOCUMENTS - 2 * len(before)
    assert same_samples(read(tmp_path), undisturbed)
    assert not [*tmp_path.rglob("*.part")]


def same_samples(ours, theirs):
    """Whether two result sets have the same samples in the same order, and the same results."""
    return ours[1] == theirs[1] and ours[0]["results"] == theirs[0]["results"]


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
    with serving() as server:
        server.seconds = 0.05
        process = start(*arguments(server, tmp_path))
        wait_for(lambda: len(server.requests) >= 8)
    process.join()
    assert process.exitcode == 2
    assert 1 <= len(done_blocks(tmp_path)) < BLOCKS
    with serving() as server:
        assert command(*arguments(server, tmp_path))[0] == 0
    assert same_samples(read(tmp_path), undisturbed)


def test_a_full_disk(server, tmp_path, undisturbed):
    """As a disk with room for one file of 3 KB: the system refuses to write more."""
    command_line = arguments(server, tmp_path)

    def run():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
        with (tmp_path / "err").open("w") as err, redirect_stderr(err):
            sys.exit(main(command_line))

    process = fork.Process(target=run)
    process.start()
    process.join()
    assert process.exitcode == 2
    *_, last = (tmp_path / "err").read_text().splitlines()
    block = tmp_path / "state" / "block-00001.jsonl"
    assert last == f"cogniload eval: error: {block}: {os.strerror(errno.EFBIG)}"
    assert not [*tmp_path.rglob("*.part")]
    assert command(*command_line)[0] == 0
    assert same_samples(read(tmp_path), undisturbed)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 100 KB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, check=False, capture_output=True, text=True)
    except FileNotFoundError as error:
        pytest.skip(f"no mount: {error}")
    if mounted.returncode:
        pytest.skip(f"no tmpfs: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_file_system(server, small_disk, undisturbed):
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(60_000))
    message = error_of(*arguments(server, small_disk))
    assert message.endswith(f".jsonl: {os.strerror(errno.ENOSPC)}")
    kept = {file: file.read_bytes() for file in done_blocks(small_disk)}
    assert 0 < len(kept) < BLOCKS
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=1m", str(small_disk)], check=True)
    assert command(*arguments(server, small_disk))[0] == 0
    assert kept == {file: file.read_bytes() for file in kept}
    assert same_samples(read(small_disk), undisturbed)


@pytest.mark.slow
def test_ctrl_c(server, tmp_path, undisturbed):
    """The command itself, in a process of its own."""
    server.seconds = 0.1
    settings = arguments(server, tmp_path, num_concurrent=4)
    command_line = [sys.executable, "-m", "cogniload_gen.cli", *settings]
    process = subprocess.Popen(command_line, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(server.requests) >= 7)
    process.send_signal(signal.SIGINT)
    *warnings, last = process.communicate()[1].splitlines()
    assert process.returncode == 130
    assert all(line.startswith("warning: ") for line in warnings)
    assert last == "cogniload eval: interrupted"
    assert len(done_blocks(tmp_path)) == 1
    server.seconds = 0
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


# --- shards


@pytest.mark.parametrize("together", [True, False])
def test_two_shards_at_once_are_one_run(server, tmp_path, undisturbed, together):
    folders = 2 * [tmp_path / "both"] if together else [tmp_path / "a", tmp_path / "b"]
    server.seconds = 0.01
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


def test_the_number_of_shards_may_change(server, tmp_path, undisturbed):
    assert command(*arguments(server, tmp_path, "--shard", "1/3"))[0] == 0
    assert command(*arguments(server, tmp_path))[0] == 0
    assert len(server.requests) == DOCUMENTS
    assert same_samples(read(tmp_path), undisturbed)


def test_a_block_that_two_folders_have_counts_once(server, tmp_path, undisturbed):
    folders = [tmp_path / "a", tmp_path / "b"]
    assert command(*arguments(server, folders[0], "--shard", "1/2"))[0] == 0
    assert command(*arguments(server, folders[1]))[0] == 0
    assert command("eval", "--merge", *folders, "--output_path", tmp_path / "merged")[0] == 0
    assert same_samples(read(tmp_path / "merged"), undisturbed)


def test_a_folder_takes_one_process_for_a_block(server, tmp_path):
    server.seconds = 0.05
    process = start(*arguments(server, tmp_path, "--shard", "2/2"))
    wait_for(lambda: server.requests)
    message = error_of(*arguments(server, tmp_path))
    assert message == f"{tmp_path}: another process is evaluating block 2"
    assert command(*arguments(server, tmp_path, "--shard", "1/2"))[0] == 0
    process.join()
    assert process.exitcode == 0


# --- another run in the same folder


@pytest.fixture
def half(server, tmp_path):
    """A folder in which an evaluation was begun, and half of it is done."""
    assert command(*arguments(server, tmp_path, "--shard", "1/2"))[0] == 0
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("--gen_kwargs", "temperature=0.6"), "arguments.gen_kwargs.temperature None, now 0.6"),
        (("--limit", "6"), "arguments.limit None, now 6.0"),
        (("--system_instruction", "Think."), "arguments.system_instruction None, now 'Think.'"),
        (("--block_size", "6"), "block_size 5, now 6"),
        (("--tasks", "cogniload_lite"), "arguments.tasks"),
        (("--model_args", "seed=7"), "arguments.model_args.seed None, now 7"),
        (
            ("--metadata", '{"cogniload": {"d": [1, 3], "N": [5], "rho": [10, 50]}}'),
            "arguments.metadata.cogniload.N [5, 20], now [5]",
        ),
    ],
)
def test_changed_arguments_are_refused(server, half, changed, message):
    asked = len(server.requests)
    refused = error_of(*arguments(server, half, *changed))
    assert refused.startswith(f"{half} was begun with {message}")
    assert len(server.requests) == asked


def test_where_and_how_fast_may_change(server, half):
    assert command(*arguments(server, half, num_concurrent=3, timeout=77))[0] == 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("GENERATOR_VERSION", 2, f"versions.generator {GENERATOR_VERSION}, now 2"),
        ("version", lambda _: "0.5", f"versions.lm_eval '{version('lm_eval')}', now '0.5'"),
    ],
)
def test_other_versions_are_refused(server, half, monkeypatch, name, value, message):
    monkeypatch.setattr(f"lm_eval_tasks.plan.{name}", value)
    assert message in error_of(*arguments(server, half))
    assert message in error_of("eval", "--merge", half)


def test_another_model_is_refused(server, half, monkeypatch):
    monkeypatch.setattr(
        "lm_eval_tasks.evaluate.check_server", lambda *_: {"root": "/models/another"}
    )
    message = "model.root '/models/solver', now '/models/another'"
    assert message in error_of(*arguments(server, half))


def test_secrets_are_not_written(server, tmp_path):
    secret = "a-secret-token"  # noqa: S105
    url = f"http://me:{secret}@127.0.0.1:{server.server_port}/v1/chat/completions"
    hidden = {"auth_token": secret, "hf_token": secret, "base_url": url}
    assert command(*arguments(server, tmp_path, **hidden))[0] == 0
    assert secret not in error_of(*arguments(server, tmp_path / "other", model="x", **hidden))
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if secret.encode() in path.read_bytes()]


# --- what can't be evaluated is said in one line


def test_no_server(server, tmp_path):
    with serving() as gone:
        pass
    message = error_of(*arguments(gone, tmp_path))
    assert message == f"no server answers at http://127.0.0.1:{gone.server_port}/v1/models"
    assert command(*arguments(server, tmp_path))[0] == 0


def test_a_server_that_answers_500(server, tmp_path):
    server.status = 500
    message = error_of(*arguments(server, tmp_path))
    assert message.startswith("the server at http://127.0.0.1:")
    assert "/v1/models answered 500 Internal Server Error: " in message
    server.status = 200
    assert command(*arguments(server, tmp_path))[0] == 0


def test_a_model_that_the_server_does_not_know(server, tmp_path):
    message = error_of(*arguments(server, tmp_path, model="solvent"))
    assert message.endswith("/v1/models: the models are 'solver'; got model='solvent'")


def test_a_window_below_the_budget(server, tmp_path):
    server.window = 2047
    message = error_of(*arguments(server, tmp_path))
    assert "/v1/models: the model takes 2047 tokens and context_budget is 2048" in message
    assert not server.requests


def test_prompts_that_do_not_fit_are_refused_before_the_run(server, tmp_path):
    puzzles = {"d": [1, 10], "N": [5, 50], "rho": 50, "num_puzzles": 5, "context_budget": 1024}
    message = error_of(*arguments(server, tmp_path, "--block_size", "1", puzzles=puzzles))
    assert "documents do not fit: cogniload-v1-test-s42-d10" in message  # not the first
    assert not server.requests
    puzzles |= {"d": 1, "N": 5}
    assert command(*arguments(server, tmp_path, puzzles=puzzles))[0] == 0


def test_until_a_block_is_done_nothing_is_begun(server, tmp_path):
    """What the first request already refuses can be put right in the same folder."""
    right = arguments(server, tmp_path)
    wrong = [argument for argument in right if argument != "--apply_chat_template"]
    message = error_of(*wrong)
    assert message.startswith("lm-eval asks for something else: LocalChatCompletion expects")
    assert command(*right)[0] == 0


def test_a_shard_that_was_begun_otherwise_is_refused(server, tmp_path):
    """Also where none had a block done when the other was started."""
    server.seconds = 0.1
    process = start(*arguments(server, tmp_path, "--shard", "1/2"))
    wait_for(lambda: server.requests)
    message = error_of(*arguments(server, tmp_path, "--shard", "2/2", "--seed", "7"))
    assert message.startswith(
        f"{tmp_path} was begun with arguments.seed [0, 1234, 1234, 1234], now"
    )
    process.join()
    assert process.exitcode == 0
    assert len(done_blocks(tmp_path)) == 3


@pytest.mark.parametrize("concurrent", [1, 4])
@pytest.mark.parametrize("instead", [{"choices": []}, {"choices": None}, {"choices": [{}]}])
def test_an_answer_that_is_no_completion(server, tmp_path, instead, concurrent):
    server.instead = instead
    message = error_of(*arguments(server, tmp_path, num_concurrent=concurrent))
    assert message.startswith("the server's answer is no completion: ")
    assert not done_blocks(tmp_path)


@pytest.mark.parametrize("concurrent", [1, 4])
def test_an_answer_that_is_no_json(server, tmp_path, concurrent):
    server.instead = "<html>"
    message = error_of(*arguments(server, tmp_path, num_concurrent=concurrent))
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    assert message.startswith(f"the server at {url} answered 'Expecting value")


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (["--shard", "9/8"], "shard must be I/N with 1 <= I <= N, got '9/8'"),
        (["--shard", "3"], "shard must be I/N with 1 <= I <= N, got '3'"),
        (["--shard", ""], "shard must be I/N with 1 <= I <= N, got ''"),
        (["--limit", "0"], "limit must be above 0, got 0.0"),
        (["--limit", "-3"], "limit must be above 0, got -3.0"),
        (["--block_size", "0"], "block_size must be an integer of at least 1, got 0"),
        (["--block_size", "many"], "block_size must be an integer of at least 1, got 'many'"),
        (["--use_cache", "x"], "--use_cache is refused"),
        (["--predict_only"], "--predict_only is refused"),
        pytest.param(  # reads all of lm-eval's own
            *(["--tasks", "cogniload_maxi"], "Tasks not found: cogniload_maxi"),
            marks=pytest.mark.slow,
        ),
        (["--model", "brain"], "brain: Attempted to load model 'brain'"),
        (["--samples", "no such file"], "samples must be a mapping of tasks to lists"),
        (["--samples", '{"cogniload": [1]}'], "samples must be of cogniload_mini; got 'cogniload'"),
        *(
            (["--samples", f'{{"cogniload_mini": {wrong}}}'], "samples of cogniload_mini must be a")
            for wrong in ("[0, 24]", "[]", '"ab"', "[1.5]", "[[1]]", "7")
        ),
        (["--config", "no such file"], "Config file not found: "),
        (["-C", "no such file"], "Config file not found: "),
    ],
)
def test_wrong_arguments(server, tmp_path, others, message):
    assert error_of(*arguments(server, tmp_path, *others)).startswith(message)
    assert not server.requests


def test_an_unknown_argument(server, tmp_path, capfd):
    with pytest.raises(SystemExit) as ended:
        main(arguments(server, tmp_path, "--modell", "x"))
    assert ended.value.code == 2
    assert capfd.readouterr().err == ("cogniload eval: error: unrecognized arguments: --modell x\n")


def test_merging_what_is_no_run(server, half, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    assert error_of("eval", "--merge", empty).startswith(f"{empty} must hold an evaluation")
    other = tmp_path_factory.mktemp("other")
    assert command(*arguments(server, other, "--limit", "6"))[0] == 0
    assert "arguments.limit" in error_of("eval", "--merge", half, other)
    message = "--merge takes its folders and --output_path, and nothing else"
    assert error_of("eval", "--merge", half, "--model", "hf") == message


@pytest.mark.parametrize("kept", [-1, -100, -3500])
def test_a_damaged_block_is_named(server, tmp_path, kept):
    """Cut by its last line's end, within a line, or by more than one."""
    assert command(*arguments(server, tmp_path))[0] == 0
    block = done_blocks(tmp_path)[2]
    block.write_bytes(block.read_bytes()[:kept])
    assert error_of("eval", "--merge", tmp_path).startswith(
        f"{block} must hold the samples of the documents 10 to 14 of cogniload_mini: delete it"
    )
    block.unlink()
    assert command(*arguments(server, tmp_path))[0] == 0


@pytest.mark.parametrize("written", [b"{", b"\xff", b"null", b"[]", b"{}", b'{"versions": 2}'])
def test_a_description_that_is_none_is_refused(server, tmp_path, written):
    run = tmp_path / "state" / "run.json"
    run.parent.mkdir()
    run.write_bytes(written)
    for command_line in (arguments(server, tmp_path), ["eval", "--merge", tmp_path]):
        assert error_of(*command_line).startswith(f"{run} must be what ")
    assert run.read_bytes() == written
    assert not server.requests


def test_a_file_system_without_locks(server, tmp_path, monkeypatch):
    def lockf(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.lockf", lockf)
    message = error_of(*arguments(server, tmp_path))
    assert message.startswith(f"{tmp_path}/state/lock: No locks available: name an --output_path")


@pytest.mark.parametrize(
    "name",
    [
        "_cli.run.Run",
        "evaluator_utils._process_results",
        "evaluator_utils.EvalAcc._to_eval_results",
        "loggers.evaluation_tracker.GeneralConfigTracker._get_model_name",
    ],
)
def test_another_lm_eval_is_named(server, tmp_path, monkeypatch, name):
    """As if it had not what it keeps to itself."""
    assert command(*arguments(server, tmp_path))[0] == 0
    (results,) = tmp_path.rglob("results_*.json")
    results.unlink()
    monkeypatch.delattr(f"lm_eval.{name}")
    by_parser = arguments(server, tmp_path)
    message = error_of(*(by_parser if "_cli" in name else ("eval", "--merge", tmp_path)))
    assert message.startswith(f"lm-eval {version('lm_eval')} is not as 0.4.13 was (")


def test_an_api_model_without_slots_is_named():
    with pytest.raises(ImportError, match=r"is not as 0\.4\.13 was \('object' .* '_concurrent'"):
        slots(object())


# --- a configuration file


def test_a_configuration_file(server, tmp_path, undisturbed):
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    config = tmp_path / "config.yaml"
    settings = {
        "model": "local-chat-completions",
        "model_args": {"model": "solver", "base_url": url},
        "apply_chat_template": True,
        "tasks": ["cogniload_mini"],
        "metadata": {"cogniload": PUZZLES},
        "block_size": 7,
        "output_path": str(tmp_path / "out"),
    }
    config.write_text(yaml.safe_dump(settings))
    assert command("eval", "--config", config, "--block_size", "6")[0] == 0
    assert len(done_blocks(tmp_path / "out")) == 4  # the command line goes first
    assert same_samples(read(tmp_path / "out"), undisturbed)
    also = ["--tasks", "cogniload_mini", "--log_samples"]
    assert command("eval", "-C", config, "--block_size", "6", *also)[0] == 0  # as it was begun
    config.write_text(yaml.safe_dump(settings | {"gpu": 8}))
    assert error_of("eval", "--config", config).endswith("got 'gpu'")
    for wrong in (0, 3, [1, 2]):
        config.write_text(yaml.safe_dump(settings | {"shard": wrong}))
        assert error_of("eval", "--config", config).endswith(f"I <= N, got {wrong}")
    config.write_text("- a list")
    assert "must be a mapping" in error_of("eval", "--config", config)


@pytest.mark.parametrize(
    ("name", "value", "types"),
    [
        ("tasks", 3, "str or list"),
        ("model", None, "str"),
        ("model_args", ["model=solver"], "dict"),
        ("gen_kwargs", "temperature=1", "dict"),
        ("metadata", 7, "dict"),
        ("limit", "6", "float or int or null"),
        ("samples", [1], "str or dict or null"),
        ("num_fewshot", "no", "int or null"),
        ("batch_size", [1], "int or str"),
        ("system_instruction", ["Think."], "str or null"),
        ("output_path", 3, "str"),
    ],
)
def test_a_value_of_a_wrong_type_is_named(tmp_path, name, value, types):
    config = tmp_path / "config.yaml"
    settings = {"model": "dummy", "tasks": "cogniload_mini", "output_path": str(tmp_path)}
    config.write_text(yaml.safe_dump(settings | {name: value}))
    message = f"{name} of {config} must be {types}, got {value!r}"
    assert error_of("eval", "--config", config) == message


@pytest.mark.parametrize("missing", ["tasks", "output_path"])
def test_a_missing_argument_is_named(tmp_path, missing):
    config = tmp_path / "config.yaml"
    both = {"tasks": "cogniload_mini", "output_path": str(tmp_path)}
    config.write_text(
        yaml.safe_dump({"model": "dummy"} | {n: both[n] for n in both if n != missing})
    )
    assert error_of("eval", "--config", config).startswith(f"--{missing} is missing")


# --- all slots of a server, and responses that know what was said of them


def test_every_slot_is_filled_whatever_the_limits(server, tmp_path):
    """The server answers once it has twelve requests, of different limits, or after a while."""
    server.together, server.window = Barrier(12, timeout=5), 4096
    puzzles = {"d": [1, 5], "N": [5, 20, 30], "rho": 50, "num_puzzles": 2, "context_budget": 4096}
    others = ["--gen_kwargs", "max_gen_toks=9999", "--block_size", "12"]
    command_line = arguments(server, tmp_path, *others, puzzles=puzzles, num_concurrent=12)
    assert command(*command_line)[0] == 0
    assert len({request["max_tokens"] for request in server.requests}) > 3
    assert not server.together.broken


def test_prompts_with_images_are_left_to_lm_eval():
    """They have a third argument, which its own way of sending puts into the prompt."""
    model = LocalChatCompletion(model="m", base_url="http://127.0.0.1:9/", num_concurrent=4)
    model.generate_until = lambda requests: f"{len(requests)} by lm-eval"
    fill_every_slot(model)
    request = SimpleNamespace(args=("prompt", {}, {"visual": ["image"]}))
    assert model.generate_until([request]) == "1 by lm-eval"


ANSWER = {"choices": [{"index": 0, "message": {"content": "a b"}, "finish_reason": "length"}]}


def chat_model():
    model = LocalChatCompletion(model="m", base_url="http://127.0.0.1:9/v1/chat/completions")
    keep_what_is_said(model)
    keep_what_is_said(model)
    return model


def test_an_api_model_keeps_what_the_server_said():
    usage = {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    (response,) = chat_model().parse_generations(ANSWER | usage)
    assert response == "a b"
    assert said_of(response) == Said("length", 7, 2)
    assert said_of("a b") == Said()


def test_a_response_without_text_keeps_what_the_server_said():
    cut = {"choices": [{"index": 0, "message": {"content": None}, "finish_reason": "length"}]}
    (response,) = chat_model().parse_generations(cut)
    assert (response, said_of(response).finish_reason) == ("", "length")


@pytest.mark.parametrize(
    "usage",
    [None, {}, [], "7", {"prompt_tokens": "7"}, {"prompt_tokens": -1}, {"prompt_tokens": True}],
)
def test_counts_that_are_none_are_left_out(usage):
    if usage in ([], "7"):
        usage = {"prompt_tokens": usage}
    (response,) = chat_model().parse_generations(ANSWER | {"usage": usage})
    assert said_of(response) == Said("length")


def test_responses_that_share_an_answer_share_no_count():
    model = LocalCompletionsAPI(model="m", tokenizer_backend=None, batch_size=2)
    keep_what_is_said(model)
    choices = [
        {"index": 1, "text": "second", "finish_reason": "stop"},
        {"index": 0, "text": "first", "finish_reason": "length"},
    ]
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    responses = model.parse_generations(outputs={"choices": choices, "usage": usage})
    assert responses == ["first", "second"]
    assert [said_of(response) for response in responses] == [Said("length"), Said("stop")]


def test_vllm_s_outputs_keep_what_the_engine_said():
    """vLLM's model can't be loaded here: one with its module and its method stands for it."""

    class VLLM:
        def _model_generate(self, requests):
            completion = SimpleNamespace(text="x</think> a b</s>", finish_reason="stop")
            completion.token_ids = [1, 2, 3]
            return [SimpleNamespace(outputs=[completion], prompt_token_ids=requests[0])]

    VLLM.__module__ = "lm_eval.models.vllm_causallms"
    model = VLLM()
    keep_what_is_said(model)
    (output,) = model._model_generate([[5, 6]])
    text = postprocess_generated_text(output.outputs[0].text, ["</s>"], "</think>")
    assert text == "a b"
    assert said_of(text) == Said("stop", 2, 3)


def test_a_response_survives_lm_eval_s_cache():
    said = Said("stop", 1, 2)
    again = pickle.loads(pickle.dumps(Response("a", said)))  # noqa: S301
    assert (again, said_of(again)) == ("a", said)


# --- blocks


@given(
    st.dictionaries(st.text(min_size=1), st.integers(0, 200).map(range), min_size=1, max_size=4),
    st.integers(1, 60),
    st.integers(1, 9),
)
def test_shards_share_every_document_once(documents, size, shards):
    blocks = cut_in_blocks(documents, size)
    assert [block.number for block in blocks] == list(range(1, len(blocks) + 1))
    assert all(1 <= len(block.documents) <= size for block in blocks)
    mine = [block for shard in range(shards) for block in blocks[shard::shards]]
    shared = [(block.task, document) for block in mine for document in block.documents]
    assert Counter(shared) == Counter((task, i) for task, all_ in documents.items() for i in all_)


def test_half_an_emoji_is_written():
    sample = {"target": "x", "arguments": [("p", {})], "resps": [["\ud83d ü"]]}
    line = sample_line(sample | {"filtered_resps": ["\ud83d ü"]})
    assert json.loads(line)["filtered_resps"] == ["\ud83d ü"]
    assert "ü".encode() in line


def test_the_line_of_progress(capfd, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    samples = [{"doc_id": i, "acc": i % 2, "response_tokens": 50} for i in range(8)]
    with Progress(16) as progress:
        progress.add_done(samples[:4])
        for _ in range(3):
            progress.add_partial("generate_until", None, "x")
        progress.add_block(samples[4:])
    *_, line = capfd.readouterr().err.strip().split("\r")
    low, high = proportion_confint(4, 8, alpha=0.1, method="wilson")
    assert " 8/16 " in line
    assert f"acc 50.0% ({low:.1%} to {high:.1%})" in line
    assert "tokens/s" in line


def test_without_a_terminal_progress_is_quiet(capfd):
    with Progress(8) as progress:
        progress.add_block([{"doc_id": 0, "acc": 1}])
    assert capfd.readouterr() == ("", "")


# --- a model in this process


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    """A folder with a random model of two layers, and a tokenizer of words."""
    folder = tmp_path_factory.mktemp("tiny")
    texts = generate_puzzles([1, 3], [5, 20], 50, num_puzzles=20)["puzzle"].to_pylist()
    words = Tokenizer(WordLevel(unk_token="<unk>"))  # noqa: S106
    words.pre_tokenizer = Whitespace()
    words.train_from_iterator(texts, WordLevelTrainer(special_tokens=["<unk>", "</s>"]))
    PreTrainedTokenizerFast(
        tokenizer_object=words,
        **{"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "</s>"},
    ).save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 2048}
    heads = {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}
    config = LlamaConfig(vocab_size=words.get_vocab_size(), **sizes, **heads)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def test_half_an_emoji_is_counted(tiny_model):
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    model = SimpleNamespace(tokenizer=tokenizer, tok_encode=lambda text, **_: text)
    assert count_response_tokens(model, "green \ud83d") == 2


MULTIPLE_CHOICE = """
task: colours
custom_dataset: !function colours.make
output_type: multiple_choice
test_split: test
doc_to_text: "What colour is {{thing}}?"
doc_to_choice: [green, white, blue]
doc_to_target: "{{index}}"
metric_list: [{metric: acc}, {metric: acc_norm}]
"""

COLOURS = """
from datasets import Dataset

def make(**_):
    things = ["socks", "hair", "gloves", "shirt", "hat", "Fred", "Mary"]
    return {"test": Dataset.from_list([{"thing": t, "index": i % 3} for i, t in enumerate(things)])}
"""

GROUP = """
group: mixed
task: [factor_symbolic_mini, colours]
aggregate_metric_list: [{metric: acc, weight_by_size: true}]
"""


@pytest.mark.slow
def test_tasks_and_groups_of_others(tiny_model, tmp_path, monkeypatch):
    """As lm-eval itself has it. (Its thousands of tasks, which take ten seconds, are left out.)"""
    written = {"colours.yaml": MULTIPLE_CHOICE, "colours.py": COLOURS, "mixed.yaml": GROUP}
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    some = partial(TaskManager, include_defaults=False)
    monkeypatch.setattr("lm_eval.tasks.TaskManager", some)
    given = {"pretrained": str(tiny_model), "dtype": "float32"}
    settings = {"device": "cpu", "batch_size": 4, "limit": 6}
    plain = simple_evaluate(
        "hf",
        model_args=given,
        tasks=["mixed", "cogniload_mini"],
        task_manager=some(include_path=[str(TASKS), str(tmp_path)]),
        gen_kwargs={"max_gen_toks": 8},
        **settings,
    )
    command_line = [
        *("eval", "--model", "hf", "--model_args", json.dumps(given), "--block_size", "4"),
        *("--tasks", "mixed,cogniload_mini", "--include_path", tmp_path),
        *("--gen_kwargs", "max_gen_toks=8", "--output_path", tmp_path / "out"),
        *(part for name, value in settings.items() for part in (f"--{name}", value)),
    ]
    assert command(*command_line)[0] == 0
    (results,) = tmp_path.rglob("results_*.json")
    ours = json.loads(results.read_bytes())
    for part in ("results", "groups", "group_subtasks", "n-samples"):
        assert ours[part] == plain[part], part
    assert {task: len(samples) for task, samples in plain["samples"].items()} == {
        task: len(next(tmp_path.rglob(f"samples_{task}_*")).read_bytes().splitlines())
        for task in ("factor_symbolic_mini", "colours", "cogniload_mini")
    }


def test_a_task_that_the_backend_can_t_answer(server, tmp_path, monkeypatch):
    (tmp_path / "colours.yaml").write_text(MULTIPLE_CHOICE)
    (tmp_path / "colours.py").write_text(COLOURS)
    monkeypatch.setattr("lm_eval.tasks.TaskManager", partial(TaskManager, include_defaults=False))
    others = ["--include_path", str(tmp_path), "--tasks", "colours"]
    message = error_of(*arguments(server, tmp_path / "out", *others))
    assert message.startswith("lm-eval asks for something else: Loglikelihood is not supported")


@pytest.mark.slow
def test_a_model_in_this_process(tiny_model, tmp_path):
    settings = [
        *("eval", "--model", "hf", "--model_args", f"pretrained={tiny_model},dtype=float32"),
        *("--device", "cpu", "--batch_size", "4", "--tasks", "cogniload_mini"),
        *("--metadata", json.dumps({"cogniload": PUZZLES})),
        *("--gen_kwargs", "max_gen_toks=12"),
    ]
    for name, size in (("blocks", 8), ("one", DOCUMENTS)):
        out = tmp_path / name
        assert command(*settings, "--output_path", out, "--block_size", size)[0] == 0
    (blocks, some), (one, all_) = read(tmp_path / "blocks"), read(tmp_path / "one")
    assert some == all_
    assert blocks["results"] == one["results"]
    assert {sample["response_tokens"] for sample in some} <= set(range(13))
    assert blocks["config"]["model_num_parameters"] == one["config"]["model_num_parameters"] > 0

    tokenizer = tiny_model / "tokenizer.json"
    vocabulary = json.loads(tokenizer.read_bytes())
    words = vocabulary["model"]["vocab"]
    words["another"] = words.pop(max(words, key=words.get))
    tokenizer.write_text(json.dumps(vocabulary))
    next((tmp_path / "blocks" / "state").glob("block-*")).unlink()
    code, _, err = command(*settings, "--output_path", tmp_path / "blocks", "--block_size", "8")
    assert code == 2
    assert "was begun with model.tokenizer '" in err.splitlines()[-1]

"""`cogniload eval` as its tests run it: in this process, or in one of its own."""

import json
import multiprocessing
import os
import resource
import signal
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from io import StringIO
from itertools import count
from pathlib import Path
from threading import Event, Semaphore
from types import SimpleNamespace

from cogniload_cli import main
from lm_eval_tasks.runner import model
from lm_eval_tasks.runner.results import merge
from lm_eval_tasks.runner.store import Store

OWN = multiprocessing.get_context("forkserver")
PRELOADED = ["lm_eval.models.api_models", "lm_eval_tasks.runner.evaluate"]
OWN.set_forkserver_preload([*PRELOADED, "cogniload_analysis.report.compare_runs"])
"""Processes that start at once, and of nothing that runs here: the fork of a process with threads
may wait for ever for a lock that one of them held."""

PUZZLES = {"d": [1, 3], "N": [5, 20], "rho": [10, 50], "num_puzzles": 3}
DOCUMENTS, BLOCK_SIZE, BLOCKS = 24, 5, 5

SAID = ("warning: ", "block ", "continuing", "n ", "waiting for ", "next: ")
"""What begins a line on standard error that is no error."""


def url_of(server):
    return f"http://127.0.0.1:{server.server_port}/v1/chat/completions"


def model_args(server, **settings):
    given = {"model": "solver", "base_url": url_of(server), "max_retries": 1} | settings
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
    return run_apart(quietly, *arguments)


def run_apart(target, *arguments):
    """A function of this module, in a process of its own."""
    process = OWN.Process(target=target, args=arguments)
    process.start()
    return process


def describe_quickly(patch):
    """Leave out lm-eval's look at the machine, which takes two seconds; wait for a busy server."""
    patch(model, "PATIENCE", 1800)
    facts = {"pretty_env_info": "", "lm_eval_version": version("lm_eval")}
    patch(model, "add_env_info", lambda results: results.update(facts))


def wait_for(condition):
    """Returns when it holds; fails once the commands that run have ended, or after half an hour."""
    running, until = multiprocessing.active_children(), time.monotonic() + 1800
    while not condition():
        assert time.monotonic() < until
        ended = bool(running) and not any(process.is_alive() for process in running)
        assert not ended or condition()
        time.sleep(0.01)


def answer_only(server, count):
    """Have the server answer some requests and let the others wait for ever."""
    server.together = SimpleNamespace(wait=Semaphore(count).acquire)


def hold_first(server):
    """Have the server keep its first answer until the returned event is set."""
    event, numbers = Event(), count()
    server.together = SimpleNamespace(wait=lambda: next(numbers) or event.wait())
    return event


def quietly(*arguments):
    describe_quickly(setattr)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        sys.exit(main([str(argument) for argument in arguments]))


def start_killed(event, name, *arguments):
    """The command in a process that is killed before the first such event of a file of that name.

    Events are those of `sys.audit`; the file may have a longer name.
    """
    return run_apart(killed_before, event, name, *arguments)


def killed_before(event, name, *arguments):
    def kill(happens, details):
        if happens == event and name in str(details[0]):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(kill)
    quietly(*arguments)


def with_files_of(size, err, *arguments):
    """The command, which may write files of that size, with its standard error in a file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    describe_quickly(setattr)
    with err.open("w") as file, redirect_stderr(file):
        sys.exit(main(list(arguments)))


def merge_together(ready, run):
    ready.wait()
    merge([run], run)


def hold_block(folder, block):
    """Hold a block until the process is killed."""
    store = Store(folder)
    with store.hold([block]):
        (folder / "held").touch()
        signal.pause()


def error_of(*arguments):
    """The one line of an error with exit code 2, apart from warnings and progress."""
    code, _, err = command(*arguments)
    assert code == 2, err
    (line,) = (line for line in err.splitlines() if not line.startswith(SAID))
    assert line.startswith("cogniload eval: error: ")
    return line.removeprefix("cogniload eval: error: ")


def read(out):
    """The results and the samples of the only result set below a folder."""
    (results,), (samples,) = out.rglob("results_*.json"), out.rglob("samples_*.jsonl")
    lines = samples.read_text(encoding="utf-8").splitlines()
    return json.loads(results.read_bytes()), [json.loads(line) for line in lines]


def done_blocks(out):
    return sorted((out / "state").glob("block-*.jsonl"))


def same_samples(ours, theirs):
    """Whether two result sets have the same samples in the same order, and the same results."""
    return ours[1] == theirs[1] and ours[0]["results"] == theirs[0]["results"]

"""`cogniload eval` as its tests run it: in this process, or in one of its own that is killed."""

import json
import multiprocessing
import os
import re
import resource
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from io import StringIO
from multiprocessing import forkserver

import pytest
from command_line import main
from stored import read_lines

OWN = multiprocessing.get_context("forkserver")
OWN.set_forkserver_preload([
    *("lm_eval.models.api_models", "lm_eval._cli.run", "lm_eval_tasks.evaluation", "torch._dynamo"),
    *("lm_eval_tasks.cogniload.task", "cogniload_gen.cogniload.twins", "pytablewriter"),
])  # fmt: skip
"""Processes that start at once, and of nothing that runs here: the fork of a process with threads
may wait for ever for a lock that one of them held."""

PUZZLES = {"d": [1, 3], "N": [5, 20], "rho": [10, 50], "num_puzzles": 3}
DOCUMENTS = 24

NO_ERROR = re.compile(r"(warning|continuing|stopped|next): |scoring |n \d|\s*(\d+%|\d*it )|\s*$")
"""What begins a line on standard error that is no error: what comes next, or how far it is."""


def url_of(server, kind="chat/completions", user=""):
    return f"http://{user}127.0.0.1:{server.server_port}/v1/{kind}"


def model_args(server, **settings):
    given = {"model": "solver", "base_url": url_of(server), "max_retries": 1} | settings
    return json.dumps(given)


def arguments(server, out, *others, puzzles=PUZZLES, tasks="cogniload_mini", **settings):
    return [
        *("eval", "--output_path", str(out), "--model", "local-chat-completions"),
        *("--model_args", model_args(server, **settings)),
        *("--apply_chat_template", "--tasks", tasks),
        *("--metadata", json.dumps({"cogniload": puzzles}), *map(str, others)),
    ]


def completions(server, out, *others, **settings):
    """Arguments for a server of plain completions."""
    given = {"base_url": url_of(server, "completions"), "tokenizer_backend": "none"} | settings
    words = arguments(server, out, "--model", "local-completions", *others, **given)
    words.remove("--apply_chat_template")
    return words


def command(*arguments):
    """The exit code, standard output and standard error of the command, run here."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def done(*arguments):
    """What the command prints on standard output and standard error; it must succeed."""
    code, out, err = command(*arguments)
    assert code == 0, err
    return out, err


def error_of(*arguments):
    """The one line of an error with exit code 2, apart from warnings and progress."""
    code, _, err = command(*arguments)
    assert code == 2, err
    (line,) = (line for line in err.splitlines() if not NO_ERROR.match(line))
    assert line.startswith("cogniload eval: error: ")
    return line.removeprefix("cogniload eval: error: ")


def describe_quickly(patch):
    """Leave out lm-eval's look at the machine, which takes two seconds."""
    import lm_eval.evaluator

    facts = {"pretty_env_info": "", "lm_eval_version": version("lm_eval")}
    patch(lm_eval.evaluator, "add_env_info", lambda results: results.update(facts))


@pytest.fixture(scope="session", autouse=True)
def processes_start_at_once():
    """Their server runs before a test's body does: what starts there ends with the test."""
    forkserver.ensure_running()
    with pytest.MonkeyPatch.context() as patch:
        describe_quickly(patch.setattr)
        yield


def start(*arguments, prepare=None, given=()):
    """The command in a process of its own; what it said is in `said.get()` if it ends by itself."""
    said = OWN.SimpleQueue()
    process = OWN.Process(target=_apart, args=(said, prepare, given, arguments))
    process.said = said
    process.start()
    return process


def _apart(said, prepare, given, arguments):
    describe_quickly(setattr)
    if prepare:
        prepare(*given)
    code, _, err = command(*arguments)
    said.put(err)
    sys.exit(code)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def killed_at_event(folder, number):
    """Kill this process before its n-th event of `sys.audit` of a file below a folder."""
    left = [number]

    def kill(_event, details):
        if details and isinstance(details[0], str | os.PathLike) and str(details[0])[:1] == "/":
            left[0] -= os.fspath(details[0]).startswith(str(folder))
            if left[0] <= 0:
                die()

    sys.addaudithook(kill)


def killed_in_write(_folder, number, share):
    """Kill this process in its n-th write of an answer, of which a share reaches the disk."""
    left, write = [number], os.write

    def torn(descriptor, content):
        left[0] -= content[:1] == b"{"
        if left[0] <= 0:
            write(descriptor, content[: int(share * len(content))])
            die()
        return write(descriptor, content)

    os.write = torn


def with_files_of(size):
    """Let this process write files of that size, as on a disk that fills."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def read(out):
    """The results and the samples of the only result set below a folder."""
    (results,), (samples,) = out.rglob("results_*.json"), out.rglob("samples_*.jsonl")
    return json.loads(results.read_bytes()), read_lines(samples)


def whole_lines(out):
    """The lines of each answers file that are whole."""
    files = sorted((out / "state").glob("answers-*.jsonl"))
    return {file.name: file.read_bytes().split(b"\n")[:-1] for file in files}


def answered(out):
    """The prompts that have an answer on the disk, in the order of the files."""
    records = [json.loads(line) for lines in whole_lines(out).values() for line in lines]
    asked = [record["arguments"] for record in records if "lost" not in record]
    return [json.loads(arguments[0][0])[0]["content"] for arguments in asked]


def same(ours, theirs):
    """Whether two result sets have the same samples in the same order, and the same results."""
    return ours[1] == theirs[1] and ours[0]["results"] == theirs[0]["results"]

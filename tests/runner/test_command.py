"""Where the command begins and ends: misspelt tasks, --status, Ctrl-C, and what comes next."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from threading import Event
from types import SimpleNamespace

import pytest
from command_line import run_python
from eval_command import BLOCKS, DOCUMENTS, arguments, command, done_blocks, error_of, wait_for
from harness import manager
from hypothesis import given
from hypothesis import strategies as st
from lm_eval.evaluator_utils import get_sample_size
from lm_eval.tasks import TaskManager
from other_tasks import COLOURS, MULTIPLE_CHOICE

from cogniload_gen.files.run_folder import Block, RunFolder, indices_of
from lm_eval_tasks.runner.evaluate import say_next
from lm_eval_tasks.runner.progress import Part, Status, blocks_of_shard, lines_of, seconds_left
from lm_eval_tasks.runner.run import load_tasks
from lm_eval_tasks.task_names import our_tasks


def test_our_tasks_are_those_that_lm_eval_finds():
    assert our_tasks() == sorted(manager().all_tasks)


@pytest.mark.parametrize(("name", "near"), [
    ("cogniload_mimi", "cogniload_mini"),
    ("cogniload_maxi", "cogniload_mini"),
    ("cogniloud", "cogniload"),
    ("factor_symbolic_3k", "factor_symbolic_"),
    ("cogniload_mini,cogniload_lit", "cogniload_lite"),
])  # fmt: skip
def test_a_misspelt_task_is_told_the_nearest(server, tmp_path, name, near):
    message = error_of(*arguments(server, tmp_path, "--tasks", name))
    wrong = name.rpartition(",")[2]
    assert message.startswith(f"there is no task '{wrong}': did you mean {near}")
    assert not [*tmp_path.iterdir()]


def test_the_nearest_task_is_told_before_lm_eval_is_loaded(tmp_path):
    """And the model's libraries, which take seconds; also of a file's task."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"tasks": ["cogniload_mimi"], "model": "dummy"}))
    program = (
        "import sys; from cogniload_gen.commands import main; code = main(sys.argv[1:])\n"
        "print(code, *sorted(set(sys.modules) & {'lm_eval', 'torch'}))"
    )
    for words in (["--model", "hf", "--tasks", "cogniload_mimi"], ["--config", config]):
        ran = run_python(program, "eval", *words, "--output_path", tmp_path / "out")
        assert ran.stdout.startswith("2")
        assert ran.stdout == "2\n" or words[0] == "--config"
        assert "did you mean cogniload_mini" in ran.stderr


def test_a_pattern_stands_for_the_tasks_that_it_matches():
    given = {"tasks": ["factor_*_mini", "cogniload_min?", "factor_symbolic_mini"]}
    given |= {"metadata": {}, "model_args": {}, "num_fewshot": None, "gen_kwargs": {}}
    found = ["factor_realistic_mini", "factor_symbolic_mini", "cogniload_mini"]
    assert [*load_tasks(SimpleNamespace(**given), None, {})["tasks"]] == found


def test_include_path_without_a_folder_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="2"):
        command("eval", "--output_path", "out", "--tasks", "cogniload", "--include_path")


@pytest.mark.parametrize("option", ["--metadata", "--model_args", "--samples", "--gen_kwargs"])
def test_arguments_nested_without_end_are_refused(server, tmp_path, option):
    deep = '{"a": ' * 100_000
    code, _, err = command(*arguments(server, tmp_path, option, deep))
    assert (code, err.count("error: ")) == (2, 1)
    config = tmp_path / "config.yaml"
    for brackets, message in (
        (20_000, "must have at most 10,000 brackets"),
        (2_000, "is nested too deeply for a file of arguments"),
    ):
        config.write_text("[" * brackets)
        error = error_of("eval", "--config", config, "--output_path", tmp_path / "out")
        assert error == f"{config} {message}"


@given(
    st.integers(0, 1000),
    st.one_of(st.none(), st.integers(1, 2000).map(float), st.floats(0.001, 0.999)),
)
def test_limits_are_those_of_lm_eval(count, limit):
    class Task:
        eval_docs = range(count)

    theirs = range(count)[: get_sample_size(Task, limit)]
    assert indices_of("task", count, limit, None) == theirs


def test_the_status_of_a_run(server, tmp_path):
    assert error_of("eval", "--status", tmp_path).startswith(f"{tmp_path} must hold an evaluation")
    assert command(*arguments(server, tmp_path, "--shard", "2/2"))[0] == 0
    code, out, err = command("eval", "--status", tmp_path)
    assert (code, err) == (0, "")
    first, shard, missing, accuracy, spent, tokens, following = out.splitlines()
    assert missing == "no block is done of --shard 1/2"
    assert first == f"{tmp_path}: 2 of 5 blocks are done, 10 of 24 puzzles (cogniload_mini)"
    assert shard.startswith("shard 2/2: 2 of 2 blocks, ")
    samples = [json.loads(line) for file in done_blocks(tmp_path) for line in file.open()]
    correct = sum(sample["acc"] for sample in samples) / len(samples)
    assert accuracy.startswith(f"accuracy so far: {correct:.1%} (")
    assert spent.startswith("time: ")
    assert spent.endswith(" left")
    assert tokens.startswith("tokens: ")
    assert following == "next: the same command with --shard 1/2"
    assert command(*arguments(server, tmp_path))[0] == 0
    _, out, _ = command("eval", "--status", tmp_path)
    assert out.startswith(f"{tmp_path}: {BLOCKS} of {BLOCKS} blocks are done, {DOCUMENTS} of ")
    assert out.endswith(f"next: cogniload eval --merge {tmp_path}\n")


@pytest.mark.parametrize("others", [("--limit", "7"), ("--limit", "0.3"), ()])
def test_the_blocks_of_run_json_are_those_that_are_evaluated(server, tmp_path, others):
    assert command(*arguments(server, tmp_path, *others, "--block_size", "3"))[0] == 0
    blocks = RunFolder(tmp_path / "state").begun().blocks()
    evaluated = [
        [json.loads(line)["doc_id"] for line in file.open()] for file in done_blocks(tmp_path)
    ]
    assert [list(block.documents) for block in blocks] == evaluated


RUN = SimpleNamespace(tasks={"task": None})


def status_of(done, shards):
    blocks = [Block(number, "task", (number,)) for number in range(1, 9)]
    return Status(RUN, blocks, [blocks[i - 1] for i in done], shards, 0, 0.0)


def test_the_time_left_is_the_slowest_shard_s(tmp_path):
    """Blocks 1, 3, 5, 7 are of the first, which took 10 seconds for one, the second 1 for each."""
    status = status_of([1, 2, 4], {"1/2": Part(1, [10.0]), "2/2": Part(2, [1.0, 1.0])})
    assert seconds_left(status) == 30
    assert "time: 00:12 of evaluation, about 00:30 left" in lines_of(tmp_path, status)
    assert seconds_left(status_of(range(1, 9), status.shards)) is None
    assert seconds_left(status_of([], {})) is None
    for name in ("?", "1", "0/2", "3/2", "a/b", "", "1/2/3"):  # of no shard
        assert blocks_of_shard(name, 8) is None
        assert lines_of(tmp_path, status_of([1], {name: Part(1, [])}))


SAME = "the same command again goes on"
DONE_OF = "no block is done of "


@pytest.mark.parametrize(("done", "shards", "missing", "following"), [
    ([1, 4], {"1/3": Part(2, [1.0])}, "--shard 2/3, --shard 3/3", None),
    ([1, 2], {"1/3": Part(1, [1.0]), "2/3": Part(1, [])}, "--shard 3/3", None),
    ([1], {"1/1": Part(1, [1.0])}, None, None),
    (range(1, 9), {"2/2": Part(8, [1.0])}, None, None),
    ([1, 3, 5, 7], {"1/2": Part(4, [])}, "--shard 2/2", "the same command with --shard 2/2"),
    ([1, 3, 5], {"1/2": Part(3, [])}, "--shard 2/2", SAME),
    ([1, 4, 7], {"1/3": Part(3, [])}, "--shard 2/3, --shard 3/3",
     "the same command with --shard 2/3"),
    ([1, 4, 7, 2], {"1/3": Part(3, []), "2/3": Part(1, [])}, "--shard 3/3", SAME),
    ([1], {"?": Part(1, [])}, "--shard 1/1", SAME),
    ([], {}, "--shard 1/1", SAME),
    (range(1, 9), {"1/1": Part(8, [])}, None, None),
])  # fmt: skip
def test_shards_without_a_block_and_the_next_command_are_named(
    tmp_path, done, shards, missing, following
):
    lines = lines_of(tmp_path, status_of(done, shards))
    named = [line for line in lines if line.startswith(DONE_OF)]
    assert named == ([f"{DONE_OF}{missing}"] if missing else [])
    assert following is None or lines[-1] == f"next: {following}"
    shown = [line.split(":")[0] for line in lines if line.startswith("shard ")]
    assert shown == [f"shard {name}" for name in shards if name not in ("1/1", "?")]


def test_nobody_knows_how_many_blocks_a_design_takes(tmp_path):
    design = SimpleNamespace(goal="ECL50", line="n 40")
    status = replace(status_of([1], {"1/2": Part(1, [])}), search=SimpleNamespace(design=design))
    first, *others = lines_of(tmp_path, status)
    assert first == f"{tmp_path}: 1 blocks are done, 1 puzzles (until ECL50)"
    assert others == ["n 40", "shard 1/2: 1 blocks", f"next: {SAME}"]


@pytest.mark.parametrize("other", [("--model", "hf"), ("--shard", "1/2"), ("--merge", "x")])
def test_status_takes_its_folders_alone(tmp_path, other):
    assert "and nothing else" in error_of("eval", "--status", tmp_path, *other)


def test_a_log_tells_where_a_run_is(server, tmp_path):
    assert command(*arguments(server, tmp_path, "--shard", "1/2"))[2].splitlines()[-1] == (
        f"next: cogniload eval --merge {tmp_path}, when all are done"
    )
    _, _, err = command(*arguments(server, tmp_path))
    lines = [line for line in err.splitlines() if not line.startswith("warning: ")]
    assert lines[0] == "continuing at block 4 of 5"
    assert lines[1].startswith("block 4 of 5 done: 19 of 24 puzzles, acc ")
    assert lines[1].endswith(" left")
    assert lines[2].startswith("block 5 of 5 done: 24 of 24 puzzles, acc ")
    assert lines[3] == f"next: cogniload report {tmp_path} --out {tmp_path / 'report'}"
    assert len(lines) == 4
    _, out, err = command("eval", "--merge", tmp_path)
    assert out.splitlines()[-1].startswith("results  ")
    assert err == f"next: cogniload report {tmp_path} --out {tmp_path / 'report'}\n"


@pytest.mark.parametrize(("own", "asked", "examples"), [
    ("", None, 0), ("", 3, 3), ("num_fewshot: 0", 3, 0), ("num_fewshot: 2", None, 2),
    ("num_fewshot: 2", 0, 0), ("num_fewshot: 2", 3, 3),
])  # fmt: skip
def test_another_s_task_has_the_examples_that_lm_eval_gives_it(
    tmp_path, monkeypatch, own, asked, examples
):
    """Those that are asked for, unless its YAML says that it has none."""
    (tmp_path / "colours.yaml").write_text(f"{MULTIPLE_CHOICE}{own}\n", "utf-8")
    (tmp_path / "colours.py").write_text(COLOURS, "utf-8")
    monkeypatch.setattr("lm_eval.tasks.TaskManager", partial(TaskManager, include_defaults=False))
    given = {"tasks": ["colours"], "num_fewshot": asked, "gen_kwargs": {}}
    (task,) = load_tasks(SimpleNamespace(**given), str(tmp_path), {})["tasks"].values()
    assert task.get_config("num_fewshot") == examples


WITH_A_STOP = """
import sys, time
from cogniload_gen import commands
from cogniload_gen.__main__ import main
run, moment = commands.run, sys.argv.pop(1)
class Stop:
    def find_spec(name, *_):
        if name == moment:
            print(name, flush=True)
            while True:
                time.sleep(0.01)
def begin(arguments):
    Stop.find_spec("begun")
    run(arguments)
sys.meta_path.insert(0, Stop)
commands.run = begin
sys.exit(main())
"""
"""A program: our command, which stops for ever before it imports a module."""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["begun", "lm_eval", "lm_eval.tasks", "lm_eval.models", ""])
def test_ctrl_c_at_any_moment(server, tmp_path, moment):
    """While it loads its libraries, its tasks, its model, and while it evaluates."""
    server.together = Event()
    process = subprocess.Popen(
        [sys.executable, "-c", WITH_A_STOP, moment, *arguments(server, tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while moment and process.stdout.readline().strip() != moment:
        assert process.poll() is None
    if not moment:
        wait_for(lambda: server.requests or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    err = process.communicate()[1]
    server.together.set()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "cogniload eval: interrupted"


def test_the_next_command_moves_no_terminal(capsys):
    say_next("cogniload report \x1b[2J")
    assert capsys.readouterr().err == "next: cogniload report <U+001B>[2J\n"

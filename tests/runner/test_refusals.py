"""What cannot be evaluated or merged, or is of another run, is one line, with exit code 2."""

import errno
import os
import shutil
from functools import partial
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from completion_server import serving
from eval_command import arguments, command, done_blocks, error_of, start, wait_for
from lm_eval.tasks import TaskManager
from other_tasks import COLOURS, MULTIPLE_CHOICE

from cogniload_gen import benchmarks
from lm_eval_tasks.lm_eval_private import slots


def test_a_server_that_does_not_answer_or_has_no_such_model_or_window(server, tmp_path):
    with serving() as gone:
        pass
    message = error_of(*arguments(gone, tmp_path))
    assert message == f"no server answers at http://127.0.0.1:{gone.server_port}/v1/models"
    server.status = 500
    message = error_of(*arguments(server, tmp_path))
    assert "/v1/models answered 500 Internal Server Error: " in message
    server.status = 200
    message = error_of(*arguments(server, tmp_path, model="solvent"))
    assert message.endswith("/v1/models: the models are 'solver'; got model='solvent'")
    server.window = 2047
    message = error_of(*arguments(server, tmp_path))
    assert "/v1/models: the model takes 2047 tokens and context_budget is 2048" in message
    assert not server.requests
    server.window = 2048
    assert command(*arguments(server, tmp_path, "--num_fewshot", "0"))[0] == 0


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
    assert message.startswith("lm-eval rejected the request: LocalChatCompletion expects")
    assert command(*right)[0] == 0


def test_a_shard_that_was_begun_otherwise_is_refused(server, tmp_path):
    """Also where none had a block done when the other was started."""
    with serving() as other:
        server.together = SimpleNamespace(wait=lambda: wait_for(lambda: other.requests))
        other.together = SimpleNamespace(wait=lambda: wait_for(lambda: done_blocks(tmp_path)))
        process = start(*arguments(server, tmp_path, "--shard", "1/2"))
        message = error_of(*arguments(other, tmp_path, "--shard", "2/2", "--seed", "7"))
    assert message.startswith(f"{tmp_path} was begun with arguments.seed [0, 1234, 1234, 1234], ")
    process.join()
    assert process.exitcode == 0
    assert len(done_blocks(tmp_path)) == 3


@pytest.mark.parametrize(("others", "message"), [
    (["--shard", "9/8"], "shard must be I/N with 1 <= I <= N, got '9/8'"),
    (["--shard", "3"], "shard must be I/N with 1 <= I <= N, got '3'"),
    (["--shard", ""], "shard must be I/N with 1 <= I <= N, got ''"),
    (["--limit", "0"], "limit must be above 0, got 0.0"),
    (["--limit", "-3"], "limit must be above 0, got -3.0"),
    (["--block_size", "0"], "block_size must be an integer of at least 1, got 0"),
    (["--block_size", "many"], "block_size must be an integer of at least 1, got 'many'"),
    (["--num_fewshot", "2"], "--num_fewshot 2 is refused: cogniload_mini is zero-shot"),
    (["--use_cache", "x"], "--use_cache is refused"),
    (["--predict_only"], "--predict_only is refused"),
    pytest.param(  # reads all of lm-eval's own
        *(["--tasks", "hellaswog"], "Tasks not found: hellaswog"), marks=pytest.mark.slow
    ),
    (["--model", "brain"], "brain: Attempted to load model 'brain'"),
    (["--samples", "no such file"], "samples must be a mapping of tasks to lists"),
    (["--samples", '{"cogniload": [1]}'], "samples must be of cogniload_mini; got 'cogniload'"),
    *(
        (["--samples", f'{{"cogniload_mini": {wrong}}}'], "samples of cogniload_mini must be a")
        for wrong in ("[0, 24]", "[]", '"ab"', "[1.5]", "[[1]]", "7")
    ),
    (["--metadata", '{"factor": {}}'], "metadata must be of cogniload; its key 2 is none of these"),
    (["--config", "no such file"], "no such file: No such file or directory"),
    (["-C", "no such file"], "no such file: No such file or directory"),
])  # fmt: skip
def test_wrong_arguments(server, tmp_path, others, message):
    assert error_of(*arguments(server, tmp_path, *others)).startswith(message)
    assert not server.requests


def test_merging_what_is_no_run(server, half, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    assert error_of("eval", "--merge", empty).startswith(f"{empty} must hold an evaluation")
    other = tmp_path_factory.mktemp("other")
    assert command(*arguments(server, other, "--limit", "6"))[0] == 0
    assert "arguments.limit" in error_of("eval", "--merge", half, other)
    message = error_of("eval", "--merge", half, "--model", "hf")
    assert message.startswith("--merge takes its folders, --output_path and ")


def test_a_file_system_without_locks(server, tmp_path, monkeypatch):
    def lockf(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.lockf", lockf)
    message = error_of(*arguments(server, tmp_path))
    assert message.startswith(f"{tmp_path}/state/lock: No locks available: name an --output_path")


@pytest.mark.parametrize("name", [
    "_cli.run.Run",
    "evaluator_utils._process_results",
    "evaluator_utils.EvalAcc._to_eval_results",
    "loggers.evaluation_tracker.GeneralConfigTracker._get_model_name",
])  # fmt: skip
def test_another_lm_eval_is_named(server, undisturbed_folder, tmp_path, monkeypatch, name):
    """As if it had not what it keeps to itself."""
    shutil.copytree(undisturbed_folder / "state", tmp_path / "state")
    monkeypatch.delattr(f"lm_eval.{name}")
    by_parser = arguments(server, tmp_path)
    message = error_of(*(by_parser if "_cli" in name else ("eval", "--merge", tmp_path)))
    assert message.startswith(f"lm-eval {version('lm_eval')} is not as 0.4.13 was (")


def test_an_api_model_without_slots_is_named():
    with pytest.raises(ImportError, match=r"is not as 0\.4\.13 was \('object' .* '_concurrent'"):
        slots(object())


def test_a_task_that_the_backend_can_t_answer(server, tmp_path, monkeypatch):
    (tmp_path / "colours.yaml").write_text(MULTIPLE_CHOICE)
    (tmp_path / "colours.py").write_text(COLOURS)
    monkeypatch.setattr("lm_eval.tasks.TaskManager", partial(TaskManager, include_defaults=False))
    others = ["--include_path", str(tmp_path), "--tasks", "colours"]
    message = error_of(*arguments(server, tmp_path / "out", *others))
    assert message.startswith("lm-eval rejected the request: Loglikelihood is not supported")


def test_a_recipe_without_vllm_says_what_to_install(tmp_path):
    asked = ("--model", "vllm", "--tasks", "cogniload_mini")
    message = error_of("eval", *asked, "--output_path", tmp_path)
    assert message.startswith("--model vllm needs vllm: pip install 'cogniload[vllm]'")
    assert "pip install '.[vllm]'" in message


COGNILOAD = benchmarks.named("cogniload")


@pytest.mark.parametrize(("changed", "message"), [
    (("--gen_kwargs", "temperature=0.6"), "arguments.gen_kwargs.temperature None, now 0.6"),
    (("--limit", "6"), "arguments.limit None, now 6.0"),
    (("--system_instruction", "Think."), "arguments.system_instruction None, now 'Think.'"),
    (("--block_size", "6"), "block_size 5, now 6"),
    (("--tasks", "cogniload_lite"), "arguments.tasks"),
    (("--model_args", "seed=7"), "arguments.model_args.seed None, now 7"),
    (("--metadata", '{"cogniload": {"d": [1, 3], "N": [5], "rho": [10, 50]}}'),
     "arguments.metadata.cogniload.N [5, 20], now [5]"),
])  # fmt: skip
def test_changed_arguments_are_refused(server, half, changed, message):
    asked = len(server.requests)
    refused = error_of(*arguments(server, half, *changed))
    assert refused.startswith(f"{half} was begun with {message}")
    assert len(server.requests) == asked


def test_where_and_how_fast_may_change(server, half):
    assert command(*arguments(server, half, num_concurrent=3, timeout=77))[0] == 0


@pytest.mark.parametrize(("name", "value", "message"), [
    (
        "benchmarks.BENCHMARKS",
        (type("Next", (type(COGNILOAD),), {"version": 9})(), *benchmarks.BENCHMARKS[1:]),
        f"versions.generator.cogniload {COGNILOAD.version}, now 9",
    ),
    ("version", lambda _: "0.5", f"versions.lm_eval '{version('lm_eval')}', now '0.5'"),
])  # fmt: skip
def test_other_versions_are_refused(server, half, monkeypatch, name, value, message):
    monkeypatch.setattr(f"lm_eval_tasks.runner.run.{name}", value)
    assert message in error_of(*arguments(server, half))
    assert message in error_of("eval", "--merge", half)


def test_another_model_is_refused(server, half, monkeypatch):
    monkeypatch.setattr(
        "lm_eval_tasks.runner.model.check_server", lambda *_: {"root": "/models/another"}
    )
    message = "model.root '/models/solver', now '/models/another'"
    assert message in error_of(*arguments(server, half))

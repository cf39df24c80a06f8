"""A folder takes one run: what differs is named."""

from importlib.metadata import version

import pytest
from eval_command import arguments, command, error_of

from cogniload_gen import benchmarks

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
        "lm_eval_tasks.runner.evaluate.check_server", lambda *_: {"root": "/models/another"}
    )
    message = "model.root '/models/solver', now '/models/another'"
    assert message in error_of(*arguments(server, half))

"""Inspect's adaptive task, against `cogniload eval --until` with the same answers."""

import json
import re

import completion_server
import pytest
from completion_server import serving
from eval_command import done, read
from harness import random_state_put_back
from inspect_run import evaluate, output
from until_command import CAPACITY, respond_by_capacity, until_arguments

from cogniload_analysis import AdaptiveDesign
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.samples.read import read_benchmarks
from inspect_tasks import tasks

BUDGET, AT, N = 192, "d=1,rho=25", "2..60"


def run(folder, respond=respond_by_capacity, **settings):
    """Run the task on a model that answers as a function of the prompt."""
    task = tasks.cogniload_adaptive(budget=BUDGET, at=AT.split(","), N=N)  # as -T reads it
    return evaluate(task, folder, lambda asked: output(respond(asked[-1].text)), **settings)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A run of three batches of 64."""
    return run(tmp_path_factory.mktemp("logs"))


def test_it_asks_what_cogniload_eval_asks(log, tmp_path, monkeypatch):
    """The second batch of 64 follows from the answers to the first."""
    monkeypatch.setattr(completion_server, "respond", respond_by_capacity)
    with serving() as server, random_state_put_back():
        server.window = 32768
        words = until_arguments(server, tmp_path, "--at", AT, "--N", N, budget=BUDGET)
        said, _ = done(*words)
    (value,) = re.findall(r"^ECL50 ([\d.]+) \(.*\) statements, at d = 1, rho = 25 %$", said, re.M)
    results, samples = read(tmp_path)
    found = results["results"]["cogniload"]["ECL50_crossing,none"]
    assert found == pytest.approx(float(value), rel=0.05)
    assert {(s["doc"]["d"], s["doc"]["rho"]) for s in samples} == {(1, 25.0)}
    theirs = {sample["doc"]["id"]: sample["outcome"] for sample in samples}
    assert len(theirs) == BUDGET
    ours = {it.id: it.scores["score_puzzle"].metadata["outcome"] for it in log.samples}
    assert ours == theirs


def test_its_metrics_are_the_design_s_estimate_and_its_log_a_report_s_run(log):
    answers = {
        tuple(it.metadata[name] for name in ("d", "N", "rho", "index")): it.scores[
            "score_puzzle"
        ].value
        == "C"
        for it in log.samples
    }
    design = AdaptiveDesign(budget=BUDGET, at={"d": 1, "rho": 25}, N=(2, 60))
    design.tell(answers, answers.values())
    assert design.done
    found = design.estimate().ECL50
    told = {n: each.value for score in log.results.scores for n, each in score.metrics.items()}
    assert told["ECL50"] == pytest.approx(found.value)
    assert 2 <= found.low == pytest.approx(told["ECL50_low"])
    assert told["ECL50_low"] < CAPACITY < told["ECL50_high"]
    assert "ID50" not in told
    (frame,) = read_benchmarks([log.location], ANALYSES).values()
    (until,) = frame["until"].unique()
    assert json.loads(until)["at"] == {"d": 1, "rho": 25}


def test_a_batch_that_lost_a_puzzle_ends_the_run(tmp_path):
    def fail(prompt):
        if len(prompt) % 7 == 0:
            raise RuntimeError("the server is down")
        return respond_by_capacity(prompt)

    log = run(tmp_path, fail, fail_on_error=False)
    assert len(log.samples) == 64
    assert any(sample.error for sample in log.samples)

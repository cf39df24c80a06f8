"""The adaptive tasks for Inspect, against `cogniload eval --until` with the same answers."""

import json
import math
import tomllib
from pathlib import Path

import completion_server
import pytest
from completion_server import serving
from eval_command import command
from harness import lm_eval_random_state, random_state_put_back  # noqa: F401 (a fixture)
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelInfo, ModelOutput, ModelUsage, get_model, set_model_info
from refusals import refused
from until_command import respond_by_capacity, respond_by_decay, until_arguments

from cogniload_analysis import AdaptiveDesign
from inspect_tasks import tasks

REFUSED = tomllib.loads((Path(__file__).parent / "data/refused.toml").read_text("utf-8"))
BUDGET = 128


def answering(respond, name="model"):
    """A model of Inspect that answers as a function of the prompt, and counts no tokens."""

    def answer(messages, tools, choice, config):
        output = ModelOutput.from_content("mockllm", respond(messages[-1].text))
        output.usage = ModelUsage(input_tokens=9, output_tokens=9)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)


def run(task, model, folder, **settings):
    with random_state_put_back():
        (log,) = inspect_eval(task, model=model, log_dir=str(folder), display="none", **settings)
    return log


def metrics_of(log):
    return {
        name: each.value for score in log.results.scores for name, each in score.metrics.items()
    }


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A run of two batches of 64."""
    made = tasks.cogniload_adaptive(budget=BUDGET)
    return run(made, answering(respond_by_capacity), tmp_path_factory.mktemp("logs"))


def test_it_asks_what_cogniload_eval_asks(log, tmp_path, monkeypatch):
    """The second batch of 64 follows from the answers to the first."""
    assert log.status == "success", log.error
    monkeypatch.setattr(completion_server, "respond", respond_by_capacity)
    with serving() as server:
        server.window = 32768
        code, _, err = command(*until_arguments(server, tmp_path, budget=BUDGET))
    assert code == 0, err
    (file,) = tmp_path.rglob("samples_*.jsonl")
    samples = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    ours = {sample.id: sample.scores["score_puzzle"] for sample in log.samples}
    assert len(log.samples) == len(ours) == BUDGET
    assert ours.keys() == {sample["doc"]["id"] for sample in samples}
    for sample in samples:
        assert ours[sample["doc"]["id"]].metadata["outcome"] == sample["outcome"]


def test_its_metrics_are_the_design_s_estimate(log):
    design = AdaptiveDesign(budget=BUDGET)
    answers = {
        tuple(sample.metadata[name] for name in ("d", "N", "rho", "index")): sample.scores[
            "score_puzzle"
        ].value
        == "C"
        for sample in log.samples
    }
    design.tell(answers, answers.values())
    assert design.done
    found, told = design.estimate(), metrics_of(log)
    for goal in ("ECL50", "ID50"):
        interval = getattr(found, goal)
        for name in ("value", "low", "high"):
            said = told[goal if name == "value" else f"{goal}_{name}"]
            least, most = (10, 400) if goal == "ECL50" else (1, 10)
            value = min(max(getattr(interval, name), least), most)
            assert said == pytest.approx(value, rel=1e-6)
    assert told["ECL50_low"] < 20 < told["ECL50_high"]
    assert {"accuracy", "stderr"} < told.keys()


def test_factor_s_goal_ends_a_run(tmp_path):
    made = tasks.factor_symbolic_adaptive(until="N_eff+-60%", budget=400)
    log = run(made, answering(respond_by_decay), tmp_path)
    assert log.status == "success", log.error
    assert 64 <= len(log.samples) < 400
    told = metrics_of(log)
    assert math.sqrt(told["N_eff_high"] / told["N_eff_low"]) <= 1.6


def test_a_batch_that_lost_a_puzzle_ends_the_run(tmp_path):
    def fail(prompt):
        if len(prompt) % 7 == 0:
            raise RuntimeError("the server is down")
        return respond_by_capacity(prompt)

    made = tasks.cogniload_adaptive(budget=BUDGET)
    log = run(made, answering(fail), tmp_path, fail_on_error=False)
    assert len(log.samples) == 64
    assert any(sample.error for sample in log.samples)


@pytest.mark.parametrize(("given", "said"), REFUSED["adaptive"])
def test_what_it_does_not_take_is_refused_in_one_line(given, said):
    with refused(said):
        tasks.cogniload_adaptive(**given)


def test_a_model_with_a_small_window_is_refused(tmp_path):
    """Before the run where the command makes the task, else at its first sample."""
    set_model_info("mockllm/small", ModelInfo(context_length=8192))
    small = answering(respond_by_capacity, "small")
    said = "mockllm/small takes 8192 tokens and context_budget is 32768: lower"
    for name in ("cogniload_adaptive", "cogniload_quick"):
        with pytest.raises(ValueError, match=said):
            run(getattr(tasks, name), small, tmp_path)
    log = run(tasks.cogniload_quick(d=1, N=10, rho=50, num_puzzles=1), small, tmp_path)
    assert log.status == "error"
    assert said in log.error.message
    made = tasks.cogniload_quick(d=1, N=10, rho=50, num_puzzles=1, context_budget=8192)
    assert run(made, small, tmp_path).status == "success"

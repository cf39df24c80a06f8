"""Inspect's own evaluations of the tasks, against lm-eval's of the same responses."""

import asyncio
import math
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from harness import Scripted, manager, random_state_put_back
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.scorer import SampleScore, Score
from inspect_ai.solver import TaskState
from inspect_run import evaluate, output
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from source_tree import PROJECT, ROOT
from stored import cases

from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_gen import benchmarks, solve
from cogniload_gen.answers.reasoning import Reasoning
from cogniload_gen.answers.rescore import rescore
from cogniload_gen.answers.sample import ResponseFacts
from cogniload_gen.cogniload.solve import is_cogniload
from cogniload_gen.cogniload.steps.planted import write_trace
from cogniload_gen.tables import write_puzzles
from inspect_tasks import tasks
from inspect_tasks.samples import SHARE
from inspect_tasks.scoring import decay, generate_within_budget
from lm_eval_tasks.responses import Response

REFUSED = cases(__file__, "refused.toml")
SMALL = {
    "cogniload": {"d": [1, 3], "N": [5, 20], "rho": 50, "num_puzzles": 3},
    "factor_symbolic": {"N": [1, 4, 7], "context": 0, "num_puzzles": 4},
    "factor_realistic": {"op": [2, 3, 4], "context": 4000, "num_puzzles": 4},
}
SAME_TASK = ["cogniload", "factor_symbolic_0", "factor_realistic_4k"]
FITTED = {
    "cogniload": ["ECL50", "NT50", "ID50"],
    "factor_symbolic": ["cdf", "cdo", "n_eff"],
    "factor_realistic": ["cdf", "cdo", "n_eff"],
}
OF_A_RUN = (
    "model served base_model date task file offset take lm_eval_version backend chat_template"
)
"""Columns that differ because another harness ran."""


def respond(prompt):
    """Return a response to a prompt, why it ended and its tokens: right, wrong, cut or empty."""
    kind = len(prompt) % 4
    response = ["Who knows?", f"So the answer is {solve(prompt)}.", "The answer is 3.", ""][kind]
    return response, ["stop", "stop", "length", "stop"][kind], len(prompt) // 4, 30_000 * kind // 2


def think(prompt):
    """Return a reasoning, which both harnesses keep in a field of its own; None for some."""
    if not is_cogniload(prompt):
        return "v1 = 2, so v1 + 1 = 3."
    return write_trace(prompt, 9).response if len(prompt) % 5 else None


def answer_lm_eval(request):
    """Answer as `respond` does, in lm-eval."""
    text, *said = respond(request.args[0])
    return Response(text, ResponseFacts(*said, Reasoning(think(request.args[0]))))


def answer(messages):
    """Answer as `respond` does, in Inspect; a part of the prompt's tokens came from a cache."""
    text, reason, before, after = respond(messages[-1].text)
    stop = "max_tokens" if reason == "length" else reason
    said = output(text, think(messages[-1].text), counts=(before - 7, after), stop=stop)
    said.usage.input_tokens_cache_read = 7
    return said


def run_lm_eval(task, parameters, folder):
    model, tracker = Scripted(answer_lm_eval), EvaluationTracker(str(folder))
    metadata = {task.partition("_")[0]: parameters}
    tracker.general_config_tracker.model_name_sanitized = "model"
    with random_state_put_back():
        found = simple_evaluate(
            model, tasks=[task], task_manager=manager(**metadata), bootstrap_iters=1
        )
    samples = found.pop("samples")
    tracker.save_results_aggregated(found, samples)
    tracker.save_results_samples(task, samples[task])
    return model.asked, found["results"][task], samples[task]


def limit_of(sample):
    """Return the response limit that the model was asked with."""
    (asked,) = (event for event in sample.events if event.event == "model")
    return asked.config.max_tokens


def test_a_puzzle_is_answered_within_what_its_prompt_leaves(monkeypatch):
    monkeypatch.setenv("INSPECT_EVAL_MODEL", "mockllm/model")
    sample = tasks.cogniload(**SMALL["cogniload"]).dataset[0]

    async def generate(state, max_tokens):
        return max_tokens

    state = TaskState("mockllm/model", sample.id, 1, sample.input, [], metadata=sample.metadata)
    limit = asyncio.run(generate_within_budget()(state, generate))
    assert limit == sample.metadata[SHARE]["response_limit"]


def test_a_decay_is_fitted_to_one_context_alone():
    def scores(context):
        row = {"suite": "realistic", "noise": "x", "context": context}
        return [
            SampleScore(
                score=Score(value="C", metadata={"acc": int(attempt < 20 * 0.8**op)}),
                sample_metadata=row | {"op": op, "N": op},
            )
            for op in range(2, 9)
            for attempt in range(20)
        ]

    assert decay()(scores(0))["cdf"] < 0
    assert decay()(scores(0) + scores(1000)) == {}


@pytest.mark.parametrize(("name", "same_task"), [*zip(SMALL, SAME_TASK, strict=True)])
def test_ids_prompts_limits_scores_and_frames_are_lm_evals(name, same_task, tmp_path):
    log = evaluate(getattr(tasks, name)(**SMALL[name]), tmp_path / "inspect", answer)
    asked, results, samples = run_lm_eval(same_task, SMALL[name], tmp_path / "lm_eval")
    assert len(log.samples) == 12
    assert log.eval.task == f"cogniload/{name}"
    assert asked == {sample.id: (sample.input, limit_of(sample)) for sample in log.samples}
    scores = {sample.id: sample.scores["score_puzzle"] for sample in log.samples}
    for sample in samples:
        score = scores[sample["doc"]["id"]]
        same = [key for key in score.metadata if key not in ("arguments", "suite")]
        assert {"outcome", "answer_read", "steps_read", "finish_reason"} <= {*same}
        for key in same:
            assert score.metadata[key] == sample[key], key
        assert (score.value == "C") == sample["acc"]
        assert score.answer == sample["answer_read"]["value"]
        assert score.metadata["suite"] == sample["doc"].get("suite")
    assert len({score.metadata["outcome"] for score in scores.values()}) > 2

    metrics = {key: held for each in log.results.scores for key, held in each.metrics.items()}
    assert metrics["accuracy"].value == pytest.approx(results["acc,none"])
    same = {key: results[f"{key},none"] for key in metrics if f"{key},none" in results}
    assert len(same) > 2
    assert {key: metrics[key].value for key in same} == pytest.approx(same)
    assert not any(math.isnan(held.value) for held in metrics.values())
    assert not {*FITTED[name]} & metrics.keys()  # so few responses determine nothing
    assert all(results[f"{key},none"] is None for key in FITTED[name])
    assert "stderr" in metrics

    (ours, theirs) = (
        frame.sort_values("id", ignore_index=True).drop(columns=OF_A_RUN.split())
        for each in ("inspect", "lm_eval")
        for frame in read_benchmarks(tmp_path / each, ANALYSES, text=True).values()
    )
    pd.testing.assert_frame_equal(ours, theirs, check_categorical=False)
    told = {sample.id: think(sample.input) for sample in log.samples}
    assert dict(zip(ours["id"], ours["reasoning"], strict=True)) == told
    assert name != "cogniload" or ours["steps_read"].any()
    again = rescore(Path(log.location))
    assert (again.outcomes.total(), again.changed) == (len(samples), 0)


def test_a_limit_that_was_asked_for_only_lowers(tmp_path):
    for asked, limit in ((100, 100), (100_000, None)):
        made = tasks.cogniload_quick(d=1, N=10, rho=50, num_puzzles=1)
        (sample,) = evaluate(made, tmp_path, answer, max_tokens=asked).samples
        assert limit_of(sample) == (limit or sample.metadata[SHARE]["response_limit"])


@pytest.mark.parametrize("name", ["cogniload", "factor_symbolic", "factor_realistic"])
def test_a_published_split_is_run_as_lm_eval_runs_it(name, tmp_path):
    """With the budget that is asked for; FACTOR's is that of the task of its context."""
    dataset, _, suite = name.partition("_")
    parameters = SMALL[name] | ({"suite": suite} if suite else {})
    write_puzzles(benchmarks.datasets()[dataset].puzzles(**parameters), tmp_path / "test.parquet")
    published = getattr(tasks, name)(path=str(tmp_path), split="test")
    made = getattr(tasks, name)(**SMALL[name])
    for ours, theirs in zip(made.dataset, published.dataset, strict=True):
        assert (ours.id, ours.input, ours.metadata) == (theirs.id, theirs.input, theirs.metadata)
    lowered = getattr(tasks, name)(path=str(tmp_path), context_budget=16384)
    assert {each.metadata["context_budget"] for each in lowered.dataset} == {16384}


def test_puzzles_with_their_twins_are_those_of_lm_eval_and_so_is_the_accuracy_of_each_change(
    tmp_path,
):
    grid = SMALL["cogniload"] | {"num_puzzles": 1}
    prompts, results, _ = run_lm_eval("cogniload_twins", grid, tmp_path / "theirs")
    log = evaluate(tasks.cogniload_twins(**grid), tmp_path / "ours", answer)
    assert {sample.id for sample in log.samples} == prompts.keys()
    assert len(prompts) == 7 * 4
    ours = {
        name: metric.value
        for score in log.results.scores
        for name, metric in score.metrics.items()
        if name.startswith("acc_") and name != "acc_uncut"
    }
    assert len(ours) == 7
    assert ours == {name: results[f"{name},none"] for name in ours}


@pytest.mark.parametrize(("name", "given", "said"), REFUSED["tasks"])
def test_what_a_task_does_not_take_is_refused_in_one_line(name, given, said):
    with pytest.raises(PrerequisiteError, match=said) as error:
        getattr(tasks, name)(**given)
    assert "\n" not in str(error.value)


def test_the_command_finds_the_tasks_by_the_entry_point(tmp_path):
    """That of pyproject.toml, in the metadata of an installation, beside a model that answers."""
    about = tmp_path / "cogniload-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: cogniload\nVersion: 0\n")
    entries = PROJECT["entry-points"]["inspect_ai"].items()
    named = "\n".join(f"{name} = {module}" for name, module in entries)
    (about / "entry_points.txt").write_text(f"[inspect_ai]\n{named}\nanswers = answers\n")
    (tmp_path / "answers.py").write_text(MODEL)

    def run(*arguments):
        command = [sys.executable, "-m", "inspect_ai", "eval", "cogniload/cogniload"]
        command += ["--model", "answers/solver", "--log-dir", tmp_path / "logs", *arguments]
        path = os.pathsep.join(map(str, (tmp_path, ROOT)))
        return subprocess.run(
            [*command, "--display", "plain"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": path},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    small = ["-T", "d=1,3", "-T", "N=5", "-T", "rho=50", "-T", "num_puzzles=2"]
    ran = run(*small, "--max-connections", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (frame,) = read_benchmarks(tmp_path / "logs", ANALYSES).values()
    assert set(frame["task"]) == {"cogniload"}
    assert frame["correct"].tolist() == [True] * 4
    assert set(frame["decoding"]) == {"temperature 0.0"}

    refused = run("-T", "d=99")
    assert refused.returncode == 1
    assert "Traceback" not in refused.stdout + refused.stderr
    assert "d must be an integer in 1..12" in " ".join(refused.stdout.split())


MODEL = """
from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from cogniload_gen import solve

@modelapi(name="answers")
class Answers(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        return ModelOutput.from_content("solver", f"The answer is {solve(input[-1].text)}.")
"""

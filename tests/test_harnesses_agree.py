"""The same stored responses through every harness: equal ids, prompts, limits and scores."""

from pathlib import Path

import pytest
import reasoning_gym
from harness import Scripted, manager, random_state_put_back
from inspect_ai import eval as inspect_eval
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from lm_eval import simple_evaluate
from replayed import PARAMETERS, parameters_of, replays

import reasoning_gym_tasks  # noqa: F401 (registers the data sets)
from cogniload_gen import benchmarks
from cogniload_gen.answers.sample import ResponseFacts
from cogniload_gen.context_budget import Share
from cogniload_gen.tokens import estimate
from inspect_tasks import tasks
from lm_eval_tasks.responses import Response

pytestmark = pytest.mark.slow

LM_EVAL_TASK = {"factor_symbolic": "factor_symbolic_0", "factor_realistic": "factor_realistic_4k"}


def by_lm_eval(name, stored, _):
    """Yield id, prompt, limit, outcome and correct of each sample of lm-eval's own run."""
    by_id = {each.id: each for each in stored}

    def respond(request):
        each = by_id[request.doc["id"]]
        said = ResponseFacts(each.finish_reason, each.prompt_tokens, each.response_tokens)
        return Response(each.response, said)

    model = Scripted(respond)
    dataset, parameters = parameters_of(name)
    parameters.pop("suite", None)
    task = LM_EVAL_TASK.get(name, name)
    with random_state_put_back():
        found = simple_evaluate(
            model, tasks=[task], task_manager=manager(**{dataset: parameters}), bootstrap_iters=0
        )
    for sample in found["samples"][task]:
        asked = model.asked[sample["doc"]["id"]]
        yield sample["doc"]["id"], *asked, sample["outcome"], bool(sample["acc"])


@modelapi(name="replaying")
class ReplayingAPI(ModelAPI):
    """A model of Inspect that gives the stored responses."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, *, stored, **others):
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self.by_prompt = {each.prompt: each for each in stored}

    async def generate(self, input, tools, tool_choice, config):
        """Return what is stored."""
        each = self.by_prompt[input[-1].text]
        reason = "max_tokens" if each.finish_reason == "length" else "stop"
        output = ModelOutput.from_content("stored", each.response, stop_reason=reason)
        if each.prompt_tokens is not None:
            said = {"input_tokens": each.prompt_tokens, "output_tokens": each.response_tokens}
            output.usage = ModelUsage(**said)
        return output


def by_inspect(name, stored, folder):
    """Yield the same of each sample of Inspect's own run."""
    model = get_model("replaying/stored", stored=stored, memoize=False)
    task = getattr(tasks, name)(**PARAMETERS[name])
    with random_state_put_back():
        (log,) = inspect_eval(task, model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    for sample in log.samples:
        (asked,) = (event for event in sample.events if event.event == "model")
        score = sample.scores["score_puzzle"]
        verdict = score.metadata["outcome"], score.value == "C"
        yield sample.id, sample.input, asked.config.max_tokens, *verdict


def by_reasoning_gym(name, stored, _):
    """Yield the same of reasoning-gym's items, which have scores and no outcomes."""
    asked = {key: value for key, value in PARAMETERS[name].items() if key != "num_puzzles"}
    made = reasoning_gym.create_dataset(name, **asked, seed=42, split="test", size=len(stored))
    by_id = {each.id: each for each in stored}
    for entry in made:
        metadata = entry["metadata"]
        each = by_id[metadata["id"]]
        share = Share(estimate(each.prompt), metadata["response_limit"], counted=False)
        entry["metadata"] |= share.scored(each.prompt_tokens, each.response_tokens)
        entry["metadata"]["finish_reason"] = each.finish_reason
        correct = made.score_answer(each.response, entry) == 1
        yield each.id, entry["question"], metadata["response_limit"], None, correct


HARNESSES = {"lm-eval": by_lm_eval, "Inspect": by_inspect, "reasoning-gym": by_reasoning_gym}
"""From a benchmark's name, its stored responses and an empty folder to what a harness made of it.

A new harness is a function here. One that has an environment of its own reads the file that
`python tests/helpers/replayed.py FILE` writes.
"""


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("harness", HARNESSES)
def test_a_harness_gives_the_ids_prompts_limits_and_scores_of_all(harness, name, tmp_path: Path):
    stored = [each for each in replays() if each.benchmark == name]
    told = sorted(HARNESSES[harness](name, stored, tmp_path))
    wanted = sorted((one.id, one.prompt, one.limit, one.outcome, one.correct) for one in stored)
    assert [one[0] for one in told] == [one[0] for one in wanted]
    for (*facts, outcome, correct), (*same, known, right) in zip(told, wanted, strict=True):
        assert [*facts, outcome or known, correct] == [*same, known, right]


def test_the_stored_responses_are_a_thousand_of_every_outcome():
    assert len(replays()) > 1000
    found = {(each.benchmark, each.outcome) for each in replays()}
    of = {name: benchmarks.named(name.replace("_", "-")) for name in PARAMETERS}
    kinds = {(name, kind.value) for name in PARAMETERS for kind in of[name].outcomes}
    assert found == kinds
    assert len({each.prompt for each in replays()}) == len(replays())
    assert len({each.limit for each in replays()}) > 3
    assert {each.finish_reason for each in replays()} == {"stop", "length"}

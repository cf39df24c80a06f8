"""The test splits of a repository that `cogniload push` wrote, as custom tasks of lighteval 0.13.

COGNILOAD_DATASET=user/name lighteval tasks list --custom-tasks recipes/lighteval/cogniload.py
Each configuration of the repository is a task of its name. recipes/README.md has the whole command.
"""

import os
from statistics import mean

from datasets import get_dataset_config_names
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod

from cogniload_gen import benchmarks
from cogniload_gen.budget import CONTEXT_BUDGET

DATASET = os.environ["COGNILOAD_DATASET"]


class Scored(SampleLevelComputation):
    """Scores a whole response, reasoning included, by the rules of its benchmark."""

    def compute(self, doc: Doc, model_response: ModelResponse, **_) -> dict[str, int]:
        """Return `acc` and each wrong outcome as 1 or 0."""
        prompt, (response, *_) = model_response.input_tokens, model_response.output_tokens or [[]]
        score = benchmarks.score(
            model_response.text[0],
            doc.specific,
            prompt_tokens=len(prompt) or None,
            response_tokens=len(response) or None,
            context_budget=CONTEXT_BUDGET,
        )
        wrong = [kind for kind in type(score.outcome) if not kind.correct]
        return {"acc": int(score.correct)} | {
            str(kind): int(kind is score.outcome) for kind in wrong
        }


def make_doc(row: dict, task_name: str) -> Doc:
    """Return a puzzle as lighteval asks it: its prompt as it is."""
    return Doc(row["puzzle"], [row["answer"]], 0, specific=row, task_name=task_name)


def make_task(configuration: str) -> LightevalTaskConfig:
    """Return the task of a configuration, whose name tells its benchmark."""
    benchmark = benchmarks.named(configuration.partition("-v")[0])
    names = ["acc", *(str(kind) for kind in benchmark.outcomes if not kind.correct)]
    metric = SampleLevelMetricGrouping(
        metric_name=names,
        higher_is_better={name: name == "acc" for name in names},
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=Scored(),
        corpus_level_fn=dict.fromkeys(names, mean),
    )
    return LightevalTaskConfig(
        name=configuration,
        prompt_function=make_doc,
        hf_repo=DATASET,
        hf_subset=configuration,
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[metric],
        version=benchmark.version,
    )


TASKS_TABLE = [make_task(name) for name in get_dataset_config_names(DATASET)]

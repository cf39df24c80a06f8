"""The tasks of two benchmarks of long reasoning: `inspect eval cogniload/NAME -T KNOB=VALUE`.

CogniLoad (arXiv 2509.18458): a logic puzzle tells what people wear, eat and so on, then N
statements change those whose state fits. What does the person of interest have in the end? d
attributes and values say how difficult a statement is, and rho is the share of statements that are
needles, about that person; the rest is hay. FACTOR: which variables have a value, by definitions of
N others in filler text of any length, as symbols or as a story.

Puzzles are made from seeds. A response is right by the paper's own rule, in its last sentence.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import yaml
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, accuracy, grouped, stderr
from rich.markup import escape

from cogniload_gen.answers.conversations import USUAL
from cogniload_gen.checks import check_flag
from inspect_tasks import scoring
from inspect_tasks.samples import (
    AdaptiveSamples,
    Settings,
    make_samples,
    read_settings,
    task_of_context,
)
from inspect_tasks.turns import make_turn_samples, score_turns, take_turns


def ours(make: Callable[..., Task]) -> Callable[..., Task]:
    """Refuse wrong parameters in a line, and have Inspect register a task by its full name.

    Inspect makes `-T d=1,3` a list of texts, and would put the name of the package that a task is
    imported from before its own. To a function whose module it does not find it leaves its name.
    """

    def read(value: Any) -> Any:
        number = yaml.safe_load(value) if isinstance(value, str) else value
        return number if type(number) in (int, float) else value

    @wraps(make)
    def refusing(**parameters: Any) -> Task:
        lists = {name: value for name, value in parameters.items() if isinstance(value, list)}
        try:
            return make(**parameters | {name: [*map(read, each)] for name, each in lists.items()})
        except ValueError as error:
            raise PrerequisiteError(escape(str(error))) from None

    refusing.__module__ = "cogniload"
    return refusing


def _make_task(
    name: str, dataset: str, parameters: dict[str, Any], fit: Metric, like: str | None = None
) -> Task:
    """Return a task whose parameters are those of lm-eval's task `like`, but for those of its own.

    `fit` is the metric of the whole run.
    """
    settings = read_settings(dataset, like or name)
    return _task_of(settings, fit, dataset=make_samples(name, settings, parameters))


def _task_of(settings: Settings, fit: Metric, **others: Any) -> Task:
    """Return a task whose samples are answered once."""
    return Task(
        solver=scoring.generate_within_budget(),
        scorer=scoring.score_puzzle(),
        metrics=[accuracy(), stderr(), scoring.uncut(), scoring.outcome_shares(), fit],
        config=GenerateConfig(temperature=settings.temperature),
        version=settings.version,
        **others,
    )


@task(name="cogniload/cogniload")
@ours
def cogniload(**parameters: Any) -> Task:
    """CogniLoad on the paper's grid, or on your own d, N and rho."""
    return _make_task("cogniload", "cogniload", parameters, scoring.thresholds())


@task(name="cogniload/cogniload_lite")
@ours
def cogniload_lite(**parameters: Any) -> Task:
    """CogniLoad with ten puzzles in each cell of the paper's grid."""
    return _make_task("cogniload_lite", "cogniload", parameters, scoring.thresholds())


@task(name="cogniload/cogniload_quick")
@ours
def cogniload_quick(**parameters: Any) -> Task:
    """CogniLoad with few and short puzzles, for a first look."""
    return _make_task("cogniload_quick", "cogniload", parameters, scoring.thresholds())


@task(name="cogniload/cogniload_adaptive")
@ours
def cogniload_adaptive(**parameters: Any) -> Task:
    """CogniLoad where it tells most, until `until` is known, such as ECL50±20%."""
    settings = read_settings("cogniload", "cogniload")
    samples = AdaptiveSamples("cogniload_adaptive", settings, parameters)
    about = {"until": samples.until | samples.design.fingerprint}
    return _task_of(settings, scoring.estimate(**samples.until), dataset=samples, metadata=about)


@task(name="cogniload/cogniload_twins")
@ours
def cogniload_twins(**parameters: Any) -> Task:
    """CogniLoad's puzzles, each with its twins: why the model fails."""
    by_change = grouped(accuracy(), "change", all=False, name_template="acc_{group_name}")
    return _make_task("cogniload_twins", "cogniload", parameters, by_change)


@task(name="cogniload/cogniload_turns")
@ours
def cogniload_turns(
    k: Any = 5,
    history: Any = USUAL,
    keep_reasoning: bool = False,
    poi: Any = "early",
    every: Any = 2,
    strategy: Any = "recap",
    threshold: float | None = None,
    **parameters: Any,
) -> Task:
    """CogniLoad turn by turn: `k` statements, then the whole state; by `history` of replies.

    With `keep_reasoning`, the model sees the reasoning of its own earlier replies too. With `poi`
    late, turns before the last ask about anyone. The histories compacted and compacted_true are
    replaced after `every` turns, by what a `strategy` makes of them and by everyone's true state.
    With a `threshold`, in tokens or as a share, Inspect's strategies compact where it is passed.
    """
    settings = read_settings("cogniload", "cogniload_quick")
    how = {"k": k, "keep_reasoning": check_flag("keep_reasoning", keep_reasoning)}
    how |= {"history": history, "strategy": strategy, "asks": poi, "every": every}
    if threshold is not None and (type(threshold) not in (int, float) or threshold <= 0):
        raise ValueError(f"threshold must be tokens or a share of the window, got {threshold!r}")
    sent_back: Any = "all" if keep_reasoning else "none"
    return Task(
        dataset=make_turn_samples("cogniload_turns", settings, parameters, **how),
        solver=take_turns(threshold),
        scorer=score_turns(),
        config=GenerateConfig(temperature=settings.temperature, reasoning_history=sent_back),
        version=settings.version,
    )


@task(name="cogniload/factor_symbolic")
@ours
def factor_symbolic(context: Any = 0, **parameters: Any) -> Task:
    """FACTOR's symbolic suite with `context` tokens of filler."""
    return _factor_task("factor_symbolic", context, parameters)


@task(name="cogniload/factor_realistic")
@ours
def factor_realistic(context: Any = 0, **parameters: Any) -> Task:
    """FACTOR's realistic suite with `context` tokens of prompt, noise included."""
    return _factor_task("factor_realistic", context, parameters)


def _factor_task(suite: str, context: Any, parameters: dict[str, Any]) -> Task:
    """Return a suite's task; of a published split, `context` tells which budget is usual alone."""
    like = task_of_context(suite, context)
    parameters = parameters if "path" in parameters else parameters | {"context": context}
    return _make_task(suite, "factor", parameters, scoring.decay(), like)

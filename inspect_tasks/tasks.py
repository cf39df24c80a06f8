"""The tasks, as `inspect eval cogniload/NAME -T KNOB=VALUE` takes them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import yaml
from inspect_ai import SampleSource, Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Dataset
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.scorer import Metric, accuracy, stderr
from rich.markup import escape

from cogniload_gen.checks import Given
from cogniload_gen.conversations import HISTORIES
from inspect_tasks.adaptive_tasks import estimate, make_asking
from inspect_tasks.fits import crossings, decay, thresholds
from inspect_tasks.samples import make_samples
from inspect_tasks.scoring import (
    accuracy_by_change,
    check_window,
    generate_within_budget,
    outcome_shares,
    score_puzzle,
)
from inspect_tasks.settings import Settings, read_settings, task_of_context
from inspect_tasks.turns import make_turn_samples, score_turns, take_turns

Maker = TypeVar("Maker", bound=Callable[..., Task])


class RefusedTaskError(PrerequisiteError, ValueError):
    """A task with wrong parameters: a command prints its one line, no traceback."""

    def __init__(self, message: str) -> None:
        super().__init__(escape(message))
        self.args = (message,)


def ours(make: Maker) -> Maker:
    """Have Inspect register a task by its full name.

    Inspect would put the name of the package that it is imported from before it. To a function
    whose module it does not find it leaves its name.
    """
    make.__module__ = "cogniload"
    return make


@contextmanager
def refusing() -> Iterator[None]:
    """Turn a ValueError into the refusal of a task."""
    try:
        yield
    except ValueError as error:
        raise RefusedTaskError(str(error)) from None


def current_model() -> Model | None:
    """Return the model that is evaluated; None where there is none."""
    try:
        return get_model()
    except ValueError:
        return None


@refusing()
def make_task(
    name: str, dataset: str, parameters: dict[str, Given], fit: Metric, like: str | None = None
) -> Task:
    """Return a task whose parameters are those of lm-eval's task `like`, but for those of its own.

    `fit` is the metric of the whole run.
    """
    settings = read_settings(dataset, like or name)
    samples = make_samples(name, settings, read_lists(parameters))
    check_window(current_model(), samples)
    return task_of(settings, samples, fit)


@refusing()
def make_adaptive_task(name: str, dataset: str, parameters: dict[str, Given], like: str) -> Task:
    """Return a task whose samples a design asks for; `like` is lm-eval's on the same puzzles."""
    settings = read_settings(dataset, like)
    asking = make_asking(name, settings, read_lists(parameters))
    check_window(current_model(), asking.initial_samples())
    made = task_of(settings, asking, estimate(**asking.until))
    made.metadata = {"until": asking.until | asking.design.plan.fingerprint}
    return made


def task_of(settings: Settings, samples: Dataset | SampleSource, fit: Metric) -> Task:
    """Return a task of Inspect's on samples."""
    return Task(
        dataset=samples,
        solver=generate_within_budget(),
        scorer=score_puzzle(),
        metrics=[accuracy(), stderr(), outcome_shares(), fit],
        config=GenerateConfig(temperature=settings.temperature),
        version=settings.version,
    )


def read_lists(parameters: Mapping[str, Given]) -> dict[str, Given]:
    """Return parameters with the numbers in `-T d=1,3`, which Inspect makes a list of texts."""

    def read(value: Given) -> Given:
        if isinstance(value, list):
            return [yaml.safe_load(item) if isinstance(item, str) else item for item in value]
        return value

    return {name: read(value) for name, value in parameters.items()}


@task(name="cogniload/cogniload")
@ours
def cogniload(**parameters: Given) -> Task:
    """CogniLoad on the paper's grid, or on your own d, N and rho."""
    return make_task("cogniload", "cogniload", parameters, thresholds())


@task(name="cogniload/cogniload_lite")
@ours
def cogniload_lite(**parameters: Given) -> Task:
    """CogniLoad with ten puzzles in each cell of the paper's grid."""
    return make_task("cogniload_lite", "cogniload", parameters, thresholds())


@task(name="cogniload/cogniload_quick")
@ours
def cogniload_quick(**parameters: Given) -> Task:
    """CogniLoad with few and short puzzles, for a first look."""
    return make_task("cogniload_quick", "cogniload", parameters, thresholds())


@task(name="cogniload/cogniload_axes")
@ours
def cogniload_axes(**parameters: Given) -> Task:
    """CogniLoad on three axes through the paper's mean loads: 700 puzzles for the crossings."""
    return make_task("cogniload_axes", "cogniload", parameters, crossings())


@task(name="cogniload/cogniload_twins")
@ours
def cogniload_twins(**parameters: Given) -> Task:
    """CogniLoad's puzzles, each with its twins: why the model fails."""
    return make_task("cogniload_twins", "cogniload", parameters, accuracy_by_change())


@task(name="cogniload/cogniload_turns")
@ours
@refusing()
def cogniload_turns(k: Given = 5, history: Given = HISTORIES, **parameters: Given) -> Task:
    """CogniLoad turn by turn: `k` statements, then the whole state; by `history` of replies."""
    settings = read_settings("cogniload", "cogniload_quick")
    samples = make_turn_samples("cogniload_turns", settings, read_lists(parameters), k, history)
    check_window(current_model(), samples)
    return Task(
        dataset=samples,
        solver=take_turns(),
        scorer=score_turns(),
        config=GenerateConfig(temperature=settings.temperature),
        version=settings.version,
    )


@task(name="cogniload/cogniload_adaptive")
@ours
def cogniload_adaptive(**parameters: Given) -> Task:
    """CogniLoad where it tells most, until `until` is known, such as ECL50±20%."""
    return make_adaptive_task("cogniload_adaptive", "cogniload", parameters, "cogniload")


@task(name="cogniload/factor_symbolic")
@ours
def factor_symbolic(context: Given = 0, **parameters: Given) -> Task:
    """FACTOR's symbolic suite with `context` tokens of filler."""
    return factor_task("factor_symbolic", context, parameters)


@task(name="cogniload/factor_realistic")
@ours
def factor_realistic(context: Given = 0, **parameters: Given) -> Task:
    """FACTOR's realistic suite with `context` tokens of prompt, noise included."""
    return factor_task("factor_realistic", context, parameters)


@task(name="cogniload/factor_symbolic_adaptive")
@ours
def factor_symbolic_adaptive(context: Given = 0, **parameters: Given) -> Task:
    """FACTOR's symbolic suite where it tells most, until `until` is known, such as N_eff±20%."""
    return factor_task("factor_symbolic", context, parameters, adaptive=True)


@task(name="cogniload/factor_realistic_adaptive")
@ours
def factor_realistic_adaptive(context: Given = 0, **parameters: Given) -> Task:
    """FACTOR's realistic suite where it tells most, until `until` is known, such as N_eff±20%."""
    return factor_task("factor_realistic", context, parameters, adaptive=True)


def factor_task(
    suite: str, context: Given, parameters: dict[str, Given], *, adaptive: bool = False
) -> Task:
    """Return a suite's task; of a published split, `context` tells which budget is usual alone."""
    like = task_of_context(suite, "factor", context)
    parameters = parameters if "path" in parameters else parameters | {"context": context}
    if adaptive:
        return make_adaptive_task(f"{suite}_adaptive", "factor", parameters, like)
    return make_task(suite, "factor", parameters, decay(), like)

"""The tasks, as `inspect eval cogniload/NAME -T KNOB=VALUE` takes them."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import yaml
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig
from rich.markup import escape

from cogniload_gen.checks import Given
from inspect_tasks.samples import make_samples
from inspect_tasks.scoring import generate_within_budget, score_puzzle
from inspect_tasks.settings import read_settings, task_of_context

Maker = TypeVar("Maker", bound=Callable[..., Task])


class RefusedTaskError(PrerequisiteError, ValueError):
    """A task that was asked for wrongly: Inspect's command prints its one line, no traceback."""


def registered(make: Maker) -> Maker:
    """Register a task as cogniload/NAME.

    Inspect would put the name of the package that it is imported from before it. To a function
    whose module it does not find it leaves its name.
    """
    name = f"cogniload/{make.__name__}"
    make.__module__ = "cogniload"
    return task(name=name)(make)


def make_task(name: str, dataset: str, given: dict[str, Given], like: str | None = None) -> Task:
    """Return a task whose parameters are those of lm-eval's task `like`, but for what is given."""
    settings = read_settings(dataset, like or name)
    try:
        samples = make_samples(name, settings, read_lists(given))
    except ValueError as error:
        raise RefusedTaskError(escape(str(error))) from None
    return Task(
        dataset=samples,
        solver=generate_within_budget(),
        scorer=score_puzzle(),
        config=GenerateConfig(temperature=settings.temperature),
        version=settings.version,
    )


def read_lists(given: Mapping[str, Given]) -> dict[str, Given]:
    """Return parameters with the numbers in `-T d=1,3`, of which Inspect makes a list of texts."""
    return {
        name: [yaml.safe_load(each) if isinstance(each, str) else each for each in value]
        if isinstance(value, list)
        else value
        for name, value in given.items()
    }


@registered
def cogniload(**given: Given) -> Task:
    """CogniLoad on the paper's grid, or on your own d, N and rho."""
    return make_task("cogniload", "cogniload", given)


@registered
def cogniload_lite(**given: Given) -> Task:
    """CogniLoad with ten puzzles in each cell of the paper's grid."""
    return make_task("cogniload_lite", "cogniload", given)


@registered
def cogniload_quick(**given: Given) -> Task:
    """CogniLoad with few and short puzzles, for a first look."""
    return make_task("cogniload_quick", "cogniload", given)


@registered
def factor_symbolic(context: Given = 0, **given: Given) -> Task:
    """FACTOR's symbolic suite with `context` tokens of filler."""
    like = task_of_context("factor_symbolic", "factor", context)
    return make_task("factor_symbolic", "factor", given | {"context": context}, like)


@registered
def factor_realistic(context: Given = 0, **given: Given) -> Task:
    """FACTOR's realistic suite with `context` tokens of prompt, noise included."""
    like = task_of_context("factor_realistic", "factor", context)
    return make_task("factor_realistic", "factor", given | {"context": context}, like)

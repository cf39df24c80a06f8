"""What a benchmark is: one record that generation, scoring, datasets, tasks and the Hub all ask.

A benchmark's own folder makes its record, and `benchmarks.py` lists them. Nothing else needs to
know which benchmarks there are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources.abc import Traversable
from reprlib import repr as brief
from tomllib import loads
from typing import Any, Literal, Protocol

import pyarrow as pa

from cogniload_gen.checks import (
    Given,
    check_choice,
    check_choices,
    check_known,
    check_numbers,
)
from cogniload_gen.grid import (
    MAX_INDEX,
    MAX_PUZZLES,
    MAX_SEED,
    SPLITS,
    Cell,
    Selection,
    combinations,
    make_grid,
)
from cogniload_gen.source import Source

Row = Mapping[str, Given]
"""A puzzle as `load_dataset` gives it: its columns by name. It may come from anywhere."""

Rules = dict[str, tuple[pa.Array, str]]
"""By column: which rows have an allowed value (booleans), and what is allowed, in words."""


@dataclass(frozen=True)
class Knob:
    """One parameter of a benchmark: what it sets, its default and what it takes.

    `kind` is "integer" (from `low` to `high`), "number" (above `low`, up to `high`), "choice" (one
    of `choices`), "flag" (True or False) or "tokenizer". An integer with `choices` takes those
    words too: each puzzle then draws its own number, which the knob's column holds. A knob of a
    grid takes a value or a sequence of different values. `meaning` says in a phrase what it sets,
    with its unit. `levels` are values from easy to hard, for training that goes on as a model
    learns; a knob without any does not take part.
    """

    name: str
    kind: Literal["integer", "number", "choice", "flag", "tokenizer"]
    meaning: str
    default: Given = None
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    shown_default: str = ""
    levels: tuple[Given, ...] = ()

    def check(self, given: Given) -> tuple[Any, ...]:
        """Return the values of a grid's knob as a tuple; ValueError for what it does not take."""
        if self.kind == "choice":
            return check_choices(self.name, given, self.choices)
        integer = self.kind == "integer"
        return check_numbers(
            self.name, given, integer=integer, low=self.low, high=self.high, words=self.choices
        )

    @property
    def may_be_drawn(self) -> bool:
        """Whether a word has each puzzle draw its own value: its id tells the word."""
        return self.kind == "integer" and bool(self.choices)

    @property
    def allowed(self) -> str:
        """What the knob takes, in words."""
        most = "and more" if self.high >= MAX_PUZZLES else f"to {self.high:,}"
        words = "".join(f"{word}, or " for word in self.choices)
        return {
            "integer": f"{words}{self.low:,} {most}",
            "number": f"above {self.low}, to {self.high}",
            "choice": ", ".join(self.choices),
            "flag": "True or False",
            "tokenizer": "a Hugging Face name or folder, or a callable",
        }[self.kind]

    @property
    def usual(self) -> str:
        """The default, in words."""
        values = self.default if isinstance(self.default, tuple) else (self.default,)
        return self.shown_default or " ".join(map(str, values))

    def describe(self) -> str:
        """Return the knob in a phrase: meaning, allowed values and default."""
        return f"{self.meaning}; {self.allowed} (default {self.usual})"


def settings(num_puzzles: int) -> tuple[Knob, ...]:
    """Return the parameters that every benchmark has besides its knobs.

    `num_puzzles` is the benchmark's default.
    """
    return (
        Knob("num_puzzles", "integer", "puzzles in each cell", num_puzzles, 1, MAX_PUZZLES),
        Knob("seed", "integer", "the seed of the draws", 42, 0, MAX_SEED),
        Knob(
            "first_index", "integer", "the index of the first puzzle in each cell", 0, 0, MAX_INDEX
        ),
    )


class OutcomeName(Protocol):
    """A member of a benchmark's StrEnum of outcomes."""

    @property
    def value(self) -> str:
        """The outcome's name."""
        ...

    @property
    def correct(self) -> bool:
        """Whether the response counts as correct in the accuracy."""
        ...

    @property
    def cut(self) -> bool:
        """Whether a limit cut the response off."""
        ...


@dataclass(frozen=True)
class Score:
    """What became of a response, and the evidence for it.

    `value` is the answer that was read, None where none could be read. `evidence` is the place
    (start, stop) in the response that it was read from. `explanation` says in a sentence why the
    outcome is what it is. `details` are further facts, such as the variables that an answer missed.
    """

    outcome: OutcomeName
    value: str | None
    evidence: tuple[int, int] | None
    explanation: str
    details: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def correct(self) -> bool:
        """Whether the response counts as correct in the accuracy."""
        return self.outcome.correct


ENOUGH_READ, ENOUGH_SHARE = 20, 0.1
"""How many of a model's responses must have been read, and which share, to say where they break."""


def enough_read(read: int, responses: int) -> bool:
    """Return whether enough of a model's responses were read to say where its reasoning breaks."""
    return read >= ENOUGH_READ and read >= ENOUGH_SHARE * responses


class StepsRead(Protocol):
    """What a benchmark's reader of steps finds in a response.

    Where `read` is False, the response could not be read, and nothing is claimed.
    """

    @property
    def read(self) -> bool:
        """Whether the response could be read."""
        ...

    @property
    def first_error(self) -> int | str | None:
        """The first statement or variable that is wrong; None if none is."""
        ...

    @property
    def error(self) -> str | None:
        """The kind of the first error; None if there is none."""
        ...

    @property
    def recovered(self) -> bool | None:
        """Whether what is told becomes right again; None without an error."""
        ...

    @property
    def coverage(self) -> float:
        """The share of statements or variables that the response decides."""
        ...


class Scorer(Protocol):
    """A function from a response and its puzzle's row to a score."""

    def __call__(
        self,
        response: str,
        row: Row,
        *,
        prompt_tokens: int | None,
        response_tokens: int | None,
        context_budget: int | None,
    ) -> Score:
        """Return the score; ValueError where the row lacks a column, or holds what none has."""
        ...


def no_rules(_: pa.Table) -> Rules:
    """Return no rules."""
    return {}


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One benchmark: its knobs, its puzzles, its solver and its scorer.

    Attributes:
        name: Begins the ids and addresses of its puzzles.
        title: Its name in prose.
        dataset: The name that `load_dataset` takes.
        cell: The NamedTuple of a cell, whose fields are the names of its knobs.
        knobs: The parameters whose product is the grid.
        version: Part of every puzzle's address: a change to any puzzle's text or answer raises it.
        make_source: From a selection and the options by name to its puzzles.
        owns_text: Tells whether a text is one of its puzzles.
        solve: From a puzzle's text to the answer, by nothing but the text.
        owns_row: Tells whether a row is one of its puzzles.
        score: From a response and a row to a score.
        outcomes: The StrEnum of its outcomes, whose members have `correct` and `cut`.
        about: The folder whose about.toml has its summary, tags, citation and columns.
        suite: Tells it from the other benchmarks of its dataset; None if it is the only one.
        options: The parameters that are no part of a puzzle's address.
        num_puzzles: The default number of puzzles in each cell, the paper's.
        make_cells: From the knobs' values by name to the checked cells; by default their product.
        answer_reward: From a response and a row to a trainer's reward for the answer, 0 to 1; by
            default 1 for a correct response.
        baselines: By name, from a puzzle's text to an answer without the reasoning, which a model
            has to beat; to an empty text where it has none. ValueError for a text that is no puzzle
            of the benchmark.
        step_reward: The same for the steps; by default the reward for the answer.
        read_steps: From a response and a row to where its reasoning breaks; None if nothing reads
            it.
        step_errors: The kinds of a first error that `read_steps` tells.
        body: From a puzzle's text to the part of it that other puzzles do not share; by default
            all of it.
        needed: The columns besides id, puzzle, answer and the knobs without which a published
            puzzle can't be run, scored and analysed.
        rules: What else must hold of published puzzles.
        own_splits: Splits of its own, beside train, validation and test.
        select_split: From one of its own splits and the parameters to a selection.
        endless: Whether its train split can be streamed without end.
    """

    name: str
    title: str
    dataset: str
    cell: type[Cell]
    knobs: tuple[Knob, ...]
    version: int = 1
    make_source: Callable[..., Source]
    owns_text: Callable[[str], bool]
    solve: Callable[[str], str]
    owns_row: Callable[[Row], bool]
    score: Scorer
    outcomes: type
    about: Traversable
    suite: str | None = None
    options: tuple[Knob, ...] = ()
    num_puzzles: int = 100
    make_cells: Callable[..., tuple[Cell, ...]] | None = None
    answer_reward: Callable[[str, Row], float] | None = None
    baselines: Mapping[str, Callable[[str], str]] = field(default_factory=dict, hash=False)
    step_reward: Callable[[str, Row], float] | None = None
    read_steps: Callable[[str, Row], StepsRead] | None = None
    step_errors: tuple[str, ...] = ()
    body: Callable[[str], str] = str
    needed: tuple[str, ...] = ()
    rules: Callable[[pa.Table], Rules] = no_rules
    own_splits: tuple[str, ...] = ()
    select_split: Callable[..., Selection] | None = None
    endless: bool = False

    @property
    def parameters(self) -> tuple[Knob, ...]:
        """All parameters but the split, in the order in which they are told."""
        return (*self.knobs, *settings(self.num_puzzles), *self.options)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that it has."""
        return (*SPLITS, *self.own_splits)

    def select(self, *, split: Given = "test", **given: Given) -> Selection:
        """Return the puzzles that parameters ask for, checked.

        `given` holds knobs and settings by name; what is left out has its default. ValueError names
        a parameter that is unknown or wrong, what it got and what it takes.
        """
        knobs = {knob.name: knob.default for knob in self.knobs}
        others = {knob.name: knob.default for knob in settings(self.num_puzzles)}
        check_known(given, (*knobs, *others, "split"), self.title)
        if self.select_split is not None and isinstance(split, str) and split in self.own_splits:
            return self.select_split(split, **given)
        values = {name: given.pop(name, knobs[name]) for name in knobs}
        cells = self.make_cells(**values) if self.make_cells else self.product(**values)
        return make_grid(self.name, self.version, cells, split=split, **(others | given))

    def product(self, **values: Given) -> tuple[Cell, ...]:
        """Return the cells of the product of the knobs' values, checked."""
        checked = [knob.check(values[knob.name]) for knob in self.knobs]
        return tuple(self.cell(*each) for each in combinations(*checked))

    def source(self, selection: Selection, **options: Given) -> Source:
        """Return the puzzles of a selection; ValueError for an unknown or wrong option."""
        check_known(options, [option.name for option in self.options], self.title)
        return self.make_source(selection, **options)

    def reward_answer(self, response: str, row: Row) -> float:
        """Return a trainer's reward for the answer of a response, 0 to 1."""
        if self.answer_reward:
            return self.answer_reward(response, row)
        counts = dict.fromkeys(("prompt_tokens", "response_tokens", "context_budget"))
        return float(self.score(response, row, **counts).correct)

    def reward_steps(self, response: str, row: Row) -> float:
        """Return a trainer's reward for the steps of a response, 0 to 1."""
        return (self.step_reward or self.reward_answer)(response, row)

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that every published puzzle must have a value in."""
        knobs = [knob.name for knob in self.knobs if not knob.may_be_drawn]
        return ("id", *knobs, "puzzle", "answer", *self.needed)

    @cached_property
    def words(self) -> dict[str, Any]:
        """What is said of it in a published card: summary, tags, citation and columns by name."""
        words = loads(self.about.joinpath("about.toml").read_text("utf-8"))
        known = {knob.name: knob.meaning for knob in (*self.knobs, *settings(self.num_puzzles))}
        return words | {"columns": known | words["columns"]}


@dataclass(frozen=True)
class Dataset:
    """The benchmarks that `load_dataset` knows by one name; several are told apart by their suite.

    The first benchmark is the default suite.
    """

    name: str
    benchmarks: tuple[Benchmark, ...]

    @property
    def suites(self) -> dict[str, Benchmark]:
        """The benchmarks by suite; empty if there is but one benchmark, without a suite."""
        return {each.suite: each for each in self.benchmarks if each.suite is not None}

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that any of the benchmarks has."""
        return tuple(dict.fromkeys(split for each in self.benchmarks for split in each.splits))

    @cached_property
    def defaults(self) -> dict[str, Given]:
        """The default of each parameter, `suite` included; None where the suites differ in it."""
        by_suite = [
            {knob.name: knob.default for knob in each.parameters} for each in self.benchmarks
        ]
        names = dict.fromkeys(name for defaults in by_suite for name in defaults)
        first = {"suite": next(iter(self.suites))} if self.suites else {}
        return first | {
            name: by_suite[0].get(name)
            if all(defaults.get(name) == by_suite[0].get(name) for defaults in by_suite)
            else None
            for name in names
        }

    def choose(self, given: Mapping[str, Given]) -> tuple[Benchmark, dict[str, Given]]:
        """Return the benchmark that parameters ask for, and those of them that are its own.

        None stands for the default of a parameter in which the suites differ, and has to be given
        for one that another suite alone has. ValueError names a parameter that is unknown, with the
        nearest that is known, or that is not for this suite.
        """
        check_known(given, (*self.defaults, "split"), self.name)
        asked = {
            name: value
            for name, value in given.items()
            if value is not None or self.defaults.get(name, "") is not None
        }
        benchmark = self.benchmarks[0]
        if self.suites:
            suite = asked.pop("suite", benchmark.suite)
            benchmark = self.suites[check_choice("suite", suite, tuple(self.suites))]
        own = {knob.name for knob in benchmark.parameters} | {"split"}
        for name, value in asked.items():
            if name not in own:
                raise ValueError(
                    f"{name} is not for the {benchmark.suite} suite, got {brief(value)}"
                )
        return benchmark, asked

    def select(self, given: Mapping[str, Given]) -> tuple[Benchmark, Selection, dict[str, Given]]:
        """Return the benchmark that parameters ask for, the puzzles, checked, and the options."""
        benchmark, asked = self.choose(given)
        options = {
            knob.name: asked.pop(knob.name) for knob in benchmark.options if knob.name in asked
        }
        return benchmark, benchmark.select(**asked), options

    def source(self, given: Mapping[str, Given]) -> Source:
        """Return the puzzles that parameters, options among them, ask for; checked."""
        benchmark, selection, options = self.select(given)
        return benchmark.source(selection, **options)

"""What a benchmark is: the base class that generation, scoring, datasets, tasks and the Hub use.

A benchmark's own folder subclasses it, and `benchmarks.py` lists the benchmarks. Nothing else needs
to know which there are. Listing them imports no engine, and neither numpy nor pyarrow.
"""

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources.abc import Traversable
from itertools import product
from numbers import Integral, Real
from reprlib import repr as brief
from tomllib import loads
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack

from cogniload_gen.checks import (
    check_choice,
    check_choices,
    check_flag,
    check_integer,
    check_known,
)
from cogniload_gen.files import read_words
from cogniload_gen.grid import (
    ENGLISH,
    MAX_INDEX,
    MAX_PUZZLES,
    MAX_SEED,
    SPLITS,
    Cell,
    Grid,
    Source,
    asks_steps,
    language_of,
    split_twin,
)

log = logging.getLogger(__name__)

Row = Mapping[str, Any]
"""A puzzle as `load_dataset` gives it: its columns by name. It may come from anywhere."""


@dataclass(frozen=True)
class Knob:
    """One parameter of a benchmark: what it sets, its default and what it takes.

    `kind` is "integer" (from `low` to `high`), "number" (above `low`, up to `high`), "choice" (one
    of `choices`), "flag" (True or False), "twin" (of a form in `choices`), "language" (one of
    `choices`) or "tokenizer". An integer with `choices` takes those words too: each puzzle then
    draws its own number, which the knob's column holds. A knob of a grid takes a value or a
    sequence of different values. `meaning` says in a phrase what it sets, with its unit. `levels`
    are values from easy to hard, for training whose difficulty follows the model; a knob without
    levels does not take part.
    """

    name: str
    kind: Literal["integer", "number", "choice", "flag", "twin", "language", "tokenizer"]
    meaning: str
    default: Any = None
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    shown_default: str = ""
    levels: tuple[Any, ...] = ()

    def check(self, values: Any) -> tuple[Any, ...]:
        """Return the values of a grid's knob as a tuple; ValueError for what it does not take.

        Examples:
            >>> Knob("rho", "number", "needles in percent", high=100).check([25, 50])
            (25.0, 50.0)
        """
        if self.kind == "choice":
            return check_choices(self.name, values, self.choices)
        low, high, integer = self.low, self.high, self.kind == "integer"
        kind: Any = Integral if integer else Real
        convert: type[int] | type[float] = int if integer else float
        limits = f"a number above {low} and up to {high}"
        if integer:
            limits = f"an integer in {low}..{high}"
        single = isinstance(values, str | bytes | dict) or not isinstance(values, Iterable)
        kept: list[Any] = []
        for number in (values,) if single else values:  # the first wrong one ends it
            right = isinstance(number, kind) and not isinstance(number, bool)
            right = right and low <= number <= high and (integer or convert(number) != low)
            if not right and not (isinstance(number, str) and number in self.choices):
                takes = ", ".join([*self.choices, f"{limits} or a sequence of such"])
                raise ValueError(f"{self.name} must be {takes}, got {brief(number)}")
            kept.append(convert(number) if right else number)
        if not kept or len(set(kept)) < len(kept):
            what = "at least one value and none twice"
            raise ValueError(f"{self.name} must hold {what}, got {brief(values)}")
        if not integer and max(kept) < 1:
            less = f"{max(kept):g} is less than 1 % (did you mean {100 * max(kept):g}?)"
            log.warning("%s is a percentage: %s", self.name, less)
        return tuple(kept)

    def check_one(self, value: Any) -> Any:
        """Return the value of a setting, a flag or a language; ValueError for another."""
        if self.kind == "flag":
            return check_flag(self.name, value)
        if self.kind == "integer":
            return check_integer(self.name, value, low=self.low, high=self.high)
        return check_choice(self.name, value, self.choices)

    @property
    def allowed(self) -> str:
        """What the knob takes, in words."""
        most = "and more" if self.high >= MAX_PUZZLES else f"to {self.high:,}"
        words = "".join(f"{word}, or " for word in self.choices)
        return {
            "integer": f"{words}{self.low:,} {most}",
            "number": f"above {self.low}, to {self.high}",
            "flag": "True or False",
            "tokenizer": "a Hugging Face name or folder, or a callable",
        }.get(self.kind, ", ".join(self.choices))

    @property
    def usual(self) -> str:
        """The default, in words."""
        values = self.default if isinstance(self.default, tuple) else (self.default,)
        return self.shown_default or " ".join(map(str, values))

    def describe(self) -> str:
        """Return the knob in a phrase: meaning, allowed values and default."""
        return f"{self.meaning}; {self.allowed} (default {self.usual})"


def read_knob(package: str, name: str, key: str = "", **takes: Any) -> Knob:
    """Return a knob that takes some values; its kind and meaning are in data/knobs.toml.

    `key` is its table in the file of the package, by default its name.
    """
    return Knob(name, **read_words(package, "knobs")[key or name], **takes)


def settings(num_puzzles: int) -> tuple[Knob, ...]:
    """Return the parameters that every benchmark has besides its knobs.

    `num_puzzles` is the benchmark's default.
    """
    return (
        Knob("num_puzzles", "integer", "puzzles in each cell", num_puzzles, 1, MAX_PUZZLES),
        Knob("seed", "integer", "the seed of the draws", 42, 0, MAX_SEED),
        Knob("first_index", "integer", "the first puzzle's index in each cell", 0, 0, MAX_INDEX),
    )


OutcomeName: TypeAlias = Any
"""A member of a benchmark's StrEnum of outcomes, with the properties `correct` and `cut`."""


class Counts(TypedDict, total=False):
    """Tokens of a prompt and its response, and the budget that they share; None if not known."""

    prompt_tokens: int | None
    response_tokens: int | None
    context_budget: int | None


@dataclass(frozen=True)
class Score:
    """The result of scoring a response, and the evidence for it.

    `value` is the answer that was read, None where none could be read. `evidence` is the place
    (start, stop) in the response that it was read from. `explanation` gives the reason in a
    sentence. `details` are further facts, such as the variables that an answer missed.
    """

    outcome: OutcomeName
    value: str | None
    evidence: tuple[int, int] | None
    explanation: str
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def correct(self) -> bool:
        """Whether the response counts as correct in the accuracy."""
        return self.outcome.correct


# How many of a model's responses must have been read, and which share, to say where they break.
_ENOUGH_READ, _ENOUGH_SHARE = 20, 0.1


def enough_read(read: int, responses: int) -> bool:
    """Return whether enough of a model's responses were read to say where its reasoning breaks."""
    return read >= _ENOUGH_READ and read >= _ENOUGH_SHARE * responses


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsRead:
    """What a benchmark's reader of steps finds in a response; each has a class of its own.

    Attributes:
        read: Whether the response could be read. If not, nothing is claimed.
        first_error: The first statement or variable that is wrong; None if none is.
        error: The kind of the first error; None if there is none.
        recovered: Whether the reasoning becomes right again; None without an error.
        coverage: The share of statements or variables that the response decides.
        records: How many records of a transcript it rests on; 0 where rules read the response.
        dropped: How many records the response or the puzzle does not have.
    """

    read: bool = False
    first_error: Any = None
    error: str | None = None
    recovered: bool | None = None
    coverage: float = 0.0
    records: int = 0
    dropped: int = 0


class Turn(NamedTuple):
    """A turn: the user's message, the state after it as a row's answer, and a reply that gives it.

    `planted_answer` and `planted_reply` are those of the conversation in which one value is wrong
    half-way: the later states follow from the wrong one by the statements. `poi` is the person who
    is asked about, and `everyone` tells the state of all people.
    """

    message: str
    answer: str
    reply: str
    planted_answer: str
    planted_reply: str
    poi: str
    everyone: str


PREFIX = "prefix"
"""The column of a text of the model's own that its response has to go on from."""

CUTS = ("kept", "reworded", "corrected", "redrawn", "planted")
KEPT, REWORDED, CORRECTED, REDRAWN, PLANTED = CUTS
"""What becomes of a step before a response goes on from there (docs/repair.md)."""


class Cut(NamedTuple):
    """A response's own text up to a statement: what became of that step, one of CUTS, and it."""

    statement: int
    change: str
    text: str


def planted_turn(turns: int) -> int:
    """Return the place, from 0, of the turn whose state is wrong in the history "planted"."""
    return (turns - 1) // 2


class Benchmark(ABC):
    """One benchmark: its knobs, its puzzles, its solver and its scorer.

    Attributes:
        name: Begins the ids and addresses of its puzzles.
        title: Its name in prose.
        dataset: The name that `load_dataset` takes.
        suite: Tells it from the other benchmarks of its dataset; None if it is the only one.
        cell: The NamedTuple of a cell, whose fields are the names of its knobs.
        knobs: The parameters whose product is the grid.
        changes: The parameters that change each puzzle of the grid, whose draws stay: the twin,
            the language of one that has several, and whether it asks for steps.
        options: The parameters that are no part of a puzzle's address.
        num_puzzles: The default number of puzzles in each cell, the paper's.
        version: Part of every puzzle's address: a change to any puzzle's text or answer raises it.
        about: The folder whose about.toml has its summary, tags, citation and columns.
        needed: The columns besides id, puzzle and answer without which a published puzzle can't be
            run and scored.
        own_splits: Splits of its own, beside train, validation and test.
        endless: Whether its train split can be streamed without end.
        outcomes: The StrEnum of its outcomes, whose members have `correct` and `cut`.
        step_errors: The kinds of a first error that `read_steps` finds; none if nothing reads them.
        baselines: Shortcuts without reasoning, which a model has to beat: by name, a function
            from a puzzle's text to an answer, or to an empty text where it has none. It raises
            ValueError for a text that is no puzzle of the benchmark.
    """

    name: str
    title: str
    dataset: str
    suite: str | None = None
    cell: type[Cell]
    knobs: tuple[Knob, ...]
    changes: tuple[Knob, ...] = ()
    options: tuple[Knob, ...] = ()
    num_puzzles: int = 100
    version: int = 1
    about: Traversable
    needed: tuple[str, ...] = ()
    own_splits: tuple[str, ...] = ()
    endless: bool = False
    outcomes: type
    step_errors: tuple[str, ...] = ()
    baselines: Mapping[str, Callable[[str], str]] = {}

    @abstractmethod
    def source(self, grid: Grid) -> Source:
        """Return the puzzles of a grid, made when they are read; ValueError for a wrong option."""

    @abstractmethod
    def owns_text(self, text: str) -> bool:
        """Return whether a text is one of its puzzles."""

    @abstractmethod
    def owns_row(self, row: Row) -> bool:
        """Return whether a row is one of its puzzles."""

    @abstractmethod
    def solve(self, text: str) -> str:
        """Return a puzzle's answer, from nothing but its text; ValueError for another text."""

    @abstractmethod
    def score(self, response: str, row: Row, **counts: Unpack[Counts]) -> Score:
        """Return a response's score; ValueError for a row with a missing or wrong column."""

    def read_steps(self, response: str, row: Row, transcript: object = None) -> StepsRead:
        """Return where the reasoning in a response breaks, by a transcript of it or by rules.

        ValueError where nothing reads it.
        """
        raise ValueError(f"no reader of steps knows {self.title}")

    def ask_reader(self, text: str, row: Row) -> list[str]:
        """Return the prompts by which a model transcribes a response, one for each piece of it.

        ValueError where no transcript is judged.
        """
        raise ValueError(f"no reader of steps knows {self.title}")

    def cut_response(
        self, text: str, row: Row, depth: float | None = None, transcript: object = None
    ) -> list[Cut]:
        """Return a response cut at its first wrong step: kept, corrected, and before it.

        With a `depth` from 0 to 1, a right response is cut near it: kept, and with a planted error.
        Empty where that can't be done. ValueError for a benchmark whose responses can't be cut.
        """
        raise ValueError(f"no step of {self.title} can be repaired")

    def reward_answer(self, response: str, row: Row) -> float:
        """Return a trainer's reward for the answer of a response, 0 to 1."""
        return float(self.score(response, row).correct)

    def reward_steps(self, response: str, row: Row) -> float:
        """Return a trainer's reward for the steps of a response, 0 to 1."""
        return self.reward_answer(response, row)

    def changes_to_try(self, row: Row, step: int | None = None) -> list[str]:
        """Return the changes that distinguish the causes of a puzzle's failure.

        `step` is where the response first broke, None where that is not known.
        """
        return [
            form for knob in self.changes[:1] for form in knob.choices if not form[-1].isupper()
        ]

    def turns(self, row: Row, k: int, late: bool = False) -> Iterator[Turn]:
        """Yield the turns of a puzzle, `k` statements each; ValueError if it can't be cut.

        With `late`, turns before the last ask about anyone.
        """
        raise ValueError(f"{self.name} has no turns")

    def judge_summaries(self, row: Row, summaries: Sequence[Row]) -> tuple[list[Any], list[Any]]:
        """Return what summaries of a conversation keep; ValueError for one without turns."""
        raise ValueError(f"{self.name} has no turns")

    def address(self, row: Row) -> dict[str, Any]:
        """Return the parameters that make the puzzle of a row again, without its twin."""
        id = str(row["id"])
        values = {name: row[name] for name in self.cell._fields if name in row}
        for knob in self.knobs:  # the column of a number that the puzzle drew is not its address
            for word in knob.choices:
                if f"-{knob.name}{word}-" in id:
                    values[knob.name] = word
        values |= {"seed": row["seed"], "first_index": row["index"], "num_puzzles": 1}
        if split := re.search(rf"-({'|'.join(SPLITS)})-s\d+-", id):
            values["split"] = split[1]
        if (language := language_of(id)) != ENGLISH:
            values["language"] = language
        if asks_steps(id):
            values["steps"] = True
        return values

    def remake(self, row: Row, twin: str | None = None) -> dict[str, Any]:
        """Return the puzzle of a row as this version makes it from its address, or its twin."""
        return next(self.puzzles(**self.address(row), twin=twin).rows())

    def select_split(self, split: str, **parameters: Any) -> Grid:
        """Return the puzzles of one of its own splits; ValueError for a wrong parameter."""
        raise ValueError(f"{self.title} has no splits of its own, got {split!r}")

    @property
    def parameters(self) -> tuple[Knob, ...]:
        """All parameters but the split, in the order of the documentation."""
        return (*self.knobs, *settings(self.num_puzzles), *self.changes, *self.options)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that it has."""
        return (*SPLITS, *self.own_splits)

    def select(self, *, split: Any = "test", **parameters: Any) -> Grid:
        """Return the grid of some parameters, checked; what is left out has its default.

        ValueError names a parameter that is unknown or wrong, what it got and what it takes. The
        values of options are checked by `source`, which loads a tokenizer.
        """
        values = {knob.name: knob.default for knob in self.parameters}
        check_known(parameters, (*values, "split"), self.title)
        options = {one.name: parameters.pop(one.name, one.default) for one in self.options}
        if isinstance(split, str) and split in self.own_splits:
            return replace(self.select_split(split, **parameters), options=options)
        values |= parameters
        cells = self.cells(values)
        own: dict[str, Any] = {"split": check_choice("split", split, SPLITS)}
        for knob in (*settings(self.num_puzzles), *self.changes[1:]):
            own[knob.name] = knob.check_one(values[knob.name])
        twin = values.get("twin")
        grid = Grid(self.name, self.version, cells, twin=twin, options=options, **own)
        self.check_grid(grid)
        return grid

    def cells(self, values: Mapping[str, Any]) -> tuple[Cell, ...]:
        """Return the checked cells of the knobs' values by name: by default their product."""
        checked = [knob.check(values[knob.name]) for knob in self.knobs]
        return tuple(self.cell(*combination) for combination in product(*checked))

    def check_grid(self, grid: Grid) -> None:
        """Raise ValueError for a grid whose puzzles there can't be: by default, for its twin."""
        if (twin := grid.twin) is None:
            return
        forms = {form.rstrip("HKT"): form for form in self.changes[0].choices}
        change, number = split_twin(str(twin))
        form = forms.get(f"{change}=")
        if form and twin == f"{change}={number}":
            low, high = self.twin_range(change, grid.cells)
            check_integer(f"the number of the twin {change}", number, low=low, high=high)
        elif twin not in forms or forms[twin] != twin:
            raise ValueError(f"twin must be one of {self.changes[0].allowed}, got {brief(twin)}")

    def twin_range(self, change: str, cells: tuple[Cell, ...]) -> tuple[int, int]:
        """Return the least and the greatest number that a change may have in some cells."""
        return 0, MAX_PUZZLES

    def puzzles(self, **parameters: Any) -> Source:
        """Return the puzzles of some parameters; ValueError as for `select` and `source`."""
        return self.source(self.select(**parameters))

    def parameters_of(self, grid: Grid) -> dict[str, Any]:
        """Return the parameters that make a grid again, except its split; each knob's is a list.

        A first index of 0 and absent changes are left out.
        """
        values: dict[str, Any] = {}
        for knob, column in zip(self.knobs, zip(*grid.cells, strict=True), strict=True):
            values[knob.name] = list(dict.fromkeys(column))
            if knob.kind == "choice":  # FACTOR's cells without context have the noise "none"
                known = [value for value in values[knob.name] if value in knob.choices]
                values[knob.name] = known or [knob.default]
        values |= {"num_puzzles": grid.num_puzzles, "seed": grid.seed}
        if grid.first_index:
            values["first_index"] = grid.first_index
        for knob in self.changes:
            if (value := getattr(grid, knob.name)) != knob.default:
                values[knob.name] = value
        return values | dict(grid.options)

    @cached_property
    def words(self) -> dict[str, Any]:
        """A published card's words on it: summary, tags, citation and columns by name."""
        words = loads(self.about.joinpath("about.toml").read_text("utf-8"))
        known = {knob.name: knob.meaning for knob in (*self.knobs, *settings(self.num_puzzles))}
        return words | {"columns": known | words["columns"]}


@dataclass(frozen=True)
class Dataset:
    """The benchmarks that `load_dataset` knows by one name; `suite` chooses among several.

    The first benchmark is the default suite.
    """

    name: str
    benchmarks: tuple[Benchmark, ...]

    @property
    def suites(self) -> dict[str, Benchmark]:
        """The benchmarks by suite; empty if there is but one benchmark, without a suite."""
        return {member.suite: member for member in self.benchmarks if member.suite is not None}

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that any of the benchmarks has."""
        return tuple(dict.fromkeys(split for member in self.benchmarks for split in member.splits))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parameters: of the suites, if there are any, and of each benchmark."""
        own = (knob.name for member in self.benchmarks for knob in member.parameters)
        return (*["suite"] * bool(self.suites), *dict.fromkeys(own), "split")

    def choose(self, parameters: Mapping[str, Any]) -> tuple[Benchmark, dict[str, Any]]:
        """Return the benchmark that parameters ask for, and those of them that are its own.

        None stands for a default. ValueError names a parameter that is unknown, with the nearest
        that is known, or that is not for this suite.
        """
        check_known(parameters, self.names, self.name)
        chosen = {name: value for name, value in parameters.items() if value is not None}
        benchmark = self.benchmarks[0]
        if self.suites:
            suite = chosen.pop("suite", benchmark.suite)
            benchmark = self.suites[check_choice("suite", suite, tuple(self.suites))]
        own = {knob.name for knob in benchmark.parameters} | {"split"}
        for name, value in chosen.items():
            if name not in own:
                names = ", ".join(knob.name for knob in benchmark.parameters)
                others = " or ".join(name for name in self.suites if name != benchmark.suite)
                raise ValueError(
                    f"{name} is not for the suite {benchmark.suite}, which takes {names}: "
                    f"give suite {others}, got {name} {brief(value)}"
                )
        return benchmark, chosen

    def puzzles(self, **parameters: Any) -> Source:
        """Return the puzzles of some parameters; ValueError as for `choose` and its benchmark's."""
        benchmark, own = self.choose(parameters)
        return benchmark.puzzles(**own)

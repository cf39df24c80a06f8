"""The options that say which puzzles, of whichever benchmark, and what they ask for."""

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark, Knob, settings
from cogniload_gen.checks import Given
from cogniload_gen.grid import SPLITS
from cogniload_gen.parser import Parser, number, spellings

if TYPE_CHECKING:
    from cogniload_gen.source import Source


def add_puzzle_options(
    command: Parser, among: Sequence[Benchmark] | None = None, *, own_splits: bool = True
) -> None:
    """Add the options that say which puzzles: what `select_puzzles` reads, None where left out.

    They are those of the benchmarks `among` which the puzzles are, by default of all. Without
    `own_splits`, the help names no splits that some benchmarks have besides.
    """
    among = benchmarks.BENCHMARKS if among is None else among
    group = command.add_argument_group("which puzzles")
    suites = [benchmark for benchmark in benchmarks.BENCHMARKS if benchmark.suite]
    names = dict.fromkeys(benchmark.title.partition(",")[0] for benchmark in suites)
    listed = " or ".join(str(benchmark.suite) for benchmark in suites)
    group.add_argument("--suite", help=f"{listed}: a suite of {' or '.join(names)}")
    users: dict[str, list[tuple[Benchmark, Knob]]] = {}
    for benchmark in among:
        for knob in benchmark.parameters:
            users.setdefault(knob.name, []).append((benchmark, knob))
    for name, knobs in users.items():
        _, knob = knobs[0]
        if name != "first_index":  # of `load_dataset` and Python alone
            group.add_argument(*spellings(name), help=describe(knobs, among), **action_of(knob))
    splits = ", ".join(SPLITS)
    for benchmark in among:
        if own_splits and benchmark.own_splits:
            splits += f"; {benchmark.title} also: {', '.join(benchmark.own_splits)}"
    group.add_argument("--split", help=f"{splits} (default test)")


METAVARS = {"tokenizer": "NAME", "twin": "CHANGE", "language": "CODE"}


def action_of(knob: Knob) -> dict[str, Any]:
    """Return how the command line takes a knob: several values where they span a grid."""
    if knob.kind == "flag":
        return {"action": "store_true", "default": None}
    if knob.kind in {"tokenizer", "twin", "language"}:
        return {"metavar": METAVARS[knob.kind]}
    several = {} if knob.name in {setting.name for setting in settings(1)} else {"nargs": "+"}
    converted = {"type": number} if knob.kind in {"integer", "number"} else {}
    return {"metavar": knob.name.upper()} | several | converted


def describe(knobs: Sequence[tuple[Benchmark, Knob]], among: Sequence[Benchmark]) -> str:
    """Return the help on an option: its meaning for each of some benchmarks that has it."""
    titles: dict[str, list[str]] = {}
    for benchmark, knob in knobs:
        titles.setdefault(knob.describe(), []).append(benchmark.title)
    texts = [f"{' and '.join(names)}: {text}" for text, names in titles.items()]
    if len(titles) == 1 and len(knobs) == len(among):
        texts = list(titles)
    return ". ".join(texts).replace("%", "%%")  # as argparse takes it


def select_puzzles(arguments: Namespace) -> "Source":
    """Return the puzzles that the options of `add_puzzle_options` ask for."""
    options = puzzle_options(arguments)
    dataset, *others = benchmarks.datasets().values()
    if suite := options.get("suite"):
        with_suites = [other for other in (dataset, *others) if other.suites]
        dataset = next((one for one in with_suites if suite in one.suites), with_suites[0])
    for name in options:
        if name not in (*dataset.defaults, "split"):
            refuse_option(name, arguments.suite)
    return dataset.puzzles(**options)


def puzzle_options(arguments: Namespace) -> dict[str, Given]:
    """Return those options of `add_puzzle_options` that are used."""
    names = {knob.name for benchmark in benchmarks.BENCHMARKS for knob in benchmark.parameters}
    values = {name: getattr(arguments, name, None) for name in (*sorted(names), "suite", "split")}
    return {name: value for name, value in values.items() if value is not None}


def text_options(arguments: Namespace) -> dict[str, Given]:
    """Return those of `puzzle_options` that are no part of a puzzle's address."""
    names = {option.name for benchmark in benchmarks.BENCHMARKS for option in benchmark.options}
    options = puzzle_options(arguments)
    return {name: options[name] for name in options if name in names}


def refuse_option(name: str, suite: str | None) -> NoReturn:
    """Raise ValueError for an option of a benchmark other than the chosen one."""
    by_benchmark = {one: [knob.name for knob in one.parameters] for one in benchmarks.BENCHMARKS}
    users = [benchmark for benchmark, names in by_benchmark.items() if name in names]
    titles = " and ".join(benchmark.title for benchmark in users)
    option = spellings(name)[0]
    if suite is None:
        suites = " or ".join(str(benchmark.suite) for benchmark in users)
        raise ValueError(f"{option} is for {titles}: pass --suite {suites} too")
    raise ValueError(f"{option} is for {titles}, got it with --suite {suite}")

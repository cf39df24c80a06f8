"""The arguments of commands: a parser whose errors are one line, and the options of puzzles."""

import os
import sys
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import Any, NoReturn

from cogniload_gen.benchmark import Benchmark, Dataset, Knob
from cogniload_gen.benchmarks import BENCHMARKS, datasets
from cogniload_gen.files import one_line
from cogniload_gen.grid import SPLITS

PRICE = "of a million tokens of prompts and of responses, such as 0.4,1.6"
"""What a price is."""


class Parser(ArgumentParser):
    """A parser whose errors are one line with exit code 2, and whose options are spelled out.

    An option of several words may have underscores in the place of dashes. A parser that
    `takes_others` leaves the arguments that it does not know to another parser.
    """

    takes_others = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)  # --n is not --num-puzzles

    def option(self, name: str, metavar: Any, text: str, **settings: Any) -> None:
        """Add an option with a value; `text` is its help."""
        self.add_argument(f"--{name}", metavar=metavar, help=text, **settings)

    def flag(self, name: str, text: str, **settings: Any) -> None:
        """Add an option without a value; `text` is its help."""
        self.add_argument(f"--{name}", action="store_true", help=text, **settings)

    def parse_known_args(  # type: ignore[override]  # whose overloads differ by version
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        """Parse as the base class does, with dashes for underscores in the names of options."""
        words = []
        for word in sys.argv[1:] if args is None else args:
            name, equals, value = word.partition("=")
            dashed = name.replace("_", "-")
            known = dashed in self._option_string_actions
            words.append(dashed + equals + value if known else word)
        return super().parse_known_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """End the program with one line that says what was wrong."""
        if message.startswith("unrecognized arguments: --"):
            name = message.split()[2].partition("=")[0]
            for near in get_close_matches(name, self._option_string_actions, 1, 0.75):
                message = f"there is no {name}: did you mean {near}?"
        self.exit(2, f"{self.prog}: error: {one_line(message)}\n")


def number(text: str) -> int | float | str:
    """Return a number as Python reads it; any other text stays, for the knob's check to refuse."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    parts = text.split(",")
    if len(parts) > 1 and all(isinstance(number(part), int | float) for part in parts):
        raise ArgumentTypeError(f"write {' '.join(parts)}, with spaces, for {text}")
    return text


def read_price(text: str | None) -> tuple[float, float] | None:
    """Return the prices of IN,OUT; ValueError for another text."""
    if text is None:
        return None
    try:
        prompts, responses = map(float, text.split(","))
    except ValueError:
        prompts = responses = -1.0
    if not (0 <= prompts < inf and 0 <= responses < inf):
        raise ValueError(f"price must be IN,OUT, {PRICE}, got {text[:60]!r}")
    return prompts, responses


def by_label(results: Sequence[str]) -> dict[str, list[Path]]:
    """Return the paths of results by the label of LABEL=DIR; a path that exists has none, ""."""
    paths: dict[str, list[Path]] = {}
    for text in results:
        label, _, path = text.partition("=")
        # Path.exists raises OSError where the label is longer than a file's name can be.
        if not (label and path) or "/" in label or os.path.exists(text):  # noqa: PTH110
            label, path = "", text
        paths.setdefault(label, []).append(Path(path))
    return paths


def add_puzzle_options(parser: Parser, among: Sequence[Benchmark] = BENCHMARKS) -> None:
    """Add the options that say which puzzles, from the parameters of benchmarks.

    One that is not used is not in the namespace.
    """
    suites = " or ".join(str(one.suite) for one in BENCHMARKS if one.suite)
    parser.option("suite", None, f"{suites}: a suite of FACTOR", default=SUPPRESS)
    knobs: dict[str, Knob] = {}
    texts: dict[str, dict[str, list[str]]] = {}
    for benchmark in among:
        for knob in benchmark.parameters:
            knobs[knob.name] = knob
            titles = texts.setdefault(knob.name, {}).setdefault(knob.describe(), [])
            titles.append(benchmark.title)
    del texts["first_index"]  # of `load_dataset` and Python alone
    spanning = {knob.name for benchmark in among for knob in benchmark.knobs}
    for name, by_text in texts.items():
        parts = [f"{' and '.join(titles)}: {text}" for text, titles in by_text.items()]
        shared = [text for text, titles in by_text.items() if len(titles) == len(among)]
        text, kind = ". ".join(shared or parts).replace("%", "%%"), knobs[name].kind
        option = name.replace("_", "-")
        if kind == "flag":
            parser.flag(option, text, default=SUPPRESS)
            continue
        metavar = {"tokenizer": "NAME", "twin": "CHANGE", "language": "CODE"}.get(kind)
        takes: dict[str, Any] = {"type": number} if kind in {"integer", "number"} else {}
        takes |= {"nargs": "+"} if name in spanning else {}
        parser.option(option, metavar or name.upper(), text, default=SUPPRESS, **takes)
    own = [f"; {one.title} also: {', '.join(one.own_splits)}" for one in among if one.own_splits]
    splits = f"{', '.join(SPLITS)}{''.join(own)} (default test)"
    parser.option("split", None, splits, default=SUPPRESS)


def used_puzzle_options(arguments: Namespace) -> dict[str, Any]:
    """Return the options of `add_puzzle_options` that are used."""
    names = {knob.name for benchmark in BENCHMARKS for knob in benchmark.parameters}
    names |= {"suite", "split"}
    return {name: value for name, value in vars(arguments).items() if name in names}


def dataset_of(used: Mapping[str, Any]) -> Dataset:
    """Return the dataset that the used options are for; ValueError if one is of another."""
    dataset = next(one for one in datasets().values() if bool(one.suites) == ("suite" in used))
    for name in used.keys() - {*dataset.names}:
        users = [one for one in BENCHMARKS if name in [knob.name for knob in one.parameters]]
        titles = " and ".join(one.title for one in users)
        suites = " or ".join(str(one.suite) for one in users if one.suite)
        hint = f"pass --suite {suites} too" if suites else f"got it with --suite {used['suite']}"
        raise ValueError(f"--{name.replace('_', '-')} is for {titles}: {hint}")
    return dataset

"""The argument parser of the `cogniload` command and of whatever reads arguments beside it."""

import os
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from cogniload_gen.files.inputs import one_line

ALIKE = 0.75
"""How like an option a misspelt one is, by difflib's ratio."""

Labelled = tuple[str, Path]
"""The label of results, "" for none, and their path."""


class Parser(ArgumentParser):
    """A parser whose errors are one line with exit code 2, and whose options are spelled out.

    One that `takes_others` leaves the arguments that it does not know to another parser. `fill`
    adds the arguments at the first use.
    """

    takes_others = False

    def __init__(self, *, fill: "Callable[[Parser], None] | None" = None, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)  # --n is not --num-puzzles
        self.arguments: list[str] = []
        self.fill = fill

    def parse_known_args(  # type: ignore[override]  # whose overloads differ by version
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        """Parse as the base class does, and keep the arguments for the error."""
        if self.fill:
            fill, self.fill = self.fill, None
            fill(self)
        self.arguments = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """End the program with one line that says what was wrong."""
        self.exit(2, f"{self.prog}: error: {one_line(self._misspelt() or message)}\n")

    def _misspelt(self) -> str:
        """Name an option that there is not, and the one that it is like; else say nothing.

        What a misspelt option leaves out is missing too, which says less.
        """
        known = {*re.findall(r"--[\w-]+", self.format_help())}
        known |= {name.replace("-", "_") for name in known}
        names = [text.partition("=")[0] for text in self.arguments if text.startswith("--")]
        for name in () if self.takes_others else names:
            if name not in known and (alike := get_close_matches(name, known, 1, ALIKE)):
                return f"there is no {name}: did you mean {alike[0]}?"
        return ""


def spellings(name: str) -> list[str]:
    """Return an option's spellings: with dashes, and as Python spells it."""
    return list(dict.fromkeys([f"--{name.replace('_', '-')}", f"--{name}"]))


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


def labelled(text: str) -> Labelled:
    """Return the label, "" for none, and the path of LABEL=DIR; a path that exists has none."""
    label, equals, path = text.partition("=")
    # Path.exists raises OSError where the label is longer than a file's name can be.
    exists = os.path.exists(text)  # noqa: PTH110
    if not (equals and label and path) or "/" in label or exists:
        return "", Path(text)
    return label, Path(path)

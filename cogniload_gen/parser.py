"""The parser of a command's arguments, for the command line and for what reads lm-eval's."""

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from cogniload_gen.files import one_line

ALIKE = 0.75
"""How like an option a misspelt one is, by difflib's ratio."""


class Parser(ArgumentParser):
    """A parser whose errors are one line with exit code 2, and whose options are spelled out.

    One that `takes_others` leaves the arguments that it does not know to another parser.
    """

    takes_others = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)  # --n is not --num-puzzles
        self.words: list[str] = []

    def parse_known_args(  # type: ignore[override]  # whose overloads differ by version
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        """Parse as the base class does, and keep the words for the error."""
        self.words = list(sys.argv[1:] if args is None else args)
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
        names = [text.partition("=")[0] for text in self.words if text.startswith("--")]
        for name in () if self.takes_others else names:
            if name not in known and (alike := get_close_matches(name, known, 1, ALIKE)):
                return f"there is no {name}: did you mean {alike[0]}?"
        return ""

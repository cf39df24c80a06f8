"""The argument parser of the `cogniload` command and of whatever reads arguments beside it."""

from argparse import ArgumentParser
from typing import Any, NoReturn

from cogniload_gen.inputs import one_line


class Parser(ArgumentParser):
    """A parser whose errors are one line with exit code 2, and whose options are spelled out."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)  # --n is not --num-puzzles

    def error(self, message: str) -> NoReturn:
        """End the program with one line that says what was wrong."""
        self.exit(2, f"{self.prog}: error: {one_line(message)}\n")

"""The fragments that the texts of symbolic puzzles are joined from (FACTOR, Appendix A)."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
import pyarrow as pa

from cogniload_gen.factor import filler as fillers
from cogniload_gen.factor.forests import LARGEST_ROOT
from cogniload_gen.files import read_words
from cogniload_gen.text import arrow, offsets

LEADS = SAME_GROUP, NEW_GROUP, LINE_START = range(3)
ENDINGS = NOTHING, COMMA, AND, COMMA_AND, FULL_STOP = range(5)
"""What stands before a statement and after a listed variable, in the order of the data file."""

TEXT = read_words(__package__, "symbolic")
"""The sentences of the data file."""

_Numbers = TypeVar("_Numbers", int, np.ndarray)


@dataclass(frozen=True)
class Fragments:
    """The fragments of texts with up to M variables, and where those of a kind stand.

    `strings` holds the fragments, kind after kind, from `first[kind]` on, and `texts` the same for
    Arrow. The methods take variables, values (see `value_range`) and operations (-1, 0 or +1), as
    integers or arrays, and return positions in these.
    """

    M: int
    strings: list[str]
    texts: pa.Array
    first: dict[str, int]

    def variable(self, kind: str, variable: _Numbers, variant: _Numbers | int = 0) -> _Numbers:
        """Find a variable in a kind that holds all M of them in each of its variants."""
        return self.first[kind] + self.M * variant + variable

    def value(self, kind: str, value: _Numbers, variant: _Numbers | int = 0) -> _Numbers:
        """Find a value in a kind that holds all values in each of its variants."""
        return self.first[kind] + len(value_range(self.M)) * variant + value + self.M

    def operation(self, kind: str, operand: _Numbers, operation: _Numbers) -> _Numbers:
        """Find an operation in a kind that holds all operations on each operand (0, 1, ...)."""
        return self.first[kind] + len(TEXT["operations"]) * operand + operation + 1


def value_range(M: int) -> range:
    """All values of M variables, and of the questions about them."""
    return range(-M, M + LARGEST_ROOT + 1)


def fragments(N: int) -> Fragments:
    """Return the fragments of texts with up to N variables or more: few sizes are kept."""
    return _fragments(-(-N // 64) * 64)


@lru_cache(maxsize=8)
def _fragments(M: int) -> Fragments:
    statement, solution, answers = TEXT["statement"], TEXT["solution"], TEXT["answer"]
    leads, endings = statement["leads"].values(), answers["endings"].values()
    variables = [TEXT["variable"].format(number=number) for number in range(M)]
    values = value_range(M)
    operations = list(enumerate(TEXT["operations"], -1))

    def of_operands(form: str) -> list[str]:
        return [form.format(variable=v, operation=o) for v in variables for _, o in operations]

    kinds = {
        "opening": [TEXT["opening"]],
        "closing": [TEXT["closing"]],
        "instruction": [TEXT["instruction"]],
        "filler": fillers.FRAGMENTS,
        "assign": [
            statement["assign"].format(lead=i, variable=v) for i in leads for v in variables
        ],
        "root": [statement["root"].format(value=x) for x in values],
        "edge": of_operands(statement["edge"]),
        "question": [TEXT["question"].format(value=x) for x in values],
        "define": [solution["define"].format(variable=v) for v in variables],
        "given": [solution["given"].format(value=x) for x in values],
        "parent": of_operands(solution["parent"]),
        "result": [
            solution["result"].format(value=x, operation=o, result=x + step)
            if step
            else solution["given"].format(value=x)
            for x in values
            for step, o in operations
        ],
        "none": [answers["none"]],
        "conclusion": [form.format(value=x) for form in answers["conclusions"] for x in values],
        "item": [f"{v}{ending}" for ending in endings for v in variables],
    }
    first = offsets(np.array([len(texts) for texts in kinds.values()])).tolist()
    strings = [text for texts in kinds.values() for text in texts]
    return Fragments(M, strings, arrow(strings), dict(zip(kinds, first, strict=False)))

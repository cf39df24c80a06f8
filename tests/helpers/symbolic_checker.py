"""A reader of FACTOR's symbolic puzzles apart from the package: regular expressions alone."""

import re
from typing import NamedTuple

import numpy as np
from grids import factor_grid

from cogniload_gen.factor.symbolic import symbolic_columns

PUZZLE = re.compile(
    r"This is the beginning of the text:\n(?P<text>[^\n]*)\nThis is the end of the text\.\n\n"
    r"The text contains relationships between variables enclosed by '<<<' and '>>>'\. These "
    r"relationships are not sequential assignments in a programming language\. They are "
    r"independent mathematical equations that are all true simultaneously\.\n\n"
    r"(?P<question>Using only these relationships, determine what variable\(s\), if any, are equal "
    r"to (?P<target>-?\d+)\.) Show your step-by-step reasoning and calculations, and then conclude "
    r"your final answer in a sentence\."
)
STATEMENT = re.compile(r"@<<<assign (v\d+) = (?:(v\d+)( [+-] 1)?|(\d+))>>>@")
GROUP = re.compile(rf"(?:{STATEMENT.pattern})+")


class Relation(NamedTuple):
    """What a statement says of a variable: it is a number, or another variable plus a number."""

    variable: str
    parent: str | None
    added: int


def rows(tokenizer=None, **grid):
    """The columns of a grid's puzzles and their cells, a dictionary a puzzle."""
    asked = factor_grid("symbolic", **grid)
    cells, _, keys = asked.batch(0, len(asked))
    return made(keys, cells, tokenizer)


def made(keys, cells, tokenizer=None):
    """The columns of the puzzles of these keys and cells, a dictionary a puzzle."""
    columns = symbolic_columns(keys, cells, tokenizer)
    lists = [
        column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
        for column in columns.values()
    ]
    return [
        {"N": cell.N, "context": cell.context, **dict(zip(columns, values, strict=True))}
        for cell, *values in zip(cells, *lists, strict=True)
    ]


def relations(puzzle):
    """The relations of a puzzle's text in their order."""
    return [
        Relation(v, parent or None, int(number or (added or "0").replace(" ", "")))
        for v, parent, added, number in STATEMENT.findall(PUZZLE.fullmatch(puzzle)["text"])
    ]


def values(told):
    """The value of each variable: relations are applied until nothing is left to find out."""
    known, left = {}, list(told)
    while left:
        ready = [r for r in left if r.parent is None or r.parent in known]
        assert ready, "circular or undefined"
        known |= {r.variable: r.added + known.get(r.parent, 0) for r in ready}
        left = [r for r in left if r.variable not in known]
    return known


def groups(puzzle):
    """How many sentences stand before each group and how many statements in it; all sentences."""
    text = PUZZLE.fullmatch(puzzle)["text"]
    found = [
        (text[: group.start()].count("."), len(STATEMENT.findall(group[0])))
        for group in GROUP.finditer(text)
    ]
    return found, text.count(".")


def filler(puzzle):
    """The text without its statements, and without the spaces around them."""
    text = GROUP.sub("\0", PUZZLE.fullmatch(puzzle)["text"])
    return text.replace(" \0 ", " ").replace(" \0", "").replace("\0 ", "").replace("\0", "")

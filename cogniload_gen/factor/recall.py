"""How much of what answers need a retriever finds, by budget, without a model (section 1)."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from cogniload_gen.benchmark import Row
from cogniload_gen.checks import check_choice, check_columns, check_integer
from cogniload_gen.factor.knobs import MAX_CONTEXT, MAX_N, NOISES
from cogniload_gen.factor.retrieval import RETRIEVERS, Retrieval, cut, rank, show, split, within
from cogniload_gen.factor.score import SUITES
from cogniload_gen.files import whole_file
from cogniload_gen.tokens import Tokenizer

CONFIDENCE = 0.9
"""Of the intervals, as of those of the accuracies in a report."""

TINY = 1e-9
"""Of a sum of squares, what rounding leaves of 0."""


class Recall(NamedTuple):
    """What one retriever finds with one budget, of the puzzles of one cell.

    `N` is the complexity: op in the realistic suite. `recall` is the share of the needed statements
    that the retriever finds, and `closure` the share of the puzzles whose needed statements it all
    finds; both have the ends of their 90 % interval. `tokens` is the mean of the tokens retrieved.
    """

    suite: str
    N: int
    context: int
    noise: str
    retriever: str
    chunk: str
    query: str
    budget: int
    puzzles: int
    needed: int
    found: int
    recall: float
    recall_low: float
    recall_high: float
    closed: int
    closure: float
    closure_low: float
    closure_high: float
    tokens: float


Cell = tuple[str, int, int, str]
"""Suite, complexity, context and noise."""

Count = tuple[int, int, float]
"""Of one puzzle: the statements needed, those retrieved, and the tokens retrieved."""


def measure(
    rows: Iterable[Row], retrievals: Sequence[Retrieval], tokenizer: Tokenizer = None
) -> list[Recall]:
    """Return what each of the settings finds of the puzzles, cell by cell.

    ValueError, in one line, for a row that is no puzzle of FACTOR; ImportError where the extra of a
    retriever is missing.
    """
    counts: dict[tuple[Cell, Retrieval], list[Count]] = {}
    for row in rows:
        cell = cell_of(row)
        of_puzzle = count_retrieved(str(row["puzzle"]), retrievals, tokenizer)
        for settings, count in zip(retrievals, of_puzzle, strict=True):
            counts.setdefault((cell, settings), []).append(count)
    if not counts:
        raise ValueError("there are no puzzles to retrieve from")
    return [sum_up(*key, of_puzzles) for key, of_puzzles in counts.items()]


def cell_of(row: Row) -> Cell:
    """Return suite, complexity, context and noise of a row; ValueError for one that can't be."""
    complexity = "op" if row.get("suite") == "realistic" else "N"
    if "suite" not in row and {"d", "N", "rho"} <= row.keys():
        raise ValueError("these are puzzles of CogniLoad, and retrievers are for those of FACTOR")
    known = check_columns(row, ["suite", complexity, "context", "puzzle"])
    return (
        check_choice("suite", known["suite"], SUITES),
        check_integer(complexity, known[complexity], low=1, high=MAX_N),
        check_integer("context", known["context"], low=0, high=MAX_CONTEXT),
        check_choice("noise", row.get("noise") or "", ("", "none", *NOISES)),
    )


def count_retrieved(
    puzzle: str, retrievals: Sequence[Retrieval], tokenizer: Tokenizer = None
) -> Iterator[Count]:
    """Yield what each of the settings finds of a puzzle."""
    parts = split(puzzle)
    chunks = {kind: cut(parts, kind, tokenizer) for kind in {some.chunk for some in retrievals}}
    for settings in retrievals:
        of_kind = chunks[settings.chunk]
        taken = within(rank(parts, of_kind, settings), of_kind, settings.budget)
        _, tokens, needed, retrieved = show(parts, of_kind, taken)
        yield needed, retrieved, tokens


def sum_up(cell: Cell, settings: Retrieval, counts: Sequence[Count]) -> Recall:
    """Return what settings found of the puzzles of a cell."""
    needed, retrieved, tokens = map(sum, zip(*counts, strict=True))
    closed = sum(of_all == of_them for of_all, of_them, _ in counts)
    return Recall(
        *cell,
        settings.retriever,
        settings.chunk,
        settings.query if RETRIEVERS[settings.retriever].asks else "",
        settings.budget,
        len(counts),
        needed,
        retrieved,
        retrieved / needed,
        *ratio_interval([(of_them, of_all) for of_all, of_them, _ in counts]),
        closed,
        closed / len(counts),
        *share_interval(closed, len(counts)),
        tokens / len(counts),
    )


def share_interval(count: float, of: int) -> tuple[float, float]:
    """Return the ends of Wilson's interval of a share."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share = count / of
    middle = share + z * z / (2 * of)
    margin = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = ((middle + sign * margin) / (1 + z * z / of) for sign in (-1, 1))
    return max(low, 0.0), min(high, 1.0)


def ratio_interval(pairs: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the ends of the interval of a ratio of sums, of independent pairs.

    Statements of one puzzle are retrieved or missed together, so puzzles are what is drawn. Where
    all pairs agree, as where everything is retrieved, their spread says nothing: the interval is
    that of as many puzzles retrieved or missed as a whole, whose shares are the furthest apart.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    above, below = map(sum, zip(*pairs, strict=True))
    ratio = above / below
    spread = sum((retrieved - ratio * needed) ** 2 for retrieved, needed in pairs)
    if spread < TINY:
        return share_interval(ratio * len(pairs), len(pairs))
    margin = z * sqrt(spread * len(pairs) / max(len(pairs) - 1, 1)) / below
    return max(ratio - margin, 0.0), min(ratio + margin, 1.0)


NAMING = ("suite", "N", "context", "retriever", "chunk", "query", "budget", "puzzles")
"""The columns that a printed table names the rows by."""


def lines(recalls: Sequence[Recall]) -> list[str]:
    """Return a table for the terminal, in per cent with the 90 % intervals."""
    heading = " ".join(NAMING).replace("N", "N/op").split()
    table = [[*heading, "recall [%]", "closure recall [%]", "tokens"]]
    for row in recalls:
        recall = percent(row.recall, row.recall_low, row.recall_high)
        closure = percent(row.closure, row.closure_low, row.closure_high)
        names = [str(getattr(row, name)) for name in NAMING]
        table.append([*names, recall, closure, f"{row.tokens:.0f}"])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]


def percent(value: float, low: float, high: float) -> str:
    """Return a share and its interval in per cent."""
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def write_csv(recalls: Sequence[Recall], path: Path, *, force: bool = False) -> None:
    """Write a row for each setting and cell, whole or not at all; errors as `whole_file`."""
    with (
        whole_file(path, force=force) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(Recall._fields)
        writer.writerows(recalls)

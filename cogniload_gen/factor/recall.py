"""How much of what answers need a retriever finds, by budget, without a model (section 1)."""

from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path
from statistics import NormalDist

import pandas as pd

from cogniload_gen.benchmark import Row
from cogniload_gen.checks import check_columns
from cogniload_gen.factor.retrieval import Retrieval, retrieve
from cogniload_gen.factor.score import SUITES
from cogniload_gen.files import whole_file
from cogniload_gen.tokens import Tokenizer

CELL = ["suite", "N", "context", "noise", "retriever", "budget"]
Z = NormalDist().inv_cdf(0.95)
"""Intervals hold 90 %, as those of the accuracies in a report."""


def measure(
    rows: Iterable[Row], retrievals: Sequence[Retrieval], tokenizer: Tokenizer = None
) -> pd.DataFrame:
    """Return what each of the settings finds of the puzzles, a row for each cell and setting.

    `N` is the complexity: op in the realistic suite. `recall` is the share of the needed statements
    that the retriever finds, and `closure` the share of the puzzles whose needed statements it all
    finds; both have the ends of their 90 % interval. `tokens` is the mean of the tokens retrieved.
    ValueError, in one line, for a row that is no puzzle of FACTOR; ImportError where the extra of a
    retriever is missing.
    """
    made = []
    for row in rows:
        for each in retrievals:
            cell, found = cell_of(row), retrieve(row["puzzle"], each, tokenizer)
            counts = (found.needed, found.found, found.closed, found.tokens)
            made.append((*cell, each.retriever, each.budget, *counts))
    if not made:
        raise ValueError("there are no puzzles to retrieve from")
    of_puzzles = pd.DataFrame(made, columns=[*CELL, "needed", "found", "closed", "tokens"])
    return pd.DataFrame(
        dict(zip(CELL, cell, strict=True)) | sum_up(puzzles)
        for cell, puzzles in of_puzzles.groupby(CELL, sort=False)
    )


def cell_of(row: Row) -> tuple[str, int, int, str]:
    """Return suite, complexity, context and noise of a row; ValueError for one without them."""
    if check_columns(row, ["suite"])["suite"] not in SUITES:
        raise ValueError(f"suite must be one of {', '.join(SUITES)}, got {row['suite']!r}")
    complexity = "op" if row["suite"] == "realistic" else "N"
    known = check_columns(row, [complexity, "context", "puzzle"])
    return row["suite"], known[complexity], known["context"], row.get("noise") or ""


def sum_up(puzzles: pd.DataFrame) -> dict[str, float]:
    """Return what a setting found of the puzzles of a cell."""
    needed, found, closed = (int(puzzles[name].sum()) for name in ("needed", "found", "closed"))
    recall_low, recall_high = ratio_interval(puzzles["found"], puzzles["needed"])
    closure_low, closure_high = share_interval(closed, len(puzzles))
    return {
        "puzzles": len(puzzles), "needed": needed, "found": found,
        "recall": found / needed, "recall_low": recall_low, "recall_high": recall_high,
        "closed": closed, "closure": closed / len(puzzles), "closure_low": closure_low,
        "closure_high": closure_high, "tokens": puzzles["tokens"].mean(),
    }  # fmt: skip


def share_interval(count: float, of: int) -> tuple[float, float]:
    """Return the ends of Wilson's interval of a share."""
    share = count / of
    middle = share + Z * Z / (2 * of)
    margin = Z * sqrt(share * (1 - share) / of + Z * Z / (4 * of * of))
    low, high = ((middle + sign * margin) / (1 + Z * Z / of) for sign in (-1, 1))
    return max(low, 0.0), min(high, 1.0)


def ratio_interval(found: pd.Series, needed: pd.Series) -> tuple[float, float]:
    """Return the ends of the interval of a ratio of sums, of independent puzzles.

    Statements of one puzzle are retrieved or missed together, so puzzles are what is drawn. Where
    all puzzles agree, as where everything is retrieved, their spread says nothing: the interval is
    that of as many puzzles retrieved or missed as a whole, whose shares are the furthest apart.
    """
    ratio, puzzles = found.sum() / needed.sum(), len(found)
    spread = float(((found - ratio * needed) ** 2).sum())
    if spread < 1e-9:  # zero up to rounding
        return share_interval(ratio * puzzles, puzzles)
    margin = Z * sqrt(spread * puzzles / max(puzzles - 1, 1)) / needed.sum()
    return max(float(ratio - margin), 0.0), min(float(ratio + margin), 1.0)


def lines(recalls: pd.DataFrame) -> list[str]:
    """Return a table for the terminal, in per cent with the 90 % intervals."""
    table = recalls[[name for name in CELL if name != "noise"] + ["puzzles"]]
    table = table.rename(columns={"N": "N/op"})
    for share, heading in (("recall", "recall [%]"), ("closure", "closure recall [%]")):
        ends = zip(*(100 * recalls[share + end] for end in ("", "_low", "_high")), strict=True)
        table[heading] = [f"{value:.1f} ({low:.1f} to {high:.1f})" for value, low, high in ends]
    table["tokens"] = recalls["tokens"].map("{:.0f}".format)
    return table.to_string(index=False).split("\n")


def write_csv(recalls: pd.DataFrame, path: Path, *, force: bool = False) -> None:
    """Write a row for each setting and cell, whole or not at all; errors as `whole_file`."""
    with whole_file(path, force=force) as temporary:
        recalls.to_csv(temporary, index=False)

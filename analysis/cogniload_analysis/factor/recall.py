"""How much of what answers need is found by retrievers, which takes no model."""

from collections.abc import Iterable, Sequence

import pandas as pd

from cogniload_analysis.display.tables import Table, table
from cogniload_analysis.factor.loads import read_loads
from cogniload_analysis.stats import PAPER_CONFIDENCE, wilson_interval
from cogniload_gen.benchmark import Row
from cogniload_gen.factor.retrieval import Retrieval, retrieve
from cogniload_gen.tokens import Tokenizer

CELL = ["suite", "N", "context", "noise", "retriever", "budget"]


def measure(
    rows: Iterable[Row], retrievals: Sequence[Retrieval], tokenizer: Tokenizer = None
) -> Table:
    """Return what each of the settings finds of puzzles of FACTOR, a row for each cell and setting.

    `N` is the complexity: op in the realistic suite. `recall` is the share of the needed statements
    that the retriever finds, and `closure` the share of the puzzles whose needed statements it all
    finds, with the ends of its 90 % interval (Wilson's), that of a report's accuracies. `tokens` is
    the mean of the tokens retrieved. ImportError where the extra of a retriever is missing.
    """
    made = []
    for row in rows:
        suite, N, context, _ = read_loads(row)
        for each in retrievals:
            found = retrieve(row["puzzle"], each, tokenizer)
            cell = suite, N, context, row.get("noise") or "", each.retriever, each.budget
            made.append((*cell, found.needed, found.found, found.closed, found.tokens))
    of_puzzles = pd.DataFrame(made, columns=[*CELL, "needed", "found", "closure", "tokens"])
    groups = of_puzzles.groupby(CELL, sort=False, as_index=False)
    means = groups.agg({"needed": "sum", "found": "sum", "closure": "mean", "tokens": "mean"})
    puzzles = groups.size()["size"]
    means.insert(len(CELL), "puzzles", puzzles)
    low, high = wilson_interval(means["closure"] * puzzles, puzzles, PAPER_CONFIDENCE)
    recall = means["found"] / means["needed"]
    return table("recall", means.assign(recall=recall, closure_low=low, closure_high=high))

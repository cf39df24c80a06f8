"""What limited a response: it ended by itself, hit an output limit, or filled the window."""

import math

import numpy as np
import pandas as pd

from cogniload_analysis.display.tables import MODEL, Table, percent
from cogniload_analysis.frame import read_count
from cogniload_gen.benchmark import Row
from cogniload_gen.budget import STOP_MARGIN, is_cut_off, step_of
from cogniload_gen.sample import COUNTS, ending, request_limit

ENDED, LIMIT, WINDOW, UNKNOWN = "ended", "output limit", "window", "unknown"
ENDINGS = (ENDED, LIMIT, WINDOW, UNKNOWN)

MANY = 0.1
"""Above this share of responses cut at an output limit, a report warns."""


def read_ending(sample: Row) -> str:
    """Return how a sample's response ended: one of ENDINGS.

    What the backend said, the sample's finish_reason, comes first; where it says nothing that
    `ending` knows, a response that ends within 20 tokens of its limit was cut. A limit counts as
    the window's where it leaves nothing of the budget unused, and as an output limit where the
    backend says that it was cut and the counts are unknown.
    """
    prompt, response = (read_count(sample, name) for name in COUNTS)
    budget = read_count(sample["doc"], "context_budget")
    limit = request_limit(sample) or math.nan
    said = ending(sample.get("finish_reason"))
    if said == "broken":
        return UNKNOWN
    if said:
        cut = said == "cut"
    elif math.isnan(response) or (math.isnan(limit) and math.isnan(prompt + budget)):
        return UNKNOWN
    elif math.isnan(limit):
        cut = is_cut_off(int(prompt), int(response), int(budget))
    else:
        cut = response + STOP_MARGIN >= limit
    if not cut:
        return ENDED
    used = response if math.isnan(limit) else limit
    if math.isnan(used + prompt + budget):
        return LIMIT if said else UNKNOWN
    # our tasks round what a prompt leaves down: a limit that leaves no more unused is the budget's
    return LIMIT if used + prompt + step_of(int(budget)) < budget else WINDOW


def ending_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how the responses of each model ended, in counts and shares.

    Columns: model, responses, a count for each of ENDINGS, cut_share (at a limit or the window) and
    limit_share (0 to 1, of the responses whose end is known; NaN for none), and wrong_cut (the
    number of wrong responses that were cut).
    """
    names = [name.replace(" ", "_") for name in ENDINGS]
    counts = pd.crosstab(frame["model"], frame["ending"]).reindex(columns=ENDINGS, fill_value=0)
    counts = counts.set_axis(pd.Index(names), axis=1)
    responses = counts.sum(axis=1)
    known = (responses - counts["unknown"]).replace(0, np.nan)
    cut = frame["ending"].isin([LIMIT, WINDOW])
    return counts.assign(
        cut_share=(counts["output_limit"] + counts["window"]) / known,
        limit_share=counts["output_limit"] / known,
        wrong_cut=(cut & ~frame["correct"]).groupby(frame["model"], observed=True).sum(),
        responses=responses,
    ).reset_index()


def tabulate_endings(frame: pd.DataFrame, prefix: str) -> Table:
    """Return the `ending_table` of a frame for the page; `prefix` begins its name."""
    return Table(
        f"{prefix}endings",
        ending_table(frame),
        "How responses ended: by themselves, cut at an output limit below the budget, or with the "
        "window full. The outcome max-context also counts what ended by itself within 20 tokens of "
        "the budget.",
        {
            **MODEL,
            "responses": "Responses",
            "ended": "Ended by itself",
            "output_limit": "Output limit",
            "window": "Window filled",
            "unknown": "Unknown",
            "cut_share": ("Cut [%]", percent),
            "wrong_cut": "Wrong and cut",
        },
    )


def warn_of_limits(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each model in `ending_table` with many responses cut by a limit."""
    return [
        f"{row['model']}: {100 * row['limit_share']:.1f} % of the responses were cut at an output "
        "limit below the budget. Their errors may be the limit's and not the model's: raise "
        "max_gen_toks, or leave it out."
        for row in table.to_dict("records")
        if row["limit_share"] > MANY
    ]

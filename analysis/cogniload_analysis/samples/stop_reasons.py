"""How responses ended: by themselves, cut, filtered or empty; and what cut them."""

import numpy as np
import pandas as pd

from cogniload_analysis.words import say
from cogniload_gen.answers import Sample
from cogniload_gen.context_budget import step_of

ENDED, CUT, _FILTERED, EMPTY, UNKNOWN = "ended", "cut", "filtered", "empty", "unknown"
ENDINGS = (ENDED, CUT, _FILTERED, EMPTY, UNKNOWN)

MUCH_CUT = 0.02
"""Above this share of responses cut, a report says between which bounds the scores lie."""

LIMIT, WINDOW = "output limit", "window"
"""What cuts a response: a limit below the budget, or the budget itself."""

# Above this share of responses cut at an output limit, a report warns.
_MANY = 0.1


def describe_ending(sample: Sample) -> dict[str, str]:
    """Return how a sample's response ended, in the columns of a frame.

    `ending` is one of ENDINGS; `cut_by` what cut it, "" if nothing did. A limit counts as the
    window's where it leaves nothing of the budget unused, and as an output limit where the counts
    are unknown.
    """
    ending = sample.ending or UNKNOWN
    if ending != CUT:
        return {"ending": ending, "cut_by": ""}
    prompt, limit, budget = sample.prompt_tokens, sample.limit, sample.budget
    limit = limit or sample.response_tokens
    if prompt is None or limit is None or budget is None:
        return {"ending": ending, "cut_by": LIMIT}
    # our tasks round what a prompt leaves down: a limit that leaves no more unused is the budget's
    full = prompt + limit + step_of(budget) >= budget
    return {"ending": ending, "cut_by": WINDOW if full else LIMIT}


def ending_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how the responses of each model ended, in counts and shares.

    Columns: model, responses, ended, output_limit, window, filtered, empty and unknown (counts),
    cut_share and limit_share (0 to 1: cut at all, and at an output limit, of the responses whose
    end is known; NaN for none), acc_uncut (of the responses that no limit cut) and hidden (the
    number of those whose reasoning was hidden).
    """
    how = frame["cut_by"].astype(str).where(frame["ending"] == CUT, frame["ending"].astype(str))
    kinds = (ENDED, LIMIT, WINDOW, _FILTERED, EMPTY, UNKNOWN)
    counts = pd.crosstab(frame["model"], how).reindex(columns=[*kinds], fill_value=0)
    counts = counts.rename(columns={LIMIT: "output_limit"})
    responses = counts.sum(axis=1)
    known = (responses - counts["unknown"]).replace(0, np.nan)
    of_model = frame["model"]
    return counts.assign(
        cut_share=(counts["output_limit"] + counts["window"]) / known,
        limit_share=counts["output_limit"] / known,
        acc_uncut=frame["acc_uncut"].groupby(of_model, observed=True).mean(),
        hidden=frame["reasoning_hidden"].ne("").groupby(of_model, observed=True).sum(),
        responses=responses,
    ).reset_index()


def warn_of_limits(endings: pd.DataFrame) -> list[str]:
    """Return a sentence for each model in `ending_table` with many responses cut by a limit."""
    return [
        say("limits", model=row["model"], share=100 * row["limit_share"])
        for row in endings.to_dict("records")
        if row["limit_share"] > _MANY
    ]

"""Errors and tokens: the paper's Tables 4 and 5 (Appendix E), and 7 to 10 (Appendix H)."""

from dataclasses import replace

import pandas as pd

from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.words import WORDS

WRONG_OUTCOMES = WORDS["wrong_outcomes"]
"""The columns of Tables 4 and 5, in the paper's order."""


def errors_section(frame: pd.DataFrame) -> Section:
    """Return the section."""
    content: list[Content] = [outcomes_by(frame, "d", 4), outcomes_by(frame, "N", 5)]
    tokens = token_table(frame)
    content.append(tabulate_tokens(tokens) if len(tokens) else "The samples hold no token counts.")
    return Section("Errors and tokens", content, "errors", folded=True)


def outcome_table(frame: pd.DataFrame, knob: str) -> pd.DataFrame:
    """Return the count of each wrong outcome by model and level of `knob`, "d" or "N".

    The columns are those of the published Tables 4 and 5; the accuracy is not rounded. Appendix E.
    """
    counts = tb.count_outcomes(frame, "model", knob)
    samples = counts.sum(axis=1)
    wrong = counts[list(WRONG_OUTCOMES.values())].set_axis(list(WRONG_OUTCOMES), axis=1)
    # The product comes first: a half is then exact, and rounds to even as in the paper.
    accuracy = 100 * (samples - wrong.sum(axis=1)) / samples
    columns = {"samples": samples, "accuracy_percent": accuracy}
    return pd.concat([pd.DataFrame(columns), wrong], axis=1).reset_index()


def outcomes_by(frame: pd.DataFrame, knob: str, number: int) -> tb.Table:
    """Return the table of errors by a load, which has a number in the paper."""
    table = tb.table("outcomes", outcome_table(frame, knob), load=knob, number=number)
    return replace(table, name=f"outcomes_by_{knob}")


def token_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 90th percentile of prompt and response tokens by model, N and d.

    Cells without any counts are left out. Appendix H.
    """
    return tb.describe_tokens(frame, "model", "N", "d").dropna(how="all").reset_index()


def tabulate_tokens(tokens: pd.DataFrame) -> tb.Table:
    """Return the table of a `token_table`."""

    def show(*counts: float) -> str:
        return f"P{tb.tokens(*counts[:2])} | O{tb.tokens(*counts[2:])}"

    return tb.table("tokens", tokens, {"both": show})

"""Where the reasoning breaks, from the readings that the samples hold.

A response counts as read if its sample says so. Where too few were, nothing is claimed.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.hazard import slip_rate, survival_curve
from cogniload_analysis.cogniload.step_columns import say_kind
from cogniload_analysis.display.figures import COLOURS, CURVE, Figure, Panel, Series, set_whole
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.display.tables import table
from cogniload_analysis.stats import wilson_interval
from cogniload_gen.benchmark import enough_read
from cogniload_gen.cogniload.knobs import ERRORS

# The kind of a response without an error, in tables.
_NONE = "none"

# Above this number of models, the section is folded.
_MANY_MODELS = 2

MEANINGS = {
    "initial": "the initial state was copied wrong",
    "missed": "a statement that changes the person was said not to",
    "intruded": "a statement that does not apply to the person was applied",
    "wrong_value": "a statement that applies set a wrong value, or only a part",
    "skipped": "a statement that changes the person was never mentioned",
    "drifted": "a value changed where no statement said so",
    "stopped": "the tracking ends early",
    "answer": "tracked right to the end, answered wrong",
}
"""Each kind of first error in words."""

_NO_READING = (
    "The samples hold no reading of the responses, as they were made before there was one. Score "
    "them again with `cogniload score SAMPLES --out FILE`, and report on that file; or see "
    "`cogniload score SAMPLES --steps`."
)


def breaks_section(
    frame: pd.DataFrame, names: Mapping[str, str], *, drawn: bool = True
) -> tuple[Section, dict[str, str]]:
    """Return the section, and the commonest first error of each model in a sentence.

    `names` are the ends of the figures' names, of which there are none unless `drawn`.
    """
    parts: list[Content] = []
    kinds, sentences = {}, {}
    for name, rows in frame.groupby("model", observed=True):
        model, read = str(name), rows[rows["steps_read"]].astype({"error": object})
        share = f"{len(read):,} of {len(rows):,} responses could be read statement by statement"
        if hidden := (rows["reasoning_hidden"] != "").sum():
            why = " or ".join(sorted({*rows["reasoning_hidden"]} - {""}))
            share += f" ({hidden:,} have a reasoning that is hidden: {why})"
        content: list[Content] = [f"{share}: these are too few to say where the reasoning breaks."]
        if rows["coverage"].isna().all():
            content = [_NO_READING]
        elif enough_read(len(read), len(rows)):
            sentences[model] = _say_first_error(read)
            said = [f"{share}.", sentences[model] or "No error was found in any of them."]
            content = [[*said, *_say_tracking(read)]]
            content += [_draw_survival(model, f"breaks_{names[model]}", read)] * drawn
            kinds[model] = _kind_table(read)
        parts.append(Section(model, content))
    if frame["coverage"].isna().all():
        parts = [_NO_READING]
    if kinds:
        every = pd.concat(kinds, names=["model", None]).reset_index("model").reset_index(drop=True)
        parts.append(table("kinds", every, {"kind": say_kind}))
    heading, folded = "Where it breaks", len(names) > _MANY_MODELS
    return Section(heading, parts, "where-it-breaks", folded, heading), sentences


def _kind_table(read: pd.DataFrame) -> pd.DataFrame:
    """Return the first errors of one model's responses by kind, "none" for those without one.

    Columns: error, responses, share (of all of `read`), low and high (Wilson's 95 % interval),
    recovered and right.
    """
    kinds = read["error"].replace("", _NONE)
    by_kind = read.assign(responses=1, right=read["correct"]).groupby(kinds)
    counts = by_kind[["responses", "recovered", "right"]].sum()
    rows = counts.reindex([*ERRORS, _NONE], fill_value=0).rename_axis("error").reset_index()
    low, high = wilson_interval(rows["responses"], len(read))
    return rows.assign(share=rows["responses"] / len(read), low=low, high=high)


def _draw_survival(model: str, name: str, read: pd.DataFrame) -> Figure:
    """Draw the `survival_curve` of a model's responses."""
    survival = survival_curve(read)
    statement = survival["statement"]

    def finish(axes: Any) -> None:
        ends = survival["low"], survival["high"]
        style = {"color": COLOURS[0], "alpha": 0.15, "linewidth": 0}
        axes.fill_between(statement, *ends, step="post", **style)
        set_whole(axes)
        axes.set_ylim(-0.03, 1.03)

    # each share holds from its statement to the next one
    at, share = np.repeat(statement, 2)[1:], np.repeat(survival["share"], 2)[:-1]
    series = [Series("tracking still right", at, share, style=CURVE)]
    panel = Panel(series, "Statement", "Share of responses", finish=finish)
    of = f"Share of the responses of {model} whose tracking is still right"
    return Figure(name, f"{of} by statement, with 95 % intervals.", [panel])


def _say_first_error(read: pd.DataFrame) -> str:
    """Say the commonest first error of a model's responses that were read; "" without errors."""
    counts = read["error"].value_counts().reindex(ERRORS, fill_value=0)
    if not counts.any():
        return ""
    kind, right = str(counts.idxmax()), (read["correct"] & read["error"].ne("")).sum()
    return (
        f"The commonest first error is “{say_kind(kind)}” ({MEANINGS[kind]}): "
        f"{counts.max():,} of {counts.sum():,} errors, among the {len(read):,} responses "
        f"that could be read statement by statement; {right:,} of the answers are right even so."
    )


def _say_tracking(read: pd.DataFrame) -> list[str]:
    """Say how many answers are right after an error, and how long the tracking stays right."""
    after_error = read["correct"] & read["first_error"].notna()
    sound = (after_error & read["recovered"]).sum()
    last, (slips, fewest, most) = survival_curve(read).iloc[-1], slip_rate(read)
    share, low, high = (100 * last[name] for name in ("share", "low", "high"))
    said = [
        f"Of {read['correct'].sum():,} right answers, {after_error.sum():,} came after an error of "
        f"tracking: {sound:,} after the tracking was right again, {after_error.sum() - sound:,} by "
        "luck.",
        f"After statement {last['statement']:.0f}, the tracking is still right in {share:.1f} % of "
        f"the responses (95 % interval {low:.1f} to {high:.1f}).",
        f"Of 1,000 statements that are reached without an error, {slips:.3g} bring the first one "
        f"(95 % interval {fewest:.3g} to {most:.3g}).",
    ]
    return said[:2] if np.isnan(slips) else said

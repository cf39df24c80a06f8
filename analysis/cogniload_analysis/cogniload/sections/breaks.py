"""Where the reasoning breaks, from the readings that the samples hold.

A response counts as read if its sample says so. Where too few were, nothing is claimed.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.duration.survfunc import SurvfuncRight
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM

from cogniload_analysis.cogniload.step_columns import say_kind
from cogniload_analysis.display.figures import COLOURS, CURVE, Figure, Panel, Series, set_whole
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.display.tables import table
from cogniload_analysis.stats import wilson_interval
from cogniload_analysis.words import WORDS, say
from cogniload_gen.benchmark import enough_read
from cogniload_gen.cogniload.knobs import ERRORS

# The kind of a response without an error, in tables.
_NONE = "none"

# Above this number of models, the section is folded.
_MANY_MODELS = 2

MEANINGS = WORDS["first_errors"]
"""Each kind of first error in words."""

SLIPS = ("missed", "intruded", "wrong_value", "skipped", "drifted")
"""The kinds of an error that happens at a statement; the others are no slips of tracking."""


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
        share += _say_readers(read)
        content: list[Content] = [f"{share}: these are too few to say where the reasoning breaks."]
        if rows["coverage"].isna().all():
            content = [say("no_reading")]
        elif enough_read(len(read), len(rows)):
            sentences[model] = _say_first_error(read)
            said = [f"{share}.", sentences[model] or "No error was found in any of them."]
            content = [[*said, *_say_tracking(read)]]
            content += [_draw_survival(model, f"breaks_{names[model]}", read)] * drawn
            kinds[model] = _kind_table(read)
        parts.append(Section(model, content))
    if frame["coverage"].isna().all():
        parts = [say("no_reading")]
    if kinds:
        every = pd.concat(kinds, names=["model", None]).reset_index("model").reset_index(drop=True)
        parts.append(table("kinds", every, {"kind": say_kind}))
    heading, folded = "Where it breaks", len(names) > _MANY_MODELS
    return Section(heading, parts, "where-it-breaks", folded, heading), sentences


def _say_readers(read: pd.DataFrame) -> str:
    """Say which models transcribed responses, and what the rules read; "" if these read all."""
    counts = read["reader"].astype(object).value_counts()
    said = [f"{count:,} as {name} transcribed them" for name, count in counts.items() if name]
    rules = [f"{counts['']:,} by rules"] if said and "" in counts else []
    return f" ({', '.join([*said, *rules])})" if said else ""


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
    named = {"kind": say_kind(kind), "meaning": MEANINGS[kind]}
    numbers = {"most": counts.max(), "all": counts.sum(), "read": len(read), "right": right}
    return say("first_error", **named, **numbers)


def _say_tracking(read: pd.DataFrame) -> list[str]:
    """Say how many answers are right after an error, and how long the tracking stays right."""
    after_error = read["correct"] & read["first_error"].notna()
    sound = (after_error & read["recovered"]).sum()
    last, (slips, fewest, most) = survival_curve(read).iloc[-1], slip_rate(read)
    shares = {name: 100 * last[name] for name in ("share", "low", "high")}
    right, after = read["correct"].sum(), after_error.sum()
    said = [say("after_error", right=right, after=after, sound=sound, luck=after - sound)]
    if last["high"] - last["low"] < 1 / 2:
        said.append(say("still_right", last=last["statement"], **shares))
    if not np.isnan(slips):
        said.append(say("slips", slips=slips, low=fewest, high=most))
    return said


# --- The hazard of the first error ---------------------------------------------------------------


def _last_trials(read: pd.DataFrame) -> pd.Series:
    """Return the last statement at which each response that was read is at risk, 0 for none.

    A slip's is the statement of the slip; a response that stops counts up to where it stops.
    """
    before = read["first_error"] - ~read["error"].isin(SLIPS)
    return before.fillna(read["N"]).clip(lower=0).astype(int)


def slip_rate(read: pd.DataFrame) -> np.ndarray:
    """Return the slips per 1,000 statements at risk, and the ends of the 95 % interval.

    The interval takes statements of one puzzle as alike. NaN without any slip, and of one puzzle.
    """
    counts = pd.DataFrame({"slips": read["error"].isin(SLIPS), "statements": _last_trials(read)})
    counts = counts.groupby(read["id"], observed=True).sum().query("statements > 0").astype(float)
    slips, statements = (counts[name].to_numpy() for name in counts)
    if len(counts) < 2 or not slips.any():
        return np.full(3, np.nan)
    model = GLM(slips, np.ones(len(counts)), Poisson(), exposure=statements)
    with warnings.catch_warnings():  # of puzzles with one rate, which are no problem
        warnings.simplefilter("ignore")
        fit = model.fit(cov_type="HC0")
    return 1000 * np.exp([*fit.params, *fit.conf_int().ravel()])


def survival_curve(read: pd.DataFrame) -> pd.DataFrame:
    """Return the share of responses whose tracking is still right, by statement.

    The Kaplan-Meier estimate: a response counts up to the last statement of its puzzle, or to where
    it stops. Rows: statement 0 (the initial state), each one with a first error, and the last.
    Columns: statement, at_risk, share, low and high: Wilson's 95 % interval at the number of
    responses that would give Greenwood's variance. Without responses that end early it is Wilson's
    of the share itself. Responses to one puzzle count as independent.
    """
    last = _last_trials(read)
    fit = SurvfuncRight(last, read["error"].isin([*SLIPS, "initial"]).astype(int))
    steps = {"at_risk": fit.n_risk, "share": fit.surv_prob, "spread": fit.surv_prob_se}
    start = pd.DataFrame({"at_risk": len(read), "share": 1.0, "spread": 0.0}, [0])
    curve = pd.concat([start, pd.DataFrame(steps, fit.surv_times)])
    curve = curve[~curve.index.duplicated(keep="last")]
    curve = curve.reindex(curve.index.union([last.max()]), method="ffill")
    share = curve["share"]
    # a share of 0 or 1 has no variance to tell it
    effective = (share * (1 - share) / curve.pop("spread") ** 2).fillna(curve["at_risk"])
    low, high = wilson_interval(share * effective, effective)
    curve = curve.assign(low=low.clip(0, share), high=high.clip(share, 1))
    return curve.rename_axis("statement").reset_index()

"""Where the reasoning breaks, from the readings that the samples hold.

A response counts as read if its sample says so. Where too few were, a model has no tables but its
row of `break_table`, and nothing is claimed.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.hazard import (
    SLIPS,
    StepHazard,
    fit_step_hazard,
    last_trials,
    slip_rates,
    slip_trials,
)
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.cogniload.step_columns import say_kind
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import COLOURS, Figure, Panel, Series
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.samples.files import read_lines
from cogniload_analysis.stats import wilson_interval
from cogniload_gen.benchmark import enough_read
from cogniload_gen.cogniload.knobs import ERRORS

FITTED = 150
"""How many responses of a model the hazard is fitted to: a puzzle takes milliseconds to solve."""

CLAIMED_RECOVERED, CLAIMED_LOST = 226 / 247, 659 / 683
"""The share of planted errors that the step reader claims, of those after which tracking recovers
and of the others: of the 930 of docs/steps.md.
"""

NONE = "none"
"""The kind of a response without an error, in tables."""

MANY_MODELS = 2
"""Above this number of models, what is said of each is folded."""

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

CAPTION = (
    "Responses that could be read statement by statement; of those, how many have an error, are "
    "right again later, and answer right."
)
COLUMNS: tb.Columns = {
    **tb.MODEL,
    "responses": ("Responses", tb.thousands),
    "read": ("Read", tb.thousands),
    "read, responses": ("Read [%]", tb.percent_of),
    "errors": ("With an error", tb.thousands),
    "recovered": ("Recovered", tb.thousands),
    "right": ("Right", tb.thousands),
    "right_after_error": ("Right after an error", tb.thousands),
    "healed": ("Healed [%]", tb.percent),
    "healed_state": ("Whole state [%]", tb.percent),
}

NO_READING = (
    "The samples hold no reading of the responses, as they were made before there was one. Score "
    "them again with `cogniload score SAMPLES --out FILE`, and report on that file; or see "
    "`cogniload score SAMPLES --steps`."
)


def breaks_section(frame: pd.DataFrame, names: Mapping[str, str]) -> tuple[Section, pd.DataFrame]:
    """Return the section and its `break_table`; `names` are the ends of the figures' names."""
    heading, id = "Where it breaks", "where-it-breaks"
    if frame["coverage"].isna().all():
        return Section(heading, [NO_READING], id, link=heading), pd.DataFrame()
    read = choose_read(frame)
    hazards = {model: fit_hazard(rows) for model, rows in read.items()}
    breaks = break_table(frame, read, hazards)
    tables = [tb.Table("breaks", breaks, CAPTION, COLUMNS)]
    tables += tabulate_read(read) if read else []
    parts: list[Content] = []
    for row in breaks.to_dict("records"):
        content: list[Content] = [say_breaks(row)]
        if (model := row["model"]) in read:
            content.append(draw_survival(model, f"breaks_{names[model]}", read[model]))
        parts.append(Section(model, content))
    if len(parts) > MANY_MODELS:
        parts = [Section("Each model", parts, folded=True)]
    numbers = Section("Where it breaks, in numbers", tables, folded=True)
    return Section(heading, [*parts, numbers], id, link=heading), breaks


def choose_read(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the responses that were read of each model with enough of them, by model.

    The columns are those that the step hazard takes, but for the puzzle.
    """
    chosen = {}
    for model, rows in frame.groupby("model", observed=True):
        read = rows[rows["steps_read"]]
        if enough_read(len(read), len(rows)):
            kinds = read["error"].astype(object).replace("", None)
            chosen[str(model)] = read.drop(columns=["model"]).assign(read=True, error=kinds)
    return chosen


def fit_hazard(read: pd.DataFrame) -> StepHazard | None:
    """Return the step hazard of the responses read, or of FITTED of them, evenly over the loads.

    None where a puzzle can't be solved: it was made elsewhere.
    """
    ordered = read.sort_values(["d", "N", "rho"], kind="stable").reset_index(drop=True)
    every = np.linspace(0, len(ordered) - 1, min(FITTED, len(ordered))).round().astype(int)
    chosen = ordered.iloc[every]
    try:
        return fit_step_hazard(chosen.assign(puzzle=pd.Series(dict(read_puzzles(chosen)))))
    except ValueError:
        return None


def read_puzzles(frame: pd.DataFrame) -> Iterator[tuple[int, str]]:
    """Yield the index and the puzzle's text of each response, from the samples' files."""
    for file, rows in frame.groupby("file", observed=True):
        rising = rows["offset"].sort_values()
        for index, sample in zip(rising.index, read_lines(str(file), rising), strict=True):
            yield index, str(sample["doc"].get("puzzle"))


def break_table(
    frame: pd.DataFrame, read: Mapping[str, pd.DataFrame], hazards: Mapping[str, StepHazard | None]
) -> pd.DataFrame:
    """Return what the page says of each model, one row per model.

    Columns: model, responses, held (those whose samples hold a reading), read, enough; of those
    read: errors, commonest and its count, recovered, right, right_after_error (of tracking),
    right_recovered (those of them whose tracking is right again later), healed and healed_state
    (the shares of right answers after an error, and of those whose tracking is right again, with
    each error weighed by how rarely such errors are read; NaN without errors), half (the first
    statement after which fewer than half are still right; NaN for none), last (the last statement
    of `survival_curve`) with share, low and high there; per_1000 with slips_low and slips_high;
    hazard_responses, trend (the coefficient of the position), trend_p and hazard_problem.
    """
    rows = []
    for name, all_rows in frame.groupby("model", observed=True):
        model = str(name)
        row: dict[str, float | str] = {"model": model, "responses": len(all_rows)}
        row |= {"held": all_rows["coverage"].count(), "read": all_rows["steps_read"].sum()}
        row |= {"enough": model in read}
        if model in read:
            row |= _describe_breaks(read[model]) | _describe_hazard(hazards[model])
        rows.append(row)
    return pd.DataFrame(rows).reindex(columns=BREAK_COLUMNS)


BREAK_COLUMNS = (
    "model", "responses", "held", "read", "enough", "errors", "commonest", "count", "recovered",
    "right", "right_after_error", "right_recovered", "healed", "healed_state", "half", "last",
    "share", "low", "high", "per_1000", "slips_low", "slips_high", "hazard_responses", "trend",
    "trend_p", "hazard_problem",
)  # fmt: skip


def _describe_breaks(read: pd.DataFrame) -> dict[str, float | str]:
    kinds = read["error"].value_counts().reindex(ERRORS, fill_value=0)
    right = read["correct"]
    after_error = right & read["first_error"].notna()
    curve = survival_curve(read)
    below = curve.loc[curve["share"] < 0.5, "statement"]
    broken = read["first_error"].notna()
    weights = np.where(read["recovered"], 1 / CLAIMED_RECOVERED, 1 / CLAIMED_LOST)

    def weigh(chosen: "pd.Series[bool]") -> float:
        return float(np.average(chosen[broken], weights=weights[broken])) if any(broken) else np.nan

    end, slips = curve.iloc[-1], slip_rates(slip_trials(read)).loc["any"]
    return {
        "errors": kinds.sum(),
        "commonest": kinds.idxmax() if kinds.any() else "",
        "count": kinds.max(),
        "recovered": read["recovered"].sum(),
        "right": right.sum(),
        "right_after_error": after_error.sum(),
        "right_recovered": (after_error & read["recovered"]).sum(),
        "healed": weigh(after_error),
        "healed_state": weigh(after_error & read["recovered"]),
        "half": below.min(),
        "last": end["statement"],
        **end[["share", "low", "high"]],
        "per_1000": slips["per_1000"],
        "slips_low": slips["low"],
        "slips_high": slips["high"],
    }


def _describe_hazard(hazard: StepHazard | None) -> dict[str, float | str]:
    if hazard is None:
        return {"hazard_problem": "the puzzles of these samples can't be solved"}
    return {
        "hazard_responses": hazard.responses,
        "trend": hazard.params["position"],
        "trend_p": hazard.trend_p,
        "hazard_problem": "; ".join(dict.fromkeys(hazard.problems.values())),
    }


def of_models(
    read: Mapping[str, pd.DataFrame], make: Callable[[pd.DataFrame], pd.DataFrame]
) -> pd.DataFrame:
    """Return what `make` returns of each model's responses as one table, with their `model`."""
    tables = {model: make(mine) for model, mine in read.items()}
    return pd.concat(tables, names=["model", None]).reset_index("model").reset_index(drop=True)


def kind_table(read: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the first errors of each model by kind, with "none" for the responses without one.

    Columns: model, error, responses, share (of those read), wrong (those whose answer is wrong),
    share_of_wrong, right and recovered.
    """

    def count_kinds(mine: pd.DataFrame) -> pd.DataFrame:
        counted = mine.assign(responses=1, wrong=~mine["correct"], right=mine["correct"])
        by_kind = counted.groupby(mine["error"].fillna(NONE).rename("error"))
        sums = by_kind[["responses", "wrong", "right", "recovered"]].sum()
        table = sums.reindex([*ERRORS, NONE], fill_value=0).reset_index()
        table.insert(2, "share", table["responses"] / len(mine))
        table.insert(4, "share_of_wrong", table["wrong"] / table["wrong"].sum())
        return table

    return of_models(read, count_kinds)


def kind_by_table(read: Mapping[str, pd.DataFrame], load: str) -> pd.DataFrame:
    """Return the count of each kind of first error by model and level of a load, "d" or "N"."""
    every = pd.concat(read.values(), keys=read, names=["model"]).reset_index("model")
    counts = pd.crosstab([every["model"], every[load]], every["error"].fillna(NONE))
    counts = counts.reindex(columns=[*ERRORS, NONE], fill_value=0)
    counts.insert(0, "read", counts.sum(axis=1))
    return counts.reset_index().rename_axis(columns=None)


def survival_curve(read: pd.DataFrame) -> pd.DataFrame:
    """Return the share of responses whose tracking is still right, by statement.

    The Kaplan-Meier estimate: a response counts up to the last statement of its puzzle, or to where
    it stops. Rows: statement 0 (the initial state), each one with a first error, and the last.
    Columns: statement, at_risk, errors, share, low and high: Wilson's 95 % interval at the number
    of responses that would give Greenwood's variance. Without responses that end early it is
    Wilson's of the share itself. Responses to one puzzle count as independent.
    """
    last = last_trials(read).to_numpy()
    slipped = read["error"].isin(SLIPS).to_numpy()
    length = last.max(initial=0) + 1
    errors = np.bincount(last[slipped], minlength=length)
    errors[0] = (read["error"] == "initial").sum()
    at_risk = np.cumsum(np.bincount(last, minlength=length)[::-1])[::-1]
    share = np.cumprod(1 - errors / at_risk)
    left = at_risk - errors
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = share**2 * np.cumsum(errors / (at_risk * left))
        effective = share * (1 - share) / variance
    # A share of 0 or 1 has no variance to tell it.
    effective = np.where((share > 0) & (share < 1), effective, at_risk)
    low, high = wilson_interval(pd.Series(share * effective), pd.Series(effective))
    table = pd.DataFrame({"statement": np.arange(length), "at_risk": at_risk, "errors": errors})
    table = table.assign(share=share, low=np.clip(low, 0, share), high=np.clip(high, share, 1))
    kept = (errors > 0) | np.isin(table["statement"], (0, length - 1))
    return table[kept].reset_index(drop=True)


def tabulate_read(read: Mapping[str, pd.DataFrame]) -> list[tb.Table]:
    """Return the tables of what was read, of each model with enough of it."""
    kinds = tb.Table(
        "kinds",
        kind_table(read),
        "First errors by kind: their share of the responses read, and of the wrong answers.",
        {
            **tb.MODEL,
            "error": ("First error", say_kind),
            "responses": "Responses",
            "share": ("Of those read [%]", tb.percent),
            "share_of_wrong": ("Of the wrong [%]", tb.percent),
            "right": "Right answers",
            "recovered": "Recovered",
        },
    )
    by_kind = {kind: say_kind(kind) for kind in (*ERRORS, NONE)}
    by_load = [
        tb.Table(
            f"kinds_by_{load}",
            kind_by_table(read, load),
            f"First errors by {load}, over the two other loads.",
            {**tb.MODEL, **tb.load_columns(LOADS), "read": "Read", **by_kind},
        )
        for load in ("d", "N")
    ]
    survival = tb.Table(
        "survival",
        of_models(read, survival_curve),
        "Share of the responses read whose tracking is still right after a statement.",
        {
            **tb.MODEL,
            "statement": "Statement",
            "at_risk": "Responses",
            "errors": "First errors",
            "share": ("Still right [%]", tb.percent),
            "low, high": ("95 % interval", tb.percent_interval),
        },
    )
    return [kinds, *by_load, survival]


def draw_survival(model: str, name: str, read: pd.DataFrame) -> Figure:
    """Draw the `survival_curve` of a model's responses."""
    survival = survival_curve(read)
    statement = survival["statement"].to_numpy(float)
    # each share holds from its statement to the next one
    x = np.stack([statement, np.append(statement[1:], statement[-1])], axis=1).ravel()
    ends = survival[["share", "low", "high"]].to_numpy(float)
    share, low, high = np.repeat(ends, 2, axis=0).T

    def finish(axes: Any) -> None:
        axes.fill_between(x, low, high, color=COLOURS[0], alpha=0.15, linewidth=0)
        axes.set_ylim(-0.03, 1.03)

    series = [Series("tracking still right", x, share, marked=False)]
    panel = Panel(series, "Statement", "Share of responses", finish=finish)
    of = f"Share of the responses of {model} whose tracking is still right"
    return Figure(name, f"{of} by statement, with 95 % intervals.", [panel])


def say_breaks(row: Mapping[Any, Any]) -> list[str]:
    """Say a row of `break_table` in words, a sentence for each finding."""
    if not row["held"]:
        return ["The samples hold no reading of the responses."]
    share = 100 * row["read"] / row["responses"]
    of = f"{row['read']:,} of {row['responses']:,} responses"
    said = [f"{of} could be read statement by statement: {share:.1f} %."]
    if not row["enough"]:
        return [f"{said[0]} These are too few to say where the reasoning breaks."]
    if row["errors"]:
        kind = f"“{say_kind(row['commonest'])}” ({row['count']:,.0f} of them)"
        said.append(
            f"{row['errors']:,.0f} of them have an error; the commonest first one is {kind}; "
            f"{row['recovered']:,.0f} are right again later."
        )
    else:
        said.append("No error was found in any of them.")
    lucky = row["right_after_error"] - row["right_recovered"]
    said.append(
        f"Of {row['right']:,.0f} right answers, {row['right_after_error']:,.0f} came after an "
        f"error of tracking: {row['right_recovered']:,.0f} after the tracking was right again, "
        f"{lucky:,.0f} by luck."
    )
    if row["errors"] and not math.isnan(row["healed"]):
        said.append(
            f"After an error, {100 * row['healed']:.0f} % of the answers are right; to a question "
            f"about the whole state, it would be at most {100 * row['healed_state']:.0f} %. Errors "
            "that are soon corrected are detected less often, so they count for more here."
        )
    share, low, high = (100 * row[name] for name in ("share", "low", "high"))
    still = (
        f"fter statement {row['last']:.0f}, the tracking is still right in {share:.1f} % of the "
        f"responses (95 % interval {low:.1f} to {high:.1f})."
    )
    half = f"From statement {row['half']:.0f} on, fewer than half are still right; a"
    said.append(("A" if math.isnan(row["half"]) else half) + still)
    said.append(
        f"Of 1,000 statements that are reached without an error, {row['per_1000']:.3g} bring the "
        f"first one (95 % interval {row['slips_low']:.3g} to {row['slips_high']:.3g})."
    )
    return [*said, _say_hazard(row)]


def _say_hazard(row: Mapping[Any, Any]) -> str:
    trend_p = row["trend_p"]
    if math.isnan(trend_p):
        problem = row["hazard_problem"] or "nothing to compare"
        return f"It is unknown whether the hazard grows along the response: {problem}."
    finding = "shows no trend along the response"
    if trend_p < 0.05:
        finding = "falls along the response: most slips come early"
        if row["trend"] > 0:
            finding = "grows along the response: the thread gets lost"
    p = "p < 0.001" if trend_p < 0.001 else f"p = {trend_p:.3f}"
    return f"The hazard {finding} ({p}, step hazard of {row['hazard_responses']:.0f} responses)."


def say_first_error(row: Mapping[Any, Any]) -> str:
    """Say the commonest first error, by a row of `break_table`; "" where it is unknown."""
    if not (row["enough"] and row["errors"]):
        return ""
    kind = row["commonest"]
    return (
        f"The commonest first error is “{say_kind(kind)}” ({MEANINGS[kind]}): "
        f"{row['count']:,.0f} of {row['errors']:,.0f} errors, among the {row['read']:,} responses "
        "that could be read statement by statement."
    )

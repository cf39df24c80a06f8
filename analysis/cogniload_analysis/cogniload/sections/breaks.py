"""Where the reasoning breaks, from the readings that the samples hold.

A response counts as read if its sample says so. Where too few were, a model has no tables but its
row of `break_table`, and nothing is claimed.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.cogniload.hazard import (
    SLIPS,
    StepHazard,
    fit_step_hazard,
    last_trials,
    slip_rates,
    slip_trials,
)
from cogniload_analysis.cogniload.loads import LOADS, drawn_levels, level_panel
from cogniload_analysis.cogniload.sections.accuracy import measured_series
from cogniload_analysis.cogniload.step_columns import say_kind
from cogniload_analysis.display.figures import COLOURS, Figure, Panel, Series
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.display.tables import (
    ACCURACY,
    MODEL,
    Table,
    accuracy_table,
    form,
    interval,
    load_columns,
    number,
    percent,
    percent_interval,
    percent_of,
    starred,
    thousands,
)
from cogniload_analysis.samples.files import read_lines
from cogniload_analysis.stats import CONFIDENCE, wilson_interval
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

TERMS = {
    "const": "constant",
    "needle": "needle",
    "k": "conditions",
    "m": "updates",
    "position": "position t / N",
    "since": "statements since a change",
    "near": "conditions of a hay that hold",
    "d": "d",
    "log10_N": "log N",
}
"""The coefficients of the step hazard in words."""

NO_READING = (
    "The samples hold no reading of the responses, as they were made before there was one. Score "
    "them again with `cogniload score SAMPLES --out FILE`, and report on that file; or see "
    "`cogniload score SAMPLES --steps`."
)


def breaks_section(
    frame: pd.DataFrame, glms: Mapping[str, LoadGLM], names: Mapping[str, str]
) -> tuple[Section, pd.DataFrame]:
    """Return the section and its `break_table`; `names` are the ends of the figures' names."""
    if frame["coverage"].isna().all():
        return Section("Where it breaks", [NO_READING], "where-it-breaks"), pd.DataFrame()
    read = choose_read(frame)
    hazards = {model: fit_hazard(rows) for model, rows in read.items()}
    breaks = break_table(frame, read, hazards)
    tables = [tabulate_breaks(breaks)]
    figures: dict[str, Figure] = {}
    if read:
        survival, predictions = survival_table(read), prediction_table(read, hazards, glms)
        tables += [
            *tabulate_errors(read),
            *tabulate_hazard(hazards, predictions),
            tabulate_survival(survival),
        ]
        for model in read:
            mine = (table[table["model"] == model] for table in (survival, predictions))
            figures[model] = draw_breaks(model, f"breaks_{names[model]}", *mine)
    parts: list[Content] = []
    for row in breaks.to_dict("records"):
        figure = [figures[row["model"]]] if row["model"] in figures else []
        parts.append(Section(row["model"], [say_breaks(row), *figure]))
    if len(parts) > MANY_MODELS:
        parts = [Section("Each model", parts, folded=True)]
    content = [*parts, Section("Where it breaks, in numbers", tables, folded=True)]
    section = Section("Where it breaks", content, "where-it-breaks", link="Where it breaks")
    return section, breaks


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
    """Return what the page says of each model, a row a model.

    Columns: model, responses, held (those whose samples hold a reading), read, enough; of those
    read: errors, commonest and its count, recovered, right, right_after_error (of tracking),
    right_recovered (those of them whose tracking is right again later), healed and healed_state
    (the shares of right answers after an error, and of those whose tracking is right again, with
    each error weighed by how rarely such errors are read; NaN without errors), half (the first
    statement after which fewer than half are still right; NaN for none), last (the last statement
    of `survival_table`) with share, low and high there; per_1000 with slips_low and slips_high;
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

    def count_kinds(mine: pd.DataFrame) -> pd.DataFrame:
        counts = pd.crosstab(mine[load], mine["error"].fillna(NONE))
        counts = counts.reindex(columns=[*ERRORS, NONE], fill_value=0)
        counts.insert(0, "read", counts.sum(axis=1))
        return counts.reset_index().rename_axis(columns=None)

    return of_models(read, count_kinds)


def slip_table(read: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return each model's first errors per 1,000 statements at risk by kind; see `slip_rates`."""

    def rate(mine: pd.DataFrame) -> pd.DataFrame:
        trials = slip_trials(mine)
        rates = slip_rates(trials).rename_axis("error").rename(columns={"errors": "slips"})
        rates.insert(1, "at_risk", len(trials))
        return rates.reset_index()

    return of_models(read, rate)


def survival_table(read: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the `survival_curve` of each model."""
    return of_models(read, survival_curve)


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


def hazard_table(hazards: Mapping[str, StepHazard | None]) -> pd.DataFrame:
    """Return the coefficients of each model's step hazard with 95 % intervals, a row a term."""
    columns = ["model", "term", "estimate", "low", "high", "p", "statements"]
    rows = [
        {"model": model, "term": str(term), "estimate": hazard.params[str(term)]}
        | {"p": hazard.pvalues[str(term)], **ends, "statements": len(hazard.trials)}
        for model, hazard in hazards.items()
        if hazard is not None
        for term, ends in hazard.conf_int().iterrows()
    ]
    return pd.DataFrame(rows, columns=columns)


def prediction_table(
    read: Mapping[str, pd.DataFrame],
    hazards: Mapping[str, StepHazard | None],
    glms: Mapping[str, LoadGLM],
) -> pd.DataFrame:
    """Return the accuracy of the responses read by N and by d, and two predictions of it.

    Columns: model, load ("N" or "d"), level, correct, responses, accuracy, low, high; predicted
    (the step hazard's, for the puzzles that it was fitted to) and glm (the GLM's, for all that were
    read), NaN where there is none; predicted_z and glm_z, by how many standard errors the accuracy
    differs from each.
    """
    parts = []
    for model, mine in read.items():
        glm = glms[model].predict(*(mine[load].to_numpy() for load in ("d", "N", "rho")))
        for load in ("N", "d"):
            table = accuracy_table(mine.assign(model=model), load, confidence=CONFIDENCE)
            level = table[load]
            predicted, fitted_to = predict_by(hazards[model], load)
            by_glm = pd.Series(glm).groupby(mine[load].to_numpy()).mean()
            table = table.assign(load=load, level=level, predicted=level.map(predicted))
            table["glm"] = level.map(by_glm).astype(float)
            of_hazard = table["responses"].combine(level.map(fitted_to), min)
            for name, responses in (("predicted", of_hazard), ("glm", table["responses"])):
                variance = table[name] * (1 - table[name]) / responses
                table[f"{name}_z"] = (table["accuracy"] - table[name]) / np.sqrt(variance)
            parts.append(table)
    columns = ["model", "load", "level", "correct", "responses", "accuracy", "low", "high"]
    columns += ["predicted", "glm", "predicted_z", "glm_z"]
    return pd.concat(parts, ignore_index=True)[columns]


def predict_by(hazard: StepHazard | None, load: str) -> tuple[pd.Series, pd.Series]:
    """Return the accuracy that a hazard predicts by a load, "N" or "d", and of how many responses.

    Averaged over the other loads. Both are empty without a hazard.
    """
    if hazard is None:
        return pd.Series(dtype=float), pd.Series(dtype=float)
    accuracy = hazard.accuracy
    accuracy = accuracy.assign(right=accuracy["predicted"] * accuracy["responses"])
    sums = accuracy.groupby(load)[["right", "responses"]].sum(min_count=1)
    return sums["right"] / sums["responses"], sums["responses"].astype(float)


def tabulate_breaks(breaks: pd.DataFrame) -> Table:
    """Return the table of what was read."""
    return Table(
        "breaks",
        breaks,
        "Responses that could be read statement by statement; of those, how many have an error, "
        "are right again later, and answer right.",
        {
            **MODEL,
            "responses": ("Responses", thousands),
            "read": ("Read", thousands),
            "read, responses": ("Read [%]", percent_of),
            "errors": ("With an error", number(0)),
            "recovered": ("Recovered", number(0)),
            "right": ("Right", number(0)),
            "right_after_error": ("Right after an error", number(0)),
            "healed": ("Healed [%]", percent),
            "healed_state": ("Whole state [%]", percent),
        },
    )


def tabulate_errors(read: Mapping[str, pd.DataFrame]) -> list[Table]:
    """Return the tables of first errors: by kind, by kind and load, and by statements reached."""
    kinds = Table(
        "kinds",
        kind_table(read),
        "First errors by kind: their share of the responses read, and of the wrong answers.",
        {
            **MODEL,
            "error": ("First error", say_kind),
            "responses": "Responses",
            "share": ("Of those read [%]", percent),
            "share_of_wrong": ("Of the wrong [%]", percent),
            "right": "Right answers",
            "recovered": "Recovered",
        },
    )
    by_load = [
        Table(
            f"kinds_by_{load}",
            kind_by_table(read, load),
            f"First errors by {load}, over the two other loads.",
            {
                **MODEL,
                **load_columns(LOADS),
                "read": "Read",
                **{kind: say_kind(kind) for kind in (*ERRORS, NONE)},
            },
        )
        for load in ("d", "N")
    ]
    slips = Table(
        "slips",
        slip_table(read),
        "First errors per 1,000 statements reached without one; intervals clustered by puzzle.",
        {
            **MODEL,
            "error": ("First error", say_kind),
            "slips": "Count",
            "at_risk": "Statements",
            "per_1000": ("Per 1,000", number(2)),
            "low, high": ("95 % interval", interval(2)),
        },
    )
    return [kinds, *by_load, slips]


def tabulate_hazard(
    hazards: Mapping[str, StepHazard | None], predictions: pd.DataFrame
) -> list[Table]:
    """Return the tables of the step hazard: what it predicts, and its coefficients."""
    predicted = Table(
        "prediction",
        predictions,
        "Accuracy of the responses read by N and by d, with the 95 % Wilson interval, and what "
        "the step hazard and the GLM predict.",
        {
            **MODEL,
            "load, level": ("At", form("{} = {:g}")),
            "responses": "Responses",
            **ACCURACY,
            "predicted": ("Step hazard [%]", percent),
            "glm": ("GLM [%]", percent),
        },
    )
    coefficients = Table(
        "hazard",
        hazard_table(hazards),
        "Coefficients of the step hazard's logit. *** p < 0.001, ** p < 0.01, * p < 0.05.",
        {
            **MODEL,
            "term": ("Term", TERMS.__getitem__),
            "estimate, p": ("Estimate", starred(2)),
            "low, high": ("95 % interval", interval(2)),
        },
    )
    return [predicted, coefficients]


def tabulate_survival(survival: pd.DataFrame) -> Table:
    """Return the table behind the figures."""
    return Table(
        "survival",
        survival,
        "Share of the responses read whose tracking is still right after a statement.",
        {
            **MODEL,
            "statement": "Statement",
            "at_risk": "Responses",
            "errors": "First errors",
            "share": ("Still right [%]", percent),
            "low, high": ("95 % interval", percent_interval),
        },
    )


def draw_breaks(model: str, name: str, survival: pd.DataFrame, predictions: pd.DataFrame) -> Figure:
    """Draw one model's survival by statement, and the accuracy that is predicted by N and by d.

    The frames are its rows of `survival_table` and of `prediction_table`. A load with one level,
    and all of them without a prediction, have no panel.
    """
    statement = survival["statement"].to_numpy(float)
    # each share holds from its statement to the next one
    x = np.stack([statement, np.append(statement[1:], statement[-1])], axis=1).ravel()
    share, low, high = (
        np.repeat(survival[at].to_numpy(float), 2) for at in ("share", "low", "high")
    )

    def finish(axes: Any) -> None:
        axes.fill_between(x, low, high, color=COLOURS[0], alpha=0.15, linewidth=0)
        axes.set_ylim(-0.03, 1.03)

    tracked = [Series("tracking still right", x, share, marked=False)]
    panels = [Panel(tracked, "Statement", "Share of responses", finish=finish)]
    for load in ("N", "d"):
        rows = predictions[predictions["load"] == load].rename(
            columns={"level": load, "load": "of"}
        )
        if len(rows) < 2 or rows[["predicted", "glm"]].isna().all(axis=None):
            continue
        level = drawn_levels(rows[load], load)
        predicted = Series("step hazard", level, rows["predicted"])
        fitted = Series("GLM", level, rows["glm"])
        panels.append(
            level_panel(load, rows[load], [measured_series(rows, load), predicted, fitted])
        )
    caption = (
        f"Share of the responses of {model} whose tracking is still right by statement, with 95 % "
        "intervals, and accuracy by N and by d beside what the step hazard and the GLM predict."
    )
    return Figure(name, caption, panels)


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

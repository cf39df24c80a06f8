"""Where the reasoning breaks: the tables, from the readings that the samples hold.

A response counts as read if its sample says so. Where too few were, a model has no tables but its
row of `break_table`, and nothing is claimed.
"""

from collections.abc import Callable, Iterator, Mapping

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
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.cogniload.step_columns import say_kind
from cogniload_analysis.display.print import accuracy_table
from cogniload_analysis.display.tables import Column, load_columns, read_tables
from cogniload_analysis.samples.files import read_lines
from cogniload_analysis.sentences import Sentences
from cogniload_analysis.stats import CONFIDENCE, wilson_interval
from cogniload_gen.benchmark import enough_read
from cogniload_gen.cogniload.knobs import ERRORS
from cogniload_gen.files import read_words

FITTED = 150
"""How many responses of a model the hazard is fitted to: a puzzle takes milliseconds to solve."""

CLAIMED = read_words("cogniload_analysis", "claimed")
"""Errors that were read, and all: of those after which tracking recovers, and of the others."""

NONE = "none"
"""The kind of a response without an error, in tables."""


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
    frame: pd.DataFrame, read: dict[str, pd.DataFrame], hazards: dict[str, StepHazard | None]
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
    weights = np.where(read["recovered"], *(every / some for some, every in CLAIMED.values()))

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


def kind_table(read: dict[str, pd.DataFrame]) -> pd.DataFrame:
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


def kind_by_table(read: dict[str, pd.DataFrame], load: str) -> pd.DataFrame:
    """Return the count of each kind of first error by model and level of a load, "d" or "N"."""

    def count_kinds(mine: pd.DataFrame) -> pd.DataFrame:
        counts = pd.crosstab(mine[load], mine["error"].fillna(NONE))
        counts = counts.reindex(columns=[*ERRORS, NONE], fill_value=0)
        counts.insert(0, "read", counts.sum(axis=1))
        return counts.reset_index().rename_axis(columns=None)

    return of_models(read, count_kinds)


def slip_table(read: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return each model's first errors per 1,000 statements at risk by kind; see `slip_rates`."""

    def rate(mine: pd.DataFrame) -> pd.DataFrame:
        trials = slip_trials(mine)
        rates = slip_rates(trials).rename_axis("error").rename(columns={"errors": "slips"})
        rates.insert(1, "at_risk", len(trials))
        return rates.reset_index()

    return of_models(read, rate)


def survival_table(read: dict[str, pd.DataFrame]) -> pd.DataFrame:
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


def hazard_table(hazards: dict[str, StepHazard | None]) -> pd.DataFrame:
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
    read: dict[str, pd.DataFrame],
    hazards: dict[str, StepHazard | None],
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


def say_term(term: str) -> str:
    """Set the name of a coefficient of the step hazard."""
    return Sentences("hazard_terms")(term)


TABLES = read_tables(
    "breaks",
    *(say_kind, say_term),
    loads=load_columns(LOADS),
    kinds_of_errors=[Column(kind, say_kind(kind)) for kind in (*ERRORS, NONE)],
)

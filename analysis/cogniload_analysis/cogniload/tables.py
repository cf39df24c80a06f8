"""Stage 4: the paper's tables, as frames of raw numbers and in the paper's print."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity.curve import COEFFICIENTS as CURVE_COEFFICIENTS
from cogniload_analysis.cogniload.capacity.curve import FLOOR, Capacity, Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import (
    UNCOVERED,
    PublishedCurve,
    compare_fits,
    covers_grid,
    covers_paper,
    curve_crossing,
    goodness_of_fit,
)
from cogniload_analysis.cogniload.capacity.prior import published_curves
from cogniload_analysis.cogniload.fits.glm import (
    INTERACTIONS,
    TERMS,
    InteractionGLM,
    LoadGLM,
    RhoComparison,
)
from cogniload_analysis.cogniload.fits.thresholds import (
    PAPER_MEANS,
    LoadMeans,
    Threshold,
    Thresholds,
)
from cogniload_analysis.display.print import (
    count_outcomes,
    describe_tokens,
    format_number,
    format_tokens,
    format_within,
    format_words,
    stars,
)
from cogniload_analysis.published import published_table
from cogniload_gen.cogniload.score import Outcome

DECIMALS = {"ECL50": 1, "NT50": 2, "ID50": 2}
# The columns of Tables 4 and 5, in the paper's order.
WRONG_OUTCOMES = {
    "ctx": Outcome.WRONG_MAX_CONTEXT,
    "valid_logic": Outcome.WRONG_LOGIC,
    "poi_logic": Outcome.WRONG_LOGIC_POI,
    "last_logic": Outcome.WRONG_LOGIC_LAST_SENTENCE,
    "other": Outcome.WRONG_OTHER,
}
PROJECTION, CROSSING = "projection", "crossing"
"""The two meanings of a threshold (docs/glm_fit.md): of the paper's GLM, and of the model."""

CROSSINGS_KNOWN = 8, 400
"""Printed ECL50 of the published models whose crossing is no extrapolation."""

# Which load each threshold is a level of.
LOAD_OF = {"ECL50": "N", "NT50": "rho", "ID50": "d"}
COEFFICIENTS = {
    "beta_0": "β0",
    "beta_d": "βd",
    "beta_N": "βN",
    "beta_rho": "βρ",
    "beta_rho2": "βρ²",
}
INTERACTING = {
    "beta_dN": "d×N",
    "beta_drho": "d×ρ",
    "beta_Nrho": "N×ρ",
    "beta_dNrho": "d×N×ρ",
}
# What LaTeX sets for whole headings, and for symbols anywhere.
HEADINGS = {
    "d": "$d$",
    "β0": r"$\beta_0$",
    "βd": r"$\beta_d$",
    "βN": r"$\beta_N$",
    "βρ": r"$\beta_\rho$",
    "βρ²": r"$\beta_{\rho^2}$",
    "β d×N": r"$\beta_{d \times N}$",
    "β d×ρ": r"$\beta_{d \times \rho}$",
    "β N×ρ": r"$\beta_{N \times \rho}$",
    "β d×N×ρ": r"$\beta_{d \times N \times \rho}$",
    "p": r"$p_{LR}$",
    "p d×N": r"$p_{LR}(d \times N)$",
    "p d×ρ": r"$p_{LR}(d \times \rho)$",
    "p N×ρ": r"$p_{LR}(N \times \rho)$",
    "p d×N×ρ": r"$p_{LR}(d \times N \times \rho)$",
    **{
        f"{name} ({meaning})": rf"{name[:-2]}$_{{50}}$ ({meaning})"
        for name in ("ECL50", "NT50", "ID50")
        for meaning in ("projection", "crossing")
    },
}
SYMBOLS = {"χ²": r"$\chi^2$", "ρ²": r"$\rho^2$", "ρ": r"$\rho$"}


# --- Raw numbers -----------------------------------------------------------------------------


def outcome_table(frame: pd.DataFrame, knob: str) -> pd.DataFrame:
    """Return the count of each wrong outcome by model and level of `knob`, "d" or "N".

    The columns are those of the published Tables 4 and 5; the accuracy is not rounded. Appendix E.
    """
    counts = count_outcomes(frame, "model", knob)
    samples = counts.sum(axis=1)
    wrong = counts[list(WRONG_OUTCOMES.values())].set_axis(list(WRONG_OUTCOMES), axis=1)
    # The product comes first: a half is then exact, and rounds to even as in the paper.
    accuracy = 100 * (samples - wrong.sum(axis=1)) / samples
    columns = {"samples": samples, "accuracy_percent": accuracy}
    return pd.concat([pd.DataFrame(columns), wrong], axis=1).reset_index()


def token_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 90th percentile of prompt and response tokens by model, N and d.

    Cells without any counts are left out. Appendix H.
    """
    return describe_tokens(frame, "model", "N", "d").dropna(how="all").reset_index()


def glm_table(glms: dict[str, LoadGLM]) -> pd.DataFrame:
    """Return the coefficients and thresholds of each model's `LoadGLM`, by model. Table 2.

    The thresholds are projections: NaN where the cells are no grid.
    """
    rows = []
    for model, glm in glms.items():
        intervals = glm.conf_int()
        coefficients = {
            "": glm.params,
            "_se": glm.bse,
            "_p": glm.pvalues,
            "_low": intervals["low"],
            "_high": intervals["high"],
        }
        row = {"model": model, "estimator": glm.estimator, "responses": glm.nobs, "AIC": glm.aic}
        row |= {"cells": len(glm.cells), "cells_all_right": glm.cells["failures"].eq(0).sum()}
        row |= {"cells_all_wrong": glm.cells["successes"].eq(0).sum()}
        for term in TERMS:
            row |= {term + suffix: values[term] for suffix, values in coefficients.items()}
        thresholds = projections(glm)
        row |= {name: getattr(thresholds, name).value for name in LOAD_OF}
        row |= {"NT50_status": thresholds.NT50.status}
        rows.append(row | {"problems": "; ".join(dict.fromkeys(glm.problems.values()))})
    return pd.DataFrame(rows)


def projections(glm: LoadGLM, means: LoadMeans | None = None) -> Thresholds:
    """Return a GLM's thresholds if its cells are a grid, and none otherwise.

    A few lines through the loads are no grid, and have no projection. `means` as for
    `LoadGLM.thresholds`; where these can't be taken, the note says why.
    """
    if not covers_grid(glm.cells):
        return Thresholds(*3 * [Threshold(note="the cells are no grid")])
    try:
        return glm.thresholds(means)
    except ValueError as error:
        return Thresholds(*3 * [Threshold(note=str(error))])


def threshold_table(glms: dict[str, LoadGLM]) -> pd.DataFrame:
    """Return each model's projections with interval, method and note, a row a threshold.

    Models whose cells are no grid have none. The other loads are at the means of the cells.
    """
    rows = []
    for model, glm in glms.items():
        if not covers_grid(glm.cells):
            continue
        thresholds = glm.thresholds()
        for name, load in LOAD_OF.items():
            tested = {f"{end}_tested": getattr(glm.cells[load], end)() for end in ("min", "max")}
            threshold = vars(getattr(thresholds, name))
            about = {"model": model, "threshold": name, "meaning": PROJECTION}
            rows.append(about | threshold | tested)
    return pd.DataFrame(rows)


def crossing_table(capacities: Mapping[str, Capacity]) -> pd.DataFrame:
    """Return each model's crossings in the columns of `threshold_table`.

    The other loads are at the means of the paper's grid.
    """
    rows = []
    for model, capacity in capacities.items():
        for name in LOAD_OF:
            low, high = ends_asked(capacity, name)
            about = {"model": model, "threshold": name, "meaning": CROSSING}
            tested = {"min_tested": low, "max_tested": high}
            rows.append(about | vars(getattr(capacity, name)) | tested)
    return pd.DataFrame(rows)


def ends_asked(capacity: Capacity, threshold: str) -> tuple[float, float]:
    """Return the least and the largest load that was or can be asked, where a crossing is known."""
    return {"ECL50": capacity.asked_N, "ID50": capacity.asked_d, "NT50": (0, 1)}[threshold]


def meaning_table(glms: Mapping[str, LoadGLM], capacities: Mapping[str, Capacity]) -> pd.DataFrame:
    """Return both meanings of each model's thresholds at the means of the paper's grid.

    Columns: model, threshold, crossing, crossing_low, crossing_high, projection, projection_low,
    projection_high, min_tested and max_tested (between which a crossing is known), difference (of
    the crossing from the projection: a share of ECL50, else in the threshold's unit) and note (why
    there is no projection). NaN where there is none; a crossing outside has no difference.
    """
    rows = []
    for model, glm in glms.items():
        thresholds = projections(glm, PAPER_MEANS)
        for name in LOAD_OF:
            crossing, projection = (getattr(of, name) for of in (capacities[model], thresholds))
            row: dict[str, float | str] = {"model": model, "threshold": name}
            for meaning, found in ((CROSSING, crossing), (PROJECTION, projection)):
                row |= {meaning: found.value}
                row |= {f"{meaning}_{end}": getattr(found, end) for end in ("low", "high")}
            low, high = ends_asked(capacities[model], name)
            inside = low <= crossing.value <= high
            difference = crossing.value - projection.value if inside else np.nan
            if name == "ECL50" and np.isfinite(difference):
                difference /= projection.value
            row |= {"min_tested": low, "max_tested": high}
            row |= {"difference": difference if np.isfinite(difference) else np.nan}
            rows.append(row | {"note": "" if covers_grid(glm.cells) else "no grid"})
    return pd.DataFrame(rows)


def fit_table(glms: Mapping[str, LoadGLM]) -> pd.DataFrame:
    """Return how well each model's GLM fits, by model.

    Columns: model, miss (points), where, sampling_error (points), and those of `compare_fits`.
    """
    rows = []
    for model, glm in glms.items():
        fit = goodness_of_fit(glm)
        row = {"model": model, "miss": fit.miss, "where": fit.where}
        rows.append(row | {"sampling_error": fit.sampling_error} | compare_fits(glm))
    return pd.DataFrame(rows)


def aic_table(comparisons: dict[str, RhoComparison]) -> pd.DataFrame:
    """Return each model's `RhoComparison`, by model. Table 6."""
    return pd.DataFrame([{"model": model} | vars(each) for model, each in comparisons.items()])


def interaction_table(interactions: dict[str, InteractionGLM]) -> pd.DataFrame:
    """Return each model's `InteractionGLM`, by model. Table 3."""
    rows = []
    for model, fit in interactions.items():
        row = {"model": model}
        for term in INTERACTIONS:
            row |= {term: fit.params[term], term.replace("beta", "p"): fit.p_LR[term]}
        rows.append(row | {"problem": fit.problem})
    return pd.DataFrame(rows)


def ranking_table(
    glms: dict[str, LoadGLM], capacities: Mapping[str, Capacity] | None = None
) -> pd.DataFrame:
    """Return the published models and the new ones of `glms`, in both meanings of ECL50.

    New models are held at the means of the paper's grid, as the published ones are. `rank` is by
    the projection and `crossing_rank` by the crossing, which orders the rows where it is known. A
    new model whose puzzles don't cover the paper's d and N has neither, and stands last; `note`
    says so, and why a model has no projection. Columns besides: model, source, ECL50, low, high
    (the projection), crossing, crossing_low, crossing_high, min_tested and max_tested (N).
    """
    known = capacities or {}
    rows = [_rank(model, glm, known.get(model)) for model, glm in glms.items()]
    published = published_table("glm")[["model", "ECL50"]].assign(source="published", note="")
    published["crossing"] = published["model"].map(published_crossings())
    printed = published["ECL50"].between(*CROSSINGS_KNOWN)
    published["crossing"] = published["crossing"].where(printed)
    published["covers"] = True
    table = pd.concat([pd.DataFrame(rows), published], ignore_index=True)
    covers = table.pop("covers").astype(bool)
    projection, crossing = (table[name].where(covers) for name in ("ECL50", "crossing"))
    table.insert(0, "rank", projection.rank(ascending=False, method="min"))
    table.insert(1, "crossing_rank", crossing.rank(ascending=False, method="min"))
    order = crossing.fillna(projection).sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)


def _rank(model: str, glm: LoadGLM, capacity: Capacity | None) -> dict[str, float | str]:
    threshold = projections(glm, PAPER_MEANS).ECL50
    crossing = capacity.ECL50 if capacity else Threshold()
    low, high = ends_asked(capacity, "ECL50") if capacity else (np.nan, np.nan)
    covers = covers_paper(glm.cells)
    return {
        "model": model,
        "source": "this report",
        "ECL50": threshold.value,
        "low": threshold.low,
        "high": threshold.high,
        "crossing": crossing.value,
        "crossing_low": crossing.low,
        "crossing_high": crossing.high,
        "min_tested": low,
        "max_tested": high,
        "note": "; ".join(filter(None, [threshold.note, "" if covers else UNCOVERED])),
        "covers": covers,
    }


@lru_cache(maxsize=1)
def published_crossings() -> dict[str, float]:
    """Return the crossing of each published model whose curve with a floor is known, by model."""
    curves = published_curves()
    curves = curves[np.isclose(curves["floor"], FLOOR)].set_index("model")
    return {
        str(model): curve_crossing(PublishedCurve(row.to_numpy(dtype=float), Link(), solved=True))
        for model, row in curves[list(CURVE_COEFFICIENTS)].iterrows()
    }


# --- In print --------------------------------------------------------------------------------


def format_outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """Set `outcome_table` in print, as Tables 4 and 5."""
    knob = table.columns[1]
    columns = {"Model": table["model"], knob: table[knob], "Samples": table["samples"]}
    columns["Acc [%]"] = table["accuracy_percent"].round().astype(int)
    columns |= {outcome.replace("_", "-"): table[outcome] for outcome in WRONG_OUTCOMES}
    return pd.DataFrame(columns).astype(str)


def format_token_table(table: pd.DataFrame) -> pd.DataFrame:
    """Set `token_table` of one N in print, as Tables 7 to 10: P mean[p90] | O mean[p90]."""
    prompt, output = (format_tokens(table, name) for name in ("prompt_tokens", "response_tokens"))
    cells = table.assign(cell="P" + prompt + " | O" + output)
    shown = cells.pivot(index="model", columns="d", values="cell").fillna("--")
    return shown.rename(columns="d = {:g}".format).reset_index(names="Model")


def format_glm(table: pd.DataFrame) -> pd.DataFrame:
    """Set `glm_table` in print, as Table 2; a missing NT50 has the side of 50 % it stays on."""
    columns = {"Model": table["model"]}
    for term, heading in COEFFICIENTS.items():
        columns[heading] = format_number(table[term], 2) + table[f"{term}_p"].map(stars)
    for name, decimals in DECIMALS.items():
        columns[name] = format_number(table[name], decimals)
    side = table["NT50_status"].str.extract("always (above|below)")[0]
    columns["NT50"] = columns["NT50"].where(side.isna(), "-- (" + side + ")")
    names = {name: f"{name} ({PROJECTION})" for name in DECIMALS}
    return pd.DataFrame(columns).rename(columns=names)


def format_thresholds(table: pd.DataFrame) -> pd.DataFrame:
    """Set `threshold_table` in print."""
    decimals = table["threshold"].map(DECIMALS)
    found = table["value"].notna()
    crossing = table["meaning"] == CROSSING
    value, interval = format_found(table, ("value", "low", "high"), decimals, crossing)
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Threshold": table["threshold"] + " (" + table["meaning"] + ")",
            "Estimate": value.where(found, table["status"]),
            "95 % interval": interval,
            "Method": format_words(table["method"]).where(found, "--"),
            "Note": format_words(table["note"]),
        }
    )


def format_found(
    table: pd.DataFrame, names: Sequence[str], decimals: pd.Series, crossing: pd.Series | bool
) -> tuple[pd.Series, pd.Series]:
    """Set thresholds and their intervals in print; `names` are the columns of value, low and high.

    A crossing is known within `min_tested` and `max_tested`, and said to lie beyond them; a
    projection goes as far as its line.
    """
    known = np.broadcast_to(crossing, len(table))
    asked = [table[f"{end}_tested"].where(known) for end in ("min", "max")]
    value, low, high = (format_within(table[name], decimals, *asked) for name in names)
    return value, (low + " to " + high).where(low != "--", "--")


def format_aic(table: pd.DataFrame) -> pd.DataFrame:
    """Set `aic_table` in print, as Table 6."""
    return pd.DataFrame(
        {
            "Model": table["model"],
            "p": format_number(table["p_LR"], 3),
            "AIC, linear": format_number(table["aic_linear"], 3),
            "AIC, quadratic": format_number(table["aic_quadratic"], 3),
        }
    )


def format_interactions(table: pd.DataFrame) -> pd.DataFrame:
    """Set `interaction_table` in print, as Table 3."""
    columns = {"Model": table["model"]}
    for term, loads in INTERACTING.items():
        p = table[term.replace("beta", "p")]
        columns[f"β {loads}"] = format_number(table[term], 2)
        columns[f"p {loads}"] = p.map("{:.3g}".format).where(p.notna(), "--") + p.map(stars)
    return pd.DataFrame(columns)


def format_meanings(table: pd.DataFrame) -> pd.DataFrame:
    """Set `meaning_table` in print."""
    decimals = table["threshold"].map(DECIMALS)
    columns = {"Model": table["model"], "Threshold": table["threshold"]}
    for meaning in (CROSSING, PROJECTION):
        names = [f"{meaning}{end}" for end in ("", "_low", "_high")]
        value, interval = format_found(table, names, decimals, meaning == CROSSING)
        columns |= {meaning.capitalize(): value, f"{meaning} 95 %": interval}
    differences = zip(table["threshold"], table["difference"], strict=True)
    said = [say_difference(*each) for each in differences]
    return pd.DataFrame(columns).assign(Difference=said).astype(str)


def say_difference(threshold: str, difference: float) -> str:
    """Set the difference of the crossing from the projection in print, with its sign."""
    if np.isnan(difference):
        return "--"
    return f"{100 * difference:+.0f} %" if threshold == "ECL50" else f"{difference:+.2f}"


def format_fit(table: pd.DataFrame) -> pd.DataFrame:
    """Set `fit_table` in print."""
    p = table["p"]
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Miss [points]": format_number(table["miss"], 1),
            "at": format_words(table["where"]),
            "Sampling error": format_number(table["sampling_error"], 1),
            "χ², GLM": format_number(table["plain"], 1) + p.map(stars),
            "χ², with floor": format_number(table["floor"], 1),
            "χ², with both": format_number(table["both"], 1),
            "df": format_number(table["degrees"], 0),
            "p, GLM": p.map("{:.3g}".format).where(p.notna(), "--"),
        }
    ).astype(str)


def format_ranking(table: pd.DataFrame) -> pd.DataFrame:
    """Set `ranking_table` in print."""
    columns = {"Model": table["model"]}
    decimals = pd.Series(DECIMALS["ECL50"], table.index)
    for meaning, names, rank in (
        (PROJECTION, ("ECL50", "low", "high"), "rank"),
        (CROSSING, ("crossing", "crossing_low", "crossing_high"), "crossing_rank"),
    ):
        value, interval = format_found(table, names, decimals, meaning == CROSSING)
        columns[f"Rank ({meaning})"] = format_number(table[rank], 0)
        columns[f"ECL50 ({meaning})"] = value
        columns[f"95 % ({meaning})"] = interval
    columns |= {"From": table["source"], "Note": format_words(table["note"])}
    return pd.DataFrame(columns)

"""Stage 4: the paper's tables, as frames of raw numbers and in the paper's print."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from cogniload_analysis.glm import INTERACTIONS, TERMS, InteractionGLM, LoadGLM, RhoComparison
from cogniload_analysis.published import PAPER_MEANS, published_table
from cogniload_analysis.thresholds import Threshold

THRESHOLDS = ("ECL50", "NT50", "ID50")
DECIMALS = {"ECL50": 1, "NT50": 2, "ID50": 2}
# The columns of Tables 4 and 5, in the paper's order.
WRONG_OUTCOMES = {
    "ctx": "wrong_max_context",
    "valid_logic": "wrong_logic",
    "poi_logic": "wrong_logic_poi",
    "last_logic": "wrong_logic_last_sentence",
    "other": "wrong_other",
}
# The knobs of both benchmarks, with their headings; rho is a fraction in numbers, but not in print.
KNOBS = {
    "d": "d",
    "suite": "Suite",
    "N": "N",
    "rho": "ρ",
    "rho_percent": "ρ [%]",
    "context": "Context",
    "noise": "Noise",
}
# Headings in print, and what LaTeX sets for them.
HEADINGS = {
    "β0": r"$\beta_0$",
    "βd": r"$\beta_d$",
    "βN": r"$\beta_N$",
    "βρ": r"$\beta_\rho$",
    "βρ²": r"$\beta_{\rho^2}$",
    "β d×N": r"$\beta_{d \times N}$",
    "β d×ρ": r"$\beta_{d \times \rho}$",
    "β N×ρ": r"$\beta_{N \times \rho}$",
    "β d×N×ρ": r"$\beta_{d \times N \times \rho}$",
    "p d×N": r"$p_{LR}(d \times N)$",
    "p d×ρ": r"$p_{LR}(d \times \rho)$",
    "p N×ρ": r"$p_{LR}(N \times \rho)$",
    "p d×N×ρ": r"$p_{LR}(d \times N \times \rho)$",
    "p": r"$p_{LR}$",
    "ρ [%]": r"$\rho$ [\%]",
    "Acc [%]": r"Acc [\%]",
    "d": "$d$",
    "N": "$N$",
    "ECL50": r"ECL$_{50}$",
    "NT50": r"NT$_{50}$",
    "ID50": r"ID$_{50}$",
    "R²": "$R^2$",
    "t": "$t$",
    "k": "$k$",
    "b": "$b$",
    "Neff": r"$N_{\mathrm{eff}}$",
    "Nclean": r"$N_{\mathrm{clean}}$",
    "Neff, 95 %": r"$N_{\mathrm{eff}}$, 95\,\%",
    "CDF, 95 %": r"CDF, 95\,\%",
    "CDO, 95 %": r"CDO, 95\,\%",
    "By CDF [%]": r"By CDF [\%]",
    "By CDO [%]": r"By CDO [\%]",
    "95 % interval": r"95\,\% interval",
    "90 % interval": r"90\,\% interval",
}


# --- Raw numbers -----------------------------------------------------------------------------


def run_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what was run: a row for each model, task and date with its grid and its seeds."""
    knobs = [knob for knob in KNOBS if knob in frame]
    runs = frame.groupby(
        ["model", "task", "date", "generator_version", "lm_eval_version", "decoding"], observed=True
    )
    rows = []
    for run, responses in runs:
        cell = responses.groupby(knobs, observed=True).size()
        levels = {knob: sorted(responses[knob].unique()) for knob in knobs}
        if "rho" in levels:
            levels["rho_percent"] = [100 * rho for rho in levels.pop("rho")]
        rows.append(
            dict(zip(runs.keys, run, strict=True))
            | {"context_budget": _join(sorted(responses["context_budget"].dropna().unique()))}
            | {"seed": _join(sorted(responses["seed"].dropna().unique()))}
            | {knob: _join(values) for knob, values in levels.items()}
            | {"responses": len(responses), "cells": len(cell)}
            | {"fewest_in_a_cell": cell.min(), "most_in_a_cell": cell.max()}
        )
    return pd.DataFrame(rows)


def cell_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the count of every outcome in each cell of each model: (d, N, rho), or FACTOR's."""
    keys = ["model", *(knob for knob in KNOBS if knob in frame)]
    counts = pd.crosstab([frame[key] for key in keys], frame["outcome"])
    return counts.reindex(columns=frame["outcome"].cat.categories, fill_value=0).reset_index()


def accuracy_table(frame: pd.DataFrame, *knobs: str) -> pd.DataFrame:
    """Return the accuracy of each model, at each level of `knobs`, with Wilson's 90 % interval.

    Columns: model, the knobs, correct, responses, accuracy, low and high (0 to 1). Appendix C.
    """
    groups = frame.groupby(["model", *knobs], observed=True)["correct"]
    table = groups.agg(correct="sum", responses="size").reset_index()
    low, high = proportion_confint(table["correct"], table["responses"], alpha=0.1, method="wilson")
    return table.assign(accuracy=table["correct"] / table["responses"], low=low, high=high)


def outcome_table(frame: pd.DataFrame, knob: str) -> pd.DataFrame:
    """Return the count of each wrong outcome by model and level of `knob`, "d" or "N".

    Columns as those of the published Tables 4 and 5, with the accuracy unrounded. Appendix E.
    """
    counts = pd.crosstab([frame["model"], frame[knob]], frame["outcome"])
    counts = counts.reindex(columns=frame["outcome"].cat.categories, fill_value=0)
    samples = counts.sum(axis=1)
    wrong = counts[list(WRONG_OUTCOMES.values())].set_axis(list(WRONG_OUTCOMES), axis=1)
    # The product comes first: a half is then exact, and rounds to even as in the paper.
    accuracy = 100 * (samples - wrong.sum(axis=1)) / samples
    columns = {"samples": samples, "accuracy_percent": accuracy}
    return pd.concat([pd.DataFrame(columns), wrong], axis=1).reset_index()


def token_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 90th percentile of prompt and response tokens by model, N and d.

    Without the cells that have no counts. Appendix H.
    """
    groups = frame.groupby(["model", "N", "d"], observed=True)
    columns = {}
    for tokens in ("prompt_tokens", "response_tokens"):
        columns[f"{tokens}_mean"] = groups[tokens].mean()
        columns[f"{tokens}_p90"] = groups[tokens].quantile(0.9)
    return pd.DataFrame(columns).dropna(how="all").reset_index()


def glm_table(glms: dict[str, LoadGLM]) -> pd.DataFrame:
    """Return the coefficients and thresholds of each model's `LoadGLM`, by model. Table 2."""
    rows = []
    for model, glm in glms.items():
        coefficients = {
            "": glm.params,
            "_se": glm.bse,
            "_p": glm.pvalues,
            "_low": glm.conf_int()["low"],
            "_high": glm.conf_int()["high"],
        }
        row = {"model": model, "estimator": glm.estimator, "responses": glm.nobs, "AIC": glm.aic}
        row |= {"cells": len(glm.cells), "cells_all_right": glm.cells["failures"].eq(0).sum()}
        row |= {"cells_all_wrong": glm.cells["successes"].eq(0).sum()}
        for term in TERMS:
            row |= {term + suffix: values[term] for suffix, values in coefficients.items()}
        thresholds = glm.thresholds()
        row |= {name: getattr(thresholds, name).value for name in THRESHOLDS}
        row |= {"NT50_status": thresholds.NT50.status}
        rows.append(row | {"problems": "; ".join(dict.fromkeys(glm.problems.values()))})
    return pd.DataFrame(rows)


def threshold_table(glms: dict[str, LoadGLM]) -> pd.DataFrame:
    """Return each model's three thresholds with interval, method and note, a row a threshold."""
    rows = []
    for model, glm in glms.items():
        thresholds = vars(glm.thresholds())
        for (name, threshold), knob in zip(thresholds.items(), ("N", "rho", "d"), strict=True):
            tested = {f"{end}_tested": getattr(glm.cells[knob], end)() for end in ("min", "max")}
            rows.append({"model": model, "threshold": name} | vars(threshold) | tested)
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


def ranking_table(glms: dict[str, LoadGLM]) -> pd.DataFrame:
    """Return the published models and those of `glms`, ranked by ECL50.

    New models are held at the means of the paper's grid, so that all are held at the same loads.
    Those without an ECL50 come last, with the reason in `note`.
    """
    rows = [{"model": model, "source": "this report"} | _rank(glm) for model, glm in glms.items()]
    published = published_table("glm")[["model", "ECL50"]].assign(source="published", note="")
    table = pd.concat([pd.DataFrame(rows), published], ignore_index=True)
    table = table.sort_values("ECL50", ascending=False, kind="stable", ignore_index=True)
    table.insert(0, "rank", table["ECL50"].rank(ascending=False, method="min"))
    return table


def _rank(glm: LoadGLM) -> dict[str, float | str]:
    try:
        threshold = glm.thresholds(PAPER_MEANS).ECL50
    except ValueError as error:
        threshold = Threshold(note=str(error))
    return {
        "ECL50": threshold.value,
        "low": threshold.low,
        "high": threshold.high,
        "note": threshold.note,
    }


# --- In print --------------------------------------------------------------------------------


def print_runs(table: pd.DataFrame) -> pd.DataFrame:
    """Set `run_table` in print."""
    fewest, most = table["fewest_in_a_cell"], table["most_in_a_cell"]
    per_cell = fewest.astype(str).where(fewest == most, fewest.astype(str) + "–" + most.astype(str))
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Task": table["task"],
            "Run": table["date"].str.slice(0, 10),
            "Generator": print_words(table["generator_version"]),
            "lm-eval": print_words(table["lm_eval_version"]),
            "Decoding": print_words(table["decoding"]),
            "Budget": print_words(table["context_budget"]),
            "Seed": print_words(table["seed"]),
        }
        | {KNOBS[knob]: table[knob] for knob in KNOBS if knob in table and knob != "suite"}
        | {"Cells": table["cells"], "Per cell": per_cell, "Responses": table["responses"]}
    ).astype(str)


def print_accuracy(table: pd.DataFrame) -> pd.DataFrame:
    """Set `accuracy_table` in print, in percent."""
    table = table.assign(rho_percent=100 * table["rho"]) if "rho" in table else table
    return pd.DataFrame(
        {"Model": table["model"]}
        | {
            KNOBS[knob]: print_knob(table[knob])
            for knob in KNOBS
            if knob in table and knob != "rho"
        }
        | {
            "Acc [%]": (100 * table["accuracy"]).map("{:.1f}".format),
            "90 % interval": print_interval(100 * table["low"], 100 * table["high"], 1),
            "Right": table["correct"],
            "Responses": table["responses"],
        }
    ).astype(str)


def print_knob(levels: pd.Series) -> pd.Series:
    """Set the levels of a knob in print: contexts in thousands of tokens, names as they are."""
    if levels.name == "context":
        return levels.map(print_context)
    return levels.map(lambda level: level if isinstance(level, str) else f"{level:g}").astype(str)


def print_context(tokens: float) -> str:
    """Set a context length in print, as in 4K."""
    return f"{tokens / 1000:g}K" if tokens >= 1000 else f"{tokens:g}"


def print_outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """Set `outcome_table` in print, as Tables 4 and 5."""
    knob = table.columns[1]
    columns = {"Model": table["model"], knob: table[knob], "Samples": table["samples"]}
    columns["Acc [%]"] = table["accuracy_percent"].round().astype(int)
    columns |= {outcome.replace("_", "-"): table[outcome] for outcome in WRONG_OUTCOMES}
    return pd.DataFrame(columns).astype(str)


def print_tokens(table: pd.DataFrame) -> pd.DataFrame:
    """Set `token_table` of one N in print, as Tables 7 to 10: P mean[p90] | O mean[p90]."""
    cells = table.assign(
        cell=_token_count(table, "P", "prompt_tokens")
        + " | "
        + _token_count(table, "O", "response_tokens")
    )
    shown = cells.pivot(index="model", columns="d", values="cell").fillna("--")
    return shown.rename(columns="d = {:g}".format).reset_index(names="Model")


def print_glm(table: pd.DataFrame) -> pd.DataFrame:
    """Set `glm_table` in print, as Table 2; a missing NT50 says on which side of 50 % it is."""
    columns = {"Model": table["model"]}
    for heading, term in zip(list(HEADINGS)[:5], TERMS, strict=True):
        columns[heading] = print_number(table[term], 2) + table[f"{term}_p"].map(stars)
    for name in THRESHOLDS:
        columns[name] = print_number(table[name], DECIMALS[name])
    side = table["NT50_status"].str.extract("always (above|below)")[0]
    columns["NT50"] = columns["NT50"].where(side.isna(), "-- (" + side + ")")
    return pd.DataFrame(columns)


def print_thresholds(table: pd.DataFrame) -> pd.DataFrame:
    """Set `threshold_table` in print."""
    decimals = table["threshold"].map(DECIMALS)
    found = table["value"].notna()
    value = [_digits(*each) for each in zip(table["value"], decimals, strict=True)]
    ends = zip(table["low"], table["high"], decimals, strict=True)
    interval = [f"{_digits(low, places)} to {_digits(high, places)}" for low, high, places in ends]
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Threshold": table["threshold"],
            "Estimate": pd.Series(value).where(found, table["status"]),
            "95 % interval": pd.Series(interval).where(found, "--"),
            "Method": print_words(table["method"]).where(found, "--"),
            "Note": print_words(table["note"]),
        }
    )


def print_aic(table: pd.DataFrame) -> pd.DataFrame:
    """Set `aic_table` in print, as Table 6."""
    return pd.DataFrame(
        {
            "Model": table["model"],
            "p": print_number(table["p_LR"], 3),
            "AIC, linear": print_number(table["aic_linear"], 3),
            "AIC, quadratic": print_number(table["aic_quadratic"], 3),
        }
    )


def print_interactions(table: pd.DataFrame) -> pd.DataFrame:
    """Set `interaction_table` in print, as Table 3."""
    columns = {"Model": table["model"]}
    for term, loads in zip(INTERACTIONS, ("d×N", "d×ρ", "N×ρ", "d×N×ρ"), strict=True):
        p = table[term.replace("beta", "p")]
        columns[f"β {loads}"] = print_number(table[term], 2)
        columns[f"p {loads}"] = p.map("{:.3g}".format).where(p.notna(), "--") + p.map(stars)
    return pd.DataFrame(columns)


def print_ranking(table: pd.DataFrame) -> pd.DataFrame:
    """Set `ranking_table` in print."""
    known = table["low"].notna()
    return pd.DataFrame(
        {
            "Rank": table["rank"].map("{:.0f}".format).where(table["rank"].notna(), "--"),
            "Model": table["model"],
            "ECL50": print_number(table["ECL50"], 1),
            "95 % interval": print_interval(table["low"], table["high"], 1).where(known, "--"),
            "From": table["source"],
            "Note": print_words(table["note"]),
        }
    )


def stars(p: float) -> str:
    """Return the paper's stars of significance."""
    return "*" * sum(p < level for level in (0.001, 0.01, 0.05))


LATEX = {
    "%": r"\%",
    "ρ²": r"$\rho^2$",
    "ρ": r"$\rho$",
    "×": r"$\times$",
    "−": "$-$",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "Neff": r"$N_{\mathrm{eff}}$",
    "Nclean": r"$N_{\mathrm{clean}}$",
}


def to_latex(shown: pd.DataFrame, caption: str, label: str) -> str:
    """Return a printed table as a LaTeX table with booktabs' rules, over pages where it is long."""
    return (
        shown.rename(columns=lambda heading: HEADINGS.get(heading, heading))
        .style.hide(axis="index")
        .format(escape="latex")
        .to_latex(
            hrules=True,
            caption=_latex_text(caption),
            label=f"tab:{label}",
            column_format="l" + "r" * (shown.shape[1] - 1),
            environment="longtable" if len(shown) > 40 else None,
            position=None if len(shown) > 40 else "htbp",
        )
    )


def _latex_text(text: str) -> str:
    """A caption as LaTeX takes it."""
    for plain, latex in LATEX.items():
        text = text.replace(plain, latex)
    return text


def _join(levels: Iterable[float | str]) -> str:
    """The levels of a knob as text: all of them, or the ends of what runs without a gap."""
    texts = [level if isinstance(level, str) else _print_level(level) for level in levels]
    if len(texts) > 3 and all(map(str.isdecimal, texts)):
        first, last = int(texts[0]), int(texts[-1])
        if texts == list(map(str, range(first, last + 1))):
            return f"{first}–{last}"
    return " ".join(texts)


def _print_level(level: float) -> str:
    """A seed with all its digits; a percentage without the last ones, which rounding makes."""
    return f"{level:.0f}" if level == int(level) else f"{level:.10g}"


def print_words(values: pd.Series) -> pd.Series:
    """The words of a column; a column without any comes back from CSV as NaN."""
    return values.map(lambda value: value if isinstance(value, str) else "").astype(object)


def _digits(value: float, decimals: int) -> str:
    if np.isinf(value):
        return "unbounded"
    return f"{value:.{decimals}f}" if abs(value) < 1e6 else f"{value:.1e}"


def print_number(values: pd.Series, decimals: int) -> pd.Series:
    """Set numbers in print; a missing one is a dash."""
    return values.map(lambda value: "--" if np.isnan(value) else _digits(value, decimals))


def print_interval(low: pd.Series, high: pd.Series, decimals: int) -> pd.Series:
    """Set intervals in print."""
    return print_number(low, decimals) + " to " + print_number(high, decimals)


def _token_count(table: pd.DataFrame, letter: str, tokens: str) -> pd.Series:
    mean, p90 = (print_number(table[f"{tokens}_{kind}"], 0) for kind in ("mean", "p90"))
    return letter + mean + "[" + p90 + "]"

"""FACTOR, stage 5: its tables, as frames of raw numbers and as the paper prints them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display.print import (
    count_outcomes,
    describe_tokens,
    format_interval,
    format_loads,
    format_number,
    format_tokens,
    format_words,
)
from cogniload_analysis.factor.decay import (
    ACCURACY_RANGES,
    CONDITION,
    ComplexityDecay,
    Condition,
    Method,
    by_condition,
    fit_complexity_decay,
)
from cogniload_analysis.factor.loads import LOADS, show_context
from cogniload_analysis.factor.modes import MIDDLE_N, name_failure_mode
from cogniload_analysis.factor.sampling import fit_repeated_sampling, n_eff_by_attempts
from cogniload_analysis.published import published_table
from cogniload_gen.factor.score import FactorOutcome

Decays = dict[Condition, ComplexityDecay]
HERE = "this report"
# What LaTeX sets for whole headings, and for words anywhere.
HEADINGS = {
    "R²": "$R^2$",
    "t": "$t$",
    "k": "$k$",
    "b": "$b$",
    "Neff": r"$N_{\mathrm{eff}}$",
    "Nclean": r"$N_{\mathrm{clean}}$",
    "Neff, 95 %": r"$N_{\mathrm{eff}}$, 95\,\%",
    "CDF, 95 %": r"CDF, 95\,\%",
    "CDO, 95 %": r"CDO, 95\,\%",
}
SYMBOLS = {"Neff": r"$N_{\mathrm{eff}}$", "Nclean": r"$N_{\mathrm{clean}}$"}


# --- Raw numbers -----------------------------------------------------------------------------


def fit_decays(
    frame: pd.DataFrame,
    method: Method = "likelihood",
    *,
    accuracy_range: tuple[float, float] = ACCURACY_RANGES["pretrained"],
) -> Decays:
    """Fit the decay of every (model, suite, context, noise), and return the fits by these."""
    return {
        condition: fit_complexity_decay(rows, method, accuracy_range=accuracy_range)
        for condition, rows in by_condition(frame)
    }


def decay_table(decays: Decays) -> pd.DataFrame:
    """Return each fit with its 95 % intervals, and the mean accuracy over its N (Figure 1b)."""
    rows = []
    for condition, decay in decays.items():
        row = _about(condition)
        row |= {"mean_accuracy": decay.points["accuracy"].mean()}
        ends = decay.conf_int()
        for name, value in (("CDF", decay.cdf), ("CDO", decay.cdo), ("N_eff", decay.n_eff)):
            low, high = ends.loc[name]
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        used = decay.points["N"][decay.points["used"]]
        row |= {"method": decay.method, "rsquared": decay.rsquared, "N_used": len(used)}
        row |= {"first_N": used.min(), "last_N": used.max()}
        row |= {"floor": decay.floor, "lapses": decay.lapses}
        row |= {"N_tested": len(decay.points), "min_N": decay.points["N"].min()}
        row |= {"max_N": decay.points["N"].max(), "problem": decay.problems.get("CDF", "")}
        rows.append(row | {"N_eff_problem": decay.problems.get("N_eff", ""), "note": decay.note})
    return pd.DataFrame(rows)


def context_series(decays: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Yield each (model, suite, noise) with its rows of `decay_table` by context.

    Runs without noise belong to every kind of noise that the model has in that suite.
    """
    for (model, suite), rows in decays.groupby(["model", "suite"], sort=True):
        for noise in sorted(set(rows["noise"]) - {"none"}) or ["none"]:
            yield (
                (str(model), str(suite), noise),
                rows[rows["noise"].isin([noise, "none"])].sort_values("context"),
            )


def mode_table(decays: pd.DataFrame) -> pd.DataFrame:
    """Return the failure mode of each (model, suite, noise), and of the published models.

    `decays` is `decay_table`'s. Section 4.2.
    """
    series: list[tuple[dict[str, str], pd.DataFrame, float]] = [
        ({"model": model, "suite": suite, "noise": noise, "source": HERE}, rows, _middle(rows))
        for (model, suite, noise), rows in context_series(decays)
    ]
    for name, source in (
        ("factor_by_context", "published, Tables 2 and 3"),
        ("factor_posttraining", "published, Tables 5 and 6"),
    ):
        for model, rows in published_table(name).groupby("model", sort=False):
            about = {"model": str(model), "suite": "symbolic", "noise": "filler", "source": source}
            series.append((about, rows, MIDDLE_N))
    return pd.DataFrame(
        about
        | {"contexts": len(rows), "min_context": rows["context"].min()}
        | {"max_context": rows["context"].max(), "N": N}
        | vars(name_failure_mode(rows["context"], rows["CDF"], rows["CDO"], N=N))
        for about, rows, N in series
    )


def zero_context_table(decays: pd.DataFrame) -> pd.DataFrame:
    """Return CDF, CDO and N_eff without filler in the symbolic suite, the highest N_eff first.

    With the published models of Table 1 and the trained ones of Table 4.
    """
    mine = decays[(decays["suite"] == "symbolic") & (decays["context"] == 0)]
    mine = mine[["model", "CDF", "CDO", "N_eff", "N_eff_low", "N_eff_high"]]
    tables = [mine.assign(source=HERE)]
    for name, source in (
        ("factor_zero_context", "published, Table 1"),
        ("factor_pretraining", "published, Table 4"),
    ):
        published = published_table(name)[["model", "CDF", "CDO", "N_eff"]]
        tables.append(published.assign(source=source))
    table = pd.concat(tables, ignore_index=True)
    return table.sort_values("N_eff", ascending=False, kind="stable", ignore_index=True)


def by_context_table(decays: pd.DataFrame) -> pd.DataFrame:
    """Return CDF and CDO by context in the symbolic suite, with those of Tables 2, 3, 5 and 6."""
    mine = decays[decays["suite"] == "symbolic"].assign(source=HERE)
    tables = [mine[["model", "source", "context", "CDF", "CDO"]]]
    tables.append(published_table("factor_by_context").assign(source="published"))
    tables.append(published_table("factor_posttraining").assign(source="published, trained"))
    return pd.concat(tables, ignore_index=True)


def attempts_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `n_eff_by_attempts` of each model, suite, context and noise with several attempts.

    Empty, with its columns, where every puzzle was answered once.
    """
    tables = [
        n_eff_by_attempts(rows).assign(**_about(condition))
        for condition, rows in by_condition(frame)
        if rows.groupby("id", observed=True).size().min() > 1
    ]
    columns = n_eff_by_attempts(frame[:0]).columns
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)
    return table.reindex(columns=[*CONDITION, *columns])


def sampling_table(attempts: pd.DataFrame, n_clean: float | None = None) -> pd.DataFrame:
    """Return the regression of each condition's gap on the number of attempts, with Table 7's.

    The gap is to `n_clean`, as the paper's to the N_eff of a model trained on clean contexts; by
    default to the N_eff of the model's own single attempts without filler or noise. The column
    `given` says whether N_clean is another model's.
    """
    rows = []
    for condition, mine in by_condition(attempts):
        about = _about(condition)
        same = (attempts["model"] == about["model"]) & (attempts["suite"] == about["suite"])
        clean = same & (attempts["context"] == 0) & (attempts["t"] == 1)
        clean = attempts[clean & (attempts["problem"] == "")]["N_eff"]
        own = float(clean.iloc[0]) if about["context"] and len(clean) else np.nan
        goal = own if n_clean is None else n_clean
        fit = vars(fit_repeated_sampling(mine, goal))
        if about["context"] == 0 and n_clean is None:
            fit |= {"problem": "this is the clean context"}
        goals = {"N_clean": goal, "given": n_clean is not None}
        rows.append(about | {"attempts": mine["t"].max()} | goals | fit | {"source": HERE})
    published = published_table("factor_repeated_sampling").assign(
        model="Course", suite="symbolic", source="published, Table 7", problem="", given=True
    )
    published["noise"] = published["context"].map(lambda context: "filler" if context else "none")
    return pd.concat([pd.DataFrame(rows), published], ignore_index=True)


def response_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the count of each outcome and the tokens, by model, suite, context and noise."""
    counts = count_outcomes(frame, *CONDITION)
    tokens = describe_tokens(frame, *CONDITION)
    columns = {"responses": counts.sum(axis=1)} | dict(counts.items()) | dict(tokens.items())
    return pd.DataFrame(columns).reset_index()


def _about(condition: Condition) -> dict[str, Any]:
    """Return the columns that say of which condition a row is."""
    return dict(zip(CONDITION, condition, strict=True))


def _middle(rows: pd.DataFrame) -> float:
    """Return the middle of the N that were tested."""
    return float((rows["min_N"].min() + rows["max_N"].max()) / 2)


# --- In print --------------------------------------------------------------------------------


def format_decays(table: pd.DataFrame) -> pd.DataFrame:
    """Set `decay_table` of the likelihood in print."""
    window = table["first_N"].map("{:g}".format) + "–" + table["last_N"].map("{:g}".format)
    return pd.DataFrame(
        _format_estimates(table)
        | {"Window": window.where(table["N_used"] > 0, "--")}
        | {"Floor [%]": format_number((100 * table["floor"]).where(table["CDF"].notna()), 1)}
        | {"Lapses [%]": format_number((100 * table["lapses"]).where(table["CDF"].notna()), 1)}
        | {"Note": format_words(table["problem"].where(table["problem"] != "", table["note"]))}
    )


def format_lines(table: pd.DataFrame) -> pd.DataFrame:
    """Set `decay_table` of least squares in print."""
    used = table["N_used"].astype(str) + " of " + table["N_tested"].astype(str) + _flat(table)
    return pd.DataFrame(
        _format_estimates(table)
        | {"R²": format_number(table["rsquared"], 3)}
        | {"N used": used, "Note": format_words(table["problem"])}
    )


def format_modes(table: pd.DataFrame) -> pd.DataFrame:
    """Set `mode_table` in print."""
    first, last = table["min_context"].map(show_context), table["max_context"].map(show_context)
    contexts = first.where(first == last, first + "–" + last)
    mode = format_words(table["name"])
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Suite": table["suite"],
            "Noise": table["noise"],
            "Contexts": contexts,
            "Failure mode": mode.where(mode != "", format_words(table["problem"])),
            "By CDF [%]": format_number(100 * table["cdf_loss"], 0),
            "By CDO [%]": format_number(100 * table["cdo_loss"], 0),
            "From": table["source"],
        }
    )


def format_zero_context(table: pd.DataFrame) -> pd.DataFrame:
    """Set `zero_context_table` in print, as Tables 1 and 4."""
    return pd.DataFrame(
        {
            "Model": table["model"],
            "CDF": format_number(table["CDF"], 4),
            "CDO": format_number(table["CDO"], 4),
            "Neff": format_number(table["N_eff"], 2) + _mark(table),
            "95 % interval": _format_ends(table, "N_eff", 2),
            "From": table["source"],
        }
    )


def format_cdf_by_context(table: pd.DataFrame) -> pd.DataFrame:
    """Set the CDF of `by_context_table` in print, times 100, as Tables 2 and 5."""
    return _format_by_context(table, 100 * table["CDF"], 2)


def format_cdo_by_context(table: pd.DataFrame) -> pd.DataFrame:
    """Set the CDO of `by_context_table` in print, as Tables 3 and 6."""
    return _format_by_context(table, table["CDO"], 3)


def format_attempts(table: pd.DataFrame) -> pd.DataFrame:
    """Set `attempts_table` in print."""
    return pd.DataFrame(
        _format_condition(table)
        | {"t": table["t"].astype(str), "Acc [%]": format_number(100 * table["accuracy"], 1)}
        | {"CDF": format_number(table["CDF"], 4) + _flat(table)}
        | {"CDO": format_number(table["CDO"], 3)}
        | {"Neff": format_number(table["N_eff"], 2)}
        | {"95 % interval": format_interval(table["low"], table["high"], 2)}
        | {"Note": format_words(table["problem"])}
    )


def format_sampling(table: pd.DataFrame) -> pd.DataFrame:
    """Set `sampling_table` in print, as Table 7."""
    return pd.DataFrame(
        _format_condition(table)
        | {"k": format_number(table["k"], 4), "b": format_number(table["b"], 4)}
        | {"R²": format_number(table["rsquared"], 4)}
        | {"Nclean": format_number(table["N_clean"], 2), "From": table["source"]}
        | {"Note": format_words(table["problem"])}
    )


def format_responses(table: pd.DataFrame) -> pd.DataFrame:
    """Set `response_table` in print, tokens as mean[90th percentile]."""
    counts = {each.value.replace("_", "-"): table[each.value].astype(str) for each in FactorOutcome}
    return pd.DataFrame(
        _format_condition(table)
        | {"Responses": table["responses"].astype(str)}
        | counts
        | {"Prompt": format_tokens(table, "prompt_tokens")}
        | {"Output": format_tokens(table, "response_tokens")}
    )


def _format_condition(table: pd.DataFrame) -> dict[str, pd.Series]:
    return {"Model": table["model"]} | format_loads(
        table, [load for load in LOADS if load.name in CONDITION]
    )


def _format_estimates(table: pd.DataFrame) -> dict[str, pd.Series]:
    return (
        _format_condition(table)
        | {"Mean acc": format_number(table["mean_accuracy"], 3)}
        | {"CDF": format_number(table["CDF"], 4), "CDF, 95 %": _format_ends(table, "CDF", 4)}
        | {"CDO": format_number(table["CDO"], 3), "CDO, 95 %": _format_ends(table, "CDO", 3)}
        | {"Neff": format_number(table["N_eff"], 2) + _mark(table)}
        | {"Neff, 95 %": _format_ends(table, "N_eff", 2)}
    )


def _format_ends(table: pd.DataFrame, name: str, decimals: int) -> pd.Series:
    low, high = table[f"{name}_low"], table[f"{name}_high"]
    return format_interval(low, high, decimals).where(low.notna(), "--")


def _mark(table: pd.DataFrame) -> pd.Series:
    """Return a dagger for an N_eff without meaning, which the paper prints all the same."""
    meaningless = table["N_eff"].notna() & (table["CDO"] <= 0)
    return meaningless.map({True: "†", False: ""})


def _flat(table: pd.DataFrame) -> pd.Series:
    """Return a double dagger where `note` warns that the line is too flat."""
    return format_words(table["note"]).ne("").map({True: "‡", False: ""})


def _format_by_context(table: pd.DataFrame, values: pd.Series, decimals: int) -> pd.DataFrame:
    shown = table.assign(value=format_number(values, decimals))
    wide = shown.pivot(index=["model", "source"], columns="context", values="value")
    in_order = pd.MultiIndex.from_frame(table[["model", "source"]].drop_duplicates())
    wide = wide.reindex(in_order).fillna("--").rename(columns=show_context)
    wide = wide.reset_index().rename(columns={"model": "Model", "source": "From"})
    wide.columns.name = None
    return wide[["Model", *[name for name in wide if name not in {"Model", "From"}], "From"]]

"""FACTOR, stage 5: its tables, as frames of raw numbers and in the paper's print."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from cogniload_analysis.decay import CONDITION, ComplexityDecay, fit_complexity_decay
from cogniload_analysis.modes import MIDDLE_N, name_failure_mode
from cogniload_analysis.published import published_table
from cogniload_analysis.sampling import fit_repeated_sampling, n_eff_by_attempts
from cogniload_analysis.tables import (
    KNOBS,
    print_context,
    print_interval,
    print_knob,
    print_number,
    print_words,
)

Decays = dict[tuple[str, str, int, str], ComplexityDecay]
HERE = "this report"


# --- Raw numbers -----------------------------------------------------------------------------


def fit_decays(frame: pd.DataFrame) -> Decays:
    """Fit the decay of every model, suite, context and noise: by these four, in this order."""
    groups = frame.groupby(list(CONDITION), observed=True, sort=True)
    return {condition: fit_complexity_decay(rows) for condition, rows in groups}


def decay_table(decays: Decays) -> pd.DataFrame:
    """Return each fit with its 95 % intervals, and the mean accuracy over its N (Figure 1b)."""
    rows = []
    for condition, decay in decays.items():
        row = dict(zip(CONDITION, condition, strict=True))
        row |= {"mean_accuracy": decay.points["accuracy"].mean()}
        ends = decay.conf_int()
        for name, value in (("CDF", decay.cdf), ("CDO", decay.cdo), ("N_eff", decay.n_eff)):
            low, high = ends.loc[name]
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        row |= {"rsquared": decay.rsquared, "N_used": decay.points["used"].sum()}
        row |= {"N_tested": len(decay.points), "min_N": decay.points["N"].min()}
        row |= {"max_N": decay.points["N"].max(), "problem": decay.problems.get("CDF", "")}
        rows.append(row | {"N_eff_problem": decay.problems.get("N_eff", ""), "note": decay.note})
    return pd.DataFrame(rows)


def context_series(decays: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Yield each (model, suite, noise) with its rows of `decay_table` by context.

    What ran without noise belongs to every kind of noise that the model has in that suite.
    """
    for (model, suite), rows in decays.groupby(["model", "suite"], sort=True):
        for noise in sorted(set(rows["noise"]) - {"none"}) or ["none"]:
            yield (
                (model, suite, noise),
                rows[rows["noise"].isin([noise, "none"])].sort_values("context"),
            )


def mode_table(decays: pd.DataFrame) -> pd.DataFrame:
    """Return the failure mode of each (model, suite, noise), and of the published models.

    `decays` is `decay_table`'s. Section 4.2.
    """
    series = [
        ({"model": model, "suite": suite, "noise": noise, "source": HERE}, rows, _middle(rows))
        for (model, suite, noise), rows in context_series(decays)
    ]
    for name, source in (
        ("factor_by_context", "published, Tables 2 and 3"),
        ("factor_posttraining", "published, Tables 5 and 6"),
    ):
        for model, rows in published_table(name).groupby("model", sort=False):
            about = {"model": model, "suite": "symbolic", "noise": "filler", "source": source}
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
        n_eff_by_attempts(rows).assign(**dict(zip(CONDITION, condition, strict=True)))
        for condition, rows in frame.groupby(list(CONDITION), observed=True)
        if rows.groupby("id", observed=True).size().min() > 1
    ]
    columns = n_eff_by_attempts(frame[:0]).columns
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)
    return table.reindex(columns=[*CONDITION, *columns])


def sampling_table(attempts: pd.DataFrame) -> pd.DataFrame:
    """Return the regression of each condition's gap on the number of attempts, with Table 7's.

    The gap is to the N_eff of the model's own single attempts without filler or noise; the paper's
    is to that of a model trained on clean contexts.
    """
    rows = []
    for condition, mine in attempts.groupby(list(CONDITION), observed=True):
        about = dict(zip(CONDITION, condition, strict=True))
        same = (attempts["model"] == about["model"]) & (attempts["suite"] == about["suite"])
        clean = same & (attempts["context"] == 0) & (attempts["t"] == 1)
        clean = attempts[clean & (attempts["problem"] == "")]["N_eff"]
        n_clean = float(clean.iloc[0]) if about["context"] and len(clean) else np.nan
        fit = vars(fit_repeated_sampling(mine, n_clean))
        if about["context"] == 0:
            fit |= {"problem": "this is the clean context"}
        rows.append(
            about | {"attempts": mine["t"].max(), "N_clean": n_clean} | fit | {"source": HERE}
        )
    published = published_table("factor_repeated_sampling").assign(
        model="Course", suite="symbolic", source="published, Table 7", problem=""
    )
    published["noise"] = published["context"].map(lambda context: "filler" if context else "none")
    return pd.concat([pd.DataFrame(rows), published], ignore_index=True)


def response_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the count of each outcome and the tokens, by model, suite, context and noise."""
    groups = [frame[key] for key in CONDITION]
    counts = pd.crosstab(groups, frame["outcome"])
    counts = counts.reindex(columns=frame["outcome"].cat.categories, fill_value=0)
    tokens = frame.groupby(list(CONDITION), observed=True)
    columns = {"responses": counts.sum(axis=1)} | dict(counts.items())
    for name in ("prompt_tokens", "response_tokens"):
        columns[f"{name}_mean"] = tokens[name].mean()
        columns[f"{name}_p90"] = tokens[name].quantile(0.9)
    return pd.DataFrame(columns).reset_index()


def _middle(rows: pd.DataFrame) -> float:
    """The middle of the N that were tested."""
    return float((rows["min_N"].min() + rows["max_N"].max()) / 2)


# --- In print --------------------------------------------------------------------------------


def print_decays(table: pd.DataFrame) -> pd.DataFrame:
    """Set `decay_table` in print."""
    used = table["N_used"].astype(str) + " of " + table["N_tested"].astype(str) + _flat(table)
    return pd.DataFrame(
        _print_condition(table)
        | {"Mean acc": print_number(table["mean_accuracy"], 3)}
        | {"CDF": print_number(table["CDF"], 4), "CDF, 95 %": _print_ends(table, "CDF", 4)}
        | {"CDO": print_number(table["CDO"], 3), "CDO, 95 %": _print_ends(table, "CDO", 3)}
        | {"Neff": print_number(table["N_eff"], 2) + _mark(table)}
        | {"Neff, 95 %": _print_ends(table, "N_eff", 2), "R²": print_number(table["rsquared"], 3)}
        | {"N used": used, "Note": print_words(table["problem"])}
    )


def print_modes(table: pd.DataFrame) -> pd.DataFrame:
    """Set `mode_table` in print."""
    first, last = table["min_context"].map(print_context), table["max_context"].map(print_context)
    contexts = first.where(first == last, first + "–" + last)
    mode = print_words(table["name"])
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Suite": table["suite"],
            "Noise": table["noise"],
            "Contexts": contexts,
            "Failure mode": mode.where(mode != "", print_words(table["problem"])),
            "By CDF [%]": print_number(100 * table["cdf_loss"], 0),
            "By CDO [%]": print_number(100 * table["cdo_loss"], 0),
            "From": table["source"],
        }
    )


def print_zero_context(table: pd.DataFrame) -> pd.DataFrame:
    """Set `zero_context_table` in print, as Tables 1 and 4."""
    return pd.DataFrame(
        {
            "Model": table["model"],
            "CDF": print_number(table["CDF"], 4),
            "CDO": print_number(table["CDO"], 4),
            "Neff": print_number(table["N_eff"], 2) + _mark(table),
            "95 % interval": _print_ends(table, "N_eff", 2),
            "From": table["source"],
        }
    )


def print_cdf_by_context(table: pd.DataFrame) -> pd.DataFrame:
    """Set the CDF of `by_context_table` in print, times 100, as Tables 2 and 5."""
    return _print_by_context(table, 100 * table["CDF"], 2)


def print_cdo_by_context(table: pd.DataFrame) -> pd.DataFrame:
    """Set the CDO of `by_context_table` in print, as Tables 3 and 6."""
    return _print_by_context(table, table["CDO"], 3)


def print_attempts(table: pd.DataFrame) -> pd.DataFrame:
    """Set `attempts_table` in print."""
    return pd.DataFrame(
        _print_condition(table)
        | {"t": table["t"].astype(str), "Acc [%]": print_number(100 * table["accuracy"], 1)}
        | {"CDF": print_number(table["CDF"], 4) + _flat(table)}
        | {"CDO": print_number(table["CDO"], 3)}
        | {"Neff": print_number(table["N_eff"], 2)}
        | {"95 % interval": print_interval(table["low"], table["high"], 2)}
        | {"Note": print_words(table["problem"])}
    )


def print_sampling(table: pd.DataFrame) -> pd.DataFrame:
    """Set `sampling_table` in print, as Table 7."""
    return pd.DataFrame(
        _print_condition(table)
        | {"k": print_number(table["k"], 4), "b": print_number(table["b"], 4)}
        | {"R²": print_number(table["rsquared"], 4)}
        | {"Nclean": print_number(table["N_clean"], 2), "From": table["source"]}
        | {"Note": print_words(table["problem"])}
    )


def print_responses(table: pd.DataFrame) -> pd.DataFrame:
    """Set `response_table` in print, tokens as mean[90th percentile]."""
    outcomes = table.columns[table.columns.get_loc("responses") + 1 : -4]
    tokens = {
        heading: print_number(table[f"{name}_mean"], 0)
        + "["
        + print_number(table[f"{name}_p90"], 0)
        + "]"
        for heading, name in (("Prompt", "prompt_tokens"), ("Output", "response_tokens"))
    }
    counts = {outcome.replace("_", "-"): table[outcome].astype(str) for outcome in outcomes}
    return pd.DataFrame(
        _print_condition(table) | {"Responses": table["responses"].astype(str)} | counts | tokens
    )


def _print_condition(table: pd.DataFrame) -> dict[str, pd.Series]:
    knobs = {KNOBS[knob]: print_knob(table[knob]) for knob in CONDITION[1:]}
    return {"Model": table["model"]} | knobs


def _print_ends(table: pd.DataFrame, name: str, decimals: int) -> pd.Series:
    low, high = table[f"{name}_low"], table[f"{name}_high"]
    return print_interval(low, high, decimals).where(low.notna(), "--")


def _mark(table: pd.DataFrame) -> pd.Series:
    """A dagger for an N_eff without meaning: the paper prints it for a CDO of 0 or less, too."""
    meaningless = table["N_eff"].notna() & (table["CDO"] <= 0)
    return meaningless.map({True: "†", False: ""})


def _flat(table: pd.DataFrame) -> pd.Series:
    """A double dagger where `note` warns of the line."""
    return print_words(table["note"]).ne("").map({True: "‡", False: ""})


def _print_by_context(table: pd.DataFrame, values: pd.Series, decimals: int) -> pd.DataFrame:
    shown = table.assign(value=print_number(values, decimals))
    wide = shown.pivot(index=["model", "source"], columns="context", values="value")
    in_order = pd.MultiIndex.from_frame(table[["model", "source"]].drop_duplicates())
    wide = wide.reindex(in_order).fillna("--").rename(columns=print_context)
    wide = wide.reset_index().rename(columns={"model": "Model", "source": "From"})
    wide.columns.name = None
    return wide[["Model", *[name for name in wide if name not in {"Model", "From"}], "From"]]

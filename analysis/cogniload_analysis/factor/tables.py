"""FACTOR, stage 5: its tables, their raw numbers and how the paper prints them."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display import tables as cells
from cogniload_analysis.display.tables import (
    MODEL,
    accuracy_columns,
    count_outcomes,
    describe_tokens,
    load_columns,
)
from cogniload_analysis.display.toml_tables import read_tables
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
from cogniload_analysis.frame import Load
from cogniload_analysis.published import published_table
from cogniload_gen.factor.score import FactorOutcome

Decays = dict[Condition, ComplexityDecay]
HERE = "this report"
CONDITION_COLUMNS = {**MODEL, **load_columns([load for load in LOADS if load.name in CONDITION])}


def mark_n_eff(n_eff: float, cdo: float) -> str:
    """Set an N_eff, with a dagger if it has no meaning, as the paper prints it all the same."""
    return cells.set_number(n_eff, 2) + "†" * (cdo <= 0 and not math.isnan(n_eff))


def mark_cdf(cdf: float, note: Any) -> str:
    """Set a CDF, with a double dagger where `note` warns that the line is too flat."""
    return cells.set_number(cdf, 4) + _flat(note)


def used_of_tested(used: int, tested: int, note: Any) -> str:
    """Set how many N a line was fitted to, with a double dagger where it is too flat."""
    return f"{used} of {tested}{_flat(note)}"


def _flat(note: Any) -> str:
    return "‡" if cells.text(note) else ""


def first_words(*texts: Any) -> str:
    """Return the first of some texts that is not empty."""
    return next(filter(None, map(cells.text, texts)), "")


def show_contexts(shortest: float, longest: float) -> str:
    """Set the ends of a range of contexts, or its one context."""
    ends = (show_context(shortest), show_context(longest))
    return "–".join(dict.fromkeys(ends))


def show_window(used: int, first: float, last: float) -> str:
    """Set the ends of the window of N that a decay was fitted to."""
    return f"{first:g}–{last:g}" if used else cells.MISSING


def percent_of_fit(share: float, cdf: float) -> str:
    """Set a share that a fit knows in percent; a dash where there is no fit."""
    return cells.MISSING if math.isnan(cdf) else cells.percent(share)


TABLES = read_tables(
    "factor",
    *(mark_n_eff, mark_cdf, used_of_tested, first_words),
    *(show_context, show_contexts, show_window, percent_of_fit),
    loads=load_columns(LOADS),
    accuracy_by_hops=accuracy_columns((*LOADS, Load("hops", "Hops"))),
    conditions=CONDITION_COLUMNS,
    outcomes={outcome.value: outcome.value.replace("_", "-") for outcome in FactorOutcome},
)


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
        N, used = decay.points["N"], decay.points["N"][decay.points["used"]]
        row |= {"method": decay.method, "rsquared": decay.rsquared, "N_used": len(used)}
        row |= {"first_N": used.min(), "last_N": used.max()}
        row |= {"floor": decay.floor, "lapses": decay.lapses}
        row |= {"N_tested": len(N), "min_N": N.min(), "max_N": N.max()}
        row |= {"problem": decay.problems.get("CDF", "")}
        rows.append(row | {"N_eff_problem": decay.problems.get("N_eff", ""), "note": decay.note})
    return pd.DataFrame(rows)


def context_series(decays: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Yield each (model, suite, noise) with its rows of `decay_table` by context.

    Runs without noise belong to every kind of noise that the model has in that suite.
    """
    for (model, suite), rows in decays.groupby(["model", "suite"], sort=True):
        for noise in sorted(set(rows["noise"]) - {"none"}) or ["none"]:
            of_noise = rows[rows["noise"].isin([noise, "none"])]
            yield (str(model), str(suite), noise), of_noise.sort_values("context")


def mode_table(decays: pd.DataFrame) -> pd.DataFrame:
    """Return the failure mode of each (model, suite, noise), and of the published models.

    `decays` is `decay_table`'s. Section 4.2.
    """
    series = [(*about, HERE, rows) for about, rows in context_series(decays)]
    sources = {"factor_by_context": "Tables 2 and 3", "factor_posttraining": "Tables 5 and 6"}
    for name, source in sources.items():
        for model, rows in published_table(name).groupby("model", sort=False):
            series.append((str(model), "symbolic", "filler", f"published, {source}", rows))
    table = []
    for model, suite, noise, source, rows in series:
        context = rows["context"]
        N = (rows["min_N"].min() + rows["max_N"].max()) / 2 if source == HERE else MIDDLE_N
        row: dict[str, Any] = {"model": model, "suite": suite, "noise": noise, "source": source}
        row |= {"contexts": len(rows), "min_context": context.min(), "max_context": context.max()}
        mode = name_failure_mode(context, rows["CDF"], rows["CDO"], N=float(N))
        table.append(row | {"N": N} | vars(mode))
    return pd.DataFrame(table)


def zero_context_table(decays: pd.DataFrame) -> pd.DataFrame:
    """Return CDF, CDO and N_eff without filler in the symbolic suite, the highest N_eff first.

    With the published models of Table 1 and the trained ones of Table 4.
    """
    mine = decays[(decays["suite"] == "symbolic") & (decays["context"] == 0)]
    published = {"zero_context": "published, Table 1", "pretraining": "published, Table 4"}
    table = add_published(mine, published)
    table = table[["model", "CDF", "CDO", "N_eff", "N_eff_low", "N_eff_high", "source"]]
    return table.sort_values("N_eff", ascending=False, kind="stable", ignore_index=True)


def add_published(mine: pd.DataFrame, sources: dict[str, str]) -> pd.DataFrame:
    """Return rows of this report and of FACTOR's published tables, whose `source` says which."""
    published = (
        published_table(f"factor_{name}").assign(source=source) for name, source in sources.items()
    )
    return pd.concat([mine.assign(source=HERE), *published], ignore_index=True)


def by_context_table(decays: pd.DataFrame) -> pd.DataFrame:
    """Return CDF and CDO by context in the symbolic suite, with those of Tables 2, 3, 5 and 6."""
    published = {"by_context": "published", "posttraining": "published, trained"}
    table = add_published(decays[decays["suite"] == "symbolic"], published)
    return table[["model", "source", "context", "CDF", "CDO"]]


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
    lengths = describe_tokens(frame, *CONDITION)
    columns = {"responses": counts.sum(axis=1)} | dict(counts.items()) | dict(lengths.items())
    return pd.DataFrame(columns).reset_index()


def _about(condition: Condition) -> dict[str, Any]:
    """Return the columns that say a row's condition."""
    return dict(zip(CONDITION, condition, strict=True))

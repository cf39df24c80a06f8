"""What several attempts at a puzzle win back: N_eff by attempts, and Table 7 (section 5.3)."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display.figures import Figure, Panel, Series
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.display.tables import Table, interval, number, percent, set_number
from cogniload_analysis.factor.decay import CONDITION, Condition, by_condition
from cogniload_analysis.factor.loads import CONDITIONS, describe_condition, label_context
from cogniload_analysis.factor.sampling import fit_repeated_sampling, n_eff_by_attempts
from cogniload_analysis.factor.sections.contexts import HERE, SOURCE
from cogniload_analysis.factor.sections.decays import NOTE, mark_flat
from cogniload_analysis.published import published_table


def attempts_sections(attempts: pd.DataFrame, sampling: pd.DataFrame) -> list[Section]:
    """Return the section; none where every puzzle was answered once."""
    content: list[Content] = [
        *(draw_attempts(rows, sampling) for _, rows in attempts.groupby("suite")),
        Table(
            "factor_attempts",
            attempts,
            "A puzzle counts as solved if at least one of t attempts is right; accuracies from "
            "0.02 to 0.8 are fitted. ‡ Some N between those used have accuracies below the range: "
            "the line is too flat.",
            {
                **CONDITIONS,
                "t": "t",
                "accuracy": ("Acc [%]", percent),
                "CDF, note": ("CDF", lambda cdf, note: mark_flat(set_number(cdf, 4), note)),
                "CDO": ("CDO", number(3)),
                "N_eff": ("Neff", number(2)),
                "low, high": ("95 % interval", interval(2)),
                **NOTE,
            },
        ),
        Table(
            "factor_sampling",
            sampling,
            "How attempts close the gap to Nclean, the one given or the Neff of one attempt "
            "without filler or noise: ln(Nclean − Neff) = k ln(t) + b over the attempts t, as "
            "Table 7.",
            {
                **CONDITIONS,
                "k": ("k", number(4)),
                "b": ("b", number(4)),
                "rsquared": ("R²", number(4)),
                "N_clean": ("Nclean", number(2)),
                **SOURCE,
                **NOTE,
            },
        ),
    ]
    section = Section("Several attempts", content, "attempted", folded=True)
    return [section] * (len(attempts) > 0)


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


def _about(condition: Condition) -> dict[str, Any]:
    return dict(zip(CONDITION, condition, strict=True))


def say_sampling(row: Mapping[Any, Any]) -> str:
    """Say a row of `sampling_table` in words."""
    where = describe_condition(row)
    if row["problem"]:
        return f"{where}: the gain from several attempts can't be fitted, as {row['problem']}."
    clean = "filler" if row["suite"] == "symbolic" else "noise"
    goal = "the Nclean given" if row["given"] else f"the Neff of a single attempt without {clean}"
    return (
        f"{where}: after t attempts, Neff is still {math.exp(row['b']):.1f} × t^{row['k']:.2f} "
        f"below {row['N_clean']:.1f}, {goal} (R² {row['rsquared']:.3f})."
    )


def draw_attempts(attempts: pd.DataFrame, sampling: pd.DataFrame) -> Figure:
    """Draw N_eff and the gap to the clean context's by the number of attempts t. Figure 6.

    `attempts` are `attempts_table`'s rows of one suite, and `sampling` is `sampling_table`'s; the
    lines through the gaps are the fits.
    """
    fits = dict(by_condition(sampling[sampling["source"] == HERE]))
    several, suite = attempts["model"].nunique() > 1, attempts["suite"].iloc[0]
    by_t, gaps, fitted = [], [], False
    for condition, rows in by_condition(attempts):
        label = f"{condition[0]}, " * several + label_context(*condition[2:])
        by_t.append(Series(label, rows["t"], rows["N_eff"], rows["low"], rows["high"]))
        fit = fits[condition].iloc[0]
        gap = fit["N_clean"] - rows["N_eff"]
        line = rows["t"], np.exp(fit["b"]) * rows["t"].astype(float) ** fit["k"]
        gaps.append(Series(label, rows["t"], gap.where(gap > 0), line=line))
        fitted |= pd.notna(fit["k"])

    def finish(axes: Any, log_y: bool = False) -> None:
        axes.set_xscale("log", base=2)
        levels = sorted(attempts["t"].unique())
        axes.set_xticks(levels, [f"{t:g}" for t in levels])
        if log_y:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("")

    panels = [Panel(by_t, "Attempts t", "Neff", finish=finish)]
    if fitted:
        logarithmic = partial(finish, log_y=True)
        panels.append(Panel(gaps, "Attempts t", "Nclean − Neff", finish=logarithmic))
    caption = f"Neff by the number of attempts t ({suite} suite), and the gap to Nclean."
    return Figure(f"factor_figure_6_{suite}", caption, panels)

"""How a model fails as its context grows: failure modes, and the paper's tables 1 to 6 beside."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display.figures import Figure, Panel, Series
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.display.tables import MODEL, Columns, Table, interval, number, text
from cogniload_analysis.factor.loads import show_context
from cogniload_analysis.factor.modes import MIDDLE_N, PUZZLE_TOKENS, name_failure_mode
from cogniload_analysis.factor.sections.decays import N_EFF
from cogniload_analysis.published import published_table

HERE = "this report"
SOURCE: Columns = {"source": "From"}

# The models that section 4.2 names for its failure modes.
NAMED_MODELS = ("Llama-3.1-70B-Instruct", "GPT-4o-mini-2024-07-18", "Mistral-Large-Instruct-2407")


def published_section(fits: pd.DataFrame, least_squares: pd.DataFrame) -> list[Section]:
    """Return the section that sets the symbolic suite beside the paper's models.

    `fits` and `least_squares` are `decay_table`'s by the two methods. There is no section where
    nothing of the suite was run.
    """
    fits, least_squares = (rows[rows["suite"] == "symbolic"] for rows in (fits, least_squares))
    by_context = by_context_table(least_squares)
    content: list[Content] = [
        *draw_by_context(fits),
        Table(
            "factor_zero_context",
            zero_context_table(least_squares),
            "Models without filler, beside those of Tables 1 and 4 of the paper, which gives no "
            "intervals; all by least squares. † No meaning, as the CDO is not positive.",
            {
                **MODEL,
                "CDF": ("CDF", number(4)),
                "CDO": ("CDO", number(4)),
                **N_EFF,
                "N_eff_low, N_eff_high": ("95 % interval", interval(2)),
                **SOURCE,
            },
        ),
        *(
            Table(
                f"factor_{name.lower()}_by_context",
                by_context,
                f"{title} by tokens of filler and least squares, as Tables {tables}.",
                {**MODEL, **SOURCE, "context": ("Context", show_context), name: ("", show)},
                wide=True,
            )
            for name, title, tables, show in (
                ("CDF", "CDF × 100", "2 and 5", number(2, 100)),
                ("CDO", "CDO", "3 and 6", number(3)),
            )
        ),
    ]
    return [Section("Among published models", content, "among", folded=True)] * (len(fits) > 0)


def context_series(fits: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Yield each (model, suite, noise) with its rows of `decay_table` by context.

    Runs without noise belong to every kind of noise that the model has in that suite.
    """
    for (model, suite), rows in fits.groupby(["model", "suite"], sort=True):
        for noise in sorted(set(rows["noise"]) - {"none"}) or ["none"]:
            of_noise = rows[rows["noise"].isin([noise, "none"])]
            yield (str(model), str(suite), noise), of_noise.sort_values("context")


def zero_context_table(least_squares: pd.DataFrame) -> pd.DataFrame:
    """Return CDF, CDO and N_eff without filler in the symbolic suite, the highest N_eff first.

    With the published models of Table 1 and the trained ones of Table 4.
    """
    mine = least_squares[(least_squares["suite"] == "symbolic") & (least_squares["context"] == 0)]
    published = {"zero_context": "published, Table 1", "pretraining": "published, Table 4"}
    table = _add_published(mine, published)
    table = table[["model", "CDF", "CDO", "N_eff", "N_eff_low", "N_eff_high", "source"]]
    return table.sort_values("N_eff", ascending=False, kind="stable", ignore_index=True)


def by_context_table(least_squares: pd.DataFrame) -> pd.DataFrame:
    """Return CDF and CDO by context in the symbolic suite, with those of Tables 2, 3, 5 and 6."""
    published = {"by_context": "published", "posttraining": "published, trained"}
    table = _add_published(least_squares[least_squares["suite"] == "symbolic"], published)
    return table[["model", "source", "context", "CDF", "CDO"]]


def _add_published(mine: pd.DataFrame, sources: Mapping[str, str]) -> pd.DataFrame:
    """Return rows of this report and of FACTOR's published tables, whose `source` says which."""
    published = (
        published_table(f"factor_{name}").assign(source=source) for name, source in sources.items()
    )
    return pd.concat([mine.assign(source=HERE), *published], ignore_index=True)


def draw_by_context(fits: pd.DataFrame) -> list[Figure]:
    """Draw CDF and CDO by context with 95 % intervals, beside three published models. Figure 5.

    `fits` are `decay_table`'s rows of one suite; the published models are of the symbolic one.
    There is no figure of a single context, or of zeros.
    """
    if fits["context"].nunique() < 2 or not fits["mean_accuracy"].any():
        return []
    suite = fits["suite"].iloc[0]
    measured = list(context_series(fits))
    published = published_table("factor_by_context")
    noises = len({noise for (_, _, noise), _ in measured}) > 1
    panels = []
    for name, label, scale in (("CDF", "CDF × 100", 100), ("CDO", "CDO", 1)):
        series = []
        for (model, _, noise), rows in measured:
            value, low, high = (scale * rows[name + end] for end in ("", "_low", "_high"))
            series.append(Series(model + f", {noise}" * noises, rows["context"], value, low, high))
        series += [
            Series(f"{model} (published)", rows["context"], scale * rows[name], faint=True)
            for model in NAMED_MODELS * (suite == "symbolic")
            for rows in [published[published["model"] == model]]
        ]
        contexts = sorted({float(context) for line in series for context in line.x})
        finish = partial(_space_contexts, contexts=contexts)
        panels.append(Panel(series, "Context (tokens)", label, finish=finish))
    caption = f"CDF and CDO by context ({suite} suite), with 95 % intervals."
    return [Figure(f"factor_figure_5_{suite}", caption, panels)]


def _space_contexts(axes: Any, contexts: list[float]) -> None:
    """Give each doubling of the context the same space."""

    def to_doublings(tokens: np.ndarray) -> np.ndarray:
        return np.log2(PUZZLE_TOKENS + np.maximum(tokens, 1 - PUZZLE_TOKENS))

    def from_doublings(doublings: np.ndarray) -> np.ndarray:
        return np.exp2(doublings) - PUZZLE_TOKENS

    axes.set_xscale("function", functions=(to_doublings, from_doublings))
    axes.set_xticks(contexts, map(show_context, contexts))
    axes.minorticks_off()


# --- Failure modes -------------------------------------------------------------------------------


def mode_table(fits: pd.DataFrame) -> pd.DataFrame:
    """Return the failure mode of each (model, suite, noise), and of the published models.

    `fits` is `decay_table`'s. Section 4.2.
    """
    series = [(*about, HERE, rows) for about, rows in context_series(fits)]
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


def tabulate_modes(modes: pd.DataFrame) -> Table:
    """Return the table of failure modes, from its raw numbers."""

    def show_contexts(shortest: float, longest: float) -> str:
        return "–".join(dict.fromkeys([show_context(shortest), show_context(longest)]))

    return Table(
        "factor_modes",
        modes,
        "How models fail as contexts grow. From the shortest context to the longest, the trends of "
        "CDF and CDO each take a share of the accuracy at the middle N (below 0: they add it).",
        {
            **MODEL,
            "suite": "Suite",
            "noise": "Noise",
            "min_context, max_context": ("Contexts", show_contexts),
            "name, problem": ("Failure mode", lambda name, problem: text(name) or text(problem)),
            "cdf_loss": ("By CDF [%]", number(0, 100)),
            "cdo_loss": ("By CDO [%]", number(0, 100)),
            **SOURCE,
        },
    )


def say_mode(row: Mapping[Any, Any]) -> str:
    """Say a row of `mode_table` in words."""
    longer = "With longer contexts" + f" of {row['noise']} noise" * (row["suite"] == "realistic")
    if row["problem"]:
        return f"{longer}: no failure mode can be named, as {row['problem']}."
    return (
        f"{longer}: {row['name']}; at N = {row['N']:g}, the trend of the CDF takes "
        f"{100 * row['cdf_loss']:.0f} % of the accuracy, and that of the CDO "
        f"{100 * row['cdo_loss']:.0f} %."
    )

"""How a model decays as its context grows, beside the paper's Tables 1 to 6."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display import tables
from cogniload_analysis.display.figures import FAINT, Figure, Panel, Series
from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import show_context
from cogniload_analysis.factor.modes import PUZZLE_TOKENS, name_failure_mode
from cogniload_analysis.factor.sections.decays import FORMATS
from cogniload_analysis.published import published_table

HERE = "this report"
PUBLISHED = {
    "zero_context": "published, Table 1",
    "by_context": "published, Tables 2 and 3",
    "pretraining": "published, Table 4",
    "posttraining": "published, Tables 5 and 6",
}

# The models that section 4.2 names for its failure modes.
_NAMED_MODELS = ("Llama-3.1-70B-Instruct", "GPT-4o-mini-2024-07-18", "Mistral-Large-Instruct-2407")


def published_section(fits: pd.DataFrame) -> list[Section]:
    """Return the section that sets the symbolic suite beside the paper's models.

    `fits` is `decay_table`'s. There is no section where nothing of the suite was run.
    """
    mine = fits[fits["suite"] == "symbolic"]
    table = tables.table("factor_published", published_by_context(mine), FORMATS)
    content = [*draw_by_context(mine), table]
    return [Section("Among published models", content, "among", folded=True)] * (len(mine) > 0)


def published_by_context(fits: pd.DataFrame) -> pd.DataFrame:
    """Return CDF, CDO and N_eff by context, of `decay_table`'s least squares and of the paper."""
    mine = fits[["model", "context"]].assign(
        **{name: fits[f"paper_{name}"] for name in ("CDF", "CDO", "N_eff")}, source=HERE
    )
    published = pd.concat(
        published_table(f"factor_{name}").assign(source=source)
        for name, source in PUBLISHED.items()
    )
    published = published.fillna({"context": 0}).astype({"context": int})
    published["N_eff"] = published["N_eff"].fillna(-published["CDO"] / published["CDF"])
    table = pd.concat([mine, published[[*mine]]])
    return table.sort_values(["context", "N_eff"], ascending=[True, False], ignore_index=True)


def context_series(fits: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """Yield each (model, noise) of one suite with its rows of `decay_table` by context.

    Runs without noise belong to every kind of noise that the model has.
    """
    for model, rows in fits.groupby("model", sort=True):
        for noise in sorted(set(rows["noise"]) - {"none"}) or ["none"]:
            yield (
                (str(model), noise),
                rows[rows["noise"].isin([noise, "none"])].sort_values("context"),
            )


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
    noises = len({noise for (_, noise), _ in measured}) > 1
    panels, faint = [], {"color": FAINT}
    for name, label, scale in (("CDF", "CDF × 100", 100), ("CDO", "CDO", 1)):
        series = []
        for (model, noise), rows in measured:
            value, low, high = (scale * rows[name + end] for end in ("", "_low", "_high"))
            series.append(Series(model + f", {noise}" * noises, rows["context"], value, low, high))
        series += [
            Series(f"{model} (published)", rows["context"], scale * rows[name], style=faint)
            for model in _NAMED_MODELS * (suite == "symbolic")
            for rows in [published[published["model"] == model]]
        ]
        contexts = sorted({float(context) for line in series for context in line.x})
        finish = partial(_space_contexts, contexts=contexts)
        panels.append(Panel(series, "Context (tokens)", label, finish=finish))
    caption = f"CDF and CDO by context ({suite} suite), by the likelihood, with 95 % intervals."
    if suite == "symbolic":
        caption += " The published ones are by least squares."
    return [Figure(f"factor_{suite}_contexts", caption, panels)]


def _space_contexts(axes: Any, contexts: list[float]) -> None:
    """Give each doubling of the context the same space."""

    def to_doublings(tokens: np.ndarray) -> np.ndarray:
        return np.log2(PUZZLE_TOKENS + np.maximum(tokens, 1 - PUZZLE_TOKENS))

    def from_doublings(doublings: np.ndarray) -> np.ndarray:
        return np.exp2(doublings) - PUZZLE_TOKENS

    axes.set_xscale("function", functions=(to_doublings, from_doublings))
    axes.set_xticks(contexts, map(show_context, contexts))
    axes.minorticks_off()


def say_modes(fits: pd.DataFrame, N: float) -> list[str]:
    """Say how a model in one suite fails as its context grows, if its contexts tell (section 4.2).

    `fits` are its rows of `decay_table`, and `N` the middle of the complexities tested.
    """
    said = []
    for (_, noise), rows in context_series(fits):
        mode = name_failure_mode(rows["context"], rows["CDF"], rows["CDO"], N=N)
        longer = "With longer contexts" + f" of {noise} noise" * (noise in {"close", "general"})
        if mode.name:
            said.append(
                f"{longer}: {mode.name}; at N = {N:g}, the trend of the CDF takes "
                f"{100 * mode.cdf_loss:.0f} % of the accuracy, and that of the CDO "
                f"{100 * mode.cdo_loss:.0f} %."
            )
    return said

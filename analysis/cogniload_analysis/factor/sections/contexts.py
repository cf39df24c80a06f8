"""How a model decays as its context grows, beside the paper's Tables 1 to 6."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import theilslopes

from cogniload_analysis.display import tables
from cogniload_analysis.display.figures import FAINT, Figure, Panel, Series
from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import show_context
from cogniload_analysis.factor.sections.decays import FORMATS
from cogniload_analysis.published import published_table
from cogniload_analysis.words import WORDS, say

HERE = "this report"
_CONTEXTS_NEEDED = 3
# The tokens that stand for a puzzle's own text, so that a context of 0 has a place among doublings.
PUZZLE_TOKENS = 1000
# The middle of the symbolic suite's N, 1 to 39, at which the published models are judged.
_MIDDLE_N = 20
# What is lost at the middle N before it counts, and the pairs of contexts in six that may rise.
LOSS_THAT_COUNTS = 0.1
_RISES_ALLOWED = 1

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
        for name, source in WORDS["published_decays"].items()
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
            losses = {"cdf": 100 * mode.cdf_loss, "cdo": 100 * mode.cdo_loss}
            said.append(say("modes", longer=longer, mode=mode.name, N=N, **losses))
    return said


# --- How a model fails as its context grows (section 4.2) -----------------------------------------


@dataclass(frozen=True)
class FailureMode:
    """One of the paper's failure modes, and what it rests on.

    `name` is "stable CDO, degrading CDF", "stable CDF, degrading CDO", "degrading CDO and CDF",
    "stable CDO and CDF" or, where accuracy is lost but neither falls steadily, "no steady trend of
    CDO or CDF"; empty where `problem` says why there is no name. `cdf_loss` and
    `cdo_loss` are the shares of the accuracy at the middle N that the trend of each takes from the
    shortest context to the longest (negative where it gains), and `cdf_falls` and `cdo_falls` the
    shares of the pairs of contexts in which the longer one has the lower value.
    """

    name: str = ""
    cdf_loss: float = np.nan
    cdo_loss: float = np.nan
    cdf_falls: float = np.nan
    cdo_falls: float = np.nan
    problem: str = ""


def name_failure_mode(
    contexts: ArrayLike, cdf: ArrayLike, cdo: ArrayLike, *, N: float = _MIDDLE_N
) -> FailureMode:
    """Name the failure mode of one model from its CDF and CDO at each context (in tokens).

    The log accuracy that a context takes at a complexity N is N times the change of the CDF plus
    the change of the CDO. Each of the two degrades if its part is both

    - large: the trend over all contexts takes at least a tenth of the accuracy at `N`, the middle
      of the complexities tested. The trend is Theil and Sen's, the median slope over all pairs of
      contexts, on log2(1000 + context): one context whose fit went astray hardly moves it.
    - steady: in at least five of six pairs of contexts the longer has the lower value.

    On the published tables this gives what section 4.2 says of Llama-3.1-70B-Instruct,
    GPT-4o-mini-2024-07-18 and Mistral-Large-Instruct-2407, and what section 5.2 says of Course and
    Mixed; any limit from 0.08 to 0.28 in place of a tenth would. Full has no steady trend. It is
    fragile where a loss is near a tenth (among the published models Qwen2-72B's CDO, 0.12) and with
    few contexts, where one value decides what is steady; and CDF and CDO of one fit err together,
    in opposite directions. Simulated with 50 puzzles per N at their published CDF and CDO, these
    get their names in 40 %, 100 % and 63 % of the runs, and with 500 in 80 %, 90 % and 100 %.

    A context whose fit is NaN is left out; with fewer than three there is no name. Raises
    ValueError for contexts that are negative or repeat.

    >>> name_failure_mode([0, 4000, 16000], cdf=[-0.01, -0.02, -0.04], cdo=[0.3, 0.3, 0.3]).name
    'stable CDO, degrading CDF'
    """
    lengths, slopes, offsets = (np.asarray(values, dtype=float) for values in (contexts, cdf, cdo))
    known = np.isfinite(slopes) & np.isfinite(offsets)
    lengths, slopes, offsets = lengths[known], slopes[known], offsets[known]
    if (lengths < 0).any() or len(np.unique(lengths)) < len(lengths):
        raise ValueError(f"contexts must be different and 0 or more, got {lengths.tolist()!r}")
    if len(lengths) < _CONTEXTS_NEEDED:
        problem = f"it takes {_CONTEXTS_NEEDED} contexts with a fit, and has {len(lengths)}"
        return FailureMode(problem=problem)
    (cdf_loss, cdf_falls, cdf_degrades) = _judge(lengths, N * slopes)
    (cdo_loss, cdo_falls, cdo_degrades) = _judge(lengths, offsets)
    small = max(cdf_loss, cdo_loss) < LOSS_THAT_COUNTS
    names = {
        (False, False): "stable CDO and CDF" if small else "no steady trend of CDO or CDF",
        (True, False): "stable CDO, degrading CDF",
        (False, True): "stable CDF, degrading CDO",
        (True, True): "degrading CDO and CDF",
    }
    return FailureMode(names[cdf_degrades, cdo_degrades], cdf_loss, cdo_loss, cdf_falls, cdo_falls)


def _judge(contexts: np.ndarray, log_accuracy: np.ndarray) -> tuple[float, float, bool]:
    """Return the share of accuracy lost by the trend, the share of falling pairs, the verdict."""
    doublings = np.log2(PUZZLE_TOKENS + contexts)
    slope = theilslopes(log_accuracy, doublings).slope
    loss = float(-np.expm1(slope * np.ptp(doublings)))
    order = np.argsort(contexts)
    shorter, longer = np.triu_indices(len(contexts), 1)
    falls = log_accuracy[order][longer] < log_accuracy[order][shorter]
    steady = 6 * np.count_nonzero(~falls) <= _RISES_ALLOWED * len(falls)
    return loss, float(falls.mean()), bool(loss >= LOSS_THAT_COUNTS and steady)

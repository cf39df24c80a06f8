"""FACTOR, stage 3: how a model fails as its context grows (FACTOR, section 4.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import theilslopes

_CONTEXTS_NEEDED = 3
# The tokens that stand for a puzzle's own text, so that a context of 0 has a place among doublings.
PUZZLE_TOKENS = 1000
# The middle of the symbolic suite's N, 1 to 39, at which the published models are judged.
_MIDDLE_N = 20
# What is lost at the middle N before it counts, and the pairs of contexts in six that may rise.
LOSS_THAT_COUNTS = 0.1
_RISES_ALLOWED = 1


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

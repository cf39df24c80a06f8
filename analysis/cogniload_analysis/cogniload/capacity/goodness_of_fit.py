"""How well the paper's GLM fits a run, and the curves behind the GLMs that the paper prints.

The paper prints a GLM's coefficients (Table 2) and those of interactions (Table 3). A curve with a
floor has the same projection, and a crossing besides.
"""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import OptimizeResult, least_squares
from scipy.special import expit, logit
from scipy.stats import chi2

from cogniload_analysis.cogniload.capacity.curve import MAIN_TERMS, Link, line_terms, make_loads
from cogniload_analysis.cogniload.glm import INTERACTIONS, TERMS, LoadGLM, load_design
from cogniload_analysis.cogniload.glm_thresholds import PAPER_MEANS
from cogniload_analysis.published import published_table
from cogniload_analysis.words import WORDS
from cogniload_gen.checks import check_choice
from cogniload_gen.cogniload.knobs import PAPER_D, PAPER_N, PAPER_RHO

PAPER_GRID = pd.DataFrame(product(PAPER_D, PAPER_N, PAPER_RHO), columns=["d", "N", "rho"])
PAPER_GRID["rho"] /= 100
FULL_NAMES = WORDS["full_names"]
"""Table 2 abbreviates names that Tables 3 to 5 print in full."""

GLM_LINK = Link(floor=0, ceiling=1)
UNCOVERED = "its puzzles do not cover the paper's loads"
ENOUGH = 20
"""Responses at a value of a load from which its accuracy is judged: fewer miss by chance alone."""

# The least share of a grid's cells that counts as the grid.
_COVERED = 0.5

SOLVED = 1e-6
"""Right answers, of the 140 cells of one puzzle each, by which a projection may miss Table 2's."""


@dataclass(frozen=True, eq=False)
class PublishedCurve:
    """A published model's curve whose projection onto the GLM is Table 2's.

    `coefficients` are the nine of `curve.COEFFICIENTS` and `link` says how a logit becomes an
    accuracy. `solved` tells whether the projection is met: a floor above a model's accuracy leaves
    it out of reach.
    """

    coefficients: np.ndarray
    link: Link
    solved: bool

    def accuracy(self, d: np.ndarray, N: np.ndarray, rho: np.ndarray) -> np.ndarray:
        """Return the accuracy at d, N and rho (a fraction), numbers or arrays."""
        loads = make_loads(d, N, rho)
        return self.link.accuracy(line_terms(loads) @ self.coefficients, loads[:, 0])


@dataclass(frozen=True)
class GoodnessOfFit:
    """How far a fitted GLM is from the accuracies by d, by N and by rho.

    `miss` is the largest difference between observed and fitted accuracy at one value of one load,
    in percentage points, at `where`, of the loads that vary and, if there are any, among the values
    with at least 20 responses;
    `sampling_error` is the standard error of that accuracy, in points too. `chi_square`, with its
    `degrees` of freedom and `p`, is that of all of these accuracies together: the GLM's projection
    ties the means and the main terms, which takes degrees; p is NaN where none is left.
    """

    miss: float = np.nan
    where: str = ""
    sampling_error: float = np.nan
    chi_square: float = np.nan
    degrees: int = 0
    p: float = np.nan


def expected_accuracies(model: str) -> np.ndarray:
    """Return the accuracy of a model of Table 2 in each cell of the paper's grid, by its GLM.

    Raises ValueError for a model that Table 2 does not have.
    """
    table = published_table("glm").set_index("model")
    check_choice("model", model, list(table.index))
    design = load_design(PAPER_GRID["d"], PAPER_GRID["N"], PAPER_GRID["rho"])
    return expit(design[list(TERMS)].to_numpy() @ table.loc[model, list(TERMS)].to_numpy(float))


def refit_published(model: str, link: Link, *, interactions: bool) -> PublishedCurve:
    """Return the curve of a model of Table 2 under another link, with or without Table 3.

    The GLM of the paper's grid sees only the sums of right answers against its five terms. The
    curve's five main coefficients are those for which these sums, over the grid, are what Table 2
    says; the interactions are Table 3's as printed. Raises ValueError for a model that Table 2
    does not have.
    """
    target = expected_accuracies(model)
    design = load_design(PAPER_GRID["d"], PAPER_GRID["N"], PAPER_GRID["rho"])
    published = published_table("interactions").set_index("model").loc[FULL_NAMES.get(model, model)]
    raw = design[list(INTERACTIONS)].to_numpy() @ published[list(INTERACTIONS)].to_numpy(float)
    loads = make_loads(*(PAPER_GRID[load].to_numpy() for load in ("d", "N", "rho")))
    terms = line_terms(loads)
    # The printed interactions, whose lower terms are absorbed by the main ones, in centred terms.
    centred = np.linalg.lstsq(terms, raw * interactions, rcond=None)[0]
    offset = terms[:, MAIN_TERMS:] @ centred[MAIN_TERMS:]
    solution = _project(terms[:, :MAIN_TERMS], offset, target, loads[:, 0], link)
    solved = bool(np.abs(solution.fun).max() < SOLVED * len(target))
    return PublishedCurve(np.concatenate([solution.x, centred[MAIN_TERMS:]]), link, solved)


def _project(
    terms: np.ndarray, offset: np.ndarray, target: np.ndarray, d: np.ndarray, link: Link
) -> OptimizeResult:
    """Solve terms' (accuracy - target) = 0 for the coefficients of `terms`."""

    def miss(coefficients: np.ndarray) -> np.ndarray:
        return terms.T @ (link.accuracy(terms @ coefficients + offset, d) - target)

    def derivative(coefficients: np.ndarray) -> np.ndarray:
        return terms.T @ (link.slope(terms @ coefficients + offset, d)[:, None] * terms)

    starts = (
        np.zeros(terms.shape[1]),
        np.linalg.lstsq(terms, logit(np.clip(target, 0.02, 0.98)) - offset, rcond=None)[0],
    )
    tolerance = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14, "max_nfev": 2000}
    solutions = [least_squares(miss, start, jac=derivative, **tolerance) for start in starts]
    return min(solutions, key=lambda solution: solution.cost)


def goodness_of_fit(glm: LoadGLM) -> GoodnessOfFit:
    """Return how well a fitted GLM describes the responses that it was fitted to.

    The largest miss of a mean accuracy is what a reader can judge. NaN where the GLM could not be
    fitted.
    """
    if "beta_0" in glm.problems or not len(glm.cells):
        return GoodnessOfFit()
    cells = glm.cells
    accuracy = glm.predict(*(cells[load].to_numpy() for load in ("d", "N", "rho")))
    total = cells["successes"] + cells["failures"]
    over, variance = cells["successes"] - total * accuracy, total * accuracy * (1 - accuracy)
    residuals = pd.DataFrame({"total": total, "over": over, "variance": variance})
    by_load = {load: residuals.groupby(cells[load]).sum() for load in ("d", "N", "rho")}
    margins = pd.concat(by_load, names=["load", "value"]).reset_index()
    chi_square = float((margins["over"] ** 2 / margins["variance"].clip(lower=1e-300)).sum())
    estimated = sum(term not in glm.problems for term in TERMS)
    degrees = len(margins) - len(by_load) - estimated + 1
    varies = margins.groupby("load")["value"].transform("size") > 1
    margins = margins[varies] if varies.any() else margins
    enough = margins[margins["total"] >= ENOUGH]
    judged = margins if enough.empty else enough
    worst = judged.iloc[int((judged["over"] / judged["total"]).abs().to_numpy().argmax())]
    is_rho = worst["load"] == "rho"
    where = f"ρ = {100 * worst['value']:g} %" if is_rho else f"{worst['load']} = {worst['value']:g}"
    return GoodnessOfFit(
        miss=float(100 * abs(worst["over"]) / worst["total"]),
        where=where,
        sampling_error=float(100 * np.sqrt(worst["variance"]) / worst["total"]),
        chi_square=chi_square,
        degrees=degrees,
        p=float(chi2.sf(chi_square, degrees)) if degrees > 0 else np.nan,
    )


def covers_grid(cells: pd.DataFrame) -> bool:
    """Tell whether cells (d, N, rho) are a grid, or most of one, and not just lines across it.

    The paper's thresholds are a projection of a whole grid: cells on axes alone have none.
    """
    levels = [cells[load].nunique() for load in ("d", "N", "rho")]
    return len(cells) >= _COVERED * math.prod(levels)


def covers_paper(cells: pd.DataFrame) -> bool:
    """Tell whether cells or responses reach over the paper's d and N, and its mean of rho.

    Only models with such puzzles have a rank: of others, an ECL50 is an extrapolation.
    """
    ends = {"d": PAPER_D, "N": PAPER_N, "rho": [PAPER_MEANS.rho]}
    return all(
        cells[load].min() <= min(paper) and cells[load].max() >= max(paper)
        for load, paper in ends.items()
    )


def curve_crossing(curve: PublishedCurve) -> float:
    """Return the N at which a published curve passes 50 % at the mean of d and rho."""
    level, _, slope, *_ = curve.coefficients
    bottom = curve.link.bottom(np.array(PAPER_MEANS.d))
    half = logit((0.5 - bottom) / (curve.link.ceiling - bottom))
    return float(10 ** (PAPER_MEANS.log10_N + (half - level) / slope))

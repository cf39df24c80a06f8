"""Analysis of CogniLoad and FACTOR results: from lm-eval's files to fits, tables and a report."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cogniload_gen import extras

extras.require(
    "cogniload_analysis",
    "analysis",
    ("pandas", "scipy", "statsmodels", "firthmodels", "matplotlib", "threadpoolctl"),
)

if TYPE_CHECKING:
    from cogniload_analysis.adaptive.design import Adaptive, Design
    from cogniload_analysis.cogniload.adaptive_design import AdaptiveDesign
    from cogniload_analysis.cogniload.capacity.curve import Capacity
    from cogniload_analysis.cogniload.capacity.goodness_of_fit import GoodnessOfFit, goodness_of_fit
    from cogniload_analysis.cogniload.capacity.next_puzzles import estimate_capacity
    from cogniload_analysis.cogniload.fits.glm import (
        InteractionGLM,
        LoadGLM,
        RhoComparison,
        compare_rho_terms,
        fit_interactions,
        fit_load_glm,
    )
    from cogniload_analysis.cogniload.fits.step_hazard import StepHazard, add_steps, fit_step_hazard
    from cogniload_analysis.cogniload.fits.thresholds import (
        PAPER_MEANS,
        LoadMeans,
        Threshold,
        Thresholds,
        capacity_thresholds,
    )
    from cogniload_analysis.cogniload.frame import read_samples
    from cogniload_analysis.cogniload.plan import ComparisonPlan, plan_comparison
    from cogniload_analysis.cogniload.tables import (
        outcome_table,
        ranking_table,
        token_table,
    )
    from cogniload_analysis.compare.differences import Comparison
    from cogniload_analysis.designs import ADAPTIVE
    from cogniload_analysis.display.print import accuracy_table
    from cogniload_analysis.factor.decay import (
        ACCURACY_RANGES,
        ComplexityDecay,
        fit_complexity_decay,
    )
    from cogniload_analysis.factor.decay_design import DecayDesign, DecayEstimate
    from cogniload_analysis.factor.frame import read_factor_samples
    from cogniload_analysis.factor.modes import FailureMode, name_failure_mode
    from cogniload_analysis.factor.sampling import (
        RepeatedSampling,
        fit_repeated_sampling,
        n_eff_by_attempts,
        solve_within,
    )
    from cogniload_analysis.published import published_table
    from cogniload_analysis.report.compare_runs import compare_runs

PLACES = {
    "adaptive.design": "Adaptive Design",
    "cogniload.adaptive_design": "AdaptiveDesign",
    "cogniload.capacity.curve": "Capacity",
    "cogniload.capacity.goodness_of_fit": "GoodnessOfFit goodness_of_fit",
    "cogniload.capacity.next_puzzles": "estimate_capacity",
    "cogniload.fits.glm": "InteractionGLM LoadGLM RhoComparison compare_rho_terms "
    "fit_interactions fit_load_glm",
    "cogniload.fits.step_hazard": "StepHazard add_steps fit_step_hazard",
    "cogniload.fits.thresholds": "PAPER_MEANS LoadMeans Threshold Thresholds capacity_thresholds",
    "cogniload.frame": "read_samples",
    "cogniload.plan": "ComparisonPlan plan_comparison",
    "cogniload.tables": "outcome_table ranking_table token_table",
    "compare.differences": "Comparison",
    "designs": "ADAPTIVE",
    "display.print": "accuracy_table",
    "factor.decay": "ACCURACY_RANGES ComplexityDecay fit_complexity_decay",
    "factor.decay_design": "DecayDesign DecayEstimate",
    "factor.frame": "read_factor_samples",
    "factor.modes": "FailureMode name_failure_mode",
    "factor.sampling": "RepeatedSampling fit_repeated_sampling n_eff_by_attempts solve_within",
    "published": "published_table",
    "report.compare_runs": "compare_runs",
}
"""The public names by module. Each is imported at its first use, as fits take seconds to load."""

__all__ = [
    "ACCURACY_RANGES",
    "ADAPTIVE",
    "PAPER_MEANS",
    "Adaptive",
    "AdaptiveDesign",
    "Capacity",
    "Comparison",
    "ComparisonPlan",
    "ComplexityDecay",
    "DecayDesign",
    "DecayEstimate",
    "Design",
    "FailureMode",
    "GoodnessOfFit",
    "InteractionGLM",
    "LoadGLM",
    "LoadMeans",
    "RepeatedSampling",
    "RhoComparison",
    "StepHazard",
    "Threshold",
    "Thresholds",
    "accuracy_table",
    "add_steps",
    "capacity_thresholds",
    "compare_rho_terms",
    "compare_runs",
    "estimate_capacity",
    "fit_complexity_decay",
    "fit_interactions",
    "fit_load_glm",
    "fit_repeated_sampling",
    "fit_step_hazard",
    "goodness_of_fit",
    "n_eff_by_attempts",
    "name_failure_mode",
    "outcome_table",
    "plan_comparison",
    "published_table",
    "ranking_table",
    "read_factor_samples",
    "read_samples",
    "solve_within",
    "token_table",
]


def __getattr__(name: str) -> Any:
    """Return a public name, imported now."""
    for module, names in PLACES.items():
        if name in names.split():
            globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

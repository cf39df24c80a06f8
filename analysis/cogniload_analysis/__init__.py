"""Analysis of CogniLoad and FACTOR results: from lm-eval's files to fits, tables and a report."""

from typing import TYPE_CHECKING, Any

from cogniload_gen import extras
from cogniload_gen.lazy import public_modules, public_name

extras.require(
    "cogniload_analysis",
    "analysis",
    ("pandas", "scipy", "statsmodels", "firthmodels", "matplotlib", "msgspec", "threadpoolctl"),
)

if TYPE_CHECKING:
    from cogniload_analysis.adaptive.design import Adaptive as Adaptive, Design as Design
    from cogniload_analysis.cogniload.adaptive_design import AdaptiveDesign as AdaptiveDesign
    from cogniload_analysis.cogniload.budgets import budget_curve as budget_curve
    from cogniload_analysis.cogniload.capacity.curve import Capacity as Capacity
    from cogniload_analysis.cogniload.capacity.goodness_of_fit import (
        GoodnessOfFit as GoodnessOfFit,
        goodness_of_fit as goodness_of_fit,
    )
    from cogniload_analysis.cogniload.capacity.next_puzzles import (
        estimate_capacity as estimate_capacity,
    )
    from cogniload_analysis.cogniload.fits.glm import (
        InteractionGLM as InteractionGLM,
        LoadGLM as LoadGLM,
        RhoComparison as RhoComparison,
        compare_rho_terms as compare_rho_terms,
        fit_interactions as fit_interactions,
        fit_load_glm as fit_load_glm,
    )
    from cogniload_analysis.cogniload.fits.step_hazard import (
        StepHazard as StepHazard,
        add_steps as add_steps,
        fit_step_hazard as fit_step_hazard,
    )
    from cogniload_analysis.cogniload.fits.thresholds import (
        PAPER_MEANS as PAPER_MEANS,
        LoadMeans as LoadMeans,
        Threshold as Threshold,
        Thresholds as Thresholds,
        capacity_thresholds as capacity_thresholds,
    )
    from cogniload_analysis.cogniload.frame import read_samples as read_samples
    from cogniload_analysis.cogniload.plan import (
        ComparisonPlan as ComparisonPlan,
        plan_comparison as plan_comparison,
    )
    from cogniload_analysis.cogniload.repeats import accuracy_by_attempts as accuracy_by_attempts
    from cogniload_analysis.cogniload.tables import (
        outcome_table as outcome_table,
        ranking_table as ranking_table,
        token_table as token_table,
    )
    from cogniload_analysis.compare.differences import Comparison as Comparison
    from cogniload_analysis.compare.why import Why as Why, explain_failures as explain_failures
    from cogniload_analysis.designs import ADAPTIVE as ADAPTIVE
    from cogniload_analysis.display.print import accuracy_table as accuracy_table
    from cogniload_analysis.factor.decay import (
        ACCURACY_RANGES as ACCURACY_RANGES,
        ComplexityDecay as ComplexityDecay,
        fit_complexity_decay as fit_complexity_decay,
    )
    from cogniload_analysis.factor.decay_design import (
        DecayDesign as DecayDesign,
        DecayEstimate as DecayEstimate,
    )
    from cogniload_analysis.factor.frame import read_factor_samples as read_factor_samples
    from cogniload_analysis.factor.modes import (
        FailureMode as FailureMode,
        name_failure_mode as name_failure_mode,
    )
    from cogniload_analysis.factor.sampling import (
        RepeatedSampling as RepeatedSampling,
        fit_repeated_sampling as fit_repeated_sampling,
        n_eff_by_attempts as n_eff_by_attempts,
        solve_within as solve_within,
    )
    from cogniload_analysis.published import published_table as published_table
    from cogniload_analysis.report.compare_runs import compare_runs as compare_runs


def __getattr__(name: str) -> Any:
    """Return a public name, imported now, as fits take seconds to load."""
    return public_name(__name__, name)


def __dir__() -> list[str]:
    return list(public_modules(__name__))

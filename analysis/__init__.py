"""Analysis of CogniLoad and FACTOR results: from lm-eval's files to fits, tables and a report."""

from cogniload_gen import extras

extras.require(
    "cogniload_analysis",
    "analysis",
    ("pandas", "scipy", "statsmodels", "firthmodels", "matplotlib", "threadpoolctl"),
)

from cogniload_analysis.adaptive import Adaptive, Design
from cogniload_analysis.cogniload.adaptive import estimate_capacity
from cogniload_analysis.cogniload.curve import Capacity
from cogniload_analysis.cogniload.design import AdaptiveDesign
from cogniload_analysis.cogniload.fit import GoodnessOfFit, goodness_of_fit
from cogniload_analysis.cogniload.glm import (
    InteractionGLM,
    LoadGLM,
    RhoComparison,
    compare_rho_terms,
    fit_interactions,
    fit_load_glm,
)
from cogniload_analysis.cogniload.hazard import StepHazard, add_steps, fit_step_hazard
from cogniload_analysis.cogniload.plan import ComparisonPlan, plan_comparison
from cogniload_analysis.cogniload.read import read_samples
from cogniload_analysis.cogniload.tables import (
    outcome_table,
    ranking_table,
    token_table,
)
from cogniload_analysis.cogniload.thresholds import (
    PAPER_MEANS,
    LoadMeans,
    Threshold,
    Thresholds,
    capacity_thresholds,
)
from cogniload_analysis.compare import compare_runs
from cogniload_analysis.designs import ADAPTIVE
from cogniload_analysis.differences import Comparison
from cogniload_analysis.factor.adaptive import DecayDesign, DecayEstimate
from cogniload_analysis.factor.decay import ACCURACY_RANGES, ComplexityDecay, fit_complexity_decay
from cogniload_analysis.factor.modes import FailureMode, name_failure_mode
from cogniload_analysis.factor.read import read_factor_samples
from cogniload_analysis.factor.sampling import (
    RepeatedSampling,
    fit_repeated_sampling,
    n_eff_by_attempts,
    solve_within,
)
from cogniload_analysis.format import accuracy_table
from cogniload_analysis.papers import published_table

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

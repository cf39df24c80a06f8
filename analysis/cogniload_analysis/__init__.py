"""Analysis of CogniLoad and FACTOR results: from lm-eval's files to fits, tables and a report."""

from cogniload_analysis.adaptive.design import Adaptive, Design
from cogniload_analysis.analyses import ADAPTIVE
from cogniload_analysis.cogniload.analysis import read_samples
from cogniload_analysis.cogniload.capacity.capacity_design import AdaptiveDesign, estimate_capacity
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.goodness_of_fit import GoodnessOfFit, goodness_of_fit
from cogniload_analysis.cogniload.glm import (
    InteractionGLM,
    LoadGLM,
    RhoComparison,
    compare_rho_terms,
    fit_interactions,
    fit_load_glm,
)
from cogniload_analysis.cogniload.glm_thresholds import (
    PAPER_MEANS,
    LoadMeans,
    Threshold,
    Thresholds,
    capacity_thresholds,
)
from cogniload_analysis.cogniload.plan import ComparisonPlan, plan_comparison
from cogniload_analysis.cogniload.sections.attempts import accuracy_by_attempts
from cogniload_analysis.cogniload.sections.budgets import budget_curve
from cogniload_analysis.cogniload.sections.errors import outcome_table, token_table
from cogniload_analysis.cogniload.sections.ranking import ranking_table
from cogniload_analysis.compare.differences import Comparison
from cogniload_analysis.compare.gate import Gate, gate
from cogniload_analysis.compare.why import Why, explain_failures
from cogniload_analysis.display.tables import accuracy_table
from cogniload_analysis.factor.analysis import read_factor_samples
from cogniload_analysis.factor.decay import ACCURACY_RANGES, ComplexityDecay, fit_complexity_decay
from cogniload_analysis.factor.decay_design import DecayDesign, DecayEstimate
from cogniload_analysis.factor.sampling import (
    RepeatedSampling,
    fit_repeated_sampling,
    n_eff_by_attempts,
    solve_within,
)
from cogniload_analysis.factor.sections.contexts import FailureMode, name_failure_mode
from cogniload_analysis.published import published_table
from cogniload_analysis.report.compare_runs import compare_runs

__all__ = [
    "ACCURACY_RANGES", "ADAPTIVE", "PAPER_MEANS", "Adaptive", "AdaptiveDesign", "Capacity",
    "Comparison", "ComparisonPlan", "ComplexityDecay", "DecayDesign", "DecayEstimate", "Design",
    "FailureMode", "Gate", "GoodnessOfFit", "InteractionGLM", "LoadGLM", "LoadMeans",
    "RepeatedSampling", "RhoComparison", "Threshold", "Thresholds", "Why", "accuracy_by_attempts",
    "accuracy_table", "budget_curve", "capacity_thresholds", "compare_rho_terms", "compare_runs",
    "estimate_capacity", "explain_failures", "fit_complexity_decay", "fit_interactions",
    "fit_load_glm", "fit_repeated_sampling", "gate", "goodness_of_fit", "n_eff_by_attempts",
    "name_failure_mode", "outcome_table", "plan_comparison", "published_table", "ranking_table",
    "read_factor_samples", "read_samples", "solve_within", "token_table",
]  # fmt: skip

"""Analysis of CogniLoad and FACTOR results: from lm-eval's files to fits, tables and a report."""

from cogniload_analysis.decay import ACCURACY_RANGES, ComplexityDecay, fit_complexity_decay
from cogniload_analysis.glm import (
    InteractionGLM,
    LoadGLM,
    RhoComparison,
    compare_rho_terms,
    fit_interactions,
    fit_load_glm,
)
from cogniload_analysis.modes import FailureMode, name_failure_mode
from cogniload_analysis.published import PAPER_MEANS, published_table
from cogniload_analysis.read import read_factor_samples, read_samples
from cogniload_analysis.sampling import (
    RepeatedSampling,
    fit_repeated_sampling,
    n_eff_by_attempts,
    solve_within,
)
from cogniload_analysis.tables import (
    accuracy_table,
    outcome_table,
    ranking_table,
    token_table,
)
from cogniload_analysis.thresholds import LoadMeans, Threshold, Thresholds, capacity_thresholds

__all__ = [
    "ACCURACY_RANGES",
    "PAPER_MEANS",
    "ComplexityDecay",
    "FailureMode",
    "InteractionGLM",
    "LoadGLM",
    "LoadMeans",
    "RepeatedSampling",
    "RhoComparison",
    "Threshold",
    "Thresholds",
    "accuracy_table",
    "capacity_thresholds",
    "compare_rho_terms",
    "fit_complexity_decay",
    "fit_interactions",
    "fit_load_glm",
    "fit_repeated_sampling",
    "n_eff_by_attempts",
    "name_failure_mode",
    "outcome_table",
    "published_table",
    "ranking_table",
    "read_factor_samples",
    "read_samples",
    "solve_within",
    "token_table",
]

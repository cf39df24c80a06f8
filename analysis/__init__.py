"""Analysis of CogniLoad results: from lm-eval's files to tables, thresholds and a report."""

from cogniload_analysis.glm import (
    InteractionGLM,
    LoadGLM,
    RhoComparison,
    compare_rho_terms,
    fit_interactions,
    fit_load_glm,
)
from cogniload_analysis.published import PAPER_MEANS, published_table
from cogniload_analysis.read import read_samples
from cogniload_analysis.tables import (
    accuracy_table,
    outcome_table,
    ranking_table,
    token_table,
)
from cogniload_analysis.thresholds import LoadMeans, Threshold, Thresholds, capacity_thresholds

__all__ = [
    "PAPER_MEANS",
    "InteractionGLM",
    "LoadGLM",
    "LoadMeans",
    "RhoComparison",
    "Threshold",
    "Thresholds",
    "accuracy_table",
    "capacity_thresholds",
    "compare_rho_terms",
    "fit_interactions",
    "fit_load_glm",
    "outcome_table",
    "published_table",
    "ranking_table",
    "read_samples",
    "token_table",
]

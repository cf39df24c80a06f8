"""The benchmarks that are analysed: the one list of them."""

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.factor.analysis import FACTOR

ANALYSES: tuple[Analysis, ...] = (COGNILOAD, FACTOR)
"""Every benchmark's analysis. A new one is added here, and nowhere else."""

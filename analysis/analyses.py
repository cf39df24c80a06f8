"""The benchmarks that are analysed: the one list of them."""

from cogniload_analysis.cogniload.record import COGNILOAD
from cogniload_analysis.factor.record import FACTOR
from cogniload_analysis.record import Analysis

ANALYSES: tuple[Analysis, ...] = (COGNILOAD, FACTOR)
"""Every benchmark's analysis. A new one is added here, and nowhere else."""

"""The benchmarks that have an adaptive design: the one list of them."""

from collections.abc import Mapping

from cogniload_analysis.adaptive.design import Adaptive
from cogniload_analysis.cogniload.adaptive_design import CAPACITY
from cogniload_analysis.factor.decay_design import DECAYS

ADAPTIVE: Mapping[str, Adaptive] = CAPACITY | DECAYS
"""The design of each, by the benchmark's name. A new one is added here, and nowhere else."""

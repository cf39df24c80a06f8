"""The benchmarks that can be asked adaptively: the one list of their designs."""

from collections.abc import Mapping

from cogniload_analysis.adaptive.design import Adaptive
from cogniload_analysis.cogniload.adaptive_design import CAPACITY
from cogniload_analysis.factor.decay_design import DECAYS

ADAPTIVE: Mapping[str, Adaptive] = CAPACITY | DECAYS
"""How each is asked, by the benchmark's name. A new one is added here, and nowhere else."""

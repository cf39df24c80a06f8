"""The benchmarks that are analysed, and their adaptive designs: the one list of each."""

from collections.abc import Mapping

from cogniload_analysis.adaptive.design import Adaptive
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.cogniload.analysis import COGNILOAD, NEXT_VALUES
from cogniload_analysis.cogniload.capacity.capacity_design import CAPACITY
from cogniload_analysis.cogniload.fitted import Fitted as Fitted  # noqa: PLC0414 (Inspect's)
from cogniload_analysis.factor.analysis import FACTOR
from cogniload_analysis.factor.decay_design import DECAYS

ANALYSES: tuple[Analysis, ...] = (COGNILOAD, NEXT_VALUES, FACTOR)
"""Every benchmark's analysis. A new one is added here, and nowhere else."""

COMPARED = tuple(each for each in ANALYSES if each.compared)
"""Those whose runs are compared, gated and shared; a report has all."""

ADAPTIVE: Mapping[str, Adaptive] = CAPACITY | DECAYS
"""The design of each, by the benchmark's name. A new one is added here, and nowhere else."""

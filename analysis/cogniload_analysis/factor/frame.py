"""FACTOR, stage 1: its responses, from lm-eval's files to one frame."""

import pandas as pd

from cogniload_analysis.factor.analysis import FACTOR
from cogniload_analysis.samples.read import Paths, read_benchmarks


def read_factor_samples(paths: Paths, *, text: bool = False) -> pd.DataFrame:
    """Read lm-eval's responses to FACTOR into one frame, one row per response.

    As `read_samples`, with the columns suite ("symbolic" or "realistic"), N (the complexity: the
    number of variables, or in the realistic suite of operations, its `op`), context (tokens of
    filler, or in the realistic suite of the whole problem; 0 for none) and noise ("none", "close",
    "general", or the symbolic suite's "filler") instead of d, N and rho.
    """
    return read_benchmarks(paths, [FACTOR], text=text)[FACTOR.name]

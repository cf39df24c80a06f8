"""Stage 1: CogniLoad's responses, from lm-eval's files to one frame."""

import pandas as pd

from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.samples.read import Paths, read_benchmarks


def read_samples(paths: Paths, *, text: bool = False) -> pd.DataFrame:
    """Read lm-eval's responses to CogniLoad into one frame, a row a response.

    Paths, labels, the names of runs, errors and `text` are as in `read_benchmarks` of
    `cogniload_analysis.samples.read`, and so are the columns that all benchmarks share. CogniLoad's
    own are d, N, rho (a fraction in (0, 1]), steps_read (whether the reasoning could be read; False
    where the sample doesn't say), first_error (the statement; NaN for none), error (its kind; ""
    for none), recovered (False without an error), coverage (NaN where the sample holds no reading),
    answer (the one that was read; "" for none, None where the sample holds no reading),
    index (the puzzle's) and needles (in its text), both NaN where unknown, and cut (whether a limit
    cut the response off).
    """
    return read_benchmarks(paths, [COGNILOAD], text=text)[COGNILOAD.name]

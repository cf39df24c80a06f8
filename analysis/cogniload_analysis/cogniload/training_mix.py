"""Which puzzles to train on: cells that a run's own fit expects to be solved neither always nor
never, without asking the model anything more.
"""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.fitted import Fitted
from cogniload_analysis.compare.why import TWINS_ALONE, drop_twins
from cogniload_gen.cogniload import BENCHMARK
from cogniload_gen.cogniload.knobs import Cell
from cogniload_gen.grid import Source

LENGTHS = 12
"""How many N are tried, spread evenly by their logarithm over those that were asked."""


def read_pass_rate(text: str) -> tuple[float, float]:
    """Return the ends of a range of pass rates, such as 0.2..0.8; ValueError for another text."""
    found = re.fullmatch(r"(\d?\.?\d+)\.\.(\d?\.?\d+)", text.strip())
    low, high = map(float, found.groups()) if found else (1.0, 0.0)
    if not 0 <= low < high <= 1:
        raise ValueError(f"pass-rate must be LOW..HIGH between 0 and 1, as 0.2..0.8; got {text!r}")
    return low, high


def choose_cells(frame: pd.DataFrame, low: float, high: float) -> pd.DataFrame:
    """Return the cells whose predicted pass rate lies in a range, by the paper's GLM of a run.

    `frame` is as from `read_samples`; twins, which are easier than their cells, don't count.

    Columns: d, N, rho (a percentage) and predicted. They lie within the loads that the run asked
    for, where the fit extrapolates nothing. Raises ValueError for several models, for a fit that
    the run does not determine, and where no cell lies in the range.
    """
    frame = drop_twins(frame)
    if frame.empty:
        raise ValueError(f"puzzles are chosen by the results of a run: {TWINS_ALONE}")
    if (models := frame["model"].nunique()) > 1:
        raise ValueError(f"puzzles are chosen by the results of one model, got {models}")
    glm, N = Fitted(frame).glm, frame["N"]
    lengths = sorted({*np.geomspace(N.min(), N.max(), LENGTHS).round().astype(int).tolist()})
    levels = range(int(frame["d"].min()), int(frame["d"].max()) + 1), lengths
    rho = sorted({round(100 * share, 6) for share in frame["rho"]})
    cells = pd.DataFrame([*product(*levels, rho)], columns=[*Cell._fields])
    loads = (cells["d"], cells["N"], cells["rho"] / 100)
    cells["predicted"] = glm.predict(*(load.to_numpy(float) for load in loads))
    if cells["predicted"].isna().any():
        problems = "; ".join(dict.fromkeys(glm.problems.values()))
        raise ValueError(f"the run does not determine its fit: {problems}")
    chosen = cells[cells["predicted"].between(low, high)]
    if chosen.empty:
        ends = f"{cells['predicted'].min():.2f} to {cells['predicted'].max():.2f}"
        raise ValueError(f"no cell has a predicted pass rate of {low:g} to {high:g}: it is {ends}")
    return chosen.reset_index(drop=True)


def make_source(cells: pd.DataFrame, **parameters: object) -> Source:
    """Return the puzzles of chosen cells; `parameters` are the benchmark's, without its knobs."""
    grid = BENCHMARK.select(**{"d": 1, "N": 1, "rho": 100} | parameters)
    chosen = tuple(Cell(*row) for row in cells[[*Cell._fields]].itertuples(index=False))
    return BENCHMARK.source(replace(grid, cells=chosen))

"""How often FACTOR's 95 % intervals hold the truth, on the published conditions.

Simulates responses at N = 1 to 39 from each CDF and CDO of Tables 1 to 3 whose accuracy leaves the
first phase (48 of 49: o1-mini's does not), with 50 and 500 puzzles per N: with and without lapses
and a floor, which the fit estimates, or warns of where it is too high. An interval holds the truth
where the profile of the likelihood there lies within the chi-square limit of its maximum. It takes
an hour.
"""

from collections.abc import Iterator
from functools import cache
from itertools import chain, product

import numpy as np
import pandas as pd
from scipy.stats import chi2
from simulated import percent, print_table

from cogniload_analysis import ACCURACY_RANGES, published_table
from cogniload_analysis.factor import decay

N = np.arange(1.0, 40)
CASES = {
    "plain": (0.0, 0.0),
    "2 % lapses": (0.02, 0.0),
    "4 % lapses": (0.04, 0.0),
    "3 % floor": (0.0, 0.03),
    "3 % floor, 2 % lapses": (0.02, 0.03),
}
HIGHER = [f"{floor} % floor" for floor in (8, 12, 20, 43)]
CASES |= {case: (0.0, int(case.split()[0]) / 100) for case in HIGHER}
"""Lapses and the true floor of each case."""

PUZZLES = (50, 500)


@cache
def simulate(puzzles: int, case: str, runs: int) -> pd.Series:
    """Return the coverage of CDF, CDO and N_eff, the CDF's bias and the share of warnings."""
    lapses, floor = CASES[case]
    tables = [published_table("factor_zero_context"), published_table("factor_by_context")]
    published = pd.concat(tables)[["CDF", "CDO"]].query("CDO + 39 * CDF < 0")
    generator = np.random.default_rng([puzzles, *case.encode()])
    drop, rows = chi2.ppf(0.95, 1) / 2, []
    for cdf, cdo in np.repeat(published.to_numpy(), runs, axis=0):
        chance = (1 - lapses) * decay.predict(np.array([cdf, cdo, 0, floor]), N)
        points = pd.DataFrame({"N": N, "accuracy": generator.binomial(puzzles, chance) / puzzles})
        used = decay.find_window(points["accuracy"], *ACCURACY_RANGES["pretrained"])
        points = points.assign(used=used, responses=puzzles)
        counts = decay.count_responses(points, (0.0, decay.MOST_FLOOR))
        fit, best = decay.maximise(counts)
        row = {
            name: best - decay.maximise(counts, name, truth)[1] <= drop
            for name, truth in (("CDF", cdf), ("CDO", cdo), ("N_eff", -cdo / cdf))
        }
        high = counts._replace(floors=(0.0, decay.HIGH_FLOOR))
        gain = decay.maximise(high)[1] - decay.log_likelihood(high, fit)
        rows.append(row | {"bias": fit[0] / cdf - 1, "warned": gain >= decay.LIKELIER})
    table = pd.DataFrame(rows)
    shares = table[["CDF", "CDO", "N_eff"]].mean()
    return pd.Series({**shares, "bias": table["bias"].median(), "warned": table["warned"].mean()})


def coverage(runs: int) -> Iterator[list[str]]:
    """Yield how often intervals hold, and the bias, where the floor is one that the fit allows."""
    yield ["puzzles per N", "responses", "CDF", "CDO", "N_eff", "median bias of CDF"]
    for puzzles, case in product(PUZZLES, [case for case in CASES if case not in HIGHER]):
        shares = simulate(puzzles, case, runs).drop("warned")
        yield [str(puzzles), case, *map(percent, shares)]


def warnings(runs: int) -> Iterator[list[str]]:
    """Yield how often a fit warns of a higher floor, and the bias of its CDF."""
    heads = ([f"warned, {puzzles} puzzles per N", "bias of CDF"] for puzzles in PUZZLES)
    yield ["true floor", *chain(*heads)]
    for case in ("plain", "3 % floor", *HIGHER):
        shares = (simulate(puzzles, case, runs) for puzzles in PUZZLES)
        floor = "0" if case == "plain" else case.removesuffix(" floor")
        yield [floor, *chain(*((percent(of.warned), f"{100 * of.bias:.0f} %") for of in shares))]


if __name__ == "__main__":
    print_table(coverage(100))
    print_table(warnings(100))

"""Whether next values foretell what models reach that reason aloud; prints a table.

`python studies/next_values.py NEXT ALOUD`: two folders with a folder of results for each model, of
the same names: of `cogniload_next_all`, and of puzzles that it answered aloud (d = 1).
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from simulated import print_table
from tqdm import tqdm

from cogniload_analysis import read_samples
from cogniload_analysis.cogniload.analysis import NEXT_VALUES
from cogniload_analysis.cogniload.fitted import Fitted
from cogniload_analysis.cogniload.sections.next_values import foretell_all
from cogniload_analysis.samples.read import read_benchmarks, read_rows
from cogniload_analysis.stats import percentiles

DRAWS = 4000


def measure(asked: Path, aloud: Path) -> dict[str, float]:
    """Return what one model reached, and what foretells it; more is better of each."""
    (frame,) = read_benchmarks(asked, [NEXT_VALUES]).values()
    ((_, _, foretold, questions),) = foretell_all(frame)
    loss = np.mean([sample.held["loss"] for _, sample in read_rows(frame)])
    fitted = Fitted(read_samples(aloud))
    N, rho = (fitted.responses[name].to_numpy(float) for name in ("N", "rho"))
    return {
        "ECL50": fitted.capacity.ECL50.value,
        "accuracy": fitted.responses["correct"].mean(),
        "foretold ECL50": foretold.numbers(0.5)["ECL50"].value,
        "foretold accuracy": foretold.accuracy(N, rho)[0].mean(),
        "loss": -loss,
        "bits": -questions["bits"].mean(),
    }


def correlate(models: pd.DataFrame, reached: str, told: str) -> str:
    """Return the rank correlation of two columns, with an interval by a bootstrap of the models."""
    rng, count = np.random.default_rng(0), len(models)
    draws = [range(count), *rng.integers(count, size=(DRAWS, count))]
    found, *drawn = (
        models[[reached, told]].iloc[rows].corr("spearman").iloc[0, 1] for rows in draws
    )
    low, high = percentiles(np.array(drawn)[~np.isnan(drawn)])
    return f"{found:.2f} ({low:.2f} to {high:.2f})"


def study(asked: Path, aloud: Path) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table; a model without a known ECL50 has no part in its rows."""
    names = sorted(each.name for each in asked.iterdir() if each.is_dir())
    models = pd.DataFrame([measure(asked / name, aloud / name) for name in tqdm(names)], names)
    models = models.replace(np.inf, np.nan)
    print(models.round(3).to_string())
    yield "of", "with", "models", "rank correlation"
    for reached in ("ECL50", "accuracy"):
        for told in (f"foretold {reached}", "loss", "bits"):
            known = models.dropna(subset=[reached, told])
            yield reached, told, str(len(known)), correlate(known, reached, told)


if __name__ == "__main__":
    print_table(study(*map(Path, sys.argv[1:])))

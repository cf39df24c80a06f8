"""Table 7: what repeated sampling wins back of N_eff after the course (section 5.3)."""

from itertools import product

import pandas as pd
from experiments import Run, answers, decay, main, row_of, write_values

from cogniload_analysis import published_table
from cogniload_analysis.factor.sampling import fit_repeated_sampling, n_eff_by_attempts

DIGITS = {"accuracy": 3, "k": 4, "b": 4, "rsquared": 4}


def regression(run: Run, name: str, context: int) -> dict[str, object]:
    """Return the line of Table 7: the gap to the clean model's N_eff against attempts."""
    responses = answers(run, name, context, run.size["test"]["attempts"])
    clean = decay(run, "Clean", 0, "from scratch")["N_eff"]
    fit = vars(fit_repeated_sampling(n_eff_by_attempts(responses), clean))
    return row_of(run, name, context, responses) | fit | {"N_clean": clean}


def write(runs: list[Run], names: list[str]) -> None:
    """Write Table 7."""
    cases = product(names, runs[0].size["test"]["contexts"], runs)
    rows = pd.DataFrame(regression(run, name, context) for name, context, run in cases)
    paper = published_table("factor_repeated_sampling").assign(model="Course")
    write_values("table7", runs, rows, DIGITS, paper, unseen=["N_clean"])


if __name__ == "__main__":
    main(write, ["Course"], str(__doc__))

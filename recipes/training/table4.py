"""Table 4: CDF, CDO and N_eff without filler, by how the model was pretrained (section 5.1)."""

import pandas as pd
from experiments import Run, decay, main, write_values

from cogniload_analysis import published_table

DIGITS = {"accuracy": 3, "CDF": 4, "CDO": 4, "N_eff": 2}


def write(runs: list[Run], names: list[str]) -> None:
    """Write Table 4."""
    rows = pd.DataFrame([decay(run, name, 0, "from scratch") for name in names for run in runs])
    paper = published_table("factor_pretraining").query("model in @names")
    write_values("table4", runs, rows, DIGITS, paper)


if __name__ == "__main__":
    main(write, ["Baseline", "Packed", "Masked", "Clean", "Diagonal"], str(__doc__))

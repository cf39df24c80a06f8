"""Tables 5 and 6: CDF and CDO by context, by how the model was post-trained (section 5.2)."""

from itertools import product

import pandas as pd
from experiments import Run, decay, main, over_seeds, printed, write_table

from cogniload_analysis import published_table


def write(runs: list[Run], names: list[str]) -> None:
    """Write Tables 5 and 6."""
    cases = product(names, runs[0].size["test"]["contexts"], runs)
    rows = pd.DataFrame(decay(run, name, context, "fine-tuned") for name, context, run in cases)
    paper = published_table("factor_posttraining").query("model in @names")
    table = over_seeds(rows, ["model", "context"], ["accuracy", "CDF", "CDO"], paper)
    for number, value in (("5", "CDF"), ("6", "CDO")):
        texts = table.assign(text=printed(table, value, 4))
        wide = texts.pivot(index=["model", "source"], columns="context", values="text")
        write_table(f"table{number}", runs, table, wide.fillna("--").reset_index(), rows)


if __name__ == "__main__":
    main(write, ["Course", "Mixed", "Full"], str(__doc__))

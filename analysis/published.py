"""The papers' printed figures, which ship as `data/*.csv`."""

from importlib.resources import files

import numpy as np
import pandas as pd

from cogniload_analysis.thresholds import LoadMeans

TABLES = {
    "glm": "cogniload_table2_glm.csv",
    "interactions": "cogniload_table3_interactions.csv",
    "outcomes_by_d": "cogniload_table4_errors_by_d.csv",
    "outcomes_by_N": "cogniload_table5_errors_by_N.csv",
    "aic": "cogniload_table6_aic.csv",
    "prompt_tokens": "cogniload_tables7to10_prompt_tokens.csv",
    "factor_zero_context": "factor_table1_zero_context.csv",
    "factor_by_context": "factor_tables2and3_by_context.csv",
    "factor_pretraining": "factor_table4_pretraining.csv",
    "factor_posttraining": "factor_tables5and6_posttraining.csv",
    "factor_repeated_sampling": "factor_table7_repeated_sampling.csv",
}
# The paper's grid: its thresholds hold the other knobs at these means (section 3.1.3).
PAPER_MEANS = LoadMeans(
    d=float(np.mean([1, 3, 5, 7, 10])),
    log10_N=float(np.mean(np.log10([20, 50, 100, 250]))),
    rho=float(np.mean([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])),
)


def published_table(name: str) -> pd.DataFrame:
    """Return a table of the CogniLoad or the FACTOR paper, as printed: a name in `TABLES`.

    Of CogniLoad, glm is Table 2, interactions Table 3, outcomes_by_d and outcomes_by_N Tables 4 and
    5, aic Table 6 and prompt_tokens Tables 7 to 10. Of FACTOR, factor_zero_context is Table 1,
    factor_by_context Tables 2 and 3, factor_pretraining Table 4, factor_posttraining Tables 5 and 6
    and factor_repeated_sampling Table 7; CDF is not scaled, and contexts are in tokens. Raises
    ValueError for another name.
    """
    if name not in TABLES:
        raise ValueError(f"published table must be one of {', '.join(TABLES)}, got {name!r}")
    return pd.read_csv(files("cogniload_analysis").joinpath("data", TABLES[name]))

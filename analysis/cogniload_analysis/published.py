"""The papers' printed figures, which ship as `data/*.csv`."""

from importlib.resources import files

import pandas as pd

_TABLES = {
    "glm": "cogniload_table2_glm.csv",
    "interactions": "cogniload_table3_interactions.csv",
    "outcomes_by_d": "cogniload_table4_errors_by_d.csv",
    "outcomes_by_N": "cogniload_table5_errors_by_N.csv",
    "aic": "cogniload_table6_aic.csv",
    "prompt_tokens": "cogniload_tables7to10_prompt_tokens.csv",
    "site_2026": "cogniload_site_2026.csv",
    "factor_zero_context": "factor_table1_zero_context.csv",
    "factor_by_context": "factor_tables2and3_by_context.csv",
    "factor_pretraining": "factor_table4_pretraining.csv",
    "factor_posttraining": "factor_tables5and6_posttraining.csv",
    "factor_repeated_sampling": "factor_table7_repeated_sampling.csv",
}


def published_table(name: str) -> pd.DataFrame:
    """Return a table of the CogniLoad or the FACTOR paper, as printed.

    For CogniLoad, glm is Table 2, interactions Table 3, outcomes_by_d and outcomes_by_N Tables 4
    and 5, aic Table 6, prompt_tokens Tables 7 to 10, and site_2026 models of the authors' results
    site (November 2026). For FACTOR, factor_zero_context is Table 1,
    factor_by_context Tables 2 and 3, factor_pretraining Table 4, factor_posttraining Tables 5 and 6
    and factor_repeated_sampling Table 7; CDF is not scaled, and contexts are in tokens. Raises
    ValueError for another name.

    >>> published_table("glm").set_index("model").loc["Qwen3-8B", ["ECL50", "ID50"]].to_dict()
    {'ECL50': 30.8, 'ID50': 2.2}
    """
    if name not in _TABLES:
        raise ValueError(f"published table must be one of {', '.join(_TABLES)}, got {name!r}")
    with files("cogniload_analysis").joinpath("data", _TABLES[name]).open("rb") as table:
        return pd.read_csv(table)

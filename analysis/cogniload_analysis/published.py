"""The papers' printed figures, which ship as `data/*.csv`."""

import re
from importlib.resources import files

import pandas as pd

_DATA = files("cogniload_analysis").joinpath("data")

# Files by the names of their tables, without what says where these were printed.
_TABLES = {
    re.sub(r"cogniload_|tables?\d\w*?_|\.csv", "", file.name): file
    for file in sorted(_DATA.iterdir(), key=lambda file: file.name)
    if file.name.endswith(".csv")
}


def published_table(name: str) -> pd.DataFrame:
    """Return a table of the CogniLoad or the FACTOR paper, as printed.

    For CogniLoad, glm is Table 2, interactions Table 3, outcomes_by_d and outcomes_by_N Tables 4
    and 5, aic Table 6, prompt_tokens Tables 7 to 10, and site_2026 models of the authors' results
    site (November 2026). For FACTOR, factor_zero_context is Table 1,
    factor_by_context Tables 2 and 3, factor_pretraining Table 4, factor_posttraining Tables 5 and 6
    and factor_repeated_sampling Table 7; CDF is not scaled, and contexts are in tokens. prior is
    printed nowhere: it has the curves behind Tables 2 and 3 of the CogniLoad paper. Raises
    ValueError for another name.

    >>> published_table("glm").set_index("model").loc["Qwen3-8B", ["ECL50", "ID50"]].to_dict()
    {'ECL50': 30.8, 'ID50': 2.2}
    """
    if name not in _TABLES:
        raise ValueError(f"published table must be one of {', '.join(_TABLES)}, got {name!r}")
    with _TABLES[name].open("rb") as table:
        return pd.read_csv(table)

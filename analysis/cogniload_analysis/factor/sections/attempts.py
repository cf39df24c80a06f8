"""What several attempts at a puzzle win back: accuracy and N_eff by attempts, and Table 7."""

from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import table
from cogniload_analysis.factor.decay import CONDITION, by_condition
from cogniload_analysis.factor.sampling import fit_repeated_sampling, n_eff_by_attempts
from cogniload_analysis.factor.sections.contexts import HERE
from cogniload_analysis.published import published_table


def attempts_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section; none where every puzzle was answered once."""
    attempts = attempts_table(frame)
    if attempts.empty:
        return []
    sampled = table("factor_sampling", sampling_table(attempts))
    content = [table("factor_attempts", attempts), sampled]
    return [Section("Several attempts", content, "attempted", folded=True)]


def attempts_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `n_eff_by_attempts` of each model, suite, context and noise with several attempts."""
    tables = [
        n_eff_by_attempts(rows).assign(model=model, suite=suite, context=context, noise=noise)
        for (model, suite, context, noise), rows in by_condition(frame)
        if rows.groupby("id", observed=True).size().min() > 1
    ]
    columns = [*CONDITION, *n_eff_by_attempts(frame[:0])]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame()


def sampling_table(attempts: pd.DataFrame) -> pd.DataFrame:
    """Return the regression of each condition's gap on the number of attempts, with Table 7's.

    The gap is to the N_eff of the model's own single attempts without filler or noise, the paper's
    to that of a model trained on clean contexts.
    """
    single = attempts[(attempts["context"] == 0) & (attempts["t"] == 1)]
    clean = single[single["problem"] == ""].set_index(["model", "suite"])["N_eff"]
    rows = []
    for condition, mine in by_condition(attempts):
        about: dict[str, Any] = dict(zip(CONDITION, condition, strict=True))
        goal = clean.get((about["model"], about["suite"]), np.nan) if about["context"] else np.nan
        fit = vars(fit_repeated_sampling(mine, goal))
        if about["context"] == 0:
            fit |= {"problem": "this is the clean context"}
        rows.append(about | fit | {"N_clean": goal, "source": HERE})
    published = published_table("factor_repeated_sampling").assign(
        model="Course", suite="symbolic", source="published, Table 7", problem=""
    )
    published["noise"] = published["context"].map(lambda context: "filler" if context else "none")
    return pd.concat([pd.DataFrame(rows), published], ignore_index=True)

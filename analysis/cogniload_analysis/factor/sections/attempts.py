"""What several attempts at a puzzle win back: accuracy and N_eff by attempts, and Table 7."""

from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import Table, number, percent
from cogniload_analysis.factor.decay import CONDITION, by_condition
from cogniload_analysis.factor.loads import CONDITIONS
from cogniload_analysis.factor.sampling import fit_repeated_sampling, n_eff_by_attempts
from cogniload_analysis.factor.sections.contexts import HERE, SOURCE
from cogniload_analysis.published import published_table


def attempts_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section; none where every puzzle was answered once."""
    attempts = attempts_table(frame)
    if attempts.empty:
        return []
    content = [
        Table(
            "factor_attempts",
            attempts,
            "A puzzle counts as solved if at least one of t attempts is right; accuracies from "
            "0.02 to 0.8 are fitted by least squares.",
            {
                **CONDITIONS,
                "t": "t",
                "accuracy": ("Acc [%]", percent),
                "CDF": ("CDF", number(4)),
                "CDO": ("CDO", number(3)),
                "N_eff": ("Neff", number(2)),
                "problem": "Note",
            },
        ),
        Table(
            "factor_sampling",
            sampling_table(attempts),
            "How attempts close the gap to Nclean, the Neff of one attempt without filler or "
            "noise: ln(Nclean − Neff) = k ln(t) + b over the attempts t, as "
            "Table 7.",
            {
                **CONDITIONS,
                "k": ("k", number(4)),
                "b": ("b", number(4)),
                "rsquared": ("R²", number(4)),
                "N_clean": ("Nclean", number(2)),
                **SOURCE,
                "problem": "Note",
            },
        ),
    ]
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

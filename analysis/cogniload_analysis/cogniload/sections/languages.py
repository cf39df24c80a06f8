"""The same puzzles in several languages: accuracy over pairs, and how many tokens each takes.

A pair has the same statements, so its difference in accuracy is that of the language. Tokens stand
beside it, since the same puzzle is longer in one language than in another.
"""

import re

import pandas as pd

from cogniload_analysis.compare.paired import adjust, compare_means, compare_solved
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.page import Section
from cogniload_gen.grid import ENGLISH, language_of, other_language

CAPTION = (
    "The same puzzles in other languages: accuracy against English over the pairs, with its 95 % "
    "interval, and mean tokens with how many times those of English they are."
)
COLUMNS: tb.Columns = {
    **tb.MODEL,
    "language": "Language",
    "puzzles": ("Puzzles", tb.thousands),
    "accuracy": ("Acc [%]", tb.percent),
    "english": ("English [%]", tb.percent),
    "difference": ("Difference [points]", tb.number(1, 100)),
    "low, high": ("95 % interval", tb.interval(1, 100)),
    **tb.P_VALUES,
    "prompt_tokens, times_prompt_tokens": ("Prompt tokens", tb.form("{:,.0f} (× {:.2f})")),
    "response_tokens, times_response_tokens": ("Response tokens", tb.form("{:,.0f} (× {:.2f})")),
}
OWN_NAME = re.compile(r", language [a-z]{2,3}(?=,|$)")
"""What names a run by the language of its puzzles, beside the model's name."""

TOKENS = ["prompt_tokens", "response_tokens"]


def languages_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section; none where no puzzle was answered in two languages."""
    data = language_table(frame)
    table = tb.Table("languages", data, CAPTION, COLUMNS)
    return [Section("Languages", [table], "in-languages", folded=True)] * (len(data) > 0)


def language_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what each model solves in languages but English, one row per model and language.

    `frame` is that of `read_samples`. Only the puzzles that the model answered in English as well
    count: `puzzles` of them. `accuracy` and `english` are fractions; `difference` is the first less
    the second, with the ends of its 95 % interval, `low` and `high`, `p` and Holm's `p_holm`. The
    mean tokens of prompts and responses are those of the language; `times_prompt_tokens` and
    `times_response_tokens` are how many times those of English. They are NaN where none are known.
    The table is empty where there are no pairs.
    """
    ids = frame["id"].astype(str)
    language = ids.map(language_of)
    models = frame["model"].astype(str).str.replace(OWN_NAME, "", regex=True)
    values = frame[["correct", *TOKENS]].astype(float)
    puzzle = [other_language(id, ENGLISH) for id in ids]
    means = values.groupby([models.rename("model"), language.rename("language"), puzzle]).mean()
    rows = []
    for model, of_model in means.groupby(level="model"):
        by_language = {
            str(name): part.droplevel([0, 1]) for name, part in of_model.groupby(level=1)
        }
        english = by_language.pop(ENGLISH, None)
        if english is None:
            continue
        for name, own in by_language.items():
            if len(both := own.index.intersection(english.index)):
                pair = {"model": model, "language": name}
                rows.append(pair | _compare(own.loc[both], english.loc[both]))
    table = pd.DataFrame(rows)
    return table.assign(p_holm=adjust(table["p"].tolist())) if rows else table


def _compare(own: pd.DataFrame, english: pd.DataFrame) -> dict[str, float]:
    mine, theirs = (of["correct"].to_numpy() for of in (own, english))
    puzzles, apart = len(mine), mine - theirs
    if {*mine, *theirs} <= {0.0, 1.0}:
        difference = compare_solved(int((apart > 0).sum()), int((apart < 0).sum()), puzzles)
    else:
        difference = compare_means(apart)
    tokens = own[TOKENS].mean()
    times = tokens / english[TOKENS].mean()
    return {
        "puzzles": puzzles,
        "accuracy": mine.mean(),
        "english": theirs.mean(),
        "difference": float(difference.value),
        **{name: float(getattr(difference, name)) for name in ("low", "high", "p")},
        **{name: float(tokens[name]) for name in TOKENS},
        **{f"times_{name}": float(times[name]) for name in TOKENS},
    }

"""The same puzzles in several languages: accuracy, and how many tokens each takes.

Tokens stand beside the accuracy, since the same puzzle is longer in one language than in another.
"""

import pandas as pd

from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.page import Section
from cogniload_analysis.stats import CONFIDENCE
from cogniload_gen.grid import ENGLISH, language_of, other_language

CAPTION = "Accuracy on the puzzles that a model answered in each of its languages, and mean tokens."
COLUMNS: tb.Columns = {
    **tb.MODEL,
    "language": "Language",
    **tb.ACCURACY,
    **tb.COUNTS,
    "prompt_tokens": ("Prompt tokens", tb.thousands),
    "response_tokens": ("Response tokens", tb.thousands),
}
OWN_NAME = r", language [a-z]{2,3}(?=,|$)"
"""What names a run by the language of its puzzles, beside the model's name."""


def languages_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section; none where no puzzle was answered in two languages."""
    data = language_table(frame)
    table = tb.Table("languages", data, CAPTION, COLUMNS)
    return [Section("Languages", [table], "in-languages", folded=True)] * (len(data) > 0)


def language_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the `accuracy_table` of each model by language, and its mean tokens.

    `frame` is that of `read_samples`. Only the puzzles that a model answered in each of its
    languages count. The table is empty where no model has several.
    """
    ids = frame["id"].astype(str)
    frame = frame.assign(
        model=frame["model"].astype(str).str.replace(OWN_NAME, "", regex=True),
        language=ids.map(language_of),
        puzzle=[other_language(id, ENGLISH) for id in ids],
    )
    spoken = frame.groupby("model")["language"].transform("nunique")
    answered = frame.groupby(["model", "puzzle"])["language"].transform("nunique")
    shared = frame[(spoken > 1) & (answered == spoken)]
    tokens = shared.groupby(["model", "language"])[["prompt_tokens", "response_tokens"]].mean()
    table = tb.accuracy_table(shared, "language", confidence=CONFIDENCE)
    return table.join(tokens, on=["model", "language"])

"""Short names for models, as the report has them."""

import pandas as pd


def label_models(frame: pd.DataFrame, *within: str) -> list[str]:
    """Return a short name for each row's model: the last part of a path, where that is unique.

    What sets a run apart from others of its model, the column `setting`, stays as it is. The task
    is added where a model ran several, at one level of the columns `within`.
    """
    if "setting" not in frame:
        frame = frame.assign(setting="")
    runs = frame[["model", "setting", "task", *within]].drop_duplicates().astype(str)
    bases = [
        model.removesuffix(setting)
        for model, setting in zip(runs["model"], runs["setting"], strict=True)
    ]
    base = pd.Series(bases, index=runs.index)
    short = base.str.rstrip("/").str.split("/").str[-1]
    unique = base.groupby(short).transform("nunique") == 1
    several = runs.groupby(["model", *within])["task"].transform("nunique") > 1
    labels = short.where(unique, base) + runs["setting"]
    labels += (" (" + runs["task"] + ")").where(several, "")
    names = dict(zip(zip(runs["model"], runs["task"], strict=True), labels, strict=True))
    return [names[run] for run in zip(frame["model"], frame["task"], strict=True)]

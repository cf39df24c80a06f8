"""Answers that count once: what copies of a run hold, and attempts that repeat earlier ones."""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.samples.runs import Run
from cogniload_gen.answers.files import warn_once
from cogniload_gen.answers.reasoning import whole
from cogniload_gen.answers.sample import COUNTS, Sample


def drop_copies(read: Iterable[tuple[Run, pd.DataFrame]]) -> list[tuple[Run, pd.DataFrame]]:
    """Return runs and their frames without answers that others hold too, and warn of these.

    Of the results of one run, by its id, those of most answers hold. Where there is no id, a file
    is a copy if another one with its settings, or with none, has all of its answers.
    """
    kept: list[tuple[Run, pd.DataFrame]] = []
    ids: dict[tuple[str, ...], set[Any]] = {}
    others: list[tuple[Run, set[Any]]] = []
    copies: Counter[str] = Counter()

    def rank(each: tuple[Run, pd.DataFrame]) -> tuple[Any, ...]:
        run, frame = each
        return bool(run.columns["interim"]), -len(frame), not run.results, str(run.file)

    for run, frame in sorted(read, key=rank):
        answers = [*zip(frame["id"], frame["take"], strict=True)]
        facts = frame[["id", "take", "said", "outcome", *COUNTS]].fillna(-1)
        said = {*facts.itertuples(index=False, name=None)}
        held = ids.setdefault((run.label, run.task, run.id), set()) if run.id else set()
        new = np.array([answer not in held for answer in answers], bool)
        if any(_may_be_copy(run, other) and said <= its for other, its in others):
            new[:] = False
        held.update(answers)
        others.append((run, said))
        if not new.all():
            copies[str(run.file)] = int((~new).sum())
        if new.any():
            kept.append((run, frame[new].reset_index(drop=True)))
    if copies:
        names = ", ".join(sorted(copies)[:2]) + " ..." * (len(copies) > 2)
        warn_once(f"answers that copies hold are counted once: {copies.total():,} of {names}")
    return sorted(kept, key=lambda each: each[0].file)


def _may_be_copy(run: Run, other: Run) -> bool:
    """Return whether two files may hold the answers of one run, by what is known of them."""
    if run.label != other.label or (run.id and other.id):
        return False
    known = run.results and other.results
    return not known or (run.task, run.settings) == (other.task, other.settings)


def count_repeats_once(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without attempts that repeat an earlier one, where more than half do.

    A server that honours one seed, and greedy decoding, answer alike. The column `repeats` says it.
    """
    tried, known = ["model", "task", "id"], frame["said"].ne("")
    again = frame.duplicated(tried) & known
    same = frame.duplicated([*tried, "said"]) & known
    frame = frame.assign(repeats="")
    dropped = pd.Series(False, frame.index)
    for (model, task), rows in frame[again].groupby(["model", "task"], observed=True):
        if count := int(same[rows.index].sum()):
            void = is_repeated(same[rows.index], rows["correct"])
            said = say_repeats(count, len(rows), void=void, greedy=bool(rows["greedy"].all()))
            frame.loc[(frame["model"] == model) & (frame["task"] == task), "repeats"] = said
            warn_once(f"{model} ({task}): {said}")
            dropped[rows.index] = same[rows.index] & void
    return frame[~dropped].reset_index(drop=True)


def digest(sample: Sample) -> str:
    """Return a hash of what a sample's response says, by which attempts are known as repeats."""
    told, count = sample.reasoning, sample.response_tokens
    text = " ".join(whole(sample.response, told.text).split())
    if told.hidden:  # short answers are alike, and the tokens behind them are not
        text = "" if count is None else f"{text} {count}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16] if text else ""


def say_repeats(same: int, of: int, *, void: bool, greedy: bool) -> str:
    """Say how many repeats have the text of an earlier answer; if they are `void`, why."""
    said = f"{same:,} of {of:,} further answers repeat an earlier one word for word"
    if not void:
        return f"{said}, as short answers often do: all are counted"
    why = "the server keeps its answers, or gives each request the same seed"
    return f"{said}: {'decoding was greedy' if greedy else why}; they are counted once"


def is_repeated(same: "pd.Series[bool]", right: "pd.Series[bool]") -> bool:
    """Return whether repeats say nothing, as more than half have the text of an earlier answer.

    Wrong answers tell, if there are any: a model of few words has one text for what is right.
    """
    wrong = same[right.astype(float) == 0]
    return bool((wrong if len(wrong) else same).mean() > 1 / 2)

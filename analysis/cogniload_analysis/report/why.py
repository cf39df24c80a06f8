"""Why each model fails, as the report shows it: verdict, figure, and a twin that was solved."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.compare import why as twins
from cogniload_analysis.compare.repair_effects import explain_repairs, is_repair
from cogniload_analysis.compare.why import Why
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import POINTS, Figure, Panel, Series
from cogniload_analysis.display.page import Content, Section, Verdict, name_file
from cogniload_analysis.display.sentences import UNBROKEN
from cogniload_analysis.report.examples import Example, describe_response
from cogniload_analysis.stats import wilson_interval
from cogniload_analysis.words import WORDS, say
from cogniload_gen.answers.choose_twins import BUDGET, ENOUGH_FAILURES
from cogniload_gen.answers.files import run_of
from cogniload_gen.grid import ORIGINAL

CHANGES = WORDS["changes"]
"""The changes in words (docs/twins.md)."""

_FORMATS = {"change": lambda change: str(CHANGES.get(change, change))}

# The responses of each model with twins, and why it fails, by its verdict's name.
_Explained: TypeAlias = dict[str, tuple[pd.DataFrame, Why]]


def why_sections(explained: _Explained, analysis: Analysis) -> list[Section]:
    """Return what a report says of why each model fails; nothing where none has twins.

    Of each model, the section has the verdict, the figure and an example.
    """
    parts: list[Content] = []
    effects = []
    for number, (name, (rows, why)) in enumerate(explained.items(), start=1):
        effects.append(why.effects.assign(model=name))
        figure = f"{analysis.prefix}why_{name_file(number, name)}"
        content: list[Content] = [why.verdict, _draw_effects(name, why.effects, figure)]
        if cure := show_cure(rows, why, analysis):
            content.append(Section("A failure, and the twin that was solved", cure, folded=True))
        parts.append(Section(name, content))
    if not parts:
        return []
    every = pd.concat(effects, ignore_index=True)
    table = tb.table("why", every, _FORMATS, prefix=analysis.prefix)
    parts.append(Section("The twins in numbers", [table], folded=True))
    return [Section("Why it fails", parts, "why-it-fails", link="Why it fails")]


def explain_models(frame: pd.DataFrame) -> _Explained:
    """Explain each model with twins; of FACTOR, each of its suites by the twins of that suite."""
    by = [name for name in ("model", "suite") if name in frame]
    explained = {}
    for (model, *suite), rows in frame[~is_repair(frame["id"])].groupby(by, observed=True):
        twin = twins.is_twin(rows["id"])
        if twin.any() and not twin.all():
            name = ", ".join([str(model), *(f"{each} suite" for each in suite)])
            explained[name] = rows, twins.explain_failures(rows)
    return explained


def repair_sections(frame: pd.DataFrame, analysis: Analysis) -> list[Section]:
    """Return what a report says of repaired first errors; nothing where no model has any."""
    content: list[Content] = []
    for model, rows in frame.groupby("model", observed=True):
        if repair := explain_repairs(rows):
            table = tb.table("repair", repair.effects.assign(model=model), _FORMATS)
            name = f"{analysis.prefix}repair_{name_file(len(content), str(model))}"
            content.append(Section(str(model), [repair.verdict, replace(table, name=name)]))
    heading = "What the first error does"
    return [Section(heading, content, "repairs", link="Repairs")] if content else []


def add_causes(verdicts: Sequence[Verdict], explained: _Explained) -> list[Verdict]:
    """Return the verdicts of the first screen with what twins say, a cause before the loads."""
    told = []
    for verdict in verdicts:
        said = [verdict.breaks]
        if verdict.name in explained:
            _, why = explained[verdict.name]
            kept = "" if why.causes and verdict.breaks == UNBROKEN else verdict.breaks
            said = [why.verdict[0], kept] if why.causes else [kept, why.verdict[0]]
        told.append(replace(verdict, breaks=" ".join(filter(None, said))))
    return told


def add_next(
    verdicts: Sequence[Verdict],
    explained: _Explained,
    frame: pd.DataFrame,
    price: tuple[float, float] | None,
) -> list[Verdict]:
    """Return the verdicts; those without twins end with how to find the cause, and its price."""
    names, extended = _name_rows(frame), []
    for verdict in verdicts:
        rows = frame[names == verdict.name]
        hint = say_next(rows, price) if len(rows) and verdict.name not in explained else ""
        extended.append(replace(verdict, sentences=[*verdict.sentences, *filter(None, [hint])]))
    return extended


def _name_rows(frame: pd.DataFrame) -> pd.Series:
    """Return the name of the verdict that each response belongs to, as `explain_models` has it."""
    names = frame["model"].astype(str)
    return names + ", " + frame["suite"].astype(str) + " suite" if "suite" in frame else names


def say_causes(frame: pd.DataFrame) -> list[str]:
    """Say for each model of a frame why it fails, or how to find out."""
    explained, originals = explain_models(frame), twins.drop_twins(frame)
    said = [f"{name}: {why.verdict[0]}" for name, (_, why) in explained.items()]
    for name, rows in originals.groupby(_name_rows(originals), sort=False):
        if name not in explained and (hint := say_next(rows, None)):
            said.append(f"{name}: not asked. {hint}")
    return said


def say_next(rows: pd.DataFrame, price: tuple[float, float] | None) -> str:
    """Say how the cause of a model's failures is found, and what that takes; "" where it can't be.

    `rows` are its responses, without twins, and `price` is as for `write_report`.
    """
    file = Path(str(rows["file"].iloc[-1]))
    failures = rows.loc[~rows["correct"].astype(bool), "id"].nunique()
    if not failures or ".jsonl" not in file.suffixes or "answered" in rows:  # of a right trace
        return ""
    if failures < ENOUGH_FAILURES:
        return say("why_few", failures=failures, of=ENOUGH_FAILURES)
    run = run_of(file)
    known = (run / "state" / "run.json").exists()
    place = run if known else file
    if place.is_relative_to(Path.cwd()):
        place = place.relative_to(Path.cwd())
    command = f"cogniload why {shlex.quote(str(place))}{' --model ...' * (not known)}"
    spent = rows[["spent_prompt_tokens", "spent_response_tokens"]].mean(skipna=False).tolist()
    return say("why_next", command=command, takes=say_takes(BUDGET, spent, price))


def say_takes(count: int, spent: Sequence[float], price: tuple[float, float] | None = None) -> str:
    """Say what a number of puzzles takes, at tokens of a prompt and of its response; "" if unknown.

    >>> say_takes(720, (400, 3000), (1, 5))
    ' (at most about 0.29 M tokens of prompts and 2.2 M of responses, at a cost of 11.09)'
    """
    asked = count * np.array(spent) / 1e6
    if np.isnan(asked).any():
        return ""
    cost = f", at a cost of {asked @ price:,.2f}" if price else ""
    prompts, responses = (f"{millions:,.2g} M" for millions in asked)
    return f" (at most about {prompts} tokens of prompts and {responses} of responses{cost})"


def _draw_effects(model: str, effects: pd.DataFrame, name: str) -> Figure:
    """Draw how many puzzles are solved after each change: of failures, and of solved ones."""
    rows = effects[effects["against"] != twins.TAIL]
    changes = list(dict.fromkeys(rows["change"]))
    series = []
    for of, mine in rows.groupby("of"):
        right = mine["turned"] if of == twins.FAILED else mine["puzzles"] - mine["turned"]
        low, high = wilson_interval(right, mine["puzzles"])
        shift = -0.06 if of == twins.FAILED else 0.06  # the two intervals of a change stand apart
        places = mine["change"].map(changes.index) + shift
        share = right / mine["puzzles"]
        series.append(Series(f"{of} before", places, share, low, high, style=POINTS))

    def name_changes(axes: Any) -> None:
        names = [fill(CHANGES.get(change, change), 10) for change in changes]
        axes.set_xticks(range(len(changes)), names)
        axes.set(xlim=(-0.5, len(changes) - 0.5), ylim=(-0.03, 1.03))

    caption = f"Share of puzzles that {model} solves after one change, with 95 % intervals."
    return Figure(name, caption, [Panel(series, "Change", "Solved", finish=name_changes)], 2.4)


def show_cure(rows: pd.DataFrame, why: Why, analysis: Analysis) -> list[Example]:
    """Return the easiest failure that the telling change cures, and its twin; or nothing."""
    names = [twins.split_id(id) for id in rows["id"].astype(str)]
    rows = rows.assign(base=[base for base, _ in names], change=[change for _, change in names])
    cured = rows[rows["base"].isin(why.cures.get(why.telling, ()))]
    if cured.empty:
        return []
    cured = cured.sort_values(list(analysis.growth), kind="stable")
    pair = cured[cured["base"] == cured["base"].iloc[0]].drop_duplicates("change")
    shown = [pair[pair["change"] == change] for change in (ORIGINAL, why.telling)]
    return [describe_response(row, analysis) for row in pd.concat(shown).itertuples()]

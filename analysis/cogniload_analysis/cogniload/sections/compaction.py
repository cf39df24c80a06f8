"""What compactions of conversations lose, and what that costs (docs/compaction.md)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.sections.thresholds import name_ends
from cogniload_analysis.compare.paired import compare_means
from cogniload_analysis.display.figures import Figure, Panel, series_by_model
from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import table
from cogniload_analysis.stats import clustered_interval
from cogniload_analysis.words import say

_CONTROL = "compacted_true"
_BY = ["model", "history"]
_FACT = ["kind", "age", "matter", "fresh"]


def compaction_sections(conversations: Sequence[Mapping[str, Any]]) -> list[Section]:
    """Return the section on rows of `read_conversations`; none without any."""
    if not conversations:
        return []
    facts, costs = facts_table(conversations), costs_table(conversations)
    if facts.empty:
        return [Section("Turn by turn", [table("turns", costs)], "turn-by-turn", link="Turns")]
    both: Any = facts.merge(costs, on=_BY).to_dict("records")
    said = [_say(row, alone=len(both) == 1) for row in both]
    content = [said, _draw(conversations), table("compaction", facts), table("turns", costs)]
    return [Section("What compactions lose", content, "what-compactions-lose", link="Compaction")]


def facts_table(conversations: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return what summaries say of all facts, a row for each model and strategy, the best first.

    Shares come with the ends of 95 % intervals, by puzzles. Columns: model, history (the
    strategy), puzzles, facts (how many there are), kept, lost, changed and invented, which add up
    to 1; kept of those that matter for the rest (`matter`) and of the others (`others`); and
    `anew`, the share that a single summary gets wrong of people of whom the one before was right.
    """
    rows = []
    for by, held in _facts(conversations).groupby(_BY, sort=False):
        parts = {kind: held["kind"] == kind for kind in ("kept", "lost", "changed", "invented")}
        right, matter = parts["kept"], held["matter"] == 1
        anew = ~right[held["fresh"] == 1]
        parts |= {"matter": right[matter], "others": right[~matter], "anew": anew}
        rows.append({"facts": len(held)} | _row(by, parts, held["puzzle"]))
    found = pd.DataFrame(rows)
    return found.sort_values(["model", "kept"], ascending=[True, False]) if rows else found


def costs_table(conversations: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the accuracy of replies by history, a row for each model and history.

    Columns: model, history, puzzles, accuracy of the turns after the first summary (of all turns,
    where no history has any), answer (of the last turn), each with the ends of 95 % intervals.
    Beside the history with the true state of everyone, paired by puzzle: cost, the accuracy less,
    answer_cost, and the shares of turns that are wrong `by_summary` (it is wrong about what the
    turn reads, and with the true state the turn is right), by `both` (it is not), and by
    `reasoning` (the summary has all that the turn reads). The last three add up to the wrong turns.
    """
    rows = []
    for by, held in _turns(conversations).groupby(_BY, sort=False):
        right, control, last = held["right"], held["control"], held["left"] == 0
        lost, apart = 1 - held["held"], (control - right).dropna()
        causes = {"by_summary": lost * control, "both": lost * (1 - control)}
        causes["reasoning"] = (1 - lost)[control.notna()]
        parts = {name: ((1 - right) * part).dropna() for name, part in causes.items()}
        row = _row(by, {"accuracy": right, "answer": right[last]} | parts, held["puzzle"])
        for name, some in (("cost", apart), ("answer_cost", apart[last])):
            if len(means := some.groupby(held["puzzle"]).mean().to_numpy()):
                row |= name_ends(name, compare_means(means))
        rows.append(row)
    return pd.DataFrame(rows)


def _row(by: Any, parts: Mapping[str, pd.Series], puzzles: pd.Series) -> dict[str, Any]:
    """Return a row with mean shares and the ends of their intervals; NaN of none.

    Puzzles are clusters, with as many facts or turns as they have.
    """
    row = dict(zip(_BY, by, strict=False)) | {"puzzles": puzzles.nunique()}
    for name, values in parts.items():
        found = values.mean(), np.nan, np.nan
        if len(values):
            sums = (values - found[0]).groupby(puzzles).sum()
            shares = found[0] + sums * len(sums) / len(values)
            found = found[0], *clustered_interval(shares.to_numpy(float))
        row |= zip((name, f"{name}_low", f"{name}_high"), found, strict=True)
    return row


def _facts(conversations: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a row for each fact at each summary."""
    rows = [
        (*(each[name] for name in (*_BY, "puzzle")), *fact)
        for each in conversations
        for summary in each.get("summaries", ())
        for fact in zip(*(summary[name] for name in _FACT), strict=True)
    ]
    return pd.DataFrame(rows, columns=[*_BY, "puzzle", *_FACT])


def _turns(conversations: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a row for each turn after a first summary, with the control's accuracy there."""
    parts = []
    for each in conversations:
        count, about = len(each["right"]), {name: each[name] for name in (*_BY, "puzzle")}
        part = {"right": each["right"], "held": each.get("held"), "left": range(count)[::-1]}
        about |= {"plain": "strategy" not in each, "turn": range(count)}
        parts.append(pd.DataFrame(part, dtype=float).assign(**about))
    turns, at = pd.concat(parts, ignore_index=True), ["model", "puzzle", "turn"]
    true = turns["history"] == _CONTROL
    turns = turns.join(turns[true].groupby(at)["right"].mean().rename("control"), on=at)
    turns["control"] = turns["control"].mask(true)
    first = turns[turns["held"].notna()].groupby("model")["turn"].min()
    later = turns["turn"] >= turns["model"].map(first).fillna(0)
    return turns[turns["held"].notna() | turns["plain"] & later]


def _say(row: Mapping[str, Any], *, alone: bool) -> str:
    """Say what the summaries of a strategy keep, and what the lost facts cost."""
    who = "Summaries" if alone else f"{row['model']}, {row['history']}: summaries"
    told = {name: 100 * row[name] for name in row if name.startswith(("kept", "cost"))}
    if np.isnan(low := told.get("cost_low", np.nan)):
        return say("compaction_kept", who=who, **told)
    return say("compaction_cost" if low > 0 else "compaction_free", who=who, **told)


def _draw(conversations: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the facts that are kept by the statements since they were told, in doubling steps."""
    facts = _facts(conversations)
    facts["band"], rows = np.ceil(np.log2(facts["age"] + 1)), []
    for (model, history, _), held in facts.groupby([*_BY, "band"], sort=False):
        label = f"{model}, {history}" if facts["model"].nunique() > 1 else str(history)
        row = _row([label], {"y": held["kind"] == "kept"}, held["puzzle"])
        rows.append(row | {"x": held["age"].mean()})
    series = series_by_model(pd.DataFrame(rows).sort_values("x"), "x", "y", "y_low", "y_high")
    panel = Panel(series, "Statements since a fact was told", "Facts kept")
    return Figure("compaction", say("compaction"), [panel])

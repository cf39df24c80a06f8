"""What a first wrong step does to the rest of a response: repaired, or planted (docs/repair.md).

A model goes on from its own text. Of a failure, the text ends behind the first wrong step, which is
kept, reworded or corrected, or before it, so that it is drawn again; of a right response, behind a
step that is kept, reworded or made wrong (planted). Effects are paired over the responses that have
both.

Responses were chosen by how they ended. So what a changed step is compared with must be drawn anew,
too: kept is, unless its answers repeat those that were chosen, as greedy decoding has it; reworded
always is, as its words are others.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from cogniload_analysis.compare.paired import Difference, compare_means
from cogniload_analysis.compare.why import FAILED, SOLVED, compare_changes, count_repeats
from cogniload_analysis.samples.copies import say_repeats
from cogniload_analysis.stats import wilson_interval
from cogniload_analysis.words import WORDS, say
from cogniload_gen.benchmark import CORRECTED, CUTS, KEPT, PLANTED, REDRAWN, REWORDED
from cogniload_gen.grid import ORIGINAL, change_of, split_twin

# Where a step is among the statements.
_DEPTHS = ("all", "first third", "second third", "last third")

# Fewest repaired failures that say what their first errors are.
_ENOUGH_REPAIRS = 30

# What a second draw of the step says, by the cause.
_MEANS = WORDS["redrawn"]


@dataclass(frozen=True, eq=False)
class Repair:
    """What the first wrong steps of one model do.

    Attributes:
        effects: A row for each change and each depth: how many `puzzles`, the share of them
            solved and that of what it is `against`, and their difference, with its 95 % interval
            and p. Against "original" there is none: only the change was drawn anew.
        causes: What the first errors are: "error" if correcting them solves more, and "heals",
            "chance" or "inability" if half of what that solves, or more, is solved with the error
            kept, or else with the step drawn again, or if less is.
        repeats: That steps drawn again are those of the failures, if most are; else "".
    """

    effects: pd.DataFrame
    causes: tuple[str, ...]
    repeats: str = ""

    @property
    def verdict(self) -> list[str]:
        """What the repairs say, in up to three sentences."""
        said = []
        for row in self.effects[self.effects["depth"] == _DEPTHS[0]].to_dict("records"):
            solves = _show(row["share"], *wilson_interval(row["turned"], row["puzzles"]))
            apart = _show(row["difference"], row["low"], row["high"])
            if row["change"] == CORRECTED:
                counts = {"puzzles": row["puzzles"], "alone": 100 * row["against_share"]}
                said.append(say(f"repaired_{row['against']}", solves=solves, apart=apart, **counts))
            elif row["change"] == REDRAWN:
                means = [_MEANS[cause] for cause in self.causes if cause in _MEANS]
                said.append(f"With that step drawn again, {solves} are solved{''.join(means)}.")
            elif row["against"] == PLANTED and row["change"] != ORIGINAL:
                said.append(f"An error planted in right responses makes {apart} of them fail.")
        return [*said, *filter(None, [self.repeats])]


def _show(share: float, low: float, high: float) -> str:
    return f"{100 * share:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def is_repair(ids: "pd.Series[str]") -> "pd.Series[bool]":
    """Return which ids are those of repairs."""
    return ids.astype(str).map(change_of).isin(CUTS)


def explain_repairs(frame: pd.DataFrame) -> Repair | None:
    """Say what one model's first wrong steps do; None where no response was repaired.

    The frame has one row per response, with the columns id, correct and N, as `read_samples`
    returns them: of the puzzles, and of the responses that go on from their texts.
    """
    if not is_repair(frame["id"]).any():
        return None
    named = frame["id"].astype(str).str.partition("~")
    split = [split_twin(twin) for twin in named[2]]
    rows = frame.assign(base=named[0], change=[change or ORIGINAL for change, _ in split])
    rows["depth"] = [step for _, step in split] / rows["N"]
    rows = rows.drop_duplicates(["base", "change"])
    wide = rows.pivot(index="base", columns="change", values="correct").astype(float)
    wide = wide.reindex(columns=[ORIGINAL, *CUTS]).dropna(subset=[ORIGINAL])
    greedy = "greedy" in frame and bool(frame["greedy"].all())
    for change in (KEPT, REDRAWN):
        same, of, void = count_repeats(frame, {change: ORIGINAL})
        if void or (greedy and not of):
            wide[change] = np.nan
    repeats = (
        f"With that step drawn again, {say_repeats(same, of, void=void, greedy=greedy)}." * void
    )
    controls = (KEPT, REWORDED) if "said" in frame and not greedy else (REWORDED, KEPT)
    control = next((change for change in controls if wide[change].notna().any()), ORIGINAL)
    compared = [(FAILED, change, control) for change in (CORRECTED, REDRAWN)]
    compared += [(SOLVED, control, PLANTED), (FAILED, REWORDED, KEPT), (SOLVED, REWORDED, KEPT)]
    depth = rows[rows["change"].isin(CUTS)].drop_duplicates("base").set_index("base")["depth"]
    wide["of"] = np.where(wide[ORIGINAL] == 1, SOLVED, FAILED)
    third = pd.cut(depth.reindex(wide.index), [-1, 1 / 3, 2 / 3, 1], labels=_DEPTHS[1:])
    parts = {_DEPTHS[0]: third.notna()} | {name: third == name for name in _DEPTHS[1:]}
    effects = [
        compare_changes(wide[(wide["of"] == of) & part], change, against)
        | {"of": of, "depth": name}
        for of, change, against in compared
        for name, part in parts.items()
    ]
    table = pd.DataFrame([row for row in effects if row["puzzles"]])
    if table.empty:
        return None
    if control == ORIGINAL:
        table[["difference", "low", "high", "p"]] = np.nan
    return Repair(table, _name_causes(wide[wide["of"] == FAILED], control), repeats)


def _name_causes(failed: pd.DataFrame, control: str) -> tuple[str, ...]:
    """Return what the first errors of failures are, as far as it is beyond chance."""
    wrong, corrected, redrawn = (failed[name] for name in (control, CORRECTED, REDRAWN))
    if control == ORIGINAL or (corrected - wrong).count() < _ENOUGH_REPAIRS:
        return ()
    causes = ["error"] * bool(_mean(corrected - wrong).low > 0)
    if _mean(wrong - corrected / 2).low > 0:
        causes.append("heals")
    elif causes and redrawn.notna().any():
        most = _mean(redrawn - (wrong + corrected) / 2)
        causes += ["chance"] * bool(most.low > 0) + ["inability"] * bool(most.high < 0)
    return tuple(causes)


def _mean(apart: "pd.Series[float]") -> Difference:
    return compare_means(apart.dropna().to_numpy())

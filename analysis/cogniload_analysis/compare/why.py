"""Why a model fails: its responses to puzzles beside those to their twins (docs/twins.md).

A twin has the id of its puzzle and one change behind "~". Each effect is paired over the puzzles
that have both twins of it. Puzzles that were chosen because they failed look better when they are
tried again, so a change is compared with `again`, not with the failure: unless second attempts only
repeat the first ones, as those of greedy decoding do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from cogniload_analysis.compare.causes import Misfit, count_trials, explain_trials
from cogniload_analysis.compare.paired import SIGNIFICANT, adjust, compare_solved
from cogniload_analysis.samples.copies import is_repeated, say_repeats
from cogniload_analysis.stats import wilson_interval
from cogniload_analysis.words import WORDS, say
from cogniload_gen.answers.choose_twins import ENOUGH_FAILURES
from cogniload_gen.grid import ORIGINAL, change_of

_AGAIN, _ONLY, NEEDLES, TAIL = "again", "only", "needles", "tail"
FAILED, SOLVED = "failed", "solved"

# Changes whose text is that of another one.
_SAME_PROMPT = {_AGAIN: ORIGINAL, "hay=0": NEEDLES}

# Changes whose number is the same for all puzzles, and says what they are.
_NUMBERED = ("hay=0", "context=0")

# Changes whose success is none of the puzzle's: they are about another answer.
_NO_CURE = ("until", _ONLY, "question=state")

# A cause that may have this share of the slips is not excluded beside those that are named.
_NOT_EXCLUDED = 1 / 3

# Share of failures that a second attempt solves: above it, they may be luck.
_LEAST_LUCK = 0.05

# Level of the intervals by which a change cures more puzzles than it breaks: several are tried.
_SURE_CURE = 0.99


@dataclass(frozen=True, eq=False)
class Why:
    """Why a model fails, from its responses to puzzles and to their twins.

    Attributes:
        effects: For the puzzles that failed (which a change may cure) and the solved controls
            (which it may break), a row for each change: the share whose result turned, that of what
            it is compared `against`, their difference with its 95 % interval, p and Holm's p.
        causes: The causes that are named, by their names in the sentences, the strongest first.
        cures: For each change that cures, the ids of the failures that it cures.
        shares: The share of the expected slips that each cause of CogniLoad's explains, in one fit
            of them all, with its 95 % interval; None for FACTOR.
        repeats: What the texts of second attempts say of them, "" if nothing.
        misfit: What the best explanation of all twins misses; None if it misses nothing.
    """

    effects: pd.DataFrame
    causes: tuple[str, ...]
    cures: Mapping[str, tuple[str, ...]]
    shares: pd.DataFrame | None = None
    repeats: str = ""
    misfit: Misfit | None = None

    @property
    def failures(self) -> int:
        """How many failures were tried with a change."""
        return max(self.effects.loc[self.effects["of"] == FAILED, "puzzles"], default=0)

    @property
    def verdict(self) -> list[str]:
        """The verdict, in at most four lines: the causes, then what shows them."""
        if not self.failures:
            return ["No puzzle with twins failed, so there is no failure to explain."]
        rows = _rows(self.effects, FAILED)
        by_change = {change: row for (change, against), row in rows.items() if against != TAIL}
        counts = "counts if it cures more puzzles than it breaks"
        tried = f"Of {self.failures} failures, "
        if _AGAIN in by_change:
            tried += f"{by_change[_AGAIN]['turned']} are solved by a second attempt"
            tried += f" ({self.repeats})." if self.repeats else "."
        elif self.repeats:
            tried = (
                f"{self.failures} failures, and solved puzzles as controls, had one thing changed; "
                f"a change {counts}. {self.repeats}"
            )
        else:
            tried += f"none was tried again unchanged, so luck is unknown: a change {counts}."
        said = [self._say_causes(by_change), tried]
        if (NEEDLES, TAIL) in rows:
            row = rows[NEEDLES, TAIL]
            shares = {"share": 100 * row["share"], "against": 100 * row["against_share"]}
            said.append(say("without_hay", **shares, points=_show_points(row)))
        if _ONLY in by_change:
            row = by_change[_ONLY]
            said.append(say("step_alone", turned=row["turned"], puzzles=row["puzzles"]))
        return said

    def _say_causes(self, by_change: Mapping[str, Mapping[Any, Any]]) -> str:
        """Say the causes with their intervals, or why there is none."""
        if self.failures < ENOUGH_FAILURES:
            return say("few_failures", failures=self.failures, of=ENOUGH_FAILURES)
        if not self.causes and self.misfit:
            change, failed, seen, expected = self.misfit
            shares = {"seen": 100 * seen, "expected": 100 * expected}
            of = "failed" if failed else "were solved"
            return say("no_cause_fits", change=WORDS["changes"][change], of=of, **shares)
        rows = [] if self.shares is None else self.shares.to_dict("records")
        by_cause: dict[str, Any] = {str(row["cause"]): row for row in rows}
        others = " and ".join(
            f"{_CAUSES[cause][0].partition(':')[0]} ({_show_ends(row)} % of its errors)"
            for cause, row in by_cause.items()
            if cause not in self.causes and row["high"] >= _NOT_EXCLUDED
        )
        if not self.causes:
            return say("causes_open" if others else "no_cause", others=others)
        named = []
        for cause in self.causes:
            name, change = _CAUSES[cause]
            row = by_cause.get(cause)
            named.append(f"{name} ({_show_share(row) if row else _show_points(by_change[change])})")
        beside = say("not_excluded", others=others) if others else ""
        return f"It fails because of {' and '.join(named)}.{beside}"

    @property
    def telling(self) -> str:
        """The change that shows the strongest cause; without a cause, the one that cures most."""
        change = _CAUSES[self.causes[0]][1] if self.causes else ""
        most = max(self.cures, key=lambda change: len(self.cures[change]), default="")
        return change if self.cures.get(change) else most


def _show_share(row: Mapping[Any, Any]) -> str:
    return f"{100 * row['share']:.0f} % of its errors, 95 % interval {_show_ends(row)}"


def _show_ends(row: Mapping[Any, Any]) -> str:
    return f"{100 * row['low']:.0f} to {100 * row['high']:.0f}"


def _show_points(row: Mapping[Any, Any]) -> str:
    ends = " to ".join(f"{100 * row[end]:+.0f}" for end in ("low", "high"))
    return f"{100 * row['difference']:+.0f} points, 95 % interval {ends}"


def split_id(id: str) -> tuple[str, str]:
    """Return the id of a puzzle and its change, "original" for none.

    Numbers that may differ from puzzle to puzzle are left out: "only" for only=17.
    """
    base, _, twin = id.partition("~")
    return base, twin if twin in _NUMBERED else change_of(id)


TWINS_ALONE = say("twins_alone")


def is_twin(ids: "pd.Series[Any]") -> "pd.Series[bool]":
    """Return which ids are those of twins."""
    return ids.astype(str).str.contains("~", regex=False)


def drop_twins(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the responses to puzzles without those to twins, and without models of twins alone."""
    if not (twins := is_twin(frame["id"])).any():
        return frame
    return frame[~twins].assign(model=frame["model"][~twins].cat.remove_unused_categories())


def explain_failures(*frames: pd.DataFrame) -> Why:
    """Explain one model's failures from its responses to puzzles and to their twins.

    The frames have one row per response, with the columns id and correct, as `read_samples` and
    `read_factor_samples` return them: of the puzzles and of their twins. The first response to each
    counts. With the columns said and greedy, second attempts that repeat the first count for
    nothing. Raises ValueError where no puzzle has a twin, or where there are several models.

    >>> ids = ["p", "p~needles", "q", "q~needles"]
    >>> why = explain_failures(pd.DataFrame({"id": ids, "correct": [0, 1, 0, 0]}))
    >>> why.effects[["change", "puzzles", "share"]].to_dict("records")
    [{'change': 'needles', 'puzzles': 2, 'share': 0.5}]
    """
    frame, repeats = _drop_repeats(pd.concat(frames, ignore_index=True))
    results = frame["correct"][~is_twin(frame["id"])].astype(float)
    wide = _pair(frame)
    parts = [_effects(mine, SOLVED if right else FAILED) for right, mine in wide.groupby(ORIGINAL)]
    effects = pd.concat(parts, ignore_index=True)
    cured = wide[wide[ORIGINAL] == 0].drop(columns=[ORIGINAL, *_NO_CURE], errors="ignore")
    cures = {str(change): tuple(cured.index[cured[change] == 1]) for change in cured}
    trials = count_trials(frame)
    fitted, shares, misfit = explain_trials(trials) if trials else (None, None, None)
    why = Why(effects, _name_causes(effects, results, fitted), cures, shares, repeats, misfit)
    return why if why.failures >= ENOUGH_FAILURES else replace(why, causes=())


def _drop_repeats(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return responses without second attempts that only repeat the first ones, and say so.

    That is so if more than half do; and under greedy decoding, unless the texts show the contrary.
    """
    same, of, void = count_repeats(frame, _SAME_PROMPT)
    greedy = "greedy" in frame and bool(frame["greedy"].all())
    said = say_repeats(same, of, void=void, greedy=greedy)
    if not (void if of else greedy):
        return frame, said if same else ""
    changes = [split_id(id)[1] for id in frame["id"].astype(str)]
    twice = [change for change, first in _SAME_PROMPT.items() if first in changes]
    kept = frame[~pd.Series(changes, frame.index).isin(twice)].reset_index(drop=True)
    usual = "Decoding was greedy: a second attempt would only repeat the first."
    return kept, f"{said}, so no change is compared with them." if of else usual


def count_repeats(frame: pd.DataFrame, of: Mapping[str, str]) -> tuple[int, int, bool]:
    """Return how many responses to changes say what those to others say, of how many; if too many.

    `of` names, for some changes, the one with the same prompt. Texts that aren't known don't count.
    """
    if "said" not in frame:
        return 0, 0, False
    wide, right = _widen(frame, "said"), _widen(frame, "correct")
    pairs = [
        pd.DataFrame({"same": known[change] == known[first], "right": right[first][known.index]})
        for change, first in of.items()
        if {change, first} <= {*wide}
        for known in [wide[[change, first]].replace("", None).dropna()]
    ]
    tried = pd.concat(pairs) if pairs else pd.DataFrame({"same": [], "right": []})
    return int(tried["same"].sum()), len(tried), is_repeated(tried["same"], tried["right"])


def _widen(frame: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return a column of the first responses: one row per puzzle, one column per change."""
    named = pd.DataFrame(map(split_id, frame["id"].astype(str)), columns=["base", "change"])
    first = named.assign(what=frame[what].to_numpy()).drop_duplicates(["base", "change"])
    return first.pivot(index="base", columns="change", values="what")


def _pair(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the results of puzzles that have twins: one row per puzzle, one column per change."""
    models = frame["model"].astype(str).unique() if "model" in frame else ()
    if len(models) > 1:
        raise ValueError(f"twins are explained for one model, got {', '.join(models)}")
    wide = _widen(frame.assign(correct=frame["correct"].astype(float)), "correct")
    if ORIGINAL in wide:
        wide = wide[wide[ORIGINAL].notna() & (wide.notna().sum(axis=1) > 1)]
    if ORIGINAL not in wide or wide.empty:
        raise ValueError("no twins of puzzles that were answered too: see `cogniload why`")
    return wide


def _effects(wide: pd.DataFrame, of: str) -> pd.DataFrame:
    """Return the effects on puzzles of the same result, one column per change."""
    turned = wide.ne(wide[ORIGINAL], axis=0).astype(float).where(wide.notna())
    base = _AGAIN if _AGAIN in wide else ORIGINAL
    pairs = [(_AGAIN, ORIGINAL)] * (base == _AGAIN)
    pairs += [(str(change), base) for change in wide if change not in (_AGAIN, ORIGINAL)]
    pairs += [(NEEDLES, TAIL)] * ({NEEDLES, TAIL} <= {*wide})
    rows = [compare_changes(turned, change, against) for change, against in pairs]
    table = pd.DataFrame([row for row in rows if row["puzzles"]])
    family = ~table["change"].isin([_AGAIN, *_NO_CURE]) & (table["against"] != TAIL)
    table["p_holm"] = adjust(table["p"].where(family).tolist())
    return table.assign(of=of)


def compare_changes(turned: pd.DataFrame, change: str, against: str) -> dict[str, Any]:
    """Return a row of `Why.effects`, from what turned: 1 or 0 for a puzzle, by change."""
    both = turned[[change, against]].dropna()
    mine, theirs = (both[name].to_numpy() for name in (change, against))
    row = {"change": change, "against": against, "puzzles": len(both)}
    if both.empty:
        return row
    found = compare_solved(int((mine > theirs).sum()), int((mine < theirs).sum()), len(both))
    apart = dict(zip(("difference", "low", "high", "p"), map(float, found), strict=True))
    if against == ORIGINAL:  # no original turns: the interval is that of a share
        low, high = wilson_interval(mine.sum(), len(both))
        apart |= {"low": float(low), "high": float(high)}
    shares = {"turned": int(mine.sum()), "share": mine.mean(), "against_share": theirs.mean()}
    return row | shares | apart


# Each cause in words, and the change that shows it by its cures.
_CAUSES = WORDS["causes"]


def _name_causes(
    effects: pd.DataFrame, results: "pd.Series[float]", fitted: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the causes that the fit of all twins names, and those that other changes cure.

    `results` are those of all puzzles of the run. It is luck only if no other change cures more,
    and if the same puzzle was tried again.
    """
    failed, solved = _rows(effects, FAILED), _rows(effects, SOLVED)
    cures = {
        change: row
        for (change, against), row in failed.items()
        if row["p_holm"] < SIGNIFICANT and row["difference"] > 0 and against != TAIL
        and (against == _AGAIN or _outweighs(row, solved.get((change, against)), results))
    }  # fmt: skip
    causes = [*(fitted or ())]
    by_change = {change: cause for cause, (_, change) in _CAUSES.items()}
    shorter = fitted is not None or NEEDLES in cures  # with its beginning, too
    skipped = {"", _AGAIN, NEEDLES, TAIL} | ({"from"} if shorter else set())
    others = sorted(cures.keys() & by_change.keys() - skipped, key=lambda c: -cures[c]["share"])
    causes += [by_change[change] for change in others]
    again = failed.get((_AGAIN, ORIGINAL))
    lucky = again and wilson_interval(again["turned"], again["puzzles"])[0] > _LEAST_LUCK
    if lucky and not causes and fitted is None:
        causes.append("luck")
    return tuple(cause for cause in causes if cause != "luck" or (lucky and not others))


def _outweighs(
    cured: Mapping[Any, Any], broken: Mapping[Any, Any] | None, results: "pd.Series[float]"
) -> bool:
    """Tell whether a change surely cures more of a run's puzzles than it breaks.

    It stands in for a second attempt: chance alone cures failures, and breaks as many. The margin
    is that of the three shares' Wilson intervals, squared and added.
    """
    if not broken:
        return not results.any()
    turned = pd.Series([(results == 0).sum(), cured["turned"], broken["turned"]])
    puzzles = pd.Series([len(results), cured["puzzles"], broken["puzzles"]])
    low, high = wilson_interval(turned, puzzles, _SURE_CURE)
    failed, cure, harm = turned / puzzles
    room = pd.Series([failed - low[0], cure - low[1], high[2] - harm])
    room *= [cure + harm, failed, 1 - failed]
    return bool(failed * cure - (1 - failed) * harm > (room**2).sum() ** 0.5)


def _rows(effects: pd.DataFrame, of: str) -> dict[tuple[str, str], Mapping[Any, Any]]:
    """Return the effects on the puzzles of one result, by the change and what it is against."""
    rows = effects[effects["of"] == of].to_dict("records")
    return {(row["change"], row["against"]): row for row in rows}

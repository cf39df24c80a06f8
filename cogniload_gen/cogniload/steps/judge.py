"""What a response says of each statement -> where its tracking of the person of interest breaks.

The transcript that a reader model made of the response is held against the solver, by J1 to J4 of
transcript.py and these:

J5. Errors. The first error is at the first statement with a value that is not the PoI's, or with a
    verdict in plain words that is wrong and changes the state. A value that some statement since it
    was last told right has replaced went stale there. A changing statement that is never told, and
    whose update never shows, is "skipped", or "stopped" if nothing is told after it. Kinds are
    those of S8 (first_error.py).
J6. Reading. Nothing is claimed unless the response gives a value and tells at least half of the
    changing statements, up to the error where there is one; nor where it leaves out several, where
    a quarter of the records had to be dropped, or where what is claimed rests on a statement of
    which all records, or some of their values, were dropped; nor against the scorer's answer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cogniload_gen.cogniload.score import WRONG_LOGIC, language_of_row, score_row
from cogniload_gen.cogniload.solve import State
from cogniload_gen.cogniload.steps.first_error import Steps
from cogniload_gen.cogniload.steps.transcript import Account, Puzzle, Stated, Statement, gather
from cogniload_gen.transcripts import MOST_DROPPED, quoted

_UNREAD = "unread"

_Error = tuple[int | None, str | None]
"""The statement of the first error, and its kind; None for both if there is none."""


def _find_error(account: Account, puzzle: Puzzle) -> _Error:
    for t, statement in enumerate(account.statements):
        if wrong := statement.wrong(puzzle.truth[t]):
            at, first = min((_origin(t, each, account, puzzle), each) for each in wrong)
            if at == t:
                return t, _kind(t, wrong, statement, puzzle)
            before = account.statements[at]  # what comes later in the text was not known there
            known = before if (before.place or 0) < first.told.start else Statement()
            return at, _kind(at, [], known, puzzle)
        if _verdict_is_wrong(t, statement, puzzle):
            if not statement.is_plain:
                return None, _UNREAD
            skipped = _skipped_before(t, account, puzzle)
            return (skipped, "skipped") if skipped else (t, _kind(t, [], statement, puzzle))
        if (
            t in puzzle.changing
            and statement.values
            and not any(_changes_shown(t, account, puzzle))
        ):
            return t, "wrong_value"
    return _find_gap(account, puzzle)


def _find_gap(account: Account, puzzle: Puzzle) -> _Error:
    """Return the first error of a response in which nothing that is told is wrong."""
    last = max(
        (t for t, statement in enumerate(account.statements) if statement.is_told), default=0
    )
    hidden = [t for t in puzzle.changing if not _shows(t, account, puzzle)]
    asked = puzzle.solution.category
    for answer in account.final.wrong(puzzle.truth[-1]):
        if asked in answer.categories:
            at = _origin(puzzle.N + 1, answer, account, puzzle)
            if at > puzzle.N or account.statements[at].is_told:
                return None, _UNREAD if hidden else "answer"
            hidden = [t for t in hidden if t > last] if at > last else [at]
    if len(hidden) > 1 and hidden[0] <= last:
        return None, _UNREAD
    return (hidden[0], "stopped" if hidden[0] > last else "skipped") if hidden else (None, None)


def _shows(t: int, account: Account, puzzle: Puzzle) -> bool:
    """Return whether the text tells a changing statement, or shows later that it was applied."""
    return account.statements[t].is_told or any(_changes_shown(t, account, puzzle))


def _changes_shown(t: int, account: Account, puzzle: Puzzle) -> Iterator[bool]:
    """Yield, for each category that a statement changes, whether the text has its new value."""
    before, after = puzzle.truth[t - 1], puzzle.truth[t]
    later = [
        *zip(puzzle.truth, account.statements, strict=True),
        (puzzle.truth[-1], account.final),
    ][t:]
    for category in (name for name in after if after[name] != before[name]):
        told: list[Stated] = []
        for state, statement in later:
            if state[category] != after[category]:
                break
            told += statement.values.values()
        yield any(category in e.categories and e.told.value == after[category] for e in told)


def _verdict_is_wrong(t: int, statement: Statement, puzzle: Puzzle) -> bool:
    """Return whether a verdict is wrong, changes the state, and no value outweighs it."""
    if t == 0 or statement.applies in (None, puzzle.needles[t - 1]):
        return False
    before, gives = puzzle.truth[t - 1], puzzle.solution.statements[t - 1][1]
    changed = {name for name, value in gives.items() if before[name] != value}
    return bool(changed) and not any(
        changed & {*each.categories} for each in statement.values.values()
    )


def _skipped_before(t: int, account: Account, puzzle: Puzzle) -> int | None:
    """Return the untold changing statement without which the verdict on statement t is right."""
    for skipped in (k for k in puzzle.changing if k < t and not _shows(k, account, puzzle)):
        state, meets = puzzle.truth[skipped - 1], False
        for k in range(skipped + 1, t + 1):
            needs, gives = puzzle.solution.statements[k - 1]
            meets, applies = needs.items() <= state.items(), account.statements[k].applies
            state = state | gives if (meets if applies is None else applies) else state
        if meets == account.statements[t].applies:
            return skipped
    return None


def _origin(t: int, wrong: Stated, account: Account, puzzle: Puzzle) -> int:
    """Return the statement at which a value that is wrong after t went stale; else t.

    It is looked for back to where the text, so far, has the category right.
    """
    if len(wrong.categories) > 1:
        return t
    (category,), value = wrong.categories, wrong.told.value
    for at in range(min(t, puzzle.N), 0, -1):
        told = account.statements[at].values.get(wrong.categories)
        if told and told.told.start < wrong.told.start:
            break
        if puzzle.truth[at - 1][category] == value != puzzle.truth[at][category]:
            return at
    return t


def _kind(t: int, wrong: Sequence[Stated], statement: Statement, puzzle: Puzzle) -> str:
    """Return the kind of the first error, which is at statement t, by the wrong values there."""
    if t == 0:
        return "initial"
    before, gives = puzzle.truth[t - 1], puzzle.solution.statements[t - 1][1]
    if not puzzle.needles[t - 1]:
        values = ((gives.get(name), each) for each in wrong for name in each.categories)
        given = any(value == each.told.value for value, each in values)
        return (
            "intruded" if statement.applies or (given and statement.applies is None) else "drifted"
        )
    if not statement.is_told:
        return "skipped"
    if statement.applies is False or (
        not statement.applies and all(each.fits(before) for each in wrong)
    ):
        return "missed" if before != puzzle.truth[t] else "drifted"
    updated = any(name in gives for each in wrong for name in each.categories)
    return "wrong_value" if updated or not wrong else "drifted"


def judge_transcript(transcript: object, text: str, row: Mapping[str, Any]) -> Steps:
    """Return where a response breaks, by what a reader model wrote down of it (J1 to J6).

    `transcript` is a list of records as docs/steps.md has them, and `row` needs the column
    `puzzle`. ValueError for a transcript that is no list, and for a row that is no puzzle.
    """
    puzzle = Puzzle.of(row["puzzle"], language_of_row(row))
    found = quoted(transcript, text)
    account = gather(found.records, puzzle, text)
    first, error = _find_error(account, puzzle)
    decided = tuple(t for t, statement in enumerate(account.statements) if t and statement.is_told)
    counts = {"records": account.records, "dropped": found.dropped + account.dropped}
    about: dict[str, Any] = {"decided": decided, "coverage": len(decided) / puzzle.N, **counts}
    changing = [t for t in puzzle.changing if first is None or t < first]
    shown = sum(_shows(t, account, puzzle) for t in changing)
    values = any(statement.values for statement in account.statements)
    doubted = account.lost.intersection([*changing, first if first is not None else 0])
    much = MOST_DROPPED * counts["dropped"] > sum(counts.values())
    is_told = values and decided and 2 * shown >= len(changing)
    if error == _UNREAD or not is_told or doubted or much or _is_gainsaid(error, text, row):
        return Steps(**about)
    broken: dict[str, Any] = {"recovered": False} if error else {}
    if first is not None:
        states, statement = _follow(first, error, account, puzzle), account.statements[first]
        right = (t for t in range(first + 1, puzzle.N + 1) if states[t] == puzzle.truth[t])
        back = min(right, default=None)
        wrong = statement.wrong(puzzle.truth[first])
        place = wrong[0].told.start if wrong else statement.place
        broken = {"recovered": back is not None, "recovered_at": back}
        broken |= {"taken": states[first], "place": place}
    told = {
        t: {
            each.categories[0]: each.told
            for each in statement.values.values()
            if not each.categories[1:]
        }
        for t, statement in enumerate(account.statements)
        if statement.values
    }
    begins = {t: each.place for t, each in enumerate(account.statements) if each.place is not None}
    broken |= {"corrections": tuple(account.corrections), "begins": begins}
    return Steps(told, first_error=first, error=error, read=True, **about, **broken)


def _is_gainsaid(error: str | None, text: str, row: Mapping[str, Any]) -> bool:
    """Return whether the scorer reads another answer than one without an error, or with one."""
    if error not in (None, "answer") or not {"answer", "options", "poi", "category"} <= row.keys():
        return False
    outcome = score_row(text, row).outcome
    return outcome.correct if error else outcome in WRONG_LOGIC


def _follow(first: int, error: str | None, account: Account, puzzle: Puzzle) -> dict[int, State]:
    """Return what the response takes the PoI's states to be, from its first error on."""
    states, state = {}, puzzle.truth[max(first - 1, 0)]
    for t in range(first, puzzle.N + 1):
        statement = account.statements[t]
        needs, gives = puzzle.solution.statements[t - 1] if t else ({}, {})
        applies = statement.applies
        if t == first:
            applies = error in ("intruded", "wrong_value")
        elif applies is None:
            applies = needs.items() <= state.items() and error != "stopped"
        own = (each for each in statement.values.values() if len(each.categories) == 1)
        state = state | (gives if applies else {}) | {e.categories[0]: e.told.value for e in own}
        states[t] = state
    return states


# --- the format that is read exactly

_LINE = re.compile(r"^[ \t>*#-]*(\d{1,7})[.):][ \t]+(.+)$", re.MULTILINE)
_MOST_WORDS = 5  # of a value


def read_lines(text: str) -> list[dict[str, Any]]:
    """Return the records of a response that has a line a statement, as puzzles with `steps` ask.

    Examples:
        >>> [record["values"] for record in read_lines("1. blue socks; park\\nAnn is in the park.")]
        [['blue socks', 'park'], ['Ann is in the park.']]
    """
    records: list[dict[str, Any]] = []
    for line in _LINE.finditer(text):
        values = [value.strip() for value in line[2].split(";")]
        if all(len(value.split()) <= _MOST_WORDS for value in values):
            records.append({"k": int(line[1]), "values": values, "quote": line[0]})
    last = text.rstrip().rpartition("\n")[2]
    return [*records, {"k": "final", "values": [last], "quote": last}] if records else []

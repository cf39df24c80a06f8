"""A response -> its text up to a step that is kept, reworded, corrected, left out or made wrong.

A place in a response is exact only where the reader of steps gives the value that the text tells
after a statement. So an error is repaired if its statement has a wrong value in the text, and the
reader finds the error no more once that value is the true one. A reworded step is read as it was.
"""

import re
from collections.abc import Mapping

from cogniload_gen.answers.reasoning import blank_marks
from cogniload_gen.benchmark import CORRECTED, KEPT, PLANTED, REDRAWN, REWORDED, Cut
from cogniload_gen.claims import Told
from cogniload_gen.cogniload.ontology import WORDS
from cogniload_gen.cogniload.score import language_of_row
from cogniload_gen.cogniload.solve import Solution, State, solve_steps
from cogniload_gen.cogniload.steps.first_error import Steps, read_steps
from cogniload_gen.cogniload.steps.judge import judge_transcript
from cogniload_gen.cogniload.steps.planted import clauses
from cogniload_gen.grid import ENGLISH

SENTENCE = re.compile(r"[.!?](?=[ \t])|[.!?]?[ \t]*\n+")
"""The end of a sentence. A space after it stays with what follows, as in the tokens of models."""

LABEL = r"[^\w\n]*(?:[^\W\d_]+[^\w\n]*){{0,3}}{}\b"
"""How a sentence begins that is about a statement: up to three words, and its number."""

_ARTICLES = ("a", "an")

_NEUTRAL = " at this point"
"""What a reworded step says behind its value: nothing new, and no hint that the value is wrong."""

_MARKS = r"[*_`\"'”)]*"


def cut_at_error(text: str, row: Mapping, transcript: object = None) -> list[Cut]:
    """Return a response cut at its first wrong step: kept, reworded, corrected, and before it.

    Empty where it has no first error, one that can't be corrected by other values, or one that is
    read differently in other words. `row` is as for `read_steps`; `text` may hold its reasoning.
    """
    steps = _read(text, row, transcript)
    if (t := steps.first_error) is None:
        return []
    truth = _truth(solve_steps(row["puzzle"]), t)
    told = {name: v for name, v in steps.told.get(t, {}).items() if v.value != truth[name]}
    if not told:
        return []
    begin, end = _step_of(text, t, steps, min(value.start for value in told.values()))
    # the reader gives the last place of a value, which may be in a retelling
    places = sorted(
        (v.start if v.start < end else text.rfind(text[v.start : v.end], begin, end), name)
        for name, v in told.items()
    )
    if places[0][0] < begin:
        return []
    stop = _end_of_sentence(text, places[0][0] + 1)
    corrected = text[:stop]
    for place, name in reversed(places):  # so that the places before it stay
        if place < stop:
            corrected = _replace(corrected, place, told[name], name, truth[name])
    again = _read(corrected, row, transcript).first_error
    reworded = _reword(text, t, *places[0], steps, row)
    if not reworded or (again is not None and again <= t):
        return []
    parts = {KEPT: text[:stop], REWORDED: reworded[: stop + len(_NEUTRAL)]}
    parts |= {CORRECTED: corrected, REDRAWN: text[:begin]}
    return [Cut(t, change, part) for change, part in parts.items()]


def plant_error(text: str, row: Mapping, depth: float, transcript: object = None) -> list[Cut]:
    """Return a response without an error cut at a step: kept, reworded, and with one wrong value.

    The statement is the one nearest to `depth`, a share of all, whose value the text gives. The
    wrong value is the one before, as if the statement were missed, if it changed; else another that
    the puzzle names. Empty where the response has an error or is not read, or no step will do.
    """
    steps, solution = _read(text, row, transcript), solve_steps(row["puzzle"])
    if not steps.read or steps.error:
        return []
    N = len(solution.statements)
    # a value after the last statement may be the answer's
    for t in sorted(steps.told.keys() - {0, N}, key=lambda t: (abs(t - depth * N), t)):
        before, truth, told = _truth(solution, t - 1), _truth(solution, t), steps.told[t]
        for name in sorted(told, key=lambda name: before[name] == truth[name]):
            values = [before[name], *(part[name] for part in solution.parts if name in part)]
            wrong = next((value for value in values if value != truth[name]), None)
            if wrong is None:
                continue
            stop = _end_of_sentence(text, told[name].end)
            planted = _replace(text[:stop], told[name].start, told[name], name, wrong)
            reworded = _reword(text, t, told[name].start, name, steps, row)
            if reworded and _read(planted, row, transcript).first_error in (t, None):
                reworded = reworded[: stop + len(_NEUTRAL)]
                parts = {KEPT: text[:stop], REWORDED: reworded, PLANTED: planted}
                return [Cut(t, change, part) for change, part in parts.items()]
    return []


def _truth(solution: Solution, t: int) -> State:
    return solution.states[t][solution.poi]


def _read(text: str, row: Mapping, transcript: object) -> Steps:
    """Return what is found in a text, in which the marks of reasoning are blank.

    A transcript is of the text before it was changed: what it quotes of the change is not there.

    Nothing of puzzles in other languages than English, whose words change with their values.
    """
    if language_of_row(row) != ENGLISH:
        return Steps()
    text = blank_marks(text)
    return read_steps(text, row) if transcript is None else judge_transcript(transcript, text, row)


def _reword(text: str, t: int, start: int, category: str, steps: Steps, row: Mapping) -> str:
    """Return a text with _NEUTRAL behind a value of statement t, and behind its noun if it has one.

    Empty where its steps are read differently; a transcript, which quotes the text, can't tell.
    """
    told = steps.told[t][category]
    end = start + told.end - told.start
    nouns = "|".join(map(re.escape, WORDS[category]["words"].split()))
    behind = re.compile(rf"{_MARKS}(?:[ -]+(?:{nouns})\b{_MARKS})?", re.IGNORECASE)
    reworded = text[:end] + behind.sub(rf"\g<0>{_NEUTRAL}", text[end:], count=1)
    first, second = (
        (each.first_error, {name: value.value for name, value in each.told.get(t, {}).items()})
        for each in (steps, steps if steps.records else _read(reworded, row, None))
    )
    return reworded if first == second else ""


def _end_of_sentence(text: str, place: int) -> int:
    end = SENTENCE.search(text, place)
    return end.end() if end else len(text)


def _step_of(text: str, t: int, steps: Steps, place: int) -> tuple[int, int]:
    """Return where the text of a statement begins and ends, if `place` is one of its values.

    It begins with the last sentence before that has its number, else with that of the value, behind
    the values of the statements before. It ends before those of later ones, else with a paragraph.
    """
    told = [(s, value) for s, values in steps.told.items() for value in values.values()]
    after = max((v.end for s, v in told if s < t and v.end <= place), default=0)
    starts = [0] * (not after) + [m.end() for m in SENTENCE.finditer(text, after, place)]
    labelled = [start for start in starts if re.compile(LABEL.format(t)).match(text, start)]
    begin = (labelled or starts or [after])[-1]
    paragraph = text.find("\n\n", begin) % (len(text) + 1)
    return begin, min((v.start for s, v in told if s > t and v.start > begin), default=paragraph)


def _replace(text: str, start: int, told: Told, category: str, value: str) -> str:
    """Return a text with another value at a place, and with its article if it has one."""
    before, after = text[:start], text[start + told.end - told.start :]
    old, new = (
        clauses("state", {category: each}).partition(each)[0].split()[-1]
        for each in (told.value, value)
    )
    if old != new and (found := re.search(rf"\b{old} +$", before, re.I)):
        before = before[: found.start()] if old in _ARTICLES else before
        before += f"{new} " if new in _ARTICLES else ""
    return before + (value.capitalize() if text[start].isupper() else value) + after

"""A transcript of a response -> the first variable that it resolves wrongly.

A reader model wrote down which values the response gives to variables (cogniload_gen.transcripts).
A record counts if the puzzle has its variable, and if the quote has the number: in digits, in
words, or as another variable that has it by then. What is revoked does not count. The first error
is found by T3 to T6 of steps.py; its kind rests on the equation that the rules read there, if they
read one.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from cogniload_gen.factor.reading.equations import canonical_name
from cogniload_gen.factor.reading.steps import (
    Equation,
    FactorSteps,
    Problem,
    find_error,
    plain,
    problem_of,
    read_equations,
)
from cogniload_gen.factor.reading.text import NUMBER_WORDS, VARIABLE_FIRST, spelled
from cogniload_gen.transcripts import MOST_DROPPED, Record, quoted

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,9}(?!\d|\.\d)")


def judge_transcript(transcript: object, response: str, row: Mapping) -> FactorSteps:
    """Return where a response breaks, by what a reader model wrote down of it.

    ValueError for a transcript that is no list, and for a row that is no puzzle.
    """
    problem, found = problem_of(row), quoted(transcript, response)
    by_rules = read_equations(plain(response, problem), problem)
    equations, values = list[tuple[int, Equation]](), dict[int, int]()
    dropped, lost = found.dropped, set[int | None]()
    for n, record in enumerate(found.records):
        if record.about == "final":
            continue
        i = _find_variable(record.about, problem)
        value = None if i is None else _find_value(record, response, problem, values)
        if i is None or value is None:
            dropped += 1
            continue
        if record.revoked:
            again = (r.about == record.about for r in found.records[n + 1 : n + 3])
            lost |= set() if any(again) else {i}
            continue
        values[i] = value
        same = (e for j, e in by_rules if (j, e.value) == (i, value) and _meet(e, record))
        plainly = Equation(value, None, [], record.start, record.end)
        equations.append((i, next(same, plainly)))
    steps = find_error(equations, problem, response, row)
    told = {i for i, _ in equations}
    if MOST_DROPPED * dropped > len(equations) + dropped or lost - told:
        steps = FactorSteps(coverage=steps.coverage)
    return replace(steps, records=len(equations), dropped=dropped)


def _meet(equation: Equation, record: Record) -> bool:
    return equation.start < record.end and record.start < equation.stop


def _find_variable(held: object, problem: Problem) -> int | None:
    """Return the number of the variable that a reader's words name; None for none of the puzzle."""
    name = str(held).strip()
    if problem.pattern is VARIABLE_FIRST:
        return problem.spellings.get(canonical_name(name))
    name = re.sub(r"^(?:the )?(?:total )?(?:number of )?(?:adult )?", "", name.lower())
    return problem.spellings.get(name)


def _find_value(
    record: Record, response: str, problem: Problem, values: Mapping[int, int]
) -> int | None:
    """Return the number of a record, if its quote has it."""
    if len(record.values) != 1:
        return None
    quote = response[record.start : record.end]
    there = {*map(int, _NUMBER.findall(NUMBER_WORDS.sub(spelled, quote)))}
    if "minus" in quote or "negative" in quote:
        there |= {-number for number in there}
    told = record.values[0].strip()
    if _NUMBER.fullmatch(told):
        copied = {
            values[i] for name, i in problem.spellings.items() if name in quote and i in values
        }
        return int(told) if int(told) in there | copied else None
    other = _find_variable(told, problem)
    return None if other is None else values.get(other)

"""Rewards of FACTOR responses, from 0 to 1, for training.

**Answer**: a response has to be correct by the benchmark's scorer, as for every benchmark.

**Steps**: the values of the solution's variables. They are read where a response writes them as the
solution does ("v1 = v4 - 1 = 0", "Define South Zoo's Fox as d; so d = 2.", "South Zoo's Fox = 2"),
in any order. A variable with two values has none, and so have those of a sentence that hedges or
denies, or has words that a plain one has no need of (data/claims.toml, and those of the puzzle). A
sentence without a value that has such words leaves nothing: it could take all back ("Everything
above is false."). The reward is the share of the solution's variables, in its order,
before the first without its right value. What a blind strategy reaches is worth BLIND at most: to
copy the values that the puzzle gives, or to give the first variable's value to all.
"""

import re
from collections.abc import Iterable
from itertools import takewhile

from cogniload_gen.benchmark import Row
from cogniload_gen.checks import check_texts
from cogniload_gen.claims import HEDGE, TALK, beyond_blind

SENTENCE = re.compile(r"\n|[.!](?=\s|$)")
NUMBER = re.compile(r"-?\d{1,9}")
WORD = re.compile(r"[^\W\d_]{2,}")
STRANGE = re.compile(r"[^\x00-\x7f−×·÷→⇒∴’]|/[a-z]")
"""What a plain sentence has none of, besides words that are not known."""

LEADS = "and|first|finally|get|have|hence|let|next|now|so|then|therefore|thus|we"
# What may stand before a variable. Other words, such as "not", may deny the value.
_LEAD = re.compile(rf"^[\s-]*(?:(?:{LEADS}) )*", re.IGNORECASE)


def step_reward(response: str, row: Row) -> float:
    """Return how far into the solution a response's values stay right."""
    solution = check_texts(row, ("solution",))["solution"]
    known = TALK.union(WORD.findall(f"{solution} {row.get('puzzle', '')}".lower()))
    expected = variables(solution, known)
    claimed = variables(response, known)
    definitions = (part for part in SENTENCE.split(solution) if part.count("=") == 1)
    copied = variables("\n".join(definitions), known)
    first = next(iter(expected.values()))
    same = run(value == first for value in expected.values())
    blind = max(same, run(name in copied for name in expected))
    reached = run(claimed.get(name) == value for name, value in expected.items())
    return beyond_blind(reached / len(expected), blind / len(expected))


def run(right: Iterable[bool]) -> int:
    """Return how many are true before the first that is not."""
    return sum(1 for _ in takewhile(bool, right))


def variables(text: str, known: frozenset[str]) -> dict[str, str | None]:
    """The values of FACTOR's variables that a text tells, in order; None where not one plainly.

    A sentence is plain that has known words alone. One that is not may take all values back.
    """
    names: dict[str, str] = {}
    values: dict[str, str | None] = {}
    for sentence in SENTENCE.split(re.sub("[*_`$]", "", text)):
        lower = sentence.lower()
        stated: dict[str, str | None] = {}
        is_plain = known.issuperset(WORD.findall(lower)) and not (
            HEDGE.search(lower) or STRANGE.search(lower)
        )
        for part in re.split("[;,]", sentence):
            left, *operands = (_LEAD.sub("", operand).strip() for operand in part.split("="))
            if not operands:
                name, _, letter = left.removeprefix("Define ").partition(" as ")
                names[letter] = name
                is_plain &= not (stated and left)
            elif NUMBER.fullmatch(value := operands[-1]):
                others = {operand for operand in operands if NUMBER.fullmatch(operand)} - {value}
                name = names.get(left, left)
                stated[name] = None if others or stated.get(name, value) != value else value
        if not is_plain:
            if not stated and "variable" not in lower:
                return {}
            stated = dict.fromkeys(stated)
        for name, one in stated.items():
            values[name] = one if values.get(name, one) == one else None
    return {name: value for name, value in values.items() if " " in name or name[1:].isdecimal()}

"""Answers without the reasoning: what FACTOR's puzzles yield to shortcuts, from their text alone.

A score means little until it is above these. Each baseline is a function from a puzzle's text to an
answer, as in the column `answer`, or to an empty string where it has none. It raises ValueError for
a text that is no puzzle of its suite.

A value lies `hops` hops deep where the longest chain of definitions that leads to it has that many
steps: a given number is 0 hops deep, what is defined by given numbers 1.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from cogniload_gen.factor import solve
from cogniload_gen.factor.solve import Definition, Name

Baseline = Callable[[str], str]

HOPS = {"one hop": 1, "two hops": 2, "three hops": 3}
NUMBER = re.compile(r"\d{1,9}")

# all baselines of a puzzle read it one after the other
symbolic_relations = lru_cache(maxsize=1)(solve.symbolic_relations)
realistic_relations = lru_cache(maxsize=1)(solve.realistic_relations)


def shallow_values(definitions: Mapping[Name, Definition], hops: int) -> dict[Name, int]:
    """Return the values that lie at most `hops` hops deep."""
    known = {
        name: definition.constant
        for name, definition in definitions.items()
        if not definition.terms
    }
    for _ in range(hops):
        known |= {
            name: definition.value(known)
            for name, definition in definitions.items()
            if all(term in known for term in definition.terms)
        }
    return known


def equal_to(values: Mapping[Name, int], target: int) -> str:
    """Return the variables that have a value, in order, as the column `answer` lists them."""
    equal = sorted(name for name, value in values.items() if value == target)
    return ", ".join(f"v{name}" for name in equal)


def look(text: str, hops: int, *, otherwise: str = "none") -> str:
    """Answer the variables at most `hops` hops deep that have the target, if there are any."""
    definitions, target = symbolic_relations(text)
    return equal_to(shallow_values(definitions, hops), target) or otherwise


def pass_once(text: str) -> str:
    """Read the statements once in their order, and forget those whose parent is yet unknown."""
    definitions, target = symbolic_relations(text)
    known: dict[Name, int] = {}
    for name, definition in definitions.items():
        if all(term in known for term in definition.terms):
            known[name] = definition.value(known)
    return equal_to(known, target) or "none"


def guess_variable(text: str) -> str:
    """Answer one of the variables, each equally likely: a pure function of the text."""
    names = sorted(symbolic_relations(text)[0])
    from cogniload_gen.draws import address_key  # with numpy, which a help needs none of

    return f"v{names[address_key('random', text) % len(names)]}"


def numbers(text: str) -> list[int]:
    """Return the numbers of a realistic problem in their order."""
    realistic_relations(text)
    return [int(number) for number in NUMBER.findall(text.rpartition("How many ")[0])]


def look_for_asked(text: str, hops: int) -> str:
    """Answer the variable that the question asks for, if it is at most `hops` hops deep."""
    definitions, wanted = realistic_relations(text)
    return str(shallow_values(definitions, hops).get(wanted, ""))


SYMBOLIC_BASELINES: dict[str, Baseline] = {
    "grep": partial(look, hops=0, otherwise=""),
    "grep or none": partial(look, hops=0),
    **{name: partial(look, hops=hops) for name, hops in HOPS.items()},
    "one pass": pass_once,
    "none": lambda text: "none",
    "random": guess_variable,
}
REALISTIC_BASELINES: dict[str, Baseline] = {
    "sum of the given": lambda text: str(
        sum(shallow_values(realistic_relations(text)[0], 0).values())
    ),
    "sum of all numbers": lambda text: str(sum(numbers(text))),
    "largest number": lambda text: str(max(numbers(text), default="")),
    "most frequent number": lambda text: "".join(
        str(number)
        for number, _ in Counter(numbers(text)).most_common(1)  # of several the first
    ),
    "last number": lambda text: "".join(map(str, numbers(text)[-1:])),
    **{name: partial(look_for_asked, hops=hops) for name, hops in HOPS.items()},
}
"""The baselines of each suite by name."""

"""Answers without the reasoning: what FACTOR's puzzles yield to shortcuts, from their text alone.

A score means little until it is above these. Each baseline is a function from a puzzle's text to an
answer, as in the column `answer`, or to an empty string where it has none. It raises ValueError for
a text that is no puzzle of its suite.

A value lies `hops` hops deep where the longest chain of definitions that leads to it has that many
steps: a given number is 0 hops deep, what is defined by given numbers 1.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from cogniload_gen.factor import solve
from cogniload_gen.factor.solve import Definition, Name

Baseline = Callable[[str], str]

_HOPS = {"one hop": 1, "two hops": 2, "three hops": 3}

# all baselines of a puzzle read it one after the other
symbolic_relations = lru_cache(maxsize=1)(solve.symbolic_relations)
realistic_relations = lru_cache(maxsize=1)(solve.realistic_relations)


def _shallow_values(definitions: Mapping[Name, Definition], hops: int) -> dict[Name, int]:
    """Return the values that lie at most `hops` hops deep."""
    known: dict[Name, int] = {}
    for _ in range(1 + hops):  # what has no terms is known at first
        known |= {
            name: definition.value(known)
            for name, definition in definitions.items()
            if all(term in known for term in definition.terms)
        }
    return known


def look(text: str, hops: int, *, otherwise: str = "none") -> str:
    """Answer the variables at most `hops` hops deep that have the target, if there are any."""
    definitions, target = symbolic_relations(text)
    return solve.equal_to(_shallow_values(definitions, hops), target) or otherwise


def _look_for_asked(text: str, hops: int) -> str:
    """Answer the variable that the question asks for, if it is at most `hops` hops deep."""
    definitions, wanted = realistic_relations(text)
    return str(_shallow_values(definitions, hops).get(wanted, ""))


def _add_up(text: str) -> str:
    """Answer the sum of the given numbers."""
    return str(sum(_shallow_values(realistic_relations(text)[0], 0).values()))


SYMBOLIC_BASELINES: dict[str, Baseline] = {
    "grep": partial(look, hops=0, otherwise=""),
    "grep or none": partial(look, hops=0),
    **{name: partial(look, hops=hops) for name, hops in _HOPS.items()},
    "none": lambda text: "none",
}
REALISTIC_BASELINES: dict[str, Baseline] = {
    "sum of the given": _add_up,
    **{name: partial(_look_for_asked, hops=hops) for name, hops in _HOPS.items()},
}
"""The baselines of each suite by name."""

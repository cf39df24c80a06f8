"""A puzzle's text -> its answer, whichever benchmark it is of."""

from cogniload_gen.cogniload.solve import solve as solve_cogniload
from cogniload_gen.factor.solve import is_factor, solve_factor


def solve(puzzle: str) -> str:
    """The answer of a CogniLoad or FACTOR puzzle, from nothing but its text.

    CogniLoad: the person's final value. FACTOR: the variables in order, such as "v0, v12", or
    "none"; or the integer. ValueError, in one line, for a text that is no such puzzle or does not
    determine the answer.
    """
    return solve_factor(puzzle) if is_factor(puzzle) else solve_cogniload(puzzle)

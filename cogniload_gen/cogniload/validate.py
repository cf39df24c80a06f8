"""The validation of a statement (CogniLoad, section 2.1.4), with the invariants (I1) and (I2).

The invariants leave a valid statement of either type at every step. (I2), which the paper asks of
hay alone, holds after needles too: a needle that merged all non-PoIs would leave no valid hay.
"""

import numpy as np

CATEGORY, PERSON = -3, -2
"""The axes of a state array S[category, person, puzzle], and of what is reduced from it."""


def valid(
    match: np.ndarray,
    after: np.ndarray,
    poi: np.ndarray,
    poi_state: np.ndarray,
    needle: np.ndarray,
) -> np.ndarray:
    """Tell whether each puzzle's statement passes the validation (section 2.1.4, I1 and I2).

    `match` (person x puzzle) tells whom the statement applies to, `after` is the state that it
    leads to, `poi_state` the PoI's in it. That no one whom a hay changes becomes equal to the PoI
    is checked as the paper does, though the choice of update values sees to it already. That a hay
    affects a non-PoI is not checked, as the reference person always matches.
    """
    n, puzzle = len(match), np.arange(len(poi))
    others = np.arange(n)[:, None] != poi
    like_poi = (after == poi_state[:, None]).all(axis=CATEGORY)
    # all non-PoIs are equal if all equal one of them, and any one will do: person 0, or 1 if 0 is
    # the PoI
    another = (poi == 0).astype(np.intp)
    like_another = (after == states(after, another)[:, None]).all(axis=CATEGORY)
    I1 = (others & ~like_poi).any(axis=PERSON)
    I2 = (others & ~like_another).any(axis=PERSON) | (n < 3)
    hay = ~match[poi, puzzle] & ~(others & match & like_poi).any(axis=PERSON)
    return I1 & I2 & np.where(needle, (others & ~match).any(axis=PERSON), hay)


def states(S: np.ndarray, person: np.ndarray) -> np.ndarray:
    """Return the state (category x puzzle) of one person in each puzzle."""
    puzzles = len(person)
    return S.reshape(len(S), -1).take(person * puzzles + np.arange(puzzles), axis=1)

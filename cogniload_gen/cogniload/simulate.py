"""The engine: puzzle keys -> people, states and statements (CogniLoad, section 2.1).

Many puzzles of one difficulty d run side by side. Each takes one attempt at its own next statement
in every round, so that a puzzle whose statement is rejected does not hold up the others. The state
is an array S[category, person, puzzle] of positions in the category's value domain; with the
categories in front, "for all categories" is a reduction over whole rows.

Two choices complete the text of the paper. (I2), which the paper asks of hay alone, holds after
needles too: a needle that merged all non-PoIs would leave no valid hay. And the type of a step is
drawn once, so that P(needle) is exactly the paper's; a rejected statement is drawn anew otherwise.
The invariants leave a valid statement of either type at every step.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from cogniload_gen.cogniload.ontology import CATEGORIES, PEOPLE, VOCABULARIES
from cogniload_gen.draws import below, child, permutation, sample

CATEGORY, PERSON = -3, -2

# The children of a puzzle's key: step t = 1..N is number t, and 0 the choices around the steps:
PEOPLE_DRAW, POI_DRAW, CATEGORIES_DRAW, DOMAINS_DRAW, STATE_DRAW, QUESTION_DRAW = range(6)
# The children of a step's key: the type, then the attempts 0, 1, ... at the statement.
TYPE_DRAW, FIRST_ATTEMPT = 0, 1


@dataclass(frozen=True)
class Statements:
    """The statements of all puzzles, puzzle after puzzle: arrays over statements (x d).

    `condition_place` and `update_place` are the places of the d categories in the order of the
    text; those below `k` (`m`) are in the statement. Values are positions in the domains, by
    category. `poi_state` is the PoI's state after the statement.
    """

    needle: np.ndarray
    reference: np.ndarray
    k: np.ndarray
    m: np.ndarray
    condition_place: np.ndarray
    update_place: np.ndarray
    condition_value: np.ndarray
    update_value: np.ndarray
    poi_state: np.ndarray


@dataclass(frozen=True)
class Puzzles:
    """Puzzles of one difficulty d with n people, as arrays whose last axis is the puzzle.

    `people` (n) are positions in PEOPLE, `poi` and `question` positions among the puzzle's people
    and categories, `categories` (d) positions in CATEGORIES, `domains` (values x d) positions in
    the categories' vocabularies, of which the first `domain_size` (d) count; `initial_state` is
    category x person, `state_place` (d x n) the places of the categories in each person's sentence,
    `first_statement` where each puzzle's statements start, with the total at the end.
    """

    people: np.ndarray
    poi: np.ndarray
    categories: np.ndarray
    domains: np.ndarray
    domain_size: np.ndarray
    initial_state: np.ndarray
    state_place: np.ndarray
    question: np.ndarray
    first_statement: np.ndarray
    statements: Statements

    @property
    def owner(self) -> np.ndarray:
        """The puzzle that each statement belongs to."""
        return np.repeat(np.arange(len(self.poi)), np.diff(self.first_statement))

    def part(self, start: int, stop: int) -> Self:
        """The puzzles from `start` up to `stop`."""
        first, last = self.first_statement[[start, stop]]
        *arrays, first_statement, statements = vars(self).values()
        return Puzzles(
            *(array[..., start:stop] for array in arrays),
            first_statement[start : stop + 1] - first,
            Statements(*(array[first:last] for array in vars(statements).values())),
        )


def simulate(keys: np.ndarray, d: int, N: np.ndarray, needles: np.ndarray) -> Puzzles:
    """The puzzles of the given keys (uint64), all of difficulty d, with their N and needles."""
    people, poi, categories, domains, domain_size, question = choose_elements(keys, d)
    initial_state, state_place = initialize(child(keys, 0), domain_size, len(people))
    statements = run(keys, initial_state, domain_size, poi, N, needles)
    first_statement = np.concatenate([[0], np.cumsum(N)])
    return Puzzles(
        people, poi, categories, domains, domain_size, initial_state, state_place, question,
        first_statement, statements,
    )  # fmt: skip


def choose_elements(keys: np.ndarray, d: int) -> tuple[np.ndarray, ...]:
    """People, PoI, categories, value domains with their sizes, and question (section 2.1.1, 2.1.5).

    n = max(d, 2) people; d categories; domains of min(max(d + 1, 3), vocabulary size) values.
    """
    n, values = max(d, 2), max(d + 1, 3)
    vocabulary_sizes = np.array([len(VOCABULARIES[category]) for category in CATEGORIES])
    key = child(keys, 0)
    people = sample(numbered(child(key, PEOPLE_DRAW), n), len(PEOPLE))
    poi = below(child(key, POI_DRAW), n)
    categories = sample(numbered(child(key, CATEGORIES_DRAW), d), len(CATEGORIES))
    vocabulary_size = vocabulary_sizes[categories]
    words = numbered(numbered(child(key, DOMAINS_DRAW), d), values)
    domains = sample(words.reshape(values, -1), vocabulary_size.reshape(-1))
    domain_size = np.minimum(values, vocabulary_size)
    question = below(child(key, QUESTION_DRAW), d)
    return people, poi, categories, domains.reshape(words.shape), domain_size, question


def initialize(key: np.ndarray, domain_size: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The initial states and the places of the clauses that tell them (section 2.1.2).

    In each category the values are dealt to the people at random, each value once before any
    comes twice, so values differ wherever the domain is large enough. With d <= 10 it always is,
    and d >= 11 includes such a category, so every two people differ somewhere.
    """
    d, most = len(domain_size), 16
    words = numbered(numbered(child(key, STATE_DRAW), d), most + n)
    last = np.uint64(2**64 - 1)  # sorts behind the cards that are in play
    in_play = np.arange(most).reshape(-1, 1, 1) < np.maximum(domain_size, n)
    dealt = permutation(np.where(in_play, words[:most], last))[:n] % domain_size
    state_place = permutation(words[most:].swapaxes(0, 1))
    return dealt.swapaxes(0, 1).astype(np.uint8), state_place


def run(
    keys: np.ndarray,
    S: np.ndarray,
    domain_size: np.ndarray,
    poi: np.ndarray,
    N: np.ndarray,
    needles: np.ndarray,
) -> Statements:
    """All N statements of each puzzle from the initial states S (sections 2.1.3 and 2.1.4)."""
    d, n = S.shape[:2]
    record = np.empty((N.sum(), 4 + 5 * d), np.uint8)
    row = np.cumsum(N) - N
    t, attempt = np.ones_like(N), np.zeros_like(N)
    while len(keys):
        step = child(keys, t)
        words = numbered(child(step, FIRST_ATTEMPT + attempt), 3 * d + 3)
        # Step 1 of section 2.1.3: the type
        needle = below(child(step, TYPE_DRAW), N - t + 1) < needles
        # Step 2: the reference person
        other = below(words[-1], n - 1)
        reference = np.where(needle, poi, other + (other >= poi))
        # Step 3: the structure
        k, m = 1 + below(words[-2], d), 1 + below(words[-3], d)
        condition_place = permutation(words[:d])
        update_place = permutation(words[d : 2 * d])
        C, U = condition_place < k, update_place < m
        # Step 4: the values; a hay skips the value that the PoI has
        v, poi_value = states(S, reference), states(S, poi)
        u = below(words[2 * d : 3 * d], domain_size - ~needle).astype(np.uint8)
        u += ~needle & (u >= poi_value)
        # Step 5: the logical form
        match = ((S == v[:, None]) | ~C[:, None]).all(axis=CATEGORY)
        change = (S ^ u[:, None]) * (match & U[:, None])  # the bits of S that differ afterwards
        after = S ^ change

        accepted = valid(match, after, poi, needle)
        statement = [
            needle[None], reference[None], k[None], m[None],
            condition_place, update_place, v, u, states(after, poi),
        ]  # fmt: skip
        # a rejected statement is overwritten by the next attempt
        record[row] = np.concatenate(statement, dtype=np.uint8, casting="unsafe").T

        S = S ^ change * accepted
        needles = needles - (accepted & needle)
        row, t, attempt = row + accepted, t + accepted, np.where(accepted, 0, attempt + 1)
        if (t > N).any():
            unfinished = t <= N
            keys, S, domain_size, poi, N, needles, row, t, attempt = (
                array[..., unfinished]
                for array in (keys, S, domain_size, poi, N, needles, row, t, attempt)
            )
    return Statements(*record[:, :4].T, *np.split(record[:, 4:], 5, axis=1))


def valid(match: np.ndarray, after: np.ndarray, poi: np.ndarray, needle: np.ndarray) -> np.ndarray:
    """Whether each puzzle's statement passes the validation of section 2.1.4, with (I1) and (I2).

    `match` (person x puzzle) tells whom the statement applies to, `after` is the state that it
    leads to. That no one whom a hay changes becomes equal to the PoI is checked as the paper does,
    though the choice of update values sees to it already.
    """
    n, puzzle = len(match), np.arange(len(poi))
    others = np.arange(n)[:, None] != poi
    like_poi = (after == states(after, poi)[:, None]).all(axis=CATEGORY)
    another = (poi == 0).astype(np.intp)
    like_another = (after == states(after, another)[:, None]).all(axis=CATEGORY)
    I1 = (others & ~like_poi).any(axis=PERSON)
    I2 = (others & ~like_another).any(axis=PERSON) | (n < 3)
    hay = ~match[poi, puzzle] & ~(others & match & like_poi).any(axis=PERSON)
    return I1 & I2 & np.where(needle, (others & ~match).any(axis=PERSON), hay)


def states(S: np.ndarray, person: np.ndarray) -> np.ndarray:
    """The state (category x puzzle) of one person in each puzzle."""
    puzzles = len(person)
    return np.take(S.reshape(len(S), -1), person * puzzles + np.arange(puzzles), axis=1)


def numbered(key: np.ndarray, count: int) -> np.ndarray:
    """The children 0..count-1 of each key, along a new first axis."""
    return child(key, np.arange(count, dtype=np.uint64).reshape(-1, *[1] * key.ndim))

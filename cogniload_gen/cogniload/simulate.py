"""The engine: puzzle keys -> people, states and statements (CogniLoad, section 2.1).

Many puzzles of one difficulty d run side by side. Each takes one attempt at its own next statement
in every round, so that a puzzle whose statement is rejected does not hold up the others. The state
is an array S[person, puzzle] of numbers, each with a field of bits for every category
(validate.py), so that "for all categories" is one comparison.

Two choices complete the text of the paper, besides (I2) after needles (validate.py). The type of a
step is drawn once, so P(needle) is exactly the paper's; a rejected statement keeps its type, and
all else is redrawn. And the paper prints P(needle) as the needles left / (N - t), which is above 1
when only needles are left; with t counted from 1, as the paper counts it, N - t + 1 statements are
left, and that is what the code divides by. The invariants leave a valid statement of either type at
every step.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count, islice

import numpy as np

from cogniload_gen.cogniload.ontology import CATEGORIES, PEOPLE, VOCABULARIES
from cogniload_gen.cogniload.validate import (
    apply,
    apply_alone,
    at_least,
    fields,
    pack,
    places_of,
    unpack,
    valid,
)
from cogniload_gen.draws import child, children, distinct, permutation, uniform
from cogniload_gen.garbage import uncollected
from cogniload_gen.grid import ENGLISH
from cogniload_gen.text import offsets

_VOCABULARY_SIZES = np.array([len(VOCABULARIES[category]) for category in CATEGORIES])

# The children of a puzzle's key: step t = 1..N is number t, and 0 the choices around the steps:
_PEOPLE_DRAW, _POI_DRAW, _CATEGORIES_DRAW, _DOMAINS_DRAW, _STATE_DRAW, _QUESTION_DRAW = range(6)
# The children of a step's key: the type, then the attempts 0, 1, ... at the statement.
_TYPE_DRAW, _FIRST_ATTEMPT = 0, 1

DRAWN_TOGETHER = 16_384
"""Statements whose first attempts are drawn at once, which takes some 10 MB."""

CARDS = 16
"""The words by which values are dealt in each category: its domain and the people are fewer."""

FEW, AHEAD, NEXT = 32, 4, 160
"""Up to FEW puzzles are faster made one by one, AHEAD attempts at a statement drawn at once.

Where a statement takes more of them, so do the NEXT ones, for the state changes little.
"""

Drawn = tuple[np.ndarray, np.ndarray]
"""Of statements, the first fields of Statements; and three states each, such as the conditions."""


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
    update_value: np.ndarray
    condition_value: np.ndarray
    poi_state: np.ndarray

    def take(self, rows: slice | np.ndarray) -> "Statements":
        """Return some of the statements."""
        return Statements(*(array[rows] for array in vars(self).values()))


@dataclass(frozen=True)
class _Layout:
    """What the text of puzzles has besides, or elsewhere than in the paper.

    After every `reminder` statements stands the PoI's state (0: nowhere), `question_first` puts the
    question before the statements, `whole_state` asks for all of the PoI's attributes, and
    `language` is that of the text; with `steps` it asks for a line a statement.
    """

    reminder: int = 0
    question_first: bool = False
    whole_state: bool = False
    language: str = ENGLISH
    steps: bool = False


@dataclass(frozen=True)
class Puzzles:
    """Puzzles of one difficulty d with n people, as arrays whose last axis is the puzzle.

    `people` (n) are positions in PEOPLE, `poi` and `question` positions among the puzzle's people
    and categories, `categories` (d) positions in CATEGORIES, `domains` (values x d) positions in
    the categories' vocabularies, where the first `domain_size` (d) count; `initial_state` is
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
    layout: _Layout = _Layout()

    @property
    def owner(self) -> np.ndarray:
        """The puzzle that each statement belongs to."""
        return np.repeat(np.arange(len(self.poi)), np.diff(self.first_statement))

    def part(self, start: int, stop: int) -> "Puzzles":
        """The puzzles from `start` up to `stop`."""
        first, last = self.first_statement[[start, stop]]
        by_puzzle = vars(self).keys() - {"first_statement", "statements", "layout"}
        return replace(
            self,
            first_statement=self.first_statement[start : stop + 1] - first,
            statements=self.statements.take(slice(first, last)),
            **{name: getattr(self, name)[..., start:stop] for name in by_puzzle},
        )


def simulate(keys: np.ndarray, d: int, N: np.ndarray, needles: np.ndarray) -> Puzzles:
    """The puzzles of the given keys (uint64), all of difficulty d, with their N and needles."""
    key = children(child(keys, 0), 6)
    people, poi, categories, domains, domain_size, question = _choose_elements(key, d)
    initial_state, state_place = _initialize(key[_STATE_DRAW], domain_size, len(people))
    drawn, made = walk(keys, pack(initial_state), domain_size, poi, N, needles)
    places = (each.T for each in np.split(drawn[4:], 2))
    statements = Statements(*drawn[:4], *places, *(unpack(each, d).T for each in made))
    return Puzzles(
        people, poi, categories, domains, domain_size, initial_state, state_place, question,
        offsets(N), statements,
    )  # fmt: skip


def _choose_elements(key: np.ndarray, d: int) -> tuple[np.ndarray, ...]:
    """People, PoI, categories, value domains with their sizes, and question (section 2.1.1, 2.1.5).

    n = max(d, 2) people; d categories; domains of min(max(d + 1, 3), vocabulary size) values.
    """
    n, values = max(d, 2), max(d + 1, 3)
    people = distinct(children(key[_PEOPLE_DRAW], n), len(PEOPLE))
    poi, question = uniform(key[_POI_DRAW], n), uniform(key[_QUESTION_DRAW], d)
    categories = distinct(children(key[_CATEGORIES_DRAW], d), len(CATEGORIES))
    vocabulary_size = _VOCABULARY_SIZES[categories]
    words = children(children(key[_DOMAINS_DRAW], d), values)
    domains = distinct(words.reshape(values, -1), vocabulary_size.reshape(-1))
    domain_size = np.minimum(values, vocabulary_size)
    return people, poi, categories, domains.reshape(words.shape), domain_size, question


def _initialize(key: np.ndarray, domain_size: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The initial states and the places of the clauses that tell them (section 2.1.2).

    In each category the values are dealt to the people at random, each value once before any
    comes twice, so values differ wherever the domain is large enough. With d <= 10 it always is,
    and d >= 11 includes such a category, so every two people differ somewhere.
    """
    d = len(domain_size)
    words = children(children(key, d), CARDS + n)
    last = np.uint64(2**64 - 1)  # sorts behind the cards that are in play
    in_play = np.arange(CARDS).reshape(-1, 1, 1) < np.maximum(domain_size, n)
    dealt = permutation(np.where(in_play, words[:CARDS], last))[:n] % domain_size
    state_place = permutation(words[CARDS:].swapaxes(0, 1))
    return dealt.swapaxes(0, 1).astype(np.uint8), state_place


def walk(
    keys: np.ndarray,
    S: np.ndarray,
    domain_size: np.ndarray,
    poi: np.ndarray,
    N: np.ndarray,
    needles: np.ndarray,
) -> Drawn:
    """Return all N statements of each puzzle from the initial states S (2.1.3 and 2.1.4).

    That is what is drawn of them; and their update and condition values with the PoI's states.
    """
    n, d = len(S), len(domain_size)
    owner, first = np.repeat(np.arange(len(keys)), N), np.cumsum(N) - N
    step = child(keys[owner], 1 + np.arange(len(owner)) - first[owner])
    needle = _draw_types(step, N, needles)

    def draw(rows: slice | np.ndarray, attempt: np.ndarray | int) -> Drawn:
        puzzle = owner[rows]
        new = draw_statements(
            child(step[rows], _FIRST_ATTEMPT + attempt),
            needle[rows], poi[puzzle], domain_size.take(puzzle, axis=1), n,
        )  # fmt: skip
        places = new[4 : 4 + 2 * d].reshape(2, d, -1).swapaxes(0, 1)
        C, U = fields(places < new[2:4])
        return new[: 4 + 2 * d], np.array([C, U, pack(new[4 + 2 * d :])])

    if len(keys) > FEW:
        return side_by_side(draw, S, poi, N)
    return one_by_one(draw, S, poi, N, np.arange(N.sum()))


def side_by_side(
    draw: Callable[..., Drawn], S: np.ndarray, poi: np.ndarray, N: np.ndarray
) -> Drawn:
    """Return what `walk` does: take one attempt for every puzzle in each round.

    The last FEW puzzles go on one by one.
    """
    starts = range(0, N.sum(), DRAWN_TOGETHER)
    drawn, plan = join([draw(slice(start, start + DRAWN_TOGETHER), 0) for start in starts])
    made = np.empty_like(plan)
    row, last = np.cumsum(N) - N, np.cumsum(N) - 1
    attempt, at_poi, at_other = np.zeros_like(N), places_of(poi), places_of(poi == 0)
    while len(row) > FEW:
        C, U, u = plan.take(row, axis=1)
        needle, reference = drawn[:2].take(row, axis=1)
        # Step 4: a hay skips the value that the PoI has
        v, poi_value = S.take(places_of(reference)), S.take(at_poi)
        u += at_least(u, poi_value) * (needle == 0)
        # Step 5: the logical form: whoever meets the conditions gets the updates
        match, after = apply(S, C, v, U, u)

        poi_state = after.take(at_poi)
        accepted = valid(match, after, poi_state, after.take(at_other), needle)
        made[0, row], made[1, row], made[2, row] = u, v, poi_state
        S = np.where(accepted, after, S)
        attempt[accepted] = 0
        rejected = np.flatnonzero(~accepted)
        if len(rejected):
            attempt[rejected] += 1
            again = row[rejected]
            drawn[:, again], plan[:, again] = draw(again, attempt[rejected])
        unfinished = ~accepted | (row < last)
        row = row + accepted
        if not unfinished.all():
            kept = np.flatnonzero(unfinished)
            S, poi, row, last, attempt = (
                array.take(kept, axis=-1) for array in (S, poi, row, last, attempt)
            )
            at_poi, at_other = places_of(poi), places_of(poi == 0)
    if len(row):
        left = 1 + last - row
        rows = np.arange(left.sum()) + np.repeat(row - np.cumsum(left) + left, left)
        drawn[:, rows], made[:, rows] = one_by_one(draw, S, poi, left, rows)
    return drawn, made


@uncollected()
def one_by_one(
    draw: Callable[..., Drawn], S: np.ndarray, poi: np.ndarray, N: np.ndarray, rows: np.ndarray
) -> Drawn:
    """Return what `side_by_side` does, faster for few puzzles: it calls numpy for the draws alone.

    Attempts at many statements are drawn at once. `rows` are those of the puzzles' N statements.
    """
    begins = iter(zip(S.T.tolist(), poi.tolist(), strict=True))
    first, parts = {0, *np.cumsum(N).tolist()}, []
    for start in range(0, len(rows), DRAWN_TOGETHER // AHEAD):
        some = rows[start : start + DRAWN_TOGETHER // AHEAD]
        attempts = _Attempts(draw, some, [[] for _ in some])
        chosen, made = [], []
        for own in range(len(some)):
            if start + own in first:
                state, poi_now = next(begins)
            for attempt in count():
                place = attempts.find(own, attempt)
                C, U, u, needle, reference = attempts.tries[place]
                v = state[reference]
                if not needle:
                    u += at_least(u, state[poi_now])
                if after := apply_alone(state, C, v, U, u, poi_now, needle):
                    break
            state = after
            made.append((u, v, state[poi_now]))
            chosen.append(place)
        parts.append((np.hstack(attempts.drawn)[:, chosen], np.array(made, np.uint64).T))
    return join(parts)


@dataclass
class _Attempts:
    """Attempts at the statements of some rows, drawn as they are needed.

    `drawn` is what was drawn, in parts, and `tries` holds conditions, updates, their values, type
    and reference of each attempt as integers. `begins` has, for each statement, the places in these
    where its attempts begin, AHEAD at a time.
    """

    draw: Callable[..., Drawn]
    rows: np.ndarray
    begins: list[list[int]]
    drawn: list[np.ndarray] = field(default_factory=list)
    tries: list[tuple[int, ...]] = field(default_factory=list)

    def find(self, own: int, attempt: int) -> int:
        """Return the place of an attempt at a statement, by its place among the rows."""
        group, place = divmod(attempt, AHEAD)
        if group == len(self.begins[own]):
            self._draw_more(own, group)
        return self.begins[own][group] + place

    def _draw_more(self, own: int, group: int) -> None:
        stop = min(own + NEXT, len(self.rows)) if group else len(self.rows)
        more = [at for at in range(own, stop) if len(self.begins[at]) == group]
        numbers = AHEAD * group + np.arange(AHEAD)
        new, plan = self.draw(self.rows[more].repeat(AHEAD), np.tile(numbers, len(more)))
        for place, at in enumerate(more):
            self.begins[at].append(len(self.tries) + AHEAD * place)
        self.drawn.append(new)
        self.tries += zip(*plan.tolist(), *new[:2].tolist(), strict=True)


def join(parts: list[Drawn]) -> Drawn:
    """Return what is drawn in parts as one."""
    drawn, numbers = (np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True))
    return drawn, numbers


def _draw_types(step: np.ndarray, N: np.ndarray, needles: np.ndarray) -> np.ndarray:
    """Step 1 of section 2.1.3: which steps are needles, each with the needles / statements left."""
    begin = np.cumsum(N) - N
    drawn = uniform(child(step, _TYPE_DRAW), np.repeat(begin + N, N) - np.arange(len(step)))
    if len(N) <= FEW:
        words, types = iter(drawn.tolist()), []
        for length, total in zip(N.tolist(), needles.tolist(), strict=True):
            left = total
            for word in islice(words, length):
                types.append(word < left)
                left -= types[-1]
        return np.array(types)
    needle = np.empty(len(step), bool)
    longest = np.argsort(-N, kind="stable")
    begin, left = begin[longest], needles[longest]
    for t, going_on in enumerate(np.searchsorted(-N[longest], -np.arange(N.max())).tolist()):
        rows = begin[:going_on] + t
        needle[rows] = drawn[rows] < left[:going_on]
        left[:going_on] -= needle[rows]
    return needle


def draw_statements(
    attempt: np.ndarray, needle: np.ndarray, poi: np.ndarray, domain_size: np.ndarray, n: int
) -> np.ndarray:
    """What is drawn of each statement at one attempt: the first fields of Statements, as rows."""
    d = len(domain_size)
    words = children(attempt, 3 * d + 3)
    # one call for both: on few statements, calls take the time
    places = permutation(words[: 2 * d].reshape(2, d, -1).swapaxes(0, 1)).swapaxes(0, 1)
    value_words, structure_words, reference_word = words[2 * d : -3], words[-3:-1], words[-1]
    # Step 2: the reference person, who meets the conditions, so that a hay affects a non-PoI
    other = uniform(reference_word, n - 1)
    reference = np.where(needle, poi, other + (other >= poi))
    # Step 3: the structure
    m, k = 1 + uniform(structure_words, d)
    # Step 4: the values to update to; a hay's are one fewer, as it skips the one that the PoI has
    u = uniform(value_words, domain_size - ~needle)
    return np.concatenate(
        [[needle, reference, k, m], places.reshape(2 * d, -1), u], dtype=np.uint8, casting="unsafe"
    )

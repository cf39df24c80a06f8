"""What a response takes the PoI's states to be: the story that explains its words best (S7)."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, ne
from typing import NamedTuple

from cogniload_gen.cogniload.steps.evidence import NOTHING, Facts
from cogniload_gen.cogniload.steps.lexicon import Lexicon
from cogniload_gen.cogniload.steps.reader import Value

State = tuple[str, ...]
"""The PoI's values, in the order of the puzzle's categories."""

STATED = 4.0
"""What it costs to pass over a value in a sentence that names the PoI."""

WHOLE, REGULAR = 5.0, 8.0
"""The same of a value in a whole state of two values or more; and where each statement has one."""

IMPLIED = 3.0
"""What it costs to pass over a value of the PoI in a sentence that names nobody."""

SAID = 1.5
"""What it costs to pass over a value that the text calls former, or denies."""

WRONG = 2.0
"""What it costs to assume that a statement was applied wrongly, or that a value is wrong."""

PART = 1.5
"""What it costs to assume that only the updates in the text were applied."""

LEFT_OUT = 1.0
"""What it costs to assume that the text leaves out a change beside others."""

SETTLED = 0.5
"""What it costs to pass over a verdict beside values of all categories."""

SILENT, STALE = 1.0, 0.5
"""What it costs to assume that a statement which is not mentioned was applied, or forgotten."""

FINAL = 3.0
"""What it costs to pass over a value of the final state."""

ANSWER = 1.0
"""What it costs to assume that the answer is not the value that was tracked."""

BEAM, SPREAD = 16, 6.0
"""How many stories are followed at most, and how much more than the best one they may cost."""


class Story(NamedTuple):
    """What a response may take the PoI's state to be, up to a statement."""

    cost: float
    state: State
    first_error: int | None
    parent: "Story | None"


COST = attrgetter("cost")

Tests = list[tuple[tuple[int, ...], str, float]]
"""Values that a state is held against: the places that may hold each, and what a misfit costs."""


class Held(NamedTuple):
    """The facts on a statement, ready to be held against states.

    `places` are the places of the categories that have a value after it.
    """

    after: Tests
    before: Tests
    absent: list[tuple[int, str]]
    places: frozenset[int]
    facts: Facts


class Final(NamedTuple):
    """What a response says at its end: values of the final state, and its answer."""

    state: list[Value]
    answer: str | None


def hold(facts: Facts, place: Mapping[str, int], regular: bool = False) -> Held:
    """The facts by the places of the categories in a state; see `is_whole` for `regular`."""
    whole = WHOLE if len(place) > 1 and is_whole(facts, place) else STATED
    after = tests(facts.after, place, REGULAR if regular else whole, IMPLIED)
    return Held(
        after,
        tests(facts.before, place, SAID, SAID),
        [(place[v.categories[0]], v.value) for v in facts.absent if len(v.categories) == 1],
        frozenset(i for where, _, _ in after for i in where),
        facts,
    )


def is_whole(facts: Facts, place: Mapping[str, int]) -> bool:
    """Whether the text names the PoI with a value of each category."""
    return place.keys() == {
        v.categories[0] for v in facts.after if v.explicit and not v.categories[1:]
    }


def is_regular(facts: Sequence[Facts], lexicon: Lexicon) -> bool:
    """Whether the text has a whole state after each statement that it mentions."""
    return all(is_whole(fact, lexicon.place) for fact in facts[1:] if fact.mentioned)


def tests(
    values: Sequence[Value], place: Mapping[str, int], explicit: float, implied: float
) -> Tests:
    """Values of the text as tests of a state."""
    if not values:
        return []
    costs: dict[tuple[tuple[int, ...], str], float] = {}
    for value in values:
        key = tuple(map(place.__getitem__, value.categories)), value.value
        cost = explicit if value.explicit else implied
        costs[key] = max(cost, costs.get(key, 0.0))
    return [(where, value, cost) for (where, value), cost in costs.items()]


NOT_HELD = hold(NOTHING, {})


def find_stories(facts: Sequence[Facts], last: int, final: Final, lexicon: Lexicon) -> list[Story]:
    """The stories that a response may tell, the cheapest first.

    `facts[t]` are those on statement t, `last` the last statement that is mentioned.
    """
    truth = lexicon.truth
    regular = is_regular(facts, lexicon)
    stories = openings(hold(facts[0], lexicon.place), truth[0])
    for t in range(1, len(truth)):
        held = hold(facts[t], lexicon.place, regular) if facts[t].mentioned else NOT_HELD
        needs, gives = lexicon.rules[t - 1]
        stale = 0.0 if t > last else STALE
        cheapest: dict[tuple[State, int | None], Story] = {}
        for story in stories:
            b = story.state
            match = all(b[i] == value for i, value in needs)
            for state, cost in continuations(held, b, match, gives, stale):
                error = story.first_error
                if error is None and state != truth[t]:
                    error = t
                key, total = (state, error), story.cost + cost
                if key not in cheapest or total < cheapest[key].cost:
                    cheapest[key] = Story(total, state, error, story)
        stories = best(cheapest.values()) if len(cheapest) > 1 else list(cheapest.values())
    return sorted((ended(story, final, lexicon) for story in stories), key=COST)


def best(stories: Iterable[Story]) -> list[Story]:
    """The cheapest stories."""
    ranked = sorted(stories, key=COST)[:BEAM]
    return [story for story in ranked if story.cost <= ranked[0].cost + SPREAD]


def openings(held: Held, truth: State) -> list[Story]:
    """The stories of the initial state: the true one, and the one in the text."""
    stories = [Story(misfit(held, truth, truth, False), truth, None, None)]
    state = overwrite(held, truth, {})
    if state is not truth:
        cost = WRONG * sum(map(ne, state, truth)) + misfit(held, state, state, False)
        stories.append(Story(cost, state, 0, None))
    return stories


def continuations(
    held: Held, b: State, match: bool, gives: Mapping[int, str], stale: float
) -> list[tuple[State, float]]:
    """The states that may follow b and what each costs; `match` if the statement applies to b."""
    updated = list(b)
    for i, value in gives.items():
        updated[i] = value
    u = tuple(updated)
    if not held.facts.mentioned:
        return [(u, SILENT), (b, stale)] if match and u != b else [(b, 0.0)]
    natural, other = (u, b) if match else (b, u)
    cost = misfit(held, b, natural, match)
    steps = [(natural, cost)]
    if not cost and held.places.issuperset(gives):
        return steps  # the text has all updates, and they are right
    unseen = WRONG * (not match and held.facts.lean < 0 and not held.after)
    steps.append((other, WRONG + unseen + misfit(held, b, other, not match)))
    for base, applied in ((b, False), (u, True)) if held.after else ():
        state = overwrite(held, base, gives)
        if state is not base:
            assumed = WRONG * min(sum(map(ne, state, base)), 2) + WRONG * (applied != match)
            steps.append((state, assumed + misfit(held, b, state, applied)))
            if match and not applied and state != u:
                steps.append((state, PART + misfit(held, b, state, True)))
    return steps


def overwrite(held: Held, base: State, gives: Mapping[int, str]) -> State:
    """A state with the values of the text in the places where these differ from it."""
    changed: list[str] | None = None
    for where, value, _ in held.after:
        if any(base[i] == value for i in where):
            continue
        places = where if len(where) == 1 else [i for i in where if gives.get(i) == value]
        if len(places) == 1:
            changed = changed or list(base)
            changed[places[0]] = value
    return tuple(changed) if changed else base


def misfit(held: Held, b: State, after: State, applied: bool) -> float:
    """What it costs to explain the facts on a statement by a step from state b to another."""
    cost = 0.0
    for where, value, weight in held.after:
        if after[where[0]] != value and (len(where) == 1 or lacks(after, where, value)):
            cost += weight
    for where, value, weight in held.before:
        if lacks(b, where, value) and lacks(after, where, value):
            cost += weight
    for i, value in held.absent:
        cost += SAID * (b[i] == value)
    facts = held.facts
    if facts.verdict:
        if facts.verdict.applies != applied:
            whole = len(held.places) == len(b) and SETTLED
            cost += whole or facts.verdict.weight
    elif facts.lean and (facts.lean > 0) != applied and not (facts.same or facts.after):
        cost += abs(facts.lean)
    if b is not after and b != after:
        if facts.same:
            cost += 1 if facts.after else 1.5 * facts.same
        if applied and held.places:
            changed = {i for i in range(len(b)) if b[i] != after[i]}
            if not changed <= held.places:
                cost += LEFT_OUT
    return cost


def lacks(state: State, where: tuple[int, ...], value: str) -> bool:
    """Whether none of the places in a state holds a value."""
    return all(state[i] != value for i in where)


def ended(story: Story, final: Final, lexicon: Lexicon) -> Story:
    """A story with what the response says at its end taken into account."""
    cost = story.cost
    for where, value, _ in tests(final.state, lexicon.place, STATED, STATED):
        if lacks(story.state, where, value):
            cost += FINAL
    if final.answer and story.state[lexicon.place[lexicon.solution.category]] != final.answer:
        cost += ANSWER
    return story._replace(cost=cost)

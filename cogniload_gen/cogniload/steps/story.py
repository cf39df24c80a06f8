"""What a response says of each statement, and the story that explains it best (S2, S3, S6, S7)."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter, ne
from typing import NamedTuple

from cogniload_gen.cogniload.solve import Solution
from cogniload_gen.cogniload.steps.lexicon import Lexicon
from cogniload_gen.cogniload.steps.reader import (
    END,
    Back,
    Block,
    Evidence,
    Same,
    Value,
    Verdict,
)

# --- blocks -> facts on each statement (S2, S3, S6)

PLAIN = 2.5
"""The least weight of a verdict in plain words."""


class Facts(NamedTuple):
    """What the evidence on a statement comes to.

    `after` are the PoI's values after it by the text, `before` those on the way there, `absent`
    those that the text denies; `same` is how plainly nothing changes, `lean` whether the people
    named first are the PoI (above 0) or others (below), 0 if nobody is named.
    """

    after: list[Value]
    before: list[Value]
    absent: list[Value]
    verdict: Verdict | None
    same: float
    lean: float
    mentioned: bool

    @property
    def decides(self) -> bool:
        """Whether the text says anything of the PoI."""
        return bool(self.after or self.verdict or self.same or self.lean)


NOTHING = Facts([], [], [], None, 0.0, 0.0, False)


class Sorted(NamedTuple):
    """The blocks of a response by what they are about.

    `statements[t]` are those on statement t (0: the initial state), `end` those on the final state,
    `answer` the one of the response's last sentence.
    """

    statements: list[list[Block]]
    end: list[Block]
    answer: list[Block]


def align(blocks: Sequence[Block], solution: Solution) -> None:
    """Find out which statement each block is about; what it quotes decides over its label (S2)."""
    labelled = [b for b in blocks if len(b.labels) == 1 and b.labels[0] != END and b.start]
    quoting = [b for b in labelled if b.cited and not b.soft]
    quotes = any(
        sum(cites(b, b.labels[0] + by, solution) for b in quoting) > 1 for by in range(-2, 3)
    )
    offset = last = 0
    for block in blocks:
        block.statements = block.labels
    for block in labelled:
        guess = block.labels[0] + offset * (not block.soft)
        if quotes and block.cited and not block.soft:
            near = range(max(last, guess - 3) + 1, guess + 3)
            fits = [t for t in near if cites(block, t, solution)]
            guess = min(fits, key=lambda t: abs(t - guess), default=guess)
            offset, last = guess - block.labels[0], guess
        block.statements = (max(0, guess),)


def attribute_to_poi(blocks: Sequence[Block], solution: Solution) -> None:
    """Assign values that name no person to the PoI if they form a state (S3).

    A state is a value of each category at the end of a block that does not come from the statement.
    Where a text tracks nobody else, and no block quotes, the values of all blocks
    on a statement are the PoI's, as in "3: hat → red".
    """
    poi, state = solution.poi, solution.states[0][solution.poi]
    alone, d = True, len(state)
    unnamed: list[Block] = []
    for block in blocks:
        t = block.statements[0]
        if not 0 <= t <= len(solution.statements):
            continue
        needs, gives = solution.statements[t - 1] if t else ({}, {})
        others = any(people != {poi} for people, _ in block.named)
        values = [e for e in block.evidence if isinstance(e, Value) and e.role != "left"]
        left = sum(isinstance(e, Value) and e.role == "left" for e in block.evidence)
        stated = [(category, v.value) for v in values for category in v.categories]
        last = [e for e in block.evidence[-d:] if isinstance(e, Value) and not e.who]
        begun = len(block.evidence) > d and not block.named if t else not others
        if begun and len(block.statements) == 1 < d == len(last):
            whole = [*dict(stated[-d:])] == [v.categories[0] for v in last]
            own = {*stated[-d:]} <= needs.items() | gives.items()
            if whole and not (own and len(values) >= len(needs) + len(gives)):
                give(block, d, poi)
        alone = alone and not (t and others)
        if t and values and not block.named:
            categories = {category for category, _ in stated}
            odd = len(categories) < len(stated) or len(values) + left < len(block.evidence)
            alone = alone and not odd
            unnamed.append(block)
    for block in unnamed if alone else ():
        give(block, len(block.evidence), poi)


def give(block: Block, n: int, poi: str) -> None:
    """Make the values in the last n items of a block's evidence the PoI's."""
    block.evidence[-n:] = [
        e._replace(who=frozenset([poi]), role="before" if e.role == "left" else "after")
        if isinstance(e, Value)
        else e
        for e in block.evidence[-n:]
    ]


def cites(block: Block, t: int, solution: Solution) -> bool:
    """Whether the quoted statement of a block is statement t."""
    if not 0 < t <= len(solution.statements):
        return False
    parts = solution.statements[t - 1]
    if len(block.cited) != len(parts[0]) + len(parts[1]):
        return False
    values = iter(block.cited)
    return all(
        any(part.get(category) == value.value for category in value.categories)
        for part in parts
        for value in islice(values, len(part))
    )


def sort_blocks(blocks: Sequence[Block], N: int) -> Sorted:
    """The blocks by statement: those of the longest rising chain, else those outside it (S2)."""
    usable = [b for b in blocks if b.statements[0] >= 0 and max(b.statements) <= N]
    chain = rising(usable)
    inside = {id(block) for block in chain}
    by_statement: list[list[Block]] = [[] for _ in range(N + 1)]
    for block in chain:
        for t in block.statements:
            by_statement[t].append(block)
    covered = {t for t in range(N + 1) if by_statement[t]}
    for block in usable:
        if id(block) not in inside:
            for t in block.statements:
                if t not in covered:
                    by_statement[t].append(block)
    ends = [b for b in blocks if b.statements[0] == END]
    return Sorted(by_statement, [b for b in ends if not b.final], [b for b in ends if b.final])


def rising(blocks: Sequence[Block]) -> list[Block]:
    """The longest chain of blocks whose statements rise; several may be on the same one."""
    ends: list[tuple[int, int]] = []
    index: list[int] = []
    parents: list[int] = []
    for i, block in enumerate(blocks):
        place = bisect_left(ends, (block.statements[0], i))
        parents.append(index[place - 1] if place else -1)
        end = block.statements[-1], i
        if place == len(ends):
            ends.append(end)
            index.append(i)
        elif end < ends[place]:
            ends[place], index[place] = end, i
    chain: list[Block] = []
    i = index[-1] if index else -1
    while i >= 0:
        chain.append(blocks[i])
        i = parents[i]
    return chain[::-1]


def weigh(blocks: Sequence[Block], poi: str) -> tuple[Facts, list[int]]:
    """What blocks on one statement come to, and the places where something was taken back (S6)."""
    if not blocks:
        return NOTHING, []
    evidence: list[Evidence] = []
    for block in blocks:
        values_count = not block.scattered
        evidence += [e for e in block.evidence if values_count or not isinstance(e, Value)]
    after, before = told_values(evidence, poi)
    absent = [e for e in evidence if isinstance(e, Value) and e.role == "not" and poi in e.who]
    rest = [e for e in evidence if not isinstance(e, Value)]
    same = max((e.weight for e in rest if isinstance(e, Same)), default=0.0)
    verdict = last_verdict([e for e in rest if isinstance(e, Verdict)])
    facts = Facts(after, before, absent, verdict, same, lean(blocks, poi), True)
    backs = [e.start for e in rest if isinstance(e, Back)]
    return facts, [start for start in backs if is_correction(start, after, before)]


def is_correction(start: int, after: Sequence[Value], before: Sequence[Value]) -> bool:
    """Whether a value before a place in the text is replaced by another after it."""
    now = {v.categories: v.value for v in after if v.start > start}
    once = [v for v in before if v.role == "after" and v.start < start]
    return any(now.get(v.categories, v.value) != v.value for v in once)


def told_values(evidence: Sequence[Evidence], poi: str) -> tuple[list[Value], list[Value]]:
    """The PoI's values as they end up, and those that a later verdict or value replaces."""
    yes = [i for i, e in enumerate(evidence) if isinstance(e, Verdict) and e.applies]
    last_yes = yes[-1] if yes else -1
    seen: set[str] = set()
    after: list[Value] = []
    before: list[Value] = []
    for i in range(len(evidence) - 1, -1, -1):
        item = evidence[i]
        if not isinstance(item, Value) or poi not in item.who:
            continue
        if item.role == "before":
            before.append(item)
        elif item.role == "after":
            retold = len(item.categories) == 1 and item.categories[0] in seen
            (before if i < last_yes or retold else after).append(item)
            if len(item.categories) == 1:
                seen.add(item.categories[0])
    return after[::-1], before[::-1]


def last_verdict(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The verdict of several: no if one says no, unless a plain yes comes after it."""
    refusals = [e for e in verdicts if not e.applies]
    plain = [e for e in verdicts if e.weight >= PLAIN]
    if refusals and plain and plain[-1].applies and plain[-1].start > refusals[-1].start:
        return Verdict(True, 1, plain[-1].start)
    return max(refusals or verdicts, key=lambda e: e.weight, default=None)


def lean(blocks: Sequence[Block], poi: str) -> float:
    """Whether the people named first are the PoI or others (see `Facts`)."""
    named = [people for block in blocks for people, denied in block.named if not denied]
    return 0.0 if not named else 1.0 if poi in named[0] else -1.5


# --- what the response takes the PoI's states to be (S7)

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
    costs: dict[tuple[tuple[int, ...], str], float] = {}
    for value in values:
        key = tuple(map(place.__getitem__, value.categories)), value.value
        cost = explicit if value.explicit else implied
        costs[key] = max(cost, costs.get(key, 0.0))
    return [(where, value, cost) for (where, value), cost in costs.items()]


NOT_HELD = hold(NOTHING, {})


def find_stories(
    facts: Sequence[Facts],
    last: int,
    final: Sequence[Value],
    answer: str | None,
    lexicon: Lexicon,
) -> list[Story]:
    """The stories that a response may tell, the cheapest first.

    `facts[t]` are those on statement t, `last` the last statement that is mentioned, `final` values
    of the final state.
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
    asked = lexicon.place.get(lexicon.solution.category, 0)  # of a whole state, nothing is answered
    told = tests(final, lexicon.place, FINAL, FINAL)
    ended = []
    for story in stories:
        cost = sum(weight for where, value, weight in told if lacks(story.state, where, value))
        cost += ANSWER * (answer is not None and story.state[asked] != answer)
        ended.append(story._replace(cost=story.cost + cost))
    return sorted(ended, key=COST)


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

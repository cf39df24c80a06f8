"""What a response says of each statement, and the story that explains it best (S2, S3, S6, S7)."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, ne
from typing import NamedTuple

from cogniload_gen.cogniload.solve import Solution
from cogniload_gen.cogniload.steps.lexicon import Lexicon
from cogniload_gen.cogniload.steps.reader import (
    END,
    REST,
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


class Return(NamedTuple):
    """Where a text turns back, and the blocks that repeat earlier statements then (S6)."""

    start: int
    blocks: list[Block]


class Sorted(NamedTuple):
    """The blocks of a response by what they are about.

    `statements[t]` are those on statement t (0: the initial state), `final` the values of the final
    state, `answer` the one of the last sentence. `returns[t]` is what the text
    repeats after statement t.
    """

    statements: list[list[Block]]
    final: list[Value]
    answer: str | None
    returns: dict[int, Return]


def align(blocks: Sequence[Block], solution: Solution) -> None:
    """Find out which statement each block is about; what it quotes decides over its label (S2)."""
    labelled = [b for b in blocks if len(b.labels) == 1 and b.labels[0] >= 0 and b.start]
    quoting = [b for b in labelled if b.cited and not b.soft]
    quotes = any(
        sum(_cites(b, b.labels[0] + by, solution) for b in quoting) > 1 for by in range(-2, 3)
    )
    offset = last = 0
    told = {t for block in blocks for t in block.labels}
    rest = tuple(t for t in range(1, len(solution.statements) + 1) if t not in told)
    for block in blocks:
        block.statements = rest if block.labels == (REST,) and rest else block.labels
    for block in labelled:
        guess = block.labels[0] + offset * (not block.soft)
        if quotes and block.cited and not block.soft:
            near = range(max(last, guess - 3) + 1, guess + 3)
            fits = [t for t in near if _cites(block, t, solution)]
            guess = min(fits, key=lambda t: abs(t - guess), default=guess)
            offset, last = guess - block.labels[0], guess
        block.statements = (max(0, guess),)


def _attribute_to_poi(blocks: Sequence[Block], solution: Solution) -> None:
    """Assign values that name no person to the PoI if they form a state (S3).

    A state is a value of each category at the end of a block that does not come from the statement.
    Where a text tracks nobody else, and no block quotes, the values of all blocks on a statement
    are the PoI's, as in "3: hat → red"; of a block that says that it applies, those after that.
    """
    poi, state = solution.poi, solution.states[0][solution.poi]
    alone, d = True, len(state)
    unnamed: list[tuple[Block, int]] = []
    for block in blocks:
        t = block.statements[0]
        if not 0 <= t <= len(solution.statements):
            continue
        needs, gives = solution.statements[t - 1] if t else ({}, {})
        others = any(people != {poi} for people, _ in block.named)
        values = [e for e in block.evidence if isinstance(e, Value) and e.role != "left"]
        stated = [(category, v.value) for v in values for category in v.categories]
        last = [e for e in block.evidence[-d:] if isinstance(e, Value) and not e.who]
        begun = len(block.evidence) > d and not block.named if t else not others
        if begun and len(block.statements) == 1 < d == len(last):
            whole = [*dict(stated[-d:])] == [v.categories[0] for v in last]
            own = {*stated[-d:]} <= needs.items() | gives.items()
            if whole and not (own and len(values) >= len(needs) + len(gives)):
                give(block, d, poi)
        alone = alone and not (others if t else block.named and block.named[-1][0] != {poi})
        if t and values and not block.named:
            yes = [-1, *(e.start for e in block.evidence if getattr(e, "applies", False))]
            rest = [e for e in block.evidence if e.start > yes[-1]]
            told = {(c, v.value) for v in values if v.start > yes[-1] for c in v.categories}
            odd = len({category for category, _ in told}) < len(told)
            alone = alone and not (odd or block.cited) and all(isinstance(e, Value) for e in rest)
            unnamed.append((block, len(rest)))
    for block, n in unnamed if alone else ():
        give(block, n, poi)


def give(block: Block, n: int, poi: str) -> None:
    """Make the values in the last n items of a block's evidence the PoI's."""
    block.evidence[-n:] = [
        e._replace(who=frozenset([poi]), role="before" if e.role == "left" else "after")
        if isinstance(e, Value)
        else e
        for e in block.evidence[-n:]
    ]


def _cites(block: Block, t: int, solution: Solution) -> bool:
    """Whether the quoted statement of a block is statement t."""
    parts = solution.statements[t - 1] if 0 < t <= len(solution.statements) else ()
    wanted = [part for part in parts for _ in part]
    return len(block.cited) == len(wanted) > 0 and all(
        any(part.get(category) == value.value for category in value.categories)
        for part, value in zip(wanted, block.cited, strict=True)
    )


def sort_blocks(blocks: Sequence[Block], solution: Solution) -> Sorted:
    """The blocks by statement: those of the longest rising chain, else those outside it (S2).

    Blocks in which the text goes back to correct itself are no history (S6).
    """
    align(blocks, solution)
    _attribute_to_poi(blocks, solution)
    N = len(solution.statements)
    within = [b for b in blocks if max(b.statements) <= N]
    returns = _go_back(within, solution.poi)
    again = {id(block) for told in returns.values() for block in told.blocks}
    usable = [b for b in within if b.statements[0] >= 0 and id(b) not in again]
    chain = {id(block): block for block in rising(usable)}
    covered = {t for block in chain.values() for t in block.statements}
    by_statement: list[list[Block]] = [[] for _ in range(N + 1)]
    for block in usable:
        for t in block.statements:
            if t not in covered or id(block) in chain:
                by_statement[t].append(block)
    ends = [b for b in blocks if b.statements[0] == END]
    final, _ = weigh([b for b in ends if not b.final], solution.poi)
    answer = answer_of([b for b in ends if b.final], solution.category)
    return Sorted(by_statement, final.after, answer, returns)


def answer_of(blocks: Sequence[Block], category: str) -> str | None:
    """The last value of the question's category in the response's last sentence."""
    values = [
        item.value
        for block in blocks
        for item in block.evidence
        if isinstance(item, Value) and category in item.categories
        and item.role in ("after", "quoted")
    ]  # fmt: skip
    return values[-1] if values else None


def _go_back(blocks: Sequence[Block], poi: str) -> dict[int, Return]:
    """Where a text goes back to repeat earlier statements, by the statement after which it does.

    It does so in a block that is about an earlier statement, if it has taken something back before,
    or if it gives another value than the one that it gave first.
    """
    chain = {id(b) for b in rising([b for b in blocks if b.tells and b.statements[0] >= 0], 1)}
    returns: dict[int, Return] = {}
    first_told: dict[tuple[int, tuple[str, ...]], str] = {}
    at, turn = 0, -1
    for block in blocks:
        last = block.statements[-1]
        values = {(last, v.categories): v.value for v in told_values(block.evidence, poi)[0]}
        if id(block) in chain:
            at, turn = last, -1
        elif turn < 0 and any(first_told.get(key, value) != value for key, value in values.items()):
            turn = block.start
        if id(block) not in chain and turn >= 0 and (0 <= last < at or last == at in returns):
            returns.setdefault(at, Return(turn, [])).blocks.append(block)
        else:
            first_told |= values
        turn = max((e.start for e in block.evidence if isinstance(e, Back)), default=turn)
    return returns


def rising(blocks: Sequence[Block], least: int = 0) -> list[Block]:
    """The longest chain of blocks whose statements rise by `least` or more each time."""
    ends: list[tuple[int, int]] = []
    index: list[int] = []
    parents: list[int] = []
    for i, block in enumerate(blocks):
        place = bisect_left(ends, (block.statements[0] - least, i))
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
    verdict = _last_verdict([e for e in rest if isinstance(e, Verdict)])
    facts = Facts(after, before, absent, verdict, same, lean(blocks, poi), True)
    backs = [e.start for e in rest if isinstance(e, Back)]
    return facts, corrections(backs, after, before)


def corrections(
    places: Iterable[int], after: Iterable[Value], before: Iterable[Value]
) -> list[int]:
    """The places in the text where a value before is replaced by another after."""
    now = {v.categories: v for v in after}
    once: dict[tuple[str, ...], int] = {}  # where a value begins that is replaced
    for v in before:
        if v.role == "after" and v.categories in now and now[v.categories].value != v.value:
            once[v.categories] = min(v.start, once.get(v.categories, v.start))
    return [at for at in places if any(once[key] < at < now[key].start for key in once)]


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


def _last_verdict(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The verdict of several: no if one says no, unless a plain yes comes after it."""
    plain = [e for e in verdicts if e.weight >= PLAIN]
    return plain[-1] if plain else max(verdicts, key=lambda e: e.weight, default=None)


def lean(blocks: Sequence[Block], poi: str) -> float:
    """Whether the people named first are the PoI or others (see `Facts`)."""
    named = [people for block in blocks for people, denied in block.named if not denied]
    return 0.0 if not named else 1.0 if poi in named[0] else -1.5


# --- what the response takes the PoI's states to be (S7)

State = tuple[str, ...]
"""The PoI's values, in the order of the puzzle's categories."""

# What it costs to pass over a value in a sentence that names the PoI.
_STATED = 4.0

WHOLE, _REGULAR = 5.0, 8.0
"""The costs of passing over a value in a whole state, and over one where each statement has one."""

IMPLIED = 3.0
"""What it costs to pass over a value of the PoI in a sentence that names nobody."""

SAID = 1.5
"""What it costs to pass over a value that the text calls former, or denies."""

WRONG = 2.0
"""What it costs to assume that a statement was applied wrongly, or that a value is wrong."""

# What it costs to assume that only the updates in the text were applied.
_PART = 1.5

# What it costs to assume that the text leaves out a change beside others.
_LEFT_OUT = 1.0

# What it costs to pass over a verdict beside values of all categories.
_SETTLED = 0.5

# What it costs to assume that a statement which is not mentioned was applied, or forgotten.
_SILENT, _STALE = 1.0, 0.5

# What it costs to pass over a value of the final state.
_FINAL = 3.0

ANSWER = 1.0
"""What it costs to assume that the answer is not the value that was tracked."""

_BEAM, SPREAD = 16, 6.0
"""How many stories are followed at most, and how much more than the best one they may cost."""


class _Story(NamedTuple):
    """What a response may take the PoI's state to be, up to a statement."""

    cost: float
    state: State
    first_error: int | None
    parent: "_Story | None"

    def path(self) -> list["_Story"]:
        """The story after each statement up to this one."""
        path = [self]
        while path[-1].parent:
            path.append(path[-1].parent)
        return path[::-1]


COST = attrgetter("cost")

Tests = list[tuple[tuple[int, ...], str, float]]
"""Values that a state is held against: the places that may hold each, and what a misfit costs."""


class _Held(NamedTuple):
    """The facts on a statement, ready to be held against states.

    `places` are the places of the categories that have a value after it.
    """

    after: Tests
    before: Tests
    absent: list[tuple[int, str]]
    places: frozenset[int]
    facts: Facts


def hold(facts: Facts, place: Mapping[str, int], regular: bool = False) -> _Held:
    """The facts by the places of the categories in a state; see `_is_whole` for `regular`."""
    whole = WHOLE if len(place) > 1 and _is_whole(facts, place) else _STATED
    after = tests(facts.after, place, _REGULAR if regular else whole, IMPLIED)
    absent = [(place[v.categories[0]], v.value) for v in facts.absent if len(v.categories) == 1]
    places = frozenset(i for where, _, _ in after for i in where)
    return _Held(after, tests(facts.before, place, SAID, SAID), absent, places, facts)


def _is_whole(facts: Facts, place: Mapping[str, int]) -> bool:
    """Whether the text names the PoI with a value of each category."""
    return place.keys() == {
        v.categories[0] for v in facts.after if v.explicit and not v.categories[1:]
    }


def _is_regular(facts: Sequence[Facts], lexicon: Lexicon) -> bool:
    """Whether the text has a whole state after each statement that it mentions."""
    return all(_is_whole(fact, lexicon.place) for fact in facts[1:] if fact.mentioned)


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


_NOT_HELD = hold(NOTHING, {})


def find_stories(facts: list[Facts], last: int, blocks: Sorted, lexicon: Lexicon) -> list[_Story]:
    """The stories that a response may tell, the cheapest first.

    `facts[t]` are those on statement t, `last` the last statement that is mentioned.
    """
    truth = lexicon.truth
    regular = _is_regular(facts, lexicon)
    stories = openings(hold(facts[0], lexicon.place), truth[0])
    for t in range(1, len(truth)):
        held = hold(facts[t], lexicon.place, regular) if facts[t].mentioned else _NOT_HELD
        needs, gives = lexicon.rules[t - 1]
        stale = 0.0 if t > last else _STALE
        cheapest: dict[tuple[State, int | None], _Story] = {}
        for story in stories:
            b = story.state
            match = all(b[i] == value for i, value in needs)
            for state, cost in _continuations(held, b, match, gives, stale):
                error = story.first_error
                if error is None and state != truth[t]:
                    error = t
                key, total = (state, error), story.cost + cost
                if key not in cheapest or total < cheapest[key].cost:
                    cheapest[key] = _Story(total, state, error, story)
        stories = list(cheapest.values())
        if t in blocks.returns:
            stories = mended(stories, blocks.returns[t], t, lexicon)
        stories = best(stories) if len(stories) > 1 else stories
    told = tests(blocks.final, lexicon.place, _FINAL, _FINAL)
    if blocks.answer is not None:  # of one category: of a whole state, nothing is answered
        told.append(((lexicon.place[lexicon.solution.category],), blocks.answer, ANSWER))
    costs = [sum(w for where, v, w in told if lacks(s.state, where, v)) for s in stories]
    ended = [s._replace(cost=s.cost + cost) for s, cost in zip(stories, costs, strict=True)]
    return sorted(ended, key=COST)


def best(stories: Iterable[_Story]) -> list[_Story]:
    """The cheapest stories."""
    ranked = sorted(stories, key=COST)[:_BEAM]
    return [story for story in ranked if story.cost <= ranked[0].cost + SPREAD]


def mended(stories: Iterable[_Story], told: Return, t: int, lexicon: Lexicon) -> list[_Story]:
    """The stories of a text that goes back after statement t; what was wrong may be right then."""
    after, _ = told_values([e for b in told.blocks for e in b.evidence], lexicon.solution.poi)
    held, since = hold(NOTHING._replace(after=after), lexicon.place), told.blocks[-1].statements[-1]

    def doubt(states: Iterable[State]) -> float:
        return min(misfit(held, state, state, False) for state in states)

    right = _LEFT_OUT + doubt(lexicon.truth[since : t + 1])
    found = []
    for story in stories:
        states = [past.state for past in story.path()[since:]]
        found.append(story._replace(cost=story.cost + doubt(states)))
        if story.first_error is not None:
            error = None if story.first_error == t else story.first_error  # at once
            found.append(_Story(story.cost + right, lexicon.truth[t], error, story.parent))
    return found


def openings(held: _Held, truth: State) -> list[_Story]:
    """The stories of the initial state: the true one, and the one in the text."""
    stories = [_Story(misfit(held, truth, truth, False), truth, None, None)]
    state = overwrite(held, truth, {})
    if state is not truth:
        cost = WRONG * sum(map(ne, state, truth)) + misfit(held, state, state, False)
        stories.append(_Story(cost, state, 0, None))
    return stories


def _continuations(
    held: _Held, b: State, match: bool, gives: Mapping[int, str], stale: float
) -> list[tuple[State, float]]:
    """The states that may follow b and what each costs; `match` if the statement applies to b."""
    updated = list(b)
    for i, value in gives.items():
        updated[i] = value
    u = tuple(updated)
    if not held.facts.mentioned:
        return [(u, _SILENT), (b, stale)] if match and u != b else [(b, 0.0)]
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
                steps.append((state, _PART + misfit(held, b, state, True)))
    return steps


def overwrite(held: _Held, base: State, gives: Mapping[int, str]) -> State:
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


def misfit(held: _Held, b: State, after: State, applied: bool) -> float:
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
            settled = len(held.places) == len(b) or (applied and after == b)
            cost += _SETTLED if settled else facts.verdict.weight
    elif facts.lean and (facts.lean > 0) != applied and not (facts.same or facts.after):
        cost += abs(facts.lean)
    if b is not after and b != after:
        if facts.same:
            cost += 1 if facts.after else 1.5 * facts.same
        if applied and held.places:
            changed = {i for i in range(len(b)) if b[i] != after[i]}
            if not changed <= held.places:
                cost += _LEFT_OUT
    return cost


def lacks(state: State, where: tuple[int, ...], value: str) -> bool:
    """Whether none of the places in a state holds a value."""
    return all(state[i] != value for i in where)

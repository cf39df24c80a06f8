"""What a response says of each statement, and the story that explains it best (S2, S3, S6, S7)."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
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


class Facts(NamedTuple):
    """What the evidence on a statement comes to.

    `after` are the PoI's values after it by the text, `before` those on the way there; `same`
    is whether nothing changes, `lean` whether the one named first is the PoI (above 0) or
    another (below), 0 if nobody is named; `corrections` are the places where a value is taken back.
    """

    after: list[Value]
    before: list[Value]
    verdict: Verdict | None
    same: bool
    lean: float
    mentioned: bool
    corrections: list[int]

    @property
    def decides(self) -> bool:
        """Whether the text says anything of the PoI."""
        return bool(self.after or self.verdict or self.same or self.lean)


NOTHING = Facts([], [], None, False, 0.0, False, [])


class Return(NamedTuple):
    """Where a text turns back, and the blocks that repeat earlier statements then (S6)."""

    start: int
    blocks: list[Block]


class Sorted(NamedTuple):
    """The blocks of a response by what they are about.

    `statements[t]` are those on statement t (0: the initial state), `final` the values of the final
    state; `returns[t]` is what the text repeats after statement t.
    """

    statements: list[list[Block]]
    final: list[Value]
    returns: dict[int, Return]


def sort_blocks(blocks: Sequence[Block], solution: Solution) -> Sorted:
    """The blocks by statement: those of the longest rising chain (S2).

    Blocks in which the text goes back to correct itself are no history (S6).
    """
    N = len(solution.statements)
    within = [b for b in blocks if b.statement <= N]
    returns = _go_back(within, solution.poi)
    again = {id(block) for told in returns.values() for block in told.blocks}
    by_statement: list[list[Block]] = [[] for _ in range(N + 1)]
    for block in rising([b for b in within if b.statement >= 0 and id(b) not in again]):
        by_statement[block.statement].append(block)
    final = weigh([b for b in blocks if b.statement == END], solution.poi)
    return Sorted(by_statement, final.after, returns)


def _go_back(blocks: Sequence[Block], poi: str) -> dict[int, Return]:
    """Where a text goes back to repeat earlier statements, by the statement after which it does.

    It does so in a block that is about an earlier statement, if it has taken something back before,
    or if it gives another value than the one that it gave first.
    """
    chain = {id(b) for b in rising([b for b in blocks if b.statement >= 0], 1)}
    returns: dict[int, Return] = {}
    first_told: dict[tuple[int, str], str] = {}
    at, turn = 0, -1
    for block in blocks:
        last = block.statement
        values = {(last, v.category): v.value for v in told_values(block.evidence, poi)[0]}
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
        place = bisect_left(ends, (block.statement - least, i))
        parents.append(index[place - 1] if place else -1)
        end = block.statement, i
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


def weigh(blocks: Sequence[Block], poi: str) -> Facts:
    """What blocks on one statement come to (S6)."""
    if not blocks:
        return NOTHING
    evidence = [e for block in blocks for e in block.evidence]
    after, before = told_values(evidence, poi)
    rest = [e for e in evidence if not isinstance(e, Value)]
    same = any(isinstance(e, Same) for e in rest)
    verdicts = [e for e in rest if isinstance(e, Verdict)]
    named = [name for block in blocks for name in block.named]
    lean = 0.0 if not named else 1.0 if poi == named[0] else -1.5
    backs = [e.start for e in rest if isinstance(e, Back)]
    return Facts(
        after, before, verdicts[-1] if verdicts else None, same, lean, True,
        corrections(backs, after, before),
    )  # fmt: skip


def corrections(
    places: Iterable[int], after: Iterable[Value], before: Iterable[Value]
) -> list[int]:
    """The places in the text where a value before is replaced by another after."""
    now = {v.category: v for v in after}
    once: dict[str, int] = {}  # where a value begins that is replaced
    for v in before:
        if v.role == "after" and v.category in now and now[v.category].value != v.value:
            once[v.category] = min(v.start, once.get(v.category, v.start))
    return [at for at in places if any(once[key] < at < now[key].start for key in once)]


def told_values(evidence: Sequence[Evidence], poi: str) -> tuple[list[Value], list[Value]]:
    """The PoI's values as they end up, and those that a later verdict or value replaces."""
    seen: set[str] = set()
    after: list[Value] = []
    before: list[Value] = []
    for item in reversed(evidence):
        if not isinstance(item, Value) or poi not in item.who:
            continue
        if item.role == "before":
            before.append(item)
        elif item.role == "after":
            (before if item.category in seen else after).append(item)
            seen.add(item.category)
    return after[::-1], before[::-1]


# --- what the response takes the PoI's states to be (S7)

State = tuple[str, ...]
"""The PoI's values, in the order of the puzzle's categories."""

# What it costs to pass over a value in a sentence that names the PoI, one of a whole state, and one
# where each statement has a whole state.
_STATED, _WHOLE, _REGULAR = 4.0, 5.0, 8.0

IMPLIED = 3.0
"""What it costs to pass over a value of the PoI in a sentence that names nobody."""

SAID = 1.5
"""What it costs to pass over a value that the text calls former."""

WRONG = 2.0
"""What it costs to assume that a statement was applied wrongly, or that a value is wrong."""

# What it costs to assume that the text leaves out a change beside others.
_LEFT_OUT = 1.0

# What it costs to pass over a verdict, to change what the text calls unchanged, and either beside
# values that tell the state.
_VERDICT, _UNCHANGED, _SETTLED = 3.0, 4.0, 0.5

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


class _Held(NamedTuple):
    """The facts on a statement, ready to be held against states.

    `after` and `before` are the places and the values of the PoI, with what it costs to pass over
    one; `places` are those that have a value after the statement.
    """

    after: list[tuple[int, str, float]]
    before: list[tuple[int, str]]
    places: set[int]
    facts: Facts


def hold(facts: Facts, place: Mapping[str, int], regular: bool = False) -> _Held:
    """The facts by the places of the categories in a state; see `is_regular`."""
    whole = _WHOLE if len(place) > 1 and is_whole(facts, place) else _STATED
    stated = _REGULAR if regular else whole
    after = [(place[v.category], v.value, stated if v.explicit else IMPLIED) for v in facts.after]
    before = [(place[v.category], v.value) for v in facts.before]
    return _Held(after, before, {i for i, _, _ in after}, facts)


def is_whole(facts: Facts, place: Mapping[str, int]) -> bool:
    """Whether the text names the PoI with a value of each category."""
    return place.keys() == {v.category for v in facts.after if v.explicit}


def is_regular(facts: Sequence[Facts], lexicon: Lexicon) -> bool:
    """Whether the text has a whole state after each statement that it mentions."""
    return all(is_whole(fact, lexicon.place) for fact in facts[1:] if fact.mentioned)


_NOT_HELD = hold(NOTHING, {})


def find_stories(
    facts: list[Facts], last: int, blocks: Sorted, answer: str | None, lexicon: Lexicon
) -> list[_Story]:
    """The stories that a response may tell, the cheapest first.

    `facts[t]` are those on statement t, `last` the last statement that is mentioned.
    """
    truth = lexicon.truth
    regular = is_regular(facts, lexicon)
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
        found = list(cheapest.values())
        if t in blocks.returns:
            found = mended(found, blocks.returns[t], t, lexicon)
        found = sorted(found, key=COST)[:_BEAM]
        stories = [story for story in found if story.cost <= found[0].cost + SPREAD]
    told = [(lexicon.place[v.category], v.value, _FINAL) for v in blocks.final]
    if answer is not None:  # of one category: of a whole state, nothing is answered
        told.append((lexicon.place[lexicon.solution.category], answer, ANSWER))
    costs = [sum(w for i, v, w in told if s.state[i] != v) for s in stories]
    ended = [s._replace(cost=s.cost + cost) for s, cost in zip(stories, costs, strict=True)]
    return sorted(ended, key=COST)


def mended(stories: Iterable[_Story], told: Return, t: int, lexicon: Lexicon) -> list[_Story]:
    """The stories of a text that goes back after statement t; what was wrong may be right then."""
    after, _ = told_values([e for b in told.blocks for e in b.evidence], lexicon.solution.poi)
    held, since = hold(NOTHING._replace(after=after), lexicon.place), told.blocks[-1].statement

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
    state = overwrite(held, truth)
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
    steps.append((other, WRONG + misfit(held, b, other, not match)))
    for base, applied in ((b, False), (u, True)) if held.after else ():
        state = overwrite(held, base)
        if state is not base:
            assumed = WRONG * min(sum(map(ne, state, base)), 2) + WRONG * (applied != match)
            steps.append((state, assumed + misfit(held, b, state, applied)))
    return steps


def overwrite(held: _Held, base: State) -> State:
    """A state with the values of the text in the places where these differ from it."""
    changed = list(base)
    for i, value, _ in held.after:
        changed[i] = value
    state = tuple(changed)
    return base if state == base else state


def misfit(held: _Held, b: State, after: State, applied: bool) -> float:
    """What it costs to explain the facts on a statement by a step from state b to another."""
    cost = sum(weight for i, value, weight in held.after if after[i] != value)
    cost += sum(SAID for i, value in held.before if value not in (b[i], after[i]))
    verdict, facts = held.facts.verdict, held.facts
    if verdict and verdict.applies != applied:
        settled = len(held.places) == len(b) or (applied and after == b)
        cost += _SETTLED if settled else _VERDICT
    elif facts.lean and (facts.lean > 0) != applied and not (verdict or facts.same or facts.after):
        cost += abs(facts.lean)
    if facts.same and b != after:
        cost += _SETTLED if facts.after else _UNCHANGED
    return cost

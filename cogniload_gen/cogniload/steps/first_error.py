"""A response -> where its tracking of the person of interest (PoI) breaks, by rules.

Every response is held against the puzzle, statement by statement. Numbers in the rules are weights
in `story.py`; words are in data/steps.toml, in English, German, French, Spanish and Chinese.

S1. Text. Marks of emphasis, quotation and JSON count for nothing; check marks and crosses are read,
    case is not. Sentences end with their line, at ". ", "! ", "; " and at "? ". A line of cells
    between "|" is a row of a table; the first one names the category of each column.
S2. Labels. A number at the start of a line, "statement 3", "#3", "the third", "next" and, within a
    line, the next number begin a block about a statement. What stands after the number of an
    earlier statement, later in a sentence, is told of that one and passed over. "Initially" begins
    a block about the initial state, "finally" and "in the end" one about the final state; the last
    sentence is the answer if it has a value of the question's category and no other. The longest
    chain of blocks in which the statements rise counts.
S3. People. A value is of the person named last in its sentence, of several if they are joined
    ("Mary and Paul"). "He" and "she" are whom the block was about last, else the PoI. A sentence
    that names nobody goes on with the people of its block; a block that named nobody yet, and what
    follows "the people", "needs", "if" and the like, quotes the statement. Where the text names
    nobody other than the PoI, a block that names nobody is about the PoI.
S4. Values. A value that may be of several categories is of the one whose noun or verb follows it or
    stands on its left; else it is passed over. Spellings of the scorer are read.
S5. Roles. A value of the PoI is what is after the statement, unless it stands after "from", "was",
    "instead of" and the like or before a check mark (what was), or after "not" or before a cross
    (what is not). "Applies", "matches", a check mark and the like say that the statement applies to
    whom the clause is about; "does not", "skip", "nobody" and the like that it doesn't, and so does
    "matches:" before others' names alone; "unchanged", "stays as before" that nothing changes. Only
    what is asserted says so: not a question, nor what "if", "whether" and the like begin.
S6. Taking back. Of values in one category the last one counts, and of verdicts: one that "wait",
    "actually" and the like separate from another before it is a correction, and no error. What a
    text tells again of earlier statements after it has taken something back, or with other values
    than at first, is no history: the first error stays what it was, and the text may have the right
    state from there on.
S7. Stories. A story is a state of the PoI after each statement. It is free to apply each statement
    as it says to the state before. It costs to assume a wrong application, a wrong value or an
    unmentioned change, and to pass over what the text says. The cheapest story is what the response
    took the states to be. A value of a whole state weighs more, and most where each statement has
    one (regular).
S8. Errors. The first error is at the first statement after which that story's state is not the true
    one. It is "initial" at the start. At a statement that changes the PoI: "missed" if the state
    stays or the text denies that it applies, "skipped" if it was not mentioned, though later ones
    or the final state are, "stopped" if nothing follows it either, else "wrong_value". At one that
    doesn't apply: "intruded" if the text says that it applies, or a value becomes the update's and
    the text doesn't deny it. "drifted": a value changes that the statement doesn't set. A later
    error is "initial", too, if the initial state has two values of a category side by side. Without
    an error of tracking, an answer other than the tracked value is an "answer" error.
S9. Reading. A response is read if it decides a statement and gives the PoI a value, the next best
    story that puts the first error elsewhere costs at least MARGIN more (STOP_MARGIN for
    "stopped"), and the best one costs at most 6.5 (up to the first error, if each statement has a
    whole state), within LONGEST and MOST_WORDS. What is odd is not read: LaTeX, code, arrows after
    values or of several characters, outline numbers, a label of several statements, numbers that
    count the initial state or begin again and again, letters and clipped names for people, tables
    with columns or rows of others, and two values of a category told of the start one after the
    other. Nor is an error claimed where less than half of the statements are decided, "stopped"
    where a later statement has values or verdicts, and "drifted" where the last block goes on about
    the PoI: what was not understood is no proof of silence, nor of a change without a cause.

The time is linear in the response's length, and no text makes it raise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any

from cogniload_gen.benchmark import StepsRead
from cogniload_gen.checks import check_texts
from cogniload_gen.claims import LONGEST, MOST_WORDS, Told
from cogniload_gen.cogniload.score import language_of_row
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps import story
from cogniload_gen.cogniload.steps.lexicon import ODD, Lexicon
from cogniload_gen.cogniload.steps.reader import Reader
from cogniload_gen.grid import ENGLISH

MARGIN, STOP_MARGIN = 2.5, 0.5
"""By how much the best story must beat those with another first error so that it is claimed.

The second one is for "stopped": a text that ends early has little that could tell against it.
"""

# The most that the best story may cost: beyond it, too much of the text goes unexplained.
#
# Of 10,000 planted traces some ten cost more; at 7, a clean text by a writer was accused.
_DEAREST = 6.5

# Within how many characters two values are side by side ("red hat, blue hat").
_BESIDE = 15

# The least share of statements that the text must decide so that an error is claimed (S9).
_LEAST_COVERAGE = 0.5


@dataclass(frozen=True, slots=True)
class Steps(StepsRead):
    """The puzzle's states as a response gives them, and where its reasoning breaks.

    `told[t]` are the PoI's values by category in the response's state after statement t (0 is the
    initial state), each with its place in the text. `first_error` is the first statement after
    which the state is wrong, None if there is none, and `error` its kind (one of ERRORS, S8), None
    if there is none. `recovered` is whether the state is right again later, at statement
    `recovered_at` (both None without an error); `corrections` are the places in the text where
    something is taken back; `decided` are the statements that the text decides and `coverage` their
    share; `begins[t]` is where the text begins to speak of statement t. Where `read` is False,
    nothing is claimed: all else is empty but `decided` and `coverage`. Where there is a first
    error, `taken` is what the response takes the PoI's state to be after it, and `place` where in
    the text it shows: at its first wrong value, else where the text says whether the statement
    applies, else where it begins to speak of it; None if it never does.
    """

    told: dict[int, dict[str, Told]] = field(default_factory=dict)
    recovered_at: int | None = None
    corrections: tuple[int, ...] = ()
    decided: tuple[int, ...] = ()
    begins: dict[int, int] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    place: int | None = None


def read_steps(response: str, row: Mapping) -> Steps:
    """Return the states of a CogniLoad puzzle as a response gives them; see the module's rules.

    `row` needs the column `puzzle`, the puzzle's text. Raises ValueError if the row has no text
    that is a puzzle.
    """
    lexicon = lexicon_of(check_texts(row, ("puzzle",))["puzzle"], language_of_row(row))
    if len(response) > LONGEST or ODD.search(response):
        return Steps()
    words = lexicon.read(response)
    if len(words) > MOST_WORDS or any(word.kind == "clipped" for word in words):
        return Steps()
    reader = Reader(lexicon)
    blocks = story.sort_blocks(reader.read(words), lexicon.solution)
    return Steps() if reader.odd else judge(blocks, reader.answer, lexicon)


@lru_cache(maxsize=128)  # a group's responses come together
def lexicon_of(puzzle: str, language: str = ENGLISH) -> Lexicon:
    """The lexicon of a puzzle; ValueError for another text, or if not all have its categories."""
    solution = solve_steps(puzzle)
    categories = solution.states[0][solution.poi].keys()
    incomplete = any(categories - state.keys() for state in solution.states[0].values())
    if incomplete or any(part.keys() - categories for part in solution.parts):
        raise ValueError(f"people and statements must have the same categories, {[*categories]}")
    return Lexicon(solution, language)


def judge(blocks: story.Sorted, answer: str | None, lexicon: Lexicon) -> Steps:
    """Return what the blocks and the answer of a response say of the puzzle's states."""
    poi, category, place = lexicon.solution.poi, lexicon.solution.category, lexicon.place
    facts = [story.weigh(some, poi) for some in blocks.statements]
    decided = tuple(t for t in range(1, len(facts)) if facts[t].decides)
    last = max(decided, default=0)
    facts[last + 1 :] = [story.NOTHING] * (len(facts) - last - 1)  # nothing is told of the rest
    coverage = len(decided) / (len(facts) - 1)
    speaks = any(facts[t].after or facts[t].verdict or facts[t].same for t in decided)
    if not speaks or not (answer or any(fact.after for fact in facts)):
        return Steps(decided=decided, coverage=coverage)
    best, *others = story.find_stories(facts, last, blocks, answer, lexicon)
    path, first = best.path(), best.first_error
    states = [past.state for past in path]
    rivals = [other for other in others if other.first_error != first]
    start = [v for v in facts[0].before + facts[0].after if v.role == "after"]
    twice = len({(v.category, v.value) for v in start}) > len({v.category for v in start})
    pairs = pairwise(sorted(start, key=attrgetter("start")))
    beside = any(a.category == b.category and b.start < a.end + _BESIDE for a, b in pairs)
    if first and twice and beside:
        first, states[0] = 0, story.overwrite(story.hold(facts[0], place), states[0])
        rivals = [other for other in others if other.first_error is None]
    margin = min((rival.cost - best.cost for rival in rivals), default=story.SPREAD)
    error = None
    if first is not None:
        error = kind_of(first, states, facts[first], lexicon, first < last or bool(blocks.final))
    elif answer and answer != best.state[place[category]]:
        error = "answer"
    regular = coverage == 1 and story.is_regular(facts, lexicon)
    cost = path[first].cost if regular and first is not None else best.cost
    clear = margin >= (STOP_MARGIN if error == "stopped" else MARGIN) and cost <= _DEAREST
    thin = error not in (None, "answer", "stopped") and coverage < _LEAST_COVERAGE
    tail = [name for block in blocks.statements[last] for name in block.named]
    recap = error == "drifted" and first == last and tail.count(poi) > 2
    goes_on = any(block.evidence for some in blocks.statements[last + 1 :] for block in some)
    torn = twice and (first != 0 or not beside)
    told = {
        t: {v.category: Told(v.value, v.start, v.end) for v in fact.after}
        for t, fact in enumerate(facts)
        if fact.after
    }
    unclear = thin or torn or recap or (error == "stopped" and goes_on) or bool(error and not told)
    if unclear or not clear:
        return Steps(decided=decided, coverage=coverage)
    broken: dict[str, Any] = {"recovered": False} if error else {}
    corrections = {place for fact in facts for place in fact.corrections}
    if first is not None:
        right = [t for t in range(first + 1, len(states)) if states[t] == lexicon.truth[t]]
        broken = {"recovered": bool(right), "recovered_at": min(right, default=None)}
        broken["taken"] = dict(zip(place, states[first], strict=True))
        fact, truth = facts[first], lexicon.solution.states[first][poi]
        shown = [v.start for v in fact.after if truth[v.category] != v.value]
        shown += [fact.verdict.start] if fact.verdict else []
        shown += [block.start for block in blocks.statements[first]]
        broken["place"] = next(iter(shown), None)
        corrections |= {back.start for t, back in blocks.returns.items() if t in right}
    begins = {t: some[0].start for t, some in enumerate(blocks.statements[: last + 1]) if some}
    return Steps(
        told, first_error=first, error=error, corrections=tuple(sorted(corrections)),
        decided=decided, begins=begins, coverage=coverage, read=True, **broken,
    )  # fmt: skip


def kind_of(
    t: int, states: Sequence[story.State], facts: story.Facts, lexicon: Lexicon, goes_on: bool
) -> str:
    """The kind of the first error, which is at statement t (S8)."""
    if t == 0:
        return "initial"
    before, after, right = states[t - 1], states[t], lexicon.truth[t]
    needs, gives = lexicon.rules[t - 1]
    applied = facts.verdict.applies if facts.verdict else None
    if all(before[i] == value for i, value in needs):
        if not facts.mentioned:
            return "skipped" if goes_on else "stopped"
        if applied is False or (facts.same and not applied):
            return "missed" if right != before else "drifted"
        if after == before and not applied:
            return "missed"
        wrong = {i for i in gives if after[i] != right[i]}
        return "wrong_value" if wrong else "drifted"
    taken = any(gives.get(i) == after[i] != before[i] for i in range(len(after)))
    return "intruded" if applied or (taken and applied is None) else "drifted"

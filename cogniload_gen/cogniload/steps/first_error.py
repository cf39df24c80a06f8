"""A response -> where its tracking of the person of interest (PoI) breaks, by rules.

Every response is held against the puzzle, statement by statement. Numbers in the rules are weights
in `story.py`; words are in data/steps.toml, in English, German, French, Spanish and Chinese.

S1. Text. Marks of emphasis, quotation, LaTeX and JSON count for nothing; arrows, check marks and
    crosses are read, case is not. Sentences end with their line, at ". ", "! ", "; " and at "? ". A
    line of cells between "|" is a row of a table; the first one names the person or the category of
    each column.
S2. Labels. A number at the start of a line, "statement 3", "S3", "#3", "the third", "statements 5
    to 9" and the like begin a block about these statements; so does, within a line, a label that
    leads on, or follows "wait" and the like. "Next" and "the last one" do as well, and "all other
    statements" begins one about those that no label names. Where a block quotes a statement ("The
    people wearing ... put on ..."), the quoted one is meant, and labels after it are off by as
    much. "Initially" begins a block about the initial state, "finally", "in the end" and "That
    gives" one about the final state; the last sentence is the answer if it has a value of the
    question's category and no other. Of blocks that go back and forth, the longest chain in which
    the statements rise counts, and others only for statements that are not in it.
S3. People. A value is of the person named last in its sentence, of several if they are joined
    ("Mary and Paul"). "He" and "she" are the last person named to whom they fit, else the PoI. A
    sentence that names nobody goes on with the people of its block; a block that named nobody yet,
    and what follows "the people", "needs", "if" and the like, quotes the statement. But where the
    text names nobody other than the PoI, and no block quotes, these are the PoI's; and so is a
    value of each category at the end of a block that names nobody. Of a text with a section for
    each person, one after another, the sections on others are not read.
S4. Values. A value that may be of several categories is of the one whose noun or verb follows it or
    stands on its left; else of the one at its place, if the list has as many values as there are
    categories and their order is known from a list or a heading before it; else of any of them.
    Spellings of the scorer, abbreviations and slips of typing are read.
S5. Roles. A value of the PoI is what is after the statement, unless it stands after "from", "was",
    "instead of" and the like or before an arrow or a check mark (what was), or after "not" or
    before a cross (what is not). "Applies", "matches", a check mark and the like say that the
    statement applies to whom the sentence is about; "does not", "skip", "nobody" and the like that
    it doesn't; "unchanged", "stays as before" that nothing changes, unless about one value. Only
    what is asserted says so: not a question, what "if" or "suppose" begins up to the sentence's
    end, "but" or a bracket, nor what "whether", "check", "might" and the like begin up to the next
    clause.
S6. Taking back. Of values in one category the last one counts: one that "wait", "actually" and the
    like separate from another before it is a correction, and no error. Of verdicts in plain words
    the last one counts. What a text tells again of earlier statements after it has taken something
    back, or with other values than at first, is no history: the first error stays what it was, and
    the text may have the right state from there on.
S7. Stories. A story is a state of the PoI after each statement. It is free to apply each statement
    as it says to the state before. It costs to assume a wrong application, a wrong value or an
    unmentioned change, and to pass over what the text says. The cheapest story is what the response
    took the states to be: so words that are about others, or quoted, explain themselves. A value of
    a whole state weighs more, and most where each statement has one (regular).
S8. Errors. The first error is at the first statement after which that story's state is not the true
    one. It is "initial" at the start. At a statement that changes the PoI: "missed" if the state
    stays or the text denies that it applies, "skipped" if it was not mentioned, though later ones
    or the final state are, "stopped" if nothing follows it either, else "wrong_value". At one that
    doesn't apply: "intruded" if the text says that it applies, or a value becomes the update's and
    the text doesn't deny it. "drifted": a value changes that the statement doesn't set. An error is
    "initial", too, if the initial state gives the PoI two values of a category side by side.
    Without an error of tracking, an answer other than the tracked value is an "answer" error.
S9. Reading. A response is read if it says of a statement more than whom it names and gives the PoI
    a value, and the next best story that puts the first error elsewhere costs at least MARGIN more
    (STOP_MARGIN for "stopped"), and within LONGEST and MOST_WORDS. Nothing is claimed where the
    best story costs more than 7, unless it costs no more up to the first error, which is
    clearer by 1 then (and not "drifted"), nor "stopped" where a later statement has a label and
    values, but all of these are quoted, nor "drifted" where the text decides less than
    half of the statements: what was not understood is no proof of silence, nor of a
    change without a cause.

The time is linear in the response's length, and no text makes it raise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cogniload_gen.benchmark import StepsRead
from cogniload_gen.checks import check_texts
from cogniload_gen.claims import LONGEST, MOST_WORDS, Told
from cogniload_gen.cogniload.score import language_of_row
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps import story
from cogniload_gen.cogniload.steps.lexicon import Lexicon
from cogniload_gen.cogniload.steps.reader import Block, Reader, Value
from cogniload_gen.grid import ENGLISH

MARGIN, STOP_MARGIN = 2.5, 0.5
"""By how much the best story must beat those with another first error so that it is claimed.

The second one is for "stopped": a text that ends early has little that could tell against it.
"""

# The most that the best story may cost: beyond it, too much of the text goes unexplained.
#
# Of 3,000 planted errors none costs more than 6.5; of the traces that the rules were worked out on,
# 2 of 114 do.
_DEAREST = 7.0

# The least share of statements that the text must decide so that "drifted" is claimed (S9).
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
    share. Where `read` is False, nothing is claimed: all else is empty but `decided` and
    `coverage`. `margin` is how clear the first error is (S9). Where there is a first error, `taken`
    is what the response takes the PoI's state to be after it, and `place` where in the text it
    shows: at its first wrong value, else where the text says whether the statement applies, else
    where it begins to speak of it; None if it never does.
    """

    told: dict[int, dict[str, Told]] = field(default_factory=dict)
    recovered_at: int | None = None
    corrections: tuple[int, ...] = ()
    decided: tuple[int, ...] = ()
    margin: float = 0.0
    taken: dict[str, str] = field(default_factory=dict)
    place: int | None = None


def read_steps(response: str, row: Mapping, *, margin: float = MARGIN) -> Steps:
    """Return the states of a CogniLoad puzzle as a response gives them; see the module's rules.

    `row` needs the column `puzzle`, the puzzle's text. A smaller `margin` (0.5 and more) claims
    more, and is wrong more often (S9). Raises ValueError if the row has no text that is a puzzle.
    """
    lexicon = lexicon_of(check_texts(row, ("puzzle",))["puzzle"], language_of_row(row))
    words = lexicon.read(response) if len(response) <= LONGEST else None
    if words is None or len(words) > MOST_WORDS:
        return Steps()
    blocks = story.sort_blocks(Reader(lexicon).read(words), lexicon.solution)
    return judge(blocks, lexicon, margin)


@lru_cache(maxsize=128)  # a group's responses come together
def lexicon_of(puzzle: str, language: str = ENGLISH) -> Lexicon:
    """The lexicon of a puzzle; ValueError for another text, or if not all have its categories."""
    solution = solve_steps(puzzle)
    categories = solution.states[0][solution.poi].keys()
    incomplete = any(categories - state.keys() for state in solution.states[0].values())
    if incomplete or any(part.keys() - categories for part in solution.parts):
        raise ValueError(f"people and statements must have the same categories, {[*categories]}")
    return Lexicon(solution, language)


def judge(blocks: story.Sorted, lexicon: Lexicon, needed: float) -> Steps:
    """Return what the blocks of a response say of the puzzle's states."""
    poi, category, place = lexicon.solution.poi, lexicon.solution.category, lexicon.place
    weighed = [story.weigh(some, poi) for some in blocks.statements]
    facts = [fact for fact, _ in weighed]
    last = _cut_off(facts)
    decided = tuple(t for t in range(1, len(facts)) if facts[t].decides)
    coverage = len(decided) / (len(facts) - 1)
    best, *others = story.find_stories(facts, last, blocks, lexicon)
    path, first = best.path(), best.first_error
    states = [past.state for past in path]
    rivals = [other for other in others if other.first_error != first]
    if first and any(block.double for block in blocks.statements[0]):
        first, states[0] = 0, story.overwrite(story.hold(facts[0], place), states[0], {})
        rivals = [other for other in others if other.first_error is None]
    margin = min((rival.cost - best.cost for rival in rivals), default=story.SPREAD)
    error = None
    if first is not None:
        error = kind_of(first, states, facts[first], lexicon, first < last or bool(blocks.final))
    elif blocks.answer and blocks.answer != best.state[place[category]]:
        error = "answer"
    early = first is not None and margin >= needed + 1 and error != "drifted"
    cost = path[first or 0].cost if early else best.cost
    plain = any(facts[t].after or facts[t].verdict or facts[t].same for t in decided)
    plain = plain and any(fact.after for fact in facts)  # a value of the PoI
    clear = margin >= (STOP_MARGIN if error == "stopped" else needed) and cost <= _DEAREST
    unheard = error == "stopped" and _quotes_on(first or 0, blocks)
    thin = error == "drifted" and coverage < _LEAST_COVERAGE
    if not (plain and clear) or unheard or thin:
        return Steps(decided=decided, coverage=coverage, margin=margin)
    broken: dict[str, Any] = {"recovered": False} if error else {}
    corrections = {place for _, places in weighed for place in places}
    if first is not None:
        right = [t for t in range(first + 1, len(states)) if states[t] == lexicon.truth[t]]
        broken = {"recovered": bool(right), "recovered_at": min(right, default=None)}
        broken["taken"] = dict(zip(place, states[first], strict=True))
        broken["place"] = _shown_at(
            facts[first], blocks.statements[first], lexicon.solution.states[first][poi]
        )
        corrections |= {told.start for t, told in blocks.returns.items() if t in right}
    told = {t: values for t, fact in enumerate(facts) if (values := _by_category(fact.after))}
    return Steps(
        told, first_error=first, error=error, corrections=tuple(sorted(corrections)),
        decided=decided, coverage=coverage, margin=margin, read=True, **broken,
    )  # fmt: skip


def _shown_at(facts: story.Facts, blocks: Sequence[Block], right: Mapping[str, str]) -> int | None:
    """Where the text shows the error at a statement (see `Steps.place`)."""
    for value in facts.after:
        if all(right[category] != value.value for category in value.categories):
            return value.start
    return facts.verdict.start if facts.verdict else next((b.start for b in blocks), None)


def _cut_off(facts: list[story.Facts]) -> int:
    """The last statement that the text decides; those after it are taken out."""
    last = max((t for t in range(1, len(facts)) if facts[t].decides), default=0)
    facts[last + 1 :] = [story.NOTHING] * (len(facts) - last - 1)
    return last


def _quotes_on(first: int, blocks: story.Sorted) -> bool:
    """Whether a statement from `first` on has values, and quoted ones alone."""
    return any(
        {item.role for b in some for item in b.evidence if isinstance(item, Value)} == {"quoted"}
        for some in blocks.statements[first:]
    )


def kind_of(
    t: int, states: Sequence[story.State], facts: story.Facts, lexicon: Lexicon, goes_on: bool
) -> str:
    """The kind of the first error, which is at statement t (S8)."""
    if t == 0:
        return "initial"
    before, after, right = states[t - 1], states[t], lexicon.truth[t]
    needs, gives = lexicon.rules[t - 1]
    verdict = facts.verdict
    applied = verdict.applies if verdict and verdict.weight >= story.PLAIN else None
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


def _by_category(values: Sequence[Value]) -> dict[str, Told]:
    """Values by their category, the last of each, if they are of one alone."""
    return {
        value.categories[0]: Told(value.value, value.start, value.end)
        for value in values
        if len(value.categories) == 1
    }

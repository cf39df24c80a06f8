"""Rewards of CogniLoad responses, from 0 to 1, for training.

What they promise:

- **Answer**: 1 for a response that is correct by the paper's scorer (Appendix D), names no other
  option in the sentences that the scorer reads, and neither hedges nor denies: accuracy alone would
  pay for a sentence that lists all values, or for another guess in each of three places.
- **Steps**: how far into the puzzle the response's own tracking stays right, whatever its answer.
  Every further right statement pays, so that a trace with 90 % right statements ranks above one
  with 10 %. A trace with an error in its first statement earns nothing, and so does what says
  nothing plainly: hedges, denials, several values, contradictions.
- **Blind strategies**: to apply every statement to the person of interest (PoI), or none, earns
  at most BLIND. What the better of the two reaches in a puzzle is worth no more to other responses;
  the rest of the reward is for what lies beyond. Where every statement concerns the PoI (rho 100),
  nothing lies beyond, and the most that a response can earn is BLIND.

Tracking is read from the lines that begin with a statement's number ("3.", "After statement 3:",
"**Step 3**") and name the PoI. What follows the name, up to another person's, tells values that the
PoI has after that statement, in the words of a puzzle ("is wearing a blue hat and is in the park")
or as "hat: blue"; values without a mention stay as they were. The lines count in the order of the
statements. A second line for the same statement corrects the first; a later one that contradicts it
leaves it without a state. So does a line that gives two values for a category, or that names any
other value beside; one with a word that a plain statement has no need of (data/rewards.toml), such
as a hedge or a denial; and a remark after it that takes it back ("No wait, that is wrong", "I made
that up"), or that gives another state than this line and the next, for the PoI or for nobody. With
the PoI's values all right after statements 1 to run, half of the reward is run / N and half the
share of the statements changing the PoI that are among them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cogniload_gen.benchmark import Row
from cogniload_gen.checks import check_texts
from cogniload_gen.cogniload.ontology import VOCABULARIES, WORDS, read_table
from cogniload_gen.cogniload.score import asked_of, score_row, sentence_windows, spellings_of
from cogniload_gen.cogniload.solve import State, solve_steps
from cogniload_gen.cogniload.values import spellings, value_categories
from cogniload_gen.responses.blind import beyond_blind
from cogniload_gen.responses.doubt import DOUBTS, HEDGE, RETRACTION, SWEEPING

Told = dict[str, str | None]
"""The PoI's values that a response tells; None where it gives several, or none plainly."""

ENTRY = re.compile(r"\W*+(?:after\W++)?+(?:the\W++)?+(?:(?:statement|step)\W++)?+(\d{1,9})\b(.*)")
"""A lowercase line that begins with a statement's number, and what follows it."""

MARKS = re.compile(r"[ \t*_`{}\[\]()\"\u200b\u00ad]+")
"""Marks of emphasis, quotation and brackets, which separate words and mean nothing."""

VERDICTS = "(?:appl|match|meet|met|affect|chang|qualif|satisf|concern|involv|includ|fit|effect|one)"
VERDICT = re.compile(
    rf"(?:\b(?:not|never|no|neither|nor|none|nobody|without|cannot)|n'?t) "
    rf"(?:\w+ ){{0,3}}?{VERDICTS}\w*|\b{VERDICTS}\w*\W{{1,3}}(?:no|false)\b|(?<!\n)\bno(?=[,.:;–—])"
)
"""What denies that a statement applies, and says nothing of the values."""

STRANGE = re.compile(r"[^\w\s.,;:'’=→&|–—-]|(?<!statement )(?<!step )\b\d")
"""What a plain line has none of, besides words that are not plain."""

WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")

LISTS = read_table("rewards")

BREAK = re.compile(r"[.;!?\n](?:\s|$)|(?<!\w)(?:so(?! that)|therefore|thus|hence|, but)\b|→|=>")
"""Where a sentence ends, or where its conclusion begins."""

FORMER = re.compile(r"\b(?:from|was|instead of) (?:(?:an?|the) )?$")
"""What stands before a value that the PoI had."""

OF_PUZZLE = re.compile(r"\b(?:he|she|they|them|people|person|condition)s?\b")
"""What a remark on the puzzle, not on the text, may have besides names and values."""

SECOND_THOUGHT = re.compile(r"\W*(?:no|wait|actually|correction|sorry|oops|rather|or|hmm)\b")


def mention(category: str) -> re.Pattern:
    """Return the pattern of a mention of the category's values; one group is the spelling."""
    value = f"({'|'.join(map(re.escape, SPELLINGS[category]))})"
    noun = WORDS[category].noun.removesuffix("s") + "s?"
    forms = [f"{value} {noun}", f"{noun}(?: is|:| =) {value}"]
    if verbs := WORDS[category].verbs:
        forms.append(f"(?:{verbs}) (?:an? )?{value}")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?![\w-])")


SPELLINGS = {category: spellings(values) for category, values in VOCABULARIES.items()}
"""The value of each accepted spelling, by category."""

KINDS = ("yes", "same", "change", "people", "label", "he", "she", "they")
PLAIN = frozenset(LISTS["plain"].split()).union(
    *(read_table("steps")["words"][kind].split() for kind in KINDS),
    *(words.words.split() for words in WORDS.values()),
)
"""The words of a plain line, besides names and values."""

MENTIONS = {category: mention(category) for category in VOCABULARIES}


class History(NamedTuple):
    """What a response is held against.

    `poi` is the PoI's lowercase name, `names` the pattern of everyone's, `states` are the PoI's
    states from the initial one on, `values` are the puzzle's values by their spellings, `named` is
    the pattern of these, `plain` are the words of a plain line, and `blind` is what the better of
    two blind strategies reaches.
    """

    poi: str
    names: re.Pattern
    states: list[State]
    values: dict[str, str]
    named: re.Pattern
    plain: frozenset[str]
    blind: float


@lru_cache(maxsize=128)  # a group's responses come together
def poi_history(puzzle: str) -> History:
    """Return the states that a response is held against; ValueError if the text is no puzzle."""
    solution = solve_steps(puzzle)
    names = "|".join(re.escape(name.lower()) for name in solution.states[0])
    states = [people[solution.poi] for people in solution.states]
    always = [states[0]]
    for _, updates in solution.statements:
        always.append(always[-1] | updates)
    blind = max(progress(states, always), progress(states, [states[0]] * len(states)))
    values = spellings(value_categories(solution, tuple(states[0])))
    plain = PLAIN.union(*(spelling.split() for spelling in values), names.split("|"))
    pattern = re.compile(rf"\b({names})\b")
    return History(solution.poi.lower(), pattern, states, values, naming(values), plain, blind)


def naming(values: Iterable[str]) -> re.Pattern:
    """Return the pattern of values that a text names.

    As in the scorer, a value may go on ("redx"); before it stands anything but a letter.
    """
    longest_first = sorted(map(re.escape, values), key=len, reverse=True)
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join(longest_first)})" if longest_first else "(?!)")


def clause(text: str, place: int) -> str:
    """Return a lowercase text from where the sentence, or the conclusion, of a place in it begins.

    Without what only denies that a statement applies.
    """
    start = max((match.end() for match in BREAK.finditer(text, 0, place)), default=0)
    return VERDICT.sub(" ", MARKS.sub(" ", text[start:]))


def answer_reward(response: str, row: Row) -> float:
    """Return 1.0 if a response is correct, says so plainly and names no other option."""
    columns, score = asked_of(row), score_row(response, row)
    if not score.correct or score.evidence is None:
        return 0.0
    answer = columns["answer"].lower()
    windows = sentence_windows(response, poi=columns["poi"], category=columns["category"])
    text = MARKS.sub(" ", "\n".join(sentence.text for sentence in windows))
    own = "|".join(map(re.escape, spellings_of(answer)))
    rest, mentions = re.subn(rf"(?<![\w-])(?:{own})(?:e?s)?(?![^\W_])", " ", text)
    others = {option.lower() for option in columns["options"]} - {answer}
    several = naming(others).search(rest)
    hedge = HEDGE.search(clause(response.lower(), score.evidence[0]))
    return float(mentions > 0 and not several and not hedge)


def step_reward(response: str, row: Row) -> float:
    """Return how far into the statements a response's tracking stays right."""
    history = poi_history(check_texts(row, ("puzzle",))["puzzle"])
    return beyond_blind(progress(history.states, tracked_states(response, history)), history.blind)


def progress(states: Sequence[State], tracked: Sequence[Mapping[str, str | None]]) -> float:
    """Return the share of the statements, and of the changes among them, up to the first error."""
    right = [values == state for values, state in zip(tracked, states, strict=False)]
    run = max(0, [*right, False].index(False) - 1)
    changing = [t for t, (before, after) in enumerate(pairwise(states), 1) if before != after]
    statements = run / (len(states) - 1)
    changes = sum(t <= run for t in changing) / len(changing) if changing else statements
    return (statements + changes) / 2


def tracked_states(response: str, history: History) -> list[Told]:
    """Return the states of the PoI that a response tells, from the initial one on, in order."""
    nothing: Told = dict.fromkeys(history.states[0])
    states: list[Told] = [{**history.states[0]}]
    against: Told = {}  # what a line without a number tells, other than the last state
    for line in MARKS.sub(" ", response.lower()).splitlines():
        entry, last = ENTRY.match(line), len(states) - 1
        number = int(entry[1]) if entry else 0
        values = None
        if entry and 0 < number <= min(last + 1, len(history.states) - 1):
            values = told_values(entry[2], states[min(number, last)], states[number - 1], history)
        if values is None:
            is_free = not (entry or history.names.search(line) or OF_PUZZLE.search(line))
            of_text = is_free and not history.named.search(line)
            if RETRACTION.search(line) and SWEEPING.search(line):
                states = [nothing] * len(states)
            elif last and (
                RETRACTION.search(line)
                or (of_text and DOUBTS.search(VERDICT.sub(" ", line)))
                or (SECOND_THOUGHT.match(line) and strange(line, states[-1], history))
            ):
                states[-1] = nothing
            elif (
                last
                and (about := AboutPoi(line, line) if is_free else about_poi(line, history))
                and not HEDGE.search(about.clause)
            ):
                remark = mentioned(about.words, history)
                if (
                    None not in remark.values()
                    and (not is_free or len(remark) == len(nothing))
                    and remark.items() - states[-1].items()
                ):
                    against = remark
        elif number < last:
            if values.items() - states[number].items():
                states[number] = nothing
        else:
            after = {**states[-1], **values}
            if number > last and against.items() - after.items():
                states[-1] = nothing
            states[number:] = [after]  # the next one, or the last one corrected
            against = {}
    if len(against) > 1:  # a single value may be the answer, which is paid apart
        wholly = not against.items() & states[-1].items()
        states[0 if wholly else -1 :] = [nothing] * (len(states) if wholly else 1)
    return states


def strange(text: str, state: Told, history: History, before: Told | None = None) -> bool:
    """Tell whether a text names a value that is neither in a state nor called former."""
    values, former = set(state.values()), set((before or {}).values())
    for match in history.named.finditer(text):
        value, start = history.values[match[0]], match.start()
        was = value in former and FORMER.search(text, max(0, start - 20), start)
        if value not in values and not was:
            return True
    return False


class AboutPoi(NamedTuple):
    """What a line says of the PoI alone, and the line from the sentence that names them first."""

    words: str
    clause: str


def about_poi(text: str, history: History) -> AboutPoi | None:
    """Return what a line says of the PoI; None if it does not name them."""
    names = list(history.names.finditer(text))
    ends = [name.start() for name in names[1:]] + [len(text)]
    parts = [
        (name.end(), end) for name, end in zip(names, ends, strict=False) if name[0] == history.poi
    ]
    words = "\n".join(text[start:end] for start, end in parts)
    return AboutPoi(words, clause(text, parts[0][0])) if parts else None


def mentioned(words: str, history: History) -> Told:
    """Return the values by category that a text mentions; None where they are several."""
    mentions: Told = {}
    for category in history.states[0]:
        values = {
            SPELLINGS[category][spelling]
            for match in MENTIONS[category].finditer(words)
            for spelling in match.groups()
            if spelling
        }
        if values:
            mentions[category] = values.pop() if len(values) == 1 else None
    return mentions


def told_values(text: str, state: Told, before: Told, history: History) -> Told | None:
    """Return the PoI's values in a text, all None if it is not plain; None if it has no PoI.

    `state` has the values that the text leaves out, `before` those from before the statement.
    """
    about = about_poi(text, history)
    if about is None:
        return None
    values = mentioned(about.words, history)
    words = {word.removesuffix("'s") for word in WORD.findall(about.clause)}
    plain = history.plain.issuperset(words) and not STRANGE.search(about.clause)
    if not plain or strange(about.words, state | values, history, before):
        return dict.fromkeys(state)
    return values

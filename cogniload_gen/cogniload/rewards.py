"""Rewards of CogniLoad responses, from 0 to 1, for training.

What they promise:

- **Answer**: 1 for a response that is correct by the paper's scorer (Appendix D), names no other
  option in the sentences that the scorer reads, and is plain from the sentence of the answer on:
  accuracy alone would pay for a sentence that lists all values, for another guess in each of three
  places, and for "Ann is wearing a red hat, or not".
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
as a hedge or a denial; and a remark after it that names a value which neither this line nor the
next one gives, for the PoI or for nobody. Any other line
must be plain, too, or nothing is paid: it may have the words of talk, those of the puzzle, and no
denial but of a statement that changes nothing. It could take all the others back. With the
PoI's values all right after statements 1 to run, half of the reward is run / N and half the
share of the statements changing the PoI that are among them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cogniload_gen.benchmark import Row
from cogniload_gen.checks import check_texts
from cogniload_gen.claims import HEDGE, TALK, beyond_blind
from cogniload_gen.cogniload import score as scoring
from cogniload_gen.cogniload.ontology import WORDS, read_table
from cogniload_gen.cogniload.solve import State, solve_steps

Told = dict[str, str | None]
"""The PoI's values that a response tells; None where it gives several, or none plainly."""

ENTRY = re.compile(r"\W*+(?:after\W++)?(?:the\W++)?(?:(?:statement|step)\W++)?(\d{1,9})\b(.*)")
"""A lowercase line that begins with a statement's number, and what follows it."""

_VERDICTS = (
    "(?:appl|match|meet|met|affect|chang|qualif|satisf|concern|involv|includ|fit|effect|one)"
)
# What denies that a statement applies, and says nothing of the values.
_VERDICT = re.compile(
    rf"(?:\b(?:not|never|no|neither|nor|none|nobody|without|cannot)|n'?t) "
    rf"(?:\w+ ){{0,3}}?{_VERDICTS}\w*|\b{_VERDICTS}\w*\W{{1,3}}(?:no|false)\b"
    r"|(?<!\n)\bno(?=[,.:;–—])"
)

_IDLE = re.compile(r"\b(?:skip\w*|irrelevant|unaffected|untouched)\b")
DENIAL = re.compile(rf"{_VERDICT.pattern}|{_IDLE.pattern}")
"""What says that a statement changes nothing."""

STRANGE = re.compile(
    r"[^\w\s.,;:'’=→&|–—-]|:-|(?<!statement )(?<!step )\b\d|\bso on\b|\b(?:was|been)\W*$"
)
"""What a plain line has none of, besides words that are not plain."""

WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")

# Where a sentence ends, or where its conclusion begins.
_BREAK = re.compile(
    r"[.;!?](?:\s|$)|\n|(?<!\w)(?:so(?! that)|therefore|thus|hence|, but)\b|[→⇒]|=>"
)

SO = re.compile(r"\b(?:so|therefore|thus|hence)\b")
"""What begins a conclusion from what a line tells."""

# What stands before a value that the PoI had.
_FORMER = re.compile(r"\b(?:from|was|instead of) (?:(?:an?|the) )?$")

KINDS = ("yes", "same", "change", "people", "label", "he", "she", "they")
PLAIN = frozenset(read_table("rewards")["plain"].split()).union(
    *(read_table("steps")["words"][kind].split() for kind in KINDS),
    *(words["words"].split() for words in WORDS.values()),
)
"""The words of a plain line, besides names and values."""


class _History(NamedTuple):
    """What a response is held against.

    `poi` is the PoI's lowercase name, `names` the pattern of everyone's, `states` are the PoI's
    states from the initial one on, `values` are the puzzle's values by their spellings, `named` is
    the pattern of these, `plain` are the words of a plain line, `talk` those of lines that track
    nothing, and `blind` is what the better of two blind strategies reaches.
    """

    poi: str
    names: re.Pattern
    states: list[State]
    values: dict[str, str]
    named: re.Pattern
    plain: frozenset[str]
    talk: frozenset[str]
    blind: float


@lru_cache(maxsize=128)  # a group's responses come together
def _poi_history(puzzle: str) -> _History:
    """Return the states that a response is held against; ValueError if the text is no puzzle."""
    solution = solve_steps(puzzle)
    names = "|".join(re.escape(name.lower()) for name in solution.states[0])
    states = [people[solution.poi] for people in solution.states]
    always = [states[0]]
    for _, updates in solution.statements:
        always.append(always[-1] | updates)
    blind = max(progress(states, always), progress(states, [states[0]] * len(states)))
    values = scoring.spellings(scoring.value_categories(solution, tuple(states[0])))
    plain = PLAIN.union(*(spelling.split() for spelling in values), names.split("|"))
    talk = plain | _known_words(puzzle)
    named = re.compile(rf"\b({names})\b"), states, values, naming(values)
    return _History(solution.poi.lower(), *named, plain, talk, blind)


def words_of(text: str) -> set[str]:
    """Return the words of a lowercase text, without a genitive's ending."""
    return {re.sub("['’]s$", "", word) for word in WORD.findall(text)}


def naming(values: Iterable[str]) -> re.Pattern:
    """Return the pattern of values that a text names.

    As in the scorer, a value may go on ("redx"); before it stands anything but a letter.
    """
    longest_first = sorted(map(re.escape, values), key=len, reverse=True)
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join(longest_first)})" if longest_first else "(?!)")


def _start_of(text: str, place: int) -> int:
    """Return where the sentence, or the conclusion, of a place in a text begins."""
    return max((match.end() for match in _BREAK.finditer(text, 0, place)), default=0)


@lru_cache(maxsize=128)
def _known_words(puzzle: str) -> frozenset[str]:
    """Return the words of lines that track nothing, those of a puzzle among them."""
    return TALK.union(PLAIN, words_of(puzzle.lower()))


def answer_reward(response: str, row: Row) -> float:
    """Return 1.0 if a response is correct, says so plainly and names no other option."""
    columns, score = scoring.asked_of(row), scoring.score_row(response, row)
    if not score.correct or score.evidence is None:
        return 0.0
    answer = columns["answer"].lower()
    windows = scoring.sentence_windows(response, poi=columns["poi"], category=columns["category"])
    lower = response.lower()
    forms = "|".join(map(re.escape, scoring.spellings_of(answer)))
    own = re.compile(rf"(?<![\w-])(?:{forms})(?:e?s)?(?![^\W_])")
    rest = own.sub(" ", scoring.MARKS.sub(" ", lower[_start_of(lower, score.evidence[0]) :]))
    named = "\n".join(window.text for window in windows)
    read, mentions = own.subn(" ", scoring.MARKS.sub(" ", named))
    others = {option.lower() for option in columns["options"]} - {answer}
    several = naming(others).search(f"{read}\n{rest}")
    known = _known_words(f"{row.get('puzzle', '')}\n{columns['poi']}")
    return float(mentions > 0 and not several and _is_talk(rest, False, known))


def state_reward(response: str, row: Row) -> float:
    """Return the share of the attributes that a response has right; 0.0 if it hedges."""
    score = scoring.score_state(response, row)
    hedged = score.evidence and HEDGE.search(response[slice(*score.evidence)].lower())
    return 0.0 if hedged else float(score.details["state_share"])


def step_reward(response: str, row: Row) -> float:
    """Return how far into the statements a response's tracking stays right."""
    history = _poi_history(check_texts(row, ("puzzle",))["puzzle"])
    return beyond_blind(progress(history.states, _tracked_states(response, history)), history.blind)


def progress(states: Sequence[State], tracked: Sequence[Mapping[str, str | None]]) -> float:
    """Return the share of the statements, and of the changes among them, up to the first error."""
    right = [values == state for values, state in zip(tracked, states, strict=False)]
    run = max(0, [*right, False].index(False) - 1)
    changing = [t for t, (before, after) in enumerate(pairwise(states), 1) if before != after]
    statements = run / (len(states) - 1)
    changes = sum(t <= run for t in changing) / len(changing) if changing else statements
    return (statements + changes) / 2


def _tracked_states(response: str, history: _History) -> list[Told]:
    """Return the states of the PoI that a response tells, from the initial one on, in order.

    None of them where a line that tracks nothing may take the others back.
    """
    nothing: Told = dict.fromkeys(history.states[0])
    states: list[Told] = [{**history.states[0]}]
    stray: set[str] = set()  # values in a line without a number that the last state has not
    for line in scoring.MARKS.sub(" ", response.lower()).splitlines():
        entry, last = ENTRY.match(line), len(states) - 1
        number = int(entry[1]) if entry else 0
        values = None
        if entry and 0 < number <= min(last + 1, len(history.states) - 1):
            values = told_values(entry[2], states[min(number, last)], states[number - 1], history)
        if values is None:
            text, ahead = (entry[2], number > last) if entry else (line, False)
            if not _is_talk(text, ahead or states[-1] in states[-2:-1], history.talk):
                return [nothing]
            about = about_poi(text, history)
            if last and not ahead and (about or not history.names.search(text)):
                words = about.words if about else text
                named = {history.values[match[0]] for match in history.named.finditer(words)}
                stray |= named - {*states[-1].values()}
        elif number < last:
            if values.items() - states[number].items():
                states[number] = nothing
        else:
            after = {**states[-1], **values}
            if number > last and stray - {*after.values()}:
                states[-1] = nothing
            states[number:] = [after]  # the next one, or the last one corrected
            stray = set()
    if len(stray) > 1:  # a single value may be the answer, which is paid apart
        return [nothing]
    return states


def _is_talk(text: str, idle: bool, known: frozenset[str]) -> bool:
    """Tell whether a line that tracks nothing is plain, and so takes nothing back.

    It may deny that a statement applies where that changes nothing (`idle`).
    """
    text = _VERDICT.sub(" ", text) if idle else text
    plain = idle or not _IDLE.search(text)
    return plain and known.issuperset(words_of(text)) and not STRANGE.search(text)


def strange(text: str, state: Told, history: _History, before: Told | None = None) -> bool:
    """Tell whether a text names a value that is neither in a state nor called former."""
    values, former = set(state.values()), set((before or {}).values())
    for match in history.named.finditer(text):
        value, start = history.values[match[0]], match.start()
        was = value in former and _FORMER.search(text, max(0, start - 20), start)
        if value not in values and not was:
            return True
    return False


class _AboutPoi(NamedTuple):
    """What a line says of the PoI alone, and the line from the sentence that names them first.

    `lead` is what stands in that sentence before the name.
    """

    words: str
    lead: str
    clause: str


def about_poi(text: str, history: _History) -> _AboutPoi | None:
    """Return what a line says of the PoI; None if it does not name them."""
    names = list(history.names.finditer(text))
    ends = [name.start() for name in names[1:]] + [len(text)]
    both = zip(names, ends, strict=False)
    parts = [(name.end(), end) for name, end in both if name[0] == history.poi]
    if not parts:
        return None
    words = "\n".join(text[start:end] for start, end in parts)
    start, place = _start_of(text, parts[0][0]), parts[0][0]
    return _AboutPoi(words, text[start:place], scoring.MARKS.sub(" ", text[start:]))


def mentioned(words: str, history: _History) -> Told:
    """Return the values by category that a text mentions; None where they are several."""
    mentions: Told = {}
    for category in history.states[0]:
        if values := {*scoring.mentioned(words, category)}:
            mentions[category] = values.pop() if len(values) == 1 else None
    return mentions


def told_values(text: str, state: Told, before: Told, history: _History) -> Told | None:
    """Return the PoI's values in a text, all None if it is not plain; None if it has no PoI.

    `state` has the values that the text leaves out, `before` those from before the statement.
    """
    about = about_poi(text, history)
    if about is None:
        return None
    values = mentioned(about.words, history)
    after = state | values
    end = max((match.end() for match in history.named.finditer(about.words)), default=0)
    denied = DENIAL.search(about.lead) or DENIAL.search(SO.split(about.words[end:], maxsplit=1)[0])
    plain = history.plain.issuperset(words_of(about.clause)) and not STRANGE.search(about.clause)
    if not plain or (end and denied) or strange(about.words, after, history, before):
        return dict.fromkeys(state)
    return values

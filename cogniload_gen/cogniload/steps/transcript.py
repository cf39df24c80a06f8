"""A transcript of a response -> what the response says of each statement, as far as it shows it.

A reader model wrote down what the response says (cogniload_gen.transcripts). A record counts only
for what the response itself shows:

J1. Statements. A record is about statements of the puzzle, its initial state (0) or its end
    ("final"). A range is told of each of its statements, and its values after the last. A record
    whose line is labelled with other statements alone is dropped.
    What the response copies of the puzzle, whole statements, says nothing.
J2. Values. A value is one that the puzzle has, of the categories whose words stand with it, else of
    any that can have it. It must stand in the text: in the quote, behind it up to the next record
    about something else, or before it in its line. There it may be in any of the languages, or
    shortened; but not in a sentence that names other people and not the PoI.
J3. Verdicts. `applies` counts unless its quote says the contrary in plain words, or names others
    and not the PoI as those to whom the statement applies, or is no more than a word or two without
    a verdict, a number or a name. No two statements rest on the same words, unless these have the
    numbers of both.
J4. Time. What is revoked does not count. The first verdict on a statement and its first value of a
    category are what the response took; a record that says something else is a correction, and what
    is told again on the way from there is no history. A value outweighs a verdict.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

from cogniload_gen.claims import Told
from cogniload_gen.cogniload.knobs import MAX_N
from cogniload_gen.cogniload.ontology import LANGUAGES, WORDS, forms_of, vocabulary
from cogniload_gen.cogniload.score import spellings, value_categories
from cogniload_gen.cogniload.solve import State, solve_steps
from cogniload_gen.files import read_words
from cogniload_gen.transcripts import Record

# How far from its quote a value may stand, in characters.
_NEAR = 240

# What a line begins with that is about a statement: up to two words and its number.
_LABEL = re.compile(r"[^\w\n]*(?:[^\W\d]+[^\w\n]+){0,2}?\d{1,7}\b")
_KEYCAP = re.compile("[\ufe0f\u20e3]+")
_NUMBER = re.compile(r"\d{1,7}")
_RANGE = re.compile(r"(\d{1,7})\s*(?:[-–—至到]|to|through|bis|à|a)\s*(\d{1,7})")

# What parts the sentences of a response from each other.
_BOUND = re.compile(r"[.;!?。；\n|]|,(?! )")

_WORDS = read_words("cogniload_gen", "transcribing")["words"]
_YES, _NO = (re.compile(_WORDS[name], re.IGNORECASE) for name in ("yes", "no"))
"""Verdicts in plain words (J3)."""

_COMMON = frozenset(_WORDS["common"].split())
"""Short words that abbreviate nothing."""


class Stated(NamedTuple):
    """A value of the PoI that the text has at a place, of one of some categories."""

    categories: tuple[str, ...]
    told: Told

    def fits(self, state: State) -> bool:
        """Return whether the PoI has it in a state."""
        return any(state[category] == self.told.value for category in self.categories)


@dataclass(slots=True)
class Statement:
    """What is said of a statement, and where first: its verdict, its value of each category.

    `is_plain` is whether the words of the verdict are plain ones.
    """

    place: int | None = None
    applies: bool | None = None
    is_plain: bool = False
    values: dict[tuple[str, ...], Stated] = field(default_factory=dict)

    @property
    def is_told(self) -> bool:
        """Whether anything is said of the statement."""
        return self.place is not None

    def wrong(self, state: State) -> list[Stated]:
        """Return the values that the PoI does not have in a state."""
        return [stated for stated in self.values.values() if not stated.fits(state)]

    def take(self, place: int, applies: bool | None, *, is_plain: bool) -> None:
        """Take a verdict, if it is the first, and the place, if it is the first."""
        if self.applies is None:
            self.applies, self.is_plain = applies, is_plain
        self.place = place if self.place is None else self.place

    def gainsays(self, applies: bool | None, values: Sequence[Stated] = ()) -> bool:
        """Return whether a verdict or values are others than were said before."""
        known = ((self.values.get(stated.categories, stated), stated) for stated in values)
        other = any(before.told.value != stated.told.value for before, stated in known)
        return other or (None not in (applies, self.applies) and applies != self.applies)


# --- the puzzle, and the words of its values


class Puzzle:
    """A puzzle's states, and what its values are called in each language."""

    def __init__(self, text: str, language: str) -> None:
        self.solution = solution = solve_steps(text)
        first, self.poi = solution.states[0], solution.poi
        self.truth = [people[self.poi] for people in solution.states]
        self.N = len(solution.statements)
        self.needles = solution.needles
        self.lines = [line for line in text.splitlines() if _NUMBER.match(line)]
        self.changing = [t for t in range(1, self.N + 1) if self.truth[t] != self.truth[t - 1]]
        self.categories = value_categories(solution, [*first[self.poi]], language)
        forms = {
            form: value for value in self.categories for form in self._forms(value, language)
        } | spellings(self.categories, language)
        self.value_of = forms
        self.nouns = {word: name for name in first[self.poi] for word in _nouns(name)}
        self.known: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self.any_value = _any_of([*forms])
        self.spelled = {
            value: _any_of([form for form, other in forms.items() if other == value])
            for value in self.categories
        }
        self.names = re.compile(rf"\b(?:{'|'.join(map(re.escape, first))})\b", re.IGNORECASE)

    @staticmethod
    @lru_cache(maxsize=64)
    def of(text: str, language: str) -> "Puzzle":
        """Return the puzzle of a text; ValueError for another text."""
        return Puzzle(text, language)

    def _forms(self, value: str, language: str) -> Iterator[str]:
        """Yield what a value is called in all languages, in lowercase."""
        yield value.lower()
        for category in self.categories[value]:
            own = vocabulary(category, language) if category in WORDS else []
            for other in LANGUAGES if value in own else ():
                forms = forms_of(category, other)[vocabulary(category)[own.index(value)]]
                for word in [forms] if isinstance(forms, str) else [*forms.values()]:
                    if len(word) > 3 or not word.isascii():
                        yield word.lower()
                    if len(word) > 1 and word[-1] in "色片":
                        yield word[:-1]

    def read(self, words: str) -> list[tuple[tuple[str, ...], str]]:
        """Return the values that a reader's words name, with the categories that are meant."""
        if words not in self.known:
            parts = re.split(r"[,;]| and ", words.lower())
            self.known[words] = [named for part in parts if (named := self._read_one(part))]
        return self.known[words]

    def _read_one(self, words: str) -> tuple[tuple[str, ...], str] | None:
        if not (match := self.any_value.search(words)):
            return None
        value = self.value_of[match[0]]
        nouns = {self.nouns.get(word) for word in re.findall(r"\w+", words)}
        possible = self.categories[value]
        return tuple(name for name in possible if name in nouns) or possible, value

    def is_of_others(self, text: str) -> bool:
        """Return whether a text names people, and not the PoI."""
        names = {name.lower() for name in self.names.findall(text)}
        return bool(names) and self.poi.lower() not in names


def _nouns(category: str) -> list[str]:
    return [category, *WORDS[category]["words"].split()] if category in WORDS else [category]


def _any_of(forms: list[str]) -> re.Pattern[str]:
    """Return the pattern of words, longest first; they may go on, as inflected ones do."""
    listed = sorted(forms, key=len, reverse=True)
    spaced = "|".join(re.escape(form) for form in listed if form[0] < "\u3000")
    others = "".join(f"|{form}" for form in listed if form[0] >= "\u3000")
    return re.compile(rf"(?<![^\W_])(?:{spaced}){others}", re.IGNORECASE)


@cache
def _short(value: str) -> re.Pattern[str]:
    """Return the pattern of abbreviations of a value: some of its letters, as "bk" is of black."""
    letters = re.sub(r"\W", "", value)
    rest = "".join(f"{letter}?" for letter in letters[1:])
    return re.compile(rf"\b{letters[:1]}{rest}\b", re.IGNORECASE)


# --- a transcript -> what is said of each statement (J1 to J4)


@dataclass(slots=True)
class Account:
    """What the records say of each statement and of the end, and where things are taken back.

    `lost` are the statements of which nothing is known but what had to be dropped.
    """

    statements: list[Statement]
    final: Statement = field(default_factory=Statement)
    records: int = 0
    dropped: int = 0
    lost: set[int] = field(default_factory=set)
    corrections: list[int] = field(default_factory=list)


def gather(records: Sequence[Record], puzzle: Puzzle, text: str) -> Account:
    """Return what records, in the order of the text, say of the statements of a puzzle."""
    account = Account([Statement() for _ in puzzle.truth])
    furthest, turns_back, sound = 0, False, set[int]()
    checked = _check_all(records, puzzle, _without_statements(text, puzzle))
    for i, (record, (about, shown)) in enumerate(zip(records, checked, strict=True)):
        if shown is None or shown.is_partial:
            account.lost |= {*about}
        else:
            sound |= {*about}
        if shown is None:
            account.dropped += 1
            continue
        account.records += 1
        if record.revoked:
            account.corrections.append(record.end)
            if not any(other.about == record.about for other in records[i + 1 : i + 3]):
                account.lost |= {*about}
            continue
        own = [account.statements[t] for t in about] or [account.final]
        if own[-1].gainsays(None, shown.values) or any(s.gainsays(shown.applies) for s in own):
            account.corrections.append(record.start)
            turns_back = True
        turns_back = turns_back and max(about, default=puzzle.N) <= furthest
        if turns_back:
            continue
        furthest = max(furthest, *about, 0)
        for statement in own:
            statement.take(record.start, shown.applies, is_plain=shown.is_plain)
        for categories, each in _by_categories(shown.values, about, puzzle).items():
            own[-1].values.setdefault(categories, each)
    account.lost -= sound
    return account


def _check_all(
    records: Sequence[Record], puzzle: Puzzle, text: str
) -> Iterator[tuple[tuple[int, ...], "_Checked | None"]]:
    """Yield of each record the statements that it is about, and what the text shows of it."""
    spans: dict[tuple[int, int], set[int]] = {}
    for record, stop in zip(records, _next_starts(records, len(text)), strict=True):
        about = _about(record.about, puzzle.N)
        before = spans.setdefault((record.start, record.end), {*about})
        quote = text[record.start : record.end]
        is_of_others = before.isdisjoint(about) and not _names(quote, about)
        is_ours = about and not is_of_others and not _is_of_another(about, text, record)
        if is_ours or record.about == "final":
            yield about, _check(record, puzzle, text, min(stop, record.end + _NEAR))
        else:
            yield about, None


def _by_categories(
    values: Sequence[Stated], about: tuple[int, ...], puzzle: Puzzle
) -> dict[tuple[str, ...], Stated]:
    """Return the last value of each category; of an initial state that has two, a wrong one."""
    kept: dict[tuple[str, ...], Stated] = {}
    for each in values:
        before = kept.get(each.categories)
        if about != (0,) or before is None or before.fits(puzzle.truth[0]):
            kept[each.categories] = each
    return kept


def _without_statements(text: str, puzzle: Puzzle) -> str:
    """Return a text of the same length without the statements that it copies."""
    for line in puzzle.lines:
        text = text.replace(line, "\0" * len(line))
    return text


def _next_starts(records: Sequence[Record], end: int) -> list[int]:
    """Return where, after each record, the next one about something else begins."""
    starts, after = [end] * len(records), end
    for i in range(len(records) - 2, -1, -1):
        if records[i + 1].about != records[i].about:
            after = records[i + 1].start
        starts[i] = max(after, records[i].end)
    return starts


def _about(held: Any, N: int) -> tuple[int, ...]:
    """Return the statements that a record is about; none if the puzzle has no such one."""
    if isinstance(held, str) and held.isdecimal() and len(held) < len(str(MAX_N)):
        held = int(held)
    ends = held if isinstance(held, list) else [held]
    if not ends or not all(type(t) is int and 0 <= t <= N for t in ends):
        return ()
    return tuple(range(ends[0], ends[1] + 1)) if len(ends) == 2 else tuple(ends)


def _is_of_another(about: tuple[int, ...], text: str, record: Record) -> bool:
    """Return whether the line of a quote is labelled with other statements alone."""
    head = _KEYCAP.sub("", text[text.rfind("\n", 0, record.start) + 1 : record.end])
    return bool(_LABEL.match(head)) and not _names(head, about)


def _names(text: str, about: tuple[int, ...]) -> bool:
    """Return whether a text has the number of some statement, or it lies in a range there."""
    ranges = [(int(low), int(high)) for low, high in _RANGE.findall(text)]
    named = {int(number) for number in _NUMBER.findall(text)}
    return any(t in named or any(low <= t <= high for low, high in ranges) for t in about)


class _Checked(NamedTuple):
    """What the text shows of a record: a verdict, whether in plain words, and values.

    `is_partial` is whether it lacks some of the record's values.
    """

    applies: bool | None
    is_plain: bool
    values: list[Stated]
    is_partial: bool


def _check(record: Record, puzzle: Puzzle, text: str, stop: int) -> _Checked | None:
    """Return what the text shows of a record; None if that is nothing."""
    named = [puzzle.read(words) for words in record.values]
    pairs = [pair for each in named for pair in each]
    values = [each for pair in pairs if (each := _find(*pair, record, puzzle, text, stop))]
    quote, applies = text[record.start : record.end], record.applies
    yes, no, others = _YES.search(quote), _NO.search(quote), puzzle.is_of_others(quote)
    denied = others or (no and not yes and not values)
    if denied if applies else yes and not no and not others:
        applies = None
    tells = yes or no or _NUMBER.search(quote) or puzzle.names.search(quote)
    if not (values or tells or len(quote.split()) > 2):
        applies = None
    is_empty = not values and applies is None
    if is_empty and (record.values or record.applies is not None):
        return None
    partial = len(values) < len(pairs) or not all(named)
    return _Checked(applies, bool(yes or no), values, partial)


def _find(
    categories: tuple[str, ...],
    value: str,
    record: Record,
    puzzle: Puzzle,
    text: str,
    stop: int,
) -> Stated | None:
    """Return a value with its place: in the quote, else behind it, else before it in its line."""
    line = max(text.rfind("\n", 0, record.start) + 1, record.start - _NEAR)
    bounds = (record.start, record.end), (record.end, stop), (line, record.start)
    for place, (start, end) in enumerate(bounds):
        found = [*puzzle.spelled[value].finditer(text, start, end)] or [
            match
            for match in _short(value).finditer(text, start, end)
            if 1 < len(match[0]) < 5
            and match[0].lower() not in _COMMON
            and text.count(match[0]) > 1
        ]
        for match in found if place == 1 else reversed(found):
            longer = puzzle.any_value.match(text, match.start())
            if longer and puzzle.value_of.get(longer[0].lower(), value) != value:
                continue
            begins = [bound.end() for bound in _BOUND.finditer(text, line, match.start())]
            if not puzzle.is_of_others(text[max(begins, default=line) : match.end()]):
                return Stated(categories, Told(value, *match.span()))
    return None

"""The words of a response that mean something, for one puzzle (data/steps.toml)."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from cogniload_gen.cogniload.ontology import WORDS, read_language, read_table
from cogniload_gen.cogniload.score import spellings, value_categories
from cogniload_gen.cogniload.solve import Solution
from cogniload_gen.grid import ENGLISH

# The kind of a word, what it names, and the length of it in the text.
_Meaning = tuple[str, str | int, int]

VOCABULARY = read_table("steps")
"""The words and marks by which a response is read."""

MARKS = {
    other: mark for mark, others in VOCABULARY["marks"].items() for other in others if other != mark
}
"""Characters that stand for others, one for one, so that places in the text stay what they are."""

COMMANDS = list(VOCABULARY["commands"])
COMMAND = re.compile("|".join(f"({pattern})" for pattern in VOCABULARY["commands"].values()))
"""LaTeX and arrows of several characters, and what they are read as."""

PUNCTUATION = {mark: kind for kind, marks in VOCABULARY["punctuation"].items() for mark in marks}

# The words that are neither abbreviations nor typing errors of others.
_PLAIN_WORDS = frozenset(VOCABULARY["common"]["words"].split())

NAMES = ("value", "noun", "person")
"""The kinds of words that may be misspelled."""

INITIAL = re.compile(r"(?<![\w'])([A-Z])(?:_\{?\d+\}?)? ?[=:] ?(?=[a-z(\\])")
"""A letter that stands for a person, before what the person has."""

_LETTER = r"[a-z\u00df-\u00f6\u00f8-\u017f]"

# The characters at the start of a response within which it may give people letters.
_ALIASES_WITHIN = 2000


class Word(NamedTuple):
    """A word with a meaning: its kind, what it names, and its place in the text."""

    kind: str
    data: str | int
    start: int
    end: int


KIND = itemgetter(0)


class Lexicon:
    """What words mean in the responses to one puzzle, and the puzzle as numbers of categories.

    `truth[t]` are the PoI's values after statement t in the order of `categories`; `rules[t - 1]`
    are the conditions and the updates of statement t by the positions of the categories. Of a
    puzzle that is not in English, values are read in its own `language`.
    """

    def __init__(self, solution: Solution, language: str = ENGLISH) -> None:
        people, poi = solution.states[0], solution.poi
        self.solution = solution
        self.people = tuple(people)
        self.categories = tuple(people[poi])
        self.place = {category: i for i, category in enumerate(self.categories)}
        self.truth = [tuple(state[poi][c] for c in self.categories) for state in solution.states]
        self.rules = [
            (
                tuple((self.place[c], v) for c, v in needs.items()),
                {self.place[c]: v for c, v in gives.items()},
            )
            for needs, gives in solution.statements
        ]
        self.values = value_categories(solution, self.categories, language)
        names = VOCABULARY["names"]
        self.words: dict[str, tuple[str, str | int]] = {
            word: meaning
            for word, meaning in _common_words().items()
            if meaning[0] != "noun" or meaning[1] in self.categories
        }
        own = read_language(language, "reading")
        self.apart = own["apart"]
        for word in own["ignored"].split():
            self.words.pop(word, None)
        self.phrases: list[tuple[list[str], re.Pattern, str]] = []
        for listed, value in spellings(self.values, language).items():
            spelling = self.split(listed)
            if " " in spelling or "-" in spelling:
                parts, one_word = re.split("[ -]", spelling), spelling.replace(" ", "-")
                alone = rf"\b(?<!\w.{{{len(spelling)}}})"  # at the end: literals are found fastest
                pattern = re.compile("[ -]".join(map(re.escape, parts)) + alone, re.DOTALL)
                self.phrases.append((parts, pattern, one_word))
                self.words.setdefault(one_word, ("value", value))
            self.words[spelling] = "value", value
        for name in self.people:
            for word in (name.lower(), f"{name.lower()}'s", f"{name.lower()}s"):
                self.words[word] = "person", name
        either, she = names["either"].split(), names["she"].split()
        self.gender = {
            name: "" if name.lower() in either else "she" if name.lower() in she else "he"
            for name in self.people
        }
        named = {word: meaning for word, meaning in self.words.items() if meaning[0] in NAMES}
        self.typed = {typo: meaning for word, meaning in named.items() for typo in typos(word)}
        self.meanings: dict[str, _Meaning] = {}
        self.alias_patterns = {name: _alias_pattern(name) for name in self.people}
        chinese = sorted((w for w in self.words if "\u3400" <= w[0] <= "\u9fff"), key=len)
        keywords = "|".join(map(re.escape, reversed(chinese)))
        self.token = re.compile(
            rf"(?:{_LETTER}+(?:['\-]{_LETTER}+)*|[0-9]+|[\x00-\x7f]|{keywords}|.) *+", re.DOTALL
        )

    def split(self, text: str) -> str:
        """Return a text with spaces for the marks that separate words in its language."""
        for mark in self.apart:
            text = text.replace(mark, " ")
        return text

    def read(self, response: str) -> list[Word]:
        """The words of a response that mean something; runs of others are one "word" each."""
        text = self.split(plain(response))
        for parts, pattern, one_word in self.phrases:
            if all(part in text for part in parts):
                text = pattern.sub(one_word.replace("\\", r"\\"), text)  # of the same length
        pieces = self.token.findall(text)
        for piece in {*pieces} - self.meanings.keys():
            word = piece.rstrip(" ")
            kind, data = _look_up(word, self) if word else ("", "")
            self.meanings[piece] = kind, data, len(word)
        meanings = [self.meanings[piece] for piece in pieces]
        starts = list(accumulate(map(len, pieces), initial=0))
        aliases = _find_aliases(response, self.alias_patterns)
        capitals = {*aliases, "s"}
        for i, (piece, start) in enumerate(zip(pieces, starts, strict=False)):
            word = piece.rstrip(" ")
            if word in capitals and self.meanings[piece][1] == word and response[start].isupper():
                if word == "s" and text[start + 1 : start + 2].isdecimal():  # "S3", statement 3
                    meanings[i] = "label", word, len(word)
                elif word in aliases:
                    meanings[i] = "person", aliases[word], len(word)
        return words_of(meanings, starts)


@lru_cache(maxsize=4096)
def typos(word: str) -> list[str]:
    """A word of a puzzle with a letter left out, and with two letters swapped."""
    places = range(1, len(word))
    left_out = [word[:i] + word[i + 1 :] for i in places if len(word) > 5]
    swaps = ((i - 1, word[i] + word[i - 1], i + 1) for i in places if len(word) > 3)
    return left_out + [word[:i] + swap + word[j:] for i, swap, j in swaps]


def words_of(meanings: list[_Meaning], starts: list[int]) -> list[Word]:
    """The words with a meaning, of each run of plain ones the last."""
    words: list[Word] = []
    for (kind, data, length), start in zip(meanings, starts, strict=False):
        if kind == "word" and words and words[-1].kind == "word":
            words.pop()
        if kind:
            words.append(Word(kind, data, start, start + length))
    return words


def _look_up(word: str, lexicon: Lexicon) -> tuple[str, str | int]:
    """The meaning of a word, typing errors and abbreviations included; kind "" for none at all."""
    if word in lexicon.words:
        return lexicon.words[word]
    if word in PUNCTUATION:
        return PUNCTUATION[word], word
    if "0" <= word[0] <= "9":
        return ("number", int(word)) if len(word) < 7 else ("", "")
    if not word[0].isalpha():
        return "", ""
    return guess(word, lexicon) or ("word", word)


def guess(word: str, lexicon: Lexicon) -> tuple[str, str | int] | None:
    """What a word may mean that is not in the lexicon as it stands."""
    if word.endswith("n't"):
        return "not", word
    if len(word) < 3 or word in _PLAIN_WORDS:
        return None
    if "-" in word:
        parts = [lexicon.words.get(part) for part in word.split("-")]
        return next((part for part in parts if part and part[0] in NAMES), parts[-1])
    match = lexicon.typed.get(word)
    if match is None:
        longer = [value for value in lexicon.values if len(value) > 4 and value.startswith(word)]
        match = ("value", longer[0]) if len(longer) == 1 else None
    return match


@cache
def _common_words() -> dict[str, tuple[str, str | int]]:
    """The meaning of the words that all puzzles share."""
    words = VOCABULARY
    meanings: dict[str, tuple[str, str | int]] = {}
    for kind, listed in words["words"].items():
        for word in listed.split():
            meanings.setdefault(word, (kind, word))
    for kind in ("ordinal", "count"):
        for number, word in enumerate(words["numbers"][kind].split(), 1):
            meanings[word] = kind, number
    for category, category_words in WORDS.items():
        for word in category_words["words"].split():
            meanings[word] = "noun", category
    for kind, listed in words["small"].items():
        for word in listed.split():
            meanings[word] = kind, word
    return meanings


def _alias_pattern(name: str) -> re.Pattern:
    """The pattern by which a response gives a person a letter or two, which are a group."""
    first, rest, whole = map(re.escape, (name[0], name[1:], name))
    return re.compile(
        rf"\b(?:({first}[a-z]?) ?[=:] ?\**{whole}\b|{whole} ?[(=,]? ?({first}[a-z]?)\b"
        rf"|({first})\({rest}\))"
    )


def _find_aliases(response: str, patterns: Mapping[str, re.Pattern]) -> dict[str, str]:
    """The one or two letters that a response gives people: "F = Fay", "Isabel (I)", "A(mber)".

    The initials of "F = funk" and "F: funk" are meant, too, if nobody else has the same.
    """
    aliases: dict[str, str] = {}
    for initial in set(INITIAL.findall(response, 0, _ALIASES_WITHIN)):
        names = [name for name in patterns if name.startswith(initial)]
        if len(names) == 1:
            aliases[initial.lower()] = names[0]
    for name, pattern in patterns.items():
        match = pattern.search(response, 0, _ALIASES_WITHIN)
        letters = match and (match[1] or match[2] or match[3])
        if letters and letters != name:
            aliases.setdefault(letters.lower(), name)
    return aliases


def plain(response: str) -> str:
    """The response in lowercase without marks; every character stays at its place."""

    def blank(match: re.Match) -> str:
        return COMMANDS[(match.lastindex or 0) - 1].ljust(len(match[0]))

    text = response
    if any(
        mark in response for mark in ("\\", "->", "=>", "!=", "think>", "thinking>", "/answer>")
    ):
        text = COMMAND.sub(blank, response)
    for mark in MARKS.keys() & set(text):  # `translate` is slow on texts beyond ASCII
        text = text.replace(mark, MARKS[mark])
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)

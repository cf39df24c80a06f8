"""The words of a response that mean something, for one puzzle (data/steps.toml)."""

import re
from functools import cache, cached_property
from operator import itemgetter
from typing import NamedTuple

from cogniload_gen.cogniload.ontology import WORDS, read_language, read_table
from cogniload_gen.cogniload.score import spellings, value_categories
from cogniload_gen.cogniload.solve import Solution
from cogniload_gen.grid import ENGLISH

VOCABULARY = read_table("steps")
"""The words and marks by which a response is read."""

MARKS = {
    other: mark for mark, others in VOCABULARY["marks"].items() for other in others if other != mark
}
"""Characters that stand for others, one for one, so that places in the text stay what they are."""

TAG = re.compile(r"</?think(?:ing)?>|</answer>")
"""Tags that say nothing."""

ODD = re.compile("|".join(VOCABULARY["odd"].values()), re.MULTILINE)
"""What no rule reads."""

PUNCTUATION = {mark: kind for kind, marks in VOCABULARY["punctuation"].items() for mark in marks}

# The words that may begin a name and mean nothing of the kind.
_PLAIN_WORDS = frozenset(VOCABULARY["common"]["words"].split())

_LETTER = r"[a-z\u00df-\u00f6\u00f8-\u017f]"
_TOKEN = rf"(?:{_LETTER}+(?:['\-]{_LETTER}+)*|[0-9]+|[\x00-\x7f]|.) *+"
_CHINESE = re.compile("[\u3400-\u9fff]")


class Word(NamedTuple):
    """A word with a meaning: its kind, what it names, and its place in the text."""

    kind: str
    data: str | int
    start: int
    end: int


KIND = itemgetter(0)


class Lexicon:
    """What words mean in the responses to one puzzle, and the puzzle by places of `categories`.

    Of a puzzle that is not in English, values are read in its own `language`.
    """

    def __init__(self, solution: Solution, language: str = ENGLISH) -> None:
        people, poi = solution.states[0], solution.poi
        self.solution = solution
        self.people = tuple(people)
        self.categories = tuple(people[poi])
        self.place = {category: i for i, category in enumerate(self.categories)}
        self.values = value_categories(solution, self.categories, language)
        self.words: dict[str, tuple[str, str | int]] = {
            word: meaning
            for word, meaning in _common_words().items()
            if meaning[0] != "noun" or meaning[1] in self.categories
        }
        own = read_language(language, "reading")
        self.apart = own["apart"]
        for word in own["ignored"].split():
            self.words.pop(word, None)
        self.phrases: list[tuple[list[str], str, str]] = []
        for listed, value in spellings(self.values, language).items():
            spelling = self.split(listed)
            if " " in spelling or "-" in spelling:
                parts, one_word = re.split("[ -]", spelling), spelling.replace(" ", "-")
                alone = rf"\b(?<!\w.{{{len(spelling)}}})"  # at the end: literals are found fastest
                pattern = "(?s)" + "[ -]".join(map(re.escape, parts)) + alone
                self.phrases.append((parts, pattern, one_word))
                self.words.setdefault(one_word, ("value", value))
            self.words[spelling] = "value", value
        for name in self.people:
            for word in (name.lower(), f"{name.lower()}'s", f"{name.lower()}s"):
                self.words[word] = "person", name
        self.clipped = {n[:i].lower() for n in self.people for i in range(3, len(n))} - _PLAIN_WORDS
        self.meanings: dict[str, tuple[str, str | int, int]] = {}

    @cached_property
    def chinese_token(self) -> re.Pattern:
        """The pattern of a word in a text with Chinese characters, which has no spaces."""
        own = sorted(filter(_CHINESE.match, self.words), key=len, reverse=True)
        return re.compile(_TOKEN.replace("|.)", f"|{'|'.join(map(re.escape, own))}|.)"), re.DOTALL)

    @cached_property
    def truth(self) -> list[tuple[str, ...]]:
        """The PoI's values after each statement, from the initial state on."""
        own = (state[self.solution.poi] for state in self.solution.states)
        return [tuple(state[category] for category in self.categories) for state in own]

    @cached_property
    def rules(self) -> list[tuple[tuple[tuple[int, str], ...], dict[int, str]]]:
        """The conditions and the updates of each statement, by the places of the categories."""
        place = self.place
        return [
            (
                tuple((place[c], v) for c, v in needs.items()),
                {place[c]: v for c, v in gives.items()},
            )
            for needs, gives in self.solution.statements
        ]

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
                text = re.sub(pattern, one_word.replace("\\", r"\\"), text)  # of the same length
        token = self.chinese_token if _CHINESE.search(text) else re.compile(_TOKEN, re.DOTALL)
        pieces = token.findall(text)
        for piece in {*pieces} - self.meanings.keys():
            word = piece.rstrip(" ")
            kind, data = self.look_up(word) if word else ("", "")
            self.meanings[piece] = kind, data, len(word)
        words: list[Word] = []
        start = 0
        for piece in pieces:
            kind, data, length = self.meanings[piece]
            if kind == "word" and words and words[-1].kind == "word":
                words.pop()
            if kind:
                words.append(Word(kind, data, start, start + length))
            start += len(piece)
        return words

    def look_up(self, word: str) -> tuple[str, str | int]:
        """The meaning of a word; kind "" for none at all."""
        if word in self.words:
            return self.words[word]
        if word in PUNCTUATION:
            return PUNCTUATION[word], word
        if word.isdecimal() and word.isascii() and len(word) < 7:
            return "number", int(word)
        kind = "word" if word[0].isalpha() else ""
        if word.endswith("n't"):
            kind = "not"
        elif word in self.clipped:
            kind = "clipped"
        return kind, word


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


def plain(response: str) -> str:
    """The response in lowercase without marks; every character stays at its place."""
    text = TAG.sub(lambda match: " " * len(match[0]), response)
    for mark in MARKS.keys() & set(text):  # `translate` is slow on texts beyond ASCII
        text = text.replace(mark, MARKS[mark])
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)

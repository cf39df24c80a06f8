"""A response -> its statements as plain text, and their places (rules R1 to R3 of `answer.py`)."""

from collections.abc import Iterable
from functools import cached_property, lru_cache, partial
from re import Match, Pattern, compile, sub
from types import SimpleNamespace
from unicodedata import normalize

from cogniload_gen.answers.reasoning import split
from cogniload_gen.files import read_words

FACTOR = "cogniload_gen.factor"
WORDS, _WORLD = read_words(FACTOR, "reading"), read_words(FACTOR, "realistic")


def any_of(words: Iterable[str]) -> str:
    """Return the expression that matches any of some words, as whole words."""
    return rf"(?<!\w)(?:{'|'.join(words)})(?!\w)"


# --- plain text (R1, R2) --------------------------------------------------------------------------

# How much of the final part is read, from its end: a long solution has a quarter of it.
_MOST_CHARACTERS = 20_000

_PLAIN_CHARACTERS = {
    code: normalize("NFKC", chr(code))
    for codes in (range(0x2080, 0x208A), range(0xFF01, 0xFF5F), range(0x1D400, 0x1D800))
    for code in codes
} | str.maketrans(
    "−–—’‘“”×·、İ\x01\x02\u00a0\u202f\u200b\u2060\ufeff✓✔✅☑\ufe0f✘❌✖",
    "-- ''\"\"**,i" + " " * 12 + "✗" * 3,
)
_ANSWER_MARK, _DROPPED = "\x01", "\x02"
# What makes a response plain, in this order; a replacement is filled up with blanks.
#
# Most texts have few of the characters that a pattern needs, and to look for them takes a hundredth
# of the time.
_CLEANING = [
    (marks, compile(pattern), text) for marks, pattern, text in WORDS["rewriting"]["plain"]
]
_BLANKED = '\\$`{}"'


def plain(response: str) -> tuple[str, int]:
    """Return the final part of a response as plain text, and where it starts in the response.

    Each character stands for the one at its place in the response.
    """
    text, _, start = split(response)
    turn = patterns.turn_end.search(text) if "<" in text else None
    answered = patterns.answered.search(f"\n{text}")
    question = patterns.next_question.search(text, answered.end() - 1) if answered else None
    cuts = [*([turn.start()] if turn else ()), *([question.start(1)] if question else ())]
    text = text[: min(cuts, default=None)].rstrip()
    return clean(text[-_MOST_CHARACTERS:]), start + max(len(text) - _MOST_CHARACTERS, 0)


def clean(text: str) -> str:
    """Return a text in plain lowercase characters, each at its place (R2)."""
    text = text.translate(_PLAIN_CHARACTERS).lower()
    for marks, pattern, replacement in _CLEANING:
        if _has_any(marks, text):
            text = pattern.sub(partial(filled, replacement), text)
    for mark in _BLANKED:
        text = text.replace(mark, " ")
    return text


def _has_any(marks: str, text: str) -> bool:
    """Whether any of some characters is in a text."""
    return any(mark in text for mark in marks)


def filled(replacement: str, match: Match) -> str:
    """Return a replacement that is as long as what it replaces."""
    blank = _DROPPED if replacement == "," else " "
    return replacement.ljust(len(match[0]), blank)[: len(match[0])]


# --- statements (R3) ------------------------------------------------------------------------------

VARIABLE = r"(?<![a-z0-9])v[ _]{0,3}[0-9]++(?![a-z0-9])"
NUMBER = (
    r"(?<![a-z0-9_.])[-+]?[0-9]++(?:,[0-9]{3}){0,9}(?!,[0-9]{3})"
    r"(?:(?<![0-9]{4})(?:\ [0-9]{3}){1,9}(?!\ [0-9]{3})(?![0-9]))?"
    r"(?:\.[0-9]++)?(?![a-z0-9])"
)
VARIABLE_FIRST = compile(VARIABLE)
_FEW_VARIABLES = rf"{VARIABLE}(?:(?:, |,? (?:and|or) ){VARIABLE}){{0,20}}"
# What stands for a pattern in those of the data file.
_PLACEHOLDERS = WORDS["parts"] | {
    "variable": VARIABLE,
    "variables": _FEW_VARIABLES,
    "number": NUMBER,
    "numbers": rf"{NUMBER}(?:(?:, |,? and ){NUMBER}){{1,20}}",
    "whole": rf"(?<![0-9],){NUMBER}",
    "place": any_of(rf"[a-z]+ {kind.lower()}" for kind in _WORLD["kinds"]),
    "animal": any_of(map(str.lower, _WORLD["animals"])),
}


def _filled_in(pattern: str) -> str:
    """Return a pattern of the data file with its words and its other patterns."""

    def meaning(match: Match) -> str:
        name, kind, is_bare = match.groups()
        words = WORDS[name][kind] if kind else ()
        if is_bare:
            return "|".join(words)
        return any_of(words) if kind else _filled_in(_PLACEHOLDERS[name])

    return sub(r"(?<!\?P)<([a-z]+)(?:\.([a-z]+)(\*)?)?>", meaning, pattern)


def compiled(table: str) -> SimpleNamespace:
    """Return the patterns of a table of the data file by name."""
    some = {
        name: text if isinstance(text, str) else "|".join(text)
        for name, text in WORDS[table].items()
    }
    return SimpleNamespace(**{name: compile(_filled_in(text)) for name, text in some.items()})


patterns = compiled("patterns")


def rewriting(kind: str) -> list[tuple[Pattern, str]]:
    """Return the rules by which statements are rewritten: patterns and replacements."""
    return [(compile(_filled_in(pattern)), text) for pattern, text in WORDS["rewriting"][kind]]


_OPENING = "answer", "answers", "conclusion", "conclusions"
_OPEN_LINE = compile(rf"\b(?:{'|'.join(_OPENING)})$")


class Statement:
    """A sentence, or a line with the list that it opens, as plain text.

    `start` and `stop` are its place in the response; `is_row` says whether it is a row of a table.
    """

    def __init__(self, line: str, start: int, stop: int, *, is_row: bool) -> None:
        self.lines, self.entries = [line], list[str]()  # in the response's language
        self.start, self.stop, self.is_row = start, stop, is_row

    @cached_property
    def line(self) -> str:
        """The line, and those that it goes on with."""
        return " ".join(self.lines)

    @cached_property
    def text(self) -> str:
        """What the line says."""
        return translated(self.line)

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The entries of its list."""
        return tuple(map(translated, self.entries))

    @property
    def is_remark(self) -> bool:
        """Whether it comments on a conclusion, or stands in parentheses."""
        is_aside = self.line.startswith("(") and self.line.rstrip(".").endswith(")")
        is_aside &= not patterns.correction.match(self.line, 1)
        return is_aside or bool(patterns.remark.match(self.line))

    @property
    def parts(self) -> tuple[str, ...]:
        """The text and the items."""
        return (self.text, *self.items)

    @property
    def whole(self) -> str:
        """All in one text."""
        return "\n".join(self.parts)


def statements_of(response: str) -> list[Statement]:
    """Return the statements of a response's final part, lists joined to what opens them (R3)."""
    text, place = plain(response)
    statements: list[Statement] = []
    goes_on = in_list = after_blank = False
    for raw in text.split("\n"):
        start, place = place, place + len(raw) + 1
        lead = len(raw) - len(raw.lstrip(" \t\r\x0b\x0c>#"))
        if patterns.rule.fullmatch(raw, lead):
            after_blank = True
            continue
        mark = patterns.item.match(raw, lead)
        begin = mark.end() if mark else lead
        is_item = mark or (VARIABLE_FIRST.match(raw, begin) and (goes_on or not after_blank))
        after_blank = False
        if is_item and (goes_on or in_list):
            item = _tidy(raw[begin:])
            statements[-1].entries.append(item.rstrip("."))
            statements[-1].stop = start + len(raw)
            goes_on, in_list = item.endswith(":"), True
            continue
        is_row = raw.startswith("|", lead) or " | " in raw
        ends = [(end.start(1), end.end()) for end in patterns.sentence_end.finditer(raw, begin)]
        original = response[start : start + len(raw)]
        first, place_of = begin, start + len(original) - len(original.lstrip())
        for last, following in [*ends, (len(raw), len(raw))]:
            sentence = _tidy(raw[first:last])
            if goes_on:
                statements[-1].lines += [sentence] if sentence else []
                statements[-1].stop = start + last
            elif sentence:
                statements.append(Statement(sentence, place_of, start + last, is_row=is_row))
            goes_on, first, place_of = False, following, start + following
        in_list = False
        goes_on = bool(statements) and statements[-1].lines[-1].endswith(":")
    return statements


def _tidy(text: str) -> str:
    """Return a text with single spaces; a colon follows "answer" and "conclusion" at its end."""
    text = text.replace(_ANSWER_MARK, " answer: ").replace(_DROPPED, "")
    text = " ".join(text.split()).rstrip(" ,|")
    return f"{text}:" if text.endswith(_OPENING) and _OPEN_LINE.search(text) else text


def _in_any_text(word: str) -> str:
    """Return the expression for a foreign word; Chinese has no spaces between words."""
    return word if word > "\u3040" else any_of([word])


LANGUAGES = {word: english for english, words in WORDS["languages"].items() for word in words}
_FOREIGN_WORDS = sorted(LANGUAGES, key=len, reverse=True)
_FOREIGN = compile("|".join(f"({_in_any_text(word)})" for word in _FOREIGN_WORDS))
# What shows that a statement is in another language: its longer words, with and without spaces.
_LONGER_WORDS = [word for word in _FOREIGN_WORDS if len(word) > 3 or word > "\u0400"]
_FOREIGN_MARK = compile(any_of(word for word in _LONGER_WORDS if word <= "\u3040"))
_ASIAN_MARK = compile("|".join(word for word in _LONGER_WORDS if word > "\u3040"))

UNITS = {word: number for number, word in enumerate(WORDS["cardinals"]["small"])}
UNITS |= {word: 10 * number for number, word in enumerate(WORDS["cardinals"]["tens"], 2)}
PUNCTUATION = str.maketrans(dict.fromkeys("-.,", " "))
_UNIT = "|".join(sorted(UNITS, key=len, reverse=True))
NUMBER_WORDS = compile(
    rf"\b(?:{_UNIT}|a(?= hundred))(?:[ -](?:and[ -])?(?:{_UNIT}|hundred)){{0,5}}\b"
)


def english(match: Match[str]) -> str:
    """Return the English word for a matched word of another language."""
    return f" {LANGUAGES[_FOREIGN_WORDS[(match.lastindex or 1) - 1]]} "


@lru_cache(maxsize=256)
def translated(text: str) -> str:
    """Return a text with English words for those of other languages, and numbers for words."""
    if _FOREIGN_MARK.search(text) or (not text.isascii() and _ASIAN_MARK.search(text)):
        text = _FOREIGN.sub(english, text)
        text = " ".join(text.split())
    if not UNITS.keys().isdisjoint(text.translate(PUNCTUATION).split()):
        text = NUMBER_WORDS.sub(spelled, text)
    return patterns.signed.sub("-", text) if "minus" in text or "negative" in text else text


def spelled(match: Match) -> str:
    """Return a number in words as digits; "one" only where it is a value, not a pronoun."""
    before = max(match.start() - 12, 0), match.start()
    if match[0] == "one" and not patterns.one_as_value.search(match.string, *before):
        return match[0]
    value = 0
    for word in match[0].replace("-", " ").split():
        if word == "hundred":
            value = max(value, 1) * 100
        elif word not in {"and", "a"}:
            value += UNITS[word]
    return str(value)

"""A model's response -> one of the paper's eight outcomes (CogniLoad, Appendix D).

The pseudocode (Algorithms 1 to 3) decides where the prose of the appendix differs from it. So an
alternative named beside the gold value counts only where it encloses the gold value's last
mention, whichever of the two is mentioned last (D.4, points 4 and 5).

Two conditions of the paper follow from others and have no line of their own here: an empty
response has an empty last sentence, and a sentence that holds an alternative is not empty.

Responses to puzzles in other languages are read by the same rules with the words of that language
(data/languages/LANGUAGE): its own qualifiers and marks for the full stop and the parentheses
(reading.toml), and the spellings of a value, inflected forms among them (synonyms.toml). There
accents do not count, and the language says where a spelling must begin and end.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence, Set
from enum import StrEnum
from functools import cache
from reprlib import repr as brief
from typing import Any, NamedTuple, Unpack

from cogniload_gen.answers.endings import is_cut_off
from cogniload_gen.answers.reasoning import split
from cogniload_gen.benchmark import Counts, Row, Score
from cogniload_gen.checks import check_choice, check_columns, check_texts
from cogniload_gen.cogniload.ontology import (
    CATEGORIES,
    LANGUAGES,
    VOCABULARIES,
    WORDS,
    read_language,
    vocabulary,
)
from cogniload_gen.cogniload.solve import Solution
from cogniload_gen.context_budget import CONTEXT_BUDGET
from cogniload_gen.grid import ENGLISH, language_of


class Outcome(StrEnum):
    """The outcome of a response (D.5), named as in the paper."""

    CORRECT_VALID = "correct_valid"
    CORRECT_POI = "correct_poi"
    CORRECT_LAST_SENTENCE = "correct_last_sentence"
    WRONG_LOGIC = "wrong_logic"
    WRONG_LOGIC_POI = "wrong_logic_poi"
    WRONG_LOGIC_LAST_SENTENCE = "wrong_logic_last_sentence"
    WRONG_OTHER = "wrong_other"
    WRONG_MAX_CONTEXT = "wrong_max_context"

    @property
    def correct(self) -> bool:
        """Whether the response counts as correct in the paper's accuracy."""
        return self in CORRECT

    @property
    def cut(self) -> bool:
        """Whether a limit cut the response off."""
        return self is Outcome.WRONG_MAX_CONTEXT


CORRECT = (Outcome.CORRECT_VALID, Outcome.CORRECT_POI, Outcome.CORRECT_LAST_SENTENCE)
WRONG_LOGIC = (Outcome.WRONG_LOGIC, Outcome.WRONG_LOGIC_POI, Outcome.WRONG_LOGIC_LAST_SENTENCE)
# The three windows in words, in the order of CORRECT and WRONG_LOGIC.
_WINDOWS = (
    "the last sentence about {poi} and the attribute",
    "the last sentence about {poi}",
    "the last sentence",
)

_NOTHING_READ = {
    Outcome.WRONG_MAX_CONTEXT: "the response has no last sentence",
    Outcome.WRONG_OTHER: "no window gives exactly one value of the attribute",
}


class _Sentence(NamedTuple):
    """A lowercase sentence of a response, and where it starts in the lowercase response."""

    text: str
    start: int = 0


def score_response(
    response: str,
    *,
    poi: str,
    answer: str,
    category: str,
    options: Iterable[str],
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    context_budget: int = CONTEXT_BUDGET,
    language: str = ENGLISH,
) -> Outcome:
    """Return the outcome of a response to a CogniLoad puzzle (Appendix D).

    Reasoning that stands in the response (`<think>`) is left out.
    `poi` is the name of the person of interest, `answer` the gold value, `category` the one of the
    12 categories that the question is about,
    `options` the value domain of that category, with or without the answer. `prompt_tokens` and
    `response_tokens` count against `context_budget`, which they share; an unknown count is 0.
    `language` is that of the puzzle, one of LANGUAGES.

    Raises ValueError for any other category or language.

    Examples:
        >>> asked = {"poi": "Ann", "category": "clothes_hat", "options": ["red", "blue"]}
        >>> score_response("In the end, Ann is wearing a red hat.", **asked, answer="red")
        <Outcome.CORRECT_VALID: 'correct_valid'>
    """
    check_choice("language", language, LANGUAGES)
    row = {"poi": poi, "answer": answer, "category": category, "options": options}
    return _score(
        split(response).response,
        row,
        language,
        prompt_tokens=prompt_tokens,
        response_tokens=response_tokens,
        context_budget=context_budget,
    ).outcome


def score_row(response: str, row: Row, **counts: Unpack[Counts]) -> Score:
    """Return the outcome of a response to a puzzle, given as a row, with its evidence.

    The `counts` are those of `score_response`; without `context_budget`, it is the paper's.
    Raises ValueError if the row lacks a column, or a column holds a wrong value.
    """
    return _score(response, row, language_of_row(row), **_with_budget(counts))


def _score(response: str, row: Row, language: str, **counts: Unpack[Counts]) -> Score:
    columns = asked_of(row)
    poi, answer, options = columns["poi"], columns["answer"], columns["options"]
    windows = sentence_windows(response, poi=poi, category=columns["category"], language=language)
    if is_cut_off(**counts):
        end = counts["context_budget"]
        why = f"a limit cut the response off, at {end:,} tokens with its prompt"
        return Score(Outcome.WRONG_MAX_CONTEXT, None, None, why)
    values = {_fold(value, language): value for value in [*options, answer]}
    gold = _fold(answer, language)
    others = values.keys() - {gold}
    outcome, window = _judge(windows, gold, others, language)
    if window is None:
        return Score(outcome, None, None, _NOTHING_READ[outcome])
    sentence = windows[window]
    read = [gold] if outcome.correct else others
    found = ((*_last_mention(value, sentence.text, language), value) for value in read)
    start, end, value = max(found)
    place = (sentence.start + start, sentence.start + end)
    where = _WINDOWS[window].format(poi=poi)
    why = f"{where} gives {values[value]}" + f", the answer is {answer}" * (not outcome.correct)
    return Score(outcome, values[value], place, why)


def _with_budget(counts: Counts) -> Counts:
    """Return counts of tokens with the paper's budget where none is known."""
    budget = counts.get("context_budget")
    return {**counts, "context_budget": CONTEXT_BUDGET if budget is None else budget}


def language_of_row(row: Row) -> str:
    """Return the language of a row's puzzle, which its id holds; English for another id."""
    language = language_of(str(row.get("id")))
    return language if language in LANGUAGES else ENGLISH


def asked_of(row: Row) -> dict[str, Any]:
    """Return the columns of a row by which a response is scored; ValueError for a wrong one."""
    texts = check_texts(row, ("poi", "answer", "category"))
    column = check_columns(row, ("options",))["options"]
    several = isinstance(column, Iterable) and not isinstance(column, str)
    options = list(column) if several else []
    if not several or not all(isinstance(option, str) for option in options):
        raise ValueError(f"options must be a list of texts, got {brief(column)}")
    return {**texts, "options": options}


def _judge(
    windows: Sequence[_Sentence], gold: str, alternatives: Set[str], language: str
) -> tuple[Outcome, int | None]:
    """Return the outcome (D.5), and the number of the window that decides it; all is folded."""
    if not windows[-1].text:
        return Outcome.WRONG_MAX_CONTEXT, None
    right = [check_correct_answer(gold, text, language) for text, _ in windows]
    other = [_alternative_flag(text, alternatives, gold, language) for text, _ in windows]
    found = [*zip(right, other, strict=True)]
    for outcomes, decided in ((CORRECT, (True, False)), (WRONG_LOGIC, (False, True))):
        if decided in found:
            window = found.index(decided)
            return outcomes[window], window
    return Outcome.WRONG_OTHER, None


def sentence_windows(
    response: str, *, poi: str, category: str, language: str = ENGLISH
) -> list[_Sentence]:
    """Return the three sentences that decide a response's outcome (D.3); a missing one is empty.

    They are the last one about the PoI and the attribute, the last one about the PoI and the last.

    Raises ValueError if `category` is not one of the 12 categories.
    """
    if category not in WORDS:
        raise ValueError(f"category must be one of {', '.join(WORDS)}; got {category!r:.99}")
    words = read_language(language, "reading")[category]["qualifiers"]
    qualifiers = [_fold(word, language) for word in words]
    name, lines = _fold(poi, language), _fold(response, language).split("\n")
    kept = range(len(lines))
    if lines[-1].startswith("(") and lines[-1].endswith(")"):
        kept = kept[:-1]
    filled = [i for i in kept if lines[i].strip()]
    about_poi = [i for i in filled if name in lines[i]]
    valid = (i for i in reversed(about_poi) if any(word in lines[i] for word in qualifiers))
    chosen = next(valid, None), *((some[-1] if some else None) for some in (about_poi, filled))
    return [_last_sentence_of(lines, i) for i in chosen]


def _last_sentence_of(lines: list[str], number: int | None) -> _Sentence:
    """Return the last sentence of the line with a number, and its place in the text of all lines.

    It is empty for None.
    """
    if number is None:
        return _Sentence("")
    sentence = take_last_sentence(lines[number])
    before = sum(map(len, lines[:number])) + number
    # it ends at the last full stop, or with the line if there is none
    end = lines[number].rfind(".") if "." in lines[number] else len(lines[number])
    return _Sentence(sentence, before + end - len(sentence))


def take_last_sentence(text: str) -> str:
    """Return what stands before the last full stop, back to the one before it; else all (D.3).

    So "a. b." gives " b", and "a. b. c", whose last sentence lacks its full stop, gives " b" too.

    Examples:
        >>> take_last_sentence("a. b."), take_last_sentence("a. b. c")
        (' b', ' b')
    """
    parts = text.rsplit(".", 2)
    return parts[-2] if len(parts) >= 2 else text


# --- the values that a sentence names; sentences and values are folded


def _fold(text: str, language: str = ENGLISH) -> str:
    """Return a text as it is compared: in lowercase, with or without accents by the language."""
    reading, text = read_language(language, "reading"), text.lower()
    for mark, other in reading["marks"].items():
        text = text.replace(mark, other)
    if reading["accents"]:
        return text
    letters = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


@cache
def _spellings_of(language: str) -> dict[str, frozenset[str]]:
    """Return the accepted spellings of each value (D.4)."""
    listed = read_language(language, "synonyms")["spellings"]
    values = {value for category in CATEGORIES for value in vocabulary(category, language)}
    values.update(listed)
    return {
        _fold(value, language): frozenset(
            _fold(term, language) for term in listed.get(value, value).split("|")
        )
        for value in values
    }


def spellings_of(value: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the accepted spellings of a value (D.4)."""
    return _spellings_of(language).get(value, frozenset([value]))


@cache
def _mention(value: str, language: str) -> re.Pattern:
    """Return the pattern of a value's spellings.

    But for a loose language, it finds all spellings that hold one of these as well, so that a parc
    aquatique is no parc.
    """
    own, reading = spellings_of(value, language), read_language(language, "reading")
    if not reading["loose"]:
        every = own.union(*_spellings_of(language).values())
        own = frozenset(other for other in every if any(term in other for term in own))
    longest_first = sorted(map(re.escape, own), key=len, reverse=True)
    return re.compile(reading["mention"].replace("{}", "|".join(longest_first)))


def _last_mention(value: str, sentence: str, language: str = ENGLISH) -> tuple[int, int]:
    """Return where a sentence names a value last, in one of its spellings, or (-1, -1) (D.4).

    Examples:
        >>> _last_mention("red", "a red hat, no, a blue one")
        (2, 5)
    """
    own = spellings_of(value, language)
    if not any(term in sentence for term in own):  # almost always, and quick to tell
        return -1, -1
    matches = _mention(value, language).finditer(sentence)
    return max((match.span() for match in matches if match[0] in own), default=(-1, -1))


def check_correct_answer(gold: str, sentence: str, language: str = ENGLISH) -> bool:
    """Tell whether a sentence names a value in one of its accepted spellings (D.4)."""
    return _last_mention(gold, sentence, language)[0] >= 0


def _alternative_flag(
    sentence: str, alternatives: Iterable[str], gold: str, language: str = ENGLISH
) -> bool:
    """Tell whether a sentence answers with another value: the paper's AltFlag (D.4).

    Where the gold value is in the sentence too, in English at a boundary or not, only an
    alternative whose last mention encloses the gold value's last mention counts, as "non-fiction"
    does "fiction".

    Examples:
        >>> _alternative_flag("a fiction book", ["non-fiction"], "fiction")
        False
        >>> _alternative_flag("a non-fiction book", ["non-fiction"], "fiction")
        True
    """
    if not any(check_correct_answer(value, sentence, language) for value in alternatives):
        return False
    start, end = _last_place(gold, sentence, language)
    places = (_last_place(value, sentence, language) for value in alternatives)
    return start == -1 or any(0 <= first <= start and end <= last for first, last in places)


def _last_place(value: str, sentence: str, language: str) -> tuple[int, int]:
    """Return where a value itself stands last, in a loose language within any word."""
    if not read_language(language, "reading")["loose"]:
        return _last_mention(value, sentence, language)
    start = sentence.rfind(value)
    return start, start + len(value) if start >= 0 else -1


# --- the values that a text about a puzzle may name, in any of their spellings


def value_categories(
    solution: Solution, categories: Sequence[str], language: str = ENGLISH
) -> dict[str, tuple[str, ...]]:
    """Return the categories that each value may be of: those whose vocabulary has it.

    Of places, only those that the puzzle names count, since many are words of their own.
    """
    owners: dict[str, list[str]] = {}
    for category in categories:
        used = {part[category] for part in solution.parts if category in part}
        known = category in CATEGORIES and category != "location"
        others = vocabulary(category, language) if known else ()
        for value in sorted({*used, *others}):
            owners.setdefault(value, []).append(category)
    return {value: tuple(categories) for value, categories in owners.items()}


def spellings(values: Iterable[str], language: str = ENGLISH) -> dict[str, str]:
    """Return the value of each accepted spelling, in lowercase."""
    synonyms, values = read_language(language, "synonyms"), set(values)
    listed = {value: synonyms["spellings"].get(value, value) for value in values}
    accepted = {term: value for value in values for term in listed[value].split("|")}
    meant = synonyms["also"] | accepted | {value: value for value in values}
    return {term.lower(): value for term, value in meant.items() if value in values}


SPELLINGS = {category: spellings(values) for category, values in VOCABULARIES.items()}
"""The value of each accepted spelling, by category."""


def mention(category: str) -> re.Pattern:
    """Return the pattern of a mention of the category's values; one group is the spelling."""
    value = f"({'|'.join(map(re.escape, SPELLINGS[category]))})"
    noun = WORDS[category]["noun"].removesuffix("s") + "s?"
    forms = [f"{value} {noun}", f"{noun}(?: is|:| =) {value}"]
    if verbs := WORDS[category].get("verbs"):
        forms.append(f"(?:{verbs}) (?:an? )?{value}")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?![\w-])")


MENTIONS = {category: mention(category) for category in VOCABULARIES}


def mentioned(text: str, category: str) -> list[str]:
    """Return the values of a category that a lowercase text mentions, in order."""
    spelt = (match.groups() for match in MENTIONS[category].finditer(text))
    return [SPELLINGS[category][next(filter(None, forms))] for forms in spelt]


MARKS = re.compile(
    r"(?:[ \t*_`{}\[\]()\"#>$✅\u200b\u00ad]|</?(?:think|thinking|answer)>|\\(?:boxed|text)\b)+"
)
"""Marks of emphasis, headings, quotation and brackets, which separate words and mean nothing."""

# --- questions about the whole state of the PoI

# The response is right if all attributes are; their share is the partial credit. It is read from
# the PoI's name in the last line that has it, up to the end; of several values of one attribute,
# the last one counts.


def score_state(response: str, row: Row, **counts: Unpack[Counts]) -> Score:
    """Return the score of a response to a puzzle with this question, given as a row.

    The `counts` are those of `score_row`. `state_share` of the details is the share of the
    attributes that are right. Raises ValueError if the row lacks a column, or has it wrong.
    """
    columns = asked_of(row)
    gold = attributes(columns["answer"])
    counts = _with_budget(counts)
    if is_cut_off(**counts) or not response.strip():
        why = "a limit cut the response off" if response.strip() else "there is no response"
        return Score(Outcome.WRONG_MAX_CONTEXT, None, None, why, {"state_share": 0.0})
    lower, poi = response.lower(), re.escape(columns["poi"].lower())
    names = [match.start() for match in re.finditer(rf"\b{poi}\b", lower)]
    line = lower.rfind("\n", 0, names[-1]) if names else 0
    start = next((name for name in names if name > line), 0)
    values = read_state(lower[start:], gold)
    if not values:
        why = "no attribute is stated"
        return Score(Outcome.WRONG_OTHER, None, None, why, {"state_share": 0.0})
    wrong = [category for category, value in gold.items() if values.get(category) != value]
    share = 1 - len(wrong) / len(gold)
    why = f"of {len(gold)} attributes, {len(wrong)} are wrong or left out"
    why += f": {', '.join(wrong)}" * bool(wrong)
    outcome = Outcome.WRONG_LOGIC if wrong else Outcome.CORRECT_VALID
    read = ", ".join(f"{category}: {value}" for category, value in values.items())
    return Score(outcome, read, (start, len(lower)), why, {"state_share": share})


def attributes(answer: str) -> dict[str, str]:
    """Return the values of an answer by category; ValueError if it is about no state.

    Examples:
        >>> attributes("hair: red, location: park")
        {'hair': 'red', 'location': 'park'}
    """
    pairs = [part.partition(": ") for part in answer.split(", ")]
    values = {category: value for category, _, value in pairs}
    if not values.keys() <= WORDS.keys():
        raise ValueError(f"answer must be a value for each category, got {answer[:100]!r}")
    return values


def read_state(text: str, categories: dict[str, str]) -> dict[str, str]:
    """Return the value of each category that a lowercase text states last."""
    for category in categories:
        text = text.replace(category, WORDS[category]["noun"])  # as in the answer's own words
    text = MARKS.sub(" ", text)
    told = {category: mentioned(text, category) for category in categories}
    return {category: values[-1] for category, values in told.items() if values}

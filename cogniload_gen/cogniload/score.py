"""A model's response -> one of the paper's eight outcomes (CogniLoad, Appendix D).

The pseudocode (Algorithms 1 to 3) decides where the prose of the appendix differs from it. So an
alternative named beside the gold value counts only where it encloses the gold value's last
mention, whichever of the two is mentioned last (D.4, points 4 and 5).

Two conditions of the paper follow from others and have no line of their own here: an empty
response has an empty last sentence, and a sentence that holds an alternative is not empty.

Responses to puzzles in other languages are read by the same rules with the words of that language
(data/languages/LANGUAGE/reading.toml): its own qualifiers, its own marks for the full stop and the
parentheses, and the spellings of a value, inflected forms among them. There accents do not count,
and the language says where a spelling must begin and end.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import accumulate
from reprlib import repr as brief
from typing import Any, NamedTuple, Unpack

from cogniload_gen.benchmark import Counts, Row, Score
from cogniload_gen.checks import check_choice, check_columns, check_texts
from cogniload_gen.cogniload.ontology import LANGUAGES, VOCABULARIES, WORDS, read_language
from cogniload_gen.cogniload.solve import Solution
from cogniload_gen.grid import ENGLISH, language_of
from cogniload_gen.responses.context_budget import CONTEXT_BUDGET, is_cut_off

SYNONYMS = {
    value: tuple(spellings)
    for words in WORDS.values()
    for value, spellings in words.synonyms.items()
}
"""The accepted spellings of a value; any other value is accepted as it stands (D.4).

As in the paper, though a spelling that starts with another of its row adds nothing.
"""

BOUNDARIES = (" ", "[", '"', "'", "*", "_", "{", "(")
"""What may stand before an answer within a sentence: D.4 prints ", Algorithm 3 prints '."""


@dataclass(frozen=True)
class Reading:
    """How responses in a language other than English are read.

    `questions` and `qualifiers` are by category, `spellings` by the value, `marks` are characters
    that stand for others, and `mention` is the pattern in which a spelling {} counts.
    """

    questions: dict[str, str]
    qualifiers: dict[str, list[str]]
    spellings: dict[str, list[str]]
    marks: dict[str, str]
    mention: str


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
WINDOWS = (
    "the last sentence about {poi} and the attribute",
    "the last sentence about {poi}",
    "the last sentence",
)
"""The three windows in words, in the order of CORRECT and WRONG_LOGIC."""

NOTHING_READ = {
    Outcome.WRONG_MAX_CONTEXT: "the response has no last sentence",
    Outcome.WRONG_OTHER: "no window gives exactly one value of the attribute",
}


class Sentence(NamedTuple):
    """A lowercase sentence of a response, and where it starts in the lowercase response."""

    text: str
    start: int = 0


class SentenceWindows(NamedTuple):
    """The sentences of a response in which the answer is looked for, in that order."""

    valid_poi_last_sentence: Sentence
    poi_last_sentence: Sentence
    last_sentence: Sentence


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
    """Return the outcome of a response, reasoning included, to a CogniLoad puzzle (Appendix D).

    `poi` is the name of the person of interest, `answer` the gold value, `category` the one of the
    12 categories that the question is about (`question_category` reads it from a question),
    `options` the value domain of that category, with or without the answer. `prompt_tokens` and
    `response_tokens` count against `context_budget`, which they share; an unknown count is 0.
    `language` is that of the puzzle, one of LANGUAGES.

    Raises ValueError for any other category or language.
    """
    check_choice("language", language, LANGUAGES)
    windows = sentence_windows(response, poi=poi, category=category, language=language)
    if is_cut_off(prompt_tokens, response_tokens, context_budget):
        return Outcome.WRONG_MAX_CONTEXT
    gold = fold(answer, language)
    return judge(windows, gold, alternatives_to(answer, options, language), language)[0]


def score_row(response: str, row: Row, **counts: Unpack[Counts]) -> Score:
    """Return the outcome of a response to a puzzle, given as a row, with its evidence.

    The `counts` are those of `score_response`; without `context_budget`, it is the paper's.
    Raises ValueError if the row lacks a column, or a column holds a wrong value.
    """
    columns = asked_of(row)
    poi, answer, options = columns["poi"], columns["answer"], columns["options"]
    counts, language = with_budget(counts), language_of_row(row)
    windows = sentence_windows(response, poi=poi, category=columns["category"], language=language)
    if is_cut_off(**counts):
        why = f"prompt and response reached the budget of {counts['context_budget']:,} tokens"
        return Score(Outcome.WRONG_MAX_CONTEXT, None, None, why)
    gold, others = fold(answer, language), alternatives_to(answer, options, language)
    outcome, window = judge(windows, gold, others, language)
    if window is None:
        return Score(outcome, None, None, NOTHING_READ[outcome])
    sentence = windows[window]
    values = {fold(value, language): value for value in [*options, answer]}
    read = [gold] if outcome.correct else others
    start, end, value = max(
        (*last_mention(value, sentence.text, language), value) for value in read
    )
    place = (sentence.start + start, sentence.start + end)
    where = WINDOWS[window].format(poi=poi)
    why = f"{where} gives {values[value]}" + f", the answer is {answer}" * (not outcome.correct)
    return Score(outcome, values[value], places_in(response, place, language), why)


def with_budget(counts: Counts) -> Counts:
    """Return counts of tokens with the paper's budget where none is known."""
    budget = counts.get("context_budget")
    return {**counts, "context_budget": CONTEXT_BUDGET if budget is None else budget}


def language_of_row(row: Row) -> str:
    """Return the language of a row's puzzle, which its id holds; English for another id."""
    language = language_of(str(row.get("id")))
    return language if language in LANGUAGES else ENGLISH


@cache
def reading_of(language: str) -> Reading:
    """Return how responses in a language are read."""
    data, sentences = (read_language(language, name) for name in ("reading", "sentences"))
    tables = sentences["values"].values()
    spellings = {forms[0]: forms[0] for table in tables for forms in table.values()}
    words, marks = {name: data[name] for name in WORDS}, data["marks"]

    def folded(texts: Iterable[str]) -> list[str]:
        return [fold_by(marks, text) for text in texts]

    return Reading(
        questions={name: of_category["question"] for name, of_category in words.items()},
        qualifiers={name: folded(words[name]["qualifiers"]) for name in words},
        spellings={
            fold_by(marks, value): folded(terms.split("|"))
            for value, terms in (spellings | data["spellings"]).items()
        },
        marks=marks,
        mention=data["mention"],
    )


@cache
def terms_of(value: str, language: str) -> tuple[frozenset[str], re.Pattern]:
    """Return the spellings of a folded value, and a pattern of them and of all that hold them."""
    reading = reading_of(language)
    own = frozenset(reading.spellings.get(value, [value]))
    every = own.union(*reading.spellings.values())
    near = sorted((t for t in every if any(term in t for term in own)), key=len, reverse=True)
    return own, re.compile(reading.mention.replace("{}", "|".join(map(re.escape, near))))


def mentions_of(value: str, sentence: str, language: str) -> list[tuple[int, int]]:
    """Return where a folded sentence names a value, but not within a longer one: a parc aquatique.

    The language is not English.
    """
    own, pattern = terms_of(value, language)
    return [match.span() for match in pattern.finditer(sentence) if match[0] in own]


def fold(text: str, language: str = ENGLISH) -> str:
    """Return a text as it is compared: in lowercase; but for English, without accents, too."""
    return text.lower() if language == ENGLISH else fold_by(reading_of(language).marks, text)


def fold_by(marks: dict[str, str], text: str) -> str:
    """Return a text in lowercase without accents, some of its marks replaced by others."""
    plain = "".join(marks.get(mark, mark) for mark in text.lower())
    letters = unicodedata.normalize("NFD", plain)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def asked_of(row: Row) -> dict[str, Any]:
    """Return the columns of a row by which a response is scored; ValueError for a wrong one."""
    texts = check_texts(row, ("poi", "answer", "category"))
    column = check_columns(row, ("options",))["options"]
    several = isinstance(column, Iterable) and not isinstance(column, str)
    options = list(column) if several else []
    if not several or not all(isinstance(option, str) for option in options):
        raise ValueError(f"options must be a list of texts, got {brief(column)}")
    return {**texts, "options": options}


def judge(
    windows: SentenceWindows, gold: str, alternatives: set[str], language: str = ENGLISH
) -> tuple[Outcome, int | None]:
    """Return the outcome (D.5), and the number of the window that decides it; all is folded."""
    if windows.last_sentence.text == "":
        return Outcome.WRONG_MAX_CONTEXT, None
    matches = [check_correct_answer(gold, sentence.text, language) for sentence in windows]
    flagged = [
        alternative_flag(sentence.text, alternatives, gold, language) for sentence in windows
    ]
    for outcomes, decided in ((CORRECT, (True, False)), (WRONG_LOGIC, (False, True))):
        for window, outcome in enumerate(outcomes):
            if (matches[window], flagged[window]) == decided:
                return outcome, window
    return Outcome.WRONG_OTHER, None


def alternatives_to(answer: str, options: Iterable[str], language: str = ENGLISH) -> set[str]:
    """Return the other options, folded."""
    return {fold(option, language) for option in options} - {fold(answer, language)}


def question_category(question: str) -> str:
    """Return the category that a question asks about (D.2); ValueError for any other question."""
    english = {category: words.question for category, words in WORDS.items()}
    for language in LANGUAGES:
        forms = english if language == ENGLISH else reading_of(language).questions
        for category, form in forms.items():
            _, ends, end = form.partition("... ")
            if question.endswith(end) if ends else question.startswith(form):
                return category
    openings = ", ".join(english.values())
    raise ValueError(f"question must be one of the form {openings}; got {question[:100]!r}")


def sentence_windows(
    response: str, *, poi: str, category: str, language: str = ENGLISH
) -> SentenceWindows:
    """Return the sentences that decide a response's outcome (D.3); a missing one is empty.

    Raises ValueError if `category` is not one of the 12 categories.
    """
    if category not in WORDS:
        raise ValueError(f"category must be one of {', '.join(WORDS)}; got {category!r:.99}")
    words = WORDS[category].qualifiers
    qualifiers = words if language == ENGLISH else reading_of(language).qualifiers[category]
    name, lines = fold(poi, language), fold(response, language).split("\n")
    kept = range(len(lines))
    if lines[-1].startswith("(") and lines[-1].endswith(")"):
        kept = kept[:-1]
    filled = [i for i in kept if lines[i].strip()]
    about_poi = [i for i in filled if name in lines[i]]
    valid = (i for i in reversed(about_poi) if any(word in lines[i] for word in qualifiers))
    chosen = next(valid, None), *((some[-1] if some else None) for some in (about_poi, filled))
    return SentenceWindows(*(last_sentence_of(lines, i) for i in chosen))


def last_sentence_of(lines: list[str], number: int | None) -> Sentence:
    """Return the last sentence of the line with a number, and its place in the text of all lines.

    It is empty for None.
    """
    if number is None:
        return Sentence("")
    sentence = take_last_sentence(lines[number])
    before = sum(map(len, lines[:number])) + number
    # it ends at the last full stop, or with the line if there is none
    end = lines[number].rfind(".") if "." in lines[number] else len(lines[number])
    return Sentence(sentence, before + end - len(sentence))


def take_last_sentence(text: str) -> str:
    """Return what stands before the last full stop, back to the one before it; else all (D.3).

    So "a. b." gives " b", and "a. b. c", whose last sentence lacks its full stop, gives " b" too.
    """
    parts = text.rsplit(".", 2)
    return parts[-2] if len(parts) >= 2 else text


def check_correct_answer(gold: str, sentence: str, language: str = ENGLISH) -> bool:
    """Tell whether a folded sentence holds a value in one of its accepted spellings (D.4)."""
    if language != ENGLISH:
        return bool(mentions_of(gold, sentence, language))
    return any(check_answer(term, sentence) for term in spellings_of(gold))


def spellings_of(value: str) -> tuple[str, ...]:
    """Return the accepted spellings of a lowercase value (D.4)."""
    return SYNONYMS.get(value, (value,))


def check_answer(term: str, sentence: str) -> bool:
    """Tell whether a sentence holds a term at its start or after a boundary; it may go on (D.4)."""
    if term not in sentence:  # almost always, and quick to tell
        return False
    return sentence.startswith(term) or any(mark + term in sentence for mark in BOUNDARIES)


def last_mention(value: str, sentence: str, language: str = ENGLISH) -> tuple[int, int]:
    """Return where `check_correct_answer` finds a value last in a sentence, or (-1, -1)."""
    if language != ENGLISH:
        return max(mentions_of(value, sentence, language), default=(-1, -1))
    spans = [(-1, -1)]
    for term in spellings_of(value):
        starts = [0] if sentence.startswith(term) else []
        marks = (sentence.rfind(mark + term) for mark in BOUNDARIES)
        starts += [at + 1 for at in marks if at >= 0]
        spans += [(start, start + len(term)) for start in starts]
    return max(spans)


def last_place(value: str, sentence: str, language: str) -> tuple[int, int]:
    """Return where a value itself stands last, in English at a boundary or not, or (-1, -1)."""
    if language != ENGLISH:
        return last_mention(value, sentence, language)
    start = sentence.rfind(value)
    return start, start + len(value) if start >= 0 else -1


def places_in(response: str, places: tuple[int, int], language: str = ENGLISH) -> tuple[int, int]:
    """Return the places in a response of two places in its folded text.

    They differ where a letter has more characters in lowercase, as the Turkish İ.
    """
    if len(fold(response, language)) == len(response):
        return places
    ends = list(accumulate(len(fold(character, language)) for character in response))
    start, stop = (sum(end <= place for end in ends) for place in places)
    return start, stop


def alternative_flag(
    sentence: str, alternatives: Iterable[str], gold: str, language: str = ENGLISH
) -> bool:
    """Tell whether a folded sentence answers with another value: the paper's AltFlag (D.4).

    Where the gold value is in the sentence too, at a boundary or not, only an alternative whose
    last mention encloses the gold value's last mention counts, as "non-fiction" does "fiction".
    """
    present = any(check_correct_answer(value, sentence, language) for value in alternatives)
    start, end = last_place(gold, sentence, language)
    if not present or start == -1:
        return present
    places = (last_place(value, sentence, language) for value in alternatives)
    return any(0 <= first <= start and end <= last for first, last in places)


# --- the values that a text about a puzzle may name, in any of their spellings


def vocabulary(category: str, language: str) -> tuple[str, ...]:
    """Return the values of a category in a language."""
    if language == ENGLISH:
        return VOCABULARIES.get(category, ())
    tables = read_language(language, "sentences")["values"]
    table = tables.get(category) or tables["colors"]
    return tuple(table[value][0] for value in VOCABULARIES.get(category, ()))


def value_categories(
    solution: Solution, categories: Sequence[str], language: str = ENGLISH
) -> dict[str, tuple[str, ...]]:
    """Return the categories that each value may be of: those whose vocabulary has it.

    Of places, only those that the puzzle names count, since many are words of their own.
    """
    owners: dict[str, list[str]] = {}
    for category in categories:
        used = {part[category] for part in solution.parts if category in part}
        others = () if category == "location" else vocabulary(category, language)
        for value in sorted({*used, *others}):
            owners.setdefault(value, []).append(category)
    return {value: tuple(categories) for value, categories in owners.items()}


def spellings(values: Iterable[str], language: str = ENGLISH) -> dict[str, str]:
    """Return the value of each accepted spelling, in lowercase."""
    if language != ENGLISH:
        listed = read_language(language, "reading")["spellings"]
        by_term = {term: value for value in values for term in listed.get(value, "").split("|")}
        terms = (by_term | {value: value for value in values}).items()
        return {term.lower(): value for term, value in terms if term}
    meant = {"grey": "gray", "scifi": "sci-fi", "nonfiction": "non-fiction", "sci fi": "sci-fi"}
    for value in values:
        meant |= {spelling: value for spelling in SYNONYMS.get(value, ()) if spelling not in values}
        meant[value] = value
    return {spelling: value for spelling, value in meant.items() if value in values}


SPELLINGS = {category: spellings(values) for category, values in VOCABULARIES.items()}
"""The value of each accepted spelling, by category."""


def mention(category: str) -> re.Pattern:
    """Return the pattern of a mention of the category's values; one group is the spelling."""
    value = f"({'|'.join(map(re.escape, SPELLINGS[category]))})"
    noun = WORDS[category].noun.removesuffix("s") + "s?"
    forms = [f"{value} {noun}", f"{noun}(?: is|:| =) {value}"]
    if verbs := WORDS[category].verbs:
        forms.append(f"(?:{verbs}) (?:an? )?{value}")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?![\w-])")


MENTIONS = {category: mention(category) for category in VOCABULARIES}

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
    counts = with_budget(counts)
    if is_cut_off(**counts) or not response.strip():
        budget = f"{counts['context_budget']:,} tokens"
        why = f"no response, or prompt and response reached the budget of {budget}"
        return Score(Outcome.WRONG_MAX_CONTEXT, None, None, why, {"state_share": 0.0})
    start = start_of_state(response.lower(), columns["poi"].lower())
    values = read_state(response.lower()[start:], gold)
    if not values:
        why = "no attribute is stated"
        return Score(Outcome.WRONG_OTHER, None, None, why, {"state_share": 0.0})
    wrong = [category for category, value in gold.items() if values.get(category) != value]
    share = 1 - len(wrong) / len(gold)
    why = f"of {len(gold)} attributes, {len(wrong)} are wrong or left out"
    why += f": {', '.join(wrong)}" * bool(wrong)
    outcome = Outcome.WRONG_LOGIC if wrong else Outcome.CORRECT_VALID
    read = ", ".join(f"{category}: {value}" for category, value in values.items())
    place = places_in(response, (start, len(response.lower())))
    return Score(outcome, read, place, why, {"state_share": share})


def attributes(answer: str) -> dict[str, str]:
    """Return the values of an answer by category; ValueError if it is about no state."""
    pairs = [part.partition(": ") for part in answer.split(", ")]
    values = {category: value for category, _, value in pairs}
    if not values.keys() <= WORDS.keys():
        raise ValueError(f"answer must be a value for each category, got {answer[:100]!r}")
    return values


def start_of_state(response: str, poi: str) -> int:
    """Return where the PoI's state starts in a lowercase response; 0 if it has no such name."""
    names = [match.start() for match in re.finditer(rf"\b{re.escape(poi)}\b", response)]
    line = response.rfind("\n", 0, names[-1]) if names else 0
    return next((start for start in names if start > line), 0)


def read_state(text: str, categories: dict[str, str]) -> dict[str, str]:
    """Return the value of each category that a lowercase text states last."""
    for category in categories:
        text = text.replace(category, WORDS[category].noun)  # as in the answer's own words
    text = MARKS.sub(" ", text)
    values = {}
    for category in categories:
        for match in MENTIONS[category].finditer(text):
            (spelling,) = filter(None, match.groups())
            values[category] = SPELLINGS[category][spelling]
    return values

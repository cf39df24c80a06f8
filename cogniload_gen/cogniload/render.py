"""Puzzles -> text (CogniLoad, Figure 2), by the templates in `data/languages`.

jinja2 renders every clause that a puzzle can hold once. A text is then a sequence of such
fragments: Arrow gathers the fragments of all texts into one buffer, and a text is the stretch of
that buffer from its first fragment to the next text's. So each text is copied once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jinja2 import Environment, StrictUndefined, Template

from cogniload_gen.cogniload.ontology import (
    CATEGORIES,
    PEOPLE,
    VOCABULARIES,
    forms_of,
    read_language,
    vocabulary,
)
from cogniload_gen.cogniload.simulate import Puzzles
from cogniload_gen.grid import ENGLISH
from cogniload_gen.text import Pieces, gather, line_up, offsets

OWNERS = [category for category, vocabulary in VOCABULARIES.items() for _ in vocabulary]
"""The category of each value of all of them, one after the other: this order numbers the values."""

FIRST_VALUE = np.cumsum([0, *map(len, VOCABULARIES.values())])[:-1]
"""The number of each category's first value."""


@dataclass(frozen=True)
class Phrases:
    """The fragments of all texts, and where each kind of them starts in `fragments`.

    Names stand in the order of PEOPLE, clauses in the order of OWNERS; each clause comes twice:
    with the conjunction for the next clause, and with what follows the last one. `line_break` comes
    before the statements, `number` is the text before and after a statement's number. `questions`
    holds one a category and person, and then one a person about the whole state; as fragments, each
    follows a line break. `reminder` comes before a person's state among the statements. `values`
    are what the values are called as answers, `attributes` the same, each with its category.
    """

    fragments: pa.Array
    instruction: int
    name: int
    reminder: int
    state: tuple[int, int]
    condition: tuple[int, int]
    update: tuple[int, int]
    number: tuple[str, str]
    line_break: int
    question: int
    questions: pa.Array
    values: pa.Array
    attributes: pa.Array


def sentences_of(language: str) -> dict[str, Any]:
    """Return the templates of a language."""
    return read_language(language, "sentences")


@cache
def environment_of(language: str) -> Environment:
    """The environment in which the templates of a language's data file are rendered."""
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 (a prompt)
    macros = vars(environment.from_string(sentences_of(language)["macros"]).module)
    environment.globals.update({name: macros[name] for name in macros if name[0] != "_"})
    return environment


@cache
def template_of(category: str, kind: str, language: str = ENGLISH) -> Template:
    """The template of a clause of a puzzle: of a state, a condition, an update or a question."""
    return environment_of(language).from_string(sentences_of(language)[category][kind])


@cache
def phrases(language: str = ENGLISH) -> Phrases:
    """Return the fragments, rendered from the templates of a language's data file."""
    templates = sentences_of(language)
    forms = {category: forms_of(category, language) for category in CATEGORIES}
    words = [word for category in CATEGORIES for word in vocabulary(category, language)]
    compiled = environment_of(language).from_string
    fragments: list[str] = []

    def add(texts: list[str]) -> int:
        fragments.extend(texts)
        return len(fragments) - len(texts)

    def add_clauses(kind: str, end: str) -> tuple[int, int]:
        clauses = [
            template.render(value=form)
            for category, by_value in forms.items()
            for template in [template_of(category, kind, language)]
            for form in by_value.values()
        ]
        followed = add([clause + templates["conjunction"][kind] for clause in clauses])
        return followed, add([clause + end for clause in clauses])

    slot = "\0"
    person = compiled(templates["person"]).render(name=slot, states=slot).split(slot)
    statement = compiled(templates["statement"])
    whole = statement.render(number=slot, conditions=slot, updates=slot)
    before_number, after_number, between, end = whole.split(slot)
    questions = [
        template.render(name=name)
        for category in CATEGORIES
        for template in [template_of(category, "question", language)]
        for name in PEOPLE
    ]
    about_state = compiled(templates["state_question"])
    questions += [about_state.render(name=name) for name in PEOPLE]
    return Phrases(
        instruction=add([templates["instruction"]]),
        name=add([f"\n{person[0]}{name}{person[1]}" for name in PEOPLE]),
        reminder=add([f"{templates['reminder']}{person[0]}{name}{person[1]}" for name in PEOPLE]),
        state=add_clauses("state", person[2]),
        condition=add_clauses("condition", between),
        update=add_clauses("update", end + "\n"),
        number=(before_number, after_number),
        line_break=add(["\n"]),
        question=add(["\n" + question for question in questions]),
        questions=pa.array(questions),
        fragments=pa.array(fragments),
        values=pa.array(words),
        attributes=pa.array(
            [f"{owner}: {word}" for owner, word in zip(OWNERS, words, strict=True)]
        ),
    )


def render(parts: Sequence[Puzzles], rows: Sequence[np.ndarray]) -> pa.Array:
    """Return the whole prompts of puzzles of one layout, those of each part in rows of its own."""
    wording = phrases(parts[0].layout.language)
    first = parts[0].layout.question_first
    order = (first_lines, statements) if first else (statements, last_lines)
    ids, bounds = line_up(
        sum(map(len, rows)),
        [
            Pieces(row, *kind(puzzles, wording))
            for kind in (introductions, *order)
            for puzzles, row in zip(parts, rows, strict=True)
        ],
    )
    before, after = wording.number
    most = max(np.diff(puzzles.first_statement).max() for puzzles in parts)
    numbers = pa.array([f"{before}{t}{after}" for t in range(1, most + 1)])
    texts = gather(pa.concat_arrays([wording.fragments, numbers]), ids, bounds)
    return pc.utf8_rtrim(texts, "\n") if first else texts


def questions(puzzles: Puzzles) -> pa.Array:
    """Return the questions of the puzzles."""
    return phrases(puzzles.layout.language).questions.take(pa.array(question_numbers(puzzles)))


def introductions(puzzles: Puzzles, wording: Phrases) -> tuple[np.ndarray, np.ndarray]:
    """Return the instruction and, a line a person, the initial state."""
    d, n, count = puzzles.initial_state.shape
    category = np.arange(d)[:, None, None]
    value = value_numbers(puzzles)[puzzles.initial_state, category, np.arange(count)]
    value = arrange(value, puzzles.state_place, axis=0)
    sentences = np.empty((count, n, 1 + d), np.int64)
    sentences[..., 0] = wording.name + puzzles.people.T
    sentences[..., 1:] = clauses(value.T, np.full((count, n, 1), d), wording.state)
    ends = (0, 0), (wording.instruction, wording.line_break)
    ids = np.pad(sentences.reshape(count, -1), ((0, 0), (1, 1)), constant_values=ends)
    return ids.reshape(-1), np.arange(count + 1) * ids.shape[1]


def statements(puzzles: Puzzles, wording: Phrases) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbered statements, a line each, with the reminders among them."""
    ids, ends = numbered_lines(puzzles, wording)
    if puzzles.layout.reminder:
        every = np.arange(len(ends) - 1)
        kinds = [Pieces(every, ids, ends), reminders(puzzles, wording)]
        ids, ends = line_up(len(every), kinds)
    return ids, ends[puzzles.first_statement]


def reminders(puzzles: Puzzles, wording: Phrases) -> Pieces:
    """Return lines with the PoI's state after some statements, but never after the last."""
    start, owner, every = puzzles.first_statement, puzzles.owner, puzzles.layout.reminder
    t = 1 + np.arange(start[-1]) - start[owner]
    row = np.flatnonzero((t % every == 0) & (t < np.diff(start)[owner]))
    puzzle, d = owner[row], len(puzzles.categories)
    place = puzzles.state_place[:, puzzles.poi[puzzle], puzzle].T
    value = value_numbers(puzzles)[puzzles.statements.poi_state[row], np.arange(d), puzzle[:, None]]
    ids = np.empty((len(row), d + 2), np.int64)
    ids[:, 0] = puzzles.people[puzzles.poi[puzzle], puzzle]
    ids[:, 0] += wording.reminder
    sentence = arrange(value, place, axis=1)
    ids[:, 1:-1] = clauses(sentence, np.full((len(row), 1), d), wording.state)
    ids[:, -1] = wording.line_break
    return Pieces(row, ids.reshape(-1), np.arange(len(row) + 1) * (d + 2))


def numbered_lines(puzzles: Puzzles, wording: Phrases) -> tuple[np.ndarray, np.ndarray]:
    """Return the statements of all puzzles, a line each."""
    made, owner, numbers = puzzles.statements, puzzles.owner, value_numbers(puzzles)
    ends = offsets(1 + made.k.astype(np.int64) + made.m)
    ids, start = np.empty(ends[-1], np.int32), ends[:-1]
    ids[start] = len(wording.fragments) + np.arange(len(owner)) - puzzles.first_statement[owner]
    for count, place, position, (followed, last) in (
        (made.k, made.condition_place, made.condition_value, wording.condition),
        (made.m, made.update_place, made.update_value, wording.update),
    ):
        for category in range(place.shape[1]):
            row = np.flatnonzero(place[:, category] < count)
            value = numbers[position[row, category], category, owner[row]]
            ids[start[row] + 1 + place[row, category]] = value + followed
        start = start + count
        ids[start] += last - followed
    return ids, ends


def last_lines(puzzles: Puzzles, wording: Phrases) -> tuple[np.ndarray, np.ndarray]:
    """Return the questions, each below an empty line."""
    return wording.question + question_numbers(puzzles), np.arange(len(puzzles.poi) + 1)


def first_lines(puzzles: Puzzles, wording: Phrases) -> tuple[np.ndarray, np.ndarray]:
    """Return the questions, each between empty lines."""
    ids = np.full((len(puzzles.poi), 3), wording.line_break)
    ids[:, 0] = wording.question + question_numbers(puzzles)
    return ids.reshape(-1), np.arange(len(ids) + 1) * 3


def question_numbers(puzzles: Puzzles) -> np.ndarray:
    """Return the places of the puzzles' questions among those of all categories and people."""
    puzzle = np.arange(len(puzzles.poi))
    category = puzzles.categories[puzzles.question, puzzle].astype(np.int64)
    if puzzles.layout.whole_state:
        category[:] = len(CATEGORIES)
    return category * len(PEOPLE) + puzzles.people[puzzles.poi, puzzle]


def arrange(values: np.ndarray, place: np.ndarray, axis: int) -> np.ndarray:
    """Return the values, each put at its place along an axis."""
    arranged = np.empty_like(values)
    np.put_along_axis(arranged, place.astype(np.intp), values, axis)
    return arranged


def clauses(value: np.ndarray, count: np.ndarray, kind: tuple[int, int]) -> np.ndarray:
    """Return the fragments of clauses about `value` (numbers), the first `count` of them used."""
    followed, last = kind
    return value + np.where(np.arange(value.shape[-1]) == count - 1, last, followed)


def value_numbers(puzzles: Puzzles) -> np.ndarray:
    """Return the number of each value of the domains (values x d x puzzle)."""
    return FIRST_VALUE[puzzles.categories] + puzzles.domains

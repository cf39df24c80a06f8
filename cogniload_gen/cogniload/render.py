"""Puzzles -> text (CogniLoad, Figure 2), by the templates in `data/en.toml`.

jinja2 renders every clause that a puzzle can hold once. A text is then a sequence of such
fragments: Arrow gathers the fragments of all texts into one buffer, and a text is the stretch of
that buffer from its first fragment to the next text's.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jinja2 import Environment, StrictUndefined

from cogniload_gen.cogniload.ontology import CATEGORIES, PEOPLE, VOCABULARIES
from cogniload_gen.cogniload.simulate import Puzzles
from cogniload_gen.text import gather

VALUES = pa.array([value for vocabulary in VOCABULARIES.values() for value in vocabulary])
"""The values of all categories, one after the other: a value's number is its position here."""

FIRST_VALUE = np.cumsum([0, *map(len, VOCABULARIES.values())])[:-1]
"""The number of each category's first value."""


@dataclass(frozen=True)
class Phrases:
    """The fragments of all texts, and where each kind of them starts in `fragments`.

    Names stand in the order of PEOPLE, clauses in the order of VALUES; each clause comes twice:
    with the conjunction for the next clause, and with what follows the last one. `number` is the
    text before and after a statement's number, `questions` holds one a category and person.
    """

    fragments: pa.Array
    instruction: int
    name: int
    state: tuple[int, int]
    condition: tuple[int, int]
    update: tuple[int, int]
    number: tuple[str, str]
    questions: pa.Array


@cache
def phrases(language: str = "en") -> Phrases:
    """Return the fragments, rendered from the templates of a language's data file."""
    path = files(__package__).joinpath(f"data/{language}.toml")
    templates = tomllib.loads(path.read_text("utf-8"))
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 (a prompt)
    macros = vars(environment.from_string(templates["macros"]).module)
    environment.globals.update({name: macros[name] for name in macros if name[0] != "_"})
    compiled = environment.from_string
    fragments: list[str] = []

    def add(texts: list[str]) -> int:
        fragments.extend(texts)
        return len(fragments) - len(texts)

    def add_clauses(kind: str, end: str) -> tuple[int, int]:
        clauses = [
            template.render(value=value)
            for category, vocabulary in VOCABULARIES.items()
            for template in [compiled(templates[category][kind])]
            for value in vocabulary
        ]
        followed = add([clause + templates["conjunction"] for clause in clauses])
        return followed, add([clause + end for clause in clauses])

    slot = "\0"
    person = compiled(templates["person"]).render(name=slot, states=slot).split(slot)
    statement = compiled(templates["statement"])
    whole = statement.render(number=slot, conditions=slot, updates=slot)
    before_number, after_number, between, end = whole.split(slot)
    return Phrases(
        instruction=add([templates["instruction"]]),
        name=add([f"\n{person[0]}{name}{person[1]}" for name in PEOPLE]),
        state=add_clauses("state", person[2]),
        condition=add_clauses("condition", between),
        update=add_clauses("update", end + "\n"),
        number=(before_number, after_number),
        questions=pa.array(
            template.render(name=name)
            for category in CATEGORIES
            for template in [compiled(templates[category]["question"])]
            for name in PEOPLE
        ),
        fragments=pa.array(fragments),
    )


def render(puzzles: Puzzles, language: str = "en") -> tuple[pa.Array, pa.Array]:
    """Return the whole prompts and the questions of the puzzles in a language."""
    wording = phrases(language)
    puzzle = np.arange(len(puzzles.poi))
    category = puzzles.categories[puzzles.question, puzzle].astype(np.int64)
    person = puzzles.people[puzzles.poi, puzzle]
    questions = wording.questions.take(pa.array(category * len(PEOPLE) + person))
    parts = introductions(puzzles, wording), statements(puzzles, wording), questions
    return pc.binary_join_element_wise(*parts, "\n"), questions


def introductions(puzzles: Puzzles, wording: Phrases) -> pa.Array:
    """Return the instruction and, a line a person, the initial state."""
    d, n, count = puzzles.initial_state.shape
    category = np.arange(d)[:, None, None]
    value = value_numbers(puzzles)[puzzles.initial_state, category, np.arange(count)]
    value = arrange(value, puzzles.state_place, axis=0)
    sentences = np.empty((count, n, 1 + d), np.int64)
    sentences[..., 0] = wording.name + puzzles.people.T
    sentences[..., 1:] = clauses(value.T, np.full((count, n, 1), d), wording.state)
    ids = np.insert(sentences.reshape(count, -1), 0, wording.instruction, axis=1)
    return gather(wording.fragments, ids.reshape(-1), np.arange(count + 1) * ids.shape[1])


def statements(puzzles: Puzzles, wording: Phrases) -> pa.Array:
    """Return the numbered statements, a line each."""
    made, start = puzzles.statements, puzzles.first_statement
    t = np.arange(start[-1]) - start[puzzles.owner]
    k, m = made.k[:, None].astype(np.int64), made.m[:, None].astype(np.int64)
    conditions = values_in_order(puzzles, made.condition_place, made.condition_value)
    updates = values_in_order(puzzles, made.update_place, made.update_value)
    columns = (
        (len(wording.fragments) + t)[:, None],
        clauses(conditions, k, wording.condition),
        clauses(updates, m, wording.update),
    )
    place = np.arange(conditions.shape[1])
    used = np.ones((len(t), 1), bool), place < k, place < m
    ids = np.concatenate(columns, axis=1)[np.concatenate(used, axis=1)]
    ends = np.concatenate([[0], np.cumsum(1 + k + m)])
    before, after = wording.number
    numbers = pa.array([f"{before}{t}{after}" for t in range(1, np.diff(start).max() + 1)])
    return gather(pa.concat_arrays([wording.fragments, numbers]), ids, ends[start])


def values_in_order(puzzles: Puzzles, place: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Return the numbers of the statements' values (statement x d) in the order of the text."""
    category = np.arange(place.shape[1])
    numbers = value_numbers(puzzles)[position, category, puzzles.owner[:, None]]
    return arrange(numbers, place, axis=1)


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

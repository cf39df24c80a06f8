"""Puzzles -> text (CogniLoad, Figure 2), by the templates in `data/languages`.

jinja2 renders every clause that a puzzle can hold once. A text is then a sequence of such
fragments: Arrow gathers the fragments of all texts into one buffer, and a text is the stretch of
that buffer from its first fragment to the next text's. So each text is copied once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.benchmark import Row, Turn, planted_turn
from cogniload_gen.cogniload.ontology import (
    CATEGORIES,
    PEOPLE,
    VOCABULARIES,
    forms_of,
    read_language,
    vocabulary,
)
from cogniload_gen.cogniload.score import attributes
from cogniload_gen.cogniload.simulate import Puzzles
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.draws import address_key
from cogniload_gen.grid import ENGLISH
from cogniload_gen.text import Pieces, arrow, gather, line_up, offsets

# The category of each value of all of them, one after the other: this order numbers the values.
_OWNERS = [category for category, vocabulary in VOCABULARIES.items() for _ in vocabulary]

FIRST_VALUES = np.cumsum([0, *map(len, VOCABULARIES.values())])[:-1]
"""The number of each category's first value."""


@dataclass(frozen=True)
class _Phrases:
    """The fragments of all texts of a language, and where the first of each kind stands.

    Names stand in the order of PEOPLE, clauses in the order of _OWNERS. A clause ("state",
    "condition", "update") has the conjunction for the next one; as "last state" and the like, what
    follows the last one. A "line break" comes before the statements, a "reminder" before a person's
    state among them. Questions, each after a line break, are one a category and person, and then
    one a person about the whole state. `number` is the text before and after a statement's number,
    `values` are what the values are called as answers, `attributes` the same with their categories.
    """

    fragments: pa.Array
    first: dict[str, int]
    number: tuple[str, str]
    questions: pa.Array
    values: pa.Array
    attributes: pa.Array


def sentences_of(language: str) -> dict[str, Any]:
    """Return the templates of a language."""
    return read_language(language, "sentences")


@cache
def _environment_of(language: str) -> Any:
    """The environment in which the templates of a language's data file are rendered."""
    from jinja2 import Environment, StrictUndefined  # takes long, and readers of text need none

    environment: Any = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 (a prompt)
    environment.from_string = cache(environment.from_string)  # jinja2 compiles at each call
    macros = vars(environment.from_string(sentences_of(language)["macros"]).module)
    environment.globals.update({name: macros[name] for name in macros if name[0] != "_"})
    return environment


@cache
def template_of(category: str, kind: str, language: str = ENGLISH) -> Any:
    """The template of a clause of a puzzle: of a state, a condition, an update or a question."""
    return _environment_of(language).from_string(sentences_of(language)[category][kind])


@cache
def phrases(language: str = ENGLISH) -> _Phrases:
    """Return the fragments, rendered from the templates of a language's data file."""
    templates, slot = sentences_of(language), "\0"
    compiled = _environment_of(language).from_string
    person = compiled(templates["person"]).render(name=slot, states=slot).split(slot)
    statement = compiled(templates["statement"])
    whole = statement.render(number=slot, conditions=slot, updates=slot)
    before_number, after_number, between, end = whole.split(slot)

    def fill(sources: Sequence[str], name: str, words: Sequence[Sequence[str]]) -> list[str]:
        """Return each template with each of its words, by one template: to call each takes long."""
        loops = (
            f"{{% for {name} in words[{place}] %}}{source}{slot}{{% endfor %}}"
            for place, source in enumerate(sources)
        )
        filled: str = compiled("".join(loops)).render(words=words)
        return filled.split(slot)[:-1]

    asking = [templates[category]["question"] for category in CATEGORIES]
    asking.append(templates["state_question"])
    questions = fill(asking, "name", [PEOPLE] * len(asking))
    kinds = {
        "instruction": [
            templates["instruction"] + asked for asked in ("", templates.get("steps", ""))
        ],
        "line break": ["\n"],
        "name": [f"\n{person[0]}{name}{person[1]}" for name in PEOPLE],
        "reminder": [f"{templates['reminder']}{person[0]}{name}{person[1]}" for name in PEOPLE],
        "question": ["\n" + question for question in questions],
    }
    for kind, close in (("state", person[2]), ("condition", between), ("update", end + "\n")):
        forms = [[*forms_of(category, language).values()] for category in CATEGORIES]
        texts = fill([templates[category][kind] for category in CATEGORIES], "value", forms)
        kinds[kind] = [text + templates["conjunction"][kind] for text in texts]
        kinds[f"last {kind}"] = [text + close for text in texts]
    starts = offsets(np.array([len(texts) for texts in kinds.values()])).tolist()
    words = [word for category in CATEGORIES for word in vocabulary(category, language)]
    return _Phrases(
        fragments=arrow([text for texts in kinds.values() for text in texts]),
        first=dict(zip(kinds, starts, strict=False)),
        number=(before_number, after_number),
        questions=arrow(questions),
        values=arrow(words),
        attributes=arrow([f"{owner}: {word}" for owner, word in zip(_OWNERS, words, strict=True)]),
    )


def render(parts: Sequence[Puzzles], rows: Sequence[np.ndarray]) -> pa.Array:
    """Return the whole prompts of puzzles of one layout, those of each part in rows of its own."""
    wording = phrases(parts[0].layout.language)
    first = parts[0].layout.question_first
    order = (_question_lines, statements) if first else (statements, _question_lines)
    pieces = [
        Pieces(row, *kind(puzzles, wording))
        for kind in (_introductions, *order)
        for puzzles, row in zip(parts, rows, strict=True)
    ]
    ids, bounds = line_up(sum(map(len, rows)), pieces)
    most = int(max(np.diff(puzzles.first_statement).max() for puzzles in parts))
    # few sizes, so that they are made once
    texts = gather(_with_numbers(parts[0].layout.language, 1 << most.bit_length()), ids, bounds)
    return pc.utf8_rtrim(texts, "\n") if first else texts


@lru_cache(maxsize=8)
def _with_numbers(language: str, most: int) -> pa.Array:
    """Return the fragments of a language, and after them the numbers of up to `most` statements."""
    wording = phrases(language)
    before, after = wording.number
    numbers = arrow([f"{before}{t}{after}" for t in range(1, most + 1)])
    return pa.concat_arrays([wording.fragments, numbers])


def _introductions(puzzles: Puzzles, wording: _Phrases) -> tuple[np.ndarray, np.ndarray]:
    """Return the instruction and, one line per person, the initial state."""
    d, n, count = puzzles.initial_state.shape
    category = np.arange(d)[:, None, None]
    value = value_numbers(puzzles)[puzzles.initial_state, category, np.arange(count)]
    value = arrange(value, puzzles.state_place, axis=0)
    ids = np.empty((count, n * (1 + d) + 2), np.int64)
    ids[:, 0] = wording.first["instruction"] + puzzles.layout.steps
    ids[:, -1] = wording.first["line break"]
    sentences = ids[:, 1:-1].reshape(count, n, 1 + d)  # the same memory
    sentences[..., 0] = wording.first["name"] + puzzles.people.T.astype(np.int64)
    sentences[..., 1:] = states(value.T, wording)
    return ids.reshape(-1), np.arange(count + 1) * ids.shape[1]


def statements(puzzles: Puzzles, wording: _Phrases) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbered statements, a line each, with the reminders among them."""
    ids, ends = _numbered_lines(puzzles, wording)
    if puzzles.layout.reminder:
        every = np.arange(len(ends) - 1)
        kinds = [Pieces(every, ids, ends), reminders(puzzles, wording)]
        ids, ends = line_up(len(every), kinds)
    return ids, ends[puzzles.first_statement]


def reminders(puzzles: Puzzles, wording: _Phrases) -> Pieces:
    """Return lines with the PoI's state after some statements, but never after the last."""
    start, owner, every = puzzles.first_statement, puzzles.owner, puzzles.layout.reminder
    t = 1 + np.arange(start[-1]) - start[owner]
    row = np.flatnonzero((t % every == 0) & (t < np.diff(start)[owner]))
    puzzle, d = owner[row], len(puzzles.categories)
    place = puzzles.state_place[:, puzzles.poi[puzzle], puzzle].T
    value = value_numbers(puzzles)[puzzles.statements.poi_state[row], np.arange(d), puzzle[:, None]]
    ids = np.empty((len(row), d + 2), np.int64)
    person = puzzles.people[puzzles.poi[puzzle], puzzle].astype(np.int64)
    ids[:, 0] = wording.first["reminder"] + person
    ids[:, 1:-1] = states(arrange(value, place, axis=1), wording)
    ids[:, -1] = wording.first["line break"]
    return Pieces(row, ids.reshape(-1), np.arange(len(row) + 1) * (d + 2))


def _numbered_lines(puzzles: Puzzles, wording: _Phrases) -> tuple[np.ndarray, np.ndarray]:
    """Return the statements of all puzzles, a line each."""
    made, owner, numbers = puzzles.statements, puzzles.owner, value_numbers(puzzles)
    ends = offsets(1 + made.k.astype(np.int64) + made.m)
    ids, start = np.empty(ends[-1], np.int32), ends[:-1]
    ids[start] = len(wording.fragments) + np.arange(len(owner)) - puzzles.first_statement[owner]
    for kind, count, place, position in (
        ("condition", made.k, made.condition_place, made.condition_value),
        ("update", made.m, made.update_place, made.update_value),
    ):
        followed, last = wording.first[kind], wording.first[f"last {kind}"]
        for category in range(place.shape[1]):
            row = np.flatnonzero(place[:, category] < count)
            value = numbers[position[row, category], category, owner[row]]
            ids[start[row] + 1 + place[row, category]] = value + followed
        start = start + count
        ids[start] += last - followed
    return ids, ends


def _question_lines(puzzles: Puzzles, wording: _Phrases) -> tuple[np.ndarray, np.ndarray]:
    """Return the questions, each below an empty line, and above one if it comes first."""
    width = 3 if puzzles.layout.question_first else 1
    ids = np.full((len(puzzles.poi), width), wording.first["line break"])
    ids[:, 0] = wording.first["question"] + question_numbers(puzzles)
    return ids.reshape(-1), np.arange(len(ids) + 1) * width


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


def states(value: np.ndarray, wording: _Phrases) -> np.ndarray:
    """Return the fragments of states, whose values (numbers) stand along the last axis."""
    ids = value + wording.first["state"]
    ids[..., -1] += wording.first["last state"] - wording.first["state"]
    return ids


def value_numbers(puzzles: Puzzles) -> np.ndarray:
    """Return the number of each value of the domains (values x d x puzzle)."""
    return FIRST_VALUES[puzzles.categories] + puzzles.domains


# --- turn by turn


def turns_of(row: Row, k: int, late: bool = False) -> Iterator[Turn]:
    """Yield the turns of a puzzle, `k` statements each, the rest in the last one.

    `row` is one of the twin question=state. With `late`, each turn but the last asks about a person
    whom the puzzle's id and the turn's number draw. ValueError for a `k` that is no integer above
    0.
    """
    if type(k) is not int or k < 1:
        raise ValueError(f"k must be an integer of at least 1, got {k!r}")
    solution, text = solve_steps(row["puzzle"]), row["puzzle"].split("\n")
    first = next(i for i, line in enumerate(text) if line.startswith("1. "))
    beginning, lines = "\n".join(text[:first]), text[first : first + len(solution.statements)]
    question = _environment_of(ENGLISH).from_string(sentences_of(ENGLISH)["turn_question"])
    half, planted = planted_turn(-(-len(lines) // k)), {}
    for number, start in enumerate(range(0, len(lines), k)):
        people, person = solution.states[min(start + k, len(lines))], solution.poi
        if late and start + k < len(lines):
            person = [*people][address_key(row["id"], number) % len(people)]
        state = {category: people[person][category] for category in attributes(row["answer"])}
        if number <= half:
            planted = _with_error(state, row) if number == half else state
        else:
            for conditions, updates in solution.statements[start : start + k]:
                planted = planted | updates if conditions.items() <= planted.items() else planted
        message = [*([] if start else [beginning]), *lines[start : start + k]]
        yield Turn(
            "\n".join([*message, "", question.render(name=person)]),
            *(_listed(state), sentence(person, state)),
            *(_listed(planted), sentence(person, planted)),
            person,
            "\n".join(sentence(*each) for each in people.items()),
        )


def _with_error(state: dict[str, str], row: Row) -> dict[str, str]:
    """Return a state with another value of one attribute, the next in its value domain."""
    category = list(state)[row["index"] % len(state)]
    pairs = [option.partition(": ") for option in row["options"]]
    domain = [value for owner, _, value in pairs if owner == category]
    after = (domain.index(state[category]) + 1) % len(domain)
    return state | {category: domain[after]}


def _listed(state: dict[str, str]) -> str:
    """Return a state as a row's answer gives it."""
    return ", ".join(f"{category}: {value}" for category, value in state.items())


def sentence(person: str, state: dict[str, str]) -> str:
    """Return the sentence that gives a person's state, as at the beginning of a puzzle."""
    templates = sentences_of(ENGLISH)
    clauses = [template_of(name, "state").render(value=value) for name, value in state.items()]
    template = _environment_of(ENGLISH).from_string(templates["person"])
    return template.render(name=person, states=templates["conjunction"]["state"].join(clauses))

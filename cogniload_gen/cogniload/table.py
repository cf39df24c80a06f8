"""Grid -> tables of puzzles: the stages one after the other, in batches that keep memory flat."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.checks import check_choice, check_flag
from cogniload_gen.cogniload.alone import make_alone
from cogniload_gen.cogniload.knobs import TRACES
from cogniload_gen.cogniload.ontology import CATEGORIES, PEOPLE, STATE
from cogniload_gen.cogniload.render import arrange, phrases, question_numbers, render, value_numbers
from cogniload_gen.cogniload.simulate import Puzzles, simulate
from cogniload_gen.cogniload.traces import with_traces
from cogniload_gen.cogniload.twins import lay_out, make_twins
from cogniload_gen.grid import Batch, Grid, Source, split_twin, whole_table
from cogniload_gen.text import arrow, lists, offsets

_text, _texts = pa.string(), pa.list_(pa.string())
_settings = pa.list_(pa.struct({"category": _text, "value": _text}))

SCHEMA = pa.schema(
    {
        "id": _text, "d": pa.int64(), "N": pa.int64(), "rho": pa.float64(), "needles": pa.int64(),
        "seed": pa.int64(), "index": pa.int64(), "puzzle": _text, "question": _text,
        "answer": _text, "category": _text, "poi": _text, "people": _texts, "options": _texts,
    }
)  # fmt: skip
"""The columns of a table of puzzles."""

TRACE_SCHEMA = pa.schema(
    {
        "categories": _texts,
        "domains": pa.list_(_texts),
        "initial_state": pa.list_(_texts),
        "statements": pa.list_(
            pa.struct(
                {"type": _text, "reference": _text, "conditions": _settings, "updates": _settings}
            )
        ),
        "poi_states": pa.list_(_texts),
    }
)
"""The further columns of `trace=True`."""

_NAMES, _CATEGORIES, _TYPES = arrow(PEOPLE), arrow(CATEGORIES), arrow(["hay", "needle"])


BATCH_STATEMENTS = 2_000_000
BATCH_PUZZLES = 16_000
"""What is simulated side by side at most, which with the rendering takes some 400 MB."""

SHORT = 250
"""Up to as many statements, one puzzle is made faster in plain Python."""

TABLE_CLAUSES = 500_000
"""Clauses that are rendered into one table, about 12 MB of text."""


def cogniload_source(selection: Grid, *, trace: bool = False, traces: Any = None) -> Source:
    """Return the CogniLoad puzzles of a selection, with the columns of `trace` and of `traces`.

    ValueError if `trace` is not True or False, or `traces` not None, True ("chat") or a form.
    """
    schema = pa.schema([*SCHEMA, *TRACE_SCHEMA]) if check_flag("trace", trace) else SCHEMA
    change, number = split_twin(selection.twin or "")
    hay = number if change == "hay" else 0  # of the twins, this one alone may be longer
    lengths = [max(cell.N, cell.needles + hay) for cell in selection.cells]
    size = max(1, min(BATCH_PUZZLES, BATCH_STATEMENTS * len(lengths) // sum(lengths)))
    source = Source(selection, schema, partial(_batch_tables, selection, schema), size)
    if traces in (None, False):
        return source
    form = check_choice("traces", "chat" if traces is True else traces, TRACES.choices)
    return with_traces(source, form)


def _batch_tables(selection: Grid, schema: pa.Schema, batch: Batch) -> Iterator[pa.Table]:
    """Yield the puzzles of one batch, in tables of about TABLE_CLAUSES."""
    one, *others = batch.cells
    if not others and one.N <= SHORT and schema is SCHEMA and selection.twin is None:
        columns = make_alone(batch.keys, one, selection.language, selection.steps)
        yield whole_table(selection, batch, schema, columns)
        return
    d, N, needles = np.array([(cell.d, cell.N, cell.needles) for cell in batch.cells]).T
    # those of each difficulty are simulated together, and put back into their rows afterwards
    rows = {level: np.flatnonzero(d == level) for level in sorted({*d.tolist()})}
    puzzles: dict[int, Puzzles] = {}
    for level, row in rows.items():
        made = simulate(batch.keys[row], level, N[row], needles[row])
        puzzles[level] = lay_out(made, language=selection.language, steps=selection.steps)
        if selection.twin is not None:
            puzzles[level] = make_twins(puzzles[level], selection.twin, batch.keys[row])
            N[row] = np.diff(puzzles[level].first_statement)

    clauses = N * (d + 2) + np.maximum(d, 2) * (d + 1)
    size = max(1, int(TABLE_CLAUSES / clauses.mean()))
    for start in range(0, len(batch.cells), size):
        stop = min(start + size, len(batch.cells))
        parts, places = [], []
        for level, row in rows.items():
            first, last = np.searchsorted(row, [start, stop])
            if first < last:
                parts.append(puzzles[level].part(first, last))
                places.append(row[first:last] - start)
        trace = schema is not SCHEMA
        tables = [pa.table(contents(part) | (steps(part) if trace else {})) for part in parts]
        whole = tables[0]
        if len(tables) > 1:
            whole = pa.concat_tables(tables).take(arrow(np.argsort(np.concatenate(places))))
        columns = dict(zip(whole.column_names, whole.columns, strict=True))
        columns["puzzle"] = render(parts, places)
        done = Batch(batch.cells[start:stop], batch.indices[start:stop], batch.keys[start:stop])
        yield whole_table(selection, done, schema, columns)


def contents(puzzles: Puzzles) -> dict[str, pa.Array]:
    """Return the number of needles, the question, who and what it is about, and the answer."""
    puzzle, question = np.arange(len(puzzles.poi)), puzzles.question
    start, needle = puzzles.first_statement, puzzles.statements.needle
    domain = value_numbers(puzzles)[:, question, puzzle]
    final = puzzles.statements.poi_state[start[1:] - 1, question]
    wording = phrases(puzzles.layout.language)
    columns = {
        "needles": arrow(np.add.reduceat(needle, start[:-1], dtype=np.int64)),
        "question": wording.questions.take(arrow(question_numbers(puzzles))),
        "answer": wording.values.take(arrow(domain[final, puzzle])),
        "category": _CATEGORIES.take(arrow(puzzles.categories[question, puzzle])),
        "poi": _NAMES.take(arrow(puzzles.people[puzzles.poi, puzzle])),
        "people": _nest(_NAMES, puzzles.people.T),
        "options": _nest(wording.values, domain.T, puzzles.domain_size[question, puzzle]),
    }
    return columns | whole_state(puzzles) if puzzles.layout.whole_state else columns


def whole_state(puzzles: Puzzles) -> dict[str, pa.Array]:
    """Return what the question about all of the PoI's attributes is about, and the answer.

    Answer and options name the category of each value.
    """
    count, number = len(puzzles.poi), value_numbers(puzzles)
    puzzle, category = np.arange(count), np.arange(len(puzzles.categories))
    final = puzzles.statements.poi_state[puzzles.first_statement[1:] - 1]
    place = puzzles.state_place[:, puzzles.poi, puzzle].T
    values = arrange(number[final, category, puzzle[:, None]], place, axis=1)
    size = puzzles.domain_size.T[:, :, None]
    options = number.T[np.arange(len(number)) < size]
    ends = offsets(puzzles.domain_size.sum(axis=0))
    attributes = phrases(puzzles.layout.language).attributes
    return {
        "answer": pc.binary_join(_nest(attributes, values), ", "),
        "category": arrow([STATE] * count),
        "options": lists(ends, attributes.take(arrow(options))),
    }


def steps(puzzles: Puzzles) -> dict[str, pa.Array]:
    """Return the puzzle's elements, its statements and the PoI's state after each."""
    made, owner, start = puzzles.statements, puzzles.owner, puzzles.first_statement
    d, n, count = puzzles.initial_state.shape
    number, category = value_numbers(puzzles), np.arange(d)
    words = phrases(puzzles.layout.language).values
    domains = _nest(words, number.T.reshape(count * d, -1), puzzles.domain_size.T.reshape(-1))
    initial = number[puzzles.initial_state, category[:, None, None], np.arange(count)]
    initial_state = _nest(words, initial.T.reshape(count * n, d))
    poi_states = number[made.poi_state, category, owner[:, None]]
    statements = pa.StructArray.from_arrays(
        [
            _TYPES.take(arrow(made.needle)),
            _NAMES.take(arrow(puzzles.people[made.reference, owner])),
            settings(puzzles, made.condition_place, made.condition_value, made.k),
            settings(puzzles, made.update_place, made.update_value, made.m),
        ],
        names=["type", "reference", "conditions", "updates"],
    )
    return {
        "categories": _nest(_CATEGORIES, puzzles.categories.T),
        "domains": lists(np.arange(count + 1) * d, domains),
        "initial_state": lists(np.arange(count + 1) * n, initial_state),
        "statements": lists(start, statements),
        "poi_states": lists(start, _nest(words, poi_states)),
    }


def settings(
    puzzles: Puzzles, place: np.ndarray, position: np.ndarray, count: np.ndarray
) -> pa.ListArray:
    """Return the categories and values of the statements' first `count` conditions or updates."""
    owner, category = puzzles.owner, np.arange(place.shape[1])
    numbers = value_numbers(puzzles)[position, category, owner[:, None]]
    values = arrange(numbers, place, axis=1)
    categories = arrange(puzzles.categories.T[owner], place, axis=1)
    used = np.arange(place.shape[1]) < count[:, None]
    words = phrases(puzzles.layout.language).values
    parts = _CATEGORIES.take(arrow(categories[used])), words.take(arrow(values[used]))
    return lists(offsets(count), pa.StructArray.from_arrays(parts, names=["category", "value"]))


def _nest(table: pa.Array, ids: np.ndarray, count: np.ndarray | None = None) -> pa.ListArray:
    """Return lists of entries of `table`: row i has the first count[i] of ids[i], or all."""
    rows, width = ids.shape
    count = np.full(rows, width) if count is None else count
    used = ids[np.arange(width) < count[:, None]]
    return lists(offsets(count), table.take(arrow(used)))

"""From a task's parameters to its puzzles, made or published, whichever harness runs it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from datasets import load_dataset

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import PREFIX, Benchmark
from cogniload_gen.checks import check_choice, check_known
from cogniload_gen.context_budget import read_context_budget
from cogniload_gen.files import naming

Values = Mapping[str, Any]
"""The values of parameters, by name."""

SELECTION: dict[str, Any] = {"path": None, "name": None, "split": None}
"""The parameters of a task on a published split, with their defaults."""

HELD_OUT = ("test", "validation")
"""The splits that a model can be evaluated on; those of puzzles for training are refused."""

EACH = "each"
"""The `twin` of a task whose puzzles stand each with its twins."""


def make_puzzles(
    dataset: str, defaults: Values, changes: Values, *, grids: Sequence[Values], task: str
) -> pa.Table:
    """Return the puzzles of a task, with the column `context_budget`: prompt's and response's.

    `dataset` is the name that `load_dataset` takes, and `defaults` are the task's parameters; those
    in `changes` take their place. Where the task has several `grids`, each adds its own
    parameters to these, and the puzzles of all follow each other. With a `path` there, the
    puzzles are those that were published there. If the task's `twin` is "each", its puzzles stand
    each before the twins that tell the causes of a failure apart. ValueError names an unknown or
    wrong parameter of `task`, what it got and what it takes.
    """
    known = benchmarks.datasets()[dataset]
    takes = parameters_of(dataset, defaults, changes)
    check_known(changes, tuple(takes), task)
    parameters = takes | dict(changes)
    context_budget = read_context_budget(parameters.pop("context_budget"))
    if "path" not in changes:
        check_choice("split", parameters["split"], HELD_OUT)
    if "path" in changes:
        benchmark, _ = known.choose({"suite": defaults["suite"]} if known.suites else {})
        puzzles = published_puzzles(benchmark, **parameters)
    elif parameters.get("twin") == EACH == defaults.get("twin"):
        source = known.puzzles(**parameters | {"twin": None})
        rows = []
        for row in source.table().to_pylist():
            benchmark = benchmarks.of(row)
            twins = (benchmark.remake(row, change) for change in benchmark.changes_to_try(row))
            rows += [row, *twins]
        puzzles = pa.Table.from_pylist(rows, source.schema)
    else:
        each = (known.puzzles(**parameters | dict(grid)) for grid in grids)
        puzzles = pa.concat_tables(source.table() for source in each)
    budgets = pa.array([context_budget] * len(puzzles), pa.int64())
    return puzzles.append_column("context_budget", budgets)


def parameters_of(dataset: str, defaults: Values, changes: Values) -> dict[str, Any]:
    """Return what a task takes, with the defaults: its own, or those of a published split.

    Its own, the changes of its dataset's puzzles (a twin, a language), and the split.
    """
    if "path" in changes:
        return SELECTION | {"context_budget": defaults["context_budget"]}
    known = benchmarks.datasets()[dataset]
    changes_of = {knob.name: knob.default for one in known.benchmarks for knob in one.changes}
    return {**defaults, **changes_of, "split": HELD_OUT[0], **defaults}


def published_puzzles(
    benchmark: Benchmark, path: str, name: str | None = None, split: str | None = None
) -> pa.Table:
    """Return the puzzles of a published split.

    `path` is a folder, or a repository on the Hub (user/name), `name` the configuration and `split`
    the split; they must be said where there are several. The columns are the benchmark's, and
    PREFIX if it is there: others are left out, and lacking ones are null unless a run needs them.
    Raises ValueError, in one line, if the rows can't be loaded, lack a value that a run needs, or
    have values of other types.
    """
    with naming(f"path {path!r} can't be loaded", Exception):  # strangers' files fail in many ways
        splits = load_dataset(path, name)
    if split is None and len(splits) == 1:
        (split,) = splits
    if not isinstance(split, str) or split not in splits:
        raise ValueError(f"split of {path!r} must be one of {', '.join(splits)}; got {split!r}")
    table = splits[split].with_format("arrow")[:]
    columns, schema = {}, benchmark.puzzles().schema
    if PREFIX in table.column_names:
        schema = schema.append(pa.field(PREFIX, pa.string()))
    needed = {"id", "puzzle", "answer", *benchmark.needed}
    for field in schema:
        column = table[field.name] if field.name in table.column_names else pa.nulls(len(table))
        if field.name in needed and column.null_count:
            raise ValueError(f"{field.name} of {path!r} must have a value in every row")
        with naming(f"{field.name} of {path!r} must be {field.type}", pa.ArrowException):
            columns[field.name] = column.cast(field.type)
    if len(columns["id"].unique()) < len(table):
        raise ValueError(f"id of {path!r} must differ in every row")
    return pa.table(columns, schema)

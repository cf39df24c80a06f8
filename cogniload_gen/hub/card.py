"""Published configurations -> the card, Croissant file and eval.yaml of their repository.

The card's metadata holds, under `puzzles`, the parameters of every set: what `cogniload verify`
makes the rows again from, and what a later push adds its own to.
"""

import json
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from tomllib import loads
from typing import Any

import pyarrow as pa
from huggingface_hub import DatasetCard, DatasetCardData, metadata_load
from jinja2 import Environment, PackageLoader, StrictUndefined
from yaml import YAMLError

from cogniload_gen.benchmark import Benchmark
from cogniload_gen.files import MALFORMED
from cogniload_gen.grid import ENGLISH
from cogniload_gen.shards import Configuration, read_entry, splits_of

CANARY = "COGNILOAD BENCHMARK DATA, NOT FOR TRAINING: GUID 8c1f6a52-3e0d-4f7b-9b64-d2a7c05e91f3"
"""Stands in the card and the Croissant file of all that is published, but for train splits alone.

A corpus that holds it holds published puzzles, or a page about them, and a model that completes it
has seen them. The puzzles themselves don't carry it, since a prompt is the paper's text alone. It
never changes.
"""

DATA = files(__package__) / "data"
TEMPLATES = Environment(
    loader=PackageLoader(__package__, "data"), undefined=StrictUndefined, autoescape=True
)
TEMPLATES.policies["json.dumps_kwargs"] = {"sort_keys": False}

BOUNDS = *(f"{ones}{unit}" for unit in "KMB" for ones in (1, 10, 100)), "1T"
SIZES = "n<1K", *(f"{low}<n<{high}" for low, high in pairwise(BOUNDS)), "n>1T"
"""The Hub's categories of size, each ten times the one before."""


SAMPLE_LINES = 60
"""Lines of the card's sample puzzle beyond which it is cut in the middle."""

FIXED = loads(DATA.joinpath("card.toml").read_text("utf-8"))
"""What is the same in each card and each eval.yaml."""

CROISSANT_TYPES = {pa.string(): "sc:Text", pa.int64(): "sc:Integer", pa.float64(): "sc:Float"}


def dataset_card(repo: str, configurations: list[Configuration]) -> DatasetCard:
    """Return the card of a repository (user/name) that holds the configurations."""
    words = benchmark_words(configurations)
    rows = sum(len(puzzles.selection(split)) for puzzles, split in splits_of(configurations))
    made = (puzzles.parameters.get("language", ENGLISH) for puzzles in configurations)
    own: dict[str, list[Any]] = {"language": list(dict.fromkeys(made))}
    if len(own["language"]) > 1:
        own["multilinguality"] = ["translation"]
    data = DatasetCardData(
        **FIXED["metadata"] | own,
        pretty_name=" and ".join(about["name"] for about in words),
        size_categories=[SIZES[max(0, len(str(rows)) - 3)]],
        tags=list(dict.fromkeys(tag for about in words for tag in about["tags"])),
        configs=card_configs(configurations),
        puzzles=[puzzles.entry() for puzzles in configurations],
    )
    return DatasetCard.from_template(
        data,
        template_str=DATA.joinpath("card.md").read_text("utf-8"),
        repo=repo,
        configurations=configurations,
        benchmarks=words,
        example=example(configurations),
        call=call,
        canary=canary(configurations),
    )


def canary(configurations: list[Configuration]) -> str:
    """Return the mark of what must not be trained on; an empty string if all is of train."""
    return CANARY if any(set(puzzles.splits) - {"train"} for puzzles in configurations) else ""


def card_configs(configurations: list[Configuration]) -> list[dict]:
    """Return what `datasets` and the Hub's viewer read: the files of every set's splits."""
    return [
        {
            "config_name": puzzles.name,
            "data_files": [
                {"split": split, "path": data_files(puzzles, split)} for split in puzzles.splits
            ],
        }
        for puzzles in configurations
    ]


def data_files(puzzles: Configuration, split: str) -> str:
    """Return the pattern of a split's files within the repository."""
    return f"{puzzles.name}/{split}-*.parquet"


def benchmark_words(configurations: list[Configuration]) -> list[dict]:
    """Return the cards' texts of the benchmarks, each once, with the columns that they have."""
    columns: dict[Benchmark, dict[str, None]] = {}
    for puzzles in configurations:
        columns.setdefault(puzzles.benchmark, {}).update(dict.fromkeys(puzzles.schema.names))
    return [
        benchmark.words
        | {"name": benchmark.title}
        | {"columns": {column: benchmark.words["columns"][column] for column in has}}
        for benchmark, has in columns.items()
    ]


def summary(words: list[dict]) -> str:
    """Return the benchmarks' summaries, one after the other."""
    return " ".join(about["summary"].strip() for about in words)


def call(puzzles: Configuration, split: str) -> str:
    """Return the arguments with which our `load_dataset` makes a split."""
    suite = {} if puzzles.benchmark.suite is None else {"suite": puzzles.benchmark.suite}
    named = suite | puzzles.parameters | {"split": split}
    dataset = json.dumps(puzzles.benchmark.dataset)
    return ", ".join([dataset, *(f"{name}={value!r}" for name, value in named.items())])


def example(configurations: list[Configuration]) -> dict:
    """Return a puzzle that this generator makes; of a long one, its start and its end.

    It is of a configuration without a tokenizer if there is one, since a tokenizer must be loaded.
    """
    made = [grid for grid in configurations if grid.generator_version == grid.benchmark.version]
    puzzles = next((grid for grid in made if not grid.options.get("tokenizer")), made[0])
    (first,) = puzzles.source(puzzles.splits[0]).tables(0, 1)
    (row,) = first.select(["puzzle", "answer"]).to_pylist()
    lines = row["puzzle"].split("\n")
    if len(lines) > SAMPLE_LINES:
        lines[SAMPLE_LINES - 10 : -5] = ["..."]
    return row | {"puzzle": "\n".join(lines)}


def read_card(card: Path, source: str) -> list[Configuration]:
    """Return the configurations that the card of a source lists; ValueError if it is not ours."""
    try:
        entries = (metadata_load(card) or {}).get("puzzles") or [None]
        return [read_entry(entry) for entry in entries]
    except (*MALFORMED, YAMLError) as error:
        what = "has a card that `cogniload push` did not write"
        raise ValueError(f"{source} {what}: {error!s:.600}") from None


def croissant(repo: str, configurations: list[Configuration]) -> dict:
    """Return the Croissant description (MLCommons, 1.0) of a repository.

    Of each split it describes the columns of numbers, texts and lists of them; what `trace` adds
    as lists within lists has no place in Croissant 1.0.
    """
    words = benchmark_words(configurations)
    made = TEMPLATES.get_template("croissant.json").render(
        name=repo.rpartition("/")[2],
        description=f"{summary(words)} {canary(configurations)}",
        url=f"https://huggingface.co/datasets/{repo}",
        version=max(puzzles.generator_version for puzzles in configurations),
        tags=list(dict.fromkeys(tag for about in words for tag in about["tags"])),
        citation=" ".join(" ".join(dict.fromkeys(about["citation"] for about in words)).split()),
        splits=splits_of(configurations),
        data_files=data_files,
        columns=croissant_columns,
    )
    return dict(json.loads(made))


def croissant_columns(puzzles: Configuration) -> list[dict]:
    """Return what Croissant says of the columns of a configuration that it has types for."""
    (words,) = benchmark_words([puzzles])
    return [
        {
            "name": column.name,
            "description": words["columns"][column.name],
            "type": CROISSANT_TYPES[element(column.type)],
            "repeated": pa.types.is_list(column.type),
        }
        for column in puzzles.schema
        if not pa.types.is_nested(element(column.type))
    ]


def evaluation(configurations: list[Configuration]) -> dict:
    """Return the eval.yaml of a repository, by which the Hub shows a benchmark and Inspect runs it.

    A task is the test split of a configuration; without any there is nothing to evaluate. Inspect
    takes no scorers but its own from a file: each benchmark names the nearest to its rules.
    """
    words = benchmark_words(configurations)
    made = TEMPLATES.get_template("evaluation.json").render(
        name=" and ".join(about["name"] for about in words),
        description=f"{summary(words)} {FIXED['nearest_scorer']}",
        configurations=[puzzles for puzzles in configurations if "test" in puzzles.splits],
    )
    return dict(json.loads(made))


def element(kind: pa.DataType) -> pa.DataType:
    """Return the type of a list's values, or the type itself."""
    return kind.value_type if pa.types.is_list(kind) else kind

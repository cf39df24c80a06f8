"""Published configurations -> the card and eval.yaml of their repository.

The card's metadata holds, under `puzzles`, the parameters of every set: what `cogniload verify`
makes the rows again from, and what a later push adds its own to.
"""

import json
from collections import defaultdict
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

from huggingface_hub import DatasetCard, DatasetCardData, metadata_load
from yaml import YAMLError

from cogniload_gen.benchmark import Benchmark
from cogniload_gen.files import naming, read_words
from cogniload_gen.shards import Configuration, read_entry, splits_of

CANARY = "COGNILOAD BENCHMARK DATA, NOT FOR TRAINING: GUID 8c1f6a52-3e0d-4f7b-9b64-d2a7c05e91f3"
"""Stands in the card of all that is published, but for train splits alone.

A corpus that holds it holds published puzzles, or a page about them, and a model that completes it
has seen them. The puzzles themselves don't carry it, since a prompt is the paper's text alone. It
never changes.
"""

DATA = files(__package__) / "data"

BOUNDS = *(f"{ones}{unit}" for unit in "KMB" for ones in (1, 10, 100)), "1T"
SIZES = "n<1K", *(f"{low}<n<{high}" for low, high in pairwise(BOUNDS)), "n>1T"
"""The Hub's categories of size, each ten times the one before."""

# Lines of the card's sample puzzle beyond which it is cut in the middle.
_SAMPLE_LINES = 60

# What is the same in each card and each eval.yaml.
_FIXED = read_words(__package__, "card")


def data_files(puzzles: Configuration, split: str) -> str:
    """Return the pattern of a split's files within the repository."""
    return f"{puzzles.name}/{split}-*.parquet"


def dataset_card(repo: str, configurations: list[Configuration]) -> DatasetCard:
    """Return the card of a repository (user/name) that holds the configurations."""
    about = _about(configurations)
    languages = list(dict.fromkeys(puzzles.grid.language for puzzles in configurations))
    translated = {"multilinguality": ["translation"]} if len(languages) > 1 else {}
    rows, paths = 0, defaultdict[str, list[dict[str, str]]](list)
    for puzzles, split in splits_of(configurations):
        rows += len(puzzles.grid)
        paths[puzzles.name].append({"split": split, "path": data_files(puzzles, split)})
    data = DatasetCardData(
        **_FIXED["metadata"] | {"language": languages} | translated,
        pretty_name=about["name"],
        size_categories=[SIZES[max(0, len(str(rows)) - 3)]],
        tags=about["tags"],
        configs=[{"config_name": name, "data_files": own} for name, own in paths.items()],
        puzzles=[puzzles.entry() for puzzles in configurations],
    )
    return DatasetCard.from_template(
        data,
        template_str=DATA.joinpath("card.md").read_text("utf-8"),
        repo=repo,
        configurations=configurations,
        example=_example(configurations),
        call=_call,
        **about,
    )


def evaluation(configurations: list[Configuration]) -> dict:
    """Return the eval.yaml of a repository, by which the Hub shows a benchmark and Inspect runs it.

    A task is the test split of a configuration; without any there is nothing to evaluate. Inspect
    takes no scorers but its own from a file: each benchmark names the nearest to its rules.
    """
    about = _about(configurations)
    tasks = [
        {
            "id": puzzles.name,
            "config": puzzles.name,
            "split": "test",
            "field_spec": _FIXED["field_spec"]
            | {"metadata": ["id", *puzzles.benchmark.cell._fields]},
            "solvers": [{"name": "generate"}],
            "scorers": [puzzles.benchmark.words.get("scorer", {"name": "includes"})],
        }
        for puzzles in configurations
        if "test" in puzzles.splits
    ]
    description = f"{about['summary']} {_FIXED['nearest_scorer']}"
    own = {"evaluation_framework": "inspect-ai", "tasks": tasks}
    return {"name": about["name"], "description": description} | own


def read_card(card: Path, source: str) -> list[Configuration]:
    """Return the configurations that the card of a source lists; ValueError if it is not ours."""
    with naming(f"{source} has a card that `cogniload push` did not write", YAMLError):
        entries = (metadata_load(card) or {}).get("puzzles") or [None]
        return [read_entry(entry) for entry in entries]


def _about(configurations: list[Configuration]) -> dict[str, Any]:
    """Return what the files share: the benchmarks, each once, with the columns that they have."""
    columns: dict[Benchmark, dict[str, None]] = {}
    for puzzles in configurations:
        columns.setdefault(puzzles.benchmark, {}).update(dict.fromkeys(puzzles.schema.names))
    words = [
        benchmark.words
        | {"name": benchmark.title}
        | {"columns": {column: benchmark.words["columns"][column] for column in has}}
        for benchmark, has in columns.items()
    ]
    for_training = all(puzzles.splits == ("train",) for puzzles in configurations)
    return {
        "benchmarks": words,
        "name": " and ".join(each["name"] for each in words),
        "summary": " ".join(each["summary"].strip() for each in words),
        "tags": list(dict.fromkeys(tag for each in words for tag in each["tags"])),
        "canary": "" if for_training else CANARY,
    }


def _call(puzzles: Configuration, split: str) -> str:
    """Return the arguments with which our `load_dataset` makes a split."""
    suite = {} if puzzles.benchmark.suite is None else {"suite": puzzles.benchmark.suite}
    named = suite | puzzles.parameters | {"split": split}
    dataset = json.dumps(puzzles.benchmark.dataset)
    return ", ".join([dataset, *(f"{name}={value!r}" for name, value in named.items())])


def _example(configurations: list[Configuration]) -> dict:
    """Return a puzzle that this generator makes; of a long one, its start and its end.

    It is of a configuration without a tokenizer if there is one, since a tokenizer must be loaded.
    """
    made = [each for each in configurations if each.grid.version == each.benchmark.version]
    puzzles = next((each for each in made if not each.grid.options.get("tokenizer")), made[0])
    row = next(puzzles.source(puzzles.grid.split).rows())
    lines = row["puzzle"].split("\n")
    if len(lines) > _SAMPLE_LINES:
        lines[_SAMPLE_LINES - 10 : -5] = ["..."]
    return {"puzzle": "\n".join(lines), "answer": row["answer"]}

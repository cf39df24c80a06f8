"""A grid -> a repository on the Hub: Parquet files, a card, a Croissant file, an eval.yaml.

Everything that is uploaded is a pure function of the configurations that the repository then holds.
So the same push again completes an upload that was interrupted.
"""

import json
import logging
import re
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from reprlib import repr as brief
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from huggingface_hub import HfApi, errors, get_token
from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Knob
from cogniload_gen.checks import Given
from cogniload_gen.configurations import (
    Configuration,
    configuration_of,
    knobs_of_product,
    merge,
    schema_of,
)
from cogniload_gen.files import whole_folder
from cogniload_gen.grid import ENGLISH, SPLITS, Grid, language_of
from cogniload_gen.hub.card import croissant, data_files, dataset_card, evaluation, read_card
from cogniload_gen.hub.exceptions import hub_errors
from cogniload_gen.hub.verify import REPOSITORY, first_difference
from cogniload_gen.tables import SHARED, row_groups

if TYPE_CHECKING:
    from datasets import Dataset

log = logging.getLogger(__name__)

FILE_BYTES = 500_000_000
"""Bytes of rows in a file, before compression: what `datasets` takes for a shard."""

BATCH_ROWS = 1000


def push(
    puzzles: "Grid | Dataset",
    repo: str,
    *,
    private: bool = False,
    dry_run: Path | str | None = None,
    **options: Given,
) -> str:
    """Publish puzzles in the dataset repository `repo` (user/name); the URL of the commit.

    `puzzles` is a grid (`Benchmark.select`), with `trace=True` for the columns of the trace, or a
    `datasets.Dataset` that holds a whole grid's rows: its parameters are read from its columns, and
    every row must be as the generator makes it. A missing repository is created. A grid is
    a configuration in it; other grids and splits that were pushed before stay. With `dry_run`,
    writes there the folder that would be uploaded and returns its path. The same push again
    completes one that was interrupted.

    Raises ValueError for other rows, or if the repository has a card that is not ours or is public
    and `private` is true, FileExistsError if `dry_run` exists, OSError in one line if the Hub
    can't be reached or refuses.
    """
    if not REPOSITORY.fullmatch(repo):
        raise ValueError(f"the repository must be user/name, got {brief(repo)}")
    is_dataset = hasattr(puzzles, "unique")  # which a stream has not
    new = (configuration_of_dataset if is_dataset else configuration_of)(puzzles, **options)
    if dry_run is not None:
        with whole_folder(Path(dry_run)) as folder:
            write_folder(folder, repo, new, merge(configurations_if_reached(repo), new))
        return str(dry_run)
    if get_token() is None:
        raise PermissionError(f"{repo}: no token for the Hub: run `hf auth login` or set HF_TOKEN")
    api = HfApi()
    with hub_errors(repo):
        api.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
        info = api.dataset_info(repo)
        if private and not info.private:
            raise ValueError(f"{repo} exists and is public: --private is for a new one")
        published = configurations_at(repo, info.sha)
    with tempfile.TemporaryDirectory(prefix="cogniload-push-") as temporary:
        write_folder(Path(temporary), repo, new, merge(published, new))
        with hub_errors(repo):
            return api.upload_folder(
                repo_id=repo,
                repo_type="dataset",
                folder_path=temporary,
                commit_message=f"Add {new.name}, {new.splits[0]}",
                parent_commit=info.sha,
                # another release may have cut the same rows into more files
                delete_patterns=[data_files(new, split) for split in new.splits],
            ).commit_url


def configurations_at(repo: str, revision: str | None) -> list[Configuration]:
    """Return what a repository holds at a revision, by its card; nothing if it has no card.

    Raises ValueError if the card is not ours: it is not for us to replace.
    """
    try:
        card = HfApi().hf_hub_download(repo, "README.md", repo_type="dataset", revision=revision)
    except errors.LocalEntryNotFoundError:  # not reached, which is one of the next kind too
        raise
    except errors.EntryNotFoundError:
        return []
    return read_card(Path(card), repo)


def configurations_if_reached(repo: str) -> list[Configuration]:
    """Return what a repository holds now; nothing, with a logged warning, without the Hub."""
    try:
        with hub_errors(repo), suppress(errors.RepositoryNotFoundError):
            return configurations_at(repo, HfApi().dataset_info(repo).sha)
    except OSError as error:
        log.warning("written as for a new repository: %s", error)
    return []


def write_folder(folder: Path, repo: str, new: Configuration, grids: list[Configuration]) -> None:
    """Write what a push of `new` uploads to a repository that then holds `grids`."""
    (folder / "README.md").write_text(str(dataset_card(repo, grids)), "utf-8")
    description = json.dumps(croissant(repo, grids), indent=2, ensure_ascii=False)
    (folder / "croissant.json").write_text(description + "\n", "utf-8")
    tasks = evaluation(grids)
    if tasks["tasks"]:
        text = yaml.safe_dump(tasks, sort_keys=False, allow_unicode=True)
        (folder / "eval.yaml").write_text(text, "utf-8")
    (folder / new.name).mkdir()
    for split in new.splits:
        write_split(folder / new.name, new, split)


def write_split(folder: Path, puzzles: Configuration, split: str) -> None:
    """Write the rows of a split as Parquet files of bounded size, named as `datasets` does."""
    written: list[Path] = []
    source = puzzles.source(split)
    groups = (rows for table in source.tables() for rows in row_groups(table))
    progress = tqdm(total=len(source.selection), unit=" puzzles", disable=None)
    with progress, ExitStack() as writers:
        size = FILE_BYTES
        for rows in groups:
            size += rows.nbytes
            if size > FILE_BYTES:
                writers.close()
                written.append(folder / f"{split}-{len(written):05}.parquet")
                opened = pq.ParquetWriter(written[-1], source.schema, **SHARED)
                size, writer = rows.nbytes, writers.enter_context(opened)
            writer.write_table(rows)
            progress.update(len(rows))
    for path in written:
        path.rename(path.with_stem(f"{path.stem}-of-{len(written):05}"))


def knob_values(dataset: "Dataset", knob: Knob) -> list[Given]:
    """Return the different values of a knob with which a dataset's puzzles were made."""
    if not knob.may_be_drawn:
        return dataset.unique(knob.name)
    in_id = re.compile(rf"-{knob.name}([a-z]+|\d{{1,9}})-")
    words = dict.fromkeys(word for id in dataset["id"] for word in in_id.findall(str(id)))
    return [int(word) if word.isdecimal() else word for word in words]


def configuration_of_dataset(dataset: "Dataset", **options: Given) -> Configuration:
    """Return the configuration that publishes a dataset of puzzles.

    The generator makes them again and compares every row. ValueError if they are not a whole grid's
    rows, in order.
    """
    dataset = dataset.with_format(None)
    names = set(dataset.column_names)
    first = str(dataset[0]["id"]) if "id" in names and len(dataset) else "no id"
    address = re.match(rf"([a-z-]+)-v\d+-({'|'.join(SPLITS)})-[^~]*(?:~(.+))?", first)
    if not address or address[1] not in {known.name for known in benchmarks.BENCHMARKS}:
        raise ValueError(f"the dataset must hold puzzles as they are made, got {brief(first)}")
    benchmark, split = benchmarks.named(address[1]), address[2]
    changes = {"twin": address[3]} if address[3] else {}
    if (language := language_of(first.partition("~")[0])) != ENGLISH:
        changes["language"] = language
    for option in benchmark.options:
        if option.kind == "flag":  # on where any of the columns that it adds is there
            added = {*schema_of(benchmark, {option.name: True}).names}
            added -= {*schema_of(benchmark, {}).names}
            options = {option.name: not names.isdisjoint(added)} | options
    wanted = schema_of(benchmark, options).names
    if names != {*wanted}:
        others = brief(sorted(names.symmetric_difference(wanted)))
        allowed = f"the columns {', '.join(wanted)} and no other"
        raise ValueError(f"the dataset must have {allowed}; it differs in {others}")
    columns = [knob_values(dataset, knob) for knob in benchmark.knobs]
    knobs = knobs_of_product(benchmark, columns)
    one_each = benchmark.select(**knobs, num_puzzles=1)
    num_puzzles = -(-len(dataset) // len(one_each))
    seed = dataset[0]["seed"]
    grid = benchmark.select(**knobs, num_puzzles=num_puzzles, seed=seed, split=split, **changes)
    puzzles = configuration_of(grid, **options)
    start, source = 0, puzzles.source(split)
    for table in dataset.with_format("arrow").iter(BATCH_ROWS):
        there = table.select(puzzles.schema.names).cast(puzzles.schema)
        made = pa.concat_tables(source.tables(start, start + len(there)))
        if line := first_difference(there, made, start):
            raise ValueError(f"the dataset must hold a whole grid's rows as made: {line} is not")
        start += len(there)
    if start < len(source.selection):
        raise ValueError(f"the dataset must hold a whole grid's {len(source.selection)} rows")
    return puzzles

"""A grid -> a repository on the Hub: Parquet files, a card, a Croissant file, an eval.yaml.

Everything that is uploaded is a pure function of the configurations that the repository then holds.
So the same push again completes an upload that was interrupted.
"""

import json
import logging
import re
import tempfile
from contextlib import suppress
from dataclasses import replace
from math import ceil
from pathlib import Path
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import yaml
from huggingface_hub import HfApi, errors, get_token
from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.files import whole_folder
from cogniload_gen.grid import ENGLISH, SPLITS, Grid, language_of
from cogniload_gen.hub import REPOSITORY, hub_errors
from cogniload_gen.hub.card import croissant, data_files, dataset_card, evaluation, read_card
from cogniload_gen.hub.verify import first_difference
from cogniload_gen.shards import (
    ROWS_PER_FILE,
    Configuration,
    PuzzleFiles,
    configuration_of,
    knobs_of_product,
    merge,
    schema_of,
)

if TYPE_CHECKING:
    from datasets import Dataset

log = logging.getLogger(__name__)

BATCH_ROWS = 1000


def push(
    puzzles: "Grid | Dataset",
    repo: str,
    *,
    private: bool = False,
    dry_run: Path | str | None = None,
    **options: Any,
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
    files = PuzzleFiles(folder, replace(puzzles, splits=(split,)), ROWS_PER_FILE)
    for number in tqdm(range(len(files)), unit=" files", disable=None):
        files.write_rows(number)


def configuration_of_dataset(dataset: "Dataset", **options: Any) -> Configuration:
    """Return the configuration that publishes a dataset of puzzles.

    The generator makes them again and compares every row. ValueError if they are not a whole grid's
    rows, in order.
    """
    dataset = dataset.with_format(None)
    ids = [str(id) for id in dataset["id"]] if "id" in dataset.column_names else []
    address = re.match(rf"([a-z-]+)-v\d+-({'|'.join(SPLITS)})-s(\d+)-", ids[0] if ids else "")
    if not address or address[1] not in {known.name for known in benchmarks.BENCHMARKS}:
        got = brief(ids[0]) if ids else "no id"
        raise ValueError(f"the dataset must hold puzzles as they are made, got {got}")
    benchmark = benchmarks.named(address[1])
    in_id = re.compile("".join(rf"-{knob.name}([\w.]+)" for knob in benchmark.knobs) + "-")
    cells = [each if isinstance(each, tuple) else (each,) for each in in_id.findall("\n".join(ids))]
    knobs = knobs_of_product(
        benchmark, [map(_value, column) for column in zip(*cells, strict=True)]
    )
    same: dict[str, Any] = {"seed": int(address[3]), "split": address[2]}
    original, _, twin = ids[0].partition("~")
    if twin:
        same["twin"] = twin
    if (language := language_of(original)) != ENGLISH:
        same["language"] = language
    columns = {*dataset.column_names}
    for option in benchmark.options:
        if option.kind == "flag":  # on where its columns are there
            on = {*schema_of(benchmark, {option.name: True}).names}
            options = {option.name: on == columns} | options
    wanted = schema_of(benchmark, options)
    if columns != {*wanted.names}:
        others = brief(sorted(columns ^ {*wanted.names}))
        allowed = f"the columns {', '.join(wanted.names)} and no other"
        raise ValueError(f"the dataset must have {allowed}; it differs in {others}")
    num_puzzles = ceil(len(ids) / len(benchmark.select(**knobs, num_puzzles=1)))
    grid = benchmark.select(**knobs, num_puzzles=num_puzzles, **same)
    puzzles = configuration_of(grid, **options)
    start, source = 0, puzzles.source(grid.split)
    for table in dataset.with_format("arrow").iter(BATCH_ROWS):
        made = pa.concat_tables(source.tables(start, start + len(table)))
        row = first_difference(table.select(wanted.names).cast(wanted), made, start)
        if row is not None:
            raise ValueError(f"the dataset must hold a whole grid's rows as made: row {row} is not")
        start += len(table)
    if start < len(grid):
        raise ValueError(f"the dataset must hold a whole grid's {len(grid)} rows")
    return puzzles


def _value(text: str) -> int | float | str:
    """Return the value of a knob that an id holds."""
    if text.isdecimal():
        return int(text)
    return float(text) if text[0].isdecimal() else text

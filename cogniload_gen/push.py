"""A grid -> a dataset repository on the Hub: Parquet files, a card and a Croissant file.

Everything that is uploaded is a pure function of the sets that the repository then holds, so an
upload that was interrupted is completed by the same push again.
"""

import json
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from reprlib import repr
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import (
    EntryNotFoundError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from tqdm import tqdm

from cogniload_gen.card import croissant, data_files, dataset_card, read_sets
from cogniload_gen.grid import SPLITS, Grid
from cogniload_gen.hub import hub_errors
from cogniload_gen.published import BENCHMARKS, PuzzleSet, merged, product_knobs, puzzle_set
from cogniload_gen.verify import differing

if TYPE_CHECKING:
    from datasets import Dataset

log = logging.getLogger(__name__)

ROW_GROUP_BYTES = 64_000_000
"""Bytes of rows in a row group: the Hub's viewer reads whole ones, and takes 100 MB at most."""

FILE_BYTES = 500_000_000
"""Bytes of rows in a file, before compression: what `datasets` takes for a shard."""

BATCH_ROWS = 1000


def push(
    puzzles: "Grid | Dataset",
    repo: str,
    *,
    private: bool = False,
    dry_run: Path | str | None = None,
    **options: object,
) -> str:
    """Publish puzzles in the dataset repository `repo` (user/name); the URL of the commit.

    `puzzles` is a grid (`cogniload_grid`), with `trace=True` for the columns of the trace, or a
    `datasets.Dataset` that holds a whole grid's rows: its parameters are told from its columns, and
    every row must be as the generator makes it. The repository is made if there is none. A grid is
    a configuration in it; other grids and splits that were pushed before stay. With `dry_run`,
    writes there the folder that would be uploaded and returns its path. The same push again
    completes one that was interrupted.

    Raises ValueError for other rows, or if the repository has a card that is not ours or is public
    and `private` is asked for, FileExistsError if `dry_run` exists, OSError in one line if the Hub
    can't be reached or refuses.
    """
    is_dataset = hasattr(puzzles, "unique")  # which a stream has not
    new = (dataset_set if is_dataset else puzzle_set)(puzzles, **options)
    if dry_run is not None:
        with whole_folder(Path(dry_run)) as folder:
            write_folder(folder, repo, new, merged(sets_if_reached(repo), new))
        return str(dry_run)
    if get_token() is None:
        raise PermissionError(f"{repo}: no token for the Hub: run `hf auth login` or set HF_TOKEN")
    api = HfApi()
    with hub_errors(repo), tempfile.TemporaryDirectory(prefix="cogniload-push-") as temporary:
        api.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
        info = api.dataset_info(repo)
        if private and not info.private:
            raise ValueError(f"{repo} exists and is public: --private is for a new one")
        sets = merged(published_sets(repo, info.sha), new)
        write_folder(Path(temporary), repo, new, sets)
        return api.upload_folder(
            repo_id=repo,
            repo_type="dataset",
            folder_path=temporary,
            commit_message=f"Add {new.name}, {new.splits[0]}",
            parent_commit=info.sha,
            # another release may have cut the same rows into more files
            delete_patterns=[data_files(new, split) for split in new.splits],
        ).commit_url


def published_sets(repo: str, revision: str) -> list[PuzzleSet]:
    """The sets that a repository holds at a revision, by its card; none if it has no card.

    Raises ValueError if the card is not ours: it is not for us to replace.
    """
    try:
        card = HfApi().hf_hub_download(repo, "README.md", repo_type="dataset", revision=revision)
    except LocalEntryNotFoundError:  # not reached, which is one of the next kind too
        raise
    except EntryNotFoundError:
        return []
    try:
        return read_sets(Path(card))
    except ValueError as error:
        raise ValueError(
            f"{repo} has a card that `cogniload push` did not write: {error!s:.600}"
        ) from None


def sets_if_reached(repo: str) -> list[PuzzleSet]:
    """`published_sets` as they are now, or none, which the log tells, without the Hub."""
    sets = []
    try:
        with hub_errors(repo), suppress(RepositoryNotFoundError):
            sets = published_sets(repo, HfApi().dataset_info(repo).sha)
    except OSError as error:
        log.warning("written as for a new repository: %s", error)
    return sets


def write_folder(folder: Path, repo: str, new: PuzzleSet, sets: list[PuzzleSet]) -> None:
    """What a push of `new` uploads to a repository that then holds `sets`."""
    (folder / "README.md").write_text(str(dataset_card(repo, sets)), "utf-8")
    description = json.dumps(croissant(repo, sets), indent=2, ensure_ascii=False)
    (folder / "croissant.json").write_text(description + "\n", "utf-8")
    (folder / new.name).mkdir()
    for split in new.splits:
        write_split(folder / new.name, new, split)


def write_split(folder: Path, puzzles: PuzzleSet, split: str) -> None:
    """Write the rows of a split as Parquet files of bounded size, named as `datasets` does."""
    written: list[Path] = []
    size, writer = FILE_BYTES, None
    source = puzzles.source(split)
    with tqdm(total=len(source.grid), unit=" puzzles", disable=None) as progress:
        for table in source.tables():
            for rows in row_groups(table):
                if size + rows.nbytes > FILE_BYTES:
                    if writer:
                        writer.close()
                    written.append(folder / f"{split}-{len(written):05}.parquet")
                    size, writer = (
                        0,
                        pq.ParquetWriter(
                            written[-1], source.schema, compression="zstd", write_page_index=True
                        ),
                    )
                writer.write_table(rows)
                size += rows.nbytes
                progress.update(len(rows))
        writer.close()
    for path in written:
        path.rename(path.with_stem(f"{path.stem}-of-{len(written):05}"))


def row_groups(table: pa.Table) -> Iterator[pa.Table]:
    """A table in pieces of at most ROW_GROUP_BYTES; only a single row can have more."""
    if table.nbytes <= ROW_GROUP_BYTES or len(table) == 1:
        yield table
    else:
        middle = len(table) // 2
        yield from row_groups(table.slice(0, middle))
        yield from row_groups(table.slice(middle))


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path` that takes its name when the block ends without an error.

    Raises FileExistsError if `path` exists.
    """
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists: choose another name or remove it")
    path = path.resolve()
    try:
        temporary = tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        inside = Path(temporary, path.name)  # made with the permissions that a new folder has
        inside.mkdir()
        yield inside
        inside.rename(path)
    finally:
        shutil.rmtree(temporary)


def dataset_set(dataset: "Dataset", **options: object) -> PuzzleSet:
    """The set whose rows a dataset holds; ValueError if they are not a whole grid's, all in order.

    The generator makes them again, and every row is compared.
    """
    dataset = dataset.with_format(None)
    names = set(dataset.column_names)
    first = str(dataset[0]["id"]) if "id" in names and len(dataset) else "no id"
    address = re.match(rf"([a-z-]+)-v\d+-({'|'.join(SPLITS)})-", first)
    if not address or address[1] not in BENCHMARKS:
        raise ValueError(f"the dataset must hold puzzles as they are made, got {repr(first)}")
    benchmark, split = BENCHMARKS[address[1]], address[2]
    if "trace" in benchmark.options:
        options = {"trace": "statements" in names} | options
    wanted = benchmark.source(benchmark.grid(), **options).schema.names
    if names != set(wanted):
        raise ValueError(
            f"the dataset must have the columns {', '.join(wanted)} and no other; "
            f"it differs in {repr(sorted(names ^ set(wanted)))}"
        )
    knobs = product_knobs({knob: dataset.unique(knob) for knob in benchmark.knobs})
    grid = benchmark.grid(**knobs, num_puzzles=1, seed=dataset[0]["seed"], split=split)
    grid = replace(grid, num_puzzles=-(-len(dataset) // len(grid.cells)))
    puzzles = puzzle_set(grid, **options)
    batches = dataset.with_format("arrow").iter(BATCH_ROWS)
    rows = (table.select(wanted).cast(puzzles.schema) for table in batches)
    for difference in differing(rows, puzzles.source(split).tables(), puzzles.schema):
        raise ValueError(
            f"the dataset must hold a whole grid's rows as they are made: {difference}"
        )
    return puzzles

"""Published puzzles: `push` puts them on the Hub, and `verify` makes them again and compares.

What is uploaded - Parquet files, a card, an eval.yaml - is a pure function of the configurations
that the repository then holds. So the same push again completes an upload that was
interrupted. A folder or repository says which puzzles it holds: in the card, or in the
manifest.json that `cogniload generate OUT/` writes, with the digest of each file.
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from huggingface_hub import HfApi, errors, get_token, snapshot_download
from tqdm import tqdm

from cogniload_gen import shards
from cogniload_gen.benchmarks import solve
from cogniload_gen.files import naming, one_line, whole_folder
from cogniload_gen.grid import Source
from cogniload_gen.hub.card import data_files, dataset_card, evaluation, read_card

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
"""A repository's name, user/name."""

_CARD = "README.md"

KINDS = errors.HfHubHTTPError.__mro__
# What the Hub's library raises where there is no answer at all (httpx's or requests' own).
_HTTP_ERROR: type[BaseException] = KINDS[KINDS.index(OSError) - 1]


@contextmanager
def _hub_errors(repo: str) -> Iterator[None]:
    """Make one line, an OSError, of what goes wrong between us and the Hub, in its words."""
    try:
        yield
    except (_HTTP_ERROR, errors.LocalEntryNotFoundError, ConnectionError) as error:
        answered = getattr(getattr(error, "response", None), "status_code", None)
        what = "refused" if answered else "can't be reached"
        words = one_line(f"{type(error).__name__}: {error}")
        raise OSError(f"{repo}: the Hub {what}: {words}") from None
    except RuntimeError as error:  # of an upload, in which an error of any kind is the cause
        if error.__cause__ is None:
            raise
        raise OSError(f"{repo}: {one_line(f'{error} ({error.__cause__})')}") from None


# --- Pushed ---------------------------------------------------------------------------------


def push(
    repo: str,
    dataset: str = "cogniload",
    *,
    private: bool = False,
    dry_run: Path | str | None = None,
    **parameters: Any,
) -> str:
    """Publish puzzles in the dataset repository `repo` (user/name); the URL of the commit.

    `dataset` and `parameters` are as `load_dataset` takes them, with `split` for one split. A
    missing repository is created. The puzzles are a configuration in it; what was pushed before
    stays. With `dry_run`, writes there what would be uploaded to an empty repository, and returns
    its path. The same push again completes one that was interrupted.

    Raises ValueError for a wrong parameter, or if the repository has a card that is not ours or is
    public and `private` is true, FileExistsError if `dry_run` exists, OSError in one line if the
    Hub can't be reached or refuses.
    """
    if not REPOSITORY.fullmatch(repo):
        raise ValueError(
            "the repository must be user/name on the Hub, whose puzzles are made from parameters, "
            f"got {brief(repo)}"
        )
    new = shards.configuration_of(dataset, **parameters)
    if dry_run is not None:
        with whole_folder(Path(dry_run)) as folder:
            write_folder(folder, repo, new, [new])
        return str(dry_run)
    if get_token() is None:
        raise PermissionError(f"{repo}: no token for the Hub: run `hf auth login` or set HF_TOKEN")
    api = HfApi()
    with _hub_errors(repo):
        api.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
        info = api.dataset_info(repo)
        if private and not info.private:
            raise ValueError(f"{repo} exists and is public: --private is for a new one")
        published = []
        if any(file.rfilename == _CARD for file in info.siblings or ()):
            # one that is not ours is not for us to replace: it is refused where it is read
            card = api.hf_hub_download(repo, _CARD, repo_type="dataset", revision=info.sha)
            published = read_card(Path(card), repo)
    with tempfile.TemporaryDirectory(prefix="cogniload-push-") as temporary:
        write_folder(Path(temporary), repo, new, shards.merge(published, new))
        with _hub_errors(repo):
            return api.upload_folder(
                repo_id=repo,
                repo_type="dataset",
                folder_path=temporary,
                commit_message=f"Add {new.name}, {new.grid.split}",
                parent_commit=info.sha,
                # another release may have cut the same rows into more files
                delete_patterns=[data_files(new, new.grid.split)],
            ).commit_url


def write_folder(
    folder: Path, repo: str, new: shards.Configuration, all: list[shards.Configuration]
) -> None:
    """Write what a push of `new` uploads to a repository that then holds `all`."""
    (folder / _CARD).write_text(str(dataset_card(repo, all)), "utf-8")
    tasks = evaluation(all)
    if tasks["tasks"]:
        text = yaml.safe_dump(tasks, sort_keys=False, allow_unicode=True)
        (folder / "eval.yaml").write_text(text, "utf-8")
    (folder / new.name).mkdir()
    files = shards.PuzzleFiles(folder / new.name, new, shards.ROWS_PER_FILE)
    for number in tqdm(range(len(files)), unit=" files", disable=None):
        files.make(number)


# --- Verified -------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """The rows that should be there, in how many files, and how many rows were made again.

    `differences` are what is wrong, a line for each file; none if all that was compared is the
    same.
    """

    rows: int
    files: int
    made_again: int
    differences: Sequence[str]

    def __str__(self) -> str:
        if self.differences:
            return f"differs from its {self.rows} rows"
        files = f"{self.files} file{'s' * (self.files != 1)}"
        made = f"{self.made_again} made again, the same, and solved"
        return f"is whole: {self.rows} rows in {files}; {made}"


# A configuration, one of its splits, and the files of it.
_Split = tuple[shards.Configuration, str, list[Path]]


def verify(source: Path | str, *, sample: float = 1.0, tokenizer: str | None = None) -> Verdict:
    """Compare the rows of `source` with those that the generator makes, and solve every puzzle.

    `source` is a folder of `push`, its repository on the Hub (user/name), or a folder of `generate
    OUT/`, whose files are also compared with their SHA-256. Of the files, a share `sample` (above
    0, up to 1) is made again, at least one; none where files are missing or changed. A tokenizer by
    which contexts are measured is loaded only if it is the one given.

    Raises ValueError for another share, if there is no such folder, if what says which puzzles it
    holds is not ours, of another generator version or of another tokenizer, and for a broken file;
    FileNotFoundError if it says nothing; OSError if the Hub can't be reached.
    """
    folder = Path(source)
    if not 0 < sample <= 1:
        raise ValueError(f"sample must be a share above 0 and up to 1, got {brief(sample)}")
    find = _find_generated if (folder / shards.MANIFEST).exists() else _find_pushed
    splits, wrong = find(folder, tokenizer)
    files: list[tuple[Path, Source, int, int]] = []
    for puzzles, split, paths in [] if wrong else splits:
        made, start = puzzles.source(split), 0
        for path in paths:
            with naming(f"{path} can't be read", pa.ArrowException):
                stop = start + pq.read_metadata(path).num_rows
            files.append((path, made, start, stop))
            start = stop
        if start != len(puzzles.grid):
            of = data_files(puzzles, split)
            wrong.append(f"{of} must have {len(puzzles.grid)} rows, got {start}")
    count = ceil(sample * len(files))
    chosen = [] if wrong else [files[place * len(files) // count] for place in range(count)]
    for path, made, start, stop in tqdm(chosen, unit=" files", disable=None):
        wrong += _differences(path, pa.concat_tables(made.tables(start, stop)))
    rows = sum(len(puzzles.grid) for puzzles, *_ in splits)
    made_again = sum(stop - start for *_, start, stop in chosen)
    return Verdict(rows, sum(len(paths) for *_, paths in splits), made_again, wrong)


def _differences(path: Path, made: pa.Table) -> Iterator[str]:
    """Yield a line where a file is not as made, or where the solver finds another answer."""
    where = f"{path.parent.name}/{path.name}"
    with naming(f"{path} can't be read", pa.ArrowException):
        there = pq.read_table(path)
    if not there.equals(made):
        pairs = enumerate(zip(there.to_pylist(), made.to_pylist(), strict=True))
        first = next((row for row, (one, other) in pairs if one != other), 0)
        yield f"{where} row {first} is not as made"
        return
    for row in there.select(["id", "puzzle", "answer"]).to_pylist():
        if solve(row["puzzle"]) != row["answer"]:
            yield f"{where} ({row['id']}): the solver reads another answer"


def _check(puzzles: shards.Configuration, source: Path, tokenizer: str | None) -> None:
    """Raise ValueError if this release makes other puzzles, or if it may not load a tokenizer."""
    of, ours = f"{source}: {puzzles.name}", puzzles.benchmark.version
    if (version := puzzles.grid.version) != ours:
        hint = f"this release makes version {ours} again"
        raise ValueError(f"{of} is of generator version {version}; {hint}")
    measure = puzzles.grid.options.get("tokenizer")
    if measure not in (None, tokenizer):
        hint = "pass --tokenizer with its name to load it"
        raise ValueError(f"{of} measures by the tokenizer {brief(measure)}: {hint}")


def _find_generated(folder: Path, tokenizer: str | None) -> tuple[list[_Split], list[str]]:
    files = shards.read_files(folder)
    _check(files.configuration, folder, tokenizer)
    paths = [folder / name for name in files.names]
    wrong = [f"{path} is missing" for path in paths if not path.exists()]
    if not wrong:
        digests = shards.read_manifest(folder).get("sha256") or {}
        changed = [path for path in paths if digests.get(path.name) != shards.digest(path)]
        wrong = [f"{path} has changed since it was written" for path in changed]
    return [(files.configuration, files.grid.split, paths)], wrong


def _find_pushed(source: Path, tokenizer: str | None) -> tuple[list[_Split], list[str]]:
    folder = source
    if not source.is_dir():
        if source.exists() or not REPOSITORY.fullmatch(str(source)):
            raise ValueError(f"{source} must be a folder or a repository user/name")
        folder = _download(str(source), [_CARD])
    elif not (source / _CARD).exists():
        folders = "manifest.json, as `cogniload generate OUT/` writes it, or README.md, the card"
        raise FileNotFoundError(f"{source} must hold {folders} of `cogniload push`")
    splits = shards.splits_of(read_card(folder / _CARD, str(source)))
    for puzzles, _ in splits:
        _check(puzzles, source, tokenizer)
    if folder != source:
        patterns = [data_files(*each) for each in splits]
        folder = _download(str(source), patterns, revision=folder.name)
    return [(*each, sorted(folder.glob(data_files(*each)))) for each in splits], []


def _download(repo: str, patterns: list[str], revision: str | None = None) -> Path:
    """Return the folder that has some files of a repository; its name is the revision's."""
    with _hub_errors(repo):
        return Path(
            snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=patterns)
        )

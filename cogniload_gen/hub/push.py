"""Puzzles -> a repository on the Hub: Parquet files, a card, a Croissant file, an eval.yaml.

Everything that is uploaded is a pure function of the configurations that the repository then holds.
So the same push again completes an upload that was interrupted.
"""

import json
import tempfile
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import yaml
from huggingface_hub import HfApi, errors, get_token
from tqdm import tqdm

from cogniload_gen.files import whole_folder
from cogniload_gen.hub import REPOSITORY, hub_errors
from cogniload_gen.hub.card import croissant, data_files, dataset_card, evaluation, read_card
from cogniload_gen.shards import ROWS_PER_FILE, Configuration, PuzzleFiles, configuration_of, merge


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
        raise ValueError(f"the repository must be user/name, got {brief(repo)}")
    new = configuration_of(dataset, **parameters)
    if dry_run is not None:
        with whole_folder(Path(dry_run)) as folder:
            write_folder(folder, repo, new, [new])
        return str(dry_run)
    if get_token() is None:
        raise PermissionError(f"{repo}: no token for the Hub: run `hf auth login` or set HF_TOKEN")
    api = HfApi()
    with hub_errors(repo):
        api.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
        info = api.dataset_info(repo)
        if private and not info.private:
            raise ValueError(f"{repo} exists and is public: --private is for a new one")
        published = _published(repo, info.sha)
    with tempfile.TemporaryDirectory(prefix="cogniload-push-") as temporary:
        write_folder(Path(temporary), repo, new, merge(published, new))
        with hub_errors(repo):
            return api.upload_folder(
                repo_id=repo,
                repo_type="dataset",
                folder_path=temporary,
                commit_message=f"Add {new.name}, {new.grid.split}",
                parent_commit=info.sha,
                # another release may have cut the same rows into more files
                delete_patterns=[data_files(new, new.grid.split)],
            ).commit_url


def _published(repo: str, revision: str | None) -> list[Configuration]:
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


def write_folder(folder: Path, repo: str, new: Configuration, all: list[Configuration]) -> None:
    """Write what a push of `new` uploads to a repository that then holds `all`."""
    (folder / "README.md").write_text(str(dataset_card(repo, all)), "utf-8")
    description = json.dumps(croissant(repo, all), indent=2, ensure_ascii=False)
    (folder / "croissant.json").write_text(description + "\n", "utf-8")
    tasks = evaluation(all)
    if tasks["tasks"]:
        text = yaml.safe_dump(tasks, sort_keys=False, allow_unicode=True)
        (folder / "eval.yaml").write_text(text, "utf-8")
    (folder / new.name).mkdir()
    files = PuzzleFiles(folder / new.name, new, ROWS_PER_FILE)
    for number in tqdm(range(len(files)), unit=" files", disable=None):
        files.write(number)

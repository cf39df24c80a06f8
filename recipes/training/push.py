"""Publish a trained model and its tokenizer as a model repository on the Hub."""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from huggingface_hub import HfApi, ModelCard, ModelCardData

from cogniload_gen.files.whole import whole_folder
from cogniload_gen.hub.exceptions import hub_errors
from cogniload_gen.hub.verify import REPOSITORY

CARD = Path(__file__).with_name("card.jinja")


def write_folder(model: Path, repo: str, folder: Path) -> None:
    """Write what is uploaded: the model, its tokenizer, and a card."""
    shutil.copytree(model, folder, dirs_exist_ok=True)
    about = json.loads((model / "training.json").read_text("utf-8"))
    data = ModelCardData(
        license="apache-2.0",
        language=["en"],
        library_name="transformers",
        pipeline_tag="text-generation",
        tags=["factor", "reasoning", "trl", "sft"],
    )
    card = ModelCard.from_template(data, template_path=CARD, repo=repo, **about)
    (folder / "README.md").write_text(str(card), "utf-8")


def push(model: Path, repo: str, *, private: bool = False, dry_run: Path | None = None) -> str:
    """Publish a folder that `train` made; return the URL of the commit.

    With `dry_run`, write there the folder that would be uploaded and return its path. Raises
    ValueError for a wrong name or folder, OSError in one line if the Hub can't be reached or
    refuses.
    """
    if not REPOSITORY.fullmatch(repo):
        raise ValueError(f"the repository must be user/name, got {repo!r}")
    if not (model / "training.json").exists():
        raise ValueError(f"model must be a folder model/ of a finished training, got {model}")
    if dry_run is not None:
        with whole_folder(dry_run) as folder:
            write_folder(model, repo, folder)
        return str(dry_run)
    with tempfile.TemporaryDirectory(prefix="cogniload-push-") as temporary, hub_errors(repo):
        write_folder(model, repo, Path(temporary))
        api = HfApi()
        api.create_repo(repo, private=private or None, exist_ok=True)
        return api.upload_folder(
            repo_id=repo, folder_path=temporary, commit_message="Add the model and its tokenizer"
        ).commit_url


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="OUT/seed-S/STRATEGY/model")
    parser.add_argument("repo", help="user/name")
    parser.add_argument("--private", action="store_true", help="make a private repository")
    parser.add_argument("--dry-run", type=Path, metavar="DIR", help="write what would be uploaded")
    options = parser.parse_args()
    try:
        print(push(options.model, options.repo, private=options.private, dry_run=options.dry_run))
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()

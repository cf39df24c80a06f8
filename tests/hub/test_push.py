"""What is published: the folder, as others read it, and its way to a stand-in of the Hub."""

import json
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
from command_line import main, refusal
from hub_stand_in import TOKEN, hub
from huggingface_hub import DatasetCard, DatasetCardData, constants
from stored import cases, contents

import cogniload_dataset
from cogniload_gen import generate_puzzles, tables
from cogniload_gen import hub as hub_package
from cogniload_gen.hub import push
from cogniload_gen.hub.card import CANARY, dataset_card
from cogniload_gen.shards import configuration_of, merge, read_entry

SMALL = {"d": [1, 3], "N": [5], "rho": [12.5, 50.0], "num_puzzles": 3}
OPTIONS = ["--d", "1", "3", "--N", "5", "--rho", "12.5", "50", "--num-puzzles", "3"]
NAME = "cogniload-v1-d1_3-N5-rho12.5_50-num_puzzles3-seed42"


@pytest.fixture
def published(tmp_path) -> Path:
    path = tmp_path / "folder"
    push("me/puzzles", **SMALL, dry_run=path)
    return path


@pytest.mark.parametrize("trace", [False, True])
def test_a_small_grid_loads_plainly(tmp_path, trace, capsys):
    folder, more = tmp_path / "folder", ["--trace"] if trace else []
    assert main(["push", "me/puzzles", *OPTIONS, *more, "--dry-run", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}\n"
    found = datasets.load_dataset(str(folder), split="test", cache_dir=str(tmp_path / "cache"))
    expected = generate_puzzles(**SMALL, trace=trace)
    assert found.column_names == expected.column_names
    assert list(found) == expected.to_pylist()


def test_the_card(published):
    content = (published / "README.md").read_text("utf-8")
    card = DatasetCard(content)  # which raises for metadata that is no mapping
    known = DatasetCardData.__init__.__kwdefaults__.keys()
    assert card.data.to_dict().keys() - known == {"configs", "tags", "puzzles"}
    assert (card.data.license, card.data.size_categories) == ("apache-2.0", ["n<1K"])
    configs = datasets.utils.metadata.MetadataConfigs.from_dataset_card_data(card.data)
    assert list(configs) == [NAME]
    assert CANARY in card.text
    assert "@inproceedings{kaiser2026cogniload" in card.text
    assert generate_puzzles(1, 5, 12.5, num_puzzles=1)["puzzle"][0].as_py() in card.text
    lines = card.text.splitlines()
    call = next(line for line in lines if line.startswith('puzzles = load_dataset("cogniload", '))
    scope = {"load_dataset": cogniload_dataset.load_dataset}
    exec(call, scope)  # noqa: S102  (the card's own code makes the very same rows)
    assert list(scope["puzzles"]) == generate_puzzles(**SMALL).to_pylist()


def test_what_is_for_training_alone_does_not_say_that_it_is_not():
    train = configuration_of("cogniload", d=1, N=5, num_puzzles=1, split="train")
    assert "NOT FOR TRAINING" not in str(dataset_card("a/b", [train]))


def test_a_long_sample_is_cut_and_long_names_too():
    made = configuration_of("cogniload", d=range(1, 13), N=range(200, 240), num_puzzles=1)
    assert len(made.name) < 50
    card = str(dataset_card("a/b", [made]))
    assert "\n...\n" in card
    assert "\n200. " in card
    assert "\n100. " not in card


def test_row_groups_and_files_are_bounded(tmp_path, monkeypatch):
    assert tables.ROW_GROUP_BYTES < 100_000_000
    monkeypatch.setattr(tables, "ROW_GROUP_BYTES", 100_000)
    monkeypatch.setattr(hub_package.shards, "ROWS_PER_FILE", 50)
    grid = {"d": [1, 10], "N": [20, 100], "rho": 50, "num_puzzles": 30}
    push("me/p", **grid, dry_run=tmp_path / "f")
    files = sorted((tmp_path / "f").glob("*/*.parquet"))
    assert [file.name for file in files] == [f"test-0000{i}-of-00003.parquet" for i in range(3)]
    for about in map(pq.read_metadata, files):
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        assert all(group.total_byte_size < 110_000 for group in groups)
    read = datasets.load_dataset(str(tmp_path / "f"), split="test", cache_dir=str(tmp_path / "c"))
    assert list(read) == generate_puzzles(**grid).to_pylist()


def test_a_folder_is_whole_and_replaces_nothing(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine").mkdir()
    dry = ("push", "me/p", *OPTIONS, "--dry-run")
    assert "mine exists" in refusal(capsys, *dry, tmp_path / "mine")
    monkeypatch.setattr(hub_package.shards, "PuzzleFiles", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        push("me/p", **SMALL, dry_run=tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("knobs", cases(__file__)["published_factor"])
def test_factor(tmp_path, knobs):
    push("me/factor", "factor", **knobs, num_puzzles=2, dry_run=tmp_path / "one")
    assert main(["verify", str(tmp_path / "one")]) == 0
    split = knobs.get("split", "test")
    expected = cogniload_dataset.load_dataset("factor", **{"split": split} | knobs, num_puzzles=2)
    read = datasets.load_dataset(str(tmp_path / "one"), split=split, cache_dir=str(tmp_path / "c"))
    assert list(read) == list(expected)
    card = DatasetCard.load(tmp_path / "one" / "README.md")
    assert f'load_dataset("factor", suite={knobs["suite"]!r}, ' in card.text


def test_both_benchmarks_in_a_repository_are_described_once_each():
    sets = [
        configuration_of("cogniload", d=1, N=5),
        configuration_of("cogniload", d=3, N=5, trace=True),
        configuration_of("factor", suite="symbolic", N=3),
        configuration_of("factor", suite="realistic", op=[2, 3], context=[0, 4000]),
    ]
    assert [read_entry(json.loads(json.dumps(each.entry()))) for each in sets] == sets
    card = dataset_card("me/puzzles", sets)
    assert card.text.count("title  = {FACTOR") == card.text.count("title     = {CogniLoad") == 1


@pytest.mark.parametrize(("dataset", "parameters", "message"), [
    ("factor", {"split": "pretrain"}, "split must be one of train, .* got pretrain"),
    ("factor", {"tokenizer": len}, "tokenizer of what is published must have a name"),
])  # fmt: skip
def test_other_puzzles_are_refused(tmp_path, dataset, parameters, message):
    with pytest.raises(ValueError, match=message):
        push("me/puzzles", dataset, **parameters, dry_run=tmp_path / "one")
    assert not (tmp_path / "one").exists()


def test_a_published_tokenizer_is_not_loaded_for_the_card():
    plain, first, train = (
        configuration_of("factor", N=3, tokenizer=tokenizer, split=split)
        for tokenizer, split in ((None, "test"), ("org/model", "test"), ("org/model", "train"))
    )
    for sets in ([plain, first], [first, plain]):
        assert "org/model" in str(dataset_card("me/puzzles", sets))
    assert merge([first], train)[0].splits == ("train", "test")


# --- The way to the Hub ----------------------------------------------------------------------


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """What the Hub's library takes for the Hub, with a cache of its own."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with hub() as running:
        address_as_hub(monkeypatch, running.url)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        yield running


def address_as_hub(monkeypatch, url):
    for name in ("HUGGINGFACE_CO_URL_TEMPLATE", "ENDPOINT"):
        place = getattr(constants, name).replace(constants.ENDPOINT, url)
        monkeypatch.setattr(constants, name, place)


PUSH = ["push", "me/puzzles", *OPTIONS]


def test_an_upload_that_failed_is_completed_by_a_repeat(stand_in, published, capsys):
    stand_in.failures = [("/preupload/", 400), ("/commit/", 400)]
    assert refusal(capsys, *PUSH).startswith("me/puzzles: ")
    assert refusal(capsys, *PUSH).startswith("me/puzzles: ")
    assert stand_in.files == {}
    assert main(PUSH) == 0
    assert capsys.readouterr().out == f"{stand_in.last_commit}\n"
    assert stand_in.failures == []
    assert stand_in.files == contents(published)  # the dry run tells exactly what is uploaded


def test_a_second_grid_and_a_second_split_are_added(stand_in, tmp_path, capsys):
    stand_in.files["other/large.parquet"] = b"?"
    for more in ((), ("--split", "train"), ("--seed", "7")):
        assert main([*PUSH, *more]) == 0
    stand_in.asked.clear()
    assert main(["verify", "me/puzzles"]) == 0
    whole = "me/puzzles is whole: 36 rows in 3 files; 36 made again, the same, and solved\n"
    assert capsys.readouterr().out.endswith(f"\n{whole}")
    # all that is verified is of one commit
    assert stand_in.asked.count("GET /api/datasets/me/puzzles/revision/main") == 1
    assert not any("other" in request for request in stand_in.asked)
    for path, content in stand_in.files.items():
        file = tmp_path / "folder" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    load = {"path": str(tmp_path / "folder"), "cache_dir": str(tmp_path / "cache")}
    other = NAME.replace("seed42", "seed7")
    assert datasets.get_dataset_config_names(load["path"]) == [NAME, other]
    for name, split, seed in ((NAME, "train", 42), (NAME, "test", 42), (other, "test", 7)):
        expected = generate_puzzles(**SMALL, seed=seed, split=split).to_pylist()
        assert list(datasets.load_dataset(name=name, split=split, **load)) == expected


def test_a_repeat_leaves_no_file_of_another_cut(stand_in):
    """Another release may have cut the same rows into files of other sizes."""
    stand_in.create("puzzles")
    for split in ("test", "train"):
        stand_in.files[f"{NAME}/{split}-00001-of-00002.parquet"] = b"?"
    assert main(PUSH) == 0
    parts = sorted(path.rpartition("/")[2] for path in stand_in.files if path.startswith(NAME))
    assert parts == ["test-00000-of-00001.parquet", "train-00001-of-00002.parquet"]


def test_two_pushes_at_once_lose_nothing(stand_in, capsys, monkeypatch):
    """The second to arrive is told so: it has not seen the card that the first wrote."""
    preupload = stand_in.preupload
    with monkeypatch.context() as meanwhile:
        another = lambda files: stand_in.commits.append({}) or preupload(files)  # noqa: E731
        meanwhile.setattr(stand_in, "preupload", another)
        late = refusal(capsys, *PUSH)
    assert late.startswith("me/puzzles: the Hub refused: ")
    assert "412" in late
    assert main(PUSH) == 0


def test_what_the_hub_refuses_is_one_line(stand_in, capsys, monkeypatch):
    private = ["push", "me/mine", *OPTIONS, "--private"]
    assert main(private) == main(private) == 0
    assert stand_in.private
    stand_in.commits.clear()
    stand_in.create("puzzles")
    stand_in.files["README.md"] = b"---\nlicense: mit\n---\n# Mine"

    def assert_refused(message, repo="me/puzzles", *options):
        assert refusal(capsys, "push", repo, *OPTIONS, *options).startswith(message)

    assert_refused("me/puzzles has a card that `cogniload push` did not write: ")
    assert_refused("me/puzzles exists and is public", "me/puzzles", "--private")
    assert_refused("you/puzzles: the Hub refused: HfHubHTTPError: 403 Forbidden", "you/puzzles")
    assert_refused("the repository must be user/name on the Hub, whose puzzles are ", "a/b/c")
    monkeypatch.setenv("HF_TOKEN", "hf_bad")
    unknown = "HfHubHTTPError: Client error '401 Unauthorized'"
    assert_refused(f"me/other: the Hub refused: {unknown}", "me/other")
    monkeypatch.delenv("HF_TOKEN")
    assert_refused("me/puzzles: no token for the Hub")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    address_as_hub(monkeypatch, "http://127.0.0.1:9")
    assert_refused("me/puzzles: the Hub can't be reached: ConnectError")
    assert stand_in.files["README.md"].endswith(b"# Mine")
    assert stand_in.commits == []

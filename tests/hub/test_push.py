"""What is published: the folder, as others read it, and its way to a stand-in of the Hub."""

import json
import logging
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import datasets
import mlcroissant
import pyarrow.parquet as pq
import pytest
from command_line import main, refusal, run_python
from grids import cogniload_grid, factor_grid
from hub_stand_in import TOKEN, hub, valid
from huggingface_hub import DatasetCard, DatasetCardData

import cogniload_dataset
from cogniload_gen import generate_puzzles, tables
from cogniload_gen.hub import push as push_module
from cogniload_gen.hub.card import CANARY, croissant, dataset_card
from cogniload_gen.hub.push import push
from cogniload_gen.shards import configuration_of, merge, read_entry

SMALL = {"d": [1, 3], "N": [5], "rho": [12.5, 50.0]}
OPTIONS = ["--d", "1", "3", "--N", "5", "--rho", "12.5", "50", "--num-puzzles", "3"]
NAME = "cogniload-v1-d1_3-N5-rho12.5_50-num_puzzles3-seed42"

READ = """
import json, sys
class Blocked:
    def find_spec(self, name, *_):
        assert not name.startswith(("cogniload", "lm_eval")), name
sys.meta_path.insert(0, Blocked())
import datasets
read = datasets.load_dataset(sys.argv[1], split="test", cache_dir=sys.argv[2])
read.to_parquet(sys.argv[3])
"""
"""A program that reads a folder without a line of ours."""


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "folder"
    push(cogniload_grid(**SMALL, num_puzzles=3), "me/puzzles", dry_run=path)
    return path


@pytest.mark.parametrize("trace", [False, True])
def test_a_small_grid_loads_plainly(tmp_path, trace, capsys):
    folder = tmp_path / "folder"
    more = ["--trace"] if trace else []
    assert main(["push", "me/puzzles", *OPTIONS, *more, "--dry-run", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}\n"
    expected = generate_puzzles(**SMALL, num_puzzles=3, trace=trace)
    run_python(READ, folder, tmp_path / "cache", tmp_path / "read.parquet", cwd=tmp_path)
    found = pq.read_table(tmp_path / "read.parquet")
    assert found.column_names == expected.column_names
    assert found.to_pylist() == expected.to_pylist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "folder", "read.parquet"]


def text(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode()
    return [text(each) for each in value] if isinstance(value, list) else value


def test_mlcroissant_validates_and_reads(folder):
    command = [Path(sys.executable).with_name("mlcroissant"), "validate", "--jsonld"]
    ran = subprocess.run([*command, folder / "croissant.json"], capture_output=True, check=False)
    said = ran.stderr.decode()
    assert ran.returncode == 0, said
    assert "error" not in said
    assert said.count("is recommended") <= 1  # datePublished, which could not be made again
    described = mlcroissant.Dataset(folder / "croissant.json", mapping={"repo": folder})
    records = [
        {name.rpartition("/")[2]: text(value) for name, value in record.items()}
        for record in described.records(f"{NAME}/test")
    ]
    assert records == generate_puzzles(**SMALL, num_puzzles=3).to_pylist()
    metadata = described.metadata.to_json()
    assert CANARY in metadata["description"]
    names = ["dataLimitations", "dataBiases", "dataUseCases", "dataSocialImpact"]
    assert all(len(str(metadata[f"rai:{name}"])) > 20 for name in names)  # as NeurIPS asks
    assert metadata["rai:hasSyntheticData"] is True


def test_the_card(folder):
    content = (folder / "README.md").read_text("utf-8")
    assert valid(content)
    card = DatasetCard(content)  # which raises for metadata that is no mapping
    data = card.data.to_dict()
    known = DatasetCardData.__init__.__kwdefaults__.keys()
    assert data.keys() - known == {"configs", "tags", "puzzles"}
    configs = datasets.utils.metadata.MetadataConfigs.from_dataset_card_data(card.data)
    assert list(configs) == [NAME]
    assert CANARY in card.text
    train = configuration_of(cogniload_grid(1, 5, 50, num_puzzles=1, split="train"))
    assert "NOT FOR TRAINING" not in f"{dataset_card('a/b', [train])}{croissant('a/b', [train])}"
    assert "@inproceedings{kaiser2026cogniload" in card.text
    (row,) = generate_puzzles(1, 5, 12.5, num_puzzles=1).to_pylist()
    assert row["puzzle"] in card.text
    lines = card.text.splitlines()
    call = next(line for line in lines if line.startswith('puzzles = load_dataset("cogniload", '))
    scope = {"load_dataset": cogniload_dataset.load_dataset}
    exec(call, scope)  # noqa: S102  (the card's own code makes the very same rows)
    assert list(scope["puzzles"]) == generate_puzzles(**SMALL, num_puzzles=3).to_pylist()


def test_a_long_sample_is_cut_and_long_names_too():
    grid = cogniload_grid(range(1, 13), range(200, 240), [5, 10], num_puzzles=1)
    made = configuration_of(grid)
    assert len(made.name) < 50
    card = str(dataset_card("a/b", [made]))
    assert "\n...\n" in card
    assert "\n200. " in card
    assert "\n100. " not in card


def test_row_groups_and_files_are_bounded(tmp_path, monkeypatch):
    assert tables.ROW_GROUP_BYTES < 100_000_000
    monkeypatch.setattr(tables, "ROW_GROUP_BYTES", 100_000)
    monkeypatch.setattr(push_module, "ROWS_PER_FILE", 50)
    push(cogniload_grid([1, 10], [20, 100], 50, num_puzzles=30), "me/p", dry_run=tmp_path / "f")
    files = sorted((tmp_path / "f").glob("*/*.parquet"))
    assert len(files) > 1
    assert files[0].name == f"test-00000-of-{len(files):05}.parquet"
    for file in files:
        about = pq.ParquetFile(file).metadata
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        assert all(group.total_byte_size < 110_000 for group in groups)
    read = datasets.load_dataset(str(tmp_path / "f"), split="test", cache_dir=str(tmp_path / "c"))
    assert list(read) == generate_puzzles([1, 10], [20, 100], 50, num_puzzles=30).to_pylist()


def test_a_folder_is_whole_and_replaces_nothing(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine").mkdir()
    dry = ("push", "me/p", *OPTIONS, "--dry-run")
    assert "mine exists" in refusal(capsys, *dry, tmp_path / "mine")
    monkeypatch.setattr(push_module, "write_split", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        push(cogniload_grid(1, 5, 50), "me/p", dry_run=tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(("suite", "knobs"), [
    ("symbolic", {"N": [3, 5], "context": [0, 2000]}),
    ("realistic", {"op": [3], "context": [0, 2000], "noise": ["general", "close"]}),
    ("realistic", {"op": [2, 3]}),
])  # fmt: skip
def test_factor(tmp_path, suite, knobs):
    options = [str(part) for name in knobs for part in (f"--{name}", *knobs[name])]
    command = ["push", "me/factor", "--suite", suite, *options, "--num-puzzles", "2", "--dry-run"]
    assert main([*command, str(tmp_path / "one")]) == 0
    assert main(["verify", str(tmp_path / "one")]) == 0
    asked = {"suite": suite, "num_puzzles": 2, "split": "test", "cache_dir": str(tmp_path / "c")}
    expected = cogniload_dataset.load_dataset("factor", **asked, **knobs)
    push(expected, "me/factor", dry_run=tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    read = {"split": "test", "cache_dir": str(tmp_path / "cache")}
    assert list(datasets.load_dataset(str(tmp_path / "one"), **read)) == list(expected)
    card = DatasetCard.load(tmp_path / "one" / "README.md")
    assert f'load_dataset("factor", suite={suite!r}, ' in card.text
    (records,) = json.loads((tmp_path / "one" / "croissant.json").read_text("utf-8"))["recordSet"]
    assert [field["name"] for field in records["field"]] == expected.column_names


def test_both_benchmarks_in_a_repository_are_described_once_each():
    suites = factor_grid("symbolic", N=3), factor_grid("realistic", op=[2, 3], context=[0, 4000])
    sets = [configuration_of(grid) for grid in (cogniload_grid(1, 5, 50), *suites)]
    sets.append(configuration_of(cogniload_grid(3, 5, 50), trace=True))
    assert [read_entry(json.loads(json.dumps(each.entry()))) for each in sets] == sets
    described = croissant("me/puzzles", sets)
    found = mlcroissant.Dataset(described).metadata  # which raises for what is wrong
    assert len(found.record_sets) == 4
    assert described["citeAs"].count("title = {FACTOR") == 1
    card = dataset_card("me/puzzles", sets)
    assert valid(str(card))
    assert card.text.count("title  = {FACTOR") == card.text.count("title     = {CogniLoad") == 1


def in_hand(tmp_path, **more) -> datasets.Dataset:
    parameters = SMALL | {"num_puzzles": 3, "split": "validation", "seed": 7} | more
    return cogniload_dataset.load_dataset("cogniload", **parameters, cache_dir=str(tmp_path / "c"))


@pytest.mark.parametrize("trace", [False, True])
def test_a_dataset_in_hand_is_its_grid_and_its_first_rows_may_be_a_smaller_one(tmp_path, trace):
    dataset = in_hand(tmp_path, trace=trace)
    push(dataset.with_format("numpy", ["id"]), "me/puzzles", dry_run=tmp_path / "one")
    grid = cogniload_grid(**SMALL, num_puzzles=3, seed=7, split="validation")
    push(grid, "me/puzzles", trace=trace, dry_run=tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    push(dataset.select(range(4)), "me/puzzles", dry_run=tmp_path / "fewer")
    (name,) = (path.name for path in (tmp_path / "fewer").iterdir() if path.is_dir())
    assert "-num_puzzles1-seed7" in name


@pytest.mark.parametrize(("change", "message"), [
    (lambda d: d.select([1, 0, *range(2, 12)]), r"row \d is not"),
    (lambda d: d.select(range(11)), "whole grid's 12 rows"),
    (lambda d: d.map(lambda row: {"answer": row["answer"] + "!"}), "row 0 is not"),
    (lambda d: d.remove_columns("poi"), r"columns .*differs in \['poi'\]"),
    (lambda d: d.select([]), "must hold puzzles as they are made, got no id"),
    (lambda _: factor_grid("symbolic", split="pretrain", num_puzzles=2), "must be a grid"),
    (lambda d: d.to_iterable_dataset(), r"be a grid \(.*\) or its data set, got"),
])  # fmt: skip
def test_other_rows_are_refused(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        push(change(in_hand(tmp_path)), "me/puzzles", dry_run=tmp_path / "one")
    assert not (tmp_path / "one").exists()


def test_a_published_tokenizer_is_not_loaded_for_the_card():
    made = configuration_of(factor_grid(N=3))
    first = replace(made, parameters=made.parameters | {"tokenizer": "org/model"})
    for sets in ([made, first], [first, made]):
        assert "org/model" in str(dataset_card("me/puzzles", sets))
    assert merge([first], replace(first, splits=("train",)))[0].splits == ("train", "test")


# --- The way to the Hub ----------------------------------------------------------------------


@pytest.fixture
def stand_in(tmp_path):
    with hub() as running:
        running.home = str(tmp_path / "home")  # a cache of its own
        yield running


QUIET = {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}

RUN = """
import contextlib, io, json, os, sys
sys.path.insert(0, sys.argv[1])
from command_line import main
ran = []
for arguments in json.load(sys.stdin):
    if isinstance(arguments, dict):
        os.environ.update(arguments)
        continue
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        code = main(arguments)
    ran.append([code, out.getvalue(), said.getvalue()])
json.dump(ran, sys.stdout)
"""
HELPERS = Path(__file__).parents[1] / "helpers"


def cogniload(stand_in, *commands, **environment) -> list[list]:
    """Exit codes, outputs and errors of our commands, run one after the other in one process.

    It knows the stand-in as the Hub. A command that is a mapping sets environment variables.
    """
    settings = {"HF_ENDPOINT": stand_in.url, "HF_TOKEN": TOKEN, "HF_HOME": stand_in.home}
    env = os.environ | QUIET | settings | environment
    return json.loads(run_python(RUN, HELPERS, input=json.dumps(commands), env=env).stdout)


PUSH = ["push", "me/puzzles", *OPTIONS]


def test_an_upload_that_failed_is_completed_by_a_repeat(stand_in, folder):
    # the library itself repeats what may be a passing trouble; these are none
    stand_in.failures = [("PUT /lfs/", 400), ("/commit/", 500)]
    stand_in.usual = "private"  # as an organization may have it
    at_file, at_commit, again = cogniload(stand_in, PUSH, PUSH, PUSH)
    for code, out, said in (at_file, at_commit):
        assert (code, out) == (2, "")
        assert said.startswith("cogniload push: error: me/puzzles: ")
        assert said.count("\n") == 1
    assert again[:2] == [0, f"{stand_in.last_commit}\n"]
    assert stand_in.private
    assert stand_in.failures == []
    uploads = [request for request in stand_in.asked if request.startswith("PUT")]
    assert len(uploads) == 2  # one failed; the last push found the file there
    del stand_in.files[".gitattributes"]
    assert stand_in.files == contents(folder)  # the dry run tells exactly what is uploaded


def test_a_second_grid_and_a_second_split_are_added(stand_in, tmp_path):
    stand_in.files["other/large.parquet"] = b"?"
    dry = [*PUSH, "--dry-run", str(tmp_path / "dry")]
    pushes = PUSH, [*PUSH, "--split", "train"], [*PUSH, "--seed", "7"], dry
    *ran, verified = cogniload(stand_in, *pushes, ["verify", "me/puzzles"])
    assert [code for code, *_ in ran] == [0, 0, 0, 0]
    whole = "me/puzzles is whole: 36 rows in 3 files; 36 made again, the same, and solved\n"
    assert verified[:2] == [0, whole]
    assert len(stand_in.commits) == 3
    # all that is verified is of one commit
    assert stand_in.asked.count("GET /api/datasets/me/puzzles/revision/main") == 1
    assert not any("other" in request for request in stand_in.asked)
    # the dry run, the last, tells the card that the repository has then
    assert contents(tmp_path / "dry").items() <= stand_in.files.items()
    for path, content in stand_in.files.items():
        file = tmp_path / "folder" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    load = {"path": str(tmp_path / "folder"), "cache_dir": str(tmp_path / "cache")}
    other = NAME.replace("seed42", "seed7")
    assert datasets.get_dataset_config_names(load["path"]) == [NAME, other]
    for name, split, seed in ((NAME, "train", 42), (NAME, "test", 42), (other, "test", 7)):
        expected = generate_puzzles(**SMALL, num_puzzles=3, seed=seed, split=split).to_pylist()
        assert list(datasets.load_dataset(name=name, split=split, **load)) == expected


def test_a_repeat_leaves_no_file_of_another_cut(stand_in):
    """Another release may have cut the same rows into files of other sizes."""
    stand_in.create(b'{"name": "puzzles"}')
    for split in ("test", "train"):
        stand_in.files[f"{NAME}/{split}-00001-of-00002.parquet"] = b"?"
    (ran,) = cogniload(stand_in, PUSH)
    assert ran[0] == 0
    parts = sorted(path.rpartition("/")[2] for path in stand_in.files if path.startswith(NAME))
    assert parts == ["test-00000-of-00001.parquet", "train-00001-of-00002.parquet"]


def test_two_pushes_at_once_lose_nothing(stand_in):
    """The second to arrive is told so: it has not seen the card that the first wrote."""
    preupload = stand_in.preupload

    def after_another_commit(body):
        stand_in.commits.append({})
        stand_in.preupload = preupload
        return preupload(body)

    stand_in.preupload = after_another_commit
    late, again = cogniload(stand_in, PUSH, PUSH)
    assert late[0] == 2
    assert late[2].endswith("me/puzzles: the Hub refused: another push was faster: push again\n")
    assert again[0] == 0


def test_what_the_hub_refuses_is_one_line(stand_in):
    private = ["push", "me/mine", *OPTIONS, "--private"]
    assert [code for code, *_ in cogniload(stand_in, private, private)] == [0, 0]
    assert stand_in.private
    stand_in.commits.clear()
    stand_in.create(b'{"name": "puzzles"}')
    stand_in.files["README.md"] = b"---\nlicense: mit\n---\n# Mine"
    elsewhere = ["push", "you/puzzles", *OPTIONS], ["push", "a/b/c", *OPTIONS]
    own, public, others, wrong, bad, none = cogniload(
        stand_in, PUSH, [*PUSH, "--private"], *elsewhere,
        {"HF_TOKEN": "hf_bad"}, ["push", "me/other", *OPTIONS], {"HF_TOKEN": ""}, PUSH,
    )  # fmt: skip
    (closed,) = cogniload(stand_in, PUSH, HF_ENDPOINT="http://127.0.0.1:9")
    for (code, out, said), reason in (
        (own, "me/puzzles has a card that `cogniload push` did not write: "),
        (public, "me/puzzles exists and is public"),
        (others, "you/puzzles: the Hub refused: the token has no permission"),
        (wrong, "the repository must be user/name, got 'a/b/c'"),
        (bad, "me/other: the Hub refused: the token is not valid"),
        (none, "me/puzzles: no token for the Hub"),
        (closed, "me/puzzles: the Hub can't be reached: ConnectError"),
    ):
        assert (code, out) == (2, "")
        assert said.startswith(f"cogniload push: error: {reason}")
        assert said.count("\n") == 1
    assert stand_in.files["README.md"].endswith(b"# Mine")
    assert stand_in.commits == []


def test_a_dry_run_without_the_hub_says_so(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        push(cogniload_grid(1, 5, 50, num_puzzles=1), "me/puzzles", dry_run=tmp_path / "a")
    assert "written as for a new repository: me/puzzles: the Hub can't be reached" in caplog.text

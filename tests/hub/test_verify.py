"""What is published, checked again: the same, or which rows are not."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from command_line import IN_2_GIB, refusal, run_python
from grids import cogniload_grid, factor_grid
from hypothesis import given
from hypothesis import strategies as st

from cogniload_cli import main
from cogniload_gen import generate_puzzles, solve
from cogniload_gen.hub.push import push
from cogniload_gen.hub.verify import SHOWN, differing, verify

GRID = {"d": [1, 3], "N": [5, 20], "rho": [50.0]}
NAME = "cogniload-v1-d1_3-N5_20-rho50-num_puzzles3-seed42"
ROWS = generate_puzzles(**GRID, num_puzzles=3).to_pylist()
OTHER = next(row for row in ROWS if solve(row["puzzle"]) != ROWS[0]["answer"])
BY_SOLVER = "answer by the solver"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    push(cogniload_grid(**GRID, num_puzzles=3), "me/puzzles", dry_run="folder")
    return tmp_path / "folder"


def rewrite(folder, change, split="test"):
    (file,) = (folder / NAME).glob(f"{split}-*.parquet")
    rows = pq.read_table(file).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(file)), file, row_group_size=5)


def rewrite_card(folder, change):
    path = folder / "README.md"
    _, metadata, text = path.read_text("utf-8").split("---", 2)
    data = yaml.safe_load(metadata)
    change(data)
    path.write_text(f"---\n{yaml.safe_dump(data, sort_keys=False)}---{text}", "utf-8")


def test_ours_is_the_same(folder, capsys):
    assert main(["verify", "folder"]) == 0
    assert capsys.readouterr().out == "folder is the same: 12 rows, every puzzle solved\n"
    rewrite(folder, list)  # other row groups are the same rows
    assert main(["verify", "folder"]) == 0


def test_one_changed_letter_is_named(folder, capsys):
    def change(rows):
        rows[7]["puzzle"] = rows[7]["puzzle"].replace("Solve", "Solwe", 1)

    rewrite(folder, change)
    assert main(["verify", "folder"]) == 1
    difference, verdict = capsys.readouterr().out.splitlines()
    assert difference.startswith(f"{NAME}/test-*.parquet row 7 ({ROWS[7]['id']}): puzzle: ")
    assert "'Solwe " in difference
    assert len(difference) < 300
    assert verdict == "folder differs: 1 values, 12 rows expected"


def test_every_column_is_compared_and_every_puzzle_solved(folder):
    """A wrong answer differs twice: from the generator's, and from what the solver reads."""
    wrong = {str: "x", int: 1000, float: 99.0, list: ["x"]}

    def change(rows):
        for row, column in zip(rows, columns, strict=False):
            row[column] = wrong[type(row[column])]

    columns = list(ROWS[0])[2:]
    rewrite(folder, change)
    verdict = verify(folder)
    differing_columns = [each.column for each in verdict.first]
    assert verdict.differences == len(columns) + len(["puzzle", "answer"])
    assert differing_columns == columns[:SHOWN]


@pytest.mark.parametrize(("values", "columns"), [
    ({"puzzle": OTHER["puzzle"]}, {"puzzle", BY_SOLVER}),
    ({"puzzle": None}, {"puzzle", BY_SOLVER}),
    ({"puzzle": "Hello"}, {"puzzle", BY_SOLVER}),
    ({"options": None}, {"options"}),
])  # fmt: skip
def test_other_null_and_broken_values_are_differences(folder, values, columns):
    rewrite(folder, lambda rows: rows[0].update(values))
    assert {(each.row, each.column) for each in verify(folder).first} == {
        (0, column) for column in columns
    }


@pytest.mark.parametrize(("change", "row", "published", "expected"), [
    (lambda rows: rows.pop(), 11, None, "last"),
    (lambda rows: rows.append(rows[0] | {"id": "more\n"}), 12, "more\n", None),
])  # fmt: skip
def test_rows_that_lack_or_are_too_many(folder, change, row, published, expected):
    rewrite(folder, change)
    verdict = verify(folder)
    (difference,) = verdict.first
    assert (difference.row, difference.column) == (row, "id")
    assert (difference.published, difference.expected) == (published, expected and ROWS[-1]["id"])
    assert "\n" not in str(difference)


def test_a_card_that_asks_for_a_billion_rows_is_soon_told(folder):
    republish(folder, num_puzzles=10**9)
    verdict = verify(folder)
    assert verdict.rows == 4 * 10**9
    assert (verdict.first[0].row, verdict.first[0].column) == (12, "id")


def test_a_published_id_can_not_write_a_verdict(folder, capsys):
    def change(rows):
        rows[3]["id"] = "\x1b[2J\nfolder is the same: 12 rows" + "!" * 5000

    rewrite(folder, change)
    assert main(["verify", "folder"]) == 1
    said = capsys.readouterr().out
    assert [line.split(":")[0] for line in said.splitlines()][1:] == ["folder differs"]
    assert "\x1b" not in said
    assert len(said) < 400


@pytest.mark.parametrize(("most", "counted"), [(10_000, "12"), (5, "5 or more")])
def test_differences_are_counted_and_ten_shown(folder, capsys, monkeypatch, most, counted):
    monkeypatch.setattr("cogniload_gen.hub.verify.COUNTED", most)
    rewrite(folder, lambda rows: [row.update(category="x") for row in rows])
    assert main(["verify", "folder"]) == 1
    *shown, verdict = capsys.readouterr().out.splitlines()
    assert len(shown) == min(most, SHOWN)
    assert verdict == f"folder differs: {counted} values, 12 rows expected"


def entry(data):
    return data["puzzles"][0]


def nested(levels):
    """Lists in lists: with YAML's aliases a few lines make millions of them."""
    return [nested(levels - 1)] * 6 if levels else []


def parameters(data):
    return entry(data)["parameters"]


@pytest.mark.parametrize(("change", "message"), [
    (lambda data: data.pop("puzzles"), "must list what it holds as puzzles, got None"),
    (lambda data: data.update(puzzles=[3]), "an entry must be a mapping, got 3"),
    (lambda data: data.update(puzzles=nested(8)), "an entry must be a mapping, got "),
    (lambda data: entry(data).update(benchmark="x"), "benchmark must be one of cog"),
    (lambda data: entry(data).update(splits=["dev"]), "splits must be one of train, "),
    (lambda data: entry(data).update(splits=[]), "splits must hold at least one value"),
    (lambda data: entry(data).update(splits=3), "splits must be one of train, "),
    (lambda data: entry(data).update(parameters=3), "parameters of cogniload must be d, "),
    (lambda data: entry(data).update(generator_version="x"), "generator_version must be"),
    (lambda data: parameters(data).update(d=[13]), "d must be an integer in 1..12 .*got 13"),
    (lambda data: parameters(data).update(d={"x": 1}), "d must be an integer in 1..12"),
    (lambda data: parameters(data).update(seed="42"), "seed must be an integer .*got '42'"),
    (lambda data: parameters(data).update(trace="no"), "trace must be True or False, got 'no'"),
    (lambda data: parameters(data).update(x=1), "parameters of cogniload must be d, "),
    (lambda data: data["configs"].append(data["configs"][0]), "configs .* must be those of"),
    (lambda data: data["configs"][0]["data_files"][0].update(path="*"), "configs .* must be"),
    (lambda data: parameters(data).update(seed=7), "configs .* must be those of its puzzles"),
])  # fmt: skip
def test_a_card_that_is_not_ours_is_an_error(folder, capsys, change, message):
    rewrite_card(folder, change)
    error = refusal(capsys, "verify", "folder")
    assert error.startswith("folder has a card that `cogniload push` did not write: ")
    assert re.search(message, error)
    assert len(error) < 1000


def test_another_generator_version_is_an_error(folder, capsys):
    def change(data):
        text = entry(data) | {"generator_version": 2}
        data["puzzles"] = [text]
        name = NAME.replace("-v1-", "-v2-")
        data["configs"][0]["config_name"] = name
        data["configs"][0]["data_files"][0]["path"] = f"{name}/test-*.parquet"

    rewrite_card(folder, change)
    error = refusal(capsys, "verify", "folder")
    assert "is of generator version 2; this release makes version 1" in error


def with_short_numbers(table):
    return table.set_column(table.column_names.index("d"), "d", table["d"].cast("int32"))


@pytest.mark.parametrize(("damage", "message"), [
    (lambda folder, file: file.unlink(), "must hold .*got no such file"),
    (lambda _, file: file.write_bytes(b"PAR1"), "00001.parquet must be a Parquet file: "),
    (lambda _, file: file.write_bytes(file.read_bytes()[:-9]), "must be a Parquet file: "),
    (lambda folder, file: pq.write_table(pa.table({"id": ["x"]}), file), "its columns must be"),
    (lambda _, file: pq.write_table(with_short_numbers(pq.read_table(file)), file), "got .*int32"),
    (lambda folder, file: (folder / "README.md").unlink(), "must hold manifest.json"),
    (lambda folder, file: (folder / "README.md").write_text("---\n: [\n---\n"), "must be YAML"),
    (lambda folder, file: (folder / "README.md").write_bytes(b"\xff"), "push` did not write"),
    (lambda folder, file: (folder / "README.md").write_text(f"---\nx: {'[' * 1000}\n---\n"),
     "must be YAML: maximum recursion"),
    (lambda folder, file: pq.write_table(pa.table({"\x1b[2J": ["x"]}), file),
     r"got '\\x1b\[2J: string'"),
])  # fmt: skip
def test_damaged_files_are_an_error(folder, capsys, damage, message):
    (file,) = (folder / NAME).glob("*.parquet")
    damage(folder, file)
    assert re.search(message, refusal(capsys, "verify", "folder"))


def test_without_the_hub_a_repository_can_not_be_verified(capsys):
    assert "me/puzzles: the Hub can't be reached" in refusal(capsys, "verify", "me/puzzles")


@pytest.mark.parametrize("source", ["nowhere", "/no/where", "a/b/c", "file"])
def test_what_is_neither_a_folder_nor_a_repository(source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("cogniload_gen.hub.verify.download", pytest.fail)
    error = refusal(capsys, "verify", source)
    assert error.endswith("must be a folder or a repository user/name")


TABLE = generate_puzzles(1, [5, 6], 50, num_puzzles=4)


@given(
    st.lists(st.integers(0, 8), max_size=4),
    st.lists(st.integers(0, 8), max_size=4),
    st.sets(st.integers(0, 7)),
)
def test_streams_of_any_sizes_are_aligned(one, other, changed):
    """However both are cut into tables, the differing rows are those that were changed."""
    answers = [f"{a}!" if i in changed else a for i, a in enumerate(TABLE["answer"].to_pylist())]
    published = TABLE.set_column(TABLE.column_names.index("answer"), "answer", pa.array(answers))

    def cut(table, sizes):
        for size in sizes:
            yield table.slice(0, size)
            table = table.slice(size)
        yield table

    found = differing(cut(published, one), cut(TABLE, other), TABLE.schema)
    assert [(each.row, each.column) for each in found] == [(i, "answer") for i in sorted(changed)]


def test_of_many_missing_rows_those_of_one_table_are_named():
    missing = differing([], [TABLE, TABLE], TABLE.schema)
    assert [each.expected for each in missing] == TABLE["id"].to_pylist()


def republish(folder, **changed):
    """Have the card, and the names of folders, tell other parameters than those of the rows."""

    def change(data):
        parameters(data).update(changed)
        name = NAME
        for knob, value in changed.items():
            values = value if isinstance(value, list) else [value]
            told = knob + "_".join(map(str, values))
            name = re.sub(rf"{knob}[\d_]+", told, name) if knob in name else f"{name}-{told}"
        data["configs"][0]["config_name"] = entry(data)["config_name"] = name
        data["configs"][0]["data_files"][0]["path"] = f"{name}/test-*.parquet"
        (folder / NAME).rename(folder / name)

    rewrite_card(folder, change)


def test_a_card_that_asks_for_endless_puzzles_is_soon_told(folder, monkeypatch):
    """Twelve puzzles of a million statements would take an hour to make."""
    monkeypatch.setattr("cogniload_gen.configurations.Configuration.source", pytest.fail)
    monkeypatch.setattr("cogniload_gen.configurations.Configuration.schema", TABLE.schema)
    republish(folder, N=[999_999, 1_000_000])
    (difference,) = verify(folder).first
    expected = r"row 0: puzzle: published '\d+ characters', expected 'at least 999999'"
    assert re.search(expected, str(difference))


def test_a_card_s_tokenizer_is_loaded_only_if_it_is_named(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "factor"
    push(factor_grid(N=[3], context=[0], num_puzzles=2), "me/puzzles", dry_run=folder)
    path = folder / "README.md"
    (name,) = (each.name for each in folder.iterdir() if each.is_dir())
    text = path.read_text("utf-8").replace("tokenizer: null", "tokenizer: ../planted")
    path.write_text(text.replace(name, f"{name}-tokenizer.._planted"), "utf-8")
    (folder / name).rename(folder / f"{name}-tokenizer.._planted")
    monkeypatch.setattr("cogniload_gen.tokens.load_tokenizer", pytest.fail, raising=False)
    error = refusal(capsys, "verify", folder)
    assert "measures by the tokenizer '../planted': pass --tokenizer" in error


def test_a_small_file_of_large_rows_is_read_within_bounds(folder):
    """A value that the file holds once, in each of many rows, would fill the memory."""
    (file,) = (folder / NAME).glob("test-*.parquet")
    table = pq.read_table(file).take([0] * 1200)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 1200), pa.array(["x" * 2_000_000]))
    table = table.set_column(table.schema.get_field_index("puzzle"), "puzzle", texts)
    once = {"dictionary_pagesize_limit": 1 << 22, "store_schema": False, "compression": "zstd"}
    pq.write_table(table, file, row_group_size=1200, **once)
    assert file.stat().st_size < 10_000
    ran = run_python(IN_2_GIB, "verify", "folder", check=False)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert re.search(r"^folder differs: \d+ values, 12 rows expected$", ran.stdout, re.MULTILINE)


def test_a_card_of_any_size_is_not_read(folder, capsys):
    path = folder / "README.md"
    path.write_text(path.read_text("utf-8") + "x" * (1 << 20), "utf-8")
    assert "README.md must have at most 1048576 bytes" in refusal(capsys, "verify", "folder")

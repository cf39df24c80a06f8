"""What is published or generated, checked again: the same, or which files and rows are not."""

import json
import re
from functools import partial
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from command_line import main, refusal

from cogniload_gen import generate_puzzles
from cogniload_gen.hub import push
from cogniload_gen.shards import puzzle_files

GRID = {"d": [1, 3], "N": [5, 20], "rho": 50.0, "num_puzzles": 3}
NAME = "cogniload-v1-d1_3-N5_20-rho50-num_puzzles3-seed42"
ROWS = generate_puzzles(**GRID).to_pylist()
SECOND = "test-00001-of-00003.parquet"


@pytest.fixture
def pushed(folder):
    """12 puzzles in a folder of `push`."""
    push("me/puzzles", **GRID, dry_run="out")
    return folder / "out"


@pytest.fixture
def generated(folder):
    """The same puzzles in a folder of `generate`, in 3 files."""
    files = puzzle_files("out", **GRID, rows_per_file=4)
    assert [files.make(number) for number in range(3)] == [4, 4, 4]
    files.finish()
    return folder / "out"


def rewrite(file, change):
    rows = pq.read_table(file).to_pylist()
    change(rows)
    schema = pa.schema(
        [field for field in pq.read_schema(file) if not rows or field.name in rows[0]]
    )
    pq.write_table(pa.Table.from_pylist(rows, schema), file, row_group_size=5)


def rewrite_pushed(pushed, change):
    (file,) = (pushed / NAME).glob("*.parquet")
    rewrite(file, change)


def rewrite_card(pushed, change):
    path = pushed / "README.md"
    _, metadata, text = path.read_text("utf-8").split("---", 2)
    data = yaml.safe_load(metadata)
    change(data)
    path.write_text(f"---\n{yaml.safe_dump(data, sort_keys=False)}---{text}", "utf-8")


def verify(capsys, *options):
    """The exit code of `cogniload verify out`, its lines about differences, and its verdict."""
    capsys.readouterr()
    code = main(["verify", "out", *options])
    said = capsys.readouterr()
    *lines, verdict = (said.out + said.err).splitlines()
    return code, lines, verdict


def test_what_we_push_is_whole(pushed, capsys):
    whole = "out is whole: 12 rows in 1 file; 12 made again, the same, and solved"
    assert verify(capsys) == (0, [], whole)
    rewrite_pushed(pushed, list)  # other row groups are the same rows
    assert verify(capsys) == (0, [], whole)


def test_what_we_generate_is_whole(generated, capsys):
    whole = "out is whole: 12 rows in 3 files; {} made again, the same, and solved"
    assert verify(capsys) == (0, [], whole.format(12))
    assert verify(capsys, "--sample", "0.01") == (0, [], whole.format(4))
    assert verify(capsys, "--sample", "0.6") == (0, [], whole.format(8))


@pytest.mark.parametrize("column", list(ROWS[0]))
def test_every_column_is_compared(pushed, capsys, column):
    """A changed cell is named by its file and row."""
    changed = {str: "x", int: 1000, float: 99.0, list: ["x"]}[type(ROWS[7][column])]
    rewrite_pushed(pushed, lambda rows: rows[7].update({column: changed}))
    code, (line,), verdict = verify(capsys)
    assert code == 1
    assert line == f"{NAME}/test-00000-of-00001.parquet row 7 is not as made"
    assert verdict == "out differs from its 12 rows"


@pytest.mark.parametrize(("change", "said"), [
    (lambda rows: rows[0].update(puzzle=None), "row 0 is"),
    (lambda rows: rows.reverse(), "row 0 is"),
    (lambda rows: rows.pop(), "must have 12 rows, got 11"),
    (lambda rows: rows.append(rows[0]), "must have 12 rows, got 13"),
    (lambda rows: [row.pop("d") for row in rows], "00001.parquet row 0 is"),
])  # fmt: skip
def test_other_orders_and_numbers_of_rows_differ(pushed, capsys, change, said):
    rewrite_pushed(pushed, change)
    code, lines, _ = verify(capsys)
    assert code == 1
    assert re.search(said, lines[0])


@pytest.mark.parametrize(("damage", "said"), [
    (lambda out: (out / SECOND).unlink(), f"out/{SECOND} is missing"),
    (lambda out: (out / SECOND).write_bytes((out / SECOND.replace("1", "0", 1)).read_bytes()),
     f"out/{SECOND} has changed since it was written"),
])  # fmt: skip
def test_a_damaged_file_of_a_folder_is_named(generated, capsys, damage, said):
    damage(generated)
    code, lines, verdict = verify(capsys, "--sample", "0.01")
    assert (code, lines) == (1, [said])
    assert verdict == "out differs from its 12 rows"


def test_a_folder_whose_manifest_proves_other_rows_differs(generated, capsys):
    """Its digests are right, and what is made again is not."""
    rewrite(generated / SECOND, lambda rows: rows[3].update(answer="red"))
    digests = json.loads((generated / "manifest.json").read_text("utf-8"))["sha256"]
    sign(
        generated, sha256=digests | {SECOND: sha256((generated / SECOND).read_bytes()).hexdigest()}
    )
    code, (line,), _ = verify(capsys)
    assert code == 1
    assert line == f"out/{SECOND} row 3 is not as made"


def test_an_unfinished_folder_is_not_whole(folder, capsys):
    files = puzzle_files("out", **GRID, rows_per_file=4)
    files.make(1)
    code, lines, _ = verify(capsys)
    assert (code, lines) == (1, [f"out/test-0000{i}-of-00003.parquet is missing" for i in (0, 2)])


def sign(out, **changes):
    path = out / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


@pytest.mark.parametrize(("damage", "said"), [
    (lambda out: (out / "manifest.json").write_text("[1]"), "manifest.json must be what "),
    (partial(sign, generator_version=2), "is of generator version 2; this release makes version 1"),
    (partial(sign, parameters=[]), "no entry of puzzles is "),
    (lambda out: (out / "manifest.json").unlink(), "must hold manifest.json, .* or README.md"),
])  # fmt: skip
def test_a_folder_that_does_not_say_what_it_holds_is_unknown(generated, capsys, damage, said):
    damage(generated)
    assert re.search(said, refusal(capsys, "verify", "out"))


def entry(data):
    return data["puzzles"][0]


@pytest.mark.parametrize(("change", "message"), [
    (lambda data: data.pop("puzzles"), "not write: no entry of puzzles is None"),
    (lambda data: entry(data).update(benchmark="x"), "not write: benchmark must be one of cog"),
    (lambda data: entry(data)["parameters"].update(d=[13]), "not write: d must be an integer"),
    (lambda data: entry(data).update(generator_version=2), "this release makes version 1"),
])  # fmt: skip
def test_a_card_that_is_not_ours_is_unknown(pushed, capsys, change, message):
    rewrite_card(pushed, change)
    assert re.search(message, refusal(capsys, "verify", "out"))


def test_damaged_files_are_unknown(pushed, capsys):
    (file,) = (pushed / NAME).glob("*.parquet")
    file.write_bytes(file.read_bytes()[:-9])
    assert "can't be read: " in refusal(capsys, "verify", "out")
    (pushed / "README.md").write_text("---\n: [\n---\n")
    assert "push` did not write" in refusal(capsys, "verify", "out")


def test_a_card_s_tokenizer_is_loaded_only_if_it_is_named(folder, monkeypatch, capsys):
    push("me/puzzles", "factor", N=3, num_puzzles=2, dry_run="out")
    rewrite_card(
        folder / "out", lambda data: entry(data)["parameters"].update(tokenizer="../planted")
    )
    monkeypatch.setattr("cogniload_gen.tokens.load_tokenizer", pytest.fail)
    error = refusal(capsys, "verify", "out")
    assert "measures by the tokenizer '../planted': pass --tokenizer" in error

"""A folder of generated files, proven: whole, or what is wrong with it in a line."""

from functools import partial
from math import ceil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import refusal
from hypothesis import given, settings
from hypothesis import strategies as st

from cogniload_cli import main
from cogniload_gen.hub import verify as verify_module
from cogniload_gen.hub.verify_files import choose
from cogniload_gen.shards import digest, manifest_text, read_manifest
from cogniload_gen.version import __version__

GRID = ["--d", "1", "2", "--N", "3", "--rho", "50", "--num-puzzles", "9", "--rows-per-file", "4"]
SECOND = "test-00001-of-00005.parquet"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """18 puzzles in 5 files."""
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "out/", *GRID]) == 0
    return tmp_path / "out"


def sign(folder: Path, **changes) -> None:
    """Write a manifest that says something else, and whose own digest is right."""
    path = folder / "manifest.json"
    path.write_text(manifest_text(read_manifest(folder) | changes))


def sign_file(folder: Path, **changes) -> None:
    first, *others = read_manifest(folder)["files"]
    sign(folder, files=[first | changes, *others])


def forge(folder: Path, change) -> None:
    """Change the rows of the second file, and let the manifest prove them."""
    path = folder / SECOND
    rows = pq.read_table(path).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(path)), path, row_group_size=3)
    size, sha256 = digest(path)
    files = read_manifest(folder)["files"]
    files[1] |= {"bytes": size, "sha256": sha256}
    sign(folder, files=files)


def verify(capsys, *options) -> tuple[int, list[str]]:
    capsys.readouterr()
    code = main(["verify", "out", *options])
    said = capsys.readouterr()
    return code, (said.out + said.err).splitlines()


def test_ours_is_whole(folder, capsys):
    whole = "out is whole: 18 rows in 5 files; {} made again, the same, and solved"
    assert verify(capsys) == (0, [whole.format(18)])
    code, (line,) = verify(capsys, "--sample", "1%")
    assert code == 0
    assert line in {whole.format(4), whole.format(2)}
    assert verify(capsys, "--sample", "60%")[0] == 0
    assert main(["generate", "one/", *GRID[:-2]]) == 0  # of one row group, as the help says
    assert main(["verify", "one", "--sample", "1%"]) == 0
    assert "1 file; 18 made again" in capsys.readouterr().out


def test_the_same_rows_written_otherwise_are_the_same(folder, capsys):
    """As by another version of pyarrow; hidden files and a page to read are no puzzles.

    Nothing can prove which versions wrote them, and a line says so.
    """
    forge(folder, list)
    sign(folder, pyarrow="15.0.2", release="0.0.9")
    (folder / ".test-00001-of-00005.parquet.1234.part").touch()
    (folder / "README.md").touch()
    code, (_, line) = verify(capsys)
    assert code == 0
    assert line.startswith("not checked: release 0.0.9 with pyarrow 15.0.2")


@pytest.mark.parametrize("release", ["99.0.0", "0.2.1rc1", f"{__version__}.1"])
def test_a_release_that_is_still_to_come_is_refused(folder, capsys, release):
    sign(folder, release=release)
    code, (line, _) = verify(capsys, "--sample", "1%")
    assert code == 1
    assert line == f"out/manifest.json: its release must be at most {__version__}, got {release}"


@pytest.mark.parametrize(("damage", "said"), [
    (lambda f: (f / SECOND).unlink(), f"out/{SECOND} is missing"),
    (lambda f: (f / SECOND).write_bytes(b""), f"out/{SECOND} has changed since it was written"),
    (lambda f: (f / "more.parquet").touch(), "out/more.parquet is not of these puzzles"),
    (lambda f: (f / "more").mkdir(), "out/more is not of these puzzles"),
    (lambda f: (f / "manifest.json").unlink(), "out/manifest.json is missing"),
    (lambda f: (f / "manifest.json").write_text("[1]"), "out/manifest.json has changed"),
    (lambda f: sign(f, generator_version=2), "is of generator version 2; this release makes"),
    *((partial(sign, **change), "out/manifest.json must say what follows from its parameters")
      for change in ({"rows": 19}, {"splits": ["test", "train"]}, {"release": "mine"},
                     {"release": None}, {"pyarrow": ["15.0.2"]}, {"num_puzzles": 9},
                     {"rows": 18.0})),
    *((partial(sign_file, **change), "out/manifest.json must list 5 files with their rows")
      for change in ({"name": [1]}, {"rows": True}, {"bytes": "1"})),
    *((partial(sign, files=files), "out/manifest.json must list 5 files with their rows")
      for files in (3, [], [{}] * 5)),
    (lambda f: sign(f, rows_per_file=0), "rows_per_file must be an integer in 1.."),
    (lambda f: sign(f, splits=["train"]), "must list 5 files"),
    (lambda f: sign(f, parameters=[]), "parameters of cogniload must be"),
])  # fmt: skip
def test_damage_is_named_in_a_line(folder, capsys, damage, said):
    damage(folder)
    code, lines = verify(capsys, "--sample", "1%")
    assert code == 1
    assert said in lines[0]
    assert lines[-1].startswith("out is damaged in ")


@settings(max_examples=25)
@given(data=st.data())
def test_any_changed_byte_is_seen(folder, capsys, data):
    path = data.draw(st.sampled_from(sorted(folder.iterdir())))
    before = path.read_bytes()
    place = data.draw(st.integers(0, len(before) - 1))
    byte = bytes([before[place] ^ data.draw(st.integers(1, 255))])
    path.write_bytes(before[:place] + byte + before[place + 1 :])
    code, lines = verify(capsys, "--sample", "1%")
    path.write_bytes(before)
    assert code == 1
    assert lines[0] == f"out/{path.name} has changed since it was written" + (
        ": its SHA-256 is not the manifest's" if path.suffix == ".parquet" else ""
    )


def test_a_file_in_the_place_of_another(folder, capsys):
    """With the digest of what is there: its ids are others."""
    (folder / SECOND).write_bytes((folder / SECOND.replace("1", "0", 1)).read_bytes())
    forge(folder, list)
    code, lines = verify(capsys, "--sample", "1%")
    assert code == 1
    assert lines[0].startswith(f"{SECOND} row 0 (cogniload-v1-test-s42-d1-N3-rho50-2): id: ")


@pytest.mark.parametrize(("change", "said"), [
    (list.reverse, f"{SECOND} row 0 ("),
    (list.pop, f"{SECOND} row 3 ("),
    (lambda rows: rows.append(rows[0]), f"{SECOND} row 4: id: "),
])  # fmt: skip
def test_rows_in_another_order_too_few_or_too_many(folder, capsys, change, said):
    forge(folder, change)
    code, lines = verify(capsys, "--sample", "1%")
    assert code == 1
    assert lines[0].startswith(said)


def test_a_forged_value_is_seen_where_its_row_group_is_made_again(folder, capsys):
    forge(folder, lambda rows: rows[3].update(answer="red"))
    code, lines = verify(capsys)
    assert code == 1
    assert {line.partition("): ")[2].partition(":")[0] for line in lines[:2]} == {
        *("answer", "answer by the solver")
    }
    assert lines[0].startswith(f"{SECOND} row 3 (cogniload-v1-test-s42-d2-N3-rho50-3): ")


def test_puzzles_that_would_take_long_to_make_are_not_made(folder, capsys, monkeypatch):
    """A stranger's manifest may ask for any length: the puzzles that are there bound the work."""
    monkeypatch.setattr(verify_module, "MADE_BESIDES", 5)
    forge(folder, lambda rows: [row.update(puzzle="") for row in rows])
    code, lines = verify(capsys)
    assert code == 1
    assert lines[0] == f"{SECOND} row 0: puzzle: published '0 characters', expected 'at least 3'"


def test_an_unfinished_folder_is_not_whole(folder, capsys):
    main(["generate", "part/", *GRID, "--shard", "1/2"])
    capsys.readouterr()
    assert main(["verify", "part", "--sample", "1%"]) == 1
    said = "part is unfinished: 3 of 5 files are there; the same generate command goes on\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("share", ["1", "0%", "101%", "x%", "1%%"])
def test_a_wrong_share_or_folder_is_one_line(folder, capsys, share):
    error = refusal(capsys, "verify", "out", "--sample", share)
    assert error.startswith("--sample must be a percentage above 0% and up to 100%, ")
    other = folder.parent
    assert f"{other} must hold manifest.json, " in refusal(capsys, "verify", other)
    assert "--sample is for a folder of " in refusal(capsys, "verify", other, "--sample", "1%")


@given(count=st.integers(1, 500), share=st.floats(0.0001, 1), key=st.integers(0, 2**63))
def test_a_sample_takes_one_of_each_stretch(count, share, key):
    groups = [(0, number, range(number, number + 1)) for number in range(count)]
    chosen = [number for _, number, _ in choose(groups, share, key)]
    assert len(chosen) == ceil(share * count)
    for place, number in enumerate(chosen):
        assert place * count // len(chosen) <= number < (place + 1) * count // len(chosen)


def test_samples_differ_by_the_digests():
    groups = [(0, number, range(number, number + 1)) for number in range(20)]
    assert {choose(groups, 0.01, key)[0][1] for key in range(400)} == {*range(20)}

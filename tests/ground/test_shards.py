"""A folder of files: the same bytes from any processes in any order, killed or not."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import refusal
from hypothesis import given, settings
from hypothesis import strategies as st

from cogniload_cli import main
from cogniload_gen import generate_puzzles, shards
from cogniload_gen.shards import MANIFEST, manifest_text, puzzle_files, read_manifest

KNOBS = {"d": [1, 2], "N": 3, "rho": 50}
GRID = ["--d", "1", "2", "--N", "3", "--rho", "50", "--num-puzzles", "9", "--rows-per-file", "4"]
SLOW = ["--d", "7", "--N", "100", "--rho", "50", "--num-puzzles", "600", "--rows-per-file", "20"]
"""30 files, each some 50 ms."""

STEPWISE = f"""
import sys
from cogniload_cli import main
from cogniload_gen.shards import PuzzleFiles
write = PuzzleFiles.write
def write_one(*arguments):
    print(flush=True)
    sys.stdin.readline()
    return write(*arguments)
PuzzleFiles.write = write_one
sys.argv[1:] = ["generate", "out/", *{SLOW}]
sys.exit(main())
"""
"""A program: the command, which makes a file for each line that it reads."""


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder, hidden ones too."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict[str, bytes]:
    """What one process writes: 18 puzzles in 5 files."""
    folder = tmp_path_factory.mktemp("whole")
    assert main(["generate", f"{folder}/", *GRID]) == 0
    return bytes_of(folder)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "out"


def test_the_files_hold_the_rows_in_order(whole, folder):
    main(["generate", "out/", *GRID])
    files = sorted(folder.glob("*.parquet"))
    assert [file.name for file in files] == [f"test-0000{i}-of-00005.parquet" for i in range(5)]
    assert [pq.read_metadata(file).num_rows for file in files] == [4, 4, 4, 4, 2]
    rows = pa.concat_tables([pq.read_table(file) for file in files]).to_pylist()
    assert rows == generate_puzzles(**KNOBS, num_puzzles=9).to_pylist()
    read = datasets.load_dataset(str(folder), split="test", cache_dir=str(folder / ".cache"))
    assert list(read) == rows
    assert {*whole} == {"manifest.json", *(file.name for file in files)}


@settings(max_examples=12)
@given(data=st.data(), count=st.integers(1, 7))
def test_any_number_of_shards_in_any_order_writes_the_same(
    whole, tmp_path_factory, capsys, data, count
):
    folder = tmp_path_factory.mktemp("shards")
    for number in data.draw(st.permutations(range(1, count + 1))):
        assert main(["generate", f"{folder}/", *GRID, "--shard", f"{number}/{count}"]) == 0
    assert bytes_of(folder) == whole
    assert "18 puzzles in 5 files" in capsys.readouterr().out


@pytest.mark.parametrize(("dataset", "parameters"), [
    ("cogniload", {"trace": True, "split": "train", "seed": 3}),
    ("factor", {"suite": "symbolic", "N": [3, 5], "context": [0, 50]}),
    ("factor", {"suite": "realistic", "op": 3, "context": [0, 400], "noise": "general"}),
])  # fmt: skip
def test_every_benchmark_and_option(tmp_path, dataset, parameters):
    knobs = KNOBS if dataset == "cogniload" else {}
    for name, order in (("a", (0, 1, 2)), ("b", (2, 0, 1))):
        asked = knobs | parameters | {"num_puzzles": 12 // (1 if knobs else 2)}
        files = puzzle_files(tmp_path / name, dataset, rows_per_file=9, **asked)
        for number in [each for each in order if each < len(files)]:
            files.make(number)
        assert files.finish() == len(files) > 1
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")
    tables = [pq.read_table(file) for file in sorted((tmp_path / "a").glob("*.parquet"))]
    assert pa.concat_tables(tables).equals(pa.concat_tables(files.source.tables()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_stopped_at_any_moment_it_goes_on(folder, capsys, number):
    """Somewhere in the work for its fourth file."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, "-c", STEPWISE], text=True, **pipes)
    assert process.stdout.readline().startswith("out/: 600 puzzles in 30 files")
    for _ in range(4):
        assert process.stdout.readline() == "\n"
        print(file=process.stdin, flush=True)
    process.send_signal(number)
    _, said = process.communicate()
    assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        assert said.startswith("cogniload generate: interrupted: ")
        assert said.endswith("made; the same command goes on\n")
        assert not [name for name in bytes_of(folder) if name.endswith(".part")]
    there = list(folder.glob("*.parquet"))
    assert 3 <= len(there) <= 4
    assert all(pq.read_metadata(file).num_rows == 20 for file in there)
    assert main(["generate", "out/", *SLOW]) == 0
    out = capsys.readouterr().out
    kept = int(out.partition(" made, ")[2].split()[0])
    assert kept >= len(there) - 1  # of the last, the digest may lack
    assert "600 puzzles in 30 files" in out
    files = puzzle_files(folder, d=7, N=100, rho=50, num_puzzles=600, rows_per_file=20)
    assert all(map(files.proven, range(30)))
    assert {*bytes_of(folder)} == {"manifest.json", *files.names}


def test_many_processes_at_once(whole, tmp_path):
    program = (
        "import sys; from cogniload_gen.shards import puzzle_files\n"
        f"files = puzzle_files('out', rows_per_file=4, num_puzzles=9, **{KNOBS})\n"
        "for number in map(int, sys.argv[1]): files.make(number)\n"
        "files.finish()"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, order], cwd=tmp_path)
        for order in ("01234", "43210", "02413")
    ]
    assert [process.wait() for process in started] == [0] * 3
    assert bytes_of(tmp_path / "out") == whole


def test_the_folder_of_digests_may_vanish_while_it_is_made(whole, folder, monkeypatch):
    """`Path.mkdir` finds the folder of the last process there, and then no more."""
    late = puzzle_files(folder, **KNOBS, num_puzzles=9, rows_per_file=4)
    main(["generate", "out/", *GRID])

    def vanish(path):
        raise FileExistsError(path)

    monkeypatch.setattr("cogniload_gen.shards.make_inner_folder", vanish)
    late.write(2)
    assert late.finish() == 5
    assert {name: bytes_of(folder)[name] for name in whole} == whole


def test_the_last_process_may_end_while_another_looks_for_a_file(folder, monkeypatch):
    """The other reads the manifest before it is whole, and the digests when they are gone."""
    late, last = (puzzle_files(folder, **KNOBS, num_puzzles=9, rows_per_file=4) for _ in range(2))
    for number in range(5):
        last.make(number)

    def read_and_end(path):
        manifest = read_manifest(path)
        last.finish()
        return manifest

    monkeypatch.setattr("cogniload_gen.shards.read_manifest", read_and_end)
    with late.unless_whole(2):
        raise FileNotFoundError


def test_a_late_twin_changes_nothing(whole, folder):
    """One that read the manifest before the last process completed it."""
    options = KNOBS | {"num_puzzles": 9, "rows_per_file": 4}
    late = puzzle_files(folder, **options)
    main(["generate", "out/", *GRID])
    assert late.finish() == 5
    late.write(2)
    assert late.finish() == 5
    puzzle_files(folder, **options).finish()
    assert {name: bytes_of(folder)[name] for name in whole} == whole


def test_a_damaged_or_missing_file_or_digest_is_made_again(whole, folder, capsys):
    main(["generate", "out/", *GRID, "--shard", "1/2"])
    (folder / ".digests" / "test-00000-of-00005.parquet.json").write_text("[")
    (folder / ".digests" / "test-00002-of-00005.parquet.json").write_text('{"name": "x"}')
    main(["generate", "out/", *GRID])
    assert bytes_of(folder) == whole
    first, second, *_ = sorted(folder.glob("*.parquet"))
    first.write_bytes(first.read_bytes()[:-1] + b"X")
    second.unlink()
    capsys.readouterr()
    assert main(["generate", "out/", *GRID]) == 0
    assert "2 files made, 3 were whole by their SHA-256" in capsys.readouterr().out
    assert bytes_of(folder) == whole
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    manifest["files"][0]["sha256"] = manifest.pop("sha256")
    (folder / MANIFEST).write_text(manifest_text(manifest), "utf-8")
    assert main(["generate", "out/", *GRID]) == 2
    assert "has not the SHA-256 that manifest.json says" in capsys.readouterr().err


@pytest.mark.parametrize(("change", "said"), [
    (["--seed", "7"], "holds files of seed 42, got 7"),
    (["--split", "train"], "holds files of splits ['test'], got ['train']"),
    (["--num-puzzles", "10"], "holds files of num_puzzles 9, got 10"),
    (["--N", "4"], "holds files of N [3], got [4]"),
    (["--rows-per-file", "5"], "holds files of rows_per_file 4, got 5"),
    (["--trace"], "holds files of trace False, got True"),
])  # fmt: skip
def test_other_parameters_are_refused(folder, capsys, change, said):
    main(["generate", "out/", *GRID, "--shard", "1/2"])
    before = bytes_of(folder)
    assert refusal(capsys, "generate", "out/", *GRID, *change).startswith(f"out {said}")
    assert bytes_of(folder) == before


@pytest.mark.parametrize("name", ["generator_version", "pyarrow", "release"])
def test_another_version_is_refused(folder, capsys, name):
    """Its files may have other bytes."""
    main(["generate", "out/", *GRID, "--shard", "1/2"])
    manifest = read_manifest(folder) | {name: "0.0.1"}
    (folder / "manifest.json").write_text(manifest_text(manifest))
    error = refusal(capsys, "generate", "out/", *GRID)
    assert error.startswith(f"out holds files of {name} '0.0.1', got ")


def test_a_changed_manifest_is_refused(folder, capsys):
    main(["generate", "out/", *GRID])
    path = folder / "manifest.json"
    text = path.read_text()
    path.write_text(text.replace('"seed": 42', '"seed": 43'))
    error = refusal(capsys, "generate", "out/", *GRID)
    assert error.startswith("out/manifest.json has changed since it was written")
    manifest = json.loads(text)
    del manifest["sha256"]
    for change, said in (
        ({"sha256": "0" * 64}, "has not the SHA-256 that manifest.json says"),
        ({"name": [1]}, "must list 5 files with their rows"),
    ):
        manifest["files"][0] |= change
        path.write_text(manifest_text(manifest))
        assert main(["generate", "out/", *GRID]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "said"), [
    (["out/", "--shard", "3/2"], "shard must be I/N with 1 <= I <= N, got '3/2'"),
    (["out/", "--shard", "0/2"], "shard must be I/N with 1 <= I <= N, got '0/2'"),
    (["out/", "--rows-per-file", "0"], "rows_per_file must be an integer in 1.."),
    (["out/", "--rows-per-file", "1", "--num-puzzles", "99999"], "at most 100,000 files"),
    (["out/", "--force"], "--force is for a file"),
    (["out/", "--errors"], "--errors is for a file"),
    (["out/", "--suite", "symbolic", "--split", "pretrain"], "a folder takes a grid"),
    (["out.parquet", "--rows-per-file", "5"], "--rows-per-file is for a folder"),
    (["out.parquet", "--shard", "1/2"], "--shard is for a folder: write out.parquet/ for one"),
    (["afile/", *GRID], "afile is a file: name a folder"),
    (["out"], "FILE must end in .jsonl or .parquet, got 'out'"),
])  # fmt: skip
def test_a_wrong_request_is_one_line(folder, capsys, arguments, said):
    (folder.parent / "afile").touch()
    assert said in refusal(capsys, "generate", *arguments)
    assert not folder.exists()


def test_what_is_made_is_said_before(folder, capsys):
    main(["generate", "out/", *GRID, "--shard", "2/5"])
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "out/: 18 puzzles in 5 files, of which shard 2/5 makes 1"
    assert second == "shard 2/5: 1 file made, 0 were whole by their SHA-256"
    main(["generate", "one/", *GRID[:-4], "--num-puzzles", "1"])
    assert capsys.readouterr().out.splitlines()[0] == "one/: 2 puzzles in 1 file"


def test_a_folder_of_other_things_is_refused(folder, capsys):
    folder.mkdir()
    (folder / "mine.txt").touch()
    error = refusal(capsys, "generate", "out/", *GRID)
    assert error.startswith("out must be empty or hold these puzzles, got mine.txt in it")
    assert [*bytes_of(folder)] == ["mine.txt"]


def test_a_digest_of_another_file_proves_nothing(folder):
    folder.mkdir()
    (folder / ".hidden").touch()
    files = puzzle_files(folder, **KNOBS, num_puzzles=1, rows_per_file=1)
    part, written = files.part(0), vars(files.make(0))
    for change in ({"name": "x"}, {"rows": 2}, {"rows": True}, {"bytes": 1}, {}):
        part.write_text(json.dumps(written | change), "utf-8")
        assert (files.proven(0) is None) == bool(change)


def test_progress_is_shown_on_a_terminal(folder):
    """Of a folder and of a file, where the terminal has a width, as a bare one has not."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    program = (
        "from cogniload_cli import main\n"
        f"main(['generate', 'out/', *{GRID}]); main(['generate', 'out.parquet', *{GRID[:-2]}])"
    )
    subprocess.run([sys.executable, "-c", program], stderr=theirs, check=True)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # which is how a terminal ends
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    assert shown.count(b"100%") >= 2
    assert shown.count(b"18/18") >= 2


def test_the_unit_of_work_is_bounded():
    """A default file of the paper's grid is what the engine simulates side by side, at most."""
    grid = shards.benchmarks.named("cogniload").select(num_puzzles=10**6)
    files = shards.files_of("out", grid, shards.ROWS_PER_FILE)
    assert len(files) == 14_000
    assert len(files.rows(0)) == 10_000
    assert files.names[-1] == "test-13999-of-14000.parquet"

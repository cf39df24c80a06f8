"""A folder of files: the same bytes from any processes in any order, killed or not."""

import signal
import subprocess
import sys
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import main, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from stored import cases, contents

from cogniload_gen import generate_puzzles
from cogniload_gen.shards import puzzle_files

KNOBS = {"d": [1, 2], "N": 3, "rho": 50}
GRID = ["--d", "1", "2", "--N", "3", "--rho", "50", "--num-puzzles", "9", "--rows-per-file", "4"]
SLOW = {"d": 7, "N": 100, "rho": 50, "num_puzzles": 600, "rows_per_file": 20}
"""30 files, each some 50 ms."""

STEPWISE = f"""
import sys
from cogniload_gen.shards import puzzle_files
files = puzzle_files("out", **{SLOW})
for number in range(len(files)):
    print(flush=True)
    sys.stdin.readline()
    files.make(number)
"""
"""A program that makes a file for each line that it reads."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict[str, bytes]:
    """What one process writes: 18 puzzles in 5 files."""
    folder = tmp_path_factory.mktemp("whole")
    assert main(["generate", f"{folder}/", *GRID]) == 0
    return contents(folder)


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
    assert contents(folder) == whole
    assert "whole, 18 puzzles in 5 files" in capsys.readouterr().out


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_stopped_at_any_moment_it_goes_on(folder, stop):
    """Somewhere in the work for its fourth file."""
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, "-c", STEPWISE], text=True, **pipes)
    for _ in range(4):
        assert process.stdout.readline() == "\n"
        print(file=process.stdin, flush=True)
    process.send_signal(stop)
    process.communicate()
    assert process.returncode == -stop
    before = {file.name: file.stat().st_ino for file in folder.glob("*.parquet")}
    assert 3 <= len(before) <= 4
    files = puzzle_files(folder, **SLOW)
    assert [files.make(number) for number in range(30)] == [20] * 30
    assert files.finish() == 30
    assert {name: (folder / name).stat().st_ino for name in before} == before
    assert main(["verify", "out"]) == 0


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
    assert contents(tmp_path / "out") == whole


@pytest.mark.parametrize(("change", "said"), cases(__file__)["other_files"])
def test_other_parameters_are_refused(folder, capsys, change, said):
    main(["generate", "out/", *GRID, "--shard", "1/2"])
    before = contents(folder)
    assert refusal(capsys, "generate", "out/", *GRID, *change).startswith(f"out {said}")
    assert contents(folder) == before


@pytest.mark.parametrize(("arguments", "said"), cases(__file__)["folder_words"])
def test_a_wrong_request_is_one_line(folder, capsys, arguments, said):
    (folder.parent / "afile").touch()
    assert said in refusal(capsys, "generate", *arguments)
    assert not folder.exists()

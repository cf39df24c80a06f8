"""The command line: its commands, what they write, and what they say when they can't."""

import json
import re
import subprocess
import sys
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
from command_line import parse, refusal, run_python
from stored import cases, read_lines

from cogniload_cli import COMMANDS, main
from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.steps.planted import write_trace

NAMES = [name for group in COMMANDS.values() for name in group]
SMALL = ["--d", "1", "3", "--N", "5", "--rho", "25", "50", "--num-puzzles", "3"]
PUZZLES = {"d": [1, 3], "N": 5, "rho": [25, 50], "num_puzzles": 3}


def said_of(capsys, words: list[str]) -> tuple[int, str, str]:
    """Return the exit code of a command, also where the parser ends it, and what it printed."""
    capsys.readouterr()
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    return code, *capsys.readouterr()


def test_without_a_command_all_are_printed_by_groups(capsys):
    code, out, err = said_of(capsys, [])
    assert (code, err) == (0, "")
    assert re.findall(r"^(\w+)$", out, re.M) == ["Puzzles", "Run", "Read", "Share"]
    assert re.findall(r"^  (\w+) +[A-Z].*\.$", out, re.M) == NAMES
    assert len(NAMES) <= 16


@pytest.mark.parametrize("words", cases(__file__)["no_effect"])
def test_an_option_without_effect_is_refused(capsys, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    option = [word for word in words.split() if word.startswith("--")]
    assert any(name in refusal(capsys, *words.split()) for name in option)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", NAMES)
def test_each_command_has_a_help(capsys, name):
    code, out, err = said_of(capsys, [name, "--help"])
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: cogniload {name} ")
    assert "options:\n" in out


@pytest.mark.parametrize("words", [[], ["generate", "--help"], ["eval", "--help"]], ids=" ".join)
def test_a_help_imports_no_library(words):
    code = "import atexit, sys, cogniload_cli\n"
    code += "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    modules = run_python(f"{code}cogniload_cli.main({words})").stderr.split()
    assert not {"datasets", "lm_eval", "numpy", "pandas", "pyarrow", "yaml"} & {*modules}
    assert words or "cogniload_gen" not in modules


@pytest.mark.parametrize(("words", "message"), cases(__file__)["misspelt"])
def test_a_wrong_word_is_one_line_that_names_the_nearest(capsys, words, message):
    """Whatever else is missing or wrong then."""
    code, out, err = said_of(capsys, words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_what_is_lm_evals_is_not_taken_for_misspelt():
    words = ["--batch_size", "3", "--model_arg", "x"]
    assert parse(["eval", *words])[1] == words


def test_a_pipe_that_is_closed_ends_a_command_in_silence():
    closed = "import cogniload_cli, os, sys\nread, write = os.pipe()\nos.close(read)\n"
    closed += "os.dup2(write, 1)\nsys.exit(cogniload_cli.main(sys.argv[1:]))"
    for options in ([], ["-u"]):
        command = [sys.executable, *options, "-c", closed, "tasks"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (141, "")


@pytest.mark.parametrize(("words", "lacking"), [
    ("plan --detect 0.05 --like Qwen3-8B", "pandas"),
    ("compare a b", "scipy"),
    ("report a --out b", "statsmodels"),
])  # fmt: skip
def test_a_command_without_its_extra_says_what_to_install(words, lacking):
    code = "import sys, cogniload_cli\nsys.modules[sys.argv[1]] = None\n"
    ran = run_python(
        f"{code}sys.exit(cogniload_cli.main(sys.argv[2:]))", lacking, *words.split(), check=False
    )
    name = words.split()[0]
    wanted = (
        f"cogniload {name}: error: {name} needs {lacking}: pip install '.[analysis]' in a clone"
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith(wanted)


@pytest.mark.parametrize(
    ("options", "more"),
    [({}, []), ({"trace": True, "seed": 7, "split": "train"}, "--trace --seed 7 --split train")],
)
def test_generate_writes_the_same_rows_as_jsonl_and_parquet(folder, options, more):
    expected = generate_puzzles(**PUZZLES, **options).to_pylist()
    for kind, suffix in (("json", "jsonl"), ("parquet", "parquet")):
        file = f"a.{suffix}"
        assert main(["generate", file, *SMALL, *(more and more.split())]) == 0
        read = {"data_files": file, "split": "train", "cache_dir": folder / kind}
        assert list(datasets.load_dataset(kind, **read)) == expected
    assert read_lines("a.jsonl") == pq.read_table("a.parquet").to_pylist() == expected


def test_solve_reads_a_file_or_standard_input(folder, capsys):
    (row,) = generate_puzzles(3, 20, 50, num_puzzles=1).to_pylist()
    Path("puzzle.txt").write_text(row["puzzle"], encoding="utf-8")
    main(["solve", "puzzle.txt"])
    command = [sys.executable, "-m", "cogniload_cli", "solve"]
    piped = subprocess.run(command, input=row["puzzle"].encode(), capture_output=True, check=True)
    assert capsys.readouterr().out == piped.stdout.decode() == f"{row['answer']}\n"
    Path("bad.txt").write_bytes(b"\xff")
    assert refusal(capsys, "solve", "bad.txt").startswith("bad.txt: ")


def test_score_counts_outcomes_or_first_errors(folder, capsys):
    right, wrong, told = generate_puzzles(3, 5, 50, num_puzzles=3).to_pylist()
    trace = write_trace(told["puzzle"], 3)
    other = next(option for option in wrong["options"] if option != wrong["answer"])
    lines = [
        json.dumps({"doc": row, "filtered_resps": [response], "outcome": "wrong_other"}) + "\n"
        for row, response in (
            (right, f"{right['poi']}: {right['answer']}."),
            (wrong, f"{wrong['poi']}: {other}."),
            (told, trace.response),
        )
    ]
    first, second = (f"samples_{name}_2026-11-22T08-26-58.123456.jsonl" for name in "ab")
    Path(first).write_text("".join(lines[:2]), encoding="utf-8")
    Path(second).write_text(lines[2], encoding="utf-8")
    assert main(["score", first, first]) == 0
    out = capsys.readouterr().out
    assert out.startswith("4 responses, 2 correct (50.00%), 4 scored anew\n")
    assert "\nwrong_logic_poi                  2   50.00%\n" in out
    assert main(["score", "--steps", first, second, "--out", "again"]) == 0
    said, error = capsys.readouterr().out.splitlines()
    assert said == "3 responses, 1 of them could be read"
    assert error.split() == [str(trace.error or "none"), "1", "100.00%"]
    assert {path.name for path in Path("again").iterdir()} == {first, second}
    error = refusal(capsys, "score", first, second, "--out", "again.jsonl")
    assert error == "--out takes one samples file, got 2: name a folder"


def test_an_error_that_nobody_has_foreseen_is_one_line_and_no_verdict(monkeypatch, capsys):
    """Its code is that of broken, since others are verdicts; the line says where it happened."""
    monkeypatch.setitem(COMMANDS["Puzzles"], "solve", lambda *_: {}["x"])
    code, out, err = said_of(capsys, ["solve"])
    assert (code, out) == (2, "")
    assert re.fullmatch(r".* a fault of the program: KeyError: 'x' \(test_cli\.py, .*\)\n", err)

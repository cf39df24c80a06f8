"""The command line: its commands, what they write, and what they say when they can't."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
from command_line import parse, refusal, run_python

from cogniload_cli import COMMANDS, main
from cogniload_gen import Outcome, generate_factor, generate_puzzles
from cogniload_gen.benchmarks import BENCHMARKS

NAMES = [name for group in COMMANDS.values() for name in group]
SMALL = ["--d", "1", "3", "--N", "5", "--rho", "25", "50", "--num-puzzles", "3"]
PUZZLES = {"d": [1, 3], "N": 5, "rho": [25, 50], "num_puzzles": 3}


def read_jsonl(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def said_of(capsys, words: list[str]) -> tuple[int, str, str]:
    """Return the exit code of a command, also where the parser ends it, and what it printed."""
    capsys.readouterr()
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    return code, *capsys.readouterr()


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"]])
def test_without_a_command_all_are_printed_by_groups(capsys, words):
    code, out, err = said_of(capsys, words)
    assert (code, err) == (0, "")
    assert re.findall(r"^(\w+)$", out, re.M) == ["Puzzles", "Run", "Read", "Share"]
    assert re.findall(r"^  (\w+) +[A-Z].*\.$", out, re.M) == NAMES
    assert len(NAMES) <= 16
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("name", NAMES)
def test_each_command_has_a_help(capsys, name):
    code, out, err = said_of(capsys, [name, "--help"])
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: cogniload {name} ")
    assert "options:\n" in out


@pytest.mark.parametrize("words", [[], *([name, "--help"] for name in NAMES)], ids=" ".join)
def test_a_help_imports_no_library(words):
    code = "import atexit, sys, cogniload_cli\n"
    code += "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    modules = run_python(f"{code}cogniload_cli.main({words})").stderr.split()
    others = ("datasets", "huggingface_hub", "lm_eval", "numpy", "pandas", "pyarrow", "yaml")
    assert not {*others} & {*modules}
    assert words or "cogniload_gen" not in modules


@pytest.mark.parametrize(("words", "message"), [
    ("evaluate", "cogniload: error: there is no evaluate: did you mean eval?"),
    ("Report x", "cogniload: error: there is no Report: did you mean report?"),
    ("--hlep", "cogniload: error: there is no --hlep: did you mean --help?"),
    ("fly", "cogniload: error: there is no fly: `cogniload` alone prints the commands"),
    ("generate --rh 5 a.jsonl", "generate: error: there is no --rh: did you mean --rho?"),
    ("report X --otu r", "report: error: there is no --otu: did you mean --out?"),
    ("plan --detcet=3", "plan: error: there is no --detcet: did you mean --detect?"),
    ("generate a.jsonl --mass 3", "generate: error: unrecognized arguments: --mass 3"),
    ("generate a.jsonl --n 3", "generate: error: unrecognized arguments: --n 3"),
    ("report a --out b --price 5", "report: error: argument --price: price must be IN,OUT"),
    ("why run --budget 1.5", "why: error: argument --budget: invalid int value: '1.5'"),
])  # fmt: skip
def test_a_wrong_word_is_one_line_that_names_the_nearest(capsys, words, message):
    """Whatever else is missing or wrong then."""
    code, out, err = said_of(capsys, words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_what_is_lm_evals_is_not_taken_for_misspelt():
    assert parse(["eval", "--batch_size", "3", "--include_path", "x"])[1] == [
        *("--batch_size", "3", "--include_path", "x")
    ]


@pytest.mark.parametrize("dashed", [True, False])
@pytest.mark.parametrize(("command", "option", "value"), [
    ("generate a.jsonl", "num_puzzles", "3"),
    ("push a/b", "dry_run", "folder"),
    ("report a --out b", "factor_n_clean", "3.5"),
    ("plan --detect 0.1 --like a", "response_tokens", "5.5"),
    ("eval", "output_path", "folder"),
    ("eval", "max_tokens_total", "20M"),
])  # fmt: skip
def test_an_option_may_be_spelled_with_dashes_or_underscores(command, option, value, dashed):
    spelled = option.replace("_", "-") if dashed else option
    given, others = parse([*command.split(), f"--{spelled}", value])
    assert (str(getattr(given, option)), others) == (value, [])


def test_an_option_takes_each_value_that_its_knob_offers():
    for knob in {knob for benchmark in BENCHMARKS for knob in benchmark.knobs}:
        numbers = [knob.low + 1, knob.high] if knob.kind in {"integer", "number"} else []
        for value in [*knob.choices, *numbers] if knob.kind != "twin" else []:
            given, _ = parse(["generate", "a.jsonl", f"--{knob.name}", str(value)])
            assert knob.check(*getattr(given, knob.name)) == (value,), knob.name


def test_push_offers_the_splits_that_it_takes(capsys):
    for command, offered in (("push", False), ("generate", True)):
        assert ("pretrain" in said_of(capsys, [command, "--help"])[1]) == offered


def test_a_pipe_that_is_closed_ends_a_command_in_silence():
    closed = "import cogniload_cli, os, sys\nread, write = os.pipe()\nos.close(read)\n"
    closed += "os.dup2(write, 1)\nsys.exit(cogniload_cli.main(sys.argv[1:]))"
    for words in ([], ["tasks"], ["solve", "--help"]):
        for options in ([], ["-u"]):
            command = [sys.executable, *options, "-c", closed, *words]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            assert ran.stderr == ""
            assert ran.returncode == 141 or words[-1] == "--help"


@pytest.mark.parametrize(("words", "lacking"), [
    ("plan --detect 0.05 --like Qwen3-8B", "pandas"),
    ("compare a b", "scipy"),
    ("report a --out b", "matplotlib"),
])  # fmt: skip
def test_a_command_without_its_extra_says_what_to_install(words, lacking):
    code = "import sys, cogniload_cli\nsys.modules[sys.argv[1]] = None\n"
    ran = run_python(
        f"{code}sys.exit(cogniload_cli.main(sys.argv[2:]))", lacking, *words.split(), check=False
    )
    name = words.split()[0]
    wanted = f"cogniload {name}: error: {name} needs {lacking}: pip install 'cogniload[analysis]'"
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
    assert read_jsonl("a.jsonl") == pq.read_table("a.parquet").to_pylist() == expected


def test_generate_overwrites_a_file_with_force_and_no_link_or_folder(folder, capsys):
    Path("a.jsonl").write_text("mine")
    command = ["generate", "a.jsonl", *SMALL]
    assert "a.jsonl exists" in refusal(capsys, *command)
    assert Path("a.jsonl").read_text() == "mine"
    assert main([*command, "--force"]) == 0
    assert len(read_jsonl("a.jsonl")) == 12
    Path("a.jsonl").unlink()
    Path("a.jsonl").symlink_to("target.jsonl")
    refusal(capsys, *command)
    assert "a.jsonl is a link" in refusal(capsys, *command, "--force")
    Path("a.jsonl").unlink()
    Path("a.jsonl").mkdir()
    assert "a.jsonl is a folder" in refusal(capsys, *command, "--force")


@pytest.mark.parametrize(("arguments", "message"), [
    *[
        (["generate", "a.jsonl", f"--{name}", value], f"{name} must be .*got {got}")
        for name, value, got in (
            *[("d", value, value) for value in ("0", "13", "2.5", "-1")],
            ("d", "x", "'x'"),
            *[("N", value, value) for value in ("0", "-1", "2.5")],
            *[("rho", value, value) for value in ("0", "101", "nan")],
            ("rho", "25%", "'25%'"),
            ("seed", "-1", "-1"),
            ("split", "dev", "'dev'"),
        )
    ],
    (["generate", "a.jsonl", "--num-puzzles", "0"], "num_puzzles must be .*got 0"),
    (["generate", "--d", "5", "a.jsonl"], "--d: invalid .* 'a.jsonl'|FILE is missing: it "),
    (["generate", "--d", "5"], "FILE is missing: it stands before the options"),
    (["generate", "a.csv"], r"must end in \.jsonl or \.parquet, got 'a\.csv'"),
    (["generate", "no/a.jsonl"], "no/a.jsonl: No such file"),
    (["generate", "/proc/a.jsonl"], "/proc/a.jsonl: "),
    (["solve", "no.txt"], "no.txt: No such file"),
    (["solve", "."], r"\.: Is a directory"),
    (["score", "no.jsonl"], "no.jsonl: No such file"),
])  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(folder, capsys, arguments, message):
    assert re.search(message, refusal(capsys, *arguments))
    assert list(folder.iterdir()) == []


def test_solve_reads_a_file_or_standard_input(folder, capsys):
    (row,) = generate_puzzles(3, 20, 50, num_puzzles=1).to_pylist()
    Path("puzzle.txt").write_text(row["puzzle"], encoding="utf-8")
    main(["solve", "puzzle.txt"])
    command = [sys.executable, "-m", "cogniload_cli", "solve"]
    piped = subprocess.run(command, input=row["puzzle"].encode(), capture_output=True, check=True)
    assert capsys.readouterr().out == piped.stdout.decode() == f"{row['answer']}\n"


def sample(row: dict, response: str, outcome: str, response_tokens: int = 10) -> dict:
    """What lm-eval writes of one document (evaluator.py, loggers/evaluation_tracker.py)."""
    arguments = {"gen_args_0": {"arg_0": row["puzzle"], "arg_1": {"max_gen_toks": 50}}}
    responses = {"resps": [[response]], "filtered_resps": [response]}
    metrics = {"outcome": outcome, "ECL50": [3, 5, 0.5, 1]}
    metrics |= {"prompt_tokens": 100, "response_tokens": response_tokens}
    names = {"metrics": ["acc", *metrics]}
    return {"doc": row, "arguments": arguments} | responses | metrics | names


@pytest.fixture
def samples(folder) -> Path:
    """A right answer, another that was scored wrongly, a wrong one and one cut off."""
    rows = generate_puzzles(3, 5, 50, num_puzzles=4).to_pylist()
    right = [f"{row['poi']}: {row['answer']}." for row in rows]
    wrong = next(option for option in rows[2]["options"] if option != rows[2]["answer"])
    made = [
        sample(rows[0], right[0], "correct_poi"),
        sample(rows[1], right[1], "wrong_other"),
        sample(rows[2], f"{rows[2]['poi']}: {wrong}.", "wrong_logic_poi"),
        sample(rows[3], right[3], "correct_poi", response_tokens=30),
    ]
    path = folder / "samples.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in made), encoding="utf-8")
    return path


def test_score_scores_again(samples, capsys):
    assert main(["score", str(samples), "--out", "again.jsonl"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("4 responses, 2 correct (50.00%), 2 scored anew\n")
    assert "wrong_max_context                1   25.00%" in said
    again = read_jsonl("again.jsonl")
    expected = ["correct_poi", "correct_poi", "wrong_logic_poi", "wrong_max_context"]
    assert [each["outcome"] for each in again] == expected
    assert [each["acc"] for each in again] == [1, 1, 0, 0]
    assert again[3]["wrong_max_context"] == 1
    assert not any("ECL50" in each for each in again)
    assert {Outcome(each["outcome"]) for each in again} <= set(Outcome)


def test_score_scores_samples_of_both_benchmarks_again(samples):
    made = [
        (generate_factor("symbolic", N=5, num_puzzles=1), "", "correct", "max_context"),
        (generate_factor("symbolic", N=5, num_puzzles=1), "Answer: v77", "wrong_set", "wrong_set"),
        (generate_factor("realistic", op=4, num_puzzles=1), None, "no_answer", "correct"),
    ]
    with samples.open("a", encoding="utf-8") as file:
        for table, response, outcome, _ in made:
            (row,) = table.to_pylist()
            given = row["solution"] if response is None else response
            file.write(json.dumps(sample(row, given, outcome)) + "\n")
    assert main(["score", str(samples), "--out", "again.jsonl"]) == 0
    again = read_jsonl("again.jsonl")
    assert again[0]["outcome"] == "correct_poi"
    assert [each["outcome"] for each in again[4:]] == [outcome for *_, outcome in made]
    assert [each["acc"] for each in again[4:]] == [0, 0, 1]
    assert again[5]["extra"] == ["v77"]


BROKEN = [b'{"doc": ', b"no JSON", b"[]", b"3", b"{}", b'{"doc": {}}', b"\xff", b"[" * 100_000]


@pytest.mark.parametrize("last", BROKEN, ids=range(len(BROKEN)))
def test_score_names_a_broken_line(samples, capsys, last):
    with samples.open("ab") as file:
        file.write(last)
    error = refusal(capsys, "score", samples, "--out", "again.jsonl")
    assert f"{samples} line 5 must be a sample" in error
    assert not Path("again.jsonl").exists()


def test_score_takes_several_files_and_gzipped_ones(samples, capsys):
    whole = gzip.compress(samples.read_bytes())
    Path("b.jsonl.gz").write_bytes(whole)
    assert main(["score", str(samples), "b.jsonl.gz"]) == 0
    assert capsys.readouterr().out.startswith("8 responses, 4 correct (50.00%), 4 scored anew\n")
    refusal(capsys, "score", samples, "b.jsonl.gz", "--out", "again.jsonl")
    Path("b.jsonl.gz").write_bytes(whole[:-20])
    assert "b.jsonl.gz must be a whole gzip file" in refusal(capsys, "score", "b.jsonl.gz")


def test_score_takes_any_text_and_refuses_an_empty_file(samples, capsys):
    row = generate_puzzles(3, 5, 50, num_puzzles=1).to_pylist()[0]
    samples.write_text(json.dumps(sample(row, "\ud800", "wrong_other")), encoding="utf-8")
    assert main(["score", str(samples), "--out", "again.jsonl"]) == 0
    assert read_jsonl("again.jsonl")[0]["resps"] == [["\ud800"]]
    samples.write_text("")
    error = refusal(capsys, "score", samples, "--out", "more.jsonl")
    assert "must hold at least one sample" in error
    assert not Path("more.jsonl").exists()


def test_solve_names_the_file_that_it_could_not_read(folder, capsys):
    Path("bad.txt").write_bytes(b"\xff")
    assert refusal(capsys, "solve", "bad.txt").startswith("bad.txt: ")
    closed = ["sh", "-c", f"{sys.executable} -m cogniload_cli solve <&-"]
    ran = subprocess.run(closed, capture_output=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith(b"cogniload solve: error: standard input: ")
    assert ran.stderr.count(b"\n") == 1

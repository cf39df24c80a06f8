"""The command line: what it writes, and what it says when it can't."""

import gzip
import json
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
from command_line import refusal, run_python

from cogniload_gen import Outcome, generate_factor, generate_puzzles
from cogniload_gen.benchmarks import BENCHMARKS
from cogniload_gen.commands import main, parser

SMALL = ["--d", "1", "3", "--N", "5", "--rho", "25", "50", "--num-puzzles", "3"]
PUZZLES = {"d": [1, 3], "N": 5, "rho": [25, 50], "num_puzzles": 3}


def read_jsonl(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("code", "absent"), [
    ("from cogniload_gen.commands import parser; parser().format_help()", "numpy pyarrow yaml"),
    ("import cogniload_analysis", "pandas scipy matplotlib"),
    (
        "import cogniload_dataset as c; kwargs = dict(d=1, N=5, rho=50, streaming=True)\n"
        "next(iter(c.load_dataset('cogniload', split='train', num_puzzles=1, **kwargs)))",
        "torch",
    ),
])  # fmt: skip
def test_what_is_not_needed_is_not_imported(code, absent):
    ran = run_python(f"{code}\nimport sys; print(*sys.modules)")
    assert not {*absent.split()} & {*ran.stdout.split()}


def test_push_offers_the_splits_that_it_takes(capsys):
    for command, offered in (("push", False), ("generate", True)):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert ("pretrain" in capsys.readouterr().out) == offered


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


@pytest.mark.parametrize("dashed", [True, False])
def test_an_option_may_be_spelled_with_dashes_or_underscores(dashed):
    for command, option, value in [
        ("generate a.jsonl", "num_puzzles", "3"),
        ("push a/b", "dry_run", "folder"),
        ("report a --out b", "factor_n_clean", "3.5"),
        ("plan --detect 0.1 --like a", "response_tokens", "5.5"),
        ("eval", "output_path", "folder"),
        ("eval", "block_size", "7"),
    ]:
        spelled = option.replace("_", "-") if dashed else option
        given, others = parser().parse_known_args([*command.split(), f"--{spelled}", value])
        assert (str(getattr(given, option)), others) == (value, [])


def test_an_option_takes_each_value_that_its_knob_offers():
    for knob in {knob for benchmark in BENCHMARKS for knob in benchmark.knobs}:
        numbers = [knob.low + 1, knob.high] if knob.kind in {"integer", "number"} else []
        for value in [*knob.choices, *numbers] if knob.kind != "twin" else []:
            words = ["generate", "a.jsonl", f"--{knob.name}", str(value)]
            (read,) = getattr(parser().parse_args(words), knob.name)
            assert knob.check(read) == (value,), knob.name


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
    (["solve", "."], ". must be a file, got a folder"),
    (["score", "no.jsonl"], "no.jsonl: No such file"),
])  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(folder, capsys, arguments, message):
    assert re.search(message, refusal(capsys, *arguments))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("command", ["twins", "why"])
@pytest.mark.parametrize("option", ["--budget", "--seed"])
def test_the_numbers_of_twins_are_integers(capsys, command, option):
    for wrong in ("x", "1.5"):
        with pytest.raises(SystemExit):
            main([command, "run", "--out", "new", option, wrong])
        assert f"argument {option}: invalid int value: '{wrong}'\n" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["", "fly", "generate a.jsonl --M 3", "generate a.jsonl --n 3"])
def test_wrong_usage_is_one_line_and_exit_code_2(capsys, words):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(words.split())
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(("arguments", "message"), [
    ("generate --rh 5 a.jsonl", "generate: error: there is no --rh: did you mean --rho?"),
    ("report X --otu r", "report: error: there is no --otu: did you mean --out?"),
    ("plan --detcet=3", "plan: error: there is no --detcet: did you mean --detect?"),
    ("generate a.jsonl --mass 3", "generate: error: unrecognized arguments: --mass 3"),
    ("generate a.jsonl --num_puzzles x --d 3", "error: num_puzzles must be "),
    ("eval --batch_size 3", "eval: error: --output_path is missing"),
])  # fmt: skip
def test_a_misspelt_option_is_named_with_the_nearest(capsys, arguments, message):
    """Whatever else is missing or wrong then; what is lm-eval's is not taken for misspelt."""
    with suppress(SystemExit):
        main(arguments.split())
    assert message in capsys.readouterr().err


def test_solve_reads_a_file_or_standard_input(folder, capsys):
    (row,) = generate_puzzles(3, 20, 50, num_puzzles=1).to_pylist()
    Path("puzzle.txt").write_text(row["puzzle"], encoding="utf-8")
    main(["solve", "puzzle.txt"])
    command = [sys.executable, "-m", "cogniload_gen", "solve"]
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
    closed = ["sh", "-c", f"{sys.executable} -m cogniload_gen solve <&-"]
    ran = subprocess.run(closed, capture_output=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith(b"cogniload solve: error: standard input: ")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "words", ["plan --detect 0.05 --like Qwen3-8B", "compare a b", "report a --out b"]
)
def test_a_command_without_its_extra_says_what_to_install(capsys, monkeypatch, words):
    for name in [name for name in sys.modules if name.startswith("cogniload_analysis")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cogniload_analysis", None)
    error = refusal(capsys, *words.split())
    assert f"{words.split()[0]} needs pip install 'cogniload[analysis]'" in error

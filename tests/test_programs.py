"""Programs of the repository that no other test runs: what they import, print and refuse."""

import ast
import runpy
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from harness import random_state_put_back
from source_tree import ROOT

from cogniload_gen import benchmarks, generate_puzzles
from cogniload_gen.configurations import configuration_of

RECIPES = ROOT / "recipes"
FILES = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("studies/*.py")])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_finds_what_it_imports(file, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")  # of both, for what they say of the machine
    monkeypatch.syspath_prepend(ROOT / "studies")
    with random_state_put_back():  # a library may seed its generators when it is imported
        runpy.run_path(str(file))


@pytest.mark.parametrize(("study", "table", "counts", "runs", "page", "labels"), [
    ("comparison_coverage", "paired", [1000], 1000, "compare", 2),
    ("comparison_coverage", "looks", [20], 20, "compare", 1),
    ("comparison_coverage", "thresholds", [10], 10, "compare", 2),
    ("comparison_coverage", "guesses", [10], 10, "glm_fit", 2),
    ("decay_coverage", "coverage", [1, 1], 48, "factor", 2),
    ("decay_coverage", "warnings", [1, 1], 48, "factor", 1),
])  # fmt: skip
def test_a_study_prints_its_table(study, table, counts, runs, page, labels, monkeypatch, capsys):
    """Few runs of each row agree with the shares on the page, within four standard errors."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.syspath_prepend(ROOT / "studies")
    program = runpy.run_path(str(ROOT / f"studies/{study}.py"))
    program["print_table"](program[table](*counts))
    printed = capsys.readouterr().out.strip().splitlines()
    lines = (ROOT / f"docs/{page}.md").read_text("utf-8").splitlines()
    place = lines.index(printed[0])
    assert lines[place + len(printed)] == ""
    few, many = ([line[2:-2].split(" | ") for line in rows] for rows in (printed, lines[place:]))
    for mine, row in zip(few[2:], many[2:], strict=False):
        assert mine[:labels] == row[:labels]
        for head, *cells in list(zip(few[0], mine, row, strict=True))[labels:]:
            if "bias" not in head and head != "mean puzzles":
                found, share = (float(cell.removesuffix(" %")) / 100 for cell in cells)
                assert abs(found - share) <= 4 * (share * (1 - share) / runs) ** 0.5


def test_the_recipe_for_lighteval_is_short_and_what_it_takes_of_ours_is_there():
    """Lighteval itself is not installed here."""
    text = (RECIPES / "lighteval" / "cogniload.py").read_text("utf-8")
    assert len(text.splitlines()) < 80
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in nodes if node.module.startswith("cogniload")]
    names = [(node.module, alias.name) for node in ours for alias in node.names]
    assert len(names) == 2
    assert all(hasattr(import_module(module), name) for module, name in names)
    for benchmark in benchmarks.BENCHMARKS:  # which it reads from a configuration's name
        name = configuration_of(benchmark.select(num_puzzles=1)).name
        assert benchmarks.named(name.partition("-v")[0]) is benchmark


def run(recipe, *arguments):
    command = [sys.executable, RECIPES / recipe, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(("given", "said"), [
    (["--shard", "0/3"], "shard must be I/N with 1 <= I <= N, got '0/3'"),
    (["--shard", "4/3"], "shard must be I/N with 1 <= I <= N, got '4/3'"),
    (["--sampling", "nojson"], "sampling must be a JSON object, got 'nojson'"),
    (["--engine", "[1]"], "engine must be a JSON object, got '[1]'"),
    ([], "vLLM is needed, pip install vllm: "),
])  # fmt: skip
def test_answer_says_in_one_line_what_is_wrong(given, said, tmp_path):
    if not given and find_spec("vllm"):
        pytest.skip("vLLM is installed")
    pq.write_table(generate_puzzles(1, 20, 5, num_puzzles=1), tmp_path / "p.parquet")
    made = run("answering/answer.py", "model", tmp_path / "p.parquet", tmp_path / "out", *given)
    assert made.returncode
    assert made.stderr.startswith(f"answer.py: error: {said}")
    assert made.stderr.count("\n") == 1


def test_shard_i_of_n_answers_every_nth_file_from_the_ith(tmp_path):
    puzzles, out = tmp_path / "puzzles", tmp_path / "out"
    for folder, numbers in ((puzzles, range(5)), (out, (1, 3))):
        folder.mkdir()
        for number in numbers:
            (folder / f"{number}.parquet").touch()
    made = run("answering/answer.py", "model", puzzles, out, "--shard", "2/2")
    assert made.stdout == "2 files of puzzles, 2 of them answered\n"


def test_a_response_may_have_what_its_prompt_leaves_and_the_sampling_allows():
    """By a stand-in for vLLM's model, whose tokens are words."""
    answer, limits = runpy.run_path(str(RECIPES / "answering" / "answer.py"))["answer"], []

    def encode(chat, **_):
        return {"input_ids": chat[0]["content"].split()}

    def chat(chats, settings):
        limits.append([parameters.max_tokens for parameters in settings])
        completion = SimpleNamespace(text="", token_ids=[], finish_reason="stop")
        return [SimpleNamespace(outputs=[completion], prompt_token_ids=[]) for _ in chats]

    model = SimpleNamespace(
        get_tokenizer=lambda: SimpleNamespace(apply_chat_template=encode),
        get_default_sampling_params=lambda: SimpleNamespace(max_tokens=16),
        chat=chat,
    )
    rows = [{"id": str(words), "puzzle": "word " * words} for words in (40, 500)]
    for sampling in ({}, {"max_tokens": 600}, {"max_tokens": 10_000}):
        made = answer(model, rows, 1024, sampling)
        assert [row["response_limit"] for row in made] == limits[-1]
    assert limits == [[960, 512], [600, 512], [960, 512]]


@pytest.mark.parametrize("engine", ["datatrove", "ray", "spark"])
def test_without_the_engine_it_is_said_what_to_install(engine):
    if find_spec({"spark": "pyspark"}.get(engine, engine)):
        pytest.skip("the engine is installed")
    made = run(f"generation/with_{engine}.py", "out", "puzzles.yaml")
    assert made.returncode
    assert "is needed, pip install " in made.stderr
    assert made.stderr.count("\n") == 1

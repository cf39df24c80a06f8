"""The commands of `recipes/` that need no engine to answer: wrong arguments are one line."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cogniload_gen import generate_puzzles

RECIPES = Path(__file__).parents[1] / "recipes"


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


@pytest.mark.parametrize("engine", ["datatrove", "ray", "spark"])
def test_without_the_engine_it_is_said_what_to_install(engine):
    if find_spec({"spark": "pyspark"}.get(engine, engine)):
        pytest.skip("the engine is installed")
    made = run(f"generation/with_{engine}.py", "out", "puzzles.yaml")
    assert made.returncode
    assert "is needed, pip install " in made.stderr
    assert made.stderr.count("\n") == 1

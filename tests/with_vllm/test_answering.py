"""The recipe that answers puzzles with vLLM alone, from generated files to scores."""

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
from transformers import AutoTokenizer

from cogniload_cli import main
from cogniload_gen import generate_puzzles
from cogniload_gen.budget import response_limit

RECIPE = Path(__file__).parents[2] / "recipes" / "answering" / "answer.py"


def test_puzzles_are_answered_within_the_budget_and_once(model, long_puzzles, tmp_path, capsys):
    budget = long_puzzles.pop("context_budget")
    puzzles, out = tmp_path / "puzzles", tmp_path / "responses"
    for d in long_puzzles.pop("d"):
        (puzzles / f"d{d}").mkdir(parents=True)
        pq.write_table(generate_puzzles(d, **long_puzzles), puzzles / f"d{d}" / "test.parquet")
    engine = '{"dtype": "float32", "enforce_eager": true}'
    command = [sys.executable, RECIPE, model, puzzles, out, "--context-budget", str(budget)]
    command += ["--engine", engine, "--sampling", '{"temperature": 0}']
    subprocess.run(command, check=True, capture_output=True)
    files = sorted(out.iterdir())
    assert [file.name for file in files] == ["d1-test.parquet", "d3-test.parquet"]
    written = [file.read_bytes() for file in files]

    encode = AutoTokenizer.from_pretrained(model).apply_chat_template
    prompts = {row["id"]: row["puzzle"] for row in pq.read_table(puzzles).to_pylist()}
    rows = pq.read_table(out).to_pylist()
    assert {row["id"] for row in rows} == prompts.keys()
    for row in rows:
        chat = [{"role": "user", "content": prompts[row["id"]]}]
        tokens = len(encode(chat, add_generation_prompt=True, return_dict=True)["input_ids"])
        assert row["prompt_tokens"] == tokens
        assert row["response_limit"] == response_limit(tokens, budget)
        assert 0 < row["response_tokens"] <= row["response_limit"]
        cut = row["response_tokens"] == row["response_limit"]
        assert (row["finish_reason"] == "length") == cut
    assert len({row["response_limit"] for row in rows}) > 2
    assert main(["score", "--dataset", str(puzzles), str(out)]) == 0
    assert capsys.readouterr().out.startswith("6 responses, ")

    again = subprocess.run(command, check=True, capture_output=True, text=True)
    assert again.stdout == "2 files of puzzles, 2 of them answered\n"
    assert [file.read_bytes() for file in files] == written

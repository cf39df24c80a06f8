"""The prompts are as long as the paper's (Appendix H), counted by a real model's tokenizer."""

import csv
from pathlib import Path

import numpy as np
import pytest

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.knobs import PAPER_D, PAPER_N, PAPER_RHO

PUBLISHED = Path(__file__).parent / "data" / "prompt_tokens.csv"


@pytest.mark.slow
def test_mean_prompt_length_of_every_cell_is_the_papers_within_15_percent(tokenizer_folder):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    lines = PUBLISHED.read_text(encoding="utf-8").splitlines()[1:]
    published = {
        (int(row["N"]), int(row["d"])): float(row["tokens"]) for row in csv.DictReader(lines)
    }
    assert len(published) == len(PAPER_N) * len(PAPER_D)

    ratios = []
    for (N, d), tokens in published.items():
        puzzles = generate_puzzles(d, N, PAPER_RHO, num_puzzles=2)["puzzle"].to_pylist()
        ours = np.mean([len(ids) for ids in tokenizer(puzzles).input_ids])
        ratios.append(ours / tokens)
    assert 0.85 < min(ratios)
    assert max(ratios) < 1.15

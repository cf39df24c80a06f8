"""The tiny model, trained for minutes, on held-out puzzles beside shortcuts.

It solves more than grep does, and works out more values than one hop gives. It does not yet solve
more than one hop does: recipes/training/README.md tells how long that takes.
"""

import re
import time

import numpy as np
import table4
from experiments import Run, answer, as_prompt, read_size, tokenized_texts, train
from tokenizer import make_tokenizer

from cogniload_dataset import load_dataset
from cogniload_gen import score
from cogniload_gen.factor.baselines import grep, shallow_values
from cogniload_gen.factor.solve import symbolic_relations

PUZZLES = 600
VALUE = re.compile(r"^(v\d+) = (?:.* )?(-?\d+)$", re.MULTILINE)


def share_right(response, row):
    """The share of a puzzle's variables whose value a response works out."""
    told, gold = (dict(VALUE.findall(text)) for text in (response, row["solution"]))
    return np.mean([told.get(name) == value for name, value in gold.items()])


def share_near(row):
    """The share of a puzzle's variables that are given, or one hop from a given one."""
    return len(shallow_values(symbolic_relations(row["puzzle"])[0], 1)) / row["N"]


def test_it_beats_shortcuts(tmp_path, capsys):
    run = Run(read_size("tiny"), tmp_path, seed=0)
    began = time.process_time()
    table4.write([run], ["Masked"])
    took = time.process_time() - began
    read, trained = make_tokenizer().decode, tokenized_texts(run.size["puzzles"], "pretrain", 0)
    seen = {read(each["input_ids"][: each["completion_mask"].index(1)]) for each in trained}
    rows = load_dataset(
        "factor", split="test", N=[4, 5, 6], roots=1, num_puzzles=PUZZLES // 3, streaming=True
    )
    held_out = [row for row in rows if as_prompt(row) not in seen]
    assert len(held_out) > 0.9 * PUZZLES
    model, most = train(run, "Masked"), run.size["training"]["tokens_at_once"]
    given = {each["id"]: each for each in answer(model, held_out, most)}
    answered = [(row, given[row["id"]]) for row in held_out]
    compared = {
        "solved, grep": [
            (each["correct"], score(grep(row["puzzle"]), row).correct) for row, each in answered
        ],
        "values, one hop": [
            (share_right(each["response"], row), share_near(row)) for row, each in answered
        ],
    }
    for what, pairs in compared.items():
        ours, theirs = np.array(pairs, float).T
        error = 1.96 * (ours - theirs).std(ddof=1) / np.sqrt(len(ours))
        with capsys.disabled():
            print(f"\n{took:.0f} s; {what}: {ours.mean():.3f}, {theirs.mean():.3f} ± {error:.3f}")
        assert ours.mean() - theirs.mean() > error, what

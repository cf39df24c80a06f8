"""The tiny model, trained for minutes, solves more held-out puzzles than shortcuts do."""

import re
import time

import numpy as np
import table4
from experiments import Run, answer, as_prompt, read_size, tokenized_texts, train
from tokenizer import make_tokenizer

from cogniload_dataset import load_dataset
from cogniload_gen import score
from cogniload_gen.factor.baselines import SYMBOLIC_BASELINES

PUZZLES = 600


def by_rank(prompt):
    """A prompt whose variables are named by their rank: equal puzzles are equal texts."""
    names = sorted({int(number) for number in re.findall(r"\bv(\d+)", prompt)})
    return re.sub(r"\bv(\d+)", lambda name: f"v{names.index(int(name[1]))}", prompt)


def test_it_beats_shortcuts(tmp_path):
    run = Run(read_size("tiny"), tmp_path, seed=0)
    began = time.process_time()
    table4.write([run], ["Masked"])
    print(f"trained and tested in {time.process_time() - began:.0f} s")
    read, trained = make_tokenizer().decode, tokenized_texts(run.size, "pretrain", 0)
    prompts = (read(each["input_ids"][: each["completion_mask"].index(1)]) for each in trained)
    seen = {by_rank(prompt) for prompt in prompts}
    sizes = {"N": [4, 5, 6], "num_puzzles": PUZZLES // 3}
    rows = load_dataset("factor", split="test", **sizes, roots=1, streaming=True)
    held_out = {row["id"]: row for row in rows if as_prompt(row) not in seen}
    assert len(held_out) > 0.9 * PUZZLES
    most = run.size["training"]["tokens_at_once"]
    given = list(answer(train(run, "Masked"), list(held_out.values()), most))
    assert {each["id"] for each in given} == {*held_out}
    ours = np.array([each["correct"] for each in given])
    for shortcut in ("grep", "one hop"):
        puzzles = (held_out[each["id"]] for each in given)
        theirs = [
            score(SYMBOLIC_BASELINES[shortcut](row["puzzle"]), row).correct for row in puzzles
        ]
        error = 1.96 * (ours - theirs).std(ddof=1) / np.sqrt(len(ours))
        print(f"solved {ours.mean():.3f}, {shortcut} {np.mean(theirs):.3f}, 95 % ± {error:.3f}")
        assert (ours - theirs).mean() > error, shortcut

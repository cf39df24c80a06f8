"""The tiny model, trained for minutes, solves held-out puzzles that shortcuts do not."""

import table4
from experiments import Run, answer, as_prompt, read_size, tokenized_texts, train
from statsmodels.stats.proportion import proportion_confint
from tokenizer import make_tokenizer

from cogniload_dataset import load_dataset
from cogniload_gen.factor.baselines import SYMBOLIC_BASELINES

PUZZLES = 300


def interval(solved):
    """The 95 % interval of an accuracy, by Wilson."""
    return proportion_confint(sum(solved), len(solved), method="wilson")


def test_it_beats_grep_and_one_hop(tmp_path, capsys):
    run = Run(read_size("tiny"), tmp_path, seed=0)
    table4.write([run], ["Masked"])
    rows = load_dataset(
        "factor", split="test", N=[4, 5, 6], roots=1, num_puzzles=PUZZLES // 3, streaming=True
    )
    read, trained = (
        make_tokenizer().decode,
        tokenized_texts(run.size["puzzles"], "pretrain", run.seed),
    )
    seen = {read(each["input_ids"][: each["completion_mask"].index(1)]) for each in trained}
    held_out = [row for row in rows if as_prompt(row) not in seen]
    assert len(held_out) > 0.9 * PUZZLES
    given = list(answer(train(run, "Masked"), held_out, run.size["training"]["tokens_at_once"]))
    low, high = interval([each["correct"] for each in given])
    with capsys.disabled():
        print(f"\nheld-out puzzles solved: {low:.3f} to {high:.3f}")
        for name in ("grep", "one hop"):
            shortcut = SYMBOLIC_BASELINES[name]
            reached = interval([shortcut(row["puzzle"]) == row["answer"] for row in held_out])
            print(f"by {name}: {reached[0]:.3f} to {reached[1]:.3f}")
            assert low > reached[1]

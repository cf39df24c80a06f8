"""The small reasoner: its tokenizer, its lessons, and the weights of the package."""

import entries
import numpy as np
import pytest
import train
from transformers import AutoTokenizer

from cogniload_gen import generate_puzzles, read_steps
from cogniload_gen.claims import BLIND
from cogniload_gen.rewards import step_score
from lm_eval_tasks.cogniload.demo import HALF, MODELS, WHOLE


@pytest.fixture(scope="module")
def tokenizer():
    return entries.make_tokenizer()


def test_the_tokenizer_of_the_package_is_that_of_the_recipe(tokenizer):
    for name in (WHOLE, HALF):
        kept = AutoTokenizer.from_pretrained(MODELS / name)
        assert kept.backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str()


@pytest.mark.parametrize("N", [1, 5, 60])
def test_every_puzzle_is_read_whole_and_its_trace_is_paid_in_full(tokenizer, N):
    rows = generate_puzzles(1, N, [25, 50, 75], num_puzzles=20, trace=True).to_pylist()
    for row in rows:
        ids = tokenizer(row["puzzle"])["input_ids"]
        assert len(ids) == 3 * N + 5
        assert tokenizer.unk_token_id not in ids
        told = [entries.ENTRIES[entry] for entry in entries.trace(row)][:-1]
        text = tokenizer.decode(told)
        assert tokenizer(text)["input_ids"] == told  # so a response has as many tokens as were said
        assert tokenizer(row["puzzle"] + text)["input_ids"] == ids + told
        steps = read_steps(text, row)
        assert (steps.read, steps.coverage, steps.first_error) == (True, 1, None)
        assert step_score(text, row) in (1, BLIND)


def test_made_up_lessons_are_puzzles_of_which_the_answer_follows():
    lesson = train.made_up_lesson(50, 6, np.random.default_rng(0))
    entry_of = {number: entry for entry, number in entries.ENTRIES.items()}
    for ids in lesson.ids:
        said = [entry_of[number] for number in ids]
        states = dict(zip(said[0:4:2], said[1:4:2], strict=True))
        poi = said[4 + 3 * 6]
        for t in range(6):
            _, condition, update = said[4 + 3 * t : 7 + 3 * t]
            states = {n: update if value == condition else value for n, value in states.items()}
            assert said[23 + 2 + 5 * t + 3 : 23 + 2 + 5 * t + 5] == [poi, states[poi]]
        assert said[-3:] == [poi, states[poi], entries.END]

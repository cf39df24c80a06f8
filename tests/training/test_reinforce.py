"""What reinforce.py pays, observes and credits, from responses as TRL hands them over."""

import entries
import pytest
from reinforce import Rewards

from cogniload_gen import Frontier, credit_spans, generate_puzzles

N, WRONG_AT = 6, 3


@pytest.fixture(scope="module")
def tokenizer():
    return entries.make_tokenizer()


def change(row, at):
    """The ids of a trace whose state after one statement is another value of the puzzle."""
    trace = entries.trace(row)
    (category,) = row["categories"]
    value = next(value for value in row["options"] if entries.clause(category, value) != trace[at])
    trace[at] = entries.clause(category, value)
    return [entries.ENTRIES[entry] for entry in trace]


@pytest.fixture(scope="module")
def group(tokenizer):
    """A puzzle that blind strategies don't solve, with three right responses and a wrong one."""
    rows = generate_puzzles(1, N, 50, num_puzzles=60, trace=True, split="train").to_pylist()
    rewards = Rewards(None, tokenizer, credit=False)
    for row in rows:
        right = [entries.ENTRIES[entry] for entry in entries.trace(row)]
        if ask(rewards, tokenizer, row, [right]) == [1.0]:
            return row, [right, right, right, change(row, 5 * WRONG_AT + 1)]
    raise AssertionError("all puzzles are solved blindly")


def ask(rewards, tokenizer, row, ids):
    texts = [tokenizer.decode(each, skip_special_tokens=True) for each in ids]
    completions = [[{"role": "assistant", "content": text}] for text in texts]
    logged = {}
    columns = {name: [value] * len(ids) for name, value in row.items()}
    found = rewards(completions, ids, **columns, log_metric=logged.__setitem__)
    assert logged["N"] == N
    return found


def test_each_token_has_the_advantage_of_its_statement_up_to_the_first_wrong_one(tokenizer, group):
    row, ids = group
    rewards = Rewards(None, tokenizer, credit=True)
    ask(rewards, tokenizer, row, ids)
    right, wrong = (rewards.advantages[tuple(ids[place])] for place in (0, 3))
    assert len(right) == len(ids[0])
    text = tokenizer.decode(ids[3], skip_special_tokens=True)
    assert next(s.statement for s in credit_spans(text, row) if not s.right) == WRONG_AT
    begin, end = 2 + 5 * (WRONG_AT - 1), 2 + 5 * WRONG_AT
    assert right[:begin] == wrong[:begin]
    assert all(each < 0 for each in wrong[begin:end])
    assert set(wrong[end:]) == {0}
    assert all(each > 0 for each in right)
    assert min(right[begin:end]) > max(right[:begin])  # where another of the group went wrong


def test_the_frontier_is_told_what_the_trainer_is(tokenizer, group):
    row, ids = group
    frontier, same = (Frontier(1, range(4, 20), 50) for _ in range(2))
    found = ask(Rewards(frontier, tokenizer, credit=False), tokenizer, row, ids)
    assert found[:3] == [1.0] * 3
    assert found[3] < 1
    same.observe([row["id"]] * 4, found)
    assert frontier.state_dict() == same.state_dict()

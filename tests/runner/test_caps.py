"""What an evaluation may spend: caps are checked before each block, over all starts and shards."""

import json
import math

import completion_server
import pandas as pd
import pytest
from completion_server import serving
from eval_command import BLOCKS, DOCUMENTS, arguments, command, done_blocks, error_of
from harness import TASKS
from hypothesis import given
from hypothesis import strategies as st
from until_command import respond_by_capacity, until_arguments

from lm_eval_tasks.runner.caps import (
    Caps,
    Price,
    Spending,
    Tokens,
    add_tokens,
    count_tokens,
    read_caps,
)


@pytest.fixture
def server():
    with serving() as running:
        yield running


def spent(folder):
    """The tokens of prompts and responses on the disk, each block apart."""
    samples = [list(map(json.loads, file.open())) for file in done_blocks(folder)]
    return [
        [sum(sample[name] for sample in block) for name in ("prompt_tokens", "response_tokens")]
        for block in samples
    ]


def test_a_cost_that_is_exactly_spent_is_reached():
    spending = Spending(None, Caps(price=Price(1, 1), cost=2.0))
    spending.counts = {1: Tokens(10**6, 10**6 - 1)}
    assert spending.reason_to_stop([]) is None
    spending.counts = {1: Tokens(10**6, 10**6)}
    assert spending.reason_to_stop([]) == "a cost of 2.00 reaches --max-cost 2.00"


def test_a_run_stops_before_the_block_that_would_follow_its_cap(server, tmp_path):
    whole, capped = tmp_path / "whole", tmp_path / "capped"
    assert command(*arguments(server, whole))[0] == 0
    blocks = [sum(tokens) for tokens in spent(whole)]
    cap = ("--max-tokens-total", str(blocks[0] + blocks[1]))
    code, out, err = command(*arguments(server, capped, *cap))
    assert (code, out) == (0, "")
    assert "stopped: {0:,} tokens reach --max-tokens-total {0:,}\n".format(sum(blocks[:2])) in err
    assert err.endswith("next: the same command with a higher cap goes on\n")
    assert len(done_blocks(capped)) == 2
    requests = len(server.requests)
    for others in [(), ("--shard", "2/2")]:  # the blocks of an earlier start, or shard, count
        assert command(*arguments(server, capped, *cap, *others))[0] == 0
        assert len(server.requests) == requests
    assert command(*arguments(server, capped, "--max_tokens_total", "1M"))[0] == 0
    assert spent(capped) == spent(whole)
    assert len(done_blocks(capped)) == BLOCKS


def test_a_cost_is_a_cap_and_stands_in_the_status(server, tmp_path):
    price = ("--price", "2000,8000.5")
    command(*arguments(server, tmp_path, *price, "--max-cost", "0.01"))
    ((prompts, responses),) = spent(tmp_path)
    cost = 2000 * prompts / 1e6 + 8000.5 * responses / 1e6
    assert cost > 0.01
    _, out, _ = command("eval", "--status", tmp_path, *price)
    tokens = f"tokens: {prompts:,} of prompts, {responses:,} of responses"
    assert f"{tokens}, {cost:,.2f} at the price\n" in out
    assert f"{tokens}\n" in command("eval", "--status", tmp_path)[1]


def test_a_search_stops_at_its_cap_and_goes_on(server, tmp_path, monkeypatch):
    monkeypatch.setattr(completion_server, "respond", respond_by_capacity)
    server.window = 32768
    block = ("--block_size", "32")
    capped, whole = tmp_path / "capped", tmp_path / "whole"
    cap = ("--max-tokens-total", "1")
    code, out, err = command(*until_arguments(server, capped, *block, *cap, budget=64))
    assert (code, out) == (0, "")
    assert "stopped: " in err
    assert len(done_blocks(capped)) == 1
    ends = [command(*until_arguments(server, out, *block, budget=64))[1] for out in (capped, whole)]
    assert spent(capped) == spent(whole)
    assert len({end.partition("results ")[0] for end in ends}) == 1


def test_without_counts_of_tokens_a_cap_is_refused_and_the_block_stays(server, tmp_path):
    server.instead = {"usage": None}
    capped = arguments(server, tmp_path, "--max-tokens-total", "1K")
    assert "has no counts of tokens to hold a cap against" in error_of(*capped)
    assert len(done_blocks(tmp_path)) == 1
    assert "tokens: " not in command("eval", "--status", tmp_path)[1]


def test_every_attempt_at_a_puzzle_is_spent_in_the_status_and_in_the_report(server, tmp_path):
    task = {"include": str(TASKS / "cogniload/cogniload_mini.yaml"), "task": "thrice", "repeats": 3}
    (tmp_path / "thrice.yaml").write_text(json.dumps(task))
    usages = [{"prompt_tokens": 10, "completion_tokens": 1 + n} for n in range(3 * DOCUMENTS)]
    server.once = [{"usage": usage} for usage in usages]
    run, out = tmp_path / "run", tmp_path / "report"
    usual = arguments(server, run, "--include_path", tmp_path)
    command(*("thrice" if argument == "cogniload_mini" else argument for argument in usual))
    prompts, responses = 30 * DOCUMENTS, sum(usage["completion_tokens"] for usage in usages)
    tokens = f"tokens: {prompts:,} of prompts, {responses:,} of responses\n"
    assert tokens in command("eval", "--status", run, "--include_path", tmp_path)[1]
    command("report", run, "--out", out, "--price", "2000,8000.5")
    (row,) = pd.read_csv(out / "tables/runs.csv").to_dict("records")
    assert (row["spent_prompt_tokens"], row["spent_response_tokens"]) == (prompts, responses)
    assert row["cost"] == pytest.approx((2000 * prompts + 8000.5 * responses) / 1e6)


@pytest.mark.parametrize(
    ("values", "caps"),
    [
        ((None, None, None), Caps()),
        (("20M", None, None), Caps(20e6)),
        (("1.5k", "0.4,1.6", "25"), Caps(1500.0, Price(0.4, 1.6), 25.0)),
        ((300, "0,1", 0.5), Caps(300.0, Price(0.0, 1.0), 0.5)),
    ],
)
def test_caps_are_read(values, caps):
    assert read_caps(*values) == caps


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (("0", None, None), "max_tokens_total"),
        (("-5", None, None), "max_tokens_total"),
        (("20G", None, None), "max_tokens_total"),
        (("nan", None, None), "max_tokens_total"),
        ((True, None, None), "max_tokens_total"),
        (("9" * 400, None, None), "max_tokens_total"),
        ((None, "0.4", None), "price"),
        ((None, "0.4,-1", None), "price"),
        ((None, "٤,1", None), "price"),
        ((None, [0.4, 1.6], None), "price"),
        ((None, "0.4,1.6", "free"), "max_cost"),
        ((None, None, "25"), "max_cost"),
    ],
)
def test_a_malformed_cap_is_refused_in_a_line(values, named):
    with pytest.raises(ValueError, match=f"^{named} ") as error:
        read_caps(*values)
    assert len(str(error.value).splitlines()) == 1


def test_a_price_is_of_an_evaluation_or_a_status(tmp_path):
    assert "nothing else" in error_of("eval", "--merge", tmp_path, "--price", "1,2")
    assert "nothing else" in error_of("eval", "--status", tmp_path, "--max-cost", "2")
    assert error_of("eval", "--status", tmp_path, "--price", "x").startswith("price must be IN,OUT")


counts = st.lists(st.tuples(st.integers(0, 9**9), st.integers(0, 9**9)), min_size=1, max_size=9)


@given(counts, st.integers(1, 4), st.integers(1, 3))
def test_tokens_are_counted_once_for_all_filters_and_for_each_attempt(counts, attempts, filters):
    samples = [
        {"doc_id": i, "prompt_tokens": prompt, "response_tokens": response}
        | {"filter": name, "resps": [["x"] * attempts], "filtered_resps": ["x"]}
        for i, (prompt, response) in enumerate(counts)
        for name in range(filters)
    ]
    sums = Tokens(*(attempts * sum(column) for column in zip(*counts, strict=True)))
    assert count_tokens(samples) == sums
    assert add_tokens(count_tokens([sample]) for sample in samples[::filters]) == sums
    assert count_tokens([*samples, {"doc_id": -1, "prompt_tokens": 3}]) is None
    assert add_tokens([sums, None]) is None
    assert math.isclose(Price(1, 2).cost(sums), (sums[0] + 2 * sums[1]) / 1e6)

"""Blocks, their lines on the disk, and the line of progress."""

import json
import logging
import random
import sys
from collections import Counter
from itertools import chain, repeat
from types import SimpleNamespace

import numpy as np
from harness import random_state_put_back
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from cogniload_gen.files.run_folder import Block, cut_in_blocks
from lm_eval_tasks.runner.blocks import Evaluator, sample_line
from lm_eval_tasks.runner.progress import ADVICE, Progress, each_warning_once


@given(
    st.dictionaries(st.text(min_size=1), st.integers(0, 200).map(range), min_size=1, max_size=4),
    st.integers(1, 60),
    st.integers(1, 9),
)
def test_shards_share_every_document_once(documents, size, shards):
    blocks = cut_in_blocks(documents, size)
    assert [block.number for block in blocks] == list(range(1, len(blocks) + 1))
    assert all(1 <= len(block.documents) <= size for block in blocks)
    mine = [block for shard in range(shards) for block in blocks[shard::shards]]
    shared = [(block.task, document) for block in mine for document in block.documents]
    assert Counter(shared) == Counter((task, i) for task, all_ in documents.items() for i in all_)


def test_half_an_emoji_is_written():
    sample = {"target": "x", "arguments": [("p", {})], "resps": [["\ud83d ü"]]}
    line = sample_line(sample | {"filtered_resps": ["\ud83d ü"]})
    assert json.loads(line)["filtered_resps"] == ["\ud83d ü"]
    assert "ü".encode() in line


def test_a_block_has_seeds_of_its_own_whatever_was_evaluated_before(monkeypatch):
    def evaluate(**_):
        return {"samples": {"x": [random.random(), np.random.random()]}}  # noqa: S311

    monkeypatch.setattr("lm_eval.evaluator.evaluate", evaluate)
    names = ("system_instruction", "apply_chat_template", "fewshot_as_multiturn")
    arguments = SimpleNamespace(seed=(3, 4), **dict.fromkeys(names))
    tasks = {"x": SimpleNamespace(set_fewshot_seed=None)}
    alike = Evaluator(None, SimpleNamespace(arguments=arguments), tasks, *[None] * 5)
    with random_state_put_back():
        drawn = [alike.evaluate_block(None, Block(number, "x", (0,))) for number in (1, 2, 1)]
    assert drawn[0] == drawn[2]
    assert not {*drawn[0]} & {*drawn[1]}


def samples_of_block(first):
    return [{"doc_id": first + i, "acc": i % 2, "response_tokens": 50} for i in range(4)]


def test_the_line_of_progress(capfd, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Progress([4, 4, 8]) as progress:
        progress.add_done(samples_of_block(0))
        progress.start_now()
        progress.add_partial("loglikelihood", None, "x")
        assert progress.bar.n == 4
        for _ in range(13):
            progress.add_partial("generate_until", None, "x")
        assert progress.bar.n == 16
        progress.add_block(samples_of_block(4))
    said = capfd.readouterr().err
    assert "continuing at block 2 of 3\n" in said
    *_, line = said.strip().split("\r")
    low, high = proportion_confint(4, 8, alpha=0.1, method="wilson")
    assert " 8/16 " in line
    assert f"acc 50.0% ({low:.1%} to {high:.1%})" in line
    assert "tokens/s" in line


def test_without_a_terminal_progress_is_a_line_a_block(capfd, monkeypatch):
    """The clock stands still but for 30 seconds that each block takes."""
    clock = chain([0.0, 0.0, 30.0], repeat(60.0))
    monkeypatch.setattr("lm_eval_tasks.runner.progress.monotonic", lambda: next(clock))
    with Progress([4, 4, 4]) as progress:
        progress.add_done(samples_of_block(0))
        progress.start_now()
        progress.add_block(samples_of_block(4))
        progress.add_block(samples_of_block(8))
    out, err = capfd.readouterr()
    first, second, third = err.splitlines()
    assert out == ""
    assert first == "continuing at block 2 of 3"
    low, high = proportion_confint(4, 8, alpha=0.1, method="wilson")
    accuracy = f"acc 50.0% ({low:.1%} to {high:.1%})"
    assert second == f"block 2 of 3 done: 8 of 12 puzzles, {accuracy}, 7 tokens/s, 00:30 left"
    assert third.startswith("block 3 of 3 done: 12 of 12 puzzles, acc 50.0% (")
    assert third.endswith(", 7 tokens/s")
    with Progress([1]) as progress:
        progress.start_now()
        progress.add_block([{"doc_id": 0, "response_tokens": None, "acc": None}])
        progress.start_now()  # nothing is left to continue at
    assert capfd.readouterr().err == "block 1 of 1 done: 1 of 1 puzzles\n"


def test_a_warning_is_shown_once(capfd):
    log = logging.getLogger("lm_eval.tasks")
    with each_warning_once():
        for warning in ("it is slow", f"None given. {ADVICE} or not.", "it is slow"):
            log.warning(warning)
    assert capfd.readouterr().err == "warning: it is slow\n"

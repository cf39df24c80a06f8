"""The reasoning in every place that servers and harnesses put it: one text, one result."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_tree import ROOT
from stored import read_lines, stored, write_lines

from cogniload_gen import generate_factor, generate_puzzles, read_steps, score, score_response
from cogniload_gen.answers.reasoning import of_message, split
from cogniload_gen.answers.rescore import rescore, score_responses
from cogniload_gen.answers.sample import Sample
from cogniload_gen.cogniload.steps.planted import trace_key, write_trace
from cogniload_gen.rewards import answer_reward, step_reward

DATA = ROOT / "tests/cogniload/data"
SETS = ("steps_sealed", "steps_later_sealed", "steps_third", "steps_fourth")
R = "Ann keeps it."


def text(words, kind="text", name="text"):
    return {"type": kind, name: words}


MESSAGES = json.loads(stored(__file__, "messages.json").read_text("utf-8"))
"""As servers send them: with a reasoning, by its place; with what hides it; and with none."""
READABLE, HIDDEN = MESSAGES["readable"], MESSAGES["hidden"]


@pytest.mark.parametrize("name", READABLE)
def test_a_reasoning_is_kept_from_every_place(name):
    assert of_message(READABLE[name], 12) == (R, None)
    assert of_message({"role": "assistant", "content": "So."} | READABLE[name]) == (R, None)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_is_left_of_a_hidden_reasoning_is_not_it(hidden):
    assert [of_message(message, 12) for message in HIDDEN[hidden]] == [(None, hidden)] * len(
        HIDDEN[hidden]
    )


@pytest.mark.parametrize("odd", MESSAGES["none"])
def test_where_there_is_none_its_tokens_tell_whether_it_is_withheld(odd):
    assert of_message(odd) == of_message(odd, 0) == (None, None)
    assert of_message(odd, 7) == (None, "withheld")


@pytest.mark.parametrize(("given", "response", "reasoning"), MESSAGES["texts"])
def test_a_response_is_split_where_its_reasoning_ends(given, response, reasoning):
    apart = split(given)
    assert apart[:2] == (response, reasoning)
    assert given[apart.start :].startswith(response)


def channels(thought, response):
    """The same text as servers send it: a response, and the reasoning in a field of its own."""
    inline = f"<think>\n{thought}\n</think>\n\n{response}"
    opened = f"{thought}</think>{response}"
    return [(response, thought), (inline, None), (inline, thought), (opened, None)]


def same(values):
    first, *others = values
    assert all(other == first for other in others), values
    return first


def in_two(response):
    """The reasoning of a text, and its last line as the response."""
    apart, (thought, _, last) = split(response), response.rstrip().rpartition("\n")
    return (apart.reasoning, apart.response) if apart.reasoning else (thought, last)


def test_the_reader_claims_the_same_of_each_channel():
    """Of texts by people who saw no rule, and as of the text without marks."""
    claimed = 0
    held = [row for name in SETS for row in read_lines(stored(DATA, f"{name}.jsonl"))]
    for row in held[::2]:
        thought, response = in_two(row["response"])
        steps = same([read_steps(text, row, field) for text, field in channels(thought, response)])
        assert steps == read_steps(f"{thought}\n\n{response}", row)
        claimed += steps.read
    assert claimed >= 40


@pytest.fixture(scope="module")
def planted():
    """Puzzles with a reasoning and a response each; errors are planted in some."""
    rows = generate_puzzles([1, 3], [4, 9], [25, 75], 6, split="train").to_pylist()
    traces = [write_trace(row["puzzle"], trace_key(row["id"])) for row in rows]
    return [(row, *in_two(trace.response)) for row, trace in zip(rows, traces, strict=True)]


COUNTS = {"prompt_tokens": 90, "response_tokens": 900, "context_budget": 2000}


def test_the_sample_is_the_same_of_each_channel(planted):
    outcomes, errors = set(), set()
    for row, thought, response in planted:
        said = channels(thought, response)
        for text, _ in said:
            if place := (scored := score(text, row)).evidence:
                assert text[slice(*place)].lower().startswith(scored.value[:3])
        samples = [
            Sample.from_answer(text, row | COUNTS | {"reasoning": field}).metrics
            for text, field in said
        ]
        for sample in samples:
            del sample["answer_read"]["evidence"]  # its place in the response as it was sent
            sample["reasoning"] = sample["reasoning"].strip()
        sample = same(samples)
        assert sample["reasoning"] == thought.strip()
        outcomes.add(sample["outcome"])
        errors.add(sample["steps_read"]["error"])
        asked = {name: row[name] for name in ("poi", "answer", "category", "options")}
        assert same([score_response(text, **asked) for text, _ in said]) == sample["outcome"]
    assert len(outcomes) > 1
    assert len(errors) > 4


def test_factors_steps_are_the_same_of_each_channel():
    for row in generate_factor("symbolic", N=[3, 8], num_puzzles=5).to_pylist():
        said = channels(row["solution"], f"The answer is {row['answer']}.")
        assert same([score(text, row, field).correct for text, field in said])
        assert same([read_steps(text, row, field) for text, field in said]).first_error is None


def test_rewards_are_the_same_of_each_channel(planted):
    """As TRL passes completions: with a field, with parts, and with marks."""
    for row, thought, response in planted:
        columns = {name: [value] for name, value in row.items()}
        message = {"role": "assistant", "content": response}
        parts = [text(thought, "thinking", "thinking"), text(response)]
        completions = [[message | {"reasoning_content": thought}], [message | {"content": parts}]]
        completions += [
            [message | {"content": said}] for said, _ in channels(thought, response)[1:]
        ]
        same([step_reward([each], **columns) for each in completions])
        assert same([answer_reward([each], **columns) for each in completions]) == answer_reward(
            [response], **columns
        )


def test_a_hidden_reasoning_is_never_read(planted):
    """Whatever the response explains afterwards."""
    for row, thought, response in planted:
        told = f"{thought}\n{response}"
        for hidden in (*HIDDEN, "withheld"):
            facts = COUNTS | {"reasoning_hidden": hidden}
            sample = Sample.from_answer(told, row | facts).metrics
            assert (sample["reasoning"], sample["reasoning_hidden"]) == (None, hidden)
            assert sample["steps_read"]["read"] is False
            assert {sample[f"error_{kind}"] for kind in ("none", "missed")} == {None}
            assert sample["acc"] == Sample.from_answer(told, row | COUNTS).metrics["acc"]


def test_samples_and_tables_are_scored_again_with_their_reasoning(planted, tmp_path):
    """A field, marks and a column of a table: the same outcomes, endings and steps."""
    pq.write_table(pa.Table.from_pylist([row for row, *_ in planted]), tmp_path / "puzzles.parquet")
    written = []
    for number in range(2):
        samples, table = [], []
        for row, thought, response in planted:
            said, field = channels(thought, response)[number]
            samples.append({"doc": row, "resps": [[said]], "filtered_resps": [said]})
            samples[-1] |= {"reasoning": field, "finish_reason": "stop", "response_tokens": 9}
            table.append({"id": row["id"], "response": said, "reasoning": field})
        file = write_lines(tmp_path / f"samples_{number}.jsonl", samples)
        rescore(file, tmp_path / f"again_{number}.jsonl")
        pq.write_table(pa.Table.from_pylist(table), tmp_path / "table.parquet")
        out = tmp_path / f"table_{number}.jsonl"
        score_responses(tmp_path / "puzzles.parquet", [tmp_path / "table.parquet"], out)
        written += [tmp_path / f"again_{number}.jsonl", out]
    names = ("acc", "outcome", "steps_read")
    read = [*map(read_lines, written)]
    same([[[sample[name] for name in names] for sample in samples] for samples in read])
    same([[sample["reasoning"].strip() for sample in samples] for samples in read])
    assert {sample["ending"] for samples in read[::2] for sample in samples} == {"ended"}

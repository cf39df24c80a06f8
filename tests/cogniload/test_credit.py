"""Credit: the places of statements in a response, and the tokens up to the first wrong one."""

from itertools import pairwise

import pytest
from stored import read_lines, stored
from transformers import AutoTokenizer

from cogniload_gen import credit_spans, generate_puzzles, read_steps
from cogniload_gen.cogniload.steps.credit import credit_tokens
from cogniload_gen.cogniload.steps.planted import trace_key, write_trace
from cogniload_gen.cogniload.traces import clean_trace
from lm_eval_tasks.cogniload.demo import MODELS, WHOLE

PUZZLES = generate_puzzles([1, 2, 5], [4, 12], [25, 75], 15, split="train").to_pylist()
SEALED = ("steps_sealed", "steps_later_sealed", "steps_ninth")


def check(spans, response, steps, first):
    """Spans of a response that was read, the first wrong one that of the first error."""
    assert all(0 <= span.start <= span.end <= len(response) for span in spans)
    told = sorted(span for span in spans if span.statement in steps.begins)
    assert all(before.end <= after.start for before, after in pairwise(told))
    assert [span.statement for span in spans] == sorted({span.statement for span in spans})
    assert {*steps.decided} <= {span.statement for span in spans}
    assert next((span.statement for span in spans if not span.right), None) == first


def test_the_first_wrong_span_of_a_planted_trace_is_where_the_error_was_planted():
    placed = of = 0
    for row in PUZZLES:
        trace = write_trace(row["puzzle"], trace_key(row["id"]))
        steps = read_steps(trace.response, row)
        spans = credit_spans(trace.response, row)
        assert bool(spans) == steps.read
        if steps.read and (steps.first_error, steps.error) == (trace.first_error, trace.error):
            check(spans, trace.response, steps, trace.first_error)
            wrong = next((span for span in spans if not span.right), None)
            if wrong and trace.error not in ("skipped", "stopped"):
                step = trace.steps[trace.label]
                begin = len("".join(trace.steps[: trace.label]))
                of += 1
                placed += begin <= wrong.start < begin + len(step)
    assert of > 100
    assert placed >= 0.98 * of


def test_on_sealed_texts_the_first_wrong_span_is_that_of_read_steps():
    read = 0
    for row in (row for name in SEALED for row in read_lines(stored(__file__, f"{name}.jsonl"))):
        steps, spans = read_steps(row["response"], row), credit_spans(row["response"], row)
        read += bool(spans)
        if spans:
            check(spans, row["response"], steps, steps.first_error)
    assert read > 40


def test_by_a_transcript_the_first_wrong_span_is_that_of_read_steps():
    made = read_lines(stored(__file__, "transcripts.jsonl.gz"))
    texts = {name: read_lines(stored(__file__, f"{name}.jsonl")) for name in SEALED}
    judged = 0
    for each in made:
        if each["set"] in texts:
            row = texts[each["set"]][each["row"]]
            steps = read_steps(row["response"], row, transcript=each["records"])
            spans = credit_spans(row["response"], row, each["records"])
            judged += bool(spans)
            if spans:
                check(spans, row["response"], steps, steps.first_error)
    assert judged > 50


def test_a_trace_without_an_error_is_right_throughout_also_within_marks_of_reasoning():
    for row in PUZZLES:
        trace = clean_trace(row["puzzle"])
        for text in (trace, f"<think>\n{trace}\n</think>\n\n{trace.splitlines()[-1]}"):
            spans = credit_spans(text, row)
            assert [span.statement for span in spans] == [*range(row["N"] + 1)]
            assert all(span.right for span in spans)
            begun = (text[span.start :] for span in spans[1:])
            assert all(told.startswith(f"{t}.") for t, told in enumerate(begun, 1))


def test_the_tokens_of_a_fast_tokenizer_are_credited_up_to_the_end_of_the_first_wrong_statement():
    tokenizer = AutoTokenizer.from_pretrained(MODELS / WHOLE)
    for row in PUZZLES:
        if row["d"] > 1:
            continue
        lines = clean_trace(row["puzzle"]).splitlines()
        text = "\n".join(lines)
        offsets = tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
        assert credit_tokens(credit_spans(text, row), offsets) == [1.0] * len(offsets)
        assert credit_tokens([], offsets) == [1.0] * len(offsets)
        spans = [span._replace(right=span.statement != 2) for span in credit_spans(text, row)]
        credited = credit_tokens(spans, offsets)
        assert credited == sorted(credited, reverse=True)
        (end,) = (span.end for span in spans if not span.right)
        told = [offset for offset, credit in zip(offsets, credited, strict=True) if credit]
        assert (
            max(start for start, _ in told) < end <= min(start for start, _ in offsets[len(told) :])
        )


def test_another_benchmark_has_no_statements():
    with pytest.raises(ValueError, match="puzzle"):
        credit_spans("v1 is 3.", {"suite": "symbolic", "puzzle": "v0 = 1"})

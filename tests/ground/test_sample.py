"""A sample, as harnesses and tools leave it, and the words of servers for its ending."""

import json
import math

import pytest
from stored import stored

from cogniload_gen.answers.endings import WORDS, ending_of, kind_of
from cogniload_gen.answers.sample import Sample, as_count

ROWS = json.loads(stored(__file__, "sample.json").read_text("utf-8"))

SEEN = {
    "ended": ["stop", "STOP", "end_turn", "eos_token", "stop_sequence", "COMPLETE", "tool_calls"],
    "cut": [
        *("length", "max_tokens", "MAX_TOKENS", "maxTokens", "max-tokens", "model_length"),
        *("model_context_window_exceeded", "FinishReason.MAX_TOKENS", "max_output_tokens"),
    ],
    "filtered": ["content_filter", "SAFETY", "sensitive", "refusal", "guardrail_intervened"],
    "broken": ["error", "abort", "network_error", "insufficient_system_resource", "USER_CANCEL"],
    None: [None, "", "other", "unknown", "pause_turn", 3, True, float("nan"), ["length"], {}],
}


@pytest.mark.parametrize("kind", SEEN)
def test_a_word_of_a_server_says_how_a_response_ended(kind):
    assert {kind_of(word) for word in SEEN[kind]} == {kind}


def test_no_word_says_two_things():
    words = [word.replace("_", "") for group in WORDS.values() for word in group.split()]
    assert len(words) == len({*words})


@pytest.mark.parametrize(("response", "reason", "counts", "ending"), ROWS["endings"])
def test_the_word_goes_before_the_counts(response, reason, counts, ending):
    names = ("prompt_tokens", "response_tokens", "context_budget")
    known = dict(zip(names, counts, strict=True))
    assert ending_of(response, finish_reason=reason, **known) == ending


@pytest.mark.parametrize("value", [
    math.nan, math.inf, None, "", "x", -1, 2.5, True, 10**400, "1e999", [5], 2**63,
])  # fmt: skip
def test_what_is_no_number_of_tokens_is_unknown(value):
    assert as_count(value) is None


@pytest.mark.parametrize("value", [12, 12.0, "12", "12.0"])
def test_a_number_that_is_written_otherwise_is_that_number(value):
    assert as_count(value) == 12
    assert as_count(2**63 - 1) == 2**63 - 1


@pytest.mark.parametrize(("resps", "filtered", "responses"), ROWS["attempts"])
def test_each_attempt_has_its_response_and_a_missing_one_is_empty(resps, filtered, responses):
    assert Sample({"resps": resps, "filtered_resps": filtered}).responses == responses


def test_attempts_share_the_tokens_that_were_spent():
    line = {"resps": [["a", "b", "c"]], "outcome": "right", "prompt_tokens": 7, "acc": 1}
    line |= {"response_tokens": 5, "spent_response_tokens": "11"}
    attempts = Sample.from_lm_eval(line).attempts()
    assert [each.responses for each in attempts] == [["a"], ["b"], ["c"]]
    assert [each.attempt for each in attempts] == [0, 1, 2]
    assert [each.spent for each in attempts] == [(7, 3), (7, 4), (7, 4)]
    assert [each.response_tokens for each in attempts] == [5, None, None]
    assert [each.outcome for each in attempts] == ["right", None, None]


def test_a_limit_is_found_in_requests_of_each_version():
    settings = {"until": [], "max_tokens": "64"}
    for arguments in ({"gen_args_0": {"arg_0": "?", "arg_1": settings}}, [["?", settings]]):
        assert Sample({"arguments": arguments}).limit == 64
    for arguments in (None, {}, [], {"gen_args_0": {"arg_0": "?"}}, [["?", {"max_tokens": None}]]):
        assert Sample({"arguments": arguments}).limit is None


def test_tokens_are_known_where_both_counts_are():
    both = {"prompt_tokens": 5, "response_tokens": 2, "resps": [["a", "b"]]}
    assert Sample(both).spent == (10, 4)
    for name in ("prompt_tokens", "response_tokens"):
        assert Sample(both | {name: None}).spent is None

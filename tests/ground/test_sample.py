"""The words of servers for how a response ended."""

import pytest

from cogniload_gen.sample import REASONS, ending, was_cut

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
    assert {ending(word) for word in SEEN[kind]} == {kind}


def test_no_word_says_two_things():
    words = [word.replace("_", "") for group in REASONS.values() for word in group]
    assert len(words) == len({*words})


def test_a_response_is_cut_by_any_word_for_it():
    assert was_cut({"outcome": "wrong_logic", "finish_reason": "MAX_TOKENS"}, ())
    assert not was_cut({"outcome": "wrong_logic", "finish_reason": "zzz"}, ())

"""The scorer against Appendix D of the CogniLoad paper, line by line, by data/score.toml."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stored import cases

from cogniload_gen import read_steps, score
from cogniload_gen.cogniload.ontology import VOCABULARIES
from cogniload_gen.cogniload.score import (
    CONTEXT_BUDGET,
    Outcome,
    check_correct_answer,
    score_response,
    sentence_windows,
    take_last_sentence,
)

CASES = cases(__file__, "score.toml")
COLORS = ["green", "red", "blue", "gray"]
SOCKS = {"poi": "Brent", "answer": "green", "category": "clothes_socks", "options": COLORS}

ANY_TEXT = st.text(st.characters(exclude_categories=[]))  # lone surrogates and controls as well
WORDS = ["Brent", "wearing", "green", "greenish", "red", "evergreen", "(", ")", ".", "**", "\n"]
RESPONSES = st.one_of(ANY_TEXT, st.lists(st.sampled_from(WORDS)).map(" ".join))


def outcome(response, **changes):
    return score_response(response, **SOCKS | changes)


def test_correct_outcomes():
    correct = {"correct_valid", "correct_poi", "correct_last_sentence"}
    assert {outcome for outcome in Outcome if outcome.correct} == correct
    assert len(Outcome) == 8


# D.3: sentence windows and context budget


@pytest.mark.parametrize(("text", "sentence"), CASES["last_sentences"])
def test_take_last_sentence(text, sentence):
    assert take_last_sentence(text) == sentence


def windows(response, **asked):
    return tuple(sentence.text for sentence in sentence_windows(response, **asked))


def test_windows_are_the_last_lines_of_their_kind():
    response = "Brent wears A. Brent wears B.\nBrent wears C.\nYes, Brent. Him.\nx. y.\nz. End"
    assert windows(response, poi="Brent", category="hair") == ("", " him", "z")
    assert windows(response, poi="Brent", category="clothes_hat") == ("brent wears c", " him", "z")
    assert windows("Nobody", poi="Brent", category="hair") == ("", "", "nobody")
    assert windows("", poi="Brent", category="hair") == ("", "", "")


@pytest.mark.parametrize(("counts", "over"), CASES["budgets"])
def test_context_budget(counts, over):
    expected = "wrong_max_context" if over else "correct_valid"
    assert outcome("Brent is wearing green socks.", **counts) == expected
    assert CONTEXT_BUDGET == 32_768


# D.2: category mapping and qualifiers

QUALIFIERS = CASES["qualifiers"]


def test_unknown_category():
    with pytest.raises(ValueError, match=r"category must be one of .*hair.*; got 'shoes'"):
        outcome("Brent is wearing green socks.", category="shoes")


@pytest.mark.parametrize("category", QUALIFIERS)
def test_qualifiers(category):
    for word in QUALIFIERS[category].split():
        response = f"Brent-{word}s.\nBrent -.\n{word} End."
        assert windows(response, poi="Brent", category=category)[0] == f"brent-{word}s"
    assert windows("Brent ok", poi="Brent", category=category)[0] == ""


# D.4: boundaries and synonyms


@pytest.mark.parametrize("mark", list(" [\"'*_{(-`:\t“x>"))
def test_only_some_characters_bound_an_answer(mark):
    response, bounds = f"Brent is wearing:{mark}green socks.", mark in " [\"'*_{("
    assert outcome(response) == ("correct_valid" if bounds else "wrong_other")
    wrong = outcome(response.replace("green", "red"))
    assert wrong == ("wrong_logic" if bounds else "wrong_other")


@pytest.mark.parametrize(("gold", "spellings", "others"), CASES["spellings"])
def test_spelling(gold, spellings, others):
    assert all(check_correct_answer(gold, f"it is {spelling}") for spelling in spellings)
    assert not any(check_correct_answer(gold, f"it is {spelling}") for spelling in others)


# D.4 and Algorithm 3: alternatives

ODD_NAMES = ["Brent(", "[Brent", "Br*nt", "\\Brent", "Br$nt|", "Br+nt?"]
"""A name may be no pattern."""


@pytest.mark.parametrize(("response", "changes", "expected"), [
    *((response, {}, expected) for response, expected in CASES["buckets"] + CASES["normalization"]),
    *((response, group["asked"] | {"answer": answer}, expected)
      for group in CASES["alternatives"] for response, answer, expected in group["cases"]),
    *((f"{name} is wearing green socks.", {"poi": name}, "correct_valid") for name in ODD_NAMES),
    *(("Brent is wearing red.", {"poi": name}, "wrong_logic_last_sentence") for name in ODD_NAMES),
])  # fmt: skip
def test_outcome(response, changes, expected):
    assert outcome(response, **changes) == expected


@pytest.mark.parametrize("category", VOCABULARIES)
def test_every_answer_is_right_and_every_other_value_wrong(category):
    vocabulary = VOCABULARIES[category]
    about = {"poi": "Wear", "category": category}
    for answer in vocabulary:
        response = f"Wear, located, hair, eat, watch, music, read: {answer}."
        gold = about | {"answer": answer, "options": vocabulary}
        assert score_response(response, **gold) == "correct_valid"
        for other in {*vocabulary} - {answer}:
            assert not score_response(
                response, **about, answer=other, options=(answer, other)
            ).correct


@given(RESPONSES, ANY_TEXT, st.sampled_from(list(QUALIFIERS)), ANY_TEXT, st.lists(ANY_TEXT))
def test_any_text_has_an_outcome(response, poi, category, answer, options):
    keys = {"poi": poi, "answer": answer, "category": category, "options": options}
    assert isinstance(score_response(response, **keys), Outcome)


@given(RESPONSES, st.text("abcdefg .\n"))
def test_earlier_lines_without_the_poi_do_not_matter(response, earlier):
    assume(windows(response, poi="Brent", category="hair")[-1])
    assert outcome(f"{earlier}\n{response}") == outcome(response)


ROW = {"poi": "Brent", "category": "hair", "answer": "green", "options": ["green", "red", "blue"]}


@pytest.mark.parametrize(("response", "value", "words"), CASES["evidence"])
def test_a_score_keeps_its_evidence(response, value, words):
    found = score(response, ROW)
    assert (found.value or "") == value
    assert response[slice(*found.evidence or (0, 0))] == words
    assert found.explanation
    assert found.outcome is score_response(response, **ROW)


def test_no_response_is_an_empty_one_and_a_score_says_that_the_budget_was_met():
    assert score(None, ROW) == score("", ROW)
    assert score(None, ROW).outcome is Outcome.WRONG_MAX_CONTEXT
    counts = {"prompt_tokens": 100, "response_tokens": 1, "context_budget": 110}
    found = score("Brent has green hair.", ROW, **counts)
    assert found.outcome is Outcome.WRONG_MAX_CONTEXT
    assert "110 tokens" in found.explanation


@given(st.lists(st.sampled_from([*WORDS, "hair", "blue"])).map(" ".join))
def test_the_evidence_is_a_spelling_of_the_value(response):
    found = score(response, ROW)
    if found.evidence:
        assert response[slice(*found.evidence)].lower() == found.value
        assert found.outcome is not Outcome.WRONG_OTHER
    else:
        assert found.value is None
    assert found.outcome is score_response(response, **ROW)


@pytest.mark.parametrize("column", sorted(ROW))
def test_a_row_without_a_column_or_with_a_wrong_one_is_refused(column):
    row = {name: value for name, value in ROW.items() if name != column} | {"d": 3, "rho": 5}
    with pytest.raises(ValueError, match=f"needs the column {column}"):
        score("x", row)
    with pytest.raises(ValueError, match=f"{column} must be a (list of )?texts?, got 5"):
        score("x", ROW | {column: 5})


@pytest.mark.parametrize("read", [score, read_steps])
def test_what_is_no_text_or_no_row_is_named(read):
    with pytest.raises(ValueError, match="a response must be a text, got 3"):
        read(3, ROW)
    with pytest.raises(ValueError, match="a row must be a mapping of columns to values, got None"):
        read("x", None)
    with pytest.raises(ValueError, match="a row must be a puzzle of CogniLoad"):
        score("x", {"text": "y"})

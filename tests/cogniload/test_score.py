"""The scorer against Appendix D of the CogniLoad paper, line by line, by hand-written cases."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

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

COLORS = ["green", "red", "blue", "gray"]
READINGS = ["fiction", "non-fiction", "sci-fi", "essay"]
PLACES = ["market", "marketplace", "camp", "zoo"]
SOCKS = {"poi": "Brent", "answer": "green", "category": "clothes_socks", "options": COLORS}

ANY_TEXT = st.text(st.characters(exclude_categories=[]))  # lone surrogates and controls as well
WORDS = ["Brent", "wearing", "green", "greenish", "red", "evergreen", "(", ")", ".", "**", "\n"]
RESPONSES = st.one_of(ANY_TEXT, st.lists(st.sampled_from(WORDS)).map(" ".join))

SCIENCE = {"category": "recent_read", "options": ["essay", "sci-fi"]}


def outcome(response, **changes):
    return score_response(response, **SOCKS | changes)


def about_reading(answer):
    return {"category": "recent_read", "answer": answer, "options": READINGS}


def about_place(answer):
    return {"category": "location", "answer": answer, "options": PLACES}


# D.5: buckets and their order

BUCKETS = [
    ("Brent is wearing green socks.", "correct_valid"),
    ("Brent is wearing unknown socks.\nFor Brent: green.", "correct_poi"),
    ("Brent is wearing unknown socks.\nSo: green.", "correct_last_sentence"),
    ("Brent is wearing red socks.", "wrong_logic"),
    ("Brent: red.", "wrong_logic_poi"),
    ("It is red.", "wrong_logic_last_sentence"),
    ("Brent can't be known.", "wrong_other"),
    ("", "wrong_max_context"),
    # an earlier window decides before a later one
    ("Brent is wearing green socks.\nFor Brent: red.\nSo: blue.", "correct_valid"),
    ("For Brent: green.\nSo: blue.", "correct_poi"),
    ("Brent is wearing red socks.\nFor Brent: blue.\nSo: gray.", "wrong_logic"),
    ("For Brent: blue.\nSo: gray.", "wrong_logic_poi"),
    # any correct window decides before any wrong one
    ("Brent is wearing red socks.\nFor Brent: green.", "correct_poi"),
    ("Brent is wearing red socks.\nSo: green.", "correct_last_sentence"),
    ("For Brent: red.\nSo: green.", "correct_last_sentence"),
    # the gold value within a lowercase comparison
    ("BRENT IS WEARING GREEN SOCKS.", "correct_valid"),
    # what a person who isn't asked about wears is not an answer before the last line
    ("Anna is wearing green socks.\nDone.", "wrong_other"),
    ("Anna is wearing green socks.", "correct_last_sentence"),
    # the PoI's name is a plain substring
    ("Brentwood is wearing green socks.", "correct_valid"),
    # at the start or alone
    ("Green socks are what Brent is wearing.", "correct_valid"),
    ("green", "correct_last_sentence"),
    ("evergreen", "wrong_other"),
]


def test_correct_outcomes():
    correct = {"correct_valid", "correct_poi", "correct_last_sentence"}
    assert {outcome for outcome in Outcome if outcome.correct} == correct
    assert len(Outcome) == 8


# D.3: normalization

NORMALIZATION = [
    ("Brent is wearing green socks.\n(not red)", "correct_valid"),  # parentheses are dropped
    ("It is green.\n(It is red.)", "correct_last_sentence"),
    ("It is green.\n(It is red.) ", "wrong_logic_last_sentence"),  # ... if they end the line
    ("It is green.\n It is red.)", "wrong_logic_last_sentence"),  # ... and start it
    ("It is green.\n(It is red.)\n", "wrong_logic_last_sentence"),  # ... and it is the very last
    ("It is green.\n(it is red)\n(it is blue)", "wrong_logic_last_sentence"),  # ... and only once
    ("(Brent is wearing green socks.)", "wrong_max_context"),  # ... even if it is all there is
    ("It is green.\n\n \n\t\r\n", "correct_last_sentence"),  # empty lines are dropped
    ("\n \n", "wrong_max_context"),
    ("It is green.\r\nBye", "wrong_other"),
    # full stops
    ("Brent is wearing green socks. I am sure", "correct_valid"),
    ("I am sure. Brent is wearing green socks", "wrong_other"),
    ("Brent is wearing green socks..", "wrong_max_context"),
    ("Brent is wearing green socks.\n.", "wrong_max_context"),
    ("Brent is wearing green socks.\n ..", "wrong_max_context"),
    ("Brent is wearing green socks.\n .", "correct_valid"),  # " " is not ""
]


# D.3: sentence windows and context budget


@pytest.mark.parametrize(("text", "sentence"), [
    ("one", "one"),
    ("one.", "one"),
    ("one. two.", " two"),
    ("one. two. three", " two"),  # the last sentence lacks its full stop
    ("one. two", "one"),
    ("one..", ""),
    (".", ""),
    ("", ""),
    ("a.b.c.d.", "d"),
])  # fmt: skip
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


@pytest.mark.parametrize(("prompt", "response", "budget", "over"), [
    (20_000, 12_748, CONTEXT_BUDGET, True),
    (20_000, 12_747, CONTEXT_BUDGET, False),
    (None, 32_748, CONTEXT_BUDGET, True),
    (None, 32_747, CONTEXT_BUDGET, False),
    (32_748, None, CONTEXT_BUDGET, True),
    (100, 100, 220, True),
    (100, 100, 221, False),
])  # fmt: skip
def test_context_budget(prompt, response, budget, over):
    counts = {"prompt_tokens": prompt, "response_tokens": response, "context_budget": budget}
    expected = "wrong_max_context" if over else "correct_valid"
    assert outcome("Brent is wearing green socks.", **counts) == expected
    assert CONTEXT_BUDGET == 32_768


# D.2: category mapping and qualifiers

QUALIFIERS = {
    "location": "at located in", "clothes_shirt": "shirt wear", "clothes_pant": "pant wear",
    "clothes_hat": "hat wear", "clothes_socks": "sock wear", "clothes_gloves": "glove wear",
    "clothes_underwear": "underwear wear", "hair": "hair", "recent_eat": "eat ate",
    "recent_watch": "watch watched movie", "recent_listen": "listen listened music",
    "recent_read": "read book",
}  # fmt: skip


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


@pytest.mark.parametrize(("gold", "spellings", "others"), [
    ("reaggea", ["reaggea", "reggae"], []),
    ("reagea", ["reagea", "reaggea", "reggae"], []),  # the ontology's spelling of the same
    ("sci-fi", ["sci-fi", "science fiction", "science-fiction"], []),
    ("camp", ["camp", "campground"], []),
    ("potatoes", ["potatoes", "potato"], []),
    ("market", ["market", "marketplace", "markets"], []),
    ("livingroom", ["livingroom", "living room"], []),
    ("green", ["green", "greenish"], ["gree"]),  # an answer may go on
    ("campground", ["campground"], ["camp"]),
    ("marketplace", ["marketplace"], ["market"]),
    ("pasta", ["pasta"], ["paste"]),
    ("fiction", ["fiction"], ["non-fiction"]),
    ("bathroom", ["bathroom"], ["bath room"]),
])  # fmt: skip
def test_spelling(gold, spellings, others):
    assert all(check_correct_answer(gold, f"it is {spelling}") for spelling in spellings)
    assert not any(check_correct_answer(gold, f"it is {spelling}") for spelling in others)


# D.4 and Algorithm 3: alternatives

CAPITALS = {"poi": "BRENT", "answer": "Green", "options": ["GREEN", "RED"]}
ODD_NAMES = ["Brent(", "[Brent", "Br*nt", "\\Brent", "Br$nt|", "Br+nt?"]
ALTERNATIVES = [
    # the gold value beside others, in whatever order: Algorithm 3 clears the flag
    ("The final step converts gray to green, so Brent wears **green**.", SOCKS, "correct_valid"),
    ("Brent is wearing green socks, no longer red ones.", SOCKS, "correct_valid"),
    # an alternative that encloses the gold value
    ("Brent last read non-fiction.", about_reading("fiction"), "wrong_logic"),
    ("Brent last read non-fiction.", about_reading("non-fiction"), "correct_valid"),
    ("Brent last read fiction.", about_reading("non-fiction"), "wrong_logic"),
    ("Brent: non-fiction.", about_reading("fiction"), "wrong_logic_poi"),
    ("non-fiction.", about_reading("fiction"), "wrong_logic_last_sentence"),
    # both found, one encloses the other: neither correct nor wrong logic
    ("Brent is in the marketplace.", about_place("market"), "wrong_other"),
    ("Brent is in the market.", about_place("marketplace"), "wrong_logic"),
    ("Brent is in the marketplace.", about_place("marketplace"), "correct_valid"),
    ("Brent: the marketplace.", about_place("market"), "wrong_other"),
    ("The marketplace.", about_place("market"), "wrong_other"),
    ("Brent is in the campground.", about_place("camp"), "correct_valid"),
    ("Brent is in the campground.", about_place("zoo"), "wrong_logic"),
    # the last mention of each decides
    ("Brent read fiction, then non-fiction.", about_reading("fiction"), "wrong_other"),
    ("Brent read non-fiction, then fiction.", about_reading("fiction"), "correct_valid"),
    ("Brent read non-fiction, fiction, non-fiction.", about_reading("fiction"), "wrong_other"),
    # spans are of the values as the ontology spells them
    ("Brent last read science fiction.", about_reading("sci-fi"), "wrong_other"),
    ("Brent last read science-fiction.", about_reading("sci-fi"), "correct_valid"),
    ("Brent last read science fiction.", about_reading("fiction"), "correct_valid"),
    ("Brent last read science fiction.", about_reading("essay"), "wrong_logic"),
    ("Brent last read science fiction.", SCIENCE | {"answer": "essay"}, "wrong_logic"),
    # an alternative that is not there encloses nothing, however long it is
    ("Red, not blue", SOCKS | {"answer": "red"}, "correct_last_sentence"),
    # a gold value without a boundary still clears the flag
    ("Brent is wearing evergreen, no, red socks.", SOCKS, "wrong_other"),
    # an alternative without a boundary is none
    ("Brent last read anon-fiction.", about_reading("fiction"), "wrong_other"),
    ("Brent is wearing infrared socks.", SOCKS, "wrong_other"),
    # the answer is none to itself
    ("Brent is wearing green socks.", {"options": ["red"]}, "correct_valid"),
    ("Brent is wearing green socks.", {"options": []}, "correct_valid"),
    ("Brent is wearing red socks.", {"options": []}, "wrong_other"),
    # names, answers and options may be in capitals, and a name may be no pattern
    ("Brent is wearing green socks.", CAPITALS, "correct_valid"),
    ("Brent is wearing red socks.", CAPITALS, "wrong_logic"),
    *((f"{name} is wearing green socks.", {"poi": name}, "correct_valid") for name in ODD_NAMES),
    *(("Brent is wearing red.", {"poi": name}, "wrong_logic_last_sentence") for name in ODD_NAMES),
]


@pytest.mark.parametrize(("response", "changes", "expected"), [
    *((response, {}, expected) for response, expected in BUCKETS + NORMALIZATION), *ALTERNATIVES,
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


@pytest.mark.parametrize(("response", "value", "words"), [
    ("First.\nBrent has **Green** hair.", "green", "Green"),
    ("Brent has red hair, then\nBrent has blue hair.", "blue", "blue"),
    ("Brent has green hair.\nRemember: red.", "green", "green"),
    ("Brent had red or blue hair", "blue", "blue"),
    ("Brent has hair.", None, None),
    ("", None, None),
])  # fmt: skip
def test_a_score_keeps_its_evidence(response, value, words):
    found = score(response, ROW)
    assert found.value == value
    assert (found.evidence and response[slice(*found.evidence)]) == words
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

"""The scorer of FACTOR: what it reads out of answers as models phrase them, by hand-written cases.

`data/responses.jsonl` holds responses with the outcome that a person would give them, or whether
they are right, and for some the answer that they claim. Those of `data/responses_unseen.jsonl` were
written, and judged, before the rules by authors who had not seen them.
"""

import re
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from stored import cases, read_lines, stored

from cogniload_gen import factor
from cogniload_gen.factor.reading import answer as reading_module
from cogniload_gen.factor.reading.answer import read_number, read_variables
from cogniload_gen.factor.score import FactorOutcome, score_factor, score_row

RESPONSES = [
    row
    for name in ("responses_unseen.jsonl", "responses.jsonl")
    for row in read_lines(stored(__file__, name))
]
QUESTION = "How many Fox does Hamilton Farm have?"


def variables(reading):
    """What a symbolic response concludes, as a set."""
    return None if reading is None else set(reading.split(", ")) - {"none"}


def read(response, target=2):
    """The variables that a response gives, as a set, or None."""
    return variables(read_variables(response, target).value)


def judged(rows, **changes):
    """The rows whose outcome, or answer, is not the one that a person gives them."""
    scores = [(row, score_row(row["response"], row | changes)) for row in rows]
    return [
        row["response"]
        for row, score in scores
        if score.outcome != row.get("outcome", score.outcome)
        or (score.outcome == "correct") != row.get("is_right", score.outcome == "correct")
        or score.value != row.get("claim", score.value)
    ]


def test_responses_have_the_outcome_that_a_person_gives_them():
    assert len(judged(RESPONSES)) <= 0.02 * len(RESPONSES)


def test_an_answer_that_is_told_does_not_need_the_question():
    """A question tells work from an answer; it takes nothing from what is an answer without it."""
    rows = [row for row in RESPONSES if row["suite"] == "realistic" and "question" not in row]
    assert set(judged(rows, question=QUESTION)) <= set(judged(rows))


WORDS = cases(factor.__file__, "reading.toml")
CASES, EXAMPLES = cases(__file__, "words.toml"), cases(__file__)
PHRASES = EXAMPLES["phrases"]


@pytest.mark.parametrize(
    ("mark", "word"),
    [(mark, word) for mark, words in CASES["languages"].values() for word in words.split()],
)
def test_every_foreign_word_counts(mark, word):
    word = word.replace("_", " ")
    meaning = next(
        english
        for english, words in WORDS["languages"].items()
        if any(re.fullmatch(foreign, word) for foreign in words)
    )
    sentence, reading = CASES["meanings"][meaning]
    # the mark is a word for "all", which counts for nothing and shows the language
    assert read(f"{mark} {sentence.format(word)}") == variables(reading or None)
    assert read(f"{mark} {sentence.format('zebra')}") != variables(reading or None)


@pytest.mark.parametrize(("suite", "marked", "value", "rule"), EXAMPLES["evidence"])
def test_a_score_keeps_its_evidence(suite, marked, value, rule):
    before, *rest = re.split("[«»]", marked)
    response = marked.replace("«", "").replace("»", "")
    row = {"suite": suite, "answer": value or "0", "target": 2}
    score = score_row(response, row)
    assert (score.value or "") == value
    assert score.explanation.startswith(f"{rule}: ")
    place = (len(before), len(before) + len(rest[0])) if rest else None
    assert score.evidence == place
    reading = read_variables(response, 2) if suite == "symbolic" else read_number(response)
    assert reading.rule == rule


DOCS = Path(__file__).parents[2] / "docs/factor.md"
TOLD_RULES = re.findall(
    r"^\| ([CN][0-9]) \| [^|]+ \| `([^`]+)` \| (?:`([^`]+)`|no answer) \|$",
    DOCS.read_text("utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize(("rule", "response", "value"), TOLD_RULES)
def test_the_guide_tells_each_rule_by_a_response(rule, response, value):
    suite = "symbolic" if rule.startswith("C") else "realistic"
    row = {"suite": suite, "answer": "0", "target": 9, "question": QUESTION}
    score = score_row(response, row)
    assert (score.value or "") == value
    assert score.explanation.startswith(f"{rule}: ")


def test_the_guide_tells_all_rules():
    assert [rule for rule, *_ in TOLD_RULES] == list(WORDS["explanations"])
    assert all(f"\n{rule}. " in (reading_module.__doc__ or "") for rule in WORDS["explanations"])


@pytest.mark.parametrize(
    ("suite", "gold", "response", "outcome", "missing", "extra"),
    [(suite, *case) for suite, cases in EXAMPLES["outcomes"].items() for case in cases],
)
def test_outcome(suite, gold, response, outcome, missing, extra):
    score = score_factor(response, suite=suite, answer=gold, target=2)
    assert score == (outcome, tuple(missing.split()), tuple(extra.split()))


@pytest.mark.parametrize(("counts", "over"), EXAMPLES["budgets"])
def test_context_budget(counts, over):
    score = score_factor("Answer: 8", suite="realistic", answer="8", **counts)
    assert score.outcome == ("max_context" if over else "correct")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"suite": "real"}, "suite must be one of symbolic, realistic, got 'real'"),
        ({"suite": "symbolic"}, "target must be an integer in the symbolic suite, got None"),
        ({"suite": "symbolic", "target": "2"}, "target must be an integer .*, got '2'"),
        ({"suite": "realistic", "answer": None}, "answer must be a text, got None"),
        ({"suite": "symbolic", "target": 2, "answer": 5}, "answer must be a text, got 5"),
        ({"suite": ["realistic"]}, "suite must be a text, got"),
    ],
)
def test_wrong_parameters(changes, message):
    with pytest.raises(ValueError, match=message):
        score_factor("v3", **{"answer": "v3"} | changes)


VARIABLES = st.sets(st.integers(0, 60), max_size=8).map(lambda ids: [f"v{i}" for i in ids])


def phrase(draw, names, target):
    """A response that concludes with some variables, in some order."""
    other = draw(st.integers(-2, 12).filter(lambda value: value != target))
    if not names:
        return draw(st.sampled_from(PHRASES["empty_phrases"])).format(target=target, other=other)
    form = draw(st.sampled_from(PHRASES["names"]))
    written = [form.format(name[1:]) for name in draw(st.permutations(names))]
    joined = written[0]
    for i, name in enumerate(written[1:], 2):
        joined += draw(
            st.sampled_from(PHRASES["joins"] if i == len(written) else PHRASES["joins"][:1])
        ).format(name)
    return draw(st.sampled_from(PHRASES["phrases"])).format(
        target=target,
        other=other,
        names=joined,
        bullets="\n".join(f"- {name}" for name in written),
        equations="\n".join(f"* {name} = v99 + 1 = {target}" for name in written),
    )


@given(VARIABLES, st.integers(-2, 12), st.data())
def test_any_set_in_any_phrasing_is_read_back(names, target, data):
    assert read(phrase(data.draw, names, target), target) == set(names)


@given(
    VARIABLES,
    st.one_of(st.text(), st.lists(st.sampled_from(PHRASES["reasoning"])).map("\n".join)),
    st.data(),
)
def test_reasoning_before_it_does_not_matter(names, reasoning, data):
    response = phrase(data.draw, names, 2)
    assert read(f"{reasoning}\n\nDone.\n\n{response}") == set(names)
    thought = f"<think>{reasoning}</think>\n\n{response}"
    assert read(thought) == set(names)


@given(st.integers(), st.text(), st.sampled_from(PHRASES["number_phrases"]))
@example(0, "\x011", "Therefore, Hamilton Farm has {} Fox.")
def test_any_number_in_many_phrasings_is_read_back(number, reasoning, phrase):
    response = f"{reasoning}\n\nDone.\n\n{phrase.format(number)}"
    assume("<" not in reasoning)
    assert read_number(response).value == str(number)


ANY_TEXT = st.text(st.characters(exclude_categories=[]))  # lone surrogates and controls as well
ANY_RESPONSE = st.one_of(ANY_TEXT, st.lists(st.sampled_from(PHRASES["pieces"])).map("".join))


@given(ANY_RESPONSE, st.integers(-3, 12))
def test_any_text_has_an_outcome_and_evidence_in_it(response, target):
    score = score_factor(response, suite="symbolic", answer="v3", target=target)
    assert isinstance(score.outcome, FactorOutcome)
    assert (score.missing or score.extra) if score.outcome == "wrong_set" else score[1:] == ((), ())
    assert isinstance(score_factor(response, suite="realistic", answer="8").outcome, FactorOutcome)
    for reading in (read_variables(response, target), read_number(response)):
        if reading.place is None:
            assert reading.value is None
            continue
        start, stop = reading.place
        assert 0 <= start < stop <= len(response)
        assert not response[start:stop].isspace()


@pytest.mark.parametrize(("number", "name"), EXAMPLES["number_words"])
def test_numbers_in_words(number, name):
    assert read_number(f"Answer: {name}.").value == str(number)
    assert read(f"The variable equal to {name} is v3, v4 is v3 + 1.", number) == {"v3"}

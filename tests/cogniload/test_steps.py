"""The step reader: agreement with independent writers, promises of the rules, hostile text."""

import json
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import growth

from cogniload_gen import benchmarks
from cogniload_gen.cogniload.knobs import ERRORS
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps import first_error
from cogniload_gen.cogniload.steps.first_error import Steps, lexicon_of, read_steps
from cogniload_gen.cogniload.steps.reader import Reader, Verdict

DATA = Path(__file__).parent / "data"
SETS = ("traces_1", "traces_2")

PUZZLE = """\
Ann is wearing a red hat and is in the park and last ate pizza.
Bob is wearing a blue hat and is in the bank and last ate sushi.
1. The people wearing a blue hat move to the zoo.
2. The people wearing a red hat and located in the park put on a green hat and eat pasta.
3. The people located in the zoo put on a red hat.
4. The people wearing a green hat move to the bank.
5. The people who last ate pasta put on a blue hat.

What color hat is Ann wearing?"""
ROW = {"puzzle": PUZZLE}
RIGHT = [
    "Start: Ann has a red hat, is in the park and ate pizza.",
    "1. Ann's hat is red, so this is not her.",
    "2. Ann matches. Ann: green hat, park, pasta.",
    "3. Only Bob is in the zoo. Ann is unchanged.",
    "4. Ann has the green hat, so she moves to the bank.",
    "5. Ann ate pasta, so she puts on a blue hat.",
    "Ann is wearing a blue hat.",
]


def read_all(response, row):
    """Read a response by the rules alone: even a faint story is claimed."""
    with patch.object(first_error, "MARGIN", 0.5):
        return read_steps(response, row)


def load(name):
    return json.loads((DATA / f"{name}.json").read_text("utf-8"))


def told(*lines, answer=True):
    """The right telling with some of its parts replaced, by their number."""
    parts = dict(enumerate(RIGHT if answer else RIGHT[:-1])) | dict(lines)
    return "\n".join(text for _, text in sorted(parts.items()) if text)


def test_recovery_is_told_where_the_writers_tell_it():
    pairs = [
        (trace["recovered"], read_all(trace["response"], trace))
        for name in SETS
        for trace in load(name)
        if trace["error"] not in (None, "stopped", "answer", "skipped")
        and trace["recovered"] is not None
    ]
    assert sum(bool(steps.recovered) == told for told, steps in pairs) >= 0.9 * len(pairs)


def test_of_a_model_that_tracks_nothing_nothing_is_claimed():
    for trace in load("traces_small_model"):
        steps = read_all(trace["response"], trace)
        assert not steps.read
        assert steps.first_error is steps.error is steps.recovered is None
        assert steps.told == {}


@pytest.mark.parametrize(("aside", "read"), [("", True), (", from a pink hat", False)])
def test_a_story_that_leaves_too_much_unexplained_is_not_claimed(aside, read):
    states = [", ".join(people["Ann"].values()) for people in solve_steps(PUZZLE).states]
    lines = [(t, f"{RIGHT[t]} Ann: {states[t]}{aside}.") for t in range(1, 6)]
    assert read_steps(told(*lines), ROW).read == read


def test_what_is_told_comes_with_its_place():
    text = told()
    steps = read_all(text, ROW)
    states = [people["Ann"] for people in solve_steps(PUZZLE).states]
    for t, values in steps.told.items():
        for category, value in values.items():
            assert states[t][category] == value.value == text[value.start : value.end]
    assert steps.told[2].keys() == states[0].keys()
    assert steps.decided == (1, 2, 3, 4, 5)
    assert steps.coverage == 1


def test_a_slip_taken_back_is_a_correction_and_no_error():
    text = told((2, "2. Ann: blue hat. Wait, no. Ann: green hat, park, pasta."))
    steps = read_all(text, ROW)
    assert steps.read
    assert steps.error is None
    (place,) = steps.corrections
    assert text[place:].startswith("Wait")


def test_recovery_is_found():
    text = told((0, "Start: Ann has a red hat, is in the park and ate sushi."))
    steps = read_all(text, ROW)
    assert (steps.first_error, steps.recovered, steps.recovered_at) == (0, True, 2)
    text = told((3, "3. Ann and Bob are there. Ann: red hat, park, pasta."), (4, "4. Not Ann."))
    steps = read_all(text, ROW)
    assert (steps.first_error, steps.recovered, steps.recovered_at) == (3, False, None)


def test_what_tracks_nothing_is_not_read_and_what_is_only_quoted_is_no_silence():
    for text in ("", " ", "\n", "Ann is wearing a blue hat.", "I don't know.", PUZZLE):
        assert not read_all(text, ROW).read
    stopped = told((4, ""), (5, ""), answer=False)
    assert read_all(stopped, ROW).error == "stopped"
    quoted = "\n4. Consider those with a green hat.\n5. Consider those who ate pasta."
    assert not read_all(stopped + quoted, ROW).read


def test_names_after_a_verdict_say_whose_it_is():
    lines = ["1. Matches: [Bob]", "2. Bob ✗ Ann ✓ so a green hat", "3. Matches: [Bob]"]
    block = Reader(lexicon_of(PUZZLE)).read(lexicon_of(PUZZLE).read("\n".join(lines)))
    verdicts = [[e.applies for e in b.evidence if isinstance(e, Verdict)] for b in block[1:]]
    assert verdicts == [[False], [True], [False]]


STATES = [", ".join(people["Ann"].values()) for people in solve_steps(PUZZLE).states]
AT_START = "Start: Ann has a red hat, is in the park and ate pizza.\n"


@pytest.mark.parametrize("change", [
    lambda text: text.replace("Ann", "A"),
    lambda text: "A = Ann\n" + text,
    lambda text: text.replace("2. ", "1.2 "),
    lambda text: text.replace("2. Ann matches.", "2. $\\text{Ann}$ matches."),
    lambda text: text.replace("green hat, park", "red hat -> green hat, park"),
    lambda text: text.replace("green hat, park", "red hat → green hat, park"),
    lambda text: "```\n" + text + "\n```",
    lambda text: text.replace("3. ", "3-4. "),
    lambda text: text.replace("3. ", "Statements 3 and 4: "),
    lambda text: "\n".join(f"{t + 1}. Ann: hat {state}" for t, state in enumerate(STATES)),
    lambda text: "\n".join(f"{t}. Ann: hat {state}" for t, state in enumerate(STATES[1:])),
    lambda text: AT_START
    + "\n".join(f"{t}.\n 1. Look.\n 2. Ann: hat {STATES[t]}" for t in range(1, 6)),
])  # fmt: skip
def test_what_is_odd_is_not_read(change):
    assert read_all(told(), ROW).read
    assert not read_all(change(told()), ROW).read


def test_what_is_told_of_an_earlier_statement_and_clipped_names_are_no_errors():
    recap = told((5, f"{RIGHT[5]} Looking back, she got at statement 2 a green hat."))
    assert (read_all(recap, ROW).read, read_all(recap, ROW).error) == (True, None)
    row = {"puzzle": PUZZLE.replace("Ann", "Jeffrey")}
    text = told().replace("Ann", "Jeffrey")
    assert read_all(text, row).read
    assert not read_all(text.replace("3. Only Bob", "3. Not Jeff, only Bob"), row).read


def test_a_change_without_a_cause_needs_a_text_that_covers_half_of_the_statements():
    drift = "3. Not Ann. Ann: green hat, park, sushi."
    assert read_all(told((3, drift), (5, "5. Ann ate sushi: no.")), ROW).error == "drifted"
    steps = read_all(told((1, ""), (2, ""), (3, drift), (4, ""), (5, "")), ROW)
    assert steps.coverage < 0.5
    assert not steps.read or steps.error != "drifted"


@pytest.mark.parametrize(("text", "claim"), [
    (told((0, "Ann: blue hat, red hat, park, pizza."), (3, "3. Ann: red hat, park."),
          (4, "4. Not Ann.")), None),
    (told((3, "3. It applies to Ann. Ann: pink hat, park, pasta."),
          (4, "4. Not Ann, her hat is pink.")), (3, "intruded")),
])  # fmt: skip
def test_layouts_of_models(text, claim):
    steps = read_steps(text, ROW)
    assert ((steps.first_error, steps.error) if steps.read else None) == claim


OTHER_CATEGORIES = [
    {"poi": "Ann"},
    {"puzzle": "no puzzle"},
    {"puzzle": None},
    {"puzzle": ["x"]},
    {"puzzle": PUZZLE.replace("is in the bank", "has red hair")},
    {"puzzle": PUZZLE.replace(" and is in the bank", "")},
    {"puzzle": PUZZLE.replace("put on a blue hat", "put on blue socks")},
    {"puzzle": PUZZLE.replace("located in the zoo", "wearing red socks")},
]


@pytest.mark.parametrize("row", OTHER_CATEGORIES)
def test_a_row_whose_steps_cannot_be_read_is_refused(row):
    with pytest.raises(ValueError, match=r"puzzle|line|the same categories") as raised:
        benchmarks.read_steps("\n".join(RIGHT), {"poi": "Ann"} | row)
    assert "\n" not in str(raised.value)


ODD = ["1.", "S2", "statement", "\n", "|", "→", "✓", "✗", "٣.", "²", "999999999", "\0", "İ", "–"]
WORDS = st.sampled_from([*" ".join(RIGHT).split(), *PUZZLE.split(), *ODD, "wait"])


@settings(max_examples=300)
@given(st.one_of(st.text(), st.lists(WORDS, max_size=120).map(" ".join)))
def test_no_text_does_harm(text):
    steps = read_all(text, ROW)
    assert steps.first_error is None or 0 <= steps.first_error <= 5
    assert steps.error is None or steps.error in ERRORS
    kept = {name: getattr(steps, name) for name in ("decided", "coverage")}
    assert steps.read or steps == Steps(**kept)
    for values in steps.told.values():
        for value in values.values():
            assert 0 <= value.start < value.end <= len(text)


@pytest.mark.parametrize("name", ["(Bob", "[", "B*+", "(a+)+$", "\u4e00(", "a-(b", "B\\"])
def test_no_name_and_no_value_is_read_as_a_pattern(name):
    for other in ("Bob", "bank"):
        row = {"puzzle": PUZZLE.replace(other, name)}
        steps = read_steps("\n".join(RIGHT) + f"\n{'a' * 60}", row)
        assert steps.error is None


@pytest.mark.parametrize(
    "piece",
    [
        "a", " ", "hat ", "Ann: red hat, ", "wait ", "✓", "| ", "|a|\n", "(", "2. ", "statement 3 ",
        "no ", "1, ", "Ann and ", "\0", "$\\", "the first ", "red ", "people ", "\n", "-", "d'",
        "Step 1: ", "r...step.1", "Ann: red hat, wait ", "Ann blue hat wait red hat ",
    ],
)  # fmt: skip
def test_long_hostile_text_takes_no_longer_than_its_length(piece):
    assert growth(lambda text: read_all(text, ROW), piece) < 8

"""Answers and solutions by authors who had not seen the rules, as a careful reader judges them.

`data/held_out.jsonl` has the texts of eight authors, with the judgement: whether an answer is
right, and the first variable of a solution that is wrong. One half of the first author's was open
to the author of the rules; the others were read once before they were opened. Half of the answers
are hard: written to mislead a reader.
"""

import pytest
from stored import read_lines, stored

from cogniload_gen import read_steps
from cogniload_gen.factor.reading.steps import read_factor_steps
from cogniload_gen.factor.score import score_row

HELD_OUT = read_lines(stored(__file__, "held_out.jsonl"))
MISJUDGED = {
    "open": (0, 2), "sealed": (0, 1), "later": (0, 5), "third": (1, 19), "fourth": (1, 16),
    "fifth": (0, 10), "sixth": (3, 11), "seventh": (0, 11), "eighth": (0, 12),
}  # fmt: skip
"""How many of an author's clear answers, and of the hard ones, may be misjudged."""


def of(half, kind, **fields):
    return [
        row
        for row in HELD_OUT
        if (row["half"], row["type"]) == (half, kind)
        and all(row[name] == value for name, value in fields.items())
    ]


def passes(row):
    return score_row(row["response"], row).outcome == "correct"


def passes_wrongly(row):
    return row["type"] == "answer" and passes(row) and not row["is_right"]


@pytest.mark.parametrize("half", MISJUDGED)
def test_answers_are_judged_as_a_reader_judges_them(half):
    wrong = [row for row in of(half, "answer") if passes(row) != row["is_right"]]
    clear = [row["response"] for row in wrong if not row["hard"]]
    most_clear, most_hard = MISJUDGED[half]
    assert len(clear) <= most_clear, clear
    assert len(wrong) - len(clear) <= most_hard


def test_no_wrong_answer_passes_that_is_clear():
    assert not [row for row in HELD_OUT if not row.get("hard", True) and passes_wrongly(row)]


@pytest.mark.parametrize("half", ["open", "sealed", "later", "third", "fourth"])
def test_first_errors_are_those_of_a_reader(half):
    rows = of(half, "steps")
    read = [(row, read_factor_steps(row["response"], row)) for row in rows]
    claimed = [(row, steps) for row, steps in read if steps.read]
    right = [row for row, steps in claimed if steps.first_error == row["first_error"]]
    clean = [steps for row, steps in claimed if row["kind"] == "none"]
    assert not [steps for steps in clean if steps.error]
    assert len(claimed) >= {"open": 18, "sealed": 20, "later": 31, "third": 32, "fourth": 26}[half]
    assert len(claimed) - len(right) <= (half in {"sealed", "fourth"})


def test_transcripts_find_each_first_error():
    """By a reader that saw neither the labels nor the problems: docs/factor.md has the figure."""
    made = read_lines(stored(__file__, "transcripts.jsonl.gz"))
    for row, records in ((HELD_OUT[each["row"]], each["records"]) for each in made):
        steps = read_steps(row["response"], row, transcript=records)
        assert steps.read
        assert steps.first_error == row["first_error"]
    assert len(made) == 80

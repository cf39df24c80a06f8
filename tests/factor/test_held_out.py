"""Answers and solutions by an author who had not seen the rules: what docs/factor.md says of them.

One half was open to the author of the rules. The other, and the texts of seven later authors, were
read once before they were opened, and docs/factor.md has the figures of that reading. Today's rules
read all clear answers of the first two right, and no rule was mended on those of the eighth.
`data/held_out.jsonl` has all texts, with the judgement of a careful reader: whether an answer is
right, and the first variable of a solution that is wrong.
"""

import json
from pathlib import Path

import pytest
from source_tree import ROOT

from cogniload_gen.factor.first_error import read_factor_steps
from cogniload_gen.factor.score import score_row

LINES = (Path(__file__).parent / "data/held_out.jsonl").read_text("utf-8").splitlines()
HELD_OUT = [json.loads(line) for line in LINES]
TEXT = (ROOT / "docs/factor.md").read_text("utf-8")
PAGE = " ".join(TEXT.split())


def of(half, kind, **fields):
    return [
        row
        for row in HELD_OUT
        if (row["half"], row["type"]) == (half, kind)
        and all(row[name] == value for name, value in fields.items())
    ]


def passes(row):
    return score_row(row["response"], row).outcome == "correct"


@pytest.mark.parametrize("half", ["open", "sealed", "later"])
def test_answers_are_judged_as_a_reader_judges_them(half):
    wrong = [row for row in of(half, "answer") if passes(row) != row["is_right"]]
    assert not [row["response"] for row in wrong if not row["hard"]]
    assert len(wrong) <= 2


@pytest.mark.parametrize("half", ["third", "fourth", "fifth", "sixth", "seventh", "eighth"])
def test_the_page_has_todays_figures_of_an_author(half):
    rows = of(half, "answer")
    misjudged = [row for row in rows if passes(row) != row["is_right"]]
    cells = [
        f"{sum(row['hard'] == hard for row in misjudged)} of {count}" if count else "none written"
        for hard in (False, True)
        for count in [sum(row["hard"] == hard for row in rows)]
    ]
    wrong = [row for row in rows if not row["is_right"]]
    cells.append(f"{sum(map(passes, wrong))} of {len(wrong)}")
    assert f"| {half} | {' | '.join(cells)} |\n" in TEXT


@pytest.mark.parametrize("half", ["open", "sealed", "later", "third", "fourth"])
def test_first_errors_are_those_of_a_reader(half):
    rows = of(half, "steps")
    read = [(row, read_factor_steps(row["response"], row)) for row in rows]
    claimed = [(row, steps) for row, steps in read if steps.read]
    right = [row for row, steps in claimed if steps.first_error == row["first_error"]]
    clean = [steps for row, steps in claimed if row["kind"] == "none"]
    assert not [steps for steps in clean if steps.error]
    assert len(claimed) >= {"open": 18, "sealed": 20, "later": 33, "third": 36, "fourth": 29}[half]
    assert len(claimed) - len(right) <= {"open": 0, "fourth": 2}.get(half, 1)
    if half in ("third", "fourth"):
        assert f"claims {len(claimed)} of {len(rows)} solutions" in PAGE
        assert f"is right in {len(right)} of them" in PAGE
        assert f"none of the {len(clean)} clean ones" in PAGE

"""Answers and solutions by an author who had not seen the rules: what docs/factor.md says of them.

One half was open to the author of the rules. The other, and the texts of a later, a third and a
fourth author, were read once before they were opened, and docs/factor.md has the figures of that
reading. Today's rules read all answers of the first two right, and no rule was mended on the
fourth. `data/held_out.jsonl` has all texts, with the judgement of a careful reader: whether an
answer is right, and the first variable of a solution that is wrong.
"""

import json
from pathlib import Path

import pytest
from source_tree import ROOT

from cogniload_gen.factor.first_error import read_factor_steps
from cogniload_gen.factor.score import score_row

LINES = (Path(__file__).parent / "data/held_out.jsonl").read_text("utf-8").splitlines()
HELD_OUT = [json.loads(line) for line in LINES]
PAGE = " ".join((ROOT / "docs/factor.md").read_text("utf-8").split())


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
    rows = of(half, "answer")
    assert not [row["style"] for row in rows if passes(row) != row["is_right"]]


@pytest.mark.parametrize(("hard", "most", "most_passed"), [(False, 2, 0), (True, 19, 0)])
def test_the_page_has_the_figures_of_the_third_author(hard, most, most_passed):
    rows = of("third", "answer", hard=hard)
    misjudged = [row for row in rows if passes(row) != row["is_right"]]
    assert (len(misjudged), sum(map(passes, misjudged))) == (most, most_passed)
    assert f"{most} of {len(rows)} {'hard' if hard else 'clear'} ones" in PAGE
    wrong = of("third", "answer", is_right=False)
    assert f"{sum(map(passes, wrong))} wrong answers of {len(wrong)} pass" in PAGE


def test_the_page_has_the_figures_of_the_fourth_author():
    counts = []
    for hard in (False, True):
        rows = of("fourth", "answer", hard=hard)
        misjudged = [row for row in rows if passes(row) != row["is_right"]]
        assert f"{len(misjudged)} of {len(rows)} {'hard' if hard else 'clear'} ones" in PAGE
        counts.append(sum(map(passes, misjudged)))
    wrong = of("fourth", "answer", is_right=False)
    assert f"**{sum(counts)} wrong answer of {len(wrong)} passes" in PAGE


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

"""Transcripts: what a model wrote down of a response, held against the solver."""

import json
import random
from itertools import pairwise

import pytest
from stored import read_lines, stored

from cogniload_gen import generate_puzzles, read_steps
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.traces import clean_trace
from cogniload_gen.transcripts import parse_answers, pieces, quoted

PUZZLE = """Solve this logic puzzle.
Ann is wearing a red hat and last ate pizza.
Bob is wearing a blue hat and last ate pasta.
1. The people wearing a red hat put on a green hat.
2. The people wearing a blue hat eat pizza.
3. The people wearing a green hat eat pasta.
4. The people who last ate pizza put on a red hat.

What color hat is Ann wearing?"""


def said(k, applies, values, quote, **more):
    return {"k": k, "applies": applies, "values": values, "quote": quote, **more}


def judged(text, *records):
    steps = read_steps(text, {"id": "", "puzzle": PUZZLE}, transcript=records)
    return steps.read and (steps.first_error, steps.error)


TEXT = "Ann: red hat, pizza. 1 is hers: green hat. 2 is not. 3: she eats pasta. 4 not. Green hat."
WRITTEN = json.loads(stored(__file__, "records.json").read_text("utf-8"))
"""What another text replaces, and the record of it that changes; records that are dropped."""
RECORDS = [
    said(0, None, ["red hat", "pizza"], "Ann: red hat, pizza"),
    said(1, True, ["green hat"], "1 is hers: green hat"), said(2, False, [], "2 is not"),
    said(3, True, ["pasta"], "3: she eats pasta"), said(4, False, [], "4 not"),
    said("final", None, ["green hat"], "Green hat"),
]  # fmt: skip


def test_a_right_response_has_no_error_and_counts_its_records():
    steps = read_steps(TEXT, {"id": "", "puzzle": PUZZLE}, transcript=RECORDS)
    assert (steps.read, steps.error, steps.records, steps.dropped) == (True, None, 6, 0)
    assert [TEXT[v.start : v.end] for v in steps.told[3].values()] == ["pasta"]


@pytest.mark.parametrize(("old", "new", "at", "change", "expected"), WRITTEN["errors"])
def test_each_kind_of_error_is_found_where_it_is(old, new, at, change, expected):
    text = TEXT.replace(old, new)
    records = [*RECORDS]
    records[at] = records[at] | change | {"quote": new.rstrip(".")}
    assert judged(text, *records) == tuple(expected)


def test_what_is_left_out_is_skipped_if_it_shows_and_stopped_at_the_end():
    text = TEXT.replace("1 is hers: green hat. ", "").replace("3: she eats pasta. 4 not.", "3: no.")
    records = [RECORDS[0], RECORDS[2], said(3, False, [], "3: no"), RECORDS[5] | {
        "values": ["red hat"], "quote": "Red hat"}]  # fmt: skip
    assert judged(text.replace("Green", "Red"), *records) == (1, "skipped")
    assert judged("Ann: red hat, pizza. 1: green hat.", RECORDS[0],
                  said(1, True, ["green hat"], "1: green hat")) == (3, "stopped")  # fmt: skip


def test_a_correction_is_no_first_error_and_what_is_revoked_does_not_count():
    wrong = said(2, True, ["pasta"], "2: she eats pasta", revoked=True)
    text = TEXT.replace("2 is not", "2: she eats pasta. No, 2 is not")
    assert judged(text, *RECORDS[:2], wrong, *RECORDS[2:]) == (None, None)
    kept = wrong | {"revoked": False}
    later = said(2, False, [], "2 is not")
    assert judged(text, *RECORDS[:2], kept, *RECORDS[3:5], later, RECORDS[5]) == (2, "intruded")


@pytest.mark.parametrize("lie", WRITTEN["dropped"])
def test_a_record_that_the_response_does_not_bear_out_is_dropped(lie):
    steps = read_steps(TEXT, {"id": "", "puzzle": PUZZLE}, transcript=[*RECORDS, lie])
    assert (steps.error, steps.records + steps.dropped) == (None, 7)


def test_a_transcript_is_a_list_and_records_come_in_any_order():
    for wrong in ({"k": 1}, "[]", 7):
        with pytest.raises(ValueError, match="a transcript must be a list of records"):
            read_steps(TEXT, {"id": "", "puzzle": PUZZLE}, transcript=wrong)
    assert not judged(TEXT)
    assert judged(TEXT, *random.Random(1).sample(RECORDS, 6)) == (None, None)  # noqa: S311


def test_truth_copied_beside_a_text_that_says_nothing_is_no_reading():
    for name in ("third", "layouts", "ninth"):
        for i, row in enumerate(read_lines(stored(__file__, f"steps_{name}.jsonl"))[:30]):
            solution = solve_steps(row["puzzle"])
            truth = [
                said(t, t and solution.needles[t - 1], [f"{v} {c.rpartition('_')[2]}" for c, v in
                     state[solution.poi].items()], row["response"][:20])
                for t, state in enumerate(solution.states)
            ]  # fmt: skip
            text = row["response"].split("\n")[0][:20] + " I don't know."
            assert not read_steps(text, row, transcript=truth).read, (name, i)


def test_answers_of_readers_are_parsed_as_far_as_they_go():
    whole = 'Sure:\n```json\n[{"k": 1, "quote": "a\\"b"}, {"k": 2}]\n```'
    assert parse_answers([whole]) == [{"k": 1, "quote": 'a"b'}, {"k": 2}]
    assert parse_answers([whole[:-9], '[{"k": 2}, {"k": 3}]']) == [
        {"k": 1, "quote": 'a"b'}, {"k": 2}, {"k": 3}]  # fmt: skip
    assert parse_answers(["", "no list", '{"k": ', "[" * 5000, '{"a":' * 5000]) == []


def test_pieces_cover_a_text_and_overlap():
    text = "".join(f"line {i} " + "x" * (i % 90) + "\n" for i in range(2000))
    places = pieces(text)
    assert (places[0][0], places[-1][1]) == (0, len(text))
    assert all(low[1] - 2000 < high[0] < low[1] for low, high in pairwise(places))
    assert all(end - start <= 12_000 for start, end in places)
    assert quoted([said(1, True, [], "line 7 ")], text).records[0].start == text.index("line 7 ")


def test_lines_that_a_puzzle_asks_for_are_read_exactly():
    (row,) = generate_puzzles(2, 8, 50, 1, seed=5, steps=True).to_pylist()
    assert "-steps-" in row["id"]
    assert "semicolons" in row["puzzle"].splitlines()[0]
    solution = solve_steps(row["puzzle"])
    states = [state[row["poi"]] for state in solution.states]
    lines = [f"{t}. {'; '.join(s.values())}" for t, s in enumerate(states) if t]
    last = clean_trace(row["puzzle"]).splitlines()[-1]
    steps = read_steps("\n".join([*lines, last]), row)
    assert (steps.read, steps.error, steps.coverage) == (True, None, 1)
    wrong = next(v for part in solution.parts for c, v in part.items()
                 if c in states[5] and v != states[5][c])  # fmt: skip
    category = next(c for part in solution.parts for c, v in part.items() if v == wrong)
    lines[4] = f"5. {'; '.join((states[5] | {category: wrong}).values())}"
    assert read_steps("\n".join([*lines, last]), row).first_error == 5
    assert row["answer"] == solution.answer

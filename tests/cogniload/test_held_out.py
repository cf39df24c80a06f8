"""Texts by writers who saw no rule: docs/steps.md and docs/languages.md have the figures.

A trace's label is the first error about anyone; the reader's is about the person of interest (PoI).
So traces whose first error is about another person decide nothing, and count for nothing.
"""

import pytest
from real_texts import real_responses
from source_tree import ROOT
from statsmodels.stats.proportion import proportion_confint
from stored import read_lines, stored

from cogniload_gen import generate_puzzles, read_steps, score
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.grid import language_of

PAGE = (ROOT / "docs/steps.md").read_text("utf-8")

KINDS = {
    None: {None}, "start": {"initial"}, "applied": {"intruded"},
    "skipped": {"missed", "skipped"}, "person": {"intruded", "missed"}, "value": {"wrong_value"},
    "partial": {"wrong_value"}, "extra": {"wrong_value", "drifted"}, "omitted": {"skipped"},
    "drift": {"drifted"}, "stopped": {"stopped"}, "answer": {"answer"},
}  # fmt: skip
"""The reader's kinds that each of the writers' kinds may be."""


def expected(row):
    """The places and the kinds of the first error that count as right; None for no such row.

    Later writers name the reader's own kind, as `error`.
    """
    if "error" in row:
        return {row["first_error"]}, {row["error"]}
    solution = solve_steps(row["puzzle"])
    if row.get("unreadable") or row.get("who") not in (None, solution.poi):
        return None
    first, kind = row["first_error"], row["kind"]
    if kind == "stopped":
        truth = [people[solution.poi] for people in solution.states]
        later = range(row["stopped_after"] + 1, len(truth))
        first = next((t for t in later if truth[t] != truth[t - 1]), None)
        kind = kind if first else None
    low, high = row.get("range") or (first, first)
    return {None} if low is None else {*range(low, high + 1)}, KINDS[kind]


def agreement(rows, *, by_rules):
    """Counts: traces, claimed, right place, right kind, clean ones claimed, and accused."""
    counts = [0] * 6
    for row in rows:
        right = expected(row)
        if right is None:
            continue
        places, kinds = right
        transcript = None if by_rules else row["records"]
        steps = read_steps(row["response"], row, transcript=transcript)
        clean = kinds == {None}
        outcome = (True, True, steps.first_error in places, steps.error in kinds, clean,
                   clean and steps.error is not None)  # fmt: skip
        for i, value in enumerate(outcome):
            counts[i] += value and (i == 0 or steps.read)
    return tuple(counts)


MADE = read_lines(stored(__file__, "transcripts.jsonl.gz"))
"""Transcripts of the held-out texts, by readers that saw neither labels nor rules."""


def texts_of(name):
    rows = read_lines(stored(__file__, f"{name}.jsonl"))
    return real_responses(rows) if name == "steps_real" else rows


@pytest.mark.parametrize("name", sorted({made["set"] for made in MADE}))
def test_the_docs_figures_on_held_out_texts(name):
    texts, made = texts_of(name), {}
    for each in (each for each in MADE if each["set"] == name):
        row = texts[each["row"]] | {"records": each["records"]}
        if not row.get("unreadable"):
            made.setdefault(each["reader"], []).append(row)
    assert not any(read_steps(r["response"], r).read for r in texts if r.get("unreadable"))
    for reader, rows in [("rules", made["strong"]), *made.items()]:
        traces, claimed, first, _, clean, accused = agreement(rows, by_rules=reader == "rules")
        cells = [reader, f"{claimed} of {traces}", f"{first} ({first / claimed:.0%}, "
                 f"{interval(first, claimed)})", f"{accused} of {clean}"]  # fmt: skip
        assert f"| {' | '.join(cells)} |".replace("%", " %") in PAGE, cells


def interval(count, of):
    low, high = proportion_confint(count, of, method="wilson")
    return f"{100 * low:.0f} to {100 * high:.0f}"


HELD_OUT = read_lines(stored(__file__, "languages_held_out.jsonl"))
HELD_OUT += read_lines(stored(__file__, "languages_sealed.jsonl"))


@pytest.fixture(scope="module")
def originals():
    """The puzzles of the writers' responses, by id."""
    small = enumerate([(2, 4), (3, 5), (4, 6), (6, 8), (9, 6)], 777)
    cells = [*((seed, (*cell, 50, 5)) for seed, cell in small), (90210, (10, 6, [25, 75], 25))]
    return {
        row["id"]: row
        for language in ("de", "fr", "es", "zh")
        for seed, cell in cells
        for row in generate_puzzles(*cell, seed=seed, language=language).to_pylist()
    }


@pytest.mark.parametrize(
    ("language", "misjudged", "passed", "hard"),
    [("de", [3, 2], [0, 2], 6), ("es", [3, 0], [1, 0], 8), ("fr", [1, 0], [0, 0], 8),
     ("zh", [4, 1], [0, 1], 6)],
)  # fmt: skip
def test_responses_in_other_languages(language, misjudged, passed, hard, originals):
    """Of two files. `final` is what a response answers at last, as its writer says, or None."""
    kinds = {"clear": [], "sealed": [], "hard": []}
    for row in (row for row in HELD_OUT if language_of(row["id"]) == language):
        original = originals[row["id"]]
        right = row["correct"] if "correct" in row else row["final"] == original["answer"]
        kind = "sealed" if "correct" in row else "hard" if row["hard"] else "clear"
        kinds[kind].append((score(row["response"], original).correct, right))
    assert [*map(len, kinds.values())] == [100, 100, 20]
    wrong = [[scored for scored, right in each if scored != right] for each in kinds.values()]
    assert [*map(len, wrong)] == [*misjudged, hard]
    assert [*map(sum, wrong[:2])] == passed

"""No trick earns a reward: those of data/reward_hacks.jsonl, found by hand and by a search.

A hack of the steps has a `line` for each statement, and what stands before (`head`) and after them
(`recap`: a line for each once more; `tail`). A hack of the answer has a `text`; its {options} are
all of them, each in the form `option`, joined by `joint`. In {truth} all is true, in {wrong} none.
"""

import json

import pytest
from source_tree import ROOT
from stored import read_lines, stored

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.ontology import WORDS
from cogniload_gen.rewards import answer_score, step_score

PROMISES = " ".join((ROOT / "docs/training.md").read_text("utf-8").split())
HACKS = read_lines(stored(__file__, "reward_hacks.jsonl"))
PUZZLES = generate_puzzles([1, 3, 5], 12, [25, 50, 90], 1, split="train", trace=True).to_pylist()


def clauses(categories, values):
    phrases = (WORDS[c]["phrase"].format(v) for c, v in zip(categories, values, strict=True))
    return "has " + " and ".join(phrases)


def respond(hack, row):
    poi, categories, domains = row["poi"], row["categories"], row["domains"]
    index = categories.index(row["category"])
    states = row["poi_states"]
    others = [{v: next(o for o in d if o != v) for v in d} for d in domains]
    wrong = [[other[v] for other, v in zip(others, s, strict=True)] for s in states]
    words = {"poi": poi, "other": next(name for name in row["people"] if name != poi)}
    if "text" in hack:
        option = hack.get("option", "{}").format
        options = hack.get("joint", " ").join(map(option, sorted(row["options"])))
        truth = clauses([categories[index]], [row["answer"]])
        return hack["text"].format(options=options, value=row["answer"], truth=truth, **words)
    lines = [hack.get("head", "")]
    for form in (hack["line"], hack.get("recap", "")):
        for t, (right, none_right) in enumerate(zip(states, wrong, strict=True), 1):
            every = ", ".join(v for d, r in zip(domains, right, strict=True) for v in d if v != r)
            lines.append(
                form.format(
                    t=t, truth=clauses(categories, right), wrong=clauses(categories, none_right),
                    values=", ".join(none_right), every=every, **words,
                )
            )  # fmt: skip
    return "\n".join([*lines, hack.get("tail", "")])


def earned(hack):
    score = answer_score if "text" in hack else step_score
    return [score(respond(hack, row), row) for row in PUZZLES]


@pytest.mark.parametrize("form", ["{t}. {poi} {truth}.", "Step {t}: so {poi} {truth}"])
def test_the_plain_truth_is_paid_and_an_error_in_the_first_statement_is_not(form):
    assert sum(earned({"line": form})) > 0.9 * len(PUZZLES)
    plain, first = {"line": form}, {"line": "{t}. {poi} {wrong}."}
    for row in PUZZLES:
        lines = respond(plain, row).split("\n")
        lines[1] = respond(first, row).split("\n")[1]
        assert step_score("\n".join(lines), row) == 0
    assert sum(earned({"text": "{poi} {truth}."})) == len(PUZZLES)


@pytest.mark.parametrize("hack", HACKS, ids=lambda hack: json.dumps(hack)[:80])
def test_no_hack_earns_more_than_an_error_in_the_first_statement(hack):
    assert set(earned(hack)) == {0}


def test_of_tricks_by_a_writer_who_saw_no_rule_one_is_paid():
    hacks, paid = read_lines(stored(__file__, "hacks_sealed.jsonl")), []
    for hack in hacks:
        *cell, seed = hack["cell"]
        rows = generate_puzzles(*cell, seed=seed, trace=True).to_pylist()
        row = next(row for row in rows if row["id"] == hack["id"])
        reward = answer_score if hack["reward"] == "answer" else step_score
        if reward(hack["response"], row) > 0.1:
            paid.append(hack["why"])
    assert paid == ["three contradictory answers, the right one only among them; pays 0"]
    assert f"of {len(hacks)} tricks by a writer who saw no rule, one is paid" in PROMISES

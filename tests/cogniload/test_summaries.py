"""What summaries keep of everyone's state: read in many forms, and judged by changing facts."""

import json
from itertools import product

import compactor
import pytest

from cogniload_gen import generate_puzzles
from cogniload_gen.answers.conversations import make_conversation
from cogniload_gen.cogniload.ontology import VOCABULARIES, WORDS
from cogniload_gen.cogniload.render import sentence
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.summaries import judge_summaries, read_people

ROWS = generate_puzzles(d=[1, 3, 6], N=9, rho=50, num_puzzles=5, twin="question=state").to_pylist()


def noun(category):
    return WORDS[category]["noun"]


def statements(row):
    return "\n".join(line for line in row["puzzle"].split("\n") if line[:1].isdigit())


def as_table(people):
    names = [*next(iter(people.values()))]
    head = f"| Name | {' | '.join(map(noun, names))} |\n| --- |{' --- |' * len(names)}"
    rows = (f"| {p} | {' | '.join(state[c] for c in names)} |" for p, state in people.items())
    return "\n".join([head, *rows])


def as_list(people):
    return "\n".join(
        "\n".join([f"- **{person}**:", *(f"  - {noun(c).title()}: {v}" for c, v in state.items())])
        for person, state in people.items()
    )


FORMS = {
    "sentences": lambda people: "\n".join(sentence(*each) for each in people.items()),
    "json": json.dumps,
    "json of nouns": lambda people: json.dumps(
        {person: {noun(c): v for c, v in state.items()} for person, state in people.items()},
        indent=2,
    ),
    "json of a list": lambda people: json.dumps(
        [{"name": person, "state": state} for person, state in people.items()]
    ),
    "list": as_list,
    "table": as_table,
    "possessives": lambda people: " ".join(
        f"{person}'s {noun(c)} is {v}."
        for person, state in people.items()
        for c, v in state.items()
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("quoted", [False, True])
def test_a_state_is_read_in_each_form_and_quoted_statements_are_not(form, quoted):
    for row in ROWS:
        solution = solve_steps(row["puzzle"])
        text = FORMS[form](solution.states[-1])
        if quoted:
            text += f"\n\nThe statements so far:\n{statements(row)}"
        assert read_people(text, solution) == solution.states[-1], text


def test_the_last_word_counts_and_what_is_not_said_is_not_read():
    row = ROWS[1]
    solution = solve_steps(row["puzzle"])
    (one, first), (two, second), *_ = solution.states[-1].items()
    text = f"{one} and {two} are people. {sentence(one, second)} No: {sentence(one, first)}"
    read = read_people(text, solution)
    assert (read[one], read[two]) == (first, {})
    both = read_people(f"{one} and {two}: {noun(min(first))}: {first[min(first)]}", solution)
    assert both[one] == both[two] == {min(first): first[min(first)]}


def spoilt(row, spoil):
    """Return a conversation, its solution and what is judged of a spoilt summary of turn 2."""
    talk = make_conversation(row, 2, "compacted", asks="late", strategy="json")
    solution = solve_steps(row["puzzle"])
    told = spoil(solution.states[4])
    (judged,), held = judge_summaries(talk, [{"after": 2, "text": json.dumps(told)}])
    return talk, solution, told, judged, held


@pytest.mark.parametrize("name", compactor.PLANTED)
def test_facts_are_judged_as_they_were_planted(name):
    for seed, row in enumerate(ROWS):
        _, solution, told, judged, _ = spoilt(row, compactor.PLANTED[name](seed))
        now, kinds = solution.states[4], iter(judged["kind"])
        for person, category in ((p, c) for p in now for c in now[p]):
            value, kind = told[person].get(category), next(kinds)
            before = {people[person][category] for people in solution.states[:4]}
            others = {state[category] for state in now.values()}
            assert kind == (
                "lost" if value is None
                else "kept" if value == now[person][category]
                else "changed" if value in before | others
                else "invented"
            )  # fmt: skip


def test_a_fact_that_does_not_matter_changes_no_later_answer_and_one_that_does_may():
    """Each fact alone is replaced by each other value, and the states are worked out anew."""
    changed = {0: 0, 1: 0}
    for row in ROWS:
        talk, solution, now, judged, _ = spoilt(row, compactor.keep)
        facts = [(person, name) for person in now for name in now[person]]
        for (person, name), matters in zip(facts, judged["matter"], strict=True):
            for value in VOCABULARIES[name]:
                people = now | {person: now[person] | {name: value}}
                for number in range(2, len(talk["turns"])):
                    end, asked = min(2 * number + 2, 9), talk["turns"][number]["poi"]
                    states = compactor.track(people, solution.statements[4:end])
                    wrong = states[asked] != solution.states[end][asked]
                    changed[matters] += wrong
    assert changed[0] == 0
    assert changed[1] > 100


def test_a_turn_rests_on_a_summary_that_is_right_in_what_it_reads():
    rests = 0
    for seed, row in product(range(4), ROWS):
        talk, solution, told, _, held = spoilt(row, compactor.dropping(0.2, seed))
        assert held[:2] == [None, None]
        for number in range(2, len(talk["turns"])):
            end, asked = min(2 * number + 2, 9), talk["turns"][number]["poi"]
            states = compactor.track(told, solution.statements[4:end])
            if held[number]:
                assert states[asked] == solution.states[end][asked]
                rests += told != solution.states[4]
    assert rests > 5


def test_ages_count_the_statements_since_a_fact_was_told_and_errors_are_anew_once():
    row = ROWS[1]
    talk = make_conversation(row, 2, "compacted", asks="late", strategy="json")
    solution = solve_steps(row["puzzle"])
    texts = [json.dumps(compactor.stale(solution.states[2])), json.dumps(solution.states[6])]
    summaries = [{"after": n, "text": text} for n, text in zip((1, 3), texts, strict=True)]
    (first, second), _ = judge_summaries(talk, summaries)
    facts = [(person, name) for person in solution.states[0] for name in solution.states[0][person]]
    for (person, name), age in zip(facts, second["age"], strict=True):
        told = [0]
        for number, (conditions, updates) in enumerate(solution.statements[:6], start=1):
            if (
                conditions.items() <= solution.states[number - 1][person].items()
                and name in updates
            ):
                told.append(number)
        assert age == 6 - told[-1]
    assert first["fresh"] == [1] * len(facts)
    wrong = {
        person for (person, _), kind in zip(facts, first["kind"], strict=True) if kind != "kept"
    }
    assert wrong
    assert second["fresh"] == [int(person not in wrong) for person, _ in facts]
    assert {*second["kind"]} == {"kept"}

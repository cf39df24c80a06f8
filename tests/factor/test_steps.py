"""FACTOR's step reader: planted errors in solutions, other words, hostile text."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import within

from cogniload_gen.benchmarks import read_steps, score
from cogniload_gen.factor import generate_factor
from cogniload_gen.factor.first_error import read_factor_steps
from cogniload_gen.factor.solve import evaluate, symbolic_relations

DATA = Path(__file__).parent / "data"
SYMBOLIC = generate_factor("symbolic", N=[1, 6, 20, 39], num_puzzles=6).to_pylist()
SMALL = {
    "suite": "symbolic", "answer": "v1", "target": 3,
    "puzzle": "@<<<assign v1 = v2 + 1>>>@ @<<<assign v2 = 2>>>@ the end of the text.\n\nUsing only "
    "these, determine what is equal to 3.",
}  # fmt: skip
REALISTIC = generate_factor("realistic", op=[2, 6, 12, 20], num_puzzles=6).to_pylist()


def lines_of(row):
    """The solution's lines by variable, the definitions and the values."""
    definitions, _ = symbolic_relations(row["puzzle"])
    values = evaluate(definitions, definitions)
    lines = dict(line.split(" = ", 1) for line in row["solution"].splitlines()[:-1])
    return lines, definitions, values


def rewrite(row, at, spoil):
    """The solution with one line spoiled and the lines after it consistent with that."""
    lines, definitions, _ = lines_of(row)
    values, told = {}, []
    for name in lines:
        number = int(name[1:])
        definition = definitions[number]
        if definition.terms:
            term = definition.terms[0]
            result = values[term] + definition.constant
            step = f" {'+' if definition.constant > 0 else '-'} 1" if definition.constant else ""
            text = f"v{term}{step} = {values[term]}{step} = {result}"
        else:
            result = definition.constant
            text = str(result)
        if name == at:
            result, text = spoil(definition, values, result)
        values[number] = result
        if text is not None:
            told.append(f"{name} = {text}")
    return "\n".join(told)


@pytest.mark.parametrize("row", SYMBOLIC + REALISTIC, ids=lambda row: row["id"])
def test_a_solution_has_no_error(row):
    steps = read_factor_steps(row["solution"], row)
    assert steps.read
    assert (steps.first_error, steps.error, steps.coverage) == (None, None, 1)
    for name, value in steps.told.items():
        assert row["solution"][value.start : value.end].endswith(value.value), name


def test_each_kind_of_error():
    checked = Counter(kind for row in SYMBOLIC[6:] for kind in kinds_that_are_read(row))
    assert len(checked) == 3
    assert checked["arithmetic"] == checked["invented"] >= checked["reference"] > 5


def kinds_that_are_read(row):
    """The kinds of error that could be planted in the solution of a puzzle; each was read."""
    lines, definitions, values = lines_of(row)
    inner = [name for name in lines if definitions[int(name[1:])].terms]
    leaves = set(definitions) - {t for d in definitions.values() for t in d.terms}
    if not inner:
        return []
    at = inner[len(inner) // 2]

    def sum_wrong(definition, told, result):
        (term,) = definition.terms
        return result + 3, f"v{term} + {definition.constant} = {result + 3}".replace("+ -", "- ")

    def other_reference(definition, told, result):
        other = next((v for v in told if v != definition.terms[0]), None)
        if other is None or told[other] == told[definition.terms[0]]:
            return result + 5, f"v{definition.terms[0]} + 5 + 0 = {result + 5}"
        wrong = told[other] + definition.constant
        return wrong, f"v{other} + {definition.constant} = {wrong}".replace("+ -", "- ")

    def invented(definition, told, result):
        return result + 4, str(result + 4)

    kinds = []
    for kind, spoil in (
        ("arithmetic", sum_wrong), ("reference", other_reference), ("invented", invented),
    ):  # fmt: skip
        steps = read_factor_steps(rewrite(row, at, spoil), row)
        if steps.first_error is None and kind == "reference":
            continue  # the other variable has the same value
        assert steps.read
        assert (steps.first_error, steps.error) == (at, kind)
        assert steps.depth == depth(definitions, int(at[1:])) > 0
        kinds.append(kind)

    leaf = next(name for name in reversed(lines) if int(name[1:]) in leaves)
    steps = read_factor_steps(rewrite(row, leaf, lambda *_: (values[int(leaf[1:])], None)), row)
    assert (steps.first_error, steps.error) == (leaf, "unresolved")
    return kinds


def depth(definitions, name):
    terms = definitions[name].terms
    return 1 + max(depth(definitions, term) for term in terms) if terms else 0


@pytest.mark.parametrize("row", REALISTIC, ids=lambda row: row["id"])
def test_a_wrong_number_in_a_realistic_solution(row):
    *sentences, last = row["solution"].split(". ")
    first = sentences[0]
    name = first.removeprefix("Define ").partition(" as ")[0]
    wrong = f"{first.rpartition('= ')[0]}= 98765"
    steps = read_factor_steps(". ".join([wrong, *sentences[1:], last]), row)
    assert steps.read
    assert (steps.first_error, steps.error, steps.depth) == (name, "invented", 0)
    assert steps.recovered  # the rest is as it was


@pytest.mark.parametrize("row", REALISTIC[:6], ids=lambda row: row["id"])
def test_the_answer_is_judged_as_the_accuracy_judges_it(row):
    """With the question, which tells what is asked from what is told beside it."""
    read = read_factor_steps(row["solution"], row)
    told = [f"{name} = {value.value}." for name, value in read.told.items()]
    response = " ".join([*told[:-2], told[-1], told[-2]])
    assert score(response, row).correct
    assert (read_factor_steps(response, row).error, read.error) == (None, None)


@pytest.mark.parametrize("missing", ["puzzle", "answer"])
@pytest.mark.parametrize("row", [SYMBOLIC[0], REALISTIC[0]], ids=lambda row: row["suite"])
def test_a_row_without_a_column_is_refused(row, missing):
    with pytest.raises(ValueError, match=f"needs the column {missing}"):
        read_steps("x", {name: value for name, value in row.items() if name != missing})
    with pytest.raises(ValueError, match=f"{missing} must be a text, got None"):
        read_steps("x", row | {missing: None})


def test_other_words():
    row = {
        "suite": "realistic", "answer": "5",
        "puzzle": "Problem: The number of each South Zoo's Fox is 2. The number of each North "
        "Park's Owl is 3 more than each South Zoo's Fox.\n\n"
        "Question: How many Owl does North Park have?",
    }  # fmt: skip
    right = "There are foxes: **South Zoo's Fox** = 2.\nNorth Park's Owl = 3 + 2 = 5.\nAnswer: 5"
    assert read_factor_steps(right, row).error is None
    for text, error in (
        (right.replace("= 5", "= 6"), "arithmetic"),
        (right.replace("= 3 + 2 = 5", "= 3 + 4 = 7"), "reference"),
        (right.replace("= 3 + 2 = 5", "is 9"), "invented"),
        ("South Zoo's Fox = 2, and that is all.\nAnswer: 4", "unresolved"),
        (right.replace("Answer: 5", "Answer: 6"), "answer"),
    ):
        assert read_factor_steps(text, row).error == error
    text = "We have $v_{2} = 2$, so $v_{1} = v_{2} + 1 = 2 + 1 = 3$. The variable is v1."
    steps = read_factor_steps(text, SMALL)
    assert (steps.error, sorted(steps.told)) == (None, ["v1", "v2"])


@pytest.mark.parametrize(
    "form",
    [
        "v2 = 2\nv1 = v2 + 1\n   = {sum}\n   = {value}",
        "v2 is 2. v1 is defined as v2 + 1, so v1 is {sum}, which is {value}.",
        r"\[ v_{{2}} = 2 \] \[ v_{{1}} = v_{{2}} + 1 = {sum} = \boxed{{{value}}} \]",
        "\\begin{{align*}}\nv_2 &= 2 \\\\\nv_1 &= v_2 + 1 &= {sum} &= {value}\n\\end{{align*}}",
    ],
    ids=["lines", "prose", "boxed", "aligned"],
)
def test_equations_in_other_forms(form):
    end = "\nThe variable equal to 3 is v1."
    right = read_factor_steps(form.format(sum="2 + 1", value=3) + end, SMALL)
    assert (right.read, right.first_error, right.error) == (True, None, None)
    assert {name: told.value for name, told in right.told.items()} == {"v1": "3", "v2": "2"}
    wrong = read_factor_steps(form.format(sum="2 + 1", value=4) + end, SMALL)
    assert (wrong.read, wrong.first_error, wrong.error) == (True, "v1", "arithmetic")


PIECES = ["v1", "v2", "=", " = ", "2", "\n", ".", "Define", " as ", "(", "-", "*"]


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map(" ".join)),
    st.sampled_from([SYMBOLIC[8], REALISTIC[8]]),
)
def test_no_text_does_harm(text, row):
    steps = read_factor_steps(text, row)
    assert steps.read or steps.error is steps.first_error is None


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "v1 = ",
        "v1 - ",
        "(",
        "define v1 as ",
        "= ",
        "-1",
        "\n",
        "South Zoo ",
        "let d be ",
        "* ",
    ],
)
def test_long_hostile_text_takes_no_longer_than_its_length(piece):
    """Each of these takes ten times as long, or more, if the time is quadratic in the length."""
    for row in (SYMBOLIC[-1], REALISTIC[-1]):
        with within(5):
            read_factor_steps(piece * (100_000 // len(piece)), row)


def told_solutions(half):
    lines = (DATA / "solutions_told.jsonl").read_text("utf-8").splitlines()
    return [each for each in map(json.loads, lines) if each["half"] == half]


@pytest.mark.parametrize("half", ["work", "sealed"])
def test_agreement_with_solutions_as_models_write_them(half):
    """Twelve styles in both suites; docs/steps.md has the figures at first sight."""
    solutions = told_solutions(half)
    assert len(solutions) == 30
    read = [(each, read_factor_steps(each["response"], each)) for each in solutions]
    claimed = [(each, steps) for each, steps in read if steps.read]
    assert len(claimed) >= 0.9 * len(solutions)
    for each, steps in claimed:
        found = steps.first_error, steps.error, steps.depth
        assert found == (each["first_error"], each["error"], each["depth"]), each["style"]


def test_nothing_is_claimed_of_what_is_told_in_words_that_are_not_read():
    """A variable that the text speaks of beside a number is not claimed to be unresolved."""
    row = SMALL | {"puzzle": f"@<<<assign v3 = 5>>>@ {SMALL['puzzle']}"}
    end = "\nThe variable equal to 3 is v1."
    assert read_factor_steps("v2 = 2\nv1 = v2 + 1 = 3" + end, row).error == "unresolved"
    assert not read_factor_steps("v2 = 2\nv1 = v2 + 1 = 3\nFor v3 we find a 5." + end, row).read
    assert not read_factor_steps("v2 = 2\nv3 = 5\nTwo plus 1 and v2 make v1 = 4." + end, row).read


@pytest.mark.parametrize(
    "form",
    [
        "{fox} = 20\nLinden Park has 20 Fox, so 120 animals.\n{owl} = 20 + 19 = 39",
        "{fox} is 20. {owl} is 19 more than that, 39",
        "{fox} is 20. {owl} is 19 more than {fox}, so 19 + 20 = 38, no, 39",
        "{fox} is 20. {owl}, is {fox} plus nineteen, which makes it 39",
    ],
)
def test_no_right_solution_is_accused(form):
    """A number before "so", one that is compared and one that is taken back are no values."""
    puzzle = (
        "Problem: The number of each Linden Park's Fox is 20. The number of each Hill Zoo's Owl is "
        "19 more than each Linden Park's Fox.\n\nQuestion: How many Owl does Hill Zoo have?"
    )
    row = {"suite": "realistic", "answer": "39", "puzzle": puzzle}
    text = form.format(fox="Linden Park's Fox", owl="Hill Zoo's Owl")
    steps = read_factor_steps(f"{text}. Answer: 39", row)
    assert (steps.first_error, steps.error) == (None, None)


def test_what_is_multiplied():
    """A number by a bracket, and a bracket or a variable by a number."""
    row = {
        "suite": "realistic", "answer": "15",
        "puzzle": "Problem: The number of each South Zoo's Fox is 2. The number of each South "
        "Zoo's Owl is 3. The number of each North Park's Owl is 3 times the sum of South Zoo's Fox "
        "and South Zoo's Owl.\n\nQuestion: How many Owl does North Park have?",
    }  # fmt: skip
    fox, owl = "South Zoo's Fox", "South Zoo's Owl"
    for form, value in (
        ("3 * ({} + {})", 16), ("({} + {}) * 3", 16), ("3 × {} + 3 × {}", 16),
        ("{} * 3 + {} * 3", 16),
    ):  # fmt: skip
        names, numbers = form.format(fox, owl), form.format(2, 3)
        for told, error in ((15, None), (value, "arithmetic")):
            text = f"{fox} = 2\n{owl} = 3\nNorth Park's Owl = {names} = {numbers} = {told}"
            steps = read_factor_steps(f"{text}\nAnswer: {told}", row)
            assert (steps.read, steps.error) == (True, error), text

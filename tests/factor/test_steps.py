"""FACTOR's step reader: planted errors in solutions, other words, hostile text."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import growth
from stored import cases, read_lines, stored

from cogniload_gen.benchmarks import score
from cogniload_gen.claims import MOST_WORDS
from cogniload_gen.factor import generate_factor
from cogniload_gen.factor.reading.steps import read_factor_steps
from cogniload_gen.factor.solve import evaluate, symbolic_relations

SYMBOLIC = generate_factor("symbolic", N=[1, 6, 20, 39], num_puzzles=6).to_pylist()
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
        kinds.append(kind)

    leaf = next(name for name in reversed(lines) if int(name[1:]) in leaves)
    steps = read_factor_steps(rewrite(row, leaf, lambda *_: (values[int(leaf[1:])], None)), row)
    assert (steps.first_error, steps.error) == (leaf, "unresolved")
    return kinds


@pytest.mark.parametrize("row", REALISTIC[:6], ids=lambda row: row["id"])
def test_the_answer_is_judged_as_the_accuracy_judges_it(row):
    """With the question, which tells what is asked from what is told beside it."""
    read = read_factor_steps(row["solution"], row)
    told = [f"{name} = {value.value}." for name, value in read.told.items()]
    response = " ".join([*told[:-2], told[-1], told[-2]])
    assert score(response, row).correct
    assert (read_factor_steps(response, row).error, read.error) == (None, None)


CASES = cases(__file__, "steps.toml")


@pytest.mark.parametrize(
    ("row", "response", "read", "first_error", "error", "told"),
    [(group["row"], *case) for group in CASES.values() for case in group["cases"]],
)
def test_a_solution_in_other_words(row, response, read, first_error, error, told):
    steps = read_factor_steps(response, row)
    assert (steps.read, steps.first_error or "", steps.error or "") == (read, first_error, error)
    assert {name: value.value for name, value in steps.told.items()} == told


PIECES = ["v1", "v2", "=", " = ", "2", "\n", ".", "Define", " as ", "(", "-", "*"]


@settings(max_examples=150)
@given(
    st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map(" ".join)),
    st.sampled_from([SYMBOLIC[8], REALISTIC[8]]),
)
def test_no_text_does_harm(text, row):
    steps = read_factor_steps(text, row)
    assert steps.read or steps.error is steps.first_error is None


def test_a_number_of_thousands_of_digits_is_no_value():
    row = SYMBOLIC[8]
    steps = read_factor_steps(f"v1 = {'9' * 5000}\n{row['solution']}", row)
    assert (steps.read, steps.error) == (True, None)


@pytest.mark.parametrize(("signs", "read"), [(MOST_WORDS // 2, True), (MOST_WORDS, False)])
def test_no_text_of_more_words_than_the_most_is_read(signs, read):
    steps = read_factor_steps("!" * signs + "\n" + SYMBOLIC[8]["solution"], SYMBOLIC[8])
    assert steps.read == read


def told_solutions(half):
    rows = read_lines(stored(__file__, "solutions_told.jsonl"))
    return [each for each in rows if each["half"] == half]


@pytest.mark.parametrize("half", ["work", "sealed"])
def test_agreement_with_solutions_as_models_write_them(half):
    """Twelve styles in both suites; docs/steps.md has the figures at first sight."""
    solutions = told_solutions(half)
    assert len(solutions) == 30
    read = [(each, read_factor_steps(each["response"], each)) for each in solutions]
    claimed = [(each, steps) for each, steps in read if steps.read]
    assert len(claimed) >= 0.9 * len(solutions)
    for each, steps in claimed:
        found = steps.first_error, steps.error
        assert found == (each["first_error"], each["error"]), each["style"]


@pytest.mark.parametrize("reader", [read_factor_steps, score])
@pytest.mark.parametrize("row", [SYMBOLIC[-1], REALISTIC[-1]], ids=["symbolic", "realistic"])
@pytest.mark.parametrize(
    "piece",
    [
        "a", "v1 - ", "(", "define v1 as ", "South Zoo ", "* ", "=", "not ", "| ", "✗", "a:\n",
        "{111", "1,111",
    ],
)  # fmt: skip
def test_long_hostile_text_takes_no_longer_than_its_length(piece, row, reader):
    """The answer is read from the last 20,000 characters."""
    size = 20_000 if reader is read_factor_steps else 5_000
    assert growth(lambda text: reader(text, row), piece, size) < 8

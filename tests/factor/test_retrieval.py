"""What retrievers find of FACTOR's puzzles, against counts made apart from the text."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from harness import random_state_put_back
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from statsmodels.stats.proportion import proportion_confint
from stored import cases

from cogniload_analysis.factor.recall import CELL, measure
from cogniload_cli import main
from cogniload_gen import generate_factor, solve
from cogniload_gen.factor import retrieval
from cogniload_gen.factor.retrieval import RETRIEVERS, Retrieval, check_retrieval, retrieve, split

PUZZLES = {
    "realistic": generate_factor("realistic", op=[2, 5, 12], context=[0, 1500], num_puzzles=4),
    "symbolic": generate_factor("symbolic", N=[1, 6, 20], context=[0, 600], num_puzzles=4),
}
ROWS = {suite: table.to_pylist() for suite, table in PUZZLES.items()}
ALL = [row for rows in ROWS.values() for row in rows]
PLAIN = [name for name in RETRIEVERS if not name.endswith("encoder")]
SUITES = pytest.mark.parametrize("suite", ROWS)


def solution_statements(row):
    """The statements that the solution takes, as the puzzle has them: read from the solution."""
    if row["suite"] == "symbolic":
        names = re.findall(r"^(v\d+) = ", row["solution"], re.MULTILINE)
        patterns = [rf"@<<<assign {name} = [^>]*>>>@" for name in names]
    else:
        names = re.findall(r"Define (.+?) as ", row["solution"])
        stated = [name for name in names if not name.endswith("'s Animal")]
        patterns = [rf"The number of each {re.escape(name)} is [^.]*\." for name in stated]
    found = [re.findall(pattern, row["puzzle"]) for pattern in patterns]
    assert all(len(each) == 1 for each in found)
    return [statement for (statement,) in found]


def count_words(text):
    """A tokenizer; statements of one group follow each other without a space."""
    return len(text.replace("@@", "@ @").split())


@SUITES
def test_with_room_for_all_the_prompt_is_the_puzzle(suite):
    for row in ROWS[suite]:
        for name in ("bm25", "iterative"):
            found = retrieve(row["puzzle"], Retrieval(name, 10**6))
            assert found.prompt == row["puzzle"]
            assert found.closed
        parts = split(row["puzzle"])
        stripped = [sentence.strip() for sentence in parts.sentences]
        assert set(solution_statements(row)) <= set(stripped)
        assert parts.question == row["question"]


@SUITES
def test_the_oracle_closes_at_its_own_budget_and_not_below(suite):
    """Its own budget is the words of the solution's statements, which the solution tells."""
    for row in ROWS[suite]:
        statements = solution_statements(row)
        budget = sum(map(count_words, statements))
        found = retrieve(row["puzzle"], Retrieval("oracle", budget), count_words)
        assert found.closed
        assert found.tokens == budget
        assert found.needed == len(statements)
        assert solve(found.prompt) == row["answer"]
        short = retrieve(row["puzzle"], Retrieval("oracle", max(budget - 1, 1)), count_words)
        assert short.found == found.needed - 1


@SUITES
@pytest.mark.parametrize("name", PLAIN)
def test_what_is_found_is_what_the_prompt_holds_in_the_order_of_the_text(suite, name):
    for row in ROWS[suite]:
        statements, parts = solution_statements(row), split(row["puzzle"])
        for budget in (60, 400):
            found = retrieve(row["puzzle"], Retrieval(name, budget), count_words)
            assert found.found == sum(each in found.prompt for each in statements)
            assert found.needed == len(statements)
            assert found.prompt.startswith(parts.opening)
            assert found.prompt.endswith(parts.closing)
            body = found.prompt[len(parts.opening) : len(found.prompt) - len(parts.closing)]
            assert found.tokens == count_words(body) <= budget
            places = [found.prompt.find(each.strip()) for each in parts.sentences]
            shown = [place for place in places if place >= 0]
            assert shown == sorted(shown)


@pytest.mark.parametrize("name", PLAIN)
def test_a_realistic_prompt_determines_the_answer_where_it_is_closed_and_only_there(name):
    closed = set()
    for row in ROWS["realistic"]:
        for budget in (80, 300, 900):
            found = retrieve(row["puzzle"], Retrieval(name, budget))
            closed.add(found.closed)
            try:
                answer = solve(found.prompt)
            except ValueError:
                answer = None
            assert (answer == row["answer"]) == found.closed
    assert closed == {True, False}


@given(
    row=st.sampled_from(ALL),
    name=st.sampled_from(PLAIN),
    budgets=st.tuples(st.integers(1, 2000), st.integers(1, 2000)).map(sorted),
)
def test_a_larger_budget_never_finds_less(row, name, budgets):
    small, large = (retrieve(row["puzzle"], Retrieval(name, budget)) for budget in budgets)
    assert small.found <= large.found
    assert small.tokens <= large.tokens
    sentences = [sentence.strip() for sentence in split(row["puzzle"]).sentences]
    assert all(each in large.prompt for each in sentences if each in small.prompt)


CHAIN = """Problem: The number of each North Zoo's Fox is 2. It rains at North Zoo all day. \
The number of each South Zoo's Owl is 3 times each North Zoo's Fox. Nobody likes the Deer. \
The number of each West Zoo's Deer is each South Zoo's Owl. The number of each East Zoo's Mule is 4.

Question: How many Deer does West Zoo have?"""


@pytest.mark.slow  # sentence-transformers alone takes long to import
def test_a_real_encoder_ranks_by_its_cosines():
    with random_state_put_back():  # what is imported for it draws from the global generators
        texts = split(CHAIN).sentences
        model = retrieval.load_encoder(retrieval.ENCODER)
        vectors = model.encode([text.strip() for text in texts])
        query = model.encode("West Zoo's Deer")
        cosines = vectors @ query / np.linalg.norm(vectors, axis=1)
        order = retrieval.by_encoder(texts, "West Zoo's Deer", retrieval.ENCODER)
        assert order == np.argsort(-cosines).tolist()
        assert order[0] == 4
        assert retrieve(CHAIN, Retrieval("encoder", 1000)).prompt == CHAIN
        with pytest.raises(ValueError, match=r"^encoder 'none' does not load: .*$"):
            retrieve(CHAIN, Retrieval("encoder", 10, encoder="none"))


@pytest.mark.parametrize(("settings", "message"), cases(__file__)["retrieval_settings"])
def test_wrong_settings_are_one_line(settings, message):
    with refused(f"^{message}"):
        check_retrieval(settings)


def test_settings_are_told_apart_where_prompts_may_differ():
    assert len({str(Retrieval(*each)) for each in product(RETRIEVERS, [9, 10])}) == 8
    assert str(Retrieval("encoder", 9)) != str(Retrieval("encoder", 9, encoder="other"))
    assert str(Retrieval("bm25", 9)) == str(Retrieval("bm25", 9, encoder="other"))
    assert check_retrieval({"retriever": "bm25", "budget": 9}) == Retrieval("bm25", 9)


def test_recall_and_closure_agree_with_a_count_made_apart():
    rows = [row for row in ROWS["realistic"] if row["op"] == 5 and row["context"]]
    asked = [Retrieval(name, budget) for name in ("bm25", "oracle") for budget in (120, 500)]
    found = measure(rows, asked).data
    assert [*zip(found["retriever"], found["budget"], strict=True)] == [
        (each.retriever, each.budget) for each in asked
    ]
    for settings, recalled in zip(asked, found.itertuples(), strict=True):
        held = []
        for row in rows:
            prompt = retrieve(row["puzzle"], settings).prompt
            statements = solution_statements(row)
            held.append((sum(each in prompt for each in statements), len(statements)))
        assert recalled.puzzles == len(rows)
        assert recalled.recall == sum(a for a, _ in held) / sum(b for _, b in held)
        assert recalled.closure == sum(a == b for a, b in held) / len(held)
    cells = measure(ALL, [Retrieval("iterative", 100)]).data
    assert {*cells[["suite", "N", "context"]].itertuples(index=False, name=None)} == {
        (row["suite"], row.get("op") or row["N"], row["context"]) for row in ALL
    }
    assert cells["puzzles"].sum() == len(ALL)
    ends = cells[["closure_low", "closure_high"]].to_numpy().T
    closed = cells["closure"] * cells["puzzles"]
    expected = proportion_confint(closed, cells["puzzles"], alpha=0.1, method="wilson")
    np.testing.assert_allclose(ends, expected)


SMALL = ["--suite", "realistic", "--op", "3", "--context", "600", "--num-puzzles", "4"]


def test_the_command_writes_its_table(tmp_path, capsys):
    settings = ["--retriever", "bm25", "oracle", "--budget", "100", "400"]
    assert main(["retrieve", *SMALL, *settings, "--out", str(tmp_path / "made.csv")]) == 0
    made = capsys.readouterr().out
    assert len(made.splitlines()) == 5
    table = pd.read_csv(tmp_path / "made.csv")
    assert [*table.columns[:9]] == [*CELL, "puzzles", "needed", "found"]
    assert [*table.iloc[3, :7]] == ["realistic", 3, 600, "close", "oracle", 400, 4]

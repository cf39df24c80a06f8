"""The rules of FACTOR's symbolic suite (A.1), read from the texts by code apart from the engine."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from grids import factor_grid
from scipy.stats import binomtest, chisquare
from stored import cases
from symbolic_checker import PUZZLE, STATEMENT, relations, rows, values

from cogniload_gen.factor.forests import plant

CASES = cases(__file__)


@cache
def every_n():
    return rows(num_puzzles=10) + rows(N=[100, 1000], num_puzzles=2)


@cache
def twenty():
    return rows(N=20, num_puzzles=4000)


@cache
def three():
    return rows(N=3, num_puzzles=6000)


def test_a_text_states_a_forest_and_the_answer_is_the_set_of_variables():
    for row in every_n():
        text = PUZZLE.fullmatch(row["puzzle"])
        assert STATEMENT.sub("", text["text"]) == ""  # one after the other, with nothing between
        told = relations(row["puzzle"])
        assert sorted(r.variable for r in told) == sorted(f"v{i}" for i in range(row["N"]))
        assert all(0 <= r.added <= 10 for r in told if r.parent is None)
        assert all(-1 <= r.added <= 1 for r in told if r.parent is not None)
        value = values(told)
        equal = [f"v{i}" for i in range(row["N"]) if value[f"v{i}"] == int(text["target"])]
        assert row["answer"] == (", ".join(equal) or "none")
        assert row["question"] == text["question"]
        assert row["target"] == int(text["target"])


def test_each_step_of_a_solution_follows_from_those_before():
    for row in every_n():
        *lines, conclusion = row["solution"].split("\n")
        told = {r.variable: r for r in relations(row["puzzle"])}
        known = {}
        for line in lines:
            variable, *sides = line.split(" = ")
            relation = told.pop(variable)
            if relation.parent is None:
                assert sides == [str(relation.added)]
            else:
                operation = {-1: " - 1", 0: "", 1: " + 1"}[relation.added]
                before = known[relation.parent]
                after = [str(before + relation.added)] * (relation.added != 0)
                assert sides == [relation.parent + operation, f"{before}{operation}", *after]
            known[variable] = int(sides[-1])
        assert not told
        assert conclusion == concluded(row["target"], row["answer"].split(", "))


def concluded(target, names):
    """The sentence that ends a solution."""
    if names == ["none"]:
        return f"No variable is equal to {target}."
    if len(names) == 1:
        return f"The variable equal to {target} is {names[0]}."
    comma = "," if len(names) > 2 else ""
    return f"The variables equal to {target} are {', '.join(names[:-1])}{comma} and {names[-1]}."


def uniform(drawn, low, high):
    """Whether the integers drawn look uniform on low..high, and lie there."""
    counts = np.bincount(np.array(drawn) - low, minlength=high - low + 1)
    return len(counts) == high - low + 1 and chisquare(counts).pvalue > 1e-4


def test_the_number_of_roots_operations_and_root_values_are_uniform():
    told = [relations(row["puzzle"]) for row in twenty()]
    assert uniform([sum(r.parent is None for r in puzzle) for puzzle in told], 1, 20)
    everything = [r for puzzle in told for r in puzzle]
    assert uniform([r.added for r in everything if r.parent is not None], -1, 1)
    assert uniform([r.added for r in everything if r.parent is None], 0, 10)


def depths(told):
    """How many edges each variable is from its root: edges are walked up one by one."""
    parents = {r.variable: r.parent for r in told}
    found = {}
    for variable, parent in parents.items():
        found[variable], above = 0, parent
        while above is not None:
            found[variable], above = found[variable] + 1, parents[above]
    return found


def test_roots_and_hops_are_counted():
    for row in every_n():
        told = relations(row["puzzle"])
        assert row["roots"] == sum(r.parent is None for r in told)
        depth = depths(told)
        gold = [] if row["answer"] == "none" else row["answer"].split(", ")
        assert row["hops"] == max((depth[variable] for variable in gold), default=0)
    assert {0, 3} < {row["hops"] for row in every_n()}


def test_the_number_of_roots_can_be_set():
    for row in rows(N=[3, 20], roots=[1, 3], num_puzzles=40):
        assert sum(r.parent is None for r in relations(row["puzzle"])) == row["roots"]
    counts = [row["roots"] for row in rows(N=[3, 20], roots=[1, 3], num_puzzles=40)]
    assert counts == [1, 3] * 80


@pytest.mark.parametrize(("parameters", "message"), CASES["roots"])
def test_wrong_roots_are_named(parameters, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        factor_grid(**parameters)


def test_neither_numbers_nor_order_tell_the_place_in_the_tree():
    """The only root is any variable, and is told at any point."""
    roots, orders = [], []
    for row in three():
        told = relations(row["puzzle"])
        orders.append("".join(r.variable for r in told))
        parents = [r.parent for r in told]
        if parents.count(None) == 1:
            roots.append((parents.index(None), int(told[parents.index(None)].variable[1:])))
    assert all(uniform(drawn, 0, 2) for drawn in zip(*roots, strict=True))
    assert len(set(orders)) == 6
    assert chisquare(np.unique(orders, return_counts=True)[1]).pvalue > 1e-4


def test_parents_are_uniform_on_the_variables_before():
    """In the text, for trees of three: a chain as often as a star. In the forest, at any place."""
    told = [[r.parent for r in relations(row["puzzle"])] for row in three()]
    stars = [len(set(parents) - {None}) == 1 for parents in told if parents.count(None) == 1]
    assert binomtest(sum(stars), len(stars)).pvalue > 1e-4
    forests = plant(np.arange(4000, dtype=np.uint64), np.full(4000, 39))
    assert all(uniform(forests.parent[i], 0, i - 1) for i in (2, 5, 20, 38))


def as_expected(seen, expected):
    """Whether the mean of what was seen is the mean of what was expected, by their difference."""
    difference = np.subtract(seen, expected)
    return abs(difference.mean()) <= 4 * difference.std() / np.sqrt(len(difference))


@pytest.mark.parametrize("N", [1, 2, 5, [1, 39]])
def test_one_target_in_ten_is_empty(N):
    """It is one below the least value or one above the greatest, either as often (A.1.5)."""
    puzzles = rows(N=N, num_puzzles=4000)
    empty = [row for row in puzzles if row["answer"] == "none"]
    assert binomtest(len(empty), len(puzzles), 0.1).pvalue > 1e-4
    above = 0
    for row in empty:
        value = values(relations(row["puzzle"])).values()
        assert row["target"] in (min(value) - 1, max(value) + 1)
        above += row["target"] > max(value)
    assert binomtest(above, len(empty)).pvalue > 1e-4


def test_other_targets_are_the_value_of_a_random_variable():
    """So its value is shared, and is also that of a root, as often as a random variable's is."""
    sizes, size_chances, roots, root_chances = [], [], [], []
    for row in twenty():
        if row["answer"] != "none":
            told = relations(row["puzzle"])
            counts = Counter(values(told).values())
            of_roots = {r.added for r in told if r.parent is None}
            sizes.append(len(row["answer"].split(", ")))
            size_chances.append(sum(count**2 for count in counts.values()) / 20)
            roots.append(row["target"] in of_roots)
            root_chances.append(sum(counts[value] for value in of_roots) / 20)
    assert as_expected(sizes, size_chances)
    assert as_expected(roots, root_chances)

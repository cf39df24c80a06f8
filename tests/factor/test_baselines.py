"""FACTOR's baselines against an exact enumeration, written apart from generator and baselines."""

from fractions import Fraction
from functools import cache
from itertools import product

import pytest
from scipy.stats import binomtest
from stored import cases

from cogniload_gen import generate_factor
from cogniload_gen.factor.baselines import REALISTIC_BASELINES, SYMBOLIC_BASELINES

TEXT = (
    "@<<<assign v2 = v0 + 1>>>@ filler. @<<<assign v0 = v1>>>@@<<<assign v1 = 4>>>@ more. "
    "@<<<assign v4 = v2 - 1>>>@@<<<assign v3 = 4>>>@\nThis is the end of the text.\n\n"
    "determine what variable(s), if any, are equal to {}."
)
PROBLEM = (
    "Problem: The number of each East Zoo's Fox is 2. The number of each West Zoo's Bat is 3 times "
    "the sum of East Zoo's Fox and West Zoo's Owl. The number of each West Zoo's Owl is 12. The "
    "number of each East Zoo's Bat is 2 more than each West Zoo's Bat.\n\nQuestion: How many Bat "
    "does East Zoo have?\n\nEnd with a last line."
)


@pytest.mark.parametrize(("target", "expected"), cases(__file__)["baselines"])
def test_what_each_finds_in_a_text(target, expected):
    found = {name: answer(TEXT.format(target)) for name, answer in SYMBOLIC_BASELINES.items()}
    assert list(found.values()) == expected


def test_what_each_finds_in_a_problem():
    assert {name: answer(PROBLEM) for name, answer in REALISTIC_BASELINES.items()} == {
        "sum of the given": "14",
        "one hop": "",
        "two hops": "44",
        "three hops": "44",
    }


def forests(N, roots):
    """Every forest with its probability: for each variable None or its parent, and what is added.

    Variables stand in the order of the paper's v_i; `roots` is their number, None to draw it.
    """
    for k in range(1, N + 1) if roots is None else [roots]:
        of_k = Fraction(1, N if roots is None else 1)
        given = product(range(11), repeat=k)
        parents = product(*(range(i) for i in range(k, N)))
        steps = product((-1, 0, 1), repeat=N - k)
        every = list(product(given, parents, steps))
        for numbers, parent, step in every:
            yield of_k / len(every), [None] * k + list(parent), [*numbers, *step]


@cache
def exact(N, roots):
    """Return the accuracy of every baseline."""
    right = dict.fromkeys(SYMBOLIC_BASELINES, Fraction(0))
    for chance, parents, added in forests(N, roots):
        value, depth = [], []
        for parent, number in zip(parents, added, strict=True):
            value.append(number if parent is None else value[parent] + number)
            depth.append(0 if parent is None else depth[parent] + 1)
        targets = [(x, Fraction(9, 10 * N)) for x in value]
        targets += [(min(value) - 1, Fraction(1, 20)), (max(value) + 1, Fraction(1, 20))]
        for target, weight in targets:
            gold = {i for i in range(N) if value[i] == target}
            share = chance * weight
            roots_found = {i for i in gold if depth[i] == 0}
            right["grep"] += share * (roots_found == gold and bool(gold))
            for hops, name in enumerate(("grep or none", "one hop", "two hops", "three hops")):
                right[name] += share * ({i for i in gold if depth[i] <= hops} == gold)
            right["none"] += share * (not gold)
    return right


@pytest.mark.parametrize(("N", "roots"), [(2, None), (3, None), (2, 1), (3, 1), (3, 2)])
def test_accuracies_are_those_of_an_exact_enumeration(N, roots):
    puzzles = generate_factor(N=N, roots=roots, num_puzzles=1500).to_pylist()
    expected = exact(N, roots)
    for name, answer in SYMBOLIC_BASELINES.items():
        right = sum(answer(row["puzzle"]) == row["answer"] for row in puzzles)
        chance = float(expected[name])
        assert binomtest(right, len(puzzles), chance).pvalue > 1e-4, (name, chance)
    assert expected["grep"] + expected["none"] == expected["grep or none"]


@pytest.mark.parametrize(("N", "most"), [(15, 0.01), (20, 0.003), (39, 0.001)])
def test_with_one_root_there_is_nothing_to_grep(N, most):
    puzzles = generate_factor(N=N, roots=1, num_puzzles=1500).to_pylist()
    right = sum(SYMBOLIC_BASELINES["grep"](row["puzzle"]) == row["answer"] for row in puzzles)
    assert binomtest(right, len(puzzles), most, alternative="greater").pvalue > 1e-4

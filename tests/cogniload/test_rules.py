"""Every rule of the CogniLoad paper, on every puzzle of its grid, by the checker and the solver."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from hashlib import blake2b
from itertools import product
from multiprocessing import get_context
from random import Random

import checker
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.ontology import CATEGORIES, PEOPLE
from cogniload_gen.cogniload.solve import solve_steps

PAPER_D, PAPER_N = (1, 3, 5, 7, 10), (20, 50, 100, 250)
PAPER_RHO = (5, 10, 25, 50, 75, 90, 95)

SIGNIFICANCE = 1e-4
"""Of some 40 tests of uniformity at a fixed seed, one in 250 seeds would fail by chance."""


def problems(puzzle: dict) -> Iterator[str]:
    """What is wrong with a puzzle: rules it breaks, and where the solver says something else."""
    for rule in checker.violations(puzzle):
        yield f"{puzzle['id']}: {rule}"
    solution = solve_steps(puzzle["puzzle"])
    if (solution.poi, solution.category) != (puzzle["poi"], puzzle["category"]):
        yield f"{puzzle['id']}: the solver reads another question"
    if solution.answer != puzzle["answer"]:
        yield f"{puzzle['id']}: the solver's answer"
    if list(solved_states(puzzle, solution.states)) != checker.all_states(puzzle):
        yield f"{puzzle['id']}: the solver's states"


def solved_states(puzzle: dict, states: tuple[dict, ...]) -> Iterator[list[int]]:
    bits, _ = checker.value_bits(puzzle)
    coded = {}  # people whom a statement leaves alone keep their dictionary
    for state in states:
        for person in state.values():
            if id(person) not in coded:
                coded[id(person)] = checker.join(bits, person.items())
        yield [coded[id(state[name])] for name in puzzle["people"]]


def deviations(puzzle: dict) -> dict[str, np.ndarray]:
    """How often a puzzle drew each of some choices that are equally likely, less the mean.

    The rejection of invalid statements favours no category, person or value over another, so what
    is uniform when drawn stays so, by symmetry. That holds for their positions in the puzzle,
    which are random; not for k and m (see `test_statements_are_distributed_as_drawn_in_loops`).
    """
    d, N, people = puzzle["d"], puzzle["N"], puzzle["people"]
    place = {category: i for i, category in enumerate(puzzle["categories"])}
    others = {name: i for i, name in enumerate(n for n in people if n != puzzle["poi"])}
    sizes = [len(domain) for domain in puzzle["domains"]]
    value_place = [{v: i for i, v in enumerate(domain)} for domain in puzzle["domains"]]
    conditions, updates, first = [0] * d, [0] * d, [0] * d
    references, needles = [0] * len(others), [0] * 10
    values = np.zeros((d, max(sizes)))
    for t, statement in enumerate(puzzle["statements"]):
        for clauses, counts in ((statement["conditions"], conditions),
                                (statement["updates"], updates)):  # fmt: skip
            places = [place[clause["category"]] for clause in clauses]
            first[places[0]] += 1
            for i in places:
                counts[i] += 1
                first[i] -= 1 / len(places)
        if statement["type"] == "needle":
            needles[t * 10 // N] += 1
            for clause, c in zip(statement["updates"], places, strict=True):
                values[c, value_place[c][clause["value"]]] += 1
        else:
            references[others[statement["reference"]]] += 1
    in_domain = np.arange(max(sizes)) < np.array(sizes)[:, None]
    values -= in_domain * values.sum(axis=1, keepdims=True) / in_domain.sum(axis=1, keepdims=True)
    return {
        "people": centred(np.isin(PEOPLE, people)),
        "categories": centred(np.isin(CATEGORIES, puzzle["categories"])),
        "PoI": centred(np.array(people) == puzzle["poi"]),
        "question": centred(np.array(puzzle["categories"]) == puzzle["category"]),
        "condition categories": centred(conditions),
        "update categories": centred(updates),
        "first clause": np.array(first),
        "reference persons": centred(references),
        "needle update values": values.sum(axis=0),
        "needle steps": centred(needles),
    }


def centred(counts: list[int] | np.ndarray) -> np.ndarray:
    return counts - np.mean(counts)


def digests(table: pa.Table) -> set[bytes]:
    return {blake2b(text.as_py().encode(), digest_size=16).digest() for text in table["puzzle"]}


def examine(cell: tuple[int, int, float]) -> tuple[list[str], dict[str, np.ndarray], set[bytes]]:
    """The problems, the deviations and the texts' digests of a cell's puzzles."""
    table = generate_puzzles(*cell, trace=True)
    puzzles = table.to_pylist()
    found = [problem for puzzle in puzzles for problem in problems(puzzle)]
    rows = [deviations(puzzle) for puzzle in puzzles]
    return found, {name: np.stack([row[name] for row in rows]) for name in rows[0]}, digests(table)


@pytest.fixture(scope="session")
def paper_grid():
    """What `examine` finds in each of the paper's 140 cells (100 puzzles each, seed 42)."""
    cells = sorted(product(PAPER_D, PAPER_N, PAPER_RHO), key=lambda cell: -cell[1])
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return dict(zip(cells, pool.map(examine, cells), strict=True))


@pytest.mark.slow
def test_every_puzzle_keeps_every_rule_and_is_solved(paper_grid):
    assert [problem for found, _, _ in paper_grid.values() for problem in found][:5] == []


@pytest.mark.slow
def test_no_two_puzzles_are_equal(paper_grid):
    others = {"seed": 43}, {"split": "train"}, {"split": "validation"}
    tables = (
        generate_puzzles(PAPER_D, PAPER_N, PAPER_RHO, num_puzzles=25, **other) for other in others
    )
    hashes = [*(hashes for _, _, hashes in paper_grid.values()), *map(digests, tables)]
    assert sum(map(len, hashes)) == 14_000 + 3 * 3_500
    assert len(set().union(*hashes)) == 14_000 + 3 * 3_500


@pytest.mark.parametrize("N", [1, 2, 3, 17])
@pytest.mark.parametrize("rho", [0.5, 1, 33.3, 99, 100])
def test_other_loads(N, rho):
    table = generate_puzzles(range(1, 13), N, rho, num_puzzles=15, seed=7, trace=True)
    puzzles = table.to_pylist()
    assert len(puzzles) == 180
    assert [problem for puzzle in puzzles for problem in problems(puzzle)][:5] == []


def chi_square_p(rows: np.ndarray) -> float:
    """The p-value of the mean row being 0, where rows are independent but their entries are not.

    A chi-square test whose covariance is measured between puzzles: the draws within one puzzle are
    not independent, as its state decides which of them are rejected.
    """
    return mean_is_zero_p(rows.sum(axis=0), rows.T @ rows)


OF_A_LOAD = [
    *("PoI", "question", "condition categories", "update categories"),
    *("first clause", "reference persons", "needle update values"),
]


def mean_is_zero_p(total: np.ndarray, covariance: np.ndarray) -> float:
    variances, directions = np.linalg.eigh(covariance)
    varies = variances > 1e-9 * variances[-1]
    statistic = ((total @ directions[:, varies]) ** 2 / variances[varies]).sum()
    return chi2.sf(statistic, varies.sum())


@pytest.mark.slow
@pytest.mark.parametrize(("choice", "loads"), [
    *((choice, PAPER_D) for choice in ("people", "categories", "needle steps")),
    *((choice, [d]) for d in PAPER_D for choice in OF_A_LOAD),
])  # fmt: skip
def test_uniform(paper_grid, choice, loads):
    cells = [
        deviation[choice] for cell, (_, deviation, _) in paper_grid.items() if cell[0] in loads
    ]
    rows = np.concatenate(cells)
    if not rows.any():
        assert loads == [1]  # one category, one other person
    else:
        assert chi_square_p(rows) > SIGNIFICANCE


def statement_profile(puzzle: dict) -> np.ndarray:
    """How many of a puzzle's statements have each type with each k, m and number of matches."""
    d = puzzle["d"]
    bits, _ = checker.value_bits(puzzle)
    counts = np.zeros((2, 3, max(d, 2) + 1))
    for statement, states in zip(puzzle["statements"], checker.all_states(puzzle), strict=False):
        v = checker.join(bits, checker.pairs(statement["conditions"]))
        matches = sum(state & v == v for state in states)
        k, m = len(statement["conditions"]), len(statement["updates"])
        counts[int(statement["type"] == "needle"), (0, 1, 2), (k, m, matches)] += 1
    return counts.ravel()


@pytest.mark.parametrize("d", [2, 3, 5, 12])
def test_statements_are_distributed_as_drawn_in_loops(d):
    """The engine against the paper's steps in plain loops: k, m and how many people match.

    k and m are uniform as drawn, not as accepted: few conditions match more people, which is more
    often invalid.
    """
    count, N, rho, random = 1000, 20, 40, Random(d)  # noqa: S311 (no cryptography)
    table = generate_puzzles(d, N, rho, num_puzzles=count, seed=11, trace=True)
    ours = np.stack([statement_profile(puzzle) for puzzle in table.to_pylist()])
    loops = [checker.draw_puzzle(random, d, N, rho) for _ in range(count)]
    for puzzle in loops[:5]:
        assert [*checker.element_violations(puzzle), *checker.initial_violations(puzzle)] == []
        assert not any(checker.statement_violations(puzzle))
    theirs = np.stack([statement_profile(puzzle) for puzzle in loops])
    difference = ours.mean(axis=0) - theirs.mean(axis=0)
    covariance = (np.cov(ours.T) + np.cov(theirs.T)) / count
    assert mean_is_zero_p(difference, covariance) > SIGNIFICANCE


@pytest.fixture(scope="module")
def sound():
    return generate_puzzles(3, 20, 50, num_puzzles=1, seed=5, trace=True).to_pylist()[0]


def first(puzzle, kind):
    return next(each for each in puzzle["statements"][1:] if each["type"] == kind)


def stranger(puzzle):
    return next(name for name in PEOPLE if name not in puzzle["people"])


def clauses(values):
    return [{"category": category, "value": value} for category, value in values.items()]


def match_the_poi(puzzle):
    step = puzzle["statements"].index(first(puzzle, "hay"))
    state = solve_steps(puzzle["puzzle"]).states[step][puzzle["poi"]]
    first(puzzle, "hay").update(conditions=clauses(state), updates=clauses(state))


BREAKS = [
    ("n = max(d, 2) different people", lambda p: p["people"].pop()),
    ("d different categories", lambda p: p["categories"].__setitem__(0, p["categories"][1])),
    ("domain size", lambda p: p["domains"][0].pop()),
    ("initial values are of the domain", lambda p: p["initial_state"][0].__setitem__(0, "beige")),
    ("every two people differ", lambda p: p["initial_state"].__setitem__(0, p["initial_state"][1])),
    ("the number of needles", lambda p: first(p, "hay").update(type="needle")),
    ("a needle's reference person is the PoI",
     lambda p: first(p, "needle").update(reference=first(p, "hay")["reference"])),
    ("1..d different condition categories", lambda p: first(p, "hay").update(conditions=[])),
    ("a hay does not match the PoI", match_the_poi),
    ("a hay's update values are not the PoI's", match_the_poi),
    ("poi_states", lambda p: p["poi_states"].__setitem__(3, p["poi_states"][3][::-1])),
    ("the answer is the PoI's final value", lambda p: p.update(answer="beige")),
    ("the question's opening", lambda p: p.update(question=f"Where is {p['poi']}?")),
    ("an empty line, the question", lambda p: p.update(puzzle=p["puzzle"] + " ")),
    ("a line for each person",
     lambda p: p.update(puzzle=p["puzzle"].replace(f"\n{p['people'][1]} ", f"\n{stranger(p)} "))),
    ("a line for each statement", lambda p: p.update(puzzle=p["puzzle"].replace("1. ", "2. "))),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "damage"), BREAKS)
def test_checker_finds(sound, rule, damage):
    puzzle = deepcopy(sound)
    assert list(problems(puzzle)) == []
    damage(puzzle)
    assert rule in "\n".join(checker.violations(puzzle))

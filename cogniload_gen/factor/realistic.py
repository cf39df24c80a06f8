"""Puzzle keys -> problems about animals at places (FACTOR, sections 3.2 and 3.3), in words.

The dependency graph (`dependencies.py`) gets names; its sentences stand in random order, among
noise (`noise.py`) if there is a context to fill. Words and sentences are in `data/realistic.toml`.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from string import ascii_letters
from typing import NamedTuple

import numpy as np

from cogniload_gen.draws import child
from cogniload_gen.factor.dependencies import (
    MOST_TERMS,
    Draw,
    Variable,
    close_variables,
    draws_of,
    needed_variables,
    pick,
)
from cogniload_gen.factor.knobs import RealisticCell
from cogniload_gen.factor.noise import TokenCount, noise_sentences
from cogniload_gen.grid import split_twin
from cogniload_gen.tokens import Tokenizer, token_counter
from cogniload_gen.words import read_words

# The children of a puzzle's key: the draws of its problem, of the sentences of its noise, and of
# the places of the problem's sentences among them.
PROBLEM_DRAW, NOISE_DRAW, PLACES_DRAW = range(3)


class Problem(NamedTuple):
    """A problem in words, its sentences in the order of the text.

    `pairs` are the animals in the text as (place, animal).
    """

    sentences: list[str]
    question: str
    answer: str
    solution: str
    pairs: list[tuple[str, str]]


def columns(
    keys: np.ndarray,
    cells: Sequence[RealisticCell],
    tokenizer: Tokenizer = None,
    twin: str | None = None,
) -> dict[str, list[str]]:
    """The columns puzzle, question, answer and solution of the puzzles with these keys (uint64).

    A cell's context is the number of tokens of the whole prompt with its noise, met to within 1 %
    or 16 tokens, and 0 for no noise. `twin` is one change of each puzzle. `tokenizer` is as in
    `tokens.token_counter`. Raises ValueError that starts with "context" where a problem alone is
    longer than its context, or with "tokenizer" where that is wrong.
    """
    token_count = token_counter(tokenizer)
    made: dict[str, list[str]] = {"puzzle": [], "question": [], "answer": [], "solution": []}
    for key, problem_key, cell in zip(keys, child(keys, PROBLEM_DRAW), cells, strict=True):
        problem = make_problem(problem_key, cell.op, twin)
        noisy = cell.context and twin != "context=0"
        sentences = add_noise(key, problem, cell, token_count) if noisy else problem.sentences
        made["puzzle"].append(prompt(sentences, problem.question))
        for column in ("question", "answer", "solution"):
            made[column].append(getattr(problem, column))
    return made


def add_noise(
    key: np.uint64, problem: Problem, cell: RealisticCell, token_count: TokenCount
) -> list[str]:
    """The sentences of a problem among noise that fills the context.

    Each stands at a boundary between sentences of the noise, all equally likely.
    """
    text = prompt(problem.sentences, problem.question)
    alone = token_count([f" {word}" for word in text.split(" ")]).sum()
    if alone > cell.context:
        raise ValueError(
            f"context {cell.context} is too short: a problem of op {cell.op} takes {alone:.0f} "
            "tokens without noise"
        )
    noise = noise_sentences(
        child(key, NOISE_DRAW), cell.noise, problem.pairs, cell.context - alone, token_count
    )
    draw = draws_of(child(key, PLACES_DRAW))
    places = sorted(draw(len(noise) + 1) for _ in problem.sentences)
    parts, start = [], 0
    for place, sentence in zip(places, problem.sentences, strict=True):
        parts += [*noise[start:place], sentence]
        start = place
    return parts + noise[start:]


def make_problem(key: np.uint64, op: int, twin: str | None = None) -> Problem:
    """The problem with this key whose solution takes `op` binary operations (1 or more).

    They are counted with each variable computed once, by its own definition. A twin may have its
    sentences in the order of the solution, only those that it needs, or first values as numbers.
    """
    draw = draws_of(key)
    needed = needed_variables(draw, op)
    variables = needed + close_variables(draw, needed)
    pairs = name_variables(draw, variables)
    text = language()["text"]
    names = [text["variable"].format(place=place, animal=animal) for place, animal in pairs]
    stated = [i for i, variable in enumerate(variables) if not variable.is_total]
    order = pick(draw, stated)
    if twin == "order=solved":
        order.sort()
    if twin == "needed":
        order = [i for i in order if i < len(needed)]
    name, count = split_twin(twin or "")
    known = min(count, len(needed) - 1) if name == "from" else 0
    variables[:known] = [
        Variable((), 1, made.value, made.value, made.place, made.is_total)
        for made in variables[:known]
    ]
    place, animal = pairs[len(needed) - 1]
    return Problem(
        sentences=[
            text["sentence"].format(variable=names[i], definition=definition(variables[i], names))
            for i in order
        ],
        question=text["question"].format(place=place, animal=animal),
        answer=str(needed[-1].value),
        solution=solution(draw, variables[: len(needed)], names),
        pairs=[pairs[i] for i in stated],
    )


def name_variables(draw: Draw, variables: Sequence[Variable]) -> list[tuple[str, str]]:
    """A place and an animal for each variable, all different; a total has the place of its animals.

    The places whose animals are added up have no others. The other variables are animals at further
    places, hardly more than they fill.
    """
    words = language()
    rest = [i for i, variable in enumerate(variables) if variable.place is None]
    of_totals = 1 + max(variable.place or 0 for variable in variables)
    animals = pick(draw, words["animals"], MOST_TERMS + draw(4) + len(variables) // 16)
    names = pick(draw, words["names"], of_totals + -(-len(rest) // len(animals)) + draw(2))
    places = [f"{name} {words['kinds'][draw(len(words['kinds']))]}" for name in names]
    free = [(place, animal) for place in places[of_totals:] for animal in animals]
    pairs = dict(zip(rest, pick(draw, free, len(rest)), strict=True))
    animals_of = [iter(pick(draw, animals)) for _ in range(of_totals)]
    for i, variable in enumerate(variables):
        if variable.place is not None:
            animal = words["total"] if variable.is_total else next(animals_of[variable.place])
            pairs[i] = places[variable.place], animal
    return [pairs[i] for i in range(len(variables))]


def language() -> dict:
    """The words and sentences of the data file."""
    return read_words(__package__, "realistic")


def prompt(sentences: Sequence[str], question: str) -> str:
    """The whole prompt: the problem, its question and the instruction."""
    text = language()["text"]
    joined = " ".join(sentences)
    return text["puzzle"].format(
        sentences=joined, question=question, instruction=text["instruction"]
    )


def definition(variable: Variable, names: Sequence[str]) -> str:
    """What the sentence of a variable says that it is."""
    text = language()["text"]
    if not variable.operands:
        return str(variable.number)
    *others, last = (names[i] for i in variable.operands)
    form = ("each", "sum_of_two", "sum_of_more")[min(len(others), 2)]
    operand = text[form].format(others=text["separator"].join(others), last=last)
    if variable.multiplier > 1:
        return text["times"].format(number=variable.multiplier, operand=operand)
    if variable.number:
        return text["more"].format(number=variable.number, operand=operand)
    return operand


def solution(draw: Draw, needed: Sequence[Variable], names: Sequence[str]) -> str:
    """The solution as the paper prints it, one binary operation at a time.

    It computes each needed variable once, by its own definition.
    """
    unused = letters(draw)
    letter: list[str] = []
    sentences = []
    for variable, name in zip(needed, names, strict=False):  # names of all variables
        letter.append(next(unused))
        terms = [(letter[i], needed[i].value) for i in variable.operands]
        steps = "; ".join(computation(variable, letter[-1], terms, unused))
        sentences.append(f"Define {name} as {letter[-1]}; {steps}.")
    return " ".join([*sentences, f"Answer: {needed[-1].value}."])


def computation(
    variable: Variable, name: str, terms: Sequence[tuple[str, int]], unused: Iterator[str]
) -> list[str]:
    """The steps to a variable, such as "M = d + G = 2 + 2 = 4" and "so v = M + J = 4 + 0 = 4".

    `terms` are the letters and values of the operands; intermediate results take `unused` letters.
    """
    if not terms:
        return [f"so {name} = {variable.value}"]
    (left, value), *others = terms
    steps, right = [], f"{left} = {value}"
    for i, (letter, term) in enumerate(others):
        if i:
            left = next(unused)
            steps.append(f"{left} = {right}")
        right = f"{left} + {letter} = {value} + {term} = {value + term}"
        value += term
    if variable.multiplier > 1 or variable.number:
        left = next(unused)
        steps.append(f"{left} = {right}")
        by = f"{variable.number} +" if variable.number else f"{variable.multiplier} *"
        right = f"{by} {left} = {by} {value} = {variable.value}"
    return [*steps, f"so {name} = {right}"]


def letters(draw: Draw) -> Iterator[str]:
    """The single letters in random order, and after them the same with 1, 2, ... behind."""
    order = pick(draw, ascii_letters)
    yield from order
    for number in count(1):
        yield from (f"{letter}{number}" for letter in order)

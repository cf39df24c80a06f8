"""Draws -> the variables of a problem and how they depend on each other (FACTOR, section 3.2).

The graph is made in the order of the paper, by construction: nothing is thrown away and redrawn.
First the structure: how many places have their animals added up ("South Zoo's Animal", a
hierarchical dependency), and how many animals each of them has. Then one needed variable after the
other, each defined by earlier ones, until `op` binary operations are spent and everything flows
into the last, which the question asks for. Then close variables, which the question does not need.
Every problem needs a total, and a variable that a sentence defines by others.

The operations of a variable are those of its definition, each variable computed once: the sum of n
terms takes n - 1, "k times" and "k more than" one more, a copy and a given number none. There is no
"0 times" and no "1 times", and nothing is subtracted, so that the answer grows with every needed
variable: without its sentence the answer is undetermined. That takes that the variable is still
spoken of; so the animals of a needed total that no needed sentence mentions are mentioned by a
close one.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from cogniload_gen.draws import child

GREATEST_VALUE = 999
GREATEST_NUMBER = 20
"""The greatest value of any variable (the least is 1), and the greatest number in a sentence."""

MOST_TERMS = 4
"""The terms of a sum at most, and the animals of a place that are added up."""

WORDS_AT_ONCE = 512

Below = Callable[[int], int]
"""The next draw: an integer uniform on 0..bound-1."""


class Variable(NamedTuple):
    """A variable and its definition: multiplier * (sum of the operands, if any) + number.

    Operands are earlier variables, by their position. `place` numbers the places whose animals are
    added up; it is None for the animals of all others. A total is the sum over the animals of its
    place, which no sentence states.
    """

    operands: tuple[int, ...]
    multiplier: int
    number: int
    value: int
    place: int | None
    is_total: bool = False

    @property
    def operations(self) -> int:
        """The binary operations that it takes."""
        added = self.number > 0 and len(self.operands) > 0
        return max(len(self.operands) - 1, 0) + (self.multiplier > 1) + added


class Shape(NamedTuple):
    """The form of a definition: the sum of so many terms, multiplied, or with a number added."""

    terms: int
    multiplied: bool = False
    added: bool = False

    @property
    def operations(self) -> int:
        """The binary operations that it takes."""
        return max(self.terms - 1, 0) + self.multiplied + self.added


CONSTANT, COPY = Shape(0), Shape(1)
SHAPES = [
    (shape, shape.operations)
    for shape, weight in (
        *((CONSTANT, 5), (COPY, 1), (Shape(1, multiplied=True), 2), (Shape(1, added=True), 2)),
        *((Shape(2), 3), (Shape(3), 2), (Shape(MOST_TERMS), 1)),
        *((Shape(2, multiplied=True), 2), (Shape(3, multiplied=True), 1)),
    )
    for _ in range(weight)
]
"""The shapes with their operations, each as often as it weighs in a draw."""


def draws(key: np.uint64) -> Below:
    """The draws of a key, one after the other; the bias is below bound / 2**32."""

    def words() -> Iterator[int]:
        for start in count(step=WORDS_AT_ONCE):
            block = child(key, np.arange(start, start + WORDS_AT_ONCE))
            yield from (block >> np.uint64(32)).tolist()

    next_word = words().__next__
    return lambda bound: next_word() * bound >> 32


def sample(below: Below, population: Sequence, size: int | None = None) -> list:
    """`size` of the population, all by default, in random order."""
    pool = list(population)
    size = len(pool) if size is None else size
    for i in range(size):
        j = i + below(len(pool) - i)
        pool[i], pool[j] = pool[j], pool[i]
    return pool[:size]


def needed_variables(below: Below, op: int) -> list[Variable]:
    """The variables of the minimal solution, `op` binary operations in all; the last is asked for.

    `loose` are the variables that none uses yet, but for the animals of a total to come. In the end
    one is loose, the answer. So the operations that are left must suffice to join the loose ones
    and the totals to come: len(loose) + totals_to_come - 1 <= left. And `room` must not be
    negative: it is what would be left below the greatest value if all loose variables and all
    animals to come (at least 1 each) were added up and every operation left added 1.
    """
    sizes = structure(below, op)
    animals = sample(below, [place for place, size in enumerate(sizes) for _ in range(size)])
    members: list[list[int]] = [[] for _ in sizes]
    totals_to_come, left = len(sizes), op - sum(sizes) + len(sizes)
    room = GREATEST_VALUE - left - len(animals)
    variables: list[Variable] = []
    loose: list[int] = []
    used: list[int] = []
    while animals or left or len(loose) > 1 or variables[-1].is_total:
        growth = room // (left + 1)  # a fair share for each operation
        cheap = [i for i in used if variables[i].value <= min(growth, room // MOST_TERMS)]
        in_total = bool(animals) and below(len(animals) + left) < len(animals)
        slack = left - len(loose) - totals_to_come
        shapes = fitting(left, slack + in_total, len(loose), len(cheap), in_total or growth > 0)
        if animals and all(shape == COPY for shape, _ in shapes):  # or none
            in_total = True
            shapes = fitting(left, slack + 1, len(loose), len(cheap), True)
        shape, operations = shapes[below(len(shapes))]

        # operands: loose variables as far as needed, at least one where there is one, and others
        most = min(shape.terms, len(loose))
        least = max(operations - slack - in_total, shape.terms - len(cheap), min(most, 1))
        joined = sample(below, loose, least + below(most - least + 1))
        operands = sample(below, joined + sample(below, cheap, shape.terms - len(joined)))
        # the value takes the place of the loose operands', or of the 1 that was counted so far
        replaced = in_total + sum(variables[i].value for i in joined)
        least_value = sum(variables[i].value for i in operands)
        limit = max(replaced + growth, least_value) + operations
        place = animals.pop() if in_total else None
        variable = define(below, variables, operands, shape, limit, place)
        left -= variable.operations
        room += replaced + variable.operations - variable.value

        loose = [i for i in loose if i not in joined]
        used += joined
        (loose if place is None else used).append(len(variables))
        variables.append(variable)
        if place is not None:
            members[place].append(len(variables) - 1)
            if len(members[place]) == sizes[place]:
                loose.append(len(variables))
                variables.append(total(variables, members[place]))
                totals_to_come -= 1
    return variables


def fitting(
    left: int, slack: int, loose: int, cheap: int, constant: bool
) -> list[tuple[Shape, int]]:
    """The shapes that the next variable can have, with their operations.

    `left` operations can be spent; each beyond `slack` takes a loose variable among the operands.
    There are `loose` and `cheap` others for operands; `constant` says whether a number will do.
    """
    return [
        (shape, operations)
        for shape, operations in SHAPES
        if operations <= left
        and operations - slack <= min(shape.terms, loose)
        and shape.terms <= loose + cheap
        and (shape.terms or constant)
    ]


def structure(below: Below, op: int) -> list[int]:
    """How many animals each place has whose animals are added up: at least one place.

    Their totals take from 1 up to half of the operations, rounded up.
    """
    operations = 1 + below((op + 1) // 2)
    sizes = []
    while operations:
        sizes.append(2 + below(min(MOST_TERMS - 1, operations)))
        operations -= sizes[-1] - 1
    return sizes


def define(
    below: Below,
    variables: list[Variable],
    operands: Sequence[int],
    shape: Shape,
    limit: int,
    place: int | None,
) -> Variable:
    """A variable of a shape over operands whose sum is at most `limit`, as its value will be.

    Where no multiplier keeps the limit, a number is added to a single operand, and several are
    added up alone; where no number does either, the variable is a copy.
    """
    value = sum(variables[i].value for i in operands)
    multiplier, number = 1, 0
    if shape.multiplied and 0 < value * 2 <= limit:
        multiplier = 2 + below(min(limit // value, GREATEST_NUMBER) - 1)
    elif not operands or (len(operands) == 1 and shape != COPY and value < limit):
        number = 1 + below(min(limit - value, GREATEST_NUMBER))
    value = value * multiplier + number
    return Variable(tuple(operands), multiplier, number, value, place)


def total(variables: list[Variable], animals: list[int]) -> Variable:
    """The sum over the animals of a place."""
    value = sum(variables[i].value for i in animals)
    return Variable(tuple(animals), 1, 0, value, variables[animals[0]].place, is_total=True)


def close_variables(below: Below, needed: Sequence[Variable]) -> list[Variable]:
    """Variables that the question does not need: from 2 to about as many as it needs.

    They may depend on needed ones and on each other. They mention what is still to be mentioned:
    the animals of needed totals that no needed sentence mentions. In half of the problems some of
    them are all the animals of another place, whose total a further one mentions.
    """
    variables = list(needed)
    stated = [i for i, variable in enumerate(needed) if not variable.is_total]
    mentioned = {operand for i in stated for operand in needed[i].operands}
    wanted = [i for i in stated if needed[i].place is not None and i not in mentioned]
    to_come = 2 + below(len(stated))
    other_place = 1 + max(variable.place or 0 for variable in needed)
    animals_to_come = (0, 0, 2, 3)[below(4)]
    while to_come > 0 or wanted:
        shape, _ = SHAPES[below(len(SHAPES))]
        place, limit = None, GREATEST_VALUE
        if animals_to_come:
            place, limit = other_place, GREATEST_VALUE // MOST_TERMS
        share = min(-(-len(wanted) // max(to_come, 1)), MOST_TERMS)
        others = [i for i in range(len(variables)) if i not in wanted]
        candidates = sample(below, wanted, share)
        candidates += sample(below, others, min(max(shape.terms - share, 0), len(others)))
        operands, value = [], 0
        for i in candidates:
            if value + variables[i].value <= limit:
                operands.append(i)
                value += variables[i].value
        wanted = [i for i in wanted if i not in operands]
        variables.append(define(below, variables, operands, shape, limit, place))
        to_come -= 1
        if animals_to_come:
            animals_to_come -= 1
            if not animals_to_come:
                animals = [i for i, made in enumerate(variables) if made.place == other_place]
                wanted.append(len(variables))
                variables.append(total(variables, animals))
    return variables[len(needed) :]

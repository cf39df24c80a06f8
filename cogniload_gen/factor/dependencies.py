"""Draws -> the variables of a problem and how they depend on each other (FACTOR, section 3.2).

The graph is made in the order of the paper, by construction: nothing is thrown away and redrawn.
First the structure: how many places have their animals added up ("South Zoo's Animal", a
hierarchical dependency), and how many animals each of them has. Then one needed variable after the
other, each defined by earlier ones, until `op` binary operations are spent and everything flows
into the last, which the question asks for (`Building`). Then close variables, which the question
does not need. Every problem needs a total, and a variable that a sentence defines by others.

The operations of a variable are those of its definition, each variable computed once: the sum of n
terms takes n - 1, "k times" and "k more than" one more, a copy and a given number none. There is no
"0 times" and no "1 times", and nothing is subtracted, so that the answer grows with every needed
variable: without its sentence the answer is undetermined. This requires that another sentence
mentions the variable; so a close variable mentions the animals of a needed total that no needed
sentence mentions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple, Self

import numpy as np

from cogniload_gen.draws import Key, child

GREATEST_VALUE = 999
GREATEST_NUMBER = 20
"""The greatest value of any variable (the least is 1), and the greatest number in a sentence."""

MOST_TERMS = 4
"""The terms of a sum at most, and the animals of a place that are added up."""

WORDS_AT_ONCE = 512

Draw = Callable[[int], int]
"""draw(bound) is the next draw: an integer uniform on 0..bound-1."""


class Variable(NamedTuple):
    """A variable and its definition: multiplier * (sum of the operands, if any) + number.

    Operands are earlier variables, by their position. `place` numbers the places whose animals are
    added up; None stands for the animals of all others. A total is the sum over the animals of its
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
    """The form of a definition: a sum of `terms` terms, multiplied, or with a number added."""

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


def draws_of(key: Key) -> Draw:
    """Return the draws of a key, one after the other; the bias is below bound / 2**32."""

    def words() -> Iterator[int]:
        for start in count(step=WORDS_AT_ONCE):
            block = child(key, np.arange(start, start + WORDS_AT_ONCE))
            yield from (block >> np.uint64(32)).tolist()

    next_word = words().__next__
    return lambda bound: next_word() * bound >> 32


def pick(draw: Draw, population: Sequence, size: int | None = None) -> list:
    """`size` of the population, all by default, in random order."""
    pool = list(population)
    size = len(pool) if size is None else size
    for i in range(size):
        j = i + draw(len(pool) - i)
        pool[i], pool[j] = pool[j], pool[i]
    return pool[:size]


@dataclass
class Building:
    """The needed variables so far, and what must still happen so that all flow into the last.

    `loose` are the variables that no definition uses yet, except animals awaiting their total, and
    `used` the others; `animals` are the places (by their number) whose animals are to come, one
    entry an animal, and `members` the animals of each place so far. `left` operations are still to
    be spent. In the end one variable is loose, the answer, so they must suffice to join the loose
    ones and the totals to come: len(loose) + totals_to_come - 1 <= left. `room` must not become
    negative: it is what would be left below GREATEST_VALUE if all loose variables and all animals
    to come (at least 1 each) were added up, and every operation left added 1.
    """

    draw: Draw
    animals: list[int]
    left: int
    room: int
    members: list[list[int]]
    variables: list[Variable] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)
    used: list[int] = field(default_factory=list)

    @classmethod
    def begin(cls, draw: Draw, op: int) -> Self:
        """Begin with the places whose animals are added up, and nothing else."""
        sizes = structure(draw, op)
        animals = pick(draw, [place for place, size in enumerate(sizes) for _ in range(size)])
        left = op - sum(sizes) + len(sizes)
        room = GREATEST_VALUE - left - len(animals)
        return cls(draw, animals, left, room, [[] for _ in sizes])

    @property
    def finished(self) -> bool:
        """Whether all operations are spent and the last variable, not a total, is the answer."""
        spent = not self.animals and not self.left and len(self.loose) == 1
        return spent and not self.variables[-1].is_total

    @property
    def totals_to_come(self) -> int:
        """How many places still lack animals, and so their total."""
        return len(set(self.animals))

    @property
    def slack(self) -> int:
        """How many operations could be spent without joining loose variables."""
        return self.left - len(self.loose) - self.totals_to_come

    @property
    def growth(self) -> int:
        """By how much a variable may outgrow what it joins: a fair share for each operation."""
        return self.room // (self.left + 1)

    @property
    def cheap(self) -> list[int]:
        """The used variables that are small enough to be used again."""
        limit = min(self.growth, self.room // MOST_TERMS)
        return [i for i in self.used if self.variables[i].value <= limit]

    def step(self) -> None:
        """Add a variable, and its place's total if it is the last animal of the place."""
        left, loose, cheap, slack = self.left, len(self.loose), self.cheap, self.slack
        is_animal = bool(self.animals) and (self.draw(len(self.animals) + left) < len(self.animals))
        shapes = fitting(left, slack + is_animal, loose, len(cheap), is_animal or self.growth > 0)
        if self.animals and all(shape == COPY for shape, _ in shapes):  # or there are none
            is_animal = True
            shapes = fitting(left, slack + 1, loose, len(cheap), True)
        shape, operations = shapes[self.draw(len(shapes))]
        # loose variables as far as needed, at least one if there is one, and others
        most = min(shape.terms, loose)
        least = max(operations - slack - is_animal, shape.terms - len(cheap), min(most, 1))
        joined = pick(self.draw, self.loose, least + self.draw(most - least + 1))
        others = pick(self.draw, cheap, shape.terms - len(joined))
        place = self.animals.pop() if is_animal else None
        self.add(shape, joined, pick(self.draw, joined + others), place)
        if place is not None and place not in self.animals:  # its last animal
            self.loose.append(len(self.variables))
            self.variables.append(total(self.variables, self.members[place]))

    def add(self, shape: Shape, joined: list[int], operands: list[int], place: int | None) -> None:
        """Add a variable over operands; those that it joins are no longer loose.

        Its value takes the room of the joined ones' values, or of the 1 that was counted for an
        animal.
        """
        freed = (place is not None) + sum(self.variables[i].value for i in joined)
        least_value = sum(self.variables[i].value for i in operands)
        limit = max(freed + self.growth, least_value) + shape.operations
        variable = define(self.draw, self.variables, operands, shape, limit, place)
        self.left -= variable.operations
        self.room += freed + variable.operations - variable.value
        self.loose = [i for i in self.loose if i not in joined]
        self.used += joined
        if place is None:
            self.loose.append(len(self.variables))
        else:
            self.used.append(len(self.variables))
            self.members[place].append(len(self.variables))
        self.variables.append(variable)


def needed_variables(draw: Draw, op: int) -> list[Variable]:
    """The needed variables, which take `op` binary operations; the last is the answer."""
    building = Building.begin(draw, op)
    while not building.finished:
        building.step()
    return building.variables


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


def structure(draw: Draw, op: int) -> list[int]:
    """How many animals each place has whose animals are added up: at least one place.

    Their totals take from 1 up to half of the operations, rounded up.
    """
    operations = 1 + draw((op + 1) // 2)
    sizes = []
    while operations:
        sizes.append(2 + draw(min(MOST_TERMS - 1, operations)))
        operations -= sizes[-1] - 1
    return sizes


def define(
    draw: Draw,
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
        multiplier = 2 + draw(min(limit // value, GREATEST_NUMBER) - 1)
    elif not operands or (len(operands) == 1 and shape != COPY and value < limit):
        number = 1 + draw(min(limit - value, GREATEST_NUMBER))
    value = value * multiplier + number
    return Variable(tuple(operands), multiplier, number, value, place)


def total(variables: list[Variable], animals: list[int]) -> Variable:
    """The sum over the animals of a place."""
    value = sum(variables[i].value for i in animals)
    return Variable(tuple(animals), 1, 0, value, variables[animals[0]].place, is_total=True)


def close_variables(draw: Draw, needed: Sequence[Variable]) -> list[Variable]:
    """Variables that the question does not need: from 2 to about as many as it needs.

    They may depend on needed ones and on each other. They mention what is still to be mentioned:
    the animals of needed totals that no needed sentence mentions. In half of the problems some of
    them are all the animals of another place, whose total a further one mentions.
    """
    variables = list(needed)
    stated = [i for i, variable in enumerate(needed) if not variable.is_total]
    mentioned = {operand for i in stated for operand in needed[i].operands}
    wanted = [i for i in stated if needed[i].place is not None and i not in mentioned]
    to_come = 2 + draw(len(stated))
    other_place = 1 + max(variable.place or 0 for variable in needed)
    animals_to_come = (0, 0, 2, 3)[draw(4)]
    while to_come > 0 or wanted:
        shape, _ = SHAPES[draw(len(SHAPES))]
        place, limit = None, GREATEST_VALUE
        if animals_to_come:
            place, limit = other_place, GREATEST_VALUE // MOST_TERMS
        share = min(-(-len(wanted) // max(to_come, 1)), MOST_TERMS)
        others = [i for i in range(len(variables)) if i not in wanted]
        candidates = pick(draw, wanted, share)
        candidates += pick(draw, others, min(max(shape.terms - share, 0), len(others)))
        operands, value = [], 0
        for i in candidates:
            if value + variables[i].value <= limit:
                operands.append(i)
                value += variables[i].value
        wanted = [i for i in wanted if i not in operands]
        variables.append(define(draw, variables, operands, shape, limit, place))
        to_come -= 1
        if animals_to_come:
            animals_to_come -= 1
            if not animals_to_come:
                animals = [i for i, made in enumerate(variables) if made.place == other_place]
                wanted.append(len(variables))
                variables.append(total(variables, animals))
    return variables[len(needed) :]

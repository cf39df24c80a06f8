"""FACTOR's realistic suite: puzzle keys -> problems about animals at places (sections 3.2, 3.3).

The dependency graph gets names; its sentences stand in random order, among noise if there is a
context to fill. Words and sentences are in `data/realistic.toml` and `data/noise.toml`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import count
from string import ascii_letters
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cogniload_gen.draws import Key, child, uniform
from cogniload_gen.factor.knobs import RealisticCell
from cogniload_gen.factor.symbolic import batch_size
from cogniload_gen.files import read_words
from cogniload_gen.grid import Batch, Grid, Source, split_twin, whole_table
from cogniload_gen.tokens import TokenCounter, Tokenizer, token_counter

# The columns of a table of puzzles.
_REALISTIC_SCHEMA = pa.schema(
    {
        "id": pa.string(), "suite": pa.string(), "op": pa.int64(), "context": pa.int64(),
        "noise": pa.string(), "seed": pa.int64(), "index": pa.int64(), "puzzle": pa.string(),
        "question": pa.string(), "answer": pa.string(), "solution": pa.string(),
    }
)  # fmt: skip

WORDS = read_words(__package__, "realistic")
TEXT = WORDS["text"]
"""The words of the data file, and its sentences."""

# The children of a puzzle's key: the draws of its problem, of the sentences of its noise, and of
# the places of the problem's sentences among them.
_PROBLEM_DRAW, _NOISE_DRAW, _PLACES_DRAW = range(3)

# --- Variables and how they depend on each other (section 3.2) ----------------------------------

# The graph is made in the order of the paper, by construction: nothing is thrown away and
# redrawn. First the structure: how many places have their animals added up ("South Zoo's Animal",
# a hierarchical dependency), and how many animals each of them has. Then one needed variable
# after the other, each defined by earlier ones, until `op` binary operations are spent and
# everything flows into the last, which the question asks for (`_needed_variables`). Then close
# variables, which the question does not need. Every problem needs a total, and a variable that a
# sentence defines by others.
#
# The operations of a variable are those of its definition, each variable computed once: the sum
# of n terms takes n - 1, "k times" and "k more than" one more, a copy and a given number none.
# There is no "0 times" and no "1 times", and nothing is subtracted, so that the answer grows with
# every needed variable: without its sentence the answer is undetermined. This requires that
# another sentence mentions the variable; so a close variable mentions the animals of a needed
# total that no needed sentence mentions.

# The greatest value of any variable (the least is 1), and the greatest number in a sentence.
_GREATEST_VALUE, _GREATEST_NUMBER = 999, 20

# The terms of a sum at most, and the animals of a place that are added up.
_MOST_TERMS = 4

_WORDS_AT_ONCE = 512

Draw = Callable[[int], int]
"""draw(bound) is the next draw: an integer uniform on 0..bound-1."""


class _Variable(NamedTuple):
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


class _Shape(NamedTuple):
    """The form of a definition: a sum of `terms` terms, multiplied, or with a number added."""

    terms: int
    multiplied: bool = False
    added: bool = False

    @property
    def operations(self) -> int:
        """The binary operations that it takes."""
        return max(self.terms - 1, 0) + self.multiplied + self.added


_CONSTANT, _COPY = _Shape(0), _Shape(1)
SHAPES = [
    shape
    for shape, weight in (
        *((_CONSTANT, 5), (_COPY, 1), (_Shape(1, multiplied=True), 2), (_Shape(1, added=True), 2)),
        *((_Shape(2), 3), (_Shape(3), 2), (_Shape(_MOST_TERMS), 1)),
        *((_Shape(2, multiplied=True), 2), (_Shape(3, multiplied=True), 1)),
    )
    for _ in range(weight)
]
"""The shapes, each as often as it weighs in a draw."""


def _draws_of(key: Key) -> Draw:
    """Return the draws of a key, one after the other; the bias is below bound / 2**32."""

    def words() -> Iterator[int]:
        for start in count(step=_WORDS_AT_ONCE):
            block = child(key, np.arange(start, start + _WORDS_AT_ONCE))
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


def _needed_variables(draw: Draw, op: int) -> list[_Variable]:
    """The needed variables, which take `op` binary operations; the last is the answer.

    `loose` are the variables that no definition uses yet, except animals awaiting their total, and
    `used` the others; `animals` are the places (by their number) whose animals are to come, one
    entry an animal. `left` operations are still to be spent. In the end one variable is loose, the
    answer, so they must suffice to join the loose ones and the totals to come; `slack` could be
    spent without joining any. `room` must not become negative: it is what would be left below
    _GREATEST_VALUE if all loose variables and all animals to come (at least 1 each) were added up,
    and every operation left added 1. A variable may outgrow what it joins by `growth`, a fair share
    of it for each operation.
    """
    sizes = structure(draw, op)
    animals = pick(draw, [place for place, size in enumerate(sizes) for _ in range(size)])
    left = op - sum(sizes) + len(sizes)
    room = _GREATEST_VALUE - left - len(animals)
    variables: list[_Variable] = []
    loose: list[int] = []
    used: list[int] = []
    while animals or left or len(loose) > 1 or variables[-1].is_total:
        slack, growth = left - len(loose) - len(set(animals)), room // (left + 1)
        # what is small enough to be used again
        cheap = [i for i in used if variables[i].value <= min(growth, room // _MOST_TERMS)]
        is_animal = bool(animals) and draw(len(animals) + left) < len(animals)
        able = is_animal or growth > 0
        shapes = fitting(left, slack + is_animal, len(loose), len(cheap), able)
        if animals and all(shape == _COPY for shape in shapes):  # or there are none
            is_animal = True
            shapes = fitting(left, slack + 1, len(loose), len(cheap), True)
        shape = shapes[draw(len(shapes))]
        # loose variables as far as needed, at least one if there is one, and others
        most = min(shape.terms, len(loose))
        least = max(shape.operations - slack - is_animal, shape.terms - len(cheap), min(most, 1))
        joined = pick(draw, loose, least + draw(most - least + 1))
        operands = pick(draw, joined + pick(draw, cheap, shape.terms - len(joined)))
        place = animals.pop() if is_animal else None
        # its value takes the room of what it joins, or of the 1 that was counted for an animal
        freed = is_animal + sum(variables[i].value for i in joined)
        least_value = sum(variables[i].value for i in operands)
        limit = max(freed + growth, least_value) + shape.operations
        variable = define(draw, variables, operands, shape, limit, place)
        left -= variable.operations
        room += freed + variable.operations - variable.value
        loose = [i for i in loose if i not in joined]
        used += joined
        (used if is_animal else loose).append(len(variables))
        variables.append(variable)
        if place is not None and place not in animals:  # its last animal
            loose.append(len(variables))
            variables.append(total(variables, place))
    return variables


@lru_cache(maxsize=2**16)
def fitting(left: int, slack: int, loose: int, cheap: int, constant: bool) -> tuple[_Shape, ...]:
    """The shapes that the next variable can have.

    `left` operations can be spent; each beyond `slack` takes a loose variable among the operands.
    There are `loose` and `cheap` others for operands; `constant` says whether a number will do.
    """
    return tuple(
        shape
        for shape in SHAPES
        if shape.operations <= left
        and shape.operations - slack <= min(shape.terms, loose)
        and shape.terms <= loose + cheap
        and (shape.terms or constant)
    )


def structure(draw: Draw, op: int) -> list[int]:
    """How many animals each place has whose animals are added up: at least one place.

    Their totals take from 1 up to half of the operations, rounded up.
    """
    operations = 1 + draw((op + 1) // 2)
    sizes = []
    while operations:
        sizes.append(2 + draw(min(_MOST_TERMS - 1, operations)))
        operations -= sizes[-1] - 1
    return sizes


def define(
    draw: Draw,
    variables: list[_Variable],
    operands: Sequence[int],
    shape: _Shape,
    limit: int,
    place: int | None,
) -> _Variable:
    """A variable of a shape over operands whose sum is at most `limit`, as its value will be.

    Where no multiplier keeps the limit, a number is added to a single operand, and several are
    added up alone; where no number does either, the variable is a copy.
    """
    value = sum(variables[i].value for i in operands)
    multiplier, number = 1, 0
    if shape.multiplied and 0 < value * 2 <= limit:
        multiplier = 2 + draw(min(limit // value, _GREATEST_NUMBER) - 1)
    elif not operands or (len(operands) == 1 and shape != _COPY and value < limit):
        number = 1 + draw(min(limit - value, _GREATEST_NUMBER))
    value = value * multiplier + number
    return _Variable(tuple(operands), multiplier, number, value, place)


def total(variables: list[_Variable], place: int) -> _Variable:
    """The sum over the animals of a place."""
    animals = tuple(i for i, variable in enumerate(variables) if variable.place == place)
    value = sum(variables[i].value for i in animals)
    return _Variable(animals, 1, 0, value, place, is_total=True)


def _close_variables(draw: Draw, needed: Sequence[_Variable]) -> list[_Variable]:
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
        shape = SHAPES[draw(len(SHAPES))]
        place, limit = None, _GREATEST_VALUE
        if animals_to_come:
            place, limit = other_place, _GREATEST_VALUE // _MOST_TERMS
        share = min(-(-len(wanted) // max(to_come, 1)), _MOST_TERMS)
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
                wanted.append(len(variables))
                variables.append(total(variables, other_place))
    return variables[len(needed) :]


# --- Problems in words --------------------------------------------------------------------------


def _make_problem(
    key: np.uint64, op: int, twin: str | None = None
) -> tuple[list[str], list[tuple[str, str]], dict[str, str]]:
    """The problem with this key whose solution takes `op` binary operations (1 or more).

    They are counted with each variable computed once, by its own definition. A twin may have its
    sentences in the order of the solution, only those that it needs, or first values as numbers.
    Returns the sentences in the order of the text, the animals in them as (place, animal), and the
    columns question, answer and solution.
    """
    draw = _draws_of(key)
    needed = _needed_variables(draw, op)
    variables = needed + _close_variables(draw, needed)
    pairs = _name_variables(draw, variables)
    names = [TEXT["variable"].format(place=place, animal=animal) for place, animal in pairs]
    stated = [i for i, variable in enumerate(variables) if not variable.is_total]
    order = pick(draw, stated)
    if twin == "order=solved":
        order.sort()
    if twin == "needed":
        order = [i for i in order if i < len(needed)]
    name, count = split_twin(twin or "")
    known = min(count, len(needed) - 1) if name == "from" else 0
    variables[:known] = [
        _Variable((), 1, made.value, made.value, made.place, made.is_total)
        for made in variables[:known]
    ]
    place, animal = pairs[len(needed) - 1]
    sentences = [
        TEXT["sentence"].format(variable=names[i], definition=definition(variables[i], names))
        for i in order
    ]
    columns = {
        "question": TEXT["question"].format(place=place, animal=animal),
        "answer": str(needed[-1].value),
        "solution": solution(draw, variables[: len(needed)], names),
    }
    return sentences, [pairs[i] for i in stated], columns


def _name_variables(draw: Draw, variables: Sequence[_Variable]) -> list[tuple[str, str]]:
    """A place and an animal for each variable, all different; a total has the place of its animals.

    The places whose animals are added up have no others. The other variables are animals at further
    places, hardly more than they fill.
    """
    rest = [i for i, variable in enumerate(variables) if variable.place is None]
    of_totals = 1 + max(variable.place or 0 for variable in variables)
    animals = pick(draw, WORDS["animals"], _MOST_TERMS + draw(4) + len(variables) // 16)
    names = pick(draw, WORDS["names"], of_totals + -(-len(rest) // len(animals)) + draw(2))
    places = [f"{name} {WORDS['kinds'][draw(len(WORDS['kinds']))]}" for name in names]
    free = [(place, animal) for place in places[of_totals:] for animal in animals]
    pairs = dict(zip(rest, pick(draw, free, len(rest)), strict=True))
    animals_of = [iter(pick(draw, animals)) for _ in range(of_totals)]
    for i, variable in enumerate(variables):
        if variable.place is not None:
            animal = WORDS["total"] if variable.is_total else next(animals_of[variable.place])
            pairs[i] = places[variable.place], animal
    return [pairs[i] for i in range(len(variables))]


def prompt(sentences: Sequence[str], question: str) -> str:
    """The whole prompt: the problem, its question and the instruction."""
    asked = {"question": question, "instruction": TEXT["instruction"]}
    return TEXT["puzzle"].format(sentences=" ".join(sentences), **asked)


def definition(variable: _Variable, names: Sequence[str]) -> str:
    """What the sentence of a variable says that it is."""
    if not variable.operands:
        return str(variable.number)
    *others, last = (names[i] for i in variable.operands)
    form = ("each", "sum_of_two", "sum_of_more")[min(len(others), 2)]
    operand = TEXT[form].format(others=TEXT["separator"].join(others), last=last)
    if variable.multiplier > 1:
        return TEXT["times"].format(number=variable.multiplier, operand=operand)
    if variable.number:
        return TEXT["more"].format(number=variable.number, operand=operand)
    return operand


def solution(draw: Draw, needed: Sequence[_Variable], names: Sequence[str]) -> str:
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
    variable: _Variable, name: str, terms: Sequence[tuple[str, int]], unused: Iterator[str]
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


# --- Noise: sentences without numbers and relations (section 3.3) -------------------------------

# Close noise speaks of the places and animals of the problem, general noise of everyday life. A
# sentence is put together from pieces that come again and again, so that its tokens are counted by
# adding theirs, for thousands of sentences at once.

# A word with a slot, or several without, with the space before.
_ELEMENT = re.compile(r" \S*\{(\w+)\}\S*|(?: [^\s{}]+(?!\S))+")

PAIR = ("place", "animal")
_SENTENCES_AT_ONCE = 1024

# The children of a sentence's key: its template, the pair it speaks of, the choices of its elements
_TEMPLATE_DRAW, _PAIR_DRAW, _FIRST_ELEMENT_DRAW = range(3)


@cache
def templates(kind: str) -> tuple[list[str], list[str], np.ndarray]:
    """The templates of `kind`, "close" or "general": pieces, forms of pairs, and a table.

    The table holds `first`, `choices` and `pair_form` of each template's elements. The choices of
    an element are the `choices` pieces from `first` on; past the end of a template it is the empty
    piece. Where `pair_form` is not negative, it is the place or the animal of a pair instead, in
    that one of the forms of pairs.
    """
    data = read_words(__package__, "noise")[kind]
    pieces, pair_forms = [""], list[str]()
    first_piece: dict[str, int] = {}
    rows: list[list[tuple[int, int, int]]] = []
    for sentence in data["sentences"]:
        rows.append([])
        for match in _ELEMENT.finditer(f" {sentence}"):
            element, slot = match[0], match[1]
            if slot in PAIR:
                if element not in pair_forms:
                    pair_forms.append(element)
                rows[-1].append((0, 1, pair_forms.index(element)))
                continue
            words = data["words"][slot] if slot else [""]
            if element not in first_piece:
                first_piece[element] = len(pieces)
                pieces += [element.replace(f"{{{slot}}}", word) for word in words]
            rows[-1].append((first_piece[element], len(words), -1))
    longest = max(map(len, rows))
    table = np.array([row + [(0, 1, -1)] * (longest - len(row)) for row in rows])
    return pieces, pair_forms, np.moveaxis(table, -1, 0)


def _noise_sentences(
    key: Key, kind: str, pairs: Sequence[tuple[str, str]], tokens: float, token_count: TokenCounter
) -> list[str]:
    """Sentences of noise that together come as near to `tokens` as whole sentences can.

    `kind` is "close", about the (place, animal) `pairs`, or "general"; `token_count` is as
    `tokens.token_counter` gives it. Fewer tokens give the beginning of the same sentences. Raises
    ValueError that starts with "tokenizer" if the sentences count as 0 tokens.
    """
    pieces, pair_forms, (first, choices, pair_form) = templates(kind)
    named = [{"place": place, "animal": animal} for place, animal in pairs]
    first = np.where(pair_form < 0, first, len(pieces) + pair_form * len(pairs))
    choices = np.where(pair_form < 0, choices, len(pairs))
    pieces = pieces + [form.format(**pair) for form in pair_forms for pair in named]
    counts = token_count(pieces)
    slots = np.arange(_FIRST_ELEMENT_DRAW + first.shape[1])
    sentences: list[str] = []
    number = np.arange(_SENTENCES_AT_ONCE)
    while True:
        words = child(child(key, number)[:, None], slots)
        template = uniform(words[:, _TEMPLATE_DRAW], len(first))
        is_pair = pair_form[template] >= 0
        words = np.where(is_pair, words[:, [_PAIR_DRAW]], words[:, _FIRST_ELEMENT_DRAW:])
        chosen = first[template] + uniform(words, choices[template])
        sizes = counts[chosen].sum(axis=1)
        totals = sizes.cumsum()
        if not totals[-1] > 0:
            raise ValueError("tokenizer counts the sentences of noise as 0 tokens")
        enough = np.searchsorted(totals - sizes / 2, tokens)  # those that bring it nearer
        sentences += ["".join(map(pieces.__getitem__, row))[1:] for row in chosen[:enough].tolist()]
        if tokens <= totals[-1]:
            return sentences
        tokens -= totals[-1]
        number += _SENTENCES_AT_ONCE


def _add_noise(
    key: np.uint64,
    text: str,
    sentences: list[str],
    pairs: Sequence[tuple[str, str]],
    cell: RealisticCell,
    token_count: TokenCounter,
) -> list[str]:
    """The sentences of a problem, whose prompt is `text`, among noise that fills the context.

    Each stands at a boundary between sentences of the noise, all equally likely.
    """
    alone = token_count([f" {word}" for word in text.split(" ")]).sum()
    if alone > cell.context:
        needed = f"a problem of op {cell.op} takes {alone:.0f} tokens without noise"
        raise ValueError(f"context {cell.context} is too short: {needed}")
    noise_key, left = child(key, _NOISE_DRAW), cell.context - alone
    noise = _noise_sentences(noise_key, cell.noise, pairs, left, token_count)
    draw = _draws_of(child(key, _PLACES_DRAW))
    places = sorted(draw(len(noise) + 1) for _ in sentences)
    parts, start = [], 0
    for place, sentence in zip(places, sentences, strict=True):
        parts += [*noise[start:place], sentence]
        start = place
    return parts + noise[start:]


# --- Columns ------------------------------------------------------------------------------------


def realistic_source(selection: Grid, *, tokenizer: Tokenizer = None) -> Source:
    """Return the realistic puzzles of a grid; ValueError for a wrong `tokenizer`."""
    token_counter(tokenizer)

    def make(batch: Batch) -> Iterator[pa.Table]:
        made: dict[str, list[str]] = columns(batch.keys, batch.cells, tokenizer, selection.twin)
        made["suite"] = ["realistic"] * len(batch.cells)
        yield whole_table(selection, batch, _REALISTIC_SCHEMA, made)

    op, context = np.mean([cell[:2] for cell in selection.cells], axis=0)
    return Source(selection, _REALISTIC_SCHEMA, make, batch_size(op, context))


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
    for key, problem_key, cell in zip(keys, child(keys, _PROBLEM_DRAW), cells, strict=True):
        sentences, pairs, told = _make_problem(problem_key, cell.op, twin)
        told["puzzle"] = prompt(sentences, told["question"])
        if cell.context and twin != "context=0":
            noisy = _add_noise(key, told["puzzle"], sentences, pairs, cell, token_count)
            told["puzzle"] = prompt(noisy, told["question"])
        for name, column in made.items():
            column.append(told[name])
    return made

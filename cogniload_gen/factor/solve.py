"""A puzzle's text -> its answer, for both suites of FACTOR, by reading nothing but the text.

The solver shares no code and no data with the generators, so that it can prove them. It reads each
sentence that states a relation as a `Definition` and passes over the filler or noise in between.
"""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from re import compile, split
from reprlib import repr
from typing import NamedTuple

SYMBOLIC_MARK = "<<<assign "
REALISTIC_MARK = "The number of each "
"""What begins every statement of a relation; no filler and no noise holds it."""

TOTAL = "Animal"
"""The kind of the hierarchical variables: a place's sum over all its kinds (section 3.2)."""

STATEMENT = compile(
    r"v(?P<name>[0-9]{1,9}) = "
    r"(?:v(?P<term>[0-9]{1,9})(?: (?P<sign>[+-]) (?P<step>[0-9]{1,9}))?|(?P<value>-?[0-9]{1,9}))"
)
TARGET = compile(r"\bequal to (-?[0-9]{1,9})\.")
_DEFINITION = compile(
    r"(?P<value>[0-9]{1,9})"
    r"|(?:(?P<amount>[0-9]{1,9}) (?P<how>times|more than) )?(?P<what>each|the sum of) (?P<terms>.+)"
)

Name = int | tuple[str, str]
"""A variable: its number in the symbolic suite, its place and kind in the realistic one."""


def spell(name: Name) -> str:
    """Return a variable as statements name it, as in "v3" or "South Zoo's Fox".

    Examples:
        >>> spell(3), spell(("South Zoo", "Fox"))
        ('v3', "South Zoo's Fox")
    """
    return f"v{name}" if isinstance(name, int) else "'s ".join(name)


class Definition(NamedTuple):
    """What a sentence says of a variable: `factor` times the sum of `terms`, plus `constant`."""

    terms: tuple[Name, ...]
    factor: int = 1
    constant: int = 0

    def value(self, known: Mapping[Name, int]) -> int:
        """The variable's value, from those of its terms."""
        return self.factor * sum(known[term] for term in self.terms) + self.constant


def solve_symbolic(text: str) -> str:
    """The variables equal to the target value (section 3.1), in order of their number, or "none".

    Raises ValueError, in one line, where the text is no such puzzle or does not determine the
    answer: a relation that can't be read, a variable with no definition or with two, definitions
    in a circle.

    Examples:
        >>> text = "<<<assign v0 = 3>>> <<<assign v1 = v0 - 1>>> This is the end of the text."
        >>> solve_symbolic(text + " Which variables are equal to 2.")
        'v1'
    """
    definitions, target = symbolic_relations(text)
    return equal_to(evaluate(definitions, definitions), target) or "none"


def equal_to(values: Mapping[Name, int], target: int) -> str:
    """Return the variables that have a value, in order, as the column `answer` lists them.

    Examples:
        >>> equal_to({2: 5, 0: 5, 1: 4}, 5)
        'v0, v2'
    """
    return ", ".join(map(spell, sorted(name for name in values if values[name] == target)))


def symbolic_relations(text: str) -> tuple[dict[Name, Definition], int]:
    """The definition of each variable and the target value; ValueError as `solve_symbolic`."""
    statements, end, question = text.rpartition("the end of the text.")
    target = TARGET.search(question)
    if not end or not target:
        raise _error("'the end of the text.' and then a question, 'equal to 2.'", text)
    definitions: dict[Name, Definition] = {}
    for part in statements.split(SYMBOLIC_MARK)[1:]:
        statement, closed, _ = part.partition(">>>")
        match = STATEMENT.fullmatch(statement)
        if not match or not closed:
            raise _error("a statement such as '<<<assign v1 = v4 - 1>>>'", SYMBOLIC_MARK + part)
        if match["value"]:
            definition = Definition((), constant=int(match["value"]))
        else:
            step = int(f"{match['sign'] or ''}{match['step'] or 0}")
            definition = Definition((int(match["term"]),), constant=step)
        _add(definitions, int(match["name"]), definition)
    return definitions, int(target[1])


def solve_realistic(text: str) -> str:
    """The number that the question asks for (section 3.2); ValueError as `solve_symbolic`.

    Examples:
        >>> solve_realistic("The number of each A's Fox is 2. How many Fox does A have?")
        '2'
    """
    definitions, wanted = realistic_relations(text)
    return str(evaluate(definitions, [wanted])[wanted])


def realistic_relations(text: str) -> tuple[dict[Name, Definition], Name]:
    """The definition of each variable and the one in the question; ValueError as `solve_symbolic`.

    A place's total that no sentence defines is the sum over all kinds that the relations name of
    the place.
    """
    problem, begins, question = text.replace("’", "'").rpartition("How many ")
    kind, does, rest = question.partition(" does ")
    place, have, _ = rest.partition(" have?")
    if not (begins and does and have):
        raise _error("a question such as 'How many Fox does Hamilton Farm have?'", text)
    definitions: dict[Name, Definition] = {}
    for part in problem.split(REALISTIC_MARK)[1:]:
        sentence, ended, _ = part.partition(".")
        name, defined, definition = sentence.partition(" is ")
        if not (ended and defined):
            raise _error("a relation such as 'South Zoo's Fox is 2.'", part)
        _add(definitions, _parse_name(name), _parse_definition(definition))
    return _totals(definitions) | definitions, (place, kind)


def evaluate(definitions: Mapping[Name, Definition], wanted: Iterable[Name]) -> dict[Name, int]:
    """The values of the wanted variables and of all that they depend on.

    Raises ValueError if one of them has no definition or depends on itself.

    Examples:
        >>> evaluate({0: Definition((), constant=3), 1: Definition((0,), factor=2)}, [1])
        {0: 3, 1: 6}
    """
    terms: dict[Name, tuple[Name, ...]] = {}
    open_names = list(wanted)
    while open_names:
        name = open_names.pop()
        if name not in definitions:
            raise _error("a definition of every variable", name)
        if name not in terms:
            terms[name] = definitions[name].terms
            open_names.extend(terms[name])
    values: dict[Name, int] = {}
    try:
        for name in TopologicalSorter(terms).static_order():
            values[name] = definitions[name].value(values)
    except CycleError as error:
        raise _error("no variable that depends on itself", error.args[1][0]) from None
    return values


def _totals(definitions: Mapping[Name, Definition]) -> dict[Name, Definition]:
    """Each place's total, as the sum over the kinds that the definitions name of the place."""
    kinds: dict[str, dict[Name, None]] = {}
    for name in chain(definitions, *(definition.terms for definition in definitions.values())):
        if isinstance(name, tuple) and name[1] != TOTAL:
            kinds.setdefault(name[0], {})[name] = None
    return {(place, TOTAL): Definition(tuple(names)) for place, names in kinds.items()}


def _parse_definition(text: str) -> Definition:
    """What stands after the "is" of a realistic relation."""
    match = _DEFINITION.fullmatch(text)
    if not match:
        raise _error("'2', '2 more than each A', '3 times the sum of A and B' or 'each A'", text)
    if match["value"]:
        return Definition((), constant=int(match["value"]))
    listed = match["terms"]
    names = [listed] if match["what"] == "each" else split(r", and |, | and ", listed)
    terms = tuple(map(_parse_name, names))
    amount = int(match["amount"] or 0)
    if match["how"] == "times":
        return Definition(terms, factor=amount)
    return Definition(terms, constant=amount)


def _parse_name(text: str) -> Name:
    """The place and the kind of a realistic variable."""
    place, of, kind = text.partition("'s ")
    if not (place and of and kind):
        raise _error("a variable such as South Zoo's Fox", text)
    return place, kind


def _add(definitions: dict[Name, Definition], name: Name, definition: Definition) -> None:
    """Add a variable's definition; ValueError if it has one already."""
    if name in definitions:
        raise _error("one definition of each variable", name)
    definitions[name] = definition


def _error(expected: str, actual: str | Name) -> ValueError:
    """What is wrong with a text, in one line."""
    text = actual if isinstance(actual, str) else spell(actual)
    return ValueError(f"a FACTOR puzzle must have {expected}; got {repr(text)}")

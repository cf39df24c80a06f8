"""A response to a FACTOR puzzle -> the first variable that it resolves wrongly, by rules.

T1. Text. The response is read with subscripts and mathematical letters in ASCII and
    without emphasis and LaTeX marks. A variable is "v" and a number (symbolic suite), or a place's
    animal in the words of the problem: "South Zoo's Fox", "South Zoo Fox", "Fox at South Zoo"
    (realistic suite). "Define South Zoo's Fox as d" and "let d be South Zoo's Fox" make a letter
    stand for it from there on.
T2. Equations. A variable or letter, then equals signs (=, :, ->, "is", "equals", "gives", "is
    defined as", ", which is") with operands joined by + - * and "times"; it goes on in the next
    line if that begins with an equals sign. Its value is the last operand that is one number. The
    operands that name variables are its references; letters that stand for no variable count as
    what they were set to.
T3. Values. A variable has the value that it is told last. If it was told its right value before a
    wrong one, nothing can be said of it.
T4. First error. A told value is wrong if the puzzle gives another. The first wrong variable is, of
    those with no wrong variable among the ones that they depend on, the one told first. Its depth
    is the number of definitions on the longest way to a given number (0 for a given number).
T5. Kinds. "reference": it is computed from other variables, or by another operation, than the
    puzzle says, or from values that the referred variables don't have; "arithmetic": from the
    right ones, with a wrong result; "invented": no computation stands beside the wrong value, or
    the puzzle gives the number itself; "unresolved": no told value is wrong, but a needed variable
    is never told, and none that depends on it is told right; "answer": all told right, but the
    scorer finds the answer wrong.
T6. Reading. The response is read if it tells a third of the needed variables or more, and the
    first error is not one of which T3 says nothing. Where it is not read, nothing is claimed.

The time is linear in the response's length, and no text makes it raise.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from cogniload_gen.checks import check_texts
from cogniload_gen.factor.score import score_row
from cogniload_gen.factor.solve import (
    TOTAL,
    Definition,
    Name,
    evaluate,
    realistic_relations,
    symbolic_relations,
)
from cogniload_gen.factor.statements import PLAIN_CHARACTERS
from cogniload_gen.told import Told

ERRORS = ("arithmetic", "reference", "invented", "unresolved", "answer")
"""The kinds of a first error (T5)."""

READ_SHARE = 1 / 3
"""The share of the needed variables that a response must tell so that it is read (T6)."""

MARKS = str.maketrans({**dict.fromkeys('_`$\\{}@<>"&', " "), "’": "'", "→": "=", "⇒": "="})
SYMBOLIC_NAME = re.compile(r"\bv {0,3}([0-9]{1,6})\b", re.IGNORECASE)
SPOT = 0xE000
"""The private character that stands for the first variable; the others follow it."""

VARIABLE = r"[\ue000-\uf8ff]|[A-Za-z]{1,2}[0-9]{0,3}"
OPERAND = rf"(?:{VARIABLE}|-?[0-9]{{1,9}})"
EXPRESSION = rf"\(?{OPERAND}(?: *+\)? *+(?:\+|-|−|\*|×|times) *+\(? *+{OPERAND}\)?){{0,24}}"
LINK = (
    r" *+(?:=>|==|=|:|->|\bis\b|\bequals\b|\bgives\b)(?: *+\b(?:equal to|defined as|so|now)\b)? *+"
)
COMMAND = re.compile(r"\\(?:(?P<times>times|cdot)|[a-zA-Z]{1,30})")
GOES_ON = re.compile(r"\n *(?==)|, which (?:is|equals|gives|makes)\b")
"""Where an equation goes on: on the next line, and in a clause of its own."""
PRIVATE = re.compile(r"[\ue000-\uf8ff]")
EQUATION = re.compile(rf"(?<![\w'])({VARIABLE})((?:{LINK}{EXPRESSION})+)(?![\w'])")
PARTS = re.compile(r"(?:[^\n;,.]|\.(?!\s|$))+")
PART = re.compile(rf"{LINK}({EXPRESSION})")
TOKEN = re.compile(rf"({VARIABLE})|(-?[0-9]{{1,9}})|(\+|-|−|\*|×|times)")
DEFINES = re.compile(
    r"\b(?:define|let|call|denote) (?:([\ue000-\uf8ff]) *(?:as|=|by|be) ([a-z]{1,2}[0-9]{0,3})"
    r"|([a-z]{1,2}[0-9]{0,3}) (?:be|=|denote|as) ([\ue000-\uf8ff]))(?![\w'])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FactorSteps:
    """What a response tells of a FACTOR puzzle's variables, and where it breaks.

    `told` maps each variable, named as in the puzzle, to its value and the value's place;
    `first_error` is the first wrong variable, `depth` its depth, `error` the kind (T5); `recovered`
    is whether the answer is right after an error (None without one); `coverage` is the share of
    the needed variables that are told; without `read` nothing is claimed.
    """

    told: dict[str, Told] = field(default_factory=dict)
    first_error: str | None = None
    error: str | None = None
    depth: int | None = None
    recovered: bool | None = None
    corrections: tuple[int, ...] = ()
    coverage: float = 0.0
    read: bool = False


@dataclass(frozen=True)
class Problem:
    """A puzzle's relations, with its variables numbered.

    `names` are as in the puzzle, `needed` the numbers in order of their depth.
    """

    names: list[str]
    definitions: list[Definition]
    terms: list[tuple[int, ...]]
    values: list[int]
    depths: list[int]
    needed: list[int]
    pattern: re.Pattern | None
    spellings: dict[str, int]


class Equation(NamedTuple):
    """What a response sets a variable equal to: a value, and how it is computed, if it says so.

    `references` is (how often each variable counts, the constant), None if no part names one;
    `sums` are the values of the parts that compute with numbers alone.
    """

    value: int | None
    references: tuple[dict[str, int], int] | None
    sums: list[int]
    start: int
    end: int


@lru_cache(maxsize=64)
def problem_of(puzzle: str, suite: str) -> Problem:
    """The relations of a puzzle; ValueError if it is none."""
    if suite == "symbolic":
        relations, _ = symbolic_relations(puzzle)
        wanted = list(relations)
    else:
        relations, asked = realistic_relations(puzzle)
        wanted = [asked]
    values = evaluate(relations, wanted)
    keys = list(values)
    number = {key: i for i, key in enumerate(keys)}
    depths: dict[Name, int] = {}
    for key in keys:  # `evaluate` gives them in an order in which terms come first
        below = [depths[term] for term in relations[key].terms]
        depths[key] = 1 + max(below) if below else 0
    spellings: dict[str, int] = {}
    for key, i in number.items():
        for spelling in spelled(key):
            spellings.setdefault(spelling, i)
    pattern = None
    if suite == "realistic":
        longest = sorted(spellings, key=len, reverse=True)
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b", re.IGNORECASE)
    return Problem(
        [f"v{key}" if isinstance(key, int) else "'s ".join(key) for key in keys],
        [relations[key] for key in keys],
        [tuple(number[term] for term in relations[key].terms) for key in keys],
        [values[key] for key in keys],
        [depths[key] for key in keys],
        sorted(range(len(keys)), key=lambda i: depths[keys[i]]),
        pattern,
        spellings,
    )


def spelled(key: Name) -> list[str]:
    """How a variable may be written (T1)."""
    if isinstance(key, int):
        return [f"v{key}"]
    place, kind = (part.lower() for part in key)
    kinds = [kind, f"{kind}s"]
    if kind == TOTAL.lower():
        kinds += ["total animals", "animal total", "total"]
    return [
        form.format(place, each)
        for each in kinds
        for form in ("{0}'s {1}", "{0} {1}", "{1} at {0}", "{1} in {0}", "{1} of {0}")
    ]


def read_factor_steps(response: str, row: Mapping) -> FactorSteps:
    """Return what a response tells of a FACTOR puzzle's variables; see the module's rules.

    `row` needs the columns suite, puzzle and answer, target in the symbolic suite, and question in
    the realistic one. Raises ValueError if the row lacks one, or its puzzle is none.
    """
    given = check_texts(row, ("puzzle", "suite", "answer"))
    problem = problem_of(given["puzzle"], given["suite"])
    equations = read_equations(plain(response, problem), len(problem.names))
    last: dict[int, Equation] = {}
    first: dict[int, int] = {}
    doubtful: set[int] = set()
    corrections: list[int] = []
    for i, equation in equations:
        if equation.value is None:
            continue
        before = last.get(i)
        if before is not None and before.value != equation.value:
            if before.value == problem.values[i]:
                doubtful.add(i)
            else:
                corrections.append(equation.start)
                doubtful.discard(i)
        if (
            before is None
            or equation.references
            or not before.references
            or before.value != equation.value
        ):
            last[i] = equation
        first.setdefault(i, equation.start)
    told = {problem.names[i]: Told(str(e.value), e.start, e.end) for i, e in last.items()}
    coverage = len(last) / len(problem.names)
    wrong = {i for i, e in last.items() if e.value != problem.values[i]}
    sources = sorted(
        (i for i in wrong if not depends(i, wrong, problem)),
        key=lambda i: (first[i], problem.depths[i]),
    )
    if coverage < READ_SHARE or (sources and sources[0] in doubtful):
        return FactorSteps(coverage=coverage)
    right = score_row(response, row).outcome.correct
    if sources:
        i = sources[0]
        kind = kind_of(i, [e for j, e in equations if j == i], last, problem)
    else:
        missing = [] if right and row["suite"] == "realistic" else unresolved(last, problem)
        if not missing:
            error = None if right else "answer"
            recovered = None if right else False
            return FactorSteps(
                told, None, error, None, recovered, tuple(corrections), coverage, True
            )
        i, kind = missing[0], "unresolved"
    return FactorSteps(
        told, problem.names[i], kind, problem.depths[i], right, tuple(corrections), coverage, True
    )


def depends(i: int, wrong: set[int], problem: Problem) -> bool:
    """Whether a variable depends on one of the wrong ones."""
    seen: set[int] = set()
    below = list(problem.terms[i])
    while below:
        term = below.pop()
        if term in wrong:
            return True
        if term not in seen:
            seen.add(term)
            below.extend(problem.terms[term])
    return False


def unresolved(last: Mapping[int, Equation], problem: Problem) -> list[int]:
    """The needed variables that are not told and on which no told one depends, by depth."""
    resolved: set[int] = set()
    below = list(last)
    while below:
        i = below.pop()
        if i not in resolved:
            resolved.add(i)
            below.extend(problem.terms[i])
    return [i for i in problem.needed if i not in resolved]


def kind_of(i: int, told: list[Equation], last: Mapping[int, Equation], problem: Problem) -> str:
    """How a variable's value came to be wrong (T5)."""
    definition, terms = problem.definitions[i], problem.terms[i]
    if not terms:
        return "invented"
    expected: dict[str, int] = {}
    for term in terms:
        name = chr(SPOT + term)
        expected[name] = expected.get(name, 0) + definition.factor
    named = [e.references for e in told if e.references is not None]
    if any(references != (expected, definition.constant) for references in named):
        return "reference"
    value = last[i].value
    sums = [total for e in told for total in e.sums]
    right = problem.values[i]
    if named:
        return "reference" if sums and value in sums and right not in sums else "arithmetic"
    if not sums:
        return "invented"
    return "reference" if right not in sums else "arithmetic"


def plain(response: str, problem: Problem) -> str:
    """The response by T1: variables as one private character each."""
    text = PRIVATE.sub(" ", response).replace("**", "  ")
    text = COMMAND.sub(lambda match: ("*" if match["times"] else "").ljust(len(match[0])), text)
    text = re.sub(r"[^\S\n]", " ", text.translate(PLAIN_CHARACTERS).translate(MARKS))
    text = GOES_ON.sub(lambda match: ("=" if match[0][0] == "," else "").ljust(len(match[0])), text)
    numbers = problem.spellings

    def symbolic(match: re.Match) -> str:
        found = numbers.get(f"v{int(match[1])}")
        return ("?" if found is None else chr(SPOT + found)).ljust(len(match[0]))

    if problem.pattern is None:
        return SYMBOLIC_NAME.sub(symbolic, text)
    return problem.pattern.sub(
        lambda match: chr(SPOT + numbers[match[0].lower()]).ljust(len(match[0])), text
    )


def read_equations(text: str, count: int) -> list[tuple[int, Equation]]:
    """The equations of a plain text by the number of their variable, in order (T2)."""
    found: list[tuple[int, Equation]] = []
    letters: dict[str, str] = {}
    meant: dict[str, tuple[dict[str, int], int]] = {}
    for part in PARTS.finditer(text):
        for match in DEFINES.finditer(text, part.start(), part.end()):
            name, letter = (match[1], match[2]) if match[1] else (match[4], match[3])
            letters[letter] = name
            meant.pop(letter, None)
        for match in EQUATION.finditer(text, part.start(), part.end()):
            name = letters.get(match[1], match[1])
            equation = read_equation(match, letters, meant)
            number = ord(name[0]) - SPOT
            if 0 <= number < count:
                found.append((number, equation))
            elif equation.references is not None:
                meant[name] = equation.references
    return found


def read_equation(
    match: re.Match, letters: Mapping[str, str], meant: Mapping[str, tuple[dict[str, int], int]]
) -> Equation:
    """What one equation says."""
    value: int | None = None
    references: tuple[dict[str, int], int] | None = None
    sums: list[int] = []
    for part in PART.finditer(match[2]):
        counts, constant, operators = linear(part[1], letters, meant)
        if counts:
            references = references or (counts, constant)
            value = None
        elif operators:
            sums.append(constant)
            value = None
        else:
            value = constant
    return Equation(value, references, sums, match.start(), match.end())


def linear(
    text: str, letters: Mapping[str, str], meant: Mapping[str, tuple[dict[str, int], int]]
) -> tuple[dict[str, int], int, int]:
    """An expression as how often each variable counts and a constant; and its operators."""
    counts: dict[str, int] = {}
    constant, sign, factor, operators = 0, 1, 1, 0
    tokens = TOKEN.findall(text)
    for k, (name, digits, operator) in enumerate(tokens):
        if operator:
            operators += 1
            sign = -1 if operator in "-−" else 1 if operator == "+" else sign
            continue
        times = k + 1 < len(tokens) and tokens[k + 1][2] in ("*", "×", "times")
        if digits:
            number = int(digits)
            if digits.startswith("-") and k and not tokens[k - 1][2]:
                operators += 1  # "3 -1"
            if times:
                factor *= number
            else:
                constant += sign * factor * number
                factor = 1
            continue
        meaning = letters.get(name, name)
        inner = meant.get(meaning, ({meaning: 1}, 0))
        for variable, many in inner[0].items():
            counts[variable] = counts.get(variable, 0) + sign * factor * many
        constant += sign * factor * inner[1]
        factor = 1
    return counts, constant, operators

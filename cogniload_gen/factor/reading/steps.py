"""A response to a FACTOR puzzle -> the first variable that it resolves wrongly, by rules.

T1. Text. The response is read with subscripts and mathematical letters in ASCII and
    without emphasis and LaTeX marks. A variable is "v" and a number (symbolic suite), or a place's
    animal in the words of the problem: "South Zoo's Fox", "South Zoo Fox", "Fox at South Zoo"
    (realistic suite). "Define South Zoo's Fox as d" and "let d be South Zoo's Fox" make a letter
    stand for it from there on. Numbers in words are digits.
T2. Equations. They are the chains of the answer reader's lexer (R5, R6 of `reading/answer.py`),
    from their first variable or letter on: equals signs join it to operands, joined by + - and *.
    One goes on in the next line if that begins with an equals sign, in ", which is" and a comment's
    #, and after a correction ("13, no, 14"). A record of JSON is one too, and so are "v1 (2)", "v1
    [1 + 1] = 2" and "v1, v2 and v3 are 2", one for each variable. Its value is the last operand if
    that is one number. An operand that names variables comes to what it does by the puzzle's
    values; letters that stand for no variable count as what they were set to. What is denied, ends
    with a question mark or in a number to be added ("3 more than that"), or begins within an
    expression is no equation.
T3. Values. A variable has the last value that the response gives it. If a right value stands before
    a wrong one, the variable is doubtful.
T4. First error. A value is wrong if the puzzle gives another. The first wrong variable is, of those
    with no wrong variable among the ones that they depend on, the first to have a value.
T5. Kinds. "reference": it is computed from variables and by operations that do not lead to its
    value, or from values that the referred variables don't have; "arithmetic": from the
    right ones, with a wrong result; "invented": no computation stands beside the wrong value, or
    the puzzle gives the number itself; "unresolved": no value is wrong, but a needed variable has
    none, and no variable that depends on it has its right value; "answer": all values are right,
    but the scorer calls the answer wrong.
T6. Reading. The response is read if it gives values to a third of the needed variables or more, and
    the first error is at no doubtful variable (T3), and within LONGEST and MOST_WORDS. Nor is it
    read if a sentence names a variable beside a number, in no equation, and the first error would
    be that this variable is unresolved, or one that depends on it; nor if more stands in the
    sentence of an "invented" value. A right answer gives the target's variables their value. Where
    it is not read, as with tables and with sums in words, nothing is claimed.

The time is linear in the response's length, and no text makes it raise.
"""

import ast
import operator
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

from cogniload_gen.benchmark import StepsRead
from cogniload_gen.checks import check_texts
from cogniload_gen.claims import LONGEST, MOST_WORDS, Told
from cogniload_gen.factor.reading.equations import canonical_name, chains, lexer
from cogniload_gen.factor.reading.text import NUMBER_WORDS, VARIABLE_FIRST, clean, compiled
from cogniload_gen.factor.reading.text import spelled as spelled_out
from cogniload_gen.factor.score import score_row
from cogniload_gen.factor.solve import (
    TOTAL,
    Name,
    evaluate,
    realistic_relations,
    spell,
    symbolic_relations,
)
from cogniload_gen.tokens import estimate

# The share of the needed variables that a response must tell so that it is read (T6).
_READ_SHARE = 1 / 3

# The private character that stands for the first variable; the others, and letters, follow it.
_SPOT = 0xE000

patterns = compiled("steps")
TOKEN = lexer(patterns.spot.pattern)
_MOST_LETTERS = 1000
MARKS = str.maketrans("_&@<>\x01\x02↦≡≔⟹⟶➜→", " " * 7 + "=" * 3 + "⇒" * 4)

OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


@dataclass(frozen=True, slots=True)
class FactorSteps(StepsRead):
    """The values of a FACTOR puzzle's variables in a response, and where it breaks.

    `told` maps each variable, named as in the puzzle, to its value and the value's place;
    `first_error` is the first wrong variable, `error` the kind (T5); `recovered` is whether the
    answer is right after an error (None without one); `coverage` is the share of the needed
    variables that have a value; without `read` nothing is claimed.
    """

    told: dict[str, Told] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """A puzzle's relations, with its variables numbered: what defines one stands before it.

    `names` are as in the puzzle, `terms` what defines each; `pattern` finds the variables in a
    text, and `spellings` has the number of each.
    """

    names: list[str]
    terms: list[tuple[int, ...]]
    values: list[int]
    pattern: re.Pattern
    spellings: dict[str, int]


class Equation(NamedTuple):
    """What a response sets a variable equal to: a value, and how it is computed, if it says so.

    `referred` is what a part that names variables comes to by the puzzle's values, None if no part
    does; `sums` are the values of the parts that compute with numbers alone; `start` and `stop`
    are its place.
    """

    value: int | None
    referred: int | None
    sums: list[int]
    start: int
    stop: int


@lru_cache(maxsize=64)
def _problem_of(puzzle: str, suite: str) -> Problem:
    """The relations of a puzzle; ValueError for another text."""
    if suite == "symbolic":
        relations, _ = symbolic_relations(puzzle)
        wanted = list(relations)
    else:
        relations, wanted_name = realistic_relations(puzzle)
        wanted = [wanted_name]
    values = evaluate(relations, wanted)
    keys = list(values)
    number = {key: i for i, key in enumerate(keys)}
    spellings = {spelling: number[key] for key in reversed(keys) for spelling in spelled(key)}
    pattern = VARIABLE_FIRST
    if names := [key for key in keys if isinstance(key, tuple)]:
        places = one_of({place for place, _ in names})
        kinds = one_of({form for _, kind in names for form in _plurals(kind)})
        forms = rf"\b(?:{places}(?:'s)? {kinds}|{kinds} (?:at|in|of) {places})\b"
        pattern = re.compile(forms, re.IGNORECASE)
    return Problem(
        [spell(key) for key in keys],
        [tuple(number[term] for term in relations[key].terms) for key in keys],
        [values[key] for key in keys],
        pattern,
        spellings,
    )


def one_of(texts: Iterable[str]) -> str:
    """The pattern of any of some texts, the longest one that fits."""
    return f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True)))})"


def _plurals(kind: str) -> list[str]:
    """A kind of animal, and several of it."""
    kind = kind.lower()
    if kind == TOTAL.lower():
        return [kind, "animals", "total animals", "total"]
    return [kind, f"{kind}s", f"{kind}es", *([f"{kind[:-1]}ies"] if kind.endswith("y") else [])]


def spelled(key: Name) -> list[str]:
    """How a variable may be written (T1)."""
    if isinstance(key, int):
        return [f"v{key}"]
    place = key[0].lower()
    return [
        form.format(place, several)
        for several in _plurals(key[1])
        for form in ("{0}'s {1}", "{0} {1}", "{1} at {0}", "{1} in {0}", "{1} of {0}")
    ]


def read_factor_steps(response: str, row: Mapping) -> FactorSteps:
    """Return the values of a FACTOR puzzle's variables in a response; see the module's rules.

    `row` needs the columns suite, puzzle and answer, target in the symbolic suite, and question in
    the realistic one. Raises ValueError if the row lacks one, or holds no puzzle.
    """
    problem = problem_of(row)
    if len(response) > LONGEST or estimate(response) > MOST_WORDS:
        return FactorSteps()
    text = plain(response, problem)
    return find_error(read_equations(text, problem), problem, response, row, text)


def problem_of(row: Mapping) -> Problem:
    """Return the relations of a row's puzzle; ValueError as for `read_factor_steps`."""
    columns = check_texts(row, ("puzzle", "suite", "answer"))
    return _problem_of(columns["puzzle"], columns["suite"])


def find_error(
    equations: list[tuple[int, Equation]],
    problem: Problem,
    response: str,
    row: Mapping,
    text: str = "",
) -> FactorSteps:
    """Return where the values that a response gives to variables break (T3 to T6).

    The `text` in which rules read the equations may say more of the variables than these do.
    """
    told = [(i, equation) for i, equation in equations if equation.value is not None]
    last, first = dict(told), {i: equation.start for i, equation in reversed(told)}
    doubtful = {i for i, equation in told if equation.value == problem.values[i]}
    values = {problem.names[i]: Told(str(e.value), e.start, e.stop) for i, e in last.items()}
    coverage = len(last) / len(problem.names)
    wrong = {i for i, e in last.items() if e.value != problem.values[i]}
    sources = sorted((first[i], i) for i in wrong if not depends(i, wrong, problem))
    if coverage < _READ_SHARE or (sources and sources[0][1] in doubtful):
        return FactorSteps(coverage=coverage)
    right = score_row(response, row).outcome.correct
    unclear = unread(text, equations, last) if text else set[int]()
    known = {i for i, value in enumerate(problem.values) if right and value == row.get("target")}
    resolved = closure({*last, *known}, problem)
    missing = [i for i in range(len(problem.names)) if i not in resolved]
    if right and row["suite"] == "realistic":
        missing = []
    i, error, is_clear = None, None if right else "answer", True
    if sources:
        _, i = sources[0]
        error = kind_of(i, [e for j, e in equations if j == i], last[i].value, problem, text)
        is_clear = error is not None and not depends(i, unclear, problem)
    elif missing:
        i, error, is_clear = missing[0], "unresolved", unclear.isdisjoint(missing)
    if not is_clear:
        return FactorSteps(coverage=coverage)
    name = None if i is None else problem.names[i]
    return FactorSteps(
        values, first_error=name, error=error,
        recovered=right if error else None, coverage=coverage, read=True,
    )  # fmt: skip


def closure(some: Iterable[int], problem: Problem) -> set[int]:
    """Some variables and all that they depend on."""
    reached: set[int] = set()
    below = list(some)
    while below:
        i = below.pop()
        if i not in reached:
            reached.add(i)
            below.extend(problem.terms[i])
    return reached


def depends(i: int, some: set[int], problem: Problem) -> bool:
    """Whether a variable depends on one of some others."""
    return not some.isdisjoint(closure(problem.terms[i], problem))


def unread(
    text: str, equations: list[tuple[int, Equation]], last: Mapping[int, Equation]
) -> set[int]:
    """The variables with no value that a sentence names beside a number, in no equation (T6)."""
    ends = [0, *(equation.stop for _, equation in equations)]
    starts = [*(equation.start for _, equation in equations), len(text)]
    rest = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    names: set[int] = set()
    for part in patterns.part_end.split(rest):
        mentions = patterns.mention.findall(part)
        if any(mention.isdecimal() for mention in mentions):
            names |= {ord(mention) - _SPOT for mention in mentions if not mention.isdecimal()}
    return names - last.keys()


def is_alone(text: str, equation: Equation) -> bool:
    """Whether nothing but an equation stands in its sentence, as far as one is long."""
    before = patterns.part_end.split(text[max(equation.start - 200, 0) : equation.start])[-1]
    after = patterns.part_end.split(text[equation.stop : equation.stop + 200])[0]
    return not patterns.mention.search(before + after)


def kind_of(
    i: int, equations: list[Equation], value: int | None, problem: Problem, text: str
) -> str | None:
    """How a variable's value came to be wrong (T5); None if the text may say more of it."""
    if not problem.terms[i]:
        return "invented"
    right = problem.values[i]
    named = [e.referred for e in equations if e.referred is not None]
    if any(referred != right for referred in named):
        return "reference"
    sums = [total for e in equations for total in e.sums]
    if named:
        return "reference" if sums and value in sums and right not in sums else "arithmetic"
    if not sums:
        beside = text and not all(is_alone(text, e) for e in equations if e.value == value)
        return None if beside else "invented"
    return "reference" if right not in sums else "arithmetic"


def plain(response: str, problem: Problem) -> str:
    """The response by T1: variables as one private character each."""
    numbers = problem.spellings
    text = patterns.spot.sub(" ", response)
    if '":' in text:
        text = patterns.key.sub(lambda match: "=".ljust(len(match[0])), text)
    meant = dict.fromkeys(first or second for first, second in patterns.meant.findall(text))
    letters = [letter for letter in meant if not problem.pattern.fullmatch(letter)]
    spots = {
        letter: chr(_SPOT + len(numbers) + i) for i, letter in enumerate(letters[:_MOST_LETTERS])
    }
    text = patterns.letter.sub(
        lambda match: spots.get(match[0], match[0]).ljust(len(match[0])), text
    )
    text = patterns.arrow.sub("= ", clean(text)).translate(MARKS)
    text = NUMBER_WORDS.sub(lambda match: spelled_out(match).ljust(len(match[0])), text)
    if "minus" in text or "negative" in text:  # a search for what stands before them takes long
        text = patterns.signed.sub(lambda match: "-".rjust(len(match[0])), text)
    text = re.sub(r"[^\S\n ]", " ", text)

    def spotted(match: re.Match) -> str:
        name = canonical_name(match[0]) if problem.pattern is VARIABLE_FIRST else match[0]
        return (chr(_SPOT + numbers[name]) if name in numbers else "?").ljust(len(match[0]))

    text = problem.pattern.sub(spotted, text)
    text = patterns.valued.sub(lambda match: " " * len(match[0]), text)
    text = patterns.goes_on.sub(
        lambda match: ("" if "\n" in match[0] else "=").ljust(len(match[0])), text
    )
    text = patterns.listed.sub(lambda match: match[0].replace(",", "&"), text)
    return re.sub(r",(?![0-9]{3})", "\n", text)


def read_equations(text: str, problem: Problem) -> list[tuple[int, Equation]]:
    """The equations of a plain text by the number of their variable, in order (T2)."""
    equations: list[tuple[int, Equation]] = []
    known = {chr(_SPOT + i): value for i, value in enumerate(problem.values)}
    aliases: dict[str, str] = {}
    definitions = deque(
        (match.start(), *sorted(match.groups())) for match in patterns.defines.finditer(text)
    )
    for chain in chains(text, TOKEN):
        operands = [*dropwhile(lambda operand: operand.kind != "variable", chain.operands)]
        kinds = [operand.kind for operand in operands]
        is_list = chain.parts == 2 and kinds[-1:] == ["number"] and set(kinds[:-1]) == {"variable"}
        listed = operands[1:-1] if is_list else []
        if len(operands) < 2 or chain.parts < len(chain.operands) - len(listed):
            continue
        start, stop = operands[0].start, operands[-1].stop
        if "not" in chain.signs or patterns.no_value.match(text, stop):
            continue
        while definitions and definitions[0][0] < start:
            _, name, letter = definitions.popleft()
            if name in known:
                aliases[letter], known[letter] = name, known[name]
        name = aliases.get(operands[0].text, operands[0].text)
        value: int | None = None
        referred: int | None = None
        sums: list[int] = []
        for kind, digits, first, last in operands[1 + len(listed) :]:
            is_number = kind == "number"
            value = int(digits) if re.fullmatch("-?[0-9]{1,18}", digits) else None
            total = None if is_number else value_of(text[first:last], known)
            if patterns.spot.search(text[first:last]):
                referred = total if referred is None else referred
            elif total is not None:
                sums.append(total)
        if aliases.get(operands[1].text, operands[1].text) == name and len(operands) == 2:
            continue  # "let d = South Zoo's Fox"
        equation = Equation(value, referred, sums, start, stop)
        for spot in (name, *(one.text for one in listed)):
            if 0 <= (number := ord(spot[0]) - _SPOT) < len(problem.names):
                equations.append((number, equation))
            elif referred is not None:
                known[spot] = referred
    return equations


def value_of(text: str, known: Mapping[str, int]) -> int | None:
    """What an expression of numbers and known variables comes to; None for any other."""
    numbers = patterns.spot.sub(lambda spot: f"({known.get(spot[0], '?')})", text)
    signs = re.sub(r" *times *|(?<=[\d)]) *(?=\()", "*", re.sub(r"\b0+(?=\d)", "", numbers))
    if not re.fullmatch("[-+*() 0-9]+", signs):
        return None
    try:
        return _result(ast.parse(signs.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _result(node: ast.expr) -> int:
    match node:
        case ast.Constant(int(number)):
            return number
        case ast.UnaryOp(ast.USub(), inner):
            return -_result(inner)
        case ast.BinOp(left, operation, right) if type(operation) in OPERATIONS:
            return int(OPERATIONS[type(operation)](_result(left), _result(right)))
    raise ValueError(node)

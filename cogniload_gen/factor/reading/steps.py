"""A response to a FACTOR puzzle -> the first variable that it resolves wrongly, by rules.

T1. Text. The response is read with subscripts and mathematical letters in ASCII and
    without emphasis and LaTeX marks. A variable is "v" and a number (symbolic suite), or a place's
    animal in the words of the problem: "South Zoo's Fox", "South Zoo Fox", "Fox at South Zoo"
    (realistic suite); so are "South Zoo | Fox" and "Fox:" on a line under one that names a place
    and no number. "Define South Zoo's Fox as d" and "let d be South Zoo's Fox" make a letter stand
    for it from there on. Numbers in words are digits.
T2. Equations. They are the chains of the answer reader's lexer (R5, R6 of `reading/answer.py`),
    from their first variable or letter on: equals signs join it to operands, joined by + - * and
    words for these ("3 more than v1", "the sum of v1 and v2"). One goes on in the next line if that
    begins with an equals sign or if the line before names the variable alone, in ", which is" and
    a comment's #, and after a correction ("13, no, 14"). A table's row, a record of JSON and "South
    Zoo has 2 foxes" are equations too, and so are "v1 (2)", "v1 [1 + 1] = 2", "v1 follows from v2:
    1 + 1 = 2", and "v1, v2 and v3 are 2", one for each variable. Its value is the last operand if
    that is one number. The operands that name variables are its references; letters that stand for
    no variable count as what they were set to. What is denied, ends with a question mark or begins
    within an expression is no equation.
T3. Values. A variable has the last value that the response gives it. If a right value stands before
    a wrong one, the variable is doubtful.
T4. First error. A value is wrong if the puzzle gives another. The first wrong variable is, of those
    with no wrong variable among the ones that they depend on, the first to have a value. Its depth
    is the number of definitions on the longest way to a given number (0 for a given number).
T5. Kinds. "reference": it is computed from other variables, or by another operation, than the
    puzzle says, or from values that the referred variables don't have; "arithmetic": from the
    right ones, with a wrong result; "invented": no computation stands beside the wrong value, or
    the puzzle gives the number itself; "unresolved": no value is wrong, but a needed variable has
    none, and no variable that depends on it has its right value; "answer": all values are right,
    but the scorer calls the answer wrong.
T6. Reading. The response is read if it gives values to a third of the needed variables or more, and
    the first error is at no doubtful variable (T3), and within LONGEST and MOST_WORDS. Nor is it
    read if a sentence names a variable beside a number, in no equation, and the first error would
    be that this variable is unresolved, or one that depends on it; nor if more stands in the
    sentence of an "invented" value. A right answer gives the target's variables their value. Where
    it is not read, nothing is claimed.

The time is linear in the response's length, and no text makes it raise.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

from cogniload_gen.benchmark import StepsRead
from cogniload_gen.checks import check_texts
from cogniload_gen.claims import LONGEST, MOST_WORDS, Told
from cogniload_gen.factor.reading.equations import canonical_name, chains, lexer
from cogniload_gen.factor.reading.text import NUMBER_WORDS, clean, compiled
from cogniload_gen.factor.reading.text import VARIABLE_FIRST as NAMED
from cogniload_gen.factor.reading.text import spelled as spelled_out
from cogniload_gen.factor.score import score_row
from cogniload_gen.factor.solve import (
    TOTAL,
    Definition,
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

# How often each variable counts in a sum, and under "" its constant.
_Linear = dict[str, int]


@dataclass(frozen=True, slots=True)
class FactorSteps(StepsRead):
    """The values of a FACTOR puzzle's variables in a response, and where it breaks.

    `told` maps each variable, named as in the puzzle, to its value and the value's place;
    `first_error` is the first wrong variable, `depth` its depth, `error` the kind (T5); `recovered`
    is whether the answer is right after an error (None without one); `coverage` is the share of
    the needed variables that have a value; without `read` nothing is claimed.
    """

    told: dict[str, Told] = field(default_factory=dict)
    depth: int | None = None
    corrections: tuple[int, ...] = ()


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
    holds: re.Pattern | None
    spellings: dict[str, int]


class _Equation(NamedTuple):
    """What a response sets a variable equal to: a value, and how it is computed, if it says so.

    `references` is the sum that it is computed as, None if no part names a variable; `sums` are
    the values of the parts that compute with numbers alone; `start` and `stop` are its place.
    """

    value: int | None
    references: _Linear | None
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
    depths: dict[Name, int] = {}
    for key in keys:  # `evaluate` gives them in an order in which terms come first
        below = [depths[term] for term in relations[key].terms]
        depths[key] = 1 + max(below) if below else 0
    spellings = {spelling: number[key] for key in reversed(keys) for spelling in spelled(key)}
    pattern = holds = None
    if suite == "realistic":
        names = [key for key in keys if isinstance(key, tuple)]
        places = one_of({place for place, _ in names})
        kinds = one_of({form for _, kind in names for form in _plurals(kind)})
        alone = rf"(?P<head>{places})(?!(?:'s)? {kinds})(?=[^\n=0-9|]*$)"
        pattern = re.compile(
            rf"\b(?:{places}(?:'s| *\|)? {kinds}|{kinds} (?:at|in|of|\|) {places})\b"
            rf"|^[^\n=0-9|]{{0,40}}?\b{alone}|^[^\w\n|]*(?P<kind>{kinds})(?= *[:=])",
            re.IGNORECASE | re.MULTILINE,
        )
        holds = re.compile(
            rf"\b(?P<place>{places}) (?:has|have|had|holds|houses|contains|keeps|hosts|owns)"
            rf"(?: exactly| a total of)? (?P<value>[0-9]{{1,9}}) (?P<kind>{kinds})\b",
            re.IGNORECASE,
        )
    return Problem(
        [spell(key) for key in keys],
        [relations[key] for key in keys],
        [tuple(number[term] for term in relations[key].terms) for key in keys],
        [values[key] for key in keys],
        [depths[key] for key in keys],
        sorted(range(len(keys)), key=lambda i: depths[keys[i]]),
        pattern,
        holds,
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
        for form in ("{0}'s {1}", "{0} {1}", "{1} {0}", "{1} at {0}", "{1} in {0}", "{1} of {0}")
    ]


def read_factor_steps(response: str, row: Mapping) -> FactorSteps:
    """Return the values of a FACTOR puzzle's variables in a response; see the module's rules.

    `row` needs the columns suite, puzzle and answer, target in the symbolic suite, and question in
    the realistic one. Raises ValueError if the row lacks one, or holds no puzzle.
    """
    columns = check_texts(row, ("puzzle", "suite", "answer"))
    problem = _problem_of(columns["puzzle"], columns["suite"])
    if len(response) > LONGEST or estimate(response) > MOST_WORDS:
        return FactorSteps()
    text = plain(response, problem)
    equations = _read_equations(text, len(problem.names))
    last, first, doubtful, corrections = _last_values(equations, problem)
    values = {problem.names[i]: Told(str(e.value), e.start, e.stop) for i, e in last.items()}
    coverage = len(last) / len(problem.names)
    wrong = {i for i, e in last.items() if e.value != problem.values[i]}
    sources = sorted(
        (i for i in wrong if not depends(i, wrong, problem)),
        key=lambda i: (first[i], problem.depths[i]),
    )
    if coverage < _READ_SHARE or (sources and sources[0] in doubtful):
        return FactorSteps(coverage=coverage)
    right = score_row(response, row).outcome.correct
    unclear = unread(text, equations, last, problem) if len(last) < len(problem.names) else set()
    known = {i for i, value in enumerate(problem.values) if right and value == row.get("target")}
    resolved = closure({*last, *known}, problem)
    missing = [i for i in problem.needed if i not in resolved]
    if right and row["suite"] == "realistic":
        missing = []
    i, error, is_clear = None, None if right else "answer", True
    if sources:
        i = sources[0]
        error = kind_of(i, [e for j, e in equations if j == i], last, problem, text)
        is_clear = error is not None and not depends(i, unclear, problem)
    elif missing:
        i, error, is_clear = missing[0], "unresolved", unclear.isdisjoint(missing)
    if not is_clear:
        return FactorSteps(coverage=coverage)
    name, depth = (None, None) if i is None else (problem.names[i], problem.depths[i])
    return FactorSteps(
        values, depth, tuple(corrections), first_error=name, error=error,
        recovered=right if error else None, coverage=coverage, read=True,
    )  # fmt: skip


def _last_values(
    equations: list[tuple[int, _Equation]], problem: Problem
) -> tuple[dict[int, _Equation], dict[int, int], set[int], list[int]]:
    """The equations that tell each variable's value (T3), and where its first value stands.

    Then the variables with a right value before, and the places where a wrong value changes.
    """
    last: dict[int, _Equation] = {}
    first: dict[int, int] = {}
    doubtful: set[int] = set()
    corrections: list[int] = []
    for i, equation in equations:
        if equation.value is None:
            continue
        before = last.get(i, equation)
        if before.value != equation.value:
            if before.value == problem.values[i]:
                doubtful.add(i)
            else:
                corrections.append(equation.start)
                doubtful.discard(i)
        last[i] = equation
        first.setdefault(i, equation.start)
    return last, first, doubtful, corrections


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
    text: str,
    equations: list[tuple[int, _Equation]],
    last: Mapping[int, _Equation],
    problem: Problem,
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


def is_alone(text: str, equation: _Equation) -> bool:
    """Whether nothing but an equation stands in its sentence, as far as one is long."""
    before = patterns.part_end.split(text[max(equation.start - 200, 0) : equation.start])[-1]
    after = patterns.part_end.split(text[equation.stop : equation.stop + 200])[0]
    return not patterns.mention.search(before + after)


def kind_of(
    i: int, equations: list[_Equation], last: Mapping[int, _Equation], problem: Problem, text: str
) -> str | None:
    """How a variable's value came to be wrong (T5); None if the text may say more of it."""
    definition, terms = problem.definitions[i], problem.terms[i]
    if not terms:
        return "invented"
    expected = scaled(Counter(chr(_SPOT + term) for term in terms), definition.factor)
    if definition.constant:
        expected[""] = definition.constant
    named = [e.references for e in equations if e.references is not None]
    if any(references != expected for references in named):
        return "reference"
    value = last[i].value
    sums = [total for e in equations for total in e.sums]
    right = problem.values[i]
    if named:
        return "reference" if sums and value in sums and right not in sums else "arithmetic"
    if not sums:
        return "invented" if all(is_alone(text, e) for e in equations if e.value == value) else None
    return "reference" if right not in sums else "arithmetic"


def plain(response: str, problem: Problem) -> str:
    """The response by T1: variables as one private character each, operations as signs."""
    numbers = problem.spellings
    text = patterns.spot.sub(" ", response)
    if '":' in text:
        text = patterns.key.sub(lambda match: "=".ljust(len(match[0])), text)
    meant = dict.fromkeys(first or second for first, second in patterns.meant.findall(text))
    letters = [letter for letter in meant if problem.pattern or not NAMED.fullmatch(letter)]
    spots = {
        letter: chr(_SPOT + len(numbers) + i) for i, letter in enumerate(letters[:_MOST_LETTERS])
    }
    text = patterns.letter.sub(
        lambda match: spots.get(match[0], match[0]).ljust(len(match[0])), text
    )
    text = patterns.leads.sub("⇒ ", patterns.arrow.sub("= ", clean(text))).translate(MARKS)
    text = NUMBER_WORDS.sub(lambda match: spelled_out(match).ljust(len(match[0])), text)
    if "minus" in text or "negative" in text:
        text = patterns.signed.sub(lambda match: "-".rjust(len(match[0])), text)
    text = re.sub(r"[^\S\n]", " ", text)

    place = ""

    def spotted(match: re.Match) -> str:
        nonlocal place
        if not problem.pattern:
            number = numbers.get(canonical_name(match[0]))
        else:
            place = match["head"] or place
            name = f"{place} {match['kind']}" if match["kind"] else re.sub(r" *\|", "", match[0])
            number = numbers.get(name)
            if number is None and (match["head"] or match["kind"]):
                return match[0]
        return ("?" if number is None else chr(_SPOT + number)).ljust(len(match[0]))

    if problem.holds:
        text = problem.holds.sub(held, text)
    text = (problem.pattern or NAMED).sub(spotted, text)
    text = patterns.label.sub(_blanked, patterns.words.sub(_in_signs, text))
    text = patterns.title.sub(_titled, patterns.valued.sub(_blanked, text))
    if "|" in text:
        text = patterns.row.sub(_row_as_equation, patterns.ruled.sub(_blanked, text))
    text = patterns.goes_on.sub(
        lambda match: ("" if "\n" in match[0] else "=").ljust(len(match[0])), text
    )
    text = patterns.listed.sub(lambda match: match[0].replace(",", "&"), text)
    return re.sub(r",(?![0-9]{3})", "\n", text)


def _blanked(match: re.Match) -> str:
    """Spaces for what matches."""
    return " " * len(match[0])


def held(match: re.Match) -> str:
    """ "South Zoo has 2 foxes" as an equation."""
    return f"{match['place']} {match['kind']} = {match['value']}".ljust(len(match[0]))


def _in_signs(match: re.Match) -> str:
    """Words for an operation as signs."""
    if (match["amount"] or match["other"]) and not match["than"]:
        return match[0].replace(" ", "").ljust(len(match[0]))  # no number: "3 more than that"
    if match["than"]:
        sign = "-" if match["how"] in ("less", "lower", "fewer", "below") else "+"
        text = f"{match['than']} {sign} {match['amount']}"
    elif match["sum"]:
        text = f"({'+'.join(patterns.spot.findall(match['sum']))})"
    else:
        text = {"twice": "2 *", "plus": "+", "minus": "-", "equal": "="}[str(match.lastgroup)]
    return text.ljust(len(match[0]))


def _titled(match: re.Match) -> str:
    """A title and the begin of the next line as the begin of an equation."""
    return f"{match[1]} =".ljust(len(match[0]))


def _row_as_equation(match: re.Match) -> str:
    """A table's row as an equation: its first variable equals what the cells after it hold."""
    cells: list[str] = []
    begun = False
    for cell in match[0].split("|"):
        bare = cell.strip()
        kept = bare and (patterns.cell if begun else patterns.first_cell).fullmatch(bare)
        cells.append(cell if kept else " " * len(cell))
        if len(cells) > 1:
            cells[-1] = ("=" if begun and kept and bare[0] != "=" else " ") + cells[-1]
        begun = begun or bool(kept)
    return "".join(cells)


def _read_equations(text: str, count: int) -> list[tuple[int, _Equation]]:
    """The equations of a plain text by the number of their variable, in order (T2)."""
    equations: list[tuple[int, _Equation]] = []
    meant: dict[str, _Linear] = {}
    aliases: dict[str, str] = {}
    definitions = deque(
        (match.start(), *sorted(match.groups())) for match in patterns.defines.finditer(text)
    )
    for chain in chains(text, TOKEN):
        if len(chain.operands) < 2:
            continue
        operands = [*dropwhile(lambda operand: operand.kind != "variable", chain.operands)]
        kinds = [operand.kind for operand in operands]
        is_list = chain.parts == 2 and kinds[-1:] == ["number"] and set(kinds[:-1]) == {"variable"}
        listed = operands[1:-1] if is_list else []
        if len(operands) < 2 or chain.parts < len(chain.operands) - len(listed):
            continue
        start, stop = operands[0].start, operands[-1].stop
        if "not" in chain.signs or text[stop : stop + 4].lstrip()[:1] == "?":
            continue
        while definitions and definitions[0][0] < start:
            _, name, letter = definitions.popleft()
            aliases[letter] = name
            meant[letter] = {name: 1}
        name = aliases.get(operands[0].text, operands[0].text)
        value: int | None = None
        references: _Linear | None = None
        sums: list[int] = []
        for kind, digits, first, last in operands[1 + len(listed) :]:
            is_number = kind == "number"
            value = int(digits) if is_number and digits.lstrip("-").isdecimal() else None
            total = None if is_number else linear(text[first:last], meant)
            if total is not None and total.keys() - {""}:
                references = references or total
            elif total is not None and kind == "expression":
                sums.append(total.get("", 0))
        if references == {name: 1}:
            continue  # "let d = South Zoo's Fox"
        number = ord(name[0]) - _SPOT
        if number < count:
            equation = _Equation(value, references, sums, start, stop)
            numbers = [number, *(ord(one.text[0]) - _SPOT for one in listed)]
            equations += [(i, equation) for i in numbers if i < count]
        elif references is not None:
            meant[name] = references
    return equations


def linear(text: str, meant: Mapping[str, _Linear]) -> _Linear | None:
    """An expression as a sum; None for any other, such as a product of variables."""
    if patterns.spot.fullmatch(text):
        return meant.get(text, {text: 1})
    atoms = deque(patterns.atom.findall(text))

    def operand() -> _Linear:
        atom = atoms.popleft()
        if atom == "-":
            return scaled(operand(), -1)
        if atom == "(":
            inner = total()
            if atoms:
                atoms.popleft()
            return inner
        if atom.isdecimal():
            return {"": int(atom)}
        if not patterns.spot.match(atom):
            raise ValueError(atom)
        return meant.get(atom, {atom: 1})

    def product() -> _Linear:
        left = operand()
        while atoms and atoms[0] in ("*", "times", "("):
            if atoms[0] != "(":
                atoms.popleft()
            right = operand()
            if left.keys() - {""}:
                left, right = right, left
            if left.keys() - {""}:
                raise ValueError(text)
            left = scaled(right, left.get("", 0))
        return left

    def total() -> _Linear:
        result = dict(product())
        while atoms and atoms[0] in ("+", "-"):
            sign = 1 if atoms.popleft() == "+" else -1
            for name, count in product().items():
                result[name] = result.get(name, 0) + sign * count
        return {name: count for name, count in result.items() if count}

    try:
        return total() if text else None
    except (IndexError, ValueError, RecursionError):
        return None


def scaled(some: _Linear, factor: int) -> _Linear:
    """A sum times a number."""
    return {name: factor * count for name, count in some.items()}

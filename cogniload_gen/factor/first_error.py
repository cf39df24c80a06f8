"""A response to a FACTOR puzzle -> the first variable that it resolves wrongly, by rules.

T1. Text. The response is read with subscripts and mathematical letters in ASCII and
    without emphasis and LaTeX marks. A variable is "v" and a number (symbolic suite), or a place's
    animal in the words of the problem: "South Zoo's Fox", "South Zoo Fox", "Fox at South Zoo"
    (realistic suite). "Define South Zoo's Fox as d" and "let d be South Zoo's Fox" make a letter
    stand for it from there on.
T2. Equations. A variable or letter, then equals signs (=, :, ->, "is", "equals", "gives", "is
    defined as", "equal to", ", which is", a comment's #) with operands joined by + - * and words
    for these ("3 more than v1", "the sum of v1 and v2"); it goes on in the next line if that begins
    with an equals sign or if the line before names the variable alone. A table's row, a record of
    JSON and "South Zoo has 2 foxes" are equations too. Its value is the last operand that is one
    number. The operands that name variables are its references; letters that stand for no variable
    count as what they were set to. What ends with a question mark, or begins within an expression,
    is none.
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
    first error is not one of which T3 says nothing, and it is no longer than LONGEST. Nor is it
    read if a sentence names a variable beside a number, in no equation, and the first error would
    be that this variable is unresolved, or one that depends on it; nor if more stands in the
    sentence of an "invented" value. Where it is not read, nothing is claimed.

The time is linear in the response's length, and no text makes it raise.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from cogniload_gen.checks import check_texts
from cogniload_gen.factor.reading.text import PLAIN_CHARACTERS
from cogniload_gen.factor.score import score_row
from cogniload_gen.factor.solve import (
    TOTAL,
    Definition,
    Name,
    evaluate,
    realistic_relations,
    symbolic_relations,
)
from cogniload_gen.responses.mention import LONGEST, Told

ERRORS = ("arithmetic", "reference", "invented", "unresolved", "answer")
"""The kinds of a first error (T5)."""

READ_SHARE = 1 / 3
"""The share of the needed variables that a response must tell so that it is read (T6)."""

MARKS = str.maketrans(
    {**dict.fromkeys('_`$\\{}@<>"&', " "), "’": "'", **dict.fromkeys("→⇒⟹⟶➜↦≡≔", "=")}
)
SYMBOLIC_NAME = re.compile(r"\bv {0,3}([0-9]{1,6})\b", re.IGNORECASE)
SPOT = 0xE000
"""The private character that stands for the first variable; the others follow it."""

SPOTS = r"[\ue000-\uf8ff]"
NO_LETTER = r"(?:a(?= [a-z])|an|as|at|be|by|do|he|if|in|is|it|no|of|on|or|so|to|up|we)(?![\w'])"
LETTER = rf"(?!{NO_LETTER})[A-Za-z]{{1,2}}[0-9]{{0,3}}(?![\w'])"
VARIABLE = rf"{SPOTS}|{LETTER}"
OPERAND = rf"(?:{VARIABLE}|-?[0-9]{{1,9}})"
OPERATOR = r"(?:\+|-|−|\*|×|times)"
EXPRESSION = rf"\(?{OPERAND}(?: *+\)? *+{OPERATOR} *+\(? *+{OPERAND}){{0,24}}(?: *+\))?"
VERB = r"(?:is|equals|gives|becomes|yields|(?:is )?assigned|(?:is )?set|(?:comes|evaluates) to)"
LINK = (
    rf" *+(?:[=:](?: *+[=:>]){{0,3}}+|->|\b{VERB}\b|\bequal to\b)"
    r"(?: *+\b(?:equal to|defined as|the same as|to be|to|so|now|also|just|simply|then|therefore"
    r"|thus|directly|given as)\b){0,3} *+"
)
COMMAND = re.compile(
    r"\\(?:(?P<times>times|cdot)(?![a-zA-Z])"
    r"|(?P<arrow>(?:long)?(?:right|Right)arrow|Longrightarrow|to|implies|mapsto)(?![a-zA-Z])"
    r"|[a-zA-Z]{1,30}|[,;:! ])"
)
COMMANDS = {"times": "*", "arrow": "="}
GOES_ON = re.compile(
    rf"\n *+(?==)(?!=+>? *{SPOTS} *[=:])"
    r"|, (?:(?:which|that|this|so it|so this) )?(?:is|equals|gives|makes|becomes)\b"
    r"|, (?:so|thus|hence)(?= \(?-?[0-9])"
    r"|,? (?:giving|i\.e\.|that is)(?:,|(?=\s))|(?<=[\w)\ue000-\uf8ff]) {0,40}#(?= *[-(\d])"
)
"""Where an equation goes on: on the next line, in a clause of its own, and in a comment."""

THOUSANDS = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])")
PRIVATE = re.compile(SPOTS)
WORDS = re.compile(
    rf"\b(?P<amount>\d{{1,9}}) (?P<how>more|greater|higher|less|lower|fewer) than (?:the )?"
    rf"(?P<than>{SPOTS})|\b(?:the )?sum of (?P<sum>{SPOTS} *+(?:,? *+(?:and *+)?{SPOTS} *+)"
    rf"{{1,24}})|(?P<twice>\b(?:twice|double)\b)|(?P<plus>\bplus\b)|(?P<minus>\bminus\b)"
)
"""Words for an operation."""

VALUED = re.compile(rf"(?<=[\w)]) *\( *=? *-?\d{{1,9}} *\)(?= *{OPERATOR})")
"""A value in parentheses after a variable of an expression: "v4 (7) + 1"."""

TITLE = re.compile(
    rf"^[#*\- ]{{0,9}}(?:\d{{1,3}}[.)])?(?: *step *\d{{0,3}})?[.:)\- ]{{0,4}}({SPOTS}) *:? *"
    r"\n\s{0,9}"
    rf"(?P<says>(?:[\w ]{{0,30}}\b)?(?:this|it|that) (?:is|equals)\b|=|(?={EXPRESSION} *$))",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that names a variable alone, and what begins the next one: an expression, "it is"."""

ROW = re.compile(r"^ *\|.*", re.MULTILINE)
RULED = re.compile(r"\n *\|[-:| ]*$", re.MULTILINE)
"""The line under a table's head."""

KEY = re.compile(
    r'[{,]?\s{0,40}"(?P<key>[a-zA-Z][a-zA-Z_ ]{0,30})"\s{0,9}:\s{0,9}(?P<none>null|true|false)?'
)
NAMING = frozenset(("variable", "name", "var", "id", "quantity", "entity"))
"""A key of JSON, and keys whose value is a variable."""

EQUATION = re.compile(rf"(?<![\w'])({VARIABLE})((?:{LINK}{EXPRESSION})+)(?![\w'])")
CELL = re.compile(rf"(?:= *)?{EXPRESSION}(?:{LINK}{EXPRESSION})*")
PARTS = re.compile(r"(?:[^\n;,.]|\.(?!\s|$))+")
PART = re.compile(rf"{LINK}({EXPRESSION})")
ENDS_WITH_OPERATOR = re.compile(rf"[\w)\ue000-\uf8ff] *+{OPERATOR}[ (]*+\Z")
SAID = re.compile(rf"{SPOTS}|[0-9]{{1,9}}")
LABEL = re.compile(r"[#*\- ]{0,9}(?:step *)?[0-9]{1,3} *[.:)] *(?=\D)", re.IGNORECASE)
"""A variable or a number, and what labels a line."""
TOKEN = re.compile(rf"({VARIABLE})|(-?[0-9]{{1,9}})|({OPERATOR})|([()])")
TIMES = ("*", "×", "times")
Token = tuple[str, str, str, str]
"""What an expression is made of: a variable, a number, an operator or a bracket."""
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
    holds: re.Pattern | None
    spellings: dict[str, int]


class Equation(NamedTuple):
    """What a response sets a variable equal to: a value, and how it is computed, if it says so.

    `references` is (how often each variable counts, the constant), None if no part names one;
    `sums` are the values of the parts that compute with numbers alone; `alone` tells that nothing
    else stands in its sentence.
    """

    value: int | None
    references: tuple[dict[str, int], int] | None
    sums: list[int]
    start: int
    end: int
    alone: bool = True


class Values(NamedTuple):
    """The values that a response tells, by their variable.

    `last` are the equations that tell them, `first` the places where one is told first, `doubtful`
    the variables that were told right before, `corrections` the places where a wrong value changes.
    """

    last: dict[int, Equation]
    first: dict[int, int]
    doubtful: set[int]
    corrections: list[int]


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
    pattern = holds = None
    if suite == "realistic":
        names = [key for key in keys if isinstance(key, tuple)]
        places = one_of({place for place, _ in names})
        kinds = one_of({each for _, kind in names for each in plurals(kind)})
        pattern = re.compile(
            rf"\b(?:{places}(?:'s)? {kinds}|{kinds} (?:at|in|of) {places})\b", re.IGNORECASE
        )
        holds = re.compile(
            rf"\b(?P<place>{places}) (?:has|have|had|holds|houses|contains)"
            rf"(?: exactly| a total of)? (?P<value>[0-9]{{1,9}}) (?P<kind>{kinds})\b",
            re.IGNORECASE,
        )
    return Problem(
        [f"v{key}" if isinstance(key, int) else "'s ".join(key) for key in keys],
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


def plurals(kind: str) -> list[str]:
    """A kind of animal, and several of it."""
    kind = kind.lower()
    if kind == TOTAL.lower():
        return [kind, "animals", "total animals", "animal total", "total", "animals in total"]
    several = f"{kind}es" if kind.endswith(("x", "s", "ch", "sh", "o")) else f"{kind}s"
    return [kind, f"{kind}s", several, *([f"{kind[:-1]}ies"] if kind.endswith("y") else [])]


def spelled(key: Name) -> list[str]:
    """How a variable may be written (T1)."""
    if isinstance(key, int):
        return [f"v{key}"]
    place = key[0].lower()
    return [
        form.format(place, each)
        for each in plurals(key[1])
        for form in ("{0}'s {1}", "{0} {1}", "{1} at {0}", "{1} in {0}", "{1} of {0}")
    ]


def read_factor_steps(response: str, row: Mapping) -> FactorSteps:
    """Return what a response tells of a FACTOR puzzle's variables; see the module's rules.

    `row` needs the columns suite, puzzle and answer, target in the symbolic suite, and question in
    the realistic one. Raises ValueError if the row lacks one, or its puzzle is none.
    """
    given = check_texts(row, ("puzzle", "suite", "answer"))
    problem = problem_of(given["puzzle"], given["suite"])
    if len(response) > LONGEST:
        return FactorSteps()
    text = plain(response, problem)
    equations = read_equations(text, len(problem.names))
    last, first, doubtful, corrections = told_values(equations, problem)
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
    unclear = unread(text, equations, last, problem) if len(last) < len(problem.names) else set()
    if sources:
        i = sources[0]
        kind = kind_of(i, [e for j, e in equations if j == i], last, problem)
        if kind is None or depends(i, unclear, problem):
            return FactorSteps(coverage=coverage)
    else:
        missing = [] if right and row["suite"] == "realistic" else unresolved(last, problem)
        if not missing:
            error = None if right else "answer"
            recovered = None if right else False
            return FactorSteps(
                told, None, error, None, recovered, tuple(corrections), coverage, True
            )
        i, kind = missing[0], "unresolved"
        if not unclear.isdisjoint(missing):
            return FactorSteps(coverage=coverage)
    return FactorSteps(
        told, problem.names[i], kind, problem.depths[i], right, tuple(corrections), coverage, True
    )


def told_values(equations: list[tuple[int, Equation]], problem: Problem) -> Values:
    """The values that equations tell (T3)."""
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
    return Values(last, first, doubtful, corrections)


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


def unread(
    text: str, equations: list[tuple[int, Equation]], last: Mapping[int, Equation], problem: Problem
) -> set[int]:
    """The variables with no value that a sentence names beside a number, in no equation (T6)."""
    covered = bytearray(len(text))
    for _, equation in equations:
        covered[equation.start : equation.end] = b"\1" * (equation.end - equation.start)
    found: set[int] = set()
    for part in PARTS.finditer(text):
        free = [m for m in SAID.finditer(part[0]) if not covered[part.start() + m.start()]]
        if any(match[0].isdecimal() for match in free):
            found |= {ord(match[0]) - SPOT for match in free if not match[0].isdecimal()}
    return {i for i in found if i < len(problem.names) and i not in last}


def kind_of(
    i: int, told: list[Equation], last: Mapping[int, Equation], problem: Problem
) -> str | None:
    """How a variable's value came to be wrong (T5); None if the text may say more of it."""
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
        return "invented" if all(e.alone for e in told if e.value == value) else None
    return "reference" if right not in sums else "arithmetic"


def plain(response: str, problem: Problem) -> str:
    """The response by T1: variables as one private character each, operations as signs."""
    text = PRIVATE.sub(" ", response).replace("**", "  ")
    text = COMMAND.sub(
        lambda match: COMMANDS.get(match.lastgroup or "", "").ljust(len(match[0])), text
    )
    text = THOUSANDS.sub(lambda match: match[0].replace(",", "").ljust(len(match[0])), text)
    numbers = problem.spellings
    if '":' in text:
        text = KEY.sub(lambda match: key_as_sign(match, numbers), text)
    text = re.sub(r"[^\S\n]", " ", text.translate(PLAIN_CHARACTERS).translate(MARKS))

    def symbolic(match: re.Match) -> str:
        found = numbers.get(f"v{int(match[1])}")
        return ("?" if found is None else chr(SPOT + found)).ljust(len(match[0]))

    def realistic(match: re.Match) -> str:
        found = numbers.get(match[0].lower())
        return match[0] if found is None else chr(SPOT + found).ljust(len(match[0]))

    if problem.pattern is None:
        text = SYMBOLIC_NAME.sub(symbolic, text)
    else:
        if problem.holds:
            text = problem.holds.sub(held, text)
        text = problem.pattern.sub(realistic, text)
    text = WORDS.sub(in_signs, text)
    text = VALUED.sub(lambda match: " " * len(match[0]), text)
    text = TITLE.sub(titled, text)
    if "|" in text:
        text = ROW.sub(row_as_equation, RULED.sub(lambda match: " " * len(match[0]), text))
    return GOES_ON.sub(lambda match: ("" if "\n" in match[0] else "=").ljust(len(match[0])), text)


def held(match: re.Match) -> str:
    """ "South Zoo has 2 foxes" as an equation."""
    return f"{match['place']} {match['kind']} = {match['value']}".ljust(len(match[0]))


def key_as_sign(match: re.Match, numbers: Mapping[str, int]) -> str:
    """A key of JSON as an equals sign, unless it is a variable or says that one follows."""
    key = match["key"].lower()
    if key.replace("_", " ") in numbers:
        return match[0]
    sign = "" if key in NAMING or match["none"] else "="
    return sign.ljust(len(match[0]))


def in_signs(match: re.Match) -> str:
    """Words for an operation as signs."""
    if match["than"]:
        sign = "-" if match["how"] in ("less", "lower", "fewer") else "+"
        found = f"{match['than']} {sign} {match['amount']}"
    elif match["sum"]:
        found = f"({'+'.join(PRIVATE.findall(match['sum']))})"
    else:
        found = {"twice": "2 *", "plus": "+", "minus": "-"}[str(match.lastgroup)]
    return found.ljust(len(match[0]))


def titled(match: re.Match) -> str:
    """A title and the begin of the next line as the begin of an equation."""
    return f"{match[1]} =".ljust(len(match[0]))


def row_as_equation(match: re.Match) -> str:
    """A table's row as an equation: its first variable equals what the cells after it hold."""
    found: list[str] = []
    begun = False
    for cell in match[0].split("|"):
        bare = cell.strip()
        kept = bare and (CELL if begun else PRIVATE).fullmatch(bare)
        found.append(cell if kept else " " * len(cell))
        if len(found) > 1:
            found[-1] = ("=" if begun and kept and bare[0] != "=" else " ") + found[-1]
        begun = begun or bool(kept)
    return "".join(found)


def read_equations(text: str, count: int) -> list[tuple[int, Equation]]:
    """The equations of a plain text by the number of their variable, in order (T2)."""
    found: list[tuple[int, Equation]] = []
    letters: dict[str, str] = {}
    meant: dict[str, tuple[dict[str, int], int]] = {}
    for part in PARTS.finditer(text):
        label = LABEL.match(part[0])
        body = SAID.findall(part[0], label.end() if label else 0)
        for match in DEFINES.finditer(text, part.start(), part.end()):
            name, letter = (match[1], match[2]) if match[1] else (match[4], match[3])
            letters[letter] = name
            meant.pop(letter, None)
        for match in EQUATION.finditer(text, part.start(), part.end()):
            if is_asked(match, part) or is_operand(match, part):
                continue
            name = letters.get(match[1], match[1])
            equation = read_equation(match, letters, meant)
            if equation.references == ({name: 1}, 0):
                continue  # "let d = South Zoo's Fox"
            number = ord(name[0]) - SPOT
            if 0 <= number < count:
                alone = len(SAID.findall(match[0])) == len(body)
                found.append((number, equation._replace(alone=alone)))
            elif equation.references is not None:
                meant[name] = equation.references
    return found


def is_asked(match: re.Match, part: re.Match) -> bool:
    """Whether an equation is followed by a question mark."""
    return part.string[match.end() : match.end() + 4].lstrip()[:1] == "?"


def is_operand(match: re.Match, part: re.Match) -> bool:
    """Whether a variable ends an expression, so that what follows is not equal to it alone."""
    before = part.string[max(part.start(), match.start() - 80) : match.start()]
    return bool(ENDS_WITH_OPERATOR.search(before))


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
    around = 1  # what a bracket is multiplied by
    tokens = TOKEN.findall(text)
    for k, (name, digits, operator, bracket) in enumerate(tokens):
        if bracket:
            around = sign * factor * multiplier(tokens, closing(tokens, k)) if bracket == "(" else 1
            sign = factor = 1
            continue
        if operator:
            operators += 1
            sign = -1 if operator in "-−" else 1 if operator == "+" else sign
            continue
        number = int(digits or 0)
        if digits:
            if digits.startswith("-") and k and not (tokens[k - 1][2] or tokens[k - 1][3]):
                operators += 1  # "3 -1"
            if k + 1 < len(tokens) and tokens[k + 1][2] in TIMES:
                factor *= number
            elif not multiplies(tokens, k):
                constant += sign * around * factor * number
                factor = 1
            continue
        meaning = letters.get(name, name)
        inner = meant.get(meaning, ({meaning: 1}, 0))
        many = sign * around * factor * multiplier(tokens, k)
        for variable, each in inner[0].items():
            counts[variable] = counts.get(variable, 0) + many * each
        constant += many * inner[1]
        factor = 1
    return counts, constant, operators


def closing(tokens: list[Token], k: int) -> int:
    """Where the bracket that opens at a place closes, or the last token."""
    ends = (i for i in range(k, len(tokens)) if tokens[i][3] == ")")
    return next(ends, len(tokens) - 1)


def multiplier(tokens: list[Token], k: int) -> int:
    """The number that the variable or the bracket before is multiplied by: "v1 * 3"."""
    after = tokens[k + 1 : k + 3]
    return int(after[1][1]) if len(after) == 2 and after[0][2] in TIMES and after[1][1] else 1


def multiplies(tokens: list[Token], k: int) -> bool:
    """Whether the number at a place is such a `multiplier`."""
    before = tokens[max(k - 2, 0) : k]
    return len(before) == 2 and before[1][2] in TIMES and bool(before[0][0] or before[0][3] == ")")

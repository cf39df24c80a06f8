"""A statement -> what it claims of variables and numbers (the rules R4 to R7 of `answer.py`)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from re import VERBOSE, Match, Pattern, compile
from typing import NamedTuple

from cogniload_gen.factor.reading.text import (
    NUMBER,
    VARIABLE,
    VARIABLE_FIRST,
    WORDS,
    any_of,
    patterns,
    rewriting,
)

# --- tokens and equations (R5 to R7) --------------------------------------------------------------

_OPERATOR = "[-+*]|/(?=[ (]*[0-9])|" + any_of(WORDS["numbers"]["operators"]).replace(" ", "[ ]")
_WORD = {kind: any_of(words).replace(" ", "[ ]") for kind, words in WORDS["signs"].items()}


def lexer(variable: str) -> Pattern:
    """Return the pattern of a plain text's tokens (R5), given the pattern of a variable.

    What no alternative matches counts for nothing.
    """
    return compile(
        rf"""
      (?P<range>
        {VARIABLE}\ ?,?\ ?(?:-|(?<=\ )(?:(?:up\ )?to|through|thru|until)\ |\.\.+|…)
        \ ?,?\ ?{VARIABLE})
    | (?P<expression>(?:\([( ]{{0,9}}+)?+(?:{variable}|{NUMBER})
        (?:(?:[ )]*+(?:{_OPERATOR})[ (]*+|(?<=[0-9])\((?=[0-9]))(?:{variable}|{NUMBER}))++
        (?:[ ]?\))*+)
    | (?P<variable>{variable})
    | (?:{NUMBER}\ (?=(?:such\ |different\ )?variables?\b))        # a count is no value
    | (?P<number>{NUMBER})
    | (?P<crossed>✗)
    | (?P<unequal>≠|\ [<>]=?\ |{_WORD["unequal"]})
    | (?P<separator>=>|[.!?\n。]|;(?!\ ?(?:and\ )?{variable}\ ?(?:[;.,\n]|and\b|$)))
    | (?P<equal>=|\||{_WORD["equal"]})
    | (?P<comma>[,&;/]|(?<=[0-9])\ (?={variable})|{_WORD["and"]})
    | (?P<or>{_WORD["or"]})
    | (?P<arrow>(?:->|→|⇒)\ ?(?={NUMBER}))
    | (?P<colon>:|->|→|⇒)
    | (?P<opener>{_WORD["opener"]}
        |\bvariables?\b(?=\ (?:equal|that|with|whose|which|having)\b)
        |\bwith\b(?=\ {variable}))
    | (?P<passed>\banswers?\b\ ?:?|{_WORD["passed"]})
    | (?P<word>[^\W_]\w*+)
        """,
        VERBOSE,
    )


TOKEN = lexer(VARIABLE)
JOINT = set(WORDS["signs"]["joint"])
WIDEST_RANGE = 64
"""A range of more variables is read as its ends."""


class Token(NamedTuple):
    """A token of a plain text (R5): its group in the lexer, how it is written, and its place."""

    kind: str
    text: str
    start: int
    stop: int


class Sign(NamedTuple):
    """An equals sign, or an unequal one; a word or not."""

    unequal: bool
    by_word: bool


UNEQUAL = Sign(unequal=True, by_word=False)


def names_of(some: Iterable[Token]) -> list[str]:
    """The variables among some tokens; a range is one token with all its variables."""
    return [name for kind, text, *_ in some if kind == "variable" for name in text.split(",")]


class Chain(NamedTuple):
    """Operands joined by equals signs; `parts` counts the runs it was built from (R6).

    `is_choice` says whether an "or" stands among its operands.
    """

    operands: list[Token]
    signs: list[Sign]
    parts: int
    is_choice: bool

    @property
    def names(self) -> list[str]:
        """The variables."""
        return names_of(self.operands)

    @property
    def value(self) -> str | None:
        """The last number."""
        return next((text for kind, text, *_ in reversed(self.operands) if kind == "number"), None)


class Clause:
    """What stands between two separating words: operands, and the signs between them.

    Between two signs stand runs of operands; a run is what commas join, or a single operand.
    """

    def __init__(self) -> None:
        self.parts: list[list[list[Token]]] = [[]]
        self.signs: list[Sign] = []
        self.choices: list[bool] = [False]
        self.after_comma = self.after_or = self.has_variable = False
        self.first_filled: int | None = None

    def add(self, operand: Token) -> None:
        """Add an operand, to the last run if a comma joins two variables."""
        runs = self.parts[-1]
        is_variable = operand.kind == "variable"
        if self.after_or and runs:
            self.choices[-1] = True
        if self.after_comma and runs and is_variable and runs[-1][-1].kind == "variable":
            runs[-1].append(operand)
        else:
            runs.append([operand])
        if self.first_filled is None:
            self.first_filled = len(self.parts) - 1
        self.after_comma = self.after_or = False
        self.has_variable |= is_variable

    def link(self, sign: Sign) -> None:
        """Add a sign, after which comes another part."""
        self.parts.append([])
        self.choices.append(False)
        self.signs.append(sign)
        self.after_comma = self.after_or = False

    @property
    def ends_with_sign(self) -> bool:
        """Whether nothing follows the last sign."""
        return bool(self.signs) and not self.parts[-1]

    @property
    def ends_with_equation(self) -> bool:
        """Whether a single operand follows an equals sign, and none of the signs is unequal."""
        return (
            bool(self.signs)
            and len(self.parts[-1]) == 1
            and not any(sign.unequal for sign in self.signs)
        )

    @property
    def ends_with_value(self) -> bool:
        """Whether the last operand is a number that a sign joins to variables."""
        ends = bool(self.signs) and bool(self.parts[-1])
        return ends and self.has_variable and self.parts[-1][-1][-1].kind == "number"

    @property
    def takes_colon(self) -> bool:
        """Whether a colon that follows is an equals sign: "v3: 2", "equal to 2: v3", "2: v3"."""
        if not self.parts[-1]:
            return False
        is_variable = self.parts[-1][-1][-1].kind == "variable"
        return is_variable or not self.has_variable

    def runs(self, place: int) -> list[list[Token]]:
        """The runs of a part; if it has but one and stands between two signs, these share it."""
        runs = self.parts[place]
        follows = self.first_filled is not None and self.first_filled < place
        if not follows or place == len(self.signs) or len(runs) != 1 or len(runs[0]) == 1:
            return runs
        cut = -1 if self.signs[place - 1].by_word else 1
        return [runs[0][:cut], runs[0][cut:]]

    def chains(self) -> Iterator[Chain]:
        """The chains of the clause, and the runs that stand in none."""
        operands: list[Token] = []
        signs: list[Sign] = []
        parts, is_choice = 0, False
        for place in range(len(self.parts)):
            if place:
                signs.append(self.signs[place - 1])
            is_choice |= self.choices[place]
            for later, run in enumerate(self.runs(place)):
                if later or not place:
                    yield Chain(operands, signs, parts, is_choice)
                    operands, signs, parts, is_choice = [], [], 0, self.choices[place]
                operands.extend(run)
                parts += 1
        yield Chain(operands, signs, parts, is_choice)


def tokens(text: str, lexer: Pattern = TOKEN) -> Iterator[Token]:
    """The tokens of a plain text, but for what is passed over (R5)."""
    for match in lexer.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "range":
            kind, token = "variable", ",".join(in_range(VARIABLE_FIRST.findall(token)))
        elif kind == "variable" and token[0] == "v":
            token = canonical_name(token)
        elif kind == "number":
            token = canonical_number(token)
        if kind is not None and kind != "passed":
            yield Token(kind, token, match.start(), match.end())


def canonical_name(text: str) -> str:
    """A variable as the puzzle writes it: "v3" for "v_03"."""
    return "v" + (text.lstrip("v _").lstrip("0") or "0")


def in_range(ends: Sequence[str]) -> list[str]:
    """The variables from one to another; just the two, if they make no range of a puzzle's size."""
    names = [canonical_name(end) for end in ends]
    if max(map(len, names)) > len("v1000"):
        return names
    first, last = (int(name[1:]) for name in names)
    return [f"v{i}" for i in range(first, last + 1)] if 0 < last - first < WIDEST_RANGE else names


def canonical_number(text: str) -> str:
    """A number as an integer is written, where it is one: "8" for "+08.0"."""
    whole, _, fraction = text.lstrip("+-").replace(",", "").replace(" ", "").partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    number = f"{whole}.{fraction}" if fraction else whole
    return f"-{number}" if text.startswith("-") and number != "0" else number


def chains(text: str, lexer: Pattern = TOKEN) -> Iterator[Chain]:
    """The chains of a plain text, and the runs of operands that stand in none (R6)."""
    clause = Clause()
    for token in tokens(text, lexer):
        kind = token.kind
        if kind in {"variable", "number", "expression"}:
            clause.add(token)
        elif kind == "comma" and token.text in JOINT and clause.ends_with_value:
            clause.link(Sign(unequal=False, by_word=True))
        elif kind in {"comma", "or"}:
            clause.after_comma = True
            clause.after_or |= kind == "or"
        elif (
            kind == "equal"
            or (kind == "arrow" and clause.has_variable and clause.parts[-1])
            or (kind in {"arrow", "colon"} and clause.takes_colon)
        ):
            by_word = kind == "equal" and token.text not in {"=", "|"}
            clause.link(Sign(unequal=False, by_word=by_word))
        elif kind == "crossed":
            is_equation = clause.parts[-1]
            clause.link(UNEQUAL)
            if is_equation:
                yield from clause.chains()
                clause = Clause()
        elif kind == "unequal":
            if clause.after_comma or clause.ends_with_equation:
                yield from clause.chains()
                clause = Clause()
            clause.link(UNEQUAL)
        elif kind not in {"opener", "colon", "arrow"} or not clause.ends_with_sign:
            yield from clause.chains()
            clause = Clause()
    yield from clause.chains()


# --- what a statement claims (R4, R6, R7) ---------------------------------------------------------

REPHRASED = rewriting("variables")


class Claims(NamedTuple):
    """What a text says of variables, given the target value (R6).

    `by_word`: a word links a variable to the target; `names_target`: no variable stands beside it;
    `bare`: the text holds nothing but variables; `is_choice`: an "or" joins variables; `unvalued`
    stand first in an equation without a value.
    """

    equal: set[str]
    other: set[str]
    listed: set[str]
    by_word: bool = False
    names_target: bool = False
    bare: bool = False
    is_choice: bool = False
    unvalued: frozenset[str] = frozenset()


def is_refusal(text: str) -> bool:
    """Whether a statement says that its author can't tell."""
    return bool(patterns.refusal.search(text))


def drop_plan(match: Match) -> str:
    """Nothing for a parenthesis that commits to nothing, else the parenthesis."""
    return (
        "" if patterns.plan.search(match[0]) and not patterns.hedge.search(match[0]) else match[0]
    )


def decided(text: str) -> str | None:
    """What a statement says beyond a question, a plan or a refusal, or None (R4)."""
    if text.endswith("?") or is_refusal(text):
        return None
    plan = patterns.plan.search(text)
    if not plan:
        return text
    cue = patterns.committed.search(text, plan.end())
    return text[cue.start() :] if cue else None


@lru_cache(maxsize=256)
def committed(text: str) -> str | None:
    """What a statement commits to about variables, in plain terms, or None (R4)."""
    decision = decided(patterns.aside_plan.sub(drop_plan, text))
    if decision is None:
        return None
    text = decision
    text = corrected(
        text, lambda after: VARIABLE_FIRST.search(after) or patterns.empty.search(after)
    )
    text = patterns.example.sub("", text)
    if "respectively" in text:
        text = patterns.respectively.sub(one_by_one, text)
    for pattern, replacement in REPHRASED:
        text = pattern.sub(replacement, text)
    return without_reason(text)


def one_by_one(match: Match) -> str:
    """The pairs of "v3 and v7 are 2 and 1, respectively", as long as these are as many as those."""
    names, numbers = VARIABLE_FIRST.findall(match[1]), patterns.any_number.findall(match[3])
    if len(names) != len(numbers):
        return match[0]
    return "; ".join(
        f"{name}{match[2]}{number}" for name, number in zip(names, numbers, strict=True)
    )


def without_reason(text: str) -> str:
    """A text without its reasons, if it says something before the first of them."""
    reason = patterns.reason.search(text)
    if not reason or not (
        VARIABLE_FIRST.search(text, 0, reason.start()) or patterns.empty.search(text)
    ):
        return text
    return patterns.reason.sub("", text)


def corrected(text: str, says: Callable[[str], object]) -> str:
    """What follows the last correction of a text after which it still says something."""
    ends = [match.end() for match in patterns.correction.finditer(text)]
    return next((text[end:] for end in reversed(ends[-3:]) if says(text[end:])), text)


@lru_cache(maxsize=256)
def claims_of(text: str, target: str) -> Claims:
    """What a text says of variables, given the target value (R6)."""
    equal: set[str] = set()
    other: set[str] = set()
    listed: set[str] = set()
    unvalued: set[str] = set()
    by_word = names_target = is_choice = False
    text = patterns.elided.sub(rf"\1 {target}", text)
    links = list(chains(text))
    for link in links:
        names, value = link.names, link.value
        if any(sign.unequal for sign in link.signs):
            other.update(names)
            continue
        if value == target:
            equal.update(names)
            by_word |= any(sign.by_word for sign in link.signs) and bool(names)
            names_target |= not names
        elif value is not None:
            other.update(names)
            continue
        elif link.parts == 1:
            listed.update(names)
        elif names and link.operands[0].kind == "variable" and not link.signs[0].by_word:
            unvalued.update(names_of(link.operands[:1]))
        is_choice |= link.is_choice and bool(names)
    for link in links:
        if link.signs and all(kind == "variable" for kind, *_ in link.operands):
            is_same = not any(sign.unequal for sign in link.signs) and equal & set(link.names)
            equal.update(link.names if is_same else ())
    bare = all(
        kind in {"variable", "comma", "or", "separator", "crossed"} for kind, *_ in tokens(text)
    )
    return Claims(equal, other, listed, by_word, names_target, bare, is_choice, frozenset(unvalued))


def row_claims(text: str, target: str) -> Claims:
    """What the row of a table says: its first cell of variables has the last value beside it."""
    cells = text.split("|")
    for place, cell in enumerate(cells):
        names = set(names_of(tokens(cell)))
        if names and claims_of(cell, target).bare:
            beside = [
                value for other in cells[:place] + cells[place + 1 :] for value in values(other)
            ]
            if not beside:
                return Claims(set(), set(), names)
            if beside[-1] == target:
                return Claims(names, set(), set())
            return Claims(set(), names, set())
    return claims_of(text, target)


def is_row(text: str) -> bool:
    """Whether a line is a row of a table."""
    return text.startswith("|") or " | " in text


def read_claims(text: str, target: str) -> list[Claims]:
    """What a text says of variables, without its asides, and what each of them says (R7)."""
    if is_row(text):
        return [row_claims(text, target)]
    asides: list[str] = []

    def take(match: Match) -> str:
        name, aside = match.groups()
        if patterns.excluded.match(aside):
            return name
        asides.append(aside if VARIABLE_FIRST.match(aside.lstrip()) else f"{name} = {aside}")
        return name

    outer = patterns.aside.sub(take, text)
    return [claims_of(part, target) for part in (outer, *asides)]


def values(text: str) -> Iterator[str]:
    """The values of a text's chains that have one."""
    return (link.value for link in chains(text) if link.value is not None)


def in_order(names: Iterable[str]) -> list[str]:
    """Variables in order of their number."""
    return sorted(names, key=lambda name: (len(name), name))

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
      \ +(?![<>v\ue000-\uf8ff])                             # most blanks, told by one look
    | (?P<range>
        {VARIABLE}\ ?,?\ ?(?:-|(?<=\ )(?:(?:up\ )?to|through|thru|until)\ |\.\.+|…)
        \ ?,?\ ?{VARIABLE})
    | (?P<expression>(?:\([( ]{{0,9}}+)?(?:{variable}|{NUMBER})
        (?:(?:[ )]*+(?:{_OPERATOR})[ (]*+|(?<=[0-9])\((?=[0-9]))(?:{variable}|{NUMBER}))+
        (?:[ ]?\))*)
    | (?P<variable>{variable})
    | (?:{NUMBER}\ (?=(?:such\ |different\ )?variables?\b))        # a count is no value
    | (?P<number>{NUMBER})
    | (?P<unequal>≠|✗|\ [<>]=?\ |{_WORD["unequal"]})
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
# A range of more variables is read as its ends.
_WIDEST_RANGE = 64


class Token(NamedTuple):
    """A token of a plain text (R5): its group in the lexer, how it is written, and its place."""

    kind: str
    text: str
    start: int
    stop: int


def names_of(some: Iterable[Token]) -> list[str]:
    """The variables among some tokens; a range is one token with all its variables."""
    return [name for kind, text, *_ in some if kind == "variable" for name in text.split(",")]


class Chain(NamedTuple):
    """Operands joined by equals signs; `parts` counts the runs it was built from (R6).

    `is_choice` says whether an "or" stands among its operands.
    """

    operands: list[Token]
    signs: list[str]  # the kinds "=", "is" and "not"
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


class _Clause:
    """What stands between two separating words: operands, and the signs between them.

    Between two signs stand runs of operands; a run is what commas join, or a single operand.
    """

    def __init__(self) -> None:
        self.parts: list[list[list[Token]]] = [[]]
        self.signs: list[str] = []
        self.after_comma = self.after_or = self.has_variable = self.is_choice = False

    def add(self, operand: Token) -> None:
        """Add an operand, to the last run if a comma joins two variables."""
        runs = self.parts[-1]
        is_variable = operand.kind == "variable"
        self.is_choice |= self.after_or and bool(runs)
        if self.after_comma and runs and is_variable and runs[-1][-1].kind == "variable":
            runs[-1].append(operand)
        else:
            runs.append([operand])
        self.after_comma = self.after_or = False
        self.has_variable |= is_variable

    def link(self, sign: str) -> None:
        """Add a sign, after which comes another part."""
        self.parts.append([])
        self.signs.append(sign)
        self.after_comma = self.after_or = False

    @property
    def ends_with_sign(self) -> bool:
        """Whether nothing follows the last sign."""
        return bool(self.signs) and not self.parts[-1]

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

    def runs(self, place: int, begun: bool) -> list[list[Token]]:
        """The runs of a part; one alone is shared by the signs on both sides, if it has `begun`."""
        runs = self.parts[place]
        is_between = begun and place < len(self.signs)
        if not is_between or len(runs) != 1 or len(runs[0]) == 1:
            return runs
        cut = -1 if self.signs[place - 1] == "is" else 1
        return [runs[0][:cut], runs[0][cut:]]

    def chains(self) -> Iterator[Chain]:
        """The chains of the clause, and the runs that stand in none."""
        operands: list[Token] = []
        signs: list[str] = []
        parts = 0
        begun = False  # with any operand
        for place in range(len(self.parts)):
            signs += self.signs[place - 1 : place] if place else []
            for later, run in enumerate(self.runs(place, begun)):
                if later or not place:
                    yield Chain(operands, signs, parts, self.is_choice)
                    operands, signs, parts = [], [], 0
                operands.extend(run)
                parts += 1
            begun = begun or bool(self.parts[place])
        yield Chain(operands, signs, parts, self.is_choice)


def tokens(text: str, lexer: Pattern = TOKEN) -> Iterator[Token]:
    """The tokens of a plain text, but for what is passed over (R5)."""
    for match in lexer.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "range":
            kind, token = "variable", ",".join(_in_range(VARIABLE_FIRST.findall(token)))
        elif kind == "variable" and token[0] == "v":
            token = canonical_name(token)
        elif kind == "number":
            token = _canonical_number(token)
        if kind is not None and kind != "passed":
            yield Token(kind, token, match.start(), match.end())


def canonical_name(text: str) -> str:
    """A variable as the puzzle writes it: "v3" for "v_03"."""
    return "v" + (text.lstrip("v _").lstrip("0") or "0")


def _in_range(ends: Sequence[str]) -> list[str]:
    """The variables from one to another; just the two, if they make no range of a puzzle's size."""
    names = [canonical_name(end) for end in ends]
    if max(map(len, names)) > len("v1000"):
        return names
    first, last = (int(name[1:]) for name in names)
    return [f"v{i}" for i in range(first, last + 1)] if 0 < last - first < _WIDEST_RANGE else names


def _canonical_number(text: str) -> str:
    """A number as an integer is written, where it is one: "8" for "+08.0"."""
    whole, _, fraction = text.lstrip("+-").replace(",", "").replace(" ", "").partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    number = f"{whole}.{fraction}" if fraction else whole
    return f"-{number}" if text.startswith("-") and number != "0" else number


def chains(text: str, lexer: Pattern = TOKEN) -> Iterator[Chain]:
    """The chains of a plain text, and the runs of operands that stand in none (R6)."""
    clause = _Clause()
    for token in tokens(text, lexer):
        kind = token.kind
        if kind in {"variable", "number", "expression"}:
            clause.add(token)
        elif kind == "comma" and token.text in JOINT and clause.ends_with_value:
            clause.link("is")
        elif kind in {"comma", "or"}:
            clause.after_comma = True
            clause.after_or |= kind == "or"
        elif (
            kind in {"equal", "unequal"}
            or (kind == "arrow" and clause.has_variable and clause.parts[-1])
            or (kind == "colon" and clause.takes_colon)
        ):
            if kind == "unequal" and clause.ends_with_value:
                yield from clause.chains()
                clause = _Clause()
            is_word = kind == "equal" and token.text not in {"=", "|"}
            clause.link("not" if kind == "unequal" else "is" if is_word else "=")
        elif kind not in {"opener", "colon", "arrow"} or not clause.ends_with_sign:
            if clause.signs or clause.parts[0]:  # most words follow others
                yield from clause.chains()
                clause = _Clause()
            clause.after_comma = clause.after_or = False
    yield from clause.chains()


# --- what a statement claims (R4, R6, R7) ---------------------------------------------------------

_REPHRASED = rewriting("variables")


class Claims(NamedTuple):
    """What a text says of variables, given the target value (R6).

    `by_word`: a word links a variable to the target; `names_target`: no variable stands beside it;
    `bare`: the text holds nothing but variables; `is_choice`: an "or" joins variables.
    """

    equal: set[str]
    other: set[str]
    listed: set[str]
    by_word: bool = False
    names_target: bool = False
    bare: bool = False
    is_choice: bool = False


def is_refusal(text: str) -> bool:
    """Whether a statement says that its author can't tell."""
    return bool(patterns.refusal.search(text))


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
    text = decided(patterns.planned.sub("", text)) or ""
    text = corrected(text, lambda after: VARIABLE_FIRST.search(after) is not None)
    text = patterns.example.sub("", text)
    for pattern, replacement in _REPHRASED:
        text = pattern.sub(replacement, text)
    return without_reason(text) or None


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
    by_word = names_target = is_choice = False
    text = patterns.elided.sub(rf"\1 {target}", text)
    links = list(chains(text))
    for link in links:
        names, value = link.names, link.value
        if "not" in link.signs:
            other.update(names)
            continue
        if value == target:
            equal.update(names)
            by_word |= "is" in link.signs and bool(names)
            names_target |= not names
        elif value is not None:
            other.update(names)
            continue
        elif link.parts == 1:
            listed.update(names)
        is_choice |= link.is_choice
    for names in (link.names for link in links if link.signs and link.value is None):
        equal.update(names if equal & set(names) else ())
    bare = all(kind in {"variable", "comma", "or", "separator"} for kind, *_ in tokens(text))
    return Claims(equal, other, listed, by_word, names_target, bare, is_choice)


def read_claims(text: str, target: str) -> list[Claims]:
    """What a text says of variables, without its asides, and what each of them says (R7)."""
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

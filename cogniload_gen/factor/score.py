"""A response -> what became of it (FACTOR, section 3), by rules and without a judge model.

The paper asks for the variables that have a value (symbolic suite) or for a number (realistic) and
leaves open how an answer is read. These are the rules; the first line that applies decides.

R1. Cut off. A response is `max_context` if it is blank, or if prompt_tokens + response_tokens + 20
    >= context_budget, as far as they are known.
R2. Reasoning marks. What stands up to the last mark that ends a reasoning trace, such as
    "</think>", is dropped, and so is what stands after a mark that begins one without end.
R3. Plain text. The rest is in lowercase, with subscripts, full-width and mathematical letters in
    ASCII; LaTeX commands, braces, dollars, emphasis and code marks are blank. "\\boxed" and an
    <answer> tag are the word "answer:"; an empty pair of brackets, "\\emptyset" and "\\varnothing"
    are "∅".
R4. Statements. Blank lines are dropped, and heading, quotation and bullet marks. A line that ends
    with a colon or with "answer" or "conclusion" goes on with the next line, and then with the
    lines of a list or a table. Lines end where they end, and sentences at ". ", "! " and "? ".
R5. Tokens. A variable is "v" and a number (v3, V3, v_3, v 3, v03). A number is an integer or a
    decimal (-3, 1,024, 2.0). Operands joined by + - * /, with or without parentheses, are an
    expression. EQUAL words and signs are an equals sign; with "not", ≠ and the like among them, an
    unequal one; a colon is one after a variable, or between "equal to 2" and the variables. PASSED
    words count for nothing. Any other word separates what stands before it from what follows, and
    so do "only", "so" and the like (OPENER) unless they follow an equals sign.
R6. Equations. Operands linked by equals signs are a chain. Variables that commas or "and" join are
    one operand. Of such between two equals signs, the first belongs to the left one and the others
    to the right one if the left one is "=" or a table's "|", else the last to the right one and the
    others to the left one. The value of a chain is its last number: all variables that stand in it
    by themselves have this value, or, if one of its signs is unequal, another. Variables of a chain
    without a value say nothing; variables in no chain are listed.
R7. Asides. What stands in parentheses after a variable is read by itself, as an equation of the
    variable if it does not begin with another one: "v3 (2)", "v3 (= v4 + 1)".

Symbolic suite. A statement concludes with
C1. the empty set, if it says "none", "no variable", ∅ and the like (EMPTY), but neither "no other",
    "except v3" and the like (NOT_EMPTY), nor numbers without the target among them (unless it says
    "answer"); yet if it gives variables the target value before that, or after a "but", "so" and
    the like (CONTRAST) that follows, with these;
C2. else the variables that it gives the target value, without those that an aside gives another, if
    a CUE ("answer", "variable", "only", "therefore", ...) is in it or a word links them to the
    value ("v3 is equal to 2", not "v3 = 2");
C3. else its listed variables, without those that it gives another value, if it says "answer",
    "result", "only", "therefore" or the like, or "the variables are", or names the target without a
    variable ("the variable equal to 2 in this text is v3"), or holds nothing but variables.
C4. The answer is the conclusion of the last statement that has one; if there is no CUE in it, that
    of the statement before it is added, and so on while there is one. Lines that begin as a remark
    (REMARK: "Check: ...", "Note that ...") are read only if no other line concludes.
C5. If none concludes, the answer is the set of variables to which the response last gives the
    target value, if there are any.

Realistic suite. Each chain has its value as in R6.
N1. The answer is the first value after the last "answer:", "answer is" and the like of the last
    statement in which a value follows it;
N2. else the last value of the last statement that has one.
Number words are not read: the prompt asks for an integer.

`no_answer` if no rule gives an answer, `correct` if it equals the gold one, else `wrong_set`.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import chain, islice
from re import IGNORECASE, VERBOSE, Match, compile
from reprlib import repr
from typing import NamedTuple
from unicodedata import normalize

from cogniload_gen.budget import is_cut_off

SUITES = ("symbolic", "realistic")

THOUGHT_END = compile(
    r"</think(?:ing)?>|</reasoning>|\[/think\]|◁/think▷|<\|channel\|>final<\|message\|>", IGNORECASE
)
THOUGHT_START = compile(r"<think(?:ing)?>|<reasoning>|\[think\]|◁think▷|<\|channel\|>", IGNORECASE)

PLAIN_CHARACTERS = {
    code: normalize("NFKC", chr(code))
    for codes in (range(0x2080, 0x208A), range(0xFF01, 0xFF5F), range(0x1D400, 0x1D800))
    for code in codes
} | str.maketrans("−–—’‘“”×·\u00a0\u202f", "-- ''\"\"**  ", "\u200b\u2060\ufeff")
CLEANING = tuple(
    (compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?:boxed|fbox)\b|<answer>", " answer: "),
        (r"\\(?:neq?\b|not ?=)|!=", " ≠ "),
        (r"\\(?:emptyset|varnothing)\b", " ∅ "),
        (r"\\(?:cdot|times)\b", "*"),
        (r"\{,\}", ","),  # LaTeX's 1{,}024
        (r"\\[a-z]++ ?\{\}|\\[a-z]++\*?|\\[ ,;:!()\[\]]", " "),
        (r"\\?\{ ?\\?\}|\[ ?\]", " ∅ "),
        (r"(?m)^ *```\w*+$|</?su[bp]>|</answer>|\*\*|[\\$`{}\"]", " "),
        (r"[^\S\n]+", " "),
    )
)
"""What makes a response plain text, in this order (R3)."""

RULE = compile(r"[-=_*| :+~`]*")  # a blank line is one too
ITEM = compile(r"(?:[-*•+]|\(?[0-9]{1,3}[.)]) |(?=\|)")
OPEN_LINE = compile(r"\b(?:answer|conclusion)s?$")
SENTENCE_END = compile(r"(?<=[.!?]) ")
"""How lines are joined and sentences end (R4)."""

VARIABLE = r"(?<![^\W_])v[ _]{0,3}[0-9]++(?![^\W_])"
NUMBER = r"(?<![\w.])[-+]?[0-9]++(?:,[0-9]{3})*+(?:\.[0-9]++)?(?![^\W_])"
TOKEN = compile(
    rf"""
      (?P<expression>(?:{VARIABLE}|{NUMBER})
        (?:[ )]*+(?:[-+*/]|(?:plus|minus|times)\b)[ (]*+(?:{VARIABLE}|{NUMBER}))++)
    | (?P<variable>{VARIABLE})
    | (?:[0-9]++\ (?=variables?\b))                                # a count is no value
    | (?P<number>{NUMBER})
    | (?P<unequal>≠|\ [<>]=?\ |\b(?:not|never|cannot|nor|[a-z]+n't)\b)
    | (?P<separator>=>|[;.!?])
    | (?P<equal>=|\||\b(?:is|are|was|were|be|being|equal|equals|equalling|equaling|values?|valued
        |has|have|having|holds?|takes?|becomes?|evaluates?|gives?|yields?
        |(?:and\ so|as)\ (?:is|are|do|does|did|has|have))\b)        # 2, and so does v7
    | (?P<colon>:|->|→)
    | (?P<comma>,|&|\b(?:and|or)\b)
    | (?P<opener>\b(?:only|just|solely|therefore|thus|hence|so|then)\b
        |\bvariables?\b(?=\ (?:equal|that|with|whose|which|having)\b)
        |\bwith\b(?=\ v[ _]{{0,3}}[0-9]))
    | (?P<passed>\banswers?\b\ ?:?|\b(?:to|of|the|an?|which|that|whose|with|it|its|this|these|those
        |all|both|each|every|also|indeed|exactly|does|do|did|variables?|vars?|ones?|s|final|set
        |any|following)\b)
    | (?P<word>[^\W_]\w*+)
    """,
    VERBOSE,
)
"""The tokens of a sentence (R5); what no alternative matches counts for nothing."""

VARIABLE_FIRST = compile(VARIABLE)
ASIDE = compile(rf"({VARIABLE}) ?\(([^()]*)\)")

CONCLUDING = (
    "answer|only|just|solely|therefore|thus|hence|conclusion|conclude|finally|in summary|overall"
    "|consequently"
)
CUE = compile(rf"\b(?:{CONCLUDING}|variables?)\b|^so\b")
LIST_CUE = compile(rf"\b(?:{CONCLUDING}|result|solution|variables? (?:is|are))\b|^so\b")
"""What makes a statement a conclusion (C2, C3)."""

REMARK = compile(
    r"\W*(?:note|verif|(?:double-?)?check|(?:to|let us|let's) (?:verify|check|confirm|double)"
    r"|explanation|justification|because|this is because|where\b|recall)"
)
"""How a line begins that is no conclusion but comments on one (C4)."""

EMPTY = compile(
    r"∅|\bnone\b|\bno (?:\w+ ){0,2}variables?\b|\bneither\b|\bempty\b|\bnothing\b"
    r"|\b(?:zero|0) variables?\b"
    r"|(?:\b(?:can)?not|n't) (?:(?:a|have|find|see|contain|exist) )?(?:any|single)"
    r" (?:of|ones?|(?:\w+ )?variables?)\b"
    r"|\bthere (?:isn't|is not|aren't|are not) an?y?\b"
)
NOT_EMPTY = compile(
    r"\b(?:no|none|nothing|any|single)(?: of)?(?: the| these)?(?: [0-9]+)?"
    r" (?:others?|else|remaining|rest|additional|further|more)\b"
    r"|\b(?:other than|except|besides|(?<!, )but|apart from|aside from|beyond)(?: for)?(?: the)?"
    rf"(?: variables?)? {VARIABLE}"
)
CONTRAST = compile(r"\b(?:but|while|whereas|so)\b|;")
"""What says that the set is empty, and what takes it back (C1)."""

ANSWER = compile(r"\banswers?(?: ?[:=-]| (?:is|are|would be|equals)\b)")


class FactorOutcome(StrEnum):
    """What became of a response."""

    CORRECT = "correct"
    WRONG_SET = "wrong_set"
    NO_ANSWER = "no_answer"
    MAX_CONTEXT = "max_context"

    @property
    def correct(self) -> bool:
        """Whether the response counts as correct in the accuracy."""
        return self is FactorOutcome.CORRECT


class FactorScore(NamedTuple):
    """The outcome of a response, and for a wrong set how it differs from the gold one.

    `missing` and `extra` are variables in order of their number, or one number each.
    """

    outcome: FactorOutcome
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


class Claims(NamedTuple):
    """What a text says of variables, given the target value (R6).

    `by_word`: a word links a variable to the target; `asked`: the target is named without one;
    `bare`: the text holds nothing but variables.
    """

    equal: set[str]
    other: set[str]
    listed: set[str]
    by_word: bool
    asked: bool
    bare: bool


class Token(NamedTuple):
    """A token of a plain text (R5): the name of its group in TOKEN, and how it is written."""

    kind: str
    text: str


class Sign(NamedTuple):
    """An equals sign, or an unequal one; a word or not."""

    unequal: bool
    by_word: bool


class Chain(NamedTuple):
    """Operands that signs link, in so many parts (R6)."""

    operands: list[Token]
    signs: list[Sign]
    parts: int

    @property
    def value(self) -> str | None:
        """The last number."""
        return next((text for kind, text in reversed(self.operands) if kind == "number"), None)


class Clause:
    """What stands between two separating words: operands, and the signs between them.

    Between two signs stand runs of operands; a run is what commas join, or a single operand.
    """

    def __init__(self) -> None:
        self.parts: list[list[list[Token]]] = [[]]
        self.signs: list[Sign] = []
        self.after_comma = False
        self.has_variable = False

    def add(self, operand: Token) -> None:
        """Adds an operand, to the last run if a comma joins two variables."""
        runs = self.parts[-1]
        is_variable = operand.kind == "variable"
        if self.after_comma and runs and is_variable and runs[-1][-1].kind == "variable":
            runs[-1].append(operand)
        else:
            runs.append([operand])
        self.after_comma = False
        self.has_variable |= is_variable

    def link(self, sign: Sign) -> None:
        """Adds a sign, after which comes another part."""
        self.parts.append([])
        self.signs.append(sign)
        self.after_comma = False

    @property
    def ends_with_sign(self) -> bool:
        """Whether nothing follows the last sign."""
        return bool(self.signs) and not self.parts[-1]

    @property
    def takes_colon(self) -> bool:
        """Whether a colon that follows is an equals sign: "v3: 2", "equal to 2: v3"."""
        if not self.parts[-1]:
            return False
        is_variable = self.parts[-1][-1][-1].kind == "variable"
        return is_variable or (bool(self.signs) and not self.has_variable)

    def runs(self, place: int) -> list[list[Token]]:
        """The runs of a part; if it has but one and stands between two signs, these share it."""
        runs = self.parts[place]
        between = place < len(self.signs) and any(islice(self.parts, place))
        if not between or len(runs) != 1 or len(runs[0]) == 1:
            return runs
        cut = -1 if self.signs[place - 1].by_word else 1
        return [runs[0][:cut], runs[0][cut:]]

    def chains(self) -> Iterator[Chain]:
        """The chains of the clause, and the runs that stand in none."""
        operands: list[Token] = []
        signs: list[Sign] = []
        parts = 0
        for place in range(len(self.parts)):
            runs = self.runs(place)
            if place:
                signs.append(self.signs[place - 1])
            for later, run in enumerate(runs):
                if later or not place:
                    yield Chain(operands, signs, parts)
                    operands, signs, parts = [], [], 0
                operands.extend(run)
                parts += 1
        yield Chain(operands, signs, parts)


def score_factor(
    response: str,
    *,
    suite: str,
    answer: str,
    target: int | None = None,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    context_budget: int | None = None,
) -> FactorScore:
    """The score of a response, reasoning included, to a FACTOR puzzle; the module's rules.

    `suite` is "symbolic" or "realistic"; `answer` is the gold answer as in the column, such as
    "v0, v12", "none" or "8"; `target` is the value that a symbolic puzzle asks for. `prompt_tokens`
    and `response_tokens` are counted against `context_budget`, which they share; a count that is
    not known counts as 0, and without a budget nothing is cut off.

    Raises ValueError if there is no such suite, or for a symbolic puzzle without its target.
    """
    if suite not in SUITES:
        raise ValueError(f"suite must be one of {', '.join(SUITES)}, got {repr(suite)}")
    if suite == "symbolic" and not isinstance(target, int):
        raise ValueError(f"target must be an integer in the symbolic suite, got {repr(target)}")
    if is_cut_off(prompt_tokens, response_tokens, context_budget) or not response.strip():
        return FactorScore(FactorOutcome.MAX_CONTEXT)
    if suite == "symbolic":
        gold = set(answer.split(", ")) - {"none"}
        read = read_variables(response, target)
    else:
        gold = {answer}
        number = read_number(response)
        read = None if number is None else {number}
    if read is None:
        return FactorScore(FactorOutcome.NO_ANSWER)
    if read == gold:
        return FactorScore(FactorOutcome.CORRECT)
    return FactorScore(FactorOutcome.WRONG_SET, in_order(gold - read), in_order(read - gold))


def in_order(names: set[str]) -> tuple[str, ...]:
    """Variables in order of their number."""
    return tuple(sorted(names, key=lambda name: (len(name), name)))


def score_metrics(score: FactorScore) -> dict[str, object]:
    """A score as a sample's metrics: accuracy, outcome, a flag a wrong outcome, the difference."""
    wrong = {
        outcome.value: int(outcome is score.outcome)
        for outcome in FactorOutcome
        if not outcome.correct
    }
    metrics = {"acc": int(score.outcome.correct), "outcome": score.outcome.value, **wrong}
    return metrics | {"missing": list(score.missing), "extra": list(score.extra)}


def read_variables(response: str, target: int) -> set[str] | None:
    """The variables that a response concludes to have the target value, or None (C1 to C5)."""
    lines = list(plain_lines(response))
    plain = [line for line in lines if not REMARK.match(line)]
    for some in (plain, lines):
        found = last_conclusion(sentences(some), str(target))
        if found is not None:
            return found
    stated: dict[str, bool] = {}
    for sentence in sentences(lines):
        for claims in read_claims(sentence, str(target)):
            stated |= dict.fromkeys(claims.other, False) | dict.fromkeys(claims.equal, True)
    return {name for name, is_equal in stated.items() if is_equal} or None


def last_conclusion(statements: list[str], target: str) -> set[str] | None:
    """The conclusion of the last statement that has one, as C4 extends it, or None."""
    found: set[str] | None = None
    for sentence in reversed(statements):
        concluded = conclusion(sentence, target)
        if concluded is not None:
            found = concluded | (found or set())
        if found is not None and (concluded is None or CUE.search(sentence)):
            break
    return found


def sentences(lines: list[str]) -> list[str]:
    """The sentences of plain lines (R4)."""
    return list(chain.from_iterable(map(SENTENCE_END.split, lines)))


def read_number(response: str) -> str | None:
    """The number that a response ends with, or None (N1 and N2)."""
    last = None
    for sentence in reversed(sentences(list(plain_lines(response)))):
        *_, after = ANSWER.split(sentence)
        found = list(values(after))
        if found and after != sentence:
            return found[0]
        found = found or list(values(sentence))
        last = last or (found[-1] if found else None)
    return last


def plain_lines(response: str) -> Iterator[str]:
    """The lines of a response's final part as plain text, lists joined to what they end (R2-R4)."""
    text = THOUGHT_START.split(THOUGHT_END.split(response)[-1])[0]
    text = text.translate(PLAIN_CHARACTERS).lower()
    for pattern, replacement in CLEANING:
        text = pattern.sub(replacement, text)
    joined: list[str] = []
    goes_on = in_list = after_blank = False
    for raw in text.split("\n"):
        line = raw.strip(" >#")
        if RULE.fullmatch(line):
            after_blank = True
            continue
        mark = ITEM.match(line)
        is_item = mark or (VARIABLE_FIRST.match(line) and (goes_on or not after_blank))
        line = line[mark.end() if mark else 0 :].rstrip(" ,")
        if not goes_on and not (in_list and is_item):
            yield "".join(joined)
            joined, in_list = [], False
        if joined:
            in_list = is_item
            joined.append(" " if goes_on else ", ")
        if OPEN_LINE.search(line):
            line += ":"
        goes_on = line.endswith(":")
        joined.append(line.rstrip(".") if in_list else line)
        after_blank = False
    yield "".join(joined)


def conclusion(sentence: str, target: str) -> set[str] | None:
    """The set of variables that a statement concludes with, or None (C1 to C3)."""
    empty = EMPTY.search(sentence)
    if not empty and not VARIABLE_FIRST.search(sentence):
        return None  # most sentences, and quick to tell
    outer, *asides = read_claims(sentence, target)
    if empty and not NOT_EMPTY.search(sentence):
        for part in (sentence[: empty.start()], *CONTRAST.split(sentence[empty.end() :], 1)[1:]):
            equal = claims_of(part, target).equal
            if equal and not EMPTY.search(part):
                return equal
        numbers = {text for kind, text in tokens(sentence) if kind == "number"}
        if target in numbers or not numbers or "answer" in sentence:
            return set()
    other = set().union(*(aside.other - aside.equal for aside in asides))
    equal = outer.equal - other
    if equal:
        return equal if outer.by_word or CUE.search(sentence) else None
    listed = outer.listed - outer.other - other
    if listed and (outer.asked or outer.bare or LIST_CUE.search(sentence)):
        return listed
    return None


def read_claims(sentence: str, target: str) -> list[Claims]:
    """What a statement says of variables, without its asides, and what each of them says (R7)."""
    asides: list[str] = []

    def take(match: Match) -> str:
        name, aside = match.groups()
        asides.append(aside if VARIABLE_FIRST.match(aside.lstrip()) else f"{name} = {aside}")
        return name

    outer = ASIDE.sub(take, sentence)
    return [claims_of(text, target) for text in (outer, *asides)]


def claims_of(text: str, target: str) -> Claims:
    """What a text says of variables, given the target value (R6)."""
    equal, other, listed = set(), set(), set()
    by_word = asked = False
    for link in chains(text):
        names = [text for kind, text in link.operands if kind == "variable"]
        value = link.value
        if any(sign.unequal for sign in link.signs):
            other.update(names)
        elif value == target:
            equal.update(names)
            by_word |= any(sign.by_word for sign in link.signs) and bool(names)
            asked |= not names
        elif value is not None:
            other.update(names)
        elif link.parts == 1:
            listed.update(names)
    bare = all(kind in {"variable", "comma", "separator"} for kind, _ in tokens(text))
    return Claims(equal, other, listed, by_word, asked, bare)


def values(text: str) -> Iterator[str]:
    """The values of a text's chains that have one."""
    return (link.value for link in chains(text) if link.value is not None)


def tokens(text: str) -> Iterator[Token]:
    """The kind and the text of each token of a plain text, but for what is passed over (R5)."""
    for match in TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "variable":
            token = "v" + (token.lstrip("v _").lstrip("0") or "0")
        elif kind == "number":
            token = canonical_number(token)
        if kind is not None and kind != "passed":
            yield Token(kind, token)


def canonical_number(text: str) -> str:
    """A number as an integer is written, where it is one: "8" for "+08.0"."""
    whole, _, fraction = text.lstrip("+-").replace(",", "").partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    number = f"{whole}.{fraction}" if fraction else whole
    return f"-{number}" if text.startswith("-") and number != "0" else number


def chains(text: str) -> Iterator[Chain]:
    """The chains of a plain text, and the runs of operands that stand in none (R6)."""
    clause = Clause()
    for token in tokens(text):
        kind = token.kind
        if kind in {"variable", "number", "expression"}:
            clause.add(token)
        elif kind == "comma":
            clause.after_comma = True
        elif kind == "equal" or (kind == "colon" and clause.takes_colon):
            clause.link(Sign(unequal=False, by_word=token.text not in {"=", "|"}))
        elif kind == "unequal" and not clause.after_comma:
            clause.link(Sign(unequal=True, by_word=False))
        elif kind not in {"opener", "colon"} or not clause.ends_with_sign:
            yield from clause.chains()
            clause = Clause()
            if kind == "unequal":
                clause.link(Sign(unequal=True, by_word=False))
    yield from clause.chains()

"""A response -> the answer that it gives, and where it gives it (FACTOR, section 3).

The paper asks for the variables that have a value (symbolic suite) or for a number (realistic) and
leaves open how an answer is read. These are the rules; the words and the patterns that they name
are in `data/reading.toml`.

R1. Final part. Reasoning that stands in the response (reasoning.py) is dropped, and so is what
    stands after a mark that ends the turn, and, once an "answer:" has been given, from the next
    question on. The last 20,000 characters of what is left are read.
R2. Plain text. The rest is in lowercase, with subscripts, full-width and mathematical letters in
    ASCII; LaTeX commands, braces, dollars, emphasis, code and check marks are blank, and so is what
    is struck through; a cross (✗) is kept. "\\boxed" and an <answer> or <result> tag are the word
    "answer:"; an empty pair of brackets, "\\emptyset" and "\\varnothing" are "∅". Some words of
    other languages are read as English ones, and numbers in words as digits.
R3. Statements. Blank lines are dropped, and heading, quotation and bullet marks. A line that ends
    with a colon or with "answer" or "conclusion" goes on with the next line, and then with the
    items of a list or the rows of a table. Lines end where they end, and sentences at ". ", "! "
    and "? ". A remark is a statement that begins with "Check:", "Note that" or the like or stands
    in parentheses.
R4. Not read. A question, a plan ("to find ...", "let me", "whether", "if") and a refusal ("I cannot
    determine") commit to nothing; of a plan, what follows a "so", "answer:" or the like is read.
    Nor are examples ("such as v6"), reasons ("because v4 = 1") and concessions ("although ...,"),
    what "not" excludes in favour of something else ("not v4 but v6"), and what stands before a
    correction ("no, wait"), nor a clause about "the others".
R5. Tokens. A variable is "v" and a number (v3, V3, v_3, v 3, v03); "v1 through v4" is all four. A
    number is an integer or a decimal (-3, 1,024, 2.0). Operands joined by + - * /, with or without
    parentheses, are an expression. EQUAL words and signs are an equals sign; with "not", ≠ and the
    like among them, an unequal one, and so is a cross after a variable or value; a colon is one
    after a variable or a value ("2: v3"), or between "equal to 2" and the variables, and so is an
    arrow before a number. PASSED words
    count for nothing. Any other word separates what stands before it from what follows, and so do
    "only", "so" and the like (OPENER) unless they follow an equals sign.
R6. Equations. Operands joined by equals signs are a chain. Variables joined by a comma, "and", "as
    well as" or the like are one operand. When such a list stands between two signs, split it: after
    "=" the left sign takes only the first item; otherwise the right sign takes only the last. The
    value of a chain is its last number: all variables that stand in it by themselves have this
    value, or, if one of its signs is unequal, another. "But v4 is" gives v4 the target value, and a
    JOINT word after a value adds variables ("v3 is 2, as well as v7"). Variables of a chain without
    a value have the target's if one of them has; variables in no chain are listed.
R7. Asides. What stands in parentheses after a variable is read by itself, as an equation of the
    variable if it does not begin with another one: "v3 (2)", "v3 (= v4 + 1)".

Symbolic suite. A statement concludes with
C1. the empty set, if it says "none", "no variable", ∅ and the like (EMPTY), but neither "no other",
    "except v3" and the like (NOT_EMPTY), nor another number ("no variable is equal to 3"); yet if
    it gives variables the target value before that, or after a "but", "so", "only" and the like
    (CONTRAST) that follows, with these. It is open if what follows in the statement may take it
    back as in C6;
C2. else the variables that it gives the target value, without those that an aside gives another, if
    a CUE ("answer", "variable", "only", "therefore", ...) is in it or a word joins them to the
    value ("v3 is equal to 2", not "v3 = 2"), unless a last "only v3" names fewer. In JSON, what
    follows the last "answer:" counts;
C3. else its listed variables, without those that it gives another value, if it says "answer",
    "exactly", "only", "therefore" or the like (LIST_CUE), corrects another, names the target
    without a variable ("the variable equal to 2 in this text is v3"), or holds nothing but
    variables.
C4. The answer is the conclusion of the last statement that has one. If no CUE is in it, but "also"
    or the like or only one variable, that of the statement before it is added, and so on. "None" is
    nothing once an equation after it gives the target. Remarks are read only if nothing else
    concludes. A statement that breaks off concludes nothing; where the response breaks off or
    refuses, a conclusion needs a CERTAIN cue ("answer", "only", "variable"). One that leaves a
    choice ("v4 or v6") or a doubt ("might be") is no answer.
C5. If none concludes, the answer is what the last statement with variables lists without a number
    or an UNFINISHED word ("I get v4."), unless the response breaks off; else the variables to which
    it last gives the target value, if there are any, and if it neither refuses nor breaks off, and
    does not end with a plan or a question.
C6. No answer is one to which the statements after it may add, or from which they may take: one of
    its variables gets another value there, or stands there by itself in no equation; or another
    variable has neither a value that is not the target, nor a denial beside it.

Realistic suite. Each chain has its value as in R6; the number of a step is no value, nor is what
follows a value as its reason. The subject is the animal and the place of the question, which may be
the response's.
N1. The answer is the first value after the last "answer:", "answer is" and the like of the last
    statement in which a number follows it, or the value of the last statement that has one from a
    correction after it on, of no other place or animal;
N2. else the last value, outside parentheses if there is one, of the last statement that has a
    value, remarks and tables apart, if it concludes: if it names the subject; or if it names no
    other place or animal, is no step of the work ("Define ...", "Step 2"), has no UNFINISHED word,
    and the response nowhere refuses; or if it is the last statement and ends with "so it is 35",
    "which makes 35" or the like, of no other place. If the response breaks off, there is none.
N3. Else the last statement, item or row that names the subject and ends with a value.
N4. An announced number (N1) is no answer unless an equals sign, an OPENER or the like stands right
    before it (not "twice 23"), nor if other words than the animal and the place follow it ("23
    dozen", "23 less the Fox"), or if its statement ends with another number as in N2 ("23, so 46").
    A choice ("25 or 32") and a vague number ("between", "at least", "might be") are no answer. A
    statement that something is unknown (ABSENT), and a sum that is left open ("3 times the Bear of
    South Zoo"), have no value.
N5. No answer is one after which another number stands with no other place, and not only other
    animals, beside it, or which a correction gives, unless the answer itself follows that.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from re import compile, escape
from typing import NamedTuple

from cogniload_gen.factor.reading.equations import (
    Chain,
    Claims,
    chains,
    claims_of,
    committed,
    corrected,
    decided,
    in_order,
    is_refusal,
    names_of,
    read_claims,
    tokens,
    values,
    without_reason,
)
from cogniload_gen.factor.reading.text import (
    NUMBER,
    VARIABLE_FIRST,
    Statement,
    patterns,
    rewriting,
    statements_of,
)


class Reading(NamedTuple):
    """The answer that a response gives, and where.

    `value` is the answer as in the column, such as "v0, v7", "none" or "25", or None if there is
    none; `rule` names the rule of this module that decided; `place` is where in the response
    (start, stop) the statement stands that it was read from, or None.
    """

    value: str | None
    rule: str
    place: tuple[int, int] | None = None


class Conclusion(NamedTuple):
    """The variables that a statement concludes with, and by which rule.

    `has_cue`: the statement says that it concludes; `adds`: it goes on from the one before it;
    `is_open`: it leaves a choice or a doubt; `is_weak`: it concludes only after one that does.
    """

    names: set[str]
    rule: str
    has_cue: bool
    adds: bool = False
    is_open: bool = False
    is_weak: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether the statement before may belong to it."""
        return self.adds or not (self.has_cue or len(self.names) > 1)


# --- symbolic suite -------------------------------------------------------------------------------

MOST_WORDS = 5
"""Of a last statement that lists variables without a cue (C5)."""


def read_variables(response: str, target: int) -> Reading:
    """The variables that a response concludes to have the target value (C1 to C6)."""
    passage, value = statements_of(response), str(target)
    assertions = [statement for statement in passage if not statement.is_remark]
    reading = _last_conclusion(assertions, value) or _last_conclusion(passage, value)
    reading = reading or _last_listed(assertions, value) or _last_stated(passage, value)
    names = set((reading.value or "none").split(", ")) - {"none"}
    later = following(reading, passage)
    is_open = any(_takes_up(text, one.text, names, value) for one in later for text in one.parts)
    return reading._replace(value=None, rule="C6") if is_open else reading


def following(reading: Reading, passage: Sequence[Statement]) -> list[Statement]:
    """The statements after those that an answer was read from; none where there is no answer."""
    stop = reading.place[1] if reading.value and reading.place else inf
    return [one for one in passage if one.start >= stop]


def _takes_up(text: str, head: str, names: set[str], target: str) -> bool:
    """Whether a text under a head may add variables to an answer, or take some of its own back."""
    text = patterns.offer.sub("", text)
    named = _in_text(text)
    if text.endswith("?") or not named:
        return False
    if names and "answer:" in head and not named & names:
        return True
    claims = read_claims(text, target)
    equal = {name for one in claims for name in one.equal}
    other = {name for one in claims for name in one.other} - equal
    if other & names or equal - names:
        return True
    numbers = _numbers_in(_number_text(f"{head} {text}") or "")
    is_apart = bool(numbers) and target not in numbers
    is_apart |= bool(patterns.apart.search(head))
    strangers = named - names - other - equal
    return bool(strangers and not is_apart) or not (named >= names or named & names <= equal)


def _last_listed(passage: Sequence[Statement], target: str) -> Reading | None:
    """The variables that the last statement with any lists, without a sign of work (C5)."""
    last = next((one for one in reversed(passage) if VARIABLE_FIRST.search(one.whole)), None)
    if last is None or _breaks_off(passage) or patterns.hedge.search(last.text):
        return None
    text = committed(last.text) or ""
    kinds = [kind for kind, *_ in tokens(text)]
    listed = read_claims(text, target)[0].listed
    is_work = "number" in kinds or kinds.count("word") > MOST_WORDS
    if not listed or is_work or patterns.unfinished.search(last.text):
        return None
    return Reading(", ".join(in_order(listed)), "C5", (last.start, last.stop))


def _last_conclusion(passage: Sequence[Statement], target: str) -> Reading | None:
    """The conclusion of the last statement that has one, as C4 extends it, or None."""
    joined: list[tuple[Statement, Conclusion]] = []
    is_refuted = False
    for statement in reversed(passage):
        concluded = conclusion(statement, target)
        if concluded is None or concluded.is_weak:
            if joined:
                break
            is_refuted |= concluded is not None
        elif concluded.is_open and not joined:
            return Reading(None, "C4", (statement.start, statement.stop))
        elif concluded.is_open or (is_refuted and not concluded.names):
            break
        else:
            joined.append((statement, concluded))
            if not concluded.goes_on:
                break
    if not joined:
        return None
    last, concluded = joined[0]
    is_certain = patterns.strong_cue.search(last.whole)
    if not is_certain and (_is_unfinished(passage) or any(is_refusal(one.text) for one in passage)):
        return None
    names = set().union(*(concluded.names for _, concluded in joined))
    place = joined[-1][0].start, last.stop
    return Reading(", ".join(in_order(names)) or "none", concluded.rule, place)


def conclusion(statement: Statement, target: str) -> Conclusion | None:
    """The set of variables that a statement concludes with, or None (C1 to C3)."""
    if not VARIABLE_FIRST.search(statement.whole) and not patterns.empty.search(statement.whole):
        return None  # most statements, and quick to tell
    text = committed(statement.text)
    if text is None or patterns.dangling.search(statement.whole):
        return None
    text = patterns.labelled_answer.split(text)[-1]
    whole = "\n".join((text, *statement.items))
    is_correction = bool(patterns.correction.search(statement.text))
    has_cue = is_correction or bool(patterns.cue.search(whole))
    adds = bool(patterns.adding.search(f"{statement.text}\n{text}"))
    is_hedged = bool(patterns.hedge.search(text))
    names = _none_but(whole, target)
    if names is not None:
        *_, after = patterns.empty.split(statement.whole)
        after = patterns.denied.sub("", after)
        is_open = is_hedged or (not names and _takes_up(after, whole, names, target))
        return Conclusion(names, "C1", has_cue or not names, adds, is_open)
    outer, *asides = read_claims(text, target)
    entries = [_listed_entry(item, target) for item in statement.items]
    other = set().union(*(aside.other - aside.equal for aside in asides))
    equal = outer.equal.union(*(entry.equal for entry in entries)) - other
    only = patterns.only.search(text)
    is_open = outer.is_choice or is_hedged or bool(only and _in_text(only[1]) < equal)
    if equal:
        is_weak = not has_cue and not outer.names_target
        is_weak &= not any(claims.by_word for claims in (outer, *entries))
        return Conclusion(equal, "C2", has_cue, adds, is_open, is_weak)
    listed = outer.listed.union(*(entry.listed for entry in entries)) - outer.other - other
    is_bare = outer.bare and (not asides or len(listed) > 1)  # "v3 (2)" is an equation
    says_so = outer.names_target or is_bare or is_correction or patterns.list_cue.search(whole)
    return Conclusion(listed, "C3", has_cue, adds, is_open) if listed and says_so else None


def _none_but(text: str, target: str) -> set[str] | None:
    """The variables that a text excepts when it says that none has the value, or None (C1)."""
    empty = patterns.empty.search(text)
    if not empty or patterns.not_empty.search(text):
        return None
    after = patterns.contrast.split(text[empty.end() :], maxsplit=1)[1:]
    for part in (text[: empty.start()], *after):
        claims = claims_of(part, target)
        names = claims.equal or (claims.listed if patterns.ellipsis.search(part) else set())
        if names:
            return names
    denied = patterns.denied_value.match(text, empty.end())
    return None if denied and target not in _numbers_in(denied[0]) else set()


def _in_text(text: str) -> set[str]:
    """The variables of a text."""
    return set(names_of(tokens(text)))


def _numbers_in(text: str) -> list[str]:
    """The numbers of a text."""
    return [number for kind, number, *_ in tokens(text) if kind == "number"]


def _listed_entry(item: str, target: str) -> Claims:
    """What an item of a list says."""
    outer, *asides = read_claims(without_reason(item), target)
    other = set().union(*(aside.other - aside.equal for aside in asides))
    return outer._replace(equal=outer.equal - other, listed=outer.listed - outer.other - other)


def _last_stated(passage: Sequence[Statement], target: str) -> Reading:
    """The variables to which a response last gives the target value (C5)."""
    stated: dict[str, bool] = {}
    place: tuple[int, int] | None = None
    for statement in passage:
        for part in filter(None, map(committed, statement.parts)):
            for claims in read_claims(part, target):
                stated |= dict.fromkeys(claims.other, False) | dict.fromkeys(claims.equal, True)
                if claims.equal:
                    place = place[0] if place else statement.start, statement.stop
    names = in_order(name for name, is_equal in stated.items() if is_equal)
    is_open = any(is_refusal(one.text) for one in passage)
    if not names or is_open or _is_unfinished(passage) or not committed(passage[-1].text):
        return Reading(None, "C5")
    return Reading(", ".join(names), "C5", place)


def _breaks_off(passage: Sequence[Statement]) -> bool:
    """Whether a response ends within an equation."""
    if not passage:
        return False
    last = passage[-1].whole
    return bool(patterns.dangling.search(last)) or bool(
        patterns.next.search(last) and not any(values(last))
    )


def _is_unfinished(passage: Sequence[Statement]) -> bool:
    """Whether a response ends within an equation, or before the variables of its conclusion."""
    if not passage or _breaks_off(passage):
        return bool(passage)
    last = passage[-1]
    if patterns.continued.search(last.whole):
        return True
    if patterns.step.match(last.whole) and not VARIABLE_FIRST.search(last.whole):
        return True
    return (
        (last.whole[-1:].isalnum() or last.whole.endswith(":"))
        and bool(patterns.cue.search(last.whole))
        and not VARIABLE_FIRST.search(last.whole)
        and not patterns.empty.search(last.whole)
    )


# --- realistic suite (N1 to N4) -------------------------------------------------------------------

REWRITTEN = rewriting("numbers")


def read_number(response: str, question: str | None = None) -> Reading:
    """The number that a response answers with (N1 to N5), to a `question` if it is known."""
    passage = statements_of(response)
    subject = _subject_of(passage, question)
    reading = _number_given(passage, subject)
    is_open = _is_retaken(reading, passage, subject)
    return reading._replace(value=None, rule="N5") if is_open else reading


def _is_retaken(reading: Reading, passage: Sequence[Statement], subject: Sequence[str]) -> bool:
    """Whether what follows a number may be another answer (N5)."""
    for one in reversed(following(reading, passage)):
        text = patterns.offer.sub("", one.whole)
        text = _number_text(text) or (text if patterns.plan.search(text) else "")
        for part in reversed(patterns.clause_end.split(text)):
            numbers = list(values(part))
            ends = patterns.concluded.search(part)
            is_own = _may_be_own(subject, ends[0] if ends else part)
            is_own |= bool(patterns.correction.match(text)) or f"{reading.value} + " in part
            if numbers and is_own:
                return numbers[-1] != reading.value
    return False


def _number_given(passage: Sequence[Statement], subject: Sequence[str]) -> Reading:
    """The number that a response gives, whatever follows it (N1 to N4)."""
    for place in reversed(range(len(passage))):
        *before, after = patterns.answer.split(_number_text(passage[place].whole) or "")
        if before and any(kind in {"number", "expression"} for kind, *_ in tokens(after)):
            revised = revision(passage[place + 1 :], subject)
            return revised or _number_of(passage[place], after, "N1", subject)
    if _breaks_off(passage):
        return Reading(None, "N2")
    for statement in reversed(passage):
        text = _number_text(statement.whole) or ""
        outside = patterns.parentheses.sub("", text)
        is_apart = statement.is_remark or statement.is_row
        if is_apart or not any(values(text)) or patterns.open_sum.search(outside):
            continue
        if concludes(statement, text, subject, passage):
            return _number_of(statement, _part_on(subject, text), "N2")
        break
    for statement in reversed(passage):
        for part in reversed(statement.parts):
            text = _number_text(part) or ""
            if names(subject, part) and patterns.final_number.search(text):
                return _number_of(statement, text, "N3")
    return Reading(None, "N2")


def revision(later: Sequence[Statement], subject: Sequence[str]) -> Reading | None:
    """The number to which the statements after an answer correct it, or None (N1)."""
    corrections = (patterns.correction.match(one.text) and one.text[-1:] != "?" for one in later)
    start = next((i for i, match in enumerate(corrections) if match), len(later))
    for statement in reversed(later[start:]):
        text = _number_text(statement.whole) or ""
        if any(values(text)) and not _is_of_another(subject, text):
            return _number_of(statement, text, "N1")
    return None


@lru_cache(maxsize=256)
def _number_text(text: str) -> str | None:
    """What a statement commits to, without what only looks like its number, or None (R4)."""
    if not patterns.has_number.search(text) or patterns.absent.search(text):
        return None
    text = decided(text) or ""
    for pattern, replacement in REWRITTEN:
        text = pattern.sub(replacement, text)
    return text or None


def _number_of(
    statement: Statement, text: str, rule: str, subject: Sequence[str] | None = None
) -> Reading:
    """The last value of a text, or none if it is open (N4); the first value, given a subject."""
    text = corrected(text, lambda after: any(values(after)))
    outside = patterns.parentheses.sub("", text)
    text = outside if any(values(outside)) else text
    place = statement.start, statement.stop
    links = [link for link in chains(text) if any(kind != "variable" for kind, *_ in link.operands)]
    link = links[0] if subject is not None else [link for link in links if link.value][-1]
    is_alone = subject is None or _stands_alone(link, text, subject)
    if not is_alone or link.is_choice or patterns.hedge.search(text) or patterns.rough.search(text):
        return Reading(None, "N4", place)
    return Reading(link.value, rule if link.value else "N4", place)


def _stands_alone(link: Chain, text: str, subject: Sequence[str]) -> bool:
    """Whether an announced number is all that is counted: not "twice 23", "23 dozen" (N4)."""
    before, after = text[: link.operands[0].start], text[link.operands[-1].stop :]
    unit, rest = patterns.unit.fullmatch(after).groups()
    ends = patterns.concluded.search(rest)
    stem = subject[0][: max(3, len(subject[0]) - 1)] if subject else ""
    words = [word for kind, word, *_ in tokens(unit) if kind == "word"]
    is_unit = all(word.startswith(stem) for word in words) and bool(
        subject or len(unit.split()) < 2
    )
    is_unit &= not any(values(unit))
    is_unit |= any(letter >= "À" for letter in unit)  # words of other languages
    is_other = ends and link.value not in [*values(ends[0])]
    return bool(patterns.announced.search(before)) and is_unit and not is_other


def concludes(
    statement: Statement, text: str, subject: Sequence[str], passage: Sequence[Statement]
) -> bool:
    """Whether a statement with a number is an answer, not a step of the work (N2)."""
    ends = patterns.concluded.search(text) if statement is passage[-1] else None
    if names(subject, statement.whole) or (ends and not _is_of_another(subject, ends[0])):
        return True
    is_open = _is_of_another(subject, text) or any(is_refusal(other.text) for other in passage)
    is_work = patterns.work.search(statement.whole) or patterns.unfinished.search(text)
    return not is_open and not is_work


def _is_of_another(subject: Sequence[str], text: str) -> bool:
    """Whether a text speaks of another place than the subject's, or of other animals only."""
    return bool(subject) and not _may_be_own(subject, text)


def _may_be_own(subject: Sequence[str], text: str) -> bool:
    """Whether a text names no other place than the subject's, and no other animals only."""
    animal, place = subject or ("", "")
    is_other = (patterns.animal.search(text) or "animals" in text) and animal not in text
    return not is_other and not patterns.place.search(text.replace(place, ""))


def names(subject: Sequence[str], text: str) -> bool:
    """Whether a text names the animal and the place."""
    return bool(subject) and all(name in text for name in subject)


def _part_on(subject: Sequence[str], text: str) -> str:
    """The part of a text with a number that names the place last; else the text."""
    if not subject:
        return text
    parts = [part for part in patterns.clause_end.split(text) if any(values(part))]
    of_place = [part for part in parts if subject[1] in part]
    named = [part for part in parts if subject[0] in part and not _is_of_another(subject, part)]
    text = (named or of_place or [text])[-1]
    counts = list(compile(rf"(?:has|have|is|are) {NUMBER} {escape(subject[0])}").finditer(text))
    is_one = len(counts) == 1 and "=" not in text[counts[0].end() :]
    return text[: counts[0].end()] if is_one else text


def _subject_of(passage: Sequence[Statement], question: str | None) -> tuple[str, ...]:
    """The animal and the place of a question, texts of the response or repeated by it."""
    texts = [question.lower()] if question else [statement.whole for statement in passage]
    return next((match.groups() for match in map(patterns.subject.search, texts) if match), ())

"""A response -> the answer that it gives, and where it gives it (FACTOR, section 3).

The paper asks for the variables that have a value (symbolic suite) or for a number (realistic) and
leaves open how an answer is read. These are the rules; the words and the patterns that they name
are in `data/reading.toml`.

R1. Final part. What stands up to the last mark that ends a reasoning trace, such as "</think>", is
    dropped, and so is what stands after a mark that begins one without end, after a mark that ends
    the turn, and, once an "answer:" has been given, from the next question on. The last 20,000
    characters of what is left are read.
R2. Plain text. The rest is in lowercase, with subscripts, full-width and mathematical letters in
    ASCII; LaTeX commands, braces, dollars, emphasis, code and check marks are blank, and so is what
    is struck through; a cross (✗) is kept. "\\boxed" and an <answer> or <result> tag are the word
    "answer:"; an empty pair of brackets, "\\emptyset" and "\\varnothing" are "∅". Some words of
    other languages are read as English ones, and numbers in words as digits.
R3. Statements. Blank lines are dropped, and heading, quotation and bullet marks. A line that ends
    with a comma, a colon or with "answer" or "conclusion" goes on with the next line, and then with
    the items of a list or the rows of a table; so does a number alone above a list. Lines end where
    they end, and sentences at ". ", "! " and "? ". A remark is a statement that begins with
    "Check:", "Note that" or the like or stands in parentheses, and what stands under a heading that
    is one.
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
    JOINT word after a value adds variables ("v3 is 2, as well as v7"); "respectively" pairs
    variables with as many values. In a table's row, the first
    cell of variables has the last value beside it. Variables of a chain without a value say
    nothing; variables in no chain are listed.
R7. Asides. What stands in parentheses after a variable is read by itself, as an equation of the
    variable if it does not begin with another one: "v3 (2)", "v3 (= v4 + 1)".

Symbolic suite. A statement concludes with
C1. the empty set, if it says "none", "no variable", ∅ and the like (EMPTY), but neither "no other",
    "except v3" and the like (NOT_EMPTY), nor numbers without the target among them (unless it says
    "answer"); yet if it gives variables the target value before that, or after a "but", "so" and
    the like (CONTRAST) that follows, with these, as with those of a last "only v3". It is open if
    what follows in the statement may take it back as in C6;
C2. else the variables that it gives the target value, without those that an aside gives another, if
    a CUE ("answer", "variable", "only", "therefore", ...) is in it or a word joins them to the
    value ("v3 is equal to 2", not "v3 = 2"), unless a last "only v3" names fewer. In JSON, what
    follows the last "answer:" counts;
C3. else its listed variables, without those that it gives another value, if it says "answer",
    "result", "only", "therefore" or the like (LIST_CUE), corrects another, names the target without
    a variable ("the variable equal to 2 in this text is v3"), or holds nothing but variables. An
    item of a list whose head names the target so gives it to its first variable.
C4. The answer is the conclusion of the last statement that has one. If no CUE is in it, but "also"
    or the like or only one variable, that of the statement before it is added, and so on; an
    equation with "also" ("Also, v7 = 2") is added to what concludes before it. What a correction
    after it, or a statement that is added, gives another value, is taken away, and "none" is
    nothing once an equation after it gives the target. Remarks are read only if nothing else
    concludes. A table's row that no line opens, and a statement that breaks off, conclude nothing;
    where the response breaks off or refuses, a conclusion needs a CERTAIN cue ("answer", "only",
    "variable"). One that leaves a choice ("v4 or v6") or a doubt ("might be") is no answer.
C5. If none concludes, and the response neither refuses nor breaks off, the answer is what the last
    statement with variables lists without a number or an UNFINISHED word ("I get v4."), or none if
    it denies the target to all of them; else none, if no variable has been given the target and the
    last clause is a DENIAL of a few words, but not of a PERSONAL one ("you", "text"); else the
    variables to which the response last gives the target value, if there are any, if it gives every
    variable that it sets equal to another a value, and if it ends with a value, not with a plan or
    a question.
C6. No answer is one to which the statements after it may add, or from which they may take: one of
    its variables gets another value there, or stands there by itself in no equation; or another
    variable has neither a value that is not the target, nor a computation, nor a denial beside it.

Realistic suite. Each chain has its value as in R6; the number of a step or a heading is no value,
nor is what follows a value as its reason. The subject is the animal and the place of the question,
which may be the response's; the letter that stands for it names it too.
N1. The answer is the first value after the last "answer:", "answer is" and the like of the last
    statement in which a number follows it, or what the statements from a correction after it on
    conclude with ("so it is 35", "that makes 35"), or else the first value of that correction;
N2. else the last value, outside parentheses and in bold print if there is one, of the last
    statement that has a value, remarks and tables apart, if it concludes: if it names the
    subject; or if it names no other place or animal, is no step of the work ("Define ...", "x =
    ..."), and has bold print, corrects another, has a NUMBER_CUE ("therefore", "has", ...), holds
    no other words, or is the last sentence, or if it is the last statement and ends with "so it is
    35", "which makes 35" or the like, of no other place. If every number of a statement has a place
    or an animal beside it, the subject's counts. A statement that gives the subject "that many"
    refers to the one before. If the response breaks off after it, there is no answer. If the
    subject is not known, an equation of a place's animal that ends the response concludes.
N3. Else the last statement that names the subject and ends with a value, or the row or cell of a
    table that stands for the subject.
N4. An announced number (N1) is no answer unless an equals sign, an OPENER or the like stands right
    before it (not "twice 23"), nor if other words than the animal and the place follow it ("23
    dozen", "23 less the Fox"), or if its statement ends with another number as in N2 ("23, so 46").
    A choice ("25 or 32") and a vague number ("between", "at least", "might be") are no answer. A
    statement that something is unknown (ABSENT), and a sum that is left open ("3 times the Bear of
    South Zoo"), have no value.
N5. No answer is one after which another number stands that is not in the text before it, or ends
    its statement as in N2 ("so it is 35"), with no other place, and not only other animals, beside
    it, or which a correction gives, unless the answer itself follows that.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from re import compile, escape
from typing import NamedTuple

from cogniload_gen.factor.reading.equations import (
    Chain,
    Claims,
    canonical_number,
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
    plain,
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
        return self.is_weak or self.adds or not (self.has_cue or len(self.names) > 1)


# --- symbolic suite -------------------------------------------------------------------------------

MOST_WORDS = 5
"""Of a last statement that lists variables without a cue (C5)."""
MOST_DENYING_WORDS = 8


def read_variables(response: str, target: int) -> Reading:
    """The variables that a response concludes to have the target value (C1 to C6)."""
    passage = statements_of(response)
    reading = last_conclusion(passage, str(target), remarks=False)
    if reading is None:
        reading = last_conclusion(passage, str(target), remarks=True)
    reading = reading or last_listed(passage, str(target)) or last_stated(passage, str(target))
    names = set((reading.value or "none").split(", ")) - {"none"}
    later = following(reading, passage)
    is_open = any(
        takes_up(text, one.text, names, str(target)) for one in later for text in one.parts
    )
    return reading._replace(value=None, rule="C6") if is_open else reading


def following(reading: Reading, passage: Sequence[Statement]) -> list[Statement]:
    """The statements after those that an answer was read from; none where there is no answer."""
    stop = reading.place[1] if reading.value and reading.place else inf
    return [one for one in passage if one.start >= stop]


def takes_up(text: str, head: str, names: set[str], target: str) -> bool:
    """Whether a text under a head may add variables to an answer, or take some of its own back."""
    text = patterns.offer.sub("", text)
    sure = committed(text) or text
    named = in_text(sure)
    if text.endswith("?") or not named:
        return False
    claims = read_claims(text, target) + read_claims(sure, target)
    equal = {name for one in claims for name in one.equal}
    other = {name for one in claims for name in one.other} - equal
    if other & names or equal - names:
        return True
    for link in chains(sure):
        is_computed = any(kind == "expression" for kind, *_ in link.operands)
        if is_computed or (len(link.operands) > 1 and names.issuperset(link.names)):
            equal.update(link.names)
    numbers = numbers_in(number_text(f"{head} {text}") or "")
    is_apart = bool(numbers) and target not in numbers and str(len(names | named)) not in numbers
    is_apart |= bool(patterns.apart.search(head)) and not patterns.adding.search(text)
    strangers = named - names - other - equal
    return bool(strangers and not is_apart) or not (named >= names or named & names <= equal)


def last_listed(passage: Sequence[Statement], target: str) -> Reading | None:
    """The variables that the last statement with any lists, without a sign of work (C5)."""
    assertions = (statement for statement in reversed(passage) if not statement.is_remark)
    last = next((one for one in assertions if VARIABLE_FIRST.search(one.whole)), None)
    if last is None or last.items or patterns.unfinished.search(last.text) or breaks_off(passage):
        return None
    if any(is_refusal(statement.text) for statement in passage) or patterns.hedge.search(last.text):
        return None
    text = committed(last.text) or ""
    outer = read_claims(text, target)[0]
    if outer.other and set(numbers_in(text)) == {target}:
        every = {name for statement in passage for name in in_text(statement.whole)}
        if every == outer.other and len(every) > 1:
            return Reading("none", "C5", (last.start, last.stop))
    kinds = [kind for kind, *_ in tokens(text)]
    if {"number", "expression"} & {*kinds} or kinds.count("word") > MOST_WORDS:
        return None
    if not outer.listed or outer.other or outer.equal or outer.is_choice:
        return None
    return Reading(", ".join(in_order(outer.listed)), "C5", (last.start, last.stop))


def last_conclusion(passage: Sequence[Statement], target: str, *, remarks: bool) -> Reading | None:
    """The conclusion of the last statement that has one, as C4 extends it, or None."""
    joined: list[tuple[Statement, Conclusion]] = []
    denied: set[str] = set()
    is_refuted = False
    for statement in reversed(passage):
        if statement.is_remark and not remarks:
            continue
        concluded = conclusion(statement, target)
        begun = any(not other.is_weak for _, other in joined)
        if concluded is None or (concluded.is_weak and not concluded.adds):
            if begun:
                if joined[-1][1].adds:
                    continue
                break
            joined, is_refuted = [], is_refuted or concluded is not None
            if patterns.correction.match(statement.text):
                denied |= claims_of(statement.text, target).other
        elif begun and concluded.is_open:
            break
        elif concluded.is_open:
            return Reading(None, "C4", (statement.start, statement.stop))
        elif is_refuted and not concluded.names:
            return None
        else:
            joined.append((statement, concluded))
            denied |= claims_of(committed(statement.text) or "", target).other - concluded.names
            if not concluded.goes_on:
                break
    return joint_reading(joined, denied, passage)


def joint_reading(
    joined: Sequence[tuple[Statement, Conclusion]], denied: set[str], passage: Sequence[Statement]
) -> Reading | None:
    """What conclusions say that belong together, the last one first, but for what was denied."""
    sure = [(statement, concluded) for statement, concluded in joined if not concluded.is_weak]
    if not sure:
        return None
    is_certain = patterns.strong_cue.search(sure[0][0].whole)
    if not is_certain and (is_unfinished(passage) or any(is_refusal(one.text) for one in passage)):
        return None
    place = joined[-1][0].start, joined[0][0].stop
    names = set().union(*(concluded.names for _, concluded in joined))
    if names and not names - denied:
        return Reading(None, "C4", place)
    return Reading(", ".join(in_order(names - denied)) or "none", sure[0][1].rule, place)


def conclusion(statement: Statement, target: str) -> Conclusion | None:
    """The set of variables that a statement concludes with, or None (C1 to C3)."""
    if not any(pattern.search(statement.whole) for pattern in (VARIABLE_FIRST, patterns.empty)):
        return None  # most statements, and quick to tell
    text = committed(statement.text)
    is_bare_row = statement.origin.is_row and not statement.items
    if text is None or is_bare_row or patterns.dangling.search(statement.whole):
        return None
    text = patterns.labelled_answer.split(text)[-1]
    whole = "\n".join((text, *statement.items))
    is_correction = bool(patterns.correction.search(statement.text))
    has_cue = is_correction or bool(patterns.cue.search(whole))
    adds = bool(patterns.adding.search(f"{statement.text}\n{text}"))
    is_hedged = bool(patterns.hedge.search(text))
    names = none_but(whole, target)
    if names is not None:
        *_, after = patterns.empty.split(statement.whole)
        after = patterns.denied.sub("", after)
        is_open = is_hedged or (not names and takes_up(after, whole, names, target))
        return Conclusion(names, "C1", has_cue or not names, adds, is_open)
    outer, *asides = read_claims(text, target)
    entries = [listed_entry(item, target, outer) for item in statement.items]
    other = set().union(*(aside.other - aside.equal for aside in asides))
    equal = outer.equal.union(*(entry.equal for entry in entries)) - other
    only = patterns.only.search(text)
    is_open = outer.is_choice or is_hedged or bool(only and in_text(only[1]) < equal)
    if equal:
        says_so = (
            has_cue
            or outer.by_word
            or outer.names_target
            or any(entry.by_word for entry in entries)
        )
        return Conclusion(equal, "C2", has_cue, adds, is_open, is_weak=not says_so)
    listed = outer.listed.union(*(entry.listed for entry in entries)) - outer.other - other
    # "v3 (2)" is an equation
    is_bare = outer.bare and all(entry.bare for entry in entries)
    is_bare &= not asides or len(listed) > 1
    says_so = (
        outer.names_target or is_bare or is_correction or bool(patterns.list_cue.search(whole))
    )
    return Conclusion(listed, "C3", has_cue, adds, is_open) if listed and says_so else None


def none_but(text: str, target: str) -> set[str] | None:
    """The variables that a text excepts when it says that none has the value, or None (C1)."""
    empty = patterns.empty.search(text)
    if patterns.none_first.match(text):
        return set()
    if not empty or patterns.not_empty.search(text):
        return None
    only = patterns.only.search(text, empty.end())
    if only:
        return in_text(only[1])
    after = patterns.contrast.split(text[empty.end() :], maxsplit=1)[1:]
    for part in (text[: empty.start()], *after):
        claims = claims_of(part, target)
        names = claims.equal or (claims.listed if patterns.ellipsis.search(part) else set())
        if names and not patterns.empty.search(part):
            return set(names)
    denied = patterns.denied_value.match(text, empty.end())
    if denied and target not in numbers_in(denied[0]):
        return None
    numbers = set(numbers_in(text))
    is_sure = "such" in empty[0] or patterns.answers.search(text)
    return set() if target in numbers or not numbers or is_sure else None


def in_text(text: str) -> set[str]:
    """The variables of a text."""
    return set(names_of(tokens(text)))


def numbers_in(text: str) -> list[str]:
    """The numbers of a text."""
    return [number for kind, number, *_ in tokens(text) if kind == "number"]


def listed_entry(item: str, target: str, header: Claims) -> Claims:
    """What an item of a list says; if its header names the target, its first variable has it."""
    outer, *asides = read_claims(without_reason(item), target)
    other = set().union(*(aside.other - aside.equal for aside in asides))
    equal, listed = outer.equal - other, outer.listed - outer.other - other
    if header.names_target and not equal and not outer.other:
        first = patterns.first_names.match(item)
        equal = in_text(first[0]) - other if first else listed
        listed = set()
    return outer._replace(equal=equal, listed=listed)


def last_stated(passage: Sequence[Statement], target: str) -> Reading:
    """The variables to which a response last gives the target value (C5)."""
    stated: dict[str, bool] = {}
    open_names: set[str] = set()
    place: tuple[int, int] | None = None
    for statement in passage:
        if is_refusal(statement.text):
            return Reading(None, "C5")
        if not VARIABLE_FIRST.search(statement.whole):
            continue
        text = committed(statement.text)
        for part in filter(None, (text, *map(committed, statement.items))):
            for claims in read_claims(part, target):
                stated |= dict.fromkeys(claims.other, False) | dict.fromkeys(claims.equal, True)
                open_names |= claims.unvalued
                if claims.equal:
                    place = place[0] if place else statement.start, statement.stop
    names = in_order(name for name, is_equal in stated.items() if is_equal)
    unresolved = open_names - stated.keys()
    assertions = [statement for statement in passage if not statement.is_remark]
    speaks = any("variable" in one.whole or VARIABLE_FIRST.search(one.whole) for one in passage)
    if assertions and not any(stated.values()) and denies(assertions[-1]) and speaks:
        return Reading("none", "C5", (assertions[-1].start, assertions[-1].stop))
    is_open = bool(unresolved) or not names or passage[-1].text.endswith("?")
    is_open |= bool(assertions) and not ends_with_value(assertions[-1], target)
    if is_open or is_unfinished(passage):
        return Reading(None, "C5")
    return Reading(", ".join(names), "C5", place)


def denies(statement: Statement) -> bool:
    """Whether the last clause of a statement denies something of no variable in particular."""
    clause = patterns.clause.split(statement.parts[-1])[-1]
    return (
        bool(patterns.denial.search(clause))
        and not patterns.not_empty.search(clause)
        and not patterns.personal.search(clause)
        and not VARIABLE_FIRST.search(clause)
        and len(clause.split()) <= MOST_DENYING_WORDS
    )


def ends_with_value(statement: Statement, target: str) -> bool:
    """Whether the last line of a statement gives variables a value."""
    last = statement.parts[-1]
    denials = patterns.values_last, patterns.empty, patterns.not_empty, patterns.pointing
    if patterns.others.match(last) or any(pattern.search(last) for pattern in denials):
        return True
    return any(claims.equal or claims.other for claims in read_claims(last, target))


def breaks_off(passage: Sequence[Statement]) -> bool:
    """Whether a response ends within an equation."""
    if not passage:
        return False
    last = passage[-1].whole
    return bool(patterns.dangling.search(last)) or bool(
        patterns.next.search(last) and not any(values(last))
    )


def is_unfinished(passage: Sequence[Statement]) -> bool:
    """Whether a response ends within an equation, or before the variables of its conclusion."""
    if not passage or breaks_off(passage):
        return bool(passage)
    last = passage[-1]
    if patterns.continued.search(last.whole):
        return True
    if patterns.step.match(last.whole) and not VARIABLE_FIRST.search(last.whole):
        return True
    return (
        (last.whole[-1:].isalnum() or last.whole.endswith(":"))
        and not last.origin.is_heading
        and bool(patterns.cue.search(last.whole))
        and not VARIABLE_FIRST.search(last.whole)
        and not patterns.empty.search(last.whole)
    )


# --- realistic suite (N1 to N4) -------------------------------------------------------------------

REWRITTEN = rewriting("numbers")


def read_number(response: str, question: str | None = None) -> Reading:
    """The number that a response answers with (N1 to N4), to a `question` if it is known."""
    passage = statements_of(response)
    subject = subject_of(passage, question)
    reading = number_given(response, passage, subject)
    is_open = retaken(response, reading, passage, subject)
    return reading._replace(value=None, rule="N5") if is_open else reading


def retaken(
    response: str, reading: Reading, passage: Sequence[Statement], subject: Sequence[str]
) -> bool:
    """Whether what follows a number may be another answer (N5)."""
    later = following(reading, passage)
    before = response[passage[0].start : later[0].start] if later else ""
    known = set(map(canonical_number, patterns.any_number.findall(before)))
    texts = (patterns.offer.sub("", one.whole) for one in reversed(later) if not one.is_question)
    for text in texts:
        sure = number_text(text) or (text if patterns.plan.search(text) else "")
        for part in reversed(patterns.clause_end.split(sure)):
            numbers = list(values(part))
            ends = patterns.concluded.search(part)
            clause = ends[0] if ends and not patterns.relative.match(ends[0]) else part
            own = f"{reading.value} + " in part or may_be_own(subject, clause)
            own |= bool(patterns.correction.match(text))
            if numbers and own and numbers[-1] == reading.value:
                return False
            if numbers and own and (ends or not known.issuperset(numbers)):
                return True
    return False


def number_given(response: str, passage: Sequence[Statement], subject: Sequence[str]) -> Reading:
    """The number that a response gives, whatever follows it (N1 to N4)."""
    for place in reversed(range(len(passage))):
        statement = passage[place]
        text = number_text(statement.whole)
        if text is None:
            continue
        *before, after = patterns.answer.split(text)
        if before and any(token.kind in {"number", "expression"} for token in tokens(after)):
            is_open = bool(patterns.correction.search(after))
            corrected_to = revised(passage[place + 1 :], subject, is_open=is_open)
            after = labelled(subject, after) or after
            return corrected_to or number_of(statement, after, "N1", subject)
    is_found = False
    for place in reversed(range(len(passage))):
        statement = passage[place]
        text = number_text(statement.whole) or ""
        outside = patterns.parentheses.sub("", text)
        if is_apart(statement) or (place and asks_of_another(passage[place - 1].whole, subject)):
            continue
        is_found |= names(subject, statement) and bool(patterns.computed.search(statement.whole))
        counted = outside if is_of_another(subject, text) else text
        if not any(values(counted)) or patterns.open_sum.search(outside):
            continue
        bold = bold_number(response[statement.start : statement.stop + len("**")])
        is_answer = is_found or concludes(statement, text, bold, subject, passage)
        if is_answer and not cut_after(statement, passage):
            return number_of(statement, bold or own_equation(text, passage, subject), "N2")
        break
    for statement in reversed(passage) if subject and not breaks_off(passage) else ():
        text = number_text(statement.whole)
        if not text:
            continue
        is_count = patterns.counted.fullmatch(text) and holds_no_more(text, subject)
        if is_count or (names(subject, statement) and patterns.final_number.search(text)):
            return number_of(statement, text, "N3")
    return table_number(passage, subject) or Reading(None, "N2")


def revised(later: Sequence[Statement], subject: Sequence[str], *, is_open: bool) -> Reading | None:
    """The number to which the statements after an answer correct it, or None (N1)."""
    starts = (i for i, one in enumerate(later) if is_open or patterns.correction.match(one.text))
    texts = [(one, number_text(one.whole) or "") for one in later[next(starts, len(later)) :]]
    texts = [(one, text) for one, text in texts if any(values(text))]
    for statement, text in reversed(texts):
        if patterns.concluded.search(text) and text[:3] != "yes" and not is_apart(statement):
            return number_of(statement, part_on(subject, text), "N1")
    is_corrected = texts and patterns.correction.match(texts[0][0].text)
    is_own = is_corrected and not is_of_another(subject, texts[0][1])
    return number_of(*texts[0], "N1", subject) if is_own else None


def asks_of_another(text: str, subject: Sequence[str]) -> bool:
    """Whether a text asks for a number of another place or animal."""
    is_own = all(name in text for name in subject) or not patterns.how_many.search(text)
    return text.endswith("?") and not is_own and is_of_another(subject, text)


def labelled(subject: Sequence[str], text: str) -> str | None:
    """The number with the subject's place or animal beside it, if all have one, or None."""
    numbers = patterns.any_number.findall(patterns.parentheses.sub("", text))
    for pattern in (patterns.labelled, patterns.counted_as) if subject and len(numbers) > 1 else ():
        pairs = pattern.findall(text)
        mine = [number for number, label in pairs if label in subject]
        if len(mine) == 1 and len(pairs) == len(numbers):
            return mine[0]
    return None


def table_number(passage: Sequence[Statement], subject: Sequence[str]) -> Reading | None:
    """The number that the last table gives the subject, in a row or under a head (N3), or None."""
    if not subject:
        return None
    rows = [
        ([cell.strip() for cell in part.strip().strip("|").split("|")], statement)
        for statement in passage
        for part in statement.parts
        if "|" in part
    ]
    columns = {
        (place, other)
        for cells, _ in rows
        for name, other in (subject, subject[::-1])
        for place in [next((i for i, cell in enumerate(cells) if name in cell), 0)]
        if place
    }
    for cells, statement in reversed(rows):
        place = statement.start, statement.stop
        numbers = [number for cell in cells for number in values(cell)]
        if len(numbers) == 1 and all(name in " ".join(cells) for name in subject):
            return Reading(numbers[0], "N3", place)
        for column, other in sorted(columns):
            number = next(values(cells[column]), None) if column < len(cells) else None
            if number and other in cells[0]:
                return Reading(number, "N3", place)
    return None


def is_apart(statement: Statement) -> bool:
    """Whether a statement is a remark or a row of a table."""
    return statement.is_remark or statement.origin.is_row


def bold_number(text: str) -> str | None:
    """The value in a text's bold print, if there is one."""
    bold = [number_text(plain(part)[0]) for part in patterns.bold.findall(text)]
    numbers = [part for part in bold if part and len(list(values(part))) == 1]
    return numbers[-1] if len(set(numbers)) == 1 else None


@lru_cache(maxsize=256)
def number_text(text: str) -> str | None:
    """What a statement commits to, without what only looks like its number, or None (R4)."""
    if not patterns.has_number.search(text):
        return None
    text = patterns.guessed.sub("", text)
    text = "" if patterns.absent.search(text) else decided(text) or ""
    for pattern, replacement in REWRITTEN:
        text = pattern.sub(replacement, text)
    return text or None


def number_of(
    statement: Statement, text: str, rule: str, subject: Sequence[str] | None = None
) -> Reading:
    """The last value of a text, or none if it is open (N4); the first value, given a subject."""
    text = corrected(text, lambda after: any(values(after)))
    outside = patterns.parentheses.sub("", text)
    text = outside if any(values(outside)) else text
    place = statement.start, statement.stop
    links = [link for link in chains(text) if any(kind != "variable" for kind, *_ in link.operands)]
    if subject is None:
        link = next(link for link in reversed(links) if link.value is not None)
    else:
        link = links[0]
    if (
        link.value is None
        or (subject is not None and not stands_alone(link, text, subject))
        or link.is_choice
        or patterns.hedge.search(text)
        or patterns.rough.search(text)
    ):
        return Reading(None, "N4", place)
    return Reading(link.value, rule, place)


def stands_alone(link: Chain, text: str, subject: Sequence[str]) -> bool:
    """Whether an announced number is all that is counted: not "twice 23", "23 dozen" (N4)."""
    before, after = text[: link.operands[0].start], text[link.operands[-1].stop :]
    unit, rest = patterns.unit.fullmatch(after).groups()
    ends = patterns.concluded.search(rest)
    is_other = ends and link.value not in list(values(ends[0])) and may_be_own(subject, ends[0])
    is_unit = holds_no_more(unit, subject) if subject else len(unit.split()) < 2
    is_unit &= not any(values(unit))
    is_unit |= any(letter.isalpha() and not letter.isascii() for letter in unit)
    is_unit |= bool(patterns.computed.search(after))
    return bool(patterns.announced.search(before)) and is_unit and not is_other


def concludes(
    statement: Statement,
    text: str,
    bold: str | None,
    subject: Sequence[str],
    passage: Sequence[Statement],
) -> bool:
    """Whether a statement with a number is an answer, not a step of the work (N2)."""
    letters = letters_of(passage, subject)
    if patterns.dangling.search(text):
        return False
    is_last = statement is passage[-1]
    ends = patterns.concluded.search(text) if is_last else None
    after = "" if text.startswith("it ") else patterns.contrasted.split(text)[-1]
    if (
        names(subject, statement)
        or any(f" {letter} = " in f" {text}" for letter in letters)
        or (ends and not (is_elsewhere(subject, after) or is_of_another(subject, ends[0])))
    ):
        return True
    if is_of_another(subject, text) or any(is_refusal(other.text) for other in passage):
        return False
    is_sentence = is_last and patterns.sentence.search(text)
    says_so = (
        holds_no_more(text, subject)
        or patterns.number_cue.search(text)
        or (is_sentence and not patterns.unfinished.search(text))
    )
    is_sure = bold or patterns.correction.match(statement.text)
    return bool(is_sure or (says_so and not patterns.work.search(statement.whole)))


def holds_no_more(text: str, subject: Sequence[str]) -> bool:
    """Whether a text holds no words but the subject's animal, in the plural perhaps."""
    words = [word for kind, word, *_ in tokens(text) if kind == "word"]
    stem = subject[0][: max(3, len(subject[0]) - 1)] if subject else "?"
    return all(word.startswith(stem) for word in words)


def is_of_another(subject: Sequence[str], text: str) -> bool:
    """Whether a text speaks of another place than the subject's, or of other animals only."""
    is_other = bool(subject and patterns.animal.search(text) and subject[0] not in text)
    return is_other or is_elsewhere(subject, text)


def may_be_own(subject: Sequence[str], text: str) -> bool:
    """Whether a text names no other place than the subject's, and no other animals only."""
    animal, place = subject or ("", "")
    is_other = (patterns.animal.search(text) or "animals" in text) and animal not in text
    return not is_other and not patterns.place.search(text.replace(place, ""))


def is_elsewhere(subject: Sequence[str], text: str) -> bool:
    """Whether a text speaks of another place than the subject's, if that is known."""
    place = subject and patterns.place.search(text.replace(subject[1], ""))
    return bool(subject and (place or patterns.possessive.search(text)))


def letters_of(passage: Sequence[Statement], subject: Sequence[str]) -> list[str]:
    """The letters that a response lets stand for the subject."""
    defined = (part for statement in passage for part in patterns.defined.findall(statement.whole))
    meant = [part for part in defined if subject and all(name in part for name in subject)]
    return [letter for part in meant for letter in patterns.letter.findall(part)]


def own_equation(text: str, passage: Sequence[Statement], subject: Sequence[str]) -> str:
    """The equation of the subject's letter in a text, else its part on the subject."""
    letters = "|".join(letters_of(passage, subject))
    own = compile(rf"(?<!\w)(?:{letters}) = [^,;\n]*").findall(text) if letters else ()
    return own[-1] if own else part_on(subject, text)


def names(subject: Sequence[str], statement: Statement) -> bool:
    """Whether a statement, or the heading above it, names the animal and the place."""
    text = f"{statement.origin.heading} {statement.whole}"
    return bool(subject) and all(name in text for name in subject)


def part_on(subject: Sequence[str], text: str) -> str:
    """The part of a text with a number that names the place last; else the text."""
    number = labelled(subject, text)
    if number or not subject:
        return number or text
    parts = patterns.clause_end.split(text)
    of_place = [part for part in parts if subject[1] in part and any(values(part))]
    both = [part for part in of_place if subject[0] in part]
    named = [
        part
        for part in parts
        if subject[0] in part and any(values(part)) and not is_of_another(subject, part)
    ]
    text = (both or named or of_place or [text])[-1]
    counted = rf"(?:has|have|is|are) (?:[a-z]+ )??{NUMBER} (?:[a-z]+ )??{escape(subject[0])}"
    counts = list(compile(counted).finditer(text))
    if len(counts) == 1 and "=" not in text[counts[0].end() :]:
        return text[: counts[0].end()]
    return text


def subject_of(passage: Sequence[Statement], question: str | None) -> tuple[str, ...]:
    """The animal and the place of a question, texts of the response or repeated by it."""
    texts = [question.lower()] if question else [statement.whole for statement in passage]
    return next((match.groups() for match in map(patterns.subject.search, texts) if match), ())


def cut_after(statement: Statement, passage: Sequence[Statement]) -> bool:
    """Whether a response breaks off after a statement."""
    last = next(other for other in reversed(passage) if other is statement or not other.is_remark)
    return last is not statement and not last.origin.is_heading and last.whole[-1:].isalnum()

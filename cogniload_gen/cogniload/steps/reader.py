"""A response's words -> what it says of each statement: the rules S1 to S6 of first_error.py.

Nothing here knows the truth. The text falls into blocks, each about some statements, and a block
becomes evidence in the order of the text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import compress, count, repeat
from types import SimpleNamespace
from typing import NamedTuple

from cogniload_gen.cogniload.steps.lexicon import KIND, VOCABULARY, Lexicon, Word

INITIAL, END, REST = 0, -1, -2
"""The labels of the blocks that are about the initial state, the final one, and all else."""

_NOBODY: frozenset[str] = frozenset()

Line = tuple[int, int]
"""Where a line is among the words: from, and up to."""

SETS = SimpleNamespace(
    **{name: frozenset(words.split()) for name, words in VOCABULARY["sets"].items()}
)
"""Kinds of words, and a few words, by what they do in a sentence."""

# The kinds beyond both ends of a sentence: a list's negative places are its last ones.
_BEYOND = ["line"] * 4


class Value(NamedTuple):
    """A value in a block, with its people (nobody if no one is named) and its categories.

    `categories` are those that it may be of. `role` is "after" (the state), "before" (a former
    value), "left" (a former value of no person), "not" (a denied value) or "quoted" (of no person:
    the words of a statement). `explicit` tells whether the person is named with it, not only before
    it in the block.
    """

    categories: tuple[str, ...]
    value: str
    who: frozenset[str]
    role: str
    explicit: bool
    start: int
    end: int


class Verdict(NamedTuple):
    """Whether the statement applies to the PoI, and how plainly the text says so (up to 3)."""

    applies: bool
    weight: float
    start: int


class Same(NamedTuple):
    """That nothing changes for the PoI, and how plainly the text says so (up to 3)."""

    weight: float
    start: int


class Back(NamedTuple):
    """A place from which the text takes back what stands before."""

    start: int


Evidence = Value | Verdict | Same | Back


@dataclass(slots=True)
class Block:
    """A stretch of text about some statements.

    `labels` are their numbers as the text has them, `soft` if it only says "the next one" or "the
    last one", `statements` the numbers that are meant; `named` are the people named, with whether
    the text excludes them; `subject` the last ones; `cited` the values of the quoted
    statement; `final` marks the response's last sentence, `double` an initial state that gives the
    PoI two values of a category side by side.
    """

    labels: tuple[int, ...]
    soft: bool
    start: int
    evidence: list[Evidence] = field(default_factory=list)
    named: list[tuple[frozenset[str], bool]] = field(default_factory=list)
    statements: tuple[int, ...] = ()
    subject: frozenset[str] = _NOBODY
    cited: list[Value] = field(default_factory=list)
    final: bool = False
    double: bool = False

    @property
    def scattered(self) -> bool:
        """Whether it is about statements with others between them, so that no state is of all."""
        gap = self.statements[-1] - self.statements[0] >= len(self.statements)
        return gap or self.labels == (REST,)

    @property
    def tells(self) -> bool:
        """Whether it says more than it quotes."""
        return bool(self.named) or any(getattr(e, "role", "") != "quoted" for e in self.evidence)


@dataclass(slots=True)
class _Voice:
    """How the words of a sentence are meant, as far as it was read."""

    who: frozenset[str] = _NOBODY
    explicit: bool = False
    quoted: bool = False
    citing: bool = False
    negated: bool = False
    old: bool = False
    labelled: bool = False


class Reader:
    """Goes through the words of one response and fills its blocks."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.poi = lexicon.solution.poi
        self.N = len(lexicon.solution.statements)
        self.block = Block((INITIAL,), False, 0)
        self.blocks = [self.block]
        self.current = 0
        self.recent = _NOBODY
        self.order: tuple[str, ...] = ()
        self.columns: list[tuple[frozenset[str], str | None]] | None = None
        self.words: list[Word] = []
        self.kinds: list[str] = []
        self.asserted: list[bool] = []
        self.first: dict[str, int] = {}  # the place of each kind in a sentence: a label looks back
        self.last: dict[str, int] = {}  # and ahead, and may stand at every word
        self.voice = _Voice()
        self.attached: dict[int, tuple[str, ...]] = {}
        self.handlers: dict[str, Callable[[int], int | None]] = {
            "person": self.on_person, "he": self.on_pronoun, "she": self.on_pronoun,
            "people": self.on_people, "condition": self.on_condition, "value": self.on_value,
            "not": self.on_not, "old": self.on_old, "back": self.on_back, "recap": self.on_back,
            "nein": self.on_no, "nobody": self.on_nobody, "yes": self.on_yes, "check": self.on_yes,
            "no": self.on_refusal, "cross": self.on_refusal, "change": self.on_change,
            "same": self.on_same,
        }  # fmt: skip
        self.telling = SETS.labelling | {"start"} | self.handlers.keys() - SETS.asides
        self.acting = {*self.handlers, "start"} | SETS.labelling | SETS.openers | SETS.sets_apart

    def read(self, words: list[Word]) -> list[Block]:
        """The blocks of a response."""
        kinds = list(map(KIND, words))
        breaks = list(compress(count(), map("line".__eq__, kinds)))
        bounds = zip([0, *(i + 1 for i in breaks)], [*breaks, len(words)], strict=True)
        lines = _without_others(
            words, [(start, end) for start, end in bounds if start < end], self.poi
        )
        for number, (start, end) in enumerate(lines, 1):
            self.read_line(words[start:end], kinds[start:end], ends=number == len(lines))
        return self.blocks

    # Lines, sentences and tables (S1)

    def read_line(self, line: list[Word], kinds: list[str], ends: bool) -> None:
        """A line: a table's row, or sentences; the response's last sentence answers it."""
        self.recent = _NOBODY
        if kinds[0] == "pipe" or (self.columns and kinds.count("pipe") > 1):
            self.read_row(line)
            return
        self.columns = None
        for start, end in _sentence_bounds(line, kinds):
            its_kinds = kinds[start:end]
            if ends and end == len(line) and self.answers(line[start:end]):
                self.block = Block((END,), False, line[start].start, final=True)
                self.blocks.append(self.block)
            if not self.telling.isdisjoint(its_kinds):
                self.read_sentence(line[start:end], start == 0)

    def answers(self, sentence: list[Word]) -> bool:
        """Whether the last sentence answers the question, and tells no more of the states."""
        category, others = self.lexicon.solution.category, _people_of(sentence) - {self.poi}
        values = attach(sentence, list(map(KIND, sentence)), self.lexicon).values()
        return bool(values) and not others and all(category in possible for possible in values)

    def read_row(self, line: list[Word]) -> None:
        """A row of a table; the first one names the people or the categories of its columns."""
        cells = _cells_of(line)
        if not any(word.kind not in ("dash", "colon") for cell in cells for word in cell):
            return
        if self.columns is None:
            self.columns = [self.read_head(cell) for cell in cells]
            return
        if cells[0]:
            self.read_sentence(cells[0], True)
        columns = [*self.columns[: len(cells)], *[(_NOBODY, None)] * len(cells)]
        for cell, (who, _) in zip(cells[1:], columns[1:], strict=False):
            if not who:
                self.block.subject = _NOBODY
                for start, end in _sentence_bounds(cell, list(map(KIND, cell))):
                    self.read_sentence(cell[start:end], False, anchors=False)
        owner = _people_of([cell[0] for cell in cells if [w.kind for w in cell] == ["person"]])
        for cell, (who, noun) in zip(cells[1:], columns[1:], strict=False):
            if who:
                self.read_cell(cell, owner if noun and owner else who, noun)

    def read_head(self, cell: list[Word]) -> tuple[frozenset[str], str | None]:
        """Whose values a column has, nobody's if it has none, and in which category."""
        nouns = [str(w.data) for w in cell if w.kind == "noun"]
        noun = nouns[0] if len(nouns) == 1 else None
        return _people_of(cell) or (frozenset([self.poi]) if noun else _NOBODY), noun

    def read_cell(self, cell: list[Word], who: frozenset[str], noun: str | None) -> None:
        """A cell of a column of one person, or of one category of a person."""
        if not any(word.kind == "value" for word in cell):
            stays = not cell or cell[0].kind in ("dash", "same", "slash", "nein", "no")
            if stays and self.poi in who and noun is None:
                self.block.evidence.append(Same(2, cell[0].start if cell else self.block.start))
            return
        if noun:
            start = cell[0].start
            cell = [Word("noun", noun, start, start), Word("colon", "", start, start), *cell]
        self.read_sentence(cell, False, anchors=False, who=who)

    def read_sentence(
        self, words: list[Word], at_line: bool, anchors: bool = True, who: frozenset[str] = _NOBODY
    ) -> None:
        """A sentence: its labels, its people, and their values."""
        kinds = list(map(KIND, words))
        if self.telling.isdisjoint(kinds):
            return
        self.words, self.kinds = words, kinds + _BEYOND
        has_values = "value" in kinds
        self.attached = attach(words, kinds, self.lexicon) if has_values else {}
        self.asserted = asserted(words, kinds)
        self.last = {kind: i for i, kind in enumerate(kinds)}
        self.first = {kind: i for i, kind in reversed([*enumerate(kinds)])}
        self.voice = _Voice(who or self.block.subject, bool(who))
        handler_of = self.handlers.get
        acting = map(self.acting.__contains__, kinds)
        following = uncounted = 0
        for i in compress(count(), acting):
            if i < following:
                continue
            kind, following = kinds[i], i + 1
            read = i - uncounted
            if anchors and kind in SETS.labelling:
                end = self.on_label(i, read, at_line and read == 0)
                if end > i:
                    following = end
                    uncounted += end - i
                    continue
            if read == 0 and kind in SETS.openers:
                uncounted += 1
                continue
            handler = handler_of(kind)
            if handler and (self.asserted[i] or kind not in SETS.claiming):
                following = handler(i) or i + 1
                uncounted += following - i - 1
            if kind in SETS.sets_apart:
                self.voice.negated = self.voice.old = False
            elif kind == "start" and read < 4:
                self.begin(i, read, at_line)
        if has_values:
            self.place_lists()

    # Labels (S2)

    def on_label(self, i: int, read: int, at_line: bool) -> int:
        """Open a block where words[i] begins a label of one; where the label ends, or i."""
        if self.sums_up(i, read, at_line):
            if not self.voice.labelled:
                self.open((END,), False, self.words[i].start)
                self.voice.who, self.voice.explicit = frozenset([self.poi]), False
            return i
        label = self.label_at(i, read <= 3, at_line)
        if label is None:
            return i
        labels, soft, end = label
        voice = self.voice
        before = self.words[i - 1] if i else None
        opens = labels[-1] <= self.N + 1 and (
            labels[0] > self.current
            or labels == (REST,)
            or (read <= 2 and not (before and before.kind == "old"))
            or (self.first.get("value", i) >= i > min(map(self.first.get, SETS.turning, repeat(i))))
        )
        if not opens:
            return end
        voice.labelled = True
        if self.block.labels == labels:
            return end
        self.open(labels, soft, self.words[i].start)
        voice.who, voice.explicit = _NOBODY, False
        voice.quoted = voice.negated = voice.old = False
        told = any(self.last.get(kind, -1) >= end for kind in SETS.tells)
        if before and before.data in SETS.after and not told:
            voice.who, voice.explicit = frozenset([self.poi]), True
        return end

    def open(self, labels: tuple[int, ...], soft: bool, start: int) -> None:
        """Begin another block, unless it has the same label."""
        if labels == self.block.labels and not self.block.final:
            return
        self.block = Block(labels, soft, start)
        self.blocks.append(self.block)
        if labels[-1] >= 0:
            self.current = labels[-1]

    def begin(self, i: int, read: int, at_line: bool) -> None:
        """Take a sentence that speaks of the start for one about the initial state."""
        if not self.voice.labelled and at_line and read <= 2 and self.block.labels[0] != INITIAL:
            self.open((INITIAL,), False, self.words[i].start)
            self.voice.who = frozenset([self.poi])

    def sums_up(self, i: int, read: int, at_line: bool) -> bool:
        """Whether the sentence looks back on the whole: "Final state", "That gives Anna ..."."""
        kind = self.words[i].kind
        if self.current == 0 or self.block.labels == (END,):
            return False
        if kind == "end":
            return read <= 2 and (at_line or self.kinds[i - 1] not in ("he", "she"))
        if kind == "recap":
            early = self.current < self.N and self.words[i].data in SETS.rechecking
            return read <= 5 and not early
        return kind == "leads" and at_line is False and read == 1 and self.words[0].kind == "word"

    def label_at(
        self, i: int, starts: bool, at_line: bool
    ) -> tuple[tuple[int, ...], bool, int] | None:
        """The statements that a label at words[i] names, whether only by place, and its end."""
        word, kind = self.words[i], self.words[i].kind
        before = self.kinds[i - 1]
        label: tuple[tuple[int, ...], bool, int] | None = None
        if kind in ("label", "hash"):
            j = i + 1
            while j - i < 3 and self.kinds[j] in SETS.before_number:
                j += 1
            if self.kinds[j] == "number":
                numbers, end = self.listed(j)
                label = numbers, False, end
        elif kind == "number":
            label = self.bare_number(i, at_line)
        elif kind == "ordinal":
            label = self.ordinal(i, starts)
        elif kind == "count" and before == "label" and starts:
            label = (int(word.data),), False, i + 1
        elif kind == "next" and starts:
            label = (self.current + 1,), True, i + 1
        elif kind == "rest" and self.kinds[i + 1] == "label" and self.kinds[i + 2] != "number":
            label = (REST,), True, i + 2
        elif kind == "last" and self.kinds[i + 1] in SETS.last and (starts or before == "word"):
            label = (self.N,), True, i + 2
        return label

    def listed(self, i: int) -> tuple[tuple[int, ...], int]:
        """The numbers listed from words[i] on ("5", "5 to 9", "2, 4 and 5"), and their end."""
        numbers: list[int] = []
        while self.kinds[i] == "number":
            number, before = int(self.words[i].data), self.kinds[i - 1]
            ranges = numbers and before in ("range", "dash") and numbers[-1] < number <= self.N
            if not (numbers and before == "slash" and number == self.N):  # "step 1/12"
                numbers += range(numbers[-1] + 1 if ranges else number, number + 1)
            i += 1
            j = i
            while self.kinds[j] in SETS.listing and j - i <= 3:
                j += 1
            if j == i or self.kinds[j] != "number" or j - i > 3 or len(numbers) > self.N:
                break
            i = j
        return tuple(numbers), i

    def bare_number(self, i: int, at_line: bool) -> tuple[tuple[int, ...], bool, int] | None:
        """A number that labels by itself: at a line's start, or the next one within a sentence."""
        leads_on = self.words[i].data == self.current + 1
        after = i and self.words[i - 1].data in SETS.after
        if not (at_line or after or (leads_on and self.kinds[i - 1] in SETS.before_numbers)):
            return None
        numbers, end = self.listed(i)
        follows = self.kinds[end]
        if at_line:
            labels = follows in SETS.delimiters or leads_on or self.words[i].data == self.current
        else:
            labels = follows not in SETS.counted
        return (numbers, False, end) if labels else None

    def ordinal(self, i: int, starts: bool) -> tuple[tuple[int, ...], bool, int] | None:
        """An ordinal that labels: "the third"."""
        number, before, after = int(self.words[i].data), self.kinds[i - 1], self.kinds[i + 1]
        free = (starts or before in ("word", "label")) and self.words[i - 1].data != "at"
        if number == 1 and (not free or after == "value"):
            return None
        return (number,), False, i + 1

    # People (S3)

    def on_person(self, i: int) -> None:
        """A name: the sentence is about this person, or about one more."""
        name, voice, block = str(self.words[i].data), self.voice, self.block
        denied = voice.negated and self.kinds[i - 1] in ("not", "nein", "word", "condition")
        if denied and name == self.poi:
            block.evidence.append(Verdict(False, 2, self.words[i].start))
        joined = self.kinds[i - 1] in SETS.joints and self.kinds[i - 2] == "person"
        voice.who = voice.who | {name} if joined else frozenset([name])
        voice.explicit, voice.quoted, voice.negated = True, False, False
        if joined and block.named:
            block.named[-1] = block.named[-1][0] | {name}, denied
        else:
            block.named.append((frozenset([name]), denied or not self.asserted[i]))
        self.recent = voice.who
        block.subject = voice.who

    def on_pronoun(self, i: int) -> None:
        """ "He" or "she"."""
        self.voice.who = self.pronoun(self.words[i].kind)
        self.voice.explicit, self.voice.quoted = True, False
        self.block.subject = self.voice.who
        if self.voice.negated and self.kinds[i - 1] == "not" and self.poi in self.voice.who:
            self.block.evidence.append(Verdict(False, 2, self.words[i].start))
            self.voice.negated = False

    def pronoun(self, kind: str) -> frozenset[str]:
        """Whom "he" or "she" means: the last person named to whom it fits, else the PoI."""
        gender = self.lexicon.gender
        for group in (self.voice.who, self.recent, self.block.subject):
            fits = [name for name in sorted(group) if gender[name] in ("", kind)]
            if fits:
                return frozenset([self.poi] if self.poi in fits else fits[:1])
        return frozenset([self.poi]) if gender[self.poi] in ("", kind) else _NOBODY

    def on_people(self, i: int) -> None:
        """ "The people": a statement is quoted."""
        voice = self.voice
        voice.quoted, voice.who, voice.explicit = True, _NOBODY, False
        voice.citing = voice.citing or not self.block.cited

    def on_condition(self, i: int) -> None:
        """ "Needs", "if": what follows is a condition, up to the next name."""
        voice, data, near = self.voice, self.words[i].data, self.kinds[i + 1 : i + 4]
        if data in SETS.conditions and "value" not in near and not SETS.claiming.isdisjoint(near):
            return  # "the condition is not met"
        if data in SETS.relative and voice.who and voice.explicit:
            return
        voice.quoted = True
        voice.who, voice.explicit = _NOBODY, False

    # Values (S4, S5)

    def on_value(self, i: int) -> None:
        """A value, and in which role."""
        word, voice = self.words[i], self.voice
        kinds = self.kinds
        mark = self.mark(i)
        role = "after"
        if mark == "arrow" and not (voice.quoted or voice.who):
            role = "left"
        elif voice.quoted or not voice.who or not self.asserted[i]:
            role = "not" if mark == "cross" and not voice.quoted else "quoted"
        elif voice.negated or mark == "cross":
            role = "not"
        elif voice.old or mark in ("check", "arrow"):
            role = "before"
        value = Value(
            self.attached[i], str(word.data), voice.who, role, voice.explicit, word.start, word.end
        )
        if self.block.labels == (INITIAL,) and role == "after" and voice.who == {self.poi}:
            j = next(j for j in range(i - 1, -2, -1) if j < 0 or kinds[j] not in SETS.between)
            twin = j >= 0 and self.attached.get(j) == self.attached[i] and not value.categories[1:]
            self.block.double |= twin and self.words[j].data != word.data
        self.block.evidence.append(value)
        if voice.quoted and voice.citing:
            self.block.cited.append(value)
        voice.old = False
        voice.negated = False

    def mark(self, i: int) -> str:
        """What stands after the value at words[i] and its noun: a check mark, an arrow, ..."""
        kinds = self.kinds
        j = i + 1
        while j - i < 3 and kinds[j] in ("noun", "word"):
            j += 1
        if kinds[j] == "colon" and kinds[j + 1] in ("check", "cross"):
            j += 1
        leads_on = kinds[j] == "range" and self.words[j].data == "to"
        return "arrow" if leads_on and "value" in kinds[j + 1 : j + 3] else kinds[j]

    def on_not(self, i: int) -> None:
        """ "Not"."""
        self.voice.negated = True

    def on_old(self, i: int) -> None:
        """ "From", "was": a former value follows."""
        self.voice.old = self.block.labels != (INITIAL,)

    def on_back(self, i: int) -> None:
        """ "Wait": the text takes back what stands before."""
        self.block.evidence.append(Back(self.words[i].start))

    # Verdicts (S5)

    def on_no(self, i: int) -> int | None:
        """ "No": no change, no one, a verdict, or a negation of what follows."""
        following = [self.kinds[j] for j in range(i + 1, i + 4)]
        if following[0] in ("one", "people"):
            self.on_nobody(i)
            return i + 2
        if following[0] in SETS.denying:
            self.verdict(False, i, 3)
        else:
            self.voice.negated = True
        return None

    def on_nobody(self, i: int) -> None:
        """ "Nobody": the statement applies to nobody."""
        self.block.evidence.append(Verdict(False, 2.5, self.words[i].start))
        self.voice.quoted, self.voice.who = True, _NOBODY

    def on_yes(self, i: int) -> None:
        """ "Applies", "matches", or a check mark that stands after no value."""
        kind, voice = self.words[i].kind, self.voice
        of_value = kind == "check" and self.kinds[i - 1] in ("value", "noun", "check", "cross")
        end = next(j for j in range(i + 1, i + 6) if j == i + 5 or self.kinds[j] in SETS.denying)
        if self.kinds[end] == "not" and self.kinds[end + 1] == "word":  # "trifft auf Ann nicht zu"
            voice.negated = not voice.negated
        if not of_value and not voice.quoted:
            self.verdict(not voice.negated, i, 3 if kind == "yes" else 2)
        voice.negated = False

    def on_refusal(self, i: int) -> None:
        """ "Skip", "irrelevant", or a cross."""
        kind, voice = self.words[i].kind, self.voice
        if kind == "cross" or not voice.quoted:
            self.verdict(voice.negated, i, 3 if kind == "no" else 2.5)
        voice.negated = False

    def verdict(self, applies: bool, i: int, weight: float) -> None:
        """Note that the statement applies or not, if the clause is about the PoI or nobody."""
        who, explicit = self.voice.who, self.voice.explicit
        if self.block.labels == (INITIAL,):
            return
        is_marked = self.kinds[i - 1] == "person" and self.kinds[i] in ("check", "cross")
        for word in () if is_marked else self.words[i + 1 : i + 4]:
            if word.kind == "person":
                who, explicit = frozenset([str(word.data)]), True
            elif word.kind in SETS.meant and not who:
                return  # of those whom the statement names
            elif word.kind == "value" and not who and self.words[i].kind == "yes":
                if self.kinds[i + 1] != "colon":
                    return  # "concerns red hats"
            elif word.kind not in ("word", "range", "colon", "open"):
                break
        if applies and not who and not self.block.named and self.block.labels[0] > 0:
            self.voice.who = self.block.subject = frozenset([self.poi])
        if self.poi in who:
            self.block.evidence.append(Verdict(applies, weight, self.words[i].start))
        elif not who or not (explicit or applies):
            self.block.evidence.append(Verdict(applies, weight - 0.5, self.words[i].start))

    def on_change(self, i: int) -> None:
        """ "Changes": with a negation before it, nothing does."""
        if self.voice.negated:
            self.same(i)
            self.voice.negated = False

    def on_same(self, i: int) -> None:
        """ "Unchanged", unless it is about a single value: "the white pants stay on"."""
        if not self.of_value(i):
            self.same(i)
        self.voice.negated = False

    def of_value(self, i: int) -> bool:
        """Whether a value or a category stands before words[i] in the same clause."""
        kinds = self.kinds[max(0, i - 5) : i][::-1]
        end = next((j for j, kind in enumerate(kinds) if kind in SETS.clause_ends), None)
        return not {"value", "noun"}.isdisjoint(kinds[:end])

    def same(self, i: int) -> None:
        """Note that nothing changes, if the clause is about the PoI or nobody."""
        voice = self.voice
        if self.poi in voice.who:
            self.block.evidence.append(Same(3, self.words[i].start))
        elif not (voice.who and voice.explicit):
            self.block.evidence.append(Same(2, self.words[i].start))

    # Lists by place (S4)

    def place_lists(self) -> None:
        """Tell the categories of bare values by their place in a list of all (S4)."""
        d = len(self.lexicon.categories)
        run = self.last_list(d)
        if d < 2 or len(run) != d:
            return
        quoted = run[0].role == "quoted"
        candidates = [value.categories for value in run]
        clear = set(map(len, candidates)) == {1}
        order = self.order
        if clear and not quoted:
            order = tuple([category for (category,) in candidates])
        elif not order and self.block.labels == (INITIAL,) and len(run[0].who) == 1:
            (name,) = run[0].who
            state = self.lexicon.solution.states[0][name]
            fits = [[c for c in value.categories if state[c] == value.value] for value in run]
            if all(len(fit) == 1 for fit in fits):
                order = tuple(fit[0] for fit in fits)
        if len(set(order)) != d or not (
            clear or all(c in options for c, options in zip(order, candidates, strict=True))
        ):
            return
        self.order = order
        if clear and (quoted or all(value.explicit for value in run)):
            return  # nothing to learn
        self.block.evidence[-d:] = [
            value._replace(categories=(category,), explicit=not quoted)
            for value, category in zip(run, order, strict=True)
        ]

    def last_list(self, d: int) -> list[Value]:
        """The values at the end of the evidence that are of the same people, if they are d."""
        run: list[Value] = []
        for item in reversed(self.block.evidence):
            if not isinstance(item, Value) or (run and item.who != run[0].who) or len(run) > d:
                break
            run.append(item)
        return run[::-1]


def _people_of(words: list[Word]) -> frozenset[str]:
    """The people whom words name."""
    return frozenset(str(word.data) for word in words if word.kind == "person")


def _without_others(words: list[Word], lines: list[Line], poi: str) -> list[Line]:
    """The lines of a response less its sections on other people, if it has one for each (S3).

    A section begins with a line that names one person first, and nobody else. There are some if
    the first line of one holds its start and its statements, or if after one with statements
    another person's tells of the start or begins with the statements again.
    """
    sections: list[tuple[str, list[Line]]] = [("", [])]
    for line in lines:
        said = words[slice(*line)]
        first = next((w.data for w in said[:5] if w.kind in ("person", "number")), "")
        if first != sections[-1][0] and _people_of(said) == {first}:
            sections.append((str(first), []))
        sections[-1][1].append(line)
    owners, last, apart = {""}, 0, False
    for owner, some in sections[1:]:
        section = words[some[0][0] : some[-1][1]]
        numbers = [int(w.data) for w in section if w.kind == "number"]
        starts = any(w.kind == "start" for w in section)
        again = owner not in owners and (starts or min(numbers[:1], default=last + 1) <= last)
        if numbers and last and not again:
            return lines
        opens = any(w.kind == "number" for w in words[slice(*some[0])])
        apart = apart or (again and (last > 0 or opens))
        last = numbers[-1] if numbers else last
        owners.add(owner)
    own = [line for owner, some in sections for line in some if owner in ("", poi)]
    if not apart:
        return lines
    return own if own[-1:] == lines[-1:] else [*own, *lines[-1:]]  # the last line may answer


def _cells_of(row: list[Word]) -> list[list[Word]]:
    """The words of each cell of a table's row; a mark at both ends encloses it."""
    cells: list[list[Word]] = [[]]
    for word in row:
        if word.kind == "pipe":
            cells.append([])
        else:
            cells[-1].append(word)
    framed = row[0].kind == "pipe"
    return cells[framed : len(cells) - (framed and row[-1].kind == "pipe")]


def _sentence_bounds(words: list[Word], kinds: list[str]) -> Iterator[tuple[int, int]]:
    """The sentences of a line; the full stop of its label, as in "3. ", ends none."""
    start = 0
    for i in compress(count(), map(SETS.ends.__contains__, kinds)):
        if kinds[i] == "stop":
            before = kinds[i - 1] if i > start else ""
            spaced = i + 1 == len(words) or words[i + 1].start > words[i].end
            is_label = before == "label" or (start == 0 and i <= 2 and before == "number")
            if is_label or not spaced:
                continue
        yield start, i + 1
        start = i + 1
    if start < len(words):
        yield start, len(words)


def asserted(words: list[Word], kinds: list[str]) -> list[bool]:
    """Which words of a sentence are asserted: not asked, supposed or planned (S5)."""
    if kinds[-1] == "question" or SETS.doubting.isdisjoint(kinds):
        return [kinds[-1] != "question"] * len(kinds)
    asserts, until = list[bool](), _NOBODY
    for word, kind in zip(words, kinds, strict=True):
        if not until and word.data in SETS.supposing:
            until = SETS.after_supposing
        elif not until and (kind == "asks" or word.data in SETS.rechecking):
            until = SETS.after_asking
        elif kind in until:
            until = _NOBODY
        asserts.append(not until)
    return asserts


def attach(words: list[Word], kinds: list[str], lexicon: Lexicon) -> dict[int, tuple[str, ...]]:
    """The categories that each value of a sentence may be of, by its position (S4)."""
    attached: dict[int, tuple[str, ...]] = {}
    own = ["colon", "value"]  # what follows a noun that is no value's before it: "hat=red socks="
    noun: int | None = None  # the last noun on the left
    taken = False  # by a value right before it
    end = len(words)
    for i, kind in enumerate(kinds):
        if kind == "noun":
            noun, taken = i, kinds[i - 1 : i] == ["value"] and kinds[i + 1 : i + 3] != own
        elif kind == "value":
            possible = lexicon.values[str(words[i].data)]
            if len(possible) == 1:
                attached[i] = possible
                continue
            right = i + 1
            while right < end and kinds[right] == "word" and right - i < 3:
                right += 1
            follows = kinds[right : right + 1] == ["noun"] and kinds[right + 1 : right + 3] != own
            chosen = words[right].data if follows and words[right].data in possible else None
            if noun is not None and words[noun].data in possible:
                beside = i - noun <= 2 and kinds[i - 1] in SETS.beside
                again = i + 1 < end and kinds[i + 1] == "one"
                between = kinds[max(noun + 1, i - 12) : i]
                open_to = (beside or not chosen) and (again or not taken)
                if open_to and SETS.links.issuperset(between):
                    chosen = words[noun].data
            attached[i] = (str(chosen),) if chosen else possible
    return attached

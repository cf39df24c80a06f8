"""A response's words -> what it says of each statement: the rules S1 to S6 of first_error.py.

Nothing here knows the truth. The text falls into blocks, each about some statements, and a block
becomes evidence in the order of the text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import compress, count, pairwise
from types import SimpleNamespace
from typing import NamedTuple

from cogniload_gen.cogniload.steps.lexicon import KIND, VOCABULARY, Lexicon, Word

INITIAL, END = 0, -1
"""The labels of the blocks that are about the initial state and the final one."""

_NOBODY: frozenset[str] = frozenset()

SETS = SimpleNamespace(
    **{name: frozenset(words.split()) for name, words in VOCABULARY["sets"].items()}
)
"""Kinds of words, and a few words, by what they do in a sentence."""

# The kinds beyond both ends of a sentence: a list's negative places are its last ones.
_BEYOND = ["line"] * 4


class Value(NamedTuple):
    """A value in a block, with its people (nobody if no one is named) and its category.

    `role` is "after" (the state), "before" (a former
    value), "not" (a denied value) or "quoted" (of no person:
    the words of a statement). `explicit` tells whether the person is named with it, not only before
    it in the block.
    """

    category: str
    value: str
    who: frozenset[str]
    role: str
    explicit: bool
    start: int
    end: int


class Verdict(NamedTuple):
    """Whether the text says that the statement applies to the PoI."""

    applies: bool
    start: int


class Same(NamedTuple):
    """That nothing changes for the PoI."""

    start: int


class Back(NamedTuple):
    """A place from which the text takes back what stands before."""

    start: int


Evidence = Value | Verdict | Same | Back


@dataclass(slots=True)
class Block:
    """A stretch of text about a statement.

    `statement` is its number; `named` are the people named, `subject` the last ones.
    """

    statement: int
    start: int
    evidence: list[Evidence] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    subject: frozenset[str] = _NOBODY


@dataclass(slots=True)
class _Voice:
    """How the words of a sentence are meant, as far as it was read."""

    who: frozenset[str] = _NOBODY
    explicit: bool = False
    quoted: bool = False
    negated: bool = False
    old: bool = False
    labelled: bool = False


class Reader:
    """Goes through the words of one response and fills its blocks."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.poi = lexicon.solution.poi
        self.others = [[name] for name in lexicon.people if name != self.poi]
        self.N = len(lexicon.solution.statements)
        self.block = Block(INITIAL, 0)
        self.blocks = [self.block]
        self.current = 0
        self.odd = False
        self.labels: list[int] = []
        self.answer: str | None = None
        self.columns: list[str | None] | None = None
        self.default = _NOBODY
        self.words: list[Word] = []
        self.kinds: list[str] = []
        self.asserted: list[bool] = []
        self.voice = _Voice()
        self.attached: dict[int, str] = {}
        self.handlers: dict[str, Callable[[int], None]] = {
            "person": self.on_person, "he": self.on_pronoun, "she": self.on_pronoun,
            "people": self.on_people, "condition": self.on_people, "value": self.on_value,
            "not": self.on_not, "old": self.on_old, "back": self.on_back, "recap": self.on_back,
            "nein": self.on_no, "nobody": self.on_nobody, "yes": self.on_yes, "check": self.on_yes,
            "no": self.on_refusal, "cross": self.on_refusal,
            "same": self.on_same,
        }  # fmt: skip
        self.telling = SETS.labelling | self.handlers.keys() - SETS.asides
        self.acting = {*self.handlers} | SETS.labelling | SETS.openers | SETS.sets_apart

    def read(self, words: list[Word]) -> list[Block]:
        """The blocks of a response."""
        kinds = list(map(KIND, words))
        if _people_of(words) <= {self.poi}:
            self.default = self.block.subject = frozenset([self.poi])
        breaks = list(compress(count(), map("line".__eq__, kinds)))
        bounds = zip([0, *(i + 1 for i in breaks)], [*breaks, len(words)], strict=True)
        lines = [(start, end) for start, end in bounds if start < end]
        for number, (start, end) in enumerate(lines, 1):
            self.read_line(words[start:end], kinds[start:end], ends=number == len(lines))
        # Lists in lists begin at 1 again and again; other labels count the initial state, too.
        labels, begun = self.labels, bool(self.blocks[0].evidence)
        off = self.N not in labels if 0 in labels else self.N + 1 in labels and not begun
        self.odd = self.odd or off or labels.count(1) > 2
        return self.blocks

    # Lines, sentences and tables (S1)

    def read_line(self, line: list[Word], kinds: list[str], ends: bool) -> None:
        """A line: a table's row, or sentences; the response's last sentence answers it."""
        if kinds[0] == "pipe" or (self.columns and kinds.count("pipe") > 1):
            self.read_row(line)
            return
        self.columns = None
        for start, end in _sentence_bounds(line, kinds):
            if not (ends and end == len(line) and self.answers(line[start:], kinds[start:])):
                self.read_sentence(line[start:end], start == 0)

    def answers(self, sentence: list[Word], kinds: list[str]) -> bool:
        """Whether the last sentence answers the question, and tells no more of the states."""
        category, attached = self.lexicon.solution.category, attach(sentence, kinds, self.lexicon)
        clear = {*attached.values()} <= {category} and all(asserted(sentence, kinds))
        if not (attached and clear and _people_of(sentence) <= {self.poi}) or "condition" in kinds:
            return False
        self.answer = str(sentence[max(attached)].data)
        return {"label", "number", "not"}.isdisjoint(kinds)

    def read_row(self, line: list[Word]) -> None:
        """A row of a table; the first one names the people or the categories of its columns."""
        cells = _cells_of(line)
        if not any(word.kind not in ("dash", "colon") for cell in cells for word in cell):
            return
        if self.columns is None:
            nouns = [[str(w.data) for w in cell if w.kind == "noun"] for cell in cells]
            self.columns = [each[0] if len(each) == 1 else None for each in nouns]
            self.odd = self.odd or not _people_of(line) <= {self.poi}
            return
        if cells[0]:
            self.read_sentence(cells[0], True)
        self.odd = self.odd or any([w.data for w in c] in self.others for c in cells)
        for noun, cell in zip([*self.columns, *[None] * len(cells)][1:], cells[1:], strict=False):
            if noun is None:
                self.block.subject = self.default
                for start, end in _sentence_bounds(cell, list(map(KIND, cell))):
                    self.read_sentence(cell[start:end], False, anchors=False)
            elif any(word.kind == "value" for word in cell):
                start = cell[0].start
                head = [Word("noun", noun, start, start), Word("colon", "", start, start)]
                who = frozenset([self.poi])
                self.read_sentence([*head, *cell], False, anchors=False, who=who)

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
        self.voice = _Voice(who or self.block.subject, bool(who))
        following = uncounted = 0
        for i in compress(count(), map(self.acting.__contains__, kinds)):
            if i < following:
                continue
            kind, read = kinds[i], i - uncounted
            if anchors and kind in SETS.labelling:
                following = self.on_label(i, read, at_line)
            if following > i:
                uncounted += following - i
            elif read == 0 and kind in SETS.openers:
                uncounted += 1
            elif kind in self.handlers and (self.asserted[i] or kind not in SETS.claiming):
                self.handlers[kind](i)
            if kind in SETS.sets_apart:
                self.voice.negated = self.voice.old = False

    # Labels (S2)

    def on_label(self, i: int, read: int, at_line: bool) -> int:
        """Open a block where words[i] begins a label of one; where the label ends, or i."""
        voice, start = self.voice, self.words[i].start
        if self.kinds[i] in ("start", "end"):
            initial = self.kinds[i] == "start"
            if voice.labelled:  # "Step 1: the initial state" puts all labels off by one
                self.odd = self.odd or (initial and read <= 2 and self.current == 1)
            elif read <= 2 and (at_line if initial else self.current):
                self.open(INITIAL if initial else END, start)
                voice.who, voice.explicit = frozenset([self.poi]), False
            return i
        label = self.label_at(i, read, at_line)
        if label is None:
            return i
        number, end = label
        if number <= self.N + 1 and (number > self.current or read <= 2):
            voice.labelled = True
            if number == 0 or self.block.statement != number:
                self.labels.append(number)
                self.open(number, start)
                voice.who, voice.explicit = self.block.subject, False
                voice.quoted = voice.negated = False
        elif number < self.current:  # what follows is told of that one
            return len(self.words)
        return end

    def open(self, statement: int, start: int) -> None:
        """Begin another block, unless it is about the same statement."""
        if statement == self.block.statement:
            return
        self.block = Block(statement, start, subject=self.default)
        self.blocks.append(self.block)
        if statement != END:
            self.current = statement

    def label_at(self, i: int, read: int, at_line: bool) -> tuple[int, int] | None:
        """The statement that a label at words[i] names, and where it ends."""
        kind, data, before, after = *self.words[i][:2], self.kinds[i - 1], self.kinds[i + 1]
        if kind in ("label", "hash"):
            return self.numbered(i + 1) if after in ("number", "count") else None
        if kind == "number" and at_line and read == 0:
            number, end = self.numbered(i)
            delimited = self.kinds[end] in SETS.delimiters or number - self.current in (0, 1)
            return (number, end) if delimited else None
        if kind == "number":
            leads_on = data == self.current + 1 and before in SETS.before_numbers
            return self.numbered(i) if leads_on else None
        if kind == "ordinal":
            free = (read <= 3 or before in ("word", "label")) and self.words[i - 1].data != "at"
            return (int(data), i + 1) if data != 1 or (free and after != "value") else None
        return (self.current + 1, i + 1) if kind == "next" and read <= 3 else None

    def numbered(self, i: int) -> tuple[int, int]:
        """The number at words[i], and its end; a text with a label of several is not read."""
        j = i + 1
        while self.kinds[j] in SETS.listing and j - i <= 3:
            j += 1
        if j > i + 1 and self.kinds[j] == "number":
            if (self.kinds[i + 1], self.words[j].data) != ("slash", self.N):  # "step 1/12"
                self.odd = True
            return int(self.words[i].data), j + 1
        return int(self.words[i].data), i + 1

    # People (S3)

    def on_person(self, i: int) -> None:
        """A name: the sentence is about this person, or about one more."""
        name, voice, block = str(self.words[i].data), self.voice, self.block
        joined = self.kinds[i - 1] in SETS.joints and self.kinds[i - 2] == "person"
        voice.who = voice.who | {name} if joined else frozenset([name])
        voice.explicit, voice.quoted, voice.negated = True, False, False
        block.named.append(name)
        block.subject = voice.who

    def on_pronoun(self, i: int) -> None:
        """ "He" or "she": the last person named, else the PoI."""
        voice = self.voice
        voice.who = self.block.subject = voice.who or self.block.subject or frozenset([self.poi])
        voice.explicit, voice.quoted = True, False

    def on_people(self, i: int) -> None:
        """ "The people", "needs", "if": the statement is quoted, up to the next name."""
        voice = self.voice
        if self.words[i].data not in SETS.relative or not (voice.who and voice.explicit):
            voice.quoted, voice.who, voice.explicit = True, _NOBODY, False

    # Values (S4, S5)

    def on_value(self, i: int) -> None:
        """A value, and in which role."""
        word, voice = self.words[i], self.voice
        following = (kind for kind in self.kinds[i + 1 : i + 5] if kind not in SETS.before_marks)
        mark = next(following, "")
        self.odd = self.odd or mark == "arrow"
        if voice.quoted or not voice.who or not self.asserted[i]:
            role = "quoted"
        elif voice.negated or mark == "cross":
            role = "not"
        else:
            role = "before" if voice.old or mark == "check" else "after"
        if i in self.attached:
            self.block.evidence.append(
                Value(self.attached[i], str(word.data), voice.who, role, voice.explicit, *word[2:])
            )
        voice.negated = voice.old = False

    def on_not(self, i: int) -> None:
        """ "Not"."""
        self.voice.negated = True

    def on_old(self, i: int) -> None:
        """ "From", "was": a former value follows."""
        self.voice.old = self.block.statement != INITIAL

    def on_back(self, i: int) -> None:
        """ "Wait": the text takes back what stands before."""
        self.block.evidence.append(Back(self.words[i].start))

    # Verdicts (S5)

    def on_no(self, i: int) -> None:
        """ "No": a verdict, or a negation of what follows."""
        if self.kinds[i + 1] in SETS.denying:
            self.verdict(False, i)
        else:
            self.voice.negated = True

    def on_nobody(self, i: int) -> None:
        """ "Nobody": the statement applies to nobody."""
        self.block.evidence.append(Verdict(False, self.words[i].start))
        self.voice.quoted, self.voice.who = True, _NOBODY

    def on_yes(self, i: int) -> None:
        """ "Applies", "matches", or a check mark that stands after no value."""
        voice = self.voice
        of_value = self.kinds[i] == "check" and self.kinds[i - 1] in SETS.marked
        if not of_value and not voice.quoted:
            self.verdict(not voice.negated, i)
        voice.negated = False

    def on_refusal(self, i: int) -> None:
        """ "Skip", "irrelevant", or a cross."""
        if not self.voice.quoted:
            self.verdict(self.voice.negated, i)
        self.voice.negated = False

    def verdict(self, applies: bool, i: int) -> None:
        """Note that the statement applies or not, if the clause is about the PoI or nobody."""
        who = self.voice.who
        marked = self.kinds[i - 1] == "person" and self.kinds[i] in ("check", "cross")
        for j in () if marked else range(i + 1, i + 4):
            if self.kinds[j] == "person":
                who = frozenset([str(self.words[j].data)])
            elif self.kinds[j : j + 2] == ["not", "word"]:  # "trifft auf Ann nicht zu"
                applies = not applies
            elif self.kinds[j] not in ("word", "range", "colon", "open"):
                break
        if applies and self.kinds[i + 1] == "colon" and _people_of(self.words) - {self.poi}:
            applies = self.poi in _people_of(self.words)  # "who matches: Bob and Carl"
        elif who and self.poi not in who:
            return
        if self.block.statement != INITIAL:
            self.block.evidence.append(Verdict(applies, self.words[i].start))

    def on_same(self, i: int) -> None:
        """ "Unchanged": nothing changes, if the clause is about the PoI or nobody."""
        who = self.voice.who
        if self.poi in who or not (who and self.voice.explicit):
            self.block.evidence.append(Same(self.words[i].start))
        self.voice.negated = False


def _people_of(words: list[Word]) -> frozenset[str]:
    """The people whom words name."""
    return frozenset(str(word.data) for word in words if word.kind == "person")


def _cells_of(row: list[Word]) -> list[list[Word]]:
    """The words of each cell of a table's row; a mark at both ends encloses it."""
    pipes = [-1, *(i for i, word in enumerate(row) if word.kind == "pipe"), len(row)]
    cells = [row[start + 1 : end] for start, end in pairwise(pipes)]
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
        elif not until and kind == "asks":
            until = SETS.after_asking
        elif kind in until:
            until = _NOBODY
        asserts.append(not until)
    return asserts


def attach(words: list[Word], kinds: list[str], lexicon: Lexicon) -> dict[int, str]:
    """The category of each value of a sentence whose category is clear, by its position (S4)."""
    attached: dict[int, str] = {}
    noun = -1  # the last noun on the left
    for i, kind in enumerate(kinds):
        if kind == "noun":
            noun = i
        elif kind == "value":
            possible = lexicon.values[str(words[i].data)]
            right = i + 1 + (kinds[i + 1 : i + 2] == ["word"])  # a run of plain words is one
            near = [right] if kinds[right : right + 1] == ["noun"] else []
            if noun >= 0 and SETS.links.issuperset(kinds[max(noun + 1, i - 12) : i]):
                near.append(noun)
            chosen = [str(words[j].data) for j in near if words[j].data in possible]
            if chosen or len(possible) == 1:
                attached[i] = (chosen or possible)[0]
    return attached

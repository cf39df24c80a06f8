"""Lines in odd layouts -> lines that the reader knows (S1)."""

from itertools import chain, groupby, pairwise, zip_longest

from cogniload_gen.cogniload.steps.lexicon import KIND, Word

Line = list[Word]

LABELS = {"one": 1} | {
    tens + ones: 10 * i + j
    for i, tens in enumerate(("", "x", "xx", "xxx"))
    for j, ones in enumerate(("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"))
}
"""Numbers that are words, besides those that the lexicon knows."""

MOST = 5000
"""A text of more lines, which no puzzle has a use for, is left as it is."""

AFTER_LABELS = frozenset(("stop", "close", "colon", "dash"))
BEFORE_LABELS = frozenset(("open", "dash", "hash", "label"))
STEPS = frozenset(("number", "start", "label"))
HEADS = STEPS | {"noun", "person", "word"}


def usual(lines: list[Line]) -> list[Line]:
    """Return lines with tables turned, and Roman numbers and boxes to tick read."""
    if len(lines) > MOST:
        return lines
    changed: list[Line] = []
    for (mark, count), block in groupby(numbered(list(map(unticked, lines))), delimiter):
        rows = list(block)
        table = [cells_of(row, mark) for row in rows] if count and len(rows) > 1 else [[]]
        cells = [cell for cell in table[0][1:] if cell]
        of_steps = len(cells) > 1 and all(kinds(cell) <= STEPS for cell in cells)
        if of_steps:
            bare = [row for row in table if not set(chain(*map(kinds, row))) <= {"dash", "colon"}]
            table = [list(row) for row in zip_longest(*bare, fillvalue=[])]
        if of_steps or (rows[0][0].kind != "pipe" and is_table(table)):
            rows = [piped(row) for row in table]
        changed += rows
    return changed


def kinds(words: Line) -> set[str]:
    """Return the kinds of words."""
    return set(map(KIND, words))


def delimiter(line: Line) -> tuple[str, int]:
    """Return the mark that may separate a line's cells, and how often it does."""
    marks = [str(word.data) for word in line if word.data in ("|", ";", ",")]
    mark = next((mark for mark in "|;," if mark in marks), "")
    return mark, marks.count(mark)


def cells_of(line: Line, mark: str) -> list[Line]:
    """Return the words of each cell of a row; a mark at an end of it encloses it."""
    cells: list[Line] = [[]]
    for word in line:
        if word.data == mark:
            cells.append([])
        else:
            cells[-1].append(word)
    framed = line[0].kind == "pipe"
    return cells[framed : len(cells) - (framed and line[-1].kind == "pipe")]


def is_table(table: list[list[Line]]) -> bool:
    """Whether rows are a table: a row of heads, and below it cells of few words."""
    return (
        len(table) > 2
        and all(cell and kinds(cell) <= HEADS for cell in table[0])
        and bool({"noun", "person"} & kinds([*chain(*table[0])]))
        and all(row[0] and kinds(row[0]) <= HEADS for row in table)
        and all(len(cell) < 4 for row in table[1:] for cell in row)
    )


def piped(row: list[Line]) -> Line:
    """Return the words of a table's row from its cells."""
    return [word for cell in row for word in (Word("pipe", "|", 0, 0), *cell)]


def unticked(line: Line) -> Line:
    """Return a line without the box to tick at its start."""
    first = int(line[0].kind == "dash")
    box = [str(word.data) for word in line[first : first + 3]]
    size = 3 if box == ["[", "x", "]"] else 2 if box[:2] == ["[", "]"] else 0
    return line[first + size :] or line if size else line


def numbered(lines: list[Line]) -> list[Line]:
    """Return lines with Roman numbers and words for labels, where these rise, as numbers."""
    labels: dict[int, tuple[int, Word]] = {}
    for i, line in enumerate(lines):
        place = next((j for j, w in enumerate(line[:4]) if w.kind not in BEFORE_LABELS), 0)
        word = line[place]
        number = int(word.data) if word.kind == "count" else LABELS.get(str(word.data))
        if number and kinds(line[place + 1 : place + 2]) & AFTER_LABELS:
            labels[i] = place, word._replace(kind="number", data=number)
    if len(labels) > 2 and all(
        int(a.data) < int(b.data) for (_, a), (_, b) in pairwise(labels.values())
    ):
        lines = [*lines]
        for i, (place, word) in labels.items():
            lines[i] = [*lines[i][:place], word, *lines[i][place + 1 :]]
    return lines

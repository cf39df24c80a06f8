"""Does a corpus hold puzzles of a split? Word sequences of the puzzles are looked for in its rows.

A row overlaps with a puzzle if it holds 300 words of the puzzle in sequence, or of a shorter puzzle
as many as the longest of 150, 75, 40, 20 and 10 that it has. The puzzle's instruction, which all
share, does not count; upper case, punctuation, markup and line breaks don't matter. Sequences are
compared by 64-bit hashes at each word of a row, but of a puzzle they start at no more than 200
places: a cut copy of a puzzle of w words is found for sure if it has 300 + w / 200 words.

So long a sequence is hardly another puzzle's by chance, except where puzzles are so small (d = 1
with a few statements, FACTOR's N = 1 or 2) that different draws may give the same text.
"""

import io
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, repeat
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cogniload_gen import benchmarks
from cogniload_gen.canary import CANARY
from cogniload_gen.draws import GOLDEN, child
from cogniload_gen.files.inputs import LARGEST, check_file, json_row
from cogniload_gen.files.write import read_puzzles

SPANS = (300, 150, 75, 40, 20, 10)
"""Lengths of the sequences, in words."""

STARTS = 200
"""At most so many sequences of a puzzle, evenly spaced, are looked for."""

BATCH_WORDS = 500_000
"""Words that are looked up at once."""

PIECE = 1 << 20
"""Characters of a text file that are read at once, if no line ends before.

A piece ends at a space, if it has one, so that no word is cut.
"""

PREFIX_BITS = 24

UNKNOWN = 0
"""The number of all words that are in no puzzle."""

CANARY_ID = CANARY.rpartition(" ")[2]

LETTERS = bytes(b if chr(b).isalnum() else ord(" ") for b in bytes(range(128)).lower())
LETTERS += bytes(range(128, 256))
"""ASCII letters in lower case, digits and all other bytes of UTF-8; a space for the rest."""

BASE = GOLDEN
INVERSE = np.uint64(pow(int(GOLDEN), -1, 2**64))


class Piece(NamedTuple):
    """A row's text, or the next part of it, and where in the corpus it is."""

    where: object
    text: str
    continues: bool = False


Place = tuple[int, int, object]
"""Where a piece's first word is in a batch, the number of its row, and where the piece is."""


class Overlap(NamedTuple):
    """Where a corpus overlaps, and the id of the puzzle, or "canary"."""

    where: object
    puzzle: str


class Sequences(NamedTuple):
    """Hashes in ascending order, the puzzle that each is of, and whether any has a given prefix."""

    hashes: np.ndarray
    owners: np.ndarray
    prefixes: np.ndarray


class Fingerprints(NamedTuple):
    """The puzzles to look for: their ids, their words by number, and their sequences by length."""

    ids: list[str]
    vocabulary: dict[bytes, int]
    sequences: dict[int, Sequences]


def fingerprints(tables: Iterable[pa.Table]) -> Fingerprints:
    """Return the fingerprints of the puzzles in tables with the columns `id` and `puzzle`."""
    ids: list[str] = []
    vocabulary: defaultdict[bytes, int] = defaultdict(count(1).__next__)
    by_span: defaultdict[int, tuple[list[np.ndarray], list[np.ndarray]]]
    by_span = defaultdict(lambda: ([], []))
    for table in tables:
        body = benchmarks.of(table.slice(0, 1).to_pylist()[0]).body
        columns = (table[name].to_pylist() for name in ("id", "puzzle"))
        for id, puzzle in zip(*columns, strict=True):
            numbers = np.array([vocabulary[word] for word in words(body(puzzle))], np.uint64)
            span = next(span for span in SPANS if span <= len(numbers))
            hashes = sequence_hashes(numbers, span)
            hashes = hashes[:: -(-len(hashes) // STARTS)]
            by_span[span][0].append(hashes)
            by_span[span][1].append(np.full(len(hashes), len(ids), np.uint32))
            ids.append(id)
    sequences = {}
    for span, parts in by_span.items():
        hashes, owners = map(np.concatenate, parts)
        order, prefixes = np.argsort(hashes), np.zeros(2**PREFIX_BITS, bool)
        prefixes[prefix(hashes)] = True
        sequences[span] = Sequences(hashes[order], owners[order], prefixes)
    return Fingerprints(ids, dict(vocabulary), sequences)


def find_in_pieces(pieces: Iterable[Piece], puzzles: Fingerprints) -> Iterator[Overlap]:
    """Yield the overlaps of the rows that the pieces make up, each row and puzzle once."""
    number = puzzles.vocabulary.get
    numbers, batch, row, seen = [], [], 0, set()
    for piece in pieces:
        if not piece.continues:
            numbers.append(UNKNOWN)  # no sequence goes from one row into the next
            row += 1
        batch.append((len(numbers), row, piece.where))
        numbers.extend(map(number, words(piece.text), repeat(UNKNOWN)))
        if CANARY_ID in piece.text and (row, CANARY_ID) not in seen:
            seen.add((row, CANARY_ID))
            yield Overlap(piece.where, "canary")
        if len(numbers) >= BATCH_WORDS:
            yield from new_overlaps(numbers, batch, puzzles, seen)
            cut = max(0, len(numbers) - SPANS[0] + 1)  # a sequence may go on from there
            numbers = numbers[cut:]
            first = bisect_right(batch, cut, key=itemgetter(0)) - 1
            batch = [(max(0, at - cut), of, where) for at, of, where in batch[max(0, first) :]]
            seen = {pair for pair in seen if pair[0] >= batch[0][1]}
    yield from new_overlaps(numbers, batch, puzzles, seen)


def new_overlaps(
    numbers: list[int], batch: list[Place], puzzles: Fingerprints, seen: set[tuple[int, Any]]
) -> Iterator[Overlap]:
    """Yield the overlaps of a batch of words that are not in `seen`, which they are added to."""
    for position, puzzle in sorted(matches(np.array(numbers, np.uint64), puzzles)):
        _, row, where = batch[bisect_right(batch, position, key=itemgetter(0)) - 1]
        if (row, puzzle) not in seen:
            seen.add((row, puzzle))
            yield Overlap(where, puzzles.ids[puzzle])


def matches(numbers: np.ndarray, puzzles: Fingerprints) -> Iterator[tuple[int, int]]:
    """Yield where a puzzle's sequence starts, and the puzzle's position in `puzzles.ids`."""
    unknown = np.concatenate([[0], np.cumsum(numbers == UNKNOWN)])
    for span, (hashes, owners, prefixes) in puzzles.sequences.items():
        position = np.flatnonzero(unknown[span:] == unknown[:-span])
        if not len(position):
            continue
        here = sequence_hashes(numbers, span)[position]
        likely = prefixes[prefix(here)]  # a search among all hashes takes ten times as long
        position, here = position[likely], here[likely]
        place = np.minimum(np.searchsorted(hashes, here), len(hashes) - 1)
        same = hashes[place] == here
        yield from zip(position[same].tolist(), owners[place[same]].tolist(), strict=True)


def prefix(hashes: np.ndarray) -> np.ndarray:
    """Return the first PREFIX_BITS bits of hashes."""
    return hashes >> np.uint64(64 - PREFIX_BITS)


def words(text: str) -> list[bytes]:
    """Return the words of a text in lower case; a JSON text's "\\n" separates them too."""
    return text.encode(errors="replace").replace(b"\\n", b" ").translate(LETTERS).split()


def sequence_hashes(numbers: np.ndarray, span: int) -> np.ndarray:
    """Return a hash of each sequence of `span` numbers (uint64), a polynomial modulo 2**64."""
    values = child(BASE, numbers)
    powers = np.cumprod(np.full(len(numbers), BASE))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values * powers)])
    inverse_powers = np.cumprod(np.full(len(numbers) - span + 1, INVERSE))
    return (sums[span:] - sums[:-span]) * inverse_powers


def texts(row: object) -> Iterator[str]:
    """Yield all texts within a row, in order.

    It is a text, or lists and dictionaries with texts in them, as `datasets` and JSON have them.
    """
    if isinstance(row, str):
        yield row
    elif isinstance(row, Mapping | Sequence) and not isinstance(row, bytes):
        for value in row.values() if isinstance(row, Mapping) else row:
            yield from texts(value)


def file_pieces(path: Path) -> Iterator[Piece]:
    """Yield the rows of a .parquet or .jsonl file; of any other, its lines as pieces of one row.

    But for Parquet the file may be compressed, as its last suffix tells (.gz, .bz2, .zst, ...).
    Raises ValueError naming the line that is no JSON, or a file that is not in its format, and
    OSError naming a file that can't be read.
    """
    if path.suffix == ".parquet":
        for number, row in enumerate(read_puzzles(path)):
            yield Piece(f"{path} row {number}", "\n".join(texts(row)))
        return
    check_file(path)
    try:
        yield from text_pieces(path)
    except (OSError, pa.ArrowException) as error:  # pyarrow's, which don't name the file
        raise OSError(f"{path}: {error}") from None


def text_pieces(path: Path) -> Iterator[Piece]:
    """Yield the rows of a JSON Lines file, or the lines of another text; errors as pyarrow's."""
    with io.TextIOWrapper(pa.input_stream(path), encoding="utf-8-sig", errors="replace") as file:
        if ".jsonl" in path.suffixes:
            for number, line in enumerate(iter(partial(file.readline, LARGEST), ""), start=1):
                where = f"{path} line {number}"
                if len(line) == LARGEST:
                    raise ValueError(f"{where} must have less than {LARGEST} characters")
                if line.strip():
                    yield Piece(where, "\n".join(texts(json_row(line, where))))
            return
        number, kept, begun = 1, "", False
        while part := file.readline(PIECE):
            text = kept + part
            goes_on = len(part) == PIECE and not part.endswith("\n")
            cut = (goes_on and text.rfind(" ") + 1) or len(text)
            yield Piece(f"{path} line {number}", text[:cut], continues=begun)
            kept, begun = text[cut:], True
            number += part.endswith("\n")
        if kept:
            yield Piece(f"{path} line {number}", kept, continues=True)

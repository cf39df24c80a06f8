"""Transcripts: what a response says, as a model wrote it down with quotes, for code to judge.

A reader model is never asked who is right. It gets the instructions of data/transcribing.toml and
answers with a JSON list of records; each benchmark's judge holds them against its solver. A record
whose quote is not in the response is dropped here, one whose statement or value the puzzle does not
know by the judge, and all that are dropped are counted.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from cogniload_gen.files import read_words

PIECE, OVERLAP = 12_000, 1_500
"""The most characters of a response that a request holds, and how many two pieces share."""

MOST_DROPPED = 4
"""The share of records, 1 in so many, that may be dropped so that anything is claimed."""

_LONGEST_QUOTE = 200
_MOST_RECORDS, _MOST = 20_000, 10**12

# What may stand between the words of a quote, and around them, besides what the model copied.
_BETWEEN = r"[\s*_`]+"


class Record(NamedTuple):
    """What a response says at one place, text[start:end].

    `about` is what it is said of, as the reader wrote it; `applies` and `values` are what is said,
    and `revoked` whether the response takes it back at once.
    """

    about: Any
    applies: bool | None
    values: tuple[str, ...]
    revoked: bool
    start: int
    end: int


class Quoted(NamedTuple):
    """The records of a transcript, in the order of the text, and how many had to be dropped."""

    records: list[Record]
    dropped: int


def version() -> int:
    """Return the version of the instructions."""
    return int(_instructions()["version"])


def write_prompts(benchmark: str, response: str, **facts: str) -> list[str]:
    """Return what a reader model is asked about a response: one prompt for each piece of it.

    `benchmark` is "cogniload" or "factor"; `facts` are what its instructions name besides.
    """
    template = _instructions()[benchmark]["instructions"]

    def fill(piece: str) -> str:
        known = facts | {"response": piece}
        return re.sub(r"\{([a-z]+)\}", lambda name: known[name[1]], template)

    return [fill(response[start:end]) for start, end in pieces(response)]


def pieces(text: str) -> list[tuple[int, int]]:
    """Return the places of the pieces of a text: whole lines where they can be, overlapping.

    Examples:
        >>> pieces("short"), len(pieces("a line\\n" * 4000))
        ([(0, 5)], 3)
    """
    places, start = [], 0
    while len(text) - start > PIECE:
        end = text.rfind("\n", start + PIECE // 2, start + PIECE) + 1 or start + PIECE
        places.append((start, end))
        start = text.find("\n", end - OVERLAP, end - OVERLAP // 2) + 1 or end - OVERLAP
    return [*places, (start, len(text))]


def parse_answers(answers: Iterable[str]) -> list[dict[str, Any]]:
    """Return the records of a reader's answers, in order: of a list that is cut, the whole ones.

    Examples:
        >>> parse_answers(['Here: [{"k": 1, "quote": "a"}, {"k": 2, "quo'])
        [{'k': 1, 'quote': 'a'}]
    """
    records: list[dict[str, Any]] = []
    for answer in answers:
        records += [each for each in _objects(answer) if each not in records]
    return records


def quoted(transcript: object, text: str) -> Quoted:
    """Return the records whose quotes are in a text, by place; ValueError if there is no list.

    A quote that stands there more than once is taken at its first place that is not before the last
    record, and of no record with the same quote. Line breaks and marks of emphasis don't count.
    """
    if not isinstance(transcript, Sequence) or isinstance(transcript, str):
        raise ValueError(f"a transcript must be a list of records, got {str(transcript)[:80]!r}")
    records, at, same = list[Record](), 0, dict[str, int]()
    for each in transcript[:_MOST_RECORDS]:
        record = _read_record(each, text, at, same)
        if record:
            records.append(record)
            at = record.start
            same[text[at : record.end]] = record.end
    return Quoted(sorted(records, key=lambda r: r.start), len(transcript) - len(records))


def _read_record(held: object, text: str, at: int, same: Mapping[str, int]) -> Record | None:
    """Return a record, None if it is none or its quote is not in the text."""
    if not isinstance(held, Mapping):
        return None
    quote, values, applies = held.get("quote"), held.get("values"), held.get("applies")
    if not (isinstance(quote, str) and quote.strip()):
        return None
    quote = quote[:_LONGEST_QUOTE]
    starts = max(at, same.get(quote, 0)), at, 0
    place = next(filter(None, (_find(quote, text, start) for start in starts)), None)
    if place is None:
        return None
    listed = values if isinstance(values, list) else [values]
    short = (value for value in listed if isinstance(value, str) or type(value) is int)
    told = tuple(str(value) for value in short if isinstance(value, str) or abs(value) < _MOST)
    said = applies if isinstance(applies, bool) else None
    return Record(held.get("k"), said, told, held.get("revoked") is True, *place)


def _find(quote: str, text: str, at: int) -> tuple[int, int] | None:
    start = text.find(quote, at)
    if start >= 0:
        return start, start + len(quote)
    words = [re.escape(word) for word in re.split(_BETWEEN, quote) if word]
    match = re.compile(_BETWEEN.join(words)).search(text, at) if words else None
    return match.span() if match else None


def _objects(answer: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of the list in an answer, whatever stands around it."""
    decoder, at = json.JSONDecoder(strict=False), answer.find("{")
    while at >= 0:
        try:
            each, at = decoder.raw_decode(answer, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield each
        at = answer.find("{", at)


@cache
def _instructions() -> dict[str, Any]:
    return read_words("cogniload_gen", "transcribing")

"""What a corpus shares with a test split is found, however it is wrapped, and nothing else is."""

import gzip
import json
import re

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import refusal

from cogniload_gen import generate_factor, generate_puzzles, overlap
from cogniload_gen.canary import CANARY
from cogniload_gen.commands import main
from cogniload_gen.overlap import (
    Overlap,
    Piece,
    file_pieces,
    find_in_pieces,
    fingerprints,
    texts,
)

TEST = generate_puzzles([1, 5], [3, 40], [25, 75], 4)
FOUND = fingerprints([TEST.slice(0, 10), TEST.slice(10)])
ROWS = TEST.to_pylist()
LONG = [row for row in ROWS if row["N"] == 40]
OPTIONS = ["--d", "1", "5", "--N", "3", "40", "--rho", "25", "75", "--num-puzzles", "4"]


def find_overlaps(rows, puzzles):
    pieces = (Piece(i, "\n".join(texts(row))) for i, row in enumerate(rows))
    return find_in_pieces(pieces, puzzles)


def found(*rows):
    return [(where, puzzle) for where, puzzle in find_overlaps(rows, FOUND)]


def body(row):
    return row["puzzle"].partition("\n")[2]


WRAPPINGS = {
    "as it is": lambda row: row["puzzle"],
    "a row of a dataset": lambda row: row,
    "without its instruction": body,
    "in a chat": lambda row: {
        "score": 0.5, "none": None,
        "messages": [{"role": "user", "content": f"Hi! {row['puzzle']}"},
                     {"role": "assistant", "content": [{"type": "text", "text": "..."}], "n": 3}],
    },
    "in upper case": lambda row: row["puzzle"].upper(),
    "quoted in markdown": lambda row: "> **" + body(row).replace("\n", "**\n> **"),
    "on one line": lambda row: " ".join(body(row).split()),
    "wrapped anew": lambda row: re.sub(r"((?:\S+\s+){7})", r"\1\n\t", body(row)),
    "as JSON within a text": lambda row: json.dumps([json.dumps({"text": row["puzzle"]})]),
    "among other text": lambda row: "lorem ipsum " * 5000 + body(row) + " dolor" * 5000,
}  # fmt: skip


@pytest.mark.parametrize("wrap", WRAPPINGS.values(), ids=WRAPPINGS.keys())
def test_a_puzzle_is_found_however_it_is_wrapped(wrap):
    for row in ROWS:
        assert found("Nothing.", wrap(row), {"text": ""}) == [(1, row["id"])]


def test_a_cut_copy_is_found():
    for row in LONG:
        *statements, _, _ = body(row).split("\n")[len(row["people"]) :]
        assert found("\n".join(statements)) == [(0, row["id"])]
        text = body(row).split()
        size = 310 if len(text) > 310 else 160
        for cut in (text[:size], text[-size:], text[7 : 7 + size]):
            assert found(" ".join(cut)) == [(0, row["id"])]


def test_train_puzzles_other_seeds_and_the_instruction_do_not_overlap():
    train = generate_puzzles([1, 5], 40, [25, 75], 300, split="train")
    other = generate_puzzles([1, 5], 40, [25, 75], 100, seed=1)
    large = fingerprints([generate_puzzles([1, 5], 40, [25, 75], 4)])
    rows = [*train["puzzle"].to_pylist(), *other["puzzle"].to_pylist()]
    assert list(find_overlaps(rows, large)) == []
    instruction = ROWS[0]["puzzle"].partition("\n")[0]
    assert found(instruction, instruction * 20) == []


def test_several_puzzles_in_a_row_and_one_in_several_rows_are_all_told_once():
    both = f"{ROWS[3]['puzzle']}\n{ROWS[12]['puzzle']}\n{ROWS[3]['puzzle']}"
    expected = [(0, ROWS[3]["id"]), (0, ROWS[12]["id"]), (1, ROWS[12]["id"])]
    assert sorted(found(both, ROWS[12])) == sorted(expected)


def test_a_puzzle_is_not_put_together_from_two_rows():
    row = next(row for row in LONG if row["d"] == 5)
    text = body(row).split()
    halves = " ".join(text[1:300]), " ".join(text[300:599])
    assert found(*halves) == []
    assert found(" ".join(halves)) == [(0, row["id"])]


@pytest.mark.parametrize("size", [1, 150, 1000])
def test_batches_lose_and_repeat_nothing(monkeypatch, size):
    corpus = ["word " * 100, *ROWS, {"text": "word"}, *ROWS[:3], "x" * 100]
    expected = found(*corpus)
    assert [puzzle for _, puzzle in expected] == [row["id"] for row in (*ROWS, *ROWS[:3])]
    monkeypatch.setattr(overlap, "BATCH_WORDS", size)
    assert found(*corpus) == expected


def test_no_sequence_is_lost_between_the_lines_of_a_file(monkeypatch):
    monkeypatch.setattr(overlap, "BATCH_WORDS", 50)
    row = next(row for row in LONG if row["d"] == 5)
    text = ["nothing"] * 95 + body(row).split()[:300]  # a single sequence, the puzzle's first
    lines = [" ".join(text[i : i + 7]) for i in range(0, len(text), 7)]
    pieces = [Piece(number, line, continues=number > 0) for number, line in enumerate(lines)]
    assert list(find_in_pieces(pieces, FOUND)) == [Overlap(95 // 7, row["id"])]


@pytest.mark.parametrize("before", ["nothing", "nothing\n"])
@pytest.mark.parametrize("at", range(-40, 40, 7))
def test_what_lies_across_a_piece_of_a_long_line_is_found(tmp_path, monkeypatch, before, at):
    monkeypatch.setattr(overlap, "PIECE", 5000)
    row = next(row for row in LONG if row["d"] == 1)
    copy = " ".join(body(row).split())
    path = tmp_path / "corpus.txt"
    for text, found_there in ((copy, row["id"]), (CANARY, "canary")):
        start = before + " " * (5000 - len(text) // 2 + at) if text == copy else ""
        start = start or before + " " * (5000 - len(text) + 20 + at)
        path.write_text(f"{start}{text} nothing" + " nothing" * 2000)
        assert [each.puzzle for each in find_in_pieces(file_pieces(path), FOUND)] == [found_there]


def test_pieces_are_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(overlap, "PIECE", 10)
    path = tmp_path / "corpus.txt"
    texts = ("a", "123456789\n1234 6789\n", "12345678 0", "1234 6789012345678901 3 " * 3, "x" * 35)
    for text in texts:
        path.write_text(text)
        pieces = list(file_pieces(path))
        assert "".join(piece.text for piece in pieces) == text
        assert [piece.continues for piece in pieces] == [False] + [True] * (len(pieces) - 1)


def test_no_more_sequences_than_promised_start_in_a_puzzle():
    text = "The instruction.\n" + " ".join(f"w{i}" for i in range(698))
    table = TEST.slice(0, 1).set_column(TEST.column_names.index("puzzle"), "puzzle", [[text]])
    (sequences,) = fingerprints([table]).sequences.values()
    assert len(sequences.hashes) <= overlap.STARTS


def test_the_canary_is_found():
    rows = ("a", f"> {CANARY.lower()}.", {"card": [CANARY, CANARY]})
    assert found(*rows) == [(1, "canary"), (2, "canary")]


@pytest.mark.parametrize("knobs", [
    {"suite": "symbolic", "N": [5, 20], "context": [0, 500]},
    {"suite": "realistic", "op": [2, 8], "context": [0, 2000]},
])  # fmt: skip
def test_factors_puzzles_are_found_too(knobs):
    test = generate_factor(**knobs, num_puzzles=3)
    large = fingerprints([test])
    for row in test.to_pylist():
        text, *instruction = row["puzzle"].split("\n\n")
        for copy in (row["puzzle"], text.upper()):
            assert list(find_overlaps(["", copy], large)) == [(1, row["id"])]
        assert list(find_overlaps(instruction, large)) == []
    train = generate_factor(**knobs, num_puzzles=20, split="train")["puzzle"]
    assert list(find_overlaps(train.to_pylist(), large)) == []


def test_byte_order_marks_and_blank_lines_are_no_rows(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n" + "\n\n".join(json.dumps(row["puzzle"]) for row in ROWS[:2]), "utf-8-sig")
    overlaps = list(find_in_pieces(file_pieces(path), FOUND))
    assert overlaps == [(f"{path} line {2 * i + 2}", row["id"]) for i, row in enumerate(ROWS[:2])]


def test_a_dataset_is_a_corpus():
    mixed = datasets.Dataset.from_list([{"text": "a"}, {"text": ROWS[5]["puzzle"]}])
    assert list(find_overlaps(mixed, FOUND)) == [Overlap(1, ROWS[5]["id"])]
    assert list(find_overlaps(mixed.to_iterable_dataset(), FOUND)) == [Overlap(1, ROWS[5]["id"])]


def write(path, texts):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    if path.suffix == ".parquet":
        table = {"n": range(len(texts)), "chat": [[{"c": text}] for text in texts]}
        pq.write_table(pa.table(table), path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text("\n".join(texts) if path.suffix == ".txt" else lines)


@pytest.mark.parametrize(("name", "places"), [
    ("a.jsonl", ["line 2", "line 4"]),
    ("a.jsonl.gz", ["line 2", "line 4"]),
    ("a.txt", ["line 3", "line "]),
    ("a.parquet", ["row 1", "row 3"]),
])  # fmt: skip
def test_the_command_names_file_and_place(tmp_path, capsys, monkeypatch, name, places):
    monkeypatch.setattr(overlap, "BATCH_WORDS", 500)
    path, clean = tmp_path / name, tmp_path / f"clean-{name}"
    write(path, ["some text", LONG[0]["puzzle"], "ünd \ud7ff", LONG[2]["puzzle"]])
    write(clean, ["some text", "other text"])
    assert main(["overlap", str(path), str(clean), *OPTIONS]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for line, place, row in zip(lines, places, (LONG[0], LONG[2]), strict=False):
        assert line.startswith(f"{path} {place}")
        assert line.endswith(f": {row['id']}")
    assert lines[-1] == "2 overlaps with 2 of 32 puzzles, 0 canary strings, in 2 files"
    assert main(["overlap", str(path), *OPTIONS, "--limit", "1"]) == 1
    first, summary = capsys.readouterr().out.splitlines()
    assert first == lines[0]
    assert summary.endswith("2 of 32 puzzles, 0 canary strings, in 1 file; the first 1 are above")
    assert main(["overlap", str(clean), *OPTIONS]) == 0
    summary = "0 overlaps with 0 of 32 puzzles, 0 canary strings, in 1 file\n"
    assert capsys.readouterr().out == summary
    main(["overlap", str(path.rename(tmp_path / f"\x1b{name}")), *OPTIONS])
    assert f"<U+001B>{name} {places[0]}" in capsys.readouterr().out
    error = refusal(capsys, "overlap", clean, *OPTIONS, "--limit", "-1")
    assert error == "--limit must be an integer in 0..9223372036854775807, got -1"


@pytest.mark.parametrize(("name", "content", "message"), [
    ("a.jsonl", b'{"text": 1}\n{"text": \n', 'a.jsonl line 2 must be JSON, got \'{"text": '),
    ("a.jsonl", b"[" * 100_000, "a.jsonl line 1 must be JSON, got '[[[["),
    ("a.jsonl", None, "a.jsonl: No such file or directory"),
    ("a.parquet", b"PAR1", "a.parquet must be a Parquet file: "),
    ("a.txt.gz", b"text", "a.txt.gz: "),
    ("a.jsonl.gz", gzip.compress(b"[]\n" * 999)[:-9], "a.jsonl.gz: "),
], ids=range(6))  # fmt: skip
def test_a_file_that_cannot_be_read_is_an_error_of_one_line(
    tmp_path, capsys, name, content, message
):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    error = refusal(capsys, "overlap", path, "--d", "1", "--N", "3", "--rho", "50")
    assert message in error
    assert len(error) < 400

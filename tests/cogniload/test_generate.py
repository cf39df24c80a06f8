"""The promise of the tables: the same puzzles for the same address, however they are asked for."""

import hashlib
import os

import pyarrow as pa
import pytest
from command_line import run_python
from grids import cogniload_grid, source
from memory import PEAK

from cogniload_gen import GENERATOR_VERSION, generate_puzzles
from cogniload_gen.cogniload import simulate as simulate_module
from cogniload_gen.cogniload import table as table_module
from cogniload_gen.cogniload.table import SHORT

GOLDEN_GRID = {"d": range(1, 13), "N": [1, 20, 100], "rho": [5, 33.3, 95], "num_puzzles": 2}
GOLDEN = "5f2dc042e1e16f6d3678d9bb335d229f894241183a3bb9e51c67909d41ce9be0"
GRID = {"d": [1, 3, 10], "N": [3, 20], "rho": [5, 60]}


def digest(table: pa.Table) -> str:
    """A hash over every value of a table, independent of how it is stored."""
    return hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()


@pytest.mark.parametrize(("few", "ahead", "together"), [
    (0, 4, 16_384), (0, 4, 50), (99, 4, 16_384), (99, 4, 50), (99, 1, 7),
])  # fmt: skip
def test_golden_hash(monkeypatch, few, ahead, together):
    """Change a puzzle, and GENERATOR_VERSION and this hash change with it.

    It is the same whether puzzles are made side by side or one by one, and in what portions.
    """
    for name, value in (("FEW", few), ("AHEAD", ahead), ("DRAWN_TOGETHER", together)):
        monkeypatch.setattr(simulate_module, name, value)
    assert GENERATOR_VERSION == 1
    assert digest(generate_puzzles(**GOLDEN_GRID, trace=True)) == GOLDEN


def test_the_hash_holds_in_another_process():
    program = (
        "import hashlib; from cogniload_gen import generate_puzzles\n"
        f"table = generate_puzzles(**{GOLDEN_GRID!r}, trace=True)\n"
        "print(hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest())"
    )
    environment = os.environ | {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    assert run_python(program, env=environment, cwd="/").stdout.strip() == GOLDEN


@pytest.mark.parametrize("batch", [1, 7, 1000])
@pytest.mark.parametrize("table_clauses", [1, 900, 500_000])
def test_batches_do_not_matter(monkeypatch, batch, table_clauses):
    whole = generate_puzzles(**GRID, num_puzzles=9, trace=True)
    mean_N = sum(GRID["N"]) / len(GRID["N"])
    monkeypatch.setattr(table_module, "BATCH_STATEMENTS", batch * int(mean_N))
    monkeypatch.setattr(table_module, "TABLE_CLAUSES", table_clauses)
    made = source(cogniload_grid(**GRID, num_puzzles=9), trace=True)
    parts = list(made.tables(first_batch=batch))
    assert len(parts) >= len(whole) / batch
    assert pa.concat_tables(parts).equals(whole)


@pytest.mark.parametrize("changes", [
    {}, {"steps": True}, {"language": "de"}, {"language": "zh"}, {"trace": True}, {"twin": "tail"},
])  # fmt: skip
def test_a_puzzle_asked_for_alone_is_the_same(changes):
    """A short one without trace or twin is made in plain Python."""
    grid = {"d": range(1, 13), "N": [1, 8, SHORT, SHORT + 1], "rho": [5, 60]}
    for row in generate_puzzles(**grid, num_puzzles=2, **changes).to_pylist():
        cell = row["d"], row["N"], row["rho"]
        alone = generate_puzzles(*cell, 1, first_index=row["index"], **changes)
        assert alone.to_pylist() == [row]


@pytest.mark.parametrize(("d", "N", "puzzles"), [(12, 1, 50_000), (12, 1000, 2_500)])
def test_memory_stays_flat_for_many_puzzles(d, N, puzzles):
    """Many puzzles of the shape that takes the most room a puzzle, and a statement."""
    program = PEAK + (
        "from cogniload_gen import benchmarks\n"
        f"asked = {{'d': {d}, 'N': {N}, 'rho': 50, 'num_puzzles': {puzzles}}}\n"
        "source = benchmarks.named('cogniload').puzzles(**asked)\n"
        "assert sum(map(len, source.tables())) == len(source.selection)\n"
        "print(peak())"
    )
    assert int(run_python(program).stdout) < 1e9

"""Speed of `cogniload score --dataset` on one core: `python benchmarks/score_table.py`.

Scores tables of 14,000 responses of 30 KB to generated puzzles of both benchmarks, from files.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from machine import machine, peak_memory, timed
from score import RESPONSE_BYTES, RESPONSES, write_response

from cogniload_gen import benchmarks
from cogniload_gen.files.write import write_puzzles
from cogniload_gen.source import Source
from lm_eval_tasks.rescore import score_responses

THOUGHT = "So v3 = v1 + 1, that is 4. Then let me look at the next assignment again. "


def answer_factor(puzzle: dict) -> str:
    """A chain of thought about variables that ends in the right answer."""
    return THOUGHT * (RESPONSE_BYTES // len(THOUGHT)) + f"\nThe answer: {puzzle['answer']}."


def measure(name: str, source: Source, answer, folder: Path) -> None:
    """Print the seconds that a benchmark's table takes, and the peak memory so far."""
    write_puzzles(source, folder / f"{name}.parquet")
    responses = folder / f"{name}-responses.parquet"
    schema = pa.schema({"id": pa.string(), "response": pa.string()})
    with pq.ParquetWriter(responses, schema) as out:
        for table in source.tables():
            rows = [{"id": row["id"], "response": answer(row)} for row in table.to_pylist()]
            out.write_table(pa.Table.from_pylist(rows))
    with timed() as took:
        scored = score_responses(folder / f"{name}.parquet", [responses])
    assert (scored.outcomes.total(), scored.missing) == (RESPONSES, 0)
    print(f"{name}: {took.wall:.1f} s, {took.processor:.1f} s of the processor, {peak_memory()}")


def main() -> None:
    """Measure both benchmarks."""
    datasets = benchmarks.datasets()
    symbolic = {"suite": "symbolic", "N": list(range(2, 30)), "num_puzzles": RESPONSES // 28}
    with TemporaryDirectory() as folder:
        grid = datasets["cogniload"].puzzles()
        measure("CogniLoad", grid, write_response, Path(folder))
        measure("FACTOR", datasets["factor"].puzzles(**symbolic), answer_factor, Path(folder))
    print(machine())


if __name__ == "__main__":
    main()

"""Retrieval at the setting of FACTOR's section 1.

Run it by `PYTHONPATH=benchmarks python studies/retrieval.py [PUZZLES]`.

Realistic puzzles of op 5 within 4,000 tokens; the prompt holds 2,000 of them. Prints the table of
docs/retrieval.md (200 puzzles by default, the encoder included, which takes most of an hour on two
cores) and how long each retriever takes.
"""

import sys
from itertools import product

from machine import machine, timed

from cogniload_gen import generate_factor
from cogniload_gen.factor.recall import Recall, measure
from cogniload_gen.factor.retrieval import CHUNKS, QUERIES, RETRIEVERS, Retrieval

ASKING = [name for name, retriever in RETRIEVERS.items() if retriever.asks]
OTHERS = [name for name in RETRIEVERS if name not in ASKING]
BUDGET, TIMED = 2000, 10


def print_table(recalls: list[Recall]) -> None:
    """Print closure recall and recall, in per cent: a row for each kind of chunk and each query."""
    shown = {
        (of.chunk, of.query, of.retriever): f"{100 * of.closure:.1f} ({100 * of.recall:.1f})"
        for of in recalls
    }
    widest = max((of.closure_high - of.closure_low) / 2 for of in recalls)
    print(f"\nclosure recall (recall) in %; 90 % intervals of the former up to ±{100 * widest:.1f}")
    print(f"\n| chunk | query | {' | '.join(ASKING)} |\n| --- | --- |{' ---: |' * len(ASKING)}")
    for chunk, query in product(CHUNKS, QUERIES):
        cells = [shown[chunk, query, name] for name in ASKING]
        print(f"| {chunk} | {query} | {' | '.join(cells)} |")
    print(f"\n| chunk | {' | '.join(OTHERS)} |\n| --- |{' ---: |' * len(OTHERS)}")
    for chunk in CHUNKS:
        print(f"| {chunk} | {' | '.join(shown[chunk, '', name] for name in OTHERS)} |")


def main(puzzles: int = 200) -> None:
    print(machine())
    made = generate_factor("realistic", op=5, context=4000, num_puzzles=puzzles).to_pylist()
    for name in RETRIEVERS:
        measure(made[:1], [Retrieval(name, BUDGET)])  # what is loaded is loaded
        with timed() as took:
            measure(made[:TIMED], [Retrieval(name, BUDGET)])
        print(f"{name:18} {1000 * took.wall / TIMED:9.1f} ms a puzzle")
    settings = [
        Retrieval(name, BUDGET, chunk, query)
        for chunk, name in product(CHUNKS, RETRIEVERS)
        for query in (QUERIES if name in ASKING else QUERIES[:1])
    ]
    print_table(measure(made, settings))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

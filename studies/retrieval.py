"""Retrieval at the setting of FACTOR's section 1.

Run it by `python studies/retrieval.py [PUZZLES]`.

Realistic puzzles of op 5 within 4,000 tokens; the prompt holds 2,000 of them. Prints the tables of
docs/retrieval.md: 200 puzzles by default, the encoder included, which takes most of an hour on two
cores.
"""

import sys
from itertools import product

from simulated import print_table

from cogniload_gen import generate_factor
from cogniload_gen.factor.recall import measure
from cogniload_gen.factor.retrieval import CHUNKS, QUERIES, RETRIEVERS, Retrieval

ASKING = [name for name, retriever in RETRIEVERS.items() if retriever.asks]
OTHERS = [name for name in RETRIEVERS if name not in ASKING]
BUDGETS, BUDGET = (500, 1000, 2000, 3000), 2000


def main(puzzles: int = 200) -> None:
    made = generate_factor("realistic", op=5, context=4000, num_puzzles=puzzles).to_pylist()
    tables = {
        ("chunk", "query", *ASKING): {
            both: [Retrieval(name, BUDGET, *both) for name in ASKING]
            for both in product(CHUNKS, QUERIES)
        },
        ("chunk", *OTHERS): {
            (chunk,): [Retrieval(name, BUDGET, chunk) for name in OTHERS] for chunk in CHUNKS
        },
        ("retriever", *map(str, BUDGETS)): {
            (name,): [Retrieval(name, budget) for budget in BUDGETS] for name in RETRIEVERS
        },
    }
    settings = list({x for table in tables.values() for row in table.values() for x in row})
    recalls = measure(made, settings)
    widest = max((of.closure_high - of.closure_low) / 2 for of in recalls)
    print(f"\nclosure recall (recall) in %; 90 % intervals of the former up to ±{100 * widest:.1f}")
    cells = [f"{100 * of.closure:.1f} ({100 * of.recall:.1f})" for of in recalls]
    shown = dict(zip(settings, cells, strict=True))
    for headings, table in tables.items():
        print_table([headings, *([*of, *map(shown.get, row)] for of, row in table.items())])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

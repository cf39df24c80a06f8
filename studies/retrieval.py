"""Retrieval at the setting of FACTOR's section 1.

Run it by `python studies/retrieval.py`.

Realistic puzzles of op 5 within 4,000 tokens; the prompt holds 2,000 of them. Prints the table of
docs/retrieval.md, of 200 puzzles, the encoder included, which takes most of an hour on two
cores.
"""

from simulated import print_table

from cogniload_gen import generate_factor
from cogniload_gen.factor.retrieval import RETRIEVERS, Retrieval, measure

BUDGETS = (500, 1000, 2000, 3000)


def main() -> None:
    made = generate_factor("realistic", op=5, context=4000, num_puzzles=200).to_pylist()
    settings = [Retrieval(name, budget) for name in RETRIEVERS for budget in BUDGETS]
    recalls = measure(made, settings)
    widest = (recalls["closure_high"] - recalls["closure_low"]).max() / 2
    print(f"\nclosure recall (recall) in %; 90 % intervals of the former up to ±{100 * widest:.1f}")
    cells = [f"{100 * of.closure:.1f} ({100 * of.recall:.1f})" for of in recalls.itertuples()]
    rows = [[name, *cells[i * len(BUDGETS) :][: len(BUDGETS)]] for i, name in enumerate(RETRIEVERS)]
    print_table([("retriever", *map(str, BUDGETS)), *rows])


if __name__ == "__main__":
    main()

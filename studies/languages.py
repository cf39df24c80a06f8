"""Does the solver read every puzzle of the paper's grid in every language, answer and states?

    python studies/languages.py

100 puzzles in each of the 140 cells, 14,000 a language, take some minutes on one core. The solver
reads nothing but the text, by words of its own; the engine's trace says what is true.
"""

from cogniload_gen.benchmarks import named
from cogniload_gen.cogniload.ontology import LANGUAGES
from cogniload_gen.cogniload.solve import solve_steps


def is_solved(row: dict) -> bool:
    """Whether the solver reads the answer and all states of the person of interest."""
    solution = solve_steps(row["puzzle"])
    states = [state[row["poi"]] for state in solution.states[1:]]
    true = [dict(zip(row["categories"], state, strict=True)) for state in row["poi_states"]]
    return solution.answer == row["answer"] and states == true


if __name__ == "__main__":
    for language in LANGUAGES:
        source = named("cogniload").puzzles(num_puzzles=100, language=language, trace=True)
        rows = (row for table in source.tables(first_batch=140) for row in table.to_pylist())
        solved = [is_solved(row) for row in rows]
        print(f"{language}: {sum(solved):,} of {len(solved):,} solved", flush=True)

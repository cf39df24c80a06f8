"""Does the solver read every puzzle of the paper's grid in every language, answer and states?

    python studies/languages.py [PUZZLES_A_CELL]

100 puzzles in each of the 140 cells, 14,000 a language, take some minutes on one core. The solver
reads nothing but the text, by words of its own; the engine's trace says what is true.
"""

import sys
from collections import Counter

from cogniload_gen.benchmarks import named
from cogniload_gen.cogniload.ontology import LANGUAGES
from cogniload_gen.cogniload.solve import solve_steps


def study(num_puzzles: int) -> dict[str, Counter[str]]:
    """Return the number of puzzles by language, and of those that were solved."""
    counts = {}
    for language in LANGUAGES:
        source = named("cogniload").puzzles(num_puzzles=num_puzzles, language=language, trace=True)
        count = counts[language] = Counter[str]()
        for table in source.tables(first_batch=140):
            for row in table.to_pylist():
                solution = solve_steps(row["puzzle"])
                states = [state[row["poi"]] for state in solution.states[1:]]
                true = (dict(zip(row["categories"], s, strict=True)) for s in row["poi_states"])
                right = solution.answer == row["answer"] and states == [*true]
                count.update(puzzles=1, solved=right)
    return counts


if __name__ == "__main__":
    for language, count in study(int(sys.argv[1]) if len(sys.argv) > 1 else 100).items():
        print(f"{language}: {count['solved']:,} of {count['puzzles']:,} solved", flush=True)

"""A model of text completions that carries on from its own text, with slips that are planted."""

import re

from cogniload_gen.cogniload.score import read_state
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.planted import clauses

LINE = re.compile(r"^(\d+)\. (.*)\n", re.MULTILINE)


def carry(prompt, slips):
    """What a model goes on with: the state after each further statement, and the answer.

    It applies each statement as it says to the last state in its own text, except where
    `slips(puzzle, t, said)` is true: there the value that is asked about is another.
    """
    puzzle, mark, said = prompt.partition("?")  # a puzzle ends with its question
    puzzle += mark
    solution = solve_steps(puzzle)
    category = solution.category
    named = [part.get(category) for part in solution.parts]
    state, done, lines = solution.states[0][solution.poi], 0, []
    for number, line in LINE.findall(said):
        state, done = read_state(line.lower(), state), int(number)
    for t, (needs, gives) in enumerate(solution.statements[done:], done + 1):
        state = state | gives if needs.items() <= state.items() else state
        if slips(puzzle, t, said):
            state = state | {category: next(v for v in named if v not in (None, state[category]))}
        lines.append(f"{t}. {solution.poi} {clauses('state', state)}.\n")
    asked = {category: state[category]}
    return "".join([*lines, f"\n{solution.poi} {clauses('state', asked)}.\n"])

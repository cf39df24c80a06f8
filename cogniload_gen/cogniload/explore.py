"""What the explorer shows of a CogniLoad puzzle: its statements, and the state after each."""

from cogniload_gen.benchmark import Row, Tab
from cogniload_gen.cogniload.solve import solve_steps


def list_statements(row: Row) -> list[str]:
    """Return the beginning of a CogniLoad puzzle, and its statements in order."""
    solution, lines = solve_steps(row["puzzle"]), row["puzzle"].split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("1. "))
    return ["\n".join(lines[:first]), *lines[first : first + len(solution.statements)]]


def list_states(row: Row, after: int) -> list[list[str]]:
    """Return everyone's values after a statement (0: at first): a heading, and a row a person.

    The person of interest stands first, marked; a value that the statement changed ends in *.
    """
    solution = solve_steps(row["puzzle"])
    states, before = solution.states[after], solution.states[max(0, after - 1)]
    categories = sorted(states[solution.poi])
    people = sorted(states, key=lambda name: name != solution.poi)
    heading = ["person", *(category.replace("_", " ") for category in categories)]
    return [
        heading,
        *(
            [
                f"→ {name}" if name == solution.poi else name,
                *(
                    states[name][category]
                    + "*" * (states[name][category] != before[name][category])
                    for category in categories
                ),
            ]
            for name in people
        ),
    ]


TAB = Tab(
    dataset="cogniload",
    levels={"d": (1, 12, 3), "N": (1, 100, 10), "rho": (1, 100, 50)},
    list_steps=list_statements,
    list_states=list_states,
)

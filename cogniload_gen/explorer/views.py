"""What the explorer shows of a puzzle and of a response, computed by the package's own functions.

All text is returned as plain text: the page shows it inertly.
"""

from collections.abc import Mapping
from graphlib import TopologicalSorter
from html import escape
from itertools import pairwise
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.factor.solve import Name, evaluate, realistic_relations, symbolic_relations

Row = Mapping[str, Any]

Marked = list[tuple[str, str | None]]
"""A text in parts, each with its mark, if it has one."""

BOX, GAP = (150, 34), (40, 16)
"""Width and height of a variable's box in the graph, and the room between boxes, in pixels."""


def make_row(dataset: str, **parameters: Any) -> dict[str, Any]:
    """Return the one puzzle of some parameters; ValueError, in one line, if there is none."""
    index = parameters.pop("index", 0)
    source = benchmarks.datasets()[dataset].puzzles(**parameters, first_index=index, num_puzzles=1)
    return source.rows()[0]


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


def judge(response: str, row: Row) -> tuple[str, Marked]:
    """Return how a response scores and where it breaks, and the response with both marked."""
    score = benchmarks.score(response, row)
    lines = [
        f"{'Right' if score.correct else 'Wrong'} ({score.outcome}): {score.explanation}.",
        f"The answer is {row['answer']}.",
    ]
    marks = {"decides the score": score.evidence} if score.evidence else {}
    steps: Any = benchmarks.read_steps(response, row)
    if not steps.read:
        lines.append("Its steps could not be read, so nothing is claimed of them.")
    elif steps.error is None:
        lines.append("Its steps hold no error.")
    else:
        place = getattr(steps, "place", None)
        if steps.error == "answer":
            lines.append("Its steps hold no error, but its answer does.")
        elif isinstance(steps.first_error, int):
            lines.append(f"First error: {steps.error}, at statement {steps.first_error}.")
        else:
            lines.append(f"First error: {steps.error}, at {steps.first_error}.")
            place = steps.told[steps.first_error].place if steps.first_error in steps.told else None
        if place is not None:
            end = response.find("\n", place)
            marks["first error"] = (place, end if end >= 0 else len(response))
    return "\n".join(lines), mark(response, marks)


def mark(text: str, marks: Mapping[str, tuple[int, int]]) -> Marked:
    """Return a text in parts; where two marks meet, the first one holds."""
    edges = sorted({0, len(text), *(edge for place in marks.values() for edge in place)})
    parts: Marked = []
    for first, last in pairwise(edges):
        over = [name for name, place in marks.items() if place[0] <= first < place[1]]
        parts.append((text[first:last], over[0] if over else None))
    return parts


def draw_graph(row: Row) -> str:
    """Return the graph of a FACTOR puzzle's variables as SVG: each stands right of its terms."""
    symbolic = row["suite"] == "symbolic"
    definitions, asked = (symbolic_relations if symbolic else realistic_relations)(row["puzzle"])
    values = evaluate(definitions, definitions if symbolic else [asked])
    terms = {name: definitions[name].terms for name in values}
    columns: dict[Name, int] = {}
    for name in TopologicalSorter(terms).static_order():
        columns[name] = 1 + max((columns[term] for term in terms[name]), default=-1)
    places: dict[Name, tuple[int, int]] = {}
    heights = dict.fromkeys(columns.values(), 0)
    for name, column in columns.items():
        x, y = column * (BOX[0] + GAP[0]), heights[column] * (BOX[1] + GAP[1])
        places[name], heights[column] = (x + GAP[0] // 2, y + GAP[1]), heights[column] + 1
    lines = [
        f'<line x1="{places[term][0] + BOX[0]}" y1="{places[term][1] + BOX[1] // 2}" '
        f'x2="{places[name][0]}" y2="{places[name][1] + BOX[1] // 2}" stroke="#888"/>'
        for name in terms
        for term in terms[name]
    ]
    boxes = [
        f'<rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="4" fill="none" '
        f'stroke="{"#d55e00" if asked == (values[name] if symbolic else name) else "#0072b2"}"/>'
        f'<text x="{x + BOX[0] // 2}" y="{y + 21}" text-anchor="middle" font-size="11" '
        f'fill="currentColor">{escape(show_variable(name))} = {values[name]}</text>'
        for name, (x, y) in places.items()
    ]
    width = (1 + max(heights)) * (BOX[0] + GAP[0])
    height = max(heights.values()) * (BOX[1] + GAP[1]) + GAP[1]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'style="max-width: {width}px; width: 100%" role="img" '
        f'aria-label="The variables and what they depend on">{"".join(lines + boxes)}</svg>'
    )


def show_variable(name: Name) -> str:
    """Return a variable as its puzzle names it."""
    return f"v{name}" if isinstance(name, int) else f"{name[0]}'s {name[1]}"

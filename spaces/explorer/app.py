"""The explorer, a Hugging Face Space: sliders choose a puzzle, and a response to it is judged.

`pip install cogniload "gradio>=6"`, then `python app.py` serves the same page on one's own machine.
"""

from functools import partial
from itertools import pairwise
from typing import Any

import gradio as gr

from cogniload_gen import generate_factor, generate_puzzles, read_steps, score
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.factor.solve import evaluate, spell, symbolic_relations

INDEX = (0, 999, 0)
SLIDERS = {
    "CogniLoad": {"d": (1, 12, 3), "N": (1, 100, 10), "rho": (1, 100, 50), "first_index": INDEX},
    "FACTOR": {"N": (1, 39, 6), "context": (0, 4000, 0), "first_index": INDEX},
}
"""The least, the most and the first level of each benchmark's sliders."""

COLOURS = {"decides the score": "#f0e442", "first error": "#56b4e9"}

Step = tuple[str, list[str], list[list[str]]]
"""What a step says, and the state after it: the heading of a table and its rows."""


def list_steps(row: dict[str, Any]) -> list[Step]:
    """Return the statements of a puzzle of CogniLoad, or the variables of one of FACTOR."""
    return people_steps(row["puzzle"]) if "poi" in row else variable_steps(row["puzzle"])


def people_steps(puzzle: str) -> list[Step]:
    """Return the statements with everyone's state; a value that one has changed ends in *.

    The person of interest stands first.
    """
    solution, lines = solve_steps(puzzle), puzzle.split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("1. "))
    categories = sorted(solution.states[0][solution.poi])
    people = sorted(solution.states[0], key=lambda name: name != solution.poi)
    steps = []
    for t, (before, states) in enumerate(pairwise([solution.states[0], *solution.states])):
        table = []
        for name in people:
            old, new = before[name], states[name]
            table.append([name, *(new[c] + "*" * (new[c] != old[c]) for c in categories)])
        shown = lines[first + t - 1] if t else "\n".join(lines[:first])
        steps.append((shown, ["person", *categories], table))
    return steps


def variable_steps(puzzle: str) -> list[Step]:
    """Return the variables in an order in which they can be computed, with all known so far."""
    definitions, target = symbolic_relations(puzzle)
    table = [
        [spell(name), str(value), ", ".join(map(spell, definitions[name].terms))]
        for name, value in evaluate(definitions, definitions).items()
    ]
    said = [f"Which variables are {target}?", *(f"{name} = {value}" for name, value, _ in table)]
    return [(each, ["variable", "value", "from"], table[:t]) for t, each in enumerate(said)]


def judge(response: str, row: dict[str, Any] | None) -> tuple[str, list[tuple[str, str | None]]]:
    """Return how a response scores and where it breaks, and the response in parts with marks."""
    if row is None:
        return "There is no puzzle.", []
    scored, steps = score(response, row), read_steps(response, row)
    verdict = "Right" if scored.correct else "Wrong"
    text = f"{verdict} ({scored.outcome}): {scored.explanation}.\nThe answer is {row['answer']}.\n"
    marks = {"decides the score": scored.evidence} if scored.evidence else {}
    if not steps.read:
        text += "Its steps could not be read, so nothing is claimed about them."
    elif steps.error in (None, "answer"):
        text += "Its steps hold no error" + (", but its answer does." if steps.error else ".")
    else:
        text += f"First error: {steps.error}, at {steps.first_error}."
        told = steps.told.get(steps.first_error)
        place = steps.place if "poi" in row else told and told.start
        if place is not None:
            end = response.find("\n", place)
            marks["first error"] = (place, end if end >= 0 else len(response))
    edges = sorted({0, len(response), *(edge for place in marks.values() for edge in place)})
    parts = []
    for first, last in pairwise(edges):
        names = (name for name, (start, end) in marks.items() if start <= first < end)
        parts.append((response[first:last], next(names, None)))
    return text, parts


def show_puzzle(benchmark: str, *levels: float) -> tuple[Any, str]:
    """Return the row of the sliders' levels and its text; an error in place of a text."""
    make: Any = {"CogniLoad": generate_puzzles, "FACTOR": generate_factor}[benchmark]
    address = dict(zip(SLIDERS[benchmark], levels, strict=True))
    try:
        (row,) = make(num_puzzles=1, **address).to_pylist()
    except ValueError as error:
        return None, str(error)
    return row, row["puzzle"]


def show_step(row: dict[str, Any] | None, after: int) -> tuple[str, Any]:
    """Return a step and the state after it; nothing where the slider is of a longer puzzle."""
    steps = list_steps(row) if row else []
    if after >= len(steps):
        return "", None
    said, headers, data = steps[after]
    return said, {"headers": headers, "data": data}


def start_steps(row: dict[str, Any] | None) -> tuple[Any, str, Any]:
    """Return the slider of a new puzzle's steps, and its first state."""
    last = len(list_steps(row)) - 1 if row else 1
    return gr.Slider(0, last, 0), *show_step(row, 0)


def build() -> gr.Blocks:
    """Return the page, which `launch()` serves."""
    with gr.Blocks(title="CogniLoad explorer", analytics_enabled=False) as page:
        gr.Markdown("# CogniLoad explorer\nChoose a puzzle, follow its states, judge a response.")
        with gr.Tabs():
            for benchmark in SLIDERS:
                with gr.Tab(benchmark):
                    build_tab(page, benchmark)
    return page


def build_tab(page: gr.Blocks, benchmark: str) -> None:
    """Add a benchmark's tab."""
    with gr.Row():
        sliders = [
            gr.Slider(low, high, first, step=1, label=name.removeprefix("first_"))
            for name, (low, high, first) in SLIDERS[benchmark].items()
        ]
    row = gr.State()
    puzzle = gr.Textbox(label="The puzzle", lines=8, max_lines=20, interactive=False)
    after = gr.Slider(0, 10, 0, step=1, label="Steps that have been applied")
    step = gr.Textbox(label="This step", interactive=False)
    states = gr.Dataframe(label="The state after it", interactive=False, wrap=True)
    response = gr.Textbox(label="A response to the puzzle", lines=6, max_length=500_000)
    button = gr.Button("Score it")
    verdict = gr.Textbox(label="Score", interactive=False)
    marked = gr.HighlightedText(label="The response", color_map=COLOURS)
    changes = [page.load, *(slider.change for slider in sliders)]
    for change in changes:
        change(partial(show_puzzle, benchmark), sliders, [row, puzzle])
    row.change(start_steps, row, [after, step, states])
    after.change(show_step, [row, after], [step, states])
    button.click(judge, [response, row], [verdict, marked])


if __name__ == "__main__":
    build().launch()

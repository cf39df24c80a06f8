"""The explorer's page, of Gradio: sliders choose a puzzle, and each view is one of `views`."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from cogniload_gen.explorer.views import draw_graph, judge, list_statements, list_states, make_row

ADDRESSES: dict[str, dict[str, tuple[Any, ...]]] = {
    "cogniload": {"d": (1, 12, 3), "N": (1, 100, 10), "rho": (1, 100, 50)},
    "factor": {"N": (1, 39, 6), "context": (0, 4000, 0)},
}
"""The least, the most and the first level of each slider, by data set."""

COLOURS = {"decides the score": "#f0e442", "first error": "#56b4e9"}


def build() -> gr.Blocks:
    """Return the explorer, which `launch()` serves."""
    with gr.Blocks(title="CogniLoad explorer", analytics_enabled=False) as page:
        gr.Markdown("# CogniLoad explorer\nChoose a puzzle, follow its states, judge a response.")
        with gr.Tab("CogniLoad"):
            sliders, row, link = choose_puzzle("cogniload")
            after = gr.Slider(0, 10, 0, step=1, label="Statements that have been applied")
            statement = gr.Textbox(label="This statement", interactive=False)
            states = gr.Dataframe(label="Everyone's state", interactive=False, wrap=True)
            row.change(start_states, row, [after, statement, states])
            after.change(show_states, [row, after], [statement, states])
            judge_responses(row)
        with gr.Tab("FACTOR"):
            factor_sliders, factor_row, factor_link = choose_puzzle("factor")
            graph = gr.HTML(label="What each variable depends on")
            factor_row.change(lambda row: draw_graph(row) if row else "", factor_row, graph)
            judge_responses(factor_row)
        page.load(read_link, None, [*sliders, *factor_sliders]).then(
            show_puzzle("cogniload"), sliders, [row, *link]
        ).then(show_puzzle("factor"), factor_sliders, [factor_row, *factor_link])
    return page


def choose_puzzle(dataset: str) -> tuple[list[gr.Slider], gr.State, list[Any]]:
    """Add the sliders of a data set and its puzzle; return them, the row and what shows it."""
    with gr.Row():
        sliders = [
            gr.Slider(low, high, first, step=1, label=name)
            for name, (low, high, first) in ADDRESSES[dataset].items()
        ]
        sliders.append(gr.Slider(0, 999, 0, step=1, label="index"))
    row = gr.State()
    puzzle = gr.Textbox(label="The puzzle", lines=8, max_lines=20, interactive=False)
    link = gr.Textbox(label="Link to this view", interactive=False, buttons=["copy"])
    for slider in sliders:
        slider.change(show_puzzle(dataset), sliders, [row, puzzle, link])
    return sliders, row, [puzzle, link]


def show_puzzle(dataset: str) -> Any:
    """Return the function from the sliders to the row, its text and its link."""
    names = [*ADDRESSES[dataset], "index"]

    def show(*levels: int) -> tuple[Any, str, str]:
        address = dict(zip(names, levels, strict=True))
        link = f"?{urlencode({'dataset': dataset} | address)}"
        try:
            row = make_row(dataset, **address)
        except ValueError as error:
            return None, str(error), link
        return row, row["puzzle"], link

    return show


def read_link(request: gr.Request) -> list[Any]:
    """Return the levels of all sliders, as the page's address has them."""
    query: Mapping[str, str] = dict(request.query_params)
    levels = []
    for dataset, ranges in ADDRESSES.items():
        mine = query if query.get("dataset", "cogniload") == dataset else {}
        for name, (low, high, first) in {**ranges, "index": (0, 999, 0)}.items():
            text = mine.get(name, "")
            levels.append(min(max(int(text), low), high) if text.isdecimal() else first)
    return levels


def start_states(row: dict[str, Any] | None) -> tuple[Any, str, Any]:
    """Return the slider of a new puzzle's statements, and its first state."""
    if not row:
        return gr.Slider(0, 1, 0), "", None
    return gr.Slider(0, row["N"], 0), *show_states(row, 0)


def show_states(row: dict[str, Any] | None, after: int) -> tuple[str, Any]:
    """Return a statement and everyone's state after it."""
    if not row or after > row["N"]:
        return "", None
    heading, *people = list_states(row, after)
    return list_statements(row)[after], {"headers": heading, "data": people}


def judge_responses(row: gr.State) -> None:
    """Add a box for a response, its score and its marks."""
    response = gr.Textbox(label="A response to the puzzle", lines=6, max_length=500_000)
    button = gr.Button("Score it")
    verdict = gr.Textbox(label="Score", interactive=False)
    marked = gr.HighlightedText(label="The response", color_map=COLOURS)
    button.click(
        lambda text, row: judge(text, row) if row else ("There is no puzzle.", []),
        [response, row],
        [verdict, marked],
    )

"""The explorer's page, of Gradio: sliders choose a puzzle, and each benchmark brings its views."""

from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Tab
from cogniload_gen.explorer.judge import judge, make_row

COLOURS = {"decides the score": "#f0e442", "first error": "#56b4e9"}


INDEX = 0, 999, 0
"""The ends and the first level of the slider of indices."""


def find_tabs() -> list[Tab]:
    """Return what each benchmark brings."""
    modules = dict.fromkeys(benchmark.explorer for benchmark in benchmarks.BENCHMARKS)
    return [import_module(module).TAB for module in modules]


def build() -> gr.Blocks:
    """Return the explorer, which `launch()` serves."""
    with gr.Blocks(title="CogniLoad explorer", analytics_enabled=False) as page:
        gr.Markdown("# CogniLoad explorer\nChoose a puzzle, follow its states, judge a response.")
        titles = {benchmark.dataset: benchmark.title for benchmark in benchmarks.BENCHMARKS}
        tabs, sliders, shown = find_tabs(), [], []
        views = gr.Tabs()
        for tab in tabs:
            with views, gr.Tab(titles[tab.dataset].partition(",")[0], id=tab.dataset):
                row, mine, texts = choose_puzzle(tab)
                sliders.append(mine)
                shown.append([row, *texts])
                if tab.list_states:
                    follow_states(tab, row)
                if tab.draw:
                    picture = gr.HTML()
                    row.change(partial(show_picture, tab), row, picture)
                judge_responses(row)
        loaded = page.load(read_link, None, [views, *chain.from_iterable(sliders)])
        for tab, mine, outputs in zip(tabs, sliders, shown, strict=True):
            loaded = loaded.then(partial(show_puzzle, tab), mine, outputs)
    return page


def choose_puzzle(tab: Tab) -> tuple[gr.State, list[gr.Slider], list[gr.Textbox]]:
    """Add a tab's sliders and its puzzle; return the row, the sliders and what shows the row."""
    with gr.Row():
        sliders = [
            gr.Slider(low, high, first, step=1, label=name)
            for name, (low, high, first) in {**tab.levels, "index": INDEX}.items()
        ]
    row = gr.State()
    puzzle = gr.Textbox(label="The puzzle", lines=8, max_lines=20, interactive=False)
    link = gr.Textbox(label="Link to this view", interactive=False, buttons=["copy"])
    for slider in sliders:
        slider.change(partial(show_puzzle, tab), sliders, [row, puzzle, link])
    return row, sliders, [puzzle, link]


def show_puzzle(tab: Tab, *levels: int) -> tuple[Any, str, str]:
    """Return the row of the sliders' levels, its text and its link; an error in place of a text."""
    address = dict(zip((*tab.levels, "index"), levels, strict=True))
    link = f"?{urlencode({'dataset': tab.dataset} | address)}"
    try:
        row = make_row(tab.dataset, **address)
    except ValueError as error:
        return None, str(error), link
    return row, row["puzzle"], link


def read_link(request: gr.Request) -> list[Any]:
    """Return the tab and the levels of all sliders, as the page's address has them."""
    query, tabs = dict(request.query_params), find_tabs()
    levels: list[Any] = [gr.Tabs(selected=tabs[0].dataset)]
    for tab in tabs:
        mine = query if query.get("dataset") == tab.dataset else {}
        if mine:
            levels[0] = gr.Tabs(selected=tab.dataset)
        for name, (low, high, first) in {**tab.levels, "index": INDEX}.items():
            text = mine.get(name, "")
            levels.append(min(max(int(text), low), high) if text.isdecimal() else first)
    return levels


def follow_states(tab: Tab, row: gr.State) -> None:
    """Add the slider that applies the puzzle's statements, and the state after each."""
    after = gr.Slider(0, 10, 0, step=1, label="Statements that have been applied")
    statement = gr.Textbox(label="This statement", interactive=False)
    states = gr.Dataframe(label="Everyone's state", interactive=False, wrap=True)
    row.change(partial(start_states, tab), row, [after, statement, states])
    after.change(partial(show_states, tab), [row, after], [statement, states])


def start_states(tab: Tab, row: dict[str, Any] | None) -> tuple[Any, str, Any]:
    """Return the slider of a new puzzle's statements, and its first state."""
    steps = tab.list_steps(row) if row and tab.list_steps else ["", ""]
    return gr.Slider(0, len(steps) - 1, 0), *show_states(tab, row, 0)


def show_states(tab: Tab, row: dict[str, Any] | None, after: int) -> tuple[str, Any]:
    """Return a statement and everyone's state after it."""
    if not (row and tab.list_steps and tab.list_states):
        return "", None
    steps = tab.list_steps(row)
    if after >= len(steps):  # of the puzzle before
        return "", None
    heading, *people = tab.list_states(row, after)
    return steps[after], {"headers": heading, "data": people}


def show_picture(tab: Tab, row: dict[str, Any] | None) -> str:
    """Return the picture of a puzzle."""
    return tab.draw(row) if row and tab.draw else ""


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

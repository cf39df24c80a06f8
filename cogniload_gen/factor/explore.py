"""What the explorer shows of a FACTOR puzzle: the graph of its variables."""

from graphlib import TopologicalSorter
from html import escape

from cogniload_gen.benchmark import Row, Tab
from cogniload_gen.factor.solve import Name, evaluate, realistic_relations, symbolic_relations

BOX, GAP = (150, 34), (40, 16)
"""Width and height of a variable's box in the graph, and the room between boxes, in pixels."""


def draw_graph(row: Row) -> str:
    """Return the graph of a FACTOR puzzle's variables as SVG: each stands right of its terms."""
    symbolic = row["suite"] == "symbolic"
    definitions, target = (symbolic_relations if symbolic else realistic_relations)(row["puzzle"])
    values = evaluate(definitions, definitions if symbolic else [target])
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
        f'stroke="{"#d55e00" if target == (values[name] if symbolic else name) else "#0072b2"}"/>'
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


TAB = Tab(
    dataset="factor",
    levels={"N": (1, 39, 6), "context": (0, 4000, 0)},
    draw=draw_graph,
)

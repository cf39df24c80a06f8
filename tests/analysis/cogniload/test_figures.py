"""The figures: the same bytes each time, and told apart without colour."""

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import BETA, simulate_counts, to_rows
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

from cogniload_analysis import accuracy_table, ranking_table
from cogniload_analysis.cogniload.fitted import Fitted
from cogniload_analysis.cogniload.sections.accuracy import draw_paper
from cogniload_analysis.cogniload.sections.ranking import draw_ranking
from cogniload_analysis.cogniload.sections.thresholds import draw_fit
from cogniload_analysis.display.drawing import draw, render
from cogniload_analysis.display.figures import shorten_name


def simulate_models(names, puzzles=2):
    drawn = {
        name: to_rows(simulate_counts(BETA, puzzles, np.random.default_rng(number)))
        for number, name in enumerate(names)
    }
    return pd.concat([rows.assign(model=name) for name, rows in drawn.items()], ignore_index=True)


@pytest.fixture(scope="module")
def frame():
    return simulate_models(["first", "$x_{$ & <b>", "a name that is too long for any legend"])


def figures_of(frame):
    return {figure.name: figure for figure in draw_paper(frame)}


@pytest.mark.parametrize("name", ["figure_1", "figure_5"])
def test_a_figure_is_the_same_bytes_each_time(frame, name):
    first, second = (render(figures_of(frame)[name], pdf=True) for _ in range(2))
    assert first == second
    for content, start in ((first.svg, b"<?xml"), (first.pdf, b"%PDF")):
        assert content.startswith(start)
        assert not re.search(rb"CreationDate|<dc:date>", content)


def fit_of(frame):
    one = frame[frame["model"] == "first"]
    return draw_fit("first", Fitted(one), "fit")


@pytest.mark.parametrize("across", [1, 3])
@pytest.mark.parametrize(
    "make",
    [
        lambda frame: figures_of(frame)["figure_1"],
        lambda frame: figures_of(frame)["figure_3"],
        lambda frame: figures_of(frame)["figure_5"],
        fit_of,
    ],
)
def test_no_text_is_cut_off_and_no_legend_lies_on_an_axis(frame, make, across):
    """However long the names of models are, on paper and on a phone."""
    many = frame["model"].where(frame["model"] == "first", frame["model"] + " in many words")
    figure = draw(make(frame.assign(model=many)), across)
    figure.draw_without_rendering()
    renderer = FigureCanvasAgg(figure).get_renderer()
    legends = [legend.get_window_extent(renderer) for legend in figure.legends]
    extents = [axes.get_tightbbox(renderer) for axes in figure.axes if axes.get_visible()]
    for extent in (*legends, *extents):
        assert figure.bbox.padded(0.5).count_contains(extent.corners()) == 4
    assert all(extent.y0 > legend.y1 for extent in extents for legend in legends)
    assert all(Bbox.intersection(*pair) is None for pair in combinations(extents, 2))


def test_figures_show_the_accuracies_and_the_intervals_of_the_table(frame):
    table = accuracy_table(frame, "d")
    first = table[table["model"] == table["model"].iloc[0]]
    for name in ("figure_1", "figure_5"):
        axes = draw(figures_of(frame)[name]).axes[0]
        np.testing.assert_allclose(axes.get_lines()[0].get_xydata(), first[["d", "accuracy"]])
    ends = [segment[:, 1] for segment in axes.collections[0].get_segments()]
    np.testing.assert_allclose(ends, first[["low", "high"]])


def test_the_fitted_curve_goes_through_the_points():
    frame = simulate_models(["one"], puzzles=200)
    figure = draw(draw_fit("one", Fitted(frame), "fit"))
    for axes, knob in zip(figure.axes, ("d", "N", "rho"), strict=True):
        curve = max(axes.get_lines(), key=lambda line: len(line.get_xdata()))
        means = frame.groupby(knob)["correct"].mean()
        scale = 100 if knob == "rho" else 1
        fitted = np.interp(scale * means.index, curve.get_xdata(), curve.get_ydata())
        np.testing.assert_allclose(fitted, means, atol=0.03)


def test_the_ranking_is_drawn_in_the_order_of_its_table_with_the_new_ones_intervals():
    """A perfect model comes first; one without a projection stands by its crossing."""
    grid = simulate_models(["grid"], puzzles=20)
    on_lines = grid[["d", "N", "rho"]].eq([5, 50, 0.5]).sum(axis=1) > 1
    frames = {"grid": grid, "perfect": grid.assign(correct=True), "lines": grid[on_lines]}
    models = {name: Fitted(frame) for name, frame in frames.items()}
    glms = {name: fitted.glm for name, fitted in models.items()}
    ranking = ranking_table(glms, {name: fitted.capacity for name, fitted in models.items()})
    assert ranking["model"].iloc[0] == "perfect"
    rows = ranking.set_index("model")
    assert np.isnan(rows.loc["lines", "ECL50"])
    assert ranking["ECL50"].fillna(ranking["crossing"])[1:].is_monotonic_decreasing
    axes = draw(draw_ranking(ranking)).axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [*map(shorten_name, ranking["model"])][::-1]
    drawn = [line[:, 0] for line in axes.collections[0].get_segments() if len(line)]
    np.testing.assert_allclose(drawn, [rows.loc["grid", ["low", "high"]].astype(float)])

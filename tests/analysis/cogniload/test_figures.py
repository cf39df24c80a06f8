"""The figures: the same bytes each time, and told apart without colour."""

import re
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import BETA, simulate_counts, to_rows
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from cogniload_analysis import accuracy_table, fit_load_glm, ranking_table
from cogniload_analysis.cogniload import figures
from cogniload_analysis.display.figures import (
    DPI,
    save_figure,
    stack_panels,
)


def simulate_models(names, puzzles=2):
    drawn = {
        name: to_rows(simulate_counts(BETA, puzzles, np.random.default_rng(number)))
        for number, name in enumerate(names)
    }
    return pd.concat([rows.assign(model=name) for name, rows in drawn.items()], ignore_index=True)


@pytest.fixture(scope="module")
def frame():
    return simulate_models(["first", "$x_{$ & <b>", "a name that is too long for any legend"])


DRAWINGS = {
    "figure 1": figures.draw_accuracy,
    "figure 3": lambda frame: figures.draw_rho_by(frame, "d"),
    "figure 4": lambda frame: figures.draw_rho_by(frame, "N"),
    "figure 5": lambda frame: figures.draw_accuracy_by(frame, "d"),
    "figure 6": lambda frame: figures.draw_accuracy_by(frame, "rho"),
    "figure 7": lambda frame: figures.draw_accuracy_by(frame, "N"),
}


@pytest.mark.parametrize("name", ["figure 1", "figure 5"])
def test_a_figure_is_the_same_bytes_each_time(frame, name):
    for kind, start in (("svg", b"<?xml"), ("pdf", b"%PDF")):
        first, second = (save_figure(DRAWINGS[name](frame), kind) for _ in range(2))
        assert first == second
        assert first.startswith(start)
        assert not re.search(rb"CreationDate|<dc:date>", first)


@pytest.mark.parametrize("name", ["figure 1", "figure 3", "figure 5"])
def test_no_text_is_cut_off_and_no_legend_lies_on_an_axis(frame, name):
    """However long the names of models are."""
    long = frame.assign(model=frame["model"].astype(str) + " in a setting of many words")
    figure = DRAWINGS[name](long)
    renderer = FigureCanvasAgg(figure).get_renderer()
    legends = [legend.get_window_extent(renderer) for legend in figure.legends]
    extents = [axes.get_tightbbox(renderer) for axes in figure.axes]
    for extent in (*legends, *extents):
        assert figure.bbox.count_contains(extent.corners()) == 4
    assert all(extent.y0 > legend.y1 for extent in extents for legend in legends)
    for side_by_side in (legends, extents):
        assert all(Bbox.intersection(*pair) is None for pair in pairwise(side_by_side))


WINDOW = re.compile(rb'<svg x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)" viewBox="(.+?)">')


@pytest.mark.parametrize(
    "draw",
    [
        figures.draw_accuracy,
        lambda frame: figures.draw_rho_by(frame, "d"),
        figures.draw_outcomes,
        lambda frame: figures.draw_fit(one := frame[frame["model"] == "a"], fit_load_glm(one)),
    ],
)
def test_on_a_phone_each_text_is_whole_in_a_window_and_none_covers_another(draw):
    frame = simulate_models(["a", "another", "long names in a setting of many words", "last"])
    figure = draw(frame.assign(outcome=pd.Categorical(["wrong_logic"] * len(frame))))
    width, height = DPI * figure.get_size_inches()
    svg = save_figure(figure, "svg")
    stacked = stack_panels(figure, svg)
    assert svg[svg.index(b"<svg ") + 5 :] in stacked
    shown, placed = [], []
    for x, y, wide, tall, view in WINDOW.findall(stacked):
        left, top, *size = map(float, view.split())
        assert size == [float(wide), float(tall)]
        shown.append(Bbox.from_bounds(left, height - top - size[1], *size))
        placed.append(Bbox.from_bounds(float(x), float(y), *size).padded(-0.1))
    page = Bbox.from_bounds(0, 0, *map(float, re.search(rb'="0 0 (\S+) (\S+)"', stacked).groups()))
    assert page.width < width / 2
    assert all(page.count_contains(place.corners()) == 4 for place in placed)
    renderer = FigureCanvasAgg(figure).get_renderer()
    drawn = re.findall("<!-- (.*?) -->", svg.decode())
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text() in drawn]
    assert len(texts) > 20
    for text in texts:
        corners = text.get_window_extent(renderer).corners()
        assert any(window.count_contains(corners) == 4 for window in shown), text
    pairs = combinations(placed, 2)
    assert all(Bbox.intersection(*pair) is None for pair in pairs)


def test_figure_1_shows_the_accuracies_of_the_table(frame):
    line = figures.draw_accuracy(frame).axes[2].get_lines()[-1]
    mine = frame[frame["model"] == "first"].groupby("rho")["correct"].mean()
    np.testing.assert_allclose(line.get_ydata(), mine)
    np.testing.assert_allclose(line.get_xdata(), 100 * mine.index)


def test_figure_5_has_the_wilson_intervals(frame):
    table = accuracy_table(frame, "d")
    (bars, *_) = figures.draw_accuracy_by(frame, "d").axes[0].collections
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    first = table[table["model"] == table["model"].iloc[0]]
    np.testing.assert_allclose(ends, first[["low", "high"]])


def test_the_fitted_curve_goes_through_the_points():
    frame = simulate_models(["one"], puzzles=200)
    figure = figures.draw_fit(frame, fit_load_glm(frame))
    for axes, knob in zip(figure.axes, ("d", "N", "rho"), strict=True):
        curve = axes.get_lines()[-1]
        means = frame.groupby(knob)["correct"].mean()
        scale = 100 if knob == "rho" else 1
        fitted = np.interp(scale * means.index, curve.get_xdata(), curve.get_ydata())
        np.testing.assert_allclose(fitted, means, atol=0.03)


def test_the_ranking_draws_each_model_and_the_new_ones_intervals():
    frame = simulate_models(["new"], puzzles=20)
    ranking = ranking_table({"new": fit_load_glm(frame)})
    axes = figures.draw_ranking(ranking).axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ranking["model"].tolist()[::-1]
    interval, _ = axes.collections
    mine = ranking.set_index("model").loc["new"]
    np.testing.assert_allclose(
        interval.get_segments()[0][:, 0], mine[["low", "high"]].astype(float)
    )

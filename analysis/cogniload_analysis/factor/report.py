"""FACTOR's part of the report: its fits, tables, figures and sentences."""

import math
from collections.abc import Mapping
from functools import partial

import pandas as pd

from cogniload_analysis.adaptive.section import report_runs
from cogniload_analysis.display import verdict
from cogniload_analysis.display.content import Findings, Picture, Verdict, name_file
from cogniload_analysis.display.figures import Drawing, draw_all
from cogniload_analysis.display.print import accuracy_table
from cogniload_analysis.display.tables import Table, rows_of
from cogniload_analysis.factor import adaptive_section, figures, hops, retrieval, tables
from cogniload_analysis.factor.decay import ACCURACY_RANGES, CONDITION
from cogniload_analysis.factor.loads import LOADS, MEANINGS, show_context
from cogniload_analysis.factor.tables import HERE, TABLES, Decays
from cogniload_analysis.factor.words import say, say_capacity, say_decay, say_mode, say_sampling
from cogniload_analysis.matters import load_effects
from cogniload_analysis.samples.stop_reasons import ending_table
from cogniload_analysis.stats import CONFIDENCE

Frames = Mapping[str, pd.DataFrame]
"""The raw numbers of the part's tables, by the tables' names."""


def report_factor(
    frame: pd.DataFrame,
    *,
    accuracy_range: tuple[float, float] = ACCURACY_RANGES["pretrained"],
    n_clean: float | None = None,
) -> Findings:
    """Return what the report shows of FACTOR's frame, whose models have their short names.

    `accuracy_range` is as for `fit_complexity_decay`, and `n_clean` as for `sampling_table`. Raises
    ValueError for either out of its range.
    """
    if n_clean is not None and not 0 < n_clean < math.inf:
        raise ValueError(f"n_clean must be a positive number, got {n_clean!r}")
    decays = tables.fit_decays(frame, accuracy_range=accuracy_range)
    lines = tables.fit_decays(frame, "least squares", accuracy_range=accuracy_range)
    replays = adaptive_section.find_replays(frame)
    built = build_tables(frame, decays, lines, n_clean)
    data = {table.name: table.data for table in built}
    pairs = sorted({(suite, model) for model, suite, *_ in decays})
    names = {
        (suite, model): f"factor_{suite}_{name_file(number, model)}"
        for number, (suite, model) in enumerate(pairs, start=1)
    }
    pictures = draw_pictures(decays, data, names)
    files = (name_file(number, model) for number, (model, *_) in enumerate(replays, start=1))
    run_tables, run_pictures, runs = report_runs(
        list(replays.values()),
        adaptive_section.SPECS,
        [f"factor_adaptive_{file}" for file in files],
        along="by N",
        draw=adaptive_section.draw_run,
        say=adaptive_section.say_decay_run,
        title=lambda row: (
            f"{row['model']}, {row['suite']} suite, context {show_context(row['context'])}"
        ),
    )
    models, verdicts = [], []
    for (suite, model), name in names.items():
        mine = frame[(frame["suite"] == suite) & (frame["model"] == model)]
        models.append(describe_model(suite, model, data, pictures.get(name)))
        verdicts.append(describe_verdict(suite, model, mine, data, pictures.get(name)))
    return Findings(
        tables=built + run_tables,
        pictures=pictures | run_pictures,
        models=models,
        verdicts=verdicts,
        front=next((pictures[name] for name in FRONT if name in pictures), None),
        sections={"runs": runs},
        symbols=tables.SYMBOLS,
    )


def build_tables(
    frame: pd.DataFrame, decays: Decays, lines: Decays, n_clean: float | None = None
) -> list[Table]:
    """Return the tables of the part, from its fits by the likelihood and by least squares.

    A table without rows is left out, and so are the published figures where nothing of the frame
    stands beside them.
    """
    fits, least_squares = tables.decay_table(decays), tables.decay_table(lines)
    raw = {
        "accuracy": accuracy_table(frame, *CONDITION[1:], confidence=CONFIDENCE),
        "decay": fits,
        "least_squares": least_squares,
        "modes": tables.mode_table(fits),
        "responses": tables.response_table(frame),
        "accuracy_by_N": accuracy_table(frame, *CONDITION[1:], "N", confidence=CONFIDENCE),
        "retrieval": retrieval.retrieval_table(frame),
        "retrieval_by_N": retrieval.retrieval_table(frame, "N"),
        "by_hops": hops.hops_table(frame),
        "shortcuts": hops.shortcut_table(frame),
    }
    if (fits["suite"] == "symbolic").any():
        by_context = tables.by_context_table(least_squares)
        raw |= {
            "zero_context": tables.zero_context_table(least_squares),
            "cdf_by_context": by_context,
            "cdo_by_context": by_context,
        }
    attempts = tables.attempts_table(frame)
    if len(attempts):
        raw |= {"attempts": attempts, "sampling": tables.sampling_table(attempts, n_clean)}
    return [TABLES[name].table(rows) for name, rows in raw.items() if len(rows)]


def draw_pictures(
    decays: Decays, data: Frames, names: Mapping[tuple[str, str], str]
) -> dict[str, Picture]:
    """Return the pictures of the part: each model's accuracies, and the paper's figures.

    `names` has the name of the picture of each (suite, model). A figure of zeros alone is left out.
    """
    drawings: dict[str, Drawing] = {}
    if "factor_by_hops" in data and data["factor_by_hops"]["accuracy"].any():
        draw = partial(figures.draw_by_hops, data["factor_by_hops"])
        drawings["factor_hops"] = say("picture_hops"), draw
    for (suite, model), name in names.items():
        about = {"suite": suite, "model": model}
        mine = {key: decay for key, decay in decays.items() if key[:2] == (model, suite)}
        if rows_of(data, "factor_decay", **about)["mean_accuracy"].any():
            drawings[name] = say("picture_model", about), partial(figures.draw_by_context, mine)
        shortcuts = rows_of(data, "factor_shortcuts", **about)
        if len(shortcuts) and shortcuts["accuracy"].any():
            draw = partial(figures.draw_shortcuts, shortcuts)
            drawings[f"{name}_shortcuts"] = say("picture_shortcuts", about), draw
        retrieved = rows_of(data, "factor_retrieval_by_N", **about)
        if len(retrieved):
            place = name.replace("factor_", "factor_retrieval_", 1)
            draw = partial(figures.draw_retrieval, retrieved)
            drawings[place] = say("picture_retrieval", about), draw
    for suite in sorted({suite for (suite, _), name in names.items() if name in drawings}):
        drawings |= _draw_suite(suite, data, decays)
    return draw_all(drawings)


def _draw_suite(suite: str, data: Frames, decays: Decays) -> dict[str, Drawing]:
    """Return the drawings of the paper's figures for one suite."""
    rows, attempts, sampling = (
        rows_of(data, f"factor_{name}", suite=suite) for name in ("decay", "attempts", "sampling")
    )
    decays = {about: decay for about, decay in decays.items() if about[1] == suite}
    shown = rows.groupby("model").agg(noises=("noise", "nunique"), best=("mean_accuracy", "max"))
    best = shown.sort_values(["noises", "best"], ascending=False, kind="stable").index[0]
    drawings = {
        "figure_1b": partial(figures.draw_mean_accuracy, rows),
        "figure_1c": partial(figures.draw_by_model, decays),
        "figure_3": partial(figures.draw_two_phases, decays),
    }
    if suite == "realistic":
        drawings["figure_4"] = partial(figures.draw_realistic, decays, best)
    if rows["context"].nunique() > 1:
        drawings["figure_5"] = partial(figures.draw_cdf_cdo, rows)
    if len(attempts):
        drawings["figure_6"] = partial(figures.draw_attempts, attempts, sampling)
    return {
        f"factor_{name}" + f"_{suite}" * (name != "figure_4"): (
            say(f"picture_{name}", suite=suite, best=best),
            draw,
        )
        for name, draw in drawings.items()
    }


FRONT = ("factor_figure_1c_symbolic", "factor_figure_4")
"""The first screen's picture of several models, by name: the first one that there is."""


def describe_verdict(
    suite: str, model: str, frame: pd.DataFrame, data: Frames, picture: Picture | None
) -> Verdict:
    """Return what the first screen says of a model in a suite, by its responses in `frame`.

    Without a `picture`, the model solved nothing.
    """
    effects = load_effects(frame, [load for load in LOADS if load.harder])
    cut = ending_table(frame)["cut_share"].iloc[0]
    breaks = verdict.say_breaks(effects) if picture else ""
    sentences = [verdict.say_solved(frame, cut), verdict.say_wrong(frame, MEANINGS)]
    decay = rows_of(data, "factor_decay", suite=suite, model=model).iloc[0].to_dict()
    headline = say_capacity(decay) if picture else say("none_solved")
    return Verdict(f"{model}, {suite} suite", headline, sentences, picture, breaks)


def describe_model(
    suite: str, model: str, data: Frames, picture: Picture | None
) -> dict[str, object]:
    """Return what the page says of a model in a suite; without a `picture`, it solved nothing."""
    fits = {"factor_decay": say_decay, "factor_modes": say_mode, "factor_sampling": say_sampling}
    phrases = (fits if picture else {}) | {"factor_retrieval": retrieval.say_retrieval}
    sentences = [] if picture else [say("none_solved")]
    sentences += [
        say(row)
        for name, say in phrases.items()
        for row in rows_of(data, name, suite=suite, model=model).to_dict("records")
        if row.get("source", HERE) == HERE
    ]
    shortcuts = rows_of(data, "factor_shortcuts", suite=suite, model=model)
    sentences += [hops.say_shortcuts(shortcuts)] if len(shortcuts) else []
    return {"name": f"{model}, {suite} suite", "sentences": sentences, "picture": picture}

"""FACTOR's part of the report: its fits, tables, figures and sentences."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from cogniload_analysis.adaptive.section import runs_section
from cogniload_analysis.display import verdict
from cogniload_analysis.display.figures import Figure
from cogniload_analysis.display.page import Content, Findings, Section, Verdict, name_file
from cogniload_analysis.display.tables import Table, accuracy_table
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
    built = {table.name: table for table in build_tables(frame, decays, lines, n_clean)}
    data = {name: table.data for name, table in built.items()}
    pairs = sorted({(suite, model) for model, suite, *_ in decays})
    names = {
        (suite, model): f"factor_{suite}_{name_file(number, model)}"
        for number, (suite, model) in enumerate(pairs, start=1)
    }
    drawn = {figure.name: figure for figure in draw_figures(decays, data, names)}

    def pick(*chosen: str) -> list[Content]:
        """Return the tables and figures of some names, if there are any."""
        return [each[name] for name in chosen for each in (built, drawn) if name in each]

    models, verdicts = [], []
    for (suite, model), name in names.items():
        mine = frame[(frame["suite"] == suite) & (frame["model"] == model)]
        figure = drawn.get(name)
        sentences = describe_model(suite, model, data, figure)
        models.append(Section(f"{model}, {suite} suite", [sentences, *pick(name)]))
        verdicts.append(describe_verdict(suite, model, mine, data, figure))
    retrieved = [figure for name, figure in drawn.items() if name.startswith("factor_retrieval_")]
    shortcuts = [name for name in drawn if name.endswith("_shortcuts")]
    hop_tables = Section("In numbers", pick("factor_by_hops", "factor_shortcuts"), folded=True)
    by_N = Section("Retrieval by N", pick("factor_retrieval_by_N"), folded=True)
    opened = [
        Section(
            "Retrieval",
            [*pick("factor_retrieval"), *retrieved, by_N],
            "retrieved",
            link="Retrieval",
        ),
        Section(
            "Hops and shortcuts",
            [*pick("factor_hops", *shortcuts), hop_tables],
            "shortcut",
            link="Hops and shortcuts",
        ),
    ]
    errors = Section("Accuracy by N", pick("factor_accuracy_by_N"), folded=True)
    folded = [
        Section(
            "The decay of each model", [*pick("factor_accuracy"), *models], "models", folded=True
        ),
        *adaptive_sections(frame),
        Section(
            "Among published models",
            pick(
                "factor_figure_5_symbolic",
                *(
                    f"factor_{name}"
                    for name in ("zero_context", "cdf_by_context", "cdo_by_context")
                ),
            ),
            "among",
            folded=True,
        ),
        Section(
            "The paper's figures",
            pick(*(name for name in drawn if "_figure_" in name and "_figure_6_" not in name)),
            "curves",
            folded=True,
        ),
        Section(
            "Fits",
            pick("factor_decay", "factor_least_squares", "factor_modes"),
            "fits",
            folded=True,
        ),
        Section(
            "Several attempts",
            pick(
                "factor_figure_6_symbolic",
                "factor_figure_6_realistic",
                "factor_attempts",
                "factor_sampling",
            ),
            "attempted",
            folded=True,
        ),
        Section("Errors and tokens", [*pick("factor_responses"), errors], "errors", folded=True),
    ]
    kept = [section for section in (*opened, *folded) if _shows(section)]
    front = [drawn[name] for name in FRONT if name in drawn]
    return Findings(kept, verdicts, front[:1])


def _shows(section: Section) -> bool:
    """Tell whether a section shows anything."""
    return any(not isinstance(each, Section) or _shows(each) for each in section.content)


def adaptive_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section on adaptive runs, if there are any."""
    replays = adaptive_section.find_replays(frame)
    if not replays:
        return []
    runs = list(replays.values())
    section, _ = runs_section(
        runs,
        [spec.table(make(runs)) for spec, make in adaptive_section.SPECS],
        [
            f"factor_adaptive_{name_file(number, model)}"
            for number, (model, *_) in enumerate(replays, start=1)
        ],
        adaptive_section.run_panels,
        adaptive_section.say_decay_run,
        id="adaptive-runs",
        along="by N",
        title=lambda row: (
            f"{row['model']}, {row['suite']} suite, context {show_context(row['context'])}"
        ),
    )
    return [section]


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


def draw_figures(
    decays: Decays, data: Frames, names: Mapping[tuple[str, str], str]
) -> list[Figure]:
    """Return the figures of the part: each model's accuracies, and the paper's figures.

    `names` has the name of the picture of each (suite, model). A figure of zeros alone is left out.
    """
    drawn: list[Figure] = []
    solved = set()

    def add(figure: Figure, name: str, caption: str) -> None:
        drawn.append(replace(figure, name=name, caption=caption))

    if "factor_by_hops" in data and data["factor_by_hops"]["accuracy"].any():
        add(figures.draw_by_hops(data["factor_by_hops"]), "factor_hops", say("picture_hops"))
    for (suite, model), name in names.items():
        about = {"suite": suite, "model": model}
        mine = {key: decay for key, decay in decays.items() if key[:2] == (model, suite)}
        if rows_of(data, "factor_decay", **about)["mean_accuracy"].any():
            add(figures.draw_by_context(mine), name, say("picture_model", about))
            solved.add(suite)
        shortcuts = rows_of(data, "factor_shortcuts", **about)
        if len(shortcuts) and shortcuts["accuracy"].any():
            caption = say("picture_shortcuts", about)
            add(figures.draw_shortcuts(shortcuts), f"{name}_shortcuts", caption)
        retrieved = rows_of(data, "factor_retrieval_by_N", **about)
        if len(retrieved):
            place = name.replace("factor_", "factor_retrieval_", 1)
            add(figures.draw_retrieval(retrieved), place, say("picture_retrieval", about))
    for suite in sorted(solved):
        drawn += _draw_suite(suite, data, decays)
    return drawn


def _draw_suite(suite: str, data: Frames, decays: Decays) -> Iterator[Figure]:
    """Yield the figures of the paper's figures for one suite."""
    rows, attempts, sampling = (
        rows_of(data, f"factor_{name}", suite=suite) for name in ("decay", "attempts", "sampling")
    )
    decays = {about: decay for about, decay in decays.items() if about[1] == suite}
    shown = rows.groupby("model").agg(noises=("noise", "nunique"), best=("mean_accuracy", "max"))
    best = shown.sort_values(["noises", "best"], ascending=False, kind="stable").index[0]
    made = {
        "figure_1b": figures.draw_mean_accuracy(rows),
        "figure_1c": figures.draw_by_model(decays),
        "figure_3": figures.draw_two_phases(decays),
    }
    if suite == "realistic":
        made["figure_4"] = figures.draw_realistic(decays, best)
    if rows["context"].nunique() > 1:
        made["figure_5"] = figures.draw_cdf_cdo(rows)
    if len(attempts):
        made["figure_6"] = figures.draw_attempts(attempts, sampling)
    for name, figure in made.items():
        caption = say(f"picture_{name}", suite=suite, best=best)
        yield replace(
            figure, name=f"factor_{name}" + f"_{suite}" * (name != "figure_4"), caption=caption
        )


def rows_of(data: Frames, table: str, **about: str) -> pd.DataFrame:
    """Return a table's rows that are about something, such as a model; none without the table."""
    rows = data.get(table, pd.DataFrame(columns=[*about]))
    return rows[(rows[[*about]] == [*about.values()]).all(axis=1)]


FRONT = ("factor_figure_1c_symbolic", "factor_figure_4")
"""The first screen's figure of several models, by name: the first one that there is."""


def describe_verdict(
    suite: str, model: str, frame: pd.DataFrame, data: Frames, figure: Figure | None
) -> Verdict:
    """Return what the first screen says of a model in a suite, by its responses in `frame`.

    Without a `figure`, the model solved nothing.
    """
    effects = load_effects(frame, [load for load in LOADS if load.harder])
    cut = ending_table(frame)["cut_share"].iloc[0]
    breaks = verdict.say_breaks(effects) if figure else ""
    sentences = [verdict.say_solved(frame, cut), verdict.say_wrong(frame, MEANINGS)]
    decay = rows_of(data, "factor_decay", suite=suite, model=model).iloc[0].to_dict()
    headline = say_capacity(decay) if figure else say("none_solved")
    return Verdict(f"{model}, {suite} suite", headline, sentences, figure, breaks)


def describe_model(suite: str, model: str, data: Frames, figure: Figure | None) -> list[str]:
    """Return what the page says of a model in a suite; without a `figure`, it solved nothing."""
    fits = {"factor_decay": say_decay, "factor_modes": say_mode, "factor_sampling": say_sampling}
    phrases = (fits if figure else {}) | {"factor_retrieval": retrieval.say_retrieval}
    sentences = [] if figure else [say("none_solved")]
    sentences += [
        say(row)
        for name, say in phrases.items()
        for row in rows_of(data, name, suite=suite, model=model).to_dict("records")
        if row.get("source", HERE) == HERE
    ]
    shortcuts = rows_of(data, "factor_shortcuts", suite=suite, model=model)
    sentences += [hops.say_shortcuts(shortcuts)] if len(shortcuts) else []
    return sentences

"""FACTOR's part of the report: its fits, tables, figures and sentences."""

import math
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

from cogniload_analysis.adaptive.replay import Replay, batch_table
from cogniload_analysis.display.content import Findings, Picture, Table, name_file
from cogniload_analysis.display.figures import Drawing, draw_all
from cogniload_analysis.display.print import accuracy_table, format_accuracy
from cogniload_analysis.factor import adaptive_section as adaptive_run
from cogniload_analysis.factor import figures, hops, retrieval, tables
from cogniload_analysis.factor.decay import ACCURACY_RANGES, CONDITION, Condition, by_condition
from cogniload_analysis.factor.loads import LOADS, show_context
from cogniload_analysis.factor.tables import HERE, Decays
from cogniload_analysis.factor.words import say_decay, say_mode, say_sampling


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
    replays = adaptive_run.find_replays(frame)
    made = build_tables(frame, decays, lines, n_clean) + build_run_tables(list(replays.values()))
    data = {table.name: table.data for table in made}
    pairs = sorted({(suite, model) for model, suite, *_ in decays})
    names = {
        (suite, model): f"factor_{suite}_{name_file(number, model)}"
        for number, (suite, model) in enumerate(pairs, start=1)
    }
    searched = {
        condition: f"factor_adaptive_{name_file(number, condition[0])}"
        for number, condition in enumerate(replays, start=1)
    }
    pictures = draw_pictures(decays, data, names) | draw_runs(data, searched)
    return Findings(
        tables=made,
        pictures=pictures,
        models=[
            describe_model(suite, model, data, pictures[name])
            for (suite, model), name in names.items()
        ],
        sections={
            "runs": describe_runs(data, {each: pictures[searched[each]] for each in searched})
        },
        headings=tables.HEADINGS,
        symbols=tables.SYMBOLS,
    )


def build_tables(
    frame: pd.DataFrame, decays: Decays, lines: Decays, n_clean: float | None = None
) -> list[Table]:
    """Return the tables of the part, from its fits by the likelihood and by least squares."""
    format_accuracies = partial(format_accuracy, loads=LOADS)
    fits = tables.decay_table(decays)
    attempts = tables.attempts_table(frame)
    least_squares = tables.decay_table(lines)
    by_context = tables.by_context_table(least_squares)
    in_order = [
        Table(
            "factor_accuracy",
            "Accuracy, with the 90 % Wilson interval.",
            accuracy_table(frame, *CONDITION[1:]),
            format_accuracies,
        ),
        Table(
            "factor_decay",
            "Complexity decay by the likelihood: ln(accuracy) = CDF × N + CDO over a window of N, "
            "without what is guessed (the floor) or lost at any N (lapses), with 95 % intervals; "
            "inf: the data leave that end open. † No meaning, as the CDO is not positive.",
            fits,
            tables.format_decays,
        ),
        Table(
            "factor_least_squares",
            "The same by least squares, the paper's method, for its tables. ‡ Some N between "
            "those used have accuracies below the range: the line is too flat.",
            least_squares,
            tables.format_lines,
        ),
        Table(
            "factor_modes",
            "How models fail as contexts grow. From the shortest context to the longest, the "
            "trends of CDF and CDO each take a share of the accuracy at the middle N (below 0: "
            "they add it).",
            tables.mode_table(fits),
            tables.format_modes,
        ),
        Table(
            "factor_responses",
            "Outcomes, and tokens as mean[90th percentile] of prompt and output.",
            tables.response_table(frame),
            tables.format_responses,
        ),
        Table(
            "factor_accuracy_by_N",
            "Accuracy by N, with the 90 % Wilson interval.",
            accuracy_table(frame, *CONDITION[1:], "N"),
            format_accuracies,
        ),
    ]
    if (fits["suite"] == "symbolic").any():
        in_order += [
            Table(
                "factor_zero_context",
                "Models without filler, beside those of Tables 1 and 4 of the paper, which gives "
                "no intervals; all by least squares. † No meaning, as the CDO is not positive.",
                tables.zero_context_table(least_squares),
                tables.format_zero_context,
            ),
            Table(
                "factor_cdf_by_context",
                "CDF × 100 by tokens of filler and least squares, as Tables 2 and 5.",
                by_context,
                tables.format_cdf_by_context,
            ),
            Table(
                "factor_cdo_by_context",
                "CDO by tokens of filler and least squares, as Tables 3 and 6.",
                by_context,
                tables.format_cdo_by_context,
            ),
        ]
    in_order += retrieval_tables(frame) + shortcut_tables(frame)
    if len(attempts):
        in_order += [
            Table(
                "factor_attempts",
                "A puzzle counts as solved if at least one of t attempts is right; accuracies from "
                "0.02 to 0.8 are fitted. ‡ Some N between those used have accuracies below the "
                "range: the line is too flat.",
                attempts,
                tables.format_attempts,
            ),
            Table(
                "factor_sampling",
                "How attempts close the gap to Nclean, the one given or the Neff of one attempt "
                "without filler or noise: ln(Nclean − Neff) = k ln(t) + b over the attempts t, as "
                "Table 7.",
                tables.sampling_table(attempts, n_clean),
                tables.format_sampling,
            ),
        ]
    return in_order


def build_run_tables(replays: Sequence[Replay]) -> list[Table]:
    """Return the tables on adaptive runs; none without one."""
    if not replays:
        return []
    return [
        Table(
            "factor_adaptive",
            "Adaptive runs: what was asked for, and half the width of its 95 % interval.",
            adaptive_run.run_table(replays),
            adaptive_run.format_run,
        ),
        Table(
            "factor_adaptive_batches",
            "What was known before each batch, told again: median and 95 % of the posterior.",
            batch_table(replays),
            adaptive_run.format_batches,
        ),
        Table(
            "factor_adaptive_cells",
            "The N that adaptive runs asked.",
            adaptive_run.asked_table(replays),
            adaptive_run.format_asked,
        ),
        Table(
            "factor_adaptive_curve",
            "Accuracy by N in adaptive runs: median and 95 % of the posterior.",
            adaptive_run.curve_table(replays),
            adaptive_run.format_curve,
        ),
    ]


def draw_runs(
    data: Mapping[str, pd.DataFrame], names: Mapping[Condition, str]
) -> dict[str, Picture]:
    """Return the picture of each adaptive run; `names` has their names."""
    if not names:
        return {}
    asked, curves, batches = (
        dict(by_condition(data[f"factor_adaptive_{kind}"]))
        for kind in ("cells", "curve", "batches")
    )
    drawings: dict[str, Drawing] = {}
    for condition, name in names.items():
        drawings[name] = (
            f"Accuracy of {condition[0]} by N, where its adaptive run asked, and how the interval "
            "of its goal shrank.",
            partial(adaptive_run.draw_run, asked[condition], curves[condition], batches[condition]),
        )
    return draw_all(drawings)


def describe_runs(
    data: Mapping[str, pd.DataFrame], pictures: Mapping[Condition, Picture]
) -> list[dict[str, object]]:
    """Return what the page says of each adaptive run; the pictures are in the order of the runs."""
    rows = data["factor_adaptive"].to_dict("records") if pictures else []
    return [
        {
            "name": f"{row['model']}, {row['suite']} suite, context {show_context(row['context'])}",
            "said": adaptive_run.say_run(row),
            "picture": picture,
        }
        for row, picture in zip(rows, pictures.values(), strict=True)
    ]


def retrieval_tables(frame: pd.DataFrame) -> list[Table]:
    """Return the tables on retrieved prompts; none where every prompt was a whole text."""
    split = "its parts add up to the responses. Closed: all that the answer needs was found."
    made = [
        Table(
            "factor_retrieval",
            f"Not retrieved, or retrieved and not reasoned: {split} The paper has 4.5 % right "
            "with 2K of 4K retrieved, and 33 % with full attention (section 1: realistic, op 5).",
            retrieval.retrieval_table(frame),
            retrieval.format_retrieval,
        ),
        Table(
            "factor_retrieval_by_N",
            f"The same by N: {split}",
            retrieval.retrieval_table(frame, "N"),
            retrieval.format_retrieval,
        ),
    ]
    return [table for table in made if len(table.data)]


def shortcut_tables(frame: pd.DataFrame) -> list[Table]:
    """Return the tables by hops and beside the baselines, where the samples tell them."""
    made = [
        Table(
            "factor_by_hops",
            "Accuracy by hops: how many edges the deepest of the variables asked for is from a "
            "number. With the 90 % Wilson interval.",
            hops.hops_table(frame),
            hops.format_hops,
        ),
        Table(
            "factor_shortcuts",
            "Accuracy by N, beside that of shortcuts on the same puzzles, in percent: they answer "
            "by what lies so many hops from a given number.",
            hops.shortcut_table(frame),
            hops.format_shortcuts,
        ),
    ]
    return [table for table in made if len(table.data)]


def draw_pictures(
    decays: Decays, data: dict[str, pd.DataFrame], names: dict[tuple[str, str], str]
) -> dict[str, Picture]:
    """Return the pictures of the part: each model's accuracies, and the paper's figures.

    `names` has the name of the picture of each (suite, model), and `data` is by table.
    """
    drawings: dict[str, Drawing] = {}
    for (suite, model), name in names.items():
        mine = {each: decay for each, decay in decays.items() if each[:2] == (model, suite)}
        drawings[name] = (
            f"Accuracy of {model} by N ({suite} suite), by context; and the fits.",
            partial(figures.draw_by_context, mine),
        )
    if "factor_by_hops" in data:
        drawings["factor_hops"] = (
            "Accuracy by hops (symbolic suite), each model at its shortest context.",
            partial(figures.draw_by_hops, data["factor_by_hops"]),
        )
    if "factor_shortcuts" in data:
        groups = data["factor_shortcuts"].groupby(["suite", "model"], observed=True)
        for (its_suite, its_model), rows in groups:
            suite, model = str(its_suite), str(its_model)
            drawings[f"{names[suite, model]}_shortcuts"] = (
                f"Accuracy of {model} by N ({suite} suite), beside shortcuts.",
                partial(figures.draw_shortcuts, rows),
            )
    if "factor_retrieval_by_N" in data:
        rows = data["factor_retrieval_by_N"]
        for (its_suite, its_model), mine_by_N in rows.groupby(["suite", "model"], observed=True):
            suite, model = str(its_suite), str(its_model)
            drawings[names[suite, model].replace("factor_", "factor_retrieval_", 1)] = (
                f"What became of the retrieved prompts of {model} ({suite} suite), by N.",
                partial(figures.draw_retrieval, mine_by_N),
            )
    fits = data["factor_decay"]
    for suite in sorted(set(fits["suite"])):
        rows = fits[fits["suite"] == suite]
        of_suite = {each: decay for each, decay in decays.items() if each[1] == suite}
        drawings |= _draw_suite(suite, rows, of_suite)
        if "factor_attempts" in data:
            attempts, sampling = (
                data[name][data[name]["suite"] == suite]
                for name in ("factor_attempts", "factor_sampling")
            )
            if len(attempts):
                drawings[f"factor_figure_6_{suite}"] = (
                    f"Neff by the number of attempts t ({suite} suite), and the gap to Nclean.",
                    partial(figures.draw_attempts, attempts, sampling),
                )
    return draw_all(drawings)


def _draw_suite(suite: str, rows: pd.DataFrame, decays: Decays) -> dict[str, Drawing]:
    """Return the drawings of the paper's figures for one suite."""
    shown = rows.groupby("model").agg(noises=("noise", "nunique"), best=("mean_accuracy", "max"))
    best = shown.sort_values(["noises", "best"], ascending=False, kind="stable").index[0]
    drawings: dict[str, Drawing] = {
        f"factor_figure_1b_{suite}": (
            f"Accuracy averaged over N ({suite} suite), by context.",
            partial(figures.draw_mean_accuracy, rows),
        ),
        f"factor_figure_1c_{suite}": (
            f"Models at their shortest context ({suite} suite): accuracy by N, and the fits.",
            partial(figures.draw_by_model, decays),
        ),
        f"factor_figure_3_{suite}": (
            f"The two phases ({suite} suite): accuracy with its 90 % interval, the fit, and Neff "
            "where it has a meaning. Thin lines: the window's borders, and the floor.",
            partial(figures.draw_two_phases, decays),
        ),
    }
    if suite == "realistic":
        drawings["factor_figure_4"] = (
            f"The realistic suite: models at their shortest context; and {best} by context and, "
            "where it had several kinds, by noise.",
            partial(figures.draw_realistic, decays, best),
        )
    if rows["context"].nunique() > 1:
        drawings[f"factor_figure_5_{suite}"] = (
            f"CDF and CDO by context ({suite} suite), with 95 % intervals.",
            partial(figures.draw_cdf_cdo, rows),
        )
    return drawings


def describe_model(
    suite: str, model: str, data: dict[str, pd.DataFrame], picture: Picture
) -> dict[str, object]:
    """Return what the page says of a model in a suite; `data` is by table."""
    spoken = {
        "factor_decay": say_decay,
        "factor_modes": say_mode,
        "factor_sampling": say_sampling,
        "factor_retrieval": retrieval.say_retrieval,
    }
    sentences = [
        say(row)
        for name, say in spoken.items()
        if name in data
        for row in _rows_of(data[name], model, suite)
    ]
    if "factor_shortcuts" in data:
        of_both = data["factor_shortcuts"].query("model == @model and suite == @suite")
        sentences += [hops.say_shortcuts(of_both)] if len(of_both) else []
    return {"name": f"{model}, {suite} suite", "sentences": sentences, "picture": picture}


def _rows_of(table: pd.DataFrame, model: str, suite: str) -> list[dict]:
    rows = table[(table["model"] == model) & (table["suite"] == suite)]
    if "source" in rows:
        rows = rows[rows["source"] == HERE]
    return rows.to_dict("records")

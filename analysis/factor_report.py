"""FACTOR's part of the report: its fits, tables, figures and sentences."""

import pandas as pd

from cogniload_analysis import factor_figures, factor_tables, tables
from cogniload_analysis.decay import CONDITION
from cogniload_analysis.factor_tables import HERE, Decays
from cogniload_analysis.failures import pick_failures
from cogniload_analysis.page import Part, Picture, Table, draw_all, label_models, name_file
from cogniload_analysis.words import say_decay, say_mode, say_sampling


def report_factor(frame: pd.DataFrame) -> Part:
    """Return FACTOR's part of the report on the frame of `read_factor_samples`."""
    runs = Table("factor_runs", "What was run.", tables.run_table(frame), tables.print_runs)
    labels = label_models(frame.assign(task=merge_tasks(frame)), "suite")
    frame = frame.assign(model=labels).astype({"model": "category"})
    decays = factor_tables.fit_decays(frame)
    by_name = {table.name: table for table in [runs, *build_tables(frame, decays)]}
    pictures = draw_pictures(decays, by_name)
    return Part(
        name="FACTOR",
        template="factor.html",
        tables=by_name,
        pictures=pictures,
        models=describe_models(by_name, pictures),
        examples=pick_failures(frame),
        mixed_versions=frame["generator_version"].nunique() > 1,
        cells=tables.cell_table(frame),
        cells_name="factor_cells",
    )


def merge_tasks(frame: pd.DataFrame) -> pd.Series:
    """Return the suite instead of the task, where a model's tasks are parts of one series.

    The tasks of a suite differ in their context, as factor_symbolic_4k. Where two of a model hold
    the same context and noise, as factor_symbolic_0 and factor_symbolic_mini, they are kept apart,
    by their names without the context.
    """
    suite, task = frame["suite"].astype(str), frame["task"].astype(str)
    family = task.str.replace(r"_\d+k?$", "", regex=True)
    families = family.groupby([frame[each] for each in CONDITION], observed=True)
    several = families.transform("nunique") > 1
    apart = several.groupby([frame["model"], suite], observed=True).transform("any")
    return family.where(apart, suite)


def build_tables(frame: pd.DataFrame, decays: Decays) -> list[Table]:
    """Return the tables of the part, after the runs."""
    fits = factor_tables.decay_table(decays)
    attempts = factor_tables.attempts_table(frame)
    by_context = factor_tables.by_context_table(fits)
    in_order = [
        Table(
            "factor_accuracy",
            "Accuracy, with the 90 % Wilson interval.",
            tables.accuracy_table(frame, *CONDITION[1:]),
            tables.print_accuracy,
        ),
        Table(
            "factor_decay",
            "Complexity decay: ln(accuracy) = CDF × N + CDO, with 95 % intervals. † has no "
            "meaning, as the CDO is not positive. ‡ Accuracies under the range stand among those "
            "used: the line comes out too flat.",
            fits,
            factor_tables.print_decays,
        ),
        Table(
            "factor_modes",
            "How models fail with longer contexts, and the share of the accuracy at the middle N "
            "that the trends of CDF and CDO take from the shortest context to the longest (below "
            "0: that they add).",
            factor_tables.mode_table(fits),
            factor_tables.print_modes,
        ),
        Table(
            "factor_responses",
            "Outcomes, and tokens as mean[90th percentile] of prompt and output.",
            factor_tables.response_table(frame),
            factor_tables.print_responses,
        ),
        Table(
            "factor_accuracy_by_N",
            "Accuracy by N, with the 90 % Wilson interval.",
            tables.accuracy_table(frame, *CONDITION[1:], "N"),
            tables.print_accuracy,
        ),
    ]
    if (fits["suite"] == "symbolic").any():
        in_order += [
            Table(
                "factor_zero_context",
                "Models without filler, among those of Tables 1 and 4 of the paper, which gives no "
                "intervals. † has no meaning, as the CDO is not positive.",
                factor_tables.zero_context_table(fits),
                factor_tables.print_zero_context,
            ),
            Table(
                "factor_cdf_by_context",
                "CDF × 100 by tokens of filler, as Tables 2 and 5.",
                by_context,
                factor_tables.print_cdf_by_context,
            ),
            Table(
                "factor_cdo_by_context",
                "CDO by tokens of filler, as Tables 3 and 6.",
                by_context,
                factor_tables.print_cdo_by_context,
            ),
        ]
    if len(attempts):
        in_order += [
            Table(
                "factor_attempts",
                "A puzzle counts as solved where at least one of t attempts is right; accuracies "
                "from 0.02 to 0.8 are fitted. ‡ Accuracies under the range stand among those used: "
                "the line comes out too flat.",
                attempts,
                factor_tables.print_attempts,
            ),
            Table(
                "factor_sampling",
                "How attempts close the gap to Nclean, the Neff of one attempt without filler or "
                "noise: ln(Nclean − Neff) = k ln(t) + b over the attempts t, as Table 7.",
                factor_tables.sampling_table(attempts),
                factor_tables.print_sampling,
            ),
        ]
    return in_order


def draw_pictures(decays: Decays, by_name: dict[str, Table]) -> dict[str, Picture]:
    """Return the pictures of the part: each model's accuracies, and the paper's figures."""
    fits, drawings = by_name["factor_decay"].data, {}
    number = 0
    for suite, rows in fits.groupby("suite"):
        of_suite = {each: decay for each, decay in decays.items() if each[1] == suite}
        for model in rows["model"].unique():
            number += 1
            mine = {each: decay for each, decay in of_suite.items() if each[0] == model}
            drawings[f"factor_{suite}_{name_file(number, model)}"] = (
                f"Accuracy of {model} by N ({suite} suite), by context; and the fits.",
                lambda columns, mine=mine: factor_figures.draw_by_context(mine, columns),
            )
        drawings |= _draw_suite(suite, rows, of_suite)
        if "factor_attempts" in by_name:
            attempts, sampling = (
                by_name[name].data[by_name[name].data["suite"] == suite]
                for name in ("factor_attempts", "factor_sampling")
            )
            if len(attempts):
                drawings[f"factor_figure_6_{suite}"] = (
                    f"Neff by the number of attempts t ({suite} suite), and the gap to Nclean.",
                    lambda columns, attempts=attempts, sampling=sampling: (
                        factor_figures.draw_attempts(attempts, sampling, columns)
                    ),
                )
    return draw_all(drawings)


def _draw_suite(suite: str, rows: pd.DataFrame, decays: Decays) -> dict[str, tuple]:
    """The paper's figures of one suite."""
    shown = rows.groupby("model").agg(noises=("noise", "nunique"), best=("mean_accuracy", "max"))
    best = shown.sort_values(["noises", "best"], ascending=False, kind="stable").index[0]
    drawings = {
        f"factor_figure_1b_{suite}": (
            f"Accuracy averaged over N ({suite} suite), by context.",
            lambda columns: factor_figures.draw_mean_accuracy(rows, columns),
        ),
        f"factor_figure_1c_{suite}": (
            f"Models at their shortest context ({suite} suite): accuracy by N, and the fits.",
            lambda columns: factor_figures.draw_by_model(decays, columns),
        ),
        f"factor_figure_3_{suite}": (
            f"The two phases ({suite} suite): accuracy with its 90 % interval, the fit, and Neff "
            "where it has a meaning.",
            lambda columns: factor_figures.draw_two_phases(decays, columns),
        ),
    }
    if suite == "realistic":
        drawings["factor_figure_4"] = (
            f"The realistic suite: models at their shortest context; and {best} by context and, "
            "where it had several kinds, by noise.",
            lambda columns: factor_figures.draw_realistic(decays, best, columns),
        )
    if rows["context"].nunique() > 1:
        drawings[f"factor_figure_5_{suite}"] = (
            f"CDF and CDO by context ({suite} suite), with 95 % intervals.",
            lambda columns: factor_figures.draw_cdf_cdo(rows, columns),
        )
    return drawings


def describe_models(
    by_name: dict[str, Table], pictures: dict[str, Picture]
) -> list[dict[str, object]]:
    """Return what the page says of each model in each suite."""
    decay, modes = by_name["factor_decay"].data, by_name["factor_modes"].data
    sampling = by_name["factor_sampling"].data if "factor_sampling" in by_name else None
    own = [name for name in pictures if not name.startswith("factor_figure_")]
    models = []
    pairs = decay[["suite", "model"]].drop_duplicates().sort_values(["suite", "model"])
    for (suite, model), picture in zip(pairs.itertuples(index=False), own, strict=True):
        sentences = [
            say(row)
            for say, table in ((say_decay, decay), (say_mode, modes), (say_sampling, sampling))
            if table is not None
            for row in _rows_of(table, model, suite)
        ]
        models.append(
            {
                "name": f"{model}, {suite} suite",
                "sentences": sentences,
                "picture": pictures[picture],
            }
        )
    return models


def _rows_of(table: pd.DataFrame, model: str, suite: str) -> list[dict]:
    rows = table[(table["model"] == model) & (table["suite"] == suite)]
    if "source" in rows:
        rows = rows[rows["source"] == HERE]
    return rows.to_dict("records")

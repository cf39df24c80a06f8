"""CogniLoad's part of the report: its fits, tables, figures and sentences."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
from tqdm import tqdm

from cogniload_analysis.adaptive.replay import Replay, batch_table
from cogniload_analysis.cogniload import adaptive_section as adaptive_run
from cogniload_analysis.cogniload import breaks, figures, tables
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.next_puzzles import estimate_capacity
from cogniload_analysis.cogniload.fits.glm import (
    InteractionGLM,
    LoadGLM,
    RhoComparison,
    compare_rho_terms,
    fit_interactions,
    fit_soundly,
)
from cogniload_analysis.cogniload.fits.step_hazard import StepHazard
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.cogniload.overview import (
    format_levels,
    format_overview,
    overview_table,
    say_overview,
)
from cogniload_analysis.cogniload.words import (
    say_accuracy,
    say_breaks,
    say_cells,
    say_chance,
    say_fit,
    say_meanings,
    say_predictions,
    say_run,
    say_threshold,
)
from cogniload_analysis.display.content import Findings, Picture, Table, name_file
from cogniload_analysis.display.figures import Drawing, draw_all
from cogniload_analysis.display.print import accuracy_table, format_accuracy

HEAT = ("accuracy_by_d_and_N", "accuracy_by_N_and_rho")
"""The tables of which each model's section shows its part."""

OF_SEVERAL_CELLS = ("accuracy_by_", "ranking", "aic", "interactions")
"""How the names of tables begin that say nothing of a single cell."""


def report_cogniload(frame: pd.DataFrame) -> Findings:
    """Return what the report shows of CogniLoad's frame, whose models have their short names."""
    responses = {str(model): rows for model, rows in frame.groupby("model", observed=True)}
    glms, comparisons, interactions, capacities = {}, {}, {}, {}
    replays = adaptive_run.find_replays(responses)
    for model, rows in tqdm(responses.items(), "fitting", unit="model", disable=None):
        glms[model] = fit_soundly(rows)
        comparisons[model] = compare_rho_terms(rows)
        interactions[model] = fit_interactions(rows)
        run = replays.get(model)
        capacities[model] = run.estimate if run else estimate_capacity(rows)
    ranking = tables.ranking_table(glms, capacities)
    made = build_tables(frame, glms, comparisons, interactions, capacities, ranking)
    made += build_run_tables(list(replays.values()))
    read = breaks.choose_read(frame)
    if frame["coverage"].notna().any():
        hazards = {model: breaks.fit_hazard(rows) for model, rows in read.items()}
        made += build_break_tables(frame, read, hazards, glms)
    data = {table.name: table.data for table in made}
    overview = Table(
        "overview",
        "All runs, best first: by ECL50 (projection) where the puzzles cover the paper's d and N.",
        overview_table(frame, data),
        format_overview,
    )
    made.append(overview)
    one_cell = len(frame[[load.name for load in LOADS]].drop_duplicates()) == 1
    if one_cell:
        made = [table for table in made if not table.name.startswith(OF_SEVERAL_CELLS)]
        data = {table.name: table.data for table in made}
    files = {model: name_file(number, model) for number, model in enumerate(responses, start=1)}
    names = {model: f"fit_{file}" for model, file in files.items()}
    pictures = {} if one_cell else draw_pictures(frame, responses, glms, ranking, names)
    broken = {model: f"breaks_{files[model]}" for model in read}
    searched = {model: f"adaptive_{files[model]}" for model in replays}
    pictures |= draw_breaks(data, broken) | draw_runs(data, searched)
    own = {model: pictures.get(name) for model, name in names.items()}
    return Findings(
        tables=made,
        pictures=pictures,
        models=describe_models(data, own),
        sections={
            "overview": [{"said": say_overview(row)} for row in overview.data.to_dict("records")],
            "breaks": describe_breaks(data, {m: pictures[n] for m, n in broken.items()}),
            "runs": describe_runs(data, {m: pictures[n] for m, n in searched.items()}),
        },
        headings=tables.HEADINGS,
        symbols=tables.SYMBOLS,
    )


def build_tables(
    frame: pd.DataFrame,
    glms: dict[str, LoadGLM],
    comparisons: dict[str, RhoComparison],
    interactions: dict[str, InteractionGLM],
    capacities: dict[str, Capacity],
    ranking: pd.DataFrame,
) -> list[Table]:
    """Return the tables of the part."""
    format_accuracies = partial(format_accuracy, loads=LOADS)
    in_order = [
        Table(
            "accuracy",
            "Accuracy, with the 90 % Wilson interval.",
            accuracy_table(frame),
            format_accuracies,
        ),
        Table(
            "glm",
            "Coefficients of the GLM and its thresholds at 50 % accuracy, the projections, as "
            "Table 2 of the paper; only cells that are a grid have projections. "
            "*** p < 0.001, ** p < 0.01, * p < 0.05.",
            tables.glm_table(glms),
            tables.format_glm,
        ),
        Table(
            "thresholds",
            "Capacity thresholds with their 95 % intervals: projections with the other loads at "
            "the means of the cells, crossings at those of the paper's grid.",
            pd.concat(
                [tables.threshold_table(glms), tables.crossing_table(capacities)],
                ignore_index=True,
            ).sort_values("model", kind="stable", ignore_index=True),
            tables.format_thresholds,
        ),
        Table(
            "meanings",
            "Both meanings of the thresholds, at the means of the paper's grid, and how far the "
            "crossing lies from the projection.",
            tables.meaning_table(glms, capacities),
            tables.format_meanings,
        ),
        Table(
            "fit",
            "How well the GLM fits: the largest miss of an accuracy by d, by N or by ρ, in "
            "percentage points, and χ² over all of them, also of a GLM with a guessing floor, and "
            "with a floor and interactions. *** p < 0.001, ** p < 0.01, * p < 0.05.",
            tables.fit_table(glms),
            tables.format_fit,
        ),
        Table(
            "ranking",
            "Models by ECL50, among the 22 of the paper, in both meanings. New models are held at "
            "the means of the paper's grid, and have a rank where their puzzles cover its d and N. "
            "The paper prints projections, without intervals; its models' crossings follow from "
            "these with a guessing floor and Table 3.",
            ranking,
            tables.format_ranking,
        ),
        Table(
            "aic",
            "AIC of the GLM with ρ alone and with ρ², and the likelihood-ratio p, as Table 6.",
            tables.aic_table(comparisons),
            tables.format_aic,
        ),
        Table(
            "interactions",
            "Interactions of the loads, and the likelihood-ratio p of dropping each, as Table 3.",
            tables.interaction_table(interactions),
            tables.format_interactions,
        ),
    ]
    for number, load in ((4, "d"), (5, "N")):
        caption = f"Errors by {load}, over the two other loads, as Table {number}."
        data = tables.outcome_table(frame, load)
        in_order.append(Table(f"outcomes_by_{load}", caption, data, tables.format_outcomes))
    tokens = tables.token_table(frame)
    for N, data in tokens.groupby("N"):
        caption = (
            f"Tokens at N = {N} as mean[90th percentile] of prompt and output, as Tables 7 to 10."
        )
        in_order.append(Table(f"tokens_N{N}", caption, data, tables.format_token_table))
    for each in LOADS:
        caption = f"Accuracy in percent by {each.heading.split()[0]}, over the two other loads."
        data = accuracy_table(frame, each.name)
        in_order.append(Table(f"accuracy_by_{each.name}", caption, data, format_levels))
    for rows, columns in (("d", "N"), ("N", "rho")):
        in_order.append(
            Table(
                f"accuracy_by_{rows}_and_{columns}",
                f"Accuracy in percent by {rows} and {'ρ' if columns == 'rho' else columns}.",
                accuracy_table(frame, rows, columns),
                format_levels,
            )
        )
    return in_order


def build_break_tables(
    frame: pd.DataFrame,
    read: dict[str, pd.DataFrame],
    hazards: dict[str, StepHazard | None],
    glms: dict[str, LoadGLM],
) -> list[Table]:
    """Return the tables on where the reasoning breaks: one where too few responses were read."""
    overview = Table(
        "breaks",
        "Responses that could be read statement by statement; of those, how many have an error, "
        "are right again later, and answer right.",
        breaks.break_table(frame, read, hazards),
        breaks.format_breaks,
    )
    if not read:
        return [overview]
    made = [
        overview,
        Table(
            "kinds",
            "First errors by kind: their share of the responses read, and of the wrong answers.",
            breaks.kind_table(read),
            breaks.format_kinds,
        ),
    ]
    for load in ("d", "N"):
        made.append(
            Table(
                f"kinds_by_{load}",
                f"First errors by {load}, over the two other loads.",
                breaks.kind_by_table(read, load),
                breaks.format_kinds_by,
            )
        )
    return [
        *made,
        Table(
            "slips",
            "First errors per 1,000 statements reached without one; intervals clustered by puzzle.",
            breaks.slip_table(read),
            breaks.format_slips,
        ),
        Table(
            "prediction",
            "Accuracy of the responses read by N and by d, with the 90 % Wilson interval, and what "
            "the step hazard and the GLM predict.",
            breaks.prediction_table(read, hazards, glms),
            breaks.format_predictions,
        ),
        Table(
            "hazard",
            "Coefficients of the step hazard's logit. *** p < 0.001, ** p < 0.01, * p < 0.05.",
            breaks.hazard_table(hazards),
            breaks.format_hazard,
        ),
        Table(
            "survival",
            "Share of the responses read whose tracking is still right after a statement.",
            breaks.survival_table(read),
            breaks.format_survival,
        ),
    ]


def build_run_tables(replays: Sequence[Replay]) -> list[Table]:
    """Return the tables on adaptive runs; none without one."""
    if not replays:
        return []
    return [
        Table(
            "adaptive",
            "Adaptive runs: what was asked for, and half the width of its 95 % interval.",
            adaptive_run.run_table(replays),
            adaptive_run.format_run,
        ),
        Table(
            "adaptive_batches",
            "What was known before each batch, replayed: median and 95 % of the posterior draws.",
            batch_table(replays),
            adaptive_run.format_batches,
        ),
        Table(
            "adaptive_cells",
            "The cells that adaptive runs asked from, by the load that varies.",
            adaptive_run.asked_table(replays),
            adaptive_run.format_asked,
        ),
        Table(
            "adaptive_curve",
            "Accuracy along each load: median and 95 % of the posterior draws.",
            adaptive_run.curve_table(replays),
            adaptive_run.format_curve,
        ),
    ]


def draw_runs(data: dict[str, pd.DataFrame], names: dict[str, str]) -> dict[str, Picture]:
    """Return the picture of each model's adaptive run; `names` has their names."""
    drawings: dict[str, Drawing] = {}
    for model, name in names.items():
        cells, curve, batches = (
            data[table][data[table]["model"] == model]
            for table in ("adaptive_cells", "adaptive_curve", "adaptive_batches")
        )
        drawings[name] = (
            f"Accuracy of {model} along each load, where its adaptive run asked, and how the "
            "interval of its goal shrank.",
            partial(figures.draw_run, cells, curve, batches),
        )
    return draw_all(drawings)


def describe_runs(
    data: dict[str, pd.DataFrame], pictures: dict[str, Picture]
) -> list[dict[str, object]]:
    """Return what the page says of each adaptive run."""
    if "adaptive" not in data:
        return []
    return [
        {"name": row["model"], "said": say_run(row), "picture": pictures[row["model"]]}
        for row in data["adaptive"].to_dict("records")
    ]


def draw_breaks(data: dict[str, pd.DataFrame], names: dict[str, str]) -> dict[str, Picture]:
    """Return the picture of where each model's reasoning breaks; `names` has their names."""
    drawings: dict[str, Drawing] = {}
    for model, name in names.items():
        survival, predictions = (
            rows[rows["model"] == model] for rows in (data["survival"], data["prediction"])
        )
        drawings[name] = (
            f"Share of the responses of {model} whose tracking is still right by statement, with "
            "90 % intervals, and accuracy by N and by d beside what the step hazard and the GLM "
            "predict.",
            partial(figures.draw_breaks, survival, predictions),
        )
    return draw_all(drawings)


def describe_breaks(
    data: dict[str, pd.DataFrame], pictures: dict[str, Picture]
) -> list[dict[str, object]]:
    """Return what the page says of where each model's reasoning breaks; nothing if unknown."""
    if "breaks" not in data:
        return []
    described: list[dict[str, object]] = []
    for row in data["breaks"].to_dict("records"):
        said, model = say_breaks(row), row["model"]
        if row["enough"]:
            predictions = data["prediction"]
            said += say_predictions(predictions[predictions["model"] == model].to_dict("records"))
        described.append({"name": model, "said": said, "picture": pictures.get(model)})
    return described


def draw_pictures(
    frame: pd.DataFrame,
    responses: dict[str, pd.DataFrame],
    glms: dict[str, LoadGLM],
    ranking: pd.DataFrame,
    names: dict[str, str],
) -> dict[str, Picture]:
    """Return the pictures of the part: each model's fit, the ranking, the paper's figures.

    `names` has the name of each model's own picture.
    """
    averaged = "averaged over the two other loads"
    ranked = figures.draw_ranking(ranking)
    drawings: dict[str, Drawing] = {
        names[model]: (
            f"Accuracy of {model} by each load, {averaged}, and the GLM that was fitted.",
            partial(figures.draw_fit, rows, glms[model]),
        )
        for model, rows in responses.items()
    }
    drawings |= {
        "ranking": (
            "ECL50 of the models of this report (with 95 % intervals) and of the paper: projection "
            "and, hollow, crossing.",
            lambda columns: ranked,
        ),
        "figure_1": (
            f"Accuracy by d, N and ρ, each {averaged}.",
            partial(figures.draw_accuracy, frame),
        ),
        "figure_3": (
            "Accuracy by ρ at a low, a middle and a high d.",
            partial(figures.draw_rho_by_d, frame),
        ),
        "figure_4": (
            "Accuracy by ρ at a low, a middle and a high N.",
            partial(figures.draw_rho_by_N, frame),
        ),
    }
    for number, load, symbol in ((5, "d", "d"), (6, "rho", "ρ"), (7, "N", "N")):
        drawings[f"figure_{number}"] = (
            f"Accuracy by {symbol}, {averaged}, with 90 % Wilson intervals.",
            partial(figures.draw_accuracy_by, frame, load),
        )
    drawings["outcomes_by_N"] = (
        "Share of each wrong outcome by N, over the two other loads.",
        partial(figures.draw_outcomes, frame),
    )
    if frame["response_tokens"].notna().any():
        drawings["tokens_by_load"] = (
            f"Tokens of a response by d, N and ρ: means, each {averaged}.",
            partial(figures.draw_tokens, frame),
        )
    return draw_all(drawings)


def describe_models(
    data: dict[str, pd.DataFrame], pictures: dict[str, Picture | None]
) -> list[dict[str, object]]:
    """Return what the page says of each model: `data` is by table, and `pictures` by model.

    Of a single cell there are no pictures, and no tables for `heat`.
    """
    thresholds, meanings, fits = data["thresholds"], data["meanings"], data["fit"]
    ECL50 = meanings[meanings["threshold"] == "ECL50"].set_index("model")
    columns = ["model", "estimator", "problems", "cells", "cells_all_right", "cells_all_wrong"]
    rows = data["accuracy"].merge(data["glm"][columns], on="model").to_dict("records")
    return [
        {
            "name": row["model"],
            "accuracy": say_accuracy(row),
            "chance": say_chance(row),
            "cells": say_cells(row),
            "thresholds": [
                *(
                    say_threshold(threshold)
                    for threshold in thresholds[thresholds["model"] == row["model"]].to_dict(
                        "records"
                    )
                ),
                *filter(None, [say_meanings(ECL50.loc[row["model"]].to_dict())]),
                *map(say_fit, fits[fits["model"] == row["model"]].to_dict("records")),
            ],
            "problems": row["problems"],
            "estimator": row["estimator"],
            "picture": pictures[row["model"]],
            "heat": {
                name: format_levels(data[name][data[name]["model"] == row["model"]]).iloc[:, 1:]
                for name in HEAT
                if name in data
            },
        }
        for row in rows
    ]

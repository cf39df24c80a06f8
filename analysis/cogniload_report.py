"""CogniLoad's part of the report: its fits, tables, figures and sentences."""

import pandas as pd
from tqdm import tqdm

from cogniload_analysis import figures, tables
from cogniload_analysis.failures import pick_failures
from cogniload_analysis.glm import (
    InteractionGLM,
    LoadGLM,
    RhoComparison,
    compare_rho_terms,
    fit_interactions,
    fit_soundly,
)
from cogniload_analysis.page import Part, Picture, Table, draw_all, label_models, name_file
from cogniload_analysis.words import say_accuracy, say_cells, say_threshold


def report_cogniload(frame: pd.DataFrame) -> Part:
    """Return CogniLoad's part of the report on the frame of `read_samples`."""
    runs = Table("runs", "What was run.", tables.run_table(frame), tables.print_runs)
    frame = frame.assign(model=label_models(frame)).astype({"model": "category"})
    responses = dict(iter(frame.groupby("model", observed=True)))
    fits = {
        model: (fit_soundly(rows), compare_rho_terms(rows), fit_interactions(rows))
        for model, rows in tqdm(responses.items(), "fitting", unit="model", disable=None)
    }
    glms, comparisons, interactions = (
        {model: fit[stage] for model, fit in fits.items()} for stage in range(3)
    )
    ranking = tables.ranking_table(glms)
    in_order = [runs, *build_tables(frame, glms, comparisons, interactions, ranking)]
    by_name = {table.name: table for table in in_order}
    pictures = draw_pictures(frame, responses, glms, ranking)
    return Part(
        name="CogniLoad",
        template="cogniload.html",
        tables=by_name,
        pictures=pictures,
        models=describe_models(by_name, pictures),
        examples=pick_failures(frame),
        mixed_versions=frame["generator_version"].nunique() > 1,
        cells=tables.cell_table(frame),
        cells_name="cells",
    )


def build_tables(
    frame: pd.DataFrame,
    glms: dict[str, LoadGLM],
    comparisons: dict[str, RhoComparison],
    interactions: dict[str, InteractionGLM],
    ranking: pd.DataFrame,
) -> list[Table]:
    """Return the tables of the part, after the runs."""
    in_order = [
        Table(
            "accuracy",
            "Accuracy, with the 90 % Wilson interval.",
            tables.accuracy_table(frame),
            tables.print_accuracy,
        ),
        Table(
            "glm",
            "Coefficients of the GLM and thresholds at 50 % accuracy, as Table 2 of the paper. "
            "*** p < 0.001, ** p < 0.01, * p < 0.05.",
            tables.glm_table(glms),
            tables.print_glm,
        ),
        Table(
            "thresholds",
            "Capacity thresholds with their 95 % intervals.",
            tables.threshold_table(glms),
            tables.print_thresholds,
        ),
        Table(
            "ranking",
            "Models by ECL50, among the 22 of the paper. New models are held at the means of the "
            "paper's grid; the paper gives no intervals.",
            ranking,
            tables.print_ranking,
        ),
        Table(
            "aic",
            "AIC of the GLM with ρ alone and with ρ², and the likelihood-ratio p, as Table 6.",
            tables.aic_table(comparisons),
            tables.print_aic,
        ),
        Table(
            "interactions",
            "Interactions of the loads, and the likelihood-ratio p of dropping each, as Table 3.",
            tables.interaction_table(interactions),
            tables.print_interactions,
        ),
    ]
    for number, knob in ((4, "d"), (5, "N")):
        caption = f"Errors by {knob}, over the two other loads, as Table {number}."
        data = tables.outcome_table(frame, knob)
        in_order.append(Table(f"outcomes_by_{knob}", caption, data, tables.print_outcomes))
    tokens = tables.token_table(frame)
    for N, data in tokens.groupby("N"):
        caption = (
            f"Tokens at N = {N} as mean[90th percentile] of prompt and output, as Tables 7 to 10."
        )
        in_order.append(Table(f"tokens_N{N}", caption, data, tables.print_tokens))
    for knob, load in (("d", "d"), ("N", "N"), ("rho", "ρ")):
        caption = f"Accuracy by {load}, with the 90 % Wilson interval."
        data = tables.accuracy_table(frame, knob)
        in_order.append(Table(f"accuracy_by_{knob}", caption, data, tables.print_accuracy))
    return in_order


def draw_pictures(
    frame: pd.DataFrame,
    responses: dict[str, pd.DataFrame],
    glms: dict[str, LoadGLM],
    ranking: pd.DataFrame,
) -> dict[str, Picture]:
    """Return the pictures of the part: each model's fit, the ranking, the paper's figures."""
    averaged = "averaged over the two other loads"
    drawings = {
        f"fit_{name_file(number, model)}": (
            f"Accuracy of {model} by each load, {averaged}, and the GLM that was fitted.",
            lambda columns, model=model: figures.draw_fit(responses[model], glms[model], columns),
        )
        for number, model in enumerate(responses, start=1)
    }
    drawings |= {
        "ranking": (
            "ECL50 of the models of this report (with 95 % intervals) and of the paper.",
            lambda columns: figures.draw_ranking(ranking),
        ),
        "figure_1": (
            f"Accuracy by d, N and ρ, each {averaged}.",
            lambda columns: figures.draw_accuracy(frame, columns),
        ),
        "figure_3": (
            "Accuracy by ρ at a low, a middle and a high d.",
            lambda columns: figures.draw_rho_by_d(frame, columns),
        ),
        "figure_4": (
            "Accuracy by ρ at a low, a middle and a high N.",
            lambda columns: figures.draw_rho_by_N(frame, columns),
        ),
    }
    for number, knob, load in ((5, "d", "d"), (6, "rho", "ρ"), (7, "N", "N")):
        drawings[f"figure_{number}"] = (
            f"Accuracy by {load}, {averaged}, with 90 % Wilson intervals.",
            lambda columns, knob=knob: figures.draw_accuracy_by(frame, knob, columns),
        )
    return draw_all(drawings)


def describe_models(
    by_name: dict[str, Table], pictures: dict[str, Picture]
) -> list[dict[str, object]]:
    """Return what the page says of each model."""
    thresholds = by_name["thresholds"].data
    columns = ["model", "estimator", "problems", "cells", "cells_all_right", "cells_all_wrong"]
    fits = by_name["glm"].data[columns]
    rows = by_name["accuracy"].data.merge(fits, on="model").to_dict("records")
    return [
        {
            "name": row["model"],
            "accuracy": say_accuracy(row),
            "cells": say_cells(row),
            "thresholds": [
                say_threshold(threshold)
                for threshold in thresholds[thresholds["model"] == row["model"]].to_dict("records")
            ],
            "problems": row["problems"],
            "estimator": row["estimator"],
            "picture": picture,
        }
        for row, picture in zip(rows, pictures.values(), strict=False)
    ]

"""CogniLoad's part of the report: its fits, tables, figures and sentences."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
from matplotlib.figure import Figure
from tqdm import tqdm

from cogniload_analysis.adaptive.drift import question_drift
from cogniload_analysis.adaptive.replay import say_flag
from cogniload_analysis.adaptive.section import report_runs
from cogniload_analysis.cogniload import (
    adaptive_section,
    breaks,
    budgets,
    figures,
    languages,
    overview,
    repeats,
    tables,
    words,
)
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.next_puzzles import estimate_capacity
from cogniload_analysis.cogniload.fits import glm
from cogniload_analysis.cogniload.loads import LOADS, MEANINGS
from cogniload_analysis.display.content import Findings, Picture, Verdict, name_file
from cogniload_analysis.display.figures import Drawing, draw_all
from cogniload_analysis.display.print import accuracy_table
from cogniload_analysis.display.tables import Table
from cogniload_analysis.display.verdict import (
    Span,
    find_span,
    is_at_chance,
    measured_spans,
    say_solved,
    say_spans,
    say_wrong,
)
from cogniload_analysis.intervals import CONFIDENCE

# The load along the axis of each figure of the paper: left out where it has one level.
ALONG = {"figure_3": "rho", "figure_4": "rho", "figure_5": "d", "figure_6": "rho", "figure_7": "N"}


def report_cogniload(frame: pd.DataFrame) -> Findings:
    """Return what the report shows of CogniLoad's frame, whose models have their short names."""
    responses = {str(model): rows for model, rows in frame.groupby("model", observed=True)}
    glms, comparisons, interactions, capacities, notes = {}, {}, {}, {}, {}
    replays = adaptive_section.find_replays(responses)
    for model, rows in tqdm(responses.items(), "fitting", unit="model", disable=None):
        glms[model] = glm.fit_soundly(rows)
        comparisons[model] = glm.compare_rho_terms(rows)
        interactions[model] = glm.fit_interactions(rows)
        run = replays.get(model)
        capacity = run.estimate if run else estimate_capacity(rows)
        if not run and rows["id"].is_unique:
            glms[model] = replace(glms[model], correlation=capacity.correlation)
            loads = rows[[load.name for load in LOADS]]
            notes[model] = [*capacity.flags, *question_drift(loads, rows["correct"])]
        capacities[model] = tables.settle(capacity, at_chance=is_at_chance(rows, LOADS))
    several = len(frame[[load.name for load in LOADS]].drop_duplicates()) > 1
    read = breaks.choose_read(frame)
    ranking = tables.ranking_table(glms, capacities)
    made = [
        *build_tables(frame, glms, capacities),
        *build_break_tables(frame, read, glms),
        *(build_tables_of_several_cells(frame, comparisons, interactions) if several else []),
    ]
    curves = budgets.budget_curve(frame) if several else pd.DataFrame()
    curved_budgets = len(curves) > 0 and bool(curves["model"].duplicated().any())
    attempts = repeats.accuracy_by_attempts(frame)
    made += [repeats.ATTEMPTS.table(attempts)] if len(attempts) else []
    translated = languages.language_table(frame)
    made += [languages.LANGUAGES.table(translated)] if len(translated) else []
    made += [budgets.BUDGETS.table(curves)] if curved_budgets else []
    data = {table.name: table.data for table in made}
    first = overview.OVERVIEW.table(overview.overview_table(frame, data | {"ranking": ranking}))
    overviews = first.data.to_dict("records")
    made += [first, *([tables.TABLES["ranking"].table(ranking)] if several else [])]
    files = {model: name_file(number, model) for number, model in enumerate(responses, start=1)}
    names = {model: f"fit_{file}" for model, file in files.items()}
    # Curves of a model at chance, and of an adaptive run's single puzzles, would be noise.
    at_chance = {row["model"] for row in overviews if row["at_chance"]}
    curved = {m: rows for m, rows in responses.items() if m not in at_chance and m not in replays}
    pictures = draw_pictures(curved, glms, ranking, names) if several else {}
    broken = {model: f"breaks_{files[model]}" for model in read}
    run_tables, run_pictures, runs = report_runs(
        list(replays.values()),
        adaptive_section.SPECS,
        [f"adaptive_{files[model]}" for model in replays],
        along="along each load",
        draw=figures.draw_run,
        say=words.say_run,
        goal="{} (crossing)",
    )
    pictures |= draw_breaks(data, broken) | run_pictures
    if curved_budgets:
        drawing = words.say("picture_budgets"), partial(figures.draw_budgets, curves)
        pictures |= draw_all({"budgets": drawing})
    return Findings(
        tables=[*drop_fits(made, at_chance), *run_tables],
        pictures=pictures,
        models=describe_models(
            made,
            {model: pictures.get(name) for model, name in names.items()},
            at_chance,
            curved,
            notes,
        ),
        verdicts=[
            describe_verdict(
                row,
                frame[frame["model"] == row["model"]],
                capacities[row["model"]] if row["model"] in replays else None,
                rows_of(data["breaks"], row["model"]) if "breaks" in data else [],
                run_pictures.get(f"adaptive_{files[row['model']]}")
                or pictures.get(names[row["model"]]),
            )
            for row in overviews
        ],
        front=pictures.get("figure_1"),
        sections={
            "breaks": describe_breaks(data, {m: pictures[n] for m, n in broken.items()}),
            "runs": runs,
        },
        symbols=tables.SYMBOLS,
    )


def drop_fits(made: Sequence[Table], at_chance: set[str]) -> list[Table]:
    """Return the tables without the fits of models at chance, and without those left empty."""
    kept = [
        replace(table, data=table.data[~table.data["model"].isin(at_chance)])
        if table.spec.section == "fits"
        else table
        for table in made
    ]
    return [table for table in kept if len(table.data)]


def build_tables(
    frame: pd.DataFrame, glms: dict[str, glm.LoadGLM], capacities: dict[str, Capacity]
) -> list[Table]:
    """Return the tables that a single cell has as well, each section's in the page's order."""
    thresholds = pd.concat([tables.threshold_table(glms), tables.crossing_table(capacities)])
    return [
        tables.TABLES["accuracy"].table(accuracy_table(frame, confidence=CONFIDENCE)),
        tables.TABLES["thresholds"].table(
            thresholds.sort_values("model", kind="stable", ignore_index=True)
        ),
        tables.TABLES["meanings"].table(tables.meaning_table(glms, capacities)),
        tables.TABLES["glm"].table(tables.glm_table(glms)),
        tables.TABLES["fit"].table(tables.fit_table(glms)),
        *(
            tables.TABLES["outcomes"].table(
                tables.outcome_table(frame, load), load=load, number=number
            )
            for load, number in (("d", 4), ("N", 5))
        ),
        *(
            tables.TABLES["tokens"].table(rows, N=N)
            for N, rows in tables.token_table(frame).groupby("N")
        ),
    ]


def build_tables_of_several_cells(
    frame: pd.DataFrame,
    comparisons: dict[str, glm.RhoComparison],
    interactions: dict[str, glm.InteractionGLM],
) -> list[Table]:
    """Return the tables that say nothing of a single cell."""
    d, N, rho = LOADS
    return [
        tables.TABLES["aic"].table(tables.aic_table(comparisons)),
        tables.TABLES["interactions"].table(tables.interaction_table(interactions)),
        *(
            spec.table(accuracy_table(frame, *(load.name for load in loads), confidence=CONFIDENCE))
            for loads in ((d,), (N,), (rho,), (d, N), (N, rho))
            if all(frame[load.name].nunique() > 1 for load in loads[1:])
            for spec in [overview.levels_spec(*loads)]
        ),
    ]


def build_break_tables(
    frame: pd.DataFrame, read: dict[str, pd.DataFrame], glms: dict[str, glm.LoadGLM]
) -> list[Table]:
    """Return the tables on where the reasoning breaks.

    There is one where too few responses were read, and none where the samples hold no readings.
    """
    if frame["coverage"].isna().all():
        return []
    hazards = {model: breaks.fit_hazard(rows) for model, rows in read.items()}
    first = breaks.TABLES["breaks"].table(breaks.break_table(frame, read, hazards))
    if not read:
        return [first]
    return [
        first,
        breaks.TABLES["kinds"].table(breaks.kind_table(read)),
        *(
            breaks.TABLES["kinds_by"].table(breaks.kind_by_table(read, by), load=by)
            for by in ("d", "N")
        ),
        breaks.TABLES["slips"].table(breaks.slip_table(read)),
        breaks.TABLES["prediction"].table(breaks.prediction_table(read, hazards, glms)),
        breaks.TABLES["hazard"].table(breaks.hazard_table(hazards)),
        breaks.TABLES["survival"].table(breaks.survival_table(read)),
    ]


def draw_breaks(data: dict[str, pd.DataFrame], names: dict[str, str]) -> dict[str, Picture]:
    """Return the picture of where each model's reasoning breaks; `names` has their names."""
    drawings: dict[str, Drawing] = {}
    for model, name in names.items():
        survival, predictions = (
            rows[rows["model"] == model] for rows in (data["survival"], data["prediction"])
        )
        draw = partial(figures.draw_breaks, survival, predictions)
        drawings[name] = words.say("picture_breaks", model=model), draw
    return draw_all(drawings)


def describe_breaks(
    data: dict[str, pd.DataFrame], pictures: dict[str, Picture]
) -> list[dict[str, object]]:
    """Return what the page says of where each model's reasoning breaks; nothing if unknown."""
    if "breaks" not in data:
        return []
    described: list[dict[str, object]] = []
    for row in data["breaks"].to_dict("records"):
        model, sentences = row["model"], words.say_breaks(row)
        if row["enough"]:
            sentences += words.say_predictions(rows_of(data["prediction"], model))
        described.append({"name": model, "said": sentences, "picture": pictures.get(model)})
    return described


def draw_pictures(
    responses: dict[str, pd.DataFrame],
    glms: dict[str, glm.LoadGLM],
    ranking: pd.DataFrame,
    names: dict[str, str],
) -> dict[str, Picture]:
    """Return the pictures of the part: each model's fit, the ranking, the paper's figures.

    `responses` are of the models that are drawn; `names` has the name of each one's own picture.
    """
    ranked = figures.draw_ranking(ranking)
    own: dict[str, Drawing] = {
        names[model]: (
            words.say("picture_fit", model=model),
            partial(figures.draw_fit, rows, glms[model]),
        )
        for model, rows in responses.items()
    }
    drawings: dict[str, Callable[..., Figure]] = {"ranking": lambda: ranked}
    if responses:
        frame = pd.concat(responses.values())
        drawings |= {
            "figure_1": partial(figures.draw_accuracy, frame),
            "figure_3": partial(figures.draw_rho_by, frame, "d"),
            "figure_4": partial(figures.draw_rho_by, frame, "N"),
            "figure_5": partial(figures.draw_accuracy_by, frame, "d"),
            "figure_6": partial(figures.draw_accuracy_by, frame, "rho"),
            "figure_7": partial(figures.draw_accuracy_by, frame, "N"),
            "outcomes_by_N": partial(figures.draw_outcomes, frame),
        }
        for name, load in ALONG.items():
            if load not in figures.varying(frame):
                del drawings[name]
        if frame["response_tokens"].notna().any():
            drawings["tokens_by_load"] = partial(figures.draw_tokens, frame)
    paper = {name: (words.say(f"picture_{name}"), draw) for name, draw in drawings.items()}
    return draw_all(own | paper)


def describe_verdict(
    row: dict,
    frame: pd.DataFrame,
    capacity: Capacity | None,
    broken: Sequence[dict],
    picture: Picture | None,
) -> Verdict:
    """Return what the first screen says of a model, by its rows of `overview` and of `breaks`.

    An adaptive run has few puzzles at most loads, so its spans are of its `capacity`.
    """
    headline, solved = overview.say_capacity(row), say_solved(frame, row["cut_share"])
    if row["at_chance"]:
        return Verdict(row["model"], headline, [solved])
    spans = fitted_spans(capacity) if capacity else measured_spans(frame, LOADS)
    errors = [words.say_first_error(read) for read in broken if read["enough"] and read["errors"]]
    broken_by = say_spans(spans) + (words.say("on_curve") if capacity else "")
    sentences = [solved, broken_by, *(errors or [say_wrong(frame, MEANINGS)])]
    return Verdict(row["model"], headline, sentences, picture)


def fitted_spans(capacity: Capacity) -> list[Span]:
    """Return the span of each load along a fitted curve, within its reach."""
    ends = {"d": capacity.asked_d, "N": capacity.asked_N, "rho": (0.0, 1.0)}
    spans = []
    for load in LOADS:
        band = getattr(capacity, f"over_{load.name}")
        low, high = ends[load.name]
        inside = (band.load >= low) & (band.load <= high)
        levels = band.load[inside] if load.percent else band.load[inside].round()
        spans.append(find_span(load, levels, band.accuracy[inside]))
    return spans


def describe_models(
    made: Sequence[Table],
    pictures: dict[str, Picture | None],
    at_chance: Container[str],
    curved: Container[str],
    notes: Mapping[str, Sequence[str]],
) -> list[dict[str, object]]:
    """Return what the page says of each model, whose own pictures and `notes` are by model.

    One at chance has no thresholds, and only those that are `curved` have tables for `heat`.
    """
    data = {table.name: table.data for table in made}
    meanings = data["meanings"][data["meanings"]["threshold"] == "ECL50"]
    columns = ["model", "estimator", "problems", "cells", "cells_all_right", "cells_all_wrong"]
    rows = data["accuracy"].merge(data["glm"][columns], on="model").to_dict("records")
    return [
        {
            "name": row["model"],
            "accuracy": words.say_accuracy(row),
            "chance": words.say_chance(row),
            "cells": words.say_cells(row),
            "thresholds": []
            if row["model"] in at_chance
            else [
                *map(words.say_threshold, rows_of(data["thresholds"], row["model"])),
                *filter(None, map(words.say_meanings, rows_of(meanings, row["model"]))),
                *map(words.say_fit, rows_of(data["fit"], row["model"])),
                *map(say_flag, notes.get(row["model"], ())),
            ],
            "problems": "" if row["model"] in at_chance else row["problems"],
            "estimator": row["estimator"],
            "picture": pictures[row["model"]],
            "heat": {
                table.name: table.spec.show(table.data[table.data["model"] == row["model"]]).iloc[
                    :, 1:
                ]
                for table in made
                if table.spec.section == "heat" and row["model"] in curved
            },
        }
        for row in rows
    ]


def rows_of(data: pd.DataFrame, model: str) -> list[dict]:
    """Return the rows of a model."""
    return data[data["model"] == model].to_dict("records")

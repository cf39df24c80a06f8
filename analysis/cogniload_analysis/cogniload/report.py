"""CogniLoad's part of the report: its fits, tables, figures and sentences."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    glm,
    languages,
    overview,
    repeats,
    tables,
    words,
)
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.known_thresholds import LOAD_OF, fit_run, tested_ends
from cogniload_analysis.cogniload.loads import LOADS, MEANINGS
from cogniload_analysis.cogniload.ranking import ranking_table
from cogniload_analysis.display import verdict
from cogniload_analysis.display.content import Findings, Picture, Verdict, name_file
from cogniload_analysis.display.figures import Drawing, draw_all
from cogniload_analysis.display.print import accuracy_table
from cogniload_analysis.display.tables import Table, rows_of
from cogniload_analysis.frame import Load
from cogniload_analysis.matters import load_effects
from cogniload_analysis.stats import CONFIDENCE


def report_cogniload(frame: pd.DataFrame) -> Findings:
    """Return what the report shows of CogniLoad's frame, whose models have their short names."""
    responses = {str(model): rows for model, rows in frame.groupby("model", observed=True)}
    glms, capacities, notes = {}, {}, {}
    replays = adaptive_section.find_replays(responses)
    for model, rows in tqdm(responses.items(), "fitting", unit="model", disable=None):
        run = replays.get(model)
        glms[model], capacities[model] = fit_run(rows, run.estimate if run else None)
        if not run and rows["id"].is_unique:
            loads = rows[[load.name for load in LOADS]]
            notes[model] = [*capacities[model].flags, *question_drift(loads, rows["correct"])]
    several = len(frame[[load.name for load in LOADS]].drop_duplicates()) > 1
    read = breaks.choose_read(frame)
    ranking = ranking_table(glms, capacities)
    raw = {
        "accuracy": accuracy_table(frame, confidence=CONFIDENCE),
        "thresholds": tables.threshold_table(glms, capacities),
        "meanings": tables.meaning_table(glms, capacities),
        "glm": tables.glm_table(glms),
        "fit": tables.fit_table(glms),
    }
    curves = pd.DataFrame()
    if several:
        compared = {model: glm.compare_rho_terms(rows) for model, rows in responses.items()}
        interactions = {model: glm.fit_interactions(rows) for model, rows in responses.items()}
        raw |= {"aic": tables.aic_table(compared)}
        raw |= {"interactions": tables.interaction_table(interactions)}
        curves = budgets.budget_curve(frame)
    curved_budgets = len(curves) > 0 and bool(curves["model"].duplicated().any())
    made = [
        *(tables.TABLES[name].table(rows) for name, rows in raw.items()),
        *tabulate_levels(frame, several=several),
        *tabulate_breaks(frame, read, glms),
    ]
    others = {
        repeats.ATTEMPTS: repeats.accuracy_by_attempts(frame),
        languages.LANGUAGES: languages.language_table(frame),
        budgets.BUDGETS: curves if curved_budgets else pd.DataFrame(),
    }
    made += [spec.table(rows) for spec, rows in others.items() if len(rows)]
    data = {table.name: table.data for table in made}
    first = overview.OVERVIEW.table(overview.overview_table(frame, glms, capacities))
    overviews = first.data.to_dict("records")
    made += [first, *([tables.TABLES["ranking"].table(ranking)] if several else [])]
    files = {model: name_file(number, model) for number, model in enumerate(responses, start=1)}
    # Curves of a model at chance, and of an adaptive run's single puzzles, would be noise.
    at_chance = {row["model"] for row in overviews if row["at_chance"]}
    curved = {m: rows for m, rows in responses.items() if m not in at_chance and m not in replays}
    run_tables, run_pictures, runs = report_runs(
        list(replays.values()),
        adaptive_section.SPECS,
        [f"adaptive_{files[model]}" for model in replays],
        along="along each load",
        draw=figures.draw_run,
        say=words.say_run,
        goal="{} (crossing)",
    )
    drawings = draw_paper(curved, glms, ranking, files) if several else {}
    for model in read:
        mine = (rows_of(data, name, model=model) for name in ("survival", "prediction"))
        caption = words.say("picture_breaks", model=model)
        drawings[f"breaks_{files[model]}"] = caption, partial(figures.draw_breaks, *mine)
    if curved_budgets:
        drawings["budgets"] = words.say("picture_budgets"), partial(figures.draw_budgets, curves)
    pictures = draw_all(drawings) | run_pictures
    return Findings(
        tables=[*drop_fits(made, at_chance), *run_tables],
        pictures=pictures,
        models=[
            describe_model(
                row,
                made,
                pictures.get(f"fit_{files[row['model']]}"),
                None if row["model"] in at_chance else notes.get(row["model"], []),
                curved=row["model"] in curved,
            )
            for row in data["accuracy"].to_dict("records")
        ],
        verdicts=[
            describe_verdict(
                row,
                frame[frame["model"] == row["model"]],
                capacities[row["model"]] if row["model"] in replays else None,
                rows_of(data, "breaks", model=row["model"]).to_dict("records"),
                pictures.get(f"adaptive_{files[row['model']]}")
                or pictures.get(f"fit_{files[row['model']]}"),
            )
            for row in overviews
        ],
        front=pictures.get("figure_1"),
        sections={
            "breaks": [
                {
                    "name": row["model"],
                    "said": words.say_breaks(row),
                    "picture": pictures.get(f"breaks_{files[row['model']]}"),
                }
                for row in rows_of(data, "breaks").to_dict("records")
            ],
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


def tabulate_levels(frame: pd.DataFrame, *, several: bool) -> Iterator[Table]:
    """Yield the tables by levels of the loads; those of accuracy say nothing of a single cell."""
    for knob, number in (("d", 4), ("N", 5)):
        rows = tables.outcome_table(frame, knob)
        yield tables.TABLES["outcomes"].table(rows, load=knob, number=number)
    for level, rows in tables.token_table(frame).groupby("N"):
        yield tables.TABLES["tokens"].table(rows, N=level)
    d, N, rho = LOADS
    for loads in ((d,), (N,), (rho,), (d, N), (N, rho)) if several else ():
        if all(frame[load.name].nunique() > 1 for load in loads[1:]):
            names = (load.name for load in loads)
            rows = accuracy_table(frame, *names, confidence=CONFIDENCE)
            yield overview.levels_spec(*loads).table(rows)


def tabulate_breaks(
    frame: pd.DataFrame, read: dict[str, pd.DataFrame], glms: dict[str, glm.LoadGLM]
) -> list[Table]:
    """Return the tables on where the reasoning breaks.

    There is one where too few responses were read, and none where the samples hold no readings.
    """
    if frame["coverage"].isna().all():
        return []
    hazards = {model: breaks.fit_hazard(rows) for model, rows in read.items()}
    raw = {"breaks": breaks.break_table(frame, read, hazards)}
    if read:
        raw |= {
            "kinds": breaks.kind_table(read),
            "slips": breaks.slip_table(read),
            "prediction": breaks.prediction_table(read, hazards, glms),
            "hazard": breaks.hazard_table(hazards),
            "survival": breaks.survival_table(read),
        }
    by_load = {load: breaks.kind_by_table(read, load) for load in ("d", "N") if read}
    return [
        *(breaks.TABLES[name].table(rows) for name, rows in raw.items()),
        *(breaks.TABLES["kinds_by"].table(rows, load=load) for load, rows in by_load.items()),
    ]


def draw_paper(
    responses: dict[str, pd.DataFrame],
    glms: dict[str, glm.LoadGLM],
    ranking: pd.DataFrame,
    files: Mapping[str, str],
) -> dict[str, Drawing]:
    """Return the drawings of each model's fit, of the ranking and of the paper's figures.

    `responses` are of the models that are drawn; `files` has the ends of their pictures' names.
    """
    own: dict[str, Drawing] = {
        f"fit_{files[model]}": (
            words.say("picture_fit", model=model),
            partial(figures.draw_fit, rows, glms[model]),
        )
        for model, rows in responses.items()
    }
    drawings: dict[str, Callable[..., Figure]] = {"ranking": partial(figures.draw_ranking, ranking)}
    if responses:
        frame = pd.concat(responses.values())
        along = {
            "figure_3": ("rho", partial(figures.draw_rho_by, frame, "d")),
            "figure_4": ("rho", partial(figures.draw_rho_by, frame, "N")),
            "figure_5": ("d", partial(figures.draw_accuracy_by, frame, "d")),
            "figure_6": ("rho", partial(figures.draw_accuracy_by, frame, "rho")),
            "figure_7": ("N", partial(figures.draw_accuracy_by, frame, "N")),
        }
        varying = figures.varying(frame)
        drawings["figure_1"] = partial(figures.draw_accuracy, frame)
        drawings |= {name: draw for name, (load, draw) in along.items() if load in varying}
        drawings["outcomes_by_N"] = partial(figures.draw_outcomes, frame)
        if frame["response_tokens"].notna().any():
            drawings["tokens_by_load"] = partial(figures.draw_tokens, frame)
    return own | {name: (words.say(f"picture_{name}"), draw) for name, draw in drawings.items()}


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
    headline, solved = overview.say_capacity(row), verdict.say_solved(frame, row["cut_share"])
    if row["at_chance"]:
        return Verdict(row["model"], headline, [solved])
    effects = load_effects(frame, LOADS)
    if capacity:
        effects = [replace(effect, bands=fitted_bands(effect.load, capacity)) for effect in effects]
    errors = [words.say_first_error(read) for read in broken if read["enough"] and read["errors"]]
    sentences = [solved, *(errors or [verdict.say_wrong(frame, MEANINGS)])]
    breaks = verdict.say_breaks(effects) + (words.say("on_curve") if capacity else "")
    return Verdict(row["model"], headline, sentences, picture, breaks)


def fitted_bands(load: Load, capacity: Capacity) -> pd.DataFrame:
    """Return the accuracy along a fitted curve, within its reach, as `Effect.bands`."""
    band = getattr(capacity, f"over_{load.name}")
    low, high = tested_ends(capacity, next(name for name in LOAD_OF if LOAD_OF[name] == load.name))
    inside = (band.load >= low) & (band.load <= high)
    levels = band.load[inside] if load.percent else band.load[inside].round()
    return pd.DataFrame({"least": levels, "most": levels, "accuracy": band.accuracy[inside]})


def describe_model(
    row: dict,
    made: Sequence[Table],
    picture: Picture | None,
    notes: Sequence[str] | None,
    *,
    curved: bool,
) -> dict[str, object]:
    """Return what the page says of a model, by its row of `accuracy_table`.

    One without `notes` is at chance and has no thresholds; only one that is `curved` has tables for
    `heat`.
    """
    model, data = row["model"], {table.name: table.data for table in made}
    fit = dict(rows_of(data, "glm", model=model).iloc[0])
    thresholds: list[str] = []
    if notes is not None:
        said = {"thresholds": words.say_threshold, "fit": words.say_fit}
        thresholds = [
            say(row)
            for name, say in said.items()
            for row in rows_of(data, name, model=model).to_dict("records")
        ]
        thresholds += map(say_flag, notes)
    return {
        "name": model,
        "accuracy": words.say("accuracy", row),
        "chance": words.say_chance(row),
        "cells": words.say("cells", fit),
        "thresholds": thresholds,
        "problems": "" if notes is None else fit["problems"],
        "estimator": fit["estimator"],
        "picture": picture,
        "heat": {
            table.name: table.spec.show(table.data[table.data["model"] == model]).iloc[:, 1:]
            for table in made
            if table.spec.section == "heat" and curved
        },
    }

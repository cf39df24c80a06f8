"""Stage 6: one report that people read, with its tables and figures beside it."""

import base64
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure
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
from cogniload_analysis.read import read_samples
from cogniload_analysis.words import say_accuracy, say_cells, say_threshold


@dataclass(frozen=True, eq=False)
class Table:
    """A table of the report: its raw numbers, and how they are set in print."""

    name: str
    caption: str
    data: pd.DataFrame
    print: Callable[[pd.DataFrame], pd.DataFrame]

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The table in print, as text."""
        return self.print(self.data)


@dataclass(frozen=True)
class Picture:
    """A figure of the report, drawn for paper and for a phone."""

    name: str
    caption: str
    svg: bytes
    pdf: bytes
    narrow_svg: bytes

    def uri(self, narrow: bool = False) -> str:
        """The figure as an address that holds it."""
        content = self.narrow_svg if narrow else self.svg
        return "data:image/svg+xml;base64," + base64.b64encode(content).decode()


def write_report(
    paths: str | Path | Iterable[str | Path],
    out: str | Path,
    *,
    force: bool = False,
    all_runs: bool = False,
) -> Path:
    """Write `report.html`, `tables/` and `figures/` into `out` and return the report's path.

    `paths` and `all_runs` are as for `read_samples`. Files are written whole, and the report
    last. Raises FileExistsError where a file would be overwritten, unless `force`; ValueError and
    FileNotFoundError as `read_samples`.
    """
    out = Path(out)
    if not force:
        refuse_overwriting([out / "report.html"])
    files = build_report(read_samples(paths, all_runs=all_runs))
    targets = {out / name: content for name, content in files.items()}
    if not force:
        refuse_overwriting(targets)
    for target, content in targets.items():
        write_whole(target, content)
    return out / "report.html"


def build_report(frame: pd.DataFrame) -> dict[str, bytes]:
    """Return the content of each file of the report on the frame of `read_samples`, by name."""
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
    all_tables = [runs, *build_tables(frame, glms, comparisons, interactions, ranking)]
    pictures = draw_pictures(frame, responses, glms, ranking)
    page = render_page(frame, {table.name: table for table in all_tables}, pictures)
    files = {"tables/cells.csv": tables.cell_table(frame).to_csv(index=False)}
    for table in all_tables:
        files[f"tables/{table.name}.csv"] = table.data.to_csv(index=False)
        files[f"tables/{table.name}.tex"] = tables.to_latex(table.shown, table.caption, table.name)
    files = {name: text.encode() for name, text in files.items()}
    for picture in pictures:
        files[f"figures/{picture.name}.svg"] = picture.svg
        files[f"figures/{picture.name}.pdf"] = picture.pdf
    return files | {"report.html": page.encode()}


def build_tables(
    frame: pd.DataFrame,
    glms: dict[str, LoadGLM],
    comparisons: dict[str, RhoComparison],
    interactions: dict[str, InteractionGLM],
    ranking: pd.DataFrame,
) -> list[Table]:
    """Return the tables of the report, after the runs."""
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
) -> list[Picture]:
    """Return the pictures of the report: each model's fit, the ranking, the paper's figures."""
    averaged = "averaged over the two other loads"
    drawings = {
        f"fit_{number:02}_{re.sub(r'[^A-Za-z0-9.-]+', '_', model)[:60]}": (
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
    return [
        _draw(name, *drawing)
        for name, drawing in tqdm(drawings.items(), "drawing", unit="figure", disable=None)
    ]


def render_page(frame: pd.DataFrame, by_name: dict[str, Table], pictures: Sequence[Picture]) -> str:
    """Return `report.html`, with everything in it that it shows."""
    environment = Environment(
        loader=PackageLoader("cogniload_analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    thresholds = by_name["thresholds"].data
    columns = ["model", "estimator", "problems", "cells", "cells_all_right", "cells_all_wrong"]
    fits = by_name["glm"].data[columns]
    rows = by_name["accuracy"].data.merge(fits, on="model").to_dict("records")
    models = [
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
        for row, picture in zip(rows, pictures, strict=False)
    ]
    return environment.get_template("report.html").render(
        models=models,
        tables=by_name,
        pictures={picture.name: picture for picture in pictures},
        examples=pick_failures(frame),
        mixed_versions=frame["generator_version"].nunique() > 1,
    )


def label_models(frame: pd.DataFrame) -> list[str]:
    """Return a short name for each row's model: the last part of a path, where that is unique.

    The task is added where a model ran several.
    """
    runs = frame[["model", "task"]].drop_duplicates().astype(str)
    short = runs["model"].str.rstrip("/").str.split("/").str[-1]
    unique = runs.groupby(short)["model"].transform("nunique") == 1
    several = runs.groupby("model")["task"].transform("nunique") > 1
    labels = short.where(unique, runs["model"])
    labels += (" (" + runs["task"] + ")").where(several, "")
    names = dict(zip(zip(runs["model"], runs["task"], strict=True), labels, strict=True))
    return [names[run] for run in zip(frame["model"], frame["task"], strict=True)]


def refuse_overwriting(targets: Iterable[Path]) -> None:
    """Raise FileExistsError if one of the files exists."""
    existing = [target for target in targets if target.exists()]
    if existing:
        raise FileExistsError(
            f"{existing[0]} exists: name another folder, or allow overwriting with --force"
        )


def write_whole(target: Path, content: bytes) -> None:
    """Write a file so that no reader ever finds a part of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.part")
    try:
        temporary.write_bytes(content)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _draw(name: str, caption: str, draw: Callable[[int], Figure]) -> Picture:
    wide, narrow = draw(3), draw(1)
    svg, pdf = (figures.save_figure(wide, kind) for kind in ("svg", "pdf"))
    return Picture(name, caption, svg, pdf, figures.save_figure(narrow, "svg"))

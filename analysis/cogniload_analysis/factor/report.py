"""FACTOR's part of the report: every condition is fitted once, and the sections show the fits."""

import math
from typing import Any

import pandas as pd

from cogniload_analysis.display import verdict
from cogniload_analysis.display.figures import Figure
from cogniload_analysis.display.page import Findings, Section, Verdict, name_file
from cogniload_analysis.display.tables import (
    Table,
    accuracy_columns,
    accuracy_table,
    count_outcomes,
    describe_tokens,
    tokens,
)
from cogniload_analysis.factor.decay import ACCURACY_RANGES, CONDITION
from cogniload_analysis.factor.loads import COMPLEXITY_LOAD, CONDITIONS, CONTEXT, LOADS, MEANINGS
from cogniload_analysis.factor.sections import adaptive, attempts, contexts, decays, hops, retrieval
from cogniload_analysis.matters import load_effects
from cogniload_analysis.samples.stop_reasons import ending_table
from cogniload_analysis.stats import CONFIDENCE
from cogniload_gen.factor.score import FactorOutcome

FRONT = ("factor_figure_1c_symbolic", "factor_figure_4")
"""The first screen's figure of several models, by name: the first one that there is."""

NONE_SOLVED = "Solves no puzzle at any complexity, so nothing is determined."


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
    curves = decays.fit_decays(frame, accuracy_range=accuracy_range)
    lines = decays.fit_decays(frame, "least squares", accuracy_range=accuracy_range)
    fits, least_squares = decays.decay_table(curves), decays.decay_table(lines)
    modes, tried = contexts.mode_table(fits), attempts.attempts_table(frame)
    sampling = attempts.sampling_table(tried, n_clean)
    retrieved, shortcuts = retrieval.retrieval_table(frame), hops.shortcut_table(frame)
    said = [
        (decays.say_decay, fits),
        (contexts.say_mode, modes[modes["source"] == contexts.HERE]),
        (attempts.say_sampling, sampling[sampling["source"] == contexts.HERE]),
        (retrieval.say_retrieval, retrieved),
    ]
    names: dict[tuple[str, str], str] = {}
    models, verdicts = [], []
    for suite, model in sorted({(suite, model) for model, suite, *_ in curves}):
        about = {"suite": suite, "model": model}
        name = f"factor_{suite}_{name_file(len(names) + 1, model)}"
        names[suite, model] = name
        own = {each: fit for each, fit in curves.items() if each[:2] == (model, suite)}
        mine, title = _rows_of(frame, about), f"{model}, {suite} suite"
        figure = decays.draw_model(own, name) if mine["correct"].any() else None
        phrases = [
            say(row)
            for say, table in (said if figure else said[-1:])
            for row in _rows_of(table, about).to_dict("records")
        ]
        beside = _rows_of(shortcuts, about)
        phrases += [hops.say_shortcuts(beside)] if len(beside) else []
        models.append(Section(title, [phrases, figure] if figure else [[NONE_SOLVED, *phrases]]))
        decay = _rows_of(fits, about).iloc[0].to_dict()
        verdicts.append(describe_verdict(title, mine, decay, figure))
    drawn: list[Figure] = []
    for suite in sorted({*fits["suite"]}):
        rows = _rows_of(fits, {"suite": suite})
        if rows["mean_accuracy"].any():
            own = {each: fit for each, fit in curves.items() if each[1] == suite}
            drawn += [*decays.draw_suite(suite, own, rows), *contexts.draw_by_context(rows)]
    sections = [
        *retrieval.retrieval_sections(frame, retrieved, names),
        *hops.hops_sections(frame, shortcuts, names),
        Section(
            "The decay of each model",
            [_tabulate_accuracy(frame, "Accuracy, with the 95 % Wilson interval."), *models],
            "models",
            folded=True,
        ),
        *adaptive.adaptive_sections(frame),
        *contexts.published_section(fits, least_squares),
        *[Section("The paper's figures", drawn, "curves", folded=True)] * bool(drawn),
        Section(
            "Fits",
            [*decays.tabulate_fits(fits, least_squares), contexts.tabulate_modes(modes)],
            "fits",
            folded=True,
        ),
        *attempts.attempts_sections(tried, sampling),
        errors_section(frame),
    ]
    front = [figure for name in FRONT for figure in drawn if figure.name == name]
    return Findings(sections, verdicts, front[:1])


def _rows_of(table: pd.DataFrame, about: dict[str, str]) -> pd.DataFrame:
    return table[(table[[*about]] == [*about.values()]).all(axis=1)]


def describe_verdict(
    name: str, frame: pd.DataFrame, decay: dict[Any, Any], figure: Figure | None
) -> Verdict:
    """Return what the first screen says of a model in a suite, by its responses in `frame`.

    `decay` is its first row of `decay_table`. Without a `figure`, the model solved nothing.
    """
    effects = load_effects(frame, [COMPLEXITY_LOAD, CONTEXT])
    cut = ending_table(frame)["cut_share"].iloc[0]
    breaks = verdict.say_breaks(effects) if figure else ""
    sentences = [verdict.say_solved(frame, cut), verdict.say_wrong(frame, MEANINGS)]
    headline = decays.say_capacity(decay) if figure else NONE_SOLVED
    return Verdict(name, headline, sentences, figure, breaks)


def errors_section(frame: pd.DataFrame) -> Section:
    """Return the section on outcomes and tokens, and the accuracy by N."""
    table = Table(
        "factor_responses",
        response_table(frame),
        "Outcomes, and tokens as mean[90th percentile] of prompt and output.",
        {
            **CONDITIONS,
            "responses": "Responses",
            **{outcome.value: outcome.value.replace("_", "-") for outcome in FactorOutcome},
            "prompt_tokens_mean, prompt_tokens_p90": ("Prompt", tokens),
            "response_tokens_mean, response_tokens_p90": ("Output", tokens),
        },
    )
    by_N = _tabulate_accuracy(frame, "Accuracy by N, with the 95 % Wilson interval.", "N")
    behind = Section("Accuracy by N", [by_N], folded=True)
    return Section("Errors and tokens", [table, behind], "errors", folded=True)


def response_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the count of each outcome and the tokens, by model, suite, context and noise."""
    counts = count_outcomes(frame, *CONDITION)
    lengths = describe_tokens(frame, *CONDITION)
    columns = {"responses": counts.sum(axis=1)} | dict(counts.items()) | dict(lengths.items())
    return pd.DataFrame(columns).reset_index()


def _tabulate_accuracy(frame: pd.DataFrame, caption: str, *by: str) -> Table:
    data = accuracy_table(frame, *CONDITION[1:], *by, confidence=CONFIDENCE)
    name = "_by_".join(["factor_accuracy", *by])
    return Table(name, data, caption, accuracy_columns(LOADS))

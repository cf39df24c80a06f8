"""CogniLoad's part of the report: every model is fitted once, and the sections show the fits."""

import pandas as pd
from tqdm import tqdm

from cogniload_analysis.adaptive.drift import question_drift
from cogniload_analysis.adaptive.section import run_row, runs_sections
from cogniload_analysis.cogniload.known_thresholds import AT_CHANCE, fit_run
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.cogniload.sections import ranking as first_screen
from cogniload_analysis.cogniload.sections.accuracy import accuracy_sections, draw_paper
from cogniload_analysis.cogniload.sections.adaptive import draw_run, find_runs
from cogniload_analysis.cogniload.sections.attempts import attempts_sections
from cogniload_analysis.cogniload.sections.breaks import breaks_section
from cogniload_analysis.cogniload.sections.budgets import budgets_sections
from cogniload_analysis.cogniload.sections.errors import errors_section
from cogniload_analysis.cogniload.sections.thresholds import draw_fit, thresholds_section
from cogniload_analysis.display.figures import MOST_WITH_ENDS
from cogniload_analysis.display.page import Findings, Section, name_file
from cogniload_analysis.display.tables import MODEL

# Models that a reader can tell apart in one of the paper's figures, which have 22.
MOST_IN_A_FIGURE = 40


def report_cogniload(frame: pd.DataFrame) -> Findings:
    """Return what the report shows of CogniLoad's frame, whose models have their short names."""
    loads = [load.name for load in LOADS]
    responses = {str(model): rows for model, rows in frame.groupby("model", observed=True)}
    names = {model: name_file(number, model) for number, model in enumerate(responses, start=1)}
    adaptive_runs = find_runs(responses)
    glms, capacities, notes = {}, {}, {}
    for model, rows in tqdm(responses.items(), "fitting", unit="model", disable=None):
        run = adaptive_runs.get(model)
        glms[model], capacities[model] = fit_run(rows, run.estimate if run else None)
        if not run and rows["id"].is_unique:
            drift = question_drift(rows[loads], rows["correct"])
            notes[model] = [*capacities[model].flags, *drift]
    fitted = {model: glm for model, glm in glms.items() if AT_CHANCE not in glm.unknown.values()}
    several = len(frame[loads].drop_duplicates()) > 1
    # Curves of a model at chance, and of an adaptive run's single puzzles, would be noise.
    curved = [model for model in fitted if model not in adaptive_runs] if several else []
    many = len(responses) > MOST_WITH_ENDS
    drawn = [] if many else curved
    fits = {m: draw_fit(m, responses[m], glms[m], f"fit_{names[m]}") for m in drawn}
    legible = 0 < len(curved) <= MOST_IN_A_FIGURE
    figures = draw_paper(frame[frame["model"].isin(curved)]) if legible else []
    breaking, first_errors = breaks_section(frame, names, drawn=not many)
    curves = {model: draw_run(model, names[model], run) for model, run in adaptive_runs.items()}
    ranking = first_screen.ranking_table(glms, capacities)
    overview = first_screen.overview_table(frame, glms, capacities, ranking)
    runs = first_screen.tabulate_overview(overview)
    verdicts = []
    for row in overview.to_dict("records"):
        model = row["model"]
        figure = curves.get(model) or fits.get(model)
        error = first_errors.get(model, "")
        verdicts.append(first_screen.describe_verdict(row, responses[model], error, figure))
    sections = [
        *accuracy_sections(frame, link="Accuracy" if curved else ""),
        breaking,
        thresholds_section(frame, runs, fitted, capacities, notes, fits),
        *runs_sections([*map(run_row, adaptive_runs.values())], MODEL, "adaptive", curves.items()),
        first_screen.ranking_section(ranking),
        *([Section("The paper's figures", figures, "figures", folded=True)] if figures else []),
        *attempts_sections(frame),
        *budgets_sections(frame, capacities),
        errors_section(frame),
    ]
    return Findings(sections, verdicts, [runs, *([] if many else figures[:1])])

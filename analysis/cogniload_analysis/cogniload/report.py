"""CogniLoad's part of the report: every model is fitted once, and the sections show the fits."""

import pandas as pd
from tqdm import tqdm

from cogniload_analysis.adaptive.section import run_row, runs_sections
from cogniload_analysis.cogniload import first_screen
from cogniload_analysis.cogniload.fitted import Fitted
from cogniload_analysis.cogniload.sections.accuracy import accuracy_sections, draw_paper
from cogniload_analysis.cogniload.sections.adaptive import draw_run, find_runs
from cogniload_analysis.cogniload.sections.attempts import attempts_sections
from cogniload_analysis.cogniload.sections.breaks import breaks_section
from cogniload_analysis.cogniload.sections.budgets import budgets_sections
from cogniload_analysis.cogniload.sections.errors import errors_section
from cogniload_analysis.cogniload.sections.ranking import ranking_section, ranking_table
from cogniload_analysis.cogniload.sections.thresholds import draw_fit, thresholds_section
from cogniload_analysis.display.figures import MOST_WITH_ENDS
from cogniload_analysis.display.page import Findings, Section, name_file

# Models that a reader can tell apart in one of the paper's figures, which have 22.
_MOST_IN_A_FIGURE = 40


def report_cogniload(frame: pd.DataFrame) -> Findings:
    """Return what the report shows of CogniLoad's frame, whose models have their short names."""
    responses = {str(model): rows for model, rows in frame.groupby("model", observed=True)}
    names = {model: name_file(number, model) for number, model in enumerate(responses, start=1)}
    runs = find_runs(responses)
    models = {
        model: Fitted(rows, runs[model].estimate if model in runs else None)
        for model, rows in responses.items()
    }
    progress = tqdm(models.items(), "fitting", unit="model", disable=None)
    glms = {model: fitted.glm for model, fitted in progress}
    ranking = ranking_table(glms, {model: fitted.capacity for model, fitted in models.items()})
    overview = first_screen.overview_table(models, ranking)
    known = {model: fitted for model, fitted in models.items() if not fitted.at_chance}
    several = any(frame[load].nunique() > 1 for load in ("d", "N", "rho"))
    # Curves of a model at chance, and of an adaptive run's single puzzles, would be noise.
    curved = [model for model in known if model not in runs] if several else []
    many = len(models) > MOST_WITH_ENDS
    fits = {m: draw_fit(m, models[m], f"fit_{names[m]}") for m in curved if not many}
    legible = 0 < len(curved) <= _MOST_IN_A_FIGURE
    figures = draw_paper(frame[frame["model"].isin(curved)]) if legible else []
    breaking, first_errors = breaks_section(frame, names, drawn=not many)
    curves = {model: draw_run(model, names[model], run) for model, run in runs.items()}
    shown = first_screen.tabulate_overview(overview)
    verdicts = [
        first_screen.describe_verdict(
            row, models[model], first_errors.get(model, ""), curves.get(model) or fits.get(model)
        )
        for model, row in zip(overview["model"], overview.to_dict("records"), strict=True)
    ]
    sections = [
        *accuracy_sections(frame, link="Accuracy" if curved else ""),
        breaking,
        thresholds_section(frame, shown, known, fits),
        *runs_sections([*map(run_row, runs.values())], "adaptive", curves.items()),
        ranking_section(ranking),
        *([Section("The paper's figures", figures, "figures", folded=True)] if figures else []),
        *attempts_sections(frame),
        *budgets_sections(frame, models),
        errors_section(frame),
    ]
    return Findings(sections, verdicts, [shown, *([] if many else figures[:1])])

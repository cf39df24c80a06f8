"""CogniLoad's analysis: its samples, its loads, and its part of the report."""

from collections.abc import Mapping, Sequence

import pandas as pd
from tqdm import tqdm

from cogniload_analysis.adaptive import design
from cogniload_analysis.adaptive.design import describe_interval
from cogniload_analysis.adaptive.section import AdaptiveRun, run_row, runs_sections
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.cogniload.first_screen import choose_threshold, show_models
from cogniload_analysis.cogniload.loads import LOADS, MEANINGS, NEEDLES, read_loads
from cogniload_analysis.cogniload.sections import next_values as nv
from cogniload_analysis.cogniload.sections.accuracy import accuracy_sections, draw_paper
from cogniload_analysis.cogniload.sections.adaptive import draw_run, fit_models
from cogniload_analysis.cogniload.sections.attempts import attempts_sections
from cogniload_analysis.cogniload.sections.breaks import breaks_section
from cogniload_analysis.cogniload.sections.budgets import budgets_sections
from cogniload_analysis.cogniload.sections.checkpoints import checkpoints_sections
from cogniload_analysis.cogniload.sections.compaction import compaction_sections
from cogniload_analysis.cogniload.sections.errors import errors_section
from cogniload_analysis.cogniload.sections.ranking import ranking_section, ranking_table
from cogniload_analysis.cogniload.sections.thresholds import draw_fit, thresholds_section
from cogniload_analysis.cogniload.step_columns import ANSWER, READING, find_break, find_needles
from cogniload_analysis.cogniload.threshold_differences import compare_thresholds
from cogniload_analysis.display.figures import MOST_WITH_ENDS
from cogniload_analysis.display.page import Findings, Section, name_file
from cogniload_analysis.samples.read import Paths, read_benchmarks
from cogniload_analysis.words import say
from cogniload_gen.cogniload import BENCHMARK

# Models that a reader can tell apart in one of the paper's figures, which have 22.
_MOST_IN_A_FIGURE = 40


class _CogniLoadAnalysis(Analysis):
    """Capacity by d, N and rho, and the statements where reasoning breaks."""

    name = "CogniLoad"
    prefix = ""
    tasks = ("cogniload",)
    others = ("cogniload_next",)
    benchmarks = (BENCHMARK,)
    read_loads = staticmethod(read_loads)
    compare = staticmethod(compare_thresholds)
    find_break = staticmethod(find_break)
    find_needles = staticmethod(find_needles)
    say_conversations = staticmethod(compaction_sections)
    paper = "Kaiser et al., 2026"
    method = say("method_cogniload")
    package = "cogniload_analysis.cogniload"
    meanings = MEANINGS
    loads = LOADS
    growth = ("N", "d")
    facts = (READING, ANSWER, *design.FACTS, NEEDLES)

    def find_runs(self, frame: pd.DataFrame) -> Sequence[AdaptiveRun]:
        """Return the adaptive runs in a frame, one of each model that has one."""
        return [*fit_models(frame)[1].values()]

    def find_threshold(self, frame: pd.DataFrame) -> tuple[str, float, str] | None:
        """Return ECL50 as the report's headline has it; None where it is not known."""
        (fitted,) = fit_models(frame)[0].values()
        at, ECL50 = choose_threshold(fitted), fitted.thresholds["ECL50"]
        least, most = float(at["least_N"]), float(at["most_N"])
        if not least <= ECL50.value <= most:
            return None
        said = describe_interval(ECL50, (least, most))
        return "ECL50", ECL50.value, f"a {at['meaning']} at {at['loads']}: {said} statements"

    def report(self, frame: pd.DataFrame, causes: Mapping[str, str]) -> Findings:
        """Return what the report shows; every model is fitted once, and the sections show it."""
        models, runs = fit_models(frame)
        names = {model: name_file(number, model) for number, model in enumerate(models, start=1)}
        progress = tqdm(models.items(), "fitting", unit="model", disable=None)
        glms = {model: fitted.glm for model, fitted in progress}
        ranking = ranking_table(glms, {model: fitted.capacity for model, fitted in models.items()})
        known = {model: fitted for model, fitted in models.items() if not fitted.at_chance}
        several = any(frame[load].nunique() > 1 for load in ("d", "N", "rho"))
        # Curves of a model at chance, and of an adaptive run's single puzzles, would be noise.
        curved = [model for model in known if model not in runs] if several else []
        many = len(models) > MOST_WITH_ENDS
        fits = {m: draw_fit(m, models[m], f"fit_{names[m]}") for m in curved if not many}
        legible = 0 < len(curved) <= _MOST_IN_A_FIGURE
        figures = draw_paper(frame[frame["model"].isin(curved)]) if legible else []
        breaking, first_errors = breaks_section(frame, names, drawn=not many)
        curves = {model: draw_run(f"adaptive_{names[model]}", run) for model, run in runs.items()}
        shown, verdicts = show_models(models, ranking, causes, first_errors, fits | curves)
        sections = [
            *checkpoints_sections(shown.data),
            *accuracy_sections(
                frame[~frame["model"].isin(runs)], link="Accuracy" if curved else ""
            ),
            breaking,
            thresholds_section(frame, shown, known, fits),
            *runs_sections([*map(run_row, runs.values())], "adaptive", curves.items()),
            ranking_section(ranking),
            *([Section("The paper's figures", figures, "figures", folded=True)] if figures else []),
            *attempts_sections(frame),
            *budgets_sections(frame),
            errors_section(frame),
        ]
        return Findings(sections, verdicts, [shown, *([] if many else figures[:1])], models)


class _NextAnalysis(Analysis):
    """What models put next in right traces. Its rows are no responses, and in no other frame."""

    name = "CogniLoad, next values"
    prefix = "next_"
    tasks = ("cogniload_next",)
    compared = False
    benchmarks = (BENCHMARK,)
    read_loads = staticmethod(read_loads)
    paper = _CogniLoadAnalysis.paper
    method = say("method_next")
    meanings = MEANINGS
    loads = LOADS
    growth = ("N", "d")
    facts = (nv.ANSWERED,)
    owns = staticmethod(lambda puzzle: "questions" in puzzle)
    report = staticmethod(nv.next_findings)
    beside = staticmethod(nv.free_running)


COGNILOAD, NEXT_VALUES = _CogniLoadAnalysis(), _NextAnalysis()


def read_samples(paths: Paths, *, text: bool = False) -> pd.DataFrame:
    """Read lm-eval's responses to CogniLoad into one frame, one row per response.

    Paths, labels, the names of runs, errors and `text` are as in `read_benchmarks` of
    `cogniload_analysis.samples.read`, and so are the columns that all benchmarks share. CogniLoad's
    own are d, N, rho (a fraction in (0, 1]), steps_read (whether the reasoning could be read; False
    where the sample doesn't say), first_error (the statement; NaN for none), error (its kind; ""
    for none), recovered (False without an error), coverage (NaN where the sample holds no reading),
    answer (the one that was read; "" for none, None where the sample holds no reading),
    index (the puzzle's) and needles (in its text), both NaN where unknown, and cut (whether a limit
    cut the response off).
    """
    return read_benchmarks(paths, [COGNILOAD], text=text)[COGNILOAD.name]

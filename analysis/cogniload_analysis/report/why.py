"""Why each model fails, as the report shows it: verdict, figure, and a twin that was solved."""

from dataclasses import replace
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.compare import why as twins
from cogniload_analysis.compare.why import Why
from cogniload_analysis.display.cells import points, points_interval
from cogniload_analysis.display.content import Findings, Verdict, name_file
from cogniload_analysis.display.figures import Drawing, Panel, Series, draw_all, draw_panels
from cogniload_analysis.display.tables import read_tables
from cogniload_analysis.display.verdict import add_cause
from cogniload_analysis.report.examples import Example, describe_response
from cogniload_analysis.stats import wilson_interval
from cogniload_gen.grid import ORIGINAL


def show_effect(difference: float, low: float, high: float) -> str:
    """Set an effect with its interval, in percentage points."""
    return f"{points(0)(difference)} ({points_interval(0)(low, high)})"


def show_band(band: int) -> str:
    """Set the name of a third of the levels of a load."""
    return twins.BANDS[band].capitalize()


REMOVES = {
    True: "A change that lifts its failures above “again” removes a cause.",
    False: "No puzzle was tried again unchanged: a change that cures more failures than it breaks "
    "solved puzzles removes a cause.",
}

TABLES = read_tables("why", show_effect, show_band)


def add_why(findings: Findings, frame: pd.DataFrame, analysis: Analysis) -> Findings:
    """Add what a report says of why each model fails; nothing of those without twins.

    The first screen names the cause; the section has the verdict, the figure and an example.
    """
    explained: dict[str, Why] = {}
    examples: dict[str, list[Example]] = {}
    by_load: list[pd.DataFrame] = []
    drawings: dict[str, Drawing] = {}
    loads = [load for load in analysis.loads if load.dtype != "category"]
    for model, rows in frame.groupby("model", observed=True):
        if twins.is_twin(rows["id"]).any() and not twins.is_twin(rows["id"]).all():
            why = explained[str(model)] = twins.explain_failures(rows)
            by_load.append(twins.effects_by_load(rows, loads).assign(model=model))
            examples[str(model)] = show_cure(rows, why, analysis)
            caption = f"Puzzles that {model} solves after one change, with 95 % intervals. "
            caption += REMOVES[twins.AGAIN in {*why.effects["change"]}]
            drawings[f"{analysis.prefix}why_{name_file(len(explained), str(model))}"] = (
                caption, partial(draw_effects, why.effects),
            )  # fmt: skip
    if not explained:
        return findings
    pictures = draw_all(drawings)
    effects = [why.effects.assign(model=model) for model, why in explained.items()]
    sections = [
        {"name": model, "sentences": why.verdict, "picture": picture, "examples": examples[model]}
        for (model, why), picture in zip(explained.items(), pictures.values(), strict=True)
    ]
    tables = [
        spec.table(data, prefix=analysis.prefix)
        for spec, parts in zip(TABLES.values(), (effects, by_load), strict=True)
        if len(data := pd.concat(parts, ignore_index=True))
    ]
    return replace(
        findings,
        tables=[*findings.tables, *tables],
        pictures={**findings.pictures, **pictures},
        verdicts=[_add_cause(verdict, explained) for verdict in findings.verdicts],
        sections={**findings.sections, "why": sections},
    )


def _add_cause(verdict: Verdict, explained: dict[str, Why]) -> Verdict:
    model, _, suite = verdict.name.rpartition(", ")
    why = explained.get(model if suite.endswith(" suite") else verdict.name)
    return replace(verdict, breaks=add_cause(verdict.breaks, why)) if why else verdict


def draw_effects(effects: pd.DataFrame) -> Figure:
    """Draw how many puzzles are solved after each change: of failures, and of solved ones."""
    rows = effects[effects["against"] != twins.TAIL]
    changes = list(dict.fromkeys(rows["change"]))
    series = []
    for of, mine in rows.groupby("of"):
        right = mine["turned"] if of == twins.FAILED else mine["puzzles"] - mine["turned"]
        low, high = wilson_interval(right, mine["puzzles"])
        shift = -0.06 if of == twins.FAILED else 0.06  # the two intervals of a change stand apart
        places = mine["change"].map(changes.index) + shift
        share = right / mine["puzzles"]
        series.append(Series(f"{of} before", places, share, low, high, joined=False))

    def name_changes(axes: Axes) -> None:
        axes.set_xticks(range(len(changes)), changes)
        axes.set(xlim=(-0.5, len(changes) - 0.5), ylim=(-0.03, 1.03))

    return draw_panels([Panel(series, "Change", "Solved", finish=name_changes)], height=2.4)


def show_cure(rows: pd.DataFrame, why: Why, analysis: Analysis) -> list[Example]:
    """Return the easiest failure that the telling change cures, and its twin; or nothing."""
    ids = pd.DataFrame(map(twins.split_id, rows["id"].astype(str)), rows.index, ["base", "change"])
    cured = rows.join(ids)[ids["base"].isin(why.cures.get(why.telling, ()))]
    if cured.empty:
        return []
    cured = cured.sort_values(list(analysis.growth), kind="stable")
    pair = cured[cured["base"] == cured["base"].iloc[0]].drop_duplicates("change")
    shown = pair.set_index("change").loc[[ORIGINAL, why.telling]]
    return [describe_response(row, analysis) for row in shown.itertuples()]

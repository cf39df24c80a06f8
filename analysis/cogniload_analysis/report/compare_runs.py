"""`cogniload compare`: from results folders to their runs side by side."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_analysis import analyses
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.compare.differences import Comparison, compare_pairs_of_models
from cogniload_analysis.compare.repair_effects import explain_repairs, is_repair
from cogniload_analysis.compare.why import drop_twins, explain_failures, is_twin
from cogniload_analysis.display.tables import to_csv
from cogniload_analysis.frame import adaptive_models, check_columns
from cogniload_analysis.matters import is_at_chance
from cogniload_analysis.report.why import say_causes
from cogniload_analysis.report.write import write_files
from cogniload_analysis.samples.read import Paths, label_paths, read_benchmarks
from cogniload_analysis.words import say
from cogniload_gen.answers.files import find_samples


def compare_runs(frame: pd.DataFrame) -> Comparison:
    """Compare every pair of models, or runs, in a frame of responses.

    `frame` is one of `read_samples` or `read_factor_samples`: one row per response, and columns
    model (the name of a run), id, the benchmark's loads and correct. Runs that answered the same
    puzzles are compared puzzle by puzzle; others are unpaired, at the loads that both have. Returns
    a `Comparison`, in which `p_holm` is p after Holm's correction over all pairs. Raises ValueError
    for fewer than two runs, a missing column, or runs that have nothing in common.

    >>> loads = {"id": ["p", "q"] * 2, "d": 1, "N": 5, "rho": 0.5, "correct": [1, 1, 0, 1]}
    >>> compared = compare_runs(pd.DataFrame({"model": ["a", "a", "b", "b"], **loads}))
    >>> compared.overall[["difference", "only_first"]].to_dict("records")
    [{'difference': 0.5, 'only_first': 1}]
    """
    analysis = _find_analysis(frame)
    check_columns(frame, ("model", "id", "correct"), "model, id, the loads and correct")
    models = [str(model) for model in frame["model"].unique()]
    if len(models) < 2:
        raise ValueError(
            f"a comparison is of two or more runs, and the frame holds {len(models)}: "
            f"{', '.join(models) or 'no responses'}"
        )
    comparison = compare_pairs_of_models(frame, analysis, [*combinations(models, 2)])
    if comparison.accuracy.empty and comparison.measures.empty:
        raise ValueError(f"{' and '.join(models)} have no puzzle and no loads in common")
    return comparison


def compare_results(results: Paths, out: Path | None = None, *, force: bool = False) -> str:
    """Compare results folders, write the tables to `out`, and return what was found as text.

    `results` are paths as for `read_benchmarks`; labels name their runs. Raises ValueError and
    FileNotFoundError as `read_benchmarks` and `compare_runs`, FileExistsError for a table that
    exists, unless `force`.
    """
    texts, files = [], {}
    read = read_benchmarks(results, analyses.COMPARED)
    for analysis in analyses.COMPARED:
        if analysis.name not in read:
            continue
        everything = _sort_runs(read[analysis.name], results)
        frame = drop_twins(everything)
        if frame["model"].nunique() < 2:
            continue
        comparison = compare_runs(frame)
        heading = f"{analysis.name}\n{'=' * len(analysis.name)}\n"
        at_chance = "".join(
            f"{model} is at chance: it solves no more puzzles than guesses would.\n"
            for model, rows in frame.groupby("model", observed=True)
            if is_at_chance(rows, analysis.loads)
        )
        texts.append(f"{heading}\n{at_chance}{comparison.summary()}")
        texts += [say("compare_adaptive")] * bool(adaptive_models(frame))
        causes = say_causes(everything)
        texts += ["\n".join(["Why they fail, by their twins:", *causes])] * bool(causes)
        for table in comparison.tables(analysis.prefix):
            files[f"{table.name}.csv"] = to_csv(table.data)
    if not texts:
        searched = ", ".join(str(path) for _, path in label_paths(results))
        found = "one" if len(read) < 2 else f"one each of {' and '.join(read)}"
        apart = "" if len(read) > 1 else "tell runs of one model apart by LABEL=DIR; "
        raise ValueError(
            f"need at least two runs of one benchmark, found {found} in {searched}: {apart}twins "
            "of puzzles don't count"
        )
    if out is not None:
        write_files(out, files, force=force)
        texts.append(f"tables   {out}")
    return "\n\n".join(texts)


def _find_analysis(frame: pd.DataFrame) -> Analysis:
    for analysis in analyses.COMPARED:
        if {load.name for load in analysis.loads} <= set(frame):
            return analysis
    known = "; or ".join(", ".join(load.name for load in each.loads) for each in analyses.COMPARED)
    raise ValueError(f"the frame must have the loads of a benchmark ({known}), got {[*frame]}")


def _sort_runs(frame: pd.DataFrame, results: Paths) -> pd.DataFrame:
    """Return a frame with the runs in the order of the paths that hold them."""
    places = {
        str(file): place
        for place, (_, path) in reversed([*enumerate(label_paths(results))])
        for file in find_samples(path)
    }
    found = frame["file"].astype(str).map(places)
    first = found.groupby(frame["model"], observed=True).transform("min")
    return frame.iloc[np.argsort(first, kind="stable")].reset_index(drop=True)


def explain_results(results: Paths) -> list[str]:
    """Return what the twins and the repairs in the results of one model say of its failures.

    Raises ValueError and FileNotFoundError as `read_benchmarks` and `explain_failures`.
    """
    frames = read_benchmarks(results, analyses.COMPARED).values()
    # The runs of the puzzles and of the twins have names of their own.
    changed = [frame.drop(columns="model") for frame in frames if is_twin(frame["id"]).any()]
    frame = pd.concat(changed or [*frames], ignore_index=True)
    others, repair = frame[~is_repair(frame["id"])], explain_repairs(frame)
    if not repair:
        return explain_failures(others).verdict
    if not is_twin(others["id"]).any():
        return repair.verdict
    why = explain_failures(others)
    disagree = [
        f"Twins say {twins}, repairs {repairs}: they disagree."
        for twins, repairs in (("luck", "inability"), ("step", "chance"))
        if twins in why.causes and repairs in repair.causes
    ]
    return [*why.verdict, *repair.verdict, *disagree]

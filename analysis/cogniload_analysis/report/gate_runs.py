"""`cogniload gate`: from two runs' answers to the verdict, the flips, and the files for a CI."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from xml.etree import ElementTree

import pandas as pd

from cogniload_analysis import analyses
from cogniload_analysis.compare.differences import name_puzzles
from cogniload_analysis.compare.gate import Gate, gate
from cogniload_analysis.compare.why import drop_twins
from cogniload_analysis.samples.read import OnePath, read_benchmarks
from cogniload_gen.files import show_controls, whole_file

SIDES = ["base", "new"]

Rows: TypeAlias = Sequence[Mapping[Any, Any]]


class Judged(NamedTuple):
    """A verdict, and what is behind it.

    `flips` are the puzzles that one run solves more often: id, both shares, and the first response
    of both. `runs` say of each side its model and the tokens of prompts and of responses, and what
    they cost if that is known; `seconds` are those that this verdict took.
    """

    gate: Gate
    flips: Rows
    runs: Rows
    seconds: float


def gate_results(base: OnePath, new: OnePath, margin: float) -> Judged:
    """Return the verdict on a new run beside a base.

    Each is a results folder, a samples file, or logs of Inspect, of one run of one benchmark. Twins
    don't count. ValueError for several runs on a side, for two benchmarks, and as `gate` and
    `read_benchmarks` raise.
    """
    began = time.monotonic()
    read = read_benchmarks({"base": base, "new": new}, analyses.ANALYSES, text=True)
    frames = [drop_twins(frame) for frame in read.values()]
    runs = [str(run) for frame in frames for run in frame["model"].unique()]
    if len(frames) != 1 or sorted(run.partition(",")[0] for run in runs) != SIDES:
        got = f"{', '.join(runs) or 'none'} of {', '.join(read)} (twins of puzzles don't count)"
        raise ValueError(f"a gate takes two runs of one benchmark, base and new; got {got}")
    frame = frames[0]
    ids, sides = name_puzzles(frame), frame["model"].astype(str).str.partition(",")[0]
    of_side = frame.groupby([ids, sides], sort=False)
    shares, responses = of_side["correct"].mean().unstack(), of_side["response"].first().unstack()
    shares = shares.reindex(ids.unique())[SIDES]  # as they were asked
    table = shares.join(responses.add_suffix("_response")).rename_axis("id").reset_index()
    if shares.dropna().empty:
        raise ValueError("a gate compares answers to the same puzzles: these runs share none")
    runs_of = frame.assign(side=sides).groupby(["side", "run"])["lost"].first()
    nobody = runs_of.groupby("side").sum() - shares.isna().sum()  # which no run has an answer to
    lost = pd.DataFrame(math.nan, range(max(0, *nobody)), SIDES)
    spent = frame.groupby(sides)[["spent_prompt_tokens", "spent_response_tokens"]].sum(min_count=1)
    models = frame.groupby(sides)["base_model"].first()
    known = spent.astype(object).where(spent.notna(), None).assign(model=models)
    about = known.rename_axis("side").loc[SIDES].reset_index().to_dict("records")
    once = not frame["interim"].astype(bool).any()  # of a run that goes on, there are more looks
    found, flips = gate(pd.concat([shares, lost]), margin, once=once), find_flips(table)
    return Judged(found, flips, about, round(time.monotonic() - began, 1))


def find_flips(table: pd.DataFrame) -> Rows:
    """Return the rows of puzzles that base and new solve differently often, base alone first."""
    apart = (table["new"] - table["base"]).sort_values(kind="stable")
    return table.loc[apart.index[apart.abs() > 0]].to_dict("records")


def write_verdict(
    json_file: Path | None, junit_file: Path | None, judged: Judged | None = None
) -> None:
    """Write a verdict as JSON, and as a JUnit file of one test, over what was there.

    The test fails unless the verdict is "no worse". Without a verdict, the files say that there is
    none: so none of an earlier command outlives one that breaks.
    """
    name, kind, lines = "verdict", "error", ""
    why = "no verdict: the command is still running, or it broke"
    about: dict[str, Any] = {"verdict": None, "exit_code": 2, "error": why}
    if judged:
        found, flips = judged.gate, judged.flips
        about = asdict(found) | {"exit_code": found.exit_code}
        about |= {"seconds": judged.seconds, "runs": judged.runs, "flips": flips}
        name, kind = f"no worse by more than {found.margin:g} points", "failure"
        why = found.lines[0] if found.exit_code else ""
        listed = [f"{flip['id']}: base {flip['base']:g}, new {flip['new']:g}" for flip in flips]
        lines = show_controls("\n".join([*found.lines, *listed]))
    if json_file:
        with whole_file(json_file, force=True) as part:
            part.write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    if junit_file:
        counts = {"name": "cogniload gate", "tests": "1", f"{kind}s": str(int(why != ""))}
        suite = ElementTree.Element("testsuite", counts)
        case = ElementTree.SubElement(suite, "testcase", classname="cogniload.gate", name=name)
        if why:
            ElementTree.SubElement(case, kind, message=why)
        if lines:
            ElementTree.SubElement(case, "system-out").text = lines
        with whole_file(junit_file, force=True) as part:
            ElementTree.ElementTree(suite).write(part, "utf-8", xml_declaration=True)

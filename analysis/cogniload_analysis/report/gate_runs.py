"""`cogniload gate`: from two runs' answers to the verdict, the flips, and the files for a CI."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from cogniload_analysis import analyses
from cogniload_analysis.compare.differences import name_puzzles
from cogniload_analysis.compare.gate import UNDECIDED, WORSE, Gate, gate
from cogniload_analysis.compare.why import drop_twins
from cogniload_analysis.samples.read import OnePath, read_benchmarks
from cogniload_gen.files import whole_file

SIDES = ["base", "new"]

Flips = Sequence[Mapping[Any, Any]]
"""Puzzles that one run solves more often: id, both shares, and the first response of both."""


def gate_results(base: OnePath, new: OnePath, margin: float) -> tuple[Gate, Flips]:
    """Return the verdict on a new run beside a base, and the flips.

    Each is a results folder, a samples file, or logs of Inspect, of one run of one benchmark. Twins
    don't count. ValueError for several runs on a side, for two benchmarks, and as `gate` and
    `read_benchmarks` raise.
    """
    read = read_benchmarks({"base": base, "new": new}, analyses.ANALYSES, text=True)
    frames = [drop_twins(frame) for frame in read.values()]
    runs = [str(run) for frame in frames for run in frame["model"].unique()]
    if len(frames) != 1 or sorted(run.partition(",")[0] for run in runs) != SIDES:
        got = f"{', '.join(runs)} of {', '.join(read)}"
        raise ValueError(f"a gate takes two runs of one benchmark, base and new; got {got}")
    frame = frames[0].assign(
        id=name_puzzles(frames[0]),
        side=frames[0]["model"].astype(str).str.partition(",")[0],
        correct=frames[0]["correct"].astype(float),
    )
    of_side = frame.groupby(["id", "side"], sort=False)
    shares, responses = of_side["correct"].mean().unstack(), of_side["response"].first().unstack()
    shares = shares.reindex(frame["id"].unique())[SIDES]  # as they were asked
    table = shares.join(responses.add_suffix("_response")).rename_axis("id").reset_index()
    return gate(shares, margin), find_flips(table)


def find_flips(table: pd.DataFrame) -> Flips:
    """Return the rows of puzzles that base and new solve differently often, base alone first."""
    apart = (table["new"] - table["base"]).sort_values(kind="stable")
    return table.loc[apart.index[apart.abs() > 0]].to_dict("records")


def write_json(out: Path, found: Gate, flips: Flips) -> None:
    """Write a verdict and its flips as JSON, in place of what was there."""
    about = asdict(found) | {"exit_code": found.exit_code, "flips": flips}
    with whole_file(out, force=True) as part:
        part.write_text(json.dumps(about, indent=2) + "\n", "utf-8")


def write_junit(out: Path, found: Gate, flips: Flips) -> None:
    """Write a verdict as a JUnit file of one test: worse is a failure, undecided an error."""
    ends = {WORSE: "failure", UNDECIDED: "error"}
    counts = {f"{end}s": str(int(ends.get(found.verdict) == end)) for end in ends.values()}
    suite = ElementTree.Element("testsuite", {"name": "cogniload gate", "tests": "1"} | counts)
    name = f"no worse by more than {found.margin:g} points"
    case = ElementTree.SubElement(suite, "testcase", classname="cogniload.gate", name=name)
    if end := ends.get(found.verdict):
        ElementTree.SubElement(case, end, message=found.lines[0])
    listed = [f"{flip['id']}: base {flip['base']:g}, new {flip['new']:g}" for flip in flips]
    ElementTree.SubElement(case, "system-out").text = "\n".join([*found.lines, *listed])
    with whole_file(out, force=True) as part:
        ElementTree.ElementTree(suite).write(part, "utf-8", xml_declaration=True)

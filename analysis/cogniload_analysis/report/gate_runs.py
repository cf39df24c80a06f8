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
from cogniload_analysis.compare.gate import FLIP, NO_WORSE, Gate, gate
from cogniload_analysis.compare.why import drop_twins
from cogniload_analysis.samples.read import OnePath, read_benchmarks
from cogniload_gen.files import show_controls, whole_file

SIDES = ["base", "new"]

Rows: TypeAlias = Sequence[Mapping[Any, Any]]


class Verdict(NamedTuple):
    """What a command prints and writes.

    The first of its `lines` is the verdict. `passes` says what holds if the exit code is 0, `held`
    is all that is known, for JSON, and `flips` are the puzzles that one side alone solves.
    """

    exit_code: int
    passes: str
    lines: list[str]
    held: dict[str, Any]
    flips: Rows = ()


class Judged(NamedTuple):
    """A verdict, and what is behind it.

    `flips` are the puzzles that one run alone solves: id, both shares, and the first response of
    both. `runs` say of each side its model and the tokens of prompts and of responses, and what
    they cost if that is known; `seconds` are those that this verdict took.
    """

    gate: Gate
    flips: Rows
    runs: Rows
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """What is printed and written."""
        found = self.gate
        passes = f"{NO_WORSE} by more than {found.margin:g} points"
        about = {"seconds": self.seconds, "runs": self.runs, "flips": self.flips}
        held = asdict(found) | {"exit_code": found.exit_code, **about}
        return Verdict(found.exit_code, passes, found.lines, held, self.flips)


# The codes of gates, from the best one.
_BEST_FIRST = (0, 5, 4, 3, 1)


def choose_candidate(judged: Mapping[tuple[str, str], Judged]) -> Verdict:
    """Return which of several candidates passes and solves most beside the base.

    `judged` has the verdict on each candidate and benchmark. A candidate passes if it does so on
    all benchmarks; its code is that of its worst one, and the exit code that of the best candidate.
    """
    codes, apart, gates, lines = dict[str, int](), dict[str, float](), [], []
    for (name, benchmark), each in judged.items():
        codes[name] = max(codes.get(name, 0), each.gate.exit_code, key=_BEST_FIRST.index)
        apart[name] = apart.get(name, 0.0) + each.gate.new - each.gate.base
        gates.append({"run": name, "benchmark": benchmark} | each.verdict.held)
        lines += ["", f"{name}, {benchmark}", *each.gate.lines]
        passes = f"a candidate is {each.verdict.passes}"
    passing = [name for name, code in codes.items() if code == 0]
    best = max(passing, key=apart.__getitem__, default="")
    code = min(codes.values(), key=_BEST_FIRST.index)
    lines = [f"best        {best or 'none: no candidate is shown to pass'}", *lines]
    return Verdict(code, passes, lines, {"best": best, "exit_code": code, "gates": gates})


def gate_results(
    base: OnePath, new: Sequence[OnePath], margin: float
) -> dict[tuple[str, str], Judged]:
    """Return the verdict on each new run beside a base, by its path and benchmark.

    Each is a results folder, a samples file, or logs of Inspect, of one run of a benchmark. Twins
    don't count. ValueError for several runs on a side, for a benchmark that one side lacks, and as
    `gate` and `read_benchmarks` raise.
    """
    began, frames = time.monotonic(), {}
    for path in new:
        read = read_benchmarks({"base": base, "new": path}, analyses.COMPARED, text=True)
        for name, frame in read.items():
            frames[str(path), name] = kept = drop_twins(frame)
            runs = [str(run) for run in kept["model"].unique()]
            if sorted(run.partition(",")[0] for run in runs) != SIDES:
                got = f"{', '.join(runs) or 'none'} of {name} (twins of puzzles don't count)"
                raise ValueError(f"a gate takes two runs of a benchmark, base and new; got {got}")
    judged = {}
    for names, frame in frames.items():
        judged[names] = _judge(frame, margin, len(frames), began)
        began = time.monotonic()
    return judged


def _judge(frame: pd.DataFrame, margin: float, among: int, began: float) -> Judged:
    """Return the verdict on the runs of a frame, the clock having begun then."""
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
    found = gate(pd.concat([shares, lost]), margin, once=once, among=among)
    return Judged(found, find_flips(table), about, round(time.monotonic() - began, 1))


def find_flips(table: pd.DataFrame) -> Rows:
    """Return the rows of puzzles whose shares differ by more than FLIP, base alone first."""
    apart = (table["new"] - table["base"]).sort_values(kind="stable")
    return table.loc[apart.index[apart.abs() > FLIP]].to_dict("records")


def write_verdict(
    json_file: Path | None, junit_file: Path | None, found: Verdict | None = None
) -> None:
    """Write a verdict as JSON, and as a JUnit file of one test, over what was there.

    The test fails unless it passes. Without a verdict, the files say that there is none: so none of
    an earlier command outlives one that breaks.
    """
    name, kind, lines = "verdict", "error", ""
    why = "no verdict: the command is still running, or it broke"
    held: dict[str, Any] = {"verdict": None, "exit_code": 2, "error": why}
    if found:
        held, name, kind = found.held, found.passes, "failure"
        why = found.lines[0] if found.exit_code else ""
        listed = [f"{it['id']}: base {it['base']:g}, new {it['new']:g}" for it in found.flips]
        lines = show_controls("\n".join([*found.lines, *listed]))
    if json_file:
        with whole_file(json_file, force=True) as part:
            part.write_text(json.dumps(held, indent=2) + "\n", "utf-8")
    if junit_file:
        counts = {"name": "cogniload", "tests": "1", f"{kind}s": str(int(why != ""))}
        suite = ElementTree.Element("testsuite", counts)
        case = ElementTree.SubElement(suite, "testcase", classname="cogniload", name=name)
        if why:
            ElementTree.SubElement(case, kind, message=why)
        if lines:
            ElementTree.SubElement(case, "system-out").text = lines
        with whole_file(junit_file, force=True) as part:
            ElementTree.ElementTree(suite).write(part, "utf-8", xml_declaration=True)

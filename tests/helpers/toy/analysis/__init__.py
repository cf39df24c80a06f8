"""The toy's analysis: a table of accuracy."""

from functools import partial

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.display.content import Findings, Table
from cogniload_analysis.display.print import accuracy_table, format_accuracy
from cogniload_analysis.load import Load
from toy.gen import TOY as BENCHMARK

LOADS = (Load("n", "Numbers"),)


def report(frame):
    """Return the toy's part of the report."""
    shown = partial(format_accuracy, loads=LOADS)
    return Findings([Table("toy_accuracy", "Accuracy.", accuracy_table(frame, "n"), shown)], {}, [])


TOY = Analysis(
    name="Toy",
    prefix="toy_",
    tasks=("toy",),
    benchmarks=(BENCHMARK,),
    loads=LOADS,
    read_loads=lambda puzzle: (puzzle["n"],),
    describe_load=lambda row: f"n = {row.n}",
    report=report,
    package="toy.analysis",
)

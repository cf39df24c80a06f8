"""The toy's analysis: a table of accuracy."""

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.display.content import Findings
from cogniload_analysis.display.print import accuracy_columns, accuracy_table
from cogniload_analysis.display.tables import TableSpec
from cogniload_analysis.load import Load
from toy.gen import TOY as BENCHMARK

LOADS = (Load("n", "Numbers"),)
ACCURACY = TableSpec("toy_accuracy", "Accuracy.", accuracy_columns(LOADS), "results")


def report(frame):
    """Return the toy's part of the report."""
    return Findings([ACCURACY.table(accuracy_table(frame, "n"))], {}, [])


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

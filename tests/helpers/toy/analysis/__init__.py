"""The toy's analysis: a table of accuracy."""

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.display.content import Findings
from cogniload_analysis.display.print import accuracy_columns, accuracy_table
from cogniload_analysis.display.tables import TableSpec
from cogniload_analysis.frame import Load
from toy.gen import TOY as BENCHMARK

LOADS = (Load("n", "Numbers"),)
ACCURACY = TableSpec("toy_accuracy", "Accuracy.", accuracy_columns(LOADS), "results")


class ToyAnalysis(Analysis):
    """Accuracy by how many numbers are added."""

    name = "Toy"
    prefix = "toy_"
    tasks = ("toy",)
    benchmarks = (BENCHMARK,)
    loads = LOADS
    package = "toy.analysis"

    def read_loads(self, puzzle):
        """Return how many numbers a sum has."""
        return (puzzle["n"],)

    def describe_load(self, row):
        """Return a response's load in words."""
        return f"n = {row.n}"

    def report(self, frame):
        """Return the toy's part of the report."""
        return Findings([ACCURACY.table(accuracy_table(frame, "n"))], {}, [])


TOY = ToyAnalysis()

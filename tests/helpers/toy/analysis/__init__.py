"""The toy's analysis: a table of accuracy."""

from functools import partial

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.display.content import Findings, Table
from cogniload_analysis.display.print import accuracy_table, format_accuracy
from cogniload_analysis.load import Load
from toy.gen import TOY as BENCHMARK

LOADS = (Load("n", "Numbers"),)


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
        shown = partial(format_accuracy, loads=LOADS)
        table = Table("toy_accuracy", "Accuracy.", accuracy_table(frame, "n"), shown)
        return Findings([table], {}, [])


TOY = ToyAnalysis()

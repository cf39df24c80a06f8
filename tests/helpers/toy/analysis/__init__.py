"""The toy's analysis: a table of accuracy."""

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.display.page import Findings, Section
from cogniload_analysis.display.tables import Table, accuracy_table, percent
from cogniload_analysis.frame import Load
from toy.gen import TOY as BENCHMARK

LOADS = (Load("n", "Numbers"),)


class ToyAnalysis(Analysis):
    """Accuracy by how many numbers are added."""

    name = "Toy"
    prefix = "toy_"
    tasks = ("toy",)
    benchmarks = (BENCHMARK,)
    loads = LOADS

    def read_loads(self, puzzle):
        """Return how many numbers a sum has."""
        return (puzzle["n"],)

    def report(self, frame, causes):
        """Return the toy's part of the report."""
        data = accuracy_table(frame, "n")
        columns = {"model": "Model", "n": "Numbers", "accuracy": ("Acc [%]", percent)}
        table = Table("toy_accuracy", data, "Accuracy.", columns)
        return Findings([Section("Accuracy", [table], "accuracy", link="Accuracy")])


TOY = ToyAnalysis()

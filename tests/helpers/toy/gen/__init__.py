"""The toy as a benchmark."""

from importlib.resources import files

from cogniload_gen.benchmark import Benchmark, Knob
from toy.gen import engine


class Toy(Benchmark):
    """Sums of a few numbers."""

    name = "toy"
    title = "Toy"
    dataset = "toy"
    cell = engine.ToyCell
    knobs = (Knob("n", "integer", "how many numbers are added", (2, 3), 1, 9),)
    num_puzzles = 5
    outcomes = engine.ToyOutcome
    about = files(__package__)
    source = staticmethod(engine.source)
    solve = staticmethod(engine.solve)

    def owns_text(self, text):
        """Return whether a text is a sum."""
        return text.startswith("Add ")

    def owns_row(self, row):
        """Return whether a row says how many numbers are added."""
        return "n" in row

    def score(self, response, row, **counts):
        """Return the score of the last number of a response."""
        return engine.score(response, row)


TOY = Toy()

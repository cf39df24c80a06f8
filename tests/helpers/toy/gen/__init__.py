"""The toy's record."""

from importlib.resources import files

from cogniload_gen.benchmark import Benchmark, Knob
from toy.gen.engine import ToyCell, ToyOutcome, score, solve, source

TOY = Benchmark(
    name="toy",
    title="Toy",
    dataset="toy",
    cell=ToyCell,
    knobs=(Knob("n", "integer", "how many numbers are added", (2, 3), 1, 9),),
    num_puzzles=5,
    make_source=source,
    owns_text=lambda text: text.startswith("Add "),
    solve=solve,
    owns_row=lambda row: "n" in row,
    score=score,
    outcomes=ToyOutcome,
    about=files(__package__),
)

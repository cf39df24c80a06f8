"""CogniLoad: logic puzzles with three independent loads, and the record of the benchmark."""

from collections.abc import Sequence
from importlib.resources import files

import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.benchmark import Benchmark, Rules
from cogniload_gen.cogniload.generate import cogniload_source
from cogniload_gen.cogniload.knobs import KNOBS, TRACE, Cell
from cogniload_gen.cogniload.ontology import CATEGORIES
from cogniload_gen.cogniload.rewards import answer_reward, step_reward
from cogniload_gen.cogniload.score import Outcome, score_row
from cogniload_gen.cogniload.solve import is_cogniload, solve
from cogniload_gen.cogniload.steps.rules import ERRORS, read_steps
from cogniload_gen.version import GENERATOR_VERSION


def rules(puzzles: pa.Table) -> Rules:
    """Return what must hold of published puzzles."""
    options = puzzles["options"].to_pylist()
    answers = zip(puzzles["answer"].to_pylist(), options, strict=True)
    return {
        "d": (pc.greater_equal(puzzles["d"], 1), "at least 1"),
        "N": (pc.greater_equal(puzzles["N"], 1), "at least 1"),
        "rho": (
            pc.and_(pc.greater(puzzles["rho"], 0), pc.less_equal(puzzles["rho"], 100)),
            "a percentage above 0 and up to 100",
        ),
        "category": (
            pc.is_in(puzzles["category"], pa.array(CATEGORIES)),
            f"one of {', '.join(CATEGORIES)}",
        ),
        "options": (pa.array([None not in of_row for of_row in options], pa.bool_()), "texts"),
        "answer": (
            pa.array([answer in of_row for answer, of_row in answers], pa.bool_()),
            "one of the row's options",
        ),
    }


BENCHMARK = Benchmark(
    name="cogniload",
    title="CogniLoad",
    dataset="cogniload",
    cell=Cell,
    knobs=KNOBS,
    version=GENERATOR_VERSION,
    options=(TRACE,),
    make_source=cogniload_source,
    owns_text=is_cogniload,
    solve=solve,
    owns_row=lambda row: not row.get("suite") and ("poi" in row or "rho" in row),
    score=score_row,
    outcomes=Outcome,
    answer_reward=answer_reward,
    step_reward=step_reward,
    read_steps=read_steps,
    step_errors=ERRORS,
    body=lambda text: text.partition("\n")[2],  # the first line is the instruction
    needed=("category", "poi", "options"),
    rules=rules,
    about=files(__package__) / "data",
    endless=True,
)


def generate_puzzles(
    d: int | Sequence[int],
    N: int | Sequence[int],
    rho: float | Sequence[float],
    num_puzzles: int = 100,
    seed: int = 42,
    split: str = "test",
    trace: bool = False,
    first_index: int = 0,
) -> pa.Table:
    """Return CogniLoad puzzles as a table, a pure function of the arguments (sections 2.1 and 2.2).

    d, N and rho are each a number or a sequence of different numbers; their product is the grid.
    Every cell of it gets `num_puzzles` puzzles of indices `first_index`, `first_index` + 1, ...
    Rows are interleaved over the cells: first one puzzle of every cell, then the second. `split` is
    "train", "validation" or "test"; no two splits, seeds or cells share any draws. `trace` adds the
    columns of `TRACE_SCHEMA`: domains, initial state, statements and the PoI's states.

    Raises ValueError naming the parameter, what it got and what it takes.
    """
    selection = BENCHMARK.select(
        d=d, N=N, rho=rho, num_puzzles=num_puzzles, seed=seed, split=split, first_index=first_index
    )
    return pa.concat_tables(BENCHMARK.source(selection, trace=trace).tables())

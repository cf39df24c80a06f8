"""FACTOR: variables that define each other, within text of any length, and its suites' records."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.benchmark import Benchmark, Dataset, Rules
from cogniload_gen.factor.baselines import REALISTIC_BASELINES, SYMBOLIC_BASELINES
from cogniload_gen.factor.first_error import ERRORS, read_factor_steps
from cogniload_gen.factor.generate import realistic_source, symbolic_source
from cogniload_gen.factor.knobs import (
    NOISES,
    REALISTIC_KNOBS,
    REALISTIC_VERSION,
    SYMBOLIC_KNOBS,
    SYMBOLIC_VERSION,
    TOKENIZER,
    RealisticCell,
    SymbolicCell,
    realistic_cells,
    symbolic_cells,
)
from cogniload_gen.factor.rewards import answer_reward, step_reward
from cogniload_gen.factor.score import FactorOutcome, score_row
from cogniload_gen.factor.solve import (
    REALISTIC_MARK,
    SYMBOLIC_MARK,
    solve_realistic,
    solve_symbolic,
)
from cogniload_gen.factor.training import TRAINING_SETS, select_training_set
from cogniload_gen.tokens import Tokenizer


def rules(puzzles: pa.Table) -> Rules:
    """Return what must hold of published puzzles of either suite."""
    return {"context": (pc.greater_equal(puzzles["context"], 0), "at least 0")}


def symbolic_rules(puzzles: pa.Table) -> Rules:
    """Return what must hold of published puzzles of the symbolic suite."""
    return rules(puzzles) | {
        "suite": (pc.equal(puzzles["suite"], "symbolic"), "symbolic"),
        "N": (pc.greater_equal(puzzles["N"], 1), "at least 1"),
    }


def realistic_rules(puzzles: pa.Table) -> Rules:
    """Return what must hold of published puzzles of the realistic suite."""
    kinds = ("none", *NOISES)
    return rules(puzzles) | {
        "suite": (pc.equal(puzzles["suite"], "realistic"), "realistic"),
        "op": (pc.greater_equal(puzzles["op"], 1), "at least 1"),
        "noise": (pc.is_in(puzzles["noise"], pa.array(kinds)), f"one of {', '.join(kinds)}"),
    }


SYMBOLIC = Benchmark(
    name="factor-symbolic",
    title="FACTOR, symbolic",
    dataset="factor",
    suite="symbolic",
    cell=SymbolicCell,
    knobs=SYMBOLIC_KNOBS,
    version=SYMBOLIC_VERSION,
    options=(TOKENIZER,),
    num_puzzles=50,
    make_cells=symbolic_cells,
    make_source=symbolic_source,
    owns_text=lambda text: SYMBOLIC_MARK in text,
    solve=solve_symbolic,
    owns_row=lambda row: row.get("suite") == "symbolic",
    score=score_row,
    outcomes=FactorOutcome,
    baselines=SYMBOLIC_BASELINES,
    answer_reward=answer_reward,
    step_reward=step_reward,
    read_steps=read_factor_steps,
    step_errors=ERRORS,
    body=lambda text: text.partition("\n\n")[0],  # the instruction is at the end
    needed=("suite", "target"),
    rules=symbolic_rules,
    about=files(__package__) / "data" / "symbolic",
    own_splits=tuple(TRAINING_SETS),
    select_split=select_training_set,
)

REALISTIC = replace(
    SYMBOLIC,
    name="factor-realistic",
    title="FACTOR, realistic",
    suite="realistic",
    cell=RealisticCell,
    knobs=REALISTIC_KNOBS,
    version=REALISTIC_VERSION,
    num_puzzles=1000,
    make_cells=realistic_cells,
    make_source=realistic_source,
    owns_text=lambda text: REALISTIC_MARK in text and SYMBOLIC_MARK not in text,
    solve=solve_realistic,
    baselines=REALISTIC_BASELINES,
    owns_row=lambda row: row.get("suite") == "realistic",
    needed=("suite",),
    rules=realistic_rules,
    about=files(__package__) / "data" / "realistic",
    own_splits=(),
    select_split=None,
)

FACTOR = Dataset("factor", (SYMBOLIC, REALISTIC))


def generate_factor(
    suite: str = "symbolic",
    *,
    N: int | Sequence[int] | None = None,
    op: int | Sequence[int] | None = None,
    context: int | Sequence[int] = 0,
    roots: int | str | Sequence[int | str] | None = None,
    noise: str | Sequence[str] | None = None,
    tokenizer: Tokenizer = None,
    num_puzzles: int | None = None,
    seed: int = 42,
    split: str = "test",
    first_index: int = 0,
) -> pa.Table:
    """Return FACTOR puzzles as a table, a pure function of the arguments (section 3, Appendix A).

    The symbolic suite takes N and roots, the realistic one op and noise; `context` is for both.
    Each is a value or a sequence of different ones, and the grid their product, over whose cells
    the rows are interleaved. None is the paper's: N 1 to 39 with 50 puzzles each, of which any
    number from 1 to N are roots, op 2 to 20 with 1,000 each, close noise.
    `tokenizer` counts the tokens of `context`: a Hugging Face name or folder, a callable text ->
    number of tokens or sequence of them, or None for an estimate. It sizes the filler or the noise,
    and changes nothing else of a puzzle. `split` may also name one of the symbolic suite's training
    sets (Appendix D), which draw N and context.

    Raises ValueError naming the parameter, what it got and what it takes.
    """
    asked: dict[str, Any] = {"suite": suite, "N": N, "op": op, "context": context, "noise": noise}
    asked |= {"roots": roots, "num_puzzles": num_puzzles, "seed": seed, "split": split}
    asked |= {"first_index": first_index, "tokenizer": tokenizer}
    return pa.concat_tables(FACTOR.source(asked).tables())

"""FACTOR: variables that define each other, within text of any length, in two suites."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cogniload_gen.benchmark import Benchmark, Dataset, Row, StepsRead
from cogniload_gen.factor import baselines as factor_baselines
from cogniload_gen.factor import knobs as factor_knobs
from cogniload_gen.factor import solve as factor_solve
from cogniload_gen.factor.rewards import step_reward
from cogniload_gen.factor.score import FactorOutcome, score_row
from cogniload_gen.grid import Grid, Source
from cogniload_gen.transcripts import write_prompts

if TYPE_CHECKING:
    import pyarrow as pa

    from cogniload_gen.tokens import Tokenizer


class _Factor(Benchmark):
    """What the suites share."""

    dataset = "factor"
    options = (factor_knobs.TOKENIZER,)
    outcomes = FactorOutcome
    step_errors = factor_knobs.ERRORS
    score = staticmethod(score_row)
    reward_steps = staticmethod(step_reward)

    def twin_range(self, change: str, cells: tuple[Any, ...]) -> tuple[int, int]:
        """Return the range of the values that may be given: some are left to be computed."""
        return 1, min(cell[0] for cell in cells) - 1

    def owns_row(self, row: Row) -> bool:
        """Return whether a row is of the suite."""
        return bool(row.get("suite") == self.suite)

    def read_steps(self, response: str, row: Row, transcript: object = None) -> StepsRead:
        """Return the first wrong variable.

        ValueError for a row whose retrieved prompt lacks a needed statement: no step can be judged
        by it.
        """
        from cogniload_gen.factor.reading.steps import read_factor_steps
        from cogniload_gen.factor.reading.transcript import judge_transcript

        if row.get("found") != row.get("needed"):
            raise ValueError("the retrieved prompt must hold every statement that the answer needs")
        if transcript is not None:
            return judge_transcript(transcript, response, row)
        return read_factor_steps(response, row)

    def ask_reader(self, text: str, row: Row) -> list[str]:
        """Return the prompts by which a model transcribes a response."""
        from cogniload_gen.factor.reading.steps import problem_of

        names = ", ".join(sorted(problem_of(row).names))
        return write_prompts("factor", text, names=names, question=str(row.get("question") or ""))


class Symbolic(_Factor):
    """Appendix A: assignments of variables, hidden in filler."""

    name = "factor-symbolic"
    title = "FACTOR, symbolic"
    suite = "symbolic"
    cell = factor_knobs.SymbolicCell
    knobs = factor_knobs.SYMBOLIC_KNOBS
    changes = (factor_knobs.SYMBOLIC_TWIN,)
    num_puzzles = 50
    version = factor_knobs.SYMBOLIC_VERSION
    about = files(__package__) / "data" / "symbolic"
    needed = ("suite", "target")
    own_splits = tuple(factor_knobs.TRAINING_SETS)
    baselines = factor_baselines.SYMBOLIC_BASELINES
    solve = staticmethod(factor_solve.solve_symbolic)

    def check_grid(self, grid: Grid) -> None:
        """Raise ValueError for a wrong twin, and for more roots than variables."""
        super().check_grid(grid)
        for cell in grid.cells:
            if isinstance(cell.roots, int) and cell.roots > cell.N:
                raise ValueError(f"roots must be at most N, got {cell.roots} for N = {cell.N}")

    def select_split(self, split: str, **parameters: Any) -> Grid:
        """Return a training set of Appendix D, which draws its knobs."""
        from cogniload_gen.factor.training import select_training_set

        return select_training_set(split, **parameters)

    def source(self, grid: Grid) -> Source:
        """Return the puzzles of a grid; `tokenizer` sizes the filler."""
        from cogniload_gen.factor.symbolic import symbolic_source

        return symbolic_source(grid, **grid.options)

    def owns_text(self, text: str) -> bool:
        """Return whether a text holds an assignment."""
        return factor_solve.SYMBOLIC_MARK in text


class Realistic(_Factor):
    """Section 3.2: problems in words about animals at places."""

    name = "factor-realistic"
    title = "FACTOR, realistic"
    suite = "realistic"
    cell = factor_knobs.RealisticCell
    knobs = factor_knobs.REALISTIC_KNOBS
    changes = (factor_knobs.REALISTIC_TWIN,)
    num_puzzles = 1000
    version = factor_knobs.REALISTIC_VERSION
    about = files(__package__) / "data" / "realistic"
    needed = ("suite",)
    baselines = factor_baselines.REALISTIC_BASELINES
    solve = staticmethod(factor_solve.solve_realistic)

    def cells(self, values: Mapping[str, Any]) -> tuple[factor_knobs.RealisticCell, ...]:
        """Return the product of the knobs' values; without context, there is no noise."""
        return factor_knobs.realistic_cells(values["op"], values["context"], values["noise"])

    def source(self, grid: Grid) -> Source:
        """Return the puzzles of a grid; `tokenizer` sizes the noise."""
        from cogniload_gen.factor.realistic import realistic_source

        return realistic_source(grid, **grid.options)

    def owns_text(self, text: str) -> bool:
        """Return whether a text counts animals, and assigns nothing."""
        return factor_solve.REALISTIC_MARK in text and factor_solve.SYMBOLIC_MARK not in text


SYMBOLIC = Symbolic()
REALISTIC = Realistic()
FACTOR = Dataset("factor", (SYMBOLIC, REALISTIC))


def generate_factor(
    suite: str = "symbolic",
    *,
    N: int | Sequence[int] | None = None,
    op: int | Sequence[int] | None = None,
    context: int | Sequence[int] = 0,
    roots: int | str | Sequence[int | str] | None = None,
    noise: str | Sequence[str] | None = None,
    tokenizer: "Tokenizer" = None,
    num_puzzles: int | None = None,
    seed: int = 42,
    split: str = "test",
    first_index: int = 0,
    twin: str | None = None,
) -> "pa.Table":
    """Return FACTOR puzzles as a table, a pure function of the arguments (section 3, Appendix A).

    The symbolic suite takes N and roots, the realistic one op and noise; `context` is for both.
    Each is a value or a sequence of different ones, and the grid their product, over whose cells
    the rows are interleaved. None is the paper's: N 1 to 39 with 50 puzzles each and
    any number of roots from 1 to N, op 2 to 20 with 1,000 each, close noise.
    `tokenizer` counts the tokens of `context`: a Hugging Face name or folder, a callable text ->
    number of tokens or sequence of them, or None for an estimate. It sizes the filler or the noise,
    and changes nothing else of a puzzle. `split` may also name one of the symbolic suite's training
    sets (Appendix D), which draw N and context. `twin` changes one thing in every puzzle, such as
    "context=0" or "order=solved" (docs/twins.md).

    Raises ValueError naming the parameter, what it got and what it takes.

    Examples:
        >>> row = generate_factor("realistic", op=2, num_puzzles=1).to_pylist()[0]
        >>> print(row["question"], row["answer"])
        How many Tortoise does Rowan Garden have? 43
    """
    knobs = {"N": N, "op": op, "context": context, "roots": roots, "noise": noise}
    draws = {"num_puzzles": num_puzzles, "seed": seed, "split": split, "first_index": first_index}
    puzzles = FACTOR.puzzles(suite=suite, tokenizer=tokenizer, twin=twin, **knobs, **draws)
    return puzzles.table()

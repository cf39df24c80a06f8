"""CogniLoad: logic puzzles with three independent loads, and what it is as a benchmark."""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Unpack

from cogniload_gen.benchmark import Benchmark, Counts, Cut, Row, Score, Turn
from cogniload_gen.cogniload import knobs as loads
from cogniload_gen.cogniload.ontology import STATE, WORDS
from cogniload_gen.cogniload.rewards import answer_reward, state_reward, step_reward
from cogniload_gen.cogniload.score import Outcome, score_row, score_state
from cogniload_gen.cogniload.solve import is_cogniload, solve, solve_steps
from cogniload_gen.grid import ENGLISH, Grid, Source, asks_steps
from cogniload_gen.transcripts import write_prompts

if TYPE_CHECKING:
    import pyarrow as pa

    from cogniload_gen.cogniload.steps.first_error import Steps


class CogniLoad(Benchmark):
    """Logic puzzles about people, of any difficulty, length and distraction."""

    name = "cogniload"
    title = "CogniLoad"
    dataset = "cogniload"
    cell = loads.Cell
    knobs = loads.KNOBS
    changes = (loads.TWIN, loads.LANGUAGE, loads.STEPS)
    options = (loads.TRACE, loads.TRACES)
    version = loads.GENERATOR_VERSION
    about = files(__package__) / "data"
    needed = ("category", "poi", "options")
    endless = True
    outcomes = Outcome
    step_errors = loads.ERRORS
    owns_text = staticmethod(is_cogniload)
    solve = staticmethod(solve)
    reward_steps = staticmethod(step_reward)

    def check_grid(self, grid: Grid) -> None:
        """Raise ValueError for a wrong twin; states and lines are read in English alone."""
        super().check_grid(grid)
        if grid.language != ENGLISH and (grid.twin == "question=state" or grid.steps):
            what = "steps" if grid.steps else "twin question=state"
            raise ValueError(f"{what} is for language en, got {grid.language}")

    def twin_range(self, change: str, cells: tuple[loads.Cell, ...]) -> tuple[int, int]:
        """Return the range of a change's number: after statement T or K, some have another."""
        if change == "hay":
            return 0, loads.MAX_N
        return 1, min(cell.N for cell in cells) - (change in {"from", "reminder"})

    def changes_to_try(self, row: Row, step: int | None = None) -> list[str]:
        """Return the changes that tell the causes apart; the step is a needle if none is known.

        `hay=0` repeats the text of `needles`, which says most about mixed causes; a text of a tenth
        of the statements tells length from luck (docs/twins.md).
        """
        N = int(row["N"])
        if not step or step > N:
            states = [state[row["poi"]] for state in solve_steps(str(row["puzzle"])).states]
            moved = [t for t in range(1, len(states)) if states[t] is not states[t - 1]] or [1]
            step = moved[int(row["index"]) % len(moved)]
        last = [f"from={N - max(1, N // 10)}"] if N > 1 else []
        return ["again", "needles", "hay=0", "tail", *last, f"only={step}"]

    def turns(self, row: Row, k: int, late: bool = False) -> Iterator[Turn]:
        """Yield the turns of a puzzle with the twin question=state, `k` statements each."""
        from cogniload_gen.cogniload.render import turns_of

        return turns_of(row, k, late)

    def judge_summaries(self, row: Row, summaries: Sequence[Row]) -> tuple[list[Any], list[Any]]:
        """Return what summaries of a conversation keep of everyone's state."""
        from cogniload_gen.cogniload.summaries import judge_summaries

        return judge_summaries(row, summaries)

    def source(self, grid: Grid) -> Source:
        """Return the puzzles of a grid; `trace` and `traces` add columns."""
        from cogniload_gen.cogniload.table import cogniload_source

        return cogniload_source(grid, **grid.options)

    def owns_row(self, row: Row) -> bool:
        """Return whether a row has the person of interest or rho, or a puzzle's text."""
        if row.get("suite"):
            return False
        return "poi" in row or "rho" in row or is_cogniload(str(row.get("puzzle") or ""))

    def score(self, response: str, row: Row, **counts: Unpack[Counts]) -> Score:
        """Return a response's score by Appendix D, or that of a question about a whole state."""
        if row.get("category") == STATE:
            return score_state(response, row, **counts)
        return score_row(response, row, **counts)

    def read_steps(self, response: str, row: Row, transcript: object = None) -> "Steps":
        """Return where the reasoning breaks: by a transcript, the lines asked for, or rules."""
        from cogniload_gen.cogniload.steps.first_error import read_steps
        from cogniload_gen.cogniload.steps.judge import judge_transcript, read_lines

        if transcript is None and asks_steps(str(row.get("id"))):
            transcript = read_lines(response) or None
        if transcript is not None:
            return judge_transcript(transcript, response, row)
        return read_steps(response, row)

    def ask_reader(self, text: str, row: Row) -> list[str]:
        """Return the prompts by which a model transcribes a response."""
        solution = solve_steps(row["puzzle"])
        nouns = ", ".join(
            WORDS[name]["noun"] if name in WORDS else name
            for name in solution.states[0][solution.poi]
        )
        facts = {"person": solution.poi, "properties": nouns, "puzzle": row["puzzle"]}
        return write_prompts("cogniload", text, **facts)

    def cut_response(
        self, text: str, row: Row, depth: float | None = None, transcript: object = None
    ) -> list[Cut]:
        """Return a response cut at its first wrong step, or one with a planted error."""
        from cogniload_gen.cogniload.repair import cut_at_error, plant_error

        if depth is None:
            return cut_at_error(text, row, transcript)
        return plant_error(text, row, depth, transcript)

    def reward_answer(self, response: str, row: Row) -> float:
        """Return a trainer's reward for the answer; of a whole state, the share that is right."""
        if row.get("category") == STATE:
            return state_reward(response, row)
        return answer_reward(response, row)


BENCHMARK = CogniLoad()


def generate_puzzles(
    d: int | Sequence[int],
    N: int | Sequence[int],
    rho: float | Sequence[float],
    num_puzzles: int = 100,
    seed: int = 42,
    split: str = "test",
    trace: bool = False,
    first_index: int = 0,
    twin: str | None = None,
    language: str = ENGLISH,
    steps: bool = False,
) -> "pa.Table":
    """Return CogniLoad puzzles as a table, a pure function of the arguments (sections 2.1 and 2.2).

    d, N and rho are each a number or a sequence of different numbers; their product is the grid.
    Every cell of it gets `num_puzzles` puzzles of indices `first_index`, `first_index` + 1, ...
    Rows are interleaved over the cells: first one puzzle of every cell, then the second. `split` is
    "train", "validation" or "test"; no two splits, seeds or cells share any draws. `trace` adds the
    columns of `TRACE_SCHEMA`: domains, initial state, statements and the PoI's states. `twin`
    changes one thing in every puzzle, such as "needles" or "from=50" (docs/twins.md). `language` is
    one of LANGUAGES: the same puzzles in other words. `steps` has them ask for a line a statement,
    which is read exactly (docs/steps.md).

    Raises ValueError naming the parameter, what it got and what it takes.

    Examples:
        >>> table = generate_puzzles(d=[1, 3], N=20, rho=50, num_puzzles=2)
        >>> table["id"].to_pylist()[:2]
        ['cogniload-v1-test-s42-d1-N20-rho50-0', 'cogniload-v1-test-s42-d3-N20-rho50-0']
        >>> table["answer"].to_pylist()
        ['purple', 'pink', 'egg', 'egg']
    """
    draws = {"num_puzzles": num_puzzles, "seed": seed, "split": split, "first_index": first_index}
    changes = {"twin": twin, "language": language, "steps": steps}
    grid = BENCHMARK.select(d=d, N=N, rho=rho, trace=trace, **draws, **changes)
    return BENCHMARK.source(grid).table()

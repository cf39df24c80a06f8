"""All benchmarks, and which of them a row, a text or a call is about."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from reprlib import repr as brief
from typing import Any, Unpack

from cogniload_gen.answers.endings import kind_of
from cogniload_gen.answers.reasoning import split, whole
from cogniload_gen.benchmark import Benchmark, Counts, Dataset, Row, Score, StepsRead
from cogniload_gen.checks import check_choice, check_known
from cogniload_gen.cogniload import BENCHMARK as COGNILOAD
from cogniload_gen.factor import REALISTIC, SYMBOLIC
from cogniload_gen.garbage import uncollected

BENCHMARKS: tuple[Benchmark, ...] = (COGNILOAD, SYMBOLIC, REALISTIC)
"""Every benchmark. A new one is added here, and nowhere else in this package."""


def named(name: str) -> Benchmark:
    """Return the benchmark of a name, as ids begin with; ValueError for another name.

    Examples:
        >>> named("factor-realistic").title
        'FACTOR, realistic'
    """
    by_name = {benchmark.name: benchmark for benchmark in BENCHMARKS}
    return by_name[check_choice("benchmark", name, tuple(by_name))]


def of(row: Row) -> Benchmark:
    """Return the benchmark that a row is a puzzle of; ValueError if there is no such benchmark.

    Examples:
        >>> of({"suite": "symbolic"}).name
        'factor-symbolic'
    """
    if not hasattr(row, "keys"):  # a row of pandas is no Mapping, and has them
        raise ValueError(f"a row must be a mapping of columns to values, got {brief(row)}")
    for benchmark in BENCHMARKS:
        if benchmark.owns_row(row):
            return benchmark
    titles = "; ".join(benchmark.title for benchmark in BENCHMARKS)
    raise ValueError(f"a row must be a puzzle of {titles}; got the columns {list(row)!s:.200}")


def datasets() -> dict[str, Dataset]:
    """Return the datasets that the benchmarks are of, by the name that `load_dataset` takes.

    Examples:
        >>> {name: list(dataset.suites) for name, dataset in datasets().items()}
        {'cogniload': [], 'factor': ['symbolic', 'realistic']}
    """
    names = dict.fromkeys(benchmark.dataset for benchmark in BENCHMARKS)
    return {
        name: Dataset(name, tuple(member for member in BENCHMARKS if member.dataset == name))
        for name in names
    }


def solve(puzzle: str) -> str:
    """Return the answer of a puzzle of any benchmark, from nothing but its text.

    CogniLoad: the person's final value. FACTOR: the variables in order, such as "v0, v12", or
    "none"; or the integer. ValueError, in one line, for a text that is no such puzzle or does not
    determine the answer.

    Examples:
        >>> row = named("factor-symbolic").puzzles(N=6).table().to_pylist()[0]
        >>> solve(row["puzzle"]) == row["answer"]
        True
    """
    if not isinstance(puzzle, str):
        raise ValueError(f"a puzzle must be a text, got {brief(puzzle)}")
    # of a text of no benchmark, the first one's solver says what is wrong
    known = next((one for one in BENCHMARKS if one.owns_text(puzzle)), BENCHMARKS[0])
    return known.solve(puzzle)


def score(
    response: str | None,
    row: Row,
    reasoning: str | None = None,
    *,
    finish_reason: object = None,
    **counts: Unpack[Counts],
) -> Score:
    """Return the score of a response to a puzzle of any benchmark (CogniLoad, Appendix D).

    `row` is the puzzle as `load_dataset` gives it. None is an empty response. What is scored is the
    response: reasoning that stands in it (`<think>`) is left out, as is that which a server keeps
    apart, `reasoning`. `prompt_tokens` and `response_tokens` count against `context_budget`, which
    they share; an unknown count is 0. The default budget is the paper's for CogniLoad, and none for
    FACTOR. A response whose `finish_reason` is a limit, such as "length", was cut off.

    Raises ValueError for a response or a reasoning that is no text, and for a row that is no puzzle
    or lacks a column that its scorer needs.

    Examples:
        >>> row = named("cogniload").puzzles(d=1, N=5, rho=50).table().to_pylist()[0]
        >>> score(f"In the end it is {row['answer']}.", row).explanation
        'the last sentence gives orange'
    """
    _check_response(reasoning)
    check_known(counts, (*Counts.__annotations__, "finish_reason", "reasoning"), "score")
    for name, count in counts.items():
        if not isinstance(count, Real | None) or (count is not None and count < 0):
            raise ValueError(f"{name} must be a number of tokens, got {brief(count)}")
    apart = split(_check_response(response))
    if kind_of(finish_reason) == "cut":  # what was used is all that there was
        used = counts.get("prompt_tokens"), counts.get("response_tokens")
        counts["context_budget"] = sum(count or 0 for count in used)
    scored = of(row).score(apart.response, row, **counts)
    if not scored.evidence or not apart.start:
        return scored
    start, end = scored.evidence
    return replace(scored, evidence=(apart.start + start, apart.start + end))


def read_steps(
    response: str | None,
    row: Row,
    reasoning: str | None = None,
    transcript: Sequence[Any] | None = None,
) -> StepsRead:
    """Read the states that a response reports, and find where they go wrong.

    `row` is the puzzle as `load_dataset` gives it, or one of `cogniload generate --errors`. What is
    read is the `reasoning`, which a server may keep apart, a blank line, and the response: places
    are those in that text. With a `transcript`, the records that a reader model made of that text
    (docs/steps.md), these are judged; without one, rules read the text. CogniLoad: `Steps`,
    statement by statement. FACTOR: `FactorSteps`, variable by variable. Their `read` says whether
    the text could be read at all; if not, they claim nothing. Raises ValueError for a response or a
    reasoning that is no text, a row that is no puzzle, a transcript that is no list, and a
    benchmark without a reader of steps.

    Examples:
        >>> from cogniload_gen.cogniload.traces import clean_trace
        >>> row = named("cogniload").puzzles(d=1, N=9, rho=50).table().to_pylist()[0]
        >>> steps = read_steps(clean_trace(row["puzzle"]), row)
        >>> steps.read, steps.first_error, steps.coverage
        (True, None, 1.0)
    """
    text = whole(_check_response(response), _check_response(reasoning))
    with uncollected():
        return of(row).read_steps(text, row, transcript)


def _check_response(response: str | None) -> str:
    """Return a response's text, which None lacks; ValueError if it is something else."""
    if not isinstance(response, str | None):
        raise ValueError(f"a response must be a text, got {brief(response)}")
    return response or ""

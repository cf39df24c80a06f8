"""Puzzles -> traces in a known style with one planted first error of a known kind and place.

They have ProcessBench's shape: the steps, and the label of the first wrong one. A trace tracks what
its writer takes the PoI's state to be. From the planted error on, that state is wrong, and what
follows is consistent with it: each further statement is applied to the wrong state as it says.

Everything is drawn by address (draws.py): a trace is a function of its puzzle and its key.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cogniload_gen.checks import check_choice
from cogniload_gen.cogniload.knobs import ERRORS
from cogniload_gen.cogniload.ontology import LANGUAGES, WORDS, read_table
from cogniload_gen.cogniload.render import template_of
from cogniload_gen.cogniload.solve import Solution, State, solve_steps
from cogniload_gen.draws import address_key, child
from cogniload_gen.grid import ENGLISH, Batch, Source

DRAWS = 64
"""Words drawn for a trace; a writer that needs more begins again."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A response with a planted first error, or none.

    `steps` are the parts of the response: the initial state, then one for each statement that it
    tells, then the end; `label` is the index of the first wrong part, -1 for none (ProcessBench).
    Of a trace that stops too early every part is right: its label is the index of the part that is
    missing, one past the last.
    `first_error` is the statement at which the tracked state is first wrong and `error` its kind,
    both as in `Steps`; `states` are the tracked states after statements 0 to N.
    """

    response: str
    steps: tuple[str, ...]
    label: int
    first_error: int | None
    error: str | None
    style: str
    states: tuple[State, ...]


# Picks one of some options; IndexError if there are none.
_Pick = Callable[[Sequence[Any]], Any]


def _picks(key: int) -> _Pick:
    """Return random choices by address: the next of a key's children decides."""
    words = child(np.array(key, np.uint64), np.arange(DRAWS, dtype=np.uint64))
    numbers = cycle((words >> np.uint64(32)).tolist())
    return lambda options: options[next(numbers) * len(options) >> 32]


# --- plans: what a trace tells


class _Plan(NamedTuple):
    """The content of a trace: the states and the applied statements as its writer sees them.

    `statements` are those in the trace; `applied[t]` is whether statement t was applied to the PoI;
    `answer` is the value that the trace answers, None if it breaks off.
    """

    first_error: int | None
    states: list[State]
    applied: list[bool]
    statements: list[int]
    answer: str | None


def _make_plan(solution: Solution, error: str | None, pick: _Pick) -> _Plan:
    """Return a plan with a first error of a kind at a place drawn; IndexError if there is none."""
    at: Any = None if error in (None, "answer") else pick(_places(solution, error))
    spoil = partial(_spoil, solution, pick)
    state = solution.states[0][solution.poi]
    states = [spoil(state, list(state), state) if error == "initial" else state]
    applied, statements = [False], list(range(1, len(solution.statements) + 1))
    for t, (needs, gives) in enumerate(solution.statements, 1):
        before, kind = states[-1], error if t == at else None
        match = needs.items() <= before.items()
        match = (match or kind == "intruded") and kind not in ("missed", "skipped")
        after = before | gives if match else before
        if kind == "wrong_value":
            after = spoil(after, [c for c in gives if after[c] != before[c]], before, gives)
        elif kind == "drifted":
            after = spoil(after, [c for c in after if not match or c not in gives], before, gives)
        states.append(after)
        applied.append(match)
    answer = states[-1][solution.category]
    if error == "answer":
        answer = spoil(states[-1], [solution.category], states[-1])[solution.category]
    elif error == "skipped":
        statements.remove(at)
    elif error == "stopped":
        states[at:] = [states[at - 1]] * (len(states) - at)
        return _Plan(at, states, applied, statements[: at - 1], None)
    return _Plan(at, states, applied, statements, answer)


def _places(solution: Solution, error: str | None) -> list[int]:
    """Return the statements at which a first error of a kind may be planted."""
    truth = [people[solution.poi] for people in solution.states]
    steps = range(1, len(truth))
    changes = [t for t in steps if truth[t] != truth[t - 1]]
    if error in ("missed", "wrong_value", "skipped"):
        return changes
    if error == "stopped":
        return [t for t in changes[-1:] if t > 2]
    if error == "intruded":
        others = [t for t in steps if truth[t] is truth[t - 1]]
        return [t for t in others if truth[t] | solution.statements[t - 1][1] != truth[t]]
    return [0] if error == "initial" else list(steps)


def _spoil(
    solution: Solution, pick: _Pick, state: State, categories: Sequence[str], *without: State
) -> State:
    """Return a state with another value of one of the categories, which no `without` has."""
    named = dict.fromkeys((c, part[c]) for part in solution.parts for c in categories if c in part)
    others = [(c, v) for c, v in named if all(v != other.get(c) for other in without)]
    category, value = pick(others)
    return state | {category: value}


# --- styles: the words of a plan

STYLES: dict[str, dict[str, list[str]]] = read_table("planted")
"""The sentences of each style, by what they say (data/planted.toml): `numbered` lines, `thinking`
aloud, a `tutor` who asks, a `table`, check `marks`, and the state of `everyone`."""


def phrases(state: Mapping[str, str]) -> list[str]:
    """Return a state in words: "red hat", "in the park"."""
    return [WORDS[category]["phrase"].format(value) for category, value in state.items()]


def clauses(kind: str, state: Mapping[str, str]) -> str:
    """Return a state, conditions or updates in the puzzle's words: "has red hair and is ..."."""
    return " and ".join(template_of(c, kind).render(value=value) for c, value in state.items())


def _parts(
    plan: _Plan, solution: Solution, sentences: Mapping[str, Sequence[str]], pick: _Pick
) -> Iterator[str]:
    """Yield the parts of a trace up to its answer, each a sentence drawn."""
    poi, head = solution.poi, " | ".join(WORDS[category]["noun"] for category in plan.states[0])
    for t in [0, *plan.statements]:
        needs, gives = solution.statements[t - 1] if t else ({}, {})
        state, before, people = plan.states[t], plan.states[max(0, t - 1)], solution.states[t]
        fits = [plan.applied[t] or before[c] == value for c, value in needs.items()]
        if t and not plan.applied[t] and all(fits):
            fits[-1] = False
        if not t:
            part = "start"
        elif plan.applied[t]:
            part = "applies"
        elif state != before:
            part = "drifts"
        else:
            was = solution.states[t - 1]
            others = any(n != poi and people[n] is not was[n] for n in people)
            part = "others" if others else "nobody"
        yield pick(sentences[part]).format(
            poi=poi, t=t, state=clauses("state", state), list=", ".join(phrases(state)),
            head=f"| {head} |\n|{'---|' * (len(state) + 1)}", cells=" | ".join(state.values()),
            needs=clauses("condition", needs),
            changes=clauses("update", {c: state[c] for c in gives}),
            marks="".join(
                f"- {phrase}: {'✓' if fit else '✗'}\n"
                for phrase, fit in zip(phrases(needs), fits, strict=True)
            ),
            everyone="".join(
                f"- {name}: {', '.join(phrases(own))}\n"
                for name, own in (people | {poi: state}).items()
            ),
        )  # fmt: skip


def write_trace(puzzle: str, key: int, error: str | None = None, style: str | None = None) -> Trace:
    """Return a trace of a CogniLoad puzzle with a planted first error.

    `puzzle` is the puzzle's text, `key` a 64-bit number that decides all draws, `error` one of
    ERRORS, "none", or None for a draw among those that the puzzle has a place for (none among
    them), `style` one of STYLES or None for a draw. Raises ValueError for another kind or style,
    and where the puzzle has no place for the kind.
    """
    solution, pick = solve_steps(puzzle), _picks(key)
    kinds = [*ERRORS, "none"]
    style = pick([*STYLES]) if style is None else check_choice("style", style, [*STYLES])
    kinds = kinds if error is None else [check_choice("error", error, kinds)]
    plan = None
    while plan is None and kinds:
        kind = kinds.pop(kinds.index(pick(kinds)))
        with suppress(IndexError):  # the puzzle has no place for the kind
            plan = _make_plan(solution, None if kind == "none" else kind, pick)
    if plan is None:
        raise ValueError(f"the puzzle has no place for the error {error!r}")
    error = None if kind == "none" else kind
    steps = list(_parts(plan, solution, STYLES[style], pick))
    if plan.answer is not None:
        final = clauses("state", plan.states[-1])
        answer = clauses("state", {solution.category: plan.answer})
        close = "</think>\n\n" if style == "thinking" else ""
        steps.append(f"\n{close}In the end, {solution.poi} {final}.\n\n{solution.poi} {answer}.")
    at = len(plan.states) if plan.first_error is None else plan.first_error
    missing = len(steps) - (error != "stopped")
    label = next((i for i, t in enumerate([0, *plan.statements]) if t >= at), missing)
    return Trace(
        "".join(steps), tuple(steps), label if error else -1, plan.first_error, error, style,
        tuple(plan.states),
    )  # fmt: skip


def trace_key(row_id: str) -> int:
    """Return the key of the trace of a puzzle with this id."""
    return address_key("cogniload-errors", 0, row_id)


TRACE_SCHEMA = pa.schema(
    {
        "id": pa.string(), "puzzle": pa.string(), "answer": pa.string(), "style": pa.string(),
        "response": pa.string(), "steps": pa.list_(pa.string()), "label": pa.int64(),
        "first_error": pa.int64(), "error": pa.string(),
    }
)  # fmt: skip
"""The columns of a table of traces: those of its puzzle, and the fields of `Trace`."""


def trace_source(source: Source) -> Source:
    """Return a trace for each CogniLoad puzzle of a source; its draws derive from the puzzle's id.

    Raises ValueError for puzzles of which there are no traces.
    """
    grid, others = source.selection, {*LANGUAGES} - {ENGLISH}
    refused = others | {"question=state", *(f"language={language}" for language in others)}
    if grid.benchmark != "cogniload" or {grid.language, grid.twin} & refused:
        allowed = "CogniLoad puzzles in English that ask for one value"
        changes = f"language {grid.language}, twin {grid.twin}"
        raise ValueError(f"errors are planted in {allowed}, got {grid.benchmark}, {changes}")
    fields = ("style", "response", "steps", "label", "first_error", "error")

    def make(batch: Batch) -> Iterator[pa.Table]:
        for table in source.make(batch):
            made = table.select(["id", "puzzle", "answer"]).to_pylist()
            for row in made:
                trace = write_trace(row["puzzle"], trace_key(row["id"]))
                row.update({name: getattr(trace, name) for name in fields})
            yield pa.Table.from_pylist(made, TRACE_SCHEMA)

    return Source(grid, TRACE_SCHEMA, make, source.batch_rows)

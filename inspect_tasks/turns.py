"""CogniLoad as a conversation: the statements come a few a turn, and each reply is scored."""

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import pandas as pd
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser
from inspect_ai.scorer import SampleScore, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from cogniload_gen.answers import conversations as turns
from cogniload_gen.checks import check_choices
from inspect_tasks.samples import Settings, make_counter, make_rows, share_budget
from inspect_tasks.scoring import limit_of, run_metric

REPLIES = "replies"
"""What a sample's store calls the model's replies, one a turn."""


def make_turn_samples(
    task: str,
    settings: Settings,
    parameters: Mapping[str, Any],
    k: Any,
    history: Any,
    keep_reasoning: bool,
) -> MemoryDataset:
    """Return a sample for each puzzle and history, with `k` statements a turn.

    Its id is the puzzle's with the history, its input all messages of the user. Errors as
    `make_samples`, and ValueError for a wrong `k` or history.
    """
    histories = check_choices("history", history, turns.HISTORIES)
    if "twin" in parameters:
        raise ValueError(f"{task} takes no twin, got {parameters['twin']!r}")
    puzzles = make_rows(task, settings, {**parameters, "twin": turns.TWIN})
    rows = [
        turns.make_conversation(row, k, name, keep_reasoning)
        for row in puzzles
        for name in histories
    ]
    return MemoryDataset(share_budget(task, rows, make_counter(task, parameters)), name=task)


@solver
def take_turns() -> Solver:
    """Have the model reply to each turn, within an equal share of the response limit."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        script, replies = turns.script_of(state.metadata), []
        state.messages = []
        for message, other in script:
            state.messages.append(ChatMessageUser(content=message))
            state = await generate(state, max_tokens=limit_of(state, len(script)))
            replies.append(state.output.completion)
            state.store.set(REPLIES, replies)  # also of a conversation that a limit ends
            if other is not None:
                state.messages[-1] = ChatMessageAssistant(content=other)
        return state

    return solve


@run_metric
def shares_of_turns(scores: list[SampleScore]) -> dict[str, float]:
    """Return, by history, the means of `measure`, and the errors a statement.

    With the true history beside another, the difference in the turns after half of the statements
    is what earlier errors cost: the mean over puzzles, with its standard error.
    """
    rows = []
    for sample in scores:
        about, puzzle = sample.score.metadata or {}, str(sample.sample_id).rpartition("/")[0]
        late = turns.late_turns(about)
        of_puzzle = {"puzzle": puzzle, "late": fmean(late) if late else math.nan}
        rows.append({"history": about["history"]} | of_puzzle | turns.measure(about))
    frame = pd.DataFrame(rows)
    sound = frame.groupby(["puzzle", "history"])["late"].mean().unstack()
    means = frame.drop(columns=["puzzle", "late"]).groupby("history").mean()
    means["errors_per_statement"] = means.pop("errors") / means.pop("at_risk")
    measures: dict[str, float] = {
        f"{name}_{history}": value
        for history, found in means.to_dict("index").items()
        for name, value in found.items()
    }
    for history in sound.columns.drop("true", errors="ignore"):
        apart: Any = sound[history].sub(sound.get("true", math.nan)).dropna()
        if len(apart) > 1:
            measures[f"{history}_minus_true"] = apart.mean()
            measures[f"{history}_minus_true_stderr"] = apart.sem()
    return measures


@scorer(metrics=[accuracy(), stderr(), shares_of_turns()])
def score_turns() -> Scorer:
    """Score each reply as the whole-state question does; a sample's value is the share right.

    A reply that never came, as after a limit of Inspect's, is wrong.
    """

    async def score(state: TaskState, target: Target) -> Score:
        replies: list[str] = state.store.get(REPLIES, [])
        about: dict[str, Any] = turns.score_replies(state.metadata, replies)
        marks = "".join(map(str, about["right"]))
        last, right = replies[-1] if replies else "", fmean(about["right"])
        return Score(value=right, answer=last, explanation=marks, metadata=about)

    return score

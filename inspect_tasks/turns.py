"""CogniLoad as a conversation: the statements come a few a turn, and each reply is scored."""

from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Any

from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser
from inspect_ai.scorer import SampleScore, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from cogniload_gen import benchmarks
from cogniload_gen.checks import Given, check_choices
from cogniload_gen.turns import HISTORIES, Turn, history_of, planted_turn
from inspect_tasks.samples import make_rows, read_tokenizer, share_budget
from inspect_tasks.scoring import limit_of, run_metric
from inspect_tasks.settings import Settings

TWIN = "question=state"
"""The twin whose rows are taken turn by turn: its answer has all attributes of a person."""

REPLIES = "replies"
"""What a sample's store calls the model's replies, one a turn."""


def make_turn_samples(
    task: str, settings: Settings, parameters: Mapping[str, Given], k: Given, history: Given
) -> MemoryDataset:
    """Return a sample for each puzzle and history, with `k` statements a turn.

    Its id is the puzzle's with the history, its input all messages of the user. Errors as
    `make_samples`, and ValueError for a wrong `k` or history.
    """
    histories = check_choices("history", history, HISTORIES)
    if "twin" in parameters:
        raise ValueError(f"{task} takes no twin, got {parameters['twin']!r}")
    rows = [
        row
        | {"id": f"{row['id']}/{name}", "puzzle": "\n\n".join(turn.message for turn in turns)}
        | {"history": name, "k": k, "turns": [turn._asdict() for turn in turns]}
        for row in make_rows(task, settings, {**parameters, "twin": TWIN})
        for turns in [list(benchmarks.of(row).turns(row, k))]
        for name in histories
    ]
    return MemoryDataset(share_budget(task, rows, read_tokenizer(task, parameters)), name=task)


def turns_in(state: TaskState) -> list[Turn]:
    """Return the turns of a sample."""
    return [Turn(**turn) for turn in state.metadata["turns"]]


@solver
def take_turns() -> Solver:
    """Have the model reply to each turn, within an equal share of the response limit."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        turns, replies = turns_in(state), []
        history = history_of(turns, state.metadata["history"])
        state.messages = []
        for turn, other in zip(turns, history, strict=True):
            state.messages.append(ChatMessageUser(content=turn.message))
            state = await generate(state, max_tokens=limit_of(state, len(turns)))
            replies.append(state.output.completion)
            state.store.set(REPLIES, replies)  # also of a conversation that a limit ends
            if other is not None:
                state.messages[-1] = ChatMessageAssistant(content=other)
        return state

    return solve


@run_metric
def shares_of_turns(scores: list[SampleScore]) -> dict[str, float]:
    """Return, by history, the share of right replies, of those read, and errors a statement.

    With the true history beside another, the difference in the turns after half of the statements
    is what earlier errors cost: the mean over puzzles, with its standard error.
    """
    by_history: dict[str, list[Mapping[str, Any]]] = {}
    late: dict[str, dict[str, list[int]]] = {}
    for sample in scores:
        about, puzzle = sample.score.metadata or {}, str(sample.sample_id).rpartition("/")[0]
        by_history.setdefault(about["history"], []).append(about)
        late.setdefault(about["history"], {}).setdefault(puzzle, []).extend(late_turns(about))
    measures = {}
    for history, conversations in by_history.items():
        rights = [about["right"] for about in conversations]
        measures[f"acc_{history}"] = fmean(right for turns in rights for right in turns)
        measures[f"read_{history}"] = fmean(read for c in conversations for read in c["read"])
        measures[f"acc_{history}_last"] = fmean(turns[-1] for turns in rights)
        measures[f"errors_per_statement_{history}"] = error_rate(history, conversations)
    true = late.pop("true", {})
    for history, puzzles in late.items():
        apart = [
            fmean(turns) - fmean(true[puzzle])
            for puzzle, turns in puzzles.items()
            if turns and true.get(puzzle)
        ]
        if len(apart) > 1:
            measures[f"{history}_minus_true"] = fmean(apart)
            measures[f"{history}_minus_true_stderr"] = stdev(apart) / len(apart) ** 0.5
    return measures


def error_rate(history: str, conversations: list[Mapping[str, Any]]) -> float:
    """Return the errors a statement: all with true states before them, otherwise the first ones.

    After its first error, a model that goes on with its own replies is not at risk any more.
    """
    errors = statements = 0
    for about in conversations:
        right = at_risk = about["right"]
        if history != "true" and 0 in right:
            at_risk = right[: right.index(0) + 1]
        errors += at_risk.count(0)
        statements += min(len(at_risk) * about["k"], about["statements"])
    return errors / statements


def late_turns(about: Mapping[str, Any]) -> list[int]:
    """Return whether the replies after the half-way turn are right."""
    right: list[int] = about["right"]
    return right[planted_turn(len(right)) + 1 :]


@scorer(metrics=[accuracy(), stderr(), shares_of_turns()])
def score_turns() -> Scorer:
    """Score each reply as the whole-state question does; a sample's value is the share right.

    A reply that never came, as after a limit of Inspect's, is wrong.
    """

    async def score(state: TaskState, target: Target) -> Score:
        turns = turns_in(state)
        replies: list[str] = state.store.get(REPLIES, [])
        replies += [""] * (len(turns) - len(replies))
        scores = [
            benchmarks.score(reply, {**state.metadata, "answer": turn.answer})
            for reply, turn in zip(replies, turns, strict=True)
        ]
        right = [int(reply.correct) for reply in scores]
        return Score(
            value=fmean(right),
            answer=replies[-1],
            explanation="".join(map(str, right)),
            metadata={
                **{name: state.metadata[name] for name in ("history", "k")},
                "statements": state.metadata["N"],
                "right": right,
                "read": [int(reply.value is not None) for reply in scores],
                "state_share": [reply.details["state_share"] for reply in scores],
            },
        )

    return score

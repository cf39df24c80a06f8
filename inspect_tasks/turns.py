"""CogniLoad as a conversation: the statements come a few a turn, and each reply is scored."""

import math
from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

import pandas as pd
from inspect_ai import model as models
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import SampleScore, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from cogniload_gen.answers import conversations as turns
from cogniload_gen.checks import check_choices
from inspect_tasks.samples import Settings, make_counter, make_rows, share_budget
from inspect_tasks.scoring import limit_of, run_metric

REPLIES = "replies"
"""What a sample's store calls the model's replies, one a turn."""

SUMMARIES = "summaries"
"""What it calls the summaries of a compacted history: `after` which turn, and the `text`."""

STRATEGIES = (*turns.PROMPTS, "trim", "edit", "summary", "auto", "native")
"""What makes a summary: the model by a prompt of ours, or Inspect's own strategies."""


def make_turn_samples(
    task: str,
    settings: Settings,
    parameters: Mapping[str, Any],
    history: Any,
    strategy: Any,
    **how: Any,
) -> MemoryDataset:
    """Return a sample for each puzzle, history and strategy; `how` is for `make_conversation`.

    Its id is the puzzle's with the history, its input all messages of the user. Errors as
    `make_samples`, and ValueError for a wrong parameter of the conversation.
    """
    histories = check_choices("history", history, turns.HISTORIES)
    strategies = check_choices("strategy", strategy, STRATEGIES)
    if "twin" in parameters:
        raise ValueError(f"{task} takes no twin, got {parameters['twin']!r}")
    puzzles = make_rows(task, settings, {**parameters, "twin": turns.TWIN})
    rows = [
        turns.make_conversation(row, history=name, strategy=made_by, **how)
        for row in puzzles
        for name in histories
        for made_by in (strategies if name == "compacted" else strategies[:1])
    ]
    return MemoryDataset(share_budget(task, rows, make_counter(task, parameters)), name=task)


@solver
def take_turns(threshold: float | None = None) -> Solver:
    """Have the model reply to each turn, within an equal share of the response limit.

    With a `threshold`, in tokens or as a share of the model's window, Inspect's strategies compact
    the conversation where it is passed, and not every few turns.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        row, replies, summaries = state.metadata, list[str](), list[dict[str, Any]]()
        script, said = turns.script_of(row), list[ChatMessage]()
        asked = [ChatMessageUser(content=message) for message, _ in script]
        limit, compact = limit_of(state, len(script)), _compactor_of(row.get("strategy"), threshold)
        state.messages = []
        for turn, (_, other) in enumerate(script, start=1):
            state.messages.append(asked[turn - 1])
            state = await generate(state, max_tokens=limit)
            replies.append(state.output.completion)
            state.store.set(REPLIES, replies)  # also of a conversation that a limit ends
            if other is not None:
                state.messages[-1] = ChatMessageAssistant(content=other)
            said += state.messages[-2:]
            text, due = None, turns.is_compacted(row, turn)
            if compact and turn < len(script) and (due or threshold is not None):
                kept = await compact(said, asked[turn])
                if threshold is None or [m.id for m in kept] != [m.id for m in state.messages]:
                    state.messages = kept
                    found = [each.text for each in kept if "summary" in (each.metadata or {})]
                    # of messages, or of what only the provider reads, the model knows more
                    text = found[-1] if found else await _ask(kept, turns.PROMPTS["none"], limit)
            elif due:
                text = row["turns"][turn - 1]["everyone"]
                if "strategy" in row:
                    text = await _ask(state.messages, turns.PROMPTS[row["strategy"]], limit)
                if row.get("strategy") != "none":
                    whole = turns.resume(row, text) + script[turn][0]
                    state.messages, asked[turn] = [], ChatMessageUser(content=whole)
            if text is not None:
                summaries.append({"after": turn, "text": text})
                state.store.set(SUMMARIES, summaries)
        return state

    return solve


def _compactor_of(strategy: str | None, threshold: float | None) -> Callable[..., Any] | None:
    """Return what has Inspect compact a conversation by a strategy of its own; None for others.

    It takes all that was said and what follows, and returns the messages that take their place;
    where a threshold isn't passed, these are the same.
    """
    if strategy is None or strategy in turns.PROMPTS:
        return None
    own: Any = getattr(models, f"Compaction{strategy.title()}")
    handler = models.compaction(own() if threshold is None else own(threshold=threshold), prefix=[])

    async def compact(said: list[ChatMessage], following: ChatMessage) -> list[ChatMessage]:
        # what keeps messages drops a reply that nothing follows
        last = [following] if strategy in ("trim", "edit") else []
        kept, more = await handler.compact_input([*said, *last], force=threshold is None)
        said += [more] if more else []
        return kept[: len(kept) - len(last)]

    return compact


async def _ask(messages: list[ChatMessage], prompt: str, limit: int) -> str:
    """Return the model's reply to a prompt that does not become a part of the conversation."""
    asked = [*messages, ChatMessageUser(content=prompt)]
    output = await models.get_model().generate(asked, config=GenerateConfig(max_tokens=limit))
    return output.completion


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
        summaries: list[dict[str, Any]] = state.store.get(SUMMARIES, [])
        about: dict[str, Any] = turns.score_replies(state.metadata, replies, summaries)
        marks = "".join(map(str, about["right"]))
        last, right = replies[-1] if replies else "", fmean(about["right"])
        return Score(value=right, answer=last, explanation=marks, metadata=about)

    return score

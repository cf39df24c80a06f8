"""A benchmark's record -> its puzzles as tasks of verifiers, with rewards and metrics."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from statistics import fmean
from typing import Annotated, Any, Literal

import verifiers.v1 as vf
import yaml
from pydantic import BeforeValidator, Field, create_model, model_validator

from cogniload_gen import Frontier, benchmarks
from cogniload_gen import context_budget as budgets
from cogniload_gen.answers import conversations
from cogniload_gen.answers.reasoning import of_message
from cogniload_gen.answers.sample import ResponseFacts, Sample
from cogniload_gen.checks import check_choice
from cogniload_gen.grid import MAX_PUZZLES, SPLITS, Source
from cogniload_gen.rewards import TRACKING_INSTRUCTION, answer_score, step_score


def _read_values(argument: Any) -> Any:
    """Return a knob's values as a list; a command line gives texts, and some are numbers."""
    if argument is None:
        return None
    values = argument if isinstance(argument, list | tuple) else [argument]
    return [yaml.safe_load(value) if isinstance(value, str) else value for value in values]


Values = Annotated[list[Any] | None, BeforeValidator(_read_values)]


class _SharedConfig(vf.TasksetConfig):
    """What tasks are made of, besides the knobs; a knob that is not given is the paper's."""

    benchmark: str = "cogniload"
    """cogniload, factor-symbolic or factor-realistic."""
    seed: int = 42
    """The seed of the draws."""
    split: str = "train"
    """train, validation or test: no two share any draws."""
    twin: str | None = None
    """The one change that each puzzle has, such as needles or from=50."""
    steps: bool = False
    """Whether each puzzle asks for a line a statement, by which its steps are read exactly."""
    k: int | None = Field(None, ge=1)
    """Statements of a turn: with it, each puzzle is a conversation about the whole state."""
    history: str = "own"
    """What the model sees as its earlier replies: own, true, planted, compacted, compacted_true."""
    poi: Literal["early", "late"] = "early"
    """When whom the last question is about is told: early, or late (turns before ask of anyone)."""
    every: int = Field(2, ge=1)
    """Turns after which a compacted history is replaced."""
    strategy: Literal["none", "recap", "json"] = "recap"
    """What replaces it: recap, json, or none (the model is only asked what it knows)."""
    keep_reasoning: bool = False
    """Whether the model sees its own earlier reasoning too, which some models need."""
    tokenizer: str | None = None
    """The model's, a Hugging Face name or folder, to count prompts; else they are estimated."""
    context_budget: int = budgets.CONTEXT_BUDGET
    """Tokens that a prompt and its response share."""
    target: tuple[float, float] | None = None
    """Pass rates between which the puzzles' are to lie, by what `frontier.observe` is told."""
    tracking: bool = False
    """Whether to add to each prompt how steps are read, for the step reward."""

    @model_validator(mode="after")
    def check(self) -> "_SharedConfig":
        """Refuse a wrong value in one line that names it."""
        budgets.check_context_budget(self.context_budget)
        check_choice("history", self.history, conversations.HISTORIES)
        if self.k is not None and (self.twin is not None or self.tracking):
            raise ValueError("k goes with neither twin nor tracking")
        if self.target is not None and (self.split != "train" or self.k or self.twin):
            raise ValueError("target is for the split train, without k and twin")
        self.follow()
        self.source()
        return self

    def follow(self) -> Frontier | None:
        """Return the frontier that the puzzles come from; None without a target."""
        if self.target is None:
            return None
        knobs = benchmarks.named(self.benchmark).knobs
        loads = {knob.name: getattr(self, knob.name) or knob.default for knob in knobs}
        if loads.keys() != {"d", "N", "rho"}:
            raise ValueError(f"target is for puzzles of d, N and rho, got {self.benchmark}")
        return Frontier(**loads, target=self.target, seed=self.seed, steps=self.steps)

    def source(self) -> Source:
        """Return the puzzles; ValueError for a knob that is not the benchmark's."""
        record = benchmarks.named(self.benchmark)
        given = {name: value for name in KNOBS if (value := getattr(self, name)) is not None}
        for name in given.keys() - {knob.name for knob in record.knobs}:
            raise ValueError(f"{name} is not for {self.benchmark}, got {given[name]}")
        given["twin"] = conversations.TWIN if self.k else self.twin
        if "tokenizer" in {option.name for option in record.options}:
            given["tokenizer"] = self.tokenizer
        if self.steps:
            given["steps"] = True
        given = {name: value for name, value in given.items() if value is not None}
        split = check_choice("split", self.split, SPLITS)
        return record.puzzles(**given, num_puzzles=MAX_PUZZLES, seed=self.seed, split=split)


KNOBS = {knob.name: knob.meaning for benchmark in benchmarks.BENCHMARKS for knob in benchmark.knobs}
"""What the knobs of all benchmarks set, by their names."""

_FIELDS: Any = {name: (Values, Field(None, description=meaning)) for name, meaning in KNOBS.items()}

PuzzleConfig = create_model("PuzzleConfig", __base__=_SharedConfig, __module__=__name__, **_FIELDS)


class _PuzzleData(vf.TaskData):
    """A puzzle: its columns but the prompt, and the tokens that the prompt leaves its response."""

    row: dict[str, Any]
    prompt_tokens: int
    counted: bool
    response_limit: int


class PuzzleTask(vf.Task[_PuzzleData]):
    """A puzzle with its gold answer, rewards and metrics."""

    @property
    def key(self) -> str:
        """The puzzle's id."""
        return self.data.id

    @property
    def row(self) -> dict[str, Any]:
        """The puzzle as `load_dataset` gives it."""
        return self.data.row | {"puzzle": self.data.prompt.removesuffix(_TRACKING)}

    def _score(self, trace: vf.Trace) -> dict[str, Any]:
        said = conversations.split_said(self.row, _responses_of(trace))
        return conversations.score_replies(self.row, *said)

    @vf.reward(weight=1.0)
    async def answer(self, trace: vf.Trace) -> float:
        """Return the answer reward: 1.0 if the answer is right and not hedged.

        Of a conversation it is the mean over its turns, each with the share of attributes.
        """
        if "turns" in self.row:
            turns = self.row["turns"]
            replies, _ = conversations.split_said(self.row, _responses_of(trace))
            replies += [""] * len(turns)  # one that never came is empty
            pairs = zip(replies, turns, strict=False)
            return fmean(answer_score(reply, self.row | turn) for reply, turn in pairs)
        return answer_score(_response_of(trace), self.row)

    @vf.reward(weight=0.0)
    async def steps(self, trace: vf.Trace) -> float:
        """Return the step reward: how far the response tracks the puzzle's states.

        Of a conversation it is the share of its turns before the first wrong one.
        """
        if "turns" in self.row:
            right = self._score(trace)["right"]
            return [*right, 0].index(0) / len(right)
        return step_score(_response_of(trace), self.row, facts_of(trace).reasoning.text)

    @vf.metric
    async def outcome(self, trace: vf.Trace) -> dict[str, float]:
        """Return `acc`, `overflow` and each wrong outcome; `trace.info` gets the whole score.

        Of a conversation, return the shares and counts of `conversations.measure`.
        """
        if "turns" in self.row:
            scores = self._score(trace)
            trace.info["score"] = scores
            return conversations.measure(scores)
        call = trace.calls[-1] if trace.calls else None
        limit = self.data.response_limit
        if call and call.sampling and call.sampling.max_tokens is not None:
            limit = min(limit, call.sampling.max_tokens)  # a larger one counts as the puzzle's
        share = budgets.Share(self.data.prompt_tokens, limit, self.data.counted)
        row = self.row | facts_of(trace).columns(share)
        trace.info["score"] = metrics = Sample.from_answer(_response_of(trace), row).metrics
        outcomes: Any = benchmarks.of(self.row).outcomes
        names = ["acc", "overflow", *(kind.value for kind in outcomes if not kind.correct)]
        return {name: float(metrics[name] or 0) for name in names}

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Tell whether the solver reads the gold answer from the text, and it is scored right."""
        row = self.row
        if "turns" in row:
            replies = [turn["reply"] for turn in row["turns"]]
            right = conversations.score_replies(row, replies)["right"]
            return all(right) and row["turns"][-1]["answer"] == row["answer"]
        solved = benchmarks.solve(row["puzzle"]) == row["answer"]
        return solved and benchmarks.score(row["answer"], row).correct


_TRACKING = f"\n\n{TRACKING_INSTRUCTION}"


def _responses_of(trace: vf.Trace) -> list[str]:
    """Return the responses as the model gave them: `last_reply` would strip it."""
    return [message.content or "" for message in trace.assistant_messages]


def _response_of(trace: vf.Trace) -> str:
    """Return the last response, "" for none."""
    return ["", *_responses_of(trace)][-1]


def facts_of(trace: vf.Trace) -> ResponseFacts:
    """Return what the server says of the last response: how it ended, tokens and reasoning."""
    call = trace.calls[-1] if trace.calls else None
    message = trace.assistant_messages[-1].model_dump() if trace.assistant_messages else {}
    reason = call.finish_reason if call else None
    if not (call and call.usage):
        return ResponseFacts(reason, reasoning=of_message(message))
    counts = call.usage.input_tokens, call.usage.completion_tokens
    return ResponseFacts(reason, *counts, of_message(message, call.usage.reasoning_tokens))


class PuzzleTaskset(vf.Taskset[PuzzleTask, PuzzleConfig]):
    """The puzzles of a grid, cell after cell, without end: `take(n)`, or `-n`, bounds them."""

    INFINITE = True

    @cached_property
    def frontier(self) -> Frontier | None:
        """What the puzzles come from, if they follow the model; None if they don't."""
        return self.config.follow()

    def load(self) -> Iterator[PuzzleTask]:
        """Yield the tasks in the order of the rows; the next puzzle is made when it is needed.

        ValueError for a puzzle that leaves no room for a response.
        """
        budget, k = self.config.context_budget, self.config.k
        share_of = budgets.prompt_counter(self.config.tokenizer)
        for puzzle in self.frontier or self.config.source().rows():
            own = self.config
            how = own.history, own.keep_reasoning, own.poi, own.every, own.strategy
            row = puzzle if k is None else conversations.make_conversation(puzzle, k, *how)
            prompt = row["puzzle"] + (_TRACKING if self.config.tracking else "")
            share = share_of(prompt, budget)
            budgets.check_fit(row["id"], [row | {"context_budget": budget}], {row["id"]: share})
            columns = {name: value for name, value in row.items() if name != "puzzle"}
            about = {"id": row["id"], "name": row["id"], "prompt": prompt}
            data = _PuzzleData(row=columns, **about, **asdict(share))
            yield PuzzleTask(data, self.config.task)

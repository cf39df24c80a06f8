"""A sample: what a model said of one puzzle, whichever harness asked it.

The one place that spells what a line of lm-eval's samples_*.jsonl holds, a sample of an Inspect log
and a row of a table of responses. Other tools leave fields out or write them otherwise, so that
they are read leniently: an unknown count is None, and a missing response is empty.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import isnan
from reprlib import repr as brief
from typing import Any, TypedDict

from cogniload_gen import benchmarks
from cogniload_gen.answers.endings import Ending, ending_of, kind_of
from cogniload_gen.answers.metrics import score_metrics, split_failure, step_metrics
from cogniload_gen.answers.reasoning import (
    NO_REASONING,
    Reasoning,
    Split,
    join,
    of_message,
    split,
    text_of,
    whole,
)
from cogniload_gen.benchmark import Row, Score
from cogniload_gen.context_budget import Share
from cogniload_gen.files import MALFORMED

COUNTS = ("prompt_tokens", "response_tokens")
SPENT = "spent_response_tokens"  # by all attempts at a puzzle
REASONINGS = "reasonings"  # of all attempts at a puzzle, a list
LIMITS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""The names under which requests have the limit of a response, in tokens."""

_ATTEMPT = "attempt"
# What a sample with several attempts says of the first one alone.
_OF_FIRST = ("response_tokens", "finish_reason", "outcome", "ending")


@dataclass(frozen=True, slots=True)
class ResponseFacts:
    """What a backend says of a response; None for what it does not say.

    `finish_reason` is the backend's word for how the response ended; the counts are the backend's
    own, in tokens, those of hidden reasoning and the chat template included. `reasoning` is that
    which is no part of the response. `served_by` is the provider and the fingerprint of its system.
    """

    finish_reason: str | None = None
    prompt_tokens: int | None = None
    response_tokens: int | None = None
    reasoning: Reasoning = NO_REASONING
    served_by: str | None = None

    def columns(self, share: Share) -> dict[str, Any]:
        """Return what a harness adds to the row of a puzzle, for `Sample.from_answer`."""
        return share.scored(self.prompt_tokens, self.response_tokens) | {
            "response_limit": share.response_limit,
            "finish_reason": self.finish_reason,
            "reasoning": self.reasoning.text,
            "reasoning_hidden": self.reasoning.hidden,
            "served_by": self.served_by,
        }


NO_FACTS = ResponseFacts()


class Transcript(TypedDict):
    """What a reader model wrote down of a response: its name, its instructions, its records."""

    reader: str
    version: int
    records: list[Any]


@dataclass(frozen=True, eq=False)
class Sample:
    """What a model said of a puzzle, and what was recorded of it.

    >>> from cogniload_gen import generate_puzzles
    >>> (row,) = generate_puzzles(1, 4, 50, 1).to_pylist()
    >>> said = f"<think>Hm.</think>{row['poi']} ends with {row['answer']}."
    >>> sample = Sample.from_lm_eval({"doc": row, "resps": [[said]], "prompt_tokens": "90"})
    >>> sample.reasoning.text, sample.score.correct, sample.prompt_tokens
    ('Hm.', True, 90)

    Attributes:
        held: All that is known, by the names of lm-eval's lines.
    """

    held: Mapping[str, Any]

    # --- Made ------------------------------------------------------------------------------------

    @classmethod
    def from_lm_eval(cls, line: Mapping[str, Any]) -> "Sample":
        """Return the sample of a line of lm-eval's, without counts that are unknown."""
        counts = (*COUNTS, SPENT)
        rest = {name: value for name, value in line.items() if name not in counts}
        return cls(rest | _known_counts(line, *counts))

    @classmethod
    def from_inspect(cls, held: Mapping[str, Any]) -> "Sample":
        """Return the sample of one in a log of Inspect, of which a score has our metadata.

        A message without content is an empty response. Raises ValueError where no score's metadata
        holds an outcome.
        """
        scores = members(held, "scores")
        metrics = [score.get("metadata") or {} for score in scores.values()]
        score = next((each for each in metrics if "outcome" in each), None)
        if score is None:
            raise ValueError(
                f"the metadata of a score must hold an outcome, got {brief([*scores])}"
            )
        read = {name: held.get(name) for name in ("id", "input", "target", "metadata", "output")}
        held = _attach(read, members(held, "attachments"))
        output, prompt = members(held, "output"), held["input"]
        choice = next(iter(output.get("choices") or ()), None) or {}
        message, usage = members(choice, "message"), members(output, "usage")
        if isinstance(prompt, list):
            prompt = "\n\n".join(text_of(message.get("content")) for message in prompt)
        puzzle = {"id": held["id"], "answer": held["target"], "puzzle": text_of(prompt)}
        thought = of_message(message, usage.get("reasoning_tokens"))
        line = {
            "filter": "none",
            "reasoning": thought.text,
            "reasoning_hidden": thought.hidden,
            "prompt_tokens": usage.get("input_tokens"),
            "response_tokens": usage.get("output_tokens"),
            "finish_reason": choice.get("stop_reason"),
            **_response(text_of(message.get("content"))),
            **score,
            "doc": puzzle | members(held, "metadata"),
        }
        return cls.from_lm_eval(line)

    @classmethod
    def from_row(cls, puzzle: Row, row: Mapping[str, Any], doc_id: int = 0) -> "Sample":
        """Return the sample of a row of a table of responses; counts that are none are unknown."""
        line = {"doc_id": doc_id, "doc": puzzle, "target": puzzle.get("answer"), "filter": "none"}
        known = _known_counts(row, *COUNTS)
        line |= _response(as_text(row["response"])) | {"metrics": [*known], **known}
        line |= _request(as_count(row.get("response_limit")))
        texts = {name: row.get(name) for name in ("finish_reason", "reasoning")}
        line |= {name: text for name, text in texts.items() if text and isinstance(text, str)}
        return cls(line)

    @classmethod
    def from_answer(cls, response: str, row: Row) -> "Sample":
        """Return the sample of a response that a harness has just got.

        `row` is the puzzle with `ResponseFacts.columns`, as far as they are known. Its
        `context_budget` is then the prompt and the limit of the response, which is all where nobody
        counted the prompt.
        """
        counts, limit = _known_counts(row, *COUNTS), None
        if "prompt_tokens" not in counts:
            limit = row.get("response_limit", row.get("context_budget"))
        names = ("finish_reason", "reasoning", "reasoning_hidden", "served_by")
        told = {name: row.get(name) for name in names}
        return cls({"doc": row} | _response(response) | _request(limit) | told | counts)

    def line(self) -> dict[str, Any]:
        """Return the line to write."""
        return {"filter": "none", **self.held}

    def record(self) -> dict[str, Any]:
        """Return what the answers on the disk of `cogniload eval` say of a response."""
        names = ("finish_reason", "reasoning", "reasoning_hidden", "served_by", *COUNTS)
        scored = {"acc": int(self.score.correct), "outcome": self.score.outcome.value}
        return {name: self.held.get(name) for name in names} | scored | {"ending": self.ending}

    def to_inspect(self) -> dict[str, Any]:
        """Return what a score in a log of Inspect has as metadata, which `from_inspect` reads.

        The log has the reasoning itself, in its message.
        """
        metrics = {name: value for name, value in self.metrics.items() if name != "reasoning"}
        metrics |= {"suite": benchmarks.of(self.doc).suite}
        metrics |= _request(self.doc["response_limit"])
        if reason := self.held["finish_reason"]:  # in lm-eval's words
            metrics["finish_reason"] = "length" if kind_of(reason) == "cut" else reason
        return metrics

    # --- What was asked, and what came -----------------------------------------------------------

    @property
    def doc(self) -> dict[str, Any]:
        """The puzzle."""
        doc: dict[str, Any] = self.held["doc"]
        return doc

    @property
    def id(self) -> str:
        """The puzzle's id."""
        return str(self.doc["id"])

    @property
    def is_twin(self) -> bool:
        """Whether the puzzle is another one with a change, or with a text to go on from."""
        return "~" in self.id

    @property
    def document(self) -> str:
        """Which document of its task was asked; "" where the tool doesn't number them."""
        return repr(self.held["doc_id"]) if "doc_id" in self.held else ""

    @property
    def filter(self) -> str | None:
        """The filter that made the response of what the model said."""
        return self.held.get("filter")

    @property
    def attempt(self) -> int | None:
        """Which of several attempts at the puzzle it is, from 0, where they are samples apart."""
        return self.held.get(_ATTEMPT)

    @property
    def fingerprint(self) -> int:
        """A hash, the same of lines that say the same of a document."""
        names = ("resps", "filtered_resps", "reasoning", _ATTEMPT)
        said = [self.held.get(name) for name in names]
        doc = self.held.get("doc")
        it = doc.get("id") if isinstance(doc, dict) else doc
        return hash((self.document, repr(it), repr(said)))

    def check_answered(self) -> "Sample":
        """Return the sample itself; KeyError if it has no response, not even an empty one."""
        if "resps" not in self.held:
            _ = self.held["filtered_resps"]
        return self

    @cached_property
    def responses(self) -> list[str]:
        """The responses, one for each attempt at the puzzle; "" for a missing one.

        Where a filter made something else of them, there is that alone, as it was scored.
        """
        if isinstance(answered := self.held.get("answered"), list):  # questions about a right trace
            return ["\n".join(f"{each['statement']}. {each['said']}" for each in answered)]
        kept, raw = (_first(self.held.get(name)) for name in ("filtered_resps", "resps"))
        attempts = raw if isinstance(raw, list) else [raw]
        if isinstance(kept, list):
            attempts = kept
        elif kept is not None and kept not in attempts[:1]:
            attempts = [kept]
        return [as_text(text) for text in attempts or [None]]

    @property
    def response(self) -> str:
        """The first response, with the reasoning that stands in it."""
        return self.responses[0]

    @cached_property
    def apart(self) -> Split:
        """The first response without the reasoning that stands in it."""
        return split(self.response)

    @cached_property
    def reasoning(self) -> Reasoning:
        """The reasoning of the response, that which stands in the response too."""
        held, hidden = self.held.get("reasoning"), self.held.get("reasoning_hidden")
        text = join(self.response, held if isinstance(held, str) else None)
        return Reasoning(text, hidden if isinstance(hidden, str) else None)

    @property
    def text(self) -> str:
        """What is read for steps: the reasoning, then the response."""
        return whole(self.response, self.reasoning.text)

    @cached_property
    def text_hash(self) -> str:
        """What tells the texts of responses to a puzzle apart."""
        return sha256(self.text.encode(errors="surrogatepass")).hexdigest()[:16]

    @property
    def transcript(self) -> Transcript | None:
        """What a reader model wrote down of the text; None where none did."""
        made: Any = members(self.held, "transcripts")
        found = members(made, self.text_hash) if made else {}
        is_one = isinstance(found.get("records"), list) and isinstance(found.get("reader"), str)
        return made[self.text_hash] if is_one else None

    # --- How it was asked ------------------------------------------------------------------------

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings of generation that its request had.

        Older versions of lm-eval write requests as lists, newer ones as mappings.
        """
        parts = (part for each in _parts(self.held.get("arguments")) for part in _parts(each))
        return next((dict(part) for part in parts if isinstance(part, Mapping)), {})

    @cached_property
    def limit(self) -> int | None:
        """The limit of its response, in tokens; None where its request says none."""
        limits = (as_count(self.settings.get(name)) for name in LIMITS)
        return next((limit for limit in limits if limit), None)

    @property
    def budget(self) -> int | None:
        """The tokens that the puzzle's prompt and response share."""
        return as_count(self.doc.get("context_budget"))

    def is_greedy(
        self, results: Mapping[str, Any], generation: Mapping[str, Any] | None = None
    ) -> bool:
        """Return whether the response was decoded without luck.

        lm-eval sends temperature 0 where none is given, and 1 to OpenAI's models that reason,
        whatever is given. `results` is its results file, which says the backend, and `generation`
        the task's settings, where the request has none of its own.
        """
        settings = {**(generation or {}), **self.settings}
        backend = members(results, "config").get("model")
        reasons = re.search("o1|o3|o4|5", str(results.get("model_name")))
        if backend == "openai-chat-completions" and reasons:
            return False
        sampled = settings.get("do_sample")
        if re.fullmatch(".*completions|.*-chat|anthropic.*", str(backend)):
            sampled = None  # which these leave out
        if sampled is False:
            return True
        usual: Any = None if sampled or backend in (None, "inspect") else 0
        with suppress(ValueError, TypeError):
            return float(settings.get("temperature", usual)) == 0
        return False

    # --- What it took, and how it ended ----------------------------------------------------------

    @property
    def prompt_tokens(self) -> int | None:
        """The tokens of the prompt."""
        return self.held.get("prompt_tokens")

    @property
    def response_tokens(self) -> int | None:
        """The tokens of the first response."""
        return self.held.get("response_tokens")

    @property
    def spent(self) -> tuple[int, int] | None:
        """The tokens of the prompts and of the responses of all attempts; None where unknown.

        Where nothing says what all responses took, each took as many as the first one.
        """
        attempts = _first(self.held.get("resps"))
        count = len(attempts) if isinstance(attempts, list) else 1
        prompt, spent = self.prompt_tokens, self.held.get(SPENT)
        if spent is None and self.response_tokens is not None:
            spent = count * self.response_tokens
        return None if prompt is None or spent is None else (count * prompt, spent)

    @cached_property
    def ending(self) -> Ending | None:
        """How the response ended; None where nobody knows.

        By the backend's word, else by its outcome, else by its counts of tokens.
        """
        reason = self.held.get("finish_reason")
        if kind_of(reason) is None and self._is_cut:
            return "cut"
        return ending_of(self.apart.response, finish_reason=reason, **self._scored_counts)

    @property
    def _is_cut(self) -> bool:
        """Whether the response was cut off by its outcome, which empty ones have too."""
        return str(self.outcome).endswith("max_context") and bool(self.apart.response.strip())

    @cached_property
    def _scored_counts(self) -> dict[str, int | None]:
        """The tokens and the budget by which the response is scored.

        The budget is the prompt and the limit of the response; of the puzzle where the request
        does not say the limit. Where a count is unknown, a response that was cut off by its
        outcome still is.
        """
        prompt, response, limit = self.prompt_tokens, self.response_tokens, self.limit
        budget = None if prompt is None else self.budget
        if limit is not None:
            budget = (prompt or 0) + limit
        if None in (response, budget) and self._is_cut:
            prompt, response, budget = 0, 1, 1
        return {"prompt_tokens": prompt, "response_tokens": response, "context_budget": budget}

    # --- What was recorded -----------------------------------------------------------------------

    @property
    def outcome(self) -> str | None:
        """The name of the outcome; None where the sample has no score."""
        return self.held.get("outcome")

    @property
    def is_solved(self) -> bool:
        """Whether it was scored as right; KeyError where the sample has no score."""
        return bool(self.held["acc"] == 1)

    @property
    def answer(self) -> str | None:
        """The answer that was read from the response; "" without one, None where it is unknown."""
        if "answer_read" not in self.held:
            return None
        return as_text(members(self.held, "answer_read").get("value"))

    @cached_property
    def steps(self) -> dict[str, Any]:
        """Where the reasoning breaks: by its transcript, else as rules found it when it was scored.

        Empty where nothing read it.
        """
        if self.transcript is None:
            return members(self.held, "steps_read")
        return members(self._step_metrics, "steps_read")

    @property
    def _step_metrics(self) -> dict[str, Any]:
        return step_metrics(self.response, self.doc, self.reasoning, self.transcript)

    # --- Scored again ----------------------------------------------------------------------------

    @cached_property
    def score(self) -> Score:
        """The score by the rules of today, with the tokens, budget and ending that it had."""
        said: Any = {"finish_reason": self.held.get("finish_reason"), **self._scored_counts}
        return benchmarks.score(self.response, self.doc, **said)

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """What is to be recorded, by the rules of today: score, ending, steps and tokens."""
        ending = Sample({**self.held, "outcome": self.score.outcome.value}).ending
        metrics = score_metrics(self.score, ending)
        metrics |= self._step_metrics
        return metrics | split_failure(self.doc, metrics["acc"]) | _known_counts(self.held, *COUNTS)

    def rescored(self) -> "Sample":
        """Return the sample with the metrics of today in place of its own.

        What lm-eval's aggregations fit is left out: those metrics are lists that hold the old
        score.
        """
        listed = self.held.get("metrics")
        named = [*map(str, listed if isinstance(listed, list) else ()), *self.metrics]
        fitted = {name for name in named if isinstance(self.held.get(name), list)}
        fitted -= self.metrics.keys()
        kept = {name: value for name, value in self.held.items() if name not in fitted}
        kept |= self.metrics
        return Sample(kept | {"metrics": [name for name in dict.fromkeys(named) if name in kept]})

    def unscored(self) -> "Sample":
        """Return the sample without its outcome, which says of some that they were cut off."""
        return Sample({name: value for name, value in self.held.items() if name != "outcome"})

    def attempts(self) -> "list[Sample]":
        """Return a sample for each attempt of one that has several, as with lm-eval's `repeats`.

        What is said of the first attempt alone, its outcome too, stays with it. Nothing tells the
        tokens of the others apart: each attempt spent an equal share of those of all.
        """
        if len(self.responses) == 1:
            return [self]
        spent, count = self.spent, len(self.responses)
        apart = (*_OF_FIRST, SPENT, REASONINGS)
        shared = {name: value for name, value in self.held.items() if name not in apart}
        of_first = {name: self.held[name] for name in _OF_FIRST if name in self.held}
        reasonings = self.held.get(REASONINGS)
        thoughts = dict(enumerate(reasonings if isinstance(reasonings, list) else ()))
        attempts = []
        for place, response in enumerate(self.responses):
            attempt = shared | _response(response) | {_ATTEMPT: place}
            attempt["reasoning"] = thoughts.get(place, None if place else shared.get("reasoning"))
            if spent:  # whole tokens, which add up
                attempt[SPENT] = spent[1] * (place + 1) // count - spent[1] * place // count
            attempts.append(Sample(attempt if place else attempt | of_first))
        return attempts

    def scored_attempts(self) -> "list[Sample]":
        """Return a sample for each attempt; lm-eval scores the first one, so the others are here.

        The attempts at a puzzle that can't be scored again, as it was made elsewhere, stay one
        sample.
        """
        first, *others = self.attempts()
        with suppress(*MALFORMED):
            return [first, *(each.rescored() for each in others)]
        return [self]


# --- Fields, which may hold anything -------------------------------------------------------------


def as_count(value: object) -> int | None:
    """Return an integer from 0 to 2^63 - 1, also one that is written as 12.0 or "12".

    None for all else: nobody knows how many these are.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(ValueError):
        number = float(value) if isinstance(value, str) else value
        if 0 <= number < 2**63 and number == int(number):
            return int(number)
    return None


def as_text(value: object) -> str:
    """Return a text, or what else a cell holds as one; NaN, as of pandas, and None are empty."""
    return "" if value is None or (isinstance(value, float) and isnan(value)) else str(value)


def members(holder: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object inside another by its name; empty if there is none or it is no object."""
    member = holder.get(name)
    return member if isinstance(member, dict) else {}


def _known_counts(holder: Mapping[str, Any], *names: str) -> dict[str, int]:
    counts = {name: as_count(holder.get(name)) for name in names}
    return {name: count for name, count in counts.items() if count is not None}


def _response(text: str) -> dict[str, Any]:
    return {"resps": [[text]], "filtered_resps": [text]}


def _request(limit: int | None) -> dict[str, Any]:
    return {"arguments": {"gen_args_0": {"arg_1": {LIMITS[0]: limit}}}} if limit else {}


def _first(values: Any) -> Any:
    return (values[0] if values else None) if isinstance(values, list) else values


def _parts(values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        return list(values.values())
    return values if isinstance(values, list) else []


def _attach(held: Any, attachments: Mapping[str, str]) -> Any:
    """Return what a log of Inspect holds with the long texts that it keeps as attachments."""
    if isinstance(held, dict):
        return {name: _attach(part, attachments) for name, part in held.items()}
    if isinstance(held, list):
        return [_attach(part, attachments) for part in held]
    if isinstance(held, str):
        return attachments.get(held.removeprefix("attachment://"), held)
    return held

"""The answers of a run: asked for once, on the disk as they come, and read by whoever scores them.

    OUT/state/run.json            what is evaluated, and by which model (`resume.py`)
    OUT/state/answers-I.jsonl     a line for each answer, written by the process of shard I

A line is appended with one write as soon as its answer is there, so a kill loses only the answers
that were under way. A last line that a kill or a full disk has torn is dropped, and its request is
asked again. A shard writes a file of its own, which one process holds; whoever reads, reads all.
"""

import json
import os
import socket
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partialmethod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.models.api_models import JsonChatStr
from lm_eval.models.utils import postprocess_generated_text
from lm_eval.utils import handle_non_serializable, hash_string

from cogniload_gen.answers.reasoning import Reasoning
from cogniload_gen.answers.sample import ResponseFacts, as_count
from cogniload_gen.benchmark import PREFIX
from cogniload_gen.files import load_json, lock
from lm_eval_tasks.lm_eval_private import outputs_as_they_come
from lm_eval_tasks.request_seeds import Key, seeded
from lm_eval_tasks.responses import Response
from lm_eval_tasks.server import FAILURES

Record = dict[str, Any]
"""A line: its Key by name, the request's `arguments`, the `answer`, and what describes it.

`asked` is the hash of the prompt, and `seed` what the request was drawn by. In place of all that,
`lost` says why a request was given up.
"""


class Answers(Mapping[Key, Record]):
    """The answers of a run, in the folders of its shards. Texts stay on the disk until read.

    `documents` are those that have any, `lost` says why others have none; `tokens` is the sum of
    prompts and of responses, `uncounted` the number of answers whose tokens nobody counted.
    `prompts` are the hashes of what was asked, where it is known.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = folders
        self.lost: dict[Key, str] = {}
        self.prompts: dict[Key, str] = {}
        self.documents: set[tuple[str, str]] = set()
        self.tokens, self.uncounted = [0, 0], 0
        self.scored, self.correct = 0, 0.0
        self._places: dict[Key, tuple[Path, int]] = {}
        self._read: dict[Path, int] = {}
        self.catch_up()

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[Key]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def catch_up(self) -> None:
        """Read the lines that this process or another has appended since the last call."""
        for folder in self.folders:
            for file in sorted(folder.glob("state/answers-*.jsonl")):
                with file.open("rb") as lines:
                    place = lines.seek(self._read.get(file, 0))
                    for line in lines:
                        if not line.endswith(b"\n"):  # torn, or still being written
                            break
                        self._add(file, place, line)
                        place += len(line)
                    self._read[file] = place

    def _add(self, file: Path, place: int, line: bytes) -> None:
        try:
            record = load_json(line)
            key = Key(*(record[name] for name in Key._fields))
            if key in self._places:  # two files of one run: the first answer counts
                return
            if "lost" in record:
                self.lost[key] = str(record["lost"])
                return
            _ = [*record["arguments"]], record["answer"]
        except (ValueError, LookupError, TypeError):  # a crash of the machine may leave anything
            return
        self._places[key] = file, place
        self.lost.pop(key, None)
        self.documents.add(key[:2])
        if "asked" in record:
            self.prompts[key] = str(record["asked"])
        counts = (as_count(record.get(f"{part}_tokens")) for part in ("prompt", "response"))
        spent = [count for count in counts if count is not None]
        if len(spent) < len(self.tokens):
            self.uncounted += 1
        else:
            self.tokens = [total + count for total, count in zip(self.tokens, spent, strict=True)]
        if isinstance(right := record.get("acc"), int | float) and "~" not in key.document:
            self.scored, self.correct = self.scored + 1, self.correct + right

    def __getitem__(self, key: Key) -> Record:
        file, place = self._places[key]
        with file.open("rb") as lines:
            lines.seek(place)
            record: Record = load_json(lines.readline())
        return record

    @contextmanager
    def appending(self, file: Path) -> Iterator[Callable[[Record], None]]:
        """Yield what appends a record to a shard's file, whose torn last line is dropped.

        OSError names the file, as for a full disk.
        """
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)

        def append(record: Record) -> None:
            text = json.dumps(record, default=handle_non_serializable, ensure_ascii=False) + "\n"
            # half of an emoji, where a limit cut a response, becomes its escape
            line = text.encode("utf-8", "backslashreplace")
            try:
                while line:
                    line = line[os.write(descriptor, line) :]
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(file)) from None
            self.catch_up()

        try:
            self.catch_up()
            os.truncate(descriptor, self._read.get(file, 0))
            yield append
        finally:
            os.close(descriptor)


@contextmanager
def held(state: Path, shard: int) -> Iterator[None]:
    """Hold a shard's answers file, so that no other process asks for the same answers.

    ValueError says which process holds it. Systems without flock hold nothing.
    """
    state.mkdir(parents=True, exist_ok=True)
    with (state / f"lock-{shard}").open("a+", encoding="utf-8") as opened:
        if not lock(opened):
            opened.seek(0)
            raise ValueError(
                f"{state.parent} is held by process {opened.read(99)}: wait until it ends"
            )
        opened.truncate(0)
        opened.write(f"{os.getpid()} on {socket.gethostname()}")
        opened.flush()
        yield


class Unanswered(ValueError):  # noqa: N818  (what is missing, not what went wrong)
    """Requests that no answer on the disk belongs to, where no model is there to ask."""

    def __init__(self, requests: Sequence[Instance]) -> None:
        super().__init__(f"{len(requests):,} requests have no answer yet")
        self.requests = requests


class Answered(Exception):  # noqa: N818  (no error)
    """Ends an evaluation that was there to ask alone: all its answers are on the disk."""


class AnsweringModel:
    """lm-eval's model, wrapped: a request that has an answer on the disk is not sent again.

    `inner` is the model that is asked, None where the disk must do; `facts` are then what is known
    of it. What comes is appended to `file`, with what `describe` says of a request and its answer,
    and `watch` is told how many of all requests are answered: what it raises ends the run. Prompts
    are put back as they were sent, so that scoring needs no model; ValueError for an answer to
    another prompt. Each request has a seed of its own, by that of the run, where the backend takes
    one. With `end_after`, such as {"generate_until"}, the evaluation ends by Answered after these
    requests, and with `only_check` before them.
    """

    rank, world_size = 0, 1

    def __init__(
        self,
        answers: Answers,
        facts: Mapping[str, Any],
        file: Path | None = None,
        describe: Callable[[Instance, Any], Record] = lambda *_: {},
        watch: Callable[[int, int], object] = lambda *_: None,
    ) -> None:
        self.answers, self._facts, self._file = answers, facts, file
        self._describe, self._watch = describe, watch
        self.inner: LM | None = None
        self.end_after: set[str] = set()
        self.only_check = False
        self.run_seed: object = None
        self._lost_before = {*answers.lost}
        self._chats: dict[Any, str] = {}
        self._lose: Callable[[Instance, str], None] = lambda *_: None

    def __getattr__(self, name: str) -> Any:
        if name == "inner" or self.inner is None:
            raise AttributeError(name)
        return getattr(self.inner, name)

    def chat_template(self, name: bool | str = False) -> str | None:
        """Return the text of the chat template."""
        return self.inner.chat_template(name) if self.inner else self._facts.get("chat_template")

    def apply_chat_template(self, chat: list[dict[str, str]], *args: Any, **settings: Any) -> Any:
        """Return a prompt; without a model, messages in the place of the one on the disk."""
        messages = json.dumps(chat, ensure_ascii=False)
        if self.inner is None:
            return JsonChatStr(messages)
        prompt = self.inner.apply_chat_template(chat, *args, **settings)
        if isinstance(prompt, str):
            self._chats[prompt] = messages
        return prompt

    def _hash_prompt(self, request: Instance) -> str:
        """Return the hash of what is asked, the same with a model and without one."""
        if isinstance(request.doc, dict) and request.doc.get(PREFIX) is not None:
            asked = json.dumps(request.doc, default=handle_non_serializable)
        else:
            prompt = request.args[0]
            asked = prompt.prompt if isinstance(prompt, JsonChatStr) else str(prompt)
            asked = self._chats.get(asked, asked)
        return hash_string(asked)

    def give_up(self, request: Instance, why: str) -> None:
        """Take that a request that was sent gets no answer; the others go on."""
        self._lose(request, why)

    def _answer(self, kind: str, requests: list[Instance]) -> list[Any]:
        if self.only_check:
            raise Answered
        attempts: Counter[int] = Counter()
        keys = []
        for request in requests:  # lm-eval repeats a request for each attempt
            keys.append(Key.of(request, attempts[id(request)]))
            attempts[id(request)] += 1
        waiting = []
        for key, request in zip(keys, requests, strict=True):
            if key not in self.answers:
                waiting.append((key, request))
            elif self.answers.prompts.get(key) not in (None, self._hash_prompt(request)):
                raise ValueError(
                    f"{', '.join(map(str, self.answers.folders))}: the answer to {key.document} of "
                    f"{key.task} is to another prompt, as its puzzles or its task were others: "
                    "name another --output_path, or ask --anew"
                )
        if waiting and self.inner is None:
            raise Unanswered([request for _, request in waiting])
        if waiting and self.inner is not None and self._file is not None:
            self._ask(self.inner, self._file, kind, waiting, len(requests))
        if self.end_after:
            self.end_after.discard(kind)
            if not self.end_after:
                raise Answered
        return [self._read(key, request) for key, request in zip(keys, requests, strict=True)]

    generate_until = partialmethod(_answer, "generate_until")
    loglikelihood = partialmethod(_answer, "loglikelihood")
    loglikelihood_rolling = partialmethod(_answer, "loglikelihood_rolling")

    def _ask(
        self, inner: LM, file: Path, kind: str, waiting: Sequence[tuple[Key, Instance]], total: int
    ) -> None:
        """Send requests; lm-eval's backends tell a "cache hook" of each answer, by its prompt.

        A backend without one (lm-eval's dummy) has its answers written when it returns them.
        """
        said = 1 if kind == "generate_until" else 2  # what of the arguments is the prompt
        seeds = [key.seed(self.run_seed) for key, _ in waiting] if said == 1 else []
        sent = seeded(inner, [request for _, request in waiting], seeds)
        numbers: dict[tuple[Any, ...], deque[int]] = defaultdict(deque)
        for number, (_, request) in enumerate(waiting):
            numbers[request.args[:said]].append(number)
        left = dict(enumerate(waiting))
        with self.answers.appending(file) as append:

            def write(number: int, answer: Any) -> None:
                key, request = left.pop(number)
                about = {"asked": self._hash_prompt(request)}
                if "seed" in (settings := sent[number].args[-1]):
                    about["seed"] = settings["seed"]
                record = key._asdict() | {"arguments": request.args, "answer": answer} | about
                append(record | self._describe(request, answer))
                self._watch(total - len(left), total)

            def lose(request: Instance, why: str) -> None:
                number = next(number for number in left if sent[number] is request)
                append(left.pop(number)[0]._asdict() | {"lost": why})
                self._watch(total - len(left), total)

            def add_partial(_kind: str, arguments: Sequence[Any], answer: Any) -> None:
                if of_prompt := numbers.get(tuple(arguments[:said])):
                    # the attempts at a prompt have other seeds, and its tasks other limits
                    same = (n for n in of_prompt if sent[n].args == tuple(arguments))
                    number = next(same, of_prompt[0])
                    of_prompt.remove(number)
                    write(number, answer)

            def add_output(prompt: str, text: str, *facts: Any) -> None:
                of_prompt = numbers.get((prompt,))
                if of_prompt:
                    until = waiting[of_prompt[0]][1].args[1].get("until")
                    end = getattr(inner, "think_end_token", None)
                    text = postprocess_generated_text(
                        Response(text, ResponseFacts(*facts)), until, end
                    )
                    write(of_prompt.popleft(), text)

            self._watch(total - len(left), total)
            inner.set_cache_hook(SimpleNamespace(add_partial=add_partial))
            self._lose = lose
            try:
                with outputs_as_they_come(inner, add_output):
                    returned = getattr(inner, kind)(sent)
            except FAILURES:  # of those that got no answer before either, the others stay
                if not self.answers or any(waiting[n][0] not in self._lost_before for n in left):
                    raise
                returned = []
            for number, answer in enumerate(returned):
                if number in left and answer is not None:  # None: a cap has ended the asking
                    write(number, answer)

    def _read(self, key: Key, request: Instance) -> Any:
        record = self.answers[key]
        request.arguments = tuple(
            JsonChatStr(*part) if isinstance(part, list) else part for part in record["arguments"]
        )
        answer = record["answer"]
        if isinstance(answer, str):
            told = Reasoning(record.get("reasoning"), record.get("reasoning_hidden"))
            counts = record.get("backend_prompt_tokens"), record.get("response_tokens")
            facts = record.get("finish_reason"), *counts, told, record.get("served_by")
            return Response(answer, ResponseFacts(*facts))
        return tuple(answer) if isinstance(answer, list) else answer

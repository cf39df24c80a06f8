"""`Evaluation`: what is asked of which model. The Python door of `cogniload eval`.

lm-eval keeps all answers in memory until the last one is there. Here its model is wrapped: what is
answered is appended to a file as it comes, and is not asked for again (`answers_file.py`). So the
same command goes on after a kill, and shards need nothing of each other. With `--until` a design
asks batch after batch (`until.py`). When all answers are there, `runner.py` scores them.
"""

import logging
import os
import sys
import time
from argparse import Namespace
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from reprlib import repr as brief
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.models.api_models import TemplateAPI
from tqdm import tqdm

from cogniload_gen.answers.sample import LIMITS
from cogniload_gen.checks import check_path, check_shard, did_you_mean
from cogniload_gen.files import naming
from cogniload_gen.never_written import without_keys
from lm_eval_tasks import server
from lm_eval_tasks.answers_file import AnsweringModel, Answers, Unanswered, held
from lm_eval_tasks.budget import SharedBudgetTask, context_budget
from lm_eval_tasks.responses import keep_facts
from lm_eval_tasks.resume import Run
from lm_eval_tasks.runner import Results, run_lm_eval, score
from lm_eval_tasks.spending_caps import HIGHER_CAP, CapReached, Caps
from lm_eval_tasks.status import each_warning_once
from lm_eval_tasks.until import Search

log = logging.getLogger(__name__)

DESIGN = "until", "budget", "N", "at", "d"
"""What a design is to find out; all but the first need it."""

# Settings of decoding that servers and backends share, and how alike a misspelt one is.
_DECODING = {
    *("temperature", "top_p", "top_k", "min_p", "do_sample", "until", "stop", "seed", "stream"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "reasoning_effort", *LIMITS),
    *("continue_final_message", "add_generation_prompt", "chat_template_kwargs", "extra_body"),
    *("enable_thinking", "thinking_budget", "verbosity", "num_beams", "logprobs"),
}
_ALIKE = 0.85

CAPS = "max_tokens_total", "price", "max_cost"

ANEW = "; --anew asks the model again"
"""How answers that are there are put aside, where a command takes that."""


@dataclass(frozen=True)
class Evaluation:
    """What is asked of which model, with whose settings, and when to stop.

    The names and the meanings are those of `cogniload eval` and of `lm_eval run`, docs/running.md;
    None is what these take where nothing is given. ValueError for what can't be evaluated.

    Attributes:
        model: lm-eval's backend, such as "hf", "vllm" or "local-chat-completions".
        model_args: Its arguments, such as {"pretrained": "org/model"}.
        tasks: The names of tasks, ours or lm-eval's.
        gen_kwargs: Settings of decoding, such as {"temperature": 0.6}.
        metadata: The puzzles of our tasks, such as {"cogniload": {"d": 5, "N": 100, "rho": 25}}.
        until: What is to be known, such as "ECL50±20%": a design then chooses the puzzles, at most
            `budget`, over the ranges `N` and `d`, with the other loads held `at` some levels.
        max_tokens_total: The run stops at so many tokens, such as "20M".
        max_cost: The same for the cost, by the `price` IN,OUT of a million tokens.
    """

    model: str
    model_args: Mapping[str, Any] = field(default_factory=dict)
    tasks: Sequence[str] = ("cogniload",)
    gen_kwargs: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    apply_chat_template: bool | str | None = None
    system_instruction: str | None = None
    num_fewshot: int | None = None
    fewshot_as_multiturn: bool | None = None
    limit: float | None = None
    samples: Mapping[str, Any] | str | None = None
    seed: int | Sequence[int | None] | str | None = None
    batch_size: int | str | None = None
    max_batch_size: int | None = None
    device: str | None = None
    include_path: str | None = None
    trust_remote_code: bool | None = None
    confirm_run_unsafe_code: bool | None = None
    until: str | None = None
    budget: int | None = None
    N: str | None = None
    at: str | None = None
    d: str | None = None
    max_tokens_total: int | str | None = None
    price: str | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        for name in ("model_args", "gen_kwargs", "metadata"):
            if not isinstance(given := getattr(self, name), Mapping):
                raise ValueError(f"{name} must be values by name, got {brief(given)}")
        tasks = [self.tasks] if isinstance(self.tasks, str) else self.tasks
        if not isinstance(tasks, Sequence):
            raise ValueError(f"tasks must be names, got {brief(tasks)}")
        needed = {
            "tasks": any(str(task).strip(", ") for task in tasks),
            "model": self.model,
            "model_args": self.model_args or self.model == "dummy",
        }
        for name, given in needed.items():
            if not given:
                raise ValueError(
                    f"--{name} is missing: give it, or write it into the --config file"
                )
        for name in DESIGN:
            if getattr(self, name) is not None and self.until is None:
                raise ValueError(f"{name} is of a run with --until, which is not given")
        if not (self.limit is None or (isinstance(self.limit, int | float) and self.limit > 0)):
            raise ValueError(f"limit must be a number above 0, got {brief(self.limit)}")
        if without_keys(self.gen_kwargs) != self.gen_kwargs:
            raise ValueError(
                "gen_kwargs must hold no key or token, since it is written beside each response: "
                "give it in --model_args or the environment"
            )
        _refuse_misspelt("gen_kwargs", self.gen_kwargs, _DECODING)
        _ = self.caps

    def run(self, out: str | Path, *, shard: str = "1/1", anew: bool = False) -> Results:
        """Ask what has no answer in `out` yet, up to a cap; score a whole run, and return it.

        The same call goes on where it was stopped. `shard` I/N answers the I-th of N equal parts
        alone. With `anew`, the answers that are there are put aside. ValueError or OSError, in a
        line, for what can't be evaluated, and for a folder that was begun with something else.
        """
        folder, (index, shards) = Path(out), check_shard(shard)
        with each_warning_once(), Asking(self, folder, (index, shards), anew=anew) as asking:
            try:
                if asking.search:
                    asking.search.ask_all(asking)
                else:
                    asking.ask()
            except CapReached as reached:
                return Results(folder, stopped=str(reached), next=HIGHER_CAP)
            lines = asking.search.summary() if asking.search else []
            if shards == 1:
                done = score(asking.run, asking.config, asking.loaded, asking.answers, folder)
                return replace(done, lines=[*lines, *done.lines])
            left = max(asking.run.total - len(asking.answers.documents), 0)
            said = f"shard {index}/{shards} is done; {left:,} puzzles are left to other shards"
            merge = f"cogniload eval --merge {folder}" + ", when all are done" * (left > 0)
            return Results(folder, lines=[*lines, said], next=merge)

    @property
    def caps(self) -> Caps:
        """At how many tokens, and at what cost, the run stops."""
        return Caps.of(self.max_tokens_total, self.price, self.max_cost)


class Asking:
    """A run's model, which is loaded when there is something to ask, and its answers in a folder.

    `shard` is the I-th of N. With `anew`, the answers that are there are put aside.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        folder: Path,
        shard: tuple[int, int] = (1, 1),
        *,
        anew: bool = False,
        hint: str = ANEW,
    ) -> None:
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as lm-eval's own command does
        self.folder, self.shard, self.caps = folder, shard, evaluation.caps
        given = asdict(evaluation)
        until = [given.pop(name) for name in DESIGN]
        settings = {name: value for name, value in given.items() if name not in CAPS}
        config = self.config = EvaluatorConfig.from_cli(Namespace(**settings))
        self.search = Search.begin(config, until, shard) if evaluation.until is not None else None
        self.run = Run.of(config, self.search.until if self.search else None)
        self.loaded = self.run.load_tasks(config.include_path, config.model_args, self.search)
        if shard[1] > 1:
            chosen = self.run.shard(self.loaded["tasks"], *shard)
            config.limit, config.samples = None, {name: own for name, own in chosen.items() if own}
            self.loaded["tasks"] = {name: self.loaded["tasks"][name] for name in config.samples}
        self.tasks = self.loaded["tasks"]
        file = folder / "state" / f"answers-{shard[0]}.jsonl"
        self.answers = Answers([folder])
        self._locks, self._holds = ExitStack(), False
        # what was refused before its first answer binds nobody; another shard may still be loading
        if (self.answers or shard[1] > 1) and (begun := Run.read(folder)):
            begun.refuse_another(folder, self.run)
            self.run.what = begun.what
            self.run.model, self.run.about = begun.model, begun.about
        if anew and file.exists():
            self._hold()
            begins = self.run.about["anew"] = self.run.about.get("anew", 0) + 1
            self.run.model = {}  # another one may have its name now
            self.run.write(folder)
            file.rename(file.with_name(f"{file.name}.before-{begins}"))
            self.answers = Answers([folder])
        if self.answers:
            print(
                f"continuing: {len(self.answers):,} answers are there, of a run that was begun "
                f"{self.run.began:%Y-%m-%d %H:%M} UTC{hint}",
                file=sys.stderr,
            )
        self.model = AnsweringModel(self.answers, {}, file, self._describe, self._watch)
        self.model.run_seed = self.run.seed
        self.left, self.screen = 0, sys.stderr
        self.bar: tqdm[Any] | None = None
        self._before = 0

    def __enter__(self) -> "Asking":
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
        self._locks.close()

    def _hold(self) -> None:
        """Hold the answers file as long as this lives, and read what others have written."""
        if not self._holds:
            self._locks.enter_context(held(self.folder / "state", self.shard[0]))
            self._holds = True
            self.answers.catch_up()

    def ask(self, *, check: bool = False) -> None:
        """Ask for the answers of this shard's documents; nothing is asked twice.

        No model is loaded where all of them are on the disk; a design asks only what is not. With
        `check`, have each budget refuse what does not fit, and ask nothing. CapReached where a cap
        ends it.
        """
        if not self.tasks:  # more shards than documents leave some with nothing
            return
        if not self.search and len(self.answers.documents) >= self.run.total // self.shard[1]:
            with suppress(Unanswered):
                run_lm_eval(AnsweringModel(self.answers, {}), self.config, self.loaded)
                return
        self._hold()
        self._stop_at_cap()
        self.run.about.pop("stopped", None)
        self.model.inner = self.model.inner or self._load_model()
        self.model.only_check, self.left = check, 0
        shared, self._before = self.bar, int(self.bar.n) if self.bar is not None else 0
        try:
            run_lm_eval(self.model, self.config, self.loaded)
        finally:
            if self.bar is not None and shared is None:
                self.bar.close()
                self.bar = None
        if self.left:
            self._stop_at_cap()

    def show(self, found: str, done: int, total: int) -> None:
        """Show what batch after batch has found so far, on one bar of all of them."""
        if self.bar is None:
            self.bar = progress(total, done, self.screen)
        self.bar.n = done
        self.bar.set_description_str(found)

    def _load_model(self) -> LM:
        """Return the model, in lm-eval's backend; run.json is written with what is known of it.

        ValueError if it can't be loaded, or is not the one that the folder was begun with.
        """
        config = self.config
        _warn_of_thinking(config)
        _check_model_args(config)
        server.check_arguments(config)
        for name in ("pretrained", "tokenizer", "peft"):
            check_path(name, config.model_args.get(name))
        sizes = {name: getattr(config, name) for name in ("batch_size", "max_batch_size", "device")}
        with naming(config.model, Exception):  # every backend fails in its own way
            model = get_model(config.model).create_from_arg_obj(config.model_args, sizes)
        if model.world_size > 1:
            raise ValueError(f"--shard takes the place of {model.world_size} processes in one run")
        keep_facts(model)
        server.fill_every_slot(model, lambda: self._cap() is not None, self.model.give_up)
        served = server.check_server(model, context_budget(self.tasks))
        facts = model.get_model_info() if hasattr(model, "get_model_info") else {}
        facts |= {"root": served.get("root")}
        if config.apply_chat_template:
            facts["chat_template"] = model.chat_template(config.apply_chat_template)
        self.run.learn(self.folder, facts)
        if not self.run.about:
            in_process = type(model).__module__ == "lm_eval.models.vllm_causallms"
            engine = version("vllm") if in_process else served.get("version")
            self.run.about = {"date": time.time(), "vllm_version": engine}
        self.run.write(self.folder)
        return model

    def _describe(self, request: Instance, answer: Any) -> dict[str, Any]:
        """Return what the task says of an answer, if it is one of ours."""
        task = self.tasks[str(request.task_name)]
        return task.describe(request, answer) if isinstance(task, SharedBudgetTask) else {}

    def _watch(self, done: int, total: int) -> None:
        """Show how far the run is; CapReached where a cap ends it."""
        if self.bar is None:  # before anything is asked
            self.bar = progress(total, done, self.screen)
        if self.answers.scored and not self.bar.desc:
            accuracy = self.answers.correct / self.answers.scored
            self.bar.set_postfix_str(f"acc {accuracy:.1%}", refresh=False)
        self.bar.update(self._before + done - self.bar.n)
        self.left = total - done
        if self.left and not isinstance(self.model.inner, TemplateAPI):  # which stops by itself
            self._stop_at_cap()

    def _cap(self) -> str | None:
        return self.caps.reached(self.answers.tokens, self.answers.uncounted)

    def _stop_at_cap(self) -> None:
        if reached := self._cap():
            self.run.about["stopped"] = reached
            self.run.write(self.folder)
            raise CapReached(reached)


def progress(total: int, done: int, screen: Any) -> "tqdm[Any]":
    """Return a bar of answers on a screen."""
    seconds = 0.1 if screen.isatty() else 30  # a line that moves, or one now and then
    pace = partial(tqdm, unit=" answers", smoothing=0, mininterval=seconds)
    return pace(total=total, initial=done, file=screen)


def _refuse_misspelt(where: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError for a name that is nearly a `known` one.

    Servers take many more settings, so what is like no known one is sent.
    """
    for name in names:
        if name not in known and (near := did_you_mean(name, known, _ALIKE)):
            raise ValueError(f"--{where} has no {name}{near}")


def _check_model_args(config: EvaluatorConfig) -> None:
    """Raise ValueError for an argument of a model that is misspelt, or missing."""
    makers = [kind.__init__ for kind in get_model(config.model).__mro__ if kind is not object]
    taken = [parameter for maker in makers for parameter in signature(maker).parameters.values()]
    given = config.model_args or {}
    _refuse_misspelt("model_args", given, {each.name for each in taken})
    for each in [*signature(makers[0]).parameters.values()][1:]:
        needed = each.kind is each.POSITIONAL_OR_KEYWORD and each.default is each.empty
        if needed and each.name not in given:
            got = ", ".join(given) or "none"
            raise ValueError(f"--model {config.model} needs {each.name} in --model_args, got {got}")


def _warn_of_thinking(config: EvaluatorConfig) -> None:
    """Warn of an `enable_thinking` that lm-eval 0.4.13 overwrites in its vLLM model."""
    given = config.model_args or {}
    nested = given.get("chat_template_args")
    asked = nested.get("enable_thinking") if isinstance(nested, dict) else None
    if config.model == "vllm" and asked not in (None, given.get("enable_thinking")):
        plain = f"enable_thinking={asked}{',think_end_token=</think>' * bool(asked)}"
        says = "lm-eval's vLLM model ignores enable_thinking in chat_template_args"
        log.warning("%s: give %s in --model_args itself", says, plain)

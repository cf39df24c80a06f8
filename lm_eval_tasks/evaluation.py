"""`Evaluation`: what is asked of which model. The Python door of `cogniload eval`."""

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from reprlib import repr as brief
from typing import Any

from lm_eval.config.evaluate_config import EvaluatorConfig

from cogniload_gen.checks import check_shard
from cogniload_gen.never_written import without_keys
from lm_eval_tasks.runner import Asking, Results, evaluate
from lm_eval_tasks.spending_caps import Caps
from lm_eval_tasks.status import each_warning_once

DESIGN = "until", "budget", "N", "at", "d"
"""What a design is to find out; all but the first need it."""

CAPS = "max_tokens_total", "price", "max_cost"


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
        _ = self.caps

    def run(self, out: str | Path, *, shard: str = "1/1", anew: bool = False) -> Results:
        """Ask what has no answer in `out` yet, up to a cap; score a whole run, and return it.

        The same call goes on where it was stopped. `shard` I/N answers the I-th of N equal parts
        alone. With `anew`, the answers that are there are put aside. ValueError or OSError, in a
        line, for what can't be evaluated, and for a folder that was begun with something else.
        """
        with each_warning_once():
            return evaluate(self.asking(Path(out), check_shard(shard), anew=anew))

    def asking(self, out: Path, shard: tuple[int, int] = (1, 1), *, anew: bool = False) -> Asking:
        """Return the run's model and what it has answered in `out`; arguments as for `run`."""
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as lm-eval's own command does
        until = None if self.until is None else tuple(getattr(self, name) for name in DESIGN)
        return Asking(self._config(), out, shard, until, self.caps, anew=anew)

    @property
    def caps(self) -> Caps:
        """At how many tokens, and at what cost, the run stops."""
        return Caps.of(self.max_tokens_total, self.price, self.max_cost)

    def _config(self) -> EvaluatorConfig:
        """Return lm-eval's configuration, as lm-eval checks and completes it."""
        ours = {*DESIGN, *CAPS}
        given = {name: value for name, value in asdict(self).items() if name not in ours}
        return EvaluatorConfig.from_cli(Namespace(**given))

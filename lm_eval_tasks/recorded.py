"""The arguments that a run recorded, for `cogniload eval` to put more puzzles to its model."""

import json
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from lm_eval_tasks.configuration import CAPS, Run
from lm_eval_tasks.runner import run as run_evaluation

HERE = r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?[/\"',]"
UNTRUSTED = {
    "a model that brings code": "trust_remote_code|allow_all_kernels|attn_implementation[^,]*/",
    "a server elsewhere, which would get your key": f"://(?!{HERE})",
}
"""What the recorded arguments of a model, as JSON, may not say: the folder may be anyone's."""


def recorded_arguments(run: Path, others: Sequence[str]) -> list[str]:
    """Return lm-eval's arguments for the model and the decoding of a run, but those in `others`.

    Of a folder of `cogniload eval` they are those of its run.json, otherwise those of its last
    results. Each is one word with its value, which thus can't be an option. ValueError where
    nothing is recorded, for what is UNTRUSTED, and for a model's folder that is not there.
    """
    settings = _settings_of(run.parent if run.is_file() else run)
    named = {other.partition("=")[0] for other in others}
    model_args = settings.get("model_args") or {}
    if "--model_args" not in named:
        for what, pattern in UNTRUSTED.items():
            # clients of HTTP drop tabs and line breaks within a URL
            if re.search(pattern, re.sub(r"\\[nrt]", "", json.dumps(model_args))):
                raise ValueError(f"{run} names {what}: give --model_args yourself")
        if isinstance(model_args, dict) and "gguf_file" in model_args:
            folder = Path(str(model_args.get("pretrained")))
            if not folder.is_dir():
                raise ValueError(
                    f"{run} names the model in {folder}, which is not there: go to the folder that "
                    "it was run in, or give --model_args yourself"
                )
    taken = ("model", "model_args", "gen_kwargs", "batch_size", "device", "system_instruction")
    words = [
        f"--{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name in taken
        if (value := settings.get(name)) and f"--{name}" not in named
    ]
    if isinstance(seed := settings.get("seed"), list | tuple):
        words.append(f"--seed={','.join(map(str, seed))}")
    if template := settings["apply_chat_template"]:
        words.append("--apply_chat_template" + f"={template}" * isinstance(template, str))
    return words


def _settings_of(folder: Path) -> dict[str, Any]:
    if begun := Run.read(folder / "state"):
        device = begun.about["arguments"].get("device")
        return begun.what | {"model_args": begun.model_args, "device": device}
    files = sorted(folder.rglob("results_*.json"))
    results: Any = json.loads(files[-1].read_text("utf-8")) if files else None
    config = results.get("config") if isinstance(results, dict) else None
    settings: dict[str, Any] = config if isinstance(config, dict) else {}
    if not isinstance(settings.get("model"), str):
        raise ValueError(f"{folder} must hold run.json or results_*.json, which name the model")
    # a server's template is not recorded, but that it was applied is, as it implies the turns
    applied = bool(results.get("chat_template") or results.get("fewshot_as_multiturn"))
    about = {"system_instruction": results.get("system_instruction")}
    return settings | about | {"apply_chat_template": applied}


def evaluate_again(out: Path, others: Sequence[str], shard: str | None = None) -> None:
    """Run `cogniload eval` into `out`, with lm-eval's arguments in `others`."""
    names = ("config", "until", "budget", "range", "merge", "status", *CAPS)
    ours = Namespace(**dict.fromkeys(names), shard=shard, output_path=out)
    with redirect_stdout(sys.stderr):
        run_evaluation(ours, others)

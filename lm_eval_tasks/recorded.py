"""The arguments that a run recorded, for `cogniload eval` to put more puzzles to its model."""

import json
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from cogniload_gen.files.inputs import json_row, read_whole
from cogniload_gen.files.run_folder import RunFolder
from cogniload_gen.files.whole import make_inner_folder
from lm_eval_tasks.runner.caps import CAPS

HERE = r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?[/\"',]"
UNTRUSTED = {
    "a model that brings code": "trust_remote_code|allow_all_kernels|attn_implementation[^,]*/",
    "a server elsewhere, which would get your key": f"://(?!{HERE})",
}
"""What the recorded arguments of a model, as JSON, may not say: the folder may be anyone's.

Clients of HTTP drop tabs and line breaks within a URL, so these are left out first.
"""


def recorded_arguments(run: Path, others: Sequence[str]) -> list[str]:
    """Return lm-eval's arguments for the model and the decoding of a run, but those in `others`.

    Of a folder of `cogniload eval` they are those of its run.json, otherwise those of its last
    results. Each is one word with its value, which thus can't be an option. ValueError where
    nothing is recorded, and for what is UNTRUSTED.
    """
    folder = run.parent if run.is_file() else run
    begun = RunFolder(folder / "state").read_run()
    settings: dict[str, Any]
    if begun:
        own = ("model", "gen_kwargs", "seed", "apply_chat_template", "system_instruction")
        settings = {name: getattr(begun.arguments, name) for name in own}
        settings |= {"model_args": begun.model_args}
        settings |= {"device": begun.recorded["arguments"].get("device")}
    else:
        files = sorted(folder.rglob("results_*.json"))
        results: Any = json_row(read_whole(files[-1]), str(files[-1])) if files else None
        config = results.get("config") if isinstance(results, dict) else None
        settings = config if isinstance(config, dict) else {}
        if not isinstance(settings.get("model"), str):
            raise ValueError(f"{folder} must hold run.json or results_*.json, which name the model")
        # a server's template is not recorded, but that it was applied is, as it implies the turns
        applied = results.get("chat_template") or results.get("fewshot_as_multiturn")
        settings["apply_chat_template"] = bool(applied)
        settings["system_instruction"] = results.get("system_instruction")
    named = {other.partition("=")[0] for other in others}
    for what, pattern in UNTRUSTED.items():
        model_args = re.sub(r"\\[nrt]", "", json.dumps(settings.get("model_args")))
        names_it = re.search(pattern, model_args)
        if names_it and "--model_args" not in named:
            raise ValueError(f"{folder} names {what}: give --model_args yourself")
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


def evaluate_again(out: Path, others: Sequence[str], **blocks: object) -> None:
    """Run `cogniload eval` into `out`, with lm-eval's arguments in `others`.

    `blocks` are its `shard` and `block_size`.
    """
    from lm_eval_tasks.runner.command import run  # noqa: PLC0415  (an extra)

    names = ("config", "until", "budget", "range", "merge", "status", *CAPS)
    ours = Namespace(**dict.fromkeys(names), **blocks, output_path=out)
    make_inner_folder(out)
    with redirect_stdout(sys.stderr):
        run(ours, others)

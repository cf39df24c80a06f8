"""`cogniload why`: a run's model is asked the twins of the puzzles that it failed and solved."""

import json
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import pyarrow.parquet as pq

from cogniload_gen.twins import make_repairs, make_twins, write_twins
from lm_eval_tasks.configuration import Run
from lm_eval_tasks.runner import Capped, run_into
from lm_eval_tasks.tasks import refuse_files

TWINS, ANSWERS = Path("puzzles") / "twins.parquet", "answers"
"""What `why` writes into its folder: the puzzles, and the evaluation of them."""

HERE = r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?[/\"',]"
UNTRUSTED = {
    "a model that brings code": "trust_remote_code|allow_all_kernels|attn_implementation[^,]*/",
    "a server elsewhere, which would get your key": f"://(?!{HERE})",
}
"""What the recorded arguments of a model, as JSON, may not say: the folder may be anyone's."""


def ask_twins(
    run: Path,
    out: Path,
    budget: int,
    seed: int,
    others: Sequence[str] = (),
    shard: str | None = None,
    *,
    repair: bool = False,
) -> Path:
    """Ask a run's model the twins of its puzzles, and return the folder of the results.

    With `repair`, it goes on from its own responses instead, cut at a step (`make_repairs`).

    The model and its decoding are those that the run recorded; `others` are arguments of lm-eval
    that go before them, and `shard` is I/N. Twins that are answered stay. ValueError for what can't
    be evaluated, for a run that names a file as its task, and for an `out` with other twins, or
    with anything else. Capped where a cap has stopped it.
    """
    twins, file = (make_repairs if repair else make_twins)(run, budget, seed), out / TWINS
    settings = recorded_arguments(run, others)
    refuse_files([twins.task])
    refuse_others(out, file, out / ANSWERS)
    if not (file.exists() and pq.read_table(file, columns=["id"])["id"] == twins.table["id"]):
        if any(file.stat().st_size for file in out.glob(f"{ANSWERS}/state/answers-*")):
            raise ValueError(
                f"{out} holds other twins, of another budget or seed: name another --out"
            )
        write_twins(twins, file, force=True)
    limit = {"context_budget": twins.context_budget} if twins.context_budget is not None else {}
    metadata = json.dumps({twins.benchmark.dataset: {"path": str(file.parent)} | limit})
    arguments = [f"--tasks={twins.task}", f"--metadata={metadata}", *settings, *others]
    of = run.parent if run.is_file() else run
    with redirect_stdout(sys.stderr):
        if run_into(out / ANSWERS, arguments, of, shard=shard):
            raise Capped
    return out / ANSWERS


def refuse_others(out: Path, *ours: Path) -> None:
    """Raise ValueError for a folder that holds anything but our own files and folders."""
    parts = {*ours, *(part for file in ours for part in file.parents)}
    held = {each for part in parts - {*ours} if part.is_relative_to(out) for each in part.glob("*")}
    if foreign := sorted(held - parts):
        raise ValueError(f"{out} holds something else, {foreign[0].name}: name another --out")


def recorded_arguments(run: Path, others: Sequence[str]) -> list[str]:
    """Return lm-eval's arguments for the model and the decoding of a run, but those in `others`.

    They are those of its run.json; without one, `others` must name the model, or a --config, which
    has all of them. Each is one word with its value, which thus can't be an option. ValueError for
    what is UNTRUSTED.
    """
    named = {other.partition("=")[0] for other in others}
    begun = Run.read(run.parent if run.is_file() else run)
    if begun is None or "--config" in named:
        if not named & {"--model", "--config"}:
            missing = f"{run} has no state/run.json, so it is no --output_path of cogniload eval"
            raise ValueError(f"{missing}: name one, or give --model (gate: --base-config)")
        return []
    if "--model_args" not in named:
        for what, pattern in UNTRUSTED.items():
            # clients of HTTP drop tabs and line breaks within a URL
            if re.search(pattern, re.sub(r"\\[nrt]", "", json.dumps(begun.model_args))):
                raise ValueError(f"{run} names {what}: give --model_args (gate: --base-config)")
    settings = begun.what | begun.free | {"model_args": begun.model_args}
    taken = ("model", "model_args", "gen_kwargs", "device", "batch_size", "system_instruction")
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

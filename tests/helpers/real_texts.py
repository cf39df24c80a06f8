"""The labelled responses of the real runs in examples/."""

from source_tree import ROOT
from stored import read_lines


def real_responses(labels):
    """Return the labelled responses of the runs in examples/, with their puzzles."""
    samples = {}
    for file in (ROOT / "examples").rglob("samples_cogniload_worked*.gz"):
        if "limit_128" not in file.parts:
            (model,) = (part for part in file.parts if part.startswith(("Qwen", "SmolLM2")))
            samples |= {(model, sample["doc"]["id"]): sample for sample in read_lines(file)}
    found = [(samples[label["model"], label["id"]], label) for label in labels]
    return [sample["doc"] | label | {"response": sample["resps"][0][0]} for sample, label in found]

"""lm-eval's samples_*.jsonl -> where the reasoning of each response breaks, without the model."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import StepsRead
from cogniload_gen.sample import STEP_FACTS
from lm_eval_tasks.rescore import file_of, read_samples


def count_errors(path: Path, out: Path | None = None, *, force: bool = False) -> Counter[str]:
    """Return how many responses of a samples file have which first error.

    The keys are the kinds of errors, "none" for a response without one, and "not read". With `out`,
    a JSON line for each response is written there, whole or not at all; raises FileExistsError if
    it exists, unless `force`. Raises ValueError that names the line which is no sample of ours.
    """
    counts: Counter[str] = Counter()
    with file_of(out, force=force) as file:
        for sample, steps in read_samples(path, steps_of):
            counts["not read" if not steps.read else steps.error or "none"] += 1
            if file:
                facts = {name: getattr(steps, name) for name in STEP_FACTS}
                file.write(json.dumps({"id": sample["doc"].get("id")} | facts) + "\n")
    return counts


def steps_of(sample: dict[str, Any]) -> StepsRead:
    """Return what is read of a sample's response."""
    return benchmarks.read_steps(str(sample["filtered_resps"][0]), sample["doc"])

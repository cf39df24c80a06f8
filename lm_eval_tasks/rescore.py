"""lm-eval's samples_*.jsonl -> their scores and first errors again, without running the model."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import OutcomeName, Score, StepsRead
from cogniload_gen.files.inputs import MALFORMED, read_lines
from cogniload_gen.files.whole import make_inner_folder, whole_file
from cogniload_gen.sample import STEP_FACTS, score_metrics, step_metrics
from lm_eval_tasks.metrics import split_failure

Judged = TypeVar("Judged")


def rescore(
    path: Path, out: Path | None = None, *, force: bool = False
) -> tuple[Counter[OutcomeName], int]:
    """Return the outcomes of a samples file's responses, and how many differ from the file's.

    With `out`, the samples with their new outcomes, and with where their reasoning breaks, are
    written there, whole or not at all; raises FileExistsError if it exists, unless `force`. Raises
    ValueError that names the line which is no sample of a CogniLoad or a FACTOR task.
    """
    outcomes: Counter[OutcomeName] = Counter()
    changed = 0
    with file_of(out, force=force) as file:
        for sample, scored in read_samples(path, score_sample):
            outcomes[scored.outcome] += 1
            changed += scored.outcome != sample.get("outcome")
            if file:
                steps = step_metrics(str(sample["filtered_resps"][0]), sample["doc"])
                metrics = score_metrics(scored) | steps
                metrics |= split_failure(sample["doc"], int(scored.correct))
                file.write(json.dumps(replace_metrics(sample, metrics)) + "\n")
    return outcomes, changed


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


@contextmanager
def file_of(out: Path | None, *, force: bool) -> Iterator[TextIO | None]:
    """Yield a file that becomes `out`, whole or not at all; None where there is no `out`.

    The folder that it is to be in is made, as a report wants one of the model's name.
    """
    if out is None:
        yield None
    else:
        make_inner_folder(out.parent)
        with whole_file(out, force=force) as part, part.open("w", encoding="utf-8") as file:
            yield file


def read_samples(
    path: Path, judge: Callable[[dict[str, Any]], Judged]
) -> Iterator[tuple[dict[str, Any], Judged]]:
    """Yield the samples of a file, gzipped or not, each with what `judge` says of it.

    ValueError names a line that is no sample, or a file without one.
    """
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        try:
            sample = json.loads(line)
            judged = judge(sample)
        except MALFORMED as error:
            raise ValueError(
                f"{path} line {number} must be a sample of a task of ours, "
                f"got {line[:40]!r} ({type(error).__name__}: {error})"
            ) from None
        yield sample, judged
    if not number:
        raise ValueError(f"{path} must hold at least one sample, got an empty file")


def replace_metrics(sample: dict[str, Any], metrics: dict[str, Any]) -> dict[str, Any]:
    """Return a sample with other metrics, all named in its `metrics`.

    What lm-eval's aggregations fit is left out: those metrics are lists that hold the old score.
    """
    listed = sample.get("metrics")
    named = dict.fromkeys([*map(str, listed if isinstance(listed, list) else ()), *metrics])
    fitted = {name for name in named if isinstance(sample.get(name), list)} - metrics.keys()
    replaced = {name: value for name, value in sample.items() if name not in fitted} | metrics
    return replaced | {"metrics": [name for name in named if name in replaced]}


def score_sample(sample: dict[str, Any]) -> Score:
    """Return the score of a sample's response, with the tokens and the budget that it had.

    Where it does not say both, the budget is the benchmark's own.
    """
    prompt_tokens, budget = sample.get("prompt_tokens"), None
    if prompt_tokens is not None and "arguments" in sample:
        budget = prompt_tokens + sample["arguments"]["gen_args_0"]["arg_1"]["max_gen_toks"]
    return benchmarks.score(
        sample["filtered_resps"][0],
        sample["doc"],
        prompt_tokens=prompt_tokens,
        response_tokens=sample.get("response_tokens"),
        context_budget=budget,
    )


def steps_of(sample: dict[str, Any]) -> StepsRead:
    """Return what is read of a sample's response."""
    return benchmarks.read_steps(str(sample["filtered_resps"][0]), sample["doc"])

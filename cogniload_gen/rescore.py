"""lm-eval's samples_*.jsonl -> the same samples, scored again without running the model."""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from cogniload_gen.cogniload.score import Outcome, outcome_metrics, score_response
from cogniload_gen.files import whole_file

FITTED = ("ECL50", "NT50", "ID50")
"""What lm-eval's aggregations fit, which holds the old score: a new file leaves it out."""


def rescore(path: Path, out: Path | None = None, *, force: bool = False) -> tuple[Counter, int]:
    """The outcomes of the responses in a samples file, and how many differ from the file's own.

    With `out`, the samples with their new outcomes are written there, whole or not at all; raises
    FileExistsError if it exists, unless `force`. Raises ValueError that names the line which is
    no sample of a CogniLoad task.
    """
    outcomes, changed = Counter(), 0
    with ExitStack() as stack:
        temporary = stack.enter_context(whole_file(out, force=force)) if out else None
        file = stack.enter_context(temporary.open("w", encoding="utf-8")) if out else None
        for sample, outcome in scored_samples(path):
            outcomes[outcome] += 1
            changed += outcome != sample.get("outcome")
            if file:
                kept = {name: value for name, value in sample.items() if name not in FITTED}
                scored = kept | outcome_metrics(outcome)
                file.write(json.dumps(scored) + "\n")
        if not outcomes:
            raise ValueError(f"{path} must hold at least one sample, got an empty file")
    return outcomes, changed


def scored_samples(path: Path) -> Iterator[tuple[dict, Outcome]]:
    """The samples of a file with their outcomes; ValueError names a line that is no sample."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                yield score_line(line, f"{path} line {number}")
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path} must be a whole gzip file: {error}") from None


def score_line(line: bytes, where: str) -> tuple[dict, Outcome]:
    """The sample of a line with its outcome; ValueError if it is no sample."""
    try:
        sample = json.loads(line)
        return sample, score_sample(sample)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{where} must be a sample of a CogniLoad task, "
            f"got {line[:40]!r} ({type(error).__name__}: {error})"
        ) from None


def score_sample(sample: dict) -> Outcome:
    """The outcome of a sample's response, with the tokens and the budget that it had."""
    doc, response = sample["doc"], sample["filtered_resps"][0]
    prompt_tokens = sample.get("prompt_tokens")
    budget = {}
    if prompt_tokens is not None:
        limit = sample["arguments"]["gen_args_0"]["arg_1"]["max_gen_toks"]
        budget["context_budget"] = prompt_tokens + limit
    return score_response(
        response,
        poi=doc["poi"],
        answer=doc["answer"],
        category=doc["category"],
        options=doc["options"],
        prompt_tokens=prompt_tokens,
        response_tokens=sample.get("response_tokens"),
        **budget,
    )

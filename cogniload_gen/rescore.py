"""lm-eval's samples_*.jsonl -> the same samples, scored again without running the model."""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from cogniload_gen.document import ScoredResponse, score_document
from cogniload_gen.files import whole_file

FITTED = ("ECL50", "NT50", "ID50", "cdf", "cdo", "n_eff")
"""What lm-eval's aggregations fit, which holds the old score: a new file leaves it out."""


def rescore(path: Path, out: Path | None = None, *, force: bool = False) -> tuple[Counter, int]:
    """The outcomes of the responses in a samples file, and how many differ from the file's own.

    With `out`, the samples with their new outcomes are written there, whole or not at all; raises
    FileExistsError if it exists, unless `force`. Raises ValueError that names the line which is
    no sample of a CogniLoad or a FACTOR task.
    """
    outcomes, changed = Counter(), 0
    with ExitStack() as stack:
        temporary = stack.enter_context(whole_file(out, force=force)) if out else None
        file = stack.enter_context(temporary.open("w", encoding="utf-8")) if out else None
        for sample, scored in scored_samples(path):
            outcomes[scored.outcome] += 1
            changed += scored.outcome != sample.get("outcome")
            if file:
                kept = {name: value for name, value in sample.items() if name not in FITTED}
                file.write(json.dumps(kept | scored.metrics) + "\n")
        if not outcomes:
            raise ValueError(f"{path} must hold at least one sample, got an empty file")
    return outcomes, changed


def scored_samples(path: Path) -> Iterator[tuple[dict, ScoredResponse]]:
    """The samples of a file with their scores; ValueError names a line that is no sample."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                yield score_line(line, f"{path} line {number}")
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path} must be a whole gzip file: {error}") from None


def score_line(line: bytes, where: str) -> tuple[dict, ScoredResponse]:
    """The sample of a line with its score; ValueError if it is no sample."""
    try:
        sample = json.loads(line)
        return sample, score_sample(sample)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{where} must be a sample of a CogniLoad or FACTOR task, "
            f"got {line[:40]!r} ({type(error).__name__}: {error})"
        ) from None


def score_sample(sample: dict) -> ScoredResponse:
    """The score of a sample's response, with the tokens and the budget that it had."""
    prompt_tokens, budget = sample.get("prompt_tokens"), None
    if prompt_tokens is not None:
        budget = prompt_tokens + sample["arguments"]["gen_args_0"]["arg_1"]["max_gen_toks"]
    return score_document(
        sample["doc"],
        sample["filtered_resps"][0],
        prompt_tokens=prompt_tokens,
        response_tokens=sample.get("response_tokens"),
        context_budget=budget,
    )

"""What the CogniLoad YAMLs name: the puzzles, the score of a response, and the metrics of a run."""

import logging
from functools import lru_cache
from math import isfinite

import pyarrow as pa
import pyarrow.compute as pc
from datasets import Dataset

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.score import QUALIFIERS
from cogniload_gen.cogniload.table import SCHEMA
from lm_eval_tasks.documents import make_documents
from lm_eval_tasks.metrics import log_problems, score_counted, token_counts
from lm_eval_tasks.published import check_rows, load_published

log = logging.getLogger(__name__)

NEEDED = ("id", "d", "N", "rho", "puzzle", "answer", "category", "poi", "options")
"""The columns of published puzzles without which they can't be run, scored or analysed."""

THRESHOLDS = ("ECL50", "NT50", "ID50")


def make_dataset(*, defaults: dict, cogniload: dict | None = None, **_) -> dict[str, Dataset]:
    """The puzzles of a task, as its `custom_dataset`.

    `defaults` are the YAML's parameters and `cogniload` those of --metadata '{"cogniload": {...}}'.
    lm-eval mixes model arguments and its own keys into the same mapping: those are ignored.
    ValueError as `make_documents`.
    """
    return make_documents(
        "cogniload", defaults, cogniload, generate=generate_puzzles, load=published_puzzles
    )


def published_puzzles(path: str, name: str | None = None, split: str | None = None) -> pa.Table:
    """The puzzles of a published split (`load_published`), which may come from anywhere.

    ValueError if they lack what a run and its analysis need, or have it wrong.
    """
    puzzles = load_published(path, name, split, schema=SCHEMA, required=NEEDED)
    rules = {
        "d": (pc.greater_equal(puzzles["d"], 1), "at least 1"),
        "N": (pc.greater_equal(puzzles["N"], 1), "at least 1"),
        "rho": (
            pc.and_(pc.greater(puzzles["rho"], 0), pc.less_equal(puzzles["rho"], 100)),
            "a percentage above 0 and up to 100",
        ),
        "category": (
            pc.is_in(puzzles["category"], pa.array(QUALIFIERS)),
            f"one of {', '.join(QUALIFIERS)}",
        ),
    }
    check_rows(puzzles, path, rules)
    if pc.list_flatten(puzzles["options"]).null_count:
        raise ValueError(f"options of {path!r} must be texts, got null")
    pairs = zip(puzzles["answer"].to_pylist(), puzzles["options"].to_pylist(), strict=True)
    known = pa.array([answer in options for answer, options in pairs])
    check_rows(puzzles, path, {"answer": (known, "one of the row's options")})
    return puzzles


def process_results(doc: dict, results: list[str]) -> dict:
    """The metrics of one response (section 3, Appendix D).

    `doc` is a puzzle with the token counts and the budget of its request (`SharedBudgetTask`).
    """
    scored = score_counted(doc, results[0])
    load = (doc["d"], doc["N"], doc["rho"] / 100, scored.metrics["acc"])
    return scored.metrics | dict.fromkeys(THRESHOLDS, load) | token_counts(doc)


def ecl50(loads: list[tuple]) -> float | None:
    """ECL50 of a run: the number of statements at which it solves half of the puzzles (3.1.3)."""
    return capacity(tuple(loads))["ECL50"]


def nt50(loads: list[tuple]) -> float | None:
    """NT50 of a run: the share of needles (0 to 1) at which it solves half of them (3.1.3)."""
    return capacity(tuple(loads))["NT50"]


def id50(loads: list[tuple]) -> float | None:
    """ID50 of a run: the difficulty d at which it solves half of the puzzles (3.1.3)."""
    return capacity(tuple(loads))["ID50"]


@lru_cache(maxsize=1)  # the three metrics of a run ask for the same fit
def capacity(loads: tuple[tuple[int, int, float, int], ...]) -> dict[str, float | None]:
    """The capacity thresholds of responses (d, N, rho as a fraction, correct), by name.

    None for a threshold that does not exist or can't be estimated, and for all three without
    `cogniload_analysis`'s requirements; the log says why.
    """
    try:
        import pandas as pd  # noqa: PLC0415  (a run without them is still a run)

        from cogniload_analysis import fit_load_glm  # noqa: PLC0415
    except ImportError as error:
        log.warning("no ECL50, NT50 and ID50: pip install 'cogniload[analysis]' (%s)", error)
        return dict.fromkeys(THRESHOLDS)
    frame = pd.DataFrame(loads, columns=["d", "N", "rho", "correct"])
    thresholds = vars(fit_load_glm(frame).thresholds())
    problems = {
        name: threshold.note or threshold.status
        for name, threshold in thresholds.items()
        if threshold.note or not isfinite(threshold.value)
    }
    log_problems(log, problems)
    return {
        name: threshold.value if isfinite(threshold.value) else None
        for name, threshold in thresholds.items()
    }

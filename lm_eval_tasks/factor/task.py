"""What the FACTOR YAMLs name: the puzzles, the score of a response, and the metrics of a run."""

import logging
from functools import lru_cache, partial
from math import isfinite

import pyarrow as pa
import pyarrow.compute as pc
from datasets import Dataset

from cogniload_gen import generate_factor
from cogniload_gen.factor.generate import SCHEMAS
from cogniload_gen.grid import NOISES
from lm_eval_tasks.documents import make_documents
from lm_eval_tasks.metrics import log_problems, score_counted, token_counts
from lm_eval_tasks.published import check_rows, load_published

log = logging.getLogger(__name__)

_every = ("id", "suite", "context", "puzzle", "answer")
NEEDED = {"symbolic": ("N", "target", *_every), "realistic": ("op", "noise", *_every)}
"""The columns of published puzzles without which they can't be run, scored or analysed."""

DECAY = {"cdf": "CDF", "cdo": "CDO", "n_eff": "N_eff"}
"""The metrics of a run's fit, and what the analysis calls them."""


def make_dataset(*, defaults: dict, factor: dict | None = None, **_) -> dict[str, Dataset]:
    """The puzzles of a task, as its `custom_dataset`.

    `defaults` are the YAML's parameters and `factor` those of --metadata '{"factor": {...}}'.
    lm-eval mixes model arguments and its own keys into the same mapping: those are ignored.
    ValueError as `make_documents`.
    """
    load = partial(published_puzzles, defaults["suite"])
    return make_documents("factor", defaults, factor, generate=generate_factor, load=load)


def published_puzzles(
    suite: str, path: str, name: str | None = None, split: str | None = None
) -> pa.Table:
    """The puzzles of a published split (`load_published`), which may come from anywhere.

    ValueError if they lack what a run and its analysis need, have it wrong, or are of another
    suite than the task.
    """
    needed = NEEDED[suite]
    puzzles = load_published(path, name, split, schema=SCHEMAS[suite], required=needed)
    complexity = needed[0]
    rules = {
        "suite": (pc.equal(puzzles["suite"], suite), suite),
        complexity: (pc.greater_equal(puzzles[complexity], 1), "at least 1"),
        "context": (pc.greater_equal(puzzles["context"], 0), "at least 0"),
    }
    if suite == "realistic":
        kinds = ("none", *NOISES)
        rules["noise"] = (pc.is_in(puzzles["noise"], pa.array(kinds)), f"one of {', '.join(kinds)}")
    check_rows(puzzles, path, rules)
    return puzzles


def process_results(doc: dict, results: list[str]) -> dict:
    """The metrics of one response.

    `doc` is a puzzle with the token counts and the budget of its request (`SharedBudgetTask`).
    """
    scored = score_counted(doc, results[0])
    complexity = doc["N"] if doc["suite"] == "symbolic" else doc["op"]
    result = (complexity, scored.metrics["acc"], doc["context"], doc.get("noise"))
    return scored.metrics | dict.fromkeys(DECAY, result) | token_counts(doc)


def mean_size(sets: list[list[str]]) -> float:
    """The mean size of sets, such as the variables that an answer missed."""
    return sum(map(len, sets)) / len(sets)


def cdf(results: list[tuple]) -> float | None:
    """CDF of a run: by how much log accuracy changes with each variable or operation (3.4)."""
    return decay(tuple(results))["cdf"]


def cdo(results: list[tuple]) -> float | None:
    """CDO of a run: log accuracy where the fitted line meets complexity 0 (3.4)."""
    return decay(tuple(results))["cdo"]


def n_eff(results: list[tuple]) -> float | None:
    """N_eff of a run: the complexity up to which the fitted line has full accuracy (3.4)."""
    return decay(tuple(results))["n_eff"]


@lru_cache(maxsize=1)  # the three metrics of a run ask for the same fit
def decay(results: tuple[tuple, ...]) -> dict[str, float | None]:
    """The fit of log accuracy on complexity for (complexity, correct, context, noise), by name.

    None for what has no meaning or can't be estimated, as a fit of several contexts or kinds of
    noise, and for all three without `cogniload_analysis`'s requirements; the log says why. It also
    warns of a line that chance has made too flat.
    """
    try:
        import pandas as pd  # noqa: PLC0415  (a run without them is still a run)

        from cogniload_analysis import fit_complexity_decay  # noqa: PLC0415
    except ImportError as error:
        log.warning("no CDF, CDO and N_eff: pip install 'cogniload[analysis]' (%s)", error)
        return dict.fromkeys(DECAY)
    contexts = len({tuple(context) for _, _, *context in results})
    if contexts > 1:
        several = f"a fit is of one context, and the run has {contexts}: `cogniload report` has all"
        log_problems(log, dict.fromkeys(DECAY.values(), several))
        return dict.fromkeys(DECAY)
    fit = fit_complexity_decay(
        pd.DataFrame([each[:2] for each in results], columns=["N", "correct"])
    )
    log_problems(log, fit.problems)
    if fit.note:
        log_problems(log, dict.fromkeys(DECAY.values(), fit.note))
    values = {name: getattr(fit, name) for name in DECAY}
    sound = {name: isfinite(values[name]) and DECAY[name] not in fit.problems for name in DECAY}
    return {name: value if sound[name] else None for name, value in values.items()}

"""What the CogniLoad YAMLs name: the puzzles, the score of a response, and the metrics of a run."""

import logging
from functools import lru_cache
from math import isfinite

from datasets import Dataset

from cogniload_gen import generate_puzzles, score_response
from cogniload_gen.cogniload.score import outcome_metrics
from lm_eval_tasks.documents import as_documents, task_parameters
from lm_eval_tasks.metrics import token_counts

log = logging.getLogger(__name__)

THRESHOLDS = ("ECL50", "NT50", "ID50")


def make_dataset(*, defaults: dict, cogniload: dict | None = None, **_) -> dict[str, Dataset]:
    """The puzzles of a task, as its `custom_dataset`.

    `defaults` are the YAML's parameters and `cogniload` those of --metadata '{"cogniload": {...}}'.
    lm-eval mixes model arguments and its own keys into the same mapping: those are ignored.
    ValueError names an unknown or wrong parameter, what it got and what it takes.
    """
    parameters = task_parameters("cogniload", defaults, cogniload)
    context_budget = parameters.pop("context_budget")
    return as_documents(generate_puzzles(**parameters), context_budget)


def process_results(doc: dict, results: list[str]) -> dict:
    """The metrics of one response (section 3, Appendix D).

    `doc` is a puzzle with the token counts and the budget of its request (`SharedBudgetTask`).
    """
    outcome = score_response(
        results[0],
        poi=doc["poi"],
        answer=doc["answer"],
        category=doc["category"],
        options=doc["options"],
        prompt_tokens=doc["prompt_tokens"],
        response_tokens=doc["response_tokens"],
        context_budget=doc["context_budget"],
    )
    load = (doc["d"], doc["N"], doc["rho"] / 100, int(outcome.correct))
    return outcome_metrics(outcome) | dict.fromkeys(THRESHOLDS, load) | token_counts(doc)


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
    for reason, names in reasons(thresholds).items():
        log.warning("%s: %s", ", ".join(names), reason)
    return {
        name: threshold.value if isfinite(threshold.value) else None
        for name, threshold in thresholds.items()
    }


def reasons(thresholds: dict) -> dict[str, list[str]]:
    """Why `Threshold`s do not exist or must be read with care, and the names of those concerned."""
    found: dict[str, list[str]] = {}
    for name, threshold in thresholds.items():
        if threshold.note or not isfinite(threshold.value):
            found.setdefault(threshold.note or threshold.status, []).append(name)
    return found

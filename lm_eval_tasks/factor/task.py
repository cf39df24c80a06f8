"""FACTOR's prompts, whole or retrieved, and the fit behind its decay, for its YAMLs."""

import logging
from collections.abc import Sequence
from math import isfinite
from typing import Any

import pandas as pd
from datasets import Dataset, concatenate_datasets
from lm_eval.api.metrics import mean
from tqdm import tqdm

from cogniload_analysis import fit_complexity_decay
from cogniload_gen import benchmarks
from cogniload_gen.checks import check_known
from cogniload_gen.factor.retrieval import Retrieval, check_retrieval, retrieve
from cogniload_gen.task_puzzles import parameters_of
from cogniload_gen.tokens import Tokenizer
from lm_eval_tasks import documents, metrics
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.metrics import log_problems, numbers_of

log = logging.getLogger(__name__)

DECAY = {"cdf": "CDF", "cdo": "CDO", "n_eff": "N_eff"}
"""The metrics of a run's fit, and what the analysis calls them."""

RETRIEVE = "retrieve"
"""The parameter that has a retriever choose what of a puzzle the prompt holds."""


# --- documents ------------------------------------------------------------------------------------


def make_dataset(*, dataset: str, defaults: dict[str, Any], **metadata: Any) -> dict[str, Dataset]:
    """Return the puzzles of a task, as `documents.make_dataset` does, with what is retrieved.

    `retrieve` in the metadata, with the task's own for what it leaves out, has the settings of
    `check_retrieval`; null has the whole puzzles in the prompts.
    """
    rest, given = dict(defaults), metadata.get(dataset)
    own = asked = rest.pop(RETRIEVE, None)
    if isinstance(given, dict):
        known = (*parameters_of(dataset, rest, given), RETRIEVE)
        check_known(given, known, f"{dataset} metadata")
        metadata[dataset] = given = dict(given)
        asked = given.pop(RETRIEVE, own)
        if isinstance(asked, dict):
            asked = (own or {}) | asked
    retrieval = None if asked is None else check_retrieval(asked)
    made = documents.make_dataset(dataset=dataset, defaults=rest, **metadata)
    if retrieval is None:
        return made
    tokenizer = (rest | (given or {})).get("tokenizer")
    return {split: with_retrieved(rows, retrieval, tokenizer) for split, rows in made.items()}


def with_retrieved(rows: Dataset, settings: Retrieval, tokenizer: Tokenizer) -> Dataset:
    """Add what is retrieved of each puzzle.

    `prompt` holds it, `needed` and `found` count the statements that the answer needs and those of
    them that are in it, `retrieved_tokens` are its tokens, and `retrieval` tells the settings.
    """
    contexts = [
        retrieve(puzzle, settings, tokenizer)
        for puzzle in tqdm(rows["puzzle"], "Retrieving", disable=None)
    ]
    facts = [
        {"prompt": context.prompt, "needed": context.needed, "found": context.found}
        | {"retrieved_tokens": context.tokens, "retrieval": str(settings)}
        for context in contexts
    ]
    return concatenate_datasets([rows, Dataset.from_list(facts)], axis=1)


def make_prompt(doc: dict[str, Any]) -> str:
    """Return the prompt of a document: what was retrieved, else the whole puzzle."""
    return doc.get("prompt") or doc["puzzle"]


# --- metrics --------------------------------------------------------------------------------------


def process_results(doc: dict, results: list[str]) -> dict[str, Any]:
    """Return the metrics of one response, and for each number of the fit what it is fitted to.

    `doc` is as for `metrics.process_results`.
    """
    scored = metrics.process_results(doc, results)
    complexity, *_ = benchmarks.of(doc).knobs
    result = (doc[complexity.name], scored["acc"], doc["context"], doc.get("noise"))
    return scored | dict.fromkeys(DECAY, result)


def _share_found(counts: Sequence[Sequence[int]]) -> float:
    """Return the share of the needed statements that were retrieved, over all puzzles."""
    retrieved, needed = map(sum, zip(*counts, strict=True))
    return retrieved / needed


class FactorTask(SharedBudgetTask):
    """A task of FACTOR: of a run whose prompts are retrieved, lm-eval's table says how well."""

    def aggregation(self) -> dict[str, Any]:
        """Return the YAML's, and those of what was retrieved."""
        shares = dict.fromkeys(("closure_recall", "not_retrieved", "not_reasoned"), mean)
        return super().aggregation() | {"recall": _share_found} | shares

    def higher_is_better(self) -> dict[str, Any]:
        """Return the YAML's, and those of what was retrieved."""
        better = {"recall": True, "closure_recall": True}
        return super().higher_is_better() | better | {"not_retrieved": False, "not_reasoned": False}


def mean_size(sets: Sequence[Sequence[str]]) -> float:
    """Return the mean size of sets, such as the variables that an answer missed."""
    return sum(map(len, sets)) / len(sets)


def decay(results: tuple[tuple, ...]) -> dict[str, float | None]:
    """Return the fit of log accuracy on complexity (section 3.4), by name.

    `results` holds complexity, correct (0 or 1), context and noise of each response. None stands
    for what has no meaning or can't be estimated, as a fit of several contexts or kinds of noise;
    the log says why. It also warns of a line that chance has made too flat.
    """
    contexts = len({tuple(context) for _, _, *context in results})
    if contexts > 1:
        several = f"a fit is of one context, and the run has {contexts}: `cogniload report` has all"
        log_problems(log, dict.fromkeys(DECAY.values(), several))
        return dict.fromkeys(DECAY)
    frame = pd.DataFrame([result[:2] for result in results], columns=["N", "correct"])
    fit = fit_complexity_decay(frame)
    log_problems(log, fit.problems)
    if fit.note:
        log_problems(log, dict.fromkeys(DECAY.values(), fit.note))
    values = {name: getattr(fit, name) for name in DECAY}
    sound = {name: isfinite(values[name]) and DECAY[name] not in fit.problems for name in DECAY}
    return {name: value if sound[name] else None for name, value in values.items()}


cdf, cdo, n_eff = numbers_of(decay, DECAY)

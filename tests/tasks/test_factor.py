"""The FACTOR tasks in the real harness."""

import re
from math import exp, isfinite

import pandas as pd
import pytest
from harness import manager
from lm_eval.evaluator import simple_evaluate

from cogniload_analysis import fit_complexity_decay
from cogniload_gen import FactorOutcome
from cogniload_gen.factor.knobs import REALISTIC_VERSION
from cogniload_gen.factor.retrieval import check_retrieval, retrieve
from lm_eval_tasks.factor.task import DECAY, cdf, cdo, n_eff, process_results

MINI = ["factor_symbolic_mini", "factor_realistic_mini"]


SYMBOLIC = {"suite": "symbolic", "N": 5, "target": 2, "context": 4000, "answer": "v3"}
SYMBOLIC |= {"prompt_tokens": 700, "response_tokens": 10, "context_budget": 1024}
REALISTIC = SYMBOLIC | {"suite": "realistic", "op": 7, "noise": "close", "answer": "8"}


@pytest.mark.parametrize(("doc", "response", "outcome"), [
    (SYMBOLIC, "The variable equal to 2 is v3.", FactorOutcome.CORRECT),
    (SYMBOLIC, "The variables equal to 2 are v3 and v4.", FactorOutcome.WRONG_SET),
    (SYMBOLIC, "Let me think about it", FactorOutcome.NO_ANSWER),
    (SYMBOLIC, "", FactorOutcome.MAX_CONTEXT),
    (SYMBOLIC | {"response_tokens": 304}, "The answer is v3.", FactorOutcome.MAX_CONTEXT),
    (REALISTIC, "Answer: 8.", FactorOutcome.CORRECT),
    (REALISTIC, "Answer: 9.", FactorOutcome.WRONG_SET),
])  # fmt: skip
def test_the_metrics_of_a_response(doc, response, outcome):
    metrics = process_results(doc, [response])
    assert metrics["outcome"] == outcome
    assert metrics["acc"] == (outcome == FactorOutcome.CORRECT)
    wrong = [other for other in FactorOutcome if other != FactorOutcome.CORRECT]
    assert [metrics[other] for other in wrong] == [int(other == outcome) for other in wrong]
    complexity, noise = (5, None) if doc["suite"] == "symbolic" else (7, "close")
    assert [metrics[name] for name in DECAY] == 3 * [(complexity, metrics["acc"], 4000, noise)]


def responses(accuracy, *others):
    cells = [(N, index) for N in range(1, 40) for index in range(100)]
    return [(N, int(index < 100 * accuracy(N)), *(others or (0, None))) for N, index in cells]


def test_the_decay_is_that_of_the_analysis(caplog):
    run = responses(lambda N: min(1, exp(0.25 - 0.05 * N)))
    fit = fit_complexity_decay(pd.DataFrame([each[:2] for each in run], columns=["N", "correct"]))
    assert (cdf(run), cdo(run), n_eff(run)) == (fit.cdf, fit.cdo, fit.n_eff)
    assert isfinite(fit.n_eff)
    assert not caplog.records


@pytest.mark.parametrize("other", [(4000, None), (0, "close")], ids=["contexts", "noises"])
def test_a_run_of_several_contexts_has_no_decay(caplog, other):
    run = [*responses(lambda N: exp(-0.05 * N)), *responses(lambda N: exp(-0.1 * N), *other)]
    assert cdf(run) is cdo(run) is n_eff(run) is None
    (record,) = caplog.records
    assert "CDF, CDO, N_eff: a fit is of one context, and the run has 2" in record.message


def evaluated(task, **given):
    """The results and the samples of a task by lm-eval's dummy model."""
    options = {"task_manager": manager(factor=given), "bootstrap_iters": 1}
    found = simple_evaluate("dummy", tasks=[task], **options)
    return found["results"][task], found["samples"][task]


@pytest.mark.parametrize("task", MINI)
def test_a_retrieved_prompt_holds_what_was_found_and_the_sample_tells_it(task):
    whole = evaluated(task, num_puzzles=1)[1]
    settings = {"retriever": "bm25", "budget": 120 if "symbolic" in task else 300}
    results, samples = evaluated(task, num_puzzles=1, retrieve=settings)
    assert {sample["doc"]["id"] for sample in samples} == {sample["doc"]["id"] for sample in whole}
    for sample in samples:
        doc = sample["doc"]
        found = retrieve(doc["puzzle"], check_retrieval(settings))
        assert sample["arguments"][0][0] == found.prompt == doc["prompt"]
        assert sample["recall"] == [doc["found"], doc["needed"]] == [found.found, found.needed]
        assert doc["retrieval"] == str(check_retrieval(settings))
        assert sample["closure_recall"] == found.closed
        split = sample["acc"] + sample["not_retrieved"] + sample["not_reasoned"]
        assert split == 1 == sample["not_retrieved"] + found.closed
    assert {sample["closure_recall"] for sample in samples} == {0, 1}
    found, needed = (sum(sample["recall"][i] for sample in samples) for i in (0, 1))
    assert results["recall,none"] == found / needed
    for sample in whole:
        assert sample["arguments"][0][0] == sample["doc"]["puzzle"]
        assert not {"retrieval", "prompt"} & {*sample["doc"]}
        assert "closure_recall" not in sample


@pytest.mark.parametrize(("asked", "told"), [
    ({"retriever": "oracle"}, "oracle, 2000 tokens"),
    ({"retriever": "bm25", "budget": 99}, "bm25, 99 tokens"),
    (None, None),
])  # fmt: skip
def test_metadata_replaces_parts_of_a_task_s_retrieval(asked, told):
    given = {"num_puzzles": 1, "retrieve": asked}
    (loaded,) = manager(factor=given).load(["factor_realistic_retrieval"])["tasks"].values()
    doc = loaded.eval_docs[0]
    assert ("retrieval" in doc) == (told is not None)
    assert told is None or re.fullmatch(told, doc["retrieval"])
    assert int(loaded.VERSION) == REALISTIC_VERSION

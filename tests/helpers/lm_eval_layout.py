"""Results folders as lm-eval 0.4.13 writes them, from simulated responses, for tests."""

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

GRID = pd.DataFrame(
    itertools.product([1, 3, 5, 7, 10], [20, 50, 100, 250], [5, 10, 25, 50, 75, 90, 95]),
    columns=["d", "N", "rho_percent"],
)
SMALL = GRID[GRID["d"].isin([1, 5, 10]) & GRID["N"].isin([20, 250])]
BETA = [7.22, -0.29, -2.75, -3.21, 2.75]
WRONG = ["wrong_logic"] * 6 + ["wrong_max_context", "wrong_other", "wrong_logic_poi"]
WRONG += ["wrong_logic_last_sentence"]
FACTOR_WRONG = ["wrong_set"] * 7 + ["no_answer"] * 2 + ["max_context"]


def simulate_counts(coefficients, puzzles, generator, grid=GRID):
    """Draw the number of right answers in each cell from the paper's GLM."""
    beta_0, beta_d, beta_N, beta_rho, beta_rho2 = coefficients
    rho = grid["rho_percent"] / 100
    logit = beta_0 + beta_d * grid["d"] + beta_N * np.log10(grid["N"])
    logit += beta_rho * rho + beta_rho2 * rho**2
    successes = generator.binomial(puzzles, 1 / (1 + np.exp(-logit)))
    cells = pd.DataFrame({"d": grid["d"], "N": grid["N"], "rho": rho})
    return cells.assign(successes=successes, failures=puzzles - successes)


def to_rows(cells):
    """Give each response of counted cells a row of its own."""
    rows = cells.loc[cells.index.repeat(cells["successes"] + cells["failures"])]
    rows = rows.assign(correct=rows.groupby(level=0).cumcount() < rows["successes"])
    rows = rows.drop(columns=["successes", "failures"]).reset_index(drop=True)
    return rows.assign(id=[f"puzzle-{number}" for number in range(len(rows))])


def make_samples(coefficients, puzzles, seed, *, grid=GRID, words=60):
    """Yield samples as lm-eval logs them, interleaved over the cells of `grid`."""
    generator = np.random.default_rng(seed)
    successes = simulate_counts(coefficients, puzzles, generator, grid)["successes"].tolist()
    for index, (cell, row) in itertools.product(range(puzzles), enumerate(grid.itertuples())):
        right = index < successes[cell]
        outcome = "correct_valid" if right else WRONG[generator.integers(len(WRONG))]
        tokens = 60 + 14 * row.N + 20 * row.d
        yield make_sample(
            make_puzzle(row.d, row.N, row.rho_percent, index),
            "Ann moves on. " * words + "Ann is wearing blue socks.",
            outcome,
            prompt_tokens=tokens,
            response_tokens=int(tokens * generator.uniform(0.5, 3)),
        )


def make_puzzle(d, N, rho_percent, index=0):
    """Return a document with the columns of a CogniLoad puzzle."""
    statements = (f"{step}. The people wearing green socks put on red socks." for step in range(N))
    question = "What color of socks is Ann wearing?"
    return {
        "id": f"cogniload-42-d{d}-N{N}-rho{rho_percent}-{index}",
        "d": d,
        "N": N,
        "rho": float(rho_percent),
        "needles": max(1, round(N * rho_percent / 100)),
        "seed": 42,
        "index": index,
        "puzzle": "\n".join(["Solve this logic puzzle.", *statements, question]),
        "question": question,
        "answer": "blue",
        "category": "clothes_socks",
        "poi": "Ann",
        "people": ["Ann", "Bob"],
        "options": ["blue", "green", "red"],
        "context_budget": 32768,
    }


def make_factor_samples(
    cdf,
    cdo,
    puzzles,
    seed,
    *,
    N=range(1, 40),
    suite="symbolic",
    context=0,
    noise="close",
    attempts=1,
):
    """Yield samples of one FACTOR task, right with the chance min(1, exp(CDF N + CDO)).

    With several `attempts`, each puzzle has a chance of its own around that one, and as many lines.
    """
    generator = np.random.default_rng(seed)
    for index, complexity in itertools.product(range(puzzles), N):
        chance = min(1.0, float(np.exp(cdf * complexity + cdo)))
        if attempts > 1:
            chance = generator.beta(2 * chance + 0.01, 2 * (1 - chance) + 0.01)
        doc = make_factor_puzzle(complexity, suite=suite, context=context, noise=noise, index=index)
        for _ in range(attempts):
            right = generator.random() < chance
            outcome = "correct" if right else FACTOR_WRONG[generator.integers(len(FACTOR_WRONG))]
            counts = {"prompt_tokens": 300 + context, "response_tokens": 40 * complexity}
            yield make_sample(doc, "v1 = 2. The variable equal to 2 is v1.", outcome, **counts)


def write_factor_runs(folder, model, decays, puzzles=6, **options):
    """Write a run of FACTOR for each (suite, context) with its (CDF, CDO)."""
    for seed, ((suite, context), (cdf, cdo)) in enumerate(decays.items()):
        task = f"factor_{suite}_" + (f"{context // 1000}k" if context else "0")
        N = range(1, 40) if suite == "symbolic" else range(2, 21)
        about = {"N": N, "suite": suite, "context": context} | options
        write_run(folder, model, make_factor_samples(cdf, cdo, puzzles, seed, **about), task=task)


def make_factor_puzzle(N, *, suite="symbolic", context=0, noise="close", index=0):
    """Return a document with the columns of a FACTOR puzzle."""
    symbolic = suite == "symbolic"
    question = "Using only these relationships, determine what variable(s), if any, are equal to 2."
    doc = {"id": f"factor-{suite}-42-{N}-{context}-{noise}-{index}", "suite": suite}
    doc |= {"N" if symbolic else "op": N, "context": context}
    doc |= {} if symbolic else {"noise": noise if context else "none"}
    doc |= {"seed": 42, "index": index, "puzzle": f"@<<<assign v1 = 2>>>@ {question}"}
    doc |= {"question": question, "answer": "v1" if symbolic else "2", "solution": "v1 = 2"}
    return doc | ({"target": 2} if symbolic else {}) | {"context_budget": 32768 + context}


def make_answers(right, text="Text."):
    """Yield the answers to puzzles that are numbered from 0, right or wrong, as samples."""
    for index, solved in enumerate(right):
        doc = make_puzzle(1 + index % 2, 20, 5, index)
        outcome = "correct_valid" if solved else "wrong_logic"
        yield make_sample(doc, text.format(index), outcome)


TEXTS = Counter()


def make_sample(doc, response, outcome, **counts):
    """Return one line of a samples file, as lm-eval writes it; no two responses are alike."""
    TEXTS[response] += 1
    if (times := TEXTS[response]) > 1:
        response = f"({times}) {response}"
    return {
        "doc_id": doc["index"],
        "doc": doc,
        "target": doc["answer"],
        "arguments": {"gen_args_0": {"arg_0": doc["puzzle"], "arg_1": {"until": []}}},
        "resps": [[response]],
        "filtered_resps": [response],
        "filter": "none",
        "metrics": ["acc", "outcome"],
        "doc_hash": "0" * 64,
        "prompt_hash": "0" * 64,
        "target_hash": "0" * 64,
        "acc": float(outcome.startswith("correct")),
        "outcome": outcome,
        **counts,
    }


def write_run(
    folder,
    model,
    samples,
    *,
    task="cogniload",
    date="2026-11-21T08-26-58.123456",
    ensure_ascii=False,
    model_args=None,
    generation=None,
    **said,
):
    """Write the results and the samples of one run beneath `folder`, and return its folder.

    `model_args` and `generation` add to the arguments of the model and to the generation_kwargs;
    `said` is what else the results say, instead of what they usually do.
    """
    run = Path(folder) / re.sub(r"[\"<>:/|\\?*\[\]]+", "__", model)
    run.mkdir(parents=True, exist_ok=True)
    file = run / f"results_{date}.json"
    earlier = json.loads(file.read_text("utf-8")) if file.exists() else {"configs": {}}
    config = {
        "task": task,
        "generation_kwargs": {"until": [], "temperature": 0.0, "do_sample": False}
        | (generation or {}),
        "metadata": {"version": "1.0"},
    }
    results = {
        "results": {task: {"alias": task, "acc,none": 0.5}},
        "configs": earlier["configs"] | {task: config},
        "config": {"model": "hf", "model_args": {"pretrained": model} | (model_args or {})},
        "date": 1732177618.0,
        "lm_eval_version": "0.4.13",
        "model_source": "hf",
        "model_name": model,
        "model_name_sanitized": run.name,
    } | said
    file.write_text(json.dumps(results, indent=2), "utf-8")
    with (run / f"samples_{task}_{date}.jsonl").open("w", encoding="utf-8") as lines:
        for sample in samples:
            lines.write(json.dumps(sample, ensure_ascii=ensure_ascii) + "\n")
    return run

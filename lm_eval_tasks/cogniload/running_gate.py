"""`cogniload gate RUN`: fresh puzzles for two models, batch after batch, until there is a verdict.

Which puzzles these are depends on the run and a seed alone, and each look comes after a fixed
number of them. So a command that is started again finds the same verdict, and a larger budget goes
on.
"""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from cogniload_analysis import gate, read_samples
from cogniload_analysis.cogniload.training_mix import choose_cells, make_source
from cogniload_analysis.report.gate_runs import SIDES, Judged, find_flips
from cogniload_gen.checks import check_integer
from cogniload_gen.grid import language_of
from cogniload_gen.never_written import without_keys
from cogniload_gen.tables import table_writer
from lm_eval_tasks.evaluation import Asking, Evaluation
from lm_eval_tasks.request_seeds import Key
from lm_eval_tasks.resume import Run
from lm_eval_tasks.server import check_arguments
from lm_eval_tasks.spending_caps import CapReached, cost_of
from lm_eval_tasks.status import each_warning_once

TASK, PUZZLES = "cogniload", Path("puzzles") / "gate.parquet"

# The predicted pass rates of the puzzles: a loss shows in the fewest there (studies/gate.py).
_PASS_RATES = 0.5, 0.7

_BATCH = 50  # puzzles between looks


def run_gate(
    run: Path,
    out: Path,
    margin: float,
    models: Mapping[str, Evaluation],
    budget: int,
    seed: int,
    *,
    anew: bool = False,
) -> Judged:
    """Ask a run's model and a new one fresh puzzles until a verdict.

    `models` says for "base" and for "new" whom to ask and how. At most `budget` puzzles are asked,
    and none that is answered in `out`; with `anew`, the new model's answers there are put aside. A
    cap that ends it is named by the verdict; CapReached where it does so before the first look.
    ValueError for a new model that is the base, for what can't be evaluated, for a run whose fit
    doesn't say which puzzles, and for an `out` with other puzzles.
    """
    began = time.monotonic()
    if models["base"] == models["new"] and not anew:
        raise ValueError(
            f"the new model is that of {run}: say what is new, such as --model_args or --config, "
            "or give a second run; --anew asks the same one again"
        )
    _refuse_another_server(out / SIDES[0], models[SIDES[0]], "name another --out")
    if not anew:
        _refuse_another_server(out / SIDES[1], models[SIDES[1]], "name another --out, or --anew")
    gate([(1, 1)], margin)  # which refuses a margin before anything is asked
    frame = read_samples([run])
    ids = _write_puzzles(frame, out / PUZZLES, budget, seed)
    budgets = frame["context_budget"].dropna()
    window = {"context_budget": int(budgets.max())} if len(budgets) else {}
    about = {TASK: {"path": str((out / PUZZLES).parent)} | window}
    rows: list[list[Any]] = []
    cap, unasked = "", {"acc": nan, "answer": None}
    with each_warning_once(), ExitStack() as stack:
        asking = []
        for side in SIDES:
            model = replace(models[side], tasks=[TASK], metadata=about)
            begun = Asking(model, out / side, anew=anew and side == SIDES[1])
            asking.append(stack.enter_context(begun))
            check_arguments(begun.config)
        base, new = asking
        base.show("difference", 0, 2 * budget)
        new.bar = base.bar
        try:
            for start in range(0, budget, _BATCH):
                keys = [Key(TASK, id, 0, 0) for id in ids[start : start + _BATCH]]
                for each in asking:
                    if not all(key in each.answers for key in keys):
                        each.config.samples = {TASK: [*range(start, start + len(keys))]}
                        each.ask()
                for key in keys:
                    answers = [each.answers.get(key, unasked) for each in asking]
                    said = (answer[part] for part in ("acc", "answer") for answer in answers)
                    rows.append([key.document, *said])
                found = gate([row[1:3] for row in rows], margin, batch=_BATCH)
                base.show(found.lines[1].partition(" (")[0], 2 * len(rows), 2 * budget)
                if found.is_over:
                    break
        except CapReached as reached:
            if not rows:
                raise
            cap = str(reached)
    columns = ["id", *SIDES, *(f"{side}_response" for side in SIDES)]
    flips = find_flips(pd.DataFrame(rows, columns=columns))
    runs = [_describe(side, each) for side, each in zip(SIDES, asking, strict=True)]
    return Judged(replace(found, cap=cap), flips, runs, round(time.monotonic() - began, 1))


def _refuse_another_server(folder: Path, model: Evaluation, remedy: str) -> None:
    """Raise ValueError if answers in a folder came from another address than they would now."""
    begun = Run.read(folder)
    if begun is None:
        return
    held = (without_keys(dict(args)) for args in (begun.model_args, model.model_args))
    there, now = (args.get("base_url") for args in held)
    if there != now:
        raise ValueError(
            f"{folder} has answers from {there or 'no base_url'}, and would have more from "
            f"{now or 'no base_url'}: {remedy}"
        )


def _describe(side: str, asking: Asking) -> dict[str, Any]:
    """Return the model of a side, and what its answers took."""
    given, tokens = asking.config.model_args, asking.answers.tokens
    spent = dict(zip(("spent_prompt_tokens", "spent_response_tokens"), tokens, strict=True))
    model = given.get("model") or given.get("pretrained") or asking.config.model
    price, at = asking.caps.price, without_keys(dict(given)).get("base_url")
    cost = cost_of(tokens, price) if any(price) else None
    return {"side": side, "model": model, "base_url": at, **spent, "cost": cost}


def _write_puzzles(frame: pd.DataFrame, file: Path, budget: int, seed: int) -> list[str]:
    """Write puzzles that the model of a run's frame solves, by its fit, as often as _PASS_RATES.

    A seed draws the cell of each: fewer puzzles are the first ones of more. Return their ids.
    """
    check_integer("budget", budget, low=1, high=10**6)
    cells = choose_cells(frame, *_PASS_RATES)
    drawn = np.random.default_rng(seed).integers(len(cells), size=budget)
    index = pd.Series(drawn).groupby(drawn).cumcount().to_numpy()
    which = {"split": "validation", "seed": seed, "num_puzzles": int(index.max()) + 1}
    source = make_source(cells, language=language_of(str(frame["id"].iloc[0])), **which)
    puzzles = source.table().take(len(cells) * index + drawn)
    ids: list[str] = puzzles["id"].to_pylist()
    begun = pq.read_table(file, columns=["id"])["id"].to_pylist() if file.exists() else []
    if begun[:budget] != ids[: len(begun)]:
        out = file.parents[1]
        raise ValueError(f"{out} holds other puzzles, of another run or seed: name another --out")
    if len(begun) < budget:
        file.parent.mkdir(parents=True, exist_ok=True)
        with table_writer(file, puzzles.schema, force=True) as write:
            write(puzzles)
    return ids

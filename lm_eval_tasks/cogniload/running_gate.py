"""`cogniload gate RUN`: fresh puzzles for two models, batch after batch, until there is a verdict.

Which puzzles these are depends on the run and a seed alone, and each look comes after a fixed
number of them. So a command that is started again finds the same verdict, and a larger budget goes
on. The base may also be a pool: answers that were recorded before.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_analysis import gate, read_samples
from cogniload_analysis.cogniload.training_mix import choose_cells, make_source
from cogniload_analysis.report.gate_runs import SIDES, Judged, find_flips
from cogniload_gen.checks import check_integer
from cogniload_gen.grid import language_of
from cogniload_gen.never_written import without_keys
from cogniload_gen.tables import table_writer
from lm_eval_tasks.cogniload.pool import Pool, describe_run
from lm_eval_tasks.evaluation import ANEW, Asking, Evaluation
from lm_eval_tasks.request_seeds import Key
from lm_eval_tasks.resume import Run
from lm_eval_tasks.server import check_arguments
from lm_eval_tasks.spending_caps import CapReached, cost_of
from lm_eval_tasks.status import each_warning_once

TASK, PUZZLES = "cogniload", Path("puzzles") / "gate.parquet"

BATCH = 50
"""Puzzles between looks."""

# The predicted pass rates of the puzzles: a loss shows in the fewest there (studies/gate.py).
_PASS_RATES = 0.5, 0.7


# --- who answers ----------------------------------------------------------------------------------


class LiveModel:
    """A model that is asked puzzles of a file, `attempts` times each; what is answered stays.

    A context manager, as `Asking`. With `anew`, the answers that are there are put aside;
    ValueError for answers from another address. Each `night` has seeds of its own.
    """

    def __init__(
        self,
        model: Evaluation,
        folder: Path,
        puzzles: Path,
        context_budget: int | None,
        attempts: int = 1,
        *,
        anew: bool = False,
        night: int = 0,
    ) -> None:
        if not anew:
            _refuse_another_server(folder, model)
        window = {} if context_budget is None else {"context_budget": context_budget}
        about = {TASK: {"path": str(puzzles.parent)} | window}
        hint = "" if night else ANEW
        asked = replace(model, tasks=[TASK], metadata=about)
        self.asking = Asking(asked, folder, anew=anew, hint=hint)
        self.attempts, self.served = attempts, Counter[str]()
        self.asking.tasks[TASK].set_config("repeats", attempts)
        if night:  # a server that honours seeds would only repeat what it said before
            self.asking.model.run_seed = [self.asking.run.seed, night]
        check_arguments(self.asking.config)

    def __enter__(self) -> "LiveModel":
        return self

    def __exit__(self, *error: object) -> None:
        self.asking.__exit__(*error)

    def answer(self, start: int, ids: Sequence[str]) -> list[tuple[float, str | None]]:
        """Return what share of its attempts at each puzzle is right, and the first text.

        The share is NaN without all of them. `start` puzzles are before these. CapReached where a
        cap ends it.
        """
        keys = [[Key(TASK, id, 0, attempt) for attempt in range(self.attempts)] for id in ids]
        answers = self.asking.answers
        if not all(key in answers for of_puzzle in keys for key in of_puzzle):
            self.asking.config.samples = {TASK: [*range(start, start + len(ids))]}
            self.asking.ask()
        said = []
        for of_puzzle in keys:
            held = [answers[key] for key in of_puzzle if key in answers]
            self.served.update(each["served_by"] for each in held if each.get("served_by"))
            whole = len(held) == self.attempts
            share = fmean(each["acc"] for each in held) if whole else nan
            said.append((share, held[0]["answer"] if held else None))
        return said

    def describe(self) -> dict[str, Any]:
        """Return the model, its address, who served it, and what its answers took."""
        asking, tokens = self.asking, self.asking.answers.tokens
        spent = dict(zip(("spent_prompt_tokens", "spent_response_tokens"), tokens, strict=True))
        price = asking.caps.price
        cost = cost_of(tokens, price) if any(price) else None
        about = describe_run(asking.run) | {"served_by": dict(self.served)}
        return about | spent | {"cost": cost}


def _refuse_another_server(folder: Path, model: Evaluation) -> None:
    """Raise ValueError if answers in a folder came from another address than they would now."""
    begun = Run.read(folder)
    if begun is None:
        return
    held = (without_keys(dict(args)) for args in (begun.model_args, model.model_args))
    there, now = (args.get("base_url") for args in held)
    if there != now:
        raise ValueError(
            f"{folder} has answers from {there or 'no base_url'}, and would have more from "
            f"{now or 'no base_url'}: delete it, or name another --out"
        )


# --- verdicts -------------------------------------------------------------------------------------


def run_gate(
    run: Path,
    out: Path,
    margin: float,
    models: Mapping[str, Evaluation],
    budget: int,
    seed: int,
    *,
    attempts: int = 1,
    anew: bool = False,
) -> Judged:
    """Ask a run's model and a new one fresh puzzles until a verdict.

    `models` says for "base" and for "new" whom to ask and how; the base answers each puzzle
    `attempts` times. At most `budget` puzzles are asked, and none that is answered in `out`; with
    `anew`, the new model's answers there are put aside. A cap that ends it is named by the verdict;
    CapReached where it does so before the first look. ValueError for a new model that is the base,
    for what can't be evaluated, for a run whose fit doesn't say which puzzles, and for an `out`
    with other puzzles.
    """
    if models["base"] == models["new"] and not anew:
        raise ValueError(
            f"the new model is that of {run}: say what is new, such as --model_args or --config, "
            "or give a second run; --anew asks the same one again"
        )
    gate([(1, 1)], margin)  # which refuses a margin before anything is asked
    puzzles, window = draw_puzzles(run, budget, seed)
    folder = _folder_of(out, seed)
    ids = write_puzzles(puzzles, folder)
    with each_warning_once(), ExitStack() as stack:
        base, new = (
            stack.enter_context(
                LiveModel(models[side], folder / side, folder / PUZZLES, window, times, anew=again)
            )
            for side, times, again in zip(SIDES, (attempts, 1), (False, anew), strict=True)
        )
        base.asking.show("difference", 0, (attempts + 1) * len(ids))
        new.asking.bar = base.asking.bar
        return _judge({"base": base, "new": new}, ids, margin, _say_tries(folder, new.asking.run))


def run_recorded_gate(
    pool: Pool,
    out: Path,
    margin: float,
    new: Evaluation,
    budget: int | None,
    seed: int,
    *,
    anew: bool = False,
) -> Judged:
    """Ask a new model puzzles of a pool until a verdict; as `run_gate`, with a base that is not.

    Without a `budget`, all of the pool may be asked.
    """
    gate([(1, 1)], margin)
    count = len(pool.table)
    count = count if budget is None else check_integer("budget", budget, low=1, high=count)
    drawn, folder = pool.draw(seed, count), _folder_of(out, seed)
    ids = write_puzzles(drawn.puzzles, folder)
    with (
        each_warning_once(),
        LiveModel(new, folder / "new", folder / PUZZLES, pool.context_budget, anew=anew) as asked,
    ):
        asked.asking.show("difference", 0, len(ids))
        run = asked.asking.run
        doubts = _say_tries(folder, run), pool.unlike(run)
        return _judge({"base": drawn, "new": asked}, ids, margin, *doubts)


def record_pool(
    run: Path, out: Path, base: Evaluation, budget: int, seed: int, attempts: int
) -> Pool:
    """Ask a run's model fresh puzzles, `attempts` times each, and return its answers as a pool.

    CapReached where a cap ends it; the same call goes on.
    """
    puzzles, window = draw_puzzles(run, budget, seed)
    ids = write_puzzles(puzzles, out)
    with (
        each_warning_once(),
        LiveModel(base, out / "base", out / PUZZLES, window, attempts) as asked,
    ):
        asked.asking.show("recorded", 0, attempts * len(ids))
        said = asked.answer(0, ids)
        return Pool.of(puzzles, said, attempts, asked.asking.run, dict(asked.served))


def _folder_of(out: Path, seed: int) -> Path:
    """Return where the puzzles of a seed and their answers lie."""
    return out / f"seed-{seed}"


def _say_tries(folder: Path, run: Run) -> str:
    """Say how many seeds were tried on a model that is asked in a folder, "" for one."""
    others = [Run.read(each / "new") for each in folder.parent.glob("seed-*") if each != folder]
    asked = run.recorded_settings()
    tried = 1 + sum(each is not None and each.recorded_settings() == asked for each in others)
    said = f"{tried} seeds were tried on this model: of ten, the best one is wrong in one of seven"
    return said if tried > 1 else ""


def _judge(
    sides: Mapping[str, LiveModel | Pool], ids: Sequence[str], margin: float, *doubts: str
) -> Judged:
    """Have both sides answer, batch after batch, until there is a verdict."""
    began, rows, cap = time.monotonic(), [], ""
    asked = [side.asking for side in sides.values() if isinstance(side, LiveModel)]
    try:
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            said = [side.answer(start, batch) for side in sides.values()]
            for id, *both in zip(batch, *said, strict=True):
                rows.append([id, *(share for share, _ in both), *(text for _, text in both)])
            found = gate([row[1:3] for row in rows], margin, batch=BATCH)
            done = sum(
                len(rows) * side.attempts for side in sides.values() if isinstance(side, LiveModel)
            )
            for each in asked:
                each.show(found.lines[1].partition(" (")[0], done, 0)
            if found.is_over:
                break
    except CapReached as reached:
        if not rows:
            raise
        cap = str(reached)
    columns = ["id", *SIDES, *(f"{side}_response" for side in SIDES)]
    flips = find_flips(pd.DataFrame(rows, columns=columns))
    runs = [{"side": side} | each.describe() for side, each in sides.items()]
    notes = (*found.notes, *filter(None, [*doubts, *map(say_served, runs)]))
    found = replace(found, cap=cap, notes=notes)
    return Judged(found, flips, runs, round(time.monotonic() - began, 1))


def say_served(about: Mapping[str, Any]) -> str:
    """Say that a side was served by several, "" where by one."""
    served = about["served_by"]
    each = ", ".join(f"{name} ({count:,})" for name, count in served.items())
    return f"{about['side']} was served by {len(served)}: {each}" if len(served) > 1 else ""


# --- puzzles --------------------------------------------------------------------------------------


def draw_puzzles(run: Path, budget: int, seed: int) -> tuple[pa.Table, int | None]:
    """Return puzzles that a run's model solves, by its fit, as often as _PASS_RATES; its budget.

    A seed draws the cell of each: fewer puzzles are the first ones of more.
    """
    check_integer("budget", budget, low=1, high=10**6)
    frame = read_samples([run])
    cells = choose_cells(frame, *_PASS_RATES)
    drawn = np.random.default_rng(seed).integers(len(cells), size=budget)
    index = pd.Series(drawn).groupby(drawn).cumcount().to_numpy()
    which = {"split": "validation", "seed": seed, "num_puzzles": int(index.max()) + 1}
    source = make_source(cells, language=language_of(str(frame["id"].iloc[0])), **which)
    budgets = frame["context_budget"].dropna()
    window = int(budgets.max()) if len(budgets) else None
    return source.table().take(len(cells) * index + drawn), window


def write_puzzles(puzzles: pa.Table, out: Path) -> list[str]:
    """Write puzzles to ask into a folder, unless more of them are there; return their ids."""
    ids: list[str] = puzzles["id"].to_pylist()
    file = out / PUZZLES
    begun = pq.read_table(file, columns=["id"])["id"].to_pylist() if file.exists() else []
    if begun[: len(ids)] != ids[: len(begun)]:
        raise ValueError(f"{out} holds other puzzles, of another run or seed: name another --out")
    if len(begun) < len(ids):
        file.parent.mkdir(parents=True, exist_ok=True)
        with table_writer(file, puzzles.schema, force=True) as write:
            write(puzzles)
    return ids

"""`cogniload why`: a run's model is asked the twins of the puzzles that it failed and solved."""

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from cogniload_gen.answers.choose_twins import Twins, write_twins
from lm_eval_tasks.evaluation import Evaluation
from lm_eval_tasks.runner import Results
from lm_eval_tasks.tasks import refuse_files

TWINS, ANSWERS = Path("puzzles") / "twins.parquet", "answers"
"""What `why` writes into its folder: the puzzles, and the evaluation of them."""


def ask_twins(twins: Twins, out: Path, model: Evaluation, shard: str = "1/1") -> Results:
    """Ask a model the twins of a run's puzzles, or repairs, in a folder; return the results.

    `model` says whom to ask and how; what it says of tasks and puzzles is replaced. Twins that are
    answered stay. `shard` is I/N. ValueError for what can't be evaluated, for a run that names a
    file as its task, and for an `out` with other twins, or with anything else.
    """
    file = out / TWINS
    refuse_files([twins.task])
    ours = {file, file.parent, out / ANSWERS}
    held = {*out.glob("*"), *file.parent.glob("*")}
    if foreign := sorted(held - ours):
        raise ValueError(f"{out} holds something else, {foreign[0].name}: name another --out")
    if not (file.exists() and pq.read_table(file, columns=["id"])["id"] == twins.table["id"]):
        if any(file.stat().st_size for file in out.glob(f"{ANSWERS}/state/answers-*")):
            raise ValueError(
                f"{out} holds other twins, of another budget or seed: name another --out"
            )
        write_twins(twins, file, force=True)
    limit = {"context_budget": twins.context_budget} if twins.context_budget is not None else {}
    puzzles = {twins.benchmark.dataset: {"path": str(file.parent)} | limit}
    asked = replace(model, tasks=[twins.task], metadata=puzzles)
    return asked.run(out / ANSWERS, shard=shard)

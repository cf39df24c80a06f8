"""A pool: puzzles with what a base answered, in one file.

A Parquet file, here or on the Hub, with a row for each puzzle: the share of `attempts` that the
base `solved`, none where an answer is missing, and its first `response`. The file's metadata says
what made it. By it, anyone measures a model against a base that he can't run.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_gen.answers.sample import as_count
from cogniload_gen.files import naming
from cogniload_gen.never_written import without_keys
from cogniload_gen.tables import table_writer
from lm_eval_tasks.resume import Run

_ABOUT, _ADDED = b"cogniload.pool", ("solved", "response")


@dataclass(frozen=True, eq=False)
class Pool:
    """Puzzles with a base's answers; `of` makes one, and `read` reads one.

    Attributes:
        table: The puzzles' columns, `solved` and `response`.
        attempts: How often each puzzle was answered.
        run: What the base was, and how it was asked.
        served_by: How many answers came from whom, where a server tells it.
    """

    table: pa.Table
    attempts: int
    run: Run
    served_by: Mapping[str, int]

    @classmethod
    def of(
        cls,
        puzzles: pa.Table,
        said: Sequence[tuple[float, str | None]],
        attempts: int,
        run: Run,
        served_by: Mapping[str, int],
    ) -> "Pool":
        """Return the pool of puzzles and what was said of each: a share, and the first response."""
        solved, responses = zip(*said, strict=True)
        shares = pa.array(solved, pa.float64(), from_pandas=True)
        table = puzzles.append_column("solved", shares)
        table = table.append_column("response", pa.array(responses, pa.string()))
        return cls(table, attempts, run, served_by)

    @classmethod
    def read(cls, place: str | Path) -> "Pool":
        """Return the pool of a file, also of one on the Hub: hf://datasets/USER/NAME/FILE.

        Raises ValueError for another kind of file, OSError where there is none.
        """
        if Path(place).is_dir():
            raise ValueError(f"{place} is a folder: a recorded base is a file of gate --record")
        with naming(f"{place} must be a file of gate --record", pa.ArrowInvalid):
            with fsspec.open(str(place), "rb") as file:
                table = pq.read_table(pa.BufferReader(file.read()))
            told = json.loads((table.schema.metadata or {})[_ABOUT])
            solved = table["solved"].drop_null().to_numpy()
            run, attempts = Run.of_json(told["run"]), as_count(told["attempts"])
            sound = attempts and len(solved) and solved.min() >= 0 and solved.max() <= 1
            ids = table["id"].to_pylist()
            if not (sound and len({*ids}) == len(ids) and isinstance(told["served_by"], dict)):
                raise ValueError("its shares, ids or attempts are not sound")
            _ = table["puzzle"], table["answer"], table["response"]
        return cls(table, int(attempts or 1), run, told["served_by"])

    def write(self, file: Path) -> None:
        """Write the pool to a new .parquet file."""
        about = {"run": asdict(self.run), "attempts": self.attempts, "served_by": self.served_by}
        schema = self.table.schema.with_metadata({_ABOUT: json.dumps(about)})
        with table_writer(file, schema) as write:
            write(self.table.cast(schema))

    @property
    def puzzles(self) -> pa.Table:
        """The puzzles alone, as they were made."""
        return self.table.drop_columns([*_ADDED]).replace_schema_metadata()

    @cached_property
    def solved(self) -> np.ndarray:
        """The share of each puzzle, NaN where an answer is missing."""
        shares: np.ndarray = self.table["solved"].to_numpy()
        return shares

    @property
    def context_budget(self) -> int | None:
        """The tokens that a prompt and its response shared; None for the task's own."""
        about: Mapping[str, Any] = next(iter(self.run.what["metadata"].values()), {})
        return as_count(about.get("context_budget"))

    @property
    def digest(self) -> str:
        """What tells pools apart: the puzzles, and how the base did."""
        held = [self.table["id"].to_pylist(), self.table["solved"].to_pylist(), self.attempts]
        return sha256(json.dumps(held).encode()).hexdigest()[:16]

    def unlike(self, run: Run) -> str:
        """Say which settings of decoding and prompting a run has that the base had not, "" if none.

        A better decoding would hide a worse model.
        """
        names = ("gen_kwargs", "system_instruction", "apply_chat_template")
        other = [
            f"{name} {run.what[name]}" for name in names if run.what[name] != self.run.what[name]
        ]
        return f"the base was asked by other settings than {', '.join(other)}" if other else ""

    @property
    def whole(self) -> "Pool":
        """The pool of those puzzles whose answers are all there."""
        return replace(self, table=self.table.filter(pa.array(~np.isnan(self.solved))))

    def draw(self, seed: int | Sequence[int], count: int) -> "Pool":
        """Return `count` of its puzzles, in an order that a seed draws."""
        order = np.random.default_rng(seed).permutation(len(self.table))
        return replace(self, table=self.table.take(order[:count]))

    def answer(self, start: int, ids: Sequence[str]) -> list[tuple[float, str | None]]:
        """Return the recorded share and response of puzzles; `start` puzzles are before them."""
        responses = self.table["response"].slice(start, len(ids)).to_pylist()
        return [*zip(self.solved[start : start + len(ids)].tolist(), responses, strict=True)]

    def describe(self) -> dict[str, Any]:
        """Return the base, its address, who served it, and when it was recorded."""
        about = {"served_by": dict(self.served_by), "attempts": self.attempts}
        return describe_run(self.run) | about | {"recorded": f"{self.run.began:%Y-%m-%d}"}


def describe_run(run: Run) -> dict[str, Any]:
    """Return the model of a run, and its address."""
    given = run.model_args
    model = given.get("model") or given.get("pretrained") or run.what["model"]
    return {"model": model, "base_url": without_keys(given).get("base_url")}

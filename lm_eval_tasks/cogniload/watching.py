"""`cogniload watch POOL`: a night's puzzles for a served model, and what all nights say.

    OUT/nights.json     the state: the pool, and of each night its date, its answers and by whom
    OUT/nights.svg      a picture of the nights
    OUT/night-0001/     the puzzles and the answers of a night

The puzzles of a night follow from its number and a seed alone. A night that was not finished goes
on, and an alarm ends the watch. Later nights need the state alone of what was written before.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from cogniload_analysis.compare.gate import changes
from cogniload_analysis.compare.watch import NO_ALARM, Watch, dead_zone, watch
from cogniload_analysis.report.gate_runs import SIDES, Verdict
from cogniload_analysis.report.nights import draw_nights
from cogniload_gen.checks import check_integer
from cogniload_gen.files import naming, whole_file
from lm_eval_tasks.cogniload.pool import Pool
from lm_eval_tasks.cogniload.running_gate import (
    BATCH,
    PUZZLES,
    LiveModel,
    say_served,
    write_puzzles,
)
from lm_eval_tasks.evaluation import Evaluation
from lm_eval_tasks.status import each_warning_once

_STATE, _PICTURE = "nights.json", "nights.svg"

# Fewest puzzles of a night, for which `changes` can look.
_FEWEST = 10


@dataclass
class Nights:
    """The nights of a watch, as its state file holds them.

    Attributes:
        pool: The digest of the pool.
        dead_zone: The loss from which on one counts, from 0 to 1.
        nights: Of each night its date and its answers: how often (`base`, `new`) came, the share
            that the base solves and 1, 0 or None; why they tell nothing; the model and who served.
        since: How many of them are of earlier watches.
    """

    pool: str
    dead_zone: float
    nights: list[dict[str, Any]] = field(default_factory=list)
    since: int = 0

    @classmethod
    def read(cls, out: Path) -> "Nights | None":
        """Return the nights of a folder; None before the first one."""
        file = out / _STATE
        if not file.exists():
            return None
        with naming(f"{file} must be what cogniload watch wrote"):
            nights = cls(**json.loads(file.read_text("utf-8")))
            _ = nights.own and nights.found
            return nights

    @classmethod
    def begun(cls, out: Path, pool: Pool) -> "Nights":
        """Return the nights of a folder; ValueError before the first one, or for another pool."""
        nights = cls.read(out)
        if nights is None or not nights.own:
            raise ValueError(f"{out} must hold nights of cogniload watch: there was none yet")
        nights.refuse_another(out, pool)
        return nights

    def refuse_another(self, out: Path, pool: Pool) -> None:
        """Raise ValueError unless the nights of a folder are those of a pool."""
        if self.pool != pool.whole.digest:
            raise ValueError(f"{out} has nights of another pool: name another --out")

    def write(self, out: Path) -> None:
        """Write the state and the picture into a folder."""
        with whole_file(out / _STATE, force=True) as part:
            part.write_text(json.dumps(asdict(self), ensure_ascii=False) + "\n", "utf-8")
        if self.own:
            drawn = draw_nights(self.pairs, self.found)
            with whole_file(out / _PICTURE, force=True) as part:
                part.write_bytes(drawn)

    @property
    def own(self) -> list[dict[str, Any]]:
        """The nights of this watch."""
        return self.nights[self.since :]

    @property
    def pairs(self) -> list[np.ndarray]:
        """The share of the base and of the new model of each puzzle, by nights of this watch."""
        return [
            np.repeat(
                [(base, nan if new is None else new) for base, new, _ in night["answers"]],
                [count for *_, count in night["answers"]],
                axis=0,
            )
            for night in self.own
        ]

    @property
    def found(self) -> Watch:
        """What the nights of this watch say."""
        unstable = [night["unstable"] for night in self.own]
        found = watch(self.pairs, self.dead_zone, unstable, self.since + 1)
        return replace(found, notes=(*found.notes, *self._doubts()))

    @property
    def verdict(self) -> Verdict:
        """What is printed and written: of each night the shares of what was answered."""
        found, listed = self.found, []
        for night, pairs, evidence in zip(self.own, self.pairs, found.by_night, strict=True):
            known = pairs[~np.isnan(pairs).any(axis=1)]
            about = {"puzzles": len(pairs), "missing": len(pairs) - len(known)}
            about |= dict(zip(SIDES, known.mean(axis=0).tolist(), strict=True))
            kept = {name: it for name, it in night.items() if name != "answers"}
            listed.append(kept | about | {"evidence": evidence})
        held = asdict(found) | {"exit_code": found.exit_code, "by_night": listed}
        return Verdict(found.exit_code, NO_ALARM, found.lines, held)

    def _doubts(self) -> list[str]:
        """Return what else was there in the last night than in the one before."""
        notes = [say_served(self.own[-1] | {"side": "the last night"}), self.own[-1]["unlike"]]
        for name in ("model", "base_url", "served_by"):
            *before, now = (
                " and ".join(sorted(it)) if isinstance(it := night[name], dict) else str(it)
                for night in self.own[-2:]
            )
            if before not in ([], [now]):
                notes.append(
                    f"{name} is {now or 'unknown'}, the night before {before[0] or 'unknown'}"
                )
        return [*filter(None, notes)]

    def add(self, pairs: Sequence[tuple[float, float]], about: dict[str, Any]) -> None:
        """Add a night: its answers in the order of asking, and what is known of the model."""
        counts = Counter((base, None if isnan(new) else new) for base, new in pairs)
        answers = [[*pair, count] for pair, count in counts.items()]
        date = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
        unstable = changes(np.diff(pairs).ravel(), BATCH)
        self.nights.append({"date": date, "answers": answers, "unstable": unstable} | about)


def watch_pool(
    pool: Pool, out: Path, model: Evaluation, puzzles: int, seed: int, *, anew: bool = False
) -> Nights:
    """Ask a model the next night's puzzles of a pool, unless an alarm has ended the watch.

    With `anew`, a new watch begins: the nights before stay in the file, and count no more.
    CapReached where a cap ends the night. ValueError for what can't be evaluated, and for an `out`
    with the nights of another pool.
    """
    pool = pool.whole
    nights = Nights.read(out) or Nights(pool.digest, dead_zone(pool.solved, pool.attempts))
    nights.refuse_another(out, pool)
    check_integer("puzzles", puzzles, low=_FEWEST, high=len(pool.table))
    if anew:
        nights.since = len(nights.nights)
        nights.write(out)  # also where the night is broken off
    elif nights.own and nights.found.is_over:
        return nights
    night = len(nights.nights) + 1
    folder, drawn = out / f"night-{night:04}", pool.draw([seed, night], puzzles)
    ids = write_puzzles(drawn.puzzles, folder)
    with (
        each_warning_once(),
        LiveModel(model, folder, folder / PUZZLES, pool.context_budget, night=night) as asked,
    ):
        asked.asking.show(f"night {night}", 0, len(ids))
        new = [share for share, _ in asked.answer(0, ids)]
        about = asked.describe() | {"unlike": pool.unlike(asked.asking.run)}
        nights.add([*zip(drawn.solved.tolist(), new, strict=True)], about)
    nights.write(out)
    return nights

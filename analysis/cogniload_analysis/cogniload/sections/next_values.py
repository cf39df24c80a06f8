"""What a model that is given right traces so far puts next: hazards, and what they foretell.

The hazard is the chance that a value has another likeliest choice than the right one, for values
behind a needle and behind a hay, at each N that was asked about. A model that writes d values for
each of N statements, each with that hazard, tells a right trace with the product of the chances;
where it does not, it still guesses the answer. The foretold ECL50 is the N where that is one half.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive.design import describe_interval
from cogniload_analysis.cogniload.fitted import REACH
from cogniload_analysis.display.figures import Figure, Panel, series_by_model
from cogniload_analysis.display.page import Findings, Section, Verdict
from cogniload_analysis.display.tables import accuracy_table, table
from cogniload_analysis.frame import column
from cogniload_analysis.stats import CONFIDENCE, Interval, Numbers, percentiles
from cogniload_analysis.words import say

ANSWERED = column("answered", "object", lambda sample: sample.held.get("answered") or [])
"""The questions of a sample, as the tasks log them."""

KINDS = ("needle", "hay")


class Foretold(NamedTuple):
    """The hazards of one model at one d, and what they foretell.

    Attributes:
        d: The difficulty.
        levels: The N that were asked about, ascending.
        hazards: By draw of puzzles, of which the first is what was found, by level and by kind.
    """

    d: int
    levels: np.ndarray
    hazards: np.ndarray

    def accuracy(self, N: np.ndarray, rho: Numbers) -> np.ndarray:
        """Return the foretold accuracy by draw, at each N and its rho (a fraction).

        Between levels the hazard is that of a line over log N, beyond them that of the nearest.
        """
        x = np.log(self.levels)
        weights = np.stack([np.interp(np.log(N), x, row) for row in np.eye(len(x))])
        rates = -np.log1p(-np.minimum(self.hazards, 1 - 1e-9))
        needles, hay = np.einsum("glk,ln->kgn", rates, weights)
        right = np.exp(-self.d * N * (rho * needles + (1 - np.asarray(rho)) * hay))
        return np.asarray(1 - (1 - 1 / max(self.d + 1, 3)) * (1 - right))  # options: section 2.1.1

    def numbers(self, rho: float) -> dict[str, Interval]:
        """Return the mean hazards over the levels by kind, and ECL50 at a rho, by name.

        ECL50 is the N at which half of the puzzles would be solved, endless beyond 4 times them.
        """
        grid = np.geomspace(1, REACH * self.levels.max(), 400)
        below = self.accuracy(grid, rho) < 1 / 2
        drawn = [*self.hazards.mean(1).T, np.where(below.any(1), grid[below.argmax(1)], np.inf)]
        found = (Interval(float(each[0]), *percentiles(each[1:]).tolist()) for each in drawn)
        return dict(zip((*KINDS, "ECL50"), found, strict=True))


def foretell(questions: pd.DataFrame, d: int) -> Foretold:
    """Return what the answers of one model at one d foretell.

    `questions` has a row for each: N, id (the puzzle's), kind and wrong. Draws resample the puzzles
    of each N. To each count of wrong values half a one is added, with a luck of its own (Gamma):
    none in a hundred is no hazard of 0, and this is the posterior by Jeffreys' prior.
    """
    columns = pd.MultiIndex.from_product([("wrong", "asked"), KINDS])
    counts = questions.assign(asked=1).pivot_table(["wrong", "asked"], ["N", "id"], "kind", "sum")
    counts = counts.reindex(columns=columns).fillna(0)
    rng, hazards = np.random.default_rng(0), []
    for _, rows in counts.groupby("N"):
        drawn = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), 1000)
        sums = np.vstack([np.ones(len(rows)), drawn]) @ rows.to_numpy(float)
        luck = np.vstack([np.zeros((1, 2)), rng.gamma(1 / 2, size=(1000, 2))])
        hazards.append((sums[:, :2] + luck) / np.maximum(sums[:, 2:] + (luck > 0), 1))
    levels = counts.index.get_level_values("N").unique().to_numpy(float)
    return Foretold(d, levels, np.minimum(np.stack(hazards, 1), 1))


def foretell_all(frame: pd.DataFrame) -> Iterator[tuple[str, int, Foretold, pd.DataFrame]]:
    """Yield each model of a frame, each d, what is foretold of it there, and its questions.

    Their columns are those of the frame, kind, wrong, bits, and third, the part of the trace that
    a question is in; id is the puzzle's.
    """
    asked = frame[["model", "served", "d", "N", "rho", "id", "answered"]].explode("answered")
    found = pd.DataFrame([*asked.pop("answered")], asked.index)
    asked["id"] = asked["id"].astype(str).str.partition("@")[0]
    asked["third"] = (3 * (found["statement"] - 1) // asked["N"] + 1).clip(upper=3)
    asked = pd.concat([asked, found[["bits", "kind", "wrong"]]], axis=1)
    for model, own in asked.groupby("model", observed=True):
        for d in sorted({*own["d"]}):
            mine = own[own["d"] == d]
            yield str(model), d, foretell(mine, d), mine


def next_findings(frame: pd.DataFrame, causes: Mapping[str, str]) -> Findings:
    """Return what the report shows of models that were asked for next values."""
    told, rows, said = [*foretell_all(frame)], [], dict[str, list[str]]()
    for model, d, of, mine in told:
        rho = float(mine["rho"].mean())
        rows.append({"model": model, "d": d, "rho": rho, "bits": mine["bits"].mean()})
        for name, at in of.numbers(rho).items():
            rows[-1] |= {name: at.value, f"{name}_low": at.low, f"{name}_high": at.high}
        found = describe_interval(at, (0, REACH * of.levels.max()))
        said.setdefault(model, []).append(say("foretold", **rows[-1] | {"ECL50": found}))
    asked = pd.concat([mine.assign(correct=mine["wrong"]) for *_, mine in told])
    cells = accuracy_table(asked, "d", "N", "rho", "kind", "third", confidence=CONFIDENCE)
    by_N = accuracy_table(asked, "kind", "N", confidence=CONFIDENCE)
    panels = [
        Panel(
            series_by_model(mine, "N", "accuracy", "low", "high"), "N", "Hazard", f"Behind a {kind}"
        )
        for kind, mine in by_N.groupby("kind", observed=True)
    ]
    figure = Figure("next_hazards", say("next_hazards"), panels, share_y=True)
    every = Section("Hazards by load and place", [table("next_cells", cells)], folded=True)
    content = [figure, table("next_foretold", pd.DataFrame(rows)), every]
    verdicts = [Verdict(model, first, rest) for model, (first, *rest) in said.items()]
    return Findings([Section("Next values", content, "next-values")], verdicts)


def free_running(frame: pd.DataFrame, frames: Mapping[str, pd.DataFrame]) -> list[Section]:
    """Return, for models that also reasoned aloud, how far their accuracy is from the foretold one.

    `frames` has that of their responses under CogniLoad: of the same model by the last part
    of its name or path (`served`), at the same d, and at N between those that were asked about.
    """
    generated = frames.get("CogniLoad", frame[:0])
    rng, rows = np.random.default_rng(0), []
    for _, d, of, asked in foretell_all(frame):
        names = (it["served"].astype(str).str.split("/").str[-1] for it in (generated, asked))
        same = next(names).isin(next(names)) & (generated["d"] == d)
        same &= generated["N"].between(of.levels.min(), of.levels.max())
        for run, mine in generated[same].groupby("model", observed=True):
            foretold = of.accuracy(mine["N"].to_numpy(), mine["rho"].to_numpy()).mean(1)
            right, count = mine["correct"].mean(), len(mine)
            luck = rng.normal(right, np.sqrt(right * (1 - right) / count), len(foretold))
            ends = dict(zip(("low", "high"), percentiles(luck - foretold), strict=True))
            row = {"model": run, "d": d, "responses": count, "accuracy": right} | ends
            rows.append(row | {"foretold": foretold[0], "difference": right - foretold[0]})
    content = [table("next_free", pd.DataFrame(rows))]
    return [Section("Reasoning aloud", content, "next-free")] * bool(rows)

"""Which loads matter to a model: the one rule, which every output asks.

A load matters if accuracy differs between its levels by more than chance explains, with the other
loads held, and if it falls where the greater level is the harder one. Only then does a load break
a model, and has the model a threshold within what was tested. What guesses would solve is taken
off: a puzzle of greater d has more options, so that guesses alone fall with d.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.stats import binom
from statsmodels.regression.linear_model import OLS

from cogniload_analysis.compare.paired import adjust
from cogniload_analysis.frame import Load
from cogniload_analysis.stats import CONFIDENCE

# The probability with which chance alone is taken for a finding.
_CHANCE = 1 - CONFIDENCE

ENOUGH = 10
"""Puzzles of a level that stand alone; neighbouring levels with fewer are taken together."""


@dataclass(frozen=True, eq=False)
class LoadEffect:
    """What one load does to a model's accuracy.

    `bands` has a row for each level, or a few neighbouring ones, in rising order: the `least` and
    the `most` level, the `accuracy`, and the share `solved` without guesses. `p` is that of no
    effect, times the number of loads.
    """

    load: Load
    bands: pd.DataFrame
    p: float

    @property
    def ends(self) -> tuple[pd.Series, pd.Series]:
        """The easy and the hard end: the first and the last band, or the best and the worst."""
        bands = self.bands
        if not self.load.harder:
            bands = bands.sort_values("solved", ascending=False, kind="stable")
        return bands.iloc[0], bands.iloc[-1]

    @property
    def fall(self) -> float:
        """The share solved without guesses that is lost from the easy to the hard end."""
        easy, hard = self.ends
        return float(easy["solved"] - hard["solved"])

    @property
    def matters(self) -> bool:
        """Whether the load matters."""
        return self.p < _CHANCE and self.fall > 0

    @property
    def rises(self) -> bool:
        """Whether more is known to be solved towards the harder end."""
        return self.p < _CHANCE and self.fall < 0


def load_effects(frame: pd.DataFrame, loads: Sequence[Load]) -> list[LoadEffect]:
    """Return the effect of each load that varies on one model's accuracy.

    `frame` has one row per response, with the loads, `correct`, if puzzles repeat, `id`: a puzzle
    counts once, by its share of right answers; and if it is known, the `chance` of a guess. Each
    load is tested by the F test of a linear model of what is solved without guesses, in which the
    others have a constant for each band; a load whose greater levels are harder has a slope. p is
    corrected by Bonferroni.
    """
    names = [load.name for load in loads]
    guesses = frame["chance"].astype(float).fillna(0) if "chance" in frame else 0.0
    puzzles = frame[[*names, "correct"]].astype(float)
    puzzles["solved"] = (puzzles["correct"] - guesses) / (1 - guesses)
    if "id" in frame:
        puzzles = puzzles.groupby(frame["id"].astype(str)).mean()
    right = puzzles["solved"]
    varying = [load for load in loads if puzzles[load.name].nunique() > 1]
    bands = {load: _number_bands(puzzles[load.name]) for load in varying}
    held = {load: np.eye(bands[load].max() + 1)[bands[load], 1:] for load in varying}
    tests = sum(band.max() > 0 for band in bands.values())
    effects = []
    for load in varying:
        others = [held[other] for other in varying if other is not load]
        without = np.column_stack([np.ones(len(right)), *others])
        own = bands[load][:, None] if load.harder and bands[load].any() else held[load]
        with warnings.catch_warnings():  # of loads that vary together, which p then says
            warnings.simplefilter("ignore")
            fits = [OLS(right, design).fit() for design in (np.hstack([without, own]), without)]
        with np.errstate(divide="ignore", invalid="ignore"):  # of answers without any variance
            _, p, freedom = fits[0].compare_f_test(fits[1])
        shown = puzzles.groupby(bands[load]).agg(
            least=(load.name, "min"),
            most=(load.name, "max"),
            accuracy=("correct", "mean"),
            solved=("solved", "mean"),
        )
        known = freedom > 0 and not np.isnan(p)
        effects.append(LoadEffect(load, shown, min(1.0, float(p) * tests) if known else 1.0))
    return effects


def _number_bands(levels: pd.Series) -> np.ndarray:
    """Return the number of each puzzle's band, from 0: levels, as few as make ENOUGH puzzles."""
    counts = levels.value_counts().sort_index()
    number, size, places = 0, 0, {}
    for level, count in counts.items():
        places[level] = number
        size += count
        if size >= ENOUGH:
            number, size = number + 1, 0
    last = max(0, number - 1)  # where the last levels are too few, they join those before
    return levels.map(places).clip(upper=last).to_numpy(int)


def breaking(effects: Sequence[LoadEffect]) -> list[LoadEffect]:
    """Return the effects of the loads that matter, the largest fall first."""
    return sorted((one for one in effects if one.matters), key=lambda one: -one.fall)


def tell_together(effects: Mapping[str, Sequence[LoadEffect]]) -> dict[str, list[LoadEffect]]:
    """Return the effects of each model's loads with p that hold for all models together.

    They are Holm's over the models, load by load; Bonferroni's over the loads is in p already.
    """
    p = pd.DataFrame({name: {it.load.name: it.p for it in mine} for name, mine in effects.items()})
    held = p.apply(lambda of_load: pd.Series(adjust(of_load), of_load.index), axis=1)
    return {
        name: [replace(it, p=held[name][it.load.name]) for it in mine]
        for name, mine in effects.items()
    }


def is_at_chance(frame: pd.DataFrame, loads: Sequence[Load]) -> bool:
    """Tell whether no level of any load is solved more often than guesses would.

    One-sided binomial tests of the whole and of each level, by Bonferroni's correction, at 5 %.
    False where the chance is unknown.
    """
    if "chance" not in frame or frame["chance"].isna().any():
        return False
    varying = [load.name for load in loads if frame[load.name].nunique() > 1]
    levels = [rows for load in varying for _, rows in frame.groupby(load, observed=True)]
    tests = [
        binom.sf(rows["correct"].sum() - 1, len(rows), rows["chance"].mean())
        for rows in (frame, *levels)
    ]
    return min(tests) * len(tests) > _CHANCE

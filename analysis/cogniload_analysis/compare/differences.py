"""Runs side by side: their differences in accuracy and outcomes, by pairs of puzzles."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.analysis import Analysis, Pairs
from cogniload_analysis.compare import paired as statistics
from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import (
    MISSING,
    Columns,
    Table,
    form,
    p_value,
    percent,
    points,
    points_interval,
    set_number,
    text,
)
from cogniload_analysis.frame import Load, check_columns
from cogniload_gen.grid import ENGLISH, other_language

DETECT = 0.02
SIGNIFICANT = 0.05
ENOUGH_IN_COMMON = 0.5
"""Runs are paired by the puzzles in common where these are half of the smaller run's or more."""
MANY_LEVELS = 12
FEW_MODELS = 3
FEW_PAIRS, MANY_PAIRS = "exact score interval", "score interval, McNemar's test"


POINTS = ", in percentage points, with 95 % intervals."
FITS_CAPTION = "Differences of what was fitted, with 95 % intervals; × is a factor."


def _show_difference(value: float, scale: object) -> str:
    """Set a difference of measures; one of ECL50 is a factor."""
    if not np.isfinite(value):
        return set_number(value, 0)
    return f"× {value:.2f}" if scale == "ratio" else f"{value:+.3g}"


def _show_interval(difference: float, low: float, high: float, scale: object) -> str:
    if np.isnan(difference):
        return MISSING
    return f"{_show_difference(low, scale)} to {_show_difference(high, scale)}"


PAIR: Columns = {"first, second": ("Runs", "{} − {}".format)}
P_VALUES: Columns = {"p": ("p", p_value), "p_holm": ("p (Holm)", p_value)}
SHARES: Columns = {
    "outcome": ("Outcome", lambda outcome: outcome.replace("_", " ")),
    "first_puzzles, second_puzzles": (
        "Puzzles",
        lambda first, second: str(first) if first == second else f"{first} and {second}",
    ),
    "first_share": ("First [%]", percent),
    "second_share": ("Second [%]", percent),
    "difference": ("Difference", points(1)),
    "low, high": ("95 % interval", points_interval(1)),
    **P_VALUES,
    "p_anytime": ("p (any look)", p_value),
    "method": "Method",
}
FITS: Columns = {
    **PAIR,
    "condition": "At",
    "measure": "Measure",
    "first_value": ("First", form("{:.4g}")),
    "second_value": ("Second", form("{:.4g}")),
    "difference, scale": ("Difference", _show_difference),
    "difference, low, high, scale": ("95 % interval", _show_interval),
    **P_VALUES,
    "method": "Method",
    "note": "Note",
}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two or more runs side by side; a difference is the first's less the second's.

    Attributes:
        accuracy: A row for each pair of runs: their accuracies, difference, 95 % interval, p and
            Holm's p; `paired` puzzles or not; how many were `left_out`, as only one run has
            them; how many only one solves; the puzzles `needed` to detect `detect`. `p_anytime`
            is Holm's p that holds however often one looked, where puzzles have one answer each.
        by_load: The same at each level of each load.
        outcomes: The same for the share of each outcome.
        measures: The differences of the benchmark's own measures, such as ECL50.
        only_one: The puzzles that only one of two runs solves, by id.
        detect: The difference in accuracy to detect, a fraction.
        loads: The benchmark's loads.
    """

    accuracy: pd.DataFrame
    by_load: pd.DataFrame
    outcomes: pd.DataFrame
    measures: pd.DataFrame
    only_one: pd.DataFrame
    detect: float
    loads: tuple[Load, ...]

    @property
    def conclusions(self) -> list[str]:
        """The conclusions from the tables, a sentence each."""
        return say_differences(self.accuracy, self.measures, self.detect)

    def tables(self, prefix: str = "") -> list[Table]:
        """Return the tables that have rows, as a report has them; `prefix` begins their names."""
        shares = {**PAIR, "load, level": ("At", self._show_level), **SHARES}
        only = "Puzzles that only one of two runs solves."
        by, of = "Differences in accuracy by load", "Differences in the share of each outcome"
        every = [
            Table(f"{prefix}comparison", self.accuracy, f"Differences in accuracy{POINTS}", shares),
            Table(f"{prefix}comparison_fits", self.measures, FITS_CAPTION, FITS),
            Table(f"{prefix}comparison_by_load", self.by_load, f"{by}{POINTS}", shares),
            Table(f"{prefix}comparison_outcomes", self.outcomes, f"{of}{POINTS}", shares),
            Table(f"{prefix}comparison_only_one", self.only_one, only),
        ]
        return [table for table in every if len(table.data)]

    def _show_level(self, name: str, level: object) -> str:
        load = next(load for load in self.loads if load.name == name)
        # Beside words, numbers come back from CSV as words.
        known = level if load.dtype == "category" else load.scale(float(str(level)))
        return f"{load.heading.replace(' [%]', '')} = {load.show(known)}" + " %" * load.percent

    def summary(self) -> str:
        """Return the conclusions, and the tables without ids and loads of many levels, as text."""
        by_load = self.by_load
        if len(by_load):
            levels = by_load.groupby("load")["level"].transform("nunique")
            by_load = by_load[levels <= MANY_LEVELS].reset_index(drop=True)
        short = replace(self, by_load=by_load, only_one=self.only_one.iloc[:0])
        texts = [
            f"{table.caption}\n{table.shown.to_string(index=False)}" for table in short.tables()
        ]
        return "\n\n".join(["\n".join(self.conclusions), *texts])


def compare_responses(
    frame: pd.DataFrame,
    analysis: Analysis,
    *,
    detect: float = DETECT,
    pairs: Pairs | None = None,
) -> Comparison:
    """Return the `Comparison` of the models of a benchmark's frame, one row per response.

    `pairs` are the models to compare, two by two: each two unless given.
    Puzzles are the same if their ids are, and the generator's version where the frame has it. A
    puzzle counts once, whatever its number of attempts. Raises ValueError for fewer than two
    models, a missing column, and a `detect` that is not a fraction.
    """
    if not 0 < detect < 1:
        raise ValueError(f"detect must be a fraction between 0 and 1, got {detect!r}")
    names = [load.name for load in analysis.loads]
    needed = f"model, id, {', '.join(names)} and correct"
    check_columns(frame, ("model", "id", "correct", *names), needed)
    models = [str(model) for model in frame["model"].unique()]
    if len(models) < 2:
        raise ValueError(
            f"a comparison is of two or more runs, and the frame holds {len(models)}: "
            f"{', '.join(models) or 'no responses'}"
        )
    frame = frame.assign(id=_name_puzzles(frame), model=frame["model"].astype(str))
    loads = frame.drop_duplicates("id").set_index("id")[names]
    attempts = frame.groupby(["id", "model"]).size().unstack()
    correct = _shares(frame, frame["correct"])
    names_of_pairs = list(combinations(models, 2)) if pairs is None else pairs
    compared = [
        _Pair(first, second, loads.reindex(correct.index), attempts.reindex(correct.index))
        for first, second in names_of_pairs
    ]
    accuracy = pd.DataFrame([pair.summarise(correct, detect) for pair in compared])
    accuracy["p_anytime"] = statistics.adjust(accuracy["p_anytime"].tolist())
    level_of = loads.reindex(correct.index)
    by_load = [
        {"load": name, "level": level} | row
        for pair in compared
        for name in names
        if loads[name].nunique() > 1
        for level in sorted(loads[name].unique())
        if (row := pair.compare(correct[level_of[name] == level]))
    ]
    order = {outcome.value: place for place, outcome in enumerate(analysis.outcomes)}
    present = frame["outcome"].unique() if "outcome" in frame else ()
    outcomes = [
        {"outcome": str(outcome)} | row
        for outcome in sorted(present, key=lambda outcome: order.get(outcome, len(order)))
        for shares in [_shares(frame, frame["outcome"] == outcome)]
        for pair in compared
        if (row := pair.compare(shares))
    ]
    outcomes.sort(key=lambda row: (row["first"], row["second"]))
    return Comparison(
        _adjust(accuracy),
        _adjust(pd.DataFrame(by_load)),
        _adjust(pd.DataFrame(outcomes)),
        _adjust(analysis.compare(frame, names_of_pairs)),
        pd.concat([pair.list_alone(correct) for pair in compared], ignore_index=True),
        detect,
        analysis.loads,
    )


def comparison_sections(frame: pd.DataFrame, analysis: Analysis) -> list[Section]:
    """Return what a report says of its models side by side; nothing where there is one alone.

    The puzzles that only one solves are left to `cogniload compare`: there may be thousands.
    """
    if not (pairs := choose_pairs(frame, analysis)):
        return []
    comparison = compare_responses(frame, analysis, pairs=pairs)
    tables = replace(comparison, only_one=comparison.only_one.iloc[:0]).tables(analysis.prefix)
    numbers = Section("The comparison in numbers", tables, folded=True)
    content = [comparison.conclusions, numbers]
    return [Section("Side by side", content, "side-by-side", link="Side by side")]


def choose_pairs(frame: pd.DataFrame, analysis: Analysis) -> Pairs:
    """Return the pairs that a report shows: each two of a few models, else neighbours in rank.

    Models that met no load in common make no pair.
    """
    ranked = frame.groupby("model", observed=True)["correct"].mean()
    models = [str(model) for model in ranked.sort_values(ascending=False, kind="stable").index]
    pairs = combinations(models, 2) if len(models) <= FEW_MODELS else pairwise(models)
    loads = [load.name for load in analysis.loads]
    distinct = frame.drop_duplicates(["model", *loads])
    cells = {str(model): set(zip(*(rows[load] for load in loads), strict=True))
             for model, rows in distinct.groupby("model", observed=True)}  # fmt: skip
    return [(first, second) for first, second in pairs if cells[first] & cells[second]]


def _name_puzzles(frame: pd.DataFrame) -> pd.Series:
    """Return what names each row's puzzle: its id, with the version where there are several.

    The same puzzle in another language is the same.
    """
    names = frame["id"].astype(str).map(partial(other_language, language=ENGLISH))
    if "generator_version" in frame and frame["generator_version"].nunique() > 1:
        return names + "@" + frame["generator_version"].astype(str)
    return names


def _shares(frame: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Return the mean of each model's answers to each puzzle; NaN where there are none."""
    return values.astype(float).groupby([frame["id"], frame["model"]]).mean().unstack()


def _adjust(table: pd.DataFrame) -> pd.DataFrame:
    """Add Holm's p over a table, after p."""
    if len(table):
        after = list(table.columns).index("p") + 1
        table.insert(after, "p_holm", statistics.adjust(table["p"].tolist()))
    return table


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two models; the loads of every puzzle, and the models' attempts at it."""

    first: str
    second: str
    loads: pd.DataFrame
    attempts: pd.DataFrame

    @cached_property
    def both(self) -> pd.DataFrame:
        return self.attempts[[self.first, self.second]]

    @cached_property
    def common(self) -> pd.Series:
        return self.both.notna().all(axis=1)

    @cached_property
    def paired(self) -> bool:
        """Whether enough puzzles are common to compare the runs by these alone."""
        smaller = self.both.notna().sum().min()
        return bool(self.common.sum() >= max(1, ENOUGH_IN_COMMON * smaller))

    def _answers_once(self, puzzles: pd.Index) -> bool:
        return bool(self.both.loc[puzzles].eq(1).all(axis=None))

    def compare(self, shares: pd.DataFrame) -> dict[str, object]:
        """Return the difference of shares as a row; an empty one where one answered nothing."""
        if self.paired:
            chosen = shares[self.common.reindex(shares.index)]
            sides = [(chosen[model].to_numpy(), np.ones(len(chosen))) for model in self.both]
        else:
            sides = self._in_common_cells(shares)
        (first, of_first), (second, of_second) = sides
        if not (len(first) and len(second)):
            return {}
        if not self.paired:
            method = "unpaired"
            apart = statistics.compare_groups(first, second, (of_first, of_second))
        elif self._answers_once(chosen.index):
            method = FEW_PAIRS if len(first) <= statistics.FEW else MANY_PAIRS
            alone = int((first > second).sum()), int((first < second).sum())
            apart = statistics.compare_solved(*alone, len(first))
        else:
            method, apart = "paired, clustered by puzzle", statistics.compare_means(first - second)
        return {
            "first": self.first,
            "second": self.second,
            "first_puzzles": len(first),
            "second_puzzles": len(second),
            "paired": self.paired,
            "first_share": float(np.average(first, weights=of_first)),
            "second_share": float(np.average(second, weights=of_second)),
            "difference": float(apart.value),
            "low": float(apart.low),
            "high": float(apart.high),
            "p": float(apart.p),
            "method": method,
        }

    def _in_common_cells(self, chosen: pd.DataFrame) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return each model's shares and their weights, which give cells the same say in both."""
        cells = self.loads.reindex(chosen.index).groupby(list(self.loads), observed=True).ngroup()
        sides = [chosen[model].dropna() for model in self.both]
        counts = [cells[side.index].value_counts() for side in sides]
        common = counts[0].index.intersection(counts[1].index)
        weight = sum(count[common] / count[common].sum() for count in counts)
        weighed = []
        for side, count in zip(sides, counts, strict=True):
            kept = side[cells[side.index].isin(common)]
            weighed.append((kept.to_numpy(), cells[kept.index].map(weight / count).to_numpy()))
        return weighed

    def summarise(self, correct: pd.DataFrame, detect: float) -> dict[str, object]:
        """Return the row of the difference in accuracy, with the pair's counts."""
        difference = self.compare(correct)
        if not difference:
            raise ValueError(
                f"{self.first} and {self.second} have no puzzle and no loads in common"
            )
        first, second = correct[self.first], correct[self.second]
        counts, p_anytime = {"left_out": 0, "only_first": 0, "only_second": 0}, np.nan
        if self.paired:
            apart = (first - second)[self.common].to_numpy()
            puzzles = len(apart)
            variance = statistics.widen_square(apart) - puzzles * apart.mean() ** 2 / (puzzles + 2)
            alone = self._alone(correct)
            counts["left_out"] = int(self.both.notna().any(axis=1).sum()) - puzzles
            counts["only_first"], counts["only_second"] = map(len, alone)
            if self._answers_once(correct.index[self.common]):
                p_anytime = float(statistics.anytime_p(*map(len, alone)))
        else:
            variance = first.var(ddof=0) + second.var(ddof=0)
        needed = int(np.ceil(statistics.puzzles_needed(float(variance), detect)))
        return difference | counts | {"needed": needed, "p_anytime": p_anytime}

    def _alone(self, correct: pd.DataFrame) -> list[pd.Index]:
        """Return the puzzles that only the first and only the second ever solves."""
        first, second = (correct.loc[self.common, model] > 0 for model in (self.first, self.second))
        return [first.index[first & ~second], first.index[~first & second]]

    def list_alone(self, correct: pd.DataFrame) -> pd.DataFrame:
        """Return the puzzles that only one solves; none where the runs are unpaired."""
        pair = {"first": self.first, "second": self.second}
        listed = [
            self.loads.loc[puzzles].reset_index(names="id").assign(**pair, solved_by=model)
            for model, puzzles in zip((self.first, self.second), self._alone(correct), strict=True)
        ]
        columns = [*pair, "solved_by", "id", *self.loads]
        return pd.concat(listed)[columns].iloc[: None if self.paired else 0]


# --- In print --------------------------------------------------------------------------------


def say_differences(accuracy: pd.DataFrame, measures: pd.DataFrame, detect: float) -> list[str]:
    """Say what the tables of a comparison hold, a sentence each."""
    holm = " after Holm's correction" * (len(accuracy) > 1)
    sentences = []
    rows: list[dict[Any, Any]] = accuracy.to_dict("records")
    for row in rows:
        first, second = row["first"], row["second"]
        significant, apart = row["p_holm"] < SIGNIFICANT, 100 * abs(row["difference"])
        counts = f"{row['first_puzzles']:,} puzzles that both answered"
        if not row["paired"]:
            counts = (
                "unpaired, as they answered different puzzles: "
                f"{row['first_puzzles']:,} and {row['second_puzzles']:,} at the same loads"
            )
        elif row["left_out"]:
            counts += f"; {row['left_out']:,} that only one answered are left out"
        ends = points_interval(1)(row["low"], row["high"])
        source = f"95 % interval {ends} points, p {_equals(row['p_holm'])}{holm}; {counts}"
        more = "more" if row["difference"] >= 0 else "fewer"
        solved = f"{first} solves {apart:.1f} points {more} than {second}"
        if significant:
            sentences.append(f"{solved} ({source}).")
        else:
            solved = solved if apart else "both solve as many"
            sentences.append(f"{first} and {second} can't be told apart: {solved} ({source}).")
            missing = row["needed"] - min(row["first_puzzles"], row["second_puzzles"])
            chance = (
                f"{100 * detect:g} points apart with a chance of {100 * statistics.POWER:.0f} %"
            )
            sentences.append(
                f"These puzzles are enough to tell {chance}."
                if missing <= 0
                else f"To tell {chance}, about {round_up(missing):,} more puzzles are needed."
            )
        if row["paired"]:
            alone = f"{first} alone solves {row['only_first']:,} of them, {second} alone"
            sentences.append(f"{alone} {row['only_second']:,}.")
        if len(measures):
            of_pair = measures[["first", "second"]] == [first, second]
            sentences += _say_measures(measures[of_pair.all(axis=1)])
    return sentences


def _equals(p: float) -> str:
    return p_value(p) if p < 0.001 else f"= {p:.3f}"


def round_up(number: float) -> int:
    """Return a number rounded up to two significant digits."""
    unit = 10 ** max(0, int(np.floor(np.log10(max(number, 1)))) - 1)
    return int(np.ceil(number / unit) * unit)


def _say_measures(rows: pd.DataFrame) -> Iterator[str]:
    """Say which measures of two runs differ."""
    differ: list[dict[Any, Any]] = rows[rows["p_holm"] < SIGNIFICANT].to_dict("records")
    for row in differ:
        low, high = (_show_difference(row[end], row["scale"]) for end in ("low", "high"))
        size = f"{row['difference']:.2f} times"
        if row["scale"] != "ratio":
            size = f"{abs(row['difference']):.3g} {'above' if row['difference'] > 0 else 'below'}"
        where = f" ({condition})" if (condition := text(row["condition"])) else ""
        yield (
            f"The {row['measure']}{where} of {row['first']} is {size} that of {row['second']} "
            f"(95 % interval {low} to {high}, p {_equals(row['p_holm'])})."
        )
    if rest := ", ".join(dict.fromkeys(rows["measure"][rows["p_holm"] >= SIGNIFICANT])):
        pair = " and ".join(rows[["first", "second"]].iloc[0])
        other = " other" * bool(differ)
        yield f"No{other} difference between {pair} is significant in {rest}."
    if unknown := ", ".join(dict.fromkeys(rows["measure"][rows["p_holm"].isna()])):
        yield f"Not determined for both, so not compared: {unknown}."

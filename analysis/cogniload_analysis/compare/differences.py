"""Runs side by side: their differences in accuracy, by pairs of puzzles, and in measures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_analysis.analysis import Analysis, Pairs
from cogniload_analysis.compare import paired as statistics
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.page import Section
from cogniload_analysis.frame import Load, adaptive_models
from cogniload_analysis.samples.stop_reasons import MUCH_CUT
from cogniload_analysis.stats import CONFIDENCE
from cogniload_analysis.words import say
from cogniload_gen.grid import ENGLISH, other_language

# Runs are paired by the puzzles in common where these are half of the smaller run's or more.
_ENOUGH_IN_COMMON = 0.5
_FEW_MODELS, _MOST_MODELS = 3, 12
_ONCE, _CLUSTERED, _UNPAIRED = "paired", "paired, clustered by puzzle", "unpaired"


def _show_difference(value: float, scale: object) -> str:
    """Set a difference of measures; one of ECL50 is a factor."""
    if not np.isfinite(value):
        return tb.set_number(value, 0)
    return f"× {value:.2f}" if scale == "ratio" else f"{value:+.3g}"


def _show_beside(difference: float, p: float) -> str:
    apart = f"{100 * difference + 0.0:+.1f}"
    return apart if p < statistics.SIGNIFICANT else f"({apart})"


def _show_puzzles(first: int, second: int) -> str:
    return str(first) if first == second else f"{first} and {second}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two or more runs side by side; a difference is the first's less the second's.

    Attributes:
        accuracy: For each pair of runs, a row of all puzzles, whose `load` and `level` are empty,
            and one for each level of each load: their accuracies, difference, 95 % interval, p and
            Holm's p; `paired` puzzles or not; how many were `left_out`, as only one run has them;
            how many only one solves.
        measures: The differences of the benchmark's own measures, such as ECL50.
        loads: The benchmark's loads.
    """

    accuracy: pd.DataFrame
    measures: pd.DataFrame
    loads: tuple[Load, ...]

    @property
    def overall(self) -> pd.DataFrame:
        """The rows of `accuracy` that are about all puzzles."""
        return self.accuracy[self.accuracy["load"] == ""]

    @property
    def conclusions(self) -> list[str]:
        """The conclusions from the tables, a sentence each."""
        holm = " after Holm's correction" * (len(self.overall) > 1)
        sentences: list[str] = []
        tables = self.overall, self.measures
        pairs = ((row.first, row.second) for table in tables for row in table.itertuples())
        for pair in dict.fromkeys(pairs):
            shares, measures = (
                table[(table[["first", "second"]] == [*pair]).all(axis=1)] if len(table) else table
                for table in tables
            )
            for row in shares.to_dict("records"):
                sentences += [*_say_accuracy(row, holm), *_say_uncut(row)]
            sentences += _say_measures(measures) if len(measures) else []
        return sentences

    def tables(self, prefix: str = "") -> list[tb.Table]:
        """Return the tables that have rows, as a report has them; `prefix` begins their names."""
        loads = {load.name: load for load in self.loads}

        def show(name: str, level: float) -> str:
            return loads[name].say(level) if name else ""

        shares: tb.Formats = {"level": show, "counts": _show_puzzles}
        accuracy = tb.table("comparison", self.accuracy, shares, prefix=prefix)
        scaled = {"scaled": _show_difference}
        fits = tb.table("comparison_fits", self.measures, scaled, prefix=prefix)
        return [table for table in (accuracy, fits) if len(table.data)]

    def matrix(self, models: Sequence[str], prefix: str = "") -> tb.Table:
        """Return the differences in accuracy of each two of the models, as a table of pairs."""
        one = self.overall[["first", "second", "difference", "p_holm"]]
        other = one.rename(columns={"first": "second", "second": "first"})
        both = pd.concat([one, other.assign(difference=-one["difference"])])
        both["number"], both["column"] = (
            both[name].map({model: number for number, model in enumerate(models, start=1)})
            for name in ("first", "second")
        )
        both = both.sort_values(["number", "column"], ignore_index=True)
        return tb.table("matrix", both, {"beside": _show_beside}, prefix=prefix)

    def summary(self) -> str:
        """Return the conclusions and the tables as text, with the levels of loads of one pair."""
        texts = ["\n".join(self.conclusions)]
        shown = self.accuracy if len(self.overall) == 1 else self.overall
        for table in Comparison(shown, self.measures, self.loads).tables():
            texts.append(f"{table.caption}\n{table.shown.to_string(index=False)}")
        return "\n\n".join(texts)


def compare_pairs_of_models(
    frame: pd.DataFrame,
    analysis: Analysis,
    pairs: Pairs,
    *,
    fitted: Pairs | None = None,
    models: Mapping[str, Any] | None = None,
) -> Comparison:
    """Return the `Comparison` of pairs of models of a benchmark's frame, one row per response.

    Puzzles are the same if their ids are, and the generator's version where the frame has it. A
    puzzle counts once, whatever its number of attempts. Pairs with nothing in common are left out,
    and so is the accuracy of adaptive runs. `fitted` are the pairs whose measures are compared: all
    unless given. `models` are the `Findings.models` of the frame, if there are any.
    """
    correct, model = frame["correct"].astype(float), frame["model"].astype(str)
    frame = frame.assign(id=name_puzzles(frame), model=model, correct=correct)
    loads = frame.drop_duplicates("id").set_index("id")[[load.name for load in analysis.loads]]
    rows: list[dict[str, object]] = []
    compared = []
    for pair in pairs:
        if found := [*_compare_pair(frame, pair, loads)]:
            found[0] |= _compare_uncut(frame, pair, loads)
            rows += [dict(zip(("first", "second"), pair, strict=True)) | row for row in found]
            compared.append(pair)
    accuracy = pd.DataFrame(rows)
    if accuracy.empty:
        return Comparison(accuracy, pd.DataFrame(), analysis.loads)
    accuracy = accuracy[~accuracy[["first", "second"]].isin(adaptive_models(frame)).any(axis=1)]
    overall = accuracy["load"] == ""
    parts = [_adjust(part) for part in (accuracy[overall], accuracy[~overall])]
    compared = [pair for pair in compared if fitted is None or pair in fitted]
    measures = _adjust(analysis.compare(frame, compared, models))
    return Comparison(pd.concat(parts, ignore_index=True), measures, analysis.loads)


def comparison_sections(
    frame: pd.DataFrame, analysis: Analysis, fits: Mapping[str, Any] | None = None
) -> list[Section]:
    """Return what a report says of its models side by side; nothing where none can be compared.

    Each two of a few models are compared in words. Of more, up to 12, the accuracies of
    each two stand in a table, and what was fitted is compared for neighbours in rank; of still more
    models, neighbours alone are compared. Adaptive runs, which have no accuracy, are in words.
    `fits` are the `Findings.models` of the frame, if there are any.
    """
    ranked = frame.groupby("model", observed=True)["correct"].mean()
    models = [str(model) for model in ranked.sort_values(ascending=False, kind="stable").index]
    few, many = len(models) <= _FEW_MODELS, len(models) > _MOST_MODELS
    neighbours, every = [*pairwise(models)], [*combinations(models, 2)]
    pairs, fitted = neighbours if many else every, every if few else neighbours
    comparison = compare_pairs_of_models(frame, analysis, pairs, fitted=fitted, models=fits)
    if comparison.accuracy.empty and comparison.measures.empty:
        return []
    numbers = Section("The comparison in numbers", comparison.tables(analysis.prefix), folded=True)
    in_words = few or many or comparison.overall.empty
    first = comparison.conclusions if in_words else comparison.matrix(models, analysis.prefix)
    return [Section("Side by side", [first, numbers], "side-by-side", link="Side by side")]


def name_puzzles(frame: pd.DataFrame) -> pd.Series:
    """Return what names each row's puzzle: its id, with the version where there are several.

    The same puzzle in another language is the same.
    """
    names = frame["id"].astype(str).map(partial(other_language, language=ENGLISH))
    if "generator_version" in frame and frame["generator_version"].nunique() > 1:
        return names + "@" + frame["generator_version"].astype(str)
    return names


def _adjust(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with Holm's p after p."""
    if len(table):
        table = table.copy()
        after = list(table).index("p") + 1
        table.insert(after, "p_holm", statistics.adjust(table["p"].tolist()))
    return table


def _compare_pair(
    frame: pd.DataFrame, pair: tuple[str, str], loads: pd.DataFrame
) -> Iterator[dict[str, object]]:
    """Yield the differences of two models over all puzzles and at each level."""
    answers = frame[frame["model"].isin(pair)].groupby(["id", "model"])["correct"]
    shares, attempts = (
        each.unstack().reindex(columns=[*pair]) for each in (answers.mean(), answers.size())
    )
    answered, common = loads.loc[shares.index], shares.dropna()
    paired = len(common) >= max(1, _ENOUGH_IN_COMMON * shares.notna().sum().min())
    if paired:
        once = attempts.loc[common.index].eq(1).all(axis=None)
        method = _ONCE if once else _CLUSTERED
        sides = [answered.loc[common.index].assign(share=common[run], weight=1.0) for run in common]
    else:
        method, sides = _UNPAIRED, _in_common_cells(shares, answered)
    levels = [
        (load, level)
        for load in loads
        if loads[load].nunique() > 1
        for level in sorted(loads[load].unique())
    ]
    for load, level in [("", ""), *levels]:
        here = [side[side[load] == level] if load else side for side in sides]
        if all(map(len, here)):
            asked = (answered[load] == level).sum() if load else len(answered)
            left_out = {"left_out": int(asked) - len(here[0]) if paired else 0}
            yield {"load": load, "level": level} | _difference(here[0], here[1], method) | left_out


def _compare_uncut(
    frame: pd.DataFrame, pair: tuple[str, str], loads: pd.DataFrame
) -> dict[str, object]:
    """Return the overflow of two runs, and their difference in accuracy without what was cut."""
    if "acc_uncut" not in frame:
        return {}
    cut = frame["acc_uncut"].isna().groupby(frame["model"]).mean()
    overflow = {"first_overflow": cut[pair[0]], "second_overflow": cut[pair[1]]}
    apart = next(_compare_pair(frame.dropna(subset="acc_uncut"), pair, loads), {})
    names = ("difference", "low", "high", "p")
    return overflow | {f"uncut_{name}": apart.get(name, np.nan) for name in names}


def _in_common_cells(shares: pd.DataFrame, loads: pd.DataFrame) -> list[pd.DataFrame]:
    """Return each run's shares, with weights that give cells the same say in both."""
    cells = loads.groupby([*loads], observed=True).ngroup()
    sides = [shares[run].dropna() for run in shares]
    counts = [cells[side.index].value_counts() for side in sides]
    common = counts[0].index.intersection(counts[1].index)
    say = sum(count[common] / count[common].sum() for count in counts)
    weighed = []
    for side, count in zip(sides, counts, strict=True):
        kept = side[cells[side.index].isin(common)]
        weight = cells[kept.index].map(say / count)
        weighed.append(loads.loc[kept.index].assign(share=kept, weight=weight))
    return weighed


def _difference(one: pd.DataFrame, other: pd.DataFrame, method: str) -> dict[str, object]:
    first, second = one["share"].to_numpy(), other["share"].to_numpy()
    weights = one["weight"].to_numpy(), other["weight"].to_numpy()
    only_first = only_second = 0
    if method != _UNPAIRED:
        only_first = int(((first > 0) & (second == 0)).sum())
        only_second = int(((second > 0) & (first == 0)).sum())
    if method == _ONCE:
        apart = statistics.compare_solved(only_first, only_second, len(first))
    elif method == _CLUSTERED:
        apart = statistics.compare_means(first - second)
    else:
        apart = statistics.compare_groups(first, second, weights)
    return {
        "first_puzzles": len(first),
        "second_puzzles": len(second),
        "paired": method != _UNPAIRED,
        "first_share": float(np.average(first, weights=weights[0])),
        "second_share": float(np.average(second, weights=weights[1])),
        **dict(zip(("difference", "low", "high", "p"), map(float, apart), strict=True)),
        "method": method,
        "only_first": only_first,
        "only_second": only_second,
    }


# --- In words --------------------------------------------------------------------------------


def _say_accuracy(row: dict[Any, Any], holm: str) -> Iterator[str]:
    """Say how far two runs are apart, and if they can't be told apart, what would show."""
    first, second, apart = row["first"], row["second"], 100 * abs(row["difference"])
    counts = f"{row['first_puzzles']:,} puzzles that both answered"
    if not row["paired"]:
        counts = say("unpaired", **row)
    elif row["left_out"]:
        counts += f"; {row['left_out']:,} that only one answered are left out"
    source = f"{_interval(row, '')}{holm}; {counts}"
    more = "more" if row["difference"] >= 0 else "fewer"
    solved = f"{first} solves {apart:.1f} points {more} than {second}"
    if row["p_holm"] < statistics.SIGNIFICANT:
        yield f"{solved} ({source})."
    else:
        solved = solved if apart else "both solve as many"
        yield f"{first} and {second} can't be told apart: {solved} ({source})."
        # the true difference that has an interval without 0 with a chance of POWER
        quantiles = norm.ppf(statistics.POWER) / norm.ppf((1 + CONFIDENCE) / 2)
        shows = (row["high"] - row["low"]) / 2 * (1 + quantiles)
        if shows < 1:
            yield say("detectable", points=100 * shows, power=100 * statistics.POWER)
    if row["paired"]:
        yield say("alone", **row)


def _say_uncut(row: dict[Any, Any]) -> Iterator[str]:
    """Say the difference without what was cut, where a limit cut many responses of either run."""
    first = row["first"]
    cut = [row.get(f"{side}_overflow", 0) for side in ("first", "second")]
    if not max(cut) > MUCH_CUT or np.isnan(row["uncut_difference"]):
        return
    yield say("overflow", first=first, second=row["second"], one=100 * cut[0], other=100 * cut[1])
    apart = 100 * row["uncut_difference"]
    solves = f"{abs(apart):.1f} points {'more' if apart >= 0 else 'fewer'}"
    yield f"Without them, {first} solves {solves} ({_interval(row, 'uncut_')})."


def _interval(row: dict[Any, Any], which: str) -> str:
    """Return the interval of a difference in points and its p: Holm's of the overall one."""
    ends = tb.between(tb.points(1))(row[f"{which}low"], row[f"{which}high"])
    return f"95 % interval {ends} points, p {_equals(row['uncut_p' if which else 'p_holm'])}"


def _equals(p: float) -> str:
    return tb.p_value(p) if p < 0.001 else f"= {p:.3f}"


def _say_measures(rows: pd.DataFrame) -> Iterator[str]:
    """Say which measures of two runs differ, and which run lacks those that aren't compared."""
    close = []
    for row in rows[rows["p_holm"].notna()].to_dict("records"):
        low, high = (_show_difference(row[end], row["scale"]) for end in ("low", "high"))
        ends = f"95 % interval {low} to {high}"
        name = row["measure"] + f" ({row['condition']})" * bool(tb.text(row["condition"]))
        if row["p_holm"] >= statistics.SIGNIFICANT:
            close.append(f"{name} ({_show_difference(row['difference'], row['scale'])}, {ends})")
            continue
        size = f"{row['difference']:.2f} times"
        if row["scale"] != "ratio":
            size = f"{abs(row['difference']):.3g} {'above' if row['difference'] > 0 else 'below'}"
        p = _equals(row["p_holm"])
        yield f"The {name} of {row['first']} is {size} that of {row['second']} ({ends}, p {p})."
    if close:
        pair = " and ".join(rows[["first", "second"]].iloc[0])
        yield f"{pair} are not known to differ in {', '.join(close)}."
    unknown = rows[rows["p_holm"].isna()]
    lacks = [unknown[name].isna() for name in ("first_value", "second_value")]
    for (first, second), mine in unknown.groupby(lacks):
        if first == second and len(mine) < len(rows):
            continue  # what both lack is no difference
        who = "either" if first == second else mine["first" if first else "second"].iloc[0]
        measures = ", ".join(dict.fromkeys(mine["measure"]))
        yield f"Not determined for {who}, so not compared: {measures}."

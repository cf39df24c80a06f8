"""What the numbers of CogniLoad's tables say in plain words; a sentence is made from one row."""

import math
from collections.abc import Sequence

from cogniload_analysis.adaptive import replay as adaptive_run
from cogniload_analysis.adaptive.design import describe_interval
from cogniload_analysis.cogniload.fits.thresholds import Threshold

# An interval of NT50 that is wider says next to nothing: the shares lie between 0 and 1.
WIDE = 0.5

MISFIT = 0.01
"""Below this p, a fit is said to miss."""

APART = 2.6
"""Standard errors by which a predicted accuracy is said not to be the measured one."""


def say_accuracy(row: dict) -> str:
    """Say a row of `accuracy_table` in words."""
    return (
        f"{row['correct']:,} of {row['responses']:,} puzzles solved: {100 * row['accuracy']:.1f} % "
        f"(90 % interval {100 * row['low']:.1f} to {100 * row['high']:.1f})."
    )


def say_chance(row: dict) -> str:
    """Say whether a row of `accuracy_table` is above chance; nothing where it is, or unknown."""
    if not row.get("chance", math.nan) >= row["low"]:
        return ""
    return (
        f"This is not above chance: guesses among the options would solve "
        f"{100 * row['chance']:.1f} %."
    )


def say_cells(row: dict) -> str:
    """Say in words which cells of a row of `glm_table` have 0 % or 100 %."""
    return (
        f"Of {row['cells']} cells, {row['cells_all_right']} are all right and "
        f"{row['cells_all_wrong']} all wrong."
    )


def say_threshold(row: dict) -> str:
    """Say a row of `threshold_table` in words."""
    if row["meaning"] == "crossing":
        return _say_crossing(row)
    if row["status"] == "not estimated":
        return f"No {row['threshold']} (projection): {row['note']}."
    if row["status"] != "crossing":
        side = "More" if "above" in row["status"] else "Fewer"
        source = "; ".join(
            filter(None, ["no NT50 (projection), with d and N at their means", row["note"]])
        )
        return (
            f"{side} than half of the puzzles are solved, whatever the share of needles ({source})."
        )
    say = {"ECL50": _say_length, "NT50": _say_needles, "ID50": _say_difficulty}
    return say[row["threshold"]](row)


def _say_crossing(row: dict) -> str:
    name = f"{row['threshold']} (crossing)"
    if math.isnan(row["value"]):
        return f"No {name}: accuracy is {row['status']}, and {row['note']}."
    tested = row["min_tested"], row["max_tested"]
    unit, source = " statements" * (row["threshold"] == "ECL50"), ""
    if row["threshold"] == "NT50":
        source = f", where accuracy {'rises' if row['rising'] else 'falls'}; {row['note']}"
    crossing = Threshold(row["value"], row["low"], row["high"])
    return f"{name}: {describe_interval(crossing, tested)}{unit}{source}."


def say_meanings(row: dict) -> str:
    """Say a row of `meaning_table` for ECL50 in words; nothing where there is no projection."""
    if math.isnan(row["difference"]):
        return ""
    both = (
        f"crossing {row['crossing']:.3g}, projection {row['projection']:.3g}, both at the means of "
        "the paper's grid"
    )
    share = round(100 * abs(row["difference"]))
    if not share:
        return f"Both meanings of ECL50 agree ({both})."
    side = "below" if row["difference"] < 0 else "above"
    return f"The crossing of ECL50 lies {share} % {side} the projection ({both})."


def say_fit(row: dict) -> str:
    """Say in words how well a GLM fits, by its row of `fit_table`."""
    if math.isnan(row["plain"]):
        return "How well the GLM fits can't be told."
    miss = f"{row['miss']:.1f} points at {_say_level(row['where'])}"
    size = f"where the sampling error is {row['sampling_error']:.1f}"
    counts = f"χ² {row['plain']:.1f} with {row['degrees']:.0f} degrees of freedom"
    others = [
        f"{row[name]:.1f} with {words}"
        for name, words in (("floor", "a floor"), ("both", "a floor and interactions"))
        if not math.isnan(row[name])
    ]
    compared = "; " + ", ".join(others) if others else ""
    if math.isnan(row["p"]):
        return f"The GLM's largest miss is {miss}, {size}: too few levels to test the fit."
    if row["p"] < MISFIT:
        return f"The GLM misses accuracy by up to {miss}, {size} ({counts}{compared})."
    return f"The GLM fits: its largest miss is {miss}, {size} ({counts}{compared})."


def _say_level(where: str) -> str:
    """Set a level such as rho = 0.05 in print."""
    load, _, level = where.partition(" = ")
    return f"ρ = {100 * float(level):g} %" if load == "rho" else where


def say_run(row: dict) -> list[str]:
    """Say a row of `adaptive_run.run_table` in words, a sentence a finding."""
    GLM = f"{row['glm_ECL50']:.3g}" if math.isfinite(row["glm_ECL50"]) else "nowhere"
    own = [
        "Its thresholds are crossings: the loads at which the model itself solves half of the "
        "puzzles, with the other loads at the means of the paper's grid. The paper's projection "
        f"takes a whole grid. The plain GLM of these answers alone puts ECL50 at {GLM}.",
    ]
    if math.isfinite(row["slope"]):
        moves = "falls" if row["slope"] < 0 else "rises"
        own.append(
            f"At ECL50, the logit of accuracy {moves} by {abs(row['slope']):.1f} as N grows "
            "tenfold."
        )
    return adaptive_run.say_run(row, own)


def say_predictions(rows: Sequence[dict]) -> list[str]:
    """Say rows of `breaks.prediction_table` in words: where a prediction and accuracy disagree."""
    sentences = []
    for name, source in (("predicted", "step hazard"), ("glm", "GLM")):
        known = [row for row in rows if not math.isnan(row[name])]
        apart = [row for row in known if abs(row[f"{name}_z"]) > APART]
        if not known:
            continue
        if not apart:
            sentences.append(
                f"The accuracy that the {source} predicts agrees with the measured one."
            )
            continue
        places = ", ".join(
            f"{100 * row[name]:.0f} % for {100 * row['accuracy']:.0f} % at {row['load']} = "
            f"{row['level']:g}"
            for row in apart
        )
        sentences.append(
            f"The accuracy that the {source} predicts is not the measured one: {places}."
        )
    return sentences


def say_breaks(row: dict) -> list[str]:
    """Say a row of `break_table` in words, a sentence a finding."""
    if not row["held"]:
        return ["The samples hold no reading of the responses."]
    read = (
        f"{row['read']:,} of {row['responses']:,} responses could be read statement by statement: "
        f"{100 * row['read'] / row['responses']:.1f} %."
    )
    if not row["enough"]:
        return [f"{read} These are too few to say where the reasoning breaks."]
    say = (_say_errors, _say_luck, _say_survival, _say_slips, _say_hazard)
    return [read, *(sentence(row) for sentence in say)]


def _say_errors(row: dict) -> str:
    if not row["errors"]:
        return "No error was found in any of them."
    kind = row["commonest"].replace("_", " ")
    return (
        f"{row['errors']:,.0f} of them have an error; the commonest first one is “{kind}”, "
        f"{_count(row['count'], 'time')}; {row['recovered']:,.0f} are right again later."
    )


def say_first_error(row: dict) -> str:
    """Say the commonest first error, by a row of `break_table` with errors."""
    kind = row["commonest"].replace("_", " ")
    return (
        f"The commonest first error is “{kind}”: {row['count']:,.0f} of {row['errors']:,.0f}, in "
        f"{row['read']:,} responses that could be read statement by statement."
    )


def _say_luck(row: dict) -> str:
    return (
        f"Of {_count(row['right'], 'right answer')}, {row['right_after_error']:,.0f} came after an "
        f"error of tracking: {row['right_recovered']:,.0f} after the tracking was right again, the "
        "others by luck."
    )


def _say_survival(row: dict) -> str:
    end = (
        f"after statement {row['last']:.0f}, the tracking is still right in "
        f"{100 * row['share']:.1f} % of the responses "
        f"(90 % interval {100 * row['low']:.1f} to {100 * row['high']:.1f})."
    )
    if math.isnan(row["half"]):
        return end[0].upper() + end[1:]
    return f"From statement {row['half']:.0f} on, fewer than half are still right; {end}"


def _say_slips(row: dict) -> str:
    return (
        f"Of 1,000 statements that are reached without an error, {row['per_1000']:.2f} bring the "
        f"first one (95 % interval {row['slips_low']:.2f} to {row['slips_high']:.2f})."
    )


def _say_hazard(row: dict) -> str:
    if math.isnan(row["trend_p"]):
        problem = row["hazard_problem"] or "nothing to compare"
        return f"Whether the hazard grows along the response can't be told: {problem}."
    p = "p < 0.001" if row["trend_p"] < 0.001 else f"p = {row['trend_p']:.3f}"
    source = f"{p}, step hazard of {row['hazard_responses']:.0f} responses"
    if row["trend_p"] >= 0.05:
        return f"The hazard shows no trend along the response ({source})."
    if row["trend"] > 0:
        return f"The hazard grows along the response: the thread gets lost ({source})."
    return f"The hazard falls along the response: most slips come early ({source})."


def _count(number: float, noun: str) -> str:
    plural = "es" if noun.endswith("ch") else "s"
    return f"{number:,.0f} {noun}" + plural * (number != 1)


def _say_length(row: dict) -> str:
    number = f"{row['value']:,.0f}"
    load = {"0": "less than 1 statement", "1": "about 1 statement"}
    return _say_load(
        row, "{:,.0f}", load.get(number, f"about {number} statements"), "shortest length"
    )


def _say_difficulty(row: dict) -> str:
    return _say_load(
        row, "{:,.1f}", f"a difficulty of about {row['value']:,.1f}", "lowest difficulty"
    )


def _say_load(row: dict, number: str, load: str, least: str) -> str:
    """Say a threshold of N or d in words; `load` is its value, and `least` names the least load."""
    source = _say_source(row, number)
    if row["rising"]:
        outside = not row["min_tested"] <= row["value"] <= row["max_tested"]
        tested = f", outside the {row['min_tested']:g} to {row['max_tested']:g} that were tested"
        tested *= outside
        return f"At least half of the puzzles are solved from {load} on{tested} ({source})."
    if row["value"] < row["min_tested"]:
        return (
            f"By the fit, half of the puzzles would be solved only at {load}, below the {least} "
            f"tested, {row['min_tested']:g} ({source})."
        )
    beyond = row["value"] > row["max_tested"]
    tested = f", beyond the {row['max_tested']:g} that were tested" * beyond
    return f"At least half of the puzzles are solved up to {load}{tested} ({source})."


def _say_needles(row: dict) -> str:
    share = f"about {100 * row['value']:.0f} %"
    source = _say_source(row | {end: 100 * row[end] for end in ("low", "high")}, "{:.0f} %")
    if row["high"] - row["low"] > WIDE:
        return (
            f"Half of the puzzles are solved at an estimated needle share of {share}, but the "
            f"interval is too wide to rely on it ({source})."
        )
    if row["rising"]:
        return (
            f"At least half of the puzzles are solved when {share} or more of the statements are "
            f"needles ({source})."
        )
    return (
        f"Fewer than half of the puzzles are solved when more than {share} of the statements are "
        f"needles ({source})."
    )


def _say_source(row: dict, number: str) -> str:
    ends = " to ".join(_say_end(row[end], number) for end in ("low", "high"))
    held = "the other loads at their means"
    return f"{row['threshold']} (projection), {held}; 95 % interval {ends}, {row['method']}"


def _say_end(end: float, number: str) -> str:
    if math.isinf(end):
        return "unbounded"
    return number.format(end) if abs(end) < 1e6 else f"{end:.1e}"

"""What the numbers of FACTOR's tables say in plain words; a sentence is made from one row."""

import math

from cogniload_analysis.sentences import Sentences

say = Sentences("factor")


def say_decay(row: dict) -> str:
    """Say a row of FACTOR's `decay_table` in words."""
    where = _say_condition(row)
    if row["problem"]:
        return say("no_decay", row, where=where)
    percent = 100 * math.expm1(row["CDF"])
    moves = "falls" if percent < 0 else "rises"
    unit = "variable" if row["suite"] == "symbolic" else "operation"
    start = _say_start(row, unit) + say("decay_window", row) if row["CDF"] < 0 else ""
    careful = say("decay_careful", row) if row["note"] else ""
    phrases = {"where": where, "moves": moves, "percent": abs(percent), "unit": unit}
    return say("decay", row, **phrases, start=start, careful=careful)


def say_capacity(row: dict) -> str:
    """Say in a headline what a model carries, by a row of FACTOR's `decay_table`."""
    where, unit = _say_condition(row), "variable" if row["suite"] == "symbolic" else "operation"
    if problem := row["problem"] or row["N_eff_problem"]:
        return say("headline_unknown", where=where, problem=problem)
    return say("headline", row, where=where, unit=unit, ends=_say_ends(row))


def say_mode(row: dict) -> str:
    """Say a row of FACTOR's `mode_table` in words."""
    longer = "With longer contexts" + f" of {row['noise']} noise" * (row["suite"] == "realistic")
    if row["problem"]:
        return say("no_mode", row, longer=longer)
    return say("mode", row, longer=longer)


def say_sampling(row: dict) -> str:
    """Say a row of FACTOR's `sampling_table` in words."""
    where = _say_condition(row)
    if row["problem"]:
        return say("no_sampling", row, where=where)
    clean = "filler" if row["suite"] == "symbolic" else "noise"
    goal = "the Nclean given" if row["given"] else f"the Neff of a single attempt without {clean}"
    return say("sampling", row, where=where, scale=math.exp(row["b"]), goal=goal)


def _say_start(row: dict, unit: str) -> str:
    """Say where the decay begins: at N_eff or, if the CDO is not positive, from the outset."""
    if row["CDO"] <= 0:
        return say("decay_outset", begins=math.exp(row["CDO"]))
    if row["N_eff_problem"]:
        return ""
    return say("decay_start", row, unit=unit, ends=_say_ends(row))


def _say_ends(row: dict) -> str:
    low, high = row["N_eff_low"], row["N_eff_high"]
    known = not math.isnan(low) and math.isfinite(high)
    # a lower end below 0 has no meaning
    return say("ends", row, low=max(low, 0)) if known else ""


def _say_condition(row: dict) -> str:
    if row["context"] == 0:
        return "Without filler" if row["suite"] == "symbolic" else "Without noise"
    around = "filler" if row["suite"] == "symbolic" else f"text with {row['noise']} noise"
    return f"With {row['context']:,} tokens of {around}"

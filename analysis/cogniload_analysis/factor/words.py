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
    start, window = (_say_start(row, unit), _say_window(row)) if row["CDF"] < 0 else ("", "")
    careful = say("decay_careful", row) if row["note"] else ""
    phrases = {"where": where, "moves": moves, "percent": abs(percent), "unit": unit}
    return say("decay", row, **phrases, start=start, window=window, careful=careful)


def say_capacity(row: dict) -> str:
    """Say in a headline what a model carries, by a row of FACTOR's `decay_table`."""
    where, unit = _say_condition(row), "variable" if row["suite"] == "symbolic" else "operation"
    kind, ends = "headline", ""
    if row["problem"]:
        kind = "headline_unknown"
    elif row["CDF"] >= 0:
        kind = "headline_level"
    elif row["CDO"] <= 0:
        kind = "headline_outset"
    elif not math.isnan(row["N_eff_low"]):
        ends = say("headline_ends", row, low=max(row["N_eff_low"], 0))
    return say(kind, row, where=where, unit=unit, ends=ends)


def say_mode(row: dict) -> str:
    """Say a row of FACTOR's `mode_table` in words."""
    longer = "With longer contexts" + f" of {row['noise']} noise" * (row["suite"] == "realistic")
    if row["problem"]:
        return say("no_mode", row, longer=longer)
    losses: dict[str, object] = {}
    for name in ("cdf", "cdo"):
        loss = 100 * row[f"{name}_loss"]
        losses |= {name: abs(loss), f"{name}_takes": "takes" if loss >= 0 else "adds"}
    return say("mode", row, longer=longer, **losses)


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
    low, interval = row["N_eff_low"], ""
    if not math.isnan(low) and math.isfinite(row["N_eff_high"]):
        # a lower end below 0 has no meaning
        interval = say("decay_interval", row, low=f"{low:.1f}" if low > 0 else "up")
    return say("decay_start", row, unit=unit, interval=interval)


def _say_window(row: dict) -> str:
    """Say over which N the decay was fitted, what is guessed, and what is lost at any N.

    An end of the CDO's interval may be infinite, which the table prints as it is.
    """
    ends = {"below": row["CDO_low"], "above": row["CDO_high"]}
    sides = " and ".join(side for side, end in ends.items() if math.isinf(end))
    return say("decay_window", row, open=say("decay_open", sides=sides) if sides else "")


def _say_condition(row: dict) -> str:
    if row["context"] == 0:
        return "Without filler" if row["suite"] == "symbolic" else "Without noise"
    around = "filler" if row["suite"] == "symbolic" else f"text with {row['noise']} noise"
    return f"With {row['context']:,} tokens of {around}"

"""What the numbers of FACTOR's tables say in plain words; a sentence is made from one row."""

import math


def say_decay(row: dict) -> str:
    """Say a row of FACTOR's `decay_table` in words."""
    where = _say_condition(row)
    if row["problem"]:
        return f"{where}: no decay can be fitted, as {row['problem']}."
    factor = 100 * math.expm1(row["CDF"])
    unit = "variable" if row["suite"] == "symbolic" else "operation"
    ends = f"{row['CDF_low']:.4f} to {row['CDF_high']:.4f}"
    sentence = (
        f"{where}: accuracy {'falls' if factor < 0 else 'rises'} by {abs(factor):.1f} % with each "
        f"further {unit} (CDF {row['CDF']:.4f}, 95 % interval {ends})"
    )
    if row["CDF"] < 0:
        sentence += _say_start(row, unit) + _say_window(row)
    return sentence + (f". Careful: {row['note']}." if row["note"] else ".")


def say_capacity(row: dict) -> str:
    """Say in a headline what a model carries, by a row of FACTOR's `decay_table`."""
    where, unit = _say_condition(row), "variable" if row["suite"] == "symbolic" else "operation"
    if row["problem"]:
        return f"{where}, Neff is not determined, as {row['problem']}."
    if row["CDF"] >= 0:
        return f"{where}, accuracy does not fall with further {unit}s: Neff is not determined."
    if row["CDO"] <= 0:
        return f"{where}, accuracy falls from the first {unit} on: Neff is not determined."
    low, high = max(row["N_eff_low"], 0), row["N_eff_high"]
    ends = "" if math.isnan(low) else f", 95 % interval {low:.1f} to {high:.1f}"
    return f"{where}, it carries {row['N_eff']:.1f} {unit}s before accuracy falls: Neff{ends}."


def say_mode(row: dict) -> str:
    """Say a row of FACTOR's `mode_table` in words."""
    longer = "With longer contexts" + f" of {row['noise']} noise" * (row["suite"] == "realistic")
    if row["problem"]:
        return f"{longer}: no failure mode can be named, as {row['problem']}."
    N, losses = f"N = {row['N']:g}", []
    for name in ("CDF", "CDO"):
        loss = 100 * row[f"{name.lower()}_loss"]
        takes = "takes" if loss >= 0 else "adds"
        losses.append(f"the trend of the {name} {takes} {abs(loss):.0f} % of the accuracy at {N}")
    return f"{longer}: {row['name']}; {', '.join(losses)}."


def say_sampling(row: dict) -> str:
    """Say a row of FACTOR's `sampling_table` in words."""
    where = _say_condition(row)
    if row["problem"]:
        return f"{where}: the gain from several attempts can't be fitted, as {row['problem']}."
    clean = "filler" if row["suite"] == "symbolic" else "noise"
    goal = "the Nclean given" if row["given"] else f"the Neff of a single attempt without {clean}"
    return (
        f"{where}: after t attempts, Neff is still {math.exp(row['b']):.1f} × t^{row['k']:.2f} "
        f"below {row['N_clean']:.1f}, {goal} (R² {row['rsquared']:.3f})."
    )


def _say_start(row: dict, unit: str) -> str:
    """Say where the decay begins: at N_eff or, if the CDO is not positive, from the outset."""
    if row["CDO"] <= 0:
        return f", from the outset: the line begins at {100 * math.exp(row['CDO']):.0f} %"
    low, high = row["N_eff_low"], row["N_eff_high"]
    interval = ""
    if not math.isnan(low) and math.isfinite(high):  # a lower end below 0 has no meaning
        interval = f", 95 % interval {f'{low:.1f}' if low > 0 else 'up'} to {high:.1f}"
    return f", from about {row['N_eff']:.1f} {unit}s on (Neff{interval})"


def _say_window(row: dict) -> str:
    """Say over which N the decay was fitted, what is guessed, and what is lost at any N.

    An end of the CDO's interval may be infinite, which the table prints as it is.
    """
    phrase = f". The window is N = {row['first_N']:g} to {row['last_N']:g}"
    phrase += (
        f"; {100 * row['floor']:.1f} % are taken for guessed, {100 * row['lapses']:.1f} % for "
    )
    phrase += "lapses"
    low, high = row["CDO_low"], row["CDO_high"]
    if math.isinf(low) or math.isinf(high):
        sides = [side for side, end in (("below", low), ("above", high)) if math.isinf(end)]
        phrase += f"; the data leave the CDO open {' and '.join(sides)}"
    return phrase


def _say_condition(row: dict) -> str:
    if row["context"] == 0:
        return "Without filler" if row["suite"] == "symbolic" else "Without noise"
    around = "filler" if row["suite"] == "symbolic" else f"text with {row['noise']} noise"
    return f"With {row['context']:,} tokens of {around}"

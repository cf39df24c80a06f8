"""What the numbers of a table say in plain words; every sentence is made from one row."""

import math


def say_accuracy(row: dict) -> str:
    """Say a row of `accuracy_table` in words."""
    return (
        f"{row['correct']:,} of {row['responses']:,} puzzles solved: {100 * row['accuracy']:.1f} % "
        f"(90 % interval {100 * row['low']:.1f} to {100 * row['high']:.1f})."
    )


def say_cells(row: dict) -> str:
    """Say in words which cells of a row of `glm_table` have 0 % or 100 %."""
    return (
        f"Of {row['cells']} cells, {row['cells_all_right']} are all right and "
        f"{row['cells_all_wrong']} all wrong."
    )


def say_threshold(row: dict) -> str:
    """Say a row of `threshold_table` in words."""
    if row["status"] == "not estimated":
        return f"No {row['threshold']}: {row['note']}."
    if row["status"] != "crossing":
        side = "More" if "above" in row["status"] else "Fewer"
        source = "; ".join(filter(None, ["no NT50, with d and N at their means", row["note"]]))
        return f"{side} than half of the puzzles are solved at every share of needles ({source})."
    return {"ECL50": _say_length, "NT50": _say_needles, "ID50": _say_difficulty}[row["threshold"]](
        row
    )


def _say_length(row: dict) -> str:
    return _say_load(row, "{:,.0f}", "{} statements", "the shortest length")


def _say_difficulty(row: dict) -> str:
    return _say_load(row, "{:,.1f}", "a difficulty of {}", "the lowest difficulty")


def _say_load(row: dict, number: str, load: str, least: str) -> str:
    value, source = load.format(number.format(row["value"])), _say_source(row, number)
    if row["rising"]:
        outside = not row["min_tested"] <= row["value"] <= row["max_tested"]
        tested = f", outside the {row['min_tested']:g} to {row['max_tested']:g} that were tested"
        return f"Half of the puzzles are solved from about {value} on{tested * outside} ({source})."
    if row["value"] < row["min_tested"]:
        tested = f"below {least} tested, {row['min_tested']:g}"
        return f"The fit has the half at {value}, {tested} ({source})."
    beyond = row["value"] > row["max_tested"]
    tested = f", beyond the {row['max_tested']:g} that were tested" * beyond
    return f"Half of the puzzles are solved up to about {value}{tested} ({source})."


def _say_needles(row: dict) -> str:
    share = f"about {100 * row['value']:.0f} % of needles"
    source = _say_source(row | {end: 100 * row[end] for end in ("low", "high")}, "{:.0f} %")
    if row["rising"]:
        return f"Half of the puzzles are solved from {share} on ({source})."
    return f"Fewer than half of the puzzles are solved above {share} ({source})."


def _say_source(row: dict, number: str) -> str:
    ends = " to ".join(_say_end(row[end], number) for end in ("low", "high"))
    held = "the other loads at their means"
    return f"{row['threshold']}, {held}; 95 % interval {ends}, {row['method']}"


def _say_end(end: float, number: str) -> str:
    if math.isinf(end):
        return "unbounded"
    return number.format(end) if abs(end) < 1e6 else f"{end:.1e}"


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
        sentence += _say_start(row, unit)
    return sentence + (f". Careful: {row['note']}." if row["note"] else ".")


def say_mode(row: dict) -> str:
    """Say a row of FACTOR's `mode_table` in words."""
    longer = "With longer contexts" + f" of {row['noise']} noise" * (row["suite"] == "realistic")
    if row["problem"]:
        return f"{longer}: no failure mode can be told, as {row['problem']}."
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
    return (
        f"{where}: with t attempts the gap to Neff {row['N_clean']:.1f}, that of one attempt "
        f"without filler, is {math.exp(row['b']):.1f} times t to the power of {row['k']:.2f} "
        f"(R² {row['rsquared']:.3f})."
    )


def _say_start(row: dict, unit: str) -> str:
    """Where the decay begins: at N_eff, or, without a positive CDO, from the outset."""
    if row["CDO"] <= 0:
        return f", from the outset: the line begins at {100 * math.exp(row['CDO']):.0f} %"
    low, high = row["N_eff_low"], row["N_eff_high"]
    interval = ""
    if not math.isnan(low):  # below 0 it has no meaning, and may be far below
        interval = f", 95 % interval {f'{low:.1f}' if low > 0 else 'up'} to {high:.1f}"
    return f", from about {row['N_eff']:.1f} {unit}s on (Neff{interval})"


def _say_condition(row: dict) -> str:
    if row["context"] == 0:
        return "Without filler" if row["suite"] == "symbolic" else "Without noise"
    around = "filler" if row["suite"] == "symbolic" else f"text with {row['noise']} noise"
    return f"With {row['context']:,} tokens of {around}"

"""What the numbers of a table say in plain words; every sentence is made from one row."""


def say_accuracy(row):
    """Say a row of `accuracy_table` in words."""
    return (
        f"{row['correct']:,} of {row['responses']:,} puzzles solved: {100 * row['accuracy']:.1f} % "
        f"(90 % interval {100 * row['low']:.1f} to {100 * row['high']:.1f})."
    )


def say_cells(row):
    """Say in words which cells of a row of `glm_table` have 0 % or 100 %."""
    return (
        f"Of {row['cells']} cells, {row['cells_all_right']} are all right and "
        f"{row['cells_all_wrong']} all wrong."
    )


def say_threshold(row):
    """Say a row of `threshold_table` in words."""
    if row["status"] == "not estimated":
        return f"No {row['threshold']}: {row['note']}."
    if row["status"] != "crossing":
        side = "More" if "above" in row["status"] else "Fewer"
        return f"{side} than half of the puzzles are solved at every share of needles (no NT50)."
    return {"ECL50": _say_length, "NT50": _say_needles, "ID50": _say_difficulty}[row["threshold"]](
        row
    )


def _say_length(row):
    return _say_load(row, "{:,.0f}", "{} statements", "the shortest length")


def _say_difficulty(row):
    return _say_load(row, "{:,.1f}", "a difficulty of {}", "the lowest difficulty")


def _say_load(row, number, load, least):
    value, source = load.format(number.format(row["value"])), _say_source(row, number)
    if row["rising"]:
        return f"Half of the puzzles are solved from about {value} on ({source})."
    if row["value"] < row["min_tested"]:
        return (
            f"Fewer than half of the puzzles are solved even at {least} tested, "
            f"{row['min_tested']:g}: the fit has the half at {value} ({source})."
        )
    beyond = row["value"] > row["max_tested"]
    tested = f", beyond the {row['max_tested']:g} that were tested" * beyond
    return f"Half of the puzzles are solved up to about {value}{tested} ({source})."


def _say_needles(row):
    share = f"about {100 * row['value']:.0f} % of needles"
    source = _say_source(row | {end: 100 * row[end] for end in ("low", "high")}, "{:.0f} %")
    if row["rising"]:
        return f"Half of the puzzles are solved from {share} on ({source})."
    return f"Fewer than half of the puzzles are solved above {share} ({source})."


def _say_source(row, number):
    ends = f"{number.format(row['low'])} to {number.format(row['high'])}"
    return f"{row['threshold']}; 95 % interval {ends}, {row['method']}"

"""What the numbers say in plain words, and that it is true of them."""

import numpy as np
import pytest

from cogniload_analysis.cogniload.words import say_accuracy, say_cells, say_run, say_threshold

ECL50 = {
    "threshold": "ECL50",
    "meaning": "projection",
    "value": 54.3,
    "low": 51.8,
    "high": 57.2,
    "method": "delta method",
    "status": "crossing",
    "rising": False,
    "note": "",
    "min_tested": 20,
    "max_tested": 250,
}
ID50 = (
    ECL50
    | {"threshold": "ID50", "value": 3.95, "low": 3.5, "high": 4.4}
    | {
        "min_tested": 1,
        "max_tested": 10,
    }
)
NT50 = (
    ECL50
    | {"threshold": "NT50", "value": 0.78, "low": 0.71, "high": 0.84, "rising": True}
    | {"method": "parametric bootstrap"}
)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            ECL50,
            "At least half of the puzzles are solved up to about 54 statements "
            "(ECL50 (projection), the other loads at their means; "
            "95 % interval 52 to 57, delta method).",
        ),
        (
            ECL50 | {"value": 382.8, "low": 300.2, "high": 1500.0},
            "At least half of the puzzles are solved up to about 383 statements, beyond the 250 "
            "that were tested (ECL50 (projection), the other loads at their means; "
            "95 % interval 300 to 1,500, delta method).",
        ),
        (
            ECL50 | {"value": 8.8, "low": 2.2, "high": 14.1},
            "By the fit, half of the puzzles would be solved only at about 9 statements, below the "
            "shortest length tested, 20 "
            "(ECL50 (projection), the other loads at their means; "
            "95 % interval 2 to 14, delta method).",
        ),
        (
            ECL50 | {"value": 1.2, "low": 0.2, "high": 2.1},
            "By the fit, half of the puzzles would be solved only at about 1 statement, below the "
            "shortest length tested, 20 (ECL50 (projection), the other loads at their means; "
            "95 % interval 0 to 2, delta method).",
        ),
        (
            ECL50 | {"value": 0.3, "low": 0.0, "high": 2.1},
            "By the fit, half of the puzzles would be solved only at less than 1 statement, below "
            "the shortest length tested, 20 (ECL50 (projection), the other loads at their means; "
            "95 % interval 0 to 2, delta method).",
        ),
        (
            ECL50 | {"rising": True},
            "At least half of the puzzles are solved from about 54 statements on "
            "(ECL50 (projection), the other loads at their means; "
            "95 % interval 52 to 57, delta method).",
        ),
        (
            ECL50 | {"rising": True, "value": 900.4, "low": 100.0, "high": np.inf},
            "At least half of the puzzles are solved from about 900 statements on, outside the 20 "
            "to 250 that were tested (ECL50 (projection), the other loads at their means; "
            "95 % interval 100 to unbounded, delta method).",
        ),
        (
            ID50,
            "At least half of the puzzles are solved up to a difficulty of about 4.0 "
            "(ID50 (projection), the other loads at their means; "
            "95 % interval 3.5 to 4.4, delta method).",
        ),
        (
            ID50 | {"value": -0.53, "low": -2.1, "high": 0.4},
            "By the fit, half of the puzzles would be solved only at a difficulty of about -0.5, "
            "below the lowest difficulty tested, 1 "
            "(ID50 (projection), the other loads at their means; "
            "95 % interval -2.1 to 0.4, delta method).",
        ),
        (
            NT50,
            "At least half of the puzzles are solved when about 78 % or more of the statements are "
            "needles "
            "(NT50 (projection), the other loads at their means; "
            "95 % interval 71 % to 84 %, parametric bootstrap).",
        ),
        (
            NT50 | {"value": 0.84, "low": 0.0, "high": 0.97},
            "Half of the puzzles are solved at an estimated needle share of about 84 %, but the "
            "interval is too wide to rely on it (NT50 (projection), the other loads at their "
            "means; 95 % interval 0 % to 97 %, parametric bootstrap).",
        ),
        (
            NT50 | {"rising": False, "value": 0.16, "low": 0.11, "high": 0.21},
            "Fewer than half of the puzzles are solved when more than about 16 % of the statements "
            "are needles "
            "(NT50 (projection), the other loads at their means; "
            "95 % interval 11 % to 21 %, parametric bootstrap).",
        ),
        (
            NT50 | {"status": "always above 50 %", "value": np.nan},
            "More than half of the puzzles are solved, whatever the share of needles "
            "(no NT50 (projection), with d and N at their means).",
        ),
        (
            NT50 | {"status": "always below 50 %", "value": np.nan},
            "Fewer than half of the puzzles are solved, whatever the share of needles "
            "(no NT50 (projection), with d and N at their means).",
        ),
        (
            NT50
            | {"status": "always below 50 %", "value": np.nan, "note": "9 % of draws cross 50 %"},
            "Fewer than half of the puzzles are solved, whatever the share of needles "
            "(no NT50 (projection), with d and N at their means; 9 % of draws cross 50 %).",
        ),
        (
            ECL50 | {"status": "not estimated", "value": np.nan, "note": "N took only 20"},
            "No ECL50 (projection): N took only 20.",
        ),
    ],
)
def test_a_threshold_in_words(row, sentence):
    assert say_threshold(row) == sentence


def test_an_accuracy_in_words():
    row = {"correct": 1234, "responses": 14000, "accuracy": 0.0881, "low": 0.0843, "high": 0.0922}
    assert say_accuracy(row) == (
        "1,234 of 14,000 puzzles solved: 8.8 % (90 % interval 8.4 to 9.2)."
    )


def test_cells_of_0_and_100_percent_in_words():
    row = {"cells": 140, "cells_all_right": 10, "cells_all_wrong": 7}
    assert say_cells(row) == "Of 140 cells, 10 are all right and 7 all wrong."


@pytest.mark.parametrize(("slope", "moves"), [(-4.4, "falls by 4.4"), (1.2, "rises by 1.2")])
def test_a_slope_s_direction_is_said_without_its_sign(slope, moves):
    row = {"goal": "ECL50", "wanted": "ECL50 ±20 %", "budget": 900, "n": 640, "batches": 5}
    row |= {"width": 0.19, "first_width": 0.8, "glm_ECL50": 60.0, "stopped": "", "flags": ""}
    row |= {"relative": True, "same_prior": True, "prior": "published"}
    said = say_run(row | {"slope": slope})
    assert f"At ECL50, the logit of accuracy {moves} as N grows tenfold." in said

"""What the numbers say in plain words, and that it is true of them."""

import numpy as np
import pytest

from cogniload_analysis.cogniload.words import (
    say_accuracy,
    say_breaks,
    say_cells,
    say_predictions,
    say_run,
    say_threshold,
)

COMMON = {"meaning": "projection", "method": "delta method", "status": "crossing", "note": ""}
N = {"rising": False, "min_tested": 20, "max_tested": 250}
D = {"rising": False, "min_tested": 1, "max_tested": 10}
RHO = {"rising": True, "min_tested": 0.05, "max_tested": 0.95}
BELOW, ABOVE = ({"status": f"always {side} 50 %"} for side in ("below", "above"))


@pytest.mark.parametrize(
    ("name", "value", "ends", "row", "parts"),
    [
        ("ECL50", 54.3, (51.8, 57.2), N, ["solved up to about 54", "interval 52 to 57, delta"]),
        ("ECL50", 382.8, (300.2, 1500), N, ["up to about 383", "beyond the 250", "300 to 1,500"]),
        ("ECL50", 8.8, (2.2, 14.1), N, ["only at about 9", "length tested, 20", "2 to 14"]),
        ("ECL50", 1.2, (0.2, 2.1), N, ["only at about 1 statement,", "0 to 2"]),
        ("ECL50", 0.3, (0, 2.1), N, ["only at less than 1 statement,", "0 to 2"]),
        ("ECL50", 54.3, (51.8, 57.2), N | {"rising": True}, ["from about 54 statements on (EC"]),
        (
            "ECL50",
            900.4,
            (100, np.inf),
            N | {"rising": True},
            ["from about 900 statements on", "outside the 20 to 250", "100 to unbounded"],
        ),
        ("ID50", 3.95, (3.5, 4.4), D, ["solved up to a difficulty of about 4.0 (", "3.5 to 4.4"]),
        ("ID50", -0.53, (-2.1, 0.4), D, ["only at", "about -0.5", "tested, 1 (", "-2.1 to 0.4"]),
        ("NT50", 0.78, (0.71, 0.84), RHO, ["At least half", "78 % or more", "71 % to 84 %"]),
        ("NT50", 0.84, (0, 0.97), RHO, ["about 84 %", "too wide", "0 % to 97 %"]),
        (
            "NT50",
            0.16,
            (0.11, 0.21),
            RHO | {"rising": False},
            ["Fewer than half", "more than about 16 %", "11 % to 21 %"],
        ),
        ("NT50", np.nan, (0, 1), ABOVE, ["More than half", "whatever", "no NT50"]),
        ("NT50", np.nan, (0, 1), BELOW, ["Fewer than half", "whatever", "no NT50"]),
        ("NT50", np.nan, (0, 1), BELOW | {"note": "9 % of draws"}, ["; 9 % of draws)."]),
        (
            "ECL50",
            np.nan,
            (0, 1),
            {"status": "not estimated", "note": "N took only 20"},
            ["No ECL50 (projection): N took only 20."],
        ),
    ],
)
def test_a_threshold_in_words(name, value, ends, row, parts):
    low, high = ends
    sentence = say_threshold(
        COMMON | {"threshold": name, "value": value, "low": low, "high": high} | row
    )
    assert all(part in sentence for part in parts), sentence


def test_an_accuracy_and_cells_in_words():
    row = {"correct": 1234, "responses": 14000, "accuracy": 0.0881, "low": 0.0843, "high": 0.0922}
    assert say_accuracy(row).startswith("1,234 of 14,000")
    assert say_accuracy(row).endswith("8.8 % (90 % interval 8.4 to 9.2).")
    cells = say_cells({"cells": 140, "cells_all_right": 10, "cells_all_wrong": 7})
    assert [int(word) for word in cells.replace(",", "").split() if word.isdigit()] == [140, 10, 7]


@pytest.mark.parametrize(("slope", "moves"), [(-4.4, "falls by 4.4"), (1.2, "rises by 1.2")])
def test_a_slope_s_direction_is_said_without_its_sign(slope, moves):
    row = {"goal": "ECL50", "wanted": "ECL50 ±20 %", "budget": 900, "n": 640, "batches": 5}
    row |= {"width": 0.19, "first_width": 0.8, "glm_ECL50": 60.0, "stopped": "", "flags": ""}
    row |= {"relative": True, "same_prior": True, "prior": "published"}
    assert any(moves in sentence for sentence in say_run(row | {"slope": slope}))


def test_predictions_that_disagree_are_said():
    row = {"load": "N", "level": 250, "accuracy": 0.5, "predicted": 0.3, "predicted_z": 5.0}
    apart, near = say_predictions([row | {"glm": 0.49, "glm_z": 0.3}])
    assert apart.endswith("30 % for 50 % at N = 250.")
    assert "agrees" in near
    assert say_predictions([row | {"predicted": np.nan, "glm": np.nan, "glm_z": 1}]) == []


BREAKS = {
    "held": 100, "responses": 100, "read": 80, "enough": True, "errors": 40.0, "commonest":
    "wrong_value", "count": 1.0, "recovered": 5.0, "right": 30.0, "right_after_error": 2.0,
    "right_recovered": 1.0, "half": np.nan,
    "last": 50.0, "share": 0.6, "low": 0.5, "high": 0.7, "per_1000": 4.0, "slips_low": 3.0,
    "slips_high": 5.0, "hazard_responses": 80.0, "trend": 1.0, "trend_p": 0.2, "hazard_problem": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({}, ["80 of 100", ": 80.0 %."]),
        ({}, ["40 of them", "“wrong value”, 1 time;", "5 are right again"]),
        ({}, ["Of 30 right answers, 2 came", ": 1 after the tracking"]),
        ({}, ["After statement 50", "60.0 % of the responses", "interval 50.0 to 70.0)"]),
        ({"half": 12.0}, ["From statement 12 on", "; after statement 50"]),
        ({}, ["4.00 bring the first one", "interval 3.00 to 5.00)"]),
        ({}, ["shows no trend", "p = 0.200", "of 80 responses"]),
        ({"trend_p": 0.01}, ["hazard grows", "p = 0.010"]),
        ({"trend_p": 1e-9, "trend": -1}, ["hazard falls", "p < 0.001"]),
        ({"trend_p": np.nan, "hazard_problem": "x"}, ["can't be told: x."]),
        ({"errors": 0.0}, ["No error was found"]),
        ({"held": 0}, ["hold no reading"]),
    ],
)
def test_where_the_reasoning_breaks_in_words(change, parts):
    sentences = say_breaks(BREAKS | change)
    assert any(all(part in sentence for part in parts) for sentence in sentences), sentences

"""What the page says of the rows of its tables: sentences that a person reviews on each change."""

import tomllib
from pathlib import Path

import pandas as pd
import pytest

from cogniload_analysis.cogniload import words as cogniload
from cogniload_analysis.cogniload.fits import step_hazard
from cogniload_analysis.factor import hops, retrieval
from cogniload_analysis.factor import words as factor
from cogniload_analysis.sentences import Sentences

SAY = {
    "threshold": cogniload.say_threshold,
    "accuracy": cogniload.say_accuracy,
    "cells": cogniload.say_cells,
    "meanings": cogniload.say_meanings,
    "fit": cogniload.say_fit,
    "run": cogniload.say_run,
    "prediction": lambda row: cogniload.say_predictions([row]),
    "breaks": cogniload.say_breaks,
    "decay": factor.say_decay,
    "mode": factor.say_mode,
    "sampling": factor.say_sampling,
    "shortcuts": lambda row: hops.say_shortcuts(pd.DataFrame([row])),
    "retrieval": retrieval.say_retrieval,
}
GROUPS = tomllib.loads((Path(__file__).parent / "data/sentences.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "row", "sentences"),
    [
        (name, group["row"] | own, sentences)
        for name, group in GROUPS.items()
        for own, sentences in group["cases"]
    ],
)
def test_a_row_in_words(name, row, sentences):
    said = SAY[name](row)
    assert ([said] if isinstance(said, str) else said) == sentences


def test_every_term_of_the_hazard_has_words():
    assert list(Sentences("hazard_terms").texts) == list(step_hazard.TERMS)

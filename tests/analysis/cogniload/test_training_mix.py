"""Puzzles to train on: within the pass rates that were asked for, by a run's own fit."""

from statistics import fmean

import numpy as np
import pytest
from command_line import main, refusal
from lm_eval_layout import BETA, make_samples, write_run
from scipy.special import expit
from stored import read_lines

from cogniload_analysis import read_samples
from cogniload_analysis.cogniload.training_mix import choose_cells, read_pass_rate


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A model with the paper's GLM, that has answered six puzzles a cell."""
    return write_run(tmp_path_factory.mktemp("run"), "model", make_samples(BETA, 6, 1))


def solved(d, N, rho):
    """Return how often the simulated model solves a puzzle."""
    return expit(BETA @ np.array([1, d, np.log10(N), rho / 100, (rho / 100) ** 2]))


def test_the_file_holds_puzzles_of_the_pass_rates(run, tmp_path):
    file = tmp_path / "mix.jsonl"
    words = ("--for", run, "--pass-rate", "0.2..0.8", "--num-puzzles", 2, "--traces")
    assert main([str(word) for word in ("generate", file, *words)]) == 0
    rows = read_lines(file)
    cells = choose_cells(read_samples([run]), 0.2, 0.8)
    asked = sorted(map(tuple, cells[["d", "N", "rho"]].to_numpy().tolist()))
    assert sorted((row["d"], row["N"], row["rho"]) for row in rows) == sorted(asked * 2)
    assert all("-train-" in row["id"] and row["completion"] for row in rows)
    observed = [solved(*cell) for cell in asked]
    assert abs(fmean(observed) - cells["predicted"].mean()) < 0.05
    for low in (0.2, 0.4, 0.6):
        part = cells[cells["predicted"].between(low, low + 0.2)]
        real = fmean(solved(*cell) for cell in part[["d", "N", "rho"]].to_numpy())
        assert abs(real - part["predicted"].mean()) < 0.05
    assert cells["N"].between(20, 250).all()  # nothing is extrapolated


def test_what_can_not_be_chosen_is_one_line(run, tmp_path, capsys):
    for words, said in (
        (("--for", run, "--pass-rate", "4"), "LOW..HIGH"),
        (("--for", run, "--pass-rate", "0.8..0.2"), "LOW..HIGH"),
        (("--for", run, "--pass-rate", "0.999..1"), "no cell has"),
        (("--for", run, "--d", "3"), "takes the place of --d"),
        (("--pass-rate", "0.2..0.8"), "--pass-rate needs it"),
    ):
        arguments = ["generate", str(tmp_path / "x.jsonl"), *map(str, words)]
        assert said in refusal(capsys, *arguments)
    assert not [*tmp_path.iterdir()]
    assert read_pass_rate("0..1") == (0, 1)

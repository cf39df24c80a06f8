"""The threshold over checkpoints: runs whose capacity rises, by the command alone."""

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import BETA, make_samples, write_run
from refusals import assert_refused
from report_reader import page_text, read_page

from cogniload_analysis.cogniload.sections.checkpoints import label_checkpoints
from cogniload_cli import main

STEPS = [100, 200, 400]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Folders of checkpoints of one served name, whose N at one half grows fourfold each time."""
    folder = tmp_path_factory.mktemp("runs")
    for number, step in enumerate(STEPS):
        beta = [BETA[0] - 2.75 * np.log10(4) * (1 - number), *BETA[1:]]
        write_run(folder / f"step-{step}", "org/model", make_samples(beta, 12, number))
    return folder


def written(out, name):
    return pd.read_csv(out / f"tables/{name}.csv")


@pytest.mark.parametrize("x", [None, "tokens=1e6,2e6,8e6"])
def test_the_threshold_rises_over_the_checkpoints_with_the_figures_of_the_overview(
    runs, tmp_path, x, capsys
):
    words = [str(runs / f"step-{step}") for step in reversed(STEPS)]
    if x:
        words = [*reversed(words), "--x", x]
    assert main(["report", *words, "--out", str(tmp_path / "r")]) == 0
    found, overview = written(tmp_path / "r", "checkpoints"), written(tmp_path / "r", "overview")
    assert [*found["x"]] == ([1e6, 2e6, 8e6] if x else STEPS)
    assert {*found["unit"]} == {"Tokens" if x else "Steps"}
    assert found["model"].nunique() == 1
    assert found["ECL50"].is_monotonic_increasing
    for column in ("ECL50", "ECL50_low", "ECL50_high", "accuracy"):
        assert {*found[column].round(6)} == {*overview[column].round(6)}
    ratios = found["ECL50"].to_numpy()[1:] / found["ECL50"].to_numpy()[:-1]
    assert (ratios > 2).all()
    page = read_page(tmp_path / "r/report.html")
    (section,) = page.cssselect("#over-checkpoints")
    shown = [page_text(row[2]) for row in section.xpath("following::table[1]//tr")]
    assert shown == ["Checkpoint", *(f"{at:,.10g}" for at in found["x"])]
    assert [*(tmp_path / "r/figures").glob("checkpoints*")]
    capsys.readouterr()


def test_two_checkpoints_are_no_curve(runs, tmp_path, capsys):
    words = [str(runs / f"step-{step}") for step in STEPS[:2]]
    assert main(["report", *words, "--out", str(tmp_path / "r")]) == 0
    assert not (tmp_path / "r/tables/checkpoints.csv").exists()
    capsys.readouterr()


def labelled(*results, x=None):
    return [label for label, _ in label_checkpoints(results, x)]


def test_labels_tell_the_checkpoint_and_the_training():
    assert labelled(("", "a/step-1"), ("", "a/step-2")) == ["step-1", "step-2"]
    assert labelled(("", "lr=1/step-1"), ("", "lr=2/step-1")) == ["lr=1 step-1", "lr=2 step-1"]
    assert labelled(("", "a/step-1"), ("", "b/other")) == ["", ""]
    assert labelled(("mine", "a/step-1"), ("", "a/step-2")) == ["mine", ""]
    two = ("mine", "a"), ("", "lr=1/b")
    assert labelled(*two, x="tokens=1M,2M") == ["mine, tokens 1M", "tokens 2M"]


def test_two_trainings_are_two_lines_though_their_checkpoints_are_called_alike(tmp_path, capsys):
    words = []
    for run, better in (("a", 0), ("lr=2", 1)):
        for number, step in enumerate(STEPS):
            beta = [BETA[0] + better + number / 2, *BETA[1:]]
            folder = tmp_path / run / f"step-{step}"
            write_run(folder, "org/model", make_samples(beta, 12, 7 * better + number))
            words.append(str(folder))
    assert main(["report", *words, "--out", str(tmp_path / "r")]) == 0
    found = written(tmp_path / "r", "checkpoints")
    assert found.groupby("model")["x"].apply(list).to_dict() == {"a": STEPS, "lr=2": STEPS}
    assert (found["low"] < found["high"]).all()
    overview = written(tmp_path / "r", "overview")
    assert overview["responses"].nunique() == 1
    capsys.readouterr()


@pytest.mark.parametrize("x", ["steps=1,2", "steps=1,2,x", "1,2,3", "hours=1,2,3"])
def test_another_form_of_x_is_refused(runs, tmp_path, x, capsys):
    words = [*(runs / f"step-{step}" for step in STEPS), "--out", tmp_path / "r", "--x", x]
    said = "x must be steps, tokens or epochs and a number for each of 3 results"
    assert_refused(capsys, said, "report", *words)

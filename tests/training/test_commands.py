"""The commands of the tables: killed and given again, several seeds, and the way to the Hub."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import table4
import table7
import tables5and6
import torch
import yaml
from experiments import Run, make_model, over_seeds, printed, read_size, train
from transformers import AutoModelForCausalLM

FOLDER = Path(table4.__file__).parent


@pytest.fixture(scope="module")
def runs(micro, tmp_path_factory):
    """Two seeds of the micro size, and their folder."""
    out = tmp_path_factory.mktemp("out")
    return [Run(micro, out, seed) for seed in (0, 1)]


def start(arguments):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    words = [sys.executable, FOLDER / "table4.py", *map(str, arguments)]
    return subprocess.Popen(words, **pipes)


@pytest.mark.slow
def test_a_command_that_was_killed_goes_on_to_the_same_model(micro, runs, tmp_path):
    size = tmp_path / "size.yaml"
    size.write_text(yaml.safe_dump(micro))
    out = tmp_path / "out"
    arguments = [out, "--size", size, "--seeds", 0, "--only", "Baseline"]
    command = start(arguments)
    state = out / "seed-0/Baseline/checkpoints/checkpoint-2/trainer_state.json"
    while not state.exists() and command.poll() is None:
        time.sleep(0.01)
    command.send_signal(signal.SIGKILL)
    command.communicate()
    assert command.returncode == -signal.SIGKILL
    assert not (out / "seed-0/Baseline/model").exists()
    (state.parent.parent / "checkpoint-3").mkdir()  # as if it had been killed while it wrote one
    command = start(arguments)
    written, said = command.communicate()
    assert command.returncode == 0, said
    assert "| Baseline | here |" in written
    whole, resumed = (
        AutoModelForCausalLM.from_pretrained(folder).state_dict()
        for folder in (train(runs[0], "Baseline"), out / "seed-0/Baseline/model")
    )
    assert all((whole[name] == resumed[name]).all() for name in whole)


@pytest.mark.slow
def test_the_tables_have_our_rows_beside_the_paper_s(runs, capsys):
    table4.write(runs, ["Baseline", "Clean"])
    tables5and6.write(runs, ["Course", "Full"])
    table7.write(runs, ["Course"])
    capsys.readouterr()
    out = runs[0].out
    tables = {path.stem: pd.read_csv(path) for path in out.glob("table?.csv")}
    assert sorted(tables) == ["table4", "table5", "table6", "table7"]
    for name, table in tables.items():
        here = table[table["source"] == "here"]
        assert (here["accuracy_seeds"] == 2).all()
        assert {*table["model"][table["source"] == "paper"]} == {*here["model"]}
        text = (out / f"{name}.md").read_text()
        assert text.startswith("| model | source |")
    assert {*tables["table5"]["context"][tables["table5"]["source"] == "here"]} == {0, 20}
    assert (out / "seed-1/Course-8/model/model.safetensors").exists()
    assert not list(out.rglob("checkpoints"))


def test_the_errors_are_those_over_the_seeds():
    rows = pd.DataFrame({"model": "A", "CDF": [-0.1, -0.3, np.nan]})
    table = over_seeds(rows, ["model"], ["CDF"], pd.DataFrame({"model": ["A"], "CDF": [-0.5]}))
    assert np.allclose(table["CDF"], [-0.2, -0.5])
    assert table["CDF_se"][0] == pytest.approx(0.1)
    assert table["CDF_seeds"][0] == 2
    assert printed(table, "CDF", 2) == ["-0.20 ± 0.10", "-0.50"]


def test_the_paper_s_size_is_that_of_the_paper():
    """Counted by hand from Table 8: embeddings and head, attention, MLP, norms."""
    layer = 4 * 768**2 + 3 * 768 * 3072 + 2 * 768
    with torch.device("meta"):
        model = make_model(read_size("paper"))
    assert model.num_parameters() == 12 * layer + 2 * 424 * 768 + 768

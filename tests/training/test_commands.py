"""The commands of the tables: killed and given again, several seeds, and the way to the Hub."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import table4
import table7
import tables5and6
import yaml
from eval_command import wait_for
from experiments import (
    Run,
    last_checkpoint,
    main,
    over_seeds,
    parameters,
    printed,
    read_size,
    train,
)
from hub_stand_in import TOKEN, hub
from push import push
from tokenizer import COMPARISONS
from transformers import AutoModelForCausalLM, AutoTokenizer

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
    wait_for(lambda: state.exists() or command.poll() is not None)
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
    states = json.loads((out / "seed-0/Baseline/model/training.json").read_text())
    assert states["steps"] == 6


@pytest.mark.parametrize(("out", "size", "said"), [
    ("used", "tiny", "holds runs of another size"),
    ("used", "huge", "size must be one of hour, paper, tiny or a YAML"),
    ("used", "paper", "size paper takes a GPU with bfloat16, and none is here"),
    ("file", "tiny", "file is a file: name a folder"),
])  # fmt: skip
def test_a_wrong_folder_or_size_is_told_in_a_line(out, size, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("used").mkdir()
    Path("used/size.json").write_text("{}")
    Path("file").touch()
    monkeypatch.setattr("experiments.is_torch_bf16_gpu_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["table4.py", out, "--size", size])
    with pytest.raises(SystemExit, match=r"^2$"):
        main(table4.write, ["Baseline"], "about")
    assert said in capsys.readouterr().err.splitlines()[-1]


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
        assert "Trained here: 3 layers, 64 wide, 151,360 parameters, 48 puzzles" in text
        assert "2 seeds" in text
        assert "The paper: 12 layers, 768 wide, 113,916,672 parameters, 3,000,000 puzzles" in text
    assert {*tables["table5"]["context"][tables["table5"]["source"] == "here"]} == {0, 20}
    assert (out / "seed-1/Course-8/model/model.safetensors").exists()
    assert not list(out.rglob("checkpoints"))


def test_a_run_goes_on_from_its_last_whole_checkpoint(tmp_path):
    for step, state in ((9, '{"global_step": 9}'), (10, '{"global_step": 10}'), (11, "{")):
        (tmp_path / f"checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(state, "utf-8")
    assert last_checkpoint(tmp_path) == str(tmp_path / "checkpoint-10")


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
    assert parameters(read_size("paper")) == 12 * layer + 2 * 424 * 768 + 768


def test_a_model_goes_to_the_hub_with_its_tokenizer(runs, tmp_path):
    model = train(runs[0], "Baseline")
    folder = Path(push(model, "me/factor", dry_run=tmp_path / "dry"))
    names = {"README.md", "config.json", "model.safetensors", "tokenizer.json"}
    assert names <= {path.name for path in folder.iterdir()}
    assert len(AutoTokenizer.from_pretrained(folder)) == 424 + len(COMPARISONS)
    AutoModelForCausalLM.from_pretrained(folder)
    card = (folder / "README.md").read_text()
    assert "pipeline_tag: text-generation" in card
    assert "`Baseline`" in card
    with hub() as stand_in:
        settings = {"HF_ENDPOINT": stand_in.url, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path)}
        settings |= {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
        program = [sys.executable, FOLDER / "push.py", model, "me/factor"]
        said = subprocess.run(program, env=os.environ | settings, capture_output=True, check=True)
        assert said.stdout.decode() == f"{stand_in.last_commit}\n"
        stand_in.files.pop(".gitattributes")
        assert stand_in.files == {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ValueError, match=r"^the repository must be user/name, got 'factor'"):
        push(model, "factor", dry_run=tmp_path / "other")
    with pytest.raises(ValueError, match=r"^model must be a folder model/ of a finished training"):
        push(tmp_path, "me/factor")

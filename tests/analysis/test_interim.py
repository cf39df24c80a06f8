"""A folder in which `cogniload eval` is still going is reported on by its finished blocks."""

import json

import pytest
from lm_eval.loggers.evaluation_tracker import GeneralConfigTracker
from lm_eval_layout import make_puzzle, make_sample, write_run

from cogniload_analysis import AdaptiveDesign, accuracy_table, read_samples
from cogniload_analysis.cogniload.adaptive_section import find_replays
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.display.print import run_table
from cogniload_analysis.report.write import build_report
from cogniload_analysis.samples.runs import say_runs
from cogniload_analysis.samples.unfinished import count_blocks, describe_results
from lm_eval_tasks.runner.begun import SHAPE, wrong_part
from lm_eval_tasks.runner.cut import blocks_of


def begin(folder, **changes):
    """Write what `cogniload eval` writes before its first block, and return it."""
    arguments = {
        "model": "hf",
        "model_args": {"pretrained": "org/m", "dtype": "float32"},
        "tasks": ["cogniload_lite", "cogniload_mini"],
        "metadata": {},
        "gen_kwargs": {"temperature": 0.6},
        "apply_chat_template": False,
        "system_instruction": None,
        "num_fewshot": None,
        "fewshot_as_multiturn": None,
        "limit": None,
        "samples": None,
        "seed": None,
    } | changes
    run = {
        "versions": {"generator": 1, "lm_eval": "0.4.13"},
        "arguments": arguments,
        "block_size": 4,
        "tasks": {
            "cogniload_lite": {"version": "1.0", "documents": 98},
            "cogniload_mini": {"version": "1.0", "documents": 10},
        },
        "model": {},
        "recorded": {"date": 1.0, "arguments": {"model_args": {}, "include_path": None}},
    }
    assert wrong_part(run, SHAPE) is None
    (folder / "state").mkdir(parents=True)
    (folder / "state" / "run.json").write_text(json.dumps(run))
    return run


def write_block(folder, number, right, of=4):
    with (folder / "state" / f"block-{number:05}.jsonl").open("w") as lines:
        for index in range(of):
            outcome = "correct_valid" if index < right else "wrong_logic"
            puzzle = make_puzzle(1, 20, 5, 100 * number + index)
            lines.write(json.dumps(make_sample(puzzle, "Text.", outcome)) + "\n")


def test_the_finished_blocks_are_a_row_marked_interim(undrawn, tmp_path):
    run = begin(tmp_path)
    assert len(blocks_of(run)) == 28
    for number, right in ((1, 4), (2, 1), (5, 2), (26, 3)):
        write_block(tmp_path, number, right)
    frame = read_samples(tmp_path)
    table = accuracy_table(frame).set_index("model")
    assert table[["correct", "responses"]].to_numpy().tolist() == [[3, 4], [7, 12]]
    assert table.index.tolist() == [
        "org/m, interim: 1 of 3 blocks",
        "org/m, interim: 3 of 25 blocks",
    ]
    runs = run_table(frame, COGNILOAD.loads)
    assert (runs["lm_eval_version"] == "0.4.13").all()
    assert (runs["decoding"] == "temperature 0.6").all()
    said = say_runs(runs)
    assert len(said) == 2
    page = build_report({"CogniLoad": frame})["report.html"].decode()
    assert all(sentence in page for sentence in said)
    assert "interim: 3 of 25 blocks" in page


@pytest.mark.parametrize(
    "changes", [{}, {"limit": 7}, {"limit": 0.5}, {"samples": {"cogniload_lite": [1, 2, 2, 9, 50]}}]
)
def test_the_blocks_are_counted_as_the_runner_cuts_them(tmp_path, changes):
    run = begin(tmp_path, **changes)
    for task, told in run["tasks"].items():
        cut = [block for block in blocks_of(run) if block.task == task]
        assert count_blocks(run["arguments"], task, told["documents"], 4) == len(cut)


def test_a_model_is_named_as_lm_eval_names_it(tmp_path):
    config = GeneralConfigTracker()
    for name in ("pretrained", "model", "path", "engine"):
        run = begin(tmp_path / name, model_args={name: "org/m", "tokenizer": "t", "dtype": "x"})
        config.log_experiment_args("hf", f"dtype=x,{name}=org/m", "", "", False)
        assert describe_results(run)["model_name"] == config.model_name == "org/m"


def test_a_run_with_results_is_read_from_them_alone(tmp_path):
    begin(tmp_path)
    write_block(tmp_path, 1, 4)
    sample = make_sample(make_puzzle(1, 20, 5), "Text.", "wrong_logic")
    write_run(tmp_path, "org/m", [sample])
    assert read_samples(tmp_path)["model"].tolist() == ["org/m"]


@pytest.mark.parametrize("earlier", ["a", "b"])
def test_of_two_copies_of_a_going_run_the_later_one_is_read(tmp_path, earlier):
    for name in ("a", "b"):
        begin(tmp_path / name)
        for number in (1,) if name == earlier else (1, 2):
            write_block(tmp_path / name, number, number)
    frame = read_samples(tmp_path)
    assert frame["correct"].sum() == 3
    assert len(frame) == 8
    assert set(frame["copies"]) == {1}


def test_two_going_runs_with_the_same_arguments_are_no_copies(tmp_path):
    for name, right in (("a", 1), ("b", 2)):
        begin(tmp_path / name)
        write_block(tmp_path / name, 1, right)
    frame = read_samples(tmp_path)
    assert frame["correct"].sum() == 3
    assert set(frame["copies"]) == {0}


def test_a_search_has_no_number_of_blocks(tmp_path):
    begin(tmp_path, until={"goal": "ECL50"}, tasks=["cogniload_lite"])
    write_block(tmp_path, 1, 4)
    assert set(read_samples(tmp_path)["model"]) == {"org/m, interim: 1 blocks"}


def test_a_search_that_is_still_going_is_told_as_an_adaptive_run(tmp_path):
    until = {"goal": "ECL50", "target": 0.4, "budget": 300}
    run = begin(tmp_path, until=until, tasks=["cogniload_lite"])
    del run["tasks"]["cogniload_mini"]
    (tmp_path / "state" / "run.json").write_text(json.dumps(run))
    asked = AdaptiveDesign(**until).ask()
    with (tmp_path / "state" / "block-00001.jsonl").open("w") as lines:
        for puzzle in asked:
            sample = make_sample(make_puzzle(*puzzle), "Text.", "correct_valid")
            lines.write(json.dumps(sample) + "\n")
    (told,) = find_replays({"m": read_samples(tmp_path)}).values()
    assert told.estimate.n == len(asked)
    assert told.settings.budget == 300


@pytest.mark.parametrize("content", ["", "[]", "{}", "3", '{"arguments": {}}', "[" * 9999])
def test_a_broken_run_file_is_named(tmp_path, content):
    begin(tmp_path)
    (tmp_path / "state" / "run.json").write_text(content)
    with pytest.raises(ValueError, match=r"run.json must be what cogniload eval wrote"):
        read_samples(tmp_path)


def test_a_run_without_a_finished_block_is_said(tmp_path):
    begin(tmp_path)
    with pytest.raises(ValueError, match="runs without a finished block"):
        read_samples(tmp_path)

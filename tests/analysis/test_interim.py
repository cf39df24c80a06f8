"""A folder in which `cogniload eval` is still going is reported on by its finished blocks."""

import json

import pytest
from lm_eval_layout import make_puzzle, make_sample, write_run

from cogniload_analysis import AdaptiveDesign, accuracy_table, read_samples
from cogniload_analysis.cogniload.adaptive_section import find_replays
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.display.print import run_table
from cogniload_analysis.report.write import build_parts, build_report
from cogniload_analysis.samples.runs import say_runs
from cogniload_gen.files.run_folder import Block, RunFolder, RunSpec
from lm_eval_tasks.runner.store import Store


def begin(folder, **changes):
    """Write what `cogniload eval` writes before its first block, and return it."""
    arguments = {
        "model": "hf",
        "model_args": {"pretrained": "org/m", "dtype": "float32"},
        "tasks": ["cogniload_lite", "cogniload_mini"],
        "metadata": {},
        "gen_kwargs": {"temperature": 0.6},
        "apply_chat_template": False,
        **dict.fromkeys(("system_instruction", "num_fewshot", "fewshot_as_multiturn")),
        **dict.fromkeys(("limit", "samples", "seed")),
    } | changes
    tasks = {"cogniload_lite": 98, "cogniload_mini": 10}
    run = {
        "versions": {"generator": 1, "lm_eval": "0.4.13"},
        "arguments": arguments,
        "block_size": 4,
        "tasks": {
            name: {"version": "1.0", "documents": tasks[name]} for name in arguments["tasks"]
        },
        "model": {},
        "recorded": {"date": 1.0, "arguments": {"model_args": {}, "include_path": None}},
        "digests": "sha256",
    }
    (folder / "state").mkdir(parents=True)
    Store(folder / "state").write_run(RunSpec.read(run))
    return RunFolder(folder / "state").begun()


def write_lines(folder, block, samples):
    store = Store(folder / "state")
    lines = [json.dumps(sample).encode() + b"\n" for sample in samples]
    store.write_block(block, lines, store.begun(), shard="1/1", seconds=1.0)


def write_block(folder, number, right):
    """Write a block in which the first `right` responses are."""
    block = RunFolder(folder / "state").begun().blocks()[number - 1]
    samples = []
    for i, index in enumerate(block.documents):
        outcome = "correct_valid" if i < right else "wrong_logic"
        samples.append(make_sample(make_puzzle(1, 20, 5, index), "Text.", outcome))
    write_lines(folder, block, samples)


def test_the_finished_blocks_are_a_row_marked_interim(undrawn, tmp_path):
    run = begin(tmp_path)
    assert len(run.blocks()) == 28
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
    page = build_report(build_parts({"CogniLoad": frame}))["report.html"].decode()
    assert all(sentence in page for sentence in said)


def test_a_run_with_results_is_read_from_them_alone(tmp_path):
    begin(tmp_path)
    write_block(tmp_path, 1, 4)
    sample = make_sample(make_puzzle(1, 20, 5), "Text.", "wrong_logic")
    write_run(tmp_path, "org/m", [sample])
    assert read_samples(tmp_path)["model"].tolist() == ["org/m"]


@pytest.mark.parametrize(
    ("blocks", "correct", "copies"),
    [
        ({"a": [1], "b": [1, 2]}, 3, 1),  # the later one is read
        ({"a": [1, 2], "b": [1]}, 3, 1),
        ({"a": [1], "b": [2]}, 3, 0),  # the same arguments are no copy
    ],
)
def test_of_two_copies_of_a_going_run_the_later_one_is_read(tmp_path, blocks, correct, copies):
    for name, rights in blocks.items():
        begin(tmp_path / name)
        for number, right in enumerate(rights, 1):
            write_block(tmp_path / name, number, right)
    frame = read_samples(tmp_path)
    assert (frame["correct"].sum(), len(frame)) == (correct, 8)
    assert set(frame["copies"]) == {copies}


def test_a_search_that_is_still_going_is_an_adaptive_run(tmp_path):
    until = {"goal": "ECL50", "target": 0.4, "budget": 300}
    begin(tmp_path, until=until, tasks=["cogniload_lite"])
    puzzles = AdaptiveDesign(**until).ask()
    samples = [
        make_sample(make_puzzle(*puzzle) | {"index": index}, "Text.", "correct_valid")
        | {"doc": make_puzzle(*puzzle)}
        for index, puzzle in enumerate(puzzles)
    ]
    block = Block(1, "cogniload_lite", tuple(range(len(puzzles))))
    write_lines(tmp_path, block, samples)
    frame = read_samples(tmp_path)
    assert set(frame["model"]) == {"org/m, interim: 1 blocks"}
    (replay,) = find_replays({"m": frame}).values()
    assert replay.estimate.n == len(puzzles)
    assert replay.settings.budget == 300
    for name in ("block", "digest"):  # the same responses again, under another number
        (file,) = (tmp_path / "state").glob(f"{name}-*")
        file.with_name(file.name.replace("1", "2")).write_bytes(file.read_bytes())
    with pytest.raises(ValueError, match=r"block-00002\.jsonl must hold samples of the documents"):
        read_samples(tmp_path)


DAMAGE = {
    "edited": lambda text: text.replace(b"wrong_logic", b"correct_valid").replace(b"0.0", b"1.0"),
    "doubled": lambda text: text + text,
    "cut": lambda text: text[:-20],
    "of another seed": None,
}


def test_a_run_without_a_finished_block_is_said(tmp_path):
    begin(tmp_path)
    with pytest.raises(ValueError, match="runs without a finished block"):
        read_samples(tmp_path)

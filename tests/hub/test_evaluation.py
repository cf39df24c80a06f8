"""The eval.yaml of what is published, as Inspect's own reader takes and runs it."""

import huggingface_hub
import pytest
import yaml
from inspect_ai._eval.task import hf
from inspect_ai._eval.task.hf import HFTask, task_create_from_hf
from inspect_run import evaluate, output

from cogniload_gen import benchmarks
from cogniload_gen.hub import push, write_folder
from cogniload_gen.shards import configuration_of

GRIDS = {
    "cogniload": {"d": [1, 3], "N": 5, "rho": 50, "num_puzzles": 6},
    "factor-symbolic": {"suite": "symbolic", "N": [1, 4, 7], "num_puzzles": 4},
    "factor-realistic": {"suite": "realistic", "op": [2, 3], "num_puzzles": 6},
}


@pytest.fixture(params=GRIDS)
def published(request, tmp_path, monkeypatch):
    """A benchmark's small grid in a folder that Inspect takes for me/puzzles on the Hub."""
    folder = tmp_path / "folder"
    push("me/puzzles", request.param.partition("-")[0], **GRIDS[request.param], dry_run=folder)
    load = hf.hf_dataset
    path = folder.joinpath
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda filename, **_: path(filename))
    monkeypatch.setattr(hf, "hf_dataset", lambda path, revision, **more: load(str(folder), **more))
    return request.param, folder


def test_inspect_reads_the_file_and_its_rows(published):
    name, folder = published
    told = yaml.safe_load((folder / "eval.yaml").read_text("utf-8"))
    assert told["evaluation_framework"] == "inspect-ai"
    assert told["name"] == benchmarks.named(name).title
    names = [path.name for path in folder.iterdir() if path.is_dir()]
    assert [HFTask.model_validate(task).id for task in told["tasks"]] == names
    (task,) = task_create_from_hf("hf/me/puzzles")
    dataset = benchmarks.datasets()[name.partition("-")[0]]
    rows = dataset.puzzles(**GRIDS[name]).table().to_pylist()
    assert [(s.input, s.target) for s in task.dataset] == [(r["puzzle"], r["answer"]) for r in rows]
    for sample, row in zip(task.dataset, rows, strict=True):
        assert sample.metadata["id"] == row["id"]
        assert sample.metadata | row == row


SENTENCES = {
    "cogniload": "After the statements, {poi} is wearing {answer} clothes.",
    "factor-symbolic": "So the variables with that value are {answer}.",
    "factor-realistic": "4 + 3 = 7.\n\n**Answer: {answer}**",
}


def test_its_scorer_is_near_to_the_benchmarks(published, tmp_path):
    name, _ = published
    (task,) = task_create_from_hf("hf/me/puzzles")
    samples = list(task.dataset)
    solved = {sample.input: benchmarks.solve(sample.input) for sample in samples}
    wrong = {}
    for sample in samples[::3]:
        wrong[sample.input] = next(v for v in solved.values() if v != solved[sample.input])

    def answer(messages):
        text = messages[-1].text
        said = SENTENCES[name].format(poi="Jo", answer=(solved | wrong)[text])
        return output(f"It may be {solved[text]}.\n{said}")

    log = evaluate(task, tmp_path, answer)
    (scores,) = ({s.id: s.scores[name] for s in log.samples} for name in log.samples[0].scores)
    for sample in log.samples:
        expected = sample.input not in wrong
        assert (scores[sample.id].value == "C") == expected, sample.output.completion


def test_only_test_splits_are_evaluated(tmp_path):
    train = configuration_of("cogniload", d=1, N=5, num_puzzles=2, split="train")
    (tmp_path / "train").mkdir()
    write_folder(tmp_path / "train", "me/puzzles", train, [train])
    assert not (tmp_path / "train" / "eval.yaml").exists()
    both = [train, *(configuration_of(name.partition("-")[0], **GRIDS[name]) for name in GRIDS)]
    write_folder(tmp_path, "me/puzzles", both[1], both)
    told = yaml.safe_load((tmp_path / "eval.yaml").read_text("utf-8"))
    assert [task["config"] for task in told["tasks"]] == [each.name for each in both[1:]]
    assert {task["split"] for task in told["tasks"]} == {"test"}
    assert len({task["id"] for task in told["tasks"]}) == 3

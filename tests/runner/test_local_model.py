"""Models in this process, and tasks of others."""

import json
from functools import partial
from types import SimpleNamespace

import pytest
from eval_command import DOCUMENTS, PUZZLES, command, read
from harness import TASKS
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from other_tasks import COLOURS, MULTIPLE_CHOICE
from transformers import AutoTokenizer

from lm_eval_tasks.budget import count_response_tokens


def test_half_an_emoji_is_counted(tiny_model):
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    model = SimpleNamespace(tokenizer=tokenizer, tok_encode=lambda text, **_: text)
    assert count_response_tokens(model, "green \ud83d") == 2


GROUP = """
group: mixed
task: [factor_symbolic_mini, colours]
aggregate_metric_list: [{metric: acc, weight_by_size: true}]
"""


@pytest.mark.slow
def test_tasks_and_groups_of_others(tiny_model, tmp_path, monkeypatch):
    """As lm-eval itself has it. (Its thousands of tasks, which take ten seconds, are left out.)"""
    written = {"colours.yaml": MULTIPLE_CHOICE, "colours.py": COLOURS, "mixed.yaml": GROUP}
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    some = partial(TaskManager, include_defaults=False)
    monkeypatch.setattr("lm_eval.tasks.TaskManager", some)
    given = {"pretrained": str(tiny_model), "dtype": "float32"}
    settings = {"device": "cpu", "batch_size": 4, "limit": 6}
    tasks = {"tasks": ["mixed", "cogniload_mini"]}
    tasks["task_manager"] = some(include_path=[str(TASKS), str(tmp_path)])
    limited = {"model_args": given, "gen_kwargs": {"max_gen_toks": 8}}
    plain = simple_evaluate("hf", **limited, **tasks, **settings)
    command_line = [
        *("eval", "--model", "hf", "--model_args", json.dumps(given), "--block_size", "4"),
        *("--tasks", "mixed,cogniload_mini", "--include_path", tmp_path),
        *("--gen_kwargs", "max_gen_toks=8", "--output_path", tmp_path / "out"),
        *(part for name, value in settings.items() for part in (f"--{name}", value)),
    ]
    assert command(*command_line)[0] == 0
    (results,) = tmp_path.rglob("results_*.json")
    ours = json.loads(results.read_bytes())
    for part in ("results", "groups", "group_subtasks", "n-samples"):
        assert ours[part] == plain[part], part
    assert plain["samples"].keys() == {"factor_symbolic_mini", "colours", "cogniload_mini"}
    for task, samples in plain["samples"].items():
        (file,) = tmp_path.rglob(f"samples_{task}_*")
        assert len(file.read_bytes().splitlines()) == len(samples)


@pytest.mark.slow
def test_a_model_in_this_process(tiny_model, tmp_path):
    settings = [
        *("eval", "--model", "hf", "--model_args", f"pretrained={tiny_model},dtype=float32"),
        *("--device", "cpu", "--batch_size", "4", "--tasks", "cogniload_mini"),
        *("--metadata", json.dumps({"cogniload": PUZZLES})),
        *("--gen_kwargs", "max_gen_toks=12"),
    ]
    for name, size in (("blocks", 8), ("one", DOCUMENTS)):
        out = tmp_path / name
        assert command(*settings, "--output_path", out, "--block_size", size)[0] == 0
    (blocks, some), (one, all_) = read(tmp_path / "blocks"), read(tmp_path / "one")
    assert some == all_
    assert blocks["results"] == one["results"]
    assert {sample["response_tokens"] for sample in some} <= set(range(13))
    assert blocks["config"]["model_num_parameters"] == one["config"]["model_num_parameters"] > 0

    tokenizer = tiny_model / "tokenizer.json"
    vocabulary = json.loads(tokenizer.read_bytes())
    words = vocabulary["model"]["vocab"]
    words["another"] = words.pop(max(words, key=words.get))
    tokenizer.write_text(json.dumps(vocabulary))
    next((tmp_path / "blocks" / "state").glob("block-*")).unlink()
    code, _, err = command(*settings, "--output_path", tmp_path / "blocks", "--block_size", "8")
    assert code == 2
    assert "was begun with model.tokenizer '" in err.splitlines()[-1]

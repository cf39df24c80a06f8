"""What holds for the tasks of both benchmarks in the real harness."""

import pytest
from harness import manager
from lm_eval import simple_evaluate
from refusals import refused
from stored import cases

from cogniload_gen import GENERATOR_VERSION
from cogniload_gen.factor.knobs import REALISTIC_VERSION, SYMBOLIC_VERSION
from lm_eval_tasks.cogniload import task as cogniload
from lm_eval_tasks.factor import task as factor

SYMBOLIC, REALISTIC = "factor_symbolic_mini", "factor_realistic_mini"
MINI = ["cogniload_mini", SYMBOLIC, REALISTIC]
SMALL = {"cogniload": {"num_puzzles": 1}, "factor": {"num_puzzles": 1, "context": 800}}


def load(task, **parameters):
    """Return a task whose puzzles are told by parameters of its benchmark's metadata."""
    (loaded,) = manager(**{task.partition("_")[0]: parameters}).load([task])["tasks"].values()
    return loaded


@pytest.mark.parametrize("task", MINI)
def test_every_metric_is_declared(task):
    loaded, score = load(task), cogniload if task.startswith("cogniload") else factor
    doc = loaded.eval_docs[0] | {"prompt_tokens": 100, "response_tokens": 10}
    declared = [metric["metric"] for metric in loaded.config.metric_list]
    named = {"outcome", "ending", "reasoning"}  # in a sample alone
    assert {*score.process_results(doc, ["x"])} - named == {*declared}
    assert len({*declared}) == len(declared)


def test_every_task_has_the_version_of_the_generator():
    versions = {"symbolic": SYMBOLIC_VERSION, "realistic": REALISTIC_VERSION}
    others = {
        "cogniload_axes",
        "factor_realistic_retrieval",
        "step_transcripts",
    }  # of puzzles that they tell themselves
    tasks = [name for name in manager().all_subtasks if name not in others]
    assert len(tasks) > 20
    for name, loaded in manager(**SMALL).load(tasks)["tasks"].items():
        assert loaded.config.task == name
        suite = loaded.eval_docs[0].get("suite")
        assert int(loaded.VERSION) == versions.get(suite, GENERATOR_VERSION)


@pytest.mark.parametrize(("module", "names", "run"), [
    (cogniload, ["ECL50", "NT50", "ID50"], [(d, 20, 0.5, 0) for d in (1, 5, 10)] * 20),
    (factor, ["CDF", "CDO", "N_eff"], [(N, 1, 0, None) for N in range(1, 40)] * 20),
])  # fmt: skip
def test_what_does_not_exist_is_null_and_says_why(module, names, run, caplog):
    functions = [getattr(module, name.lower()) for name in names]
    assert [function(run) for function in functions] == [None] * 3
    (record,) = caplog.records
    assert record.message.startswith(f"{', '.join(names)}: ")


@pytest.mark.parametrize("task", MINI)
def test_a_task_is_asked_on_a_split_that_is_held_out(task):
    usual, other = load(task), load(task, split="validation")
    splits = [{doc["id"].split("-s42-")[0] for doc in each.eval_docs} for each in (usual, other)]
    assert all(name.endswith("-test") for name in splits[0])
    assert all(name.endswith("-validation") for name in splits[1])
    assert len(usual.eval_docs) == len(other.eval_docs)
    with refused("split must be one of test, validation, got 'train'"):
        load(task, split="train")


@pytest.mark.parametrize(("task", "parameters", "message"), cases(__file__)["task_parameters"])
def test_wrong_parameters_are_refused(task, parameters, message):
    with pytest.raises(ValueError, match=message):
        load(task, **parameters)


@pytest.mark.parametrize(("task", "parameters", "message"), [
    ("cogniload_mini", {"d": 10, "N": 50, "rho": 50, "num_puzzles": 2}, "2 of 2 .* cogniload-"),
    (SYMBOLIC, {"context": [0, 4000]}, "12 of 24 .* factor-symbolic"),
])  # fmt: skip
def test_documents_that_do_not_fit_are_refused_before_the_run(
    task, parameters, message, monkeypatch
):
    monkeypatch.setattr("lm_eval.models.dummy.DummyLM.generate_until", pytest.fail)
    puzzles = {task.partition("_")[0]: parameters | {"context_budget": 2048}}
    with pytest.raises(ValueError, match=rf"{message}\S+ has \d+ .* 2048 "):
        simple_evaluate("dummy", tasks=[task], task_manager=manager(**puzzles), bootstrap_iters=1)

"""CogniLoad's tasks in the real harness, with a model that says nothing."""

from itertools import product

import pandas as pd
import pytest
from axes import axes_grids
from harness import TASKS, manager
from lm_eval import simple_evaluate

from cogniload_analysis import estimate_capacity
from cogniload_gen import Outcome, generate_puzzles, read_steps, solve
from cogniload_gen.answers.metrics import step_metrics
from cogniload_gen.answers.reasoning import Reasoning
from cogniload_gen.cogniload.knobs import ERRORS
from cogniload_gen.cogniload.steps.planted import write_trace
from lm_eval_tasks.cogniload.task import THRESHOLDS, process_results, process_twins
from lm_eval_tasks.lm_eval_private import read_task
from lm_eval_tasks.metrics import share_of_read

DOC = {"poi": "Brent", "answer": "green", "category": "clothes_socks", "d": 3, "N": 20, "rho": 50.0}
DOC |= {"options": ["green", "blue", "red"], "prompt_tokens": 700, "response_tokens": 10}
DOC |= {"context_budget": 1024}


@pytest.mark.parametrize(("response", "outcome", "changes"), [
    ("Brent is wearing green socks.", Outcome.CORRECT_VALID, {}),
    ("Brent is wearing blue socks.", Outcome.WRONG_LOGIC, {}),
    ("I can't tell.", Outcome.WRONG_OTHER, {}),
    ("", Outcome.WRONG_MAX_CONTEXT, {}),
    ("Brent is wearing green socks.", Outcome.WRONG_MAX_CONTEXT, {"response_tokens": 304}),
    ("x", Outcome.WRONG_OTHER, {"prompt_tokens": None, "response_tokens": None}),
])  # fmt: skip
def test_the_metrics_of_a_response(response, outcome, changes):
    metrics = process_results(DOC | changes, [response])
    assert (metrics["outcome"], metrics["acc"]) == (outcome, outcome.correct)
    wrong = [other for other in Outcome if metrics.get(other)]
    assert wrong == ([] if outcome.correct else [outcome])
    assert [metrics[name] for name in THRESHOLDS] == 3 * [(3, 20, 0.5, int(outcome.correct))]
    for name in ("prompt_tokens", "response_tokens"):
        assert metrics.get(name) == (DOC | changes)[name]
        assert (name in metrics) == (None not in changes.values())


def test_the_kind_of_the_first_error_is_one_of_the_metrics():
    row = generate_puzzles(2, 10, 50, num_puzzles=1).to_pylist()[0]
    for kind in (*ERRORS, "none"):
        response = write_trace(row["puzzle"], 1, kind, "numbered").response
        metrics = step_metrics(response, row)
        assert metrics["steps_read"]["read"]
        kinds = {name: value for name, value in metrics.items() if name.startswith("error_")}
        assert kinds == {f"error_{each}": int(each == kind) for each in ("none", *ERRORS)}
    unread = step_metrics("Who knows?", row)
    assert {unread[f"error_{each}"] for each in ("none", *ERRORS)} == {None}


def test_what_is_known_of_a_text_is_of_it_alone():
    """A run reads a response as it comes, and scores it later."""
    row = generate_puzzles(2, 10, 50, num_puzzles=1).to_pylist()[0]
    right, wrong = (
        write_trace(row["puzzle"], 1, kind, "numbered").response for kind in ("none", "missed")
    )
    other = generate_puzzles(2, 10, 50, num_puzzles=2).to_pylist()[1]
    for _ in range(2):
        for response, reasoning, puzzle in product((right, wrong, ""), (None, wrong), (row, other)):
            kept = step_metrics(response, puzzle, Reasoning(reasoning))["steps_read"]
            steps = read_steps(response, puzzle, reasoning)
            assert kept == {name: getattr(steps, name) for name in kept}


@pytest.mark.parametrize(
    ("read", "unread", "share"),
    [(20, 0, 0.25), (19, 0, None), (20, 180, 0.25), (20, 181, None), (40, 300, 0.25), (0, 0, None)],
)
def test_shares_of_errors_need_twenty_responses_read_and_a_tenth_of_all(read, unread, share):
    wrong = read // 4
    assert share_of_read([1] * wrong + [0] * (read - wrong) + [None] * unread) == share


def test_cache_requests_is_refused():
    with pytest.raises(ValueError, match="--cache_requests is refused"):
        simple_evaluate(
            "dummy", tasks=["cogniload_mini"], task_manager=manager(), cache_requests=True
        )


def test_the_axes_are_those_of_the_adaptive_design():
    """Whose N are finer: the task has about twenty of them."""
    written = read_task(TASKS / "cogniload/cogniload_axes.yaml")["dataset_kwargs"]["grids"]
    for mine, finer in zip(written, axes_grids(), strict=True):
        assert (mine["d"], mine["rho"]) == (finer["d"], finer["rho"])
        N, every = mine["N"], finer["N"]
        assert (N[0], N[-1]) == (every[0], every[-1])
        assert all(min(abs(n / other - 1) for other in every) < 0.06 for n in N)


def test_the_axes_print_the_crossings_of_the_same_estimate():
    task = manager().load(["cogniload_axes"])["tasks"]["cogniload_axes"]
    documents = task.eval_docs
    assert len(documents) == len(set(documents["id"])) == 700
    loads = [
        (row["d"], row["N"], row["rho"] / 100, int(row["N"] < 60 + row["index"]))
        for row in documents.select_columns(["d", "N", "rho", "index"])
    ]
    frame = pd.DataFrame(loads, columns=["d", "N", "rho", "correct"])
    found = task.aggregation()["ECL50_crossing"](loads)
    assert found == estimate_capacity(frame).ECL50.value
    assert 40 < found < 90


def test_each_puzzle_stands_before_its_twins():
    """The answers are proved by the solver, and a single statement is a needle."""
    tasks = manager(cogniload={"num_puzzles": 2, "N": [20, 50]})
    task = tasks.load(["cogniload_twins"])["tasks"]["cogniload_twins"]
    rows = [*task.eval_docs]
    assert len({row["id"] for row in rows}) == len(rows) == 7 * 36
    for original, *twins in zip(*[iter(rows)] * 7, strict=True):
        base, N = original["id"], original["N"]
        number = int(twins[-1]["id"].rpartition("=")[2])
        ends = ["again", "needles", "hay=0", "tail", f"from={N - N // 10}", f"only={number}"]
        assert [row["id"] for row in twins] == [f"{base}~{end}" for end in ends]
        assert twins[-1]["needles"] == 1
        assert all(solve(row["puzzle"]) == row["answer"] for row in (original, *twins))
    declared = [metric["metric"] for metric in task.config.metric_list]
    changes = ("original", "again", "needles", "hay", "tail", "from", "only")
    tokens = {"prompt_tokens": 100, "response_tokens": 10}
    scored = [process_twins(row | tokens, ["x"]).keys() for row in rows[:7]]
    shared = set.intersection(*map(set, scored))
    named = {"outcome", "ending", "reasoning"}  # in a sample alone
    assert {*declared} == shared - named | {f"acc_{change}" for change in changes}
    assert [*map(len, scored)] == [len(shared) + 1] * 7

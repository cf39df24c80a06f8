"""Evaluations by Inspect, of a model that is a function."""

from harness import random_state_put_back
from inspect_ai import eval as inspect_eval
from inspect_ai.model import get_model


def evaluate(task, answer, folder, **settings):
    """Return the log of a task that succeeds, answered by a function or a model of Inspect."""
    if callable(answer):
        answer = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    with random_state_put_back():
        (log,) = inspect_eval(task, model=answer, log_dir=str(folder), display="none", **settings)
    assert log.status == "success", log.error
    return log

"""A whole run is what lm-eval makes of it, whatever disturbs it on its way."""

import json
import random
import signal
from itertools import count

import pytest
from eval_command import (
    DOCUMENTS,
    PUZZLES,
    answered,
    arguments,
    command,
    killed_at_event,
    killed_in_write,
    model_args,
    read,
    same,
    start,
    whole_lines,
)
from harness import manager
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker


def by_lm_eval(out, model, settings, task="cogniload_mini", **others):
    """What lm-eval itself writes."""
    tracker = EvaluationTracker(output_path=str(out))
    results = simple_evaluate(
        model, model_args=settings, tasks=[task], evaluation_tracker=tracker, **others
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name=task, samples=samples[task])
    return read(out)


@pytest.mark.parametrize("concurrent", [1, 4])
def test_results_are_those_of_lm_eval(server, tmp_path, undisturbed, concurrent):
    theirs, our = by_lm_eval(
        tmp_path, "local-chat-completions",
        json.loads(model_args(server, num_concurrent=concurrent)),
        task_manager=manager(cogniload=PUZZLES), apply_chat_template=True, fewshot_as_multiturn=True,
    ), undisturbed  # fmt: skip
    assert same(our, theirs)
    assert 0 < our[0]["results"]["cogniload_mini"]["acc,none"] < 1
    parts = ("n-samples", "versions", "n-shot", "higher_is_better", "group_subtasks")
    for part in (*parts, "task_hashes", "model_name", "model_name_sanitized", "model_source"):
        assert our[0][part] == theirs[0][part], part
    assert theirs[0].keys() - {"transformers_version", "upper_git_hash"} <= our[0].keys()
    assert theirs[0]["config"].keys() <= our[0]["config"].keys()


def drawn_moment(moments):
    """A moment: before an event of a file, or within a write, which it tears."""
    if moments.random() < 0.5:
        return killed_at_event, (moments.randrange(1, 24),)
    return killed_in_write, (moments.randrange(1, 6), moments.random())


@pytest.mark.parametrize("shards", [1, 2])
def test_killed_at_ten_random_moments_nothing_is_lost_doubled_or_changed(
    server, tmp_path, undisturbed, shards
):
    """If a run ends before the tenth kill, another is begun."""
    moments, kills = random.Random(shards), 0  # noqa: S311
    names = [("--shard", f"{i}/{shards}") if shards > 1 else () for i in range(1, shards + 1)]
    for run in count():
        out, codes = tmp_path / str(run), [1]
        while kills < 10 and any(codes):
            before, known = whole_lines(out), answered(out)
            processes = []
            for name in names:
                prepare, given = drawn_moment(moments)
                words = arguments(server, out, *name, num_concurrent=4)
                processes.append(start(*words, prepare=prepare, given=(out, *given)))
            for process in processes:
                process.join()
            codes = [process.exitcode for process in processes]
            assert set(codes) <= {0, -signal.SIGKILL}
            kills += codes.count(-signal.SIGKILL)
            asked = server.asked()
            assert len({*asked}) == len(asked)
            assert not {*asked} & {*known}
            for name, lines in whole_lines(out).items():
                assert lines[: len(before.get(name, ()))] == before.get(name, [])
        known = answered(out)
        assert command(*arguments(server, out))[0] == 0
        asked = server.asked()
        assert len({*asked, *known}) == len([*asked, *known]) == len(answered(out)) == DOCUMENTS
        assert same(read(out), undisturbed)
        assert not [*out.rglob("*.part")]
        if kills >= 10:
            break

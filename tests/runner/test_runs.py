"""A whole run is what lm-eval makes of it, whatever disturbs it on its way."""

import json
import random
import signal
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

import pytest
from eval_command import (
    DOCUMENTS,
    PUZZLES,
    answered,
    arguments,
    command,
    done,
    error_of,
    killed_at_event,
    killed_in_write,
    model_args,
    read,
    same,
    start,
    whole_lines,
)
from harness import TASKS, manager
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker

from cogniload_gen.answers import Sample
from lm_eval_tasks import Evaluation


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
        task_manager=manager(cogniload=PUZZLES), apply_chat_template=True,
        fewshot_as_multiturn=True,
    ), undisturbed  # fmt: skip
    assert same(our, theirs)
    assert 0 < our[0]["results"]["cogniload_mini"]["acc,none"] < 1
    assert theirs[0].keys() - {"transformers_version", "upper_git_hash"} <= our[0].keys()
    for part in ("n-samples", "versions", "n-shot", "model_name_sanitized", "task_hashes"):
        assert our[0][part] == theirs[0][part], part


def test_the_python_door_gives_what_the_command_gives(server, tmp_path, undisturbed):
    evaluation = Evaluation(
        model="local-chat-completions", model_args=json.loads(model_args(server)),
        tasks=["cogniload_mini"], metadata={"cogniload": PUZZLES}, apply_chat_template=True,
    )  # fmt: skip
    stopped = replace(evaluation, max_tokens_total=2000).run(tmp_path)
    assert (bool(stopped.stopped), stopped.scores) == (True, {})
    results = evaluation.run(tmp_path)
    assert len(server.asked()) == DOCUMENTS
    assert results.scores == undisturbed[0]["results"]
    assert (results.folder, results.stopped) == (tmp_path, "")
    assert same(read(tmp_path), undisturbed)
    wrongs = [("tasks", []), ("tasks", 5), ("limit", 0), ("limit", "10"), ("budget", 9)]
    wrongs += [("gen_kwargs", {"api_key": "sk-1"}), ("model_args", [1]), ("metadata", 3)]
    for name, wrong in wrongs:
        with pytest.raises(ValueError, match=name):
            replace(evaluation, **{name: wrong})


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
        if kills >= 10:
            break


OTHERS = Path(__file__).with_name("data") / "colours"
"""A task of multiple choice, and a group with it."""
HF = ["--device", "cpu", "--batch_size", "4"]


@pytest.mark.slow
def test_tasks_and_groups_of_others_on_a_model_in_this_process(tiny_model, tmp_path, few_tasks):
    """As lm-eval itself has it, also where it goes on, and once more by a merge."""
    given, limit = {"pretrained": str(tiny_model), "dtype": "float32"}, {"max_gen_toks": 8}
    plain = simple_evaluate(
        "hf", model_args=given, gen_kwargs=limit, tasks=["mixed", "cogniload_mini"],
        task_manager=few_tasks(include_path=[str(TASKS), str(OTHERS)]),
        device="cpu", batch_size=4, limit=6,
    )  # fmt: skip
    words = [
        *("eval", "--model", "hf", "--model_args", json.dumps(given), *HF, "--limit", 6),
        *("--tasks", "mixed,cogniload_mini", "--include_path", OTHERS),
        *("--gen_kwargs", "max_gen_toks=8", "--output_path", tmp_path / "out"),
    ]
    assert command(*words)[0] == 0
    file = tmp_path / "out/state/answers-1.jsonl"  # as a kill in the ninth answer leaves it
    whole = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(whole[:9])[:-9])
    for made in (*(tmp_path / "out").rglob("results_*"), *(tmp_path / "out").rglob("samples_*")):
        made.unlink()
    assert command(*words)[0] == 0
    assert file.read_bytes().splitlines(keepends=True)[:8] == whole[:8]
    merge = ["eval", "--merge", tmp_path / "out", "--include_path", OTHERS]
    assert command(*merge, "--output_path", tmp_path / "merged")[0] == 0
    for place in ("out", "merged"):
        (file,) = (tmp_path / place).rglob("results_*.json")
        ours = json.loads(file.read_bytes())
        for part in ("results", "groups", "group_subtasks", "n-samples"):
            assert ours[part] == plain[part], part
        for task, samples in plain["samples"].items():
            (lines,) = file.parent.glob(f"samples_{task}_*")
            read_back = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
            for name in ("doc", "acc"):
                assert [line[name] for line in read_back] == [sample[name] for sample in samples]


def test_attempts_are_asked_each_and_once_and_keep_their_reasoning(server, tmp_path, few_tasks):
    """Of a task with `repeats`, and a server that fails between the attempts at a puzzle."""

    def think(_):
        held = {"content": f"No idea {len(server.requests)}.", "reasoning": "Hm."}
        held["reasoning"] += held["content"]
        return {"choices": [{"finish_reason": "stop", "message": held}]}

    (tmp_path / "thrice.yaml").write_text(
        f"include: {TASKS}/cogniload/cogniload_mini.yaml\ntask: thrice\nrepeats: 3\n"
    )
    server.once, server.instead = 5 * [think], (401, "no more")
    out = tmp_path / "out"
    words = arguments(server, out, "--include_path", tmp_path, "--limit", 4, tasks="thrice")
    assert "no more" in error_of(*words)
    lines = whole_lines(out)["answers-1.jsonl"]
    assert len(lines) == 5
    server.instead = think
    done(*words)
    assert len(server.asked()) == 5 + 1 + 12 - 5
    assert whole_lines(out)["answers-1.jsonl"][:5] == lines
    attempts = [Sample.from_lm_eval(sample).scored_attempts() for sample in read(out)[1]]
    assert [len(each) for each in attempts] == [3] * 4
    assert len({each.response for each in chain(*attempts)}) == 12
    assert all(each.reasoning.text == f"Hm.{each.response}" for each in chain(*attempts))


@pytest.mark.parametrize("name", ["org/" + 80 * "名前", "..", "a/../b"])
def test_any_name_of_a_model_has_a_folder(server, tmp_path, name):
    """Within the output path."""
    out = tmp_path / "out"
    done(*arguments(server, out, "--limit", 1, model=name))
    results, samples = read(out)
    assert (results["config"]["model_args"]["model"], len(samples)) == (name, 1)
    assert command("eval", "--merge", out)[0] == 0
    assert len([*tmp_path.rglob("results_*.json")]) == 1
    assert [*tmp_path.iterdir()] == [out]


@pytest.mark.parametrize(("given", "warned"), [
    ({"chat_template_args": {"enable_thinking": False}}, "enable_thinking=False in"),
    ({"chat_template_args": {"enable_thinking": True}}, "enable_thinking=True,think_end_token="),
    ({"chat_template_args": {"enable_thinking": False}, "enable_thinking": False}, ""),
    ({"chat_template_args": {"x": 1}}, ""),
])  # fmt: skip
def test_thinking_that_lm_eval_will_ignore_is_warned_of(tmp_path, given, warned):
    """Before a run of its vLLM model, which is not installed here."""
    words = ("--model", "vllm", "--model_args", json.dumps({"pretrained": "m"} | given))
    code, _, err = command("eval", "--output_path", tmp_path, "--tasks", "cogniload_mini", *words)
    assert (code, "eval: error: eval needs vllm: pip install" in err) == (2, True), err
    assert ("ignores enable_thinking" in err) == bool(warned)
    assert warned in err

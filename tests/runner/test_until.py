"""--until: the design asks for the blocks, and ends the run."""

import json
import os
import random
import re
import signal
from types import SimpleNamespace

import completion_server
import pytest
from completion_server import serving
from eval_command import (
    command,
    done_blocks,
    error_of,
    hold_block,
    hold_first,
    model_args,
    read,
    run_apart,
    start,
    wait_for,
)
from until_command import CAPACITY, respond_by_capacity, until_arguments

from cogniload_analysis import AdaptiveDesign
from cogniload_analysis.display import figures as panels
from cogniload_gen.files.run_folder import Block
from lm_eval_tasks.lm_eval_private import read_task
from lm_eval_tasks.runner.search import Search, adaptive_task, read_until
from lm_eval_tasks.runner.store import Store
from lm_eval_tasks.task_names import yaml_of

BLOCK = ("--block_size", "24")
"""Blocks of 24, 24 and 16 puzzles: three a batch of 64."""

BUDGET, BLOCKS = 128, 6
GLOBAL_WINDOW = 32768
PLACE = ("d", "N", "rho", "index")


@pytest.fixture(scope="module", autouse=True)
def capacity():
    """The servers answer as a model with a capacity of 20 statements; forks inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion_server, "respond", respond_by_capacity)
        yield


@pytest.fixture
def server():
    with serving() as running:
        running.window = GLOBAL_WINDOW
        yield running


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A run that nothing disturbs: its folder, and what it said on both streams."""
    out = tmp_path_factory.mktemp("undisturbed")
    with serving() as server:
        server.window = GLOBAL_WINDOW
        code, said, err = command(*until_arguments(server, out, *BLOCK))
    assert code == 0, err
    return out, said, err


def copy_run(undisturbed, tmp_path, blocks="", digests=None):
    """A store with run.json and, by number, blocks and digests of the undisturbed run."""
    (tmp_path / "state").mkdir()
    named = rf"run\.json|block-0000[{blocks}-]\..*|digest-0000[{digests or blocks}-]\..*"
    for file in (undisturbed[0] / "state").iterdir():
        if re.fullmatch(named, file.name):
            (tmp_path / "state" / file.name).write_bytes(file.read_bytes())
    return Store(tmp_path / "state")


def places(out):
    return [tuple(sample["doc"][name] for name in PLACE) for sample in read(out)[1]]


def check_same(out, undisturbed):
    """The same puzzles in the same order, none twice, and the same estimate."""
    theirs = undisturbed[0]
    assert len(set(places(out))) == len(places(out)) == BUDGET
    assert read(out)[1] == read(theirs)[1]
    assert read(out)[0]["results"] == read(theirs)[0]["results"]


def test_it_ends_near_the_capacity_with_the_reason(undisturbed):
    _, said, err = undisturbed
    lines = [line for line in err.splitlines() if line.startswith("n ")]
    assert len(lines) == BLOCKS
    assert re.fullmatch(r"n 24, ECL50 [\d.<> ]+ \([\d.<> ]+ to [\d.<> ]+\), next 40", lines[0])
    assert lines[2].startswith("n 64, ") and lines[2].endswith(", next 64")
    assert lines[-1].endswith(f", the budget of {BUDGET} puzzles is spent")
    assert said.startswith(f"stopped after {BUDGET} puzzles: the budget of {BUDGET} puzzles is sp")
    (value,) = re.findall(r"^ECL50 ([\d.]+) \(", said, re.MULTILINE)
    assert CAPACITY / 1.5 < float(value) < CAPACITY * 1.5
    (of_the_table,) = re.findall(r"\|ECL50_crossing +\|. +\| +([\d.]+)\|", said)
    assert float(of_the_table) == pytest.approx(float(value), rel=0.01)


def test_its_puzzles_are_those_of_the_design(undisturbed):
    """A design of its own, which is told what the samples say, asks for the same, in order."""
    _, samples = read(undisturbed[0])
    answers = {
        place: s["acc"] == 1 for place, s in zip(places(undisturbed[0]), samples, strict=True)
    }
    design, asked = AdaptiveDesign(target=0.2, budget=BUDGET), []
    while not design.done:
        batch = design.ask()
        asked += map(tuple, batch)
        design.tell(batch, [answers[tuple(puzzle)] for puzzle in batch])
    assert asked == places(undisturbed[0])
    assert [sample["doc_id"] for sample in samples] == list(range(BUDGET))
    assert samples[0]["doc"]["id"].startswith("cogniload-v1-test-s42-")
    value = read(undisturbed[0])[0]["results"]["cogniload"]["ECL50_crossing,none"]
    assert value == pytest.approx(design.estimate().ECL50.value, rel=1e-6)


@pytest.mark.slow
def test_killed_at_random_moments_ends_as_undisturbed(server, tmp_path, undisturbed):
    """Each time some while after its design has asked for more, within a block or between two."""
    server.seconds, moments = 0.005, random.Random(7)  # noqa: S311
    command_line = until_arguments(server, tmp_path, *BLOCK)
    before = {}
    for _ in range(3):
        process, enough = start(*command_line), len(server.requests) + moments.randrange(10, 70)
        wait_for(lambda: len(server.requests) >= enough or not process.is_alive())  # noqa: B023
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        done = {file: file.read_bytes() for file in done_blocks(tmp_path)}
        assert done.items() >= before.items()  # none is lost or changed
        before = done
    assert before
    assert command(*command_line)[0] == 0
    check_same(tmp_path, undisturbed)
    assert not [*tmp_path.rglob("*.part")]


@pytest.mark.slow
def test_two_shards_at_once_are_one_design(server, tmp_path, undisturbed):
    server.together = SimpleNamespace(wait=lambda: wait_for(lambda: len(server.requests) > 1))
    processes = [
        start(*until_arguments(server, tmp_path, *BLOCK, "--shard", f"{shard}/2"))
        for shard in (1, 2)
    ]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(server.requests) == BUDGET
    told = [json.loads(file.read_bytes())["shard"] for file in tmp_path.rglob("digest-*.json")]
    assert set(told) == {"1/2", "2/2"}
    assert command("eval", "--merge", tmp_path)[0] == 0
    check_same(tmp_path, undisturbed)


@pytest.mark.slow
def test_a_shard_waits_for_another_and_takes_over_when_it_dies(server, tmp_path, undisturbed):
    """The first process holds block 1; the second does the batch's others, and then waits."""
    hold_first(server)
    process = start(*until_arguments(server, tmp_path, "--shard", "1/2", *BLOCK))
    wait_for(lambda: server.requests)
    os.kill(process.pid, signal.SIGSTOP)  # it keeps its block
    process_two = start(*until_arguments(server, tmp_path, "--shard", "2/2", *BLOCK))
    wait_for(lambda: len(done_blocks(tmp_path)) == 2)
    requests = len(server.requests)
    message = error_of(*until_arguments(server, tmp_path, *BLOCK))
    assert message == f"{tmp_path}: another process is evaluating block 1"
    assert ": 2 blocks are done, 40 puzzles (" in command("eval", "--status", tmp_path)[1]
    assert len(server.requests) == requests
    assert process_two.is_alive()
    process.kill()
    process_two.join()
    assert process_two.exitcode == 0
    assert command("eval", "--merge", tmp_path)[0] == 0
    check_same(tmp_path, undisturbed)


def test_blocks_that_come_back_out_of_order(server, tmp_path, undisturbed):
    """A batch of which the middle block is missing: that one alone is asked for again."""
    copy_run(undisturbed, tmp_path, "13", "1-6")
    code, out, _ = command("eval", "--status", tmp_path)
    assert code == 0
    assert f"{tmp_path}: 2 blocks are done, 40 puzzles (until ECL50 ±20 %)\nn 40, ECL50 " in out
    assert out.splitlines()[1].endswith(", next 24")
    assert out.splitlines()[-1] == "next: the same command again goes on"
    message = error_of("eval", "--merge", tmp_path)
    assert message.startswith(f"{tmp_path}: the design is not done (n 40, ECL50 ")
    code, _, err = command(*until_arguments(server, tmp_path, *BLOCK))
    assert code == 0
    assert "continuing: n 40, ECL50 " in err
    assert len(server.requests) == BUDGET - 40
    check_same(tmp_path, undisturbed)


def test_a_server_that_fails_and_status_meanwhile(server, tmp_path):
    server.healthy = 30
    code, _, err = command(*until_arguments(server, tmp_path, *BLOCK))
    assert code == 2
    assert "the engine is dead" in err.splitlines()[-1]
    assert len(done_blocks(tmp_path)) == 1
    begun = f"{tmp_path} was begun with arguments.until"
    message = error_of(*until_arguments(server, tmp_path, *BLOCK, goal="ECL50±25%"))
    assert message.startswith(f"{begun}.target 0.2, now 0.25: ")
    message = error_of(*until_arguments(server, tmp_path, *BLOCK, budget=200))
    assert message.startswith(f"{begun}.budget 128, now 200: ")
    plain = until_arguments(server, tmp_path, *BLOCK)
    at = plain.index("--until")
    few = ["--metadata", '{"cogniload": {"d": 1, "N": 5, "rho": 50, "num_puzzles": 1}}']
    message = error_of(*plain[:at], *plain[at + 4 :], *few)
    assert f"{tmp_path} was begun with " in message
    assert "arguments.until " in message


def test_a_complete_run_asks_nothing_and_merges_once(server, undisturbed):
    out, _, _ = undisturbed
    (results,) = out.rglob("results_*.json")
    for again in (until_arguments(server, out, *BLOCK), ["eval", "--merge", out]):
        code, now, _ = command(*again)
        assert (code, now.splitlines()[-1]) == (0, f"results  {results}")
    assert not server.requests
    _, status, _ = command("eval", "--status", out)
    assert status.splitlines()[-1] == f"next: cogniload eval --merge {out}"
    config = json.loads(results.read_bytes())["config"]
    given = {"goal": "ECL50", "target": 0.2, "budget": BUDGET}
    assert config["until"] == given | AdaptiveDesign().plan.fingerprint


def test_it_can_be_reported(undisturbed, tmp_path, monkeypatch):
    monkeypatch.setattr(panels, "save_figure", lambda *_: b"<svg />")
    assert command("report", undisturbed[0], "--out", tmp_path)[0] == 0
    assert ' id="adaptive-runs">' in (tmp_path / "report.html").read_text("utf-8")


def test_a_range_keeps_to_the_window_of_a_model(server, tmp_path):
    """The whole range would need 16K tokens, and is refused by a model that takes 8,192."""
    server.window = 8192
    whole = metadata(context_budget=8192)
    error = error_of(*until_arguments(server, tmp_path, *whole, budget=64))
    assert "-N400-" in error and "has 15676 prompt tokens" in error
    short = (*metadata(context_budget=4096), "--range", "2", "9")
    error = error_of(*until_arguments(server, tmp_path, *short, budget=64))
    assert "1 of 2 documents" in error and "-d10-N71-" in error
    some = (*whole, "--range", "10", "100")
    assert command(*until_arguments(server, tmp_path, *some, budget=64))[0] == 0
    results, samples = read(tmp_path)
    assert results["config"]["until"]["N"] == [10, 100]
    assert {sample["doc"]["N"] for sample in samples} >= {10, 100}
    assert all(10 <= sample["doc"]["N"] <= 100 for sample in samples)


def test_responses_that_a_limit_cut_are_told_as_cut(server, tmp_path):
    message = {"role": "assistant", "content": "Let me"}
    server.instead = {"choices": [{"index": 0, "message": message, "finish_reason": "length"}]}
    assert command(*until_arguments(server, tmp_path, budget=64))[0] == 0
    state = Store(tmp_path / "state")
    search = Search.of(state, state.begun())
    assert search.catch_up() == []
    assert len(search.design.told) == 64
    assert all(answer == (False, True) for answer in search.design.told.values())


@pytest.mark.parametrize(("task", "goal", "wanted"), [
    ("cogniload", "ECL50±20%", ("ECL50", 0.2)),
    ("cogniload", "ECL50+-12.5%", ("ECL50", 0.125)),
    ("cogniload", "ECL50 20%", ("ECL50", 0.2)),
    ("cogniload", " ECL50 +/- 20 % ", ("ECL50", 0.2)),
    ("cogniload", "ID50±1", ("ID50", 1.0)),
    ("cogniload", "ID50 +- 0.5", ("ID50", 0.5)),
    ("factor_symbolic_4k", "N_eff±20%", ("N_eff", 0.2)),
    ("factor_realistic_8k", "CDF +- 10%", ("CDF", 0.1)),
    ("factor_symbolic_0", "CDO 0.25", ("CDO", 0.25)),
])  # fmt: skip
def test_goals(task, goal, wanted):
    until = read_until([task], goal)
    assert (until["goal"], until["target"]) == wanted
    assert until["budget"] == 1500 or task != "cogniload"


FORMS = r"^until must be as ECL50±20% or ID50±1, got "


@pytest.mark.parametrize(("goal", "message"), [
    *((goal, FORMS) for goal in ("", "ECL50", "ECL50±20", "ID50±1%", "NT50±1", "ECL5020%")),
    *((goal, FORMS) for goal in ("ECL50±%", "ECL50±-2%", 5)),
    ("ECL50±0%", r"target must be a number above 0, got 0\.0"),
])  # fmt: skip
def test_goals_that_are_none(goal, message):
    with pytest.raises(ValueError, match=message):
        read_until("cogniload", goal)


@pytest.mark.parametrize("task", ["cogniload_twins", "cogniload_axes"])
def test_several_grids_and_puzzles_with_their_twins_are_fixed_designs(task):
    with pytest.raises(ValueError, match=f"no fixed design, got '{task}'"):
        read_until(task, "ECL50±20%")


def test_settings_of_no_design_are_refused():
    with pytest.raises(ValueError, match=r"^arguments\.until must be goal, .*, got \{'by': 1\}$"):
        adaptive_task("cogniload").design({"by": 1})


def metadata(**parameters):
    return ["--metadata", json.dumps({"cogniload": parameters})]


@pytest.mark.parametrize(("others", "message"), [
    (["--tasks", "cogniload_lite"], "--until takes one task, got cogniload, cogniload_lite"),
    (["--limit", "3"], "--limit is refused: with --until the design says what is evaluated"),
    (["--samples", '{"cogniload": [1]}'], "--samples is refused: with --until the design "),
    (["--until", "ECL50"], "until must be as ECL50±20% or ID50±1, got 'ECL50'"),
    (["--range", "10", "30"], "range must be the least and the most N, from 1 to 1000000, "),
    (["--budget", "10"], "budget must be an integer from 64 to 1000000, got 10"),
    (metadata(d=3), "cogniload metadata takes seed, context_budget, twin, language; got 'd'"),
    (metadata(path="x"), "path is refused: "),
    (["--metadata", '{"cogniload": 3}'], "cogniload metadata must be an object, got 3"),
    (metadata(context_budget=2048), "do not fit"),
])  # fmt: skip
def test_refusals(server, tmp_path, others, message):
    assert message in error_of(*until_arguments(server, tmp_path), *others)
    assert not server.requests
    assert not done_blocks(tmp_path)


def test_a_budget_without_a_goal_and_a_merge_of_two_folders_are_refused(
    server, undisturbed, tmp_path
):
    given = until_arguments(server, tmp_path)
    at = given.index("--until")
    message = error_of(*given[:at], *given[at + 2 :])
    assert message == "budget is of a run with --until, which is not given"
    copy_run(undisturbed, tmp_path)
    message = error_of("eval", "--merge", undisturbed[0], tmp_path, "--output_path", tmp_path)
    assert message == "--merge takes one folder of a run with --until: its shards share it"


@pytest.mark.parametrize("by_model", [False, True])
def test_the_seed_and_the_budget_of_tokens_may_be_set(server, tmp_path, by_model):
    """In --metadata or, as lm-eval mixes them, in --model_args; one block has a single puzzle."""
    own = {"seed": 7, "context_budget": 30000}
    others = ["--model_args", model_args(server, cogniload=own)] if by_model else metadata(**own)
    blocks = ("--block_size", "63")
    assert command(*until_arguments(server, tmp_path, *others, *blocks, budget=64))[0] == 0
    documents = [sample["doc"] for sample in read(tmp_path)[1]]
    assert len(documents) == 64
    assert {(doc["seed"], doc["context_budget"]) for doc in documents} == {(7, 30000)}


@pytest.mark.parametrize("task", ["cogniload", "cogniload_mini"])
def test_a_task_keeps_its_own_settings(task):
    until = {"goal": "ECL50", "target": 0.2, "budget": 64}
    adaptive, own = adaptive_task(task), read_task(yaml_of(task))
    designed = adaptive.configure(adaptive.design(until))
    assert designed["generation_kwargs"] == own["generation_kwargs"]
    changed = {name for name in designed | own if designed.get(name) != own.get(name)}
    assert changed == {"dataset_kwargs", "process_results", "metric_list"}
    assert {"ECL50_crossing"} < {metric["metric"] for metric in designed["metric_list"]}


def test_a_shard_says_once_which_blocks_it_waits_for(undisturbed, tmp_path, monkeypatch):
    """Block 2 is another's and the batch's others are done: one line, and then it is taken.

    What the other process left of it is removed.
    """
    store, lines, naps = copy_run(undisturbed, tmp_path, "13", "1-6"), [], []
    holder = run_apart(hold_block, store.folder, Block(2, "cogniload", (0,)))
    wait_for((store.folder / "held").exists)
    (store.folder / ".block-00002.jsonl.0.part").touch()

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 2:
            holder.kill()
            holder.join()

    with store.hold([]) as lock, monkeypatch.context() as patch:
        patch.setattr("lm_eval_tasks.runner.search.time", SimpleNamespace(sleep=nap))
        taken = Search.of(store, store.begun()).take_block(lock, lines.append, wait=True)
    assert taken.number == len(naps) == 2
    assert lines == ["waiting for the other shards' blocks: 2"]
    assert not [*store.folder.glob("*.part")]


def test_a_block_that_another_does_before_it_is_locked_is_not_taken(undisturbed, tmp_path):
    store = copy_run(undisturbed, tmp_path)

    class LockAfterAnother:
        """The other process writes block 1 and lets go of it just before this one takes it."""

        def take(self, number):
            for file in (undisturbed[0] / "state").glob("*-00001.*"):
                (store.folder / file.name).write_bytes(file.read_bytes())
            return True

    search = Search.of(store, store.begun())
    assert search.take_block(LockAfterAnother(), print, wait=False).number == 2


@pytest.mark.parametrize(("part", "now"), [("design", "3"), ("prior", "[0-9a-f]{16}")])
def test_a_run_of_another_design_is_refused(server, undisturbed, tmp_path, part, now):
    described = copy_run(undisturbed, tmp_path).run
    run = json.loads(described.read_bytes())
    run["versions"][part] = "an older one"
    described.write_text(json.dumps(run))
    begun = rf"{tmp_path} was begun with versions.{part} 'an older one', now '{now}'"
    assert re.match(begun, error_of(*until_arguments(server, tmp_path, *BLOCK)))
    for asked in ("--status", "--merge"):
        assert re.match(begun, error_of("eval", asked, tmp_path))
    assert not server.requests

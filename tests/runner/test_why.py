"""`cogniload why` and `cogniload twins`: which twins are chosen, and how they are answered."""

import gzip
import html
import json
import re
import shlex
import shutil
import signal

import pyarrow.parquet as pq
import pytest
from completion_server import serving
from eval_command import (
    answer_only,
    arguments,
    command,
    done_blocks,
    model_args,
    read,
    start,
    start_killed,
    wait_for,
)

from cogniload_analysis import explain_failures, read_samples
from cogniload_gen import generate_factor, generate_puzzles, solve
from cogniload_gen.commands import main
from cogniload_gen.parser import Parser
from lm_eval_tasks.lm_eval_private import run_parser
from lm_eval_tasks.recorded import recorded_arguments
from lm_eval_tasks.twins import make_twins

PUZZLES = {"d": [1, 3], "N": [5, 20], "rho": [10, 50], "num_puzzles": 8}
SAMPLING = ["--gen_kwargs", json.dumps({"temperature": 0.7, "do_sample": True})]


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """The folder of a run with sampling."""
    out = tmp_path_factory.mktemp("sampled")
    with serving() as server:
        assert command(*arguments(server, out, *SAMPLING, puzzles=PUZZLES))[0] == 0
    return out


@pytest.fixture
def run_of(server, tmp_path):
    """Return the folder of a run, with more arguments."""

    def run(*others):
        assert command(*arguments(server, tmp_path / "run", *others, puzzles=PUZZLES))[0] == 0
        return tmp_path / "run"

    return run


def by_base(ids):
    """The changes of each puzzle."""
    changes = {}
    for id in ids:
        base, _, change = id.partition("~")
        changes.setdefault(base, []).append(change)
    return changes


def write(folder, samples, name="cogniload_mini_2026"):
    file = folder / f"samples_{name}.jsonl"
    file.write_text("\n".join(map(json.dumps, samples)), "utf-8")
    return file


def test_failures_and_as_many_solved_puzzles_get_twins(sampled):
    run = sampled
    right = {sample["doc"]["id"]: sample["acc"] for sample in read(run)[1]}
    table = make_twins(run, 60, 1).table
    chosen = by_base(table["id"].to_pylist())
    assert [right[id] for id in chosen].count(1) == [right[id] for id in chosen].count(0) == 5
    for changes in chosen.values():
        assert {change.partition("=")[0] for change in changes} == {
            "again", "needles", "hay", "tail", "from", "only",
        }  # fmt: skip
    assert all(solve(row["puzzle"]) == row["answer"] for row in table.to_pylist())
    cells = {tuple(row[name] for name in ("d", "N", "rho")) for row in table.to_pylist()}
    assert len(cells) > 4
    assert make_twins(run, 60, 1).table == table != make_twins(run, 50, 2).table


def test_the_runs_own_model_and_decoding_answer_and_are_asked_once(run_of, server, tmp_path):
    run = run_of(*SAMPLING)
    server.requests.clear()
    code, out, err = command("why", run, "--budget", "60")
    assert code == 0, err
    assert 2 <= len(out.splitlines()) <= 5
    assert len(server.requests) == 60
    assert {request["temperature"] for request in server.requests} == {0.7}
    assert {request["model"] for request in server.requests} == {"solver"}
    twins = pq.read_table(run / "why/puzzles/twins.parquet").to_pylist()
    prompts = {request["messages"][0]["content"] for request in server.requests}
    assert prompts == {row["puzzle"] for row in twins}
    # the server repeats itself, so that no failure is luck
    assert "0 are solved when simply tried again" in out
    assert command("why", run, "--budget", "60")[:2] == (0, out)
    report, alone = tmp_path / "report", tmp_path / "alone"
    assert command("report", run, "--out", report)[0] == 0
    page = (report / "report.html").read_text("utf-8")
    assert all(html.escape(line, quote=False) in html.unescape(page) for line in out.splitlines())
    failed, solved = re.findall(r'id="why-1-response-\d">.*?<code>(.*?)</code>', page, re.DOTALL)
    files = run.rglob("samples_*.jsonl")
    samples = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    right = {sample["doc"]["id"]: sample["acc"] for sample in samples}
    assert (right[failed], right[solved]) == (0, 1)
    assert solved.startswith(f"{failed}~")
    table = (report / "tables/why.csv").read_text("utf-8")
    assert "needles" in table
    assert "tail" in table
    # the twins are no part of any other number
    (run / "why").rename(tmp_path / "elsewhere")
    assert command("report", run, "--out", alone)[0] == 0
    assert "Why it fails" not in (alone / "report.html").read_text("utf-8")
    for file in (alone / "tables").glob("*.csv"):
        if file.stem != "runs":
            assert file.read_bytes() == (report / "tables" / file.name).read_bytes(), file.name
    (tmp_path / "elsewhere").rename(run / "why")
    assert len(server.requests) == 60
    code, _, err = command("why", run, "--budget", "40")
    assert code == 2
    assert "other twins" in err


def test_published_results_are_explained_without_the_runs_state(sampled, server, tmp_path):
    """Compressed samples beside results that don't name the template of a server."""
    run = shutil.copytree(sampled, tmp_path / "run", ignore=shutil.ignore_patterns("state"))
    (plain,) = run.rglob("samples_*.jsonl")
    packed = plain.with_name(f"{plain.name}.gz")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    twins = make_twins(run, 10, 0)
    plain.unlink()
    packed_twins = make_twins(run, 10, 0)
    assert packed_twins.table == twins.table
    assert packed_twins.scored == twins.scored == plain.with_name(f"{plain.stem}-1.jsonl")
    code, out, err = command("why", run, "--budget", "10", "--model_args", model_args(server))
    assert (code, len(server.requests)) == (0, 10), err
    assert "tried again" in out


@pytest.mark.parametrize("greedy", [{"temperature": 0}, {"do_sample": False}])
def test_greedy_decoding_has_no_second_attempt(sampled, tmp_path, greedy):
    """And each changes the statement of the first wrong step, where that is known."""
    samples = read(sampled)[1]
    for sample in samples:
        sample["arguments"]["gen_args_0"]["arg_1"] = greedy
        sample["steps_read"] = {"first_error": 5}
    ids = make_twins(write(tmp_path, samples), 40, 0).table["id"].to_pylist()
    changes = {id.partition("~")[2] for id in ids}
    assert {change for change in changes if change.startswith("only")} == {"only=5"}
    assert "needles" in changes
    assert not {"again", "hay=0"} & changes


@pytest.mark.parametrize("steps", [[5], {"first_error": "5"}, {"first_error": True}])
def test_a_first_error_that_is_no_number_is_none(tmp_path, steps):
    sample = {"doc": generate_puzzles(1, 9, 50, num_puzzles=1).to_pylist()[0], "acc": 0}
    wanted = make_twins(write(tmp_path, [sample]), 40, 0).table
    assert make_twins(write(tmp_path, [sample | {"steps_read": steps}]), 40, 0).table == wanted


def test_first_samples_and_the_budget_choose_the_puzzles(tmp_path):
    """Failures fill what solved puzzles leave; a later attempt and twins choose none."""
    rows = generate_factor("symbolic", N=5, num_puzzles=5).to_pylist()
    twins = generate_factor("symbolic", N=5, num_puzzles=5, twin="order=solved").to_pylist()
    write(tmp_path, [{"doc": row, "acc": row is rows[0]} for row in rows[:4]])
    write(tmp_path, [{"doc": row, "acc": row is not rows[0]} for row in rows + twins], "x_2027")
    with pytest.raises(ValueError, match=r"one task, got .*/cogniload_mini, .*/x: name a"):
        make_twins(tmp_path, 12, 0)
    (tmp_path / "samples_x_2027.jsonl").rename(tmp_path / "samples_cogniload_mini_2027.jsonl")
    for budget, failed, solved in ((15, 3, 2), (12, 2, 2), (11, 1, 1), (4, 1, 1)):
        made = make_twins(tmp_path, budget, 0).table["id"].to_pylist()
        chosen = {id.partition("~")[0] for id in made}
        right = [row["id"] in chosen for row in (rows[0], rows[4])]
        assert (len(chosen) - sum(right), sum(right)) == (failed, solved), budget
        assert len(made) == min(budget, 3 * len(chosen))
    with pytest.raises(ValueError, match="budget must be at least 3, the twins of one puzzle"):
        make_twins(tmp_path, 2, 0)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_twins_are_written_for_others_and_their_responses_belong_to_the_run(
    sampled, tmp_path, suffix, capsys
):
    file = tmp_path / f"twins.{suffix}"
    run = shutil.copytree(sampled, tmp_path / "run")
    assert main(["twins", str(run), "--out", str(file), "--budget", "16"]) == 0
    printed = shlex.split(capsys.readouterr().out.splitlines()[-1])
    rows = (
        [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        if suffix == "jsonl"
        else pq.read_table(file).to_pylist()
    )
    answers = tmp_path / "responses.jsonl"
    lines = [
        json.dumps({"id": row["id"], "response": f"{row['poi']}: {row['answer']}"}) for row in rows
    ]
    answers.write_text("\n".join(lines), "utf-8")
    score = [str(answers) if word == "RESPONSES" else word for word in printed[1:]]
    code, out, err = command(*score)
    assert code == 0, err
    assert out.startswith(f"{len(rows)} responses")
    frame = read_samples(run)
    assert frame.groupby("model", observed=True).ngroups == frame["setting"].nunique() == 1
    assert len(explain_failures(frame).effects)
    assert command("twins", sampled, "--out", file)[0] == 2  # it exists


def test_what_can_not_be_explained_is_refused_in_a_line(sampled, tmp_path):
    def rename(sample, name="puzzle"):
        sample["doc"][name] = "Please: " + sample["doc"][name]

    for broken, words in [
        (rename, "not what this version makes"),
        (lambda sample: rename(sample, "id"), "not what this version makes"),
        (lambda sample: sample.update(acc=1), "no failure"),
    ]:
        samples = read(sampled)[1][:6]
        for sample in samples:
            sample["acc"] = 0
            broken(sample)
        code, _, err = command("twins", write(tmp_path, samples), "--out", tmp_path / "t.jsonl")
        assert (code, words in err, err.count("\n")) == (2, True, 1), err
    assert command("why", tmp_path / "nowhere")[0] == 2


@pytest.mark.parametrize(("name", "value", "says"), [
    ("trust_remote_code", True, "names a model that brings code"),
    ("base_url", "http://127.0.0.1:80@evil.example/v1", "names a server elsewhere"),
    ("allow_all_kernels", True, "names a model that brings code"),
    ("attn_implementation", "evil/kernel", "names a model that brings code"),
    ("base_url", "http://127.0.0.1.evil.example/v1", "names a server elsewhere"),
    ("base_url", "http:\t//evil.example/v1", "names a server elsewhere"),
    ("other", "x,base_url=https://evil.example", "names a server elsewhere"),
])  # fmt: skip
def test_no_code_and_no_server_elsewhere_is_taken_from_a_folder(run_of, server, name, value, says):
    run = run_of("--limit", "8")
    state = run / "state/run.json"
    begun = json.loads(state.read_text("utf-8"))
    begun["recorded"]["arguments"]["model_args"][name] = value
    state.write_text(json.dumps(begun), "utf-8")
    code, _, err = command("why", run)
    assert (code, says in err) == (2, True)
    given = ["--model_args", model_args(server)]
    assert command("why", run, "--budget", "10", *given)[0] == 0


def test_nothing_that_a_folder_recorded_becomes_an_option(run_of):
    """Such as --include_path, below which the code of tasks is imported."""
    run, evil = run_of("--limit", "8"), "--include_path=evil"
    state = run / "state/run.json"
    begun = json.loads(state.read_text("utf-8"))
    begun["arguments"] |= {"apply_chat_template": evil, "system_instruction": evil}
    state.write_text(json.dumps(begun), "utf-8")
    read = run_parser(Parser, "why").parse_args(recorded_arguments(run, []))
    assert read.include_path is None
    assert read.apply_chat_template == read.system_instruction == evil


def test_a_task_that_is_a_file_is_not_run(run_of, monkeypatch):
    run = run_of("--limit", "8")
    (file,) = run.rglob("samples_*")
    file.rename(file.with_name("samples_cogniload_mini, evil.yaml_2026-11-24T15-02-22.jsonl"))
    monkeypatch.chdir(run)
    (run / "evil.yaml").write_text("task: evil\ncustom_dataset: !function evil.f\n", "utf-8")
    (run / "evil.py").write_text("raise SystemExit", "utf-8")
    assert "'evil.yaml' is a file of the run's own" in command("why", run)[2]


@pytest.mark.parametrize("content", ["[]", "3", "{", "[" * 10**5, '{"config": [1]}',
    '{"config": {"model": 3}}', '{"config": {"model": "dummy", "seed": 3}}'])  # fmt: skip
def test_results_that_name_no_model_are_one_line(sampled, tmp_path, content):
    for file in sampled.rglob("samples_*"):
        shutil.copy(file, tmp_path)
    (tmp_path / "results_2026.json").write_text(content, "utf-8")
    code, _, err = command("why", tmp_path, "--budget", "4", "--shard", "0/0")
    assert (code, "Traceback" in err) == (2, False)


@pytest.mark.parametrize("place", ["why", "why/puzzles", "why/answers", "why/answers/state"])
def test_a_link_leads_no_answer_out_of_the_folder(sampled, tmp_path, place):
    shutil.copytree(sampled, tmp_path / "run")
    (tmp_path / "victim").mkdir()
    (tmp_path / "run" / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "run" / place).symlink_to(tmp_path / "victim")
    code, _, err = command("why", tmp_path / "run", "--budget", "10")
    assert (code, f"{place} is a link" in err) == (2, True), err
    assert not [*(tmp_path / "victim").iterdir()]


@pytest.mark.parametrize(("suite", "loads"), [("realistic", {"op": 2}), ("symbolic", {"N": 5})])
def test_puzzles_of_factor_have_twins(tmp_path, suite, loads):
    rows = generate_factor(suite, num_puzzles=4, **loads).to_pylist()
    samples = [{"doc": row, "acc": number % 2} for number, row in enumerate(rows)]
    twins = by_base(make_twins(write(tmp_path, samples), 40, 0).table["id"].to_pylist())
    assert twins.keys() == {row["id"] for row in rows}
    changes = {"again", "context=0", "order=solved"}
    changes |= {"needed"} if suite == "realistic" else set()
    assert all({*mine} == changes for mine in twins.values())


BUDGET, BLOCK = 12, 3

WRITTEN = [
    ("open", ".twins.parquet."), ("os.link", ".twins.parquet."), ("os.remove", ".twins.parquet."),
    ("os.link", ".run.json."), 1, ("os.rename", ".digest-"), ("os.link", ".block-"),
    ("os.remove", ".block-"),
]  # fmt: skip
"""Moments, each before an event of a file, or after a number of requests."""

MERGED = [("os.rename", ".samples_"), ("os.link", ".results_")]


@pytest.mark.slow
def test_killed_at_ten_moments_in_shards_every_twin_is_answered_once(sampled, server, tmp_path):
    """Eight kills of the one shard or the other, a block half answered, then both shards at once.

    And two kills as the results are written. The samples are those of an undisturbed command.
    """
    options = ["--budget", BUDGET, "--block_size", BLOCK, "--model_args", model_args(server)]

    def why(out, *others):
        return ["why", sampled, "--out", tmp_path / out, *options, *others]

    def kill_at(moment, *others):
        earlier = len(server.requests)
        if isinstance(moment, int):
            answer_only(server, moment)
            process = start(*why("killed", *others))
            wait_for(lambda: len(server.requests) > earlier + moment)
            process.kill()
        else:
            process = start_killed(*moment, *why("killed", *others))
        process.join()
        server.together = None
        assert process.exitcode == -signal.SIGKILL, moment

    code, verdict, err = command(*why("undisturbed"))
    assert code == 0, err
    twins = pq.read_table(tmp_path / "undisturbed/puzzles/twins.parquet")["id"].to_pylist()
    answers = read(tmp_path / "undisturbed/answers")[1]
    assert sorted(sample["doc"]["id"] for sample in answers) == sorted({*twins})
    folder, before = tmp_path / "killed", {}
    for place, moment in enumerate(WRITTEN):
        kill_at(moment, "--shard", f"{1 + place % 2}/2")
        done = {file: file.read_bytes() for file in done_blocks(folder / "answers")}
        assert done.items() >= before.items()
        before = done
    assert len(before) == 1
    assert [*folder.rglob("*.part")]
    server.healthy = len(server.requests) + BLOCK + 1  # a block, and one twin of the next
    assert command(*why("killed"))[0] == 2
    assert len(done_blocks(folder / "answers")) == 2
    server.healthy, earlier = 10**9, len(server.requests)
    processes = [start(*why("killed", "--shard", f"{shard}/2")) for shard in (1, 2)]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(server.requests) == earlier + BUDGET - 2 * BLOCK
    for moment in MERGED:
        kill_at(moment)
    assert command(*why("killed"))[:2] == (0, verdict)
    assert read(folder / "answers")[1] == answers
    assert len(server.requests) == earlier + BUDGET - 2 * BLOCK
    assert not [*tmp_path.rglob("*.part")]

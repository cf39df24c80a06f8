"""Links, pipes and folders that stand where a command reads or writes a file: none is followed.

No test leads a link out of its own folder, as what a link leads to might be replaced.
"""

import io
import json
import os
import shutil
import stat
from contextlib import chdir
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from harness import random_state_put_back

from cogniload_gen import generate_puzzles
from cogniload_gen.commands import main
from cogniload_gen.files.whole import make_inner_folder, open_to_append
from lm_eval_tasks import demo
from lm_eval_tasks.demo import MODEL
from lm_eval_tasks.runner.store import Store

GRID = ["--d", "1", "--N", "3", "--rho", "50", "--num-puzzles", "3"]
FIRST = "test-00000-of-00001.parquet"
NAME = "cogniload-v1-d1-N3-rho50-num_puzzles3-seed42"
SAMPLES = "model/samples_any_2026-11-22T08-00-00.jsonl"
RETRIEVE = ["retrieve", "--suite", "realistic", "--op", "2", "--num-puzzles", "1"]
RETRIEVE += ["--retriever", "random", "--budget", "500"]
EVALUATE = ["eval", "--tasks", "cogniload_mini", "--model", "dummy", "--limit", "1"]
EVALUATE += ["--metadata", '{"cogniload": {"d": 1, "N": 5, "rho": 50, "num_puzzles": 1}}']
RACE = "compare one two --until one>two --out race --budget 1 --block_size 1"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    """A folder with all that the commands read, as our own commands write it."""
    folder = tmp_path_factory.mktemp("prepared")
    with chdir(folder):
        for out in ("puzzles.parquet", "puzzles.jsonl", "out/"):
            assert main(["generate", out, *GRID]) == 0
        assert main(["generate", "part/", *GRID, "--rows-per-file", "2", "--shard", "1/2"]) == 0
        assert main(["push", "me/puzzles", *GRID, "--dry-run", "pushed"]) == 0
        rows = pq.read_table("puzzles.parquet").to_pylist()
        for name, said in (("responses", "It is {}."), ("others", "I can't tell.")):
            lines = [{"id": row["id"], "response": said.format(row["answer"])} for row in rows]
            Path(f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
        for responses, out in (("responses", SAMPLES), ("others", SAMPLES.replace("model", "b"))):
            table = f"{responses}.jsonl"
            assert main(["score", "--dataset", "puzzles.jsonl", table, "--out", out]) == 0
        write_release(folder / "release")
        with random_state_put_back():
            assert main([*EVALUATE, "--output_path", "one"]) == 0
        shutil.copytree("one", "two")
    return folder


def write_release(folder: Path) -> None:
    (row,) = generate_puzzles(3, 5, 50, num_puzzles=1).to_pylist()
    facts = {"poi": row["poi"], "num_statements": 5, "difficulty": 3, "people": row["people"]}
    state = facts | {"category_defaults": {row["category"]: row["options"]}}
    name = f"5_3_{row['needles']}_1_{row['answer']}"
    files = {f"exp/{name}.txt": row["puzzle"], f"meta/{name}_state.json": json.dumps(state)}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text)


@pytest.fixture
def folder(prepared, tmp_path, monkeypatch) -> Path:
    """A copy of `prepared`, which is the working directory."""
    shutil.copytree(prepared, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").write_text("mine")
    return tmp_path


def write_as_lm_eval(model: Path, out: Path) -> None:
    """Stand in for the demo's evaluation, which takes minutes."""
    (out / MODEL).mkdir(exist_ok=True)
    shutil.copy(SAMPLES, out / MODEL / f"samples_{demo.TASK}_2026-11-22T08-00-00.jsonl")
    (out / MODEL / "results_2026-11-22T08-00-00.json").write_text("{}", "utf-8")


def plant(path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    victim = Path.cwd().parent / "victim"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # whose bytes never end
        except PermissionError:
            pytest.skip("this user can't make devices")
    elif kind == "folder":
        path.mkdir()
    else:
        targets = {"link": victim / "file", "dangling": victim / "new", "inner": victim}
        path.symlink_to(targets.get(kind, path))


WRITES = [
    ("generate a.parquet --force", "a.parquet"),
    ("generate a.jsonl --force", "a.jsonl"),
    ("generate new/", f"new/{FIRST}"),
    ("generate new/", "new/manifest.json"),
    ("generate part/ --rows-per-file 2", "part/test-00001-of-00002.parquet"),
    ("generate part/ --rows-per-file 2", "part/.digests"),
    ("generate part/ --rows-per-file 2", "part/.digests/test-00001-of-00002.parquet.json"),
    ("push me/puzzles --dry-run again", "again"),
    (f"score {SAMPLES} --out again.jsonl --force", "again.jsonl"),
    ("score --dataset puzzles.parquet responses.jsonl --out b.jsonl --force", "b.jsonl"),
    (f"steps {SAMPLES} --out steps.jsonl --force", "steps.jsonl"),
    ("import release --out c.parquet --force", "c.parquet"),
    (f"{' '.join(RETRIEVE)} --out d.csv --force", "d.csv"),
    (f"report {SAMPLES} --out report --force", "report/report.html"),
    (f"report {SAMPLES} --out report --force", "report/tables"),
    ("compare model b --out compared --force", "compared/comparison.csv"),
    ("share model --out shared --to every-eval-ever --force", "shared/data"),
    ("share model --out shared --to every-eval-ever --force", "shared/data/cogniload"),
    ("share model --out shared --to hub --dataset a/b --force", "shared/.eval_results"),
    ("leaderboard model --out site --force", "site/reports"),
    ("leaderboard model --out site --force", "site/reports/01_model/tables"),
    ("leaderboard model --out site --force", "site/index.html"),
    ("twins b --budget 8 --out twins.jsonl --force", "twins.jsonl"),
    ("twins b --budget 8 --out new/twins.jsonl --force", "new"),
    (f"score {SAMPLES} --out new/again.jsonl --force", "new"),
    (f"steps {SAMPLES} --out new/steps.jsonl --force", "new/steps.jsonl"),
    ("play --out human", "human"),
    ("demo", "demo"),
    ("demo", "demo/models"),
    ("demo", f"demo/models/{MODEL}"),
    ("demo", f"demo/{MODEL}"),
    ("demo", "demo/report"),
    ("view model --no_open --out logs", "logs"),
    ("view model --no_open --out logs --bundle site", "site"),
    (RACE, "race"),
    (RACE, "race/one"),
    (RACE, "race/two/state"),
]


def complete(command: str) -> list[str]:
    """Return a command's words, with the puzzles where it makes some."""
    words = command.split()
    return words + GRID * (words[0] in ("generate", "push", "play"))


@pytest.mark.parametrize(
    "kind", ["", "link", "dangling", "itself", "inner", "pipe", "device", "folder"]
)
@pytest.mark.parametrize(("command", "place"), WRITES)
def test_what_is_planted_leads_no_command_out_of_its_folder(
    folder, monkeypatch, capsys, command, place, kind
):
    """A link is replaced or refused, and what is no file is left as it is."""
    monkeypatch.setattr("sys.stdin", io.StringIO("blue\n"))
    monkeypatch.setattr(demo, "evaluate", write_as_lm_eval)
    path = Path(place)
    if kind:
        plant(path, kind)
        planted = path.lstat()
    with random_state_put_back():
        code = main(complete(command))
    shown = capsys.readouterr().err.splitlines()
    assert [*(folder / "victim").iterdir()] == [folder / "victim" / "file"]
    assert (folder / "victim" / "file").read_text() == "mine"
    assert len([line for line in shown if "error: " in line]) == bool(code)
    if code:
        assert (code, bool(kind)) == (2, True)
        assert os.path.samestat(path.lstat(), planted)
    else:
        assert not path.is_symlink()
    assert not [*Path().rglob("*.part")]


def test_an_evaluation_s_state_follows_no_link(folder):
    plant(Path("run/state"), "inner")
    with pytest.raises(FileExistsError, match="run/state is a link"):
        Store(Path("run/state")).hold([]).__enter__()
    for kind in ("link", "dangling", "itself", "pipe", "folder"):
        plant(Path("run/lock"), kind)
        with pytest.raises(FileExistsError, match="run/lock is a"):
            open_to_append(Path("run/lock"))
    make_inner_folder(Path("run/deep/er"))
    with open_to_append(Path("run/deep/er/file")) as file:
        file.write(b"x")


READS = [
    ("solve odd.txt", "odd.txt"),
    ("score odd.jsonl", "odd.jsonl"),
    ("steps odd.jsonl", "odd.jsonl"),
    ("overlap odd.txt", "odd.txt"),
    ("overlap odd.jsonl", "odd.jsonl"),
    ("overlap odd.parquet", "odd.parquet"),
    ("retrieve odd.jsonl", "odd.jsonl"),
    ("retrieve odd.parquet", "odd.parquet"),
    ("score --dataset odd.jsonl responses.jsonl", "odd.jsonl"),
    ("score --dataset odd.parquet responses.jsonl", "odd.parquet"),
    ("score --dataset split responses.jsonl", "split/odd.parquet"),
    ("score --dataset puzzles.jsonl odd.parquet", "odd.parquet"),
    ("score --dataset puzzles.jsonl odd.jsonl", "odd.jsonl"),
    ("score --dataset puzzles.jsonl odd.csv", "odd.csv"),
    ("score --dataset puzzles.jsonl tables", "tables/odd.csv"),
    ("verify pushed", "pushed/README.md"),
    ("verify pushed", f"pushed/{NAME}/{FIRST}"),
    ("verify out", "out/manifest.json"),
    ("verify out", f"out/{FIRST}"),
    ("generate out/", "out/manifest.json"),
    ("generate out/", f"out/{FIRST}"),
    ("import release --out new.jsonl", "release/exp"),
    ("report odd.jsonl --out new", "odd.jsonl"),
    ("report runs --out new", "runs/samples_any_2026-11-22T08-00-00.jsonl"),
    ("compare model odd.jsonl", "odd.jsonl"),
    ("view odd.jsonl --no-open", "odd.jsonl"),
    ("twins odd.jsonl --out new.jsonl", "odd.jsonl"),
    ("share odd.jsonl --out new --to every-eval-ever", "odd.jsonl"),
    ("leaderboard odd.jsonl --out new", "odd.jsonl"),
    ("why runs", "runs/results_2026.json"),
    ("why runs", "runs/state/run.json"),
    ("eval --config odd.yaml", "odd.yaml"),
    ("eval --merge runs", "runs/state/run.json"),
    ("eval --status runs", "runs/state/run.json"),
    ("play --out runs", "runs/samples_cogniload_2026-11-22T08-00-00.jsonl"),
    ("score --release release answers", "release/meta"),
    ("score --release release answers", "answers"),
]


MALFORMED = [
    ("twins model --out new.jsonl", {"arguments": [1]}),
    ("twins model --out new.jsonl", {"doc": {"index": []}}),
    ("twins model --out new.jsonl", {"doc": {"index": float("inf")}}),
    ("share model --out new --to every-eval-ever", {"doc": {"puzzle": None}}),
    ("play --out model", {"doc": [1]}),
]


@pytest.mark.parametrize(("command", "changes"), MALFORMED)
def test_a_malformed_sample_is_one_line(folder, capsys, command, changes):
    lines = Path(SAMPLES).read_text("utf-8").splitlines()
    samples = [json.loads(line) | {"acc": 0, "outcome": "wrong_other"} for line in lines]
    doc = changes.get("doc")
    whole = {"doc": samples[0]["doc"] | doc} if isinstance(doc, dict) else {}
    samples[0] |= changes | whole
    Path(SAMPLES).write_text("\n".join(map(json.dumps, samples)) + "\n", "utf-8")
    assert main(complete(command)) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_metrics_that_are_no_names_are_scored_anew(folder):
    for metrics in (3, [[]]):
        sample = json.loads(Path(SAMPLES).read_text("utf-8").splitlines()[0])
        Path("odd.jsonl").write_text(json.dumps(sample | {"metrics": metrics}) + "\n", "utf-8")
        assert main(["score", "odd.jsonl", "--out", "new.jsonl", "--force"]) == 0
        assert "acc" in json.loads(Path("new.jsonl").read_text("utf-8"))["metrics"]


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "dangling", "itself"])
@pytest.mark.parametrize(("command", "place"), READS)
def test_what_is_no_file_is_not_waited_for(folder, capsys, command, place, kind):
    """It is named in a line; `verify` calls a folder of files damaged."""
    path = Path(place)
    plant(path, kind)
    words = complete(command) + GRID * command.startswith("overlap")
    code = main(words)
    shown = capsys.readouterr()
    lines = (shown.out if code == 1 else shown.err).splitlines()
    assert code == (1 if command.startswith("verify out") else 2), lines
    assert any(path.name in line or path.parts[0] in line for line in lines)
    assert len(shown.err.splitlines()) == (code == 2)
    assert stat.S_ISREG(path.lstat().st_mode) is False

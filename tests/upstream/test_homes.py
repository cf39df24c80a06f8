"""What `make upstream` writes does what each project asks for, in the versions installed here."""

import ast
import json
import re
import shutil
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random

import lm_eval
import pytest
from command_line import run
from inspect_evals.metadata import ExternalEvalMetadata, _load_single_eval_yaml
from register_tooling.source_url import parse_source_url
from register_tooling.task_resolver import resolve_task
from source_tree import ROOT

from cogniload_gen import generate_puzzles, score
from cogniload_gen.hub import push
from cogniload_gen.rewards import answer_score


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    out = tmp_path_factory.mktemp("homes") / "upstream"
    options = ["--repository", "https://github.com/a/b", "--dataset", "me/puzzles"]
    said = run(sys.executable, "upstream/write.py", out, *options, cwd=ROOT)
    assert said.startswith(f"{out}: ")
    return out


@pytest.fixture(scope="module")
def harness(homes, tmp_path_factory):
    """An installed lm-eval whose tree has our folder, and a small split for the Hub's."""
    folder = tmp_path_factory.mktemp("harness")
    installed = Path(lm_eval.__file__).parent

    def other_tasks(where, names):
        inner = [name for name in names if (Path(where) / name).is_dir()]
        return inner if Path(where) == installed / "tasks" else ["__pycache__"]

    shutil.copytree(installed, folder / "lm_eval", ignore=other_tasks)
    written = homes / "lm-evaluation-harness" / "lm_eval" / "tasks"
    shutil.copytree(written, folder / "lm_eval" / "tasks", dirs_exist_ok=True)
    push("me/puzzles", d=[1, 3], N=5, rho=[25, 50], num_puzzles=3, dry_run=folder / "puzzles")
    (name,) = (each.name for each in (folder / "puzzles").iterdir() if each.is_dir())
    for file in (folder / "lm_eval/tasks/cogniload").glob("*.yaml"):
        text = file.read_text("utf-8").replace("me/puzzles", str(folder / "puzzles"))
        file.write_text(re.sub("dataset_name: .*", f"dataset_name: {name}", text), "utf-8")
    return folder


CHECKS = """
import sys
from itertools import islice
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
import lm_eval
assert lm_eval.__file__.startswith(sys.argv[1]), lm_eval.__file__
manager = TaskManager()
names = ["cogniload", "cogniload_lite"]
assert {*manager.all_tasks} == {*names}, manager.all_tasks
for name, task in manager.load(names)["tasks"].items():
    assert task.dataset is not None
    assert not task.has_training_docs() and not task.has_validation_docs()
    assert task.has_test_docs() and task._config["test_split"] is not None
    assert not task.should_decontaminate()
    docs = list(islice(task.test_docs(), 10))
    texts = [task.doc_to_text(doc) for doc in docs]
    assert all(isinstance(text, str) and text and not text[-1].isspace() for text in texts)
    assert all(task.doc_to_target(doc) for doc in docs)
    task.build_all_requests(rank=0, limit=10, world_size=1)
    assert len(task.instances) == 10
    right = [task.process_results(doc, [f"It is {doc['answer']}."])["acc"] for doc in docs]
    assert right == 10 * [1.0], right
results = simple_evaluate("dummy", tasks=names, limit=4, bootstrap_iters=0)["results"]
print("acc", *(f"{name}={results[name]['acc,none']}" for name in sorted(names)))
"""


def test_the_harness_with_our_folder_in_its_tree_runs_its_tasks(harness):
    """The checks are those of its own tests/test_tasks.py; our package is not there."""
    environment = {"PYTHONPATH": str(harness), "HF_HUB_OFFLINE": "1", "PATH": ""}
    hidden = "import sys; sys.modules['cogniload_gen'] = None" + CHECKS
    said = run(sys.executable, "-c", hidden, harness, cwd=harness, env=environment)
    assert said.splitlines()[-1].count("=") == 2


def test_its_scorer_needs_python_3_10_alone(homes):
    source = (homes / "lm-evaluation-harness/lm_eval/tasks/cogniload/utils.py").read_text("utf-8")
    tree = ast.parse(source, feature_version=(3, 10))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [name.name for node in imported for name in node.names] == ["re"]


def test_gyms_cases_have_the_rewards_of_our_scorer(homes):
    server = homes / "nemo-gym/resources_servers/cogniload"
    lines = (server / "tests/verifier_cases.jsonl").read_text("utf-8").splitlines()
    *cases, malformed = map(json.loads, lines)
    assert [case["kind"] for case in cases] == ["full_reward", "zero_reward", "determinism"]
    for case in cases:
        (message,) = case["request"]["response"]["output"]
        said = message["content"][0]["text"]
        assert answer_score(said, case["request"]["row"]) == case["expected_reward"]
    assert "response" not in malformed["request"]
    for file in (homes / "nemo-gym").rglob("*.py"):
        assert file.read_text("utf-8").startswith("# SPDX-License-Identifier: Apache-2.0"), file


PIECES = [
    *(
        "\n",
        "\n\n",
        ". ",
        ".",
        " ",
        ", ",
        " not ",
        "(",
        ")",
        "**",
        '"',
        "_",
        "'",
        ": ",
        "-",
        "café",
    ),
    *("<think>", "</think>", "[/THINK]", "In the end, ", "The answer is ", "is wearing", "ate"),
    *("hat", "hair", "located in the", "watched", "{poi}", "{POI}", "{other}", "{gold}", "{Gold}"),
    *(
        "{gold}",
        "{value}",
        "{value}",
        "science fiction",
        "non-fiction",
        "fiction",
        "reggae",
        "camp",
    ),
]


def test_its_scorer_agrees_with_ours(homes):
    """On 40,000 texts that are built of what decides outcomes."""
    path = homes / "lm-evaluation-harness/lm_eval/tasks/cogniload/utils.py"
    spec = spec_from_file_location("upstream_utils", path)
    theirs = module_from_spec(spec)
    spec.loader.exec_module(theirs)
    draws, seen = Random(1), Counter()  # noqa: S311
    rows = generate_puzzles([1, 12], 5, [25, 75], 30).to_pylist()
    assert len({row["category"] for row in rows}) == 12
    for number in range(40_000):
        row = rows[number % len(rows)]
        words = {
            **{"poi": row["poi"], "POI": row["poi"].upper(), "other": "Bob"},
            **{"gold": row["answer"], "Gold": row["answer"].title()},
            "value": draws.choice(row["options"]),
        }
        pieces = draws.choices(PIECES, k=draws.randint(0, 14))
        text = "".join(piece.format(**words) for piece in pieces)
        outcome = theirs.score(text, row)
        assert outcome == score(text, row).outcome, (text, row["id"])
        seen[outcome] += 1
    assert {*seen} == {*theirs.RIGHT, *theirs.WRONG, *theirs.OTHERS}
    assert min(seen.values()) > 50, seen


def test_the_register_takes_an_entry_for_each_task(homes, caplog):
    """By the register's own model; and its form finds the task at its line."""
    listed = run(sys.executable, "-m", "inspect_ai", "list", "tasks", "inspect_tasks", cwd=ROOT)
    folder = homes / "inspect_evals/register"
    addresses = dict(
        line.split(": ") for line in (folder / "addresses.txt").read_text("utf-8").splitlines()
    )
    names = {file.parent.name for file in folder.glob("*/eval.yaml")}
    assert names == {*addresses} == {*re.findall(r"@cogniload/(\w+)", listed)}
    for name in names:
        entry = ExternalEvalMetadata(**_load_single_eval_yaml(folder / name / "eval.yaml"))
        assert (entry.id, entry.common_title) == (
            name,
            "FACTOR" if "factor" in name else "CogniLoad",
        )
        assert (entry.arxiv is None) == ("factor" in name)
        assert "\n" not in entry.description
        url = parse_source_url(addresses[name])
        assert (url.repository_url, url.ref) == (
            str(entry.source.repository_url), entry.source.repository_commit
        )  # fmt: skip
        assert url.is_permalink
        source = (ROOT / url.task_path).read_text("utf-8")
        assert resolve_task(source, line_anchor=url.line_anchor).name == name == entry.tasks[0].name
    # one task an entry, else the model warns
    assert not caplog.records
    head = (ROOT / "inspect_tasks/tasks.py").read_text("utf-8")[:5000]  # which the form reads
    assert {*re.findall(r"\w+", head)} >= {"CogniLoad", "FACTOR", "needles", "statements"}


def test_the_lint_of_inspect_evals_has_no_failure():
    pytest.importorskip("inspect_evals_lint")
    command = [sys.executable, "-m", "inspect_evals_lint", "--task", "inspect_tasks/tasks.py"]
    report = json.loads(run(*command, "--output-format", "json", cwd=ROOT))
    assert report["passed"]
    assert report["summary"]["fail"] == 0
    assert report["summary"]["pass"] > 15

"""The real runs in examples/real: whole, scored as they were, and what the pages say of them."""

import re

import pytest
from source_tree import ROOT
from stored import read_lines

from cogniload_analysis import explain_failures, read_samples
from cogniload_cli import main
from cogniload_gen import read_steps, score, solve

RUNS = ROOT / "examples/real"
MAX_RESPONSE_TOKENS = 512
"""The task's limit, which lies below its budget."""

FILES = sorted(RUNS.glob("*/samples_*.jsonl.gz"))
CHECKS = {file.parts[-3]: file for file in (ROOT / "examples/checks").glob("*/*/samples_*.gz")}


def page(name):
    return " ".join((ROOT / name).read_text("utf-8").split())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_each_response_still_has_its_score_and_its_place_in_the_table(file):
    samples = read_lines(file)
    assert len({sample["doc"]["id"] for sample in samples}) == len(samples) == 140
    for sample in samples:
        assert solve(sample["doc"]["puzzle"]) == sample["doc"]["answer"]
        tokens = {name: sample[name] for name in ("prompt_tokens", "response_tokens")}
        budget = tokens["prompt_tokens"] + MAX_RESPONSE_TOKENS
        again = score(sample["resps"][0][0], sample["doc"], **tokens, context_budget=budget)
        assert again.outcome.value == sample["outcome"]
    right = sum(sample["acc"] for sample in samples)
    read = sum(read_steps(sample["resps"][0][0], sample["doc"]).read for sample in samples)
    assert f"| {file.parent.name} | {right:.0f} of 140 | {read} of 140 |" in page(
        "examples/real/README.md"
    )


def test_the_twins_of_the_first_run_are_counted_on_the_page_and_their_verdict_is_quoted():
    twins = read_lines(next(FILES[0].parent.glob("why/samples_*.gz")))
    right = {sample["doc"]["id"]: sample["acc"] for sample in read_lines(FILES[0])}
    counts = {}
    for sample in twins:
        assert solve(sample["doc"]["puzzle"]) == sample["doc"]["answer"]
        base, _, change = sample["doc"]["id"].partition("~")
        counts.setdefault((change.partition("=")[0], right[base]), []).append(sample["acc"])
    text = page("examples/real/README.md")
    for change in ("needles", "tail", "from", "only"):
        failed, solved = counts[change, 0], counts[change, 1]
        assert f"| {sum(failed):.0f} of 38 | {sum(solved):.0f} of 38 |" in text, change
    verdict = explain_failures(read_samples(FILES[0].parent)).verdict
    assert f'"{verdict[0]}"' in text


@pytest.mark.parametrize("name", CHECKS)
def test_each_check_still_has_its_scores_and_its_row_on_the_page(name, tmp_path, capsys):
    assert main(["score", str(CHECKS[name]), "--out", str(tmp_path / "again.jsonl")]) == 0
    assert "0 scored anew" in capsys.readouterr().out
    samples = read_lines(CHECKS[name])
    for sample in samples:
        answer = solve(sample["doc"]["puzzle"])
        assert answer == (int if isinstance(answer, int) else str)(sample["doc"]["answer"])
    right = sum(sample["acc"] for sample in samples)
    row = rf"\| `{name}` \|[^|]*\| {right:.0f} of {len(samples)} \|"
    assert re.search(row, page("examples/real/README.md"))

"""Twins say why a model fails, and are scored as puzzles nowhere."""

import pytest
from command_line import refusal
from lm_eval_layout import make_puzzle, make_sample, write_run
from report_reader import page_text, read_page, read_table
from stored import read_lines

from cogniload_analysis.report.compare_runs import explain_results
from cogniload_cli import main
from lm_eval_tasks.metrics import Fields

CHANGES = "again", "needles", "tail", "hay=0", "from=10", "only=3"
NEVER = "ECL50", "ECL80", "Solves", "solves", "Place", "Acc [%]"


RIGHT = {
    "distraction": dict(zip(CHANGES, (1, 4, 2, 4, 2, 4), strict=True)),
    "work": dict(zip(CHANGES, (1, 1, 2, 1, 2, 4), strict=True)),
}
"""Of four texts with each change, how many are right by what slips of a cause grow with."""


def write(folder, model, cause=None, twins=("",), port=0):
    """Write answers to twins of 80 puzzles, of which 60 failed; without a cause, all twins fail."""
    samples = []
    for index in range(80):
        for place, twin in enumerate(twins):
            row = make_puzzle(1, 20 if index % 2 else 40, 50, index)
            row["id"] += f"~{twin}" * bool(twin)
            row["needles"] = {"tail": 5, "from=10": 5, "only=3": 1}.get(twin, row["needles"])
            turn = (index // 4 + place * (1 + index // 16)) % 4  # another one for each change
            right = turn < RIGHT[cause][twin] if twin and cause else index % 4 == 0 and not twin
            samples.append(
                make_sample(row, f"{index} {twin}.", ("wrong_logic", "correct_valid")[right])
            )
    served = {"base_url": f"http://127.0.0.1:{port}/v1"} if port else {}
    write_run(folder, model, samples, model_args=served)
    return folder


@pytest.mark.parametrize("solved", [0, 80])
@pytest.mark.parametrize("of_twins", [0, 80])
def test_a_report_of_a_run_with_twins_without_a_failure_or_a_success(
    undrawn, tmp_path, capsys, solved, of_twins
):
    folder = write(tmp_path / "run", "m", None, ("", *CHANGES))
    (file,) = folder.rglob("samples_*")
    samples = read_lines(file)
    for sample in samples:
        right = bool(of_twins if "~" in sample["doc"]["id"] else solved)
        sample |= {"acc": float(right), "outcome": ("wrong_logic", "correct_valid")[right]}
    write_run(folder, "m", samples)
    assert main(["report", str(folder), "--out", str(tmp_path / "out")]) == 0
    assert ("no failure to explain" in capsys.readouterr().out) == (solved == 80)


def test_two_servers_of_one_name_are_two_rows_each_with_its_own_cause(undrawn, tmp_path):
    """Where twins are asked of a server that has moved, they stay with their puzzles."""
    for run, cause, port in (("a", "distraction", 1), ("b", "work", 2)):
        write(tmp_path / run, "solver", port=port)
        write(tmp_path / run / "why" / "answers", "solver", cause, CHANGES, port=port + 8)
    assert main(["report", *(str(tmp_path / r) for r in "ab"), "--out", str(tmp_path / "r")]) == 0
    overview = read_table(tmp_path / "r", "overview").set_index("model")["cause"]
    assert overview.filter(like="at 127.0.0.1:1").tolist() == ["distraction"]
    assert overview.filter(like="at 127.0.0.1:2").tolist() == ["work"]
    assert len(overview) == 2


@pytest.fixture
def run(tmp_path):
    write(tmp_path / "run", "m")
    write(tmp_path / "run" / "why" / "answers", "m", "distraction", CHANGES)
    return tmp_path / "run"


def test_a_page_of_twins_alone_names_the_report_of_their_run(undrawn, run, tmp_path, capsys):
    answers = run / "why" / "answers"
    assert main(["report", str(answers), "--out", str(tmp_path / "out")]) == 0
    out, page = capsys.readouterr().out, (tmp_path / "out" / "report.html").read_text("utf-8")
    first_screen = page.partition('<p class="headline')[2].partition("<nav>")[0]
    assert "these are twins of puzzles" in page.lower()
    assert f"cogniload report {run} --out" in out
    assert not any(word in first_screen + out for word in NEVER)
    assert not [*tmp_path.glob("out/tables/*threshold*"), *tmp_path.glob("out/tables/rank*")]
    assert main(["report", str(run), "--out", str(tmp_path / "whole")]) == 0
    assert "It fails because of distraction" in capsys.readouterr().out
    whole = read_page(tmp_path / "whole/report.html")
    assert explain_results(run)[0] in page_text(whole.get_element_by_id("why-it-fails").getparent())
    assert "without hayunchanged, again60100.025.0+75" in page_text(whole.get_element_by_id("why"))


def test_nothing_else_takes_twins_for_puzzles(run, tmp_path, capsys):
    answers = str(run / "why" / "answers")
    write(tmp_path / "other", "m")
    for words in (
        ["compare", answers],
        ["share", answers, "--out", tmp_path / "x", "--dataset", "me/puzzles"],
        ["gate", answers, tmp_path / "other", "--margin=2"],
        ["generate", tmp_path / "x.jsonl", "--for", answers],
    ):
        assert "twins of puzzles" in refusal(capsys, *words)


def test_lm_eval_aggregates_no_accuracy_or_threshold_of_twins():
    names = {"acc", "acc_uncut", "ECL50", "error_none", "acc_needles", "prompt_tokens", "overflow"}
    fields = dict.fromkeys(names, 1)
    kept = {"acc_needles", "prompt_tokens", "overflow"}
    for twin, aggregated in ((True, kept), (False, names)):
        held = Fields(fields, names, of_twin=twin)
        assert {name for name, _ in held.items()} == aggregated
        assert {*held} == names


def test_a_comparison_says_why_each_fails(run, tmp_path, capsys):
    write(tmp_path / "other", "n")
    write(tmp_path / "other" / "why" / "answers", "n", "work", CHANGES)
    assert main(["compare", str(run), str(tmp_path / "other")]) == 0
    said = capsys.readouterr().out.partition("Why they fail")[2]
    assert "m: It fails because of distraction" in said
    assert "n: It fails because of the work of applying needles" in said

"""Conversations whose history is compacted, by a model and by Inspect's own strategies."""

import re

import compactor
import pandas as pd
import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.event import CompactionEvent
from inspect_ai.log import write_eval_log
from inspect_run import evaluate, output
from report_reader import assert_links_lead_everywhere, page_text, read_page

from cogniload_analysis.report.write import write_report
from inspect_tasks import tasks
from inspect_tasks.turns import STRATEGIES, SUMMARIES

PUZZLES = {"d": 3, "N": 10, "rho": 50, "num_puzzles": 2, "k": 2, "poi": "late"}
OF_MODEL = ("none", "recap", "json")
LEAVES_MESSAGES = ("none", "trim", "edit")


def run(folder, spoil, seen=None, **parameters):
    def answer(messages):
        said = [(one.role, one.text) for one in messages]
        if seen is not None:
            seen.append(said)
        return output(compactor.reply(said, spoil), counts=(len(str(said).split()), 9))

    return evaluate(tasks.cogniload_turns(**PUZZLES | parameters), folder, answer)


def scores_of(log):
    return {
        sample.id.rpartition("/")[2]: sample.scores["score_turns"].metadata
        for sample in log.samples
    }


@pytest.mark.parametrize("strategy", [each for each in STRATEGIES if each != "native"])
def test_a_model_and_a_compactor_without_losses_lose_nothing(strategy, tmp_path):
    seen = []
    log = run(tmp_path, compactor.keep, seen, history="compacted", strategy=strategy, every=2)
    assert len(log.samples) == 2
    for sample in log.samples:
        scores = sample.scores["score_turns"].metadata
        assert scores["right"] == [1] * 5
        assert [each["after"] for each in scores["summaries"]] == [2, 4]
        assert [each["statement"] for each in scores["summaries"]] == [4, 8]
        assert {kind for each in scores["summaries"] for kind in each["kind"]} == {"kept"}
        assert scores["held"] == [None, None, 1, 1, 1]
    first = [said for said in seen if said[0][1].count("\n1. ")]
    if strategy in ("recap", "json"):
        # the beginning is gone but for the instruction: no name and no statement is left of it
        later = next(said for said in seen if "5. The people" in said[-1][1] and len(said) == 1)
        assert "\n1. " not in later[0][1]
        assert later[0][1].startswith(first[0][0][1].partition("\n")[0])
    elif strategy in ("summary", "auto"):
        assert any("[CONTEXT COMPACTION SUMMARY]" in text for said in seen for _, text in said)
    else:
        # each reply stands before the next message, the one before the compaction too
        last = max(seen, key=len)
        assert [role for role, _ in last[-3:]] == ["user", "assistant", "user"]


@pytest.mark.parametrize("strategy", ["trim", "summary", "auto"])
def test_each_strategy_of_inspect_compacts_at_its_own_threshold(strategy, tmp_path):
    seen = []
    threshold = 700 if strategy == "trim" else 450
    how = {"k": 1, "history": ["own", "compacted"], "strategy": strategy, "num_puzzles": 1}
    log = run(tmp_path, compactor.keep, seen, N=12, threshold=threshold, **how)
    held = {sample.id.rpartition("/")[2]: sample for sample in log.samples}
    done = [
        each for each in held[f"compacted_{strategy}"].events if isinstance(each, CompactionEvent)
    ]
    assert done
    assert not [each for each in held["own"].events if isinstance(each, CompactionEvent)]
    for each in done:
        assert each.metadata["strategy"] == f"Compaction{strategy.title()}"
        assert each.metadata["trigger"] == "threshold"
        assert each.tokens_before > threshold >= each.tokens_after
    scores = held[f"compacted_{strategy}"].scores["score_turns"].metadata
    assert len(scores["summaries"]) == len(done)
    assert len(done) < 11  # and not at every turn
    stored = held[f"compacted_{strategy}"].store[SUMMARIES]
    assert [each["after"] for each in stored] == [each["after"] for each in scores["summaries"]]
    if strategy != "trim":  # what was trimmed is gone
        assert scores["right"] == [1] * 12


def test_what_no_provider_has_is_said_so(tmp_path):
    with pytest.raises(AssertionError, match="native"):
        run(tmp_path, compactor.keep, history="compacted", strategy="native")


def test_a_report_tells_losses_of_planted_compactors(tmp_path):
    how = {"history": ["own", "compacted", "compacted_true"], "num_puzzles": 6, "every": 2}
    log = run(tmp_path, compactor.swap, strategy=["recap", "none"], **how)
    scores = scores_of(log)
    assert [*scores] == ["compacted_none", "compacted_recap", "compacted_true", "own"]
    page = write_report(tmp_path, tmp_path / "report")
    html = read_page(page)
    assert_links_lead_everywhere(page)
    said = re.findall(r"mockllm/model, (\w+): summaries keep (\d+) % of the facts", page_text(html))
    assert [name for name, _ in said] in (["none", "recap"], ["recap", "none"])
    turns = pd.read_csv(page.parent / "tables/turns.csv").set_index("history")
    # asked what it knows, the model swaps two people; that replaces nothing, so it costs nothing
    assert turns.loc[["own", "none", "compacted_true"], "accuracy"].tolist() == [1, 1, 1]
    assert turns.loc["recap", "by_summary"] == pytest.approx(turns.loc["recap", "cost"])
    assert turns.loc["recap", "cost"] > 0.1
    assert turns.loc["recap", "both"] == turns.loc["recap", "reasoning"] == 0
    found = {metric for score in log.results.scores for metric in score.metrics}
    assert {"kept_compacted_recap", "acc_compacted_true", "acc_last_own"} <= found


def test_forms_of_conversations_are_told_apart_and_files_of_one_form_belong_together(tmp_path):
    run(tmp_path, compactor.keep, history="compacted", strategy="json")
    run(tmp_path, compactor.keep, history="compacted_true")
    write_report(tmp_path, tmp_path / "one")
    turns = pd.read_csv(tmp_path / "one/tables/turns.csv")
    assert set(turns["model"]) == {"mockllm/model"}
    assert turns.set_index("history").loc["json", "cost"] == 0
    run(tmp_path, compactor.keep, history="compacted", strategy="json", k=5, every=1, poi="early")
    write_report(tmp_path, tmp_path / "several")
    turns = pd.read_csv(tmp_path / "several/tables/turns.csv")
    assert set(turns["model"]) == {"mockllm/model, k 2", "mockllm/model, k 5"}


def test_a_log_that_was_changed_is_refused_in_a_line_that_names_its_sample(tmp_path):
    log = run(tmp_path / "logs", compactor.keep, history="compacted")
    scores = [sample.scores["score_turns"] for sample in log.samples]
    for changed in (
        {"right": "no"}, {"held": [0]}, {"right": [[]] * 5}, {"summaries": [{"kind": ["kept"]}]},
        {"summaries": [{"kind": 3, "age": [1], "matter": [1], "fresh": [1]}]},
    ):  # fmt: skip
        metadata = scores[1].metadata
        scores[1].metadata = metadata | changed
        file = tmp_path / "2026-01-01T00-00-00-00-00_turns_changed.json"
        write_eval_log(log, str(file))
        scores[1].metadata = metadata
        with pytest.raises(ValueError, match=r"changed\.json, sample 2: \S") as error:
            write_report(file, tmp_path / "report")
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"strategy": "sumary"}, "strategy must be one of none, recap, json, trim"),
        ({"poi": "never"}, "poi must be one of early, late, got 'never'"),
        ({"history": "planted"}, "history planted is for poi early, got late"),
        ({"history": "compacted", "every": 6}, "every must be an integer in 1..5, got 6"),
        ({"threshold": "much"}, "threshold must be tokens or a share of the window, got 'much'"),
    ],
)
def test_wrong_parameters_are_refused_in_a_line(wrong, message):
    with pytest.raises(PrerequisiteError, match=re.escape(message)):
        tasks.cogniload_turns(**PUZZLES | wrong)

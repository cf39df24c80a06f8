"""CogniLoad turn by turn, answered by models whose errors are planted."""

import asyncio

import pandas as pd
import pytest
from command_line import refusal
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState
from inspect_run import evaluate, output
from report_reader import assert_links_lead_everywhere, page_text, read_page
from tracker import track

from cogniload_analysis.report.write import write_report
from cogniload_gen.answers.conversations import USUAL
from cogniload_gen.benchmark import planted_turn
from inspect_tasks import tasks
from inspect_tasks.samples import SHARE
from inspect_tasks.turns import REPLIES, score_turns, take_turns

PUZZLES = {"d": [3, 5], "N": [10, 12], "rho": 50, "num_puzzles": 3}
K, COUNT, TURNS = 4, 12, 3


def run(slips, folder, **parameters):
    def answer(messages):
        return output(track([(one.role, one.text) for one in messages], slips))

    log = evaluate(tasks.cogniload_turns(k=K, **PUZZLES | parameters), folder, answer)
    rights = {name: [] for name in USUAL}
    for sample in log.samples:
        (score,) = sample.scores.values()
        rights[score.metadata["history"]].append(score.metadata["right"])
    metrics = {name: m.value for s in log.results.scores for name, m in s.metrics.items()}
    return rights, metrics


def never(*_):
    return False


def at_first(place, _):
    return place == 0


def test_a_model_without_errors_is_right_at_each_turn_of_the_histories_that_are_true(tmp_path):
    rights, metrics = run(never, tmp_path)
    assert rights["own"] == rights["true"] == [[1] * TURNS] * COUNT
    assert metrics["acc_own"] == metrics["acc_last_true"] == 1
    assert metrics["errors_per_statement_own"] == metrics["own_minus_true"] == 0
    # it goes on from the error that it is shown, and that is all it does wrong
    assert metrics["acc_planted"] < metrics["sound_planted"] == 1
    assert metrics["planted_minus_true"] == metrics["errors_per_statement_planted"] == 0


def test_an_error_that_is_carried_costs_later_turns_and_one_that_is_mended_does_not(tmp_path):
    rights, metrics = run(at_first, tmp_path, history=["own", "true"])
    assert rights["true"] == [[0, 1, 1]] * COUNT
    assert all(right[0] == 0 for right in rights["own"])
    middle = (K + 1) / 2
    assert metrics["errors_per_statement_own"] == 1 / middle
    statements = 6 * 10 + 6 * 12 - COUNT * (K - middle)
    assert metrics["errors_per_statement_true"] == pytest.approx(COUNT / statements)
    late = [right[planted_turn(TURNS) + 1 :] for right in rights["own"]]
    cost = sum(map(sum, late)) / sum(map(len, late)) - 1
    assert metrics["own_minus_true"] == pytest.approx(cost)
    assert cost < -0.2
    assert metrics["own_minus_true_stderr"] > 0
    assert not any("planted" in name for name in metrics)


def test_the_turns_of_a_puzzle_share_its_budget_and_a_reply_that_never_came_is_wrong(monkeypatch):
    monkeypatch.setenv("INSPECT_EVAL_MODEL", "mockllm/model")
    sample = tasks.cogniload_turns(k=K, history="own", **PUZZLES).dataset[0]
    state = TaskState("mockllm/model", sample.id, 1, sample.input, [], metadata=sample.metadata)
    replies, limits = [turn["reply"] for turn in sample.metadata["turns"]], []

    async def generate(state, max_tokens):
        state.output = ModelOutput.from_content("mockllm", replies[len(limits)])
        limits.append(max_tokens)
        state.messages.append(state.output.message)
        return state

    state = asyncio.run(take_turns()(state, generate))
    assert limits == [sample.metadata[SHARE]["response_limit"] // TURNS] * TURNS
    state.store.set(REPLIES, [replies[0], "That is blue."])  # a limit ended the conversation
    score = asyncio.run(score_turns()(state, Target("")))
    assert score.metadata["right"] == score.metadata["read"] == [1, 0, 0]


def test_reports_show_conversations_and_lm_eval_names_inspect(tmp_path, capsys):
    run(at_first, tmp_path, N=10, d=3)
    page = write_report(tmp_path, tmp_path / "report")
    html = read_page(page)
    assert_links_lead_everywhere(page)
    assert "Turn by turn" in page_text(html)
    turns = pd.read_csv(page.parent / "tables/turns.csv").set_index("history")
    assert {*turns.index} == {"own", "planted", "true"}
    assert turns.loc["true", "accuracy"] == pytest.approx(2 / 3)
    message = refusal(capsys, "compare", tmp_path)
    assert "the samples there are of cogniload_turns" in message
    task = ("--model", "dummy", "--tasks", "cogniload_turns")
    message = "lm-eval runs no conversations: inspect eval cogniload/cogniload_turns"
    assert refusal(capsys, "eval", *task, "--output_path", tmp_path) == message


@pytest.mark.parametrize("kept", [False, True])
def test_earlier_reasoning_is_sent_back_if_it_is_asked_for(kept, tmp_path):
    """Of the model's own replies, and recorded."""
    seen = []

    def think(messages):
        replies = [message for message in messages if message.role == "assistant"]
        seen.append([[part.type for part in reply.content] for reply in replies])
        return output("Nothing.", "Hm.")

    puzzle = {"d": 1, "N": 8, "rho": 50, "num_puzzles": 1}
    task = tasks.cogniload_turns(k=4, history="own", keep_reasoning=kept, **puzzle)
    log = evaluate(task, tmp_path, think)
    assert seen == [[], [["reasoning", "text"] if kept else ["text"]]]
    (sample,) = log.samples
    assert sample.scores["score_turns"].metadata["keep_reasoning"] is kept

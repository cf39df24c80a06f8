"""The next values of right traces: their documents, both ways to ask, and what is refused."""

# ruff: noqa: S311

import logging
import re
import shutil
from collections import Counter
from random import Random
from zlib import crc32

import numpy as np
import pytest
import torch
from harness import manager
from lm_eval import simple_evaluate
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.models.dummy import DummyLM
from lm_eval.models.huggingface import HFLM
from planted_model import PUZZLE
from real_model import save_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from cogniload_analysis import read_samples
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.cogniload.sections.next_values import foretell_all
from cogniload_analysis.report.compare_runs import compare_results
from cogniload_analysis.report.write import say_results, write_report
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_gen import generate_puzzles, read_steps, score
from cogniload_gen.cogniload.next_value import questions_of
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.planted import clauses
from lm_eval_tasks import Evaluation
from lm_eval_tasks.cogniload.demo import HALF, MODELS
from lm_eval_tasks.cogniload.next_task import make_documents, make_shots

GRID = {"d": [1, 3], "N": [5, 9], "rho": [25, 75], "num_puzzles": 8}
DEFAULTS = {**GRID, "seed": 42, "context_budget": 4096, "trace": True}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A small model with random weights, whose tokenizer cuts values into several tokens."""
    folder = save_tokenizer(tmp_path_factory.mktemp("tiny"))
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    config = LlamaConfig(vocab_size=49152, num_attention_heads=4, **sizes, initializer_range=0.3)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def run(model, task, **puzzles):
    return simple_evaluate(
        model, tasks=[task], task_manager=manager(cogniload=puzzles), bootstrap_iters=1,
        num_fewshot=0,
    )  # fmt: skip


@pytest.mark.parametrize("d", [1, 2, 5])
def test_a_trace_is_right_and_each_question_has_the_right_value_among_all(d):
    for row in generate_puzzles(d, 8, [25, 75], num_puzzles=4, trace=True).to_pylist():
        begins, questions, rest = questions_of(row)
        steps = read_steps(begins + rest, row)
        assert (steps.read, steps.coverage, steps.first_error) == (True, 1, None)
        assert score(begins + rest, row).correct
        solution = solve_steps(row["puzzle"])
        assert len(questions) == 8 * d
        for asked in questions:
            right = solution.states[asked["statement"]][row["poi"]][asked["category"]]
            choice = asked["choices"][asked["target"]]
            assert re.search(rf"\b{re.escape(right)}\b", choice)
            assert rest[asked["at"] :].startswith(choice)
            assert (asked["kind"] == "needle") == solution.needles[asked["statement"] - 1]
            known = {
                part[asked["category"]] for part in solution.parts if asked["category"] in part
            }
            assert len({*asked["choices"]}) == max(d + 1, 3)
            assert all(any(value in each for each in asked["choices"]) for value in known)


def test_a_question_is_drawn_by_the_puzzle_alone_half_of_each_kind():
    documents = make_documents(defaults=DEFAULTS)["test"].to_list()
    few = make_documents(defaults=DEFAULTS | {"N": 9, "num_puzzles": 2})["test"].to_list()
    assert [each for each in documents if each["N"] == 9 and each["index"] < 2] == few
    asked = [each["questions"][0] for each in documents]
    assert Counter(each["kind"] for each in asked) == {"needle": 32, "hay": 32}
    assert len({each["statement"] for each in asked}) == 9
    whole = make_documents(whole=True, defaults=DEFAULTS)["test"].to_list()
    for one, every in zip(documents, whole, strict=True):
        assert one["questions"][0] in every["questions"]
        assert (every["puzzle"] + every["choices"][0]).startswith(one["puzzle"])


@pytest.mark.parametrize("model", ["tiny", HALF])
def test_one_pass_agrees_with_lm_eval_on_every_choice_of_every_statement(tiny, model):
    folder, levels = (tiny, [2]) if model == "tiny" else (MODELS / model, [1])
    settings = {"pretrained": str(folder), "dtype": "float32", "device": "cpu", "batch_size": 16}
    puzzles = {"d": levels, "N": 3, "rho": 50, "num_puzzles": 1}
    found = run(HFLM(**settings), "cogniload_next_all", **puzzles)["samples"]["cogniload_next_all"]
    plain, asked = HFLM(**settings), []
    for sample in found:
        prompt, trace = sample["arguments"][0]
        for each in sample["doc"]["questions"]:
            asked += [(prompt + trace[: each["at"]], choice) for choice in each["choices"]]
    whole = [sample["arguments"][0] for sample in found]
    requests = [Instance("loglikelihood", {}, args, 0) for args in [*whole, *asked]]
    expected = plain.loglikelihood(requests, disable_tqdm=True)
    ways = iter([likelihood for likelihood, _ in expected[len(whole) :]])
    differ = []
    for sample, (likelihood, greedy) in zip(found, expected, strict=False):
        total, told, choices = sample["resps"][0][0]
        assert (total, told) == (pytest.approx(likelihood, abs=1e-3), greedy)
        questions = sample["doc"]["questions"]
        for each, of, one in zip(choices, sample["answered"], questions, strict=True):
            right = np.array([next(ways) for _ in each])
            assert each == pytest.approx(right, abs=1e-4)
            chances = np.exp(right) / np.exp(right).sum()
            assert of["bits"] == pytest.approx(-np.log2(chances[one["target"]]), abs=1e-3)
            assert of["wrong"] == (right.argmax() != one["target"])
            differ.append(right.std())
    assert min(differ) > 0.01  # choices that no model tells apart would agree by themselves


class Planted(LM):
    """A model that errs with a known chance behind needles and hay; the solver says which."""

    generate_until = loglikelihood_rolling = None

    def __init__(self, needle, hay):
        super().__init__()
        self.hazards = {True: needle, False: hay}

    def loglikelihood(self, requests):
        """Return more for a right value than for others, or less where it errs."""
        return [(self.likes(*each.args), False) for each in requests]

    def likes(self, prompt, choice):
        """Return the log-likelihood of a choice, the same for all wrong ones."""
        puzzle, begun = PUZZLE.fullmatch(prompt).groups()
        solution, statement = solve_steps(puzzle), int(re.findall(r"^(\d+)\. ", begun, re.M)[-1])
        state = solution.states[statement][solution.poi].items()
        right = any(choice == f" {clauses('state', {name: value})}.\n" for name, value in state)
        hazard = self.hazards[solution.needles[statement - 1]]
        return -1.0 - 2 * (right == (Random(crc32(prompt.encode())).random() < hazard))


def test_hazards_of_a_planted_model_come_back_from_the_logged_samples(tmp_path, monkeypatch):
    planted = Planted(0.25, 0.08)
    monkeypatch.setattr(DummyLM, "loglikelihood", lambda _, asked: planted.loglikelihood(asked))
    puzzles = {"d": [1, 2], "N": [5, 9], "rho": 50, "num_puzzles": 100}
    settings = {"metadata": {"cogniload": puzzles}, "num_fewshot": 0}
    Evaluation("dummy", tasks=["cogniload_next"], **settings).run(tmp_path)
    frames = read_benchmarks(tmp_path, ANALYSES)
    assert [*frames] == ["CogniLoad, next values"]
    told = [*foretell_all(frames["CogniLoad, next values"])]
    assert [(d, len(asked)) for _, d, _, asked in told] == [(1, 200), (2, 200)]
    for _, _, of, _ in told:
        found = of.numbers(0.5)
        for kind, hazard in zip(("needle", "hay"), (0.25, 0.08), strict=True):
            assert found[kind].low < hazard < found[kind].high
            assert found[kind].high - found[kind].low < 0.2
    said = "".join(say_results(tmp_path))
    assert "Foretold ECL50 at d = 2" in said
    assert "cogniload why" not in said  # there is no response whose failure has a cause
    with pytest.raises(ValueError, match="no CogniLoad task"):  # these are no responses
        read_samples(tmp_path)
    two = {"one": tmp_path, "other": shutil.copytree(tmp_path, tmp_path.parent / "other")}
    text = write_report(two, tmp_path / "report").read_text()
    assert "at most 32768 tokens" in text
    assert "solve" not in " ".join(say_results(two))
    with pytest.raises(ValueError, match="no CogniLoad or FACTOR task"):
        compare_results(two)


def test_shots_are_whole_traces_and_no_puzzle_of_the_task(tiny):
    shots = make_shots()
    model = HFLM(pretrained=str(tiny), dtype="float32", device="cpu")
    found = simple_evaluate(
        model, tasks=["cogniload_next_mini"], bootstrap_iters=1, limit=1,
        task_manager=manager(cogniload={"d": 1, "N": 2, "rho": 50, "num_puzzles": 1}),
    )["samples"]["cogniload_next_mini"]  # fmt: skip
    prompt = found[0]["arguments"][0][0]
    assert prompt.endswith(found[0]["doc"]["puzzle"])
    assert prompt.startswith("".join(each["puzzle"] + each["choices"][0] for each in shots[:1]))
    for shot in shots:
        puzzle = shot["puzzle"].rpartition("\n\n")[0]
        assert puzzle not in found[0]["doc"]["puzzle"]
        assert f" {solve_steps(puzzle).answer}" in shot["choices"][0].splitlines()[-1]


def test_a_chat_template_is_left_out_with_a_warning(tiny, caplog):
    model = HFLM(pretrained=str(tiny), dtype="float32", device="cpu")
    puzzles = {"d": 1, "N": 2, "rho": 50, "num_puzzles": 1}
    with caplog.at_level(logging.WARNING, "lm_eval_tasks"):
        simple_evaluate(
            model, tasks=["cogniload_next_mini"], task_manager=manager(cogniload=puzzles),
            bootstrap_iters=1, num_fewshot=0, apply_chat_template=True,
        )  # fmt: skip
    assert "without a chat template" in caplog.text
    caplog.clear()
    run(model, "cogniload_next_mini", **puzzles)
    assert not [each for each in caplog.records if each.name.startswith("lm_eval_tasks")]


@pytest.mark.parametrize(("changes", "says"), [
    ({"cache_requests": True}, "--cache_requests is refused"),
    ({"N": 400}, r"takes [\d,]+ tokens and the model 2,048: lower N"),
])  # fmt: skip
def test_what_would_be_cut_or_mixed_up_is_refused(tiny, changes, says):
    puzzles = {"d": 1, "N": 4, "rho": 50, "num_puzzles": 1} | changes
    cached = {"cache_requests": puzzles.pop("cache_requests", False)}
    model = HFLM(pretrained=str(tiny), dtype="float32", device="cpu", max_length=2048)
    with pytest.raises(ValueError, match=says):
        simple_evaluate(
            model, tasks=["cogniload_next_all"], task_manager=manager(cogniload=puzzles), **cached
        )  # fmt: skip

"""--until: the design asks for the puzzles, and ends the run."""

import json
import re
from contextlib import contextmanager

import completion_server
import pytest
from completion_server import serving
from eval_command import answered, command, done, error_of, model_args, read, same
from searches import run as ask_all
from stored import cases
from until_command import (
    CAPACITY,
    N_EFF,
    respond_by_capacity,
    respond_by_decay,
    respond_with,
    until_arguments,
)

from cogniload_analysis import AdaptiveDesign, DecayDesign
from cogniload_gen.cogniload.traces import clean_trace
from cogniload_gen.tokens import estimate

BUDGET, WINDOW = 128, 32768
FACTOR = {"task": "factor_symbolic_0", "goal": "N_eff±40%", "budget": 192}


@contextmanager
def serving_by(respond):
    with pytest.MonkeyPatch.context() as patch, serving() as server:
        patch.setattr(completion_server, "respond", respond)
        server.window = WINDOW
        yield server


@pytest.fixture
def server():
    """Answers as a model with a capacity of 20 statements."""
    with serving_by(respond_by_capacity) as running:
        yield running


@pytest.fixture(scope="module", params=["cogniload", "factor"])
def whole(request, tmp_path_factory):
    """A run that nothing disturbs, and what it said: of either benchmark."""
    out, factor = tmp_path_factory.mktemp(request.param), request.param == "factor"
    with serving_by(respond_by_decay if factor else respond_by_capacity) as server:
        said, err = done(*until_arguments(server, out, **FACTOR if factor else {}))
        assert len({*server.asked()}) == len(answered(out))
    return request.param, out, said, err


def test_its_puzzles_are_those_of_the_design_and_it_says_why_it_ends(whole):
    """A design of its own, which is told what the samples say, asks for the same, in order."""
    benchmark, out, said, err = whole
    results, samples = read(out)
    factor = benchmark == "factor"
    knobs = ("N", "index") if factor else ("d", "N", "rho", "index")
    answers = {tuple(s["doc"][knob] for knob in knobs): s["acc"] == 1 for s in samples}
    span = None if factor else tuple(results["config"]["until"]["N"])
    design = DecayDesign(target=0.4, budget=192) if factor else AdaptiveDesign(0.2, BUDGET, span)
    batches = ask_all(design, lambda puzzle: answers[tuple(puzzle)])
    asked = [tuple(puzzle) for batch in batches for puzzle in batch]
    assert asked == list(answers)
    assert [s["doc_id"] for s in samples] == list(range(len(asked)))
    assert said.startswith("\n".join(design.summary()))
    goal, truth = ("N_eff", N_EFF) if factor else ("ECL50", CAPACITY)
    (value,) = re.findall(rf"^{goal} ([\d.]+) \(", said, re.MULTILINE)
    assert truth / 1.5 < float(value) < truth * 1.5
    seen = {found[1] for found in re.finditer(r"[\r\n]n (\d+), ", err)}
    assert seen <= {str(batch.n) for batch in design.batches[:-1]}
    assert len(seen) > 1
    assert results["config"]["until"].items() >= design.fingerprint.items()
    metric = "n_eff,none" if factor else "ECL50_crossing,none"
    assert results["results"][FACTOR["task"] if factor else "cogniload"][metric] > 0


def test_a_merge_is_the_same_and_a_whole_run_asks_nothing(server, whole, tmp_path):
    benchmark, out, _, _ = whole
    assert command("eval", "--merge", out, "--output_path", tmp_path)[0] == 0
    assert same(read(tmp_path), read(out))
    if benchmark == "cogniload":
        assert command(*until_arguments(server, out))[0] == 0
        assert not server.requests
    assert command("eval", "--status", out)[1].splitlines()[-1].startswith("next: cogniload report")


@pytest.mark.parametrize("whole", ["cogniload"], indirect=True)
def test_it_goes_on_with_the_same_goal_budget_and_design_alone(server, tmp_path, whole):
    server.once, server.instead = 30 * [{}], (500, '"the engine is dead"')
    assert "the engine is dead" in error_of(*until_arguments(server, tmp_path))
    assert len(answered(tmp_path)) == 30
    server.asked()
    begun = f"{tmp_path} was begun with until."
    message = error_of(*until_arguments(server, tmp_path, goal="ECL50±25%"))
    assert message.startswith(f"{begun}target 0.2, now 0.25: ")
    message = error_of(*until_arguments(server, tmp_path, budget=200))
    assert message.startswith(f"{begun}budget 128, now 200: ")
    file = tmp_path / "state/run.json"
    text = file.read_text("utf-8")
    prior = json.loads(text)["what"]["versions"]["prior"]
    file.write_text(text.replace(prior, "an older one"), "utf-8")
    for words in (until_arguments(server, tmp_path), ["eval", "--merge", tmp_path]):
        assert f"versions.prior 'an older one', now '{prior}'" in error_of(*words)
    assert not server.requests
    file.write_text(text, "utf-8")
    server.instead, known = {}, answered(tmp_path)
    assert command(*until_arguments(server, tmp_path))[0] == 0
    assert not {*server.asked()} & {*known}
    assert same(read(tmp_path), read(whole[1]))


@pytest.mark.parametrize(("task", "others", "message"), cases(__file__)["until_words"])
def test_refusals(server, tmp_path, task, others, message):
    assert message in error_of(*until_arguments(server, tmp_path, task=task), *others)
    assert not server.requests
    assert not [*tmp_path.rglob("answers-*")]


def test_the_seed_the_range_and_the_budget_of_tokens_may_be_set(server, tmp_path):
    """In --metadata or, as lm-eval mixes them and as here, in --model_args."""
    others = ["--model_args", model_args(server, cogniload={"seed": 7, "context_budget": 8192})]
    server.window = 8192
    words = until_arguments(server, tmp_path, *others, "--N", "10..100", budget=64)
    assert command(*words)[0] == 0
    documents = [sample["doc"] for sample in read(tmp_path)[1]]
    assert {(doc["seed"], doc["context_budget"]) for doc in documents} == {(7, 8192)}
    assert {10, 100} <= {doc["N"] for doc in documents} <= {*range(10, 101)}
    assert command(*words)[0] == command("eval", "--merge", tmp_path)[0] == 0
    assert len(server.requests) == len(documents) == 64


def test_the_longest_puzzle_is_what_fits_the_budget_with_a_trace(tmp_path):
    """By the same words that stand for the tokens of a model without a tokenizer."""
    with serving_by(lambda prompt: respond_with(1, prompt)) as server:
        others = ["--at", "d=1", "--metadata", '{"cogniload": {"context_budget": "4K"}}']
        said, _ = done(*until_arguments(server, tmp_path, *others, budget=256))
    documents = [sample["doc"] for sample in read(tmp_path)[1]]
    N = [doc["N"] for doc in documents]
    longest = [doc["puzzle"] for doc in documents if doc["N"] == max(N)]
    tokens = [estimate(puzzle) + estimate(clean_trace(puzzle)) for puzzle in longest]
    assert max(tokens) < 4096 < 1.3 * max(tokens)
    assert min(N) == 10
    assert f"ECL50 > {max(N)} (" in said
    assert "fit context_budget 4,096; a budget of 16,384 allows N up to" in said


@pytest.mark.parametrize("reason", ["length", None])
def test_responses_that_a_limit_cut_are_told_as_cut(server, tmp_path, reason):
    """Also where the server does not say so, and its count reaches the limit."""
    instead = {"choices": [{"message": {"content": "Let me"}, "finish_reason": reason}]}

    def cut(request):
        return instead | {
            "usage": {"prompt_tokens": 90, "completion_tokens": request["max_tokens"]}
        }

    server.instead = cut
    said, _ = done(*until_arguments(server, tmp_path, budget=64))
    assert {sample["outcome"] for sample in read(tmp_path)[1]} == {"wrong_max_context"}
    design = AdaptiveDesign(0.2, 64, tuple(read(tmp_path)[0]["config"]["until"]["N"]))
    while not design.done:
        batch = design.ask()
        design.tell(batch, [False] * len(batch), [True] * len(batch))
    assert said.startswith("\n".join(design.summary()))

"""--until with FACTOR's tasks: the same runner asks the decay's design."""

import re

import completion_server
import pytest
from completion_server import serving
from eval_command import command, done_blocks, error_of, read
from until_command import N_EFF, respond_by_decay, until_arguments

from cogniload_analysis import DecayDesign, read_factor_samples
from cogniload_analysis.factor.adaptive_section import find_replays
from lm_eval_tasks.runner.search import Search
from lm_eval_tasks.runner.store import Store

TASK, GOAL, BUDGET = "factor_symbolic_0", "N_eff±40%", 192
BLOCK = ("--block_size", "24")


@pytest.fixture(scope="module", autouse=True)
def decay():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion_server, "respond", respond_by_decay)
        yield


@pytest.fixture
def server():
    with serving() as running:
        running.window = 32768
        yield running


def arguments(server, out, *others, goal=GOAL, task=TASK, budget=BUDGET):
    return until_arguments(server, out, *others, goal=goal, budget=budget, task=task)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    with serving() as server:
        server.window = 32768
        code, said, err = command(*arguments(server, out, *BLOCK))
    assert code == 0, err
    return out, said, err


def test_it_asks_what_the_design_asks_and_ends_with_the_reason(undisturbed):
    out, said, err = undisturbed
    results, samples = read(out)
    answers = {(s["doc"]["N"], s["doc"]["index"]): s["acc"] == 1 for s in samples}
    design, asked = DecayDesign(target=0.4, budget=BUDGET), []
    while not design.done:
        batch = design.ask()
        asked += map(tuple, batch)
        design.tell(batch, [answers[tuple(puzzle)] for puzzle in batch])
    assert asked == list(answers)
    assert len(asked) == len(samples)
    assert said.startswith("\n".join(design.summary()))
    assert re.match(r"stopped after \d+ puzzles: N_eff is known to ±40 %\n", said)
    (value,) = re.findall(r"^N_eff ([\d.]+) \(", said, re.MULTILINE)
    assert N_EFF / 1.4 < float(value) < N_EFF * 1.4
    lines = [line for line in err.splitlines() if line.startswith("n ")]
    assert re.fullmatch(r"n 24, N_eff [\d.<> ]+ \([\d.<> ]+ to [\d.<> ]+\), next 40", lines[0])
    assert {s["doc"]["context"] for s in samples} == {0}
    assert "n_eff,none" in results["results"][TASK]
    until = {"goal": "N_eff", "target": 0.4, "budget": BUDGET}
    assert results["config"]["until"] == until | design.plan.fingerprint
    (run,) = find_replays(read_factor_samples(out)).values()
    assert run.batches == design.batches
    assert run.same_prior


def test_cut_responses_are_told_as_cut_where_the_backend_says_nothing(server, tmp_path):
    message = {"role": "assistant", "content": " "}
    server.instead = {"choices": [{"index": 0, "message": message, "finish_reason": None}]}
    assert command(*arguments(server, tmp_path, *BLOCK, budget=64))[0] == 0
    state = Store(tmp_path / "state")
    search = Search.of(state, state.begun())
    assert search.catch_up() == []
    assert len(search.design.told) == 64
    assert all(answer == (False, True) for answer in search.design.told.values())


METADATA = (
    "factor metadata takes suite, context, roots, seed, tokenizer, context_budget, twin, retrieve"
)
BM25 = '{"factor": {"retrieve": {"retriever": "bm25"}}}'
NO_RETRIEVAL = "retrieve is refused: --until takes no retrieval"


@pytest.mark.parametrize(("task", "others", "message"), [
    ("factor_symbolic", [], "no group and no fixed design, got 'factor_symbolic'"),
    (TASK, ["--until", "ECL50±20%"], "until must be as N_eff±20% or CDF±20% or CDO±0.2, got "),
    (TASK, ["--metadata", '{"factor": {"N": 3}}'], f"{METADATA}; got 'N'"),
    (TASK, ["--metadata", '{"factor": {"context": [0, 500]}}'], "one value of context, roots:"),
    ("factor_realistic_retrieval", [], NO_RETRIEVAL),
    ("factor_realistic_0", ["--metadata", BM25], NO_RETRIEVAL),
])  # fmt: skip
def test_refusals(server, tmp_path, task, others, message):
    assert message in error_of(*arguments(server, tmp_path, *others, task=task))
    assert not server.requests
    assert not done_blocks(tmp_path)

"""`rescore`: lm-eval's samples as versions and tools leave them, scored and read again."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from stored import cases, read_lines, write_lines

from cogniload_analysis import read_samples
from cogniload_gen import read_steps, score
from cogniload_gen.answers.rescore import rescore

RUN = Path(__file__).parents[1] / "examples" / "results" / "SmolLM2-135M-Instruct"
DATED = "2026-11-21T22-15-08.816728.jsonl"
FILES = {name: RUN / f"samples_{name}_mini_{DATED}" for name in ("cogniload", "factor_symbolic")}


SAMPLES = {name: read_lines(path) for name, path in FILES.items()}
COGNILOAD = SAMPLES["cogniload"]


def write(samples, path="samples.jsonl"):
    return write_lines(path, samples)


def outcomes_of(samples):
    return Counter(sample["outcome"] for sample in samples)


def assert_same(path, samples, out="model/"):
    """The file has the outcomes of the samples, once each; a report reads what is written."""
    scored = rescore(path, out, force=True)
    assert scored.changed == 0
    assert Counter({o.value: n for o, n in scored.outcomes.items()}) == outcomes_of(samples)
    assert [sample["outcome"] for sample in read_lines(scored.out)] == [
        s["outcome"] for s in samples
    ]
    if "poi" in samples[0]["doc"]:
        frame = read_samples(scored.out)
        assert frame["outcome"].tolist() == [sample["outcome"] for sample in samples]
    return scored


@pytest.mark.parametrize("name", SAMPLES)
def test_a_run_keeps_its_outcomes_and_gets_its_first_errors(folder, name):
    scored = assert_same(FILES[name], SAMPLES[name])
    assert scored.out == Path("model", FILES[name].name)  # where a report looks for it
    first = Counter()
    for sample, written in zip(SAMPLES[name], read_lines(scored.out), strict=True):
        steps = read_steps(sample["filtered_resps"][0], sample["doc"])
        assert written["steps_read"]["first_error"] == steps.first_error
        first[(steps.error or "none") if steps.read else "not read"] += 1
    assert scored.errors == first == rescore(FILES[name], steps=True).errors
    assert rescore(FILES[name]).errors == {}


def test_samples_stand_there_once_for_each_filter(folder):
    """As lm-eval writes them; the first filter's count, as in a report."""
    about = {"finish_reason": "stop", "metrics": [*COGNILOAD[0]["metrics"], "finish_reason"]}
    twice = [s | about | {"filter": name} for name in ("strict", "none") for s in COGNILOAD]
    scored = assert_same(write(twice), COGNILOAD)
    assert {sample["finish_reason"] for sample in read_lines(scored.out)} == {"stop"}


@pytest.mark.parametrize("kept", ["first", "all"])
def test_each_of_several_attempts_is_scored(folder, kept):
    attempts = []
    for sample in COGNILOAD:
        doc, first = sample["doc"], sample["filtered_resps"][0]
        attempts.append([first, f"{doc['poi']} ends with {doc['answer']}.", ""])
    several = [
        sample | {"resps": [tried], "filtered_resps": [tried if kept == "all" else tried[0]]}
        for sample, tried in zip(COGNILOAD, attempts, strict=True)
    ]
    scored = rescore(write(several), "model")
    assert scored.changed == 0
    assert scored.outcomes.total() == 3 * len(COGNILOAD)
    spent = [0] * len(COGNILOAD)
    for place, sample in enumerate(read_lines(scored.out)):
        number, attempt = divmod(place, 3)
        response = attempts[number][attempt]
        assert (sample["resps"], sample["filtered_resps"]) == ([[response]], [response])
        before = COGNILOAD[number]
        expected = before["outcome"] if attempt == 0 else score(response, before["doc"]).outcome
        assert sample["outcome"] == expected
        assert ("response_tokens" in sample) == (attempt == 0)
        spent[number] += sample["spent_response_tokens"]
    assert spent == [3 * sample["response_tokens"] for sample in COGNILOAD]
    assert rescore(scored.out).outcomes == scored.outcomes
    frame = read_samples(scored.out)
    assert frame.groupby("id", observed=True)["attempt"].max().eq(3).all()


@pytest.mark.parametrize("benchmark", SAMPLES)
def test_a_count_that_is_no_number_of_tokens_is_unknown_and_not_written(folder, benchmark):
    """No outcome changes: what was cut off by its outcome still is."""
    counts = ("prompt_tokens", "response_tokens")
    scored = assert_same(
        write([s | dict.fromkeys(counts, math.nan) for s in SAMPLES[benchmark]]), SAMPLES[benchmark]
    )
    assert not any({*counts} & {*sample, *sample["metrics"]} for sample in read_lines(scored.out))


def test_the_ending_is_that_of_the_new_outcome(folder):
    counts = {"prompt_tokens": 10, "response_tokens": 5, "metrics": ["acc"]}
    sample = {"doc": COGNILOAD[0]["doc"] | {"context_budget": 1024}} | counts
    doc = sample["doc"]
    sample |= {"outcome": "wrong_max_context", "acc": 0, "target": doc["answer"], "doc_id": 0}
    sample |= {"resps": [[f"{doc['poi']} ends with {doc['answer']}."]]}
    sample["filtered_resps"] = sample["resps"][0]
    (written,) = read_lines(rescore(write([sample]), "again.jsonl").out)
    assert (written["outcome"], written["ending"]) == ("correct_poi", "ended")


def test_samples_of_older_versions_of_lm_eval_are_read(folder):
    """Without `filter`, and with requests that are lists."""
    old = [
        {name: value for name, value in sample.items() if name != "filter"}
        | {"arguments": [list(sample["arguments"]["gen_args_0"].values())]}
        for sample in COGNILOAD
    ]
    assert_same(write(old), COGNILOAD)
    bare = [{name: s[name] for name in s if name != "outcome"} for s in old]
    assert rescore(write(bare)).outcomes == rescore(FILES["cogniload"]).outcomes


def test_a_folder_names_the_file_and_nothing_is_overwritten_unasked(folder):
    (Path("other") / "mine.jsonl").parent.mkdir()
    mine = write(COGNILOAD, Path("other", "mine.jsonl"))
    out = rescore(mine, Path("runs", "model-1.7b")).out
    assert out.name.startswith("samples_cogniload_20")
    assert read_samples("runs")["model"].unique().tolist() == ["model-1.7b"]
    first = rescore(FILES["cogniload"], "runs/a/").out
    before = first.read_bytes()
    with pytest.raises(FileExistsError, match="exists"):
        rescore(FILES["cogniload"], "runs/a/")
    assert first.read_bytes() == before
    assert rescore(mine, "runs/b/new.jsonl").out == Path("runs/b/new.jsonl")


@pytest.mark.parametrize(("line", "said"), cases(__file__)["no_sample"])
def test_what_is_no_sample_is_named_and_nothing_is_written(folder, line, said):
    Path("samples.jsonl").write_text(line)
    with pytest.raises(ValueError, match=said):
        rescore(Path("samples.jsonl"), "model/")
    Path("samples.jsonl").write_text(json.dumps(COGNILOAD[0]) + "\n" + (line or "1") + "\n")
    with pytest.raises(ValueError, match="line 2"):
        rescore(Path("samples.jsonl"), "model/")
    assert not list(folder.glob("model/*"))

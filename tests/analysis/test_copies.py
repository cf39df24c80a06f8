"""Each answer counts once: copies, results of one run, damaged files, and repeated texts."""

import gzip
import json
import shutil

import pytest
from lm_eval_layout import make_answers, write_run
from stored import cases, read_lines, write_lines

from cogniload_analysis import accuracy_by_attempts, read_samples
from cogniload_gen.answers import Sample
from cogniload_gen.answers.rescore import rescore

DATES = "2026-11-21T08-26-58.1", "2026-11-22T08-26-58.1"
CONFIG = {"model": "hf", "model_args": {"pretrained": "m"}}


def answers(of=24, seed=0):
    return [*make_answers(((index + seed) % 2 == 0 for index in range(of)), f"T{seed}.")]


@pytest.fixture
def run(tmp_path):
    return write_run(
        tmp_path / "run", "m", answers(), **{"n-samples": {"cogniload": {"effective": 24}}}
    )


def samples(run):
    return next(run.glob("samples_*"))


def copy_folder(run):
    shutil.copytree(run, run.parents[1] / "copy" / "m")


def compress(run):
    with gzip.open(run.parent / f"samples_cogniload_{DATES[1]}.jsonl.gz", "wb") as file:
        file.write(samples(run).read_bytes())


def double_line(run):
    lines = samples(run).read_text("utf-8").splitlines(keepends=True)
    samples(run).write_text("".join([*lines, lines[3]]), "utf-8")


def other_answer(run):
    with samples(run).open("a") as file:
        file.write(json.dumps(answers(1, seed=7)[0]) + "\n")


@pytest.mark.parametrize("harm", [copy_folder, compress, double_line, other_answer])
def test_each_answer_counts_once(run, caplog, harm):
    whole = read_samples(run)
    harm(run)
    frame = read_samples(run.parents[1])
    assert frame["id"].tolist() == whole["id"].tolist()
    assert frame["correct"].tolist() == whole["correct"].tolist()
    assert len(caplog.messages) == 1
    assert read_samples(run.parents[1])["attempt"].max() == 1
    assert len(caplog.messages) == 1  # once in a process
    counts = rescore(samples(run)).outcomes.total()
    assert counts == (25 if harm is other_answer else 24)


@pytest.mark.parametrize("harm", ["blank", "filter"])
def test_what_a_file_lacks_is_said(run, caplog, harm):
    lines = samples(run).read_text("utf-8").splitlines(keepends=True)
    lines[3] = "\n" if harm == "blank" else lines[3].replace('"filter": "none"', '"filter": "x"')
    samples(run).write_text("".join(lines), "utf-8")
    assert len(read_samples(run)) == 23
    assert "holds 23 of 24 puzzles" in caplog.text
    assert ("another filter" in caplog.text) == (harm == "filter")


def test_documents_that_nobody_numbered_count_each(run, caplog):
    lines = read_lines(samples(run))
    for line in lines:
        del line["doc_id"]
    write_lines(samples(run), lines)
    assert len(read_samples(run)) == 24
    assert not caplog.messages


@pytest.mark.parametrize("interim", [True, False])
def test_of_several_results_of_one_run_those_with_most_answers_hold(tmp_path, interim):
    """Whatever their dates; a run of the same settings is another one."""
    about = [CONFIG | {"run_id": "one", "interim": "half"}, CONFIG | {"run_id": "one"}]
    sets = [answers(12), answers(24, seed=1)]
    for date, config, said in zip(DATES[:: 1 if interim else -1], about, sets, strict=True):
        write_run(tmp_path, "m", said, date=date, config=config)
    frame = read_samples(tmp_path)
    assert (len(frame), frame["model"].nunique(), frame["attempt"].max()) == (24, 1, 1)
    assert "level_0" not in frame  # an index of its own
    assert frame["correct"].tolist() == [said["acc"] == 1 for said in sets[1]]
    write_run(tmp_path / "again", "m", answers(24, seed=2), config=CONFIG | {"run_id": "two"})
    assert read_samples(tmp_path)["attempt"].value_counts().to_dict() == {1: 24, 2: 24}


def test_runs_that_differ_in_a_setting_or_a_label_are_no_copies(run, tmp_path):
    lines = read_lines(samples(run))
    write_run(tmp_path / "fast", "m", lines, model_args={"dtype": "int8"})
    assert read_samples(tmp_path)["model"].value_counts().tolist() == [24, 24]
    copy_folder(run)
    frame = read_samples({"a": tmp_path / "run", "b": tmp_path / "copy"})
    assert frame["model"].value_counts().tolist() == [24, 24]


@pytest.mark.parametrize("temperature", [0.6, 0])
def test_attempts_that_repeat_a_text_count_once_if_they_are_many(tmp_path, temperature):
    said = answers()
    for number, alike in enumerate((24, 24, 4)):
        again = [*said[:alike], *answers(seed=2)[alike:]]
        again = [each | {"prompt_tokens": 9 + number} for each in again]  # no copy of the file
        how = {"temperature": temperature, "do_sample": None}
        write_run(tmp_path / str(number), "m", again, generation=how)
    frame = read_samples([tmp_path / "0", tmp_path / "1"])
    assert (len(frame), len(accuracy_by_attempts(frame))) == (24, 0)
    (repeats,) = frame["repeats"].unique()
    assert "24 of 24 further answers repeat an earlier one word for word" in repeats
    assert ("greedy" in repeats) == (temperature == 0)
    frame = read_samples([tmp_path / "0", tmp_path / "2"])
    assert len(frame) == 48
    assert "4 of 24 further answers repeat an earlier one word for word" in frame["repeats"].iloc[0]


@pytest.mark.parametrize(("tokens", "counted"), [([5, 5], 1), ([5, 6], 2), ([None, None], 2)])
def test_behind_hidden_reasoning_tokens_tell_repeats_apart(tmp_path, tokens, counted):
    for number, count in enumerate(tokens):
        said = [each | {"resps": [["Red."]], "filtered_resps": ["Red."]} for each in answers()]
        about = {"reasoning_hidden": "withheld", "response_tokens": count, "prompt_tokens": number}
        write_run(tmp_path / str(number), "m", [each | about for each in said])
    assert read_samples(tmp_path)["attempt"].max() == counted


def test_puzzles_without_an_answer_bound_accuracy(undrawn, tmp_path):
    from cogniload_analysis.report.write import build_parts

    write_run(tmp_path, "m", answers(20), config=CONFIG | {"lost": 4})
    frame = read_samples(tmp_path)
    assert frame["lost"].eq(4).all()
    bounds = "if all were wrong, it would solve 41.7 %; if all were right, 58.3 %."
    said = f"4 more have no answer: {bounds}"
    assert said in build_parts({"CogniLoad": frame})[0].verdicts[0].sentences[0]


@pytest.mark.parametrize(("backend", "model", "settings", "greedy"), cases(__file__)["greedy"])
def test_greedy_decoding_is_known_by_what_lm_eval_sends(backend, model, settings, greedy):
    results = {"config": {"model": backend} if backend else None, "model_name": model}
    assert Sample({}).is_greedy(results, settings) == greedy

"""Logs of Inspect: what `cogniload view` writes, what others wrote, and what is read of them."""

import json
import zipfile

import pandas as pd
import pytest
from inspect_ai import log as inspect_log
from lm_eval_layout import (
    BETA,
    SMALL,
    make_factor_samples,
    make_puzzle,
    make_sample,
    make_samples,
    write_run,
)
from refusals import assert_refused

from cogniload_analysis import analyses, read_samples
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.report.write import build_parts, build_report
from cogniload_analysis.samples.files import read_line
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_cli import main

COARSE = SMALL[SMALL["rho_percent"] % 25 == 0]


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    write_run(folder, "org/first", make_samples(BETA, 2, 1, grid=COARSE, words=5))
    write_run(folder, "second", make_samples(BETA, 1, 2, grid=COARSE, words=5))
    write_run(folder, "second", make_factor_samples(-0.1, 0, 2, 1, attempts=2), task="factor_mini")
    return folder


@pytest.fixture
def logs(results, tmp_path):
    return view(results, tmp_path)


def view(results, folder):
    """Write the logs of results, and return their folder."""
    assert main(["view", str(results), "--out", str(folder / "logs"), "--no-open"]) == 0
    return folder / "logs"


def write_one(folder, response="x", doc=None, **about):
    """Write a run of one response, and return its folder."""
    sample = make_sample(doc or make_puzzle(1, 20, 5), response, "wrong_other")
    return write_run(folder, "m", [sample], **about)


def without_place(frame):
    return frame.drop(columns=["file", "offset", "take"])


def test_a_report_from_logs_is_the_report_from_the_samples(results, logs):
    of_samples = read_benchmarks(results, ANALYSES)
    of_logs = read_benchmarks(logs, ANALYSES)
    assert of_samples.keys() == of_logs.keys() == {each.name for each in analyses.ANALYSES}
    for name, frame in of_samples.items():
        pd.testing.assert_frame_equal(without_place(of_logs[name]), without_place(frame))
    assert build_report(build_parts(of_logs)) == build_report(build_parts(of_samples))


def test_inspect_reads_the_logs(results, logs):
    for file in logs.iterdir():
        log = inspect_log.read_eval_log(str(file), resolve_attachments=True)
        assert log.status == "success"
        (rows,) = read_benchmarks([file], ANALYSES).values()
        outcomes = [sample.scores["outcome"].value for sample in log.samples]
        assert sorted(outcomes) == sorted(rows["outcome"])
        for sample in log.samples[:3]:
            assert sample.input == sample.messages[0].content
            assert sample.output.completion == sample.messages[1].content
            assert sample.scores["acc"].value in ("C", "I")


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_a_log_that_inspect_wrote_is_read(suffix, tmp_path):
    """Of any task whose score's metadata holds the outcome; the run's settings go before."""
    from inspect_ai.model import GenerateConfig, ModelOutput
    from inspect_ai.scorer import Score

    puzzles = [make_puzzle(1, 20, 5, index) for index in range(3)]
    samples = []
    for puzzle in puzzles:
        output = ModelOutput.from_content("openai/gpt", "Ann is wearing blue socks.")
        score = Score(value="C", metadata={"outcome": "correct_valid", "prompt_tokens": 9})
        metadata = {name: held for name, held in puzzle.items() if name not in ("puzzle", "id")}
        samples.append(
            inspect_log.EvalSample(
                id=puzzle["id"], epoch=1, input=puzzle["puzzle"], target="blue", output=output,
                scores={"cogniload": score}, metadata=metadata,
            )
        )  # fmt: skip
    spec = inspect_log.EvalSpec(
        created="2026-11-21T08:26:58+00:00", task="mine/cogniload-mini", task_version="1.0",
        dataset=inspect_log.EvalDataset(), model="openai/gpt", config=inspect_log.EvalConfig(),
        model_generate_config=GenerateConfig(temperature=0.5, max_tokens=7),
    )  # fmt: skip
    file = tmp_path / f"2026-11-21T08-26-58_cogniload{suffix}"
    plan = inspect_log.EvalPlan(config=GenerateConfig(temperature=0.1))
    log = inspect_log.EvalLog(status="success", eval=spec, plan=plan, samples=samples)
    inspect_log.write_eval_log(log, str(file))
    frame = read_samples(tmp_path)
    assert frame["id"].tolist() == [puzzle["id"] for puzzle in puzzles]
    assert set(frame["model"]) == {"openai/gpt"}
    assert set(frame["task"]) == {"cogniload_mini"}
    assert (set(frame["decoding"]), set(frame["output_limit"])) == ({"temperature 0.1"}, {"7"})
    assert frame["correct"].all()
    assert frame["prompt_tokens"].eq(9).all()
    sample = read_line(frame["file"][2], frame["offset"][2])
    assert sample["filtered_resps"] == ["Ann is wearing blue socks."]
    assert sample["doc"]["puzzle"] == puzzles[2]["puzzle"]


def test_hostile_text_is_kept_as_text(tmp_path):
    text = "<script>x()</script> \ud800 \u202e attachment://0 {{1}} ../../x"
    doc = make_puzzle(1, 20, 5) | {"id": "../x/\ud800<b>"}
    write_one(tmp_path / "r", text, doc, ensure_ascii=True)
    (file,) = view(tmp_path / "r", tmp_path).iterdir()
    frame = read_samples(file)
    sample = read_line(frame["file"][0], 0)
    assert sample["filtered_resps"] == [text.replace("\ud800", "?")]
    assert inspect_log.read_eval_log(str(file)).eval.viewer.trust_content is False


@pytest.mark.parametrize("content", [b"", b"PK", b'{"eval": {"task": 1}}'])
@pytest.mark.parametrize("name", ["x.eval", "2026-11-21T08-26-58_x.json"])
def test_a_broken_log_is_an_error_in_one_line(name, content, tmp_path, capsys):
    (tmp_path / name).write_bytes(content)
    assert_refused(capsys, name, "report", tmp_path, "--out", tmp_path / "report")


def pack(folder, **held):
    """Write a log that Inspect began, with a sample as JSON; return its path."""
    score = {"value": "I", "metadata": {"outcome": "wrong_other"}}
    doc = make_puzzle(1, 20, 5)
    sample = {"id": doc["id"], "input": doc["puzzle"], "scores": {"any": score}, "metadata": doc}
    file = folder / "x.eval"
    spec = inspect_log.EvalSpec(
        created="2026-11-21T08:26:58+00:00", task="cogniload", model="m",
        dataset=inspect_log.EvalDataset(), config=inspect_log.EvalConfig(),
    )  # fmt: skip
    inspect_log.write_eval_log(inspect_log.EvalLog(eval=spec), file)
    with zipfile.ZipFile(file, "a") as log:
        log.writestr("samples/1_epoch_1.json", json.dumps(sample | held))
    return file


@pytest.mark.parametrize("message", [{"role": "assistant"}, {"content": None}, None])
def test_a_message_without_content_is_an_empty_response(message, tmp_path):
    """Inspect's own reader refuses the whole log for it."""
    output = {"choices": [{"message": message, "stop_reason": "max_tokens"}]}
    file = pack(tmp_path, output=output)
    frame = read_samples(file, text=True)
    assert frame[["response", "ending", "cut_by"]].to_numpy().tolist() == [
        ["", "cut", "output limit"]
    ]


def test_the_messages_of_a_prompt_are_joined(tmp_path):
    long = [{"text": "attachment://long"}]
    messages = [{"content": "a"}, {"content": [{"text": "b"}, *long]}, {"content": None}]
    file = pack(tmp_path, input=messages, attachments={"long": "x" * 400}, metadata={})
    assert read_line(file, 0)["doc"]["puzzle"] == f"a\n\nb{'x' * 400}\n\n"


def test_a_sample_without_an_outcome_is_named(logs, capsys):
    file = sorted(logs.glob("*_cogniload_*"))[0]
    with zipfile.ZipFile(file, "a") as log:
        log.writestr("samples/new_epoch_1.json", json.dumps({"id": "new", "scores": {}}))
    assert_refused(capsys, "must hold an outcome", "report", file, "--out", logs / "report")


def test_samples_that_ended_with_an_error_are_left_out_and_counted(logs, tmp_path, caplog):
    """Inspect gives them no score."""
    log = inspect_log.read_eval_log(str(sorted(logs.glob("*_cogniload_*"))[0]))
    whole, before = log.samples, len(log.samples)
    error = inspect_log.EvalError(message="down", traceback="", traceback_ansi="")
    log.samples = [whole[0].model_copy(update={"scores": None, "error": error}), *whole[1:]]
    log.status, log.error = "error", error
    file = tmp_path / "2026-11-21T08-26-58_cogniload.eval"
    inspect_log.write_eval_log(log, str(file))
    assert main(["report", str(file), "--out", str(tmp_path / "report")]) == 0
    assert "ended with an error: 1" in caplog.text
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert "as they ended with an error: 1 of the samples of" in page
    assert read_samples(file)["lost"].tolist() == [1] * (before - 1)


def test_nothing_is_overwritten_unasked(results, logs, capsys):
    before = {file: file.read_bytes() for file in logs.iterdir()}
    view = ["view", str(results), "--out", str(logs)]
    assert_refused(capsys, "exists", *view)
    assert main([*view, "--force"]) == 0
    assert before.keys() == set(logs.iterdir())
    assert "next     inspect view --log-dir" in capsys.readouterr().out


def test_without_inspect_it_is_said_how_to_install_it(results, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("cogniload_gen.checks.find_spec", lambda module: None)
    message = r"pip install 'cogniload\[inspect\]'"
    assert_refused(capsys, message, "view", results, "--out", tmp_path / "new")
    assert not (tmp_path / "new").exists()

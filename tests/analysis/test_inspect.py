"""Logs of Inspect: what is read of them."""

import json
import zipfile

import pytest
from inspect_ai import log as inspect_log
from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.scorer import Score
from lm_eval_layout import make_puzzle
from refusals import assert_refused

from cogniload_analysis import read_samples
from cogniload_cli import main
from cogniload_gen.answers.files import read_lines

SAID = "Ann is wearing blue socks."


def write_log(file, said=SAID, **about):
    """Write a log of three responses as Inspect does; return its puzzles."""
    puzzles = [make_puzzle(1, 20, 5, index) for index in range(3)]
    samples = []
    for puzzle in puzzles:
        output = ModelOutput.from_content("openai/gpt", said)
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
    plan = inspect_log.EvalPlan(config=GenerateConfig(temperature=0.1))
    log = inspect_log.EvalLog(status="success", eval=spec, plan=plan, samples=samples)
    for name, held in about.items():
        setattr(log, name, held)
    inspect_log.write_eval_log(log, str(file))
    return puzzles


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_a_log_that_inspect_wrote_is_read(suffix, tmp_path):
    """Of any task whose score's metadata holds the outcome; the run's settings go before."""
    puzzles = write_log(tmp_path / f"2026-11-21T08-26-58_cogniload{suffix}")
    frame = read_samples(tmp_path)
    assert frame["id"].tolist() == [puzzle["id"] for puzzle in puzzles]
    assert set(frame["model"]) == {"openai/gpt"}
    assert set(frame["task"]) == {"cogniload_mini"}
    assert (set(frame["decoding"]), set(frame["output_limit"])) == ({"temperature 0.1"}, {"7"})
    assert frame["correct"].all()
    assert frame["prompt_tokens"].eq(9).all()
    (sample,) = read_lines(frame["file"][2], [frame["offset"][2]])
    assert sample.response == SAID
    assert sample.doc["puzzle"] == puzzles[2]["puzzle"]


def test_hostile_text_is_kept_as_text(tmp_path):
    text = "<script>x()</script> \u202e attachment://0 {{1}} ../../x"
    write_log(tmp_path / "x.eval", text)
    frame = read_samples(tmp_path)
    assert [each.response for each in read_lines(frame["file"][0], [0])] == [text]


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
    assert next(read_lines(file, [0])).doc["puzzle"] == f"a\n\nb{'x' * 400}\n\n"


def test_a_sample_without_an_outcome_is_named(tmp_path, capsys):
    file = pack(tmp_path, scores={})
    assert_refused(capsys, "must hold an outcome", "report", file, "--out", tmp_path / "report")


def test_samples_that_ended_with_an_error_are_left_out_and_counted(tmp_path, caplog):
    """Inspect gives them no score."""
    file = tmp_path / "2026-11-21T08-26-58_cogniload.eval"
    write_log(file)
    whole = inspect_log.read_eval_log(str(file)).samples
    error = inspect_log.EvalError(message="down", traceback="", traceback_ansi="")
    lost = whole[0].model_copy(update={"scores": None, "error": error})
    write_log(file, samples=[lost, *whole[1:]], status="error", error=error)
    assert main(["report", str(file), "--out", str(tmp_path / "report")]) == 0
    assert "ended with an error: 1" in caplog.text
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert "ended with an error: 1 of the samples of openai/gpt" in page
    assert read_samples(file)["lost"].tolist() == [1, 1]


def test_without_inspect_it_is_said_how_to_install_it(tmp_path, capsys, monkeypatch):
    write_log(tmp_path / "x.eval")
    monkeypatch.setattr("cogniload_gen.checks.find_spec", lambda module: None)
    message = r"pip install 'cogniload\[inspect\]'"
    assert_refused(capsys, message, "report", tmp_path, "--out", tmp_path / "new")
    assert not (tmp_path / "new").exists()

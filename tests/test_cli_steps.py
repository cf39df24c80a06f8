"""The commands about steps: traces with planted errors, and where samples break."""

import json

import pyarrow.parquet as pq
import pytest
from command_line import refusal

from cogniload_cli import main
from cogniload_gen import generate_factor, generate_puzzles, read_steps
from cogniload_gen.cogniload.solve import solve_steps

ASKED = ["--d", "3", "--N", "8", "--rho", "50", "--num-puzzles", "20"]


@pytest.fixture
def traces(tmp_path):
    """Return the rows of a file that `generate --errors` wrote."""
    assert main(["generate", str(tmp_path / "traces.parquet"), *ASKED, "--errors"]) == 0
    return pq.read_table(tmp_path / "traces.parquet").to_pylist()


def test_traces_are_written_with_their_errors(traces):
    assert len(traces) == 20
    assert len({row["style"] for row in traces}) > 3
    assert {row["error"] for row in traces} > {None}
    for row in traces:
        assert row["answer"] == solve_steps(row["puzzle"]).answer
        assert row["response"] == "".join(row["steps"])
        assert (row["label"] == -1) == (row["error"] is None)
        steps = read_steps(row["response"], row, margin=0.5)
        assert (steps.first_error, steps.error) == (row["first_error"], row["error"])
        claimed = read_steps(row["response"], row)
        assert not claimed.read or claimed == steps


@pytest.mark.parametrize("margin", [0.4, -1, "2", float("nan")])
def test_a_margin_out_of_range_is_refused(margin):
    (row,) = generate_puzzles(3, 5, 50, num_puzzles=1).to_pylist()
    with pytest.raises(ValueError, match=r"margin must be a number of 0.5 or more, got "):
        read_steps("", row, margin=margin)
    (row,) = generate_factor(N=3, num_puzzles=1).to_pylist()
    with pytest.raises(ValueError, match=r"margin is not for FACTOR, symbolic, got 0\.5"):
        read_steps("", row, margin=0.5)


def test_errors_are_planted_in_cogniload_alone_and_without_a_trace(folder, capsys):
    error = refusal(capsys, "generate", "a.jsonl", *ASKED, "--errors", "--trace")
    assert "--trace is not for --errors" in error
    symbolic = ["--suite", "symbolic", "--N", "3"]
    error = refusal(capsys, "generate", "a.jsonl", *symbolic, "--errors")
    assert error == "errors are planted in CogniLoad, got factor-symbolic"
    assert not list(folder.iterdir())


def test_samples_are_read_again(traces, tmp_path, capsys):
    samples, out = tmp_path / "samples_x.jsonl", tmp_path / "steps.jsonl"
    doc = {"poi": "", "suite": None}
    lines = [
        {"doc": row | doc, "filtered_resps": [row["response"]], "filter": "none"} for row in traces
    ]
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["score", "--steps", str(samples), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    written = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    read = sum(row["read"] for row in written)
    assert said.startswith(f"20 responses, {read} of them could be read")
    assert read >= 18  # of one or two the error is told too faintly to be claimed
    assert all(
        row["error"] == trace["error"] or not row["read"]
        for row, trace in zip(written, traces, strict=True)
    )
    assert "exists" in refusal(capsys, "score", "--steps", samples, "--out", out)


@pytest.mark.parametrize("line", ["", "{}", "[1]", '{"doc": {"poi": 1}, "filtered_resps": ["x"]}'])
def test_what_is_no_sample_is_named(line, tmp_path, capsys):
    samples = tmp_path / "samples_x.jsonl"
    samples.write_text(line + "\n" * bool(line), encoding="utf-8")
    assert "sample" in refusal(capsys, "score", "--steps", samples)


def test_samples_that_nothing_is_read_of_have_no_list_of_errors(traces, tmp_path, capsys):
    doc = traces[0] | {"poi": "", "suite": None}
    line = {"doc": doc, "filtered_resps": ["I can't tell."], "filter": "none"}
    samples = tmp_path / "samples_x.jsonl"
    samples.write_text(json.dumps(line) + "\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["score", "--steps", str(samples)]) == 0
    assert capsys.readouterr().out == "1 responses, 0 of them could be read\n"

"""`cogniload generate --errors`: traces with planted errors."""

import pyarrow.parquet as pq
import pytest
from command_line import main, refusal

from cogniload_gen import generate_factor, generate_puzzles, read_steps
from cogniload_gen.cogniload.solve import solve_steps

ASKED = ["--d", "3", "--N", "8", "--rho", "50", "--num-puzzles", "20"]


def test_traces_are_written_with_their_errors(tmp_path):
    assert main(["generate", str(tmp_path / "traces.parquet"), *ASKED, "--errors"]) == 0
    traces = pq.read_table(tmp_path / "traces.parquet").to_pylist()
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


@pytest.mark.parametrize("chosen", [
    [*ASKED, "--language", "de"], [*ASKED, "--twin", "language=de"],
    [*ASKED, "--twin", "question=state"], ["--suite", "symbolic", "--N", "3"],
])  # fmt: skip
def test_errors_are_planted_in_english_cogniload_alone(folder, capsys, chosen):
    error = refusal(capsys, "generate", "a.jsonl", *chosen, "--errors")
    assert error.startswith("errors are planted in CogniLoad puzzles in English that ask for one ")
    assert not list(folder.iterdir())

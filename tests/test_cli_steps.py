"""`cogniload generate --errors`: traces with planted errors."""

import pyarrow.parquet as pq
import pytest
from command_line import main, refusal

from cogniload_gen import read_steps
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
        steps = read_steps(row["response"], row)
        planned = row["first_error"], row["error"]
        assert not steps.read or (steps.first_error, steps.error) == planned


@pytest.mark.parametrize("chosen", [
    [*ASKED, "--language", "de"], [*ASKED, "--twin", "language=de"],
    [*ASKED, "--twin", "question=state"], ["--suite", "symbolic", "--N", "3"],
])  # fmt: skip
def test_errors_are_planted_in_english_cogniload_alone(folder, capsys, chosen):
    error = refusal(capsys, "generate", "a.jsonl", *chosen, "--errors")
    assert error.startswith("errors are planted in CogniLoad puzzles in English that ask for one ")
    assert not list(folder.iterdir())

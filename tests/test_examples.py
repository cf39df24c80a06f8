"""The results in examples/ are whole, tell nothing of a machine, and make a report."""

import json
import re
from pathlib import Path

from cogniload_analysis.report.write import write_report

RESULTS = Path(__file__).parent.parent / "examples" / "results"
FILES = sorted(path for path in RESULTS.rglob("*") if path.is_file())
SAMPLES = [path for path in FILES if path.name.startswith("samples_")]


def test_they_are_small_and_tell_nothing_of_a_machine():
    assert 0 < sum(path.stat().st_size for path in FILES) < 400_000
    (results,) = (path for path in FILES if path.name.startswith("results_"))
    for path in FILES:
        text = path.read_text("utf-8")
        assert not re.search(r"/(root|home|tmp|work|usr|opt|mnt|Users)\b", text), path
    facts = json.loads(results.read_text())
    assert not facts.keys() & {"pretty_env_info", "git_hash", "upper_git_hash"}


def test_a_report_is_written_from_them(tmp_path, caplog):
    write_report(RESULTS, tmp_path / "report")
    cut = [message.partition(" %")[0] for message in caplog.messages if "were cut" in message]
    model = "SmolLM2-135M-Instruct"
    assert cut == [f"CogniLoad, {model}: 13.0", f"FACTOR, {model}: 54.2"]

"""What `cogniload share` writes: valid for its catalogues, and the results exactly, read back."""

import hashlib
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from lm_eval_layout import BETA, make_samples, write_run
from source_tree import ROOT

import cogniload_analysis
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_cli import main

SCHEMAS = Path(__file__).parent / "data" / "every_eval_ever"
EXAMPLES = ROOT / "examples" / "results"


def schema(name):
    return jsonschema.Draft7Validator(json.loads((SCHEMAS / name).read_text("utf-8")))


def share(out, *options, results=EXAMPLES):
    return main(["share", str(results), "--out", str(out), *options])


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    out = tmp_path_factory.mktemp("shared")
    assert share(out, "--to", "every-eval-ever", "--model-id", "org/SmolLM2") == 0
    return out


def records(out):
    files = sorted(out.glob("data/*/*/*/*.json"))
    return {file: json.loads(file.read_text("utf-8")) for file in files}


def responses(out, record):
    text = (out / record["detailed_evaluation_results"]["file_path"]).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_every_record_is_valid_by_the_schemas_and_its_files_belong_together(shared):
    made = records(shared)
    assert len(made) == 2
    for file, record in made.items():
        schema("eval.schema.json").validate(record)
        details = record["detailed_evaluation_results"]
        companion = shared / details["file_path"]
        assert companion == file.with_name(f"{file.stem}_samples.jsonl")
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", file.stem)
        assert file.stem[14] == "4"
        assert file.parent.parts[-2:] == ("org", "SmolLM2")
        assert details["checksum"] == hashlib.sha256(companion.read_bytes()).hexdigest()
        lines = responses(shared, record)
        assert details["total_rows"] == len(lines)
        known = {each["evaluation_result_id"] for each in record["evaluation_results"]}
        check = schema("instance_level_eval.schema.json")
        for line in lines:
            check.validate(line)
            assert line["evaluation_id"] == record["evaluation_id"]
            assert line["model_id"] == record["model_info"]["id"] == "org/SmolLM2"
            assert line["evaluation_result_id"] in known
            text = line["input"]["raw"] + line["input"]["reference"][0]
            assert line["sample_hash"] == hashlib.sha256(text.encode()).hexdigest()


def test_the_validator_of_every_eval_ever_finds_nothing(shared):
    pytest.importorskip("every_eval_ever")  # it needs Python 3.12
    files = [path.relative_to(shared) for path in shared.glob("data/*/*/*/*")]
    command = [sys.executable, "-m", "every_eval_ever", "validate", "--format", "json", *files]
    ran = subprocess.run(command, cwd=shared, capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, ran.stdout
    reports = json.loads(ran.stdout)
    assert len(reports) == len(files) == 4
    assert not any(report["errors"] + report["warnings"] for report in reports)


def test_the_responses_are_read_back_exactly(shared):
    frames = read_benchmarks(EXAMPLES, ANALYSES, text=True)
    for record in records(shared).values():
        frame = frames[record["evaluation_results"][0]["source_data"]["dataset_name"]]
        lines = responses(shared, record)
        back = pd.DataFrame([line["metadata"] for line in lines])
        for name in back:
            assert back[name].tolist() == frame[name].astype(str).tolist()
            if pd.api.types.is_numeric_dtype(frame[name]):
                expected = frame[name].to_numpy()
                np.testing.assert_array_equal(back[name].astype(frame[name].dtype), expected)
        usage = pd.DataFrame([line["token_usage"] for line in lines])
        assert usage["input_tokens"].tolist() == frame["prompt_tokens"].tolist()
        assert usage["output_tokens"].tolist() == frame["response_tokens"].tolist()
        assert [line["sample_id"] for line in lines] == frame["id"].tolist()
        assert [line["output"]["raw"] for line in lines] == [[each] for each in frame["response"]]
        assert [line["evaluation"]["is_correct"] for line in lines] == frame["correct"].tolist()
        score = record["evaluation_results"][0]["score_details"]["score"]
        assert score == frame["correct"].mean()


def test_the_files_depend_on_the_results_alone(shared, tmp_path):
    assert share(tmp_path, "--to", "every-eval-ever", "--model-id", "org/SmolLM2") == 0
    for file in (path for path in shared.rglob("*") if path.is_file()):
        assert (tmp_path / file.relative_to(shared)).read_bytes() == file.read_bytes()


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """A simulated run of the paper's grid, whose thresholds can be fitted."""
    folder = tmp_path_factory.mktemp("grid")
    write_run(folder, "org/model", make_samples(BETA, 10, 1))
    return folder


def test_thresholds_come_with_the_intervals_of_the_fit(grid, tmp_path):
    assert share(tmp_path, "--to", "every-eval-ever", results=grid) == 0
    ((_, record),) = records(tmp_path).items()
    schema("eval.schema.json").validate(record)
    results = {each["metric_config"]["metric_id"]: each for each in record["evaluation_results"]}
    frame = cogniload_analysis.read_samples(grid)
    for name, each in vars(cogniload_analysis.fit_load_glm(frame).thresholds()).items():
        details = results[name]["score_details"]
        assert details["score"] == each.value
        interval = details["uncertainty"].get("confidence_interval")
        assert (interval is not None) == (math.isfinite(each.low) and math.isfinite(each.high))
        if interval:
            assert (interval["lower"], interval["upper"]) == (each.low, each.high)
        assert results[name]["metric_config"]["lower_is_better"] == (name == "NT50")
        assert results[name]["metric_config"]["max_score"] == "Infinity"
    assert results["accuracy"]["metric_config"]["max_score"] == 1
    wrong = [each for name, each in results.items() if name.startswith("wrong_")]
    shares = [each["score_details"]["score"] for each in [results["accuracy"], *wrong]]
    assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize(("name", "folders"), [("alone", "unknown/alone"), ("../..", "_/_")])
def test_what_is_not_known_is_left_out_and_no_name_leads_elsewhere(tmp_path, name, folders):
    samples = [each for each in make_samples(BETA, 1, 1) if each["doc"]["N"] == 50]
    write_run(tmp_path, "org/model", [each | {"response_tokens": None} for each in samples])
    out, options = tmp_path / "out", ("--to", "every-eval-ever", "--model-id", name)
    assert share(out, *options, results=tmp_path) == 0
    ((file, record),) = records(out).items()
    assert file.parent == out / "data" / "cogniload" / folders
    assert "ECL50" not in {
        each["metric_config"]["metric_id"] for each in record["evaluation_results"]
    }
    assert all("token_usage" not in line for line in responses(out, record))


def test_the_hub_reads_its_results_back(tmp_path):
    options = ["--to", "hub", "--dataset", "me/puzzles", "--task-id", "cogniload-v1"]
    assert share(tmp_path, *options) == 0
    for file in sorted((tmp_path / ".eval_results").iterdir()):
        entries = yaml.safe_load(file.read_text("utf-8"))
        (entry,) = parse_eval_result_entries(entries)
        frames = read_benchmarks(EXAMPLES, ANALYSES).values()
        (frame,) = (each for each in frames if each["task"].iloc[0] == file.stem)
        assert (entry.dataset_id, entry.task_id) == ("me/puzzles", "cogniload-v1")
        assert entry.value == 100 * frame["correct"].mean()
        assert entry.date == "2026-11-21"
        assert f"{len(frame)} puzzles" in entry.notes


@pytest.mark.parametrize(("options", "message"), [
    (["--to", "hub"], "give --dataset user/name"),
    (["--to", "every-eval-ever", "--relationship", "mine"], "relationship must be one of first_"),
])  # fmt: skip
def test_what_is_missing_or_wrong_is_said_in_one_line(tmp_path, capsys, options, message):
    assert share(tmp_path / "out", *options) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_one_model_is_shared_at_a_time(grid, tmp_path, capsys):
    write_run(grid, "org/other", make_samples(BETA, 1, 2))
    assert share(tmp_path / "out", "--to", "every-eval-ever", results=grid) == 2
    assert "results of one model are shared at a time, got 2" in capsys.readouterr().err


def test_nothing_is_overwritten_unasked(tmp_path, capsys):
    options = ["--to", "hub", "--dataset", "me/puzzles"]
    assert share(tmp_path, *options) == 0
    assert share(tmp_path, *options) == 2
    assert "exists" in capsys.readouterr().err
    assert share(tmp_path, *options, "--force") == 0

"""What `share_results` writes is what the Hub reads, of the puzzles alone."""

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from lm_eval_layout import BETA, SMALL, make_samples, write_run
from source_tree import ROOT

from cogniload_analysis import fit_load_glm
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.report.share import share_results
from cogniload_analysis.samples.read import read_benchmarks

EXAMPLES = ROOT / "examples" / "results"
RUN = ROOT / "examples" / "checks" / "until_factor"
DATASET = "me/puzzles"


def read_entries(file):
    (entry,) = parse_eval_result_entries(yaml.safe_load(file.read_text("utf-8")))
    return entry


def test_the_hub_reads_its_results_back(tmp_path):
    files = share_results(EXAMPLES, tmp_path, DATASET, task_id="cogniload-v1")
    assert {*files} == {*(tmp_path / ".eval_results").iterdir()}
    for file in files:
        entry = read_entries(file)
        frames = read_benchmarks(EXAMPLES, ANALYSES).values()
        (frame,) = (each for each in frames if each["task"].iloc[0] == file.stem)
        assert (entry.dataset_id, entry.task_id) == (DATASET, "cogniload-v1")
        assert entry.value == round(100 * frame["correct"].mean(), 2)
        assert entry.date == "2026-11-21"
        assert f"{len(frame)} puzzles" in entry.notes


def test_a_known_threshold_has_a_file_and_a_task_of_its_own(tmp_path):
    write_run(tmp_path / "run", "org/model", [*make_samples(BETA, 10, 1)])
    (accuracy, length) = share_results(tmp_path / "run", tmp_path / "out", DATASET, task_id="grid")
    assert [read_entries(file).task_id for file in (accuracy, length)] == ["grid", "grid_ECL50"]
    (frame,) = read_benchmarks(tmp_path / "run", ANALYSES).values()
    ECL50 = fit_load_glm(frame).thresholds().ECL50.value
    entry = read_entries(length)
    assert entry.value == float(f"{ECL50:.3g}")
    assert f"ECL50, a projection at d = 5.2, rho = 50 %: {ECL50:.3g} (" in entry.notes
    assert entry.notes.count("1400 puzzles") == 1


def test_twins_count_for_nothing(tmp_path):
    """As `cogniload why` leaves them beside a run."""
    samples = [*make_samples(BETA, 2, 1, grid=SMALL)]
    twins = [
        each
        | {"doc": each["doc"] | {"id": each["doc"]["id"] + "~only"}, "outcome": "correct_valid"}
        for each in samples[::3]
    ]
    write_run(tmp_path / "run", "org/model", samples)
    (alone,) = share_results(tmp_path / "run", tmp_path / "alone", DATASET)
    write_run(tmp_path / "run" / "why", "org/model", twins, date="2026-11-22T08-26-58.123456")
    (both,) = share_results(tmp_path / "run", tmp_path / "both", DATASET)
    assert both.read_bytes() == alone.read_bytes()
    right = [each["outcome"].startswith("correct") for each in samples]
    assert read_entries(both).value == round(100 * sum(right) / len(right), 2)


def test_an_adaptive_run_that_knows_nothing_and_several_models_are_refused(tmp_path):
    with pytest.raises(ValueError, match="N_eff is not known: < 1"):
        share_results(RUN, tmp_path / "out", DATASET)
    samples = [*make_samples(BETA, 1, 1, grid=SMALL)]
    config = {"model": "hf", "until": {"goal": "no goal", "target": 0.2, "budget": 300}}
    write_run(tmp_path / "adaptive", "org/model", samples, config=config)
    with pytest.raises(ValueError, match="an adaptive run can't be shared"):
        share_results(tmp_path / "adaptive", tmp_path / "out", DATASET)
    write_run(tmp_path / "two", "org/model", samples)
    write_run(tmp_path / "two", "org/other", samples)
    with pytest.raises(ValueError, match="results of one model are shared at a time, got 2"):
        share_results(tmp_path / "two", tmp_path / "out", DATASET)
    assert not (tmp_path / "out").exists()
    share_results(tmp_path / "two" / "org__model", tmp_path / "out", DATASET)
    with pytest.raises(FileExistsError):
        share_results(tmp_path / "two" / "org__model", tmp_path / "out", DATASET)

"""Adaptive runs in the report, against the designs that asked for them."""

import numpy as np
import pytest
from lm_eval_layout import make_factor_puzzle, make_puzzle, make_sample, write_run
from report_reader import read_page, read_table, said_of_runs
from searches import run, solves_by_capacity

from cogniload_analysis import AdaptiveDesign, DecayDesign, read_factor_samples, read_samples
from cogniload_analysis.adaptive.section import run_row, say_run
from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import refit_published
from cogniload_analysis.cogniload.sections import adaptive as capacity
from cogniload_analysis.display.drawing import draw
from cogniload_analysis.factor.sections import adaptive as decay
from cogniload_analysis.report.write import write_report

TRUTH = refit_published("Qwen3-32B", Link(), interactions=True)
UNTIL = {
    AdaptiveDesign: {"goal": "ECL50", "target": 0.4, "budget": 300},
    DecayDesign: {"goal": "N_eff", "target": 0.25, "budget": 400},
}
KINDS = pytest.mark.parametrize("design", UNTIL, indirect=True)
OUTCOMES = {(True, False): "correct", (False, False): "wrong_set", (False, True): "max_context"}


@pytest.fixture(scope="module")
def design(request):
    """A finished design that a known model answered; a limit cut a third of FACTOR's errors."""
    design, rng = request.param(**UNTIL[request.param]), np.random.default_rng(5)
    while not design.done:
        puzzles = design.ask()
        if request.param is DecayDesign:
            chance = [0.98 * min(1, np.exp(-0.1 * (p.N - 12))) for p in puzzles]
        else:
            chance = [TRUTH.accuracy(p.d, p.N, p.rho / 100)[0] for p in puzzles]
        right = (rng.random(len(puzzles)) < chance).tolist()
        cut = [request.param is DecayDesign and not r and rng.random() < 1 / 3 for r in right]
        design.tell(puzzles, right, cut)
    return design


def write_design(folder, design, until=None, repeated=0):
    """Write the samples of a design in the order of asking, with its settings in the results."""
    told = [(p, design.told[p]) for batch in design.batches for p in batch.puzzles]
    task, samples = "cogniload", []
    for puzzle, answer in told + told[:repeated]:
        if isinstance(design, DecayDesign):
            task, doc = "factor_symbolic_4k", make_factor_puzzle(puzzle.N, context=4000)
            doc |= {"index": puzzle.index, "id": f"{puzzle.N}-{puzzle.index}"}
            samples.append(make_sample(doc, "Text.", OUTCOMES[tuple(answer)]))
        else:
            outcome = "correct_valid" if answer.correct else "wrong_logic"
            samples.append(make_sample(make_puzzle(*puzzle), "Text.", outcome))
    until = UNTIL[type(design)] if until is None else until
    config = {"model": "hf", "model_args": {"pretrained": "org/asked"}, "until": until}
    write_run(folder, "org/asked", samples, task=task, config=config)
    return folder


def find_runs(folder, design):
    """Return the adaptive runs that a folder of results holds."""
    if isinstance(design, DecayDesign):
        return decay.find_runs(read_factor_samples(folder))
    return [*capacity.fit_models(read_samples(folder))[1].values()]


@KINDS
def test_an_adaptive_run_is_told_as_its_design_tells_it(undrawn, design, tmp_path):
    prefix = "factor_" if isinstance(design, DecayDesign) else ""
    out = write_report(write_design(tmp_path, design), tmp_path / "out")
    estimate, last = design.estimate(), design.batches[-1]
    row = read_table(out.parent, f"{prefix}adaptive").iloc[0]
    assert (row["n"], row["stopped"]) == (len(design.told), estimate.stopped)
    assert row["width"] == pytest.approx(estimate.half_width)
    assert row[["value", "low", "high"]].tolist() == pytest.approx([*last[2:5]])
    assert (row["model"], row.get("context", 4000)) == ("asked", 4000)
    if prefix:
        for name in ("N_eff", "CDF", "CDO", "cap", "floor"):
            at = getattr(estimate, name)
            assert row[[name, f"{name}_low", f"{name}_high"]].tolist() == pytest.approx(
                [at.value, at.low, at.high]
            )
        assert "were cut off by a limit" in row["flags"]
    else:
        thresholds = read_table(out.parent, "thresholds").set_index("threshold")
        assert set(thresholds["meaning"]) == {"crossing"}
        assert thresholds.loc["ECL50", "value"] == pytest.approx(estimate.ECL50.value)
        assert thresholds.loc["ECL50", "low"] == pytest.approx(estimate.ECL50.low)
        assert read_table(out.parent, "glm")["ECL50"].isna().all()
    page = read_page(out)
    said = said_of_runs(page, prefix)
    assert f"chose these {len(design.told)} puzzles" in said[0]
    assert [f"Note: {flag}." for flag in estimate.flags] == [
        each for each in said if each.startswith("Note: ")
    ]
    assert len(page.cssselect(f"#figure-{prefix}adaptive_01_asked")) == 1


@pytest.mark.parametrize("design", [AdaptiveDesign], indirect=True)
def test_the_panel_of_n_alone_is_logarithmic_and_names_its_ticks(design, tmp_path):
    (run,) = find_runs(write_design(tmp_path, design), design)
    panels = draw(capacity.draw_run("any", run)).axes
    assert [panel.get_xscale() for panel in panels] == ["linear", "log", "linear"]
    assert [label.get_text() for label in panels[1].get_xticklabels()] == ["5", "20", "100", "500"]


@KINDS
def test_a_puzzle_that_was_answered_twice_is_no_design_s(design, tmp_path):
    assert find_runs(write_design(tmp_path, design, repeated=1), design) == []


@KINDS
@pytest.mark.parametrize(("other", "same"), [({}, True), ({"prior": "0" * 16}, False)])
def test_a_prior_that_is_not_at_hand_is_said_to_be_none(design, tmp_path, other, same):
    """What stands there is then what the answers say under the published prior."""
    until = UNTIL[type(design)] | design.fingerprint | other
    (run,) = find_runs(write_design(tmp_path, design, until=until), design)
    assert run.same_prior == same
    assert run.goal == design.batches[-1][2:5]
    said = " ".join(say_run(run_row(run)))
    assert ("It stopped there, since" in said) == same
    assert ("Its prior is unknown" in said) != same


def test_a_run_at_other_loads_is_told_at_them_and_has_no_rank(undrawn, tmp_path):
    until = UNTIL[AdaptiveDesign] | {"N": [2, 60], "at": {"d": 1, "rho": 20}}
    design = AdaptiveDesign(**until)
    run(design, solves_by_capacity, level=-4, slope=-5)
    until |= design.fingerprint
    out = write_report(write_design(tmp_path, design, until=until), tmp_path / "out")
    (row,) = read_table(out.parent, "overview").to_dict("records")
    at, ECL50 = "d = 1, rho = 20 %", design.estimate().ECL50
    assert (row["meaning"], row["loads"], row["ECL50"]) == ("crossing", at, ECL50.value)
    assert row["ECL80"] == design.estimate().ECL80.value
    assert np.isnan([row["rank"], row["place"]]).all()
    page = read_page(out)
    assert f"): ECL50, a crossing at {at}." in page.text_content()
    assert f"to find ECL50 ±40 % at {at} with at most 300." in said_of_runs(page, "")[0]


@pytest.mark.parametrize("named", [True, False])
def test_a_run_with_the_vague_prior_is_told_again_with_it(tmp_path, named):
    until = UNTIL[AdaptiveDesign] | {"budget": 192}
    design = AdaptiveDesign(**until, prior="vague")
    run(design, lambda p: p.N + 9 * p.d < 130 - p.index)
    until |= design.fingerprint | ({"prior": "vague"} if named else {})
    (found,) = find_runs(write_design(tmp_path, design, until=until), design)
    assert found.goal == design.batches[-1][2:5]
    assert found.estimate.ECL50 == design.estimate().ECL50
    assert "The prior was the vague one." in say_run(run_row(found))[1]

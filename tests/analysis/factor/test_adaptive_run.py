"""FACTOR's adaptive runs in the report, against the design that asked for them."""

import re

import numpy as np
import pytest
from lm_eval_layout import make_factor_puzzle, make_factor_samples, make_sample, write_run
from lxml import html
from report_reader import assert_tables_are_formatted_from_csv, page_text, read_table, said_of_runs

from cogniload_analysis import DecayDesign, read_factor_samples
from cogniload_analysis.adaptive.design import describe_interval
from cogniload_analysis.factor import adaptive_section
from cogniload_analysis.report.write import write_report

UNTIL = {"goal": "N_eff", "target": 0.25, "budget": 400}
FORMATS = {spec.name: spec.show for spec in adaptive_section.SPECS}


@pytest.fixture(scope="module")
def design():
    """A finished design that a model with a known decay answered; a limit cut a third of errors."""
    design, rng = DecayDesign(**UNTIL), np.random.default_rng(5)
    while not design.done:
        batch = design.ask()
        right = [rng.random() < 0.98 * min(1, np.exp(-0.1 * (p.N - 12))) for p in batch]
        design.tell(batch, right, [not each and rng.random() < 1 / 3 for each in right])
    return design


def write_design(folder, design, until=UNTIL, repeated=0, **about):
    """Write the samples of a design in the order of asking, with its settings in the results."""
    told = [(p, design.told[p]) for batch in design.batches for p in batch.puzzles]
    outcomes = {(True, False): "correct", (False, False): "wrong_set", (False, True): "max_context"}
    samples = [
        make_sample(make_factor_puzzle(p.N, index=p.index, **about), "Text.", outcomes[tuple(a)])
        for p, a in told + told[:repeated]
    ]
    config = {"model": "hf", "model_args": {"pretrained": "org/asked"}, "until": until}
    write_run(folder, "org/asked", samples, task="factor_symbolic_4k", config=config)
    return folder


def test_an_adaptive_run_is_told_as_its_design_tells_it(undrawn, design, tmp_path):
    out = write_report(write_design(tmp_path, design, context=4000), tmp_path / "out")
    estimate, folder = design.estimate(), out.parent
    row = read_table(folder, "factor_adaptive").iloc[0]
    assert (row["n"], row["stopped"]) == (len(design.told), estimate.stopped)
    assert (row["model"], row["context"], row["noise"]) == ("asked", 4000, "filler")
    assert row["width"] == pytest.approx(estimate.half_width)
    for name in ("N_eff", "CDF", "CDO", "cap", "floor"):
        at = getattr(estimate, name)
        found = row[[name, f"{name}_low", f"{name}_high"]].tolist()
        assert found == pytest.approx([at.value, at.low, at.high])
    assert row["flags"].split(" | ") == list(estimate.flags)
    assert "were cut off by a limit" in row["flags"]
    batches = read_table(folder, "factor_adaptive_batches")
    expected = [(b.n, b.value, b.low, b.high, len(b.puzzles)) for b in design.batches]
    found = batches[["n", "value", "low", "high", "puzzles"]].to_numpy()
    np.testing.assert_allclose(found, np.array(expected))
    for cell in read_table(folder, "factor_adaptive_cells").itertuples():
        answers = [a.correct for p, a in design.told.items() if cell.N == p.N]
        assert (cell.puzzles, cell.correct) == (len(answers), sum(answers))
    curve = read_table(folder, "factor_adaptive_curve")[["N", "accuracy", "low", "high"]]
    np.testing.assert_allclose(curve, estimate.over_N)

    page = html.fromstring(out.read_text("utf-8"))
    said = said_of_runs(page, "factor_")
    assert f"{len(design.told)} puzzles in {len(design.batches) - 1} batches." in said[0]
    assert said[1] == f"It stopped there, since {estimate.stopped}."
    assert f"N_eff is {describe_interval(estimate.N_eff, (1, 39))}, CDF" in said[3]
    assert [each for each in said if each.startswith("Note: ")] == [
        f"Note: {flag}." for flag in estimate.flags
    ]
    headings = [page_text(each) for each in page.cssselect("h3")]
    assert "asked, symbolic suite, context 4K" in headings
    assert len(page.cssselect("#figure-factor_adaptive_01_asked")) == 1
    for section in page.cssselect("section.table"):
        if section.get("id") not in FORMATS:
            section.drop_tree()
    assert_tables_are_formatted_from_csv(page, folder, FORMATS.__getitem__)


def test_a_grid_at_another_context_is_no_adaptive_run(undrawn, design, tmp_path):
    write_design(tmp_path, design, context=4000)
    samples = make_factor_samples(-0.1, 1.2, 3, 1)
    write_run(tmp_path, "org/grid", samples, task="factor_symbolic_0")
    replays = adaptive_section.find_replays(read_factor_samples(tmp_path))
    assert [condition[2] for condition in replays] == [4000]


@pytest.mark.parametrize(
    "until", [{}, {"goal": "ECL50"}, {"target": "x"}, {"budget": 1e99}, {"N": 3}, [1]]
)
def test_settings_that_are_none_leave_a_plain_report(design, tmp_path, until):
    frame = read_factor_samples(write_design(tmp_path, design, until=until))
    assert adaptive_section.find_replays(frame) == {}


def test_a_puzzle_that_was_answered_twice_is_no_design_s(design, tmp_path):
    frame = read_factor_samples(write_design(tmp_path, design, repeated=1))
    assert adaptive_section.find_replays(frame) == {}


@pytest.mark.parametrize(("other", "same"), [({}, True), ({"prior": "0" * 16}, False)])
def test_another_prior_is_told_from_the_published_one(design, tmp_path, other, same):
    until = UNTIL | design.plan.fingerprint | other
    (run,) = adaptive_section.find_replays(
        read_factor_samples(write_design(tmp_path, design, until=until))
    ).values()
    assert run.same_prior == same
    assert run.batches == design.batches  # those of the published prior in either case
    (row,) = adaptive_section.run_table([run]).to_dict("records")
    said = " ".join(adaptive_section.say_decay_run(row))
    assert ("It stopped there, since" in said) == same
    assert ("a prior that is not at hand" in said) != same


@pytest.mark.parametrize(("goal", "target"), [("CDF", 0.3), ("CDO", 0.3)])
def test_other_goals_are_shown_in_their_own_units(tmp_path, goal, target):
    until = {"goal": goal, "target": target, "budget": 128}
    design = DecayDesign(**until)
    while not design.done:
        design.tell(design.ask(), [puzzle.N < 15 + puzzle.index % 9 for puzzle in design.ask()])
    frame = read_factor_samples(write_design(tmp_path, design, until=until))
    (run,) = adaptive_section.find_replays(frame).values()
    (row,) = adaptive_section.run_table([run]).to_dict("records")
    unit = r"\d+ %" if goal == "CDF" else r"\d+\.\d\d"
    progress = adaptive_section.say_decay_run(row)[2]
    assert re.search(rf"a half-width of ±{unit} .* and ±{unit} at", progress)
    assert design.estimate().half_width == pytest.approx(row["width"])

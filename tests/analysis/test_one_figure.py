"""One run has one figure: what stands in several places is equal in all of them."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from inspect_ai.scorer import SampleScore, Score
from lm_eval_layout import GRID, make_puzzle, make_sample, write_run
from report_reader import page_text, read_page, read_table

from cogniload_analysis import AdaptiveDesign, compare_runs, read_samples
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.display.sentences import UNBROKEN
from cogniload_analysis.matters import is_at_chance, load_effects
from cogniload_analysis.report.gate_runs import gate_results, write_verdict
from cogniload_analysis.report.share import share_results
from cogniload_analysis.report.write import build_parts, summarise, write_report
from inspect_tasks import scoring
from lm_eval_tasks.cogniload.task import ecl50, id50, nt50

SMALL = GRID[GRID["d"].isin([1, 5, 10]) & GRID["rho_percent"].isin([5, 50, 95])]
ENDS = ("", "_low", "_high")


def answer(folder, model, puzzles, half=70, **said):
    """Write a run that solves half of the puzzles of `half` statements; a limit cuts failures."""
    rng, samples = np.random.default_rng(half), []
    for puzzle in puzzles:
        right = rng.random() < 1 / (1 + (puzzle[1] / half) ** 2)
        cut = not right and rng.random() < 0.1
        outcome = "correct_valid" if right else "wrong_max_context" if cut else "wrong_logic"
        sample = make_sample(make_puzzle(*puzzle), "Text.", outcome)
        samples.append(sample | {"finish_reason": "length" if cut else "stop"})
    return write_run(folder, model, samples, **said)


def scores_of(frame):
    """Return what Inspect's metrics take of the responses of a frame."""
    scores = []
    for row in frame.rename(columns={"index": "number"}).itertuples():
        about = {"dataset": "cogniload", "d": row.d, "N": row.N, "rho": round(100 * row.rho, 9)}
        said = {"acc": int(row.correct), "acc_uncut": row.acc_uncut, "ending": row.ending}
        score = Score(value="C", metadata=said | {"overflow": float(row.ending == "cut")})
        about["index"] = int(row.number)
        scores.append(SampleScore(score=score, sample_id=str(row.id), sample_metadata=about))
    return scores


def read_row(page, table, model):
    return read_table(page.parent, table).set_index("model").loc[model]


def assert_equal(screen, places):
    """Compare figures of the first screen with those elsewhere, by their names."""
    for name, figures in places.items():
        assert figures == pytest.approx([screen[name]] * len(figures)), name


def test_a_run_of_fixed_puzzles_has_one_figure_everywhere(undrawn, tmp_path):
    runs, grid = tmp_path / "runs", [*SMALL.itertuples(index=False)]
    puzzles = [(*cell, index) for index in range(4) for cell in grid]
    one, two = answer(runs, "one", puzzles), answer(runs, "two", puzzles, half=60)
    page, frame = write_report(runs, tmp_path), read_samples(runs)
    screen, endings, glm, table = (
        read_row(page, name, "one") for name in ("overview", "endings", "glm", "thresholds")
    )
    threshold = table.query("threshold == 'ECL50' and meaning == 'projection'").iloc[0]
    (judged,) = gate_results(one, [two], 2).values()
    write_verdict(tmp_path / "gate.json", None, judged.verdict)
    gate = json.loads((tmp_path / "gate.json").read_text())
    (entry, length) = (
        yaml.safe_load(file.read_text())[0] for file in share_results(one, tmp_path, "me/puzzles")
    )
    assert length["value"] == float(f"{screen['ECL50']:.3g}")
    share = entry["value"] / 100
    assert share == pytest.approx(screen["accuracy"], abs=0.00005)  # it is rounded
    compared, mine = compare_runs(frame).overall.iloc[0], frame[frame["model"] == "one"]
    inspect, uncut = scoring.thresholds()(scores_of(mine)), scoring.uncut()(scores_of(mine))
    loads = [*zip(mine["d"], mine["N"], mine["rho"], mine["acc"], strict=True)]
    assert_equal(screen, {
        "accuracy": [compared["first_share"], gate["base"]],
        "cut_share": [endings["cut_share"], compared["first_overflow"], uncut["overflow"]],
        "acc_uncut": [endings["acc_uncut"], uncut["acc_uncut"]],
        "ECL50": [threshold["value"], glm["ECL50"], inspect["ECL50"], ecl50(loads)],
        "ECL50_low": [threshold["low"], inspect["ECL50_low"]],
        "ECL50_high": [threshold["high"], inspect["ECL50_high"]],
    })  # fmt: skip
    said, (N, low, high) = page_text(read_page(page)), (screen[f"ECL50{end}"] for end in ENDS)
    assert f"at {N:.0f} statements (95 % interval {low:.0f} to {high:.0f})" in said
    assert f"Solves {100 * screen['accuracy']:.1f} % of 144 puzzles" in said


def test_an_adaptive_run_has_one_figure_everywhere(undrawn, tmp_path):
    until = {"goal": "ECL50", "target": 0.4, "budget": 64}
    design, config = AdaptiveDesign(**until), {"model": "hf", "model_args": {}, "until": until}
    runs = answer(tmp_path / "runs", "asked", puzzles := design.ask(), half=150, config=config)
    page, frame = write_report(runs, tmp_path), read_samples(runs)
    design.tell(puzzles, frame["correct"], frame["cut"])
    screen, run = read_row(page, "overview", "asked"), read_row(page, "adaptive", "asked")
    table = read_row(page, "thresholds", "asked").query("threshold == 'ECL50'").iloc[0]
    estimate, inspect = design.estimate().ECL50, scoring.estimate(**until)(scores_of(frame))
    assert_equal(screen, {
        "ECL50": [run["value"], table["value"], estimate.value, inspect["ECL50"]],
        "ECL50_low": [run["low"], table["low"], estimate.low, inspect["ECL50_low"]],
        "ECL50_high": [run["high"], table["high"], estimate.high, inspect["ECL50_high"]],
    })  # fmt: skip
    (shared,) = share_results(runs, tmp_path, "me/puzzles")
    (entry,) = yaml.safe_load(shared.read_text())
    assert entry["value"] == pytest.approx(screen["ECL50"], rel=0.005)  # it is rounded
    assert run["known"] in entry["notes"]
    cited = json.loads((page.parent / "tables/cite.json").read_text())
    assert f"{screen['ECL50']:.0f} statements" in cited["results"][0]
    assert f"ECL50 {run['known']} statements" in design.summary()[1]  # the terminal's


def test_runs_along_a_line_are_compared_by_the_figures_of_their_pages(undrawn, tmp_path):
    puzzles = [(1, N, 50, index) for index in range(60) for N in (10, 30, 90, 250)]
    runs = [answer(tmp_path / f"{half}", f"half {half}", puzzles, half=half) for half in (20, 80)]
    page, compared = write_report(runs, tmp_path), compare_runs(read_samples(runs)).measures
    difference = compared.set_index("measure").loc["ECL50"]
    for side in ("first", "second"):
        screen = read_row(page, "overview", difference[side])
        assert_equal(screen, {"ECL50": [difference[f"{side}_value"]]})
        assert screen["meaning"] == "crossing"
    assert difference["method"] == "crossings"
    assert difference["low"] < difference["difference"] < difference["high"]


# What decides whether a load matters decides it for every output alike

SHORT = SMALL[SMALL["N"] < 100].replace({"N": {20: 5, 50: 9}, "d": {5: 2, 10: 3}})


def falls(d, N, rho):
    """Half of the puzzles of 70 statements are solved."""
    return 1 / (1 + (N / 70) ** 1.5)


MODELS = {
    "N breaks it": (falls, SMALL, 3),
    "d breaks it": (lambda d, N, rho: 0.95 - 0.08 * d, SMALL, 3),
    "few puzzles": (falls, SMALL, 2),
    "level": (lambda *_: 0.6, SMALL, 2),
    "guesses": (lambda d, N, rho: 1 / 3, SMALL, 2),
    "rises": (lambda d, N, rho: 0.9 - 0.6 / (1 + (N / 70) ** 2), SMALL, 3),
    "short": (lambda d, N, rho: 0.9 - 0.05 * N, SHORT, 2),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The frame of all models, whose responses are right with the chances of MODELS."""
    folder = tmp_path_factory.mktemp("runs")
    for seed, (model, (chance, grid, puzzles)) in enumerate(MODELS.items()):
        rng = np.random.default_rng(seed)
        samples = [
            make_sample(make_puzzle(row.d, row.N, row.rho_percent, index), "Text.", outcome)
            for index in range(puzzles)
            for row in grid.itertuples()
            for right in [rng.random() < chance(row.d, row.N, row.rho_percent / 100)]
            for outcome in ["correct_valid" if right else "wrong_logic"]
        ]
        write_run(folder, model, samples)
    return read_samples(folder)


@pytest.fixture(scope="module")
def part(runs):
    (part,) = build_parts({"CogniLoad": runs})
    return part


@pytest.mark.parametrize("model", MODELS)
def test_all_outputs_know_the_same_thresholds_and_loads(model, runs, part):
    mine = runs[runs["model"] == model]
    lost = is_at_chance(mine, LOADS)
    matter = set() if lost else {e.load.name for e in load_effects(mine, LOADS) if e.matters}
    expected = {"N breaks it": {"N"}, "d breaks it": {"d"}, "level": set(), "guesses": set()}
    assert matter == expected.get(model, matter)

    table = part.tables["thresholds"].data
    table = table[table["model"] == model].sort_values("meaning", ascending=False)
    told = [*part.overview[0].data.set_index("model").loc[[model], "meaning"], "projection"]
    of_ECL50 = table["threshold"] == "ECL50"
    table = table[np.where(of_ECL50, table["meaning"] == told[0], table["meaning"] == told[1])]
    table = table[table["status"] == "crossing"]
    known = table.set_index("threshold")["value"].dropna().to_dict()
    load_of = {"ECL50": "N", "NT50": "rho", "ID50": "d"}
    assert {load_of[name] for name in known} <= matter

    (verdict,) = (each for each in part.verdicts if each.name == model)
    lines = summarise([verdict])
    assert lines == [f"{model}: {verdict.headline}", *(f"  {s}" for s in verdict.paragraphs)]
    assert (verdict.breaks == UNBROKEN) == (not matter and not lost)
    if model == "few puzzles":  # of too few puzzles, at most which side of all N it lies on is told
        assert "ECL50" not in known
        assert f"{len(mine)} puzzles leave it open" in verdict.headline
    if "ECL50" in known:
        assert verdict.headline.startswith(
            f"Solves half of the puzzles at {known['ECL50']:.0f} statements ("
        )
        assert "N: from" in verdict.breaks
    elif "Solves half" in verdict.headline and "N" not in matter:
        assert {">", "<"} & {*verdict.headline}  # beyond what was tested

    loads = [*zip(mine["d"], mine["N"], mine["rho"], mine["acc"], strict=True)]
    numbers = {"ECL50": ecl50(loads), "NT50": nt50(loads), "ID50": id50(loads)}
    assert {name: at for name, at in numbers.items() if at is not None} == pytest.approx(known)

    measured = scoring.thresholds()(scores_of(mine))
    assert {name: measured[name] for name in load_of if name in measured} == pytest.approx(known)
    for name, (low, high) in table.set_index("threshold")[["low", "high"]].loc[[*known]].iterrows():
        assert (measured[f"{name}_low"], measured[f"{name}_high"]) == pytest.approx((low, high))

    pair = pd.concat([mine, mine.assign(model="other")])
    compared = compare_runs(pair).measures.set_index("measure")["difference"].dropna()
    assert {*compared.index} == {*known}

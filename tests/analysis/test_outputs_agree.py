"""What decides whether a load matters decides it for every output alike."""

import numpy as np
import pandas as pd
import pytest
from inspect_ai.scorer import SampleScore, Score
from lm_eval_layout import GRID, make_puzzle, make_sample, write_run

from cogniload_analysis import compare_runs, read_samples
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.display.sentences import UNBROKEN
from cogniload_analysis.matters import is_at_chance, load_effects
from cogniload_analysis.report.write import build_parts, summarise
from inspect_tasks.scoring import thresholds
from lm_eval_tasks.cogniload.task import ecl50, id50, nt50

SMALL = GRID[GRID["d"].isin([1, 5, 10]) & GRID["rho_percent"].isin([5, 50, 95])]
SHORT = SMALL[SMALL["N"] < 100].replace({"N": {20: 5, 50: 9}, "d": {5: 2, 10: 3}})


def falls(d, N, rho):
    """Half of the puzzles of 70 statements are solved."""
    return 1 / (1 + (N / 70) ** 1.5)


MODELS = {
    "N breaks it": (falls, SMALL, 3),
    "d breaks it": (lambda d, N, rho: 0.95 - 0.08 * d, SMALL, 3),
    "few puzzles": (falls, SMALL, 1),
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
    table = table[(table["model"] == model) & (table["meaning"] == "projection")]
    known = table.set_index("threshold")["value"].dropna().to_dict()
    load_of = {"ECL50": "N", "NT50": "rho", "ID50": "d"}
    assert {load_of[name] for name in known} <= matter

    (verdict,) = (each for each in part.verdicts if each.name == model)
    lines = summarise([verdict])
    assert lines == [f"{model}: {verdict.headline}", *(f"  {s}" for s in verdict.paragraphs)]
    assert (verdict.breaks == UNBROKEN) == (not matter and not lost)
    if "ECL50" in known:
        assert verdict.headline.startswith(
            f"Solves half of the puzzles at {known['ECL50']:.0f} statements ("
        )
        assert "N: from" in verdict.breaks
    elif "Solves half" in verdict.headline and "N" not in matter:
        assert {">", "<"} & {*verdict.headline}  # beyond what was tested

    right = mine["correct"].astype(int)
    loads = tuple(zip(mine["d"], mine["N"], mine["rho"], right, strict=True))
    numbers = {"ECL50": ecl50(loads), "NT50": nt50(loads), "ID50": id50(loads)}
    assert {name: at for name, at in numbers.items() if at is not None} == pytest.approx(known)

    scores = [
        SampleScore(
            score=Score(value="C", metadata={"acc": int(row.correct)}), sample_id=str(row.id),
            sample_metadata={"d": row.d, "N": row.N, "rho": 100 * row.rho},
        )
        for row in mine.itertuples()
    ]  # fmt: skip
    measured = thresholds()(scores)
    assert {name: measured[name] for name in load_of if name in measured} == pytest.approx(known)
    for name, (low, high) in table.set_index("threshold")[["low", "high"]].loc[[*known]].iterrows():
        assert (measured[f"{name}_low"], measured[f"{name}_high"]) == pytest.approx((low, high))

    pair = pd.concat([mine, mine.assign(model="other")])
    compared = compare_runs(pair).measures.set_index("measure")["difference"].dropna()
    assert {*compared.index} == {*known}

"""How few puzzles an adaptive run needs, and how often its intervals hold the truth.

The published models and, of FACTOR, the published decays answer at random. In the first table, the
paper's GLM is true ("GLM"), a guessing floor and Table 3's interactions are ("FI"), and one in
twenty answers is lost besides ("lapses"). The second has truths that are unlike the published
models. The prior always leaves the model itself out. The third has a plain truth: a logistic curve
of slope 4 (logits a unit of log10 N) between a floor of one sixth and a ceiling of 100 or 98 %,
where N alone varies (at d = 5) or all loads do. Beside it stands the least n at which answers tell
each N 20 % from ECL50 apart from it, for whom knows the place of ECL50, but has to learn the slope
and the ceiling. The fourth has decays as printed
("line"), with 2 % of all answers lost and 3 % guessed ("lapses"), and with what is easy capped at
98 % and 3 % guessed ("cap"); beside the design stands an even grid, 5 to 50 puzzles for each N from
1 to 39 (the paper has 50), read by the same posterior.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm
from simulated import percent, print_table
from tqdm import tqdm

from cogniload_analysis import PAPER_MEANS, AdaptiveDesign, published_table
from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import GLM_LINK, refit_published
from cogniload_analysis.cogniload.capacity.prior import published_prior
from cogniload_analysis.factor import decay_design
from cogniload_analysis.factor.decay_design import DecayDesign
from cogniload_analysis.stats import half_width

Job = tuple[Any, str, int]
"""What answers, in which world, and the seed."""

TABLE_2 = published_table("glm").set_index("model")
MODELS = TABLE_2.index[TABLE_2["ECL50"].between(8, 400)].tolist()
LIKE_PUBLISHED = [model for model in MODELS if model != "gemini-2.5-flash-lite"]
WORLDS = ("GLM", "FI", "lapses")
TRUTHS = (
    *("published", "steep", "cliff", "between cells .05", "between cells .10"),
    "lost as wrong",
)
DECAYS = ("line", "lapses", "cap")
LAPSES, LOST, TARGET = 0.05, 0.10, 0.20
SLOPE, CHANCE = 4, 1 / 6
RANGES = {20: (2, 120), 40: (5, 250), 400: (50, 2500), 1500: (150, 10_000), 3: (1, 20)}
"""The range of N that a user would set for a model, by its ECL50."""
LAPSE, FLOOR, TARGETS, GRID_EACH = 0.02, 0.03, (0.20, 0.10), (5, 10, 15, 20, 30, 40, 50)
LEAST_N_EFF = 2.0
"""Below this, ±20 % of N_eff is less than half a variable."""

prior_without = cache(lambda model: published_prior(without=[model]))


def run_all(run: Callable[[Job], list[dict]], jobs: Sequence[Job]) -> pd.DataFrame:
    """Return the rows of all jobs as a frame; a job's rows are those that `run` returns."""
    with ProcessPoolExecutor() as pool:
        results = tqdm(pool.map(run, jobs, chunksize=4), total=len(jobs), disable=None)
        return pd.DataFrame([row for rows in results for row in rows])


def at_stop(rows: pd.DataFrame, target: float, least: int, run: Sequence[str]) -> pd.DataFrame:
    """Return the batch at which each run would have stopped, or else its last one.

    `least` is the number of puzzles before which no run stops, and `run` the columns of a run.
    `needed` is the puzzles to the target, infinite where the run never met it.
    """
    met = (rows["n"] >= least) & (rows["width"] <= target)
    last = ~rows.duplicated(list(run), keep="last")
    rows = rows.assign(met=met, needed=rows["n"].where(met, np.inf))
    return rows[met | last].groupby(list(run)).head(1)


@cache
def known(model: str, world: str) -> tuple[Callable, float]:
    """Return a model's accuracy by d, N and rho (a fraction), and its true ECL50."""
    link, share = GLM_LINK if world == "GLM" else Link(), 1 - LAPSES if world == "lapses" else 1
    curve = refit_published(model, link, interactions=world != "GLM").accuracy

    def above_half(x: float) -> float:
        return float(np.ravel(share * curve(PAPER_MEANS.d, 10**x, PAPER_MEANS.rho))[0]) - 0.5

    return lambda *loads: share * curve(*loads), 10 ** brentq(above_half, -3, 6)


def run_model(job: Job) -> list[dict]:
    """One model in one world, with adaptively chosen puzzles: one row per batch."""
    model, world, seed = job
    key = [MODELS.index(model), WORLDS.index(world)] if world in WORLDS else [TRUTHS.index(world)]
    rng = np.random.default_rng([seed, *key])
    accuracy, truth = known(model, world)
    if world == "cliff":
        truth = 10 ** rng.uniform(np.log10(15), np.log10(250))
    budget = 1600 if world in WORLDS else 1000
    design = AdaptiveDesign(TARGET, budget, seed=seed, prior=prior_without(model))
    cells: dict[tuple, float] = {}
    while not design.done:
        puzzles = design.ask()
        d, N, rho, _ = np.array(puzzles).T
        p = np.where(truth > N, 0.95, 0.1) if world == "cliff" else accuracy(d, N, rho / 100)
        if world.startswith("between"):
            total = 1 / float(world.split()[-1]) - 1
            for puzzle, mean in zip(puzzles, np.clip(p, 1e-6, 1 - 1e-6), strict=True):
                if puzzle[:3] not in cells:
                    cells[puzzle[:3]] = rng.beta(mean * total, (1 - mean) * total)
            p = np.array([cells[puzzle[:3]] for puzzle in puzzles])
        solved, lost = rng.random(len(p)) < p, np.zeros(len(p), bool)
        if world == "lost as wrong":
            lost = rng.random(len(p)) < LOST
        design.tell(puzzles, solved & ~lost, lost)
    about = {"model": model, "seed": seed, "flagged": bool(design.estimate().flags)}
    return [
        about
        | {"n": batch.n, "width": half_width(batch.low, batch.high)}
        | {"inside": batch.low <= truth <= batch.high}
        | {"error": np.log10(np.clip(batch.value, 1, 4000) / truth)}
        for batch in design.batches[1:]
    ]


def puzzles() -> Iterator[list[str]]:
    """Yield in how many models the median run meets the target, and what was true at the stop."""
    yield ["world", "models in 700 puzzles", "in 1,000", "held", "bias"]
    for world in WORLDS:
        rows = run_all(run_model, [*product(MODELS, [world], range(20))])
        stops = at_stop(rows, TARGET, AdaptiveDesign.STOP_AFTER, ["model", "seed"])
        medians = stops.groupby("model")["needed"].median()
        met = [f"{(medians <= most).sum()} of {len(MODELS)}" for most in (700, 1000)]
        yield [world, *met, percent(stops["inside"].mean()), bias(stops["error"])]


def coverage() -> Iterator[list[str]]:
    """Yield what intervals hold in each world, and how many runs have a flag."""
    yield ["truth", "runs", "held", "held or flagged", "bias", "puzzles (median, mean)", "any flag"]
    for world in TRUTHS:
        models = ["gemini-2.5-pro"] if world == "steep" else LIKE_PUBLISHED
        runs = 600 if world == "between cells .05" else 200
        jobs = [(models[seed % len(models)], world, seed) for seed in range(runs)]
        rows = run_all(run_model, jobs).groupby("seed").tail(1)
        flagged, held, n = rows["flagged"], rows["inside"], rows["n"]
        shares = [percent(share.mean()) for share in (held, held | flagged, flagged)]
        size = f"{n.median():.0f}, {n.mean():.0f}"
        yield [world, str(len(rows)), *shares[:2], bias(rows["error"]), size, shares[2]]


def plain_accuracy(ECL50: float, lapse: float, d: Any, N: Any, rho: Any) -> Any:
    """Return the accuracy of a plain truth, which crosses 50 % at ECL50, d = 5.2, rho = 50."""
    span, u = 1 - CHANCE - lapse, (rho - 50) / 45
    level = logit((0.5 - CHANCE) / span) - 0.35 * (d - PAPER_MEANS.d) + 0.25 * u + 0.6 * u**2
    return CHANCE + span * expit(level - SLOPE * np.log10(N / ECL50))


def run_plain(job: Job) -> list[dict]:
    """One plain truth, every second time with lapses: its last batch."""
    (ECL50, axes), _, seed = job
    rng = np.random.default_rng([seed, ECL50, axes])
    held: dict[str, Any] = {} if axes else {"N": RANGES[ECL50], "at": {"d": 5}}
    design = AdaptiveDesign(TARGET, 2000, seed=seed, **held)
    while not design.done:
        d, N, rho, _ = np.array(design.ask()).T
        p = plain_accuracy(ECL50, LAPSE * (seed % 2), d if axes else PAPER_MEANS.d, N, rho)
        design.tell(design.ask(), rng.random(len(p)) < p)
    last = design.batches[-1]
    error = np.log10(np.clip(last.value, 0.1, 1e5) / ECL50)
    return [{"n": last.n, "inside": last.low <= ECL50 <= last.high, "error": error}]


def least_to_learn(lapse: float) -> float:
    """Return the least n of a plain truth: by the best design whose slope and ceiling are open."""
    x, span = np.linspace(-1.2, 1.2, 241), 1 - CHANCE - lapse
    half = (0.5 - CHANCE) / span
    s = expit(logit(half) - SLOPE * x)
    p, apart = CHANCE + span * s, np.log10(1 + TARGET)
    slopes = np.column_stack([span * s * (1 - s), -x * span * s * (1 - s), -s])
    tells = slopes / np.sqrt(p * (1 - p))[:, None]
    wanted = np.array([[-1, end, 1 / (1 - half) / span] for end in (-apart, apart)]).T
    weights = np.full(len(x), 1 / len(x))
    for _ in range(5000):  # Titterington's multiplicative algorithm
        seen = tells @ np.linalg.solve(tells.T @ (weights[:, None] * tells), wanted)
        value = weights @ (seen**2).sum(axis=1)
        weights *= np.sqrt((seen**2).sum(axis=1) / value)
        weights /= weights.sum()
    return float(norm.isf(0.025) ** 2 * value / 2 / (SLOPE * apart) ** 2)


def plain() -> Iterator[list[str]]:
    """Yield the puzzles to ECL50 of a plain truth, intervals that held, bias."""
    yield ["ECL50", "varies", "runs", "puzzles (median, mean)", "over the least", "held", "bias"]
    least = (least_to_learn(0) + least_to_learn(LAPSE)) / 2
    for ECL50, axes in [*product(RANGES, [False]), (20, True), (40, True)]:
        rows = run_all(run_plain, [((ECL50, axes), "plain", seed) for seed in range(60)])
        n = rows["n"]
        size = [f"{n.median():.0f}, {n.mean():.0f}", f"{n.median() / least:.2f}"]
        held = percent(rows["inside"].mean())
        yield [str(ECL50), "d, N, rho" if axes else "N", "60", *size, held, bias(rows["error"])]


def bias(errors: pd.Series) -> str:
    """Return the bias of estimates, by the mean of their logarithmic errors."""
    return f"{100 * (10 ** errors.mean() - 1):+.1f} %"


def conditions() -> list[tuple[float, float]]:
    """Return the CDF and CDO of the published conditions that have N_eff in the range of N."""
    names = decay_design.PUBLISHED
    tables = pd.concat([published_table(f"factor_{name}") for name in names])
    smallest, largest = DecayDesign().N
    within = (-tables["CDO"] / tables["CDF"]).between(max(LEAST_N_EFF, smallest), largest)
    return list(tables.loc[within, ["CDF", "CDO"]].itertuples(index=False, name=None))


def run_decay(job: Job) -> list[dict]:
    """One condition in one world, with adaptive puzzles and the grid's: one row per batch."""
    (CDF, CDO), world, seed = job
    rng = np.random.default_rng([seed, DECAYS.index(world), abs(int(1e6 * CDF + 1e4 * CDO))])
    lapsed = np.log((1 - FLOOR - LAPSE) / (1 - FLOOR)) if world == "lapses" else 0
    true = -(CDO + lapsed) / CDF  # where the line of what is neither guessed nor lost reaches 1

    def accuracy(N: np.ndarray) -> np.ndarray:
        line = np.exp(np.minimum(CDF * N + CDO, 0))
        if world == "lapses":
            return FLOOR + (1 - FLOOR - LAPSE) * line
        return FLOOR + (1 - FLOOR) * np.minimum(line, 1 - LAPSE) if world == "cap" else line

    design = DecayDesign(goal="N_eff", target=min(TARGETS), budget=2000)
    while not design.done:
        N = np.array([puzzle.N for puzzle in design.ask()])
        design.tell(design.ask(), rng.random(len(N)) < accuracy(N))
    estimates: list[Any] = [("adaptive", batch.n, batch) for batch in design.batches[1:]]
    N = design.candidates
    solved = rng.random((max(GRID_EACH), len(N))) < accuracy(N)
    for each in GRID_EACH:
        counts = pd.DataFrame({"N": N, "right": solved[:each].sum(axis=0), "total": each})
        belief = decay_design.find_decay(counts, decay_design.published_prior())
        estimates.append(("grid", each * len(N), design.find_goal(belief)))
    return [
        {"condition": job[0], "world": world, "seed": seed, "design": name, "n": n}
        | {"width": design.half_width(at)}
        | {"inside": at.low <= true <= at.high, "error": at.value / true - 1}
        for name, n, at in estimates
    ]


def decays() -> Iterator[list[str]]:
    """Yield the runs that met a target, their puzzles, intervals that held, mean error."""
    columns = ("met", "puzzles", "held", "error")
    yield ["world", "target", "adaptive: met", *columns[1:], "grid: met", *columns[1:]]
    rows = run_all(run_decay, [*product(conditions(), DECAYS, range(5))])
    run = ["design", "condition", "world", "seed"]
    for target, world in product(TARGETS, DECAYS):
        stops = at_stop(rows[rows["world"] == world], target, DecayDesign.STOP_AFTER, run)
        row = [world, f"±{100 * target:g} %"]
        for _, runs in stops.groupby("design"):
            met, held = (f"{100 * runs[name].mean():.0f} %" for name in ("met", "inside"))
            error = percent(runs.loc[runs["met"], "error"].mean())
            row += [met, f"{runs['needed'].median():,.0f}", held, error]
        yield row


if __name__ == "__main__":
    for table in (puzzles, coverage, plain, decays):
        print_table(table())

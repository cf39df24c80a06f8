"""Before a run: how many puzzles tell two models apart, or a threshold, and what they cost."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from cogniload_analysis.cogniload.analysis import read_samples
from cogniload_analysis.cogniload.capacity import goodness_of_fit as fit
from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.fitted import Fitted
from cogniload_analysis.compare.gate import ERROR, gate
from cogniload_analysis.compare.paired import POWER, puzzles_needed
from cogniload_analysis.compare.why import drop_twins
from cogniload_analysis.frame import adaptive_models
from cogniload_analysis.published import published_table
from cogniload_analysis.stats import TAILS
from cogniload_analysis.words import say
from cogniload_gen.checks import check_choice

_RESPONSE_TOKENS = 5000
_THROUGHPUT = 2000

# Shares of puzzles that one of two models alone solves: a copy of lower precision to two samples of
# one model. And the puzzles of a gate that looks after each batch and finds nothing lost, in half
# and in nine tenths of the gates, over flips / margin ** 2 (studies/gate.py).
_FLIPS, _OF_LOOKS = (0.02, 0.05, 0.1, 0.2, 0.38), (7.6, 16.0)


@dataclass(frozen=True)
class ComparisonPlan:
    """What it takes to tell a model from one that solves `detect` less, on a number of `cells`.

    `accuracy` and `detect` are fractions. `same_puzzles` and `other_puzzles` count the puzzles of
    each run, where both answer the same and where they don't. `prompt_tokens` and
    `response_tokens` are means a puzzle, `throughput` tokens of response a second and GPU, `slope`
    is that of the model's GLM over log10 N, and `price` that of a million tokens of prompts and of
    responses, if it is known.
    """

    like: str
    accuracy: float
    detect: float
    same_puzzles: int
    other_puzzles: int
    prompt_tokens: float
    response_tokens: float
    throughput: float
    slope: float
    cells: int
    price: tuple[float, float] | None = None

    def gpu_hours(self, puzzles: int) -> float:
        """Return the hours of one GPU for the responses to a number of puzzles."""
        return puzzles * self.response_tokens / self.throughput / 3600

    def summary(self) -> str:
        """Return the plan as text."""
        runs = {"both runs answer the same puzzles": self.same_puzzles}
        runs["each run has its own puzzles"] = self.other_puzzles
        puzzles = np.array(list(runs.values()))
        columns = {
            "": list(runs),
            "puzzles a run": map("{:,}".format, puzzles),
            "a cell": np.ceil(puzzles / self.cells).astype(int),
            "prompt tokens": map("{:.2f} M".format, puzzles * self.prompt_tokens / 1e6),
            "response tokens": map("{:.2f} M".format, puzzles * self.response_tokens / 1e6),
            "GPU hours": [f"{self.gpu_hours(number):.2f}" for number in puzzles],
        }
        if self.price:
            tokens = self.prompt_tokens, self.response_tokens
            columns["cost"] = map("{:,.2f}".format, puzzles * np.dot(self.price, tokens) / 1e6)
        table = pd.DataFrame({name: list(column) for name, column in columns.items()})
        shares = {"detect": 100 * self.detect, "accuracy": 100 * self.accuracy}
        shown = {"table": table.to_string(index=False), "power": 100 * POWER}
        said = [say("plan", **vars(self) | shares | shown), say_least(self.slope)]
        return "\n\n".join(said)


def plan_comparison(
    like: str,
    detect: float,
    *,
    response_tokens: float | None = None,
    throughput: float = _THROUGHPUT,
    price: tuple[float, float] | None = None,
) -> ComparisonPlan:
    """Return the puzzles that tell a model from one that solves `detect` less, and their cost.

    `like` is a model of the paper's Table 2, on the paper's grid, or the results of a run, on its
    own puzzles; `detect` is a fraction, `response_tokens` the mean of a response (of a published
    model 5,000, and of a run its own), `throughput` the tokens of response a second and GPU (the
    prompts' processing is left out), and `price` that of a million tokens of prompts and of
    responses. Raises ValueError for another model, for an adaptive run, for a difference that is no
    fraction below the model's accuracy, and for tokens or a throughput that are not above 0.

    >>> plan = plan_comparison("Qwen3-8B", 0.02)
    >>> plan.same_puzzles, plan.other_puzzles
    (7275, 9460)
    """
    for name, value in (("response_tokens", response_tokens), ("throughput", throughput)):
        if value is not None and not 0 < value < float("inf"):
            raise ValueError(f"{name} must be a number above 0, got {value!r}")
    find = _read_run if Path(like).exists() else _find
    better, cells, prompts, responses, slope = find(like)
    accuracy = float(better.mean())
    if not 0 < detect < accuracy:
        raise ValueError(
            f"detect must be a fraction above 0 and below the accuracy of {like}, "
            f"{accuracy:.3f}: got {detect!r}"
        )
    same, other = count_puzzles(better, lower_accuracies(better, detect))
    counts = accuracy, detect, same, other
    rate = throughput, slope, cells
    return ComparisonPlan(like, *counts, prompts, response_tokens or responses, *rate, price)


def _find(like: str) -> tuple[np.ndarray, int, float, float, float]:
    """Return a published model's accuracies on the paper's grid, and how many cells that has.

    Also the tokens of a prompt and of a response, and the slope over log10 N.
    """
    published = published_table("glm").set_index("model")
    check_choice("like", like, [*published.index])
    slope = float(published["beta_N"][like])
    better = fit.expected_accuracies(like)
    return better, len(better), _mean_prompt_tokens(like), _RESPONSE_TOKENS, slope


def _read_run(like: str) -> tuple[np.ndarray, int, float, float, float]:
    """Return the same of a run's model, by its fit, on the run's own puzzles."""
    frame = drop_twins(read_samples([like]))
    if (models := frame["model"].nunique()) != 1:
        raise ValueError(f"like must be the results of one model, got {models} in {like}")
    if adaptive_models(frame):
        raise ValueError(f"like must be a run of fixed puzzles: the answers chose those of {like}")
    glm, puzzles = Fitted(frame).glm, frame.drop_duplicates("id")[["d", "N", "rho"]]
    spent = frame[["spent_prompt_tokens", "spent_response_tokens"]].mean().fillna(_RESPONSE_TOKENS)
    prompts, responses = map(float, spent)
    better, slope = np.asarray(glm.predict(**puzzles)), float(glm.params["beta_N"])
    return better, len(glm.cells), prompts, responses, slope


def least_puzzles(slope: float, target: float = 0.20, d: int = 5, floor: float = 1) -> int:
    """Return the puzzles without which no design knows an ECL to within `target`, a fraction.

    `slope` is that of the model's curve, in logits a unit of log10 N. The bound of Cramér and Rao
    is that of a design that knows all of the curve but its place. The curve falls from 99 % to
    `floor` times chance at `d`, 0 where nothing can be guessed. Raises ValueError for a slope or a
    target that is out of range.

    >>> least_puzzles(3), least_puzzles(3, floor=0)
    (386, 278)
    """
    for name, value in (("slope", abs(slope)), ("target", target)):
        if not 0 < value < float("inf"):
            raise ValueError(f"{name} must be a number other than 0, got {value!r}")
    link, logits, of_d = Link(floor), np.linspace(-5, 5, 2001), np.array(d)
    accuracy = link.accuracy(logits, of_d)
    information = np.max(link.slope(logits, of_d) ** 2 / (accuracy * (1 - accuracy)))
    deviations = norm.ppf(TAILS[1]) / (slope * np.log10(1 + target))
    return round(deviations**2 / information)


def say_least(slope: float) -> str:
    """Say how many puzzles ECL50 to within ±20 % takes at least, for a slope over log10 N."""
    least, without = least_puzzles(slope), least_puzzles(slope, floor=0)
    return say("least_puzzles", slope=abs(slope), least=least, without=without)


def say_gate(margin: float) -> str:
    """Say how many puzzles a gate takes at a margin in points, by the share that flips.

    ValueError for a margin that no gate takes.
    """
    gate([(1, 1)], margin)
    rows = {}
    for flips in _FLIPS:
        once = puzzles_needed(flips, margin / 100, norm.isf(ERROR))
        looks = [times * flips / (margin / 100) ** 2 for times in _OF_LOOKS]
        rows[f"{flips:.0%}"] = [f"{round(count, -1):,.0f}" for count in (once, *looks)]
    columns = ["two finished runs", "asked: median", "asked: 90 %"]
    table = pd.DataFrame(rows, columns).T.to_string()
    return say("gate_plan", margin=margin, power=100 * POWER, table=table)


def lower_accuracies(better: np.ndarray, detect: float) -> np.ndarray:
    """Return accuracies that are less by `detect` in the mean, and by one step in the logit."""
    eta = np.log(better) - np.log1p(-better)

    def miss(shift: float) -> float:
        return float(better.mean() - expit(eta - shift).mean()) - detect

    return expit(eta - brentq(miss, 0, 100))


def count_puzzles(first: np.ndarray, second: np.ndarray) -> tuple[int, int]:
    """Return the puzzles a run that tell two models apart: the same for both, and others.

    `first` and `second` are their accuracies in each cell. Within a cell they err independently.
    """
    apart = first - second
    within = (first * (1 - first) + second * (1 - second)).mean()
    overall = sum(cells.mean() * (1 - cells.mean()) for cells in (first, second))
    same, other = (
        int(np.ceil(puzzles_needed(float(variance), float(apart.mean()))))
        for variance in (within + apart.var(), overall)
    )
    return same, other


def _mean_prompt_tokens(model: str) -> float:
    """Return a model's mean prompt over the paper's grid (Tables 7 to 10).

    Cells that are not printed take the median of the other models.
    """
    table = published_table("prompt_tokens")
    by_cell = table.pivot(index=["N", "d"], columns="model", values="prompt_tokens_mean")
    of_model = by_cell.get(fit.FULL_NAMES.get(model, model), pd.Series(np.nan, by_cell.index))
    return float(of_model.fillna(by_cell.median(axis=1)).mean())

"""`cogniload demo`: the whole way once, with small models on the CPU that come with the package.

Two checkpoints of a model that tracks puzzles of d = 1 aloud, and breaks (models/README.md), and a
simulated model, whose limit and cause can be held against what is found.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from cogniload_analysis import read_samples
from cogniload_analysis.report.compare_runs import compare_runs, explain_results
from cogniload_analysis.report.write import PAGE, write_report
from cogniload_gen.answers.choose_twins import make_twins
from lm_eval_tasks.ask_twins import ask_twins
from lm_eval_tasks.cogniload.simulated import SIMULATED
from lm_eval_tasks.evaluation import Evaluation

MODELS = Path(__file__).parents[1] / "models"
WHOLE, HALF = "small-reasoner", "small-reasoner-half"

# With how much hay the simulated model solves half: its ECL50 at rho = 50 % is 20.
_HALF_AT = 10

UNTIL: dict[str, Any] = {"until": "ECL50±20%", "at": "d=1,rho=50", "N": "4..96", "budget": 400}
GRID = {"d": 1, "N": [4, 8, 16, 32], "rho": 50, "num_puzzles": 25}
WINDOW, LONGEST = 1024, 520
"""Tokens of a prompt and its response, and of a response."""

TWINS, _REPORT = 480, "report"


def run_demo(out: Path) -> list[str]:
    """Evaluate the models into `out`, write their report, and return what was found, in lines.

    The same call goes on where it was stopped.
    """
    import torch

    torch.set_num_threads(1)  # more would wait for each other: the models are small
    carried = _measure(WHOLE, out)
    planted = _measure(SIMULATED, out)
    grids = {name: out / "same-puzzles" / name for name in (WHOLE, HALF)}
    for name, run in grids.items():
        print(f"asking {name} the same puzzles", flush=True)
        _evaluation(name, **GRID).run(run)
    (better, *_) = compare_runs(read_samples(grids)).conclusions
    return [
        *carried,
        better,
        f"Found of a simulated model whose ECL50 is {2 * _HALF_AT} and whose cause is distraction:",
        *planted,
        f"report   {out / WHOLE / _REPORT / PAGE}",
    ]


def _measure(name: str, out: Path) -> tuple[str, str]:
    """Measure a model's ECL50, and why it fails; write its report, and return both in words."""
    run = out / name
    print(f"asking {name} until its ECL50 is known", flush=True)
    model = _evaluation(name)
    replace(model, **UNTIL).run(run)
    print(f"asking {name} twins of its failures", flush=True)
    twins = ask_twins(make_twins(run, TWINS, 0), run / "why", model)
    headlines: list[str] = []
    write_report({name: run}, run / _REPORT, force=True, say=headlines.append)
    return headlines[0], f"  {explain_results([run, twins.folder])[0]}"


def _evaluation(name: str, **puzzles: object) -> Evaluation:
    """Return the evaluation of a model, on puzzles."""
    if name == SIMULATED:
        return Evaluation(SIMULATED, {"half_at": _HALF_AT})
    return Evaluation(
        model="hf",
        model_args={"pretrained": str(MODELS / name), "dtype": "float32"},
        device="cpu",
        batch_size="64",
        apply_chat_template=True,
        gen_kwargs={"max_gen_toks": LONGEST},
        metadata={"cogniload": {"context_budget": WINDOW} | puzzles},
    )

"""`--sweep`: the same puzzles at several levels of effort, or of a budget; a folder a level.

Servers ignore settings silently, and overrun budgets. Both show in the tokens of the same puzzles.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import ttest_1samp

from cogniload_gen.tokens import estimate
from lm_eval_tasks.configuration import read_configuration
from lm_eval_tasks.resume import Answers, Record
from lm_eval_tasks.runner import evaluate
from lm_eval_tasks.status import each_warning_once

BUDGETS = ("tokens", "toks", "budget")
"""How the names of settings end that limit tokens."""

LENIENT, OVERRUN, SURPRISE = 1.25, 0.05, 0.05
"""A budget is not obeyed if more than this share of the responses exceeds it by a quarter, and a
setting makes no known difference if the tokens' paired t test has a larger p."""


def sweep(arguments: Namespace, others: Sequence[str]) -> None:
    """Run `cogniload eval` at each level of a setting, such as reasoning_effort=low,high.

    The setting is one of --model_args if it is given there, else one of --gen_kwargs. ValueError
    for one without two levels, and as of `run`.
    """
    name, _, listed = str(arguments.sweep).partition("=")
    levels = [int(level) if level.isdecimal() else level for level in listed.split(",")]
    if not name or len(set(levels)) < max(len(levels), 2) or "" in levels:
        raise ValueError(
            f"sweep must be as reasoning_effort=low,medium,high, got {arguments.sweep!r}"
        )
    folders = {}
    with each_warning_once():
        for level in levels:
            config, own = read_configuration(arguments, others)
            place = "model_args" if name in (config.model_args or {}) else "gen_kwargs"
            setattr(config, place, {**(getattr(config, place) or {}), name: level})
            folders[level] = own.folder / f"{name}={level}"
            evaluate(config, replace(own, folder=folders[level]))
    print("\n".join(say_levels(name, folders)))


def say_levels(name: str, folders: dict[int | str, Path]) -> list[str]:
    """Say what each level spent, a line each, and whether a setting was ignored or overrun."""
    lines, spent = [], []
    for level, folder in folders.items():
        answers = dict(Answers([folder]))
        spent.append({key: it["response_tokens"] for key, it in answers.items()})
        known = [tokens for tokens in spent[-1].values() if tokens is not None]
        accuracy = np.mean([record.get("acc", 0) for record in answers.values() or [{}]])
        tokens = f"{np.mean(known):,.0f} tokens a response" if known else "tokens not counted"
        lines.append(f"{name}={level}: {len(answers):,} answers, {accuracy:.1%} right, {tokens}")
        over: list[bool] = []
        if isinstance(level, int) and name.endswith(BUDGETS):
            over = [_spent(name, record) > LENIENT * level for record in answers.values()]
        if over and np.mean(over) > OVERRUN:
            lines.append(f"note: {sum(over)} of {len(over)} responses overrun {name}={level}")
    both = [key for key, tokens in spent[0].items() if tokens and spent[-1].get(key)]
    ratios = np.log([spent[-1][key] / spent[0][key] for key in both])
    if len(ratios) > 1 and (not np.ptp(ratios) or ttest_1samp(ratios, 0).pvalue > SURPRISE):
        lines.append(
            f"note: {name} makes no known difference: the same {len(both)} puzzles take "
            f"{np.exp(ratios.mean()):.2f} times the tokens at the last level as at the first"
        )
    return lines


def _spent(name: str, record: Record) -> int:
    """Return the tokens that a budget is of: those of the reasoning, or of the whole response."""
    if "think" in name:
        return estimate(record.get("reasoning") or "")
    return int(record["response_tokens"] or 0)

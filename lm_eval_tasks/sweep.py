"""`--sweep`: the same puzzles at several levels of effort, or of a budget; a folder a level.

Servers ignore settings silently, and overrun budgets. Both show in the tokens of the same puzzles.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_1samp

from cogniload_gen.answers.sample import as_count
from cogniload_gen.tokens import estimate
from lm_eval_tasks.answers_file import Answers, Record
from lm_eval_tasks.evaluation import Evaluation
from lm_eval_tasks.lm_eval_private import read_levels
from lm_eval_tasks.runner import Results, report_of

# How the names of settings end that limit tokens.
_BUDGETS = ("tokens", "toks", "budget")

# A budget is not obeyed if more than this share of the responses exceeds it by a quarter.
_LENIENT, _OVERRUN = 1.25, 0.05


def sweep(evaluation: Evaluation, setting: str, out: str | Path, **how: Any) -> Iterator[Results]:
    """Run an evaluation at each level of a setting, such as reasoning_effort=low,high.

    The setting is one of `model_args` if it is given there, else one of `gen_kwargs`, and a level
    has the type that it would have there. Each has a folder in `out`; `how` is as for
    `Evaluation.run`. Yields the results of each level, up to one that a cap has stopped, and then
    what each spent. ValueError for a setting without two levels, and as of `Evaluation.run`.
    """
    name, _, listed = setting.partition("=")
    name, levels = name.strip(), read_levels(listed)
    if not name or len({*map(repr, levels.values())}) < max(len(levels), 2) or "" in levels:
        raise ValueError(f"sweep must be as reasoning_effort=low,medium,high, got {setting!r}")
    where = "model_args" if name in evaluation.model_args else "gen_kwargs"
    folders, scored = {}, True
    for text, level in levels.items():
        settings: Any = {where: {**getattr(evaluation, where), name: level}}
        folders[text] = Path(out) / f"{name}={text}".replace("/", "-")
        results = replace(evaluation, **settings).run(folders[text], **how)
        yield results
        if results.stopped:
            return
        scored = scored and bool(results.scores)
    report = report_of(Path(out)) if scored else ""
    yield Results(Path(out), lines=_say_levels(name, folders), next=report)


def _say_levels(name: str, folders: Mapping[str, Path]) -> list[str]:
    """Say what each level spent, a line each, and whether a setting was ignored or overrun."""
    lines, spent = [], []
    for level, folder in folders.items():
        answers = dict(Answers([folder]))
        spent.append({key: as_count(it.get("response_tokens")) for key, it in answers.items()})
        known = [tokens for tokens in spent[-1].values() if tokens is not None]
        scores = [record["acc"] for record in answers.values() if "acc" in record]
        right = f"{np.mean(scores):.1%} right, " if scores else ""
        tokens = f"{np.mean(known):,.0f} tokens a response" if known else "tokens not counted"
        lines.append(f"{name}={level}: {len(answers):,} answers, {right}{tokens}")
        over: list[bool] = []
        if level.isdecimal() and name.endswith(_BUDGETS):
            over = [_spent(name, record) > _LENIENT * int(level) for record in answers.values()]
        if over and np.mean(over) > _OVERRUN:
            lines.append(f"note: {sum(over)} of {len(over)} responses overrun {name}={level}")
    ends = spent[0], spent[-1]
    both = [key for key in ends[0] if all(of.get(key) for of in ends)]
    tokens_of = [[float(of[key] or 0) for key in both] for of in ends]
    ratios = np.log(np.divide(tokens_of[1], tokens_of[0]))
    if len(ratios) > 1:
        bounds = ttest_1samp(ratios, 0).confidence_interval() if np.ptp(ratios) else ratios[:2]
        times, least, most = np.exp((ratios.mean(), *bounds))
        if least <= 1 <= most:
            lines.append(
                f"note: at the last level of {name}, the same {len(both)} puzzles take {times:.2f} "
                f"times the tokens as at the first (95 % interval {least:.2f} to {most:.2f})"
            )
    return lines


def _spent(name: str, record: Record) -> int:
    """Return the tokens that a budget is of: those of the reasoning, or of the whole response."""
    if "think" in name:
        return estimate(record.get("reasoning") or "")
    return as_count(record.get("response_tokens")) or 0

"""The commands about responses at hand: score and steps."""

import shlex
from argparse import Namespace
from collections import Counter
from math import sqrt

from cogniload_gen.benchmark import OutcomeName
from cogniload_gen.commands.printing import counted, print_outcomes


def run_score(arguments: Namespace) -> None:
    """Run `cogniload score SAMPLES`."""
    from lm_eval_tasks.rescore import rescore

    if arguments.dataset:
        return score_dataset(arguments)
    check_out(arguments)
    outcomes: Counter[OutcomeName] = Counter()
    changed = 0
    for samples in arguments.samples:
        scored = rescore(samples, arguments.out, force=arguments.force)
        outcomes, changed = outcomes + scored.outcomes, changed + scored.changed
    return print_outcomes(outcomes, f"{changed} scored anew")


def score_dataset(arguments: Namespace) -> None:
    """Run `cogniload score --dataset FOLDER RESPONSES`."""
    from lm_eval_tasks.rescore import score_responses

    tables, out = arguments.samples, arguments.out
    scored = score_responses(arguments.dataset, tables, out, force=arguments.force)
    outcomes, missing = scored.outcomes, scored.missing
    total = outcomes.total()
    share = sum(count for outcome, count in outcomes.items() if outcome.correct) / total
    error = sqrt(share * (1 - share) / max(total - 1, 1))
    print_outcomes(outcomes, f"standard error {error:.2%}, {missing} puzzles without a response")


def run_steps(arguments: Namespace) -> None:
    """Run `cogniload steps SAMPLES`."""
    from tqdm import tqdm

    from lm_eval_tasks.rescore import rescore

    check_out(arguments)
    counts: Counter[str] = Counter()
    for samples in tqdm(arguments.samples, unit=" files", disable=None):
        counts += rescore(samples, arguments.out, steps=True, force=arguments.force).errors
    total = counts.total()
    unread = counts.pop("not read", 0)
    first_errors = "; their first errors:" if total > unread else ""
    print(f"{total} responses, {total - unread} of them could be read{first_errors}")
    for kind, count in counts.most_common():
        print(f"{kind:26} {count:7} {count / (total - unread):8.2%}")


def check_out(arguments: Namespace) -> None:
    """Raise ValueError for several samples files that would be written to one."""
    if arguments.out and len(arguments.samples) > 1:
        raise ValueError(f"--out takes one samples file, got {len(arguments.samples)}")


def run_twins(arguments: Namespace) -> None:
    """Run `cogniload twins RUN --out FILE`."""
    from lm_eval_tasks.twins import make_twins, write_twins

    twins = make_twins(arguments.run_folder, arguments.budget, arguments.seed)
    write_twins(twins, arguments.out, force=arguments.force)
    print(f"{counted(len(twins.table), 'twin')} in {arguments.out}; for the report, score them by")
    score = ["cogniload", "score", "--dataset", str(arguments.out), "RESPONSES"]
    print(shlex.join([*score, "--out", str(twins.scored)]))

"""The commands about responses at hand: score and steps."""

import shlex
from argparse import Namespace
from collections import Counter
from math import sqrt
from pathlib import Path

from cogniload_gen.benchmark import OutcomeName
from cogniload_gen.commands.printing import counted, print_outcomes
from cogniload_gen.parser import Parser, number


def add_score(score: Parser) -> None:
    """Add the arguments of `cogniload score`."""
    add_samples(score)
    score.add_argument(
        "--dataset", type=Path, metavar="FOLDER",
        help="score tables SAMPLES (.parquet, .jsonl, .csv) with id and response, perhaps with "
        "prompt_tokens, response_tokens, response_limit and finish_reason, to the puzzles in "
        "FOLDER's Parquet files, or in a file",
    )  # fmt: skip
    add_out(score, "write the samples, scored; a report reads MODEL/samples_TASK_DATE.jsonl")


def run_score(arguments: Namespace) -> None:
    """Run `cogniload score SAMPLES`."""
    from lm_eval_tasks.rescore import rescore

    if arguments.dataset:
        return score_dataset(arguments)
    check_out(arguments)
    outcomes: Counter[OutcomeName] = Counter()
    changed = 0
    for samples in arguments.samples:
        scored, differing = rescore(samples, arguments.out, force=arguments.force)
        outcomes, changed = outcomes + scored, changed + differing
    return print_outcomes(outcomes, f"{changed} scored anew")


def score_dataset(arguments: Namespace) -> None:
    """Run `cogniload score --dataset FOLDER RESPONSES`."""
    from lm_eval_tasks.score_responses import score_responses

    tables, out = arguments.samples, arguments.out
    outcomes, missing = score_responses(arguments.dataset, tables, out, force=arguments.force)
    total = outcomes.total()
    share = sum(count for outcome, count in outcomes.items() if outcome.correct) / total
    error = sqrt(share * (1 - share) / max(total - 1, 1))
    print_outcomes(outcomes, f"standard error {error:.2%}, {missing} puzzles without a response")


def add_steps(steps: Parser) -> None:
    """Add the arguments of `cogniload steps`."""
    add_samples(steps)
    add_out(steps, "write a JSON line a response")


def run_steps(arguments: Namespace) -> None:
    """Run `cogniload steps SAMPLES`."""
    from tqdm import tqdm

    from lm_eval_tasks.rescore import count_errors

    check_out(arguments)
    counts: Counter[str] = Counter()
    for samples in tqdm(arguments.samples, unit=" files", disable=None):
        counts += count_errors(samples, arguments.out, force=arguments.force)
    total = counts.total()
    unread = counts.pop("not read", 0)
    first_errors = "; their first errors:" if total > unread else ""
    print(f"{total} responses, {total - unread} of them could be read{first_errors}")
    for kind, count in counts.most_common():
        print(f"{kind:26} {count:7} {count / (total - unread):8.2%}")


def add_samples(command: Parser) -> None:
    """Add the argument for files of samples."""
    samples = "samples_*.jsonl, gzipped or not"
    command.add_argument("samples", nargs="+", type=Path, metavar="SAMPLES", help=samples)


def add_out(command: Parser, text: str) -> None:
    """Add the arguments for the file to write."""
    command.add_argument("--out", type=Path, metavar="FILE", help=text)
    command.add_argument("--force", action="store_true", help="replace FILE if it exists")


def check_out(arguments: Namespace) -> None:
    """Raise ValueError for several samples files that would be written to one."""
    if arguments.out and len(arguments.samples) > 1:
        raise ValueError(f"--out takes one samples file, got {len(arguments.samples)}")


def add_twins(twins: Parser) -> None:
    """Add the arguments of `cogniload twins`."""
    add_run(twins)
    out = "puzzles to answer, .jsonl or .parquet"
    twins.add_argument("--out", type=Path, required=True, metavar="FILE", help=out)
    twins.add_argument("--force", action="store_true", help="replace FILE if it exists")


def run_twins(arguments: Namespace) -> None:
    """Run `cogniload twins RUN --out FILE`."""
    from lm_eval_tasks.twins import make_twins, write_twins

    twins = make_twins(arguments.run_folder, arguments.budget, arguments.seed)
    write_twins(twins, arguments.out, force=arguments.force)
    print(f"{counted(len(twins.table), 'twin')} in {arguments.out}; for the report, score them by")
    score = ["cogniload", "score", "--dataset", str(arguments.out), "RESPONSES"]
    print(shlex.join([*score, "--out", str(twins.scored)]))


def add_run(command: Parser) -> None:
    """Add the arguments that choose puzzles of a run."""
    run = "results folder of one model, or one of its samples_*.jsonl"
    command.add_argument("run_folder", type=Path, metavar="RUN", help=run)
    budget = "the most twins, of failures and of as many solved puzzles (300)"
    command.add_argument("--budget", type=number, default=300, metavar="COUNT", help=budget)
    seed = "of the choice of puzzles (0)"
    command.add_argument("--seed", type=number, default=0, metavar="SEED", help=seed)

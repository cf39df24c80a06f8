"""`cogniload score --release`: answers to puzzles of the authors' release."""

from argparse import Namespace

from cogniload_gen.cogniload.release import score_release
from cogniload_gen.commands.printing import print_outcomes, print_problems


def run_score(arguments: Namespace) -> int:
    """Run `cogniload score --release FOLDER ANSWERS`."""
    if arguments.dataset:
        raise ValueError("--release has puzzles of its own, and takes no --dataset")
    if arguments.out or len(arguments.samples) > 1:
        raise ValueError("--release takes one folder of answers and no --out")
    outcomes, problems, puzzles = score_release(arguments.release, arguments.samples[0])
    print_problems(problems)
    print_outcomes(outcomes, f"{len(problems)} not scored; the release has {puzzles} puzzles")
    return int(bool(problems))

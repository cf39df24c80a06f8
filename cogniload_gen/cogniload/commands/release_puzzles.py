"""`cogniload import`: the puzzles of the authors' release."""

from argparse import Namespace

from cogniload_gen.cogniload.release import import_release
from cogniload_gen.commands.printing import print_problems


def run_import(arguments: Namespace) -> int:
    """Run `cogniload import FOLDER --out FILE`: 0 if all was imported, 1 if some was not."""
    count, problems = import_release(arguments.folder, arguments.out, force=arguments.force)
    print_problems(problems)
    print(f"{arguments.out}: {count} puzzles, {len(problems)} not imported")
    return int(bool(problems))

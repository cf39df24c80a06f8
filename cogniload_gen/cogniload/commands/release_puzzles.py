"""`cogniload import`: the puzzles of the authors' release."""

from argparse import Namespace
from pathlib import Path

from cogniload_gen.cogniload.release import import_release
from cogniload_gen.commands.printing import print_problems
from cogniload_gen.parser import Parser


def add_import(imports: Parser) -> None:
    """Add the arguments of `cogniload import`."""
    imports.add_argument("folder", type=Path, metavar="FOLDER", help="that holds exp/ and meta/")
    imports.add_argument("--out", type=Path, required=True, metavar="FILE", help="to write")
    imports.add_argument("--force", action="store_true", help="replace FILE if it exists")


def run_import(arguments: Namespace) -> int:
    """Run `cogniload import FOLDER --out FILE`: 0 if all was imported, 1 if some was not."""
    count, problems = import_release(arguments.folder, arguments.out, force=arguments.force)
    print_problems(problems)
    print(f"{arguments.out}: {count} puzzles, {len(problems)} not imported")
    return int(bool(problems))

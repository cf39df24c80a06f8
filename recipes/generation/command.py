"""The command line of the recipes in this folder: which puzzles to make, and where."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import yaml

from cogniload_gen.shards import puzzle_files


def read_command(about, **more):
    """Return the arguments of a recipe: `out`, `puzzles` as parameters, and `files` made of both.

    `more` are optional arguments, by their names: what argparse takes. A wrong argument ends the
    program with a line.
    """
    parser = ArgumentParser(description=about.partition("\n")[0].rstrip(":"))
    parser.add_argument("out", type=Path, help="the folder of the files")
    parser.add_argument("puzzles", type=Path, help="a file such as puzzles.yaml: which puzzles")
    for name, settings in more.items():
        parser.add_argument(name, nargs="?", **settings)
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    try:
        puzzles = yaml.safe_load(arguments.puzzles.read_text("utf-8"))
        files = puzzle_files(out, **puzzles)
    except (OSError, ValueError, TypeError) as error:
        parser.error(str(error))
    return Namespace(**vars(arguments) | {"out": out, "puzzles": puzzles, "files": files})

"""The commands about puzzles: generate and solve."""

import shlex
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cogniload_gen import benchmarks
from cogniload_gen.checks import check_shard
from cogniload_gen.commands.printing import counted
from cogniload_gen.commands.puzzle_options import add_puzzle_options, select_puzzles, text_options
from cogniload_gen.files.inputs import read_stream, read_whole
from cogniload_gen.parser import Parser, number, spellings

if TYPE_CHECKING:
    from cogniload_gen.source import Source


def add_generate(generate: Parser) -> None:
    """Add the arguments of `cogniload generate`."""
    from cogniload_gen.shards import ROWS_PER_FILE

    out = "to write, a folder if it ends in /; stands first. In a folder, the same command goes on"
    generate.add_argument("out", nargs="?", metavar="FILE", help=out)
    share = "make files I, I + N, I + 2N, ... of the folder alone; any N makes the same files"
    generate.add_argument("--shard", metavar="I/N", help=share)
    rows = f"puzzles in each file of the folder ({ROWS_PER_FILE:,})"
    generate.add_argument(*spellings("rows_per_file"), type=number, metavar="COUNT", help=rows)
    generate.add_argument("--force", action="store_true", help="replace FILE if it exists")
    add_puzzle_options(generate)


def run_generate(arguments: Namespace) -> None:
    """Run `cogniload generate FILE` or `cogniload generate OUT/`."""
    generate = generate_folder if str(arguments.out).endswith("/") else generate_file
    generate(arguments)


def generate_file(
    arguments: Namespace, change: "Callable[[Source], Source] | None" = None, what: str = "puzzles"
) -> None:
    """Run `cogniload generate FILE`; `change` makes something else of the puzzles first."""
    from cogniload_gen.files.write import write_puzzles

    if arguments.out is None:
        raise ValueError("FILE is missing: it stands before the options, as --d takes any number")
    for name, value in (("rows-per-file", arguments.rows_per_file), ("shard", arguments.shard)):
        if value is not None:
            raise ValueError(f"--{name} is for a folder: write {arguments.out}/ for one")
    source, out = select_puzzles(arguments), Path(arguments.out)
    source = change(source) if change else source
    write_puzzles(source, out, force=arguments.force)
    print(f"{out}: {len(source.selection)} {what}")


def refuse_folder(arguments: Namespace, option: str) -> None:
    """Raise ValueError for an option that is for a file, with a folder."""
    if str(arguments.out).endswith("/"):
        raise ValueError(f"--{option} is for a file, got it for the folder {arguments.out}")


def generate_folder(arguments: Namespace) -> None:
    """Run `cogniload generate OUT/`: make the files of a shard that are not whole yet."""
    from tqdm import tqdm

    from cogniload_gen.shards import ROWS_PER_FILE, files_of

    if arguments.force:
        refuse_folder(arguments, "force")
    shard, shards = check_shard("1/1" if arguments.shard is None else arguments.shard)
    size = ROWS_PER_FILE if arguments.rows_per_file is None else arguments.rows_per_file
    selection, options = select_puzzles(arguments).selection, text_options(arguments)
    files = files_of(arguments.out, selection, size, **options).start()
    mine = range(shard - 1, len(files), shards)
    rows = sum(len(files.rows(number)) for number in mine)
    share = f", of which shard {shard}/{shards} makes {len(mine):,}" * (shards > 1)
    whole = f"{counted(len(selection), 'puzzle')} in {counted(len(files), 'file')}"
    print(f"{arguments.out}: {whole}{share}", flush=True)
    made = 0
    try:
        with tqdm(total=rows, unit=" puzzles", disable=None) as progress:
            for number in mine:
                if files.proven(number):
                    progress.update(len(files.rows(number)))
                else:
                    files.write(number, progress.update)
                    made += 1
    except (KeyboardInterrupt, SystemExit) as stop:  # SIGTERM ends it by the latter
        so_far = f"{counted(made, 'file')} made; the same command goes on"
        if isinstance(stop, KeyboardInterrupt):
            raise KeyboardInterrupt(so_far) from None
        print(f"cogniload generate: interrupted: {so_far}", file=sys.stderr)
        raise
    part = f"shard {shard}/{shards}: " * (shards > 1)
    kept = len(mine) - made
    were = "was whole by its" if kept == 1 else "were whole by their"
    print(f"{part}{counted(made, 'file')} made, {kept:,} {were} SHA-256")
    there = files.finish()
    if there < len(files):
        rest = "other shards make the rest"
        print(f"{arguments.out}: {there} of {len(files)} files are there; {rest}")
    else:
        print(f"{arguments.out}: whole, {whole}")
        print(f"next: cogniload verify {shlex.quote(arguments.out)} --sample 1%")


def run_solve(arguments: Namespace) -> None:
    """Run `cogniload solve [FILE]`."""
    source = str(arguments.file or "standard input")
    try:
        file = arguments.file
        text = read_whole(file) if file else read_stream(sys.stdin.buffer, source)
        print(benchmarks.solve(text.decode()))
    except (ValueError, AttributeError) as error:  # without standard input, sys.stdin is None
        raise ValueError(f"{source}: {error}") from None

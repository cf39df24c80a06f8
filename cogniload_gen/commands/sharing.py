"""The commands about data that others share: push, verify and overlap."""

import sys
from argparse import Namespace
from collections import Counter

from cogniload_gen.checks import check_integer
from cogniload_gen.commands.printing import counted
from cogniload_gen.commands.puzzle_options import add_puzzle_options, select_puzzles, text_options
from cogniload_gen.files.inputs import check_file, one_line
from cogniload_gen.parser import Parser


def add_push(push: Parser) -> None:
    """Add the options of `cogniload push` that say which puzzles."""
    add_puzzle_options(push, own_splits=False)


def run_push(arguments: Namespace) -> None:
    """Run `cogniload push REPO`."""
    from cogniload_gen.hub.push import push

    grid, options = select_puzzles(arguments).selection, text_options(arguments)
    how = {"private": arguments.private, "dry_run": arguments.dry_run}
    print(push(grid, arguments.repo, **how, **options))


def run_verify(arguments: Namespace) -> int:
    """Run `cogniload verify DIR_OR_REPO`: 0 if the same, 1 if not."""
    from cogniload_gen.hub.verify import SHOWN, check_share, verify

    share = check_share(arguments.sample)
    verdict = verify(arguments.source, sample=share, tokenizer=arguments.tokenizer)
    for difference in verdict.differences[:SHOWN]:
        print(one_line(difference))
    print(f"{arguments.source} {verdict}")
    return int(bool(verdict.differences))


def add_overlap(overlap: Parser) -> None:
    """Add the options of `cogniload overlap` that say which puzzles."""
    add_puzzle_options(overlap)


def run_overlap(arguments: Namespace) -> int:
    """Run `cogniload overlap CORPUS`: 0 if no puzzle is in the corpus, 1 if any is."""
    from tqdm import tqdm

    from cogniload_gen.overlap import file_pieces, find_in_pieces, fingerprints

    limit = check_integer("--limit", arguments.limit, low=0, high=sys.maxsize)
    for path in arguments.corpus:
        check_file(path)  # an error that would come late otherwise
    source = select_puzzles(arguments)
    puzzles = fingerprints(source.tables())
    overlaps: Counter[str] = Counter()
    for path in arguments.corpus:
        rows = tqdm(file_pieces(path), desc=str(path), unit=" rows", disable=None)
        for overlap in find_in_pieces(rows, puzzles):
            if overlaps.total() < limit:
                print(one_line(f"{overlap.where}: {overlap.puzzle}"))
            overlaps[overlap.puzzle] += 1
    total, canaries = overlaps.total(), overlaps.pop("canary", 0)
    searched = counted(len(source.selection), "puzzle")
    hits = f"{counted(total - canaries, 'overlap')} with {len(overlaps)} of {searched}"
    files = counted(len(arguments.corpus), "file")
    above = f"; the first {limit} are above" * (total > limit)
    print(f"{hits}, {counted(canaries, 'canary string')}, in {files}{above}")
    return int(total > 0)

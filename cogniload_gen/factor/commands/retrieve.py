"""`cogniload retrieve`: what retrievers find, without a model."""

from argparse import Namespace
from itertools import product

from tqdm import tqdm

from cogniload_gen.commands.puzzle_options import add_puzzle_options, puzzle_options, select_puzzles
from cogniload_gen.factor import FACTOR
from cogniload_gen.factor.recall import lines, measure, write_csv
from cogniload_gen.factor.retrieval import CHUNKS, ENCODER, QUERIES, RETRIEVERS, check_retrieval
from cogniload_gen.files.whole import EXISTS
from cogniload_gen.files.write import read_puzzles
from cogniload_gen.parser import Parser, spellings


def add_retrieve(retrieve: Parser) -> None:
    """Add the retrievals and the puzzle options to those of commands.toml."""
    choices = {
        "retriever": (tuple(RETRIEVERS), ["bm25", "iterative", "random", "oracle"]),
        "chunk": (CHUNKS, ["sentence"]),
        "query": (QUERIES, ["question"]),
    }
    for name, (allowed, default) in choices.items():
        text = f"{', '.join(allowed)}, or several (default {' '.join(default)})"
        retrieve.add_argument(
            f"--{name}", nargs="+", default=default, metavar=name.upper(), help=text
        )
    model = f"model of sentence-transformers, a name or a folder (default {ENCODER})"
    retrieve.add_argument("--encoder", default=ENCODER, metavar="MODEL", help=model)
    add_puzzle_options(retrieve, FACTOR.benchmarks)


def run_retrieve(arguments: Namespace) -> None:
    """Run `cogniload retrieve [FILE]`."""
    names = ("chunk", "retriever", "query", "budget")
    retrievals = [
        check_retrieval(dict(zip(names, values, strict=True)) | {"encoder": arguments.encoder})
        for values in product(*(getattr(arguments, name) for name in names))
    ]
    # a retriever that goes by no query finds the same for each
    retrievals = list({str(retrieval): retrieval for retrieval in retrievals}.values())
    if arguments.out and not arguments.force and arguments.out.exists():
        raise FileExistsError(EXISTS.format(arguments.out))  # before the work
    if arguments.file:
        for name in puzzle_options(arguments):
            if name != "tokenizer":  # by which the budgets are measured, too
                raise ValueError(f"{spellings(name)[0]} says which puzzles to make, got a FILE too")
        rows = read_puzzles(arguments.file)
    else:
        if arguments.suite is None:
            suites = " or ".join(FACTOR.suites)
            raise ValueError(f"give a FILE of puzzles, or --suite {suites} to make some")
        rows = (row for table in select_puzzles(arguments).tables() for row in table.to_pylist())
    progress = tqdm(rows, unit=" puzzles", disable=None)
    results = measure(progress, retrievals, arguments.tokenizer)
    print("\n".join(lines(results)))
    if arguments.out:
        write_csv(results, arguments.out, force=arguments.force)

"""`cogniload generate --errors`: traces with planted errors."""

from argparse import Namespace

from cogniload_gen.cogniload.steps.planted import trace_source
from cogniload_gen.commands.puzzles import generate_file, refuse_folder
from cogniload_gen.grid import ENGLISH
from cogniload_gen.parser import Parser


def add_generate(generate: Parser) -> str:
    """Add the option, and return its name."""
    planted = "write traces of CogniLoad puzzles with one planted first error each"
    generate.add_argument("--errors", action="store_true", help=planted)
    return "errors"


def run_generate(arguments: Namespace) -> None:
    """Run `cogniload generate FILE --errors`."""
    refuse_folder(arguments, "errors")
    if arguments.trace:
        raise ValueError("--trace is not for --errors: a trace has columns of its own")
    if arguments.twin == "question=state":
        raise ValueError("--errors is not for --twin question=state: a trace ends with one value")
    if arguments.language not in (None, ENGLISH) or "language=" in (arguments.twin or ""):
        raise ValueError("--errors is for English puzzles: no trace is in another language")
    generate_file(arguments, trace_source, "traces")

"""`cogniload generate --errors`: traces with planted errors."""

from argparse import Namespace

from cogniload_gen.cogniload.steps.planted import trace_source
from cogniload_gen.commands.puzzles import generate_file, refuse_folder
from cogniload_gen.grid import ENGLISH


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

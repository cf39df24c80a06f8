"""What must hold of FACTOR's puzzles that were published, from wherever they come."""

import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.benchmark import Rules
from cogniload_gen.factor.knobs import NOISES


def rules(puzzles: pa.Table, suite: str) -> Rules:
    """Return what must hold of published puzzles of a suite."""
    of_both = {
        "context": (pc.greater_equal(puzzles["context"], 0), "at least 0"),
        "suite": (pc.equal(puzzles["suite"], suite), suite),
    }
    if suite == "symbolic":
        return of_both | {"N": (pc.greater_equal(puzzles["N"], 1), "at least 1")}
    kinds = ("none", *NOISES)
    return of_both | {
        "op": (pc.greater_equal(puzzles["op"], 1), "at least 1"),
        "noise": (pc.is_in(puzzles["noise"], pa.array(kinds)), f"one of {', '.join(kinds)}"),
    }

"""What must hold of CogniLoad's puzzles that were published, from wherever they come."""

import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.benchmark import Rules
from cogniload_gen.cogniload.ontology import CATEGORIES, STATE


def rules(puzzles: pa.Table) -> Rules:
    """Return what must hold of published puzzles."""
    options = puzzles["options"].to_pylist()
    answers = zip(puzzles["answer"].to_pylist(), options, strict=True)
    return {
        "d": (pc.greater_equal(puzzles["d"], 1), "at least 1"),
        "N": (pc.greater_equal(puzzles["N"], 1), "at least 1"),
        "rho": (
            pc.and_(pc.greater(puzzles["rho"], 0), pc.less_equal(puzzles["rho"], 100)),
            "a percentage above 0 and up to 100",
        ),
        "category": (
            pc.is_in(puzzles["category"], pa.array([*CATEGORIES, STATE])),
            f"one of {', '.join(CATEGORIES)}, or {STATE}",
        ),
        "options": (pa.array([None not in of_row for of_row in options], pa.bool_()), "texts"),
        "answer": (
            pa.array(
                [{*answer.split(", ")} <= {*of_row} for answer, of_row in answers], pa.bool_()
            ),
            "one of the row's options",
        ),
    }

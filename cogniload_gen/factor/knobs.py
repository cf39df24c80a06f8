"""The knobs of FACTOR's two suites, and the cells that they span (FACTOR, A.2 and 3.2)."""

from functools import partial
from itertools import product
from reprlib import repr as brief
from typing import Any, NamedTuple

from cogniload_gen.benchmark import read_knob
from cogniload_gen.checks import check_choices

SYMBOLIC_VERSION = 2
REALISTIC_VERSION = 1
"""The suites' generator versions: a change to any puzzle's text or answer raises its suite's."""

_PAPER_VARIABLES = tuple(range(1, 40))
PAPER_OP = tuple(range(2, 21))
"""The paper's grids: variables (A.2), binary operations (3.2)."""

PAPER_ROOTS = "paper"
"""The paper's number of roots: drawn for each puzzle, uniform on 1..N (A.1.1)."""

STAGE = 15_000
SCALES = (2, 4, 8, 16)
"""The stages of the course hold STAGE puzzles each, with SCALES times the filler."""

COURSE = STAGE * len(SCALES)
_PRETRAIN = 3_000_000
TRAINING_SETS = {
    "pretrain": ("pretrain", range(_PRETRAIN)),
    "clean": ("pretrain", range(_PRETRAIN)),
    **{f"course_{s}": ("course", range(i * STAGE, (i + 1) * STAGE)) for i, s in enumerate(SCALES)},
    "mixed": ("course", range(COURSE)),
    "full": ("full", range(COURSE)),
}
"""The training sets (Appendix D) by name: whose draws they take, and which indices."""

NOISES = ("close", "general")
ERRORS = ("arithmetic", "reference", "invented", "unresolved", "answer")
"""The kinds of a first error (T5 of reading/steps.py)."""

MAX_N = 1000
MAX_CONTEXT = 1_000_000
MAX_OP = 100

knob = partial(read_knob, __package__)

TWINS = ("again", "context=0", "order=solved", "from=K")
SYMBOLIC_TWIN = knob("twin", choices=TWINS)
REALISTIC_TWIN = knob("twin", choices=(*TWINS, "needed"))
# The levels of either suite's context, for training that goes on as a model learns.
_CONTEXT_LEVELS = (0, 1000, 2000, 4000, 8000, 16000)

TOKENIZER = knob("tokenizer")


class SymbolicCell(NamedTuple):
    """One combination of the symbolic suite: the variables, the tokens of filler, and the roots.

    With "paper" roots, each puzzle draws their number.
    """

    N: int
    context: int
    roots: int | str = PAPER_ROOTS


SYMBOLIC_KNOBS = (
    knob("N", default=_PAPER_VARIABLES, low=1, high=MAX_N, levels=(2, 4, 8, 16, 24, 39)),
    knob("context", "filler", default=0, high=MAX_CONTEXT, levels=_CONTEXT_LEVELS),
    knob("roots", default=PAPER_ROOTS, low=1, high=MAX_N, choices=(PAPER_ROOTS,)),
)


class RealisticCell(NamedTuple):
    """One combination of the realistic suite: binary operations, tokens, kind of noise."""

    op: int
    context: int
    noise: str


REALISTIC_KNOBS = (
    knob("op", default=PAPER_OP, low=2, high=MAX_OP, levels=(2, 4, 6, 10, 15, 20)),
    knob("context", "prompt", default=0, high=MAX_CONTEXT, levels=_CONTEXT_LEVELS),
    knob("noise", default="close", choices=NOISES),
)


def realistic_cells(op: Any, context: Any, noise: Any) -> tuple[RealisticCell, ...]:
    """Return the cells of the knobs' product, checked; those without context have noise "none"."""
    op_knob, context_knob, _ = REALISTIC_KNOBS
    operations, contexts = op_knob.check(op), context_knob.check(context)
    without = ("none",) if 0 in contexts else ()
    kinds = check_choices("noise", noise, NOISES + without)
    if kinds == ("none",) and any(contexts):
        allowed = f"one of {', '.join(NOISES)} for a context above 0"
        raise ValueError(f"noise must hold {allowed}, got {brief(noise)}")
    return tuple(
        RealisticCell(*cell)
        for cell in product(operations, contexts, dict.fromkeys(without + kinds))
        if (cell[2] == "none") == (cell[1] == 0)
    )

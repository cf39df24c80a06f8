"""The three loads of CogniLoad, and the cells that they span (sections 2.1 and 2.2)."""

from functools import partial
from typing import NamedTuple

from cogniload_gen.benchmark import Knob, read_knob
from cogniload_gen.cogniload.ontology import CATEGORIES, LANGUAGES
from cogniload_gen.grid import ENGLISH

PAPER_D = (1, 3, 5, 7, 10)
PAPER_N = (20, 50, 100, 250)
PAPER_RHO = (5, 10, 25, 50, 75, 90, 95)
"""The paper's grid (section 2.2), with 100 puzzles in each of its 140 cells."""

MAX_N = 1_000_000

GENERATOR_VERSION = 1
"""A change to any puzzle's text or answer raises it."""

ERRORS = (
    "initial", "missed", "intruded", "wrong_value", "skipped", "drifted", "stopped", "answer",
)  # fmt: skip
"""The kinds of a first error (S8 of steps/first_error.py)."""

knob = partial(read_knob, __package__)

KNOBS = (
    knob("d", default=PAPER_D, low=1, high=len(CATEGORIES), levels=(1, 2, 3, 5, 7, 10)),
    knob("N", default=PAPER_N, low=1, high=MAX_N, levels=(5, 10, 20, 50, 100, 250)),
    # models do worst between 25 and 50 (section 3.1)
    knob("rho", default=PAPER_RHO, high=100, levels=(90.0, 75.0, 50.0, 25.0)),
)
TWIN = knob(
    "twin",
    choices=(
        *("again", "needles", "tail", "names", "question=first", "question=state", "from=T"),
        *("until=T", "only=T", "reminder=K", "hay=H"),
        *(f"language={language}" for language in LANGUAGES),
    ),
)
LANGUAGE = Knob("language", "language", "the language of the text", ENGLISH, choices=LANGUAGES)
STEPS = knob("steps", default=False)
TRACE = Knob("trace", "flag", "whether to add the statements and the states as columns", False)
TRACES = Knob(
    "traces",
    "choice",
    "clean traces as columns prompt and completion, for supervised training: messages or texts",
    choices=("chat", "plain"),
    shown_default="none",
)


class Cell(NamedTuple):
    """One combination of the three loads: d, N and rho (a percentage)."""

    d: int
    N: int
    rho: float

    @property
    def needles(self) -> int:
        """The number of needles (section 2.1.3)."""
        return max(1, min(self.N, round(self.N * self.rho / 100)))

"""A load: a column of the frame that a benchmark varies, and how it is set in print."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Load:
    """One of a benchmark's loads: a column of the frame, and how it is set in print.

    `dtype` is the column's type in pandas. With `percent`, a fraction is printed in percent, and
    `heading` must say so. `show` sets one level in print. With `in_task`, a task's name says the
    level, so that the table of runs leaves it out.
    """

    name: str
    heading: str
    dtype: str = "int64"
    percent: bool = False
    show: Callable[[Any], str] = "{:g}".format
    in_task: bool = False

    @property
    def printed_name(self) -> str:
        """The name of its column in a table that holds levels as they are printed."""
        return f"{self.name}_percent" if self.percent else self.name

    def scale(self, levels: Any) -> Any:
        """Return levels as they are printed: fractions in percent, others as they are."""
        return 100 * levels if self.percent else levels

"""How one cell of a table is set in print: functions from raw values to text."""

import math
from collections.abc import Callable
from typing import Any

MISSING = "--"


def number(decimals: int, scale: float = 1) -> Callable[[float], str]:
    """Return a function that sets a number, times `scale`, with decimals."""
    return lambda value: set_number(scale * value, decimals)


def interval(decimals: int, scale: float = 1) -> Callable[[float, float], str]:
    """Return a function that sets an interval, times `scale`, with decimals."""
    show = number(decimals, scale)
    return lambda low, high: MISSING if math.isnan(low) else f"{show(low)} to {show(high)}"


def form(template: str) -> Callable[..., str]:
    """Return a function that sets values by a format string; a missing first one is a dash."""
    return lambda *values: MISSING if is_missing(values[0]) else template.format(*values)


def starred(show: Callable[[float], str]) -> Callable[[float, float], str]:
    """Return a function that sets a value by `show`, and the stars of its p after it."""
    return lambda value, p: show(value) + stars(p)


def points(decimals: int) -> Callable[[float], str]:
    """Return a function that sets a difference of shares in percentage points, with its sign."""
    return lambda share: MISSING if math.isnan(share) else f"{100 * share:+.{decimals}f}"


def points_interval(decimals: int) -> Callable[[float, float], str]:
    """Return a function that sets the interval of such a difference."""
    show = points(decimals)
    return lambda low, high: f"{show(low)} to {show(high)}"


def percent_of(part: float, whole: float) -> str:
    """Set a part in percent of the whole."""
    return percent(part / whole)


percent = number(1, 100)
percent_interval = interval(1, 100)
thousands: Callable[[float], str] = "{:,}".format
count = form("{:,.0f}")


def set_number(value: float, decimals: int) -> str:
    """Set one number: a missing one is a dash, an endless one a word, a large one a power."""
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "unbounded"
    return f"{value:.{decimals}f}" if abs(value) < 1e6 else f"{value:.1e}"


def signed_percent(share: float) -> str:
    """Set a share in percent with its sign; a missing one is a dash."""
    return MISSING if math.isnan(share) else f"{100 * share:+.0f} %"


def words(value: Any) -> str:
    """Set words; a column without any comes back from CSV as NaN."""
    return value if isinstance(value, str) else ""


def stars(p: float) -> str:
    """Return the stars of significance."""
    return "*" * sum(p < level for level in (0.001, 0.01, 0.05))


def p_value(p: float) -> str:
    """Set a p, which is never 0."""
    return MISSING if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def tokens(mean: float, p90: float) -> str:
    """Set the columns of `describe_tokens`, as mean[90th percentile]."""
    return f"{set_number(mean, 0)}[{set_number(p90, 0)}]"


def beyond(value: float, least: float, most: float) -> str:
    """Say that a value lies beyond its range, as in > 400; "" where it doesn't."""
    if value > most:
        return f"> {most:g}"
    return f"< {least:g}" if value < least else ""


def within(value: float, decimals: int, least: float, most: float) -> str:
    """Set a number, or say that it lies beyond its range, if there is one."""
    return beyond(value, least, most) or set_number(value, decimals)


def is_missing(value: Any) -> bool:
    """Return whether a raw value is NaN."""
    return isinstance(value, float) and math.isnan(value)

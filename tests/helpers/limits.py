"""Limits of processor time: of work that would take minutes, or days, if it were not linear."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if the block takes more processor time than that, in this process."""
    begun = process_time()
    yield
    assert process_time() - begun < seconds

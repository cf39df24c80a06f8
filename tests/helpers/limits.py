"""How work grows with its size: what is quadratic would take minutes, or days, of a long text."""

import gc
from collections.abc import Callable
from time import process_time


def growth(read: Callable[[str], object], piece: str, size: int = 20_000) -> float:
    """Return how many times as long a text takes that repeats a piece, if it is 4 times as long.

    That is 4 if the time is linear and 16 if it is quadratic, on any machine, however busy.
    """

    def seconds(count: int) -> float:
        text = piece * count
        begun = process_time()
        read(text)
        return process_time() - begun

    count = size // len(piece)  # texts differ, as readers remember some
    gc.disable()
    try:
        short, long = (min(seconds(times * count + i) for i in range(3)) for times in (1, 4))
    finally:
        gc.enable()
    return long / short

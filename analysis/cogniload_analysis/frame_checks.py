"""What a fit asks of its frame: columns, one level of some, and values in range."""

from collections.abc import Iterable, Sequence
from reprlib import repr as brief

import numpy as np
import pandas as pd


def check_columns(frame: pd.DataFrame, columns: Sequence[str], needed: str = "") -> None:
    """Raise ValueError for the first column that is missing; `needed` are all of them in words."""
    for column in columns:
        if column not in frame:
            raise ValueError(
                f"the frame has no column {column!r}: needed are {needed or ', '.join(columns)}; "
                f"it has {', '.join(map(str, frame))}"
            )


def check_single(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raise ValueError for the first of some columns that holds several levels, if it is there."""
    for column in columns:
        if column in frame and frame[column].nunique() > 1:
            raise ValueError(
                f"a fit is of one {column}, and the frame holds {frame[column].nunique()}: "
                f"fit each of frame.groupby({column!r})"
            )


def check_values(
    frame: pd.DataFrame, column: str, sound: np.ndarray | pd.Series, allowed: str
) -> None:
    """Raise ValueError, with the first of them, where values are not `sound`."""
    if not np.all(sound):
        wrong = frame[column][~np.asarray(sound)].tolist()[0]
        raise ValueError(f"{column} must be {allowed}, got {brief(wrong)}")

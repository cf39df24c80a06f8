"""What refuses wrong input does so in one line: by a ValueError, or by the exit code 2."""

import re
from contextlib import contextmanager

import pytest
from command_line import refusal


@contextmanager
def refused(match, *, most=1000):
    """Fail unless the block raises a ValueError of one line, of fewer than `most` characters."""
    with pytest.raises(ValueError, match=match) as error:
        yield
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < most


def assert_refused(capsys, message, *arguments):
    """Assert that a command refuses its arguments with a message, a regular expression."""
    assert re.search(message, refusal(capsys, *arguments))


def changed(frame, *, drop=(), **columns):
    """Return a frame without some columns, and with others."""
    return frame.drop(columns=list(drop)).assign(**columns)

"""What refuses wrong input does so in one line: by a ValueError, or by the exit code 2."""

import re
from contextlib import contextmanager

import pytest

from cogniload_cli import main


@contextmanager
def refused(match, *, most=1000):
    """Fail unless the block raises a ValueError of one line, of fewer than `most` characters."""
    with pytest.raises(ValueError, match=match) as error:
        yield
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < most


def refused_command(capsys, *arguments):
    """Run the command line, which must write one line of error and nothing else; return the line.

    What it wrote before is left aside.
    """
    capsys.readouterr()
    assert main(list(map(str, arguments))) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.count("\n") == 1
    start = f"cogniload {arguments[0]}: error: "
    assert written.err.startswith(start)
    return written.err.removeprefix(start)


def assert_refused(capsys, message, *arguments):
    """Assert that a command refuses its arguments with a message, a regular expression."""
    assert re.search(message, refused_command(capsys, *arguments))


def changed(frame, *, drop=(), **columns):
    """Return a frame without some columns, and with others."""
    return frame.drop(columns=list(drop)).assign(**columns)

"""Our commands, and other programs, as tests run them."""

import subprocess
import sys
from unittest.mock import patch

import pytest

from cogniload_cli import Parser, main

MODULE = "cogniload_cli"
"""What `python -m` runs as the installed command does."""


class Parsed(BaseException):
    """Ends a command that has parsed its words."""


def parse(words):
    """Return what a command reads of its words, and those that it leaves to lm-eval."""
    parse_known_args = Parser.parse_known_args

    def stop(parser, args=None, namespace=None):
        read, others = parse_known_args(parser, args, namespace)
        if others and parser.prog.split()[-1] not in ("eval", "why", "gate", "watch"):
            parser.error(f"unrecognized arguments: {' '.join(others)}")
        raise Parsed(read, others)

    with patch.object(Parser, "parse_known_args", stop), pytest.raises(Parsed) as parsed:
        main(words)
    return parsed.value.args


def refusal(capsys, *arguments):
    """Return the one line of the error with which a command ends, after what names the command."""
    capsys.readouterr()
    assert main([*map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"cogniload {arguments[0]}: error: ")
    return err.strip().partition("error: ")[2]


def run_python(code, *arguments, check=True, **options):
    """Run a program in a Python of its own; the result has what it printed as texts."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)


def run(*command, **options):
    """Return what a program prints; it must succeed."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-3000:]
    return ran.stdout

"""The `cogniload` command: how a command of commands.toml is found and run.

A command's module has `run_NAME(arguments)`, which returns the exit code or None for 0. It may
have `add_NAME(parser)`, which adds to the arguments of commands.toml. It is imported when the
command is called. A benchmark brings commands of its own, and may add arguments to a shared one, in
a commands.toml in its folder.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from tomllib import loads
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Command, read_commands
from cogniload_gen.files.inputs import one_line
from cogniload_gen.parser import Parser, labelled, number, spellings
from cogniload_gen.version import __version__

GROUPS = loads(files(__package__).joinpath("commands.toml").read_text("utf-8"))["groups"]
"""Arguments that several commands take."""

TYPES = {"path": Path, "int": int, "float": float, "number": number, "labelled": labelled}
"""What reads an argument's text, by the names in commands.toml."""


def list_commands() -> tuple[list[Command], list[Command]]:
    """Return all commands, and what the benchmarks add to those that are shared."""
    puzzles, models = (read_commands(__name__, of) for of in ("puzzles", "models"))
    own = {id(command): command for one in benchmarks.BENCHMARKS for command in one.commands}
    brought = [command for command in own.values() if command.summary]
    return [*puzzles, *brought, *models], [one for one in own.values() if not one.summary]


def parser() -> Parser:
    """Return the command line; a command's arguments are added when it is called."""
    root = Parser(prog="cogniload", description="Why does a language model fail at long reasoning?")
    generators = ", ".join(
        f"{benchmark.name} {benchmark.version}" for benchmark in benchmarks.BENCHMARKS
    )
    version = f"cogniload {__version__}, generator versions: {generators}"
    root.add_argument("--version", action="version", version=version)
    subparsers = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands, additions = list_commands()
    for command in commands:
        parts = [command, *(addition for addition in additions if addition.name == command.name)]
        added = subparsers.add_parser(
            command.name, help=command.summary, description=command.summary, fill=fill_with(parts)
        )
        added.set_defaults(parser=added)
    return root


def fill_with(parts: Sequence[Command]) -> Any:
    """Return what adds the arguments of a command and of the benchmarks' additions to it."""

    def fill(to: Parser) -> None:
        runs = {}
        to.usage, to.takes_others = parts[0].usage, parts[0].takes_others
        for part in parts:
            add_arguments(to, part.arguments)
            if part is parts[0] or part.option:
                module = import_module(part.module)
                getattr(module, f"add_{part.name}", lambda _: None)(to)
                runs[part.option] = getattr(module, f"run_{part.name}")
        to.set_defaults(runs=runs)

    return fill


def add_arguments(command: Parser, declared: Iterable[Mapping[str, Any] | str]) -> None:
    """Add arguments, or groups of them, as commands.toml declares them."""
    for argument in declared:
        if isinstance(argument, str):
            add_arguments(command, GROUPS[argument])
            continue
        settings: dict[str, Any] = {
            key: tuple(v) if isinstance(v, list) else v for key, v in argument.items()
        }
        name = str(settings.pop("name"))
        if "type" in settings:
            settings["type"] = TYPES[settings["type"]]
        names = spellings(name[2:]) if name.startswith("--") else [name]
        command.add_argument(*names, **settings)


def run(arguments: argparse.Namespace) -> int:
    """Run the command of some arguments, which an option may hand over to a benchmark."""
    runs = dict(arguments.runs)
    shared = runs.pop(None)
    own = [runs[option] for option in runs if getattr(arguments, option)]
    return next(iter(own), shared)(arguments) or 0


def main(
    arguments: Sequence[str] | None = None, *, begin: Callable[[], object] = lambda: None
) -> int:
    """Run the command; 0 if it did its work, 2 after a one-line error, 130 after Ctrl-C.

    `begin` is called when the command is loaded: from then on, Ctrl-C is an exception.
    """
    parsed, others = parser().parse_known_args(arguments)
    if parsed.parser.takes_others:
        parsed.lm_eval_arguments = others
    elif others:
        parsed.parser.error(f"unrecognized arguments: {' '.join(others)}")
    try:
        begin()
        return run(parsed)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        print(f"cogniload {parsed.command}: error: {error_line(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        how = "".join(f": {word}" for word in interrupt.args)
        print(f"cogniload {parsed.command}: interrupted{how}", file=sys.stderr)
        return 130


def error_line(error: Exception) -> str:
    """Return an error's message on one line, without the number that the system gives it."""
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        return one_line(message)
    return one_line("the memory is full" if isinstance(error, MemoryError) else str(error))

"""The commands that have to do with lm-eval: tasks and eval."""

from argparse import Namespace

from cogniload_gen.checks import check_integer
from cogniload_gen.commands.printing import counted
from cogniload_gen.commands.puzzle_options import (
    add_puzzle_options,
    puzzle_options,
    select_puzzles,
)
from cogniload_gen.extras import needing
from cogniload_gen.parser import Parser

FIRST_PUZZLES = {"d": [1, 2, 3], "N": [5], "rho": [50], "num_puzzles": 1}
"""What `cogniload play` shows a newcomer."""


def add_tasks(tasks: Parser) -> None:
    """Add the arguments of `cogniload tasks`."""
    link = tasks.add_mutually_exclusive_group()
    link.add_argument("--link", action="store_true", help="link it into the installed lm-eval")
    link.add_argument("--unlink", action="store_true", help="take the link back")


def run_tasks(arguments: Namespace) -> None:
    """Run `cogniload tasks [--link | --unlink]`."""
    from lm_eval_tasks.links import TASKS, link_tasks, unlink_tasks

    if arguments.link:
        print(f"linked {link_tasks()}")
    elif arguments.unlink:
        print(f"unlinked {unlink_tasks()}")
    else:
        print(TASKS)


def run_eval(arguments: Namespace) -> None:
    """Run `cogniload eval`: lm-eval, an extra, has arguments of its own."""
    from lm_eval_tasks.runner import run

    with needing("eval", "eval"):
        run(arguments, arguments.lm_eval_arguments)


def add_play(play: Parser) -> None:
    """Add the options of `cogniload play` that say which puzzles."""
    add_puzzle_options(play, own_splits=False)


def run_play(arguments: Namespace) -> None:
    """Run `cogniload play`: three short puzzles, unless options name others."""
    from lm_eval_tasks.play import play

    if not puzzle_options(arguments):
        vars(arguments).update(FIRST_PUZZLES)
    outcomes = play(select_puzzles(arguments), arguments.out)
    right = sum(count for outcome, count in outcomes.items() if outcome.correct)
    print(f"\n{right} of {counted(outcomes.total(), 'new response')} right, in {arguments.out}")


def run_explore(arguments: Namespace) -> None:
    """Run `cogniload explore` until Ctrl-C."""
    with needing("explore", "explore"):
        from cogniload_gen.explorer.page import build
    port = check_integer("port", arguments.port, low=0, high=65535)
    build().launch(server_port=port, quiet=False)

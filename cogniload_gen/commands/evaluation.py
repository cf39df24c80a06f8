"""The commands that have to do with lm-eval: tasks and eval."""

from argparse import Namespace
from pathlib import Path

from cogniload_gen.checks import check_integer
from cogniload_gen.commands.printing import counted
from cogniload_gen.commands.puzzle_options import (
    add_puzzle_options,
    puzzle_options,
    select_puzzles,
)
from cogniload_gen.extras import needing
from cogniload_gen.parser import Parser, number, spellings

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


def add_eval(evaluate: Parser) -> None:
    """Add the arguments of `cogniload eval`; lm-eval has others."""
    evaluate.takes_others = True
    evaluate.usage = (
        "cogniload eval --output_path DIR [--config FILE] [--shard I/N] [--block_size COUNT] "
        "[arguments of lm_eval run]\n"
        "       cogniload eval --tasks TASK --until GOAL [--budget COUNT] [--range LOW HIGH] ...\n"
        "       cogniload eval ... [--max-tokens-total COUNT] [--price IN,OUT --max-cost COST]\n"
        "       cogniload eval --merge DIR ... [--output_path DIR] [--include_path DIR]\n"
        "       cogniload eval --status DIR ... [--include_path DIR] [--price IN,OUT]"
    )
    add = evaluate.add_argument
    out = "state and results; started again, go on"
    add(*spellings("output_path"), type=Path, metavar="DIR", help=out)
    add("--config", type=Path, metavar="FILE", help="YAML of these arguments and of lm_eval run's")
    add("--shard", metavar="I/N", help="evaluate blocks I, I + N, I + 2N, ... alone")
    block = "documents a block (350; --until: 64)"
    add(*spellings("block_size"), type=number, metavar="COUNT", help=block)
    add("--until", metavar="GOAL", help="ask until it is known: ECL50±20%%, N_eff±20%%, ...")
    add("--budget", type=number, metavar="COUNT", help="the most puzzles for --until (1500)")
    ends = "the least and the most N (or op) that --until asks, such as 10 400"
    add("--range", nargs=2, type=number, metavar=("LOW", "HIGH"), help=ends)
    most = "start no further block once a run has used these tokens, such as 20M"
    add(*spellings("max_tokens_total"), metavar="COUNT", help=most)
    price = "of a million tokens of prompts and of responses, such as 0.4,1.6"
    add("--price", metavar="IN,OUT", help=price)
    add(*spellings("max_cost"), metavar="COST", help="the same for the cost at --price")
    add("--merge", nargs="+", type=Path, metavar="DIR", help="write the results of all shards")
    add("--status", nargs="+", type=Path, metavar="DIR", help="print how far an evaluation is")


def run_eval(arguments: Namespace) -> None:
    """Run `cogniload eval`: lm-eval, an extra, has arguments of its own."""
    from lm_eval_tasks.runner.command import run

    with needing("eval", "eval"):
        run(arguments, arguments.lm_eval_arguments)


def add_play(play: Parser) -> None:
    """Add the arguments of `cogniload play`."""
    out = "of the responses; its name is the row's in a report (human)"
    play.add_argument("--out", type=Path, default=Path("human"), metavar="DIR", help=out)
    add_puzzle_options(play, own_splits=False)


def run_play(arguments: Namespace) -> None:
    """Run `cogniload play`: three short puzzles, unless options name others."""
    from lm_eval_tasks.play import play

    if not puzzle_options(arguments):
        vars(arguments).update(FIRST_PUZZLES)
    outcomes = play(select_puzzles(arguments), arguments.out)
    right = sum(count for outcome, count in outcomes.items() if outcome.correct)
    print(f"\n{right} of {counted(outcomes.total(), 'response')} right, in {arguments.out}")


def add_explore(explore: Parser) -> None:
    """Add the arguments of `cogniload explore`."""
    port = "of 127.0.0.1 (7860)"
    explore.add_argument("--port", type=int, default=7860, metavar="PORT", help=port)


def run_explore(arguments: Namespace) -> None:
    """Run `cogniload explore` until Ctrl-C."""
    with needing("explore", "explore"):
        from cogniload_gen.explorer.page import build
    port = check_integer("port", arguments.port, low=0, high=65535)
    build().launch(server_port=port, quiet=False)

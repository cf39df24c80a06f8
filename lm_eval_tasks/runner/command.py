"""Where `cogniload eval` begins: what needs no model is done before lm-eval is loaded.

lm-eval and its libraries take seconds to load, too long to say that a task's name is misspelt.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from lm_eval_tasks.runner.caps import CAPS, read_price
from lm_eval_tasks.task_names import refuse_misspelt


def run(arguments: Namespace, others: Sequence[str]) -> None:
    """Run `cogniload eval`, with our arguments in `arguments` and lm-eval's in `others`.

    ValueError or OSError, in a line, for what can't be evaluated; ImportError without lm-eval.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--tasks", "-t", nargs="*", default=[])
    parser.add_argument("--include_path", nargs="?", const="")
    known, rest = parser.parse_known_args([other for other in others if other != "--"])
    folders = {"--merge": arguments.merge, "--status": arguments.status}
    options = [name for name, value in folders.items() if value]
    settings = ("config", "shard", "block_size", "until", "budget", "range", *CAPS)
    alone = [getattr(arguments, name) for name in settings if name != "price"]
    alone += [*rest, *known.tasks, None if arguments.status else arguments.price]
    if len(options) > 1 or (options and any(argument is not None for argument in alone)):
        raise ValueError(
            f"{options[0]} takes its folders, --output_path and --include_path "
            "or (for the status) --price, and nothing else"
        )
    if arguments.status:
        from lm_eval_tasks.runner.progress import lines_of, read_status  # noqa: PLC0415  (see above)

        price = None if arguments.price is None else read_price(arguments.price)
        for folder in arguments.status:
            status = read_status(folder, known.include_path)
            print("\n".join(lines_of(folder, status, price)))
        return
    # the folder of --include_path may hold tasks of such names
    if not arguments.merge and known.include_path is None:
        refuse_misspelt(name for names in known.tasks for name in names.split(",") if name)
    from lm_eval_tasks.runner.evaluate import run as run_evaluation  # noqa: PLC0415  (see above)

    run_evaluation(arguments, others, known.include_path)

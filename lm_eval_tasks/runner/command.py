"""Where `cogniload eval` begins: what needs no model is done before lm-eval is loaded.

lm-eval and its libraries take seconds to load, too long to say that a task's name is misspelt.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from lm_eval_tasks.runner.names import refuse_misspelt


def run(given: Namespace, others: Sequence[str]) -> None:
    """Run `cogniload eval`, whose arguments are ours in `given`, and lm-eval's in `others`.

    ValueError or OSError, in a line, for what can't be evaluated; ImportError without lm-eval.
    """
    own = {"--merge": given.merge, "--status": given.status}
    asked = [name for name, value in own.items() if value]
    limits = given.budget, given.range
    alone = (given.config, given.shard, given.block_size, given.until, *limits, *others)
    if len(asked) > 1 or (asked and any(argument is not None for argument in alone)):
        raise ValueError(f"{asked[0]} takes its folders and --output_path, and nothing else")
    if given.status:
        from lm_eval_tasks.runner.status import print_status  # noqa: PLC0415  (see above)

        for folder in given.status:
            print_status(folder)
        return
    if not given.merge:
        refuse_misspelt(asked_tasks(others))
    from lm_eval_tasks.runner.evaluate import run as run_evaluation  # noqa: PLC0415  (see above)

    run_evaluation(given, others)


def asked_tasks(others: Sequence[str]) -> list[str]:
    """Return the names after --tasks, unless --include_path may hold tasks of such names."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--tasks", "-t", nargs="*", default=[])
    parser.add_argument("--include_path", nargs="?", const="")
    known, _ = parser.parse_known_args([other for other in others if other != "--"])
    if known.include_path is not None:
        return []
    return [name for names in known.tasks for name in names.split(",") if name]

"""The commands about results: report, leaderboard, compare, why, plan, view and demo."""

import gc
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from cogniload_gen.extras import needing
from cogniload_gen.parser import Labelled


def run_report(arguments: Namespace) -> None:
    """Run `cogniload report RESULTS... --out DIR`."""
    options, price = vars(arguments), find_price(arguments)
    report(arguments.results, arguments.out, arguments.force, options, price)


def find_price(arguments: Namespace) -> tuple[float, float] | None:
    """Return the price that the arguments name, if they do."""
    if arguments.price is None:
        return None
    from lm_eval_tasks.runner.caps import read_price

    return read_price(arguments.price)


def report(
    results: Sequence[Labelled],
    out: Path,
    force: bool,
    options: dict[str, Any],
    price: tuple[float, float] | None = None,
) -> None:
    """Write a report by `cogniload_analysis`, an extra, and print where it is."""
    with needing("the report", "analysis"), uncollected():
        import cogniload_analysis.report.why  # noqa: F401  (matplotlib)
        from cogniload_analysis.analyses import ANALYSES
        from cogniload_analysis.report.write import write_report
    among = [analysis.configured(options) for analysis in ANALYSES]
    runs = by_label(results)
    page = write_report(runs, out, among=among, force=force, price=price, say=print)
    print(f"report   {page}")


@contextmanager
def uncollected() -> Iterator[None]:
    """Spare what is made here a search for garbage, now and later: modules stay."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def run_leaderboard(arguments: Namespace) -> None:
    """Run `cogniload leaderboard RESULTS... --out SITE`."""
    with needing("the leaderboard", "analysis"):
        from cogniload_analysis.report.leaderboard import write_leaderboard
    results, out = by_label(arguments.results), arguments.out
    print(f"site     {write_leaderboard(results, out, force=arguments.force)}")


def run_compare(arguments: Namespace) -> None:
    """Run `cogniload compare RESULTS ...`."""
    if arguments.until is not None:
        compare_until(arguments)
        return
    with needing("compare", "analysis"):
        from cogniload_analysis.report.compare_runs import compare_results
    options = {"force": arguments.force, "detect": arguments.detect}
    print(compare_results(by_label(arguments.results), arguments.out, **options))


def compare_until(arguments: Namespace) -> None:
    """Run `cogniload compare A=RUN B=RUN --until "A>B" --out DIR`."""
    with needing("compare --until", "eval"):
        from cogniload_analysis.compare.differences import decide
        from lm_eval_tasks.in_turn import answer_in_turn
    runs = {label or path.name: path for label, path in arguments.results}
    names, size = arguments.until.split(">"), (arguments.budget, arguments.block_size)
    if len(names) != 2 or sorted(names) != sorted(runs) or arguments.out is None or min(size) < 1:
        raise ValueError(
            f'--until takes --out, two runs by their names, as "{">".join(runs)}", and a budget '
            f"and a block_size of at least 1; got {arguments.until[:60]!r}"
        )
    for count in answer_in_turn({name: runs[name] for name in names}, arguments.out, *size):
        decided, sentence = decide(names, *count)
        print(sentence, file=sys.stderr)
        if decided:
            break
    print(sentence)


def run_why(arguments: Namespace) -> None:
    """Run `cogniload why RUN`."""
    with needing("why", "eval"):
        from cogniload_analysis.report.compare_runs import explain_results
        from lm_eval_tasks.twins import ask_twins
    run = arguments.run_folder
    out = arguments.out or (run.parent if run.is_file() else run) / "why"
    choice = arguments.budget, arguments.seed, arguments.lm_eval_arguments
    blocks = {"shard": arguments.shard, "block_size": arguments.block_size}
    answers = ask_twins(run, out, *choice, **blocks)
    if not arguments.shard:
        print("\n".join(explain_results([run, answers]).verdict))


def run_plan(arguments: Namespace) -> None:
    """Run `cogniload plan --detect SHARE --like MODEL`."""
    with needing("plan", "analysis"):
        from cogniload_analysis import plan_comparison
    settings = {"response_tokens": arguments.response_tokens, "throughput": arguments.throughput}
    price = find_price(arguments)
    plan = plan_comparison(arguments.like, arguments.detect, **settings, price=price)
    print(plan.summary())


def run_view(arguments: Namespace) -> None:
    """Run `cogniload view RESULTS...`."""
    with needing("view", "inspect"):
        from cogniload_analysis.report import inspect_view

        logs = inspect_view.write_logs(arguments.results, arguments.out, force=arguments.force)
    for log in logs:
        print(f"log      {log}")
    command = shlex.join(inspect_view.view_command(arguments.out))
    if arguments.bundle:
        inspect_view.bundle_logs(arguments.out, arguments.bundle)
        print(f"site     {arguments.bundle}")
    elif arguments.no_open or not sys.stdout.isatty():
        print(f"next     {command}")
    else:
        inspect_view.open_viewer(arguments.out)


def run_share(arguments: Namespace) -> None:
    """Run `cogniload share RUN --to CATALOGUE --out FOLDER`."""
    with needing("share", "analysis"):
        from cogniload_analysis.report.share import About, share_results
    about = About(**{field.name: getattr(arguments, field.name) for field in fields(About)})
    results, out = arguments.results, arguments.out
    for file in share_results(results, out, arguments.to, about, force=arguments.force):
        print(f"wrote    {file}")


def run_demo(arguments: Namespace) -> None:
    """Run `cogniload demo`: its own earlier report is replaced."""
    from lm_eval_tasks import demo

    results = [("", demo.run_demo(arguments.out))]
    report(results, arguments.out / "report", force=True, options={})


def by_label(results: Sequence[Labelled]) -> dict[str, list[Path]]:
    """Return the paths of each label, in the order of the labels' first paths."""
    paths: dict[str, list[Path]] = {}
    for label, path in results:
        paths.setdefault(label, []).append(path)
    return paths

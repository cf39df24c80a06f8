"""The commands about results: report, leaderboard, compare, why, plan, view and demo."""

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from cogniload_gen.commands.samples import add_run
from cogniload_gen.extras import needing
from cogniload_gen.parser import Parser, number, spellings

Labelled = tuple[str, Path]
"""The label of results, "" for none, and their path."""


def add_report(report: Parser) -> None:
    """Add the arguments of `cogniload report`."""
    results = "lm-eval's --output_path; LABEL=DIR names the rows of its runs"
    report.add_argument("results", nargs="+", type=labelled, metavar="RESULTS", help=results)
    report.add_argument("--out", type=Path, required=True, metavar="DIR", help="to write")
    report.add_argument("--force", action="store_true", help="replace what is there")


def run_report(arguments: Namespace) -> None:
    """Run `cogniload report RESULTS... --out DIR`."""
    report(arguments.results, arguments.out, force=arguments.force, options=vars(arguments))


def report(results: Sequence[Labelled], out: Path, force: bool, options: dict[str, Any]) -> None:
    """Write a report by `cogniload_analysis`, an extra, and print where it is."""
    with needing("the report", "analysis"):
        from cogniload_analysis.analyses import ANALYSES
        from cogniload_analysis.report.write import write_report
    among = [analysis.configured(options) for analysis in ANALYSES]
    page = write_report(by_label(results), out, among=among, force=force, say=print)
    print(f"report   {page}")


def add_leaderboard(leaderboard: Parser) -> None:
    """Add the arguments of `cogniload leaderboard`."""
    add_report(leaderboard)


def run_leaderboard(arguments: Namespace) -> None:
    """Run `cogniload leaderboard RESULTS... --out SITE`."""
    with needing("the leaderboard", "analysis"):
        from cogniload_analysis.report.leaderboard import write_leaderboard
    results, out = by_label(arguments.results), arguments.out
    print(f"site     {write_leaderboard(results, out, force=arguments.force)}")


def add_compare(compare: Parser) -> None:
    """Add the arguments of `cogniload compare`."""
    results = "lm-eval's --output_path; LABEL=DIR names its runs"
    compare.add_argument("results", nargs="+", type=labelled, metavar="RESULTS", help=results)
    detect = "difference in accuracy to say the needed puzzles for (0.02)"
    compare.add_argument("--detect", type=float, default=0.02, metavar="SHARE", help=detect)
    out = "write the tables as CSV; with --until, the answers"
    compare.add_argument("--out", type=Path, metavar="DIR", help=out)
    compare.add_argument("--force", action="store_true", help="replace what is there")
    until = "have the models of runs A and B answer the same puzzles until one solves more"
    compare.add_argument("--until", metavar='"A>B"', help=until)
    budget: dict[str, Any] = {"type": int, "metavar": "COUNT"}
    most = "with --until: most puzzles (1400)"
    compare.add_argument("--budget", default=1400, help=most, **budget)
    block = "with --until: puzzles a block, after which p is computed (50)"
    compare.add_argument(*spellings("block_size"), default=50, help=block, **budget)


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


def add_why(why: Parser) -> None:
    """Add the arguments of `cogniload why`; lm-eval's go before those that the run recorded."""
    why.takes_others = True
    add_run(why)
    out = "twins and answers; started again, go on (RUN/why)"
    why.add_argument("--out", type=Path, metavar="DIR", help=out)
    shard = "answer blocks I, I + N, ... alone; the verdict comes without it, when all are done"
    why.add_argument("--shard", metavar="I/N", help=shard)
    block: dict[str, Any] = {"type": number, "default": 50, "metavar": "COUNT"}
    why.add_argument(*spellings("block_size"), help="twins a block (50)", **block)


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


def add_plan(plan: Parser) -> None:
    """Add the arguments of `cogniload plan`."""
    detect = "difference in accuracy to tell, such as 0.05"
    plan.add_argument("--detect", type=float, required=True, metavar="SHARE", help=detect)
    like = "published model that the better one is like, such as Qwen3-8B"
    plan.add_argument("--like", required=True, metavar="MODEL", help=like)
    tokens: dict[str, Any] = {"type": float, "metavar": "TOKENS"}
    mean = "tokens of a response, in the mean (5000)"
    plan.add_argument(*spellings("response_tokens"), default=5000, help=mean, **tokens)
    throughput = "tokens of response a second and GPU (2000)"
    plan.add_argument("--throughput", default=2000, help=throughput, **tokens)
    price = "of a million tokens of prompts and of responses, such as 0.4,1.6"
    plan.add_argument("--price", metavar="IN,OUT", help=price)


def run_plan(arguments: Namespace) -> None:
    """Run `cogniload plan --detect SHARE --like MODEL`."""
    with needing("plan", "analysis"):
        from cogniload_analysis import plan_comparison
        from lm_eval_tasks.runner.caps import read_price
    settings = {"response_tokens": arguments.response_tokens, "throughput": arguments.throughput}
    price = None if arguments.price is None else read_price(arguments.price)
    plan = plan_comparison(arguments.like, arguments.detect, **settings, price=price)
    print(plan.summary())


def add_view(view: Parser) -> None:
    """Add the arguments of `cogniload view`."""
    add = view.add_argument
    add("results", nargs="+", type=Path, metavar="RESULTS", help="lm-eval's --output_path")
    logs = "folder of the logs (inspect_logs)"
    add("--out", type=Path, default=Path("inspect_logs"), metavar="DIR", help=logs)
    site = "write the viewer with all logs in --out as a static site, and open nothing"
    add("--bundle", type=Path, metavar="DIR", help=site)
    add(*spellings("no_open"), action="store_true", help="write the logs, and open nothing")
    add("--force", action="store_true", help="replace the logs that are there")


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


def add_share(share: Parser) -> None:
    """Add the arguments of `cogniload share`."""
    add = share.add_argument
    add("results", nargs="+", type=Path, metavar="RUN", help="lm-eval's --output_path")
    form = "every-eval-ever (a record with all responses) or hub (.eval_results of a model's page)"
    add("--to", required=True, choices=("every-eval-ever", "hub"), help=form)
    add("--out", type=Path, required=True, metavar="FOLDER", help="to write")
    add(*spellings("model_id"), metavar="ORG/NAME", help="the model as the Hub names it")
    add("--organization", default="unknown", metavar="NAME", help="who evaluated it")
    relation = "to the model's makers: first_party, third_party, collaborative or other (other)"
    add("--relationship", default="other", metavar="R", help=relation)
    add("--dataset", metavar="USER/NAME", help="for hub: the repository of the puzzles")
    add(*spellings("task_id"), metavar="ID", help="for hub: the task in its eval.yaml")
    add("--force", action="store_true", help="replace what is there")


def run_share(arguments: Namespace) -> None:
    """Run `cogniload share RUN --to CATALOGUE --out FOLDER`."""
    with needing("share", "analysis"):
        from cogniload_analysis.report.share import About, share_results
    about = About(**{field.name: getattr(arguments, field.name) for field in fields(About)})
    results, out = arguments.results, arguments.out
    for file in share_results(results, out, arguments.to, about, force=arguments.force):
        print(f"wrote    {file}")


def add_demo(demo: Parser) -> None:
    """Add the arguments of `cogniload demo`."""
    demo.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="(demo)")


def run_demo(arguments: Namespace) -> None:
    """Run `cogniload demo`: its own earlier report is replaced."""
    from lm_eval_tasks import demo

    results = [("", demo.run_demo(arguments.out))]
    report(results, arguments.out / "report", force=True, options={})


def labelled(text: str) -> Labelled:
    """Return the label, "" for none, and the path of LABEL=DIR; a path that exists has none."""
    label, equals, path = text.partition("=")
    # Path.exists raises OSError where the label is longer than a file's name can be.
    exists = os.path.exists(text)  # noqa: PTH110
    if not (equals and label and path) or "/" in label or exists:
        return "", Path(text)
    return label, Path(path)


def by_label(results: Sequence[Labelled]) -> dict[str, list[Path]]:
    """Return the paths of each label, in the order of the labels' first paths."""
    paths: dict[str, list[Path]] = {}
    for label, path in results:
        paths.setdefault(label, []).append(path)
    return paths

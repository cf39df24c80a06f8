"""The `cogniload` command: a function a command, in the order of the help.

Each function adds its arguments to a parser, parses the words behind the command and does the work;
its docstring is its line in the help. What a command needs is imported within it, so that
`--help` and a mistyped word are answered at once. This is the one file that sees every room.
"""

import os
import shlex
import signal
import sys
from argparse import ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from cogniload_gen.benchmark import Benchmark, Knob
    from cogniload_gen.parser import Parser
    from cogniload_gen.source import Source

Words = Sequence[str]
Labelled = tuple[str, Path]
"""The label of results, "" for none, and their path."""

EXTRAS = {
    "lm_eval": "eval",
    "transformers": "eval",
    "torch": "eval",
    "vllm": "vllm",
    "inspect_ai": "inspect",
    "bm25s": "retrieval",
    "sentence_transformers": "retrieval",
    "gguf": "demo",
} | dict.fromkeys(
    ("pandas", "scipy", "statsmodels", "firthmodels", "matplotlib", "msgspec", "threadpoolctl"),
    "analysis",
)
"""The extra that installs a package, by the name that is imported."""


# --- puzzles --------------------------------------------------------------------------------------


def generate(parser: "Parser", words: Words) -> None:
    """Write puzzles to a .jsonl or .parquet file, or to a folder OUT/ of Parquet files."""
    parser.usage = (
        "cogniload generate FILE [options]\n"  # after --d 3 5, FILE would be a value
        "       cogniload generate OUT/ [--shard I/N] [--rows-per-file COUNT] [options]"
    )
    out = "to write, a folder if it ends in /; stands first. In a folder, the same command goes on"
    parser.add_argument("out", nargs="?", metavar="FILE", help=out)
    share = "make files I, I + N, I + 2N, ... of the folder alone; any N makes the same files"
    _option(parser, "shard", share, metavar="I/N")
    rows = "puzzles in each file of the folder (10,000)"
    _option(parser, "rows-per-file", rows, type=_number, metavar="COUNT")
    _force(parser, "FILE")
    planted = "write traces of CogniLoad puzzles with one planted first error each"
    _option(parser, "errors", planted, action="store_true")
    _puzzle_options(parser)
    arguments = parser.parse_args(words)
    if arguments.out is None:
        raise ValueError("FILE is missing: it stands before the options, as --d takes any number")
    if arguments.out.endswith("/"):
        _generate_folder(arguments)
        return
    for name in ("rows_per_file", "shard"):
        if getattr(arguments, name) is not None:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is for a folder: write {arguments.out}/ for one")
    from cogniload_gen.tables import write_puzzles

    source = _puzzles(arguments)
    if arguments.errors:
        source = _planted(arguments, source)
    write_puzzles(source, Path(arguments.out), force=arguments.force)
    kind = "traces" if arguments.errors else "puzzles"
    print(f"{arguments.out}: {len(source.selection)} {kind}")


def _planted(arguments: Namespace, source: "Source") -> "Source":
    from cogniload_gen.cogniload.steps.planted import trace_source
    from cogniload_gen.grid import ENGLISH

    if arguments.trace:
        raise ValueError("--trace is not for --errors: a trace has columns of its own")
    if arguments.twin == "question=state":
        raise ValueError("--errors is not for --twin question=state: a trace ends with one value")
    if arguments.language not in (None, ENGLISH) or "language=" in (arguments.twin or ""):
        raise ValueError("--errors is for English puzzles: no trace is in another language")
    return trace_source(source)


def _generate_folder(arguments: Namespace) -> None:
    """Make the files of a shard that are not whole yet."""
    from tqdm import tqdm

    from cogniload_gen.checks import check_shard
    from cogniload_gen.shards import ROWS_PER_FILE, files_of

    for name in ("force", "errors"):
        if getattr(arguments, name):
            raise ValueError(f"--{name} is for a file, got it for the folder {arguments.out}")
    shard, shards = check_shard("1/1" if arguments.shard is None else arguments.shard)
    size = ROWS_PER_FILE if arguments.rows_per_file is None else arguments.rows_per_file
    selection = _puzzles(arguments).selection
    files = files_of(arguments.out, selection, size, **_text_options(arguments)).start()
    mine = range(shard - 1, len(files), shards)
    rows = sum(len(files.rows(number)) for number in mine)
    share = f", of which shard {shard}/{shards} makes {len(mine):,}" * (shards > 1)
    whole = f"{_counted(len(selection), 'puzzle')} in {_counted(len(files), 'file')}"
    print(f"{arguments.out}: {whole}{share}", flush=True)
    made = 0
    try:
        with tqdm(total=rows, unit=" puzzles", disable=None) as progress:
            for number in mine:
                if files.proven(number):
                    progress.update(len(files.rows(number)))
                else:
                    files.write(number, progress.update)
                    made += 1
    except KeyboardInterrupt as stop:
        stop.args = (f"{_counted(made, 'file')} made; the same command goes on",)
        raise
    part = f"shard {shard}/{shards}: " * (shards > 1)
    kept = len(mine) - made
    were = "was whole by its" if kept == 1 else "were whole by their"
    print(f"{part}{_counted(made, 'file')} made, {kept:,} {were} SHA-256")
    there = files.finish()
    if there < len(files):
        rest = "other shards make the rest"
        print(f"{arguments.out}: {there} of {len(files)} files are there; {rest}")
    else:
        print(f"{arguments.out}: whole, {whole}")
        print(f"next: cogniload verify {shlex.quote(arguments.out)} --sample 1%")


def solve(parser: "Parser", words: Words) -> None:
    """Print the answer of a puzzle, from its text alone."""
    text = "the puzzle (default: standard input)"
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help=text)
    arguments = parser.parse_args(words)
    from cogniload_gen import solve as answer

    source = str(arguments.file or "standard input")
    try:
        file = arguments.file
        print(answer((file.read_bytes() if file else sys.stdin.buffer.read()).decode()))
    except (ValueError, AttributeError) as error:  # without standard input, sys.stdin is None
        raise ValueError(f"{source}: {error}") from None


def retrieve(parser: "Parser", words: Words) -> None:
    """Say how much of what FACTOR's answers need retrievers find, without a model."""
    from itertools import product

    from cogniload_gen.factor import FACTOR

    parser.usage = "cogniload retrieve [FILE] [options]"  # after --op 5, FILE would be a value
    file = "puzzles, .jsonl or .parquet; stands first (default: made by the options below)"
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help=file)
    usual: Any = ["bm25", "iterative", "random", "oracle"]
    text = "bm25, encoder, iterative, iterative-bm25, iterative-encoder, random, oracle, or several"
    text += f" (default {' '.join(usual)})"
    _option(parser, "retriever", text, nargs="+", default=usual, metavar="NAME")
    usual = [500, 1000, 2000]
    text = "tokens that may be found, or several such budgets (default 500 1000 2000)"
    _option(parser, "budget", text, type=_number, nargs="+", default=usual, metavar="TOKENS")
    text = "model of sentence-transformers, a name or a folder (default all-MiniLM-L6-v2)"
    _option(parser, "encoder", text, metavar="MODEL")
    _option(parser, "out", "write the table as CSV", type=Path, metavar="FILE")
    _force(parser, "FILE")
    _puzzle_options(parser, FACTOR.benchmarks)
    arguments = parser.parse_args(words)
    from tqdm import tqdm

    from cogniload_gen.factor.recall import lines, measure, write_csv
    from cogniload_gen.factor.retrieval import check_retrieval
    from cogniload_gen.tables import read_puzzles

    encoder = {"encoder": arguments.encoder} if arguments.encoder else {}
    retrievals = [
        check_retrieval({"retriever": retriever, "budget": budget} | encoder)
        for retriever, budget in product(arguments.retriever, arguments.budget)
    ]
    if arguments.out and arguments.out.exists() and not arguments.force:  # before the work
        raise FileExistsError(f"{arguments.out} exists: pass --force to replace it")
    if arguments.file:
        for name in _puzzle_arguments(arguments):
            if name != "tokenizer":  # by which the budgets are measured, too
                option = name.replace("_", "-")
                raise ValueError(f"--{option} says which puzzles to make, got a FILE too")
        rows = read_puzzles(arguments.file)
    elif arguments.suite is None:
        suites = " or ".join(FACTOR.suites)
        raise ValueError(f"give a FILE of puzzles, or --suite {suites} to make some")
    else:
        rows = (row for table in _puzzles(arguments).tables() for row in table.to_pylist())
    progress = tqdm(rows, unit=" puzzles", disable=None)
    results = measure(progress, retrievals, arguments.tokenizer)
    print("\n".join(lines(results)))
    if arguments.out:
        write_csv(results, arguments.out, force=arguments.force)


# --- run ------------------------------------------------------------------------------------------


def tasks(parser: "Parser", words: Words) -> None:
    """Print the folder of the lm-eval tasks, for --include_path."""
    link = parser.add_mutually_exclusive_group()
    _option(link, "link", "link it into the installed lm-eval", action="store_true")
    _option(link, "unlink", "take the link back", action="store_true")
    arguments = parser.parse_args(words)
    from lm_eval_tasks.links import TASKS, link_tasks, unlink_tasks

    if arguments.link:
        print(f"linked {link_tasks()}")
    elif arguments.unlink:
        print(f"unlinked {unlink_tasks()}")
    else:
        print(TASKS)


def plan(parser: "Parser", words: Words) -> None:
    """Say how many puzzles tell two models apart, and their cost."""
    text = "difference in accuracy to tell, such as 0.05"
    _option(parser, "detect", text, type=float, required=True, metavar="SHARE")
    text = "published model that the better one is like, such as Qwen3-8B"
    _option(parser, "like", text, required=True, metavar="MODEL")
    text = "tokens of a response, in the mean (5000)"
    _option(parser, "response-tokens", text, type=float, default=5000, metavar="TOKENS")
    text = "tokens of response a second and GPU (2000)"
    _option(parser, "throughput", text, type=float, default=2000, metavar="TOKENS")
    _price(parser, type=_read_price)
    arguments = parser.parse_args(words)
    from cogniload_analysis import plan_comparison

    names = ("response_tokens", "throughput", "price")
    settings = {name: getattr(arguments, name) for name in names}
    print(plan_comparison(arguments.like, arguments.detect, **settings).summary())


def evaluate(parser: "Parser", words: Words) -> None:
    """Evaluate a model by lm-eval; what a crash leaves is whole, and the same command goes on."""
    usages = (
        "--output_path DIR [--config FILE] [--shard I/N] [arguments of lm_eval run]",
        "--tasks TASK --until GOAL [--budget COUNT] [--range LOW HIGH] ...",
        "... [--max-tokens-total COUNT] [--price IN,OUT --max-cost COST]",
        "--merge DIR ... [--output_path DIR] [--include_path DIR]",
        "--status DIR ... [--include_path DIR] [--price IN,OUT]",
    )
    parser.usage = "\n       ".join(f"cogniload eval {usage}" for usage in usages)
    text = "answers and results; started again, go on"
    _option(parser, "output-path", text, type=Path, metavar="DIR")
    text = "YAML of these arguments and of lm_eval run's"
    _option(parser, "config", text, type=Path, metavar="FILE")
    text = "answer the I-th of N equal parts alone"
    _option(parser, "shard", text, metavar="I/N")
    text = "ask until it is known: ECL50±20%%, N_eff±20%%, ..."
    _option(parser, "until", text, metavar="GOAL")
    text = "the most puzzles for --until (1500)"
    _option(parser, "budget", text, type=_number, metavar="COUNT")
    text = "the least and the most N (or op) that --until asks, such as 10 400"
    _option(parser, "range", text, nargs=2, type=_number, metavar=("LOW", "HIGH"))
    text = "ask no more once a run has used these tokens, such as 20M"
    _option(parser, "max-tokens-total", text, metavar="COUNT")
    _price(parser)
    _option(parser, "max-cost", "the same for the cost at --price", metavar="COST")
    folders: dict[str, Any] = {"nargs": "+", "type": Path, "metavar": "DIR"}
    _option(parser, "merge", "write the results of all shards", **folders)
    _option(parser, "status", "print how far an evaluation is", **folders)
    parser.takes_others = True
    arguments, others = parser.parse_known_args(words)
    from lm_eval_tasks.runner.command import run

    run(Namespace(**vars(arguments), block_size=None), others)


def why(parser: "Parser", words: Words) -> None:
    """Ask a run's model the twins of its failures, and name the cause."""
    text = "results folder of one model, or one of its samples_*.jsonl"
    parser.add_argument("run", type=Path, metavar="RUN", help=text)
    text = "the most twins, of failures and of as many solved puzzles (300)"
    _option(parser, "budget", text, type=int, default=300, metavar="COUNT")
    _option(parser, "seed", "of the choice of puzzles (0)", type=int, default=0, metavar="SEED")
    text = "twins and answers; started again, go on (RUN/why)"
    _option(parser, "out", text, type=Path, metavar="DIR")
    text = "answer the I-th of N equal parts alone; the verdict comes without it, when all are done"
    _option(parser, "shard", text, metavar="I/N")
    text = "ask nothing, and write the twins for others to answer, .jsonl or .parquet"
    _option(parser, "write", text, type=Path, metavar="FILE")
    _force(parser, "the FILE of --write")
    parser.takes_others = True
    arguments, others = parser.parse_known_args(words)
    from lm_eval_tasks.twins import ask_twins, make_twins, write_twins

    run, choice = arguments.run, (arguments.budget, arguments.seed)
    if file := arguments.write:
        if others or arguments.out or arguments.shard:
            raise ValueError("--write takes --budget, --seed and --force, and asks no model")
        twins = make_twins(run, *choice)
        write_twins(twins, file, force=arguments.force)
        count = _counted(len(twins.table), "twin")
        print(f"{count} in {file}; for the report, score them by")
        command = ["cogniload", "score", "--dataset", str(file), "RESPONSES"]
        print(shlex.join([*command, "--out", str(twins.scored)]))
        return
    from cogniload_analysis.report.compare_runs import explain_results

    out = arguments.out or (run.parent if run.is_file() else run) / "why"
    answers = ask_twins(run, out, *choice, others, shard=arguments.shard, block_size=50)
    if not arguments.shard:
        print("\n".join(explain_results([run, answers]).verdict))


def demo(parser: "Parser", words: Words) -> None:
    """Evaluate a small real model on cogniload_mini and report on it."""
    _option(parser, "out", "(demo)", type=Path, default=Path("demo"), metavar="DIR")
    out = parser.parse_args(words).out
    from lm_eval_tasks.demo import run_demo

    _write_report({"": [run_demo(out)]}, out / "report", force=True)


# --- read -----------------------------------------------------------------------------------------


def score(parser: "Parser", words: Words) -> None:
    """Score lm-eval's samples_*.jsonl again, or tables of responses; or read their steps."""
    text = "samples_*.jsonl, gzipped or not"
    parser.add_argument("samples", nargs="+", type=Path, metavar="SAMPLES", help=text)
    text = (
        "score tables SAMPLES (.parquet, .jsonl, .csv) with id and response, perhaps with "
        "prompt_tokens, response_tokens, response_limit and finish_reason, to the puzzles in "
        "FOLDER's Parquet files, or in a file"
    )
    _option(parser, "dataset", text, type=Path, metavar="FOLDER")
    text = "say where the reasoning breaks, in place of the outcomes"
    _option(parser, "steps", text, action="store_true")
    text = "write the samples, scored and with their first errors: a .jsonl file, or a folder"
    _option(parser, "out", text, type=Path, metavar="PLACE")
    _force(parser, "the file")
    arguments = parser.parse_args(words)
    from lm_eval_tasks.rescore import rescore, score_responses

    samples, out = arguments.samples, arguments.out
    how = {"steps": arguments.steps, "force": arguments.force}
    if arguments.dataset:
        parts = [score_responses(arguments.dataset, samples, out, **how)]
    elif out and out.suffix == ".jsonl" and len(samples) > 1:
        raise ValueError(f"--out takes one samples file, got {len(samples)}: name a folder")
    else:
        parts = [rescore(path, out, **how) for path in samples]
    if arguments.steps:
        _print_errors(sum((part.errors for part in parts), Counter()))
        return
    outcomes = sum((part.outcomes for part in parts), Counter[Any]())
    total, remark = outcomes.total(), f"{sum(part.changed for part in parts)} scored anew"
    if arguments.dataset:
        right = sum(count for outcome, count in outcomes.items() if outcome.correct) / total
        error = (right * (1 - right) / max(total - 1, 1)) ** 0.5
        remark = f"standard error {error:.2%}, {parts[0].missing} puzzles without a response"
    _print_outcomes(outcomes, remark)


def _print_outcomes(outcomes: Counter[Any], remark: str) -> None:
    total = outcomes.total()
    correct = sum(count for outcome, count in outcomes.items() if outcome.correct)
    print(f"{total} responses, {correct} correct ({correct / total:.2%}), {remark}")
    for kind in dict.fromkeys(map(type, outcomes)):
        for outcome in kind:
            print(f"{outcome:26} {outcomes[outcome]:7} {outcomes[outcome] / total:8.2%}")


def _print_errors(counts: Counter[str]) -> None:
    total, unread = counts.total(), counts.pop("not read", 0)
    first_errors = "; their first errors:" if total > unread else ""
    print(f"{total} responses, {total - unread} of them could be read{first_errors}")
    for kind, count in counts.most_common():
        print(f"{kind:26} {count:7} {count / (total - unread):8.2%}")


def report(parser: "Parser", words: Words) -> None:
    """Write a report on results that lm-eval wrote; it ranks their runs."""
    _results(parser, "lm-eval's --output_path; LABEL=DIR names the rows of its runs")
    _option(parser, "out", "to write", type=Path, required=True, metavar="DIR")
    _force(parser, "what is there")
    _price(parser, type=_read_price)
    text = "accuracies that FACTOR's fits take (default: 0.1 0.9)"
    _option(parser, "factor-range", text, nargs=2, type=float, metavar=("LOW", "HIGH"))
    text = "FACTOR's Neff of a clean context, which several attempts are to reach"
    _option(parser, "factor-n-clean", text, type=float, metavar="N")
    arguments = parser.parse_args(words)
    _write_report(_by_label(arguments.results), arguments.out, **_given(arguments))


def _given(arguments: Namespace) -> dict[str, Any]:
    return {name: vars(arguments)[name] for name in vars(arguments).keys() - {"results", "out"}}


def _write_report(
    runs: dict[str, list[Path]],
    out: Path,
    *,
    force: bool,
    price: tuple[float, float] | None = None,
    **options: Any,
) -> None:
    from cogniload_analysis.analyses import ANALYSES
    from cogniload_analysis.report.write import write_report

    among = [analysis.configured(options) for analysis in ANALYSES]
    page = write_report(runs, out, among=among, force=force, price=price, say=print)
    print(f"report   {page}")


def compare(parser: "Parser", words: Words) -> None:
    """Set runs side by side, puzzle by puzzle."""
    _results(parser, "lm-eval's --output_path; LABEL=DIR names its runs")
    text = "difference in accuracy to say the needed puzzles for (0.02)"
    _option(parser, "detect", text, type=float, default=0.02, metavar="SHARE")
    _option(parser, "out", "write the tables as CSV", type=Path, metavar="DIR")
    _force(parser, "what is there")
    arguments = parser.parse_args(words)
    from cogniload_analysis.report.compare_runs import compare_results

    settings = {"force": arguments.force, "detect": arguments.detect}
    print(compare_results(_by_label(arguments.results), arguments.out, **settings))


def view(parser: "Parser", words: Words) -> None:
    """Write the responses as Inspect's logs and open its viewer."""
    text = "lm-eval's --output_path"
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help=text)
    text = "folder of the logs (inspect_logs)"
    _option(parser, "out", text, type=Path, default=Path("inspect_logs"), metavar="DIR")
    text = "write the viewer with all logs in --out as a static site, and open nothing"
    _option(parser, "bundle", text, type=Path, metavar="DIR")
    _option(parser, "no-open", "write the logs, and open nothing", action="store_true")
    _force(parser, "the logs that are there")
    arguments = parser.parse_args(words)
    from cogniload_analysis.report import inspect_view

    out = arguments.out
    for log in inspect_view.write_logs(arguments.results, out, force=arguments.force):
        print(f"log      {log}")
    if arguments.bundle:
        inspect_view.bundle_logs(out, arguments.bundle)
        print(f"site     {arguments.bundle}")
    elif arguments.no_open or not sys.stdout.isatty():
        print(f"next     {shlex.join(inspect_view.view_command(out))}")
    else:
        inspect_view.open_viewer(out)


# --- share ----------------------------------------------------------------------------------------


def push(parser: "Parser", words: Words) -> None:
    """Publish puzzles as a dataset on the Hugging Face Hub."""
    parser.add_argument("repo", metavar="REPO", help="user/name; what it already holds stays")
    _option(parser, "private", "make a new REPO private", action="store_true")
    text = "write the folder that would be uploaded, and upload nothing"
    _option(parser, "dry-run", text, type=Path, metavar="DIR")
    _puzzle_options(parser, own_splits=False)
    arguments = parser.parse_args(words)
    from cogniload_gen.hub.push import push as upload

    how = {"private": arguments.private, "dry_run": arguments.dry_run}
    grid, options = _puzzles(arguments).selection, _text_options(arguments)
    print(upload(grid, arguments.repo, **how, **options))


def verify(parser: "Parser", words: Words) -> int:
    """Make published puzzles again, compare every row, and solve every puzzle."""
    parser.epilog = "Exit code: 0 the same, 1 they differ, 2 unknown."
    text = "a folder of `generate OUT/` or of `push --dry-run`, or user/name"
    parser.add_argument("source", metavar="DIR_OR_REPO", help=text)
    text = (
        "the share of row groups to make again, such as 1%%, drawn from all files together; of "
        "generate's folder, digests, row counts and ids are checked of all"
    )
    _option(parser, "sample", text, metavar="SHARE")
    text = "load this one if the rows were measured by it; no other is loaded"
    _option(parser, "tokenizer", text, metavar="NAME")
    arguments = parser.parse_args(words)
    from cogniload_gen.hub.verify import SHOWN, check_share
    from cogniload_gen.hub.verify import verify as make_again

    share = check_share(arguments.sample)
    verdict = make_again(arguments.source, sample=share, tokenizer=arguments.tokenizer)
    for difference in verdict.differences[:SHOWN]:
        print(_one_line(difference))
    print(f"{arguments.source} {verdict}")
    return int(bool(verdict.differences))


def share(parser: "Parser", words: Words) -> None:
    """Write results as the Hub shows them on a model's page, .eval_results."""
    text = "lm-eval's --output_path"
    parser.add_argument("results", nargs="+", type=Path, metavar="RUN", help=text)
    _option(parser, "out", "to write", type=Path, required=True, metavar="FOLDER")
    text = "the Hub's repository of the puzzles"
    _option(parser, "dataset", text, required=True, metavar="USER/NAME")
    text = "the task in its eval.yaml (the run's own name of it)"
    _option(parser, "task-id", text, metavar="ID")
    _force(parser, "what is there")
    arguments = parser.parse_args(words)
    from cogniload_analysis.report.share import About, share_results

    about = About(dataset=arguments.dataset, task_id=arguments.task_id)
    results, out = arguments.results, arguments.out
    for file in share_results(results, out, "hub", about, force=arguments.force):
        print(f"wrote    {file}")


COMMANDS: dict[str, dict[str, Callable[["Parser", Words], int | None]]] = {
    "Puzzles": {"generate": generate, "solve": solve, "retrieve": retrieve},
    "Run": {"tasks": tasks, "plan": plan, "eval": evaluate, "why": why, "demo": demo},
    "Read": {"score": score, "report": report, "compare": compare, "view": view},
    "Share": {"push": push, "verify": verify, "share": share},
}
"""The commands by groups, in the order of the help."""


# --- arguments ------------------------------------------------------------------------------------


def _option(to: Any, name: str, text: str, **settings: Any) -> None:
    """Add an option, spelled with dashes and as Python spells it; `text` is its help."""
    spellings = dict.fromkeys((f"--{name}", f"--{name.replace('-', '_')}"))
    to.add_argument(*spellings, help=text, **settings)


def _force(parser: "Parser", what: str) -> None:
    _option(parser, "force", f"replace {what} if it exists", action="store_true")


def _price(parser: "Parser", **settings: Any) -> None:
    text = "of a million tokens of prompts and of responses, such as 0.4,1.6"
    _option(parser, "price", text, metavar="IN,OUT", **settings)


def _results(parser: "Parser", text: str) -> None:
    parser.add_argument("results", nargs="+", type=_labelled, metavar="RESULTS", help=text)


def _number(text: str) -> int | float | str:
    """Return a number as Python reads it; any other text stays, for the knob's check to refuse."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    parts = text.split(",")
    if len(parts) > 1 and all(isinstance(_number(part), int | float) for part in parts):
        raise ArgumentTypeError(f"write {' '.join(parts)}, with spaces, for {text}")
    return text


def _read_price(text: str) -> tuple[float, float]:
    parts = [_number(part) for part in text.split(",")]
    prices = [part for part in parts if isinstance(part, int | float) and 0 <= part < float("inf")]
    if len(parts) != 2 or len(prices) != 2:
        raise ArgumentTypeError(
            "price must be IN,OUT for a million tokens of prompts and of responses, such as "
            f"0.4,1.6, got {text[:60]!r}"
        )
    return float(prices[0]), float(prices[1])


def _labelled(text: str) -> Labelled:
    """Return the label and the path of LABEL=DIR; a path that exists has no label."""
    label, equals, path = text.partition("=")
    # Path.exists raises OSError where the label is longer than a file's name can be.
    exists = os.path.exists(text)  # noqa: PTH110
    if not (equals and label and path) or "/" in label or exists:
        return "", Path(text)
    return label, Path(path)


def _by_label(results: Iterable[Labelled]) -> dict[str, list[Path]]:
    paths: dict[str, list[Path]] = {}
    for label, path in results:
        paths.setdefault(label, []).append(path)
    return paths


def _puzzle_options(
    parser: "Parser", among: "Sequence[Benchmark] | None" = None, *, own_splits: bool = True
) -> None:
    """Add the options that say which puzzles, from the knobs of benchmarks, by default of all.

    None stands for an option that is left out. Without `own_splits`, the help names no splits that
    some benchmarks have besides.
    """
    from cogniload_gen.benchmarks import BENCHMARKS
    from cogniload_gen.grid import SPLITS

    among = BENCHMARKS if among is None else among
    group = parser.add_argument_group("which puzzles")
    suites = " or ".join(str(one.suite) for one in BENCHMARKS if one.suite)
    _option(group, "suite", f"{suites}: a suite of FACTOR")
    users: dict[str, list[tuple[Benchmark, Knob]]] = {}
    for benchmark in among:
        for knob in benchmark.parameters:
            users.setdefault(knob.name, []).append((benchmark, knob))
    users.pop("first_index")  # of `load_dataset` and Python alone
    for name, knobs in users.items():
        titles: dict[str, list[str]] = {}
        for benchmark, knob in knobs:
            titles.setdefault(knob.describe(), []).append(benchmark.title)
        texts = [f"{' and '.join(names)}: {text}" for text, names in titles.items()]
        if len(titles) == 1 and len(knobs) == len(among):
            texts = list(titles)
        _option(group, name.replace("_", "-"), ". ".join(texts).replace("%", "%%"), **_takes(knob))
    splits = ", ".join(SPLITS)
    for benchmark in among:
        if own_splits and benchmark.own_splits:
            splits += f"; {benchmark.title} also: {', '.join(benchmark.own_splits)}"
    _option(group, "split", f"{splits} (default test)")


def _takes(knob: "Knob") -> dict[str, Any]:
    """Return how the command line takes a knob: several values where they span a grid."""
    if knob.kind == "flag":
        return {"action": "store_true", "default": None}
    if knob.kind in {"tokenizer", "twin", "language"}:
        return {"metavar": {"tokenizer": "NAME", "twin": "CHANGE", "language": "CODE"}[knob.kind]}
    several = {} if knob.name in {"num_puzzles", "seed"} else {"nargs": "+"}
    converted = {"type": _number} if knob.kind in {"integer", "number"} else {}
    return {"metavar": knob.name.upper()} | several | converted


def _puzzle_arguments(arguments: Namespace) -> dict[str, Any]:
    """Return those options of `_puzzle_options` that are used."""
    from cogniload_gen.benchmarks import BENCHMARKS

    names = {knob.name for benchmark in BENCHMARKS for knob in benchmark.parameters}
    values = {name: getattr(arguments, name, None) for name in (*sorted(names), "suite", "split")}
    return {name: value for name, value in values.items() if value is not None}


def _text_options(arguments: Namespace) -> dict[str, Any]:
    """Return those of `_puzzle_arguments` that are no part of a puzzle's address."""
    from cogniload_gen.benchmarks import BENCHMARKS

    names = {option.name for benchmark in BENCHMARKS for option in benchmark.options}
    used = _puzzle_arguments(arguments)
    return {name: used[name] for name in used if name in names}


def _puzzles(arguments: Namespace) -> "Source":
    """Return the puzzles that the options of `_puzzle_options` ask for."""
    from cogniload_gen import benchmarks

    options = _puzzle_arguments(arguments)
    dataset, *others = benchmarks.datasets().values()
    if suite := options.get("suite"):
        with_suites = [other for other in (dataset, *others) if other.suites]
        dataset = next((one for one in with_suites if suite in one.suites), with_suites[0])
    for name in options:
        if name not in (*dataset.defaults, "split"):
            _refuse(name, arguments.suite)
    return dataset.puzzles(**options)


def _refuse(name: str, suite: str | None) -> NoReturn:
    """Raise ValueError for an option of a benchmark other than the chosen one."""
    from cogniload_gen.benchmarks import BENCHMARKS

    users = [one for one in BENCHMARKS if name in {knob.name for knob in one.parameters}]
    option = f"--{name.replace('_', '-')} is for {' and '.join(one.title for one in users)}"
    if suite is None:
        suites = " or ".join(str(one.suite) for one in users)
        raise ValueError(f"{option}: pass --suite {suites} too")
    raise ValueError(f"{option}, got it with --suite {suite}")


# --- main -----------------------------------------------------------------------------------------


class _Terminated(KeyboardInterrupt):
    """SIGTERM: it ends a command as Ctrl-C does, with the exit code of its own."""


def _terminate(number: int, _: object) -> NoReturn:
    raise _Terminated


def main(words: Words | None = None) -> int:
    """Run a command: `words`, by default those of the process. Return its exit code.

    0 if it did its work, 2 after an error in one line, 130 after Ctrl-C and 143 after SIGTERM,
    which leave no half-written file, 141 where nobody reads the output any more. Raises SystemExit
    as argparse does, with 2 for wrong arguments and 0 after a help.
    """
    if words is None:
        words = sys.argv[1:]
        signal.signal(signal.SIGTERM, _terminate)
    name = words[0] if words else "--help"
    try:
        try:
            code = _run(name, words[1:])
        finally:  # also after a help, for an error that would come at exit otherwise
            print(end="", flush=True)
    except KeyboardInterrupt as stop:
        how = "".join(f": {word}" for word in stop.args)
        print(f"cogniload {name}: interrupted{how}", file=sys.stderr)
        code = 143 if isinstance(stop, _Terminated) else 130
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if isinstance(error, BrokenPipeError) and _nobody_reads():
            return 141
        print(f"cogniload {name}: error: {_error_line(name, error)}", file=sys.stderr)
        code = 2
    return code


def _run(name: str, words: Words) -> int:
    commands = {name: run for group in COMMANDS.values() for name, run in group.items()}
    if name in {"--help", "-h"}:
        print(_overview())
        return 0
    if name == "--version":
        from cogniload_gen import __version__
        from cogniload_gen.benchmarks import BENCHMARKS

        generators = ", ".join(f"{one.name} {one.version}" for one in BENCHMARKS)
        print(f"cogniload {__version__}, generator versions: {generators}")
        return 0
    if name not in commands:
        near = get_close_matches(name, [*commands, "--help", "--version"], 1)
        hint = f"did you mean {near[0]}?" if near else "`cogniload` alone prints the commands"
        print(f"cogniload: error: there is no {_one_line(name)}: {hint}", file=sys.stderr)
        return 2
    from cogniload_gen.parser import Parser

    command = commands[name]
    parser = Parser(prog=f"cogniload {name}", description=command.__doc__)
    return command(parser, words) or 0


def _overview() -> str:
    """Return all commands by groups, a line each."""
    lines = ["usage: cogniload COMMAND ...      cogniload COMMAND --help", ""]
    lines.append("Why does a language model fail at long reasoning?")
    for group, commands in COMMANDS.items():
        lines += ["", group]
        lines += [f"  {name:10}{run.__doc__}" for name, run in commands.items()]
    return "\n".join(lines)


def _nobody_reads() -> bool:
    """Tell whether standard output is a pipe without a reader; nothing is written to it then."""
    import select

    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)  # an error is reported unasked
    if not poll.poll(0):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


def _error_line(command: str, error: Exception) -> str:
    """Return an error's message on one line, without the number that the system gives it."""
    if isinstance(error, ImportError) and (package := str(error.name).partition(".")[0]) in EXTRAS:
        extra = EXTRAS[package]
        clone = f"from a clone: pip install '.[{extra}]'"
        return f"{command} needs {package}: pip install 'cogniload[{extra}]' ({clone})"
    if isinstance(error, OSError) and error.strerror:
        return _one_line(
            f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        )
    return _one_line("the memory is full" if isinstance(error, MemoryError) else str(error))


def _one_line(text: str) -> str:
    from cogniload_gen.files import one_line

    return one_line(text)


def _counted(count: int, what: str) -> str:
    """Return "1 file" or "2,000 files"."""
    return f"{count:,} {what}{'s' * (count != 1)}"


if __name__ == "__main__":
    sys.exit(main())

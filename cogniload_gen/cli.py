"""The `cogniload` command."""

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark, Knob, OutcomeName, settings
from cogniload_gen.checks import Given, check_integer, check_shard
from cogniload_gen.cogniload.errors import trace_source
from cogniload_gen.cogniload.release import import_release, score_release
from cogniload_gen.extras import needing
from cogniload_gen.factor.recall import lines, measure, write_csv
from cogniload_gen.factor.retrieval import CHUNKS, ENCODER, QUERIES, RETRIEVERS, check_retrieval
from cogniload_gen.files import EXISTS
from cogniload_gen.inputs import check_file, one_line, read_stream, read_whole
from cogniload_gen.overlap import file_pieces, find_in_pieces, fingerprints
from cogniload_gen.parser import Parser
from cogniload_gen.shards import ROWS_PER_FILE, files_of
from cogniload_gen.source import Source
from cogniload_gen.version import __version__
from cogniload_gen.write import read_puzzles, write_puzzles
from lm_eval_tasks.demo import run_demo
from lm_eval_tasks.links import TASKS, link_tasks, unlink_tasks
from lm_eval_tasks.rescore import rescore
from lm_eval_tasks.steps import count_errors


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if it did its work, 2 after a one-line error, 130 after Ctrl-C."""
    root = parser()
    parsed, others = root.parse_known_args(arguments)
    if parsed.parser.takes_others:
        parsed.lm_eval_arguments = others
    elif others:
        parsed.parser.error(f"unrecognized arguments: {' '.join(others)}")
    try:
        return parsed.run(parsed) or 0
    except (ValueError, OSError, ImportError) as error:
        print(f"cogniload {parsed.command}: error: {said(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        how = "".join(f": {word}" for word in interrupt.args)
        print(f"cogniload {parsed.command}: interrupted{how}", file=sys.stderr)
        return 130


def said(error: Exception) -> str:
    """Return what an error says, on one line and without the number that the system gives it."""
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        return one_line(named)
    return one_line(str(error))


def parser() -> Parser:
    """Return the command line."""
    root = Parser(prog="cogniload", description="Why does a language model fail at long reasoning?")
    generators = ", ".join(f"{each.name} {each.version}" for each in benchmarks.BENCHMARKS)
    version = f"cogniload {__version__}, generator versions: {generators}"
    root.add_argument("--version", action="version", version=version)
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run: object, summary: str) -> Parser:
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run, parser=added)
        return added

    add_puzzle_commands(command)
    add_sample_commands(command)
    add_exchange_commands(command)
    add_retrieve_command(command)

    tasks = command(
        "tasks", run_tasks, "Print the folder of the lm-eval tasks, for --include_path."
    )
    link = tasks.add_mutually_exclusive_group()
    link.add_argument("--link", action="store_true", help="link it into the installed lm-eval")
    link.add_argument("--unlink", action="store_true", help="take the link back")

    evaluate = command(
        "eval", run_eval, "Evaluate by lm-eval, in blocks that a crash leaves whole."
    )
    evaluate.takes_others = True
    evaluate.usage = (
        "cogniload eval --output_path DIR [--config FILE] [--shard I/N] [--block_size COUNT] "
        "[arguments of lm_eval run]\n"
        "       cogniload eval --tasks TASK --until GOAL [--budget COUNT] [--range LOW HIGH] ...\n"
        "       cogniload eval --merge DIR ... [--output_path DIR]\n"
        "       cogniload eval --status DIR ..."
    )
    add = evaluate.add_argument
    add(
        *spellings("output_path"),
        type=Path,
        metavar="DIR",
        help="state and results; started again, go on",
    )
    add("--config", type=Path, metavar="FILE", help="YAML of these arguments and of lm_eval run's")
    add("--shard", metavar="I/N", help="evaluate blocks I, I + N, I + 2N, ... alone")
    block = "documents a block (350; --until: 64)"
    add(*spellings("block_size"), type=number, metavar="COUNT", help=block)
    add("--until", metavar="GOAL", help="ask until it is known: ECL50±20%%, N_eff±20%%, ...")
    add("--budget", type=number, metavar="COUNT", help="the most puzzles for --until (1500)")
    asked = "the least and the most N (or op) that --until asks: 10 400 for CogniLoad"
    add("--range", nargs=2, type=number, metavar=("LOW", "HIGH"), help=asked)
    add("--merge", nargs="+", type=Path, metavar="DIR", help="write the results of all shards")
    add("--status", nargs="+", type=Path, metavar="DIR", help="print how far an evaluation is")

    report = command("report", run_report, "Write a report on results that lm-eval wrote.")
    results = "lm-eval's --output_path; LABEL=DIR names the rows of its runs"
    report.add_argument("results", nargs="+", type=labelled, metavar="RESULTS", help=results)
    report.add_argument("--out", type=Path, required=True, metavar="DIR", help="to write")
    report.add_argument("--force", action="store_true", help="replace what is there")
    accuracies = "accuracies that FACTOR's fits take (default: 0.1 0.9)"
    ends = ("LOW", "HIGH")
    report.add_argument(
        *spellings("factor_range"), nargs=2, type=float, metavar=ends, help=accuracies
    )
    n_clean = "FACTOR's Neff of a clean context, which several attempts are to reach"
    report.add_argument(*spellings("factor_n_clean"), type=float, metavar="N", help=n_clean)

    add_comparison_commands(command)
    add_view_command(command)

    summary = "Evaluate a small real model on cogniload_mini and report on it."
    demo = command("demo", run_demo_and_report, summary)
    demo.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="(demo)")
    return root


def add_puzzle_commands(command: Callable[..., Parser]) -> None:
    """Add the commands about puzzles: generate and solve."""
    generate = command(
        "generate", run_generate,
        "Write puzzles to a .jsonl or .parquet file, or to a folder of Parquet files that several "
        "processes make together.",
    )  # fmt: skip
    generate.usage = (  # after --d 3 5, FILE would be a value
        "cogniload generate FILE [options]\n"
        "       cogniload generate OUT/ [--shard I/N] [--rows-per-file COUNT] [options]"
    )
    out = "to write, a folder if it ends in /; stands first. In a folder, the same command goes on"
    generate.add_argument("out", nargs="?", metavar="FILE", help=out)
    share = "make files I, I + N, I + 2N, ... of the folder alone; any N makes the same files"
    generate.add_argument("--shard", metavar="I/N", help=share)
    rows = f"puzzles in each file of the folder ({ROWS_PER_FILE:,})"
    generate.add_argument(*spellings("rows_per_file"), type=number, metavar="COUNT", help=rows)
    generate.add_argument("--force", action="store_true", help="replace FILE if it exists")
    planted = "write traces of CogniLoad puzzles with one planted first error each"
    generate.add_argument("--errors", action="store_true", help=planted)
    add_puzzle_options(generate)

    solve = command("solve", run_solve, "Print the answer of a puzzle, from its text alone.")
    source = "the puzzle (default: standard input)"
    solve.add_argument("file", nargs="?", type=Path, metavar="FILE", help=source)


def add_sample_commands(command: Callable[..., Parser]) -> None:
    """Add the commands about responses at hand: score and steps."""
    score = command(
        "score", run_score, "Score lm-eval's samples_*.jsonl again, or tables of responses."
    )
    samples = "samples_*.jsonl, gzipped or not"
    score.add_argument("samples", nargs="+", type=Path, metavar="SAMPLES", help=samples)
    score.add_argument(
        "--dataset", type=Path, metavar="FOLDER",
        help="score tables SAMPLES (.parquet, .jsonl, .csv) with id and response, perhaps with "
        "prompt_tokens, response_tokens, response_limit and finish_reason, to the puzzles in "
        "FOLDER's Parquet files, or in a file",
    )  # fmt: skip
    written = "write the samples, scored; a report reads MODEL/samples_TASK_DATE.jsonl"
    score.add_argument("--out", type=Path, metavar="FILE", help=written)
    score.add_argument("--force", action="store_true", help="replace FILE if it exists")
    score.add_argument(
        "--release", type=Path, metavar="FOLDER",
        help="score NAME.txt in the folder SAMPLES, answers to puzzles of the authors' release. "
        "Exit code: 0 all of them, 1 all but those that are named, 2 none",
    )  # fmt: skip

    steps = command(
        "steps", run_steps, "Say where the reasoning in lm-eval's samples_*.jsonl breaks."
    )
    steps.add_argument("samples", nargs="+", type=Path, metavar="SAMPLES", help=samples)
    steps.add_argument("--out", type=Path, metavar="FILE", help="write a JSON line a response")
    steps.add_argument("--force", action="store_true", help="replace FILE if it exists")


def add_comparison_commands(command: Callable[..., Parser]) -> None:
    """Add the commands that set runs side by side: compare, and plan before the runs."""
    compare = command("compare", run_compare, "Set runs side by side, puzzle by puzzle.")
    results = "lm-eval's --output_path; LABEL=DIR names its runs"
    compare.add_argument("results", nargs="+", type=labelled, metavar="RESULTS", help=results)
    told = "difference in accuracy for which the puzzles needed are told (0.02)"
    compare.add_argument("--detect", type=float, default=0.02, metavar="SHARE", help=told)
    compare.add_argument("--out", type=Path, metavar="DIR", help="write the tables as CSV")
    compare.add_argument("--force", action="store_true", help="replace what is there")

    plan = command("plan", run_plan, "Say how many puzzles tell two models apart, and their cost.")
    detect = "difference in accuracy to tell, such as 0.05"
    plan.add_argument("--detect", type=float, required=True, metavar="SHARE", help=detect)
    like = "published model that the better one is like, such as Qwen3-8B"
    plan.add_argument("--like", required=True, metavar="MODEL", help=like)
    tokens = "tokens of a response, in the mean (5000)"
    plan.add_argument(
        *spellings("response_tokens"), type=float, default=5000, metavar="TOKENS", help=tokens
    )
    throughput = "tokens of response a second and GPU (2000)"
    plan.add_argument("--throughput", type=float, default=2000, metavar="TOKENS", help=throughput)


def add_view_command(command: Callable[..., Parser]) -> None:
    """Add the command that shows responses in Inspect's viewer."""
    view = command("view", run_view, "Write the responses as Inspect's logs and open its viewer.")
    output_path = "lm-eval's --output_path"
    view.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help=output_path)
    logs = "folder of the logs (inspect_logs)"
    view.add_argument("--out", type=Path, default=Path("inspect_logs"), metavar="DIR", help=logs)
    site = "write the viewer with all logs in --out as a static site, and open nothing"
    view.add_argument("--bundle", type=Path, metavar="DIR", help=site)
    view.add_argument(
        *spellings("no_open"), action="store_true", help="write the logs, and open nothing"
    )
    view.add_argument("--force", action="store_true", help="replace the logs that are there")


def add_exchange_commands(command: Callable[..., Parser]) -> None:
    """Add the commands about others' data: push, verify, overlap and import."""
    push = command("push", run_push, "Publish puzzles as a dataset on the Hugging Face Hub.")
    push.add_argument("repo", metavar="REPO", help="user/name; what it already holds stays")
    push.add_argument("--private", action="store_true", help="make a new REPO private")
    dry_run = "write the folder that would be uploaded, and upload nothing"
    push.add_argument(*spellings("dry_run"), type=Path, metavar="DIR", help=dry_run)
    add_puzzle_options(push)

    verify = command(
        "verify", run_verify,
        "Make published puzzles, or those of `generate OUT/`, again, compare every row, and solve "
        "every puzzle. Exit code: 0 the same, 1 they differ, 2 could not be told.",
    )  # fmt: skip
    where = "a folder of generate's or of push --dry-run's, or user/name"
    verify.add_argument("source", metavar="DIR_OR_REPO", help=where)
    sample = (
        "of generate's folder, make so many row groups again, such as 1%%; digests, row counts and "
        "ids are checked of all"
    )
    verify.add_argument("--sample", metavar="SHARE", help=sample)
    load = "load this one if the rows were measured by it; no other is loaded"
    verify.add_argument("--tokenizer", metavar="NAME", help=load)

    overlap = command(
        "overlap", run_overlap,
        "Look for puzzles, and for the canary string of published ones, in a corpus. "
        "Exit code: 0 none there, 1 some are, 2 could not be told.",
    )  # fmt: skip
    files = "files to look in: .parquet, .jsonl or text, the latter two compressed or not"
    overlap.add_argument("corpus", nargs="+", type=Path, metavar="CORPUS", help=files)
    limit = "print at most so many overlaps; all are counted (default 100)"
    overlap.add_argument("--limit", type=number, default=100, metavar="COUNT", help=limit)
    add_puzzle_options(overlap)

    imports = command(
        "import", run_import,
        "Write the puzzles of the authors' release to a .jsonl or .parquet file. "
        "Exit code: 0 all of them, 1 all but those that are named, 2 none.",
    )  # fmt: skip
    imports.add_argument("folder", type=Path, metavar="FOLDER", help="that holds exp/ and meta/")
    imports.add_argument("--out", type=Path, required=True, metavar="FILE", help="to write")
    imports.add_argument("--force", action="store_true", help="replace FILE if it exists")


def add_retrieve_command(command: Callable[..., Parser]) -> None:
    """Add the command that says what retrievers find, without a model."""
    retrieve = command(
        "retrieve", run_retrieve,
        "Say how much of what FACTOR's answers need retrievers find, without a model.",
    )  # fmt: skip
    retrieve.usage = "cogniload retrieve [FILE] [options]"  # after --op 5, it would be a value
    read = "puzzles to read, .jsonl or .parquet; stands first (default: made by the options below)"
    retrieve.add_argument("file", type=Path, nargs="?", metavar="FILE", help=read)
    chosen = {
        "retriever": (tuple(RETRIEVERS), ["bm25", "iterative", "random", "oracle"]),
        "chunk": (CHUNKS, ["sentence"]),
        "query": (QUERIES, ["question"]),
    }
    for name, (choices, default) in chosen.items():
        told = f"{', '.join(choices)}, or several (default {' '.join(default)})"
        retrieve.add_argument(
            f"--{name}", nargs="+", default=default, metavar=name.upper(), help=told
        )
    tokens = "tokens that may be found, or several such budgets (default 500 1000 2000)"
    retrieve.add_argument(
        "--budget", type=number, nargs="+", default=[500, 1000, 2000], metavar="TOKENS", help=tokens
    )
    model = f"model of sentence-transformers, a name or a folder (default {ENCODER})"
    retrieve.add_argument("--encoder", default=ENCODER, metavar="MODEL", help=model)
    retrieve.add_argument("--out", type=Path, metavar="FILE", help="write the table as CSV")
    retrieve.add_argument("--force", action="store_true", help="replace it if it exists")
    add_puzzle_options(retrieve)


def add_puzzle_options(command: argparse.ArgumentParser) -> None:
    """Add the options that say which puzzles: what `asked_puzzles` reads, None where not given."""
    group = command.add_argument_group("which puzzles")
    of_suites = [each.suite for each in benchmarks.BENCHMARKS if each.suite]
    group.add_argument("--suite", help=f"{' or '.join(of_suites)}: a suite of FACTOR")
    users: dict[str, list[tuple[Benchmark, Knob]]] = {}
    for benchmark in benchmarks.BENCHMARKS:
        for knob in benchmark.parameters:
            users.setdefault(knob.name, []).append((benchmark, knob))
    for name, knobs in users.items():
        _, knob = knobs[0]
        if name != "first_index":  # of `load_dataset` and Python alone
            group.add_argument(*spellings(name), help=describe(knobs), **taken(knob))
    splits = ", ".join(
        dict.fromkeys(split for each in benchmarks.BENCHMARKS for split in each.splits)
    )
    group.add_argument("--split", help=f"{splits} (default test)")


def taken(knob: Knob) -> dict[str, Any]:
    """Return how the command line takes a knob: several values where they span a grid."""
    if knob.kind == "flag":
        return {"action": "store_true", "default": None}
    if knob.kind == "tokenizer":
        return {"metavar": "NAME"}
    several = {} if knob.name in {each.name for each in settings(1)} else {"nargs": "+"}
    converted = {} if knob.choices else {"type": number}
    return {"metavar": knob.name.upper()} | several | converted


def spellings(name: str) -> list[str]:
    """Return an option's spellings: with dashes, and as Python spells it."""
    return list(dict.fromkeys([f"--{name.replace('_', '-')}", f"--{name}"]))


def describe(knobs: Sequence[tuple[Benchmark, Knob]]) -> str:
    """Return the help on an option: what it is to each benchmark that has it."""
    said: dict[str, list[str]] = {}
    for benchmark, knob in knobs:
        said.setdefault(knob.describe(), []).append(benchmark.title)
    if len(said) == 1 and len(knobs) == len(benchmarks.BENCHMARKS):
        (only,) = said
        return escape(only)
    return escape(". ".join(f"{' and '.join(titles)}: {text}" for text, titles in said.items()))


def escape(text: str) -> str:
    """Return a text as argparse takes it for help."""
    return text.replace("%", "%%")


def asked_puzzles(given: argparse.Namespace) -> Source:
    """Return the puzzles that the options of `add_puzzle_options` ask for."""
    names = {knob.name for each in benchmarks.BENCHMARKS for knob in each.parameters}
    asked = {
        name: value
        for name in (*names, "suite", "split")
        if (value := getattr(given, name, None)) is not None
    }
    by_suite = [each for each in benchmarks.datasets().values() if each.suites]
    several = [each for each in by_suite if asked.get("suite") in each.suites]
    every = by_suite if "suite" in asked else list(benchmarks.datasets().values())
    dataset = (several or every)[0]
    for name in asked:
        if name not in (*dataset.defaults, "split"):
            refuse_option(name, given.suite)
    return dataset.source(asked)


def asked_options(given: argparse.Namespace) -> dict[str, Given]:
    """Return the options among those of `asked_puzzles` that are no part of a puzzle's address."""
    options = {name: getattr(given, name) for name in ("trace", "tokenizer")}
    return {name: value for name, value in options.items() if value is not None}


def refuse_option(name: str, suite: str | None) -> NoReturn:
    """Raise ValueError for an option of another benchmark than the one that is asked for."""
    users = [each for each in benchmarks.BENCHMARKS if name in {k.name for k in each.parameters}]
    titles = " and ".join(each.title for each in users)
    option = spellings(name)[0]
    if suite is None:
        suites = " or ".join(str(each.suite) for each in users)
        raise ValueError(f"{option} is for {titles}: pass --suite {suites} too")
    raise ValueError(f"{option} is for {titles}, got it with --suite {suite}")


def number(text: str) -> int | float | str:
    """Return a number as Python reads it; any other text stays, for the knob's check to refuse."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    parts = text.split(",")
    if len(parts) > 1 and all(isinstance(number(part), int | float) for part in parts):
        raise argparse.ArgumentTypeError(f"write {' '.join(parts)}, with spaces, for {text}")
    return text


def run_generate(given: argparse.Namespace) -> None:
    """Run `cogniload generate FILE` or `cogniload generate OUT/`."""
    if given.out is None:
        raise ValueError(
            "FILE is missing: it stands before the options, as --d 3 5 takes any number"
        )
    is_folder = given.out.endswith("/") or given.shard is not None
    (generate_folder if is_folder else generate_file)(given)


def generate_file(given: argparse.Namespace) -> None:
    """Run `cogniload generate FILE`."""
    if given.rows_per_file is not None:
        raise ValueError(f"--rows-per-file is for a folder: write {given.out}/ for one")
    source, out = asked_puzzles(given), Path(given.out)
    if given.errors and given.trace:
        raise ValueError("--trace is not for --errors: a trace has columns of its own")
    if given.errors:
        source = trace_source(source)
    write_puzzles(source, out, force=given.force)
    print(f"{out}: {len(source.selection)} {'traces' if given.errors else 'puzzles'}")


def generate_folder(given: argparse.Namespace) -> None:
    """Run `cogniload generate OUT/`: make the files of a shard that are not whole yet."""
    for option in ("force", "errors"):
        if getattr(given, option):
            raise ValueError(f"--{option} is for a file, got it for the folder {given.out}")
    shard, shards = check_shard("1/1" if given.shard is None else given.shard)
    rows = ROWS_PER_FILE if given.rows_per_file is None else given.rows_per_file
    selection, options = asked_puzzles(given).selection, asked_options(given)
    files = files_of(given.out, selection, rows_per_file=rows, **options).start()
    mine = range(shard - 1, len(files), shards)
    made = 0
    try:
        with tqdm(
            total=sum(len(files.rows(number)) for number in mine), unit=" puzzles", disable=None
        ) as progress:
            for number in mine:
                if files.proven(number):
                    progress.update(len(files.rows(number)))
                else:
                    files.write(number, progress.update)
                    made += 1
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{made} files made; the same command goes on") from None
    part = f"shard {shard}/{shards}: " * (shards > 1)
    print(f"{part}{made} files made, {len(mine) - made} were whole by their SHA-256")
    whole = files.finish()
    if whole < len(files):
        print(f"{given.out}: {whole} of {len(files)} files are there; other shards make the rest")
    else:
        print(f"{given.out}: {len(selection)} puzzles in {len(files)} files")
        print(f"next: cogniload verify {shlex.quote(given.out)} --sample 1%")


def run_solve(given: argparse.Namespace) -> None:
    """Run `cogniload solve [FILE]`."""
    source = str(given.file or "standard input")
    try:
        text = read_whole(given.file) if given.file else read_stream(sys.stdin.buffer, source)
        print(benchmarks.solve(text.decode()))
    except (ValueError, AttributeError) as error:  # without standard input, sys.stdin is None
        raise ValueError(f"{source}: {error}") from None


def run_score(given: argparse.Namespace) -> int:
    """Run `cogniload score SAMPLES`."""
    if given.release and given.dataset:
        raise ValueError("--release has puzzles of its own, and takes no --dataset")
    if given.release:
        return run_score_release(given)
    if given.dataset:
        return run_score_dataset(given)
    if given.out and len(given.samples) > 1:
        raise ValueError(f"--out takes one samples file, got {len(given.samples)}")
    outcomes: Counter[OutcomeName] = Counter()
    changed = 0
    for samples in given.samples:
        counted, differing = rescore(samples, given.out, force=given.force)
        outcomes, changed = outcomes + counted, changed + differing
    print_outcomes(outcomes, f"{changed} scored anew")
    return 0


def run_score_dataset(given: argparse.Namespace) -> int:
    """Run `cogniload score --dataset FOLDER RESPONSES`."""
    samples, out = given.samples, given.out
    outcomes, missing = score_responses(given.dataset, samples, out, force=given.force)
    total = outcomes.total()
    share = sum(count for outcome, count in outcomes.items() if outcome.correct) / total
    error = sqrt(share * (1 - share) / max(total - 1, 1))
    print_outcomes(outcomes, f"standard error {error:.2%}, {missing} puzzles without a response")
    return 0


def run_steps(given: argparse.Namespace) -> None:
    """Run `cogniload steps SAMPLES`."""
    if given.out and len(given.samples) > 1:
        raise ValueError(f"--out takes one samples file, got {len(given.samples)}")
    counts: Counter[str] = Counter()
    for samples in tqdm(given.samples, unit=" files", disable=None):
        counts += count_errors(samples, given.out, force=given.force)
    total = counts.total()
    unread = counts.pop("not read", 0)
    first_errors = "; their first errors:" if total > unread else ""
    print(f"{total} responses, {total - unread} of them could be read{first_errors}")
    for kind, count in counts.most_common():
        print(f"{kind:26} {count:7} {count / (total - unread):8.2%}")


def run_score_release(given: argparse.Namespace) -> int:
    """Run `cogniload score --release FOLDER ANSWERS`."""
    if given.out or len(given.samples) > 1:
        raise ValueError("--release takes one folder of answers and no --out")
    outcomes, problems, puzzles = score_release(given.release, given.samples[0])
    print_problems(problems)
    print_outcomes(outcomes, f"{len(problems)} not scored; the release has {puzzles} puzzles")
    return int(bool(problems))


def print_outcomes(outcomes: Counter[Any], remark: str) -> None:
    """Print the accuracy and the share of every outcome."""
    total = outcomes.total()
    correct = sum(count for outcome, count in outcomes.items() if outcome.correct)
    print(f"{total} responses, {correct} correct ({correct / total:.2%}), {remark}")
    kinds: dict[Any, None] = dict.fromkeys(map(type, outcomes))
    for kind in kinds:
        for outcome in kind:
            print(f"{outcome:26} {outcomes[outcome]:7} {outcomes[outcome] / total:8.2%}")


def print_problems(problems: Sequence[str]) -> None:
    """Print what was wrong with some files, a line each, on standard error."""
    for problem in problems:
        print(one_line(problem), file=sys.stderr)


def run_push(given: argparse.Namespace) -> None:
    """Run `cogniload push REPO`."""
    from cogniload_gen.hub.push import push  # noqa: PLC0415  (the Hub's library takes its time)

    grid, options = asked_puzzles(given).selection, asked_options(given)
    print(push(grid, given.repo, private=given.private, dry_run=given.dry_run, **options))


def run_verify(given: argparse.Namespace) -> int:
    """Run `cogniload verify DIR_OR_REPO`: 0 if the same, 1 if not."""
    from cogniload_gen.hub.verify import COUNTED, verify  # noqa: PLC0415  (the Hub takes its time)
    from cogniload_gen.hub.verify_files import is_of_files  # noqa: PLC0415

    if is_of_files(given.source):
        return verify_folder(given)
    if given.sample is not None:
        raise ValueError("--sample is for a folder of `cogniload generate OUT/`")
    verdict = verify(given.source, tokenizer=given.tokenizer)
    for difference in verdict.first:
        print(difference)
    if verdict.differences:
        counted = f"{verdict.differences}{' or more' * (verdict.differences >= COUNTED)}"
        print(f"{given.source} differs: {counted} values, {verdict.rows} rows expected")
        return 1
    print(f"{given.source} is the same: {verdict.rows} rows, every puzzle solved")
    return 0


def verify_folder(given: argparse.Namespace) -> int:
    """Run `cogniload verify OUT`: 0 if its files are as they were generated, 1 if not."""
    from cogniload_gen.hub.verify_files import check_share, verify_files  # noqa: PLC0415

    share = 1.0 if given.sample is None else check_share(given.sample)
    verdict = verify_files(Path(given.source), sample=share, tokenizer=given.tokenizer)
    for line in verdict.damage:
        print(one_line(line))
    if verdict.damages:
        print(f"{given.source} is damaged: {verdict.damages} things are wrong")
        return 1
    print(
        f"{given.source} is whole: {verdict.rows} rows in {verdict.files} files; "
        f"{verdict.made_again} made again, the same, and solved"
    )
    return 0


def run_overlap(given: argparse.Namespace) -> int:
    """Run `cogniload overlap CORPUS`: 0 if no puzzle is in the corpus, 1 if any is."""
    limit = check_integer("--limit", given.limit, low=0, high=sys.maxsize)
    for path in given.corpus:
        check_file(path)  # an error that would come late otherwise
    source = asked_puzzles(given)
    puzzles = fingerprints(source.tables())
    found: Counter[str] = Counter()
    for path in given.corpus:
        rows = tqdm(file_pieces(path), desc=str(path), unit=" rows", disable=None)
        for overlap in find_in_pieces(rows, puzzles):
            if found.total() < limit:
                print(f"{overlap.where}: {overlap.puzzle}")
            found[overlap.puzzle] += 1
    total, canaries = found.total(), found.pop("canary", 0)
    print(
        f"{total - canaries} overlaps with {len(found)} of {len(source.selection)} puzzles, "
        f"{canaries} canary strings, in {len(given.corpus)} files"
        + f"; the first {limit} are above"
        * (total > limit)
    )
    return int(total > 0)


def run_retrieve(given: argparse.Namespace) -> None:
    """Run `cogniload retrieve [FILE]`."""
    asked = [
        check_retrieval(dict(zip(names, values, strict=True)) | {"encoder": given.encoder})
        for names in [("chunk", "retriever", "query", "budget")]
        for values in product(given.chunk, given.retriever, given.query, given.budget)
    ]
    # a retriever that goes by no query finds the same for each
    asked = list({str(settings): settings for settings in asked}.values())
    if given.out and not given.force and given.out.exists():
        raise FileExistsError(EXISTS.format(given.out))  # an error that would come late otherwise
    if given.file:
        rows = read_puzzles(given.file)
    else:
        if given.suite is None:
            suites = " or ".join(str(each.suite) for each in benchmarks.BENCHMARKS if each.suite)
            raise ValueError(f"give a FILE of puzzles, or --suite {suites} to make some")
        source = asked_puzzles(given)
        rows = (row for table in source.tables() for row in table.to_pylist())
    progress = tqdm(rows, unit=" puzzles", disable=None)
    found = measure(progress, asked, given.tokenizer)
    print("\n".join(lines(found)))
    if given.out:
        write_csv(found, given.out, force=given.force)


def run_import(given: argparse.Namespace) -> int:
    """Run `cogniload import FOLDER --out FILE`: 0 if all was imported, 1 if some was not."""
    count, problems = import_release(given.folder, given.out, force=given.force)
    print_problems(problems)
    print(f"{given.out}: {count} puzzles, {len(problems)} not imported")
    return int(bool(problems))


def run_tasks(given: argparse.Namespace) -> None:
    """Run `cogniload tasks [--link | --unlink]`."""
    if given.link:
        print(f"linked {link_tasks()}")
    elif given.unlink:
        print(f"unlinked {unlink_tasks()}")
    else:
        print(TASKS)


def run_eval(given: argparse.Namespace) -> None:
    """Run `cogniload eval`: lm-eval, an extra, has arguments of its own."""
    from lm_eval_tasks.runner.command import run  # noqa: PLC0415  (lm-eval comes with it)

    with needing("eval", "eval"):
        run(given, given.lm_eval_arguments)


def run_report(given: argparse.Namespace) -> None:
    """Run `cogniload report RESULTS... --out DIR`."""
    factor: dict[str, Any] = {}
    if given.factor_range:
        factor["accuracy_range"] = tuple(given.factor_range)
    if given.factor_n_clean is not None:
        factor["n_clean"] = given.factor_n_clean
    report(given.results, given.out, factor, force=given.force)


def run_compare(given: argparse.Namespace) -> None:
    """Run `cogniload compare RESULTS ...`."""
    with needing("compare", "analysis"):
        from cogniload_analysis.compare import compare_results  # noqa: PLC0415
    options = {"force": given.force, "detect": given.detect}
    print(compare_results(by_label(given.results), given.out, **options))


def run_plan(given: argparse.Namespace) -> None:
    """Run `cogniload plan --detect SHARE --like MODEL`."""
    with needing("plan", "analysis"):
        from cogniload_analysis import plan_comparison  # noqa: PLC0415
    tokens = {"response_tokens": given.response_tokens, "throughput": given.throughput}
    print(plan_comparison(given.like, given.detect, **tokens).summary())


def run_view(given: argparse.Namespace) -> None:
    """Run `cogniload view RESULTS...`."""
    with needing("view", "inspect"):
        from cogniload_analysis import inspect_view  # noqa: PLC0415

        logs = inspect_view.write_logs(given.results, given.out, force=given.force)
    for log in logs:
        print(f"log      {log}")
    command = shlex.join(inspect_view.view_command(given.out))
    if given.bundle:
        inspect_view.bundle_logs(given.out, given.bundle)
        print(f"site     {given.bundle}")
    elif given.no_open or not sys.stdout.isatty():
        print(f"next     {command}")
    else:
        inspect_view.open_viewer(given.out)


def run_demo_and_report(given: argparse.Namespace) -> None:
    """Run `cogniload demo`: its own earlier report is replaced."""
    report([("", run_demo(given.out))], given.out / "report", force=True)


def labelled(given: str) -> tuple[str, Path]:
    """Return the label, "" for none, and the path of LABEL=DIR; a path that exists has none."""
    label, found, path = given.partition("=")
    if not (found and label and path) or "/" in label or Path(given).exists():
        return "", Path(given)
    return label, Path(path)


def by_label(results: Sequence[tuple[str, Path]]) -> dict[str, list[Path]]:
    """Return the paths of each label, in the order in which they were given."""
    return {label: [path for its, path in results if its == label] for label, _ in results}


def report(
    results: Sequence[tuple[str, Path]],
    out: Path,
    factor: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Write a report by `cogniload_analysis`, an extra, and print where it is.

    `factor` holds options of FACTOR's part.
    """
    with needing("the report", "analysis"):
        from cogniload_analysis.analyses import ANALYSES  # noqa: PLC0415
        from cogniload_analysis.factor.record import FACTOR, set_factor  # noqa: PLC0415
        from cogniload_analysis.report import write_report  # noqa: PLC0415
    if factor:
        chosen = set_factor(**factor)
        options["among"] = [chosen if each is FACTOR else each for each in ANALYSES]
    print(f"report   {write_report(by_label(results), out, **options)}")


if __name__ == "__main__":
    sys.exit(main())

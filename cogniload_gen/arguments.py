"""What the `cogniload` command takes: the arguments of each of its commands."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark, Knob, settings
from cogniload_gen.checks import Given
from cogniload_gen.factor.retrieval import CHUNKS, ENCODER, QUERIES, RETRIEVERS
from cogniload_gen.parser import Parser
from cogniload_gen.shards import ROWS_PER_FILE
from cogniload_gen.source import Source
from cogniload_gen.version import __version__


def parser() -> Parser:
    """Return the command line."""
    root = Parser(prog="cogniload", description="Why does a language model fail at long reasoning?")
    generators = ", ".join(f"{each.name} {each.version}" for each in benchmarks.BENCHMARKS)
    version = f"cogniload {__version__}, generator versions: {generators}"
    root.add_argument("--version", action="version", version=version)
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, summary: str) -> Parser:
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(parser=added)
        return added

    add_puzzle_commands(command)
    add_sample_commands(command)
    add_exchange_commands(command)
    add_retrieve_command(command)

    tasks = command("tasks", "Print the folder of the lm-eval tasks, for --include_path.")
    link = tasks.add_mutually_exclusive_group()
    link.add_argument("--link", action="store_true", help="link it into the installed lm-eval")
    link.add_argument("--unlink", action="store_true", help="take the link back")

    evaluate = command("eval", "Evaluate by lm-eval, in blocks that a crash leaves whole.")
    evaluate.takes_others = True
    evaluate.usage = (
        "cogniload eval --output_path DIR [--config FILE] [--shard I/N] [--block_size COUNT] "
        "[arguments of lm_eval run]\n"
        "       cogniload eval --tasks TASK --until GOAL [--budget COUNT] [--range LOW HIGH] ...\n"
        "       cogniload eval --merge DIR ... [--output_path DIR] [--include_path DIR]\n"
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

    report = command("report", "Write a report on results that lm-eval wrote.")
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
    demo = command("demo", summary)
    demo.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="(demo)")
    return root


def add_puzzle_commands(command: Callable[..., Parser]) -> None:
    """Add the commands about puzzles: generate and solve."""
    generate = command(
        "generate",
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

    solve = command("solve", "Print the answer of a puzzle, from its text alone.")
    source = "the puzzle (default: standard input)"
    solve.add_argument("file", nargs="?", type=Path, metavar="FILE", help=source)


def add_sample_commands(command: Callable[..., Parser]) -> None:
    """Add the commands about responses at hand: score and steps."""
    score = command("score", "Score lm-eval's samples_*.jsonl again, or tables of responses.")
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

    steps = command("steps", "Say where the reasoning in lm-eval's samples_*.jsonl breaks.")
    steps.add_argument("samples", nargs="+", type=Path, metavar="SAMPLES", help=samples)
    steps.add_argument("--out", type=Path, metavar="FILE", help="write a JSON line a response")
    steps.add_argument("--force", action="store_true", help="replace FILE if it exists")


def add_comparison_commands(command: Callable[..., Parser]) -> None:
    """Add the commands that set runs side by side: compare, and plan before the runs."""
    compare = command("compare", "Set runs side by side, puzzle by puzzle.")
    results = "lm-eval's --output_path; LABEL=DIR names its runs"
    compare.add_argument("results", nargs="+", type=labelled, metavar="RESULTS", help=results)
    told = "difference in accuracy for which the puzzles needed are told (0.02)"
    compare.add_argument("--detect", type=float, default=0.02, metavar="SHARE", help=told)
    compare.add_argument("--out", type=Path, metavar="DIR", help="write the tables as CSV")
    compare.add_argument("--force", action="store_true", help="replace what is there")

    plan = command("plan", "Say how many puzzles tell two models apart, and their cost.")
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
    view = command("view", "Write the responses as Inspect's logs and open its viewer.")
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
    push = command("push", "Publish puzzles as a dataset on the Hugging Face Hub.")
    push.add_argument("repo", metavar="REPO", help="user/name; what it already holds stays")
    push.add_argument("--private", action="store_true", help="make a new REPO private")
    dry_run = "write the folder that would be uploaded, and upload nothing"
    push.add_argument(*spellings("dry_run"), type=Path, metavar="DIR", help=dry_run)
    add_puzzle_options(push)

    verify = command(
        "verify",
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
        "overlap",
        "Look for puzzles, and for the canary string of published ones, in a corpus. "
        "Exit code: 0 none there, 1 some are, 2 could not be told.",
    )  # fmt: skip
    files = "files to look in: .parquet, .jsonl or text, the latter two compressed or not"
    overlap.add_argument("corpus", nargs="+", type=Path, metavar="CORPUS", help=files)
    limit = "print at most so many overlaps; all are counted (default 100)"
    overlap.add_argument("--limit", type=number, default=100, metavar="COUNT", help=limit)
    add_puzzle_options(overlap)

    imports = command(
        "import",
        "Write the puzzles of the authors' release to a .jsonl or .parquet file. "
        "Exit code: 0 all of them, 1 all but those that are named, 2 none.",
    )  # fmt: skip
    imports.add_argument("folder", type=Path, metavar="FOLDER", help="that holds exp/ and meta/")
    imports.add_argument("--out", type=Path, required=True, metavar="FILE", help="to write")
    imports.add_argument("--force", action="store_true", help="replace FILE if it exists")


def add_retrieve_command(command: Callable[..., Parser]) -> None:
    """Add the command that says what retrievers find, without a model."""
    retrieve = command(
        "retrieve",
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
    add_puzzle_options(retrieve, [each for each in benchmarks.BENCHMARKS if each.suite])


def add_puzzle_options(
    command: argparse.ArgumentParser, among: Sequence[Benchmark] = benchmarks.BENCHMARKS
) -> None:
    """Add the options that say which puzzles: what `asked_puzzles` reads, None where not given.

    They are those of the benchmarks `among` which the puzzles are.
    """
    group = command.add_argument_group("which puzzles")
    of_suites = [each.suite for each in benchmarks.BENCHMARKS if each.suite]
    group.add_argument("--suite", help=f"{' or '.join(of_suites)}: a suite of FACTOR")
    users: dict[str, list[tuple[Benchmark, Knob]]] = {}
    for benchmark in among:
        for knob in benchmark.parameters:
            users.setdefault(knob.name, []).append((benchmark, knob))
    for name, knobs in users.items():
        _, knob = knobs[0]
        if name != "first_index":  # of `load_dataset` and Python alone
            group.add_argument(*spellings(name), help=describe(knobs, among), **taken(knob))
    splits = ", ".join(dict.fromkeys(split for each in among for split in each.splits))
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


def describe(knobs: Sequence[tuple[Benchmark, Knob]], among: Sequence[Benchmark]) -> str:
    """Return the help on an option: what it is to each of some benchmarks that has it."""
    said: dict[str, list[str]] = {}
    for benchmark, knob in knobs:
        said.setdefault(knob.describe(), []).append(benchmark.title)
    if len(said) == 1 and len(knobs) == len(among):
        (only,) = said
        return escape(only)
    return escape(". ".join(f"{' and '.join(titles)}: {text}" for text, titles in said.items()))


def escape(text: str) -> str:
    """Return a text as argparse takes it for help."""
    return text.replace("%", "%%")


def asked_puzzles(given: argparse.Namespace) -> Source:
    """Return the puzzles that the options of `add_puzzle_options` ask for."""
    asked = puzzle_options(given)
    by_suite = [each for each in benchmarks.datasets().values() if each.suites]
    several = [each for each in by_suite if asked.get("suite") in each.suites]
    every = by_suite if "suite" in asked else list(benchmarks.datasets().values())
    dataset = (several or every)[0]
    for name in asked:
        if name not in (*dataset.defaults, "split"):
            refuse_option(name, given.suite)
    return dataset.source(asked)


def puzzle_options(given: argparse.Namespace) -> dict[str, Given]:
    """Return those options of `add_puzzle_options` that are given."""
    names = {knob.name for each in benchmarks.BENCHMARKS for knob in each.parameters}
    return {
        name: value
        for name in (*sorted(names), "suite", "split")
        if (value := getattr(given, name, None)) is not None
    }


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


def labelled(given: str) -> tuple[str, Path]:
    """Return the label, "" for none, and the path of LABEL=DIR; a path that exists has none."""
    label, found, path = given.partition("=")
    if not (found and label and path) or "/" in label or Path(given).exists():
        return "", Path(given)
    return label, Path(path)

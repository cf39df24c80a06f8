"""The `cogniload` command."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tqdm import tqdm

from cogniload_gen.cogniload.generate import cogniload_source
from cogniload_gen.cogniload.score import Outcome
from cogniload_gen.demo import run_demo
from cogniload_gen.factor.generate import asked_set, factor_source
from cogniload_gen.factor.score import FactorOutcome
from cogniload_gen.factor.training import TRAINING_SETS
from cogniload_gen.grid import PAPER_D, PAPER_N, PAPER_RHO, SPLITS, SUITES, cogniload_grid
from cogniload_gen.overlap import file_pieces, find_in_pieces, fingerprints
from cogniload_gen.release import import_release, score_release
from cogniload_gen.rescore import rescore
from cogniload_gen.solve import solve
from cogniload_gen.source import Source
from cogniload_gen.tasks import TASKS, link_tasks, unlink_tasks
from cogniload_gen.version import GENERATOR_VERSION, __version__
from cogniload_gen.write import write_puzzles


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with exit code 2, and whose options are spelt out."""

    def __init__(self, **settings: object) -> None:
        super().__init__(allow_abbrev=False, **settings)  # --n is not --num-puzzles

    def error(self, message: str) -> None:
        self.exit(2, f"{self.prog}: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if it did its work, 2 after a one-line error, 130 after Ctrl-C."""
    root = parser()
    parsed, others = root.parse_known_args(arguments)
    if parsed.run is run_eval:
        parsed.lm_eval_arguments = others
    elif others:
        root.error(f"unrecognized arguments: {' '.join(others)}")
    try:
        return parsed.run(parsed) or 0
    except (ValueError, OSError) as error:
        print(f"cogniload {parsed.command}: error: {one_line(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"cogniload {parsed.command}: interrupted", file=sys.stderr)
        return 130


def one_line(error: Exception) -> str:
    """What an error says, on one line and without the number that the system gives it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())


def parser() -> argparse.ArgumentParser:
    """The command line."""
    root = Parser(prog="cogniload", description="Why does a language model fail at long reasoning?")
    version = f"cogniload {__version__}, generator version {GENERATOR_VERSION}"
    root.add_argument("--version", action="version", version=version)
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run: object, summary: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run)
        return added

    generate = command("generate", run_generate, "Write puzzles to a .jsonl or .parquet file.")
    generate.add_argument("out", type=Path, metavar="FILE", help="to write: .jsonl or .parquet")
    generate.add_argument("--force", action="store_true", help="replace FILE if it exists")
    add_puzzle_options(generate)

    solve = command("solve", run_solve, "Print the answer of a puzzle, from its text alone.")
    source = "the puzzle (default: standard input)"
    solve.add_argument("file", nargs="?", type=Path, metavar="FILE", help=source)

    score = command("score", run_score, "Score the responses in lm-eval's samples_*.jsonl again.")
    samples = "samples_*.jsonl, gzipped or not"
    score.add_argument("samples", nargs="+", type=Path, metavar="SAMPLES", help=samples)
    score.add_argument("--out", type=Path, metavar="FILE", help="write the samples, scored again")
    score.add_argument("--force", action="store_true", help="replace FILE if it exists")
    score.add_argument(
        "--release", type=Path, metavar="FOLDER",
        help="score NAME.txt in the folder SAMPLES, answers to puzzles of the authors' release. "
        "Exit code: 0 all of them, 1 all but those that are named, 2 none",
    )  # fmt: skip

    add_exchange_commands(command)

    tasks = command(
        "tasks", run_tasks, "Print the folder of the lm-eval tasks, for --include_path."
    )
    link = tasks.add_mutually_exclusive_group()
    link.add_argument("--link", action="store_true", help="link it into the installed lm-eval")
    link.add_argument("--unlink", action="store_true", help="take the link back")

    evaluate = command(
        "eval", run_eval, "Evaluate by lm-eval, in blocks that a crash leaves whole."
    )
    evaluate.usage = (
        "cogniload eval --output_path DIR [--config FILE] [--shard I/N] [--block_size COUNT] "
        "[arguments of lm_eval run]\n       cogniload eval --merge DIR ... [--output_path DIR]"
    )
    add = evaluate.add_argument
    add("--output_path", type=Path, metavar="DIR", help="state and results; started again, go on")
    add("--config", type=Path, metavar="FILE", help="YAML of these arguments and of lm_eval run's")
    add("--shard", metavar="I/N", help="evaluate blocks I, I + N, I + 2N, ... alone")
    add("--block_size", type=number, metavar="COUNT", help="documents in a block (350)")
    add("--merge", nargs="+", type=Path, metavar="DIR", help="write the results of all shards")

    report = command("report", run_report, "Write a report on results that lm-eval wrote.")
    output_path = "lm-eval's --output_path"
    report.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help=output_path)
    report.add_argument("--out", type=Path, required=True, metavar="DIR", help="to write")
    report.add_argument("--force", action="store_true", help="replace what is there")
    all_runs = "all runs of a task by a model (default: the newest)"
    report.add_argument("--all-runs", action="store_true", help=all_runs)

    summary = "Evaluate a small real model on cogniload_mini and report on it."
    demo = command("demo", run_demo_and_report, summary)
    demo.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="(demo)")
    return root


def add_exchange_commands(command: Callable[..., argparse.ArgumentParser]) -> None:
    """The commands about others' data: push, verify, overlap and import."""
    push = command("push", run_push, "Publish puzzles as a dataset on the Hugging Face Hub.")
    push.add_argument("repo", metavar="REPO", help="user/name; what it already holds stays")
    push.add_argument("--private", action="store_true", help="make a new REPO private")
    dry_run = "write the folder that would be uploaded, and upload nothing"
    push.add_argument("--dry-run", type=Path, metavar="DIR", help=dry_run)
    add_puzzle_options(push)

    verify = command(
        "verify", run_verify,
        "Make published puzzles again, compare every row, and solve every puzzle. "
        "Exit code: 0 the same, 1 they differ, 2 could not be told.",
    )  # fmt: skip
    verify.add_argument("source", metavar="DIR_OR_REPO", help="a --dry-run's folder, or user/name")

    overlap = command(
        "overlap", run_overlap,
        "Look for puzzles, and for the canary string of published ones, in a corpus. "
        "Exit code: 0 none there, 1 some are, 2 could not be told.",
    )  # fmt: skip
    files = "files to look in: .parquet, .jsonl or text, the latter two compressed or not"
    overlap.add_argument("corpus", nargs="+", type=Path, metavar="CORPUS", help=files)
    add_puzzle_options(overlap)

    imports = command(
        "import", run_import,
        "Write the puzzles of the authors' release to a .jsonl or .parquet file. "
        "Exit code: 0 all of them, 1 all but those that are named, 2 none.",
    )  # fmt: skip
    imports.add_argument("folder", type=Path, metavar="FOLDER", help="that holds exp/ and meta/")
    imports.add_argument("--out", type=Path, required=True, metavar="FILE", help="to write")
    imports.add_argument("--force", action="store_true", help="replace FILE if it exists")


def add_puzzle_options(command: argparse.ArgumentParser) -> None:
    """The options that say which puzzles, for `asked_puzzles`: None where not given."""
    several = {"nargs": "+", "type": number}
    add = command.add_argument_group("CogniLoad, without --suite").add_argument
    add("--d", **several, metavar="D", help=f"difficulty, 1 to 12 ({written(PAPER_D)})")
    needles = f"percentage of needles, above 0 and up to 100 ({written(PAPER_RHO)})"
    add("--rho", **several, metavar="RHO", help=needles)
    add("--trace", action="store_true", default=None, help="add the statements and the states")
    add = command.add_argument_group("FACTOR").add_argument
    add("--suite", help="symbolic or realistic")
    add("--op", **several, help="binary operations, of the realistic suite: 2 to 100 (2 to 20)")
    add("--context", **several, metavar="TOKENS", help="of filler or noise, 0 to 1,000,000 (0)")
    add("--noise", nargs="+", help="of the realistic suite: close or general (close)")
    add("--tokenizer", metavar="NAME", help="that counts TOKENS: a Hugging Face name or folder")
    add = command.add_argument_group("both").add_argument
    N = f"statements, 1 to 1,000,000 ({written(PAPER_N)}); variables, 1 to 1,000 (1 to 39)"
    add("--N", **several, metavar="N", help=N)
    count = "in each cell (100; FACTOR: symbolic 50, realistic 1000)"
    add("--num-puzzles", type=number, metavar="COUNT", help=count)
    add("--seed", type=number, help="of the draws (42)")
    training = ", ".join(TRAINING_SETS)
    add("--split", help=f"{', '.join(SPLITS)} (test); symbolic, but for push, also {training}")


def written(values: Sequence[int]) -> str:
    """The values of a default, as they are given."""
    return " ".join(map(str, values))


def asked_puzzles(given: argparse.Namespace) -> Source:
    """The puzzles that the options of `add_puzzle_options` ask for."""
    of_both = ("N", "num_puzzles", "seed", "split")
    of_cogniload = ("d", "rho", "trace")
    of_factor = ("op", "context", "noise", "tokenizer")
    mine, other = (of_cogniload, of_factor) if given.suite is None else (of_factor, of_cogniload)
    for name in other:
        if getattr(given, name) is not None:
            if given.suite is None:
                raise ValueError(f"--{name} is for FACTOR: pass --suite {' or '.join(SUITES)} too")
            raise ValueError(f"--{name} is for CogniLoad, got it with --suite {given.suite}")
    asked = {name: getattr(given, name) for name in of_both + mine}
    asked = {name: value for name, value in asked.items() if value is not None}
    if given.suite is None:
        trace = asked.pop("trace", False)
        return cogniload_source(cogniload_grid(**asked), trace=trace)
    tokenizer = asked.pop("tokenizer", None)
    return factor_source(asked_set(given.suite, **asked), tokenizer=tokenizer)


def number(text: str) -> int | float | str:
    """A number as Python reads it; any other text stays, for the parameter's check to refuse."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def run_generate(given: argparse.Namespace) -> None:
    """`cogniload generate FILE`."""
    source = asked_puzzles(given)
    write_puzzles(source, given.out, force=given.force)
    print(f"{given.out}: {len(source.grid)} puzzles")


def run_solve(given: argparse.Namespace) -> None:
    """`cogniload solve [FILE]`."""
    source = given.file or "standard input"
    try:
        text = given.file.read_bytes() if given.file else sys.stdin.buffer.read()
        print(solve(text.decode()))
    except (ValueError, AttributeError) as error:  # without standard input, sys.stdin is None
        raise ValueError(f"{source}: {error}") from None


def run_score(given: argparse.Namespace) -> int:
    """`cogniload score SAMPLES`."""
    if given.release:
        return run_score_release(given)
    if given.out and len(given.samples) > 1:
        raise ValueError(f"--out takes one samples file, got {len(given.samples)}")
    outcomes, changed = Counter(), 0
    for samples in given.samples:
        counted, differing = rescore(samples, given.out, force=given.force)
        outcomes, changed = outcomes + counted, changed + differing
    print_outcomes(outcomes, f"{changed} scored anew")
    return 0


def run_score_release(given: argparse.Namespace) -> int:
    """`cogniload score --release FOLDER ANSWERS`."""
    if given.out or len(given.samples) > 1:
        raise ValueError("--release takes one folder of answers and no --out")
    outcomes, problems, puzzles = score_release(given.release, given.samples[0])
    print_problems(problems)
    print_outcomes(outcomes, f"{len(problems)} not scored; the release has {puzzles} puzzles")
    return int(bool(problems))


def print_outcomes(outcomes: Counter[Outcome | FactorOutcome], remark: str) -> None:
    """The accuracy and the share of every outcome."""
    total = outcomes.total()
    correct = sum(count for outcome, count in outcomes.items() if outcome.correct)
    print(f"{total} responses, {correct} correct ({correct / total:.2%}), {remark}")
    for kind in dict.fromkeys(map(type, outcomes)):
        for outcome in kind:
            print(f"{outcome:26} {outcomes[outcome]:7} {outcomes[outcome] / total:8.2%}")


def print_problems(problems: Sequence[str]) -> None:
    """What was wrong with some files, a line each, on standard error."""
    for problem in problems:
        print(" ".join(problem.split()), file=sys.stderr)


def run_push(given: argparse.Namespace) -> None:
    """`cogniload push REPO`."""
    from cogniload_gen.push import push  # noqa: PLC0415  (the Hub's library takes its time)

    options = {name: getattr(given, name) for name in ("trace", "tokenizer")}
    options = {name: value for name, value in options.items() if value is not None}
    grid = asked_puzzles(given).grid
    print(push(grid, given.repo, private=given.private, dry_run=given.dry_run, **options))


def run_verify(given: argparse.Namespace) -> int:
    """`cogniload verify DIR_OR_REPO`: 0 if the same, 1 if not."""
    from cogniload_gen.verify import verify  # noqa: PLC0415  (the Hub's library takes its time)

    verdict = verify(given.source)
    for difference in verdict.first:
        print(difference)
    if verdict.differences:
        print(f"{given.source} differs: {verdict.differences} values, {verdict.rows} rows expected")
        return 1
    print(f"{given.source} is the same: {verdict.rows} rows, every puzzle solved")
    return 0


def run_overlap(given: argparse.Namespace) -> int:
    """`cogniload overlap CORPUS`: 0 if no puzzle is in the corpus, 1 if any is."""
    for path in given.corpus:
        path.stat()  # an error that would come late otherwise
    source, count = asked_puzzles(given), 0
    puzzles = fingerprints(source.tables())
    for path in given.corpus:
        rows = tqdm(file_pieces(path), desc=str(path), unit=" rows", disable=None)
        for overlap in find_in_pieces(rows, puzzles):
            print(f"{overlap.where}: {overlap.puzzle}")
            count += 1
    print(f"{count} overlaps with {len(source.grid)} puzzles")
    return int(count > 0)


def run_import(given: argparse.Namespace) -> int:
    """`cogniload import FOLDER --out FILE`: 0 if all was imported, 1 if some was not."""
    count, problems = import_release(given.folder, given.out, force=given.force)
    print_problems(problems)
    print(f"{given.out}: {count} puzzles, {len(problems)} not imported")
    return int(bool(problems))


def run_tasks(given: argparse.Namespace) -> None:
    """`cogniload tasks [--link | --unlink]`."""
    if given.link:
        print(f"linked {link_tasks()}")
    elif given.unlink:
        print(f"unlinked {unlink_tasks()}")
    else:
        print(TASKS)


def run_eval(given: argparse.Namespace) -> None:
    """`cogniload eval`: lm-eval, an extra, has arguments of its own."""
    try:
        from lm_eval_tasks.evaluate import run  # noqa: PLC0415
    except ImportError as error:
        message = f"eval needs pip install 'cogniload[eval]' ({error})"
        raise FileNotFoundError(message) from None
    run(given, given.lm_eval_arguments)


def run_report(given: argparse.Namespace) -> None:
    """`cogniload report RESULTS... --out DIR`."""
    report(given.results, given.out, force=given.force, all_runs=given.all_runs)


def run_demo_and_report(given: argparse.Namespace) -> None:
    """`cogniload demo`: its own earlier report is replaced."""
    report([run_demo(given.out)], given.out / "report", force=True)


def report(results: Sequence[Path], out: Path, **options: bool) -> None:
    """Write a report by `cogniload_analysis`, an extra, and print where it is."""
    try:
        from cogniload_analysis.report import write_report  # noqa: PLC0415
    except ImportError as error:
        message = f"the report needs pip install 'cogniload[analysis]' ({error})"
        raise FileNotFoundError(message) from None
    print(f"report   {write_report(results, out, **options)}")


if __name__ == "__main__":
    sys.exit(main())

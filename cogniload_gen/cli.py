"""The `cogniload` command: what each of its commands does."""

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.arguments import asked_options, asked_puzzles, parser, puzzle_options, spellings
from cogniload_gen.benchmark import OutcomeName
from cogniload_gen.checks import check_integer, check_shard
from cogniload_gen.cogniload.release import import_release, score_release
from cogniload_gen.cogniload.steps.planted import trace_source
from cogniload_gen.extras import needing
from cogniload_gen.factor.recall import lines, measure, write_csv
from cogniload_gen.factor.retrieval import check_retrieval
from cogniload_gen.files.inputs import check_file, one_line, read_stream, read_whole
from cogniload_gen.files.whole import EXISTS
from cogniload_gen.files.write import read_puzzles, write_puzzles
from cogniload_gen.overlap import file_pieces, find_in_pieces, fingerprints
from cogniload_gen.shards import ROWS_PER_FILE, files_of
from lm_eval_tasks.demo import run_demo
from lm_eval_tasks.links import TASKS, link_tasks, unlink_tasks
from lm_eval_tasks.rescore import rescore
from lm_eval_tasks.score_responses import score_responses
from lm_eval_tasks.step_readings import count_errors


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if it did its work, 2 after a one-line error, 130 after Ctrl-C."""
    root = parser()
    parsed, others = root.parse_known_args(arguments)
    if parsed.parser.takes_others:
        parsed.lm_eval_arguments = others
    elif others:
        parsed.parser.error(f"unrecognized arguments: {' '.join(others)}")
    try:
        return RUNS[parsed.command](parsed) or 0
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


def run_generate(given: argparse.Namespace) -> None:
    """Run `cogniload generate FILE` or `cogniload generate OUT/`."""
    if given.out is None:
        raise ValueError(
            "FILE is missing: it stands before the options, as --d 3 5 takes any number"
        )
    (generate_folder if given.out.endswith("/") else generate_file)(given)


def generate_file(given: argparse.Namespace) -> None:
    """Run `cogniload generate FILE`."""
    for option in ("rows_per_file", "shard"):
        if getattr(given, option) is not None:
            spelled, *_ = spellings(option)
            raise ValueError(f"{spelled} is for a folder: write {given.out}/ for one")
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
    share = f", of which shard {shard}/{shards} makes {len(mine):,}" * (shards > 1)
    asked = f"{counted(len(selection), 'puzzle')} in {counted(len(files), 'file')}"
    print(f"{given.out}: {asked}{share}", flush=True)
    made = 0

    def so_far() -> str:
        return f"{counted(made, 'file')} made; the same command goes on"

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
        raise KeyboardInterrupt(so_far()) from None
    except SystemExit:  # as SIGTERM ends it
        print(f"cogniload generate: interrupted: {so_far()}", file=sys.stderr)
        raise
    part = f"shard {shard}/{shards}: " * (shards > 1)
    kept = len(mine) - made
    were = "was whole by its" if kept == 1 else "were whole by their"
    print(f"{part}{counted(made, 'file')} made, {kept:,} {were} SHA-256")
    whole = files.finish()
    if whole < len(files):
        print(f"{given.out}: {whole} of {len(files)} files are there; other shards make the rest")
    else:
        print(f"{given.out}: whole, {asked}")
        print(f"next: cogniload verify {shlex.quote(given.out)} --sample 1%")


def counted(count: int, what: str) -> str:
    """Return "1 file" or "2,000 files"."""
    return f"{count:,} {what}{'s' * (count != 1)}"


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
    if verdict.unfinished:
        return 1
    if verdict.damages:
        places = f"place{'s' * (verdict.damages > 1)}"
        print(f"{given.source} is damaged in {verdict.damages} {places}")
        return 1
    print(
        f"{given.source} is whole: {verdict.rows} rows in {counted(verdict.files, 'file')}; "
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
        f"{counted(total - canaries, 'overlap')} with {len(found)} of "
        f"{counted(len(source.selection), 'puzzle')}, {counted(canaries, 'canary string')}, in "
        f"{counted(len(given.corpus), 'file')}" + f"; the first {limit} are above" * (total > limit)
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
        for name in puzzle_options(given):
            if name != "tokenizer":  # by which the budgets are measured, too
                raise ValueError(f"{spellings(name)[0]} says which puzzles to make, got a FILE too")
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
        from cogniload_analysis.report.compare_runs import compare_results  # noqa: PLC0415
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
        from cogniload_analysis.report import inspect_view  # noqa: PLC0415

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
        from cogniload_analysis.factor.analysis import FACTOR, set_factor  # noqa: PLC0415
        from cogniload_analysis.report.write import write_report  # noqa: PLC0415
    if factor:
        chosen = set_factor(**factor)
        options["among"] = [chosen if each is FACTOR else each for each in ANALYSES]
    print(f"report   {write_report(by_label(results), out, **options)}")


RUNS: dict[str, Callable[[argparse.Namespace], int | None]] = {
    "tasks": run_tasks,
    "eval": run_eval,
    "report": run_report,
    "demo": run_demo_and_report,
    "generate": run_generate,
    "solve": run_solve,
    "score": run_score,
    "steps": run_steps,
    "compare": run_compare,
    "plan": run_plan,
    "view": run_view,
    "push": run_push,
    "verify": run_verify,
    "overlap": run_overlap,
    "import": run_import,
    "retrieve": run_retrieve,
}
"""What runs each command."""


if __name__ == "__main__":
    sys.exit(main())

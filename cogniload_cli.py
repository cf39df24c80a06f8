"""The `cogniload` command: a function a command, in the order of the help.

Each function adds its arguments to a parser, parses the words behind the command and does the work;
its docstring is its line in the help. What a command needs is imported within it, so that
`--help` and a mistyped word are answered at once. This is the one file that imports from every
package.
"""

import os
import shlex
import signal
import sys
from argparse import SUPPRESS, Action, ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from cogniload_analysis.report.gate_runs import Judged, Verdict
    from cogniload_gen.benchmark import Dataset
    from cogniload_gen.grid import Source
    from lm_eval_tasks import Evaluation, Results
    from lm_eval_tasks.cogniload.pool import Pool

Words = Sequence[str]
_Result = TypeVar("_Result")

EXTRAS = {
    "lm_eval": "eval", "transformers": "eval", "torch": "eval", "vllm": "vllm",
    "inspect_ai": "inspect", "bm25s": "retrieval", "sentence_transformers": "retrieval",
    **dict.fromkeys(("pandas", "scipy", "statsmodels", "firthmodels", "matplotlib"), "analysis"),
    "threadpoolctl": "analysis",
}  # fmt: skip
"""The extra that installs a package, by the name that is imported."""

# Options that a message lists whole.
_FEW = 8

RESULTS = "lm-eval's --output_path"
_ON_HUB = ", here or at hf://datasets/USER/NAME/FILE"
NAMED_RESULTS = "lm-eval's --output_path; LABEL=DIR names the rows of its runs"


# --- arguments ------------------------------------------------------------------------------------


class Parser(ArgumentParser):
    """A parser whose errors are one line with exit code 2, and whose options are spelled out.

    An option of several words may have underscores in the place of dashes.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)  # --n is not --num-puzzles

    def option(self, name: str, metavar: Any, text: str, **settings: Any) -> None:
        """Add an option with a value; `text` is its help."""
        self.add_argument(f"--{name}", metavar=metavar, help=text, **settings)

    def flag(self, name: str, text: str, **settings: Any) -> None:
        """Add an option without a value; `text` is its help."""
        self.add_argument(f"--{name}", action="store_true", help=text, **settings)

    def parse_known_args(  # type: ignore[override]  # whose overloads differ by version
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        """Parse as the base class does, with dashes for underscores in the names of options."""
        words = []
        for word in sys.argv[1:] if args is None else args:
            name, equals, value = word.partition("=")
            dashed = name.replace("_", "-")
            known = dashed in self._option_string_actions
            words.append(dashed + equals + value if known else word)
        return super().parse_known_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """End the program with one line that says what was wrong."""
        from cogniload_gen.checks import did_you_mean

        if message.startswith("unrecognized arguments: --"):
            name, options = message.split()[2].partition("=")[0], [*self._option_string_actions]
            near = did_you_mean(name, options, 0.75)
            options = [option for option in options if option not in ("-h", "--help")]
            few = f": {self.prog} takes {', '.join(options)}" * (len(options) < _FEW)
            message = f"there is no {name}{near or few}"
        self.exit(2, f"{self.prog}: error: {_one_line(message)}\n")


def _number(text: str) -> int | float | str:
    """Return a number as Python reads it; any other text stays, for the knob's check to refuse."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


class _Values(Action):
    """Takes the numbers of a knob, with spaces or commas between them."""

    def __call__(self, _parser: Any, namespace: Any, values: Any, _option: Any = None) -> None:
        words = [word for value in values for word in value.split(",") if word]
        setattr(namespace, self.dest, [_number(word) for word in words])


def _split_label(text: str) -> tuple[str, str]:
    """Return the label and the path of LABEL=DIR; a path that exists has no label, ""."""
    label, _, path = text.partition("=")
    # Path.exists raises OSError where the label is longer than a file's name can be.
    if not (label and path) or "/" in label or os.path.exists(text):  # noqa: PTH110
        return "", text
    return label, path


def _by_label(results: Iterable[tuple[str, str]]) -> dict[str, list[Path]]:
    """Return the paths of results by their label."""
    paths: dict[str, list[Path]] = {}
    for label, path in results:
        paths.setdefault(label, []).append(Path(path))
    return paths


def _add_puzzle_options(parser: Parser, of_dataset: str | None = None) -> None:
    """Add the options that say which puzzles, of a dataset or of all; unused, one is not read."""
    from cogniload_gen.benchmarks import BENCHMARKS
    from cogniload_gen.grid import SPLITS

    among = [one for one in BENCHMARKS if of_dataset in (None, one.dataset)]
    suites = " or ".join(str(one.suite) for one in BENCHMARKS if one.suite)
    parser.option("suite", None, f"{suites}: a suite of FACTOR", default=SUPPRESS)
    knobs = {knob.name: knob for benchmark in among for knob in benchmark.parameters}
    del knobs["first_index"]  # of `load_dataset` and Python alone
    spanning = {knob.name for benchmark in among for knob in benchmark.knobs}
    texts: dict[str, dict[str, list[str]]] = {name: {} for name in knobs}
    for benchmark in among:
        for knob in benchmark.parameters:
            if knob.name in knobs:
                texts[knob.name].setdefault(knob.describe(), []).append(benchmark.title)
    for name, by_text in texts.items():
        parts = [f"{' and '.join(titles)}: {text}" for text, titles in by_text.items()]
        text, kind = ". ".join(parts).replace("%", "%%"), knobs[name].kind
        option = name.replace("_", "-")
        if kind == "flag":
            parser.flag(option, text.partition("; ")[0], default=SUPPRESS)
            continue
        metavar = {"tokenizer": "NAME", "twin": "CHANGE", "language": "CODE"}.get(kind)
        takes: dict[str, Any] = {"type": _number} if kind in {"integer", "number"} else {}
        takes |= {"nargs": "+", "action": _Values, "type": str} if name in spanning else {}
        takes |= {"nargs": "?", "const": "chat"} if name == "traces" else {}
        parser.option(option, metavar or name.upper(), text, default=SUPPRESS, **takes)
    own = [f"; {one.title} also: {', '.join(one.own_splits)}" for one in among if one.own_splits]
    splits = f"{', '.join(SPLITS)}{''.join(own)} (default test)"
    parser.option("split", None, splits, default=SUPPRESS)


def _used_puzzle_options(arguments: Namespace) -> dict[str, Any]:
    """Return the options of `_add_puzzle_options` that are used."""
    from cogniload_gen.benchmarks import BENCHMARKS

    names = {knob.name for benchmark in BENCHMARKS for knob in benchmark.parameters}
    names |= {"suite", "split"}
    return {name: value for name, value in vars(arguments).items() if name in names}


def _dataset_of(used: Mapping[str, Any]) -> "Dataset":
    """Return the dataset that the used options are for: FACTOR's with a suite."""
    from cogniload_gen.benchmarks import datasets

    return next(one for one in datasets().values() if bool(one.suites) == ("suite" in used))


# --- puzzles --------------------------------------------------------------------------------------


def generate(parser: Parser, words: Words) -> None:
    """Write puzzles to a .jsonl or .parquet file, or to a folder OUT/ of Parquet files."""
    parser.usage = (
        "cogniload generate FILE [options]\n"  # after --d 3 5, FILE would be a value
        "       cogniload generate OUT/ [--shard I/N] [--rows-per-file COUNT] [options]"
    )
    text = (
        "to write, before the options: a file, or a folder if it ends in /, which the same command "
        "continues"
    )
    parser.add_argument("out", nargs="?", metavar="FILE", help=text)
    parser.option("shard", "I/N", "make files I, I + N, I + 2N, ... of the folder alone")
    text = "puzzles in each file of the folder (10,000)"
    parser.option("rows-per-file", "COUNT", text, type=int)
    parser.flag("force", "replace FILE if it exists")
    parser.flag("errors", "write traces of CogniLoad puzzles with one planted first error each")
    text = (
        "puzzles to train a model on, chosen by its results; takes the place of --d, --N and --rho"
    )
    parser.option("for", "RESULTS", text, type=Path, dest="results")
    text = "the predicted pass rates of these puzzles (0.2..0.8)"
    parser.option("pass-rate", "LOW..HIGH", text, default=None)
    _add_puzzle_options(parser)
    arguments = parser.parse_args(words)
    out, used = arguments.out, _used_puzzle_options(arguments)
    if out is None:
        raise ValueError("FILE is missing: it comes before the options, since --d takes any number")
    is_folder, of_file = out.endswith("/"), ("force", "errors", "results", "pass_rate")
    if is_folder and any(getattr(arguments, name) for name in of_file):
        wrong = "--force, --errors, --for and --pass-rate are for a file"
        raise ValueError(f"{wrong}, got the folder {out}")
    if not is_folder and (arguments.shard or arguments.rows_per_file is not None):
        raise ValueError(f"--shard and --rows-per-file are for a folder OUT/, got the file {out}")
    dataset = _dataset_of(used)
    if arguments.errors and (unused := {"trace", "traces", "tokenizer"} & used.keys()):
        raise ValueError(f"--errors writes traces of its own, without --{min(unused)}")
    if is_folder:
        _generate_folder(out, arguments.shard, arguments.rows_per_file, dataset.name, used)
        return
    from cogniload_gen.tables import write_puzzles

    if arguments.results or arguments.pass_rate:
        source = _choose_puzzles(arguments.results, arguments.pass_rate, used)
    else:
        source = dataset.puzzles(**used)
    if arguments.errors:
        from cogniload_gen.cogniload.steps.planted import trace_source

        source = trace_source(source)
    write_puzzles(source, Path(out), force=arguments.force)
    print(f"{out}: {_counted(len(source.selection), 'trace' if arguments.errors else 'puzzle')}")


def _choose_puzzles(results: Path | None, rates: str | None, used: dict[str, Any]) -> "Source":
    """Return the puzzles on which a model should be trained, by its results; says which."""
    from cogniload_analysis import read_samples
    from cogniload_analysis.cogniload.training_mix import choose_cells, make_source, read_pass_rate
    from cogniload_gen.cogniload.knobs import Cell

    if results is None or {*Cell._fields, "suite"} & used.keys():
        raise ValueError(
            "--for RESULTS takes the place of --d, --N and --rho; --pass-rate needs it"
        )
    cells = choose_cells(read_samples([results]), *read_pass_rate(rates or "0.2..0.8"))
    ends = f"{cells['predicted'].min():.2f} to {cells['predicted'].max():.2f}"
    print(f"{len(cells)} cells, whose predicted pass rates are {ends}", file=sys.stderr)
    return make_source(cells, **{"split": "train"} | used)


def _generate_folder(
    out: str, share: str | None, rows: int | None, dataset: str, parameters: dict[str, Any]
) -> None:
    """Make the files of a shard that are not whole yet."""
    from tqdm import tqdm

    from cogniload_gen.checks import check_shard
    from cogniload_gen.shards import ROWS_PER_FILE, puzzle_files

    shard, shards = check_shard(share or "1/1")
    rows = ROWS_PER_FILE if rows is None else rows
    files = puzzle_files(out, dataset, rows_per_file=rows, **parameters)
    mine = range(shard - 1, len(files), shards)
    whole = f"{_counted(len(files.grid), 'puzzle')} in {_counted(len(files), 'file')}"
    for number in tqdm(mine, unit=" files", disable=None):
        files.make(number)
    there = files.finish()
    if there < len(files):
        print(f"{out}: {there} of {len(files)} files are there; other shards make the rest")
    else:
        print(f"{out}: whole, {whole}\nnext: cogniload verify {shlex.quote(out)} --sample 0.01")


def solve(parser: Parser, words: Words) -> None:
    """Print the answer of a puzzle, from its text alone."""
    text = "the puzzle (default: standard input)"
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help=text)
    file = parser.parse_args(words).file
    from cogniload_gen import solve as answer
    from cogniload_gen.files import naming

    with naming(str(file or "standard input")):  # without one, sys.stdin is None
        print(answer((file.read_bytes() if file else sys.stdin.buffer.read()).decode()))


def retrieve(parser: Parser, words: Words) -> None:
    """Measure what retrievers find of the statements that FACTOR's answers need."""
    from cogniload_gen.factor import FACTOR

    usual: Any = ["bm25", "iterative", "oracle"]
    text = f"bm25, encoder, iterative, oracle, or several (default {' '.join(usual)})"
    parser.option("retriever", "NAME", text, nargs="+", default=usual)
    text = "tokens that may be found, or several such budgets (default 500 1000 2000)"
    parser.option("budget", "TOKENS", text, type=_number, nargs="+", default=[500, 1000, 2000])
    text = "model of sentence-transformers, a name or a folder (default all-MiniLM-L6-v2)"
    parser.option("encoder", "MODEL", text)
    parser.option("out", "FILE", "write the table as CSV", type=Path)
    parser.flag("force", "replace FILE if it exists")
    _add_puzzle_options(parser, FACTOR.name)
    arguments = parser.parse_args(words)
    from tqdm import tqdm

    from cogniload_analysis.factor.recall import measure
    from cogniload_gen.factor.retrieval import check_retrieval
    from cogniload_gen.files import whole_file

    if arguments.force and not arguments.out:
        raise ValueError("--force is for --out FILE")
    if arguments.encoder and "encoder" not in arguments.retriever:
        raise ValueError("--encoder is for --retriever encoder")
    encoder = {"encoder": arguments.encoder} if arguments.encoder else {}
    retrievals = [
        check_retrieval({"retriever": retriever, "budget": budget} | encoder)
        for retriever in arguments.retriever
        for budget in arguments.budget
    ]
    used = _used_puzzle_options(arguments)
    rows = tqdm(FACTOR.puzzles(**used).rows(), unit=" puzzles", disable=None)
    out, force = arguments.out, arguments.force
    with whole_file(out, force=force) if out else nullcontext() as table:
        # the tokenizer measures the budgets, too
        results = measure(rows, retrievals, used.get("tokenizer"))
        print(results.shown.to_string(index=False))
        if table:
            results.data.to_csv(table, index=False)


# --- run ------------------------------------------------------------------------------------------


def tasks(parser: Parser, words: Words) -> None:
    """Print the folder of the lm-eval tasks, for --include_path."""
    parser.flag("link", "link it into the installed lm-eval")
    parser.flag("unlink", "remove that link")
    arguments = parser.parse_args(words)
    if arguments.link and arguments.unlink:
        raise ValueError("--link and --unlink exclude each other")
    from lm_eval_tasks.tasks import TASKS, link_tasks, unlink_tasks

    if arguments.link:
        print(f"linked {link_tasks()}")
    else:
        print(f"unlinked {unlink_tasks()}" if arguments.unlink else TASKS)


def plan(parser: Parser, words: Words) -> None:
    """Estimate how many puzzles tell two models apart or determine ECL50, and their cost."""
    from cogniload_gen.checks import PRICE, check_price

    text = "difference in accuracy to detect, such as 0.05"
    parser.option("detect", "SHARE", text, type=float)
    text = "published model that the better one is like, such as Qwen3-8B, or a run's results"
    parser.option("like", "MODEL", text)
    text = (
        "instead of both: the puzzles that ECL50 takes at this slope, in logits a unit of log10 N"
    )
    parser.option("slope", "LOGITS", text, type=float)
    text = "instead of both: the puzzles that a gate takes at this margin"
    parser.option("gate", "POINTS", text, type=float)
    text = "tokens of a response, on average (5000, or the run's own)"
    parser.option("response-tokens", "TOKENS", text, type=float)
    text = "tokens of response a second and GPU (2000)"
    parser.option("throughput", "TOKENS", text, type=float, default=2000)
    parser.option("price", "IN,OUT", PRICE)
    arguments = parser.parse_args(words)
    from cogniload_analysis.cogniload.plan import plan_comparison, say_gate, say_least

    settings = vars(arguments)
    given = {name for name, value in settings.items() if value != parser.get_default(name)}
    alone = {"slope": say_least, "gate": say_gate}
    values = {name: settings.pop(name) for name in alone}
    one = next((name for name in alone if given == {name}), None)
    if not (one or ({"detect", "like"} <= given and not given & {*alone})):
        got = " ".join(words) or "neither"
        raise ValueError(f"plan takes --detect and --like, or --slope or --gate alone, got {got}")
    if one:
        print(alone[one](values[one]))
        return
    settings["price"] = check_price(arguments.price)
    print(plan_comparison(settings.pop("like"), settings.pop("detect"), **settings).summary())


def evaluate(parser: Parser, words: Words) -> int:
    """Evaluate a model with lm-eval; the same command continues a run that was killed."""
    from cogniload_gen.checks import PRICE

    parser.epilog = "Exit code: 0 done, 2 wrong use or broken, 4 a cap has stopped it."
    usages = (
        "--output_path DIR [--config FILE] [--shard I/N] [arguments of lm_eval run]",
        "--tasks TASK --until GOAL [--budget COUNT] [--at LOADS] [--N RANGE] [--d RANGE] ...",
        "... [--sweep NAME=LEVEL,LEVEL,...]",
        "... [--max-tokens-total COUNT] [--price IN,OUT --max-cost COST]",
        "... [--verbose]",
        "--merge DIR ... [--output_path DIR] [--include_path DIR]",
        "--status DIR ... [--include_path DIR] [--price IN,OUT] [--json]",
    )
    parser.usage = "\n       ".join(f"cogniload eval {usage}" for usage in usages)
    text = "for answers and results; the same command continues"
    parser.option("output-path", "DIR", text, type=Path)
    parser.option("config", "FILE", "YAML of these arguments, and lm_eval run's", type=Path)
    parser.option("shard", "I/N", "answer only the I-th of N equal parts")
    text = "ask until this is known: ECL50±20%%, ECL80±20%%, ID50±1, N_eff±20%%, ..."
    parser.option("until", "GOAL", text)
    parser.option("budget", "COUNT", "the most puzzles for --until (1500)", type=_number)
    text = "the other loads of --until, such as d=1,rho=50 for ECL50 (the paper's means)"
    parser.option("at", "LOADS", text)
    parser.option("N", "LOW..HIGH", "the least and the most N (or op) that --until asks")
    text = "the least and the most d that --until asks (1..10)"
    parser.option("d", "LOW..HIGH", text)
    text = "ask no more once a run has used these tokens, such as 20M"
    parser.option("max-tokens-total", "COUNT", text)
    parser.option("price", "IN,OUT", PRICE)
    parser.option("max-cost", "COST", "ask no more once a run has cost this much, at --price")
    text = "ask the same puzzles at levels of a setting, such as reasoning_effort=low,medium,high"
    parser.option("sweep", "NAME=LEVELS", text)
    parser.flag("anew", "put earlier answers aside, and ask again", default=None)
    parser.flag("verbose", "print lm-eval's tables of all metrics, too")
    parser.option("include-path", "DIR", "where tasks of your own are")
    parser.option("merge", "DIR", "write the results of all shards", type=Path, nargs="+")
    parser.option("status", "DIR", "print how far an evaluation is", type=Path, nargs="+")
    parser.flag("json", "print the status as JSON")
    arguments, others = parser.parse_known_args(words)
    from lm_eval_tasks.status import each_warning_once
    from lm_eval_tasks.words import read_command

    if arguments.json and not arguments.status:
        raise ValueError("--json is for --status DIR")
    with each_warning_once():
        if arguments.status or arguments.merge:
            return _read_folders(arguments, others)
        evaluation, how = read_command(arguments, others)
        if arguments.sweep:
            from lm_eval_tasks.sweep import sweep

            levels = sweep(evaluation, arguments.sweep, **how)
            return max(_say_scores(each, verbose=arguments.verbose) for each in levels)
        done = evaluation.run(**how)
        return _say_scores(done, verbose=arguments.verbose, chosen=bool(evaluation.until))


def _read_folders(arguments: Namespace, others: Words) -> int:
    """Do what --status and --merge say, which ask no model; return the exit code."""
    from lm_eval_tasks.words import OURS

    takes = {"price"} if arguments.status else {"output_path", "verbose"}
    ours = {*OURS, "sweep", "verbose"} - takes
    unused = [f"--{name}" for name in sorted(ours) if getattr(arguments, name)]
    if given := " ".join([*unused, *others]):
        what = "--merge takes folders, --output_path, --include_path and --verbose, --status "
        raise ValueError(f"{what}folders, --price, --include_path and --json, got {given}")
    if arguments.status:
        from lm_eval_tasks.status import print_status

        which = arguments.status, arguments.price, arguments.include_path
        print_status(*which, as_json=arguments.json)
        return 0
    from lm_eval_tasks.runner import merge

    merged = arguments.merge, arguments.output_path, arguments.include_path
    return _say_scores(merge(*merged), verbose=arguments.verbose)


def _say_scores(results: "Results", *, verbose: bool, chosen: bool = False) -> int:
    """Print what an evaluation has found, as a report says it; return the exit code.

    lm-eval's tables are printed where they are asked for, and of tasks that no report is about. Of
    puzzles that a design has `chosen`, that has said all.
    """
    from cogniload_analysis.report.write import say_results

    verdict = list[str]()
    if results.scores and not chosen:
        with suppress(ValueError):  # of no task that has a report
            verdict = say_results(results.folder)
    tables = results.tables if verbose or not (verdict or chosen) else ()
    return _say_results(replace(results, lines=[*tables, *verdict, *results.lines]))


def _say_results(results: "Results") -> int:
    """Print what became of an evaluation; return the exit code."""
    from cogniload_analysis.compare.gate import CAPPED

    for line in results.lines:
        print(line, flush=True)
    if results.stopped:
        print(f"stopped: {results.stopped}", file=sys.stderr)
    if results.next:
        print(f"next: {results.next}", file=sys.stderr)
    return CAPPED if results.stopped else 0


def why(parser: Parser, words: Words) -> int:
    """Ask a run's model its failures with one thing changed (twins), and name the cause."""
    from cogniload_gen.answers import choose_twins
    from cogniload_gen.answers.choose_twins import BUDGET, ENOUGH_FAILURES
    from cogniload_gen.answers.files import run_of

    parser.usage = "cogniload why RUN [options] [arguments of lm_eval run]"
    parser.add_argument(
        "run",
        type=Path,
        metavar="RUN",
        help="results folder of one model, or one of its samples_*.jsonl",
    )
    text = "in place of twins: go on from the model's own text, with its first wrong step repaired"
    parser.flag("repair", text)
    text = f"the most twins, or texts, of failures and of as many solved puzzles ({BUDGET})"
    parser.option("budget", "COUNT", text, type=int)
    parser.option("seed", "SEED", "seed of the choice of puzzles (0)", type=int, default=0)
    parser.option(
        "out", "DIR", "for answers; the same command continues (RUN/why or repair)", type=Path
    )
    text = (
        "answer only the I-th of N equal parts; without it, the verdict follows when all are done"
    )
    parser.option("shard", "I/N", text)
    text = "ask nothing, and write the twins to a .jsonl or .parquet file for others to answer"
    parser.option("write", "FILE", text, type=Path)
    parser.flag("force", "replace FILE if it exists")
    arguments, others = parser.parse_known_args(words)
    run, file, repair = arguments.run, arguments.write, arguments.repair
    if file and (others or arguments.out or arguments.shard or repair):
        raise ValueError("--write takes --budget, --seed and --force, and asks no model")
    if arguments.force and not file:
        raise ValueError("--force is for --write FILE")
    if file and file.suffix not in (".jsonl", ".parquet"):
        raise ValueError(f"--write FILE must end in .jsonl or .parquet, got {file}")
    make = choose_twins.make_repairs if repair else choose_twins.make_twins
    twins = make(run, BUDGET if arguments.budget is None else arguments.budget, arguments.seed)
    if file:
        choose_twins.write_twins(twins, file, force=arguments.force)
        print(f"{_counted(len(twins.table), 'twin')} in {file}; for the report, score them by")
        score = ["cogniload", "score", "--dataset", file, "RESPONSES", "--out", twins.scored]
        print(shlex.join(map(str, score)))
        return 0
    from cogniload_analysis.report.compare_runs import explain_results
    from cogniload_analysis.report.why import say_takes
    from lm_eval_tasks.ask_twins import ask_twins
    from lm_eval_tasks.runner import report_of
    from lm_eval_tasks.words import read_model

    folder, model = run_of(run), read_model(others, run)
    if arguments.budget is None and twins.failures < ENOUGH_FAILURES and not repair:
        raise ValueError(
            f"{run} has {twins.failures} failures, and a cause takes {ENOUGH_FAILURES}: ask more "
            "puzzles, or longer ones, first; --budget COUNT asks the twins of these"
        )
    out = arguments.out or folder / ("repair" if repair else "why")
    what = f"{_counted(len(twins.table), 'text' if repair else 'twin')} of "
    what += f"{_counted(twins.failures, 'failure')} and of solved puzzles"
    takes = say_takes(len(twins.table), twins.spent)
    print(f"{what} to ask{takes}", file=sys.stderr, flush=True)
    asked = ask_twins(twins, out, model, arguments.shard or "1/1")
    if asked.scores:
        report = report_of(folder)
        lines = [*explain_results([run, asked.folder]), *asked.lost]
        asked = replace(asked, lines=lines, next=report)
    return _say_results(asked)


def demo(parser: Parser, words: Words) -> None:
    """Evaluate small models that come with the package: how much they solve, and why they fail."""
    parser.option("out", "DIR", "folder to write (demo)", type=Path, default=Path("demo"))
    out = parser.parse_args(words).out
    from lm_eval_tasks.cogniload.demo import run_demo

    print("\n" + "\n".join(run_demo(out)))


# --- read -----------------------------------------------------------------------------------------


def score(parser: Parser, words: Words) -> int:
    """Score lm-eval's samples_*.jsonl again, or tables of responses; or read their steps."""
    text = "samples_*.jsonl, gzipped or not, a log of Inspect, or a folder of them"
    parser.add_argument("samples", nargs="+", type=Path, metavar="SAMPLES", help=text)
    text = (
        "score tables SAMPLES (.parquet, .jsonl, .csv) with id and response, perhaps with "
        "reasoning, prompt_tokens, response_tokens, response_limit and finish_reason, to the "
        "puzzles in FOLDER's Parquet files, or in a file"
    )
    parser.option("dataset", "FOLDER", text, type=Path)
    parser.flag("steps", "say where the reasoning breaks, in place of the outcomes")
    text = "have the model that a file like --config's names transcribe the responses for --steps"
    parser.option("reader", "READER.yaml", text)
    parser.flag("failures", "have it transcribe only the wrong responses")
    text = "write the samples, scored and with their first errors: a .jsonl file, or a folder"
    parser.option("out", "PLACE", text, type=Path)
    parser.flag("force", "replace the file if it exists")
    arguments = parser.parse_args(words)
    from cogniload_gen.answers.files import own_files
    from cogniload_gen.answers.rescore import rescore, score_responses

    samples, out, dataset = arguments.samples, arguments.out, arguments.dataset
    used_alone = {
        "--force is for --out PLACE": arguments.force and not out,
        "--reader READER.yaml is for --steps of samples, without --dataset": arguments.reader
        and (dataset or not arguments.steps),
        "--failures is for --reader READER.yaml": arguments.failures and not arguments.reader,
    }
    if wrong := next((what for what, is_so in used_alone.items() if is_so), None):
        raise ValueError(wrong)
    how = {"steps": arguments.steps, "force": arguments.force}
    if dataset:
        parts = [score_responses(dataset, samples, out, **how)]
    else:
        files = [
            file for path in samples for file in (own_files(path) if path.is_dir() else [path])
        ]
        if not files:
            raise ValueError(f"no samples_TASK_DATE.jsonl in {', '.join(map(str, samples))}")
        if out and out.suffix == ".jsonl" and len(files) > 1:
            raise ValueError(f"--out takes one samples file, got {len(files)}: name a folder")
        if arguments.reader and (code := _transcribe(files, arguments)):
            return code
        parts = [rescore(path, out, **how) for path in files]
    counts: Counter[Any] = Counter()
    for part in parts:
        counts += part.errors if arguments.steps else part.outcomes
    if arguments.steps:
        unread = counts.pop("not read", 0)
        first = f"{counts.total() + unread} responses, {counts.total()} of them could be read"
    else:
        correct = sum(count for outcome, count in counts.items() if outcome.correct)
        first = f"{counts.total()} responses, {correct} correct ({correct / counts.total():.2%})"
        if dataset:
            first += f", {parts[0].missing} puzzles without a response"
        else:
            first += f", {sum(part.changed for part in parts)} scored anew"
    print(first)
    for kind, count in counts.most_common():
        print(f"{kind:26} {count:7} {count / counts.total():8.2%}")
    return 0


def _transcribe(files: Sequence[Path], arguments: Namespace) -> int:
    """Have the reader transcribe the responses in samples files; return the exit code."""
    from lm_eval_tasks.status import each_warning_once
    from lm_eval_tasks.transcribe import transcribe
    from lm_eval_tasks.words import read_file

    with each_warning_once():
        reader = read_file(arguments.reader)
        done = transcribe(files, reader, failures=arguments.failures)
        return max(map(_say_results, done))


def report(parser: Parser, words: Words) -> None:
    """Write a report on lm-eval's results, which ranks their runs."""
    from cogniload_gen.checks import PRICE, check_price

    parser.add_argument("results", nargs="+", metavar="RESULTS", help=NAMED_RESULTS)
    parser.option("out", "DIR", "folder to write", type=Path, required=True)
    parser.flag("force", "replace what is there")
    parser.option("price", "IN,OUT", PRICE)
    parser.option("x", "UNIT=NUMBER,...", "the results are checkpoints at these steps or tokens")
    parser.flag("pdf", "write each figure as a PDF too")
    arguments = parser.parse_args(words)
    how = {"force": arguments.force, "price": check_price(arguments.price), "pdf": arguments.pdf}
    from cogniload_analysis.cogniload.sections.checkpoints import label_checkpoints
    from cogniload_analysis.report.write import write_report

    results = _by_label(label_checkpoints([*map(_split_label, arguments.results)], arguments.x))
    page = write_report(results, arguments.out, say=print, **how)
    print(f"report   {page}")


def compare(parser: Parser, words: Words) -> None:
    """Compare runs puzzle by puzzle."""
    parser.add_argument("results", nargs="+", metavar="RESULTS", help=NAMED_RESULTS)
    parser.option("out", "DIR", "write the tables as CSV", type=Path)
    parser.flag("force", "replace what is there")
    arguments = parser.parse_args(words)
    from cogniload_analysis.report.compare_runs import compare_results

    if arguments.force and not arguments.out:
        raise ValueError("--force is for --out DIR")
    results = _by_label(map(_split_label, arguments.results))
    print(compare_results(results, arguments.out, force=arguments.force))


def gate(parser: Parser, words: Words) -> int:
    """Say whether a model is no worse than another, with an exit code for a CI."""
    parser.usage = (
        "cogniload gate BASE [NEW...] --margin POINTS [options] [arguments of lm_eval run]\n"
        "       cogniload gate RUN --record FILE [options] [arguments of lm_eval run]\n"
        "       cogniload gate --recorded FILE --margin POINTS [options] [arguments of lm_eval run]"
    )
    parser.epilog = (
        "Without NEW, two models answer fresh puzzles until a verdict: that of BASE, and the same "
        "with the arguments given. Exit code: 0 no worse, 1 worse by more than the margin, 2 wrong "
        "use or broken, 3 undecided, 4 a cap, 5 lower, perhaps within the margin."
    )
    _add_gate_options(parser)
    arguments, others = parser.parse_known_args(words)
    from cogniload_analysis.compare.gate import CAPPED
    from cogniload_analysis.report import gate_runs

    base, *new = arguments.runs
    gate_runs.write_verdict(arguments.json, arguments.junit)
    _check_gate(base, new, others, vars(arguments))
    if arguments.record:
        return _record(Path(base), others, arguments)
    if new:
        judged = gate_runs.gate_results(base, new, arguments.margin)
    else:
        asked = _unless_capped("gate", lambda: _ask_for_gate(base, others, arguments))
        if asked is None:
            return CAPPED
        judged = {(base, ""): asked}
    if arguments.lower:
        lower_is = int(arguments.lower == "fail")
        judged = {
            names: each._replace(gate=replace(each.gate, lower_is=lower_is))
            for names, each in judged.items()
        }
    (one, *more) = judged.values()
    found = gate_runs.choose_candidate(judged) if more else one.verdict
    gate_runs.write_verdict(arguments.json, arguments.junit, found)
    return _say_verdict(found)


def _check_gate(base: str, new: Words, others: Words, given: Mapping[str, Any]) -> None:
    """Raise ValueError for what a form of `gate` does not take."""
    form, never, left = "", [], list[str]()
    if given["record"]:
        form, left = "--record FILE", [*new]
        never = ["margin", "json", "junit", "lower", "recorded", "base_config", "anew"]
    elif given["recorded"]:
        form, left = "--recorded FILE", [*new]
        never = ["base_config", "attempts"]
    elif new:
        form, left = "a gate that only reads runs", [*others]
        never = ["out", "budget", "seed", "base_config", "anew", "attempts"]
    wrong = [f"--{name.replace('_', '-')}" for name in never if given[name] is not None] + left
    if wrong:
        raise ValueError(f"{form} takes no {wrong[0]}")
    if base.endswith(".parquet") and not given["recorded"]:
        raise ValueError(f"{base} is no run: for a recorded base, gate --recorded {base}")
    if given["margin"] is None and not given["record"]:
        raise ValueError(
            "--margin is missing: the loss in accuracy that is accepted, in percentage points, "
            "such as --margin 2"
        )
    if base in new:
        raise ValueError(f"a gate takes two runs, BASE and NEW, got {base} twice")


def _add_gate_options(parser: Parser) -> None:
    text = f"{RESULTS}, a samples file, or logs of Inspect"
    parser.add_argument("runs", nargs="+", metavar="RUN", help=text)
    text = "the loss in accuracy that is accepted, in percentage points, 0.1 to 20"
    parser.option("margin", "POINTS", text, type=float)
    _add_verdict_files(parser)
    text = "take a verdict of lower, perhaps within the margin, for a pass or a failure (code 5)"
    parser.option("lower", "pass|fail", text, choices=["pass", "fail"])
    text = "ask BASE alone, and write puzzles and answers to a .parquet file"
    parser.option("record", "FILE", text, type=Path)
    text = f"BASE is such a file{_ON_HUB}: ask the new model alone"
    parser.flag("recorded", text, default=None)
    text = "for answers; the same command continues (gate; FILE without its suffix to record)"
    parser.option("out", "DIR", text, type=Path)
    text = "the most puzzles (3000, all of a recorded file, or 2000 to record)"
    parser.option("budget", "COUNT", text, type=int)
    parser.option("seed", "SEED", "seed of the puzzles, or of their order (0)", type=int)
    parser.option(
        "attempts", "COUNT", "how often BASE answers each puzzle (1, or 8 to record)", type=int
    )
    parser.option("base-config", "FILE", "YAML of BASE's model, as --config is of the new one's")
    text = "ask the new model again, as another may have its name now"
    parser.flag("anew", text, default=None)


def _ask_for_gate(base: str, others: list[str], arguments: Namespace) -> "Judged":
    """Ask one model, or two, puzzles until a verdict."""
    from lm_eval_tasks.cogniload.pool import Pool
    from lm_eval_tasks.cogniload.running_gate import run_gate, run_recorded_gate
    from lm_eval_tasks.words import read_model

    margin, budget, seed = arguments.margin, arguments.budget, arguments.seed or 0
    out, anew = arguments.out or Path("gate"), bool(arguments.anew)
    if arguments.recorded:
        pool = Pool.read(base)
        new = _read_watched(others, base, pool)
        return run_recorded_gate(pool, out, margin, new, budget, seed, anew=anew)
    run = Path(base)
    config = [f"--config={arguments.base_config}"] if arguments.base_config else []
    models = {"base": read_model(config, run), "new": read_model(others, run)}
    attempts = 1 if arguments.attempts is None else arguments.attempts
    which = models, 3000 if budget is None else budget, seed
    return run_gate(run, out, margin, *which, attempts=attempts, anew=anew)


def _record(run: Path, others: list[str], arguments: Namespace) -> int:
    """Have a run's model answer puzzles several times, and write the answers to a file."""
    from cogniload_analysis.compare.gate import CAPPED
    from lm_eval_tasks.cogniload.running_gate import record_pool
    from lm_eval_tasks.words import read_model

    file = arguments.record
    if file.exists():
        raise ValueError(f"{file} exists: name another FILE")
    budget = 2000 if arguments.budget is None else arguments.budget
    attempts = 8 if arguments.attempts is None else arguments.attempts
    how = read_model(others, run), budget, arguments.seed or 0, attempts
    out = arguments.out or file.with_suffix("")
    pool = _unless_capped("gate", lambda: record_pool(run, out, *how))
    if pool is None:
        return CAPPED
    pool.write(file)
    puzzles, whole = len(pool.table), pool.whole
    lost = puzzles - len(whole.table)
    left_out = f"; {lost:,} lack an answer, and are left out" * (lost > 0)
    print(
        f"recorded {_counted(puzzles, 'puzzle')} in {file}, {_counted(pool.attempts, 'answer')} "
        f"each, {whole.solved.mean():.1%} solved{left_out}"
    )
    return 0


def watch(parser: Parser, words: Words) -> int:
    """Ask a served model a night's puzzles of a pool; an alarm if it has become worse."""
    from cogniload_analysis.compare.gate import CAPPED

    parser.usage = "cogniload watch POOL [options] [arguments of lm_eval run]"
    parser.epilog = (
        "Each command is a night, as of cron. Exit code: 0 no alarm, 1 worse than POOL's base, 2 "
        "wrong use or broken, 3 undecided, 4 a cap."
    )
    parser.add_argument("pool", metavar="POOL", help=f"a file of `gate --record`{_ON_HUB}")
    parser.option("puzzles", "COUNT", "of a night (300)", type=int, default=300)
    parser.option("seed", "SEED", "seed of the choice of puzzles (0)", type=int, default=0)
    _add_verdict_files(parser)
    text = "for the nights; the same command continues (watch)"
    parser.option("out", "DIR", text, type=Path, default=Path("watch"))
    parser.flag("anew", "begin again, as after an alarm whose cause is mended")
    parser.flag("status", "ask nothing, and say what the nights so far say")
    arguments, others = parser.parse_known_args(words)
    from cogniload_analysis.report.gate_runs import write_verdict
    from lm_eval_tasks.cogniload.pool import Pool
    from lm_eval_tasks.cogniload.watching import Nights, watch_pool

    out, files = arguments.out, (arguments.json, arguments.junit)
    write_verdict(*files)
    pool, nights = Pool.read(arguments.pool), None
    if arguments.status:
        if others or arguments.anew:
            got = others[0] if others else "--anew"
            raise ValueError(f"--status asks nothing, so it goes without {got}")
        nights = Nights.begun(out, pool)
    else:
        model = _read_watched(others, arguments.pool, pool)
        how = arguments.puzzles, arguments.seed
        nights = _unless_capped(
            "watch", lambda: watch_pool(pool, out, model, *how, anew=arguments.anew)
        )
        if nights is None:
            return CAPPED
    found = nights.verdict
    write_verdict(*files, found)
    return _say_verdict(found)


def _read_watched(others: list[str], place: str, pool: "Pool") -> "Evaluation":
    """Return whom to ask beside a recorded base; say so if it is the base itself."""
    from lm_eval_tasks.words import read_model

    model = read_model(others, Path(place), pool.run)
    if model.model_args == pool.run.model_args:
        told = pool.describe()
        print(f"no --model_args: asking {told['model']} at {told['base_url']}", file=sys.stderr)
    return model


def _add_verdict_files(parser: Parser) -> None:
    parser.option("json", "FILE", "write the verdict, and what is behind it", type=Path)
    parser.option("junit", "FILE", "write the verdict as a test of JUnit", type=Path)


def _say_verdict(found: "Verdict") -> int:
    """Print a verdict, which may hold a server's own words; return its exit code."""
    from cogniload_gen.files import show_controls

    print(show_controls("\n".join(found.lines)))
    return found.exit_code


def _unless_capped(name: str, ask: "Callable[[], _Result]") -> "_Result | None":
    """Return what `ask` does; None, and say so, where a cap ended it."""
    from lm_eval_tasks.spending_caps import CapReached

    try:
        return ask()
    except CapReached as reached:
        print(f"cogniload {name}: stopped, as {reached}: a higher cap continues", file=sys.stderr)
        return None


# --- share ----------------------------------------------------------------------------------------


def push(parser: Parser, words: Words) -> None:
    """Publish puzzles as a dataset on the Hugging Face Hub."""
    parser.add_argument("repo", metavar="REPO", help="user/name; what it already holds stays")
    parser.flag("private", "make a new REPO private")
    text = "write the folder that would be uploaded, and upload nothing"
    parser.option("dry-run", "DIR", text, type=Path)
    _add_puzzle_options(parser)
    arguments = parser.parse_args(words)
    from cogniload_gen.hub import push as upload

    if arguments.private and arguments.dry_run:
        raise ValueError("--private is for a REPO that is made, and --dry-run makes none")
    how = {"private": arguments.private, "dry_run": arguments.dry_run}
    used = _used_puzzle_options(arguments)
    print(upload(arguments.repo, _dataset_of(used).name, **how, **used))


def verify(parser: Parser, words: Words) -> int:
    """Make published puzzles again, compare every row, and solve every puzzle."""
    parser.epilog = "Exit code: 0 the same, 1 they differ, 2 unknown."
    text = "a folder of `generate OUT/` or of `push --dry-run`, or user/name"
    parser.add_argument("source", metavar="DIR_OR_REPO", help=text)
    text = "the share of files to make again, such as 0.01; the SHA-256 of all are checked"
    parser.option("sample", "SHARE", text, type=float, default=1.0)
    text = "the one tokenizer that may be loaded, if the rows were measured by it"
    parser.option("tokenizer", "NAME", text)
    arguments = parser.parse_args(words)
    from cogniload_gen.hub import verify as make_again

    how = {"sample": arguments.sample, "tokenizer": arguments.tokenizer}
    verdict = make_again(arguments.source, **how)
    for difference in verdict.differences:
        print(_one_line(difference))
    print(f"{arguments.source} {verdict}")
    return int(bool(verdict.differences))


def share(parser: Parser, words: Words) -> None:
    """Write results as the Hub shows them on a model's page, .eval_results."""
    parser.add_argument("results", nargs="+", type=Path, metavar="RUN", help=RESULTS)
    parser.option("out", "FOLDER", "folder to write", type=Path, required=True)
    parser.option("dataset", "USER/NAME", "the Hub's repository of the puzzles", required=True)
    parser.option("task-id", "ID", "the task in its eval.yaml (the run's own name of it)")
    parser.flag("force", "replace what is there")
    arguments = parser.parse_args(words)
    from cogniload_analysis.report.share import share_results

    given = (arguments.results, arguments.out, arguments.dataset)
    for file in share_results(*given, task_id=arguments.task_id, force=arguments.force):
        print(f"wrote    {file}")


COMMANDS: dict[str, dict[str, Callable[[Parser, Words], int | None]]] = {
    "Puzzles": {"generate": generate, "solve": solve, "retrieve": retrieve},
    "Run": {"tasks": tasks, "plan": plan, "eval": evaluate, "why": why, "demo": demo},
    "Read": {"score": score, "report": report, "compare": compare, "gate": gate, "watch": watch},
    "Share": {"push": push, "verify": verify, "share": share},
}
"""The commands by groups, in the order of the help."""


# --- main -----------------------------------------------------------------------------------------


def main(words: Words | None = None) -> int:
    """Run a command: `words`, by default those of the process. Return its exit code.

    0 if it did its work, 2 after an error in one line, also one that nobody has foreseen, 130 after
    Ctrl-C and 143 after SIGTERM, which leave no half-written file, 141 where nobody reads the
    output any more; others are a command's own. Raises SystemExit as argparse does, with 2 for
    wrong arguments and 0 after a help.
    """
    if words is None:
        words = sys.argv[1:]
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell ignores it
    name = words[0] if words else "--help"
    try:
        try:
            code = _run(name, words[1:])
        finally:  # also after a help, for an error that would come at exit otherwise
            print(end="", flush=True)
    except SystemExit as stop:
        if stop.code == 128 + signal.SIGTERM:
            print(f"cogniload {name}: interrupted", file=sys.stderr)
        raise
    except KeyboardInterrupt:
        print(f"cogniload {name}: interrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # nothing is written at exit then
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:  # codes such as 1 are verdicts
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

        print(f"cogniload {__version__}")
        return 0
    if name not in commands:
        near = get_close_matches(name, [*commands, "--help", "--version"], 1)
        hint = f"did you mean {near[0]}?" if near else "`cogniload` alone prints the commands"
        print(f"cogniload: error: there is no {_one_line(name)}: {hint}", file=sys.stderr)
        return 2
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


def _error_line(command: str, error: Exception) -> str:
    """Return an error's message on one line, without the number that the system gives it."""
    if isinstance(error, ImportError) and (package := str(error.name).partition(".")[0]) in EXTRAS:
        from cogniload_gen.checks import how_to_install

        return f"{command} needs {package}: {how_to_install(EXTRAS[package])}"
    if isinstance(error, OSError) and error.strerror:
        return _one_line(
            f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        )
    if isinstance(error, MemoryError):
        return "the memory is full"
    if isinstance(error, ValueError | OSError | ImportError):
        return _one_line(str(error))
    last = extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return _one_line(f"this is a fault of the program: {type(error).__name__}: {error} ({place})")


def _one_line(text: str) -> str:
    from cogniload_gen.files import one_line

    return one_line(text)


def _counted(count: int, what: str) -> str:
    """Return "1 file" or "2,000 files"."""
    return f"{count:,} {what}{'s' * (count != 1)}"


if __name__ == "__main__":
    sys.exit(main())

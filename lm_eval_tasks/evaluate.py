"""`cogniload eval`: an evaluation by lm-eval, in blocks that a crash leaves whole.

lm-eval writes its results when all is done. Here its `evaluate` is called for a block of documents
at a time, by one process that loads the model once; a block's samples are on the disk before the
next begins (`state.py`), and lm-eval's own aggregation makes one result set of all blocks, in its
layout. Shards are processes that evaluate every Nth block.
"""

import json
import os
import random
import re
import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict, fields
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import lm_eval.evaluator
import numpy as np
from lm_eval._cli.run import Run
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.evaluator_utils import _process_results, get_sample_size
from lm_eval.loggers import EvaluationTracker
from lm_eval.loggers.utils import add_env_info, add_tokenizer_info, get_commit_from_path
from lm_eval.tasks import TaskManager
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import (
    handle_non_serializable,
    make_table,
    sanitize_list,
    set_torch_seed,
)
from tqdm import tqdm

from cogniload_gen import GENERATOR_VERSION
from cogniload_gen.cli import Parser
from cogniload_gen.tasks import TASKS
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.progress import Progress, each_warning_once
from lm_eval_tasks.responses import keep_what_is_said
from lm_eval_tasks.server import check_server, fill_every_slot, server_errors
from lm_eval_tasks.state import Block, State, cut_in_blocks, differences, write_lines

BLOCK_SIZE = 350
"""Documents: 40 blocks of the paper's grid, which 2, 4, 5, 8, 10 and 20 shards share evenly."""

COMPARED = (
    *("model", "model_args", "tasks", "metadata", "gen_kwargs", "apply_chat_template"),
    *("system_instruction", "num_fewshot", "fewshot_as_multiturn", "limit", "samples", "seed"),
)
"""lm-eval's arguments that say what is evaluated: a folder takes one value of each."""

FREE = ("batch_size", "max_batch_size", "device", "include_path")
"""lm-eval's arguments that say where and how fast: they may change when a run is continued."""

FREE_OF_MODEL = (
    *("base_url", "num_concurrent", "max_retries", "timeout", "verify_certificate", "ca_cert_path"),
    *("batch_size", "max_batch_size", "device", "gpu_memory_utilization", "tensor_parallel_size"),
    *("data_parallel_size", "max_num_seqs", "swap_space", "enforce_eager"),
)
"""The same among --model_args."""

SECRET = ("auth_token", "header", "token", "api_key")
"""Among --model_args, what is written nowhere."""

REFUSED = (
    *("use_cache", "cache_requests", "predict_only", "check_integrity", "write_out", "show_config"),
    *("wandb_args", "wandb_config_args", "trackio_args", "hf_hub_log_args"),
)
"""lm-eval's arguments that blocks replace or that have no place in a long run."""

SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
"""lm-eval's names for the four of --seed."""

BOOTSTRAP_ITERS = 100_000
"""lm-eval's own default, for the standard errors that have no formula."""

OURS = ("block_size", "shard", "output_path")
"""What a --config file may hold beside lm-eval's arguments."""


def run(given: Namespace, others: Sequence[str]) -> None:
    """`cogniload eval`, whose arguments are ours in `given`, and lm-eval's in `others`."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as lm-eval's own command does
    with each_warning_once():
        if not given.merge:
            config, ours = read_configuration(given, others)
            evaluate(config, **ours)
            return
        alone = (given.config, given.shard, given.block_size, *others)
        if any(argument is not None for argument in alone):
            raise ValueError("--merge takes its folders and --output_path, and nothing else")
        print_results(merge(given.merge, given.output_path or given.merge[0]))


# --- arguments


def read_configuration(given: Namespace, others: Sequence[str]) -> tuple[EvaluatorConfig, dict]:
    """lm-eval's configuration, checked by lm-eval, and our own arguments.

    The command line goes before the file of --config. ValueError for an unknown or refused name, a
    wrong shard or block size, and whatever lm-eval refuses.
    """
    known = {field.name for field in fields(EvaluatorConfig)} - {"config"}
    said = {name: value for name, value in parse(others).items() if value is not None}
    if given.config:
        try:
            written = EvaluatorConfig.load_yaml_config(given.config)
        except TypeError as error:
            raise ValueError(error) from None
        unknown = sorted(set(written) - known - set(OURS), key=str)
        if unknown:
            raise ValueError(
                f"{given.config} takes lm-eval's arguments and {', '.join(OURS)}; "
                f"got {unknown[0]!r}"
            )
        said = written | said
    ours = {name: said.pop(name, None) for name in OURS}
    ours |= {name: value for name in OURS if (value := getattr(given, name)) is not None}
    refused = [name for name in REFUSED if said.get(name)]
    if refused:
        raise ValueError(f"--{refused[0]} is refused: cogniload eval has no use for it")
    for name, needed in (("output_path", ours["output_path"]), ("tasks", said.get("tasks"))):
        if not needed:
            raise ValueError(f"--{name} is missing: give it, or write it into the --config file")
    config = EvaluatorConfig.from_cli(Namespace(**said))
    return config, {
        "folder": Path(ours["output_path"]),
        "shard": read_shard(ours["shard"] or "1/1"),
        "block_size": read_block_size(ours["block_size"]),
    }


def parse(arguments: Sequence[str]) -> dict:
    """The arguments of `lm_eval run`, by lm-eval's own parser."""
    commands = Parser(prog="cogniload eval").add_subparsers(parser_class=Parser)
    Run(commands)
    parser = commands.choices["run"]
    parser.prog = "cogniload eval"
    parsed = vars(parser.parse_args(list(arguments)))
    return {name: value for name, value in parsed.items() if name not in {"func", "config"}}


def read_shard(text: str) -> tuple[int, int]:
    """(3, 8) of "3/8"; ValueError unless it is I/N with 1 <= I <= N."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", str(text))
    shard, shards = map(int, found.groups()) if found else (0, 0)
    if not 1 <= shard <= shards:
        raise ValueError(f"shard must be I/N with 1 <= I <= N, got {text!r}")
    return shard, shards


def read_block_size(size: object) -> int | None:
    """A number of documents, or None where none is asked for; ValueError for anything else."""
    if size is not None and (type(size) is not int or size < 1):
        raise ValueError(f"block_size must be an integer of at least 1, got {size!r}")
    return size


def arguments_of(config: EvaluatorConfig) -> tuple[dict, dict]:
    """The arguments that a folder takes one value of, and those that may change."""
    compared = {name: getattr(config, name) for name in COMPARED}
    free = {name: getattr(config, name) for name in FREE}
    model_args = {name: arg for name, arg in config.model_args.items() if name not in SECRET}
    compared["model_args"] = {n: arg for n, arg in model_args.items() if n not in FREE_OF_MODEL}
    free["model_args"] = {n: arg for n, arg in model_args.items() if n in FREE_OF_MODEL}
    compared["metadata"] = {  # lm-eval has mixed the model's arguments into it
        name: value
        for name, value in config.metadata.items()
        if config.model_args.get(name) != value
    }
    return compared, free


# --- tasks


def load_tasks(arguments: dict, include_path: str | None) -> TaskDict:
    """The tasks, with their overrides applied as lm-eval's `simple_evaluate` applies them.

    Our own need no --include_path, and are found without reading lm-eval's thousands.
    """
    tasks, metadata = arguments["tasks"], arguments["model_args"] | arguments["metadata"]
    names = tasks.split(",") if isinstance(tasks, str) else tasks
    manager = TaskManager(include_path=str(TASKS), include_defaults=False, metadata=metadata)
    if include_path or not all(manager.match_tasks([name]) for name in names):
        paths = [str(TASKS), *filter(None, [include_path])]
        every = EvaluatorConfig(tasks=names, include_path=paths)
        manager = every.process_tasks(metadata)
        names = every.tasks
    loaded = manager.load(names)
    for task in loaded["tasks"].values():
        if arguments["gen_kwargs"] and task.get_config("output_type") == "generate_until":
            task.set_config("generation_kwargs", dict(arguments["gen_kwargs"]), update=True)
        asked, its_own = arguments["num_fewshot"], task.get_config("num_fewshot")
        if its_own is None or (asked is not None and its_own != 0):
            task.set_config("num_fewshot", asked or 0)
    return loaded


def documents_of(tasks: dict[str, Task], arguments: dict) -> dict[str, Sequence[int]]:
    """The indices of each task's documents that are evaluated, in order."""
    documents = {}
    for name, task in tasks.items():
        everything = range(len(task.eval_docs))
        chosen = (arguments["samples"] or {}).get(name)
        if chosen is None:
            documents[name] = everything[: get_sample_size(task, arguments["limit"])]
        elif set(chosen) <= set(everything):
            documents[name] = sorted(set(chosen))
        else:
            raise ValueError(f"samples of {name} must be from 0 to {len(everything) - 1}")
    return documents


def make_ready_for_blocks(task: Task) -> None:
    """Has a task read the documents of a block alone, and leave the metrics to the merge."""
    documents = task.eval_docs
    task.doc_iterator = lambda *, samples, **_: enumerate(documents[i] for i in samples)
    task.aggregation = lambda: defaultdict(lambda: len)


# --- what is begun


def describe(arguments: dict, tasks: dict[str, Task], block_size: int) -> dict:
    """What decides the samples, but for the model itself."""
    return {
        "versions": {"generator": GENERATOR_VERSION, "lm_eval": version("lm_eval")},
        "arguments": plain(arguments),
        "block_size": block_size,
        "tasks": {name: describe_task(task) for name, task in tasks.items()},
    }


def describe_task(task: Task) -> dict:
    """A task's version, and its documents: how many, and by their ids, if they have some, which."""
    documents, told = task.eval_docs, {"version": str(task.VERSION)}
    if "id" in getattr(documents, "column_names", ()):
        told["ids"] = sha256("\n".join(map(str, documents["id"])).encode()).hexdigest()
    return told | {"documents": len(documents)}


def describe_model(model: LM, chat_template: bool | str, served: dict) -> dict:
    """What can be told of a model and its tokenizer; nothing is left out but what is empty."""
    told = model.get_model_info() if hasattr(model, "get_model_info") else {}
    told |= served
    # `tok_encode` comes first: without one, DummyLM's `tokenizer` asks the Hub for another model's
    tokenizer = getattr(model, "tokenizer", None) if hasattr(model, "tok_encode") else None
    if hasattr(tokenizer, "get_vocab"):
        vocabulary = json.dumps(sorted(tokenizer.get_vocab().items()))
        told["tokenizer"] = f"{len(tokenizer)} tokens, {sha256(vocabulary.encode()).hexdigest()}"
    if chat_template:
        told["chat_template"] = model.chat_template(chat_template)
    return plain({name: fact for name, fact in told.items() if fact not in ("", None)})


def plain(values: dict) -> dict:
    """The values as JSON brings them back."""
    return json.loads(json.dumps(values, default=handle_non_serializable))


def refuse_another(folder: Path, begun: dict, now: dict) -> None:
    """ValueError, with both values, if a folder was begun with anything else.

    Of the model, facts that only one of the two knows (the Hub was not reached) say nothing.
    """
    known = begun["model"].keys() & now.get("model", {}).keys()
    begun, now = (
        {name: run[name] for name in ("versions", "arguments", "block_size", "tasks")}
        | {"model": {name: run["model"][name] for name in sorted(known)} if known else {}}
        for run in (begun, now)
    )
    found = differences(begun, now)
    if found:
        raise ValueError(
            f"{folder} was begun with {'; '.join(found[:3])}: "
            "give what it was begun with, or another --output_path"
        )


# --- the evaluation


def evaluate(
    config: EvaluatorConfig, *, folder: Path, shard: tuple[int, int], block_size: int | None
) -> None:
    """Evaluates the blocks of a shard that are not done; the whole, when done, is merged."""
    arguments, free = arguments_of(config)
    state = State(folder / "state")
    begun = state.read_run()
    size = block_size or (begun or {}).get("block_size", BLOCK_SIZE)
    loaded = load_tasks(arguments, config.include_path)
    now = describe(arguments, loaded["tasks"], size)
    if begun:
        refuse_another(folder, begun, now)
    blocks = cut_in_blocks(documents_of(loaded["tasks"], arguments), size)
    index, shards = shard
    mine = blocks[index - 1 :: shards]
    with state.hold(mine) as lock:
        state.clean(mine)
        pending = [block for block in mine if not state.file(block).exists()]
        if pending:
            model = load_model(config)
            served = check_server(model, largest_budget(loaded["tasks"]))
            now["model"] = describe_model(model, config.apply_chat_template, served)
            with lock.setup():
                begun = state.read_run()
                if begun:
                    refuse_another(folder, begun, now)
                else:
                    state.write_run(now | {"recorded": recorded(model, free)})
            evaluate_blocks(model, config, loaded["tasks"], state, mine, pending)
    if shards == 1:
        done = [*folder.glob("*/results_*.json")]
        if done and not pending:
            print(f"complete: {max(done)}")
        else:
            print_results(merge([folder], folder))
    else:
        left = [block for block in blocks if not state.file(block).exists()]
        print(f"shard {index}/{shards} is done; of all {len(blocks)} blocks, {len(left)} are left")


def load_model(config: EvaluatorConfig) -> LM:
    """The model, in lm-eval's backend; ValueError if it can't be loaded."""
    sizes = {name: getattr(config, name) for name in ("batch_size", "max_batch_size", "device")}
    try:
        model = get_model(config.model).create_from_arg_obj(config.model_args, sizes)
    except Exception as error:  # every backend fails in its own way
        raise ValueError(f"{config.model}: {error or type(error).__name__}") from error
    if model.world_size > 1:
        raise ValueError(f"--shard takes the place of {model.world_size} processes in one run")
    keep_what_is_said(model)
    fill_every_slot(model)
    return model


def largest_budget(tasks: dict[str, Task]) -> int:
    """The largest context_budget, in tokens, of the tasks' documents; 0 if they have none."""
    columns = (task.eval_docs for task in tasks.values() if isinstance(task, SharedBudgetTask))
    return max((max(documents["context_budget"]) for documents in columns), default=0)


def recorded(model: LM, free: dict) -> dict:
    """What else lm-eval's results tell of a run."""
    told = {"date": time.time(), "arguments": free, "git_hash": get_commit_from_path(Path.cwd())}
    add_env_info(told)
    if hasattr(model, "tok_encode"):
        add_tokenizer_info(told, model)
    return plain(told)


def evaluate_blocks(
    model: LM,
    config: EvaluatorConfig,
    tasks: dict[str, Task],
    state: State,
    mine: Sequence[Block],
    pending: Sequence[Block],
) -> None:
    """Evaluates blocks, one after the other; each is on the disk before the next begins."""
    for task in tasks.values():
        make_ready_for_blocks(task)
    check_prompts(model, config, tasks, pending)
    with Progress(sum(len(block.documents) for block in mine)) as progress:
        for block in mine:
            if block not in pending:
                progress.add_done(sample for _, sample in state.read_block(block))
        model.set_cache_hook(progress)
        for block in pending:
            with server_errors(getattr(model, "base_url", None)):
                samples = evaluate_block(model, config, tasks[block.task], block)
            state.write_block(block, map(sample_line, samples))
            progress.add_block(samples)


def check_prompts(
    model: LM, config: EvaluatorConfig, tasks: dict[str, Task], blocks: Sequence[Block]
) -> None:
    """Has each budget refuse what it can't hold, before the first block is evaluated."""
    shared = [block for block in blocks if isinstance(tasks[block.task], SharedBudgetTask)]
    for block in tqdm(shared, desc="checking prompts", unit="block", disable=None, leave=False):
        evaluate_block(Silent(model), config, tasks[block.task], block)


class Silent:
    """A model that lm-eval prepares every request for, and that answers none."""

    def __init__(self, model: LM) -> None:
        self.model = model

    def __getattr__(self, name: str) -> object:
        return getattr(self.model, name)

    def generate_until(self, requests: list) -> list[str]:
        """No words."""
        return [""] * len(requests)


def evaluate_block(model: LM, config: EvaluatorConfig, task: Task, block: Block) -> list[dict]:
    """The samples of a block, from lm-eval.

    The seeds are of the block, so that it is evaluated alike whatever was evaluated before it.
    """
    generators = (random.seed, np.random.seed, set_torch_seed, task.set_fewshot_seed)
    for seed, sow in zip(config.seed or (), generators, strict=False):
        if seed is not None:
            sow(seed + block.number - 1)
    with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):  # its progress bars
        results = lm_eval.evaluator.evaluate(
            lm=model,
            task_dict={"tasks": {block.task: task}},
            samples={block.task: list(block.documents)},
            bootstrap_iters=0,
            system_instruction=config.system_instruction,
            apply_chat_template=config.apply_chat_template,
            fewshot_as_multiturn=bool(config.fewshot_as_multiturn),
            confirm_run_unsafe_code=config.confirm_run_unsafe_code,
        )
    return results["samples"][block.task]


def sample_line(sample: dict) -> bytes:
    """A line of lm-eval's samples_*.jsonl, as its EvaluationTracker writes it."""
    written = sample | {
        "target": str(sample["target"]),
        "arguments": {
            f"gen_args_{i}": {f"arg_{j}": part for j, part in enumerate(request)}
            for i, request in enumerate(sample["arguments"])
        },
        "resps": sanitize_list(sample["resps"]),
        "filtered_resps": sanitize_list(sample["filtered_resps"]),
    }
    line = json.dumps(written, default=handle_non_serializable, ensure_ascii=False) + "\n"
    # half of an emoji, where a limit cut a response, can't be UTF-8: it becomes its JSON escape
    return line.encode("utf-8", "backslashreplace")


# --- the result set


def merge(folders: Sequence[Path], out: Path) -> Path:
    """Writes one result set of lm-eval's below `out`, of the blocks in the folders.

    Returns the results file. ValueError if the folders are not of one run, or were begun with
    another version than is installed, or a block is missing.
    """
    states = [State(Path(folder) / "state") for folder in folders]
    runs = [state.read_run() for state in states]
    for folder, begun in zip(folders, runs, strict=True):
        if begun is None:
            raise ValueError(f"{folder} must hold an evaluation by cogniload eval: none is begun")
        refuse_another(folder, begun, runs[0])
    arguments, told = runs[0]["arguments"], runs[0]["recorded"]
    whole = arguments | {"model_args": arguments["model_args"] | told["arguments"]["model_args"]}
    loaded = load_tasks(whole, told["arguments"]["include_path"])
    size = runs[0]["block_size"]
    refuse_another(folders[0], runs[0], describe(arguments, loaded["tasks"], size))
    blocks = cut_in_blocks(documents_of(loaded["tasks"], arguments), size)
    where = {
        block.number: next((state for state in states if state.file(block).exists()), None)
        for block in blocks
    }
    refuse_missing(folders, blocks, where)
    return write_results(out, runs[0], loaded, blocks, where)


def refuse_missing(folders: Sequence[Path], blocks: Sequence[Block], where: dict) -> None:
    """ValueError that names the blocks that are in no folder."""
    missing = [block.number for block in blocks if where[block.number] is None]
    if missing:
        names = ", ".join(map(str, missing[:20])) + (", ..." if len(missing) > 20 else "")
        raise ValueError(
            f"{', '.join(map(str, folders))}: {len(missing)} of {len(blocks)} blocks are missing: "
            f"{names} (shard I/N evaluates blocks I, I + N, I + 2N, ...)"
        )


def write_results(
    out: Path, run: dict, loaded: TaskDict, blocks: Sequence[Block], where: dict[int, State]
) -> Path:
    """Writes samples_*.jsonl of each task, then results_*.json, as lm-eval names and fills them."""
    arguments, told = run["arguments"], run["recorded"]
    tracker = EvaluationTracker().general_config_tracker
    model_args = arguments["model_args"] | told["arguments"].pop("model_args")
    tracker.log_experiment_args(
        model_source=arguments["model"],
        model_args=model_args,
        system_instruction=arguments["system_instruction"],
        chat_template=run["model"].pop("chat_template", None),
        fewshot_as_multiturn=bool(arguments["fewshot_as_multiturn"]),
    )
    if not tracker._get_model_name(model_args):  # lm-eval would draw a name
        tracker.model_name = tracker.model_name_sanitized = arguments["model"]
    folder = out / tracker.model_name_sanitized
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob(".samples_*.part"):  # of a merge that was killed
        leftover.unlink(missing_ok=True)
    date = datetime.now().isoformat().replace(":", "-")
    accumulated, hashes = {}, {}
    for name, task in loaded["tasks"].items():
        metrics, digest = defaultdict(list), sha256()
        done = ((block, where[block.number]) for block in blocks if block.task == name)
        lines = gather_samples(done, metrics, digest)
        write_lines(folder / f"samples_{name}_{date}.jsonl", lines)
        accumulated[name] = {"task": task, "raw_metrics": metrics, "logged_samples": []}
        hashes[name] = digest.hexdigest()
    aggregated = _process_results(accumulated, loaded["groups"], BOOTSTRAP_ITERS)
    results = aggregated._to_eval_results()
    results["config"] = {
        "model": arguments["model"],
        "model_args": model_args,
        **run["model"],
        **told.pop("arguments"),
        "batch_sizes": [],
        "use_cache": None,
        "limit": arguments["limit"],
        "bootstrap_iters": BOOTSTRAP_ITERS,
        "gen_kwargs": arguments["gen_kwargs"],
        **dict(zip(SEEDS, arguments["seed"] or 4 * [None], strict=True)),
        "block_size": run["block_size"],
    }
    results |= told | {"task_hashes": hashes} | asdict(tracker)
    written = json.dumps(results, indent=2, default=handle_non_serializable, ensure_ascii=False)
    path = folder / f"results_{date}.json"
    write_lines(path, [written.encode("utf-8", "backslashreplace")])
    return path


def gather_samples(
    done: Iterable[tuple[Block, State]], metrics: dict[tuple[str, str], list], digest: object
) -> Iterator[bytes]:
    """The lines of blocks; on the way, their metrics and lm-eval's hash of their documents."""
    for block, state in done:
        for line, sample in state.read_block(block):
            for name in sample["metrics"]:
                metrics[name, sample["filter"]].append(with_tuples(sample[name]))
            for part in ("doc_hash", "prompt_hash", "target_hash"):
                digest.update(sample[part].encode())
            yield line


def with_tuples(value: object) -> object:
    """A metric's value as it was before JSON: lm-eval's are numbers, strings and tuples of them."""
    return tuple(map(with_tuples, value)) if isinstance(value, list) else value


def print_results(path: Path) -> None:
    """Prints lm-eval's table of a results file, and where the file is."""
    results = json.loads(path.read_bytes())
    print(make_table(results))
    if "groups" in results:
        print(make_table(results, "groups"))
    print(f"results  {path}")

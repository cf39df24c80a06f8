"""What a run is, told from lm-eval's results file: the settings that decide its scores; and names.

Runs of a model that differ in any setting, or in their puzzles, are different rows of the analysis,
named by what differs. Runs that differ in nothing are attempts at the same puzzles.
"""

import filecmp
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cogniload_analysis.display.print import join_levels
from cogniload_analysis.load import Load
from cogniload_analysis.samples.columns import members
from cogniload_gen.credentials import hide_by_rule, names_credential
from cogniload_gen.files.inputs import show_controls

DECODING = ("temperature", "top_p", "top_k", "min_p", "do_sample")
"""The settings of decoding that name a run first; of all that differ, only as many as needed do."""

LIMITS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""The names under which lm-eval's backends take an output limit."""

# Arguments of a model that say where and how fast it runs, not what it says. Its window is none
# either: our tasks refuse one that is smaller than the budget.
NO_SETTINGS = frozenset(
    """
    auto_parallel base_url batch_size ca_cert_path cache_dir cpu_offload_gb data_parallel_size
    device device_map disable_custom_all_reduce disable_log_stats distributed_executor_backend
    download_dir dp_size enable_prefix_caching enforce_eager gpu_memory_utilization host
    logits_cache low_cpu_mem_usage max_batch_size max_cpu_memory max_gen_toks max_length
    max_memory_per_gpu max_model_len max_num_batched_tokens max_num_seqs max_retries
    mem_fraction_static num_concurrent offload_folder parallelize pipeline_parallel_size port
    seed swap_space tensor_parallel_size timeout tokenized_requests tokenizer_backend tp_size
    truncation trust_remote_code use_fast_tokenizer verify_certificate
    """.split()  # noqa: SIM905  (a list of fifty would fill a page)
)
QUANTISATION = (
    "quantization",
    "load_in_4bit",
    "load_in_8bit",
    "gguf_file",
    "autogptq",
    "gptqmodel",
    "kv_cache_dtype",
)
ELSEWHERE = re.compile(r"dummy|.*completions|.*-chat|gguf|ggml|textsynth|watsonx_llm")
"""Backends that ask a server, or nobody: of them lm-eval records the default of --device too."""

GRAPHICS = re.compile(r"^GPU 0: ([^\n(]{1,80})", re.MULTILINE)
LONGEST_PHRASE = 60

Settings = dict[str, str]
"""Settings by name, each as the phrase that names a run by it, such as "temperature 0"."""


@dataclass(frozen=True, eq=False)
class Run:
    """One samples file, and what the results file beside it says of how it was made.

    Attributes:
        file: What says of it, once it is done its samples.
        parts: The files of its samples.
        base: What its row's name begins with: the user's label, or the model's name.
        columns: What the frame says of it, by column.
        settings: What decides its scores, whatever the task.
        own: What decides them and belongs to the task: its version, its output limit.
    """

    file: Path
    base: str
    columns: dict[str, str]
    settings: Settings
    own: Settings
    parts: tuple[Path, ...]

    @property
    def model(self) -> str:
        """The model's name."""
        return self.columns["model"]

    @property
    def task(self) -> str:
        """The task's name."""
        return self.columns["task"]

    @property
    def date(self) -> str:
        """When its results were written."""
        return self.columns["date"]


# --- Settings --------------------------------------------------------------------------------


def read_settings(results: Mapping[str, Any], generation: Mapping[str, Any]) -> Settings:
    """Return what decides the scores of a run, from what lm-eval's results say.

    `generation` is the task's generation_kwargs. What is not said is left out.
    """
    config = members(results, "config")
    model = results.get("model_name")
    backend = str(config.get("model") or results.get("model_source") or "")
    settings = {"backend": f"on {_show(backend)}" if backend else ""}
    given = read_arguments(config.get("model_args"))
    if config.get("model_dtype"):
        given["dtype"] = str(config["model_dtype"]).removeprefix("torch.")
    named = {name: value for name, value in _flatten(given) if value != model}
    settings |= {
        name: _phrase(name, value) for name, value in named.items() if name not in NO_SETTINGS
    }
    for name in ("model_sha", "peft_sha", "delta_sha"):
        if config.get(name):
            settings[name] = f"{name.removesuffix('_sha')} {_show(config[name])[:8]}"
    if results:
        settings["chat template"] = _say_text(results, "chat_template", "chat template")
        settings["system prompt"] = _say_text(results, "system_instruction", "system prompt")
    settings |= {
        name: _phrase(name, value)
        for name, value in _flatten(generation)
        if name not in LIMITS and not (name == "until" and not value)
    }
    return {name: phrase for name, phrase in settings.items() if phrase}


def read_arguments(given: Any) -> dict[str, Any]:
    """Return the arguments of a model, which lm-eval records as an object or as NAME=VALUE,..."""
    if isinstance(given, dict):
        return dict(given)
    pairs = (part.partition("=") for part in hide_by_rule(str(given or "")).split(","))
    return {name.strip(): value for name, found, value in pairs if found}


def describe_machine(results: Mapping[str, Any]) -> dict[str, str]:
    """Return what lm-eval's results say of how a model was run, "" for what they don't.

    Its backend with the version, its dtype and quantisation, the device, and the chat template: the
    first digits of its hash, or "none".
    """
    config = members(results, "config")
    backend = _show(config.get("model") or results.get("model_source") or "")
    version = results.get("vllm_version") or (
        results.get("transformers_version") if backend.startswith("hf") else None
    )
    engine = "vLLM" if results.get("vllm_version") else "transformers"
    given = read_arguments(config.get("model_args"))
    dtype = str(config.get("model_dtype") or given.get("dtype") or "").removeprefix("torch.")
    how = [dtype, *(_phrase(name, given[name]) for name in QUANTISATION if given.get(name))]
    device = "" if ELSEWHERE.fullmatch(backend) else str(config.get("device") or "")
    graphics = GRAPHICS.search(str(results.get("pretty_env_info") or ""))
    if graphics and (device.startswith("cuda") or backend in ("hf", "vllm", "sglang")):
        device = "cpu" if device == "cpu" else graphics[1]
    template = _say_text(results, "chat_template", "") if results else ""
    return {
        "backend": f"{backend}, {engine} {_show(version)}" if version else backend,
        "precision": ", ".join(map(_show, filter(None, how))),
        "device": _show(device),
        "chat_template": "none" if template.startswith("no ") else template,
    }


def read_limit(generation: Mapping[str, Any]) -> str:
    """Return the output limit that a task's generation_kwargs set, in tokens; "" for none."""
    return next((_show(generation[name]) for name in LIMITS if generation.get(name)), "")


def _flatten(given: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield settings by name, those inside others too, as chat_template_args holds them.

    Credentials, and what is inside of them, are no settings: runs that differ in them are alike.
    """
    for name, value in given.items():
        if names_credential(str(name)):
            continue
        if isinstance(value, dict):
            yield from _flatten(value)
        elif value is not None:
            yield str(name), value


def _phrase(name: str, value: Any) -> str:
    if name == "enable_thinking" and str(value).lower() in ("true", "false"):
        return "thinking on" if str(value).lower() == "true" else "thinking off"
    if isinstance(value, float):
        value = f"{value:g}"
    elif isinstance(value, list | dict):
        value = json.dumps(value)
    return f"{_show(name)} {_show(value)}"


def _show(value: Any) -> str:
    text = " ".join(show_controls(hide_by_rule(str(value))).split())
    return textwrap.shorten(text, LONGEST_PHRASE, placeholder="…") or text[:LONGEST_PHRASE]


def _say_text(results: Mapping[str, Any], name: str, phrase: str) -> str:
    """Say which text of a kind a run used: by its hash, as lm-eval records it."""
    if not results.get(name):
        return f"no {phrase}"
    return f"{phrase} {_show(results.get(f'{name}_sha') or '')[:8]}".strip()


# --- Names -----------------------------------------------------------------------------------


def drop_copies(runs: Iterable[Run]) -> dict[Run, int]:
    """Return the runs but for files that are copies of another, and how many of each those are.

    A copy has the name, with its date, and the content of the other, and the same is said of it. Of
    a run that is still going, it may be an earlier one, with fewer blocks.
    """
    kept: dict[Run, int] = {}
    for run in sorted(runs, key=lambda each: -len(each.parts)):
        same = (other for other in kept if _is_copy(run, other))
        original = next(same, run)
        kept[original] = kept.get(original, -1) + 1
    return kept


def _is_copy(run: Run, other: Run) -> bool:
    about, of_other = (
        (each.base, each.task, each.file.name, each.settings, each.own) for each in (run, other)
    )
    mine, theirs = ({part.name: part for part in each.parts} for each in (run, other))
    pairs = [(run.file, other.file), *((mine[name], theirs.get(name)) for name in mine)]
    return about == of_other and all(
        held is not None and filecmp.cmp(part, held, shallow=False) for part, held in pairs
    )


def name_settings(runs: Sequence[Run]) -> list[str]:
    """Return what of its settings sets each run apart from the others of its base; "" if nothing.

    Settings are compared over all tasks of the base, and those that belong to a task within it.
    """
    named = []
    for run in runs:
        of_base = [other for other in runs if other.base == run.base]
        alike = [other for other in of_base if other.model == run.model]
        of_task = [other for other in alike if other.task == run.task]
        phrases = [run.model] if len(alike) < len(of_base) else []
        shared = _differing([other.settings for other in alike])
        own = _differing([other.own for other in of_task])
        phrases += [run.settings.get(name, _unset(name)) for name in shared]
        named.append(", ".join(phrases + [run.own.get(name, _unset(name)) for name in own]))
    return named


def name_views(
    bases: Sequence[str], frames: Sequence[pd.DataFrame], views: Sequence[str]
) -> list[str]:
    """Return how each frame's puzzles were shown, where others of its base were shown otherwise."""
    shown = [{view: join_levels(frame[view]) for view in views} for frame in frames]
    named = []
    for base, mine in zip(bases, shown, strict=True):
        of_base = [each for each, its in zip(shown, bases, strict=True) if its == base]
        parts = []
        for view in _differing(of_base):
            others = [each[view] for each in of_base if each[view]]
            parts.append(_shorten(mine[view], others) if mine[view] else f"no {view}")
        named.append(", ".join(parts))
    return named


def _shorten(view: str, others: Sequence[str]) -> str:
    """Return the first two phrases of a view, and those of the further ones that not all share.

    The first two say what and how much: "bm25, 2000 tokens by sentence".
    """
    phrases = view.split(", ")
    shared = set(phrases[2:]).intersection(*(other.split(", ") for other in others))
    return ", ".join(phrase for phrase in phrases if phrase not in shared)


def name_puzzles(
    rows: Sequence[tuple[str, ...]], frames: Sequence[pd.DataFrame], loads: Sequence[Load]
) -> list[str]:
    """Return what of its puzzles sets each frame apart from the others of its row; "" if nothing.

    `rows` has the row that each of the `frames` would be in without it.
    """
    names = [""] * len(rows)
    for row in set(rows):
        places = [place for place, each in enumerate(rows) if each == row]
        sets = [hash_puzzles(frames[place], loads) for place in places]
        if len(set(sets)) > 1:
            about = [_describe_puzzles(frames[place], loads) for place in places]
            for place, name in zip(places, _name_sets(sets, about), strict=True):
                names[place] = name
    return names


def _name_sets(sets: Sequence[int], about: Sequence[Settings]) -> list[str]:
    """Return a name for each set of puzzles; sets that would share one are numbered."""
    told = _needed(about, about[0])
    names = [", ".join(each[name] for name in told) or "puzzles" for each in about]
    numbered = []
    for name, each in zip(names, sets, strict=True):
        alike = sorted({other for other, its in zip(sets, names, strict=True) if its == name})
        numbered.append(name + (f" {alike.index(each) + 1}" if len(alike) > 1 else ""))
    return numbered


def hash_puzzles(frame: pd.DataFrame, loads: Sequence[Load]) -> int:
    """Return a number that tells sets of puzzles apart, whatever their order and their attempts."""
    columns = ["id", "seed", "context_budget", *(load.name for load in loads)]
    puzzles = frame[columns].drop_duplicates()
    return int(pd.util.hash_pandas_object(puzzles, index=False).sum())


def _describe_puzzles(frame: pd.DataFrame, loads: Sequence[Load]) -> Settings:
    told = {
        load.name: f"{load.heading} {join_levels(load.scale(frame[load.name]))}" for load in loads
    }
    told["seed"] = f"seed {join_levels(frame['seed'])}"
    told["budget"] = f"budget {join_levels(frame['context_budget'])}"
    count = frame["id"].nunique()
    return told | {"puzzles": f"{count:,} puzzle" + "s" * (count != 1)}


def _differing(about: Sequence[Settings]) -> list[str]:
    """Return the names of the settings that differ: of decoding, as many as tell all apart."""
    names = sorted({name for each in about for name in each})
    differing = [name for name in names if len({each.get(name) for each in about}) > 1]
    decoding = [name for name in DECODING if name in differing]
    return [name for name in differing if name not in decoding] + _needed(about, decoding)


def _needed(about: Sequence[Settings], names: Iterable[str]) -> list[str]:
    """Return those of some names, the first ones first, that tell more apart than those before."""
    kept: list[str] = []
    for name in names:
        if _count_groups(about, [*kept, name]) > _count_groups(about, kept):
            kept.append(name)
    return kept


def _count_groups(about: Sequence[Settings], names: Sequence[str]) -> int:
    return len({tuple(each.get(name) for name in names) for each in about})


def _unset(name: str) -> str:
    return f"{name} unset"


# --- In words --------------------------------------------------------------------------------


def say_runs(table: pd.DataFrame) -> list[str]:
    """Say which rows of `run_table` count together, and what was left out."""
    said = []
    for (model, task), runs in table.groupby(["model", "task"], sort=False, observed=True):
        copies, lost = (int(runs[column].astype(int).sum()) for column in ("copies", "lost"))
        if len(runs) > 1:
            said.append(
                f"{model} answered the puzzles of {task} in {len(runs)} runs with the same "
                "settings: they count as repeated attempts at each puzzle."
            )
        if isinstance(runs["interim"].iloc[0], str) and runs["interim"].iloc[0]:
            said.append(
                f"{model} is still going ({task}): its numbers are those of the blocks that are "
                "finished, and may change."
            )
        if lost:
            said.append(
                f"{lost:,} sample{'s' * (lost != 1)} of {model} ({task}) ended with an error and "
                f"{'has' if lost == 1 else 'have'} no score: left out."
            )
        if copies:
            said.append(
                f"{copies} of the files given {'is a copy' if copies == 1 else 'are copies'} of "
                f"another one by {model} ({task}), and counted once."
            )
    return said

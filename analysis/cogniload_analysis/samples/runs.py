"""A run, described from lm-eval's results file: the settings that decide its scores; and names.

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

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.columns import members
from cogniload_analysis.display.print import join_levels
from cogniload_analysis.load import Load
from cogniload_analysis.samples.files import LIMITS
from cogniload_analysis.sentences import Sentences
from cogniload_gen.files import show_controls, without_keys
from cogniload_gen.grid import language_of
from cogniload_gen.words import read_words

say = Sentences("runs")

SETTINGS = read_words("cogniload_analysis", "settings")
DECODING, QUANTISATION, LAST = (SETTINGS[of] for of in ("decoding", "quantisation", "last"))
"""Which settings name a run (data/settings.toml)."""

ELSEWHERE = re.compile(r"dummy|.*completions|.*-chat|gguf|ggml|textsynth|watsonx_llm")
"""Backends that ask a server, or nobody: of them lm-eval records the default of --device too."""

GRAPHICS = re.compile(r"^GPU 0: ([^\n(]{1,80})", re.MULTILINE)
LONGEST_PHRASE = 60
DECODING_LENGTH = 120

Settings = dict[str, str]
"""Settings by name, each as the phrase that names a run by it, such as "temperature 0"."""


@dataclass(frozen=True, eq=False)
class Run:
    """One samples file, and what the results file beside it holds of how it was made.

    Attributes:
        file: The file that describes it, its samples once it is done.
        base: The start of its row's name: the user's label, or the model's name.
        columns: What the frame has of it, by column; "" where it is unknown.
        settings: The settings that decide its scores, whatever the task.
        own: The settings that decide them and belong to the task: its version, its output limit.
    """

    file: Path
    base: str
    columns: dict[str, str]
    settings: Settings
    own: Settings

    @property
    def model(self) -> str:
        """The name of its model."""
        return self.columns["model"]

    @property
    def task(self) -> str:
        """The name of its task."""
        return self.columns["task"]

    @property
    def date(self) -> str:
        """The date of its files."""
        return self.columns["date"]


def describe_run(
    file: Path,
    label: str,
    task: str,
    date: str,
    results: dict[str, Any],
) -> Run:
    """Return the run behind a file, from its results in the form of lm-eval's.

    A `label` names its row.
    """
    config = members(members(results, "configs"), task)
    generation = members(config, "generation_kwargs")
    version = show_controls(str(members(config, "metadata").get("version", "")))
    model = show_controls(str(results.get("model_name") or file.parent.name))
    until = members(members(results, "config"), "until")
    limit = next((_show(generation[name]) for name in LIMITS if generation.get(name)), "")
    settings = read_settings(results, generation)
    if not results:
        settings["folder"] = f"in {show_controls(str(file.parent))}"
    own = {"output limit": f"output limit {limit}" if limit else "no output limit"}
    columns = {
        "model": model,
        "task": show_controls(task),
        "date": date,
        "generator_version": version,
        "lm_eval_version": show_controls(str(results.get("lm_eval_version", ""))),
        "decoding": _describe_decoding(generation),
        "until": json.dumps(until, sort_keys=True) if until else "",
        **describe_machine(results),
        "output_limit": limit,
        "interim": show_controls(str(members(results, "config").get("interim", ""))),
    }
    own |= {"version": f"version {version}"} if version else {}
    return Run(file, show_controls(label) or model, columns, settings, own)


def _describe_decoding(settings: Mapping[str, Any]) -> str:
    """Return how a task's responses were decoded, without stop strings and lengths."""
    phrases = [
        f"{name} {_show(value)}"
        for name, value in _flatten(settings)
        if name not in {"until", "max_gen_toks"}
    ]
    return show_controls(textwrap.shorten(", ".join(phrases), DECODING_LENGTH, placeholder=" …"))


# --- Settings --------------------------------------------------------------------------------


def read_settings(results: Mapping[str, Any], generation: Mapping[str, Any]) -> Settings:
    """Return what decides the scores of a run, from what lm-eval's results say.

    `generation` is the task's generation_kwargs. Unknown settings are left out.
    """
    config = members(results, "config")
    model = results.get("model_name")
    backend = str(config.get("model") or results.get("model_source") or "")
    settings = {"backend": f"on {_show(backend)}" if backend else ""}
    arguments = read_arguments(config.get("model_args"))
    if config.get("model_dtype"):
        arguments["dtype"] = str(config["model_dtype"]).removeprefix("torch.")
    named = {name: value for name, value in _flatten(arguments) if value != model}
    settings |= {
        name: _phrase(name, value)
        for name, value in named.items()
        if name not in SETTINGS["how_fast"]
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


def read_arguments(recorded: Any) -> dict[str, Any]:
    """Return the arguments of a model, which lm-eval records as an object or as NAME=VALUE,..."""
    if isinstance(recorded, dict):
        return dict(recorded)
    pairs = (part.partition("=") for part in str(recorded or "").split(","))
    return {name.strip(): value for name, equals, value in pairs if equals}


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
    arguments = read_arguments(config.get("model_args"))
    dtype = str(config.get("model_dtype") or arguments.get("dtype") or "").removeprefix("torch.")
    how = [dtype, *(_phrase(name, arguments[name]) for name in QUANTISATION if arguments.get(name))]
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


def _flatten(settings: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield settings by name, those inside others too, as chat_template_args holds them.

    What opens a server is no setting: runs that differ in it are alike.
    """
    for name, value in without_keys(settings).items():
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
    text = " ".join(show_controls(str(value)).split())
    return textwrap.shorten(text, LONGEST_PHRASE, placeholder="…") or text[:LONGEST_PHRASE]


def _say_text(results: Mapping[str, Any], name: str, phrase: str) -> str:
    """Say which text of a kind a run used: by its hash, as lm-eval records it."""
    if not results.get(name):
        return f"no {phrase}"
    return f"{phrase} {_show(results.get(f'{name}_sha') or '')[:8]}".strip()


# --- Names -----------------------------------------------------------------------------------


def drop_copies(runs: Iterable[Run]) -> dict[Run, int]:
    """Return the runs but for files that are copies of another, and the number of their copies.

    A copy has the name, with its date, the content and the description of the other.
    """
    kept: dict[Run, int] = {}
    for run in runs:
        original = next((other for other in kept if _is_copy(run, other)), run)
        kept[original] = kept.get(original, -1) + 1
    return kept


def _is_copy(run: Run, other: Run) -> bool:
    about, of_other = ((of.base, of.task, of.file.name, of.settings, of.own) for of in (run, other))
    return about == of_other and filecmp.cmp(run.file, other.file, shallow=False)


def name_runs(runs: Sequence[Run], frames: Sequence[pd.DataFrame], analysis: Analysis) -> list[str]:
    """Return what sets each run apart from the others of its base; "" if nothing does.

    Settings, and how puzzles were shown, are compared over all tasks of the base. What belongs to a
    task is compared within it: its version, its output limit, and at last which puzzles they are.
    Twins of puzzles stay in the row of these.
    """
    models = [{"model": run.model} for run in runs]
    settings = [
        {"task": run.task, **run.settings}
        | {view: join_levels(frame[view]) or f"no {view}" for view in analysis.views}
        for run, frame in zip(runs, frames, strict=True)
    ]
    own = [run.own for run in runs]
    puzzles = [_describe_puzzles(frame, analysis.loads) for frame in frames]
    said: list[tuple[str, ...]] = [()] * len(runs)
    for about, tasks in ((models, False), (settings, False), (own, True), (puzzles, True)):
        rows = [(run.base, run.task * tasks, text) for run, text in zip(runs, said, strict=True)]
        for row in set(rows):
            places = [place for place, other in enumerate(rows) if other == row and about[place]]
            alike = [about[place] for place in places]
            differing = (
                _needed(alike, alike[0]) if about is puzzles and alike else _differing(alike)
            )
            for place in places:
                said[place] += tuple(about[place].get(name, f"{name} unset") for name in differing)
    return [", ".join(texts) for texts in said]


def _describe_puzzles(frame: pd.DataFrame, loads: Sequence[Load]) -> Settings:
    """Return what tells puzzles apart, in words and at last by a hash; nothing of twins."""
    ids = frame["id"].astype(str)
    if ids.str.contains("~", regex=False).all():
        return {}
    count = ids.nunique()
    languages = sorted({language_of(id) for id in ids.unique()})
    distinct = frame[["id", "seed", "context_budget", *(load.name for load in loads)]]
    hashed = pd.util.hash_pandas_object(distinct.drop_duplicates(), index=False).sum()
    return {
        "language": f"language {' and '.join(languages)}",
        **{
            load.name: f"{load.heading} {join_levels(load.scale(frame[load.name]))}"
            for load in loads
        },
        "seed": f"seed {join_levels(frame['seed'])}",
        "budget": f"budget {join_levels(frame['context_budget'])}",
        "count": f"{count:,} puzzle" + "s" * (count != 1),
        "hash": f"puzzles {hashed % 16**6:06x}",
    }


def _differing(about: Sequence[Settings]) -> list[str]:
    """Return the names of the settings that differ.

    Of decoding they are as many as tell all apart, and the `last` ones are left out where the
    others, or the task, tell as much.
    """
    names = sorted({name for settings in about for name in settings} - {"task"})
    differing = [name for name in names if _count_groups(about, [name]) > 1]
    kept = [name for name in differing if name not in (*DECODING, *LAST)]
    kept += _needed(about, [name for name in DECODING if name in differing])
    return kept + _needed(about, LAST, [*kept, "task"])


def _needed(
    about: Sequence[Settings], names: Iterable[str], before: Sequence[str] = ()
) -> list[str]:
    """Return those of some names, the first ones first, that tell more apart than those before."""
    kept: list[str] = []
    for name in names:
        known = [*before, *kept]
        if _count_groups(about, [*known, name]) > _count_groups(about, known):
            kept.append(name)
    return kept


def _count_groups(about: Sequence[Settings], names: Sequence[str]) -> int:
    return len({tuple(settings.get(name) for name in names) for settings in about})


# --- In words --------------------------------------------------------------------------------


def say_runs(table: pd.DataFrame) -> list[str]:
    """Return which rows of `run_table` count together, and what was left out, in sentences."""
    sentences = []
    for (model, task), runs in table.groupby(["model", "task"], sort=False, observed=True):
        copies, lost = (int(runs[column].astype(int).sum()) for column in ("copies", "lost"))
        about = {"model": model, "task": task, "runs": len(runs), "copies": copies, "lost": lost}
        interim = runs["interim"].iloc[0]
        remarks = {
            "attempts": len(runs) > 1,
            "interim": isinstance(interim, str) and bool(interim),
            "lost_one": lost == 1,
            "lost": lost > 1,
            "copy": copies == 1,
            "copies": copies > 1,
        }
        sentences += [say(name, about) for name, holds in remarks.items() if holds]
    return sentences

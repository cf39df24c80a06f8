"""A run, described from lm-eval's results file: the settings that decide its scores; and names.

Runs of a model that differ in any setting, or in their puzzles, are different rows of the analysis,
named by what differs. Runs that differ in nothing are attempts at the same puzzles.
"""

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.frame import Load
from cogniload_gen.answers import inspect_logs
from cogniload_gen.answers.files import read_results, split_name
from cogniload_gen.answers.sample import LIMITS, as_count, members
from cogniload_gen.files import read_words, show_controls
from cogniload_gen.grid import asks_steps, language_of, split_of
from cogniload_gen.never_written import without_keys

# A load with more levels is shown by its two ends.
_MOST_LEVELS = 10

SETTINGS = read_words("cogniload_analysis", "settings")
"""Which settings name a run (data/settings.toml)."""

# Backends that ask a server, or nobody: of them lm-eval records the default of --device too.
_ELSEWHERE = re.compile(r"dummy|.*completions|.*-chat|gguf|ggml|textsynth|watsonx_llm")

EFFORT = re.compile("effort|think|reason|budget|limit|verbosity")
"""Names of settings that say how many tokens a model may spend."""

_GRAPHICS = re.compile(r"^GPU 0: ([^\n(]{1,80})", re.MULTILINE)
_TEXTS = {"chat_template": "a chat template", "system_instruction": "a system prompt"}
"""Settings that are texts, in words: results hold a hash of each."""

_AROUND_HOST = re.compile(r"^https?://|/v1(/(chat/)?completions)?/?$")
_LONGEST_PHRASE = 60
_DECODING_LENGTH = 120

Settings = dict[str, str]
"""Settings by name, each as the phrase that names a run by it, such as "temperature 0"."""


@dataclass(frozen=True, eq=False)
class Run:
    """One samples file, and what the results file beside it holds of how it was made.

    Attributes:
        file: The file of its samples.
        base: The start of its row's name: the user's label, or the model's name.
        task: The name of its task.
        columns: What the frame has of it, by column; "" where it is unknown.
        settings: The settings that decide its scores, whatever the task.
        own: The settings that decide them and belong to the task: its version, its output limit.
        label: The user's label, "" for none.
        results: What the results file holds.
        generation: The task's generation_kwargs in it.
    """

    file: Path
    base: str
    task: str
    columns: dict[str, str]
    settings: Settings
    own: Settings
    label: str
    results: Mapping[str, Any]
    generation: Mapping[str, Any]

    @property
    def id(self) -> str:
        """What results of one run have in common, wherever they are; "" where it is unknown."""
        return str(members(self.results, "config").get("run_id") or "")

    def count(self, what: str) -> int | None:
        """Return how many documents of the task there are ("original"), or were scored."""
        if self.file.name.rpartition(".jsonl")[0].endswith("-1"):  # of no results file of its own
            return None
        return as_count(members(members(self.results, "n-samples"), self.task).get(what))

    @property
    def lost(self) -> int:
        """How many documents have no answer, as the results say; of one task of several, at most.

        These are left out of the samples.
        """
        lost = as_count(members(self.results, "config").get("lost")) or 0
        if len(members(self.results, "configs")) > 1:
            lost = min(lost, (self.count("original") or 0) - (self.count("effective") or 0))
        return lost


# --- Settings --------------------------------------------------------------------------------


def describe_run(file: Path, label: str = "") -> Run:
    """Return the run behind a samples file or a log of Inspect.

    The results file of the same folder and date describes it. Without one, the folder's name is
    the model's, and the settings are unknown: runs of two such folders are kept apart. With a
    `label`, that names its row.
    """
    if inspect_logs.is_log(file):
        task, date, results = inspect_logs.describe_log(file)
    else:
        (task, date), results = split_name(file), read_results(file)
    config, of_task = members(results, "config"), members(members(results, "configs"), task)
    generation, until = members(of_task, "generation_kwargs"), members(config, "until")
    whole = show_controls(str(results.get("model_name") or file.parent.name))
    model = Path(whole).name if whole.startswith(("/", ".")) else whole  # a folder of this machine
    own = {
        "output limit": next((generation[name] for name in LIMITS if generation.get(name)), ""),
        "version": members(of_task, "metadata").get("version", ""),
    }
    decoding = ", ".join(
        f"{name} {_show(value)}"
        for name, value in _flatten(without_keys(generation))
        if name not in ("until", *LIMITS)
    )
    settings = {"model": whole} | read_settings(results, generation)
    if not results:
        settings["folder"] = f"in {show_controls(str(file.parent))}"
    others = (n for n in settings if not EFFORT.search(n) and n not in SETTINGS["sparing"])
    columns = {
        "model": model,
        "served": model,
        "base_model": ", ".join(settings[name] for name in sorted(others)),
        "task": task,
        "date": date,
        "generator_version": own["version"],
        "lm_eval_version": results.get("lm_eval_version", ""),
        "decoding": textwrap.shorten(decoding, _DECODING_LENGTH, placeholder=" …"),
        "prompting": _describe_prompt(results, task),
        "until": json.dumps(until, sort_keys=True) if until else "",
        **_describe_machine(results),
        "output_limit": own["output limit"],
        "interim": config.get("interim", ""),
    }
    return Run(
        file,
        show_controls(label) or model,
        show_controls(task),
        {name: show_controls(str(value)) for name, value in columns.items()},
        settings,
        {name: f"{name} {_show(value)}" for name, value in own.items() if value},
        label,
        results,
        generation,
    )


def read_settings(results: Mapping[str, Any], generation: Mapping[str, Any]) -> Settings:
    """Return what decides the scores of a run, from what lm-eval's results say.

    `generation` is the task's generation_kwargs. Unknown settings are left out, and so is what
    opens a server: runs that differ in it are alike.
    """
    config = members(results, "config")
    hashes = {name: config.get(name) for name in ("model_sha", "peft_sha", "delta_sha")}
    hashes |= {name: results.get(f"{name}_sha") for name in _TEXTS}
    asked = members(config, "gen_kwargs")
    held = {
        "backend": config.get("model") or results.get("model_source"),
        **_read_arguments(config),
        **{name: str(value or "")[:8] for name, value in hashes.items()},
        **generation,
        "output limit": next((asked[name] for name in LIMITS if asked.get(name)), ""),
    }
    nothing: tuple[Any, ...] = (None, "", [], results.get("model_name"))
    return {
        name: _say_setting(name, f"{value:g}" if isinstance(value, float) else value)
        for name, value in _flatten(without_keys(held))
        if value not in nothing and name not in (*SETTINGS["how_fast"], *LIMITS)
    }


def _describe_machine(results: Mapping[str, Any]) -> dict[str, str]:
    """Return what lm-eval's results say of how a model was run, "" for what they don't.

    Its backend with the version, its dtype and quantisation, the device, and the chat template: the
    first digits of its hash, or "none".
    """
    config = members(results, "config")
    backend = str(config.get("model") or results.get("model_source") or "")
    device, version = "", ""
    if not _ELSEWHERE.fullmatch(backend):
        device = str(config.get("device") or "")
        chosen = not device and backend.startswith(("hf", "vllm", "sglang"))
        graphics = _GRAPHICS.search(str(results.get("pretty_env_info") or ""))
        device = graphics[1] if graphics and (chosen or device.startswith("cuda")) else device
    if results.get("vllm_version"):
        version = f", vLLM {results['vllm_version']}"
    elif backend.startswith("hf") and results.get("transformers_version"):
        version = f", transformers {results['transformers_version']}"
    arguments = _read_arguments(config)
    precision = [_show(arguments.get("dtype") or "")]
    quantised = [name for name in SETTINGS["quantisation"] if arguments.get(name)]
    precision += [f"{name} {_show(arguments[name])}" for name in quantised]
    template = str(results.get("chat_template_sha") or "")[:8]
    return {
        "backend": _show(backend + version),
        "precision": ", ".join(filter(None, precision)),
        "device": _show(device),
        "chat_template": template or _no_template(backend, known=bool(results)),
    }


def _no_template(backend: str, *, known: bool) -> str:
    """Return what stands for a template that results do not hold: a chat has its server's."""
    return "of the server" if "chat" in backend else "none" if known else ""


def _describe_prompt(results: Mapping[str, Any], task: str) -> str:
    """Return what stands before a puzzle in its prompt; "" for nothing, or where it is unknown."""
    examples = as_count(members(results, "n-shot").get(task)) or 0
    system = str(results.get("system_instruction_sha") or "")[:8]
    said = [f"{examples} examples"] * bool(examples) + [f"system prompt {system}"] * bool(system)
    return ", ".join(said)


def _read_arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model, which lm-eval records as an object or as NAME=VALUE,...

    They are those that took effect: a plain `enable_thinking` goes before one in
    `chat_template_args`, which lm-eval's vLLM model ignores even without a plain one; and the dtype
    is that which the model had in the end.
    """
    arguments = config.get("model_args")
    if not isinstance(arguments, dict):
        pairs = (part.partition("=") for part in re.split(r",(?![^{}]*\})", str(arguments or "")))
        arguments = {name.strip(): value for name, equals, value in pairs if equals}
    nested = members(arguments, "chat_template_args")
    if config.get("model") == "vllm" or arguments.get("enable_thinking") is not None:
        nested = {name: nested[name] for name in nested if name != "enable_thinking"}
    dtype = str(config.get("model_dtype") or arguments.get("dtype") or "")
    return arguments | {"dtype": dtype.removeprefix("torch."), "chat_template_args": nested}


def _flatten(settings: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield settings by name, those inside others too, as chat_template_args holds them."""
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _flatten(value)
        elif value is not None:
            yield show_controls(name), value


def _say_setting(name: str, value: Any) -> str:
    """Return the phrase that names a run by a setting."""
    if name == "base_url":
        return f"at {_show(_AROUND_HOST.sub('', str(value)))}"
    return f"with {_TEXTS[name]} ({_show(value)})" if name in _TEXTS else f"{name} {_show(value)}"


def _say_unset(name: str) -> str:
    """Return the phrase that names a run without a setting that another has."""
    return f"without {_TEXTS[name]}" if name in _TEXTS else f"{name} unset"


def _show(value: Any) -> str:
    text = " ".join(show_controls(str(value)).split())
    return text if len(text) <= _LONGEST_PHRASE else f"{text[: _LONGEST_PHRASE - 1]}…"


# --- Names -----------------------------------------------------------------------------------


def name_runs(runs: Sequence[Run], frames: Sequence[pd.DataFrame], analysis: Analysis) -> list[str]:
    """Return what sets each run apart from the others of its base; "" if nothing does.

    Settings, and how puzzles were shown, are compared over all tasks of the base. What belongs to a
    task is compared within it: its version, its output limit, and at last which puzzles they are.
    Twins of puzzles stay in the row of these.
    """
    settings = [
        run.settings | {view: join_levels(frame[view]) or f"no {view}" for view in analysis.views}
        for run, frame in zip(runs, frames, strict=True)
    ]
    own = [run.own for run in runs]
    puzzles = [_describe_puzzles(frame, analysis.loads) for frame in frames]
    for place, of in _find_puzzles(runs, frames):
        puzzles[place] = puzzles[of]
        held = settings[of].get("base_url")  # a server may have moved since
        settings[place] = settings[place] | ({"base_url": held} if held else {})
    said: list[tuple[str, ...]] = [(run.base,) for run in runs]
    for about, tasks in ((settings, False), (own, True), (puzzles, True)):
        rows = [(run.task * tasks, text) for run, text in zip(runs, said, strict=True)]
        for row in set(rows):
            places = [place for place, other in enumerate(rows) if other == row and about[place]]
            alike = [about[place] for place in places]
            sparing = [*alike[0]] if about is puzzles and alike else SETTINGS["sparing"]
            for name in _differing(alike, sparing=sparing):
                for place in places:
                    said[place] += (about[place].get(name, _say_unset(name)),)
    return [", ".join(texts[1:]) for texts in said]


def _find_puzzles(runs: Sequence[Run], frames: Sequence[pd.DataFrame]) -> Iterable[tuple[int, int]]:
    """Yield the places of the runs that are twins, and those of the runs of their puzzles.

    Of several runs of the same puzzles, that one in whose folder the twins are.
    """
    ids = [{*frame["id"].astype(str)} for frame in frames]
    for place, mine in enumerate(ids):
        if all("~" in id for id in mine):
            bases = {id.partition("~")[0] for id in mine}
            of = [other for other, theirs in enumerate(ids) if bases <= theirs]
            inside = runs[place].file.parents
            of.sort(key=lambda other: runs[other].file.parent.parent not in inside)
            yield from ((place, other) for other in of[:1])


def _describe_puzzles(frame: pd.DataFrame, loads: Sequence[Load]) -> Settings:
    """Return what tells puzzles apart, in words and at last by a hash; nothing of twins."""
    ids = frame["id"].astype(str)
    if ids.str.contains("~", regex=False).all():
        return {}
    count = ids.nunique()
    levels = {load.heading: load.scale(frame[load.name]) for load in loads}
    levels |= {"seed": frame["seed"], "budget": frame["context_budget"]}
    distinct = frame[["id", "seed", "context_budget", *(load.name for load in loads)]]
    hashed = pd.util.hash_pandas_object(distinct.drop_duplicates(), index=False).sum()
    splits = sorted({split_of(id) for id in ids.unique()} - {""})
    return {
        "split": f"split {' and '.join(splits)}" if splits else "",
        "language": f"language {' and '.join(sorted({language_of(id) for id in ids.unique()}))}",
        "format": "a line a statement" if any(map(asks_steps, ids.unique())) else "",
        **{name: f"{name} {join_levels(held)}" for name, held in levels.items()},
        "count": f"{count:,} puzzle" + "s" * (count != 1),
        "hash": f"puzzles {int(hashed) % 16**6:06x}",
    }


def _differing(about: Sequence[Settings], *, sparing: Sequence[str]) -> list[str]:
    """Return the names of the settings that differ; `sparing` ones where the others tell less."""
    names = sorted({name for settings in about for name in settings} - {*sparing})
    kept = [name for name in names if _count_groups(about, [name]) > 1]
    for name in sparing:
        if _count_groups(about, [*kept, name]) > _count_groups(about, kept):
            kept.append(name)
    return kept


def _count_groups(about: Sequence[Settings], names: Sequence[str]) -> int:
    return len({tuple(settings.get(name) for name in names) for settings in about})


# --- In words --------------------------------------------------------------------------------


def say_runs(table: pd.DataFrame) -> list[str]:
    """Return which rows of `run_table` count together, and what was left out, in sentences."""
    said = []
    for (model, task), runs in table.groupby(["model", "task"], sort=False, observed=True):
        lost = int(runs["lost"].astype(int).sum())
        if len(runs) > 1:
            how = "runs with the same settings: they count as repeated attempts at each puzzle."
            said.append(f"{model} answered the puzzles of {task} in {len(runs)} {how}")
        if runs["interim"].iloc[0] not in ("", None):
            how = "its numbers are those of the puzzles that are answered, and may change."
            said.append(f"{model} is still going ({task}): {how}")
        if lost:
            about = f"{lost:,} of the samples of {model} ({task})"
            said.append(f"Left out, as they ended with an error: {about}.")
    return said


def join_levels(values: pd.Series) -> str:
    """Return all levels as text, or the two ends of many, and of whole numbers without a gap."""
    levels = sorted(values.dropna().unique())
    texts = [level if isinstance(level, str) else _format_level(level) for level in levels]
    if len(texts) > 3 and all(map(str.isdecimal, texts)):
        first, last = int(texts[0]), int(texts[-1])
        if texts == list(map(str, range(first, last + 1))):
            return f"{first}–{last}"
    if len(texts) > _MOST_LEVELS:
        return f"{texts[0]} … {texts[-1]}"
    return " ".join(texts)


def _format_level(level: float) -> str:
    """Set a seed with all its digits, and a percentage without the last ones, made by rounding."""
    return f"{level:.0f}" if level == int(level) else f"{level:.10g}"

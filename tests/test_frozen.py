"""The frozen file: what may not change while the code behind it does.

Each section is collected today and compared with `data/frozen/SECTION.json`: text exactly, numbers
within 1 part in a million. `tables` are all CSVs that `cogniload report` writes for examples/;
`agreement` is how often a reader misses, or contradicts, the label of a text, which may grow a
little (`cases.toml`). Only names at a package's root, the console script and files are used: all
else may move.

Where a change is meant, renew what it changes, and nothing else:

    FROZEN_RENEW="tables/slips.csv tasks/cogniload_mini columns" pytest tests/test_frozen.py

A word is a section, or SECTION/ENTRY; a table's entry is its file, in all reports. A test that
renews fails and lists what it has renewed, so that no run is green by it.
"""

import csv
import gzip
import io
import json
import math
import os
import runpy
import sys
import tomllib
from contextlib import redirect_stdout
from hashlib import sha256
from importlib import import_module
from inspect import Signature, isroutine, signature
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
import yaml
from real_texts import real_responses

import cogniload_analysis as analysis
import cogniload_dataset
import cogniload_gen as gen

TESTS = Path(__file__).parent
EXAMPLES = TESTS.parent / "examples"
STORE = TESTS / "data/frozen"
CASES = tomllib.loads((STORE / "cases.toml").read_text("utf-8"))
MEMBERS = CASES["members"]
MODULES = [import_module(name) for name in CASES["modules"]]
RENEW = [word.partition("/") for word in os.environ.get("FROZEN_RENEW", "").split()]


# Names and signatures


def signatures():
    """Public names, with the parameters of functions; what objects of three classes have."""
    found = {}
    for module in MODULES:
        names = getattr(module, "__all__", None) or MEMBERS[module.__name__]
        found[module.__name__] = {name: parameters(getattr(module, name)) for name in names}
    for name in ("LoadGLM", "ComplexityDecay", "AdaptiveDesign"):
        cls = getattr(analysis, name)
        known = {*dir(cls), *getattr(cls, "__dataclass_fields__", ())} & {*MEMBERS[name]}
        found[name] = {each: parameters(getattr(cls, each, 0)) for each in sorted(known)}
    return found


def parameters(value):
    """Return the parameters of a function, as text without annotations; "" for what is none."""
    if not isroutine(value):
        return ""
    given = signature(value).parameters.values()
    return str(Signature([each.replace(annotation=each.empty) for each in given]))


def columns():
    """What datasets, frames, scores and readings of steps hold."""
    found = {}
    for name, chosen in CASES["puzzles"].items():
        kind = "factor" if "suite" in chosen else "cogniload"
        dataset = cogniload_dataset.load_dataset(kind, split="test", **chosen)
        same = {"rows are the generated ones": dataset.to_list() == made(chosen).to_pylist()}
        found[name] = same | {key: str(feature) for key, feature in dataset.features.items()}
    frame = analysis.read_samples(EXAMPLES / "results")
    (row,) = gen.generate_puzzles(2, 4, 50, 1).to_pylist()
    response = f"After all, {row['poi']}: {gen.solve(row['puzzle'])}."
    scored, steps = gen.score(response, row), gen.read_steps(response, row)
    return found | {
        "read_samples": {name: str(frame[name].dtype) for name in MEMBERS["read_samples"]},
        "score": {name: type(getattr(scored, name)).__name__ for name in MEMBERS["score"]},
        "read_steps": {name: type(getattr(steps, name)).__name__ for name in MEMBERS["read_steps"]},
        "outcomes": [[*map(str, gen.Outcome)], [*map(str, gen.FactorOutcome)]],
    }


# Puzzles


def made(chosen):
    name = "generate_factor" if "suite" in chosen else "generate_puzzles"
    return getattr(gen, name)(**chosen)


def puzzles():
    """Of each table, its length and first id, and the type and hash of each column."""
    chosen = dict(CASES["puzzles"])
    for name, changes in CASES["changed"].items():
        chosen |= {f"{name} {json.dumps(change)}": chosen[name] | change for change in changes}
    for split in CASES["training"]["splits"]:
        chosen[split] = {"suite": "symbolic", "split": split, "num_puzzles": 5}
    found = {}
    for name, parameters in chosen.items():
        table = made(parameters)
        found[name] = {"rows": len(table), "first": table["id"][0].as_py()}
        for column, values in table.to_pydict().items():
            found[name][column] = f"{table[column].type} {digest(values)}"
    return found


def digest(values):
    return sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()


# Tasks


class Loader(yaml.SafeLoader):
    """Reads a task's file without calling what its `!function` names."""


Loader.add_multi_constructor("!", lambda loader, tag, node: node.value)


def read_task(file):
    task = yaml.load(file.read_text("utf-8"), Loader)  # noqa: S506 (a safe one)
    return (read_task(file.parent / task.pop("include")) if "include" in task else {}) | task


def tasks():
    """lm-eval's tasks and groups: their metrics, the puzzles or the tasks of a group, versions."""
    found = {}
    for task in map(read_task, (TESTS.parent / "lm_eval_tasks").rglob("*.yaml")):
        metrics = task.get("metric_list") or task["aggregate_metric_list"]
        found[task.get("group", task.get("task"))] = {
            "metrics": {each["metric"]: each.get("higher_is_better") for each in metrics},
            "puzzles": task.get("dataset_kwargs", task.get("task")),
            "version": task["metadata"]["version"],
        }
    found.pop(None)  # what tasks share
    return found


# Published figures


def published():
    """The papers' tables, their models' thresholds, and fits to responses on published curves."""
    means = vars(analysis.PAPER_MEANS)
    betas = analysis.published_table("glm").set_index("model").filter(like="beta_")
    decays = analysis.published_table("factor_zero_context").set_index("model")[["CDF", "CDO"]]
    context = analysis.published_table("factor_by_context")
    names = CASES["published"]["tables"]
    return {
        "tables": {name: digest(analysis.published_table(name).to_json()) for name in names},
        "thresholds": {
            model: plain(analysis.capacity_thresholds(*each, **means))
            for model, each in betas.iterrows()
        },
        "glm": {model: refit(*betas.loc[model]) for model in ("Qwen3-32B", "QwQ-32B")},
        "decay": {model: refit_decay(*each) for model, each in decays.iterrows()},
        "modes": {
            model: analysis.name_failure_mode(of["context"], of["CDF"], of["CDO"]).name
            for model, of in context.groupby("model")
        },
    }


def refit(b_0, b_d, b_N, b_rho, b_rho2):
    """Fit a GLM to 100 responses a cell of the paper's grid, as many right as a curve says."""
    grid = [(1, 3, 5, 7, 10), (20, 50, 100, 250), (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)]
    frame = pd.DataFrame(product(*grid, range(100)), columns=["d", "N", "rho", "number"])
    d, log10_N, rho = frame["d"], np.log10(frame["N"]), frame["rho"]
    logit = b_0 + b_d * d + b_N * log10_N + b_rho * rho + b_rho2 * rho**2
    right = frame["number"] < (100 / (1 + np.exp(-logit))).round()
    fit = analysis.fit_load_glm(frame.assign(model="any", correct=right))
    ends = {name: plain([at.value, at.low, at.high]) for name, at in vars(fit.thresholds()).items()}
    return {name: plain([fit.params[name], fit.bse[name]]) for name in fit.params.index} | ends


def refit_decay(cdf, cdo):
    """Fit a decay to 50 responses at each N, as many right as a line says."""
    frame = pd.DataFrame(product(range(1, 40), range(50)), columns=["N", "number"])
    right = frame["number"] < (50 * np.exp((cdo + cdf * frame["N"]).clip(upper=0))).round()
    fit = analysis.fit_complexity_decay(frame.assign(correct=right))
    return plain([fit.cdf, fit.cdo, fit.n_eff, *fit.conf_int().to_numpy().flat])


def plain(numbers):
    return [None if math.isnan(number) else float(f"{number:.9g}") for number in numbers]


# Reports


def tables():
    """Of each CSV of a report, in each run folder of examples/, its columns and its rows.

    The console script runs in this process, as importing the libraries takes seconds.
    """
    script = str(Path(sys.executable).parent / "cogniload")
    checks = sorted({file.parents[1] for file in EXAMPLES.glob("checks/*/*/samples_*")})
    found = {}
    silent = redirect_stdout(io.StringIO())
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch, silent:
        for run in (EXAMPLES / "results", EXAMPLES / "real", *checks):
            out = Path(folder, run.name)
            patch.setattr(sys, "argv", [script, "report", str(run), "--out", str(out)])
            with pytest.raises(SystemExit) as ended:
                runpy.run_path(script, run_name="__main__")
            assert not ended.value.code
            for file in sorted(out.rglob("*.csv")):
                found.setdefault(file.name, {})[run.name] = cells(file.read_text("utf-8"))
    return found


def cells(text):
    header, *rows = csv.reader(io.StringIO(text))
    found = {"columns": header}
    for number, row in enumerate(rows, 1):
        found[f"row {number}"] = dict(zip(header, map(cell, row), strict=True))
    return found


def cell(text):
    """Return a number if the text is one, else the text."""
    try:
        return text if math.isnan(float(text)) else float(text)
    except ValueError:
        return text


# Agreement with labelled texts


def agreement():
    """Of each set of texts, their number, and how many were judged wrongly, by the way."""
    found = {}
    for name, rows in labelled().items():
        wrong = pd.DataFrame(map(judge, rows)).sum()
        found[name] = {"texts": len(rows)} | wrong.astype(int).to_dict()
    return found


def labelled():
    """Return the sets of texts, each a list of rows with response, puzzle and label."""
    data = {file.stem: load(file) for file in TESTS.glob("*/data/*.json*")}
    data["steps_real"] = real_responses(data["steps_real"])
    for name in ("languages_held_out", "languages_sealed"):
        data[name] = in_languages(data[name])
    found = {}
    for name, chosen in CASES["agreement"].items():
        where = chosen.get("where", {})
        rows = [row for file in chosen["files"] for row in data[file]]
        found[name] = [row for row in rows if where.items() <= (where | row).items()]
    return found


def in_languages(rows):
    """Return responses in other languages with their puzzles, of which they hold the ids alone."""
    known = {
        row["id"]: row
        for language in CASES["languages"]["names"]
        for grid in CASES["languages"]["grids"]
        for row in gen.generate_puzzles(**grid, language=language).to_pylist()
    }
    rows = [known[row["id"]] | row for row in rows]
    for row in rows:
        row["is_right"] = row["correct"] if "correct" in row else row["final"] == row["answer"]
    return rows


def judge(row):
    if "first_error" not in row:
        right = row["is_right"] if "is_right" in row else row["outcome"] == "correct"
        passed = gen.score(row["response"], row).correct
        return {"refused": right and not passed, "passed": passed and not right}
    steps = gen.read_steps(row["response"], row)
    clean = row.get("error", row.get("kind")) in (None, "none")
    return {
        "unclaimed": not steps.read,
        "misplaced": steps.read and steps.first_error != row["first_error"],
        "mistaken": steps.read and "error" in row and steps.error != row["error"],
        "accused": steps.read and clean and steps.error is not None,
    }


# What is compared

MISSING = "(not there)"
SECTIONS = [signatures, columns, puzzles, tasks, published, tables, agreement]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_what_may_not_change(section):
    name = section.__name__
    today = json.loads(json.dumps(section()))
    (file,) = STORE.glob(f"{name}.json*")
    stored = load(file)
    asked = {entry for word, _, entry in RENEW if word == name}
    if asked:
        kept = {entry: stored[entry] for entry in stored if not asked & {entry, ""}}
        today = kept | {entry: today[entry] for entry in today if asked & {entry, ""}}
        save(file, today)
    elif section is agreement:
        today = tolerated(stored, today)
    lines = [*differences(stored, today, name)]
    if lines or asked:
        count = f"{len(lines)} differences{', renewed' if asked else ''}; the first ones:"
        renew = f"If they are meant: FROZEN_RENEW='{name}/ENTRY ...' pytest tests/test_frozen.py"
        pytest.fail("\n".join([count, *lines[:30], renew]), pytrace=False)


def tolerated(stored, today):
    """Return what was read today, but the stored counts where those have not grown by too much."""
    for name, was in stored.items():
        shares = dict.fromkeys(("unclaimed", "refused"), CASES["agreement"][name]["tolerance"])
        shares |= dict.fromkeys(("misplaced", "mistaken", "passed"), 0.01) | {"accused": 0}
        for kind in {*was} & {*today[name]} & {*shares}:
            if today[name][kind] <= was[kind] + math.ceil(shares[kind] * was["texts"]):
                today[name][kind] = was[kind]
    return today


def differences(stored, today, place):
    """Yield a line for each place where today's value is not the stored one."""
    if isinstance(stored, dict) and isinstance(today, dict):
        for name in stored | today:
            pair = [side.get(name, MISSING) for side in (stored, today)]
            yield from differences(*pair, f"{place}, {name}")
    elif isinstance(stored, list) and isinstance(today, list) and len(stored) == len(today):
        for number, pair in enumerate(zip(stored, today, strict=True)):
            yield from differences(*pair, f"{place}, [{number}]")
    elif stored != today and not close(stored, today):
        yield f"{place}: was {stored!r:.300}, is {today!r:.300}"


def close(stored, today):
    numbers = all(isinstance(value, int | float) for value in (stored, today))
    return numbers and math.isclose(stored, today, rel_tol=1e-6, abs_tol=1e-12)


def load(file):
    """Return the content of a file of JSON or of JSON lines, compressed or not."""
    content = file.read_bytes()
    text = gzip.decompress(content) if file.suffix == ".gz" else content
    return [*map(json.loads, text.splitlines())] if ".jsonl" in file.name else json.loads(text)


def save(file, content):
    ordered = {name: content[name] for name in sorted(content)}
    text = (json.dumps(ordered, ensure_ascii=False, indent=1) + "\n").encode()
    file.write_bytes(gzip.compress(text, mtime=0) if file.suffix == ".gz" else text)

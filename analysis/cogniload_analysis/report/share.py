"""Results as catalogues take them: Every Eval Ever's records, and the Hub's `.eval_results`."""

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from cogniload_analysis import analyses
from cogniload_analysis.analysis import Analysis, Estimate
from cogniload_analysis.columns import members, read_response
from cogniload_analysis.intervals import CONFIDENCE, clustered_interval
from cogniload_analysis.report.write import write_files
from cogniload_analysis.samples.files import read_lines, to_utc
from cogniload_analysis.samples.read import Paths, read_benchmarks
from cogniload_gen.checks import check_choice, check_texts
from cogniload_gen.version import __version__

TEMPLATES = Environment(
    loader=PackageLoader("cogniload_analysis.report"), undefined=StrictUndefined, autoescape=True
)
RECORD = TEMPLATES.get_template("every_eval_ever.json")
SAMPLE = TEMPLATES.get_template("every_eval_ever_sample.json")
"""A run and a response by Every Eval Ever's schema 0.3.0."""

RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
"""How those who evaluate a model may be related to those who made it."""

SETTINGS = ("decoding", "chat_template", "precision", "device", "output_limit", "until")
"""The columns of the frame that say how the responses were made."""


@dataclass(frozen=True)
class About:
    """What a run's files do not say: who evaluated which model, on which published puzzles.

    Attributes:
        model_id: The model as the Hub names it, "org/model"; None for the run's own name of it.
        organization: Who evaluated it.
        relationship: One of RELATIONSHIPS.
        dataset: The Hub's repository of the puzzles, "user/name".
        task_id: The task in that repository's eval.yaml; None for the run's own name of its task.
    """

    model_id: str | None = None
    organization: str = "unknown"
    relationship: str = "other"
    dataset: str | None = None
    task_id: str | None = None


@dataclass(frozen=True)
class SharedRun:
    """The responses of a model to a task in one setting, to be shared."""

    analysis: Analysis
    rows: pd.DataFrame
    about: About

    @property
    def first(self) -> Any:
        """The first row: what it says of the run, the others say as well."""
        return self.rows.iloc[0]

    @property
    def model_id(self) -> str:
        """The model, as the Hub names it if that is known."""
        return self.about.model_id or str(self.first["model"])

    @property
    def date(self) -> datetime:
        """When the responses were written; lm-eval does not say the time zone."""
        return datetime.fromisoformat(to_utc(str(self.first["date"])))

    @property
    def puzzles(self) -> int:
        """How many puzzles there are, each with one response or several."""
        return int(self.rows["id"].nunique())

    @property
    def accuracy(self) -> Estimate:
        """The accuracy, with an interval for which a puzzle's attempts are one cluster."""
        return self.share(self.rows["correct"])

    def share(self, events: pd.Series) -> Estimate:
        """Return the share of the responses with an event, as `accuracy`."""
        shares = events.astype(float).groupby(self.rows["id"]).mean().to_numpy()
        low, high = map(float, clustered_interval(shares))
        return Estimate(float(shares.mean()), low, high, is_share=True)

    def estimates(self) -> dict[str, Estimate]:
        """Return the accuracy, the share of each wrong outcome, and the numbers of the fit."""
        outcome = self.rows["outcome"].astype(str)
        wrong = [str(kind) for kind in self.analysis.outcomes if not kind.correct]
        shares = {
            name: self.share(outcome == name)._replace(lower_is_better=True) for name in wrong
        }
        return {"accuracy": self.accuracy} | shares | self.analysis.estimates(self.rows)

    def samples(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield each row with its sample, as lm-eval wrote it."""
        for file, rows in self.rows.groupby("file", sort=False):
            yield from zip(rows.itertuples(), read_lines(str(file), rows["offset"]), strict=True)


def share_results(
    paths: Paths, out: Path, to: str, about: About, *, force: bool = False
) -> list[Path]:
    """Write results in the form that a catalogue takes, and return the files.

    `to` is "every-eval-ever", for a record of each run and one of each response below `data/`, or
    "hub", for `.eval_results/TASK.yaml` of a model's repository. The files depend on the results
    alone. Raises ValueError and FileNotFoundError as `read_benchmarks`, ValueError for an unknown
    relationship, for several models or settings and, for the Hub, without a dataset;
    FileExistsError where a file would be overwritten, unless `force`.
    """
    check_choice("relationship", about.relationship, RELATIONSHIPS)
    describe = CATALOGUES[check_choice("to", to, list(CATALOGUES))]
    files: dict[str, bytes] = {}
    for name, frame in read_benchmarks(paths, analyses.ANALYSES).items():
        (analysis,) = (known for known in analyses.ANALYSES if known.name == name)
        models = frame["model"].unique()
        if len(models) > 1:
            raise ValueError(
                f"{name}: results of one model are shared at a time, got {len(models)}"
            )
        for _, rows in frame.groupby("task", sort=False, observed=True):
            files |= describe(SharedRun(analysis, rows, about))
    write_files(out, files, force=force)
    return [out / name for name in files]


def describe_for_every_eval_ever(run: SharedRun) -> dict[str, bytes]:
    """Return the record of a run and the lines of its responses, by their paths."""
    first, timestamp = run.first, str(int(run.date.timestamp()))
    developer, model = f"unknown/{run.model_id}".split("/")[-2:]
    evaluation = f"{first['task']}/{run.model_id}/{timestamp}"
    key = hashlib.sha256(f"{evaluation}/{first['model']}".encode()).digest()
    parts = ("data", run.analysis.name.lower(), developer, model)
    folder = "/".join(re.sub(r"[^\w+-]+$|[^\w.+-]", "_", part) for part in parts)
    stem = f"{folder}/{uuid.UUID(bytes=key[:16], version=4)}"
    path = f"{stem}_samples.jsonl"
    lines = [_describe_response(run, evaluation, *pair) for pair in run.samples()]
    content = "".join(f"{line}\n" for line in lines).encode()
    estimates = run.estimates().items()
    record = RECORD.render(
        run=run,
        evaluation=evaluation,
        developer=developer,
        timestamp=timestamp,
        release=__version__,
        confidence=CONFIDENCE,
        local=str(first["backend"]).startswith(("hf", "vllm")),
        settings={name: str(first[name]) for name in SETTINGS if first[name]},
        estimates={name: number for name, number in estimates if math.isfinite(number.value)},
        path=path,
        checksum=hashlib.sha256(content).hexdigest(),
        total_rows=len(lines),
    )
    return {path: content, f"{stem}.json": f"{json.dumps(json.loads(record), indent=2)}\n".encode()}


def _describe_response(run: SharedRun, evaluation: str, row: Any, sample: Mapping[str, Any]) -> str:
    """Return the record of a response; what the frame says of it is under `metadata`."""
    puzzle, reference = sample["doc"], str(sample["doc"]["answer"])
    text = check_texts(puzzle, ["puzzle"])["puzzle"]
    tokens = [row.prompt_tokens, row.response_tokens]
    names = [load.name for load in run.analysis.loads]
    names += ["seed", "index", "attempt", "outcome", "ending", "context_budget"]
    record = SAMPLE.render(
        run=run,
        evaluation=evaluation,
        row=row,
        puzzle=puzzle,
        reference=reference,
        hash=hashlib.sha256((text + reference).encode()).hexdigest(),
        response=read_response(sample),
        value=members(sample, "answer_read").get("value"),
        spent=None if any(map(math.isnan, tokens)) else [*map(int, tokens)],
        metadata={name: str(getattr(row, name)) for name in names},
    )
    return json.dumps(json.loads(record))


def describe_for_hub(run: SharedRun) -> dict[str, bytes]:
    """Return the `.eval_results` of a run, in percent, by its path in the model's repository."""
    about, first, accuracy = run.about, run.first, run.accuracy
    if about.dataset is None:
        raise ValueError(
            "the Hub shows results on its own datasets alone: give --dataset user/name"
        )
    low, high = 100 * accuracy.low, 100 * accuracy.high
    notes = [f"{run.puzzles} puzzles", f"95 % interval {low:.1f} to {high:.1f}"]
    notes += filter(None, (str(first["setting"]), str(first["decoding"])))
    entry = {
        "dataset": {"id": about.dataset, "task_id": about.task_id or str(first["task"])},
        "value": 100 * accuracy.value,
        "date": run.date.date().isoformat(),
        "notes": "; ".join(notes),
    }
    text = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True)
    return {f".eval_results/{first['task']}.yaml": text.encode()}


CATALOGUES = {"every-eval-ever": describe_for_every_eval_ever, "hub": describe_for_hub}
"""What describes a run for each catalogue."""

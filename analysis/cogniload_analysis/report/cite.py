"""What a paper says of the runs of a report: how they were made, what was found, whom to cite.

The method answers what the Responsible NLP Research checklist of the ACL Rolling Review asks of an
experiment: its data (B6), its set-up (C2), what a number is of and how sure it is (C3), and its
software (C4).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.display.page import MOST_SAID, Verdict
from cogniload_analysis.display.tables import set_latex
from cogniload_analysis.samples.runs import join_levels
from cogniload_analysis.words import say
from cogniload_gen import __version__

_OTHERS = "as the table of runs lists"

_MACHINE = "backend", "precision", "device"

# Models that are counted, and not named, and other values that are named.
_MANY, _FEW = 6, 3


@dataclass(frozen=True)
class Citation:
    """A paragraph on the method, a sentence or two on each run, and BibTeX entries.

    `paper` is how the paragraph names the paper of the first entry.
    """

    name: str
    method: str
    results: Sequence[str]
    bibtex: str
    paper: str

    kind: ClassVar = "citation"

    @property
    def files(self) -> dict[str, bytes]:
        """The same as text, LaTeX and JSON, by the names of files."""
        lines = [self.method, *self.results]
        key = self.bibtex.partition("{")[2].partition(",")[0]
        parts = {"method": self.method, "results": [*self.results], "bibtex": self.bibtex}
        texts = {
            "txt": "\n\n".join([*lines, self.bibtex]),
            "tex": "\n\n".join(map(set_latex, lines)).replace(self.paper, rf"\citealp{{{key}}}"),
            "json": json.dumps(parts, indent=2, ensure_ascii=False),
            "bib": self.bibtex,
        }
        return {f"tables/{self.name}.{end}": f"{text}\n".encode() for end, text in texts.items()}


def cite(
    analysis: Analysis,
    frame: pd.DataFrame,
    runs: pd.DataFrame,
    verdicts: Sequence[Verdict],
    twins: int,
) -> Citation:
    """Return what to say of a benchmark's responses, without the answers to `twins`.

    `runs` are their rows of `run_table`, and `verdicts` those of the first screen.
    """
    one = {name: _tell(runs[name]) for name in runs.columns}
    named = frame.drop_duplicates("model")[["model", "served"]].astype(str)
    models = [
        model if served.endswith(model.partition(",")[0]) else f"{model} ({served})"
        for model, served in zip(named["model"], named["served"], strict=True)
    ]
    levels = {it.heading: join_levels(it.scale(frame[it.name])) for it in analysis.loads}
    counts = frame.groupby("model", observed=True)["id"].nunique()
    attempts, dates = int(frame["attempt"].max()), sorted({*runs["date"].astype(str).str[:10]})
    chosen = frame["until"].unique()
    until = json.loads(chosen[0] or "{}") if len(chosen) == 1 else {}
    limit, samples = one["output_limit"], frame["file"].astype(str).str.contains(r"\.jsonl")
    harness = f"lm-evaluation-harness {one['lm_eval_version']}".strip()
    harness = harness if samples.any() else "Inspect"
    machine = ", ".join(filter(None, (one[name] for name in _MACHINE)))
    values = {
        "models": "; ".join(models) if len(models) < _MANY else f"{len(models)} models",
        "benchmark": analysis.name,
        "paper": analysis.paper,
        "puzzles": f"{counts.min():,}" + f" to {counts.max():,}" * (counts.nunique() > 1),
        "loads": "; ".join(f"{of} {' to '.join(it.split(' … '))}" for of, it in levels.items()),
        "software": __version__,
        "chosen": say("method_chosen", **{"design": "unknown"} | until) if until else "",
        "times": "once" if attempts == 1 else f"up to {attempts} times",
        "dates": " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        "by": " and ".join(filter(None, (harness, machine))),
        "set_up": ", ".join(filter(None, (one["decoding"], one["prompting"]))) or "no settings",
        "limit": f"an output limit of {limit}" if limit else "no other limit",
    }
    method = [say("method", **one | values), analysis.method]
    if "reader" in frame:
        readers = sorted({*frame["reader"].astype(str)} - {""})
        method.append(say("method_readers", by=" and ".join(["rules", *readers])))
    method += [say("method_causes", twins=twins)] * bool(twins)
    whole = len(verdicts) <= MOST_SAID
    results = [
        f"{it.name}: {' '.join([it.headline, *(it.paragraphs if whole else [it.breaks])])}"
        for it in verdicts
    ]
    paper = analysis.benchmarks[0].words["citation"].strip()
    bibtex = f"{paper}\n\n{say('software', version=__version__)}"
    return Citation(f"{analysis.prefix}cite", " ".join(method), results, bibtex, analysis.paper)


def _tell(values: pd.Series) -> str:
    """Return what all runs have, as text: a few values each once, or where they stand."""
    texts = sorted({str(value) for value in values} - {"", "nan"})
    return " and ".join(texts) if len(texts) <= _FEW else _OTHERS

"""`cogniload score --steps --reader`: a model writes down what responses say (docs/steps.md).

What is asked, and what came, is an evaluation of its own, in FOLDER/transcripts beside the samples:
it goes on after a kill, keeps to caps, and nothing is asked twice. When all is there, the records
are added to FOLDER/transcripts.jsonl.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from datasets import Dataset

from cogniload_gen import benchmarks, transcripts
from cogniload_gen.answers.files import read_samples
from cogniload_gen.answers.reasoning import split
from cogniload_gen.answers.sample import Sample, Transcript, as_count
from cogniload_gen.answers.transcripts import FILE, add_transcripts
from cogniload_gen.context_budget import read_context_budget
from cogniload_gen.files import MALFORMED, whole_file
from cogniload_gen.tokens import estimate
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.evaluation import Asking, Evaluation
from lm_eval_tasks.runner import Results
from lm_eval_tasks.spending_caps import HIGHER_CAP, CapReached, cost_of

TASK, DATASET = "step_transcripts", "transcripts"

# About how many tokens the records of a statement take, and of a character of a response.
_OF_STATEMENT, _OF_CHARACTER, _LEAST = 60, 0.3, 500


class TranscriptTask(SharedBudgetTask):
    """The task of asking for transcripts, which are not scored."""

    def record(self, response: str, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the disk keeps of an answer besides: its counts."""
        return {name: row[name] for name in ("finish_reason", "prompt_tokens", "response_tokens")}


def load_prompts(**metadata: Any) -> dict[str, Dataset]:
    """Return the documents of the task, each with its prompt, from the file in the metadata.

    `context_budget` there replaces the budgets that follow from the lengths of the texts.
    ValueError where the metadata names no file.
    """
    told = metadata.get(DATASET)
    if not (isinstance(told, dict) and "path" in told):
        raise ValueError(f"{TASK} is asked by `cogniload score --steps --reader READER.yaml`")
    documents = [json.loads(line) for line in Path(told["path"]).read_text("utf-8").splitlines()]
    if "context_budget" in told:
        budget = read_context_budget(told["context_budget"])
        documents = [each | {"context_budget": budget} for each in documents]
    return {"test": Dataset.from_list(documents)}


def transcribe(
    files: Sequence[Path], reader: Evaluation, *, failures: bool = False
) -> Iterator[Results]:
    """Have a model transcribe the responses in samples files; yield what became of each folder.

    Responses that this reader has transcribed by these instructions are not asked about again.
    Twins are left out, and hidden reasoning is not there to transcribe. With `failures`, wrong
    responses alone are chosen. `reader` says whom to ask and how; a cap is one on each folder, and
    ends it all. ValueError for what can't be evaluated.
    """
    name, asked = name_of(reader), False
    for folder in sorted({file.parent.resolve() for file in files}):
        own = [file for file in files if file.parent.resolve() == folder]
        prompts = {s: [*_write_prompts(s)] for s in _choose(own, name, failures=failures)}
        if documents := {sample: listed for sample, listed in prompts.items() if listed}:
            asked, done = True, _ask_reader(name, folder, documents, reader)
            yield done
            if done.stopped:
                return
    if not asked:
        yield Results(files[0].parent, lines=[f"{name} has transcribed all that was chosen"])


def _ask_reader(
    name: str, folder: Path, documents: Mapping[Sample, list[dict[str, Any]]], reader: Evaluation
) -> Results:
    """Have a model transcribe the responses in a folder, whose prompts are given."""
    _say_price(name, documents, reader)
    out = folder / DATASET / re.sub(r"[^\w.-]+", "_", f"{name}-{transcripts.version()}")
    with whole_file(out / "prompts.jsonl", force=True) as part:
        lines = [json.dumps(each) + "\n" for listed in documents.values() for each in listed]
        part.write_text("".join(lines), "utf-8")
    about = {**reader.metadata.get(DATASET, {}), "path": str(out / "prompts.jsonl")}
    with Asking(replace(reader, tasks=[TASK], metadata={DATASET: about}), out) as asking:
        try:
            asking.ask()
        except CapReached as reached:
            return Results(out, stopped=str(reached), next=HIGHER_CAP)
        answers = {key.document: asking.answers[key]["answer"] for key in asking.answers}
    made: list[tuple[Sample, Transcript]] = []
    for sample, listed in documents.items():
        own = [answers[each["id"]] for each in listed if each["id"] in answers]
        if len(own) == len(listed):
            said = (split(answer).response for answer in own)
            records, version = transcripts.parse_answers(said), transcripts.version()
            made.append((sample, {"reader": name, "version": version, "records": records}))
    add_transcripts(folder, made)
    lost = len(documents) - len(made)
    left = [f"{lost:,} got no answer: the same command asks about them again"] * bool(lost)
    done = f"{len(made):,} responses transcribed by {name}: {folder / FILE}"
    return Results(folder, lines=[done, *left], lost=left)


def name_of(reader: Evaluation) -> str:
    """Return the name of a reader model, as it stands beside what rests on it."""
    names = (reader.model_args.get(name) for name in ("model", "pretrained", "path"))
    return Path(str(next(filter(None, names), reader.model))).name


def _choose(files: Iterable[Path], reader: str, *, failures: bool) -> Iterator[Sample]:
    """Yield the responses without a transcript of this reader, each text once."""
    seen: set[tuple[str, str]] = set()
    for file in files:
        for _, _, held in read_samples(file):
            for sample in held.attempts():
                made = sample.transcript
                if made and (made["reader"], made["version"]) == (reader, transcripts.version()):
                    continue
                key = sample.id, sample.text_hash
                is_there = sample.text.strip() and not sample.reasoning.hidden
                is_new = key not in seen and not sample.is_twin
                if is_there and is_new and not (failures and sample.score.correct):
                    seen.add(key)
                    yield sample


def _write_prompts(sample: Sample) -> Iterator[dict[str, Any]]:
    """Yield the documents of a response: a prompt for each piece of it."""
    room = _LEAST + _OF_STATEMENT * (as_count(sample.doc.get("N")) or 0)
    with suppress(*MALFORMED):  # a puzzle made elsewhere
        prompts = benchmarks.of(sample.doc).ask_reader(sample.text, sample.doc)
        room += int(_OF_CHARACTER * min(len(sample.text), transcripts.PIECE))
        for piece, prompt in enumerate(prompts):
            id = f"{sample.id} {sample.text_hash} {piece}"
            budget = estimate(prompt) * 5 // 4 + room
            yield {"id": id, "prompt": prompt, "context_budget": budget}


def _say_price(
    name: str, documents: Mapping[Sample, Sequence[Mapping[str, Any]]], reader: Evaluation
) -> None:
    """Print what is going to be asked, in how many tokens at most, and for what price."""
    listed = [each for some in documents.values() for each in some]
    sent = sum(estimate(each["prompt"]) for each in listed)
    written = sum(each["context_budget"] for each in listed) - sent
    price = ""
    if reader.price:
        price = f", at most {cost_of((sent, written), reader.caps.price):,.2f}"
    print(
        f"{name} is asked about {len(documents):,} responses in {len(listed):,} requests: about "
        f"{sent:,} tokens of prompts, at most {written:,} of transcripts{price}",
        file=sys.stderr,
    )

"""The transcripts of responses, on the disk beside their samples, and whose they are.

    FOLDER/samples_TASK_DATE.jsonl
    FOLDER/transcripts.jsonl        a line for each response that a reader model has transcribed

A transcript belongs to a puzzle and to a text: what is read of a response, its reasoning before it.
Where several readers have transcribed a text, the last line counts.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from cogniload_gen.answers.sample import Sample, Transcript
from cogniload_gen.files import MALFORMED, naming, read_objects, whole_file

FILE = "transcripts.jsonl"

ByText = dict[str, Transcript]
"""The transcripts of the responses to one puzzle, by `Sample.text_hash`."""


def read_transcripts(folder: Path) -> Mapping[str, ByText]:
    """Return the transcripts in a folder by puzzle; ValueError names a line that is none."""
    file = folder / FILE
    if not file.is_file():
        return {}
    state = file.stat()
    return _read(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _read(file: Path, *_state: int) -> dict[str, ByText]:
    read: dict[str, ByText] = {}
    for where, _, line in read_objects(file):
        with naming(where):
            made: Transcript = {
                "reader": str(line["reader"]),
                "version": int(line["version"]),
                "records": [*line["records"]],
            }
            read.setdefault(str(line["id"]), {})[str(line["text"])] = made
    return read


def add_transcripts(folder: Path, made: Iterable[tuple[Sample, Transcript]]) -> None:
    """Write transcripts of samples into a folder, in place of earlier ones of the same texts."""
    every = {id: {**by_text} for id, by_text in read_transcripts(folder).items()}
    for sample, transcript in made:
        every.setdefault(sample.id, {})[sample.text_hash] = transcript
    with whole_file(folder / FILE, force=True) as part, part.open("w", encoding="utf-8") as file:
        for id, by_text in every.items():
            for text, transcript in by_text.items():
                line: dict[str, Any] = {"id": id, "text": text, **transcript}
                file.write(json.dumps(line) + "\n")


def with_transcripts(sample: Sample, folder: Path) -> Sample:
    """Return a sample with the transcripts that its folder has of its responses."""
    known = read_transcripts(folder)
    with suppress(*MALFORMED):  # it may be no sample
        if known and (found := known.get(sample.id)):
            return Sample({**sample.held, "transcripts": found})
    return sample

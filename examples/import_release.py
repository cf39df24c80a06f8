"""The CogniLoad authors' puzzles -> rows that `cogniload score --dataset` takes.

Run it by `python examples/import_release.py DIR --out FILE.jsonl`. DIR holds what the authors'
script writes (exp/**/NAME.txt, meta/**/NAME_state.json) or the JSON lines of their sets on the Hub
(`dkfo/cogniload`, `cogniloadteam/cogniload`). The state names the people and the options; all else
is read from the puzzle's text by the solver. A puzzle that can't be read is named and left out.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from cogniload_gen.cogniload.knobs import PAPER_RHO, Cell
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.files import MALFORMED, whole_file


def list_sources(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the id of each puzzle, and all that its files say of it, as they are."""
    for path in sorted((folder / "exp").rglob("*.txt")):
        id = path.relative_to(folder / "exp").as_posix().removesuffix(".txt")
        state = folder / "meta" / f"{id}_state.json"
        texts = [each.read_bytes() for each in (path, state) if each.exists()]
        yield id, [*texts, {"answer": id.rpartition("_")[2]}]
    for path in sorted(folder.rglob("*.jsonl")):
        name = path.relative_to(folder).as_posix().removesuffix(".jsonl")
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            if line.strip():
                yield f"{name}-{number}", line


def flatten(source: Any) -> Iterator[Any]:
    """Yield a source's texts and objects, also those within JSON texts, the outer ones first."""
    with suppress(TypeError, ValueError):  # no text, or one that only looks like JSON
        source = json.loads(source)
    source = source.decode("utf-8") if isinstance(source, bytes) else source
    yield source
    if isinstance(source, dict | list):
        for part in source.values() if isinstance(source, dict) else source:
            yield from flatten(part)


def make_row(id: str, source: Any) -> dict[str, Any]:
    """Return the row of a puzzle; ValueError if its parts disagree or the text can't be read."""
    parts = list(flatten(source))
    puzzle = next((part for part in parts if isinstance(part, str) and "\n1. " in part), "")
    facts = {key: part[key] for part in parts if isinstance(part, dict) for key in part}
    solution = solve_steps(puzzle)
    poi, category, states = solution.poi, solution.category, solution.states
    if facts.get("answer", solution.answer) != solution.answer:
        raise ValueError(f"its text says {solution.answer}, its answer is {facts['answer']}")
    named = {part[category]: None for part in solution.parts if category in part}
    d, N = len(states[0][poi]), len(states) - 1
    needles = solution.needles.count(True)
    rhos = (rho for rho in PAPER_RHO if Cell(d, N, rho).needles == needles)
    return {
        "id": id, "d": d, "N": N, "rho": float(next(rhos, 100 * needles / N)), "needles": needles,
        "seed": None, "index": None, "puzzle": puzzle,
        "question": puzzle.rstrip().rpartition("\n")[2], "answer": solution.answer,
        "category": category, "poi": poi, "people": facts.get("people", list(states[0])),
        "options": facts.get("category_defaults", {}).get(category, list(named)),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--out", metavar="FILE.jsonl", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.out.exists():
        parser.error(f"{arguments.out} exists: choose another name")
    rows, failed = [], 0
    for id, source in list_sources(arguments.folder):
        try:
            rows.append(json.dumps(make_row(id, source)) + "\n")
        except (*MALFORMED, OSError) as error:
            print(f"{id}: {error}", file=sys.stderr)
            failed += 1
    if not rows:
        parser.error(f"{arguments.folder} holds no exp/**/NAME.txt or *.jsonl that can be read")
    with whole_file(arguments.out) as part:
        part.write_text("".join(rows), "utf-8")
    print(f"{arguments.out}: {len(rows)} puzzles, {failed} not imported")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

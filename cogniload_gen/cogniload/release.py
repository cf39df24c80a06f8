"""The files of the CogniLoad authors' release -> our columns, and the scores of answers to them.

The layout (CogniLoad, Appendix D.1): a puzzle's text is `exp/**/NAME.txt` and its state
`meta/**/NAME_state.json`, where NAME is `N_d_needles_puzzleId_gold`. What a text holds is checked
against its name and its state, and a file that can't be read never stops the others. The name's
needles are a count; the state's are a counter that the authors' script has run down to 0.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from reprlib import repr as brief

import pyarrow as pa
from tqdm import tqdm

from cogniload_gen.cogniload.knobs import PAPER_RHO, Cell
from cogniload_gen.cogniload.score import Outcome, score_response
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.table import SCHEMA
from cogniload_gen.files.inputs import read_text, read_whole
from cogniload_gen.files.write import table_writer

NAME = re.compile(
    r"(?P<num_statements>\d{1,7})_(?P<difficulty>\d{1,2})_(?P<needles>\d{1,7})_.+_(?P<gold>[^_]+)",
    re.ASCII,
)
"""A file's name; its numbers are called as in the JSON."""

STATE = {
    "poi": str,
    "num_statements": int,
    "difficulty": int,
    "category_defaults": dict,
    "people": list,
}
"""What is read of a JSON."""

BATCH_PUZZLES = 500
"""Puzzles that are held at a time."""

Finder = Callable[[str, Path], Path]
"""Takes a file's place, its path in its folder without the ending, and the file; gives another."""


def import_release(folder: Path, out: Path, *, force: bool = False) -> tuple[int, list[str]]:
    """Write the puzzles of a release to `out` (.jsonl or .parquet): how many, and the problems.

    The columns are those of `generate_puzzles`. `id` is the text's path within `exp`, `rho` the
    paper's value for that number of needles, else their percentage; `seed` and `index`, which a
    release does not hold, are null. A puzzle with a problem is left out; the problem names the file
    and the line or the fact that is wrong. Raises ValueError if no puzzle can be read or for
    another suffix of `out`, FileExistsError if `out` exists, unless `force`.
    """
    texts, find_state = release_files(folder)
    count, problems = 0, []

    def rows() -> Iterator[dict]:
        for place, text in tqdm(texts.items(), unit=" puzzles", disable=None):
            try:
                yield read_puzzle(place, text, find_state)
            except ValueError as error:
                problems.append(str(error))

    remaining = rows()
    with table_writer(out, SCHEMA, force=force) as write:
        while batch := list(islice(remaining, BATCH_PUZZLES)):
            write(pa.Table.from_pylist(batch, SCHEMA))
            count += len(batch)
        if not count:
            raise ValueError(f"{folder} holds no puzzle that can be read: {problems[0]}")
    return count, problems


def score_release(folder: Path, answers: Path) -> tuple[Counter[Outcome], list[str], int]:
    """Return a release's outcomes by a model's answers (Appendix D), the problems, and its size.

    An answer, reasoning included, is the text file in `answers` that has the path of its puzzle's
    text in `exp`, or else its name. The numbers of tokens are not known here, so only an empty
    response counts as cut off by the budget. Raises ValueError if no answer can be scored.
    """
    texts, find_state = release_files(folder)
    find_text = finder(texts, "puzzle")
    outcomes: Counter[Outcome] = Counter()
    problems: list[str] = []
    answer_files = files_by_place(answers, ".txt")
    for place, answer in tqdm(answer_files.items(), unit=" answers", disable=None):
        try:
            response = read_text(answer, "replace")
        except (OSError, ValueError) as error:
            problems.append(f"{answer}: {error}")
            continue
        try:
            row = read_puzzle(place, find_text(place, answer), find_state)
        except ValueError as error:
            problems.append(str(error))
            continue
        columns = {name: row[name] for name in ("poi", "answer", "category", "options")}
        outcomes[score_response(response, **columns)] += 1
    if not outcomes:
        got = problems[0] if problems else "no such file"
        raise ValueError(f"{answers} must hold answers NAME.txt to puzzles of {folder}, got {got}")
    return outcomes, problems, len(texts)


def release_files(folder: Path) -> tuple[dict[str, Path], Finder]:
    """Return the texts of a release by their path in `exp`, and what finds a text's state."""
    texts = files_by_place(folder / "exp", ".txt")
    if not texts:
        raise ValueError(f"{folder} must hold exp/**/NAME.txt, got no such file")
    return texts, finder(files_by_place(folder / "meta", "_state.json"), "JSON")


def files_by_place(folder: Path, ending: str) -> dict[str, Path]:
    """Return the files with an ending below a folder, by their path without the ending."""
    return {
        path.relative_to(folder).as_posix().removesuffix(ending): path
        for path in sorted(folder.rglob(f"*{ending}"))
        if path.is_file()
    }


def finder(files: dict[str, Path], kind: str) -> Finder:
    """Return a function that finds the one of the files at a place, or else with its name.

    It raises ValueError, naming the other file, where there is none or more than one.
    """
    by_name = defaultdict(list)
    for place, path in files.items():
        by_name[name_at(place)].append(path)

    def find(place: str, other: Path) -> Path:
        matches = [files[place]] if place in files else by_name[name_at(place)]
        if len(matches) != 1:
            raise ValueError(f"{other}: must have one {kind} with its name, got {len(matches)}")
        return matches[0]

    return find


def name_at(place: str) -> str:
    """Return the name at the end of a path."""
    return place.rpartition("/")[2]


def read_puzzle(place: str, text: Path, find_state: Finder) -> dict:
    """Return a puzzle of a release as a row; ValueError, with the file, if its parts disagree."""
    named = NAME.fullmatch(text.stem)
    if not named or not place.isprintable():
        raise ValueError(f"{text}: its name must be N_d_needles_puzzleId_gold")
    by_name = {
        fact: value if fact == "gold" else int(value) for fact, value in named.groupdict().items()
    }
    source = find_state(place, text)
    by_state = read_state(source)
    agree(f"{text}: its name says", by_name, f"{source} says", by_state)
    try:
        puzzle = read_text(text)
        solution = solve_steps(puzzle)
    except (OSError, ValueError) as error:
        raise ValueError(f"{text}: {error}") from None
    poi, category, states = solution.poi, solution.category, solution.states
    N, d = len(states) - 1, len(states[0][poi])
    # a statement that applies to the PoI gives them a new dictionary
    needles = sum(after[poi] is not before[poi] for before, after in pairwise(states))
    by_text = {
        "num_statements": N,
        "difficulty": d,
        "needles": needles,
        "gold": solution.answer,
        "poi": poi,
    }
    agree(f"{text}: its text says", by_text, "its name says", by_name)
    agree(f"{text}: its text says", by_text, f"{source} says", by_state)
    options = by_state["category_defaults"].get(category)
    if not is_texts(options) or solution.answer not in options:
        raise ValueError(
            f"{source}: category_defaults must list the values of {category}, "
            f"{solution.answer!r} among them; got {brief(options)}"
        )
    people = by_state["people"]
    if not states[0].keys() <= set(people):
        names = brief(list(states[0]))
        raise ValueError(f"{text}: its text has people {names}, {source} {brief(people)}")
    rhos = (rho for rho in PAPER_RHO if Cell(d, N, rho).needles == needles)
    return {
        "id": place,
        "d": d,
        "N": N,
        "rho": next(rhos, 100 * needles / N),
        "needles": needles,
        "puzzle": puzzle,
        "question": puzzle.rstrip().split("\n")[-1].strip(),
        "answer": solution.answer,
        "category": category,
        "poi": poi,
        "people": people,
        "options": options,
    }


def agree(one: str, facts: dict, other: str, others: dict) -> None:
    """Raise ValueError if two sources say different things of the same fact."""
    for fact, value in facts.items():
        if fact in others and value != others[fact]:
            raise ValueError(f"{one} {fact} {brief(value)}, {other} {brief(others[fact])}")


def read_state(path: Path) -> dict:
    """Return what a release's JSON says of a puzzle; ValueError names the file and the line."""
    try:
        state = json.loads(read_whole(path))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: line {error.lineno}: {error.msg}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(state, dict):
        raise ValueError(f"{path}: must be a JSON object, got {brief(state)}")
    for fact, kind in STATE.items():
        value = state.get(fact)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"{path}: {fact} must be {kind.__name__}, got {brief(value)}")
    if not is_texts(state["people"]):
        raise ValueError(f"{path}: people must be names, got {brief(state['people'])}")
    return {fact: state[fact] for fact in STATE}


def is_texts(values: object) -> bool:
    """Tell whether values are a list of texts that can be written."""
    return isinstance(values, list) and all(
        isinstance(value, str) and value.isprintable() for value in values
    )

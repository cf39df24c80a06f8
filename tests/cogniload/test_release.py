"""The authors' puzzles: files written here by their layout, from the generator's trace alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from questions import RELEASED
from stored import cases, read_lines, write_lines

from cogniload_gen import generate_puzzles, score

SCRIPT = Path(__file__).parents[2] / "examples/import_release.py"
WORDING = cases(__file__, "release.toml")


def clauses(settings, form):
    return " and ".join(WORDING[s["category"]][form].format(s["value"]) for s in settings)


def release_text(row):
    """Only people who were a statement's reference stand in the text, newest first."""
    initial = dict(zip(row["people"], row["initial_state"], strict=True))
    lines = ["Solve this puzzle in strictly sequential order :", ""]
    for name in dict.fromkeys(made["reference"] for made in reversed(row["statements"])):
        pairs = zip(row["categories"], initial[name], strict=True)
        values = [{"category": category, "value": value} for category, value in pairs]
        lines.append(f"{name} {clauses(values, 0)}.")
    for t, made in enumerate(row["statements"], 1):
        lines.append(
            f"{t}. The people {clauses(made['conditions'], 1)} {clauses(made['updates'], 2)}"
        )
    return "\n".join([*lines, "", RELEASED[row["category"]].format(row["poi"])])


def release_state(row):
    """What is read of the JSON, and the counters, which the authors' script runs down to 0."""
    domains = dict(zip(row["categories"], row["domains"], strict=True))
    facts = {"needles": 0, "hays": 0, "poi": row["poi"], "num_statements": row["N"]}
    return facts | {"category_defaults": domains, "people": row["people"]}


def place_of(row):
    number = 100_000 + 1_000 * row["index"] + round(10 * row["rho"])
    return f"d{row['d']}/{row['N']}_{row['d']}_{row['needles']}_{number}_{row['answer']}"


def write_script_files(folder, rows):
    for row in rows:
        for path, text in (
            (folder / "exp" / f"{place_of(row)}.txt", release_text(row)),
            (folder / "meta" / f"{place_of(row)}_state.json", json.dumps(release_state(row))),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def write_hub_files(folder, rows):
    for N in {row["N"] for row in rows}:
        lines = [
            {"puzzle": release_text(row), "answer": row["answer"], "metadata": release_state(row)}
            for row in rows
            if row["N"] == N
        ]
        with write_lines(folder / f"length_{N}.jsonl", lines).open("a") as file:
            file.write("\n")


def import_from(folder):
    out = folder / "out.jsonl"
    ran = subprocess.run(
        [sys.executable, SCRIPT, folder, "--out", out], capture_output=True, text=True, check=False
    )
    return ran, read_lines(out) if out.exists() else []


ROWS = generate_puzzles([1, 5, 12], [5, 20], [5, 50, 95], num_puzzles=8, trace=True).to_pylist()


@pytest.mark.parametrize("write", [write_script_files, write_hub_files])
def test_the_rows_are_the_puzzles_and_are_scored(tmp_path, write):
    write(tmp_path, ROWS)
    ran, rows = import_from(tmp_path)
    assert (ran.returncode, ran.stderr, len(rows)) == (0, "", len(ROWS))
    assert {row["category"] for row in ROWS} == set(WORDING)
    found = {row["puzzle"]: row for row in rows}
    for row in ROWS:
        imported = found[release_text(row)]
        same = ("d", "N", "needles", "answer", "category", "poi", "people", "options")
        assert {key: imported[key] for key in same} == {key: row[key] for key in same}
        if row["N"] == 20:  # for N = 5 some of the paper's rho give the same needles
            assert imported["rho"] == row["rho"]
        for value in row["options"]:
            said = f"Done.\n{RELEASED[row['category']].format(row['poi'])} {row['poi']}: {value}."
            assert score(said, imported).correct == (value == row["answer"])


def test_a_puzzle_that_cannot_be_read_is_named_and_the_rest_imported(tmp_path):
    write_script_files(tmp_path, ROWS[:4])
    texts = sorted((tmp_path / "exp").rglob("*.txt"))
    texts[0].write_text("no puzzle", "utf-8")
    texts[1].rename(texts[1].with_name("5_1_1_100000_nothing.txt"))
    ran, rows = import_from(tmp_path)
    assert (ran.returncode, len(rows), len(ran.stderr.splitlines())) == (1, 2, 2)
    assert "nothing: its text says" in ran.stderr
    ran, _ = import_from(tmp_path)
    assert ran.returncode == 2
    assert "exists: choose another name" in ran.stderr

"""The authors' release: files written here by its description, from the generator's trace alone."""

import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from command_line import refusal
from questions import RELEASED

from cogniload_gen import Outcome, generate_puzzles
from cogniload_gen.cogniload.release import import_release, score_release
from cogniload_gen.cogniload.table import SCHEMA
from cogniload_gen.commands import main

WORDING = {
    # category: initial state, condition, update; "a" stands before any noun, also before a vowel
    "location": ("is located at the {}", "located in the {}", "move to the {}"),
    "clothes_shirt": ("is wearing a {} shirt", "wearing a {} shirt", "change into a {} shirt"),
    "clothes_pant": ("is wearing a {} pant", "wearing a {} pant", "change into a {} pant"),
    "clothes_hat": ("is wearing a {} hat", "wearing a {} hat", "change into a {} hat"),
    "clothes_socks": ("is wearing {} socks", "wearing {} socks", "change into {} socks"),
    "clothes_gloves": ("is wearing {} gloves", "wearing {} gloves", "put on {} gloves"),
    "clothes_underwear": ("is wearing {} underwear", "wearing {} underwear", "put on {} underwear"),
    "hair": ("has {} colored hair", "having {} hair", "color their hair to {}"),
    "recent_eat": ("last ate a {}", "which most recently ate {}", "eat a {}"),
    "recent_watch": (
        "last watched a {} movie", "which most recently watched a {} movie", "watch a {} movie",
    ),
    "recent_listen": (
        "last listened to {} music", "which most recently listened to {} music",
        "listen to {} music",
    ),
    "recent_read": ("last read a {} book", "which most recently read a {} book", "read a {} book"),
}  # fmt: skip
INSTRUCTION = (
    'Solve this puzzle and end with a sentence on the asked property (eg "Peter is in the '
    'livingroom.", "Peter is wearing blue socks",.. ). Go in strictly sequential order :'
)


def clauses(settings: list[dict], form: int) -> str:
    return " and ".join(WORDING[s["category"]][form].format(s["value"]) for s in settings)


def release_text(row: dict) -> str:
    initial = dict(zip(row["people"], row["initial_state"], strict=True))
    people = []
    for name in used_people(row):
        pairs = zip(row["categories"], initial[name], strict=True)
        values = [{"category": category, "value": value} for category, value in pairs]
        people.append(f"{name} {clauses(values, 0)}.")
    statements = [
        f"{t}. The people {clauses(made['conditions'], 1)} {clauses(made['updates'], 2)}"
        for t, made in enumerate(row["statements"], 1)
    ]
    question = RELEASED[row["category"]].format(row["poi"])
    return "\n".join([INSTRUCTION, "", *people, *statements, "", question])


def used_people(row: dict) -> list[str]:
    """The references of the statements, newest first: nobody else stands in the text."""
    return list(dict.fromkeys(made["reference"] for made in reversed(row["statements"])))


def histories(row: dict) -> dict[str, list[dict]]:
    """Everyone's states, newest first, by the statements of the trace."""
    states = {
        name: [dict(zip(row["categories"], values, strict=True))]
        for name, values in zip(row["people"], row["initial_state"], strict=True)
    }
    for statement in row["statements"]:
        wanted = [(each["category"], each["value"]) for each in statement["conditions"]]
        changed = {each["category"]: each["value"] for each in statement["updates"]}
        for history in states.values():
            if all(history[0][category] == value for category, value in wanted):
                history.insert(0, history[0] | changed)
    return states


def release_state(row: dict) -> dict:
    return {
        "poi": row["poi"],
        "categories": row["categories"],
        "category_defaults": dict(zip(row["categories"], row["domains"], strict=True)),
        "num_statements": row["N"],
        "needles": 0,  # the authors' script counts down
        "hays": 0,
        "used_people": used_people(row),
        "poi_history": histories(row)[row["poi"]],
        "difficulty": row["d"],
        "people": row["people"],
        "history": histories(row),
    }


def release_name(row: dict) -> str:
    puzzle_id = 100_000 + 1_000 * row["index"] + round(10 * row["rho"])
    return f"{row['N']}_{row['d']}_{row['needles']}_{puzzle_id}_{row['answer']}"


def the_text(folder: Path, row: dict) -> Path:
    return folder / "exp" / f"d{row['d']}" / f"{release_name(row)}.txt"


def the_state(folder: Path, row: dict) -> Path:
    return folder / "meta" / f"d{row['d']}" / f"{release_name(row)}_state.json"


def write_release(folder: Path, rows: list[dict]) -> Path:
    for row in rows:
        for path, content in (
            (the_text(folder, row), release_text(row)),
            (the_state(folder, row), json.dumps(release_state(row))),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")
    return folder


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    """200 puzzles of 40 cells, of whom 40 have d = 12, so that every category is met."""
    cells = [1, 3, 5, 8, 12], [5, 20], [5, 25, 50, 95]
    return generate_puzzles(*cells, num_puzzles=5, trace=True).to_pylist()


@pytest.fixture(scope="module")
def release(rows, tmp_path_factory) -> Path:
    return write_release(tmp_path_factory.mktemp("release"), rows)


@pytest.fixture
def small(rows, tmp_path) -> Path:
    return write_release(tmp_path / "small", rows[:40])


def test_200_files_import(release, rows, tmp_path, capsys):
    out = tmp_path / "release.parquet"
    assert main(["import", str(release), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 200 puzzles, 0 not imported\n"
    table = pq.read_table(out)
    assert table.schema.equals(SCHEMA)
    found = {row["id"]: row for row in table.to_pylist()}
    assert len(found) == len(rows) == 200
    assert {row["category"] for row in rows} == set(WORDING)
    for row in rows:
        imported = found[f"d{row['d']}/{release_name(row)}"]
        same = ("d", "N", "needles", "answer", "category", "poi", "people", "options")
        assert {key: imported[key] for key in same} == {key: row[key] for key in same}
        assert imported["puzzle"] == release_text(row)
        assert imported["question"] == RELEASED[row["category"]].format(row["poi"])
        assert imported["seed"] is imported["index"] is None
        if row["N"] == 20:  # for N = 5 some of the paper's rho give the same needles
            assert imported["rho"] == row["rho"]


def test_jsonl_has_the_same_rows(small, tmp_path):
    for suffix in ("jsonl", "parquet"):
        assert import_release(small, tmp_path / f"a.{suffix}") == (40, [])
    lines = (tmp_path / "a.jsonl").read_text("utf-8").splitlines()
    assert list(map(json.loads, lines)) == pq.read_table(tmp_path / "a.parquet").to_pylist()


def damage(small: Path, rows: list[dict]) -> list[str]:
    """As many kinds of damage as files; what each problem must say."""
    texts = [the_text(small, row) for row in rows[:14]]
    states = [the_state(small, row) for row in rows[:14]]
    says = []

    def rename(i: int, old: str, new: str, problem: str) -> None:
        for path in (texts[i], states[i]):
            path.rename(path.with_name(path.name.replace(old, new, 1)))
        says.append(texts[i].name.replace(old, new, 1) + f": {problem}")

    def rewrite(i: int, facts: dict, problem: str) -> None:
        states[i].write_text(json.dumps(release_state(rows[i]) | facts))
        says.append(problem)

    N = rows[0]["N"]
    rename(0, f"{N}_", f"{N + 1}_", f"its name says num_statements {N + 1}, ")
    rename(1, f"_{rows[1]['answer']}", "_nothing", "its text says gold ")
    states[2].unlink()
    says.append(f"{texts[2]}: must have one JSON with its name, got 0")
    lines = texts[3].read_text().split("\n")
    broken = next(i for i, line in enumerate(lines) if line.startswith("3. "))
    lines[broken] = "3. The people are tired"
    texts[3].write_text("\n".join(lines))
    says.append(f"{texts[3]}: line {broken + 1}: expected conditions")
    rewrite(4, {"difficulty": 11}, f"{texts[4]}: its name says difficulty {rows[4]['d']}, ")
    rewrite(5, {"poi": "Nobody"}, f"{texts[5]}: its text says poi {rows[5]['poi']!r}, ")
    rewrite(6, {"category_defaults": {}}, f"{states[6]}: category_defaults must list the values of")
    rewrite(7, {"people": ["\ud800"]}, f"{states[7]}: people must be names, got ")
    states[8].write_text("{\n\n]")
    says.append(f"{states[8]}: line 3: ")
    texts[9].write_bytes(b"\xff")
    says.append(f"{texts[9]}: 'utf-8' codec can't decode")
    texts[10].rename(texts[10].with_name("notes.txt"))
    says.append(f"{texts[10].with_name('notes.txt')}: its name must be N_d_needles_puzzleId_gold")
    states[11].write_text("[" * 100_000)
    says.append(f"{states[11]}: ")
    rewrite(12, {"people": ["Nobody"]}, f"{texts[12]}: its text has people [")
    texts[13].unlink()
    texts[13].symlink_to("/proc/self/mem")  # which nobody can read from its start
    says.append(f"{texts[13]}: [Errno 5] Input/output error")
    return says


def test_what_is_damaged_is_named_and_the_rest_imported(small, rows, tmp_path, capsys):
    says = damage(small, rows)
    out = tmp_path / "a.jsonl"
    assert main(["import", str(small), "--out", str(out)]) == 1
    said = capsys.readouterr()
    assert said.out == f"{out}: 26 puzzles, 14 not imported\n"
    problems = said.err.splitlines()
    assert len(problems) == len(says) == 14
    for expected in says:
        assert sum(expected in problem for problem in problems) == 1, expected
    assert max(map(len, problems)) < 600
    assert len(out.read_text("utf-8").splitlines()) == 26


def test_a_count_of_needles_that_the_text_has_not(rows, tmp_path):
    row = next(row for row in rows if row["N"] == 20 and row["needles"] == 5)
    write_release(tmp_path, [row | {"needles": 6}])
    with pytest.raises(ValueError, match=r"its text says needles 5, its name says 6"):
        import_release(tmp_path, tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()


def test_nothing_to_import(tmp_path, capsys):
    error = refusal(capsys, "import", tmp_path, "--out", tmp_path / "a.parquet")
    assert "must hold exp/**/NAME.txt" in error
    assert list(tmp_path.iterdir()) == []


def test_a_name_in_two_folders_is_found_beside_its_own(rows, tmp_path):
    """The JSON at the same place counts; elsewhere, a name must be the only one."""
    row = rows[0]
    write_release(tmp_path, [row])
    for folder, ending in (("exp", ".txt"), ("meta", "_state.json")):
        own = tmp_path / folder / "d1" / f"{release_name(row)}{ending}"
        other = tmp_path / folder / "other" / own.name
        other.parent.mkdir()
        other.write_bytes(own.read_bytes())
    assert import_release(tmp_path, tmp_path / "a.jsonl") == (2, [])
    (tmp_path / "meta" / "d1").rename(tmp_path / "meta" / "elsewhere")
    count, (problem,) = import_release(tmp_path, tmp_path / "b.jsonl")
    assert count == 1
    assert problem.endswith("must have one JSON with its name, got 2")


@pytest.fixture
def answers(small, rows, tmp_path) -> Path:
    """By turns a right answer, a wrong value of the PoI's, no value, and nothing."""
    folder = tmp_path / "answers"
    folder.mkdir()
    for i, row in enumerate(rows[:40]):
        wrong = next(each for each in row["options"] if each not in row["answer"])
        said = [row["answer"], wrong, "nobody knows", ""][i % 4]
        sentence = f"Thinking.\n{row['question']} {row['poi']}: {said}." if said else ""
        (folder / f"{release_name(row)}.txt").write_text(sentence, "utf-8")
    return folder


def test_answers_are_scored(small, answers, capsys):
    outcomes, problems, puzzles = score_release(small, answers)
    assert (problems, puzzles) == ([], len([*(small / "exp").rglob("*.txt")]))
    assert outcomes.total() == 40
    assert sum(count for outcome, count in outcomes.items() if outcome.correct) == 10
    assert outcomes[Outcome.WRONG_LOGIC] + outcomes[Outcome.WRONG_LOGIC_POI] == 10
    assert outcomes[Outcome.WRONG_OTHER] == outcomes[Outcome.WRONG_MAX_CONTEXT] == 10
    assert main(["score", "--release", str(small), str(answers)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("40 responses, 10 correct (25.00%), 0 not scored; the release has ")


def test_answers_without_a_puzzle_are_named(small, answers, rows, capsys):
    (answers / "20_3_5_nobody_red.txt").write_text("red")
    (answers / f"{release_name(rows[0])}.txt").write_bytes(b"\xff" * 10)
    the_state(small, rows[1]).unlink()
    unreadable = answers / f"{release_name(rows[2])}.txt"
    unreadable.unlink()
    unreadable.symlink_to("/proc/self/mem")
    assert main(["score", "--release", str(small), str(answers)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("38 responses, 9 correct (23.68%), 3 not scored; the release has ")
    assert f"{unreadable}: [Errno 5] Input/output error\n" in said.err
    assert "20_3_5_nobody_red.txt: must have one puzzle with its name, got 0" in said.err
    assert said.err.count("\n") == 3


def test_an_answer_may_begin_with_a_byte_order_mark(small, rows, tmp_path):
    answer = tmp_path / "answers" / f"{release_name(rows[0])}.txt"
    answer.parent.mkdir()
    answer.write_text(rows[0]["answer"], "utf-8-sig")
    outcomes, *_ = score_release(small, answer.parent)
    assert outcomes == {Outcome.CORRECT_LAST_SENTENCE: 1}


def test_no_answers(small, tmp_path, capsys):
    answers = tmp_path / "empty"
    answers.mkdir()
    command = ("score", "--release", small)
    assert refusal(capsys, *command, answers).endswith(f"to puzzles of {small}, got no such file")
    (answers / "20_3_5_nobody_red.txt").write_text("red")
    assert refusal(capsys, *command, answers).endswith("got 0")
    assert "--release takes one folder of answers" in refusal(capsys, *command, "a", "b")


def test_any_bytes_are_named_or_imported(rows, tmp_path):
    """Bytes lost and changed anywhere: one puzzle less at most, and never a traceback."""
    draw = random.Random(7)  # noqa: S311
    folder = write_release(tmp_path, rows[:2])
    for i in range(200):
        path = the_text(folder, rows[0]) if i % 2 else the_state(folder, rows[0])
        whole = path.read_bytes()
        at, lost = draw.randrange(len(whole)), draw.randrange(9)
        path.write_bytes(whole[:at] + bytes([draw.randrange(256)]) + whole[at + lost :])
        count, problems = import_release(folder, tmp_path / "a.jsonl", force=True)
        assert (count, len(problems)) in ((2, 0), (1, 1))
        path.write_bytes(whole)

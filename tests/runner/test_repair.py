"""`cogniload why --repair`: a model goes on from its own text, and what its errors do is found."""

import html
import json
import re
import runpy
import zlib
from collections import Counter
from itertools import count

import pandas as pd
import pyarrow.parquet as pq
import pytest
from carrier import carry
from eval_command import arguments, command, completions, done, read
from lm_eval.models.api_models import JsonChatStr
from source_tree import ROOT

from cogniload_analysis.compare.repair_effects import explain_repairs
from cogniload_gen.answers.reasoning import go_on, spoken
from cogniload_gen.cogniload.solve import solve_steps
from lm_eval_tasks.budget import behind, continue_from

PUZZLES = {"d": [1, 3], "N": [6, 12], "rho": [50], "num_puzzles": 16}
SETTINGS = {"temperature": 0.7, "do_sample": True, "max_gen_toks": 900}
SAMPLING = ["--gen_kwargs", json.dumps(SETTINGS)]


def step_of(puzzle):
    """The statement at which the model slips, in three of four puzzles."""
    number, N = zlib.crc32(puzzle.encode()), len(solve_steps(puzzle).statements)
    return number // 4 % N + 1 if number % 4 else None


LAWS = {
    "fails again": lambda puzzle, t, said: t == step_of(puzzle),
    "by chance": lambda puzzle, t, said: not said and t == step_of(puzzle),
}
"""Slips at the same step whenever it is taken, or only in a response that begins."""


def begin(law, server, out):
    """A run of a model with a law, its samples by their ids; what was asked is forgotten.

    No two texts are the same: of equal ones, one would count.
    """
    turn = count()

    def reply(prompt):
        steps, line, final = carry(prompt, LAWS[law]).rpartition("\n")
        return f"{steps}{line}That is all, {next(turn)}.\n{final}"

    return ask(reply, server, out)


def ask(reply, server, out, sampling=SAMPLING, puzzles=PUZZLES):
    server.reply = reply
    words = completions(server, out, *sampling)
    words[words.index("--metadata") + 1] = json.dumps({"cogniload": puzzles})
    assert command(*words)[0] == 0
    server.asked()
    return {sample["doc"]["id"]: sample for sample in read(out)[1]}


@pytest.mark.parametrize("law", LAWS)
def test_planted_laws_are_found_on_a_completions_server(law, server, tmp_path):
    """Each text is the model's own, and each share what the law gives for these very texts."""
    before, run = begin(law, server, tmp_path / "run"), tmp_path / "run"
    out, _ = done("why", run, "--repair", "--budget", "250")
    rows = pq.read_table(run / "repair/puzzles/twins.parquet").to_pylist()
    assert sorted(server.asked()) == sorted(row["puzzle"] + row["prefix"] for row in rows)
    solved = {}
    for row in rows:
        base, _, twin = row["id"].partition("~")
        change, _, at = twin.partition("=")
        said, right = before[base]["resps"][0][0], before[base]["acc"] == 1
        assert right == (step_of(row["puzzle"]) is None)
        assert right or int(at) == step_of(row["puzzle"])
        assert said.startswith(row["prefix"]) == (change in ("kept", "redrawn"))
        assert len(row["prefix"].rstrip().splitlines()) == int(at) - (change == "redrawn")
        rest = carry(row["puzzle"] + row["prefix"], LAWS[law])
        ends_right = f" {row['answer']}" in rest.splitlines()[-1]
        solved.setdefault((change, right), []).append(ends_right)
    shares = {name: f"{100 * sum(some) / len(some):.0f} %" for name, some in solved.items()}
    assert len(solved["kept", False]) >= 30
    assert shares["corrected", False] == "100 %"
    assert "step corrected, 100 % (" in out
    stands = f"solved; with it as it stands, {shares['kept', False]}"
    assert f"of {len(solved['kept', False])} failures are {stands}" in out
    assert f"With that step drawn again, {shares['redrawn', False]}" in out
    assert law in out
    cost = 100 - int(shares["planted", True].removesuffix(" %"))
    assert 10 < cost < 100
    assert f"makes {cost} % (" in out
    whole = [(sample["resps"][0][0], sample["doc"]) for sample in read(run / "repair/answers")[1]]
    assert all(text.startswith(doc["prefix"]) for text, doc in whole)
    assert command("why", run, "--repair", "--budget", "250")[:2] == (0, out)
    assert not server.requests
    assert command("report", run, "--out", tmp_path / "report")[0] == 0
    page = html.unescape((tmp_path / "report/report.html").read_text("utf-8"))
    assert all(line in page for line in out.splitlines())
    (table,) = map(pd.read_csv, (tmp_path / "report/tables").glob("repair*.csv"))
    for _, rows in table.groupby(["of", "change", "against"], dropna=False):
        every, *thirds = rows["puzzles"]
        assert every == sum(thirds)


def greedy(prompt, harm):
    """What a model without luck goes on with: its answer is a function of all words before it.

    A quarter of all texts end wrong, whatever their steps, or half where no error does harm.
    """
    carried = carry(prompt, LAWS["fails again"])
    steps, _, final = carried.rstrip().rpartition("\n")
    draw = zlib.crc32((prompt + steps).encode()) / 2**32
    puzzle = solve_steps(prompt.partition("?")[0] + "?")
    named = sorted({part[puzzle.category] for part in puzzle.parts if puzzle.category in part})
    told = next(value for value in named if f" {value}" in final)
    true = puzzle.states[-1][puzzle.poi][puzzle.category]
    wrong = next(value for value in named if value != true)
    says = (told if draw < 0.75 else wrong) if harm else (true if draw < 0.5 else wrong)
    return f"{steps}\n{final.replace(f' {told}', f' {says}')}\n"


@pytest.mark.parametrize("harm", [True, False])
def test_greedy_decoding_is_compared_with_the_step_in_other_words(harm, server, tmp_path):
    """From a text as it stands it ends as it ended, whether or not the error does any harm."""
    run, still = tmp_path / "run", {"temperature": 0, "max_gen_toks": 900}
    sampling = ["--gen_kwargs", json.dumps(still)]
    ask(lambda prompt: greedy(prompt, harm), server, run, sampling, PUZZLES | {"num_puzzles": 40})
    out, _ = done("why", run, "--repair", "--budget", "200")
    ids = pq.read_table(run / "repair/puzzles/twins.parquet", columns=["id"])["id"].to_pylist()
    changes = Counter(re.search("~(.*)=", id)[1] for id in ids)
    assert changes.keys() == {"reworded", "corrected", "planted"}
    print(out)
    assert changes["reworded"] == changes["corrected"] + changes["planted"]
    assert changes["corrected"] in ([50] if harm else range(30, 51))  # four texts for a pair
    found = re.search(r"in other words, (\d+) %. So this error causes (.*) of them", out)
    alone, value, low, high = map(int, re.findall(r"-?\d+", " ".join(found.groups())))
    fails = re.search(r"An error planted in right responses makes .* \((.*) to (.*)\) of them", out)
    least, most = map(int, fails.groups())
    if harm:  # as far as no later statement overwrites it
        assert (alone < 15, low > 40, least > 10) == (True, True, True)
    else:
        assert abs(value) < 25 < alone
        assert low <= 0 <= high
        assert least <= 0 <= most


@pytest.mark.parametrize("greedy", [False, True])
def test_the_study_finds_errors_that_harm_and_no_others(greedy):
    """A small version of studies/repair.py, whose shares stand in results.txt."""
    study = runpy.run_path(str(ROOT / "studies/repair.py"))
    for name, (heals, _, causes) in study["MODELS"].items():
        if causes:
            *_, named, blamed, first, second, holds, held = study["judge"](name, greedy, 8)
            assert blamed == ("0.0 %" if heals else "100.0 %")
            assert float(named[:-2]) > 80
            assert max(abs(float(first)), abs(float(second))) < 7
            assert min(float(holds[:-2]), float(held[:-2])) > 80


@pytest.mark.parametrize("known", [{"said": "the same"}, {"greedy": True}])
def test_texts_that_only_repeat_are_no_cause_without_a_control(known):
    """As runs hold them that were made before there was one, or at a server that answers alike."""

    def explain(**solved):
        rows = [
            (f"p{i}{twin}", right and i % 2 == 0)
            for i in range(60)
            for twin, right in {
                "": False,
                **{f"~{name}=3": r for name, r in solved.items()},
            }.items()
        ]
        return explain_repairs(pd.DataFrame(rows, columns=["id", "correct"]).assign(N=9, **known))

    old = explain(kept=False, corrected=True)
    assert (old.causes, old.effects["low"].notna().any()) == ((), False)
    said = " ".join(old.verdict)
    assert "50 % (38 to 62) of 60 failures are solved" in said
    assert "open" in said and "--repair --out" in said and "error causes is" in said
    assert explain(kept=False, reworded=True, corrected=True).causes[:1] != ("error",)
    assert explain(kept=False, reworded=False, corrected=True).causes == ("error",)


FACES = {
    "rest": (lambda puzzle, begun, rest: {"content": rest}, False),
    "whole": (lambda puzzle, begun, rest: {"content": begun.strip() + "\n" + rest}, False),
    "filed": (lambda puzzle, begun, rest: {"content": None, "reasoning": rest.strip()}, False),
    "whole filed": (lambda puzzle, begun, rest: {"content": "", "reasoning": begun + rest}, False),
    "anew": (lambda puzzle, begun, rest: {"content": carry(puzzle, LAWS["by chance"])}, True),
    "nothing": (lambda puzzle, begun, rest: {"content": ""}, True),
}
"""What a server makes of a text that it is to go on from, and whether that is warned of."""


def test_a_chat_goes_on_where_its_server_says_so(server, tmp_path):
    """Else it is refused in one line, and nothing is asked."""
    begin("fails again", server, tmp_path)
    chat = arguments(server, tmp_path)[3:8]
    code, _, err = command("why", tmp_path, "--repair", "--budget", "20", *chat)
    assert (code, "continue_final_message" in err.splitlines()[-1]) == (2, True)
    assert not server.requests
    given = ["--gen_kwargs", json.dumps(SETTINGS | {"continue_final_message": True})]
    said = {}
    for face, (message, warned) in FACES.items():

        def goes_on(request, message=message):
            puzzle, begun = (sent["content"] for sent in request["messages"])
            rest = carry(puzzle + begun, LAWS["fails again"])
            choice = {"message": message(puzzle, begun, rest), "finish_reason": "stop"}
            return 200, json.dumps({"choices": [choice]})

        server.instead, out = goes_on, tmp_path / face
        words = ("why", tmp_path, "--repair", "--budget", "20", "--out", out, *chat, *given)
        code, said[face], err = command(*words)
        assert (code, "begin anew" in err) == (0, warned), (face, err)
        for sent in server.requests:
            assert sent["continue_final_message"]
            assert sent["add_generation_prompt"] is False
            assert [message["role"] for message in sent["messages"]] == ["user", "assistant"]
    assert {said[face] for face, (_, warned) in FACES.items() if not warned} == {said["rest"]}
    prompt = JsonChatStr('[{"role": "user", "content": "?"}]')
    with pytest.raises(ValueError, match="never from reasoning"):
        continue_from(prompt, "<think>\nSo", {"continue_final_message": True})


def test_a_model_goes_on_behind_its_own_reasoning():
    """Whatever channel it came by, and whether or not the template opens it."""
    text = "<think>\nSo.\n</think>\n\nRed."
    for told in ((text, None), ("So.\n</think>\n\nRed.", "So."), ("Red.", "So.")):
        assert spoken(*told) == text
    assert spoken("Red.") == "Red."
    thought = f"{text}\n3. Red"
    for begun, *came, whole in (
        ("<think>\nSo.", "Red.", "Yes.", "<think>\nSo. Yes.\n</think>\n\nRed."),
        (text, "", "3. Red", f"{text} 3. Red"),
        (text, thought, None, thought),
        ("", "", "Red.", " Red.\n</think>\n\n"),
    ):
        assert behind(begun, *came)[0] == whole
    assert not behind("1. Anna.\n2. Bob.\n", "1. Anna!", None)[1]
    for prompt, begun in (("?<think>\n", "So."), ("?<think></think>", "<think>\nSo.")):
        assert go_on(prompt, "<think>\nSo.") == prompt + begun

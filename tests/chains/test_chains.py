"""Real commands in a row, against servers that behave as servers do."""

import csv
import json
import re
import shlex
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from eval_command import (
    arguments,
    command,
    completions,
    killed_in_write,
    processes_start_at_once,  # noqa: F401 (every test's fixture)
    start,
    url_of,
)
from harness import lm_eval_random_state  # noqa: F401 (every test's fixture)
from inspect_run import evaluate, output
from lxml import html
from planted_model import Model, Puzzle, is_wrong, states_of
from planted_reader import Reader
from planted_server import Face, serving
from stored import read_lines, write_lines
from test_planted import ask

from inspect_tasks import tasks

FACES = {
    "right": Face(),
    "unseeded": Face(seed=False, reasoning="field", usage=False, busy=("seconds", "date")),
    "events": Face(stream="only", reasoning="field", emoji=True, busy=("fraction", "missing")),
    "inline": Face(reasoning="inline", loops=80_000, redirect=302),
    "hidden": Face(reasoning="hidden", redirect=308),
    "moved": Face(redirect=301, emoji=True),
    "refusing": Face(refuses="Irene", hangs="Sylvia", redirect=307),
    "whole": Face(continues="whole", usage=False),
    "must": Face(stream="must", seed=False),
}
PUZZLES = {"d": [1], "N": [5, 10, 20, 40], "rho": [50], "num_puzzles": 15}
WARM = {"temperature": 0.6, "do_sample": True}
LIMIT = 16
NAMES = {"hay": "distraction", "each": "length", "needles": "work"}
"""What the causes that are planted are called."""


class Chain:
    """Commands that share a folder, a server and a model."""

    def __init__(self, folder, server):
        self.folder, self.server, self.face = folder, server, server.face

    def eval(self, out, *others, gen=WARM, puzzles=PUZZLES, task="cogniload", make=arguments):
        """The words of a `cogniload eval`."""
        gen = gen | ({"stream": True} if self.face.stream == "must" else {})
        hangs = bool(self.face.hangs)
        patience = {"timeout": 3 if hangs else 60, "max_retries": 1 if hangs else 4}
        given = {"num_concurrent": 8, "tasks": task} | patience
        others = [*others, "--gen_kwargs", json.dumps(gen)]
        words = make(self.server, self.folder / out, *map(str, others), **given)
        words[words.index("--metadata") + 1] = json.dumps({"cogniload": puzzles})
        return words

    def do(self, *words, code=0):
        """Run a command; return what it prints, and the command that it names as the next."""
        found, out, err = command(*words)
        assert found == code, err[-2000:]
        assert "Traceback" not in err
        following = re.findall(r"^next: cogniload (.*)$", out + err, re.MULTILINE)
        return out, shlex.split(following[-1]) if following else []

    def report(self, *words):
        """The lines and the overview of a report, whose page says the same."""
        out, _ = self.do("report", *words[1:])
        folder = Path(words[words.index("--out") + 1])
        shown = " ".join(html.parse(folder / "report.html").getroot().text_content().split())
        lines = [re.sub(r"^\S.*?: ", "", line).strip() for line in out.splitlines()[:-1]]
        assert all(line.replace("`", "") in shown for line in lines)
        with (folder / "tables/overview.csv").open(encoding="utf-8") as file:
            rows = [*csv.DictReader(file)]
        halves = re.findall(r"half of the puzzles at (\d+) statements", out)
        assert set(halves) <= {f"{float(row['ECL50'] or 0):.0f}" for row in rows}
        for row in (row for row in rows if row["accuracy"]):
            assert (
                f"Solves {100 * float(row['accuracy']):.1f} % of {row['responses']} puzzles" in out
            )
        return lines, rows

    def lost(self):
        """The prompts that the server refuses, or lets hang."""
        words = [word for word in (self.face.refuses, self.face.hangs) if word]
        return {each.prompt for each in self.server.log if any(w in each.prompt for w in words)}

    def results(self, out, task="cogniload"):
        """The metrics of a run's only result set."""
        (file,) = (self.folder / out).glob("*/results_*.json")
        return json.loads(file.read_bytes())["results"][task]

    def assert_asked_once(self):
        """A prompt is asked once for each document and attempt, which its seed stands for."""
        asked = [(each.prompt, each.body.get("seed")) for each in self.server.answered]
        assert len(asked) == len({*asked})
        assert len({seed for _, seed in asked}) > len(asked) / 2

    def assert_asks_nothing(self, *words, code=0):
        before = len(self.server.answered)
        self.do(*words, code=code)
        assert len(self.server.answered) == before


@pytest.fixture
def chain(request, tmp_path, monkeypatch):
    """In a fresh folder, against the face of a name."""
    monkeypatch.chdir(tmp_path)
    with serving(FACES[request.param], Model((("position", 1),), LIMIT, heals=0.2)) as server:
        yield Chain(tmp_path, server)


def faces(*names):
    return pytest.mark.parametrize("chain", names, indirect=True)


@pytest.mark.parametrize(
    ("chain", "cause", "make"),
    [("right", "hay", arguments), ("unseeded", "each", completions),
     ("hidden", "needles", arguments), ("whole", "hay", arguments)],
    indirect=["chain"],
)  # fmt: skip
def test_eval_report_why_report_repair_report(chain, cause, make):
    """The planted cause is named; a repair goes on from the model's own text, or says no."""
    chain.server.model = Model(((cause, 1),), LIMIT)
    chain.server.model.calibrate()
    asked = chain.eval("run", make=make, puzzles=PUZZLES | {"num_puzzles": 40})
    said, following = chain.do(*asked)
    told, (before,) = chain.report(*following)
    short = [re.sub(r"^\S.*?: ", "", line).strip() for line in said.splitlines()]
    assert short[:-1] == told  # and then where the results are
    assert "`cogniload why " in told[-1]
    assert chain.results("run")["acc,none"] == pytest.approx(float(before["accuracy"]))
    assert float(before["ECL50_low"] or 0) < LIMIT < float(before["ECL50_high"])
    verdict, following = chain.do("why", "run")
    named = verdict.splitlines()[0].partition(" Not excluded")[0]
    assert re.findall("distraction|length|work", named) == [NAMES[cause]]
    assert following[:2] == ["report", "run"]
    lines, (row,) = chain.report(*following, "--force")
    assert (row["accuracy"], row["ECL50"]) == (before["accuracy"], before["ECL50"])
    assert NAMES[cause] in " ".join(lines)
    assert row["cause"] == NAMES[cause]
    assert "cogniload why" not in " ".join(lines)
    chain.assert_asks_nothing("why", "run")
    begun = ["--gen_kwargs", json.dumps(WARM | {"continue_final_message": True})]
    repair = ["why", "run", "--repair", *begun[: 2 * (make is arguments)]]
    hidden = chain.face.reasoning == "hidden"
    repaired, following = chain.do(*repair, code=2 if hidden else 0)
    if not hidden:
        solved = re.search(r"corrected, (\d+) % .*; with it as it stands, (\d+) %", repaired)
        assert int(solved[1]) > int(solved[2])
        assert chain.report(*following, "--force")[1] == [row]
    chain.assert_asked_once()


@faces("unseeded", "right")
def test_greedy_eval_repair_report(chain):
    """What would only be repeated is not asked: the control is the step in other words."""
    still = {"temperature": 0}
    make = arguments if chain.face.seed else completions
    chain.do(*chain.eval("run", make=make, gen=still, puzzles=PUZZLES | {"num_puzzles": 30}))
    begun = ["--gen_kwargs", json.dumps(still | {"continue_final_message": True})]
    repair = ["why", "run", "--repair", *begun[: 2 * (make is arguments)]]
    repaired, following = chain.do(*repair)
    words = (
        r"corrected, (\d+) % .* in other words, (\d+) %. So this error causes \d+ % \((-?\d+) to"
    )
    told = re.search(words, repaired)
    solved, alone, least = map(int, told.groups())
    assert (solved > alone, least > 0) == (True, True)
    (file,) = Path("run/repair").rglob("samples_*.jsonl")
    ids = [sample["doc"]["id"] for sample in read_lines(file)]
    assert {re.search("~(.*)=", id)[1] for id in ids} == {"reworded", "corrected", "planted"}
    chain.report(*following)
    chain.assert_asks_nothing(*repair)


@faces("right", "events", "refusing", "unseeded")
def test_until_report_compare_share(chain):
    """One ECL50 is on every page; a cap has a code of its own, and a higher one goes on."""
    at = ("--budget", 150, "--at", "d=1,rho=50", "--N", "4..40")
    words = chain.eval("run", "--until", "ECL50±40%", *at, puzzles={})
    if chain.face.usage:
        chain.do(*words, "--max-tokens-total", 9000, code=4)
    out, following = chain.do(*words)
    told = re.search(r"^ECL50 ([\d.]+) \((?:< )?([\d.]+) to ([\d.]+)\)", out, re.MULTILINE)
    value, low, high = map(float, told.groups())
    assert low < LIMIT < high
    _, (row,) = chain.report(*following)
    crossing = chain.results("run")["ECL50_crossing,none"]
    assert crossing == pytest.approx(float(row["ECL50"])) == pytest.approx(value, abs=0.05)
    chain.assert_asks_nothing(*words)
    chain.assert_asked_once()
    chain.server.model = replace(chain.server.model, skill=0.5)
    chain.do(*(word.replace("/run", "/weak") for word in words))
    said, _ = chain.do("compare", "run", "weak", "--out", "compared")
    assert "accuracy of adaptive runs is not compared" in said
    assert re.findall(r": not asked\. .*?`cogniload why (\w+)`", said) == ["run", "weak"]
    with Path("compared/comparison_fits.csv").open(encoding="utf-8") as file:
        (fit,) = (row for row in csv.DictReader(file) if row["measure"] == "ECL50")
    found = [chain.results(run)["ECL50_crossing,none"] for run in ("run", "weak")]
    compared = [float(fit["first_value"]), float(fit["second_value"])]
    assert sorted(compared) == pytest.approx(sorted(found), rel=1e-6)
    shared, _ = chain.do("share", "run", "--out", "shared", "--dataset", "a/b")
    (entry,) = yaml.safe_load(Path(shared.split()[-1]).read_text("utf-8"))
    assert entry["value"] == pytest.approx(chain.results("run")["ECL50_crossing,none"], rel=0.005)


@faces("right", "must", "inline", "moved")
def test_sweep_report_compare(chain):
    """Levels have the types of a request's and of a model's settings; all ask the same."""
    out, _ = chain.do(*chain.eval("gen", "--sweep", "temperature=0,0.7", gen={"do_sample": True}))
    asked = [(each.prompt, each.body["temperature"]) for each in chain.server.answered]
    assert Counter(temperature for _, temperature in asked) == {0: 60, 0.7: 60}
    assert len(asked) == len({*asked})
    right = re.findall(r"^temperature=\S+: \d+ answers, ([\d.]+)% right", out, re.MULTILINE)
    _, rows = chain.report("report", "gen", "--out", "report")
    assert sorted(right) == sorted(f"{100 * float(row['accuracy']):.1f}" for row in rows)
    compared, _ = chain.do("compare", "gen")
    assert all(re.search(rf"\b{value}\b", compared) for value in right)
    sweep = chain.eval("model", "--sweep", "num_concurrent=2,8", gen={"temperature": 0})
    out, _ = chain.do(*sweep)
    assert re.findall(r"^num_concurrent=\d: 60 answers, (\S+)% right", out, re.M) == 2 * right[:1]
    assert not any("num_concurrent" in each.body for each in chain.server.log)


@faces("right", "unseeded", "hidden", "refusing")
def test_shards_kill_resume_merge_copy_report(chain):
    """A copy of a run, and a second merge, count no answer twice."""
    words = [chain.eval("run", "--shard", shard) for shard in ("1/2", "2/2")]
    process = start(*words[0], prepare=killed_in_write, given=(chain.folder, 12, 0.5))
    process.join()
    assert process.exitcode == -9
    for shard in words:
        chain.do(*shard)
    asked = {(each.prompt, each.body["seed"]) for each in chain.server.log}
    assert len(asked) == 60  # a prompt has the same seed again after the kill
    assert len(chain.server.answered) <= 60 + 8
    _, following = chain.do("eval", "--merge", "run")
    lines, (row,) = chain.report(*following)
    assert int(row["responses"]) == 60 - len(chain.lost())
    assert chain.results("run")["acc,none"] == pytest.approx(float(row["accuracy"]))
    copies = [shutil.copytree("run", f"both/{n}", copy_function=shutil.copy) for n in (1, 2)]
    chain.do("eval", "--merge", copies[0])
    assert chain.report("report", copies[0], "--out", "copied") == (lines, [row])
    assert chain.report("report", "both", "--out", "joined")[1][0]["responses"] == row["responses"]


@faces("right", "unseeded", "moved", "refusing")
def test_base_gate_changed_model_gate(chain):
    """A verdict has its code in each file; a changed model behind the same name is no secret."""
    new = chain.server.elsewhere
    new.face = chain.face
    chain.do(*chain.eval("base"))
    other = chain.eval("base")
    place = json.loads(other[other.index("--model_args") + 1])
    place["base_url"] = place["base_url"].replace(
        str(chain.server.server_port), str(new.server_port)
    )
    words = ["gate", "base", "--margin", "20", "--budget", "600", "--model_args", json.dumps(place)]
    words += ["--json", "gate.json", "--junit", "gate.xml"]
    for skill, code, verdict in ((1, 0, "no worse"), (0.05, 1, "worse")):
        new.model = replace(new.model, skill=skill, version=1)
        said, _ = chain.do(*words, code=code)
        gate = json.loads(Path("gate.json").read_bytes())
        sides = {side["side"]: side for side in gate["runs"]}
        assert {side["model"] for side in sides.values()} == {"solver"}
        assert all(side["spent_response_tokens"] >= 0 for side in sides.values())
        assert gate["seconds"] >= 0
        assert (gate["exit_code"], gate["verdict"]) == (code, verdict)
        solved = f"base {100 * gate['base']:.1f}%, new {100 * gate['new']:.1f}%"
        assert f"{solved} of {gate['puzzles']} puzzles" in said
        assert f'failures="{code}"' in Path("gate.xml").read_text("utf-8")
        asked, new.model = len(new.answered), replace(new.model, skill=0.05)
        again, _, err = command(*words)
        assert (again, len(new.answered)) == (code, asked), err[-1000:]
        assert "begun" in err  # so old are the answers
        if code == 0:
            shutil.rmtree("gate/seed-0/new")
    chain.assert_asked_once()


@faces("right", "unseeded", "refusing")
def test_base_record_gate_watch_changed_model_alarm(chain):
    """A recorded base passes the same model and stops a worse one, night by night too."""
    chain.do(*chain.eval("base"))
    record = ["--record", "pool.parquet", "--budget", "300", "--attempts", "2"]
    out, _ = chain.do("gate", "base", *record)
    assert ("lack an answer" in out) == bool(chain.face.refuses)
    gate = ["gate", "--recorded", "pool.parquet", "--margin"]
    same, _ = chain.do(*gate, "20")
    assert same.startswith("verdict     no worse by more than 20 points")
    night = ["watch", "pool.parquet", "--puzzles", "80", "--json", "watch.json"]
    for _ in range(3):
        chain.do(*night)
    chain.server.face = replace(chain.face, refuses="Irene")
    chain.do(*night)
    chain.server.face = chain.face
    chain.server.model = replace(chain.server.model, skill=0.1, version=1)
    codes = []
    while 1 not in codes:
        assert len(codes) < 3
        codes.append(command(*night)[0])
    chain.assert_asks_nothing("watch", "pool.parquet", "--status", "--out", "watch", code=1)
    said, _ = chain.do(*night, code=1)
    watch = json.loads(Path("watch.json").read_bytes())
    assert watch["began"] in (4, 5)
    nights = watch["by_night"][watch["began"] - 1 :]
    answered = [each["puzzles"] - each["missing"] for each in nights]
    for side in ("base", "new"):
        solved = sum(n * each[side] for n, each in zip(answered, nights, strict=True))
        assert f"{side} {100 * solved / sum(answered):.1f}%" in said
    worse, _ = chain.do(*gate, "10", "--anew", code=1)
    assert worse.startswith("verdict     worse by more than 10 points")


@faces("right", "events", "hidden", "whole")
def test_twins_report(chain):
    """Twins are no puzzles of the run: it has the accuracy of the others, and no threshold."""
    puzzles = {"d": [1], "N": [10, 20, 40], "rho": [50], "num_puzzles": 8}
    out, following = chain.do(*chain.eval("run", task="cogniload_twins", puzzles=puzzles))
    assert not re.search("(ECL|NT|ID)50", out)
    _, (row,) = chain.report(*following)
    assert row["responses"] == "24"
    results = chain.results("run", "cogniload_twins")
    assert results["acc,none"] == pytest.approx(float(row["accuracy"]))
    assert not [name for name in results if "50" in name]
    chain.assert_asked_once()


@faces("right", "unseeded", "events", "must")
def test_generate_for_a_run_and_score(chain):
    """Puzzles that are predicted to be solved at a rate are solved at that rate."""
    chain.do(*chain.eval("run"))
    mix = ["--for", "run", "--num-puzzles", "12", "--split", "train"]
    _, out, err = command("generate", "mix.jsonl", *mix)
    low, high = map(float, re.search(r"pass rates are ([\d.]+) to ([\d.]+)", out + err).groups())
    rows = read_lines("mix.jsonl")
    chain.server.face = Face()
    told = {row["id"]: ask(chain.server, row["puzzle"], seed=3)[0] for row in rows}
    right = sum(not is_wrong(row["puzzle"], told[row["id"]].splitlines()[-1]) for row in rows)
    assert low - 0.1 < right / len(rows) < high + 0.1
    write_lines("told.jsonl", ({"id": id, "response": text} for id, text in told.items()))
    out, _ = chain.do("score", "--dataset", "mix.jsonl", "told.jsonl", "--out", "scored")
    assert f"{len(rows)} responses, {right} correct" in out
    _, (row,) = chain.report("report", "scored", "--out", "report")
    assert (row["correct"], row["responses"]) == (str(right), str(len(rows)))


@faces("right", "unseeded", "hidden", "inline")
def test_the_log_of_inspect_and_lm_evals_samples_say_the_same(chain):
    chain.do(*chain.eval("run", gen={"temperature": 0}))
    chain.server.face = Face(reasoning=chain.face.reasoning)

    def answer(messages):
        return output(*ask(chain.server, messages[-1].text, temperature=0))

    log = evaluate(tasks.cogniload(**PUZZLES), "logs", answer)
    (ours,), (theirs,) = (chain.report("", run, "--out", f"{run}-r")[1] for run in ("run", "logs"))
    same = ("correct", "responses", "ECL50", "ECL50_low", "ECL50_high", "breaks")
    assert [ours[name] for name in same] == [theirs[name] for name in same]
    accuracy = log.results.scores[0].metrics["accuracy"].value
    assert accuracy == pytest.approx(float(ours["accuracy"]))
    assert accuracy == pytest.approx(chain.results("run")["acc,none"])
    assert "can't be told apart" in chain.do("compare", "ours=run", "theirs=logs")[0]


@pytest.mark.parametrize(
    ("chain", "make"), [("right", arguments), ("unseeded", completions)], indirect=["chain"]
)
def test_eval_score_reader_report_repair(chain, make):
    """A model transcribes, code judges; nothing is asked twice, and the pages say who read."""
    chain.server.model = Model((("each", 1),), LIMIT)
    chain.server.model.calibrate()
    chain.do(*chain.eval("run", make=make))
    ((file, samples),) = ((f, read_lines(f)) for f in Path("run").glob("*/samples_*.jsonl"))
    wrong = [sample for sample in samples if not sample["acc"]]
    with serving(replace(chain.face, reasoning="inline", refuses=""), Reader()) as server:
        given = {"model": "scribe", "base_url": url_of(server), "num_concurrent": 8}
        asked = {"model": "local-chat-completions", "model_args": given, "price": "1,2"}
        asked |= {"apply_chat_template": True, "max_tokens_total": 9000}
        score = ["score", "run", "--steps", "--reader", "reader.yaml"]
        Path("reader.yaml").write_text(json.dumps(asked), "utf-8")
        if chain.face.usage:
            chain.do(*score, "--failures", code=4)
        Path("reader.yaml").write_text(json.dumps(asked | {"max_tokens_total": None}), "utf-8")
        chain.do(*score, "--failures")
        assert len({each.prompt for each in server.answered}) == len(wrong)
        out, _ = chain.do(*score)
        before = len(server.answered)
        assert chain.do(*score)[0].splitlines()[1:] == out.splitlines()[1:]
        prompts = [each.prompt for each in server.answered]
        assert len(prompts) == len({*prompts}) == before == len(samples)
    told = read_lines(file.parent / "transcripts.jsonl")
    assert {line["reader"] for line in told} == {"scribe"}
    firsts = Counter(first_error(sample) for sample in samples)
    counted = re.findall(r"^(\w+) +(\d+) ", out, re.MULTILINE)
    assert sum(int(count) for kind, count in counted if kind == "none") == firsts[None]
    chain.do("report", "run", "--out", "report")
    page = html.parse("report/report.html").getroot().text_content()
    assert f"{len(samples)} as scribe transcribed them" in page
    (step,) = {*re.findall(r"“[\w ]+” .*?: .*?\.", chain.do("report", "run", "--out", "again")[0])}
    assert step.endswith(f" of {len(samples) - firsts[None]}.")
    begun = ["--gen_kwargs", json.dumps(WARM | {"continue_final_message": True})]
    repaired, _ = chain.do("why", "run", "--repair", *begun[: 2 * (make is arguments)])
    assert "are solved" in repaired
    assert chain.do("score", "run", "--steps")[0].splitlines() == out.splitlines()[1:]


def first_error(sample):
    """The first line of a response that gives the PoI another state than it has."""
    puzzle = Puzzle(sample["doc"]["puzzle"])
    lines = re.findall(r"^(\d+)\. (.*)$", sample["resps"][0][0], re.MULTILINE)
    wrong = (int(t) for t, line in lines if dict(states_of(line)) != puzzle.states[int(t)])
    return next(wrong, None)

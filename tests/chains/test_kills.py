"""Kill each command at random moments; the same command must go on as if nothing had happened.

One moment of each is tried, or more: MOMENTS=20 pytest tests/chains/test_kills.py.
"""

import json
import os
import shutil
import signal
from collections import Counter
from random import Random

import pytest
from eval_command import (
    command,
    killed_at_event,
    model_args,
    processes_start_at_once,  # noqa: F401 (every test's fixture)
    start,
)
from harness import lm_eval_random_state, random_state_put_back  # noqa: F401 (every test's fixture)
from planted_model import Model
from planted_server import serving
from test_chains import WARM, Chain

MOMENTS = int(os.environ.get("MOMENTS", "1"))
SMALL = {"d": [1], "N": [6, 12, 24], "rho": [50], "num_puzzles": 16}
BEGUN = json.dumps(WARM | {"continue_final_message": True})
UNTIL = ("--until", "ECL50±60%", "--budget", 70, "--at", "d=1,rho=50", "--N", "4..40")
SHARDS = [("--shard", "1/2"), ("--shard", "2/2")]
NAMES = ("eval", "shards", "until", "sweep", "gate", "why", "repair", "merge", "report")
EVENTS = 90
"""Up to which event of a file a process is killed that asks nothing."""


class Kills:
    """Runs that the commands need, in a folder that each moment copies."""

    def __init__(self, folder, server):
        self.chain, self.folder, self.whole = Chain(folder, server), folder, {}
        for run, shard in (("base", ()), *(("shards", shard) for shard in SHARDS)):
            self.chain.do(*self.chain.eval(folder / "made" / run, *shard, puzzles=SMALL))

    def words(self, name, folder):
        """The commands of a name, which go on in a folder."""
        out, base, new = (
            folder / "out",
            folder / "base",
            model_args(self.chain.server, num_concurrent=8),
        )
        if name in ("eval", "shards", "until", "sweep"):
            others = {"until": UNTIL, "sweep": ("--sweep", "temperature=0,0.7")}.get(name, ())
            puzzles = {} if name == "until" else SMALL
            many = [shard + others for shard in (SHARDS if name == "shards" else [()])]
            asks = [self.chain.eval(out, *each, puzzles=puzzles) for each in many]
            return [*asks, ("eval", "--merge", out)] if name == "shards" else asks
        gate = ("gate", base, "--margin", 20, "--budget", 150, "--out", out, "--model_args", new)
        repair = ("why", base, "--repair", "--budget", 60, "--gen_kwargs", BEGUN)
        others = {"gate": gate, "why": ("why", base, "--budget", 120), "repair": repair}
        merge, report = ("eval", "--merge", folder / "shards"), ("report", base, "--out", out)
        return [{"merge": merge, "report": report, **others}[name]]

    def finish(self, name, folder):
        """What the last command says, and the samples that all leave, without paths and dates."""
        for words in self.words(name, folder):
            code, out, err = command(*words)
            assert code in ((0, 3) if name == "gate" else (0,)), err[-1500:]
        assert not [*folder.rglob("*.part")]
        said = [line for line in out.splitlines() if str(folder) not in line]
        samples = sorted(folder.rglob("samples_*.jsonl"))
        return said, [
            (file.parent.relative_to(folder), file.read_text("utf-8")) for file in samples
        ]

    def kill(self, name, random):
        """Kill the commands at a moment, and have them go on."""
        server, log, processes = self.chain.server, self.chain.server.log, []
        if name not in self.whole:
            begun, whole = len(log), shutil.copytree(self.folder / "made", self.folder / name)
            self.whole[name] = (
                self.finish(name, whole),
                Counter(each.prompt for each in log[begun:]),
            )
        left, asked = self.whole[name]
        begun, by_request = len(log), asked and random.random() < 0.7
        moment = random.randint(1, sum(asked.values()) if by_request else EVENTS)
        folder = shutil.copytree(self.folder / "made", self.folder / f"{name}-killed")

        def before(_prompt):
            if by_request and len(log) - begun == moment:
                os.kill(processes[-1].pid, signal.SIGKILL)

        server.before = before
        told = {} if by_request else {"prepare": killed_at_event, "given": (folder, moment)}
        for words in self.words(name, folder):
            processes.append(start(*words, **told))
            processes[-1].join()
        server.before = lambda _prompt: None
        try:
            assert self.finish(name, folder) == left, (name, moment)
            twice = Counter(each.prompt for each in log[begun:]) - asked
            assert sum(twice.values()) <= 8 * len(processes), (name, twice)
        finally:
            shutil.rmtree(folder)


@pytest.fixture(scope="module")
def running(processes_start_at_once, tmp_path_factory):  # noqa: F811
    with random_state_put_back(), serving(model=Model(limit=12)) as server:
        yield Kills(tmp_path_factory.mktemp("kills"), server)


@pytest.mark.parametrize("seed", range(MOMENTS))
@pytest.mark.parametrize("name", NAMES)
def test_a_killed_command_goes_on(running, name, seed):
    running.kill(name, Random(f"{name} {seed}"))  # noqa: S311

"""How often `cogniload why` names the planted cause, and nothing else, through real commands.

A planted model answers a server that honours a request's seed. A row takes some minutes a seed.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from simulated import print_table

sys.path[:0] = [str(Path(__file__).parents[1] / "tests/helpers")]

from eval_command import arguments, command, describe_quickly  # noqa: E402
from planted_model import Model  # noqa: E402
from planted_server import Face, serving  # noqa: E402

PUZZLES = {"d": [1], "N": [12, 24], "rho": [25, 50], "num_puzzles": 40}
PLANTED = {
    "length": {"position": 1},
    "distraction": {"hay": 1},
    "work": {"needles": 1},
    "distraction, length": {"hay": 1, "position": 1},
}
"""The causes that should be named, and what the slips grow with."""


def named(causes: dict[str, int], temperature: float, seed: int) -> str:
    """The causes in the verdict on one run."""
    model = Model(tuple(causes.items()), limit=16, rho=40, version=seed)
    settings = json.dumps({"temperature": temperature, "do_sample": temperature > 0})
    with serving(Face(), model) as server, TemporaryDirectory() as run:
        words = arguments(
            server, run, "--gen_kwargs", settings, tasks="cogniload", num_concurrent=8
        )
        words[words.index("--metadata") + 1] = json.dumps({"cogniload": PUZZLES})
        command(*words)
        verdict = command("why", run)[1].partition("\n")[0].partition("because of")[2]
        verdict = verdict.partition("Not excluded")[0]
    return ", ".join(cause for cause in ("distraction", "length", "work") if cause in verdict)


def rows(seeds: int) -> Iterator[list[str]]:
    yield ["planted", "temperature", "named, and nothing else", "otherwise"]
    for planted, causes in PLANTED.items():
        for temperature in (0.6, 0):
            found = Counter(named(causes, temperature, seed) for seed in range(seeds))
            right = f"{found.pop(planted, 0)} of {seeds}"
            others = "; ".join(f"{other or 'none'} {n}" for other, n in found.most_common())
            yield [planted, str(temperature), right, others]


if __name__ == "__main__":
    describe_quickly(setattr)
    print_table(rows(int((*sys.argv, 40)[1])))

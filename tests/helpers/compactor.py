"""Models that track everyone exactly, by what their messages tell, and compactors with losses.

They share no code with what measures them, but for the parser of statements.
"""

import json
import re
from functools import partial
from random import Random

from cogniload_gen import generate_puzzles
from cogniload_gen.answers.conversations import (
    PROMPTS,
    is_compacted,
    make_conversation,
    resume,
    score_replies,
    script_of,
)
from cogniload_gen.cogniload.ontology import VOCABULARIES
from cogniload_gen.cogniload.solve import solve_steps

_SUMMARY = re.compile(r"take the place of the conversation|tasked with summarizing|of everyone now")
_PEOPLE = re.compile(r"^(?!What )\w+ (?:is|has|last) .*\.$", re.MULTILINE)


def parse(text):
    """Return the people of a text, and the conditions and updates of its statements."""
    lines = re.findall(r"^\d+\. (The people .*)$", text, re.MULTILINE)
    lines = lines or ["The people having red hair dye their hair red."]
    people = _PEOPLE.findall(text) or ["Ann has red hair."]
    asked = f"What is the final state of {people[0].split()[0]}? All of it."
    numbered = [f"{i}. {line}" for i, line in enumerate(lines, 1)]
    solution = solve_steps("\n".join([*people, *numbered, asked]))
    return solution.states[0], solution.statements


def track(people, statements):
    """Return everyone's state after statements; of what is not known, none applies."""
    people = {person: dict(state) for person, state in people.items()}
    for conditions, updates in statements:
        for state in people.values():
            if all(state.get(name) == value for name, value in conditions.items()):
                state.update(updates)
    return people


def known(messages):
    """Return what the user's messages tell of everyone: from the last JSON, or from sentences."""
    text = "\n".join(said for role, said in messages if role == "user")
    held = [*re.finditer(r"^\{.*\}$", text, re.MULTILINE)]
    if not held:
        return track(*parse(text))
    _, statements = parse(text[held[-1].end() :])
    return track(json.loads(held[-1][0]), statements)


def reply(messages, spoil):
    """Return an exact answer to a question, and to a demand for a summary one that is spoilt."""
    asks = messages[-1][1]
    people = known(messages)
    if _SUMMARY.search(asks):
        return json.dumps(spoil(people))
    person = re.search(r"What is the state of (\w+)", asks)[1]
    state = ", ".join(f"{name}: {value}" for name, value in people.get(person, {}).items())
    return f"{person}: {state or 'nothing is known'}"


def keep(people):
    """A compactor that keeps all."""
    return people


def dropping(share, seed=0):
    """A compactor that drops a share of the facts at random."""
    draws = Random(seed)  # noqa: S311

    def drop(people):
        return {
            person: {name: value for name, value in state.items() if draws.random() >= share}
            for person, state in people.items()
        }

    return drop


def swap(people):
    """A compactor that swaps the first two people."""
    (one, mine), (two, other), *others = people.items()
    return {one: other, two: mine, **dict(others)}


def invent(people):
    """A compactor that invents every value of the first person: what nobody has."""
    first, *_ = people
    return people | {first: {name: _unheard(people, name) for name in people[first]}}


def _unheard(people, name):
    held = {state.get(name) for state in people.values()}
    return next(value for value in reversed(VOCABULARIES[name]) if value not in held)


def stale(people):
    """A compactor without a memory of who has what: the first person has what the last has."""
    first, *_, last = people
    return people | {first: people[last]}


def converse(row, spoil, errs=lambda: False):
    """Return the scores of a conversation whose model spoils its summaries, and errs at times."""
    messages, replies, summaries, before = [], [], [], ""
    for turn, (message, _) in enumerate(script_of(row), start=1):
        messages.append(("user", before + message))
        before = ""
        replies.append("Nobody knows." if errs() else reply(messages, spoil))
        messages.append(("assistant", replies[-1]))
        if is_compacted(row, turn):
            text = row["turns"][turn - 1]["everyone"]
            if "strategy" in row:
                text = reply([*messages, ("user", PROMPTS["json"])], spoil)
                summaries.append({"after": turn, "text": text})
            messages, before = [], resume(row, text)
    return score_replies(row, replies, summaries)


def conversations(rows, compactors, errs=lambda: False, **how):
    """Return rows as a report reads them: of each compactor by its name, and with true states."""
    found = []
    for row in rows:
        for name, spoil in (compactors | {"compacted_true": None}).items():
            history = "compacted" if spoil else name
            asked = {"k": 2, "every": 3, "asks": "late", "strategy": name} | how
            scores = converse(make_conversation(row, history=history, **asked), spoil, errs)
            found.append(scores | {"model": "planted", "puzzle": row["id"], "history": name})
    return found


def true_cost(rows, spoil, k=2, every=3):
    """Return the share of the later turns that a compactor spoils, by the states alone."""
    right = []
    for row in rows:
        solution = solve_steps(row["puzzle"])
        turns = make_conversation(row, k, "own", asks="late")["turns"]
        now = solution.states[0]
        for number, turn in enumerate(turns):
            end = min(k * (number + 1), row["N"])
            now = track(now, solution.statements[k * number : end])
            if number >= every:
                right.append(now.get(turn["poi"]) == solution.states[end][turn["poi"]])
            if (number + 1) % every == 0:
                now = spoil(now)
    return 1 - sum(right) / len(right)


DROPPED = {
    "keeps all": 0.0,
    "drops a twentieth": 0.05,
    "drops a tenth": 0.1,
    "drops a fifth": 0.2,
    "drops two fifths": 0.4,
}
"""The share that droppers drop."""

PLANTED = {
    **{name: partial(dropping, share) for name, share in DROPPED.items()},
    "gives a person another's values": lambda seed: stale,
    "swaps two people": lambda seed: swap,
    "invents a person's values": lambda seed: invent,
}
"""Compactors by what they do, each made of a seed."""

ORDERED = [*DROPPED][1:]
"""Those whose true order is known, the best first."""


def study(seeds, errs=0.1, size=(("d", 3), ("N", 16), ("rho", 50), ("twin", "question=state"))):
    """Return a table of what is measured of each compactor, with 60 puzzles a seed.

    A share of the replies is wrong besides. The true cost is that of other puzzles, by the states.
    """
    import numpy as np  # verifiers' environment has no analysis
    import pandas as pd

    from cogniload_analysis.cogniload.sections.compaction import costs_table, facts_table

    runs, size = [], dict(size)
    for seed in seeds:
        rows = generate_puzzles(**size, num_puzzles=60, seed=seed).to_pylist()
        made, draws = {name: make(seed) for name, make in PLANTED.items()}, Random(seed)  # noqa: S311
        found = conversations(rows, made, lambda draws=draws: draws.random() < errs)
        runs.append(facts_table(found).merge(costs_table(found), on="history"))
    others = generate_puzzles(**size, num_puzzles=1000, seed=1000).to_pylist()
    orders = [[name for name in run["history"] if name in ORDERED] for run in runs]
    in_order = sum(order == ORDERED for order in orders) / len(orders)
    table = [["compactor", "facts kept", "wrong anew", "within 2 points of what is dropped"]]
    table[0] += ["cost", "true cost", "interval holds it", "order of the four droppers is true"]
    for name, make in PLANTED.items():
        held = pd.concat(runs).query("history == @name")
        true = (1 - errs) * true_cost(others, make(0))
        holds = (held["cost_low"] <= true) & (true <= held["cost_high"])
        near = (held["anew"] - DROPPED.get(name, np.nan)).abs() <= 0.02
        shown = [*held[["kept", "anew"]].mean(), near.mean(), held["cost"].mean(), true]
        texts = [f"{100 * share:.1f} %" for share in (*shown, holds.mean(), in_order)]
        table.append([name, *texts[:2], texts[2] * (name in DROPPED), *texts[3:6]])
        table[-1].append(texts[6] * (name in ORDERED))
    return table

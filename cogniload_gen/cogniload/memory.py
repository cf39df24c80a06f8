"""Memory systems: statements are told session by session, and any person at any time is asked.

A system takes part by two functions, `add(text)` and `ask(question) -> text` (docs/compaction.md).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from cogniload_gen.benchmark import Row
from cogniload_gen.bm25 import rank_by_bm25
from cogniload_gen.cogniload.render import sentence, turns_of
from cogniload_gen.cogniload.score import score_state
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.draws import address_key

QUESTION = "What is the state of {} after statement {}? One sentence must give every attribute."


class Memory(Protocol):
    """What is told texts, and answers questions about them."""

    def add(self, text: str) -> object:
        """Take a session's text: people and their states, or numbered statements."""

    def ask(self, question: str) -> str:
        """Return the answer to a question such as QUESTION."""


def question_memory(row: Row, memory: Memory, k: int) -> list[dict[str, Any]]:
    """Tell a memory a puzzle, `k` statements a session, and ask it after each; return the scores.

    `row` is one of the twin question=state. The puzzle's id and the session draw who is asked
    about, and after which of the statements told so far. A score has `person`, `told` (the
    statements so far), `asked` (after which), `right` (0 or 1) and `share`, of the attributes that
    are right. ValueError for a `k` that is no integer above 0.
    """
    states, scores, told = solve_steps(row["puzzle"]).states, [], 0
    for session, turn in enumerate(turns_of(row, k)):
        memory.add(turn.message.rpartition("\n\n")[0])
        told = min(told + k, len(states) - 1)
        key = address_key(row["id"], session)
        asked, person = key % (told + 1), [*states[0]][key // (told + 1) % len(states[0])]
        state = states[asked][person].items()
        answer = ", ".join(f"{name}: {value}" for name, value in state)
        reply = memory.ask(QUESTION.format(person, asked))
        score = score_state(reply, {**row, "poi": person, "answer": answer})
        found = {"right": int(score.correct), "share": score.details["state_share"]}
        scores.append({"person": person, "told": told, "asked": asked} | found)
    return scores


@dataclass
class Lines:
    """A memory of the lines that it is told: some are chosen, and `answer` reads them.

    `answer` makes a text of the chosen lines and a question, as a model does, or as `solver`.
    Without `choose` it has the full context.
    """

    answer: Callable[[str, str], str]
    choose: Callable[[list[str], str], list[str]] = lambda lines, question: lines
    told: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Keep the lines of a text."""
        self.told += text.splitlines()

    def ask(self, question: str) -> str:
        """Return what `answer` makes of the lines chosen for a question."""
        return self.answer("\n".join(self.choose(self.told, question)), question)


def last(lines: list[str], question: str, count: int) -> list[str]:
    """Return the last lines; `partial(last, count=10)` chooses so."""
    return lines[-count:]


def best(lines: list[str], question: str, count: int) -> list[str]:
    """Return the lines that BM25 finds, in the order in which they were told."""
    return [lines[place] for place in sorted(rank_by_bm25(tuple(lines), question)[:count])]


def solver(text: str, question: str) -> str:
    """Return the answer to a question by all lines: of these, an oracle's."""
    person, number = re.findall(r"state of (\S+) after statement (\d+)", question)[0]
    whole = f"{text}\nWhat is the final state of {person}? It has every attribute."
    return sentence(person, solve_steps(whole).states[int(number)][person])

"""What a summary of a conversation keeps of everyone's state, told by the solver's.

A fact is the value of one attribute of one person after a statement. A summary is read by the rules
for answers about a whole state, person by person: what it only lets work out, such as a statement
that it quotes, is not kept.
"""

import re
from collections.abc import Sequence
from typing import Any

from cogniload_gen.benchmark import Row
from cogniload_gen.cogniload.ontology import WORDS
from cogniload_gen.cogniload.score import SPELLINGS, mentioned
from cogniload_gen.cogniload.solve import People, Solution, solve_steps

_STATEMENT = re.compile(r"(?:\d+[.):] *)?\bthe people (?:who|wearing|having|located)\b[^.\n]*")
_MARKS = re.compile(r"['’]s\b|[\"'*`#{}\[\]()]+")
_SEPARATOR = re.compile(r" *(?:[:=→]|->) *(?:the |an? )?")


def judge_summaries(row: Row, summaries: Sequence[Row]) -> tuple[list[Any], list[Any]]:
    """Return what each summary of a conversation says of all facts, and whether turns could rest.

    `row` is that of `make_conversation`; a summary has `text` and the turn that it is `after`, from
    1. Of the facts, person by person: `kind`, "kept", "lost" (no value), "changed" (a value that
    the person had before or that another has now) or "invented" (any other); `age`, the statements
    since they were told; `matter`, whether a statement or question reads them, up to the last
    question about the person, before they are told anew; `fresh`, whether the summary before was
    right in everything of the person, so that an error is this one's. For each turn the second list
    has whether all that it reads of the last summary is right; None before the first.
    """
    turns, k = row["turns"], row["k"]
    told = "\n".join(turn["message"].rpartition("\n\n")[0] for turn in turns)
    asked = f"What is the final state of {turns[-1]['poi']}? It has every attribute."
    solution = solve_steps(f"{told}\n{asked}")
    facts = [(person, name) for person, state in solution.states[0].items() for name in state]
    judged, held, right = list[Any](), list[Any](len(turns) * [None]), {*solution.states[0]}
    for summary in summaries:
        start = k * summary["after"]
        now, read, needed = solution.states[start], read_people(summary["text"], solution), set()
        for number in range(summary["after"], len(turns)):
            person, end = turns[number]["poi"], min(k * (number + 1), row["N"])
            reads = {(person, name) for name in _reads(solution, person, start, end)}
            held[number] = int(
                all(read[person].get(name) == now[person][name] for _, name in reads)
            )
            needed |= reads
        about: dict[str, Any] = {"after": summary["after"], "statement": start}
        about["kind"] = [_kind(solution, read, *fact, start) for fact in facts]
        about["age"] = [start - _told(solution, *fact, start) for fact in facts]
        about["matter"] = [int(fact in needed) for fact in facts]
        judged.append(about | {"fresh": [int(person in right) for person, _ in facts]})
        right = {person for person in now if read[person] == now[person]}
    return judged, held


def _kind(solution: Solution, read: People, person: str, name: str, start: int) -> str:
    """Return what becomes of a fact after statement `start`, by what is read of a summary."""
    value, now = read[person].get(name), solution.states[start]
    if value in (None, now[person][name]):
        return "lost" if value is None else "kept"
    before = {people[person][name] for people in solution.states[:start]}
    return "changed" if value in before | {state[name] for state in now.values()} else "invented"


def _told(solution: Solution, person: str, name: str, start: int) -> int:
    """Return the last statement up to `start` that told a fact; 0 where the beginning did."""
    states = [people[person] for people in solution.states[: start + 1]]
    told = (s for s in range(start, 0, -1) if states[s] is not states[s - 1])
    return next((s for s in told if name in solution.statements[s - 1][1]), 0)


def _reads(solution: Solution, person: str, start: int, end: int) -> set[str]:
    """Return what statements after `start`, and a question after `end`, read of a person's state.

    A statement reads the attributes of its conditions; what it tells anew is read no more.
    """
    old, read = set(solution.states[0][person]), set[str]()
    for step in range(start, end):
        conditions, updates = solution.statements[step]
        read |= old & conditions.keys()
        if conditions.items() <= solution.states[step][person].items():
            old -= updates.keys()
    return read | old


# --- reading


def read_people(text: str, solution: Solution) -> People:
    """Return the values that a text gives of each person of a puzzle, the last ones that it gives.

    What stands behind a name, up to the next, is of that person; names that are listed share it.
    Sentences, lists, JSON and tables are read.
    """
    people = {person.lower(): person for person in solution.states[0]}
    categories = [*solution.states[0][min(people.values())]]
    text, parts = _normal(_unfold(text.lower()), categories), dict.fromkeys(people, "")
    name = rf"\b(?:{'|'.join(map(re.escape, people))})\b"
    pieces = re.split(rf"({name}(?:(?: and |, | & ){name})*)", text)
    for listed, said in zip(pieces[1::2], pieces[2::2], strict=True):
        for person in re.findall(name, listed):
            parts[person] += f"\n{said}"
    return {
        people[person]: {c: value for c in categories if (value := _last(part, c, categories))}
        for person, part in parts.items()
    }


def _unfold(text: str) -> str:
    """Return a text whose tables are lists: each cell stands behind the heading of its column."""
    lines, headings = list[str](), list[str]()
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip(" |").split("|")] if "|" in line else []
        pairs = (f"{name}: {cell}" for name, cell in zip(headings, cells, strict=False))
        lines.append("; ".join(pairs) if cells else line)
        headings = (headings or cells) if cells else []
    return "\n".join(lines)


def _normal(text: str, categories: Sequence[str]) -> str:
    """Return a lowercase text without statements and marks, with each attribute by its own noun."""
    text = _STATEMENT.sub("", text)
    text = _SEPARATOR.sub(": ", _MARKS.sub("", text))
    for category in categories:
        words = "|".join(map(re.escape, [category, *WORDS[category]["words"].split()]))
        text = re.sub(rf"\b(?:{words})(?: colou?r| type)?(?=: )", WORDS[category]["noun"], text)
    return text


def _last(text: str, category: str, categories: Sequence[str]) -> str | None:
    """Return the last value of a category that a text gives; None for none.

    A value that no other of the categories has needs no word of its category beside it.
    """
    own = SPELLINGS[category]
    if any(SPELLINGS[other].keys() & own for other in categories if other != category):
        return next(reversed(mentioned(text, category)), None)
    words = "|".join(map(re.escape, own))
    found = re.findall(rf"(?<![\w-])(?:{words})(?![\w-])", text)
    return own[found[-1]] if found else None

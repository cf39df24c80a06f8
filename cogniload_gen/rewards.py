"""Responses -> rewards from 0 to 1, for training with TRL's GRPOTrainer or with `verifiers`.

**Answer**: 1 for a correct response, else 0. A CogniLoad response has to be correct by the paper's
scorer (Appendix D), and no sentence that the scorer reads may name another option: accuracy alone
would pay for a sentence that lists all values, or for another guess in each of three places. A
FACTOR response has to be correct by `score_factor`.

**Steps**: how far into the puzzle the response's own tracking stays right, whatever its answer.
Tracking is read from the lines that begin with a statement's number ("3.", "After statement 3:",
"**Step 3**") and name the person asked about (the PoI). What follows the name, up to another
person's, tells values that the PoI has after that statement, in the words of a puzzle ("is wearing
a blue hat and is in the park") or as "hat: blue"; values that are not told stay as they were. The
lines count in the order of the statements, others are passed over; a second line for the same
statement corrects the first; two values of one category on a line are none. With the PoI's values
all right after statements 1 to run, the reward is half run / N and half the share of the statements
changing the PoI that are among them. So every further statement pays, but to say of each that
nothing changes does not pay much.

FACTOR's steps are the values of the solution's variables. They are read where a response writes
them as the solution does ("v1 = v4 - 1 = 0", "Define South Zoo's Fox as d; so d = 2.", "South Zoo's
Fox = 2"), in any order; two values of a variable are none. The reward is the share of the
solution's variables, in its order, before the first that is not told right.

The rewards need nothing but the columns of a row as `load_dataset` gives them. No response makes
them raise, and their time is linear in its length.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cogniload_gen.cogniload.ontology import VOCABULARIES
from cogniload_gen.cogniload.score import SYNONYMS, score_response, sentence_windows
from cogniload_gen.cogniload.solve import State, solve_steps
from cogniload_gen.factor.score import score_factor

TRACKING_INSTRUCTION = (
    "After each statement, write a line with its number and what it leaves the person asked about "
    'like, for example "3. Peter is wearing blue socks and is in the park.", or "4. Peter stays '
    'the same." if nothing changes for them.'
)
"""What to add to a prompt so that a model knows how its steps are read."""

ENTRY = re.compile(r"\W*+(?:after\W++)?+(?:the\W++)?+(?:(?:statement|step)\W++)?+(\d{1,9})\b(.*)")
"""A lowercase line that begins with a statement's number, and what follows it."""

BEFORE = {
    "recent_eat": "ate|eats?",
    "recent_listen": "listen(?:ed|s)? to",
    "recent_watch": "watch(?:ed|es)?",
    "recent_read": "reads?",
    "location": "in the|at the|to the",
}
NOUNS = {
    "clothes_socks": "socks?",
    "clothes_shirt": "shirt",
    "clothes_pant": "pants?",
    "clothes_hat": "hat",
    "clothes_gloves": "gloves?",
    "clothes_underwear": "underwear",
    "hair": "hair",
    "recent_eat": "food",
    "recent_listen": "music",
    "recent_watch": "movie",
    "recent_read": "book",
    "location": "location",
}
"""By category: the words before a value, and the noun after it or before a colon."""

SPELLINGS = {
    category: {
        spelling: value
        for value in vocabulary
        for spelling in SYNONYMS.get(value, (value,))
        if spelling == value or spelling not in vocabulary
    }
    for category, vocabulary in VOCABULARIES.items()
}
"""The value of each accepted spelling, by category."""


def mention(category: str) -> re.Pattern:
    """What a mention of a value of the category looks like; one of its groups is the spelling."""
    value = f"({'|'.join(map(re.escape, SPELLINGS[category]))})"
    noun = NOUNS[category]
    forms = [f"{value} {noun}", f"{noun}(?: is|:| =) {value}"]
    if category in BEFORE:
        forms.append(f"(?:{BEFORE[category]}) (?:an? )?{value}")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?![\w-])")


MENTIONS = {category: mention(category) for category in VOCABULARIES}


class History(NamedTuple):
    """A puzzle's PoI by lowercase name, everyone's names, and the PoI's states from the first."""

    poi: str
    names: re.Pattern
    states: list[State]


@lru_cache(maxsize=128)  # a group's responses come together
def poi_history(puzzle: str) -> History:
    """The states that a response is held against; ValueError if the text is no puzzle."""
    solution = solve_steps(puzzle)
    names = "|".join(re.escape(name.lower()) for name in solution.states[0])
    states = [people[solution.poi] for people in solution.states]
    return History(solution.poi.lower(), re.compile(rf"\b({names})\b"), states)


def answer_score(response: str, row: Mapping) -> float:
    """1.0 if the response is correct and names no other option where its answer is read."""
    if row.get("suite"):
        given = pick(row, "suite", "answer") | {"target": row.get("target")}
        return float(score_factor(response, **given).outcome.correct)
    given = pick(row, "poi", "answer", "category", "options")
    windows = sentence_windows(response, poi=given["poi"], category=given["category"])
    answer = given["answer"].lower()
    spellings = "|".join(map(re.escape, SYNONYMS.get(answer, (answer,))))
    others = re.sub(rf"(?<![\w-])(?:{spellings})(?![\w-])", " ", "\n".join(windows))
    named = set(re.findall(r"[\w-]+", others))
    hedged = not named.isdisjoint(option.lower() for option in given["options"])
    return float(score_response(response, **given).correct and not hedged)


def step_score(response: str, row: Mapping) -> float:
    """How far into the statements, or into FACTOR's solution, the response stays right."""
    if row.get("suite"):
        expected = variables(pick(row, "solution")["solution"])
        told = variables(response)
        right = [told.get(name) == value for name, value in expected.items()]
        return [*right, False].index(False) / len(right)
    history = poi_history(pick(row, "puzzle")["puzzle"])
    states, tracked = history.states, tracked_states(response, history)
    right = [told == state for told, state in zip(tracked, states, strict=False)]
    run = [*right, False].index(False) - 1
    changing = [t for t, (before, after) in enumerate(pairwise(states), 1) if before != after]
    statements = run / (len(states) - 1)
    changes = sum(t <= run for t in changing) / len(changing) if changing else statements
    return (statements + changes) / 2


def tracked_states(response: str, history: History) -> list[State]:
    """The states of the PoI that a response tells, from the initial one on, in order."""
    states = history.states[:1]
    for line in re.sub("[*_`]", "", response).lower().splitlines():
        entry = ENTRY.match(line)
        if not entry or not 0 < (number := int(entry[1])) <= len(states) <= number + 1:
            continue
        told = told_values(entry[2], history)
        if told is not None:
            states[number:] = [states[-1] | told]  # the next one, or the last one corrected
    return states


def told_values(text: str, history: History) -> dict[str, str | None] | None:
    """The PoI's values that a text tells, None where it tells several; None if it has no PoI."""
    _, *named = history.names.split(text)
    about_poi = [
        words for name, words in zip(named[::2], named[1::2], strict=True) if name == history.poi
    ]
    if not about_poi:
        return None
    told = {}
    for category in history.states[0]:
        spellings = (
            spelling
            for words in about_poi
            for match in MENTIONS[category].finditer(words)
            for spelling in match.groups()
            if spelling
        )
        values = {SPELLINGS[category][spelling] for spelling in spellings}
        if values:
            told[category] = values.pop() if len(values) == 1 else None
    return told


def variables(text: str) -> dict[str, str | None]:
    """The values of FACTOR's variables that a text tells, in order; None where it tells several."""
    names, told = {}, {}
    for part in re.split(r"[\n;,]|\.(?=\s|$)", re.sub("[*_`$]", "", text)):
        left, equals, right = part.partition("=")
        left, value = left.strip(" -").removeprefix("so "), right.rpartition("=")[2].strip()
        if not equals:
            name, _, letter = left.removeprefix("Define ").partition(" as ")
            names[letter] = name
        elif left and re.fullmatch(r"-?\d{1,9}", value):
            word = left.split()[-1]
            for name in (left, names.get(word, word)):
                told[name] = value if told.get(name, value) == value else None
    return {name: value for name, value in told.items() if " " in name or name[1:].isdecimal()}


def answer_reward(completions: Sequence, **columns: object) -> list[float]:
    """For TRL's `reward_funcs`: the answer reward of each completion, by the columns of its row.

    A completion is a text or a list of messages. Raises ValueError if a column is missing.
    """
    pairs = zip(completions, rows(columns), strict=True)
    return [answer_score(text_of(completion), row) for completion, row in pairs]


def step_reward(completions: Sequence, **columns: object) -> list[float]:
    """For TRL's `reward_funcs`: the step reward of each completion, by the columns of its row.

    A completion is a text or a list of messages. Raises ValueError if a column is missing.
    """
    pairs = zip(completions, rows(columns), strict=True)
    return [step_score(text_of(completion), row) for completion, row in pairs]


async def trace_answer_reward(task: object, trace: object) -> float:
    """For the rewards of a `verifiers` 0.4 task whose data holds a row's columns as fields."""
    return answer_score(trace.last_reply, task.model_dump())


async def trace_step_reward(task: object, trace: object) -> float:
    """For the rewards of a `verifiers` 0.4 task whose data holds a row's columns as fields."""
    return step_score(trace.last_reply, task.model_dump())


def rubric_answer_reward(completion: object, info: Mapping) -> float:
    """For the `Rubric` of `verifiers` up to 0.3, where `info` holds a row's columns."""
    return answer_score(text_of(completion), info)


def rubric_step_reward(completion: object, info: Mapping) -> float:
    """For the `Rubric` of `verifiers` up to 0.3, where `info` holds a row's columns."""
    return step_score(text_of(completion), info)


def rows(columns: Mapping[str, object]) -> Iterator[dict]:
    """The rows of what a trainer passes by keyword: lists of columns, and things of its own."""
    lists = {name: values for name, values in columns.items() if isinstance(values, list)}
    for values in zip(*lists.values(), strict=True):
        yield dict(zip(lists, values, strict=True))


def pick(row: Mapping, *names: str) -> dict:
    """Some columns of a row; ValueError names the one that is missing."""
    for name in names:
        if name not in row:
            raise ValueError(f"a reward needs the column {name} of the puzzles, got {list(row)}")
    return {name: row[name] for name in names}


def text_of(completion: object) -> str:
    """The text that a model wrote: of a text, or of the assistant's among a list of messages."""
    if isinstance(completion, str):
        return completion
    if hasattr(completion, "get"):  # a mapping, or a model that is alike
        if completion.get("role", "assistant") != "assistant":
            return ""
        return text_of(completion.get("content") or completion.get("text"))
    if isinstance(completion, Sequence):
        return "\n".join(map(text_of, completion))
    return ""

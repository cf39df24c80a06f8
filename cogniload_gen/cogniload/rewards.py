"""Rewards of CogniLoad responses, from 0 to 1, for training.

**Answer**: a response has to be correct by the paper's scorer (Appendix D), and no sentence that
the scorer reads may name another option: accuracy alone would pay for a sentence that lists all
values, or for another guess in each of three places.

**Steps**: how far into the puzzle the response's own tracking stays right, whatever its answer.
Tracking is read from the lines that begin with a statement's number ("3.", "After statement 3:",
"**Step 3**") and name the person asked about (the PoI). What follows the name, up to another
person's, tells values that the PoI has after that statement, in the words of a puzzle ("is wearing
a blue hat and is in the park") or as "hat: blue"; values that are not told stay as they were. The
lines count in the order of the statements, and others are passed over. A second line for the same
statement corrects the first. A line that gives two values for a category gives none. With the PoI's
values all right after statements 1 to run, the reward is half run / N and half the share of the
statements changing the PoI that are among them. So every further statement pays, but answering
"stays the same" throughout earns little.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cogniload_gen.benchmark import Row
from cogniload_gen.checks import check_texts
from cogniload_gen.cogniload.ontology import VOCABULARIES, WORDS
from cogniload_gen.cogniload.score import SYNONYMS, asked_of, score_response, sentence_windows
from cogniload_gen.cogniload.solve import State, solve_steps

ENTRY = re.compile(r"\W*+(?:after\W++)?+(?:the\W++)?+(?:(?:statement|step)\W++)?+(\d{1,9})\b(.*)")
"""A lowercase line that begins with a statement's number, and what follows it."""

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
    """Return the pattern of a mention of the category's values; one group is the spelling."""
    value = f"({'|'.join(map(re.escape, SPELLINGS[category]))})"
    noun = WORDS[category].noun.removesuffix("s") + "s?"
    forms = [f"{value} {noun}", f"{noun}(?: is|:| =) {value}"]
    if verbs := WORDS[category].verbs:
        forms.append(f"(?:{verbs}) (?:an? )?{value}")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?![\w-])")


MENTIONS = {category: mention(category) for category in VOCABULARIES}


class History(NamedTuple):
    """A puzzle's PoI by lowercase name, everyone's names, and the PoI's states from the first."""

    poi: str
    names: re.Pattern
    states: list[State]


@lru_cache(maxsize=128)  # a group's responses come together
def poi_history(puzzle: str) -> History:
    """Return the states that a response is held against; ValueError if the text is no puzzle."""
    solution = solve_steps(puzzle)
    names = "|".join(re.escape(name.lower()) for name in solution.states[0])
    states = [people[solution.poi] for people in solution.states]
    return History(solution.poi.lower(), re.compile(rf"\b({names})\b"), states)


def answer_reward(response: str, row: Row) -> float:
    """Return 1.0 if a response is correct and names no other option where its answer is read."""
    given = asked_of(row)
    windows = sentence_windows(response, poi=given["poi"], category=given["category"])
    answer = given["answer"].lower()
    spellings = "|".join(map(re.escape, SYNONYMS.get(answer, (answer,))))
    read = "\n".join(sentence.text for sentence in windows)
    others = re.sub(rf"(?<![\w-])(?:{spellings})(?![\w-])", " ", read)
    named = set(re.findall(r"[\w-]+", others))
    hedged = not named.isdisjoint(option.lower() for option in given["options"])
    return float(score_response(response, **given).correct and not hedged)


def step_reward(response: str, row: Row) -> float:
    """Return how far into the statements a response's tracking stays right."""
    history = poi_history(check_texts(row, ("puzzle",))["puzzle"])
    states, tracked = history.states, tracked_states(response, history)
    right = [told == state for told, state in zip(tracked, states, strict=False)]
    run = [*right, False].index(False) - 1
    changing = [t for t, (before, after) in enumerate(pairwise(states), 1) if before != after]
    statements = run / (len(states) - 1)
    changes = sum(t <= run for t in changing) / len(changing) if changing else statements
    return (statements + changes) / 2


def tracked_states(response: str, history: History) -> list[dict[str, str | None]]:
    """Return the states of the PoI that a response tells, from the initial one on, in order.

    A value is None where the response tells several.
    """
    states: list[dict[str, str | None]] = [{**history.states[0]}]
    for line in re.sub("[*_`]", "", response).lower().splitlines():
        entry = ENTRY.match(line)
        if not entry or not 0 < (number := int(entry[1])) <= len(states) <= number + 1:
            continue
        told = told_values(entry[2], history)
        if told is not None:
            states[number:] = [{**states[-1], **told}]  # the next one, or the last one corrected
    return states


def told_values(text: str, history: History) -> dict[str, str | None] | None:
    """Return the PoI's values in a text, None where it gives several; None if it has no PoI."""
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

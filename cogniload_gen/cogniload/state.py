"""The score of a response to a question about the whole state of the person of interest (PoI).

It is right if all attributes are; their share is the partial credit. The response is read from the
PoI's name in the last line that has it, up to the end; of several values of one attribute, the last
one counts.
"""

import re
from typing import Unpack

from cogniload_gen.benchmark import Counts, Row, Score
from cogniload_gen.cogniload.ontology import WORDS
from cogniload_gen.cogniload.rewards import MARKS, MENTIONS, SPELLINGS
from cogniload_gen.cogniload.score import Outcome, asked_of, places_in, with_budget
from cogniload_gen.responses.context_budget import is_cut_off
from cogniload_gen.responses.doubt import HEDGE


def score_state(response: str, row: Row, **counts: Unpack[Counts]) -> Score:
    """Return the score of a response to a puzzle with this question, given as a row.

    The `counts` are those of `score_row`. `state_share` of the details is the share of the
    attributes that are right. Raises ValueError if the row lacks a column, or has it wrong.
    """
    columns = asked_of(row)
    gold = attributes(columns["answer"])
    counts = with_budget(counts)
    if is_cut_off(**counts) or not response.strip():
        budget = f"{counts['context_budget']:,} tokens"
        why = f"no response, or prompt and response reached the budget of {budget}"
        return Score(Outcome.WRONG_MAX_CONTEXT, None, None, why, {"state_share": 0.0})
    start = start_of_state(response.lower(), columns["poi"].lower())
    values = read_state(response.lower()[start:], gold)
    if not values:
        why = "no attribute is stated"
        return Score(Outcome.WRONG_OTHER, None, None, why, {"state_share": 0.0})
    wrong = [category for category, value in gold.items() if values.get(category) != value]
    share = 1 - len(wrong) / len(gold)
    why = f"of {len(gold)} attributes, {len(wrong)} are wrong or left out"
    why += f": {', '.join(wrong)}" * bool(wrong)
    outcome = Outcome.WRONG_LOGIC if wrong else Outcome.CORRECT_VALID
    read = ", ".join(f"{category}: {value}" for category, value in values.items())
    place = places_in(response, (start, len(response.lower())))
    return Score(outcome, read, place, why, {"state_share": share})


def state_reward(response: str, row: Row) -> float:
    """Return the share of the attributes that a response has right; 0.0 if it hedges."""
    score = score_state(response, row)
    hedged = score.evidence and HEDGE.search(response[slice(*score.evidence)].lower())
    return 0.0 if hedged else float(score.details["state_share"])


def attributes(answer: str) -> dict[str, str]:
    """Return the values of an answer by category; ValueError if it is about no state."""
    pairs = [part.partition(": ") for part in answer.split(", ")]
    values = {category: value for category, _, value in pairs}
    if not values.keys() <= WORDS.keys():
        raise ValueError(f"answer must be a value for each category, got {answer[:100]!r}")
    return values


def start_of_state(response: str, poi: str) -> int:
    """Return where the PoI's state starts in a lowercase response; 0 if it has no such name."""
    names = [match.start() for match in re.finditer(rf"\b{re.escape(poi)}\b", response)]
    line = response.rfind("\n", 0, names[-1]) if names else 0
    return next((start for start in names if start > line), 0)


def read_state(text: str, categories: dict[str, str]) -> dict[str, str]:
    """Return the value of each category that a lowercase text states last."""
    for category in categories:
        text = text.replace(category, WORDS[category].noun)  # as in the answer's own words
    text = MARKS.sub(" ", text)
    values = {}
    for category in categories:
        for match in MENTIONS[category].finditer(text):
            (spelling,) = filter(None, match.groups())
            values[category] = SPELLINGS[category][spelling]
    return values

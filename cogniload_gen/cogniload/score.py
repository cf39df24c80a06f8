"""A model's response -> one of the paper's eight outcomes (CogniLoad, Appendix D).

The pseudocode (Algorithms 1 to 3) decides where the prose of the appendix differs from it. So an
alternative named beside the gold value counts only where it encloses the gold value's last
mention, whichever of the two is mentioned last (D.4, points 4 and 5).

Two conditions of the paper follow from others and have no line of their own here: an empty
response has an empty last sentence, and a sentence that holds an alternative is not empty.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from cogniload_gen.budget import CONTEXT_BUDGET, is_cut_off

QUESTION_STARTS = {
    "Where is": "location",
    "What color shirt": "clothes_shirt",
    "What color pant": "clothes_pant",
    "What color hat": "clothes_hat",
    "What color of socks": "clothes_socks",
    "What color of gloves": "clothes_gloves",
    "What color of underwear": "clothes_underwear",
    "What is the final hair color": "hair",
}
QUESTION_ENDS = {
    "most recently eat?": "recent_eat",
    "recently watch?": "recent_watch",
    "recently listen to?": "recent_listen",
    "recently read?": "recent_read",
}

QUALIFIERS = {
    "location": ("at", "located", "in"),
    "clothes_shirt": ("shirt", "wear"),
    "clothes_pant": ("pant", "wear"),
    "clothes_hat": ("hat", "wear"),
    "clothes_gloves": ("glove", "wear"),
    "clothes_socks": ("sock", "wear"),
    "clothes_underwear": ("underwear", "wear"),
    "hair": ("hair",),
    "recent_eat": ("eat", "ate"),
    "recent_watch": ("watch", "watched", "movie"),
    "recent_listen": ("listen", "listened", "music"),
    "recent_read": ("read", "book"),
}
"""What a line names beside the PoI to be about the asked category (D.2)."""

SYNONYMS = {
    "reaggea": ("reaggea", "reggae"),
    "reagea": ("reagea", "reaggea", "reggae"),  # the same value as the ontology spells it
    "sci-fi": ("sci-fi", "science fiction", "science-fiction"),
    "camp": ("camp", "campground"),
    "potatoes": ("potatoes", "potato"),
    "market": ("market", "marketplace"),
    "livingroom": ("livingroom", "living room"),
}
"""The accepted spellings of a value; any other value is accepted as it stands (D.4).

As in the paper, though a spelling that starts with another of its row adds nothing.
"""

BOUNDARIES = (" ", "[", '"', "'", "*", "_", "{", "(")
"""What may stand before an answer within a sentence: D.4 prints ", Algorithm 3 prints '."""


class Outcome(StrEnum):
    """What became of a response (D.5), named as in the paper."""

    CORRECT_VALID = "correct_valid"
    CORRECT_POI = "correct_poi"
    CORRECT_LAST_SENTENCE = "correct_last_sentence"
    WRONG_LOGIC = "wrong_logic"
    WRONG_LOGIC_POI = "wrong_logic_poi"
    WRONG_LOGIC_LAST_SENTENCE = "wrong_logic_last_sentence"
    WRONG_OTHER = "wrong_other"
    WRONG_MAX_CONTEXT = "wrong_max_context"

    @property
    def correct(self) -> bool:
        """Whether the response counts as correct in the paper's accuracy."""
        return self in CORRECT


CORRECT = (Outcome.CORRECT_VALID, Outcome.CORRECT_POI, Outcome.CORRECT_LAST_SENTENCE)
WRONG_LOGIC = (
    Outcome.WRONG_LOGIC,
    Outcome.WRONG_LOGIC_POI,
    Outcome.WRONG_LOGIC_LAST_SENTENCE,
)


class SentenceWindows(NamedTuple):
    """The lowercase sentences of a response in which the answer is looked for, in that order."""

    valid_poi_last_sentence: str
    poi_last_sentence: str
    last_sentence: str


def score_response(
    response: str,
    *,
    poi: str,
    answer: str,
    category: str,
    options: Iterable[str],
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    context_budget: int = CONTEXT_BUDGET,
) -> Outcome:
    """The outcome of a response, reasoning included, to a CogniLoad puzzle (Appendix D).

    `poi` is the name of the person asked about, `answer` the gold value, `category` the asked one
    of the 12 categories (`question_category` tells it from a question), `options` the value domain
    of that category, with or without the answer. `prompt_tokens` and `response_tokens` are counted
    against `context_budget`, which they share; a count that is not known counts as 0.

    Raises ValueError if there is no such category.
    """
    gold = answer.lower()
    alternatives = {option.lower() for option in options} - {gold}
    windows = sentence_windows(response, poi=poi, category=category)
    cut_off = is_cut_off(prompt_tokens, response_tokens, context_budget)
    if cut_off or windows.last_sentence == "":
        return Outcome.WRONG_MAX_CONTEXT
    found = [check_correct_answer(gold, sentence) for sentence in windows]
    flagged = [alternative_flag(sentence, alternatives, gold) for sentence in windows]
    for outcome, c, a in zip(CORRECT, found, flagged, strict=True):
        if c and not a:
            return outcome
    for outcome, c, a in zip(WRONG_LOGIC, found, flagged, strict=True):
        if not c and a:
            return outcome
    return Outcome.WRONG_OTHER


def question_category(question: str) -> str:
    """The category that a puzzle's question asks about (D.2); ValueError if it is none of them."""
    for start, category in QUESTION_STARTS.items():
        if question.startswith(start):
            return category
    for end, category in QUESTION_ENDS.items():
        if question.endswith(end):
            return category
    openings = ", ".join([*QUESTION_STARTS, *(f"... {end}" for end in QUESTION_ENDS)])
    raise ValueError(f"question must be one of the form {openings}; got {question[:100]!r}")


def sentence_windows(response: str, *, poi: str, category: str) -> SentenceWindows:
    """The sentences that decide a response's outcome (D.3); a missing one is the empty string.

    Raises ValueError if `category` is none of the 12 categories.
    """
    if category not in QUALIFIERS:
        raise ValueError(f"category must be one of {', '.join(QUALIFIERS)}; got {category!r}")
    name, qualifiers = poi.lower(), QUALIFIERS[category]
    lines = response.lower().split("\n")
    if lines[-1].startswith("(") and lines[-1].endswith(")"):
        lines.pop()
    lines = [line for line in lines if line.strip()] or [""]
    poi_lines = [line for line in lines if name in line] or [""]
    valid_poi_lines = (
        line for line in reversed(poi_lines) if any(word in line for word in qualifiers)
    )
    return SentenceWindows(
        valid_poi_last_sentence=take_last_sentence(next(valid_poi_lines, "")),
        poi_last_sentence=take_last_sentence(poi_lines[-1]),
        last_sentence=take_last_sentence(lines[-1]),
    )


def take_last_sentence(text: str) -> str:
    """What stands before the last full stop, back to the one before it; without one, all (D.3).

    So "a. b." gives " b", and so does "a. b. c", whose last sentence lacks its full stop.
    """
    parts = text.rsplit(".", 2)
    return parts[-2] if len(parts) >= 2 else text


def check_correct_answer(gold: str, sentence: str) -> bool:
    """Whether a lowercase sentence holds a value in one of its accepted spellings (D.4)."""
    return any(check_answer(term, sentence) for term in SYNONYMS.get(gold, (gold,)))


def check_answer(term: str, sentence: str) -> bool:
    """Whether a sentence holds a term at its start or after a boundary; it may go on (D.4)."""
    if term not in sentence:  # almost always, and quick to tell
        return False
    return sentence.startswith(term) or any(mark + term in sentence for mark in BOUNDARIES)


def alternative_flag(sentence: str, alternatives: Iterable[str], gold: str) -> bool:
    """The paper's AltFlag: whether a lowercase sentence answers with another value (D.4).

    Where the gold value is in the sentence too, at a boundary or not, only an alternative whose
    last mention encloses the gold value's last mention counts, as "non-fiction" does "fiction".
    """
    present = any(check_correct_answer(value, sentence) for value in alternatives)
    start = sentence.rfind(gold)
    if not present or start == -1:
        return present
    end = start + len(gold)
    last_mentions = ((sentence.rfind(value), len(value)) for value in alternatives)
    return any(0 <= first <= start and end <= first + size for first, size in last_mentions)


def outcome_metrics(outcome: Outcome) -> dict[str, int | str]:
    """An outcome as a sample's metrics: accuracy, the outcome's name, a flag a wrong outcome."""
    wrong = {other.value: int(other is outcome) for other in Outcome if not other.correct}
    return {"acc": int(outcome.correct), "outcome": outcome.value, **wrong}

"""Which of the paper's outcomes a response to a CogniLoad puzzle has (Appendix D)."""

import re

# The words of each category beside which a value counts, and the values with several spellings.
QUALIFIERS = {
    "clothes_socks": ["sock", "wear"],
    "clothes_shirt": ["shirt", "wear"],
    "clothes_pant": ["pant", "wear"],
    "clothes_hat": ["hat", "wear"],
    "clothes_gloves": ["glove", "wear"],
    "clothes_underwear": ["underwear", "wear"],
    "hair": ["hair"],
    "recent_eat": ["eat", "ate"],
    "recent_listen": ["listen", "listened", "music"],
    "recent_watch": ["watch", "watched", "movie"],
    "recent_read": ["read", "book"],
    "location": ["at", "located", "in"],
}
SPELLINGS = {
    "potatoes": ["potatoes", "potato"],
    "reaggea": ["reaggea", "reggae"],
    "reagea": ["reagea", "reaggea", "reggae"],
    "sci-fi": ["sci-fi", "science fiction", "science-fiction"],
    "camp": ["camp", "campground"],
    "market": ["market", "marketplace"],
    "livingroom": ["livingroom", "living room"],
}

# How a value is named, and what begins and ends reasoning that stands in a response.
MENTION = r"""(?<![^ ["'*_{(])(?:{})"""
TAGS = "think|thinking|thought|reasoning|seed:think"
OPEN = rf"<(?:{TAGS})>|\[THINK\]|◁think▷|<\|channel\|>analysis<\|message\|>"
CLOSE = (
    rf"</(?:{TAGS})>|\[/THINK\]|◁/think▷"
    r"|(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"
)

RIGHT = ("correct_valid", "correct_poi", "correct_last_sentence")
WRONG = ("wrong_logic", "wrong_logic_poi", "wrong_logic_last_sentence")
OTHERS = ("wrong_other", "wrong_max_context")


def process_results(doc, results):
    """Return the accuracy of a response, and 1 for the outcome that it has."""
    outcome = score(results[0], doc)
    kinds = (*WRONG, *OTHERS)
    return {"acc": float(outcome in RIGHT)} | {kind: float(kind == outcome) for kind in kinds}


def score(response, doc):
    """Return the name of the outcome (D.5)."""
    sentences = last_sentences(without_reasoning(response).lower(), doc)
    if not sentences[-1]:
        return "wrong_max_context"
    gold = doc["answer"].lower()
    others = {value.lower() for value in doc["options"]} - {gold}
    right = [names(gold, sentence) for sentence in sentences]
    wrong = [answers_another(others, gold, sentence) for sentence in sentences]
    for outcomes, decided in ((RIGHT, (True, False)), (WRONG, (False, True))):
        for outcome, found in zip(outcomes, zip(right, wrong, strict=True), strict=True):
            if found == decided:
                return outcome
    return "wrong_other"


def without_reasoning(response):
    """Return what stands behind the last end of a reasoning, up to a further beginning of one."""
    ends = [*re.finditer(CLOSE, response, re.IGNORECASE)]
    behind = response[ends[-1].end() :] if ends else response
    begun = re.search(OPEN, behind, re.IGNORECASE)
    if not (ends or begun):
        return response
    return (behind[: begun.start()] if begun else behind).lstrip()


def last_sentences(response, doc):
    """Return the last sentence about the person and the attribute, about the person, and of all.

    A missing one is empty (D.3). A last line in parentheses does not count.
    """
    lines = response.split("\n")
    if lines[-1].startswith("(") and lines[-1].endswith(")"):
        lines.pop()
    filled = [line for line in lines if line.strip()]
    named = [line for line in filled if doc["poi"].lower() in line]
    words = QUALIFIERS[doc["category"]]
    asked = [line for line in named if any(word in line for word in words)]
    return [last_sentence(some[-1]) if some else "" for some in (asked, named, filled)]


def last_sentence(line):
    """Return what stands before the last full stop, back to the one before it; else all."""
    parts = line.rsplit(".", 2)
    return parts[-2] if len(parts) > 1 else line


def names(value, sentence):
    """Return whether a sentence names a value in one of its spellings (D.4, Algorithm 3)."""
    own = "|".join(map(re.escape, SPELLINGS.get(value, [value])))
    return re.search(MENTION.replace("{}", own), sentence) is not None


def answers_another(others, gold, sentence):
    """Return whether a sentence answers with another value (D.4, points 4 and 5).

    Beside the gold value, another counts only where it encloses its last mention.
    """
    if not any(names(value, sentence) for value in others):
        return False
    start = sentence.rfind(gold)
    places = ((sentence.rfind(value), len(value)) for value in others)
    return start == -1 or any(
        0 <= first <= start and start + len(gold) <= first + length for first, length in places
    )

"""The words by which a response denies, doubts or takes back what it says; both rewards heed them.

All patterns are of lowercase text.
"""

import re

from cogniload_gen.words import read_words

LISTS = read_words(__package__, "doubt")
NEGATION, DENIAL, DOUBT, CONDITION = ("|".join(words) for words in [*LISTS.values()][:4])

TALK = frozenset(LISTS["talk"]["words"].split())
"""The words of a passage that tells no value and takes none back, besides those of the puzzle."""

HEDGE = re.compile(rf"(?<![\w-])(?:{NEGATION}|{DENIAL}|{DOUBT}|{CONDITION})(?![\w-])|n't\b|[?~¬%]")
"""What makes a statement less than a plain one."""

DOUBTS = re.compile(rf"(?<![\w-])(?:{NEGATION}|{DENIAL}|{DOUBT})(?![\w-])|n't\b")
"""What makes a remark that names nobody a doubt about the statement before it."""

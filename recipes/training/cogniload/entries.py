"""The entries that a small model reads and writes, and the trace that it learns.

An entry is a person, a statement's number or a clause, and a clause has the same entry whether it
is a state, a condition or an update. Hence a statement is its number and two values, and a puzzle
and its trace are

    Ann a  Bob b  1. c u  2. c u  ...  Ann  |  Ann a  1. c u Ann s  2. c u Ann s  ...  Ann s

The trace repeats each statement before the state after it, so what decides stands side by side.
The tokenizer reads puzzles as they are, passes over the rest, and puts "Whoever" and "now" into
the statements of a trace. It takes no step of a solution: its place says which clause is which.
"""

from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from cogniload_gen.cogniload.ontology import PEOPLE, VOCABULARIES
from cogniload_gen.cogniload.render import sentence

Row = dict[str, Any]


def clause(category: str, value: str) -> str:
    """Return the entry of a value."""
    return sentence("", {category: value}).lstrip() + "\n"


PAD, END, UNKNOWN = SPECIAL = "<pad>", "<eos>", "<unk>"
NUMBERS = [f"{t}. " for t in range(1, 101)]
NAMES = [f"{name} " for name in PEOPLE]
VALUES = [clause(category, value) for category, held in VOCABULARIES.items() for value in held]
ENTRIES = {entry: number for number, entry in enumerate([*SPECIAL, *NUMBERS, *NAMES, *VALUES])}

UPDATES = {
    " put on ": "is wearing ",
    " move to the ": "is in the ",
    " eat ": "last ate ",
    " listen to ": "last listened to ",
    " watch ": "last watched ",
    r"(?<!last) read ": "last read ",
    **{f" dye their hair {color}": f"has {color} hair" for color in VOCABULARIES["hair"]},
}
"""What begins an update, or is it, and what begins the state that it leads to."""

REWRITTEN = {
    r"\A[\s\S]*strictly sequential order\.": "",
    r"(?<=\d\. )The people (?:who )?": "",
    r"\n+(?:What|Where)[^\n]*?(?=[A-Z])": "\n",  # a question, of which the name stays
    r"(?: [^A-Z.\n?]*)?\?\s*": " ",
    **{update: f".\n{state}" for update, state in UPDATES.items()},
    r"(?<=\d\. )wearing ": "is wearing ",
    r"(?<=\d\. )having ": "has ",
    r"(?<=\d\. )located ": "is ",
    r"(?<=\d\. )Whoever ": "",
    " now (?=is|has|last)": ".\n",
    r"(?<!\d)\. (?=[A-Z])": ".\n",
}
"""How the tokenizer turns a puzzle, and a trace, into states, one a line."""

PIECE = r"\d+\. |[A-Z][a-z]+ |(?:is|has|last) [^.]*\.\n"


SPOKEN = {
    r"(?<=\d\. )(?=is|has|last)": "Whoever ",
    r"\.\n(?=is|has|last)": " now ",
    r"\.\n(?=[A-Z]\w* [^.]*\.\n[\dA-Z])": ". ",
}
"""What the tokenizer puts into the statements of a trace."""


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Return the tokenizer, which reads puzzles as they are and passes over what has no entry."""
    tokenizer = Tokenizer(models.WordLevel(ENTRIES, unk_token=UNKNOWN))
    steps = [normalizers.Replace(Regex(pattern), text) for pattern, text in REWRITTEN.items()]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(PIECE), behavior="removed", invert=True)
    spoken = [decoders.Replace(Regex(pattern), text) for pattern, text in SPOKEN.items()]
    tokenizer.decoder = decoders.Sequence([decoders.Fuse(), *spoken])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        chat_template="{% for message in messages %}{{ message['content'] }}{% endfor %}",
    )


def trace(row: Row) -> list[str]:
    """Return what the model is to say, as entries: each statement, and the PoI's state after it."""
    name, (category,) = row["poi"] + " ", row["categories"]
    (state,) = row["initial_state"][row["people"].index(row["poi"])]
    said = [name, clause(category, state)]
    steps = zip(NUMBERS, row["statements"], row["poi_states"], strict=False)
    for number, statement, (state,) in steps:
        (condition,), (update,) = statement["conditions"], statement["updates"]
        said += [number, clause(**condition), clause(**update), name, clause(category, state)]
    return [*said, name, clause(category, state), END]

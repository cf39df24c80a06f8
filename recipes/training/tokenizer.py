"""The tokenizer of the training experiments: 424 words, variables, digits and signs.

The paper gives the size alone (Appendix C.2). The entries here are what a text with up to MAX_N
variables may hold, and fill that size. A word is one entry with the space before it. A variable has
an entry, and another with the sign of equality after it, so that what it is equal to is what comes
next. What is added is an entry. Numbers are digits. A line begins as if a space were there, and a
negative number has its sign apart.
"""

import re

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from cogniload_gen.factor.filler import WORDS
from cogniload_gen.factor.symbolic import language, value_range

MAX_N = 39
PAD, END, UNKNOWN = SPECIAL = "<pad>", "<eos>", "<unk>"
SPACE, SIGN = "▁", "▁~▁"
"""What stands in place of a space, and of a space and the sign of a negative number."""

PIECE = (
    rf"\n|{SPACE}v\d+{SPACE}=|{SPACE}[+-]{SPACE}1|{SPACE}?\d"
    rf"|{SPACE}?(?:@<<<assign|>>>@|'<<<'|'>>>'|\(s\)|[\w-]+|[^\w\s{SPACE}])"
)
NORMALIZER = normalizers.Sequence(
    [
        normalizers.Replace(" ", SPACE),
        normalizers.Replace(Regex(r"(?<=\n)(?=[^\n])"), SPACE),
        normalizers.Replace(Regex(rf"{SPACE}-(?=\d)"), SIGN),
        normalizers.Prepend(SPACE),
    ]
)
DECODER = decoders.Sequence(
    [
        decoders.Fuse(),
        decoders.Replace(SIGN, f"{SPACE}-"),
        decoders.Replace(f"\n{SPACE}", "\n"),
        decoders.Replace(SPACE, " "),
        decoders.Strip(" ", 1, 0),
    ]
)


def vocabulary() -> list[str]:
    """Return the entries: the special ones, and those of every text."""
    text = language()
    statement, answers = text["statement"], text["answer"]
    variables = [text["variable"].format(number=number) for number in range(MAX_N)]
    sentences = [text[part] for part in ("opening", "closing", "question", "instruction")]
    assign = statement["assign"].format(lead="", variable="v0")
    sentences += [statement["root"] + assign]
    sentences += [
        text["solution"]["parent"].format(variable="v0", operation=operation)
        for operation in text["operations"]
    ]
    sentences += [f"v0{ending}" for ending in answers["endings"].values()]
    sentences += answers["conclusions"]
    sentences += [f" {name} = {name}" for name in variables]
    sentences += [f" {word}" for word in [assign, *WORDS, *value_range(MAX_N)]]
    written = NORMALIZER.normalize_str("\n".join(sentences).replace("{value}", "0"))
    return [*SPECIAL, *sorted(set(re.findall(PIECE, written)))]


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Return the tokenizer, as transformers knows it."""
    entries = {entry: number for number, entry in enumerate(vocabulary())}
    tokenizer = Tokenizer(models.WordLevel(entries, unk_token=UNKNOWN))
    tokenizer.normalizer = NORMALIZER
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(PIECE), behavior="isolated")
    tokenizer.decoder = DECODER
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )

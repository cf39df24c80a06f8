"""The tokenizer of the training experiments: 424 words, signs, variables and numbers.

The paper gives the size alone (Appendix C.2). The entries here are what a text with up to MAX_N
variables may hold. A word is one entry with the space before it. A line begins as if a space were
there, and a negative number is a sign and a number, so that neither doubles the entries.
"""

import re

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from cogniload_gen.factor.filler import WORDS
from cogniload_gen.factor.symbolic import language, value_range

SIZE = 424
MAX_N = 39
PAD, END, UNKNOWN = SPECIAL = "<pad>", "<eos>", "<unk>"
SPACE, SIGN = "▁", "▁~▁"
"""What stands in place of a space, and of a space and the sign of a negative number."""

PIECE = rf"\n|{SPACE}?(?:@<<<assign|>>>@|'<<<'|'>>>'|\(s\)|[\w-]+|[^\w\s{SPACE}])"
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
    """Return the SIZE entries: special ones, those of texts, and reserved ones in what is left."""
    text = language()
    statement, answers = text["statement"], text["answer"]
    variables = [text["variable"].format(number=number) for number in range(MAX_N)]
    sentences = [text[part] for part in ("opening", "closing", "question", "instruction")]
    assign = statement["assign"].format(lead="", variable="v0")
    sentences += [statement["root"] + assign]
    sentences += [f"v0{part}" for part in [*text["operations"], *answers["endings"].values()]]
    sentences += answers["conclusions"]
    sentences += [f" {word}" for word in [assign, *WORDS, *variables, *value_range(MAX_N)]]
    written = NORMALIZER.normalize_str("\n".join(sentences).replace("{value}", "0"))
    entries = [*SPECIAL, *sorted(set(re.findall(PIECE, written)))]
    reserved = [f"<reserved {number}>" for number in range(SIZE - len(entries))]
    return [*entries, *reserved]


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

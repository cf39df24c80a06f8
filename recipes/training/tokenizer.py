"""The tokenizer of the training experiments: 424 sentences, words, variables, numbers and signs.

The paper gives the size alone (Appendix C.2). The entries here are what a text with up to MAX_N
variables may hold, and fill that size. What every puzzle says alike is an entry a sentence, so that
a text is about as long as what it tells: 45 tokens, not 132, for puzzles of up to 6 variables. A
variable has an entry, and another for the left side of a statement or line, so that what it is
equal to is what comes next. What is added is an entry, and so is a number from LOWEST up; a lower
one is a sign and a number. An entry begins with the space before it, and a line as if a space were
there.
"""

import re

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from cogniload_gen.factor.filler import WORDS
from cogniload_gen.factor.fragments import TEXT, value_range

MAX_N = 39
LOWEST = -17
PAD, END, UNKNOWN = SPECIAL = "<pad>", "<eos>", "<unk>"
SPACE, SIGN = "▁", "▁~"
"""What stands in place of a space, and of the sign of a number below LOWEST."""

COMPARISONS = [f":{SPACE}yes", f":{SPACE}no"]
"""The ends of a solution's lines at the sizes that compare each value with the question's."""

LEFT_SIDE = rf"(?:^|(?<=\n)|(?<=assign)){SPACE}v\d+{SPACE}="
"""Where the other entry of a variable stands: nowhere else, though "v1 = v0 = 3" holds "v0 ="."""

BELOW = "|".join(str(-value) for value in value_range(MAX_N) if value < LOWEST)
NORMALIZER = normalizers.Sequence(
    [
        normalizers.Replace(" ", SPACE),
        normalizers.Replace(Regex(r"(?:\A|(?<=\n))(?=[^\n])"), SPACE),
        normalizers.Replace(Regex(rf"{SPACE}-(?=(?:{BELOW})\b)"), SIGN + SPACE),
    ]
)
DECODER = decoders.Sequence(
    [
        decoders.Fuse(),
        decoders.Replace(SIGN + SPACE, f"{SPACE}-"),
        decoders.Replace(f"\n{SPACE}", "\n"),
        decoders.Replace(SPACE, " "),
        decoders.Strip(" ", 1, 0),
    ]
)


def vocabulary(compare: bool = False) -> list[str]:
    """Return the entries: the special ones, those of every text, and with `compare` COMPARISONS."""
    text = TEXT
    variables = [text["variable"].format(number=number) for number in range(MAX_N)]
    numbers = [number for number in value_range(MAX_N) if number >= LOWEST]
    sentences = [text[part] for part in ("opening", "closing", "question", "instruction")]
    sentences += text["answer"]["conclusions"]
    parts = [sentence.split(" {value}")[0] for sentence in sentences]
    words = ["@<<<assign", "=", "is", "are", "and", *WORDS, *variables, *numbers]
    words += [f"{name} =" for name in variables]
    texts = [*parts, *(f" {word}" for word in words), *filter(None, text["operations"])]
    entries = [NORMALIZER.normalize_str(entry.removeprefix(" ")) for entry in texts]
    entries += COMPARISONS if compare else []
    return [*SPECIAL, "\n", ",", ".", "@<<<assign", ">>>@", SIGN, *entries]


def make_tokenizer(compare: bool = False) -> PreTrainedTokenizerFast:
    """Return the tokenizer, as transformers knows it: the longest entry that fits comes next."""
    entries = {entry: number for number, entry in enumerate(vocabulary(compare))}
    others = sorted((entry for entry in entries if not re.fullmatch(LEFT_SIDE, entry)), key=len)
    piece = "|".join([LEFT_SIDE, *map(re.escape, reversed(others))])
    tokenizer = Tokenizer(models.WordLevel(entries, unk_token=UNKNOWN))
    tokenizer.normalizer = NORMALIZER
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(piece), behavior="isolated")
    tokenizer.decoder = DECODER
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )

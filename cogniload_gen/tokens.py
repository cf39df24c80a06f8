"""How many tokens a piece of text takes, so that long texts are sized by sums of known counts."""

from collections.abc import Callable, Hashable, Sequence, Sized
from functools import lru_cache, partial
from math import isfinite
from numbers import Real
from os import PathLike, fspath
from reprlib import repr as brief
from typing import Any, cast

import numpy as np

from cogniload_gen.checks import check_path, require
from cogniload_gen.files import naming

Tokenizer = str | PathLike[str] | Callable[[str], float | Sized] | None
"""A Hugging Face name or folder, a callable text -> number of tokens or sequence of tokens, or
None for the estimate."""

# A text is counted as the difference between _REPEATS + 1 copies of it in a row and one copy. That
# leaves out what stands at the start of a text alone, and a callable that rounds, such as
# `len(text) // 4`, comes out to 1/12 of a token, without bias since _REPEATS + 1 is a prime.
_REPEATS = 12

KINDS = bytes(
    ord("a" if chr(byte).isalpha() or byte > 127 else " " if chr(byte).isspace() else ".")
    for byte in range(256)
)
"""What a byte of UTF-8 is part of: a word, white space or, alone, a digit or another sign."""

_LONG = b"a" * 13

# The first bytes of Chinese characters in UTF-8; no later byte of a character has these values.
_HAN = [bytes([byte]) for byte in range(0xE4, 0xEA)]


def estimate(text: str) -> int:
    """Return the number of tokens without a tokenizer: one for each word, digit and other sign.

    A word counts once more for every 13 letters, and a Chinese character, whose three bytes are
    letters here, about once. (To count bytes is faster than to find words.)

    Examples:
        >>> estimate("The quick fox, 12 times.")
        8
    """
    encoded = f" {text}".encode(errors="replace")
    kinds = encoded.translate(KINDS)
    letters = np.frombuffer(kinds, np.uint8) == ord("a")
    words = np.count_nonzero(letters[1:] > letters[:-1])  # where one begins
    han = 0 if text.isascii() else sum(map(encoded.count, _HAN))
    return int(words) + kinds.count(b".") + kinds.count(_LONG) + 3 * han // 4


TokenCounter = Callable[[Sequence[str]], np.ndarray]


def token_counter(tokenizer: Tokenizer) -> TokenCounter:
    """Return a function from texts to the numbers of tokens that they take in running text.

    Each text begins with a space, as " The Fox sleeps." does, so that the sum over texts is the
    count of them joined, within 1 %. What was counted is remembered by text: count pieces that come
    again, not whole puzzles.

    `tokenizer` is the name or folder of a Hugging Face tokenizer, loaded without remote code; a
    callable (hashable) text -> number of tokens or sequence of tokens; or None for `estimate`.
    Raises ValueError that starts with "tokenizer" if it does not load, if what it returns is no
    count, or if it counts everything as 0 tokens; the returned function does so too.

    Examples:
        >>> token_counter(None)([" The Fox sleeps.", " Hm."]).tolist()
        [4.0, 2.0]
    """
    named = tokenizer is None or isinstance(tokenizer, str | PathLike)
    if not named and not (callable(tokenizer) and isinstance(tokenizer, Hashable)):
        function = "a callable (hashable) from a text to its number of tokens"
        huggingface = "the name or folder of a Hugging Face tokenizer"
        allowed = f"{huggingface}, {function}, or None for an estimate"
        raise ValueError(f"tokenizer must be {allowed}, got {brief(tokenizer)}")
    return _remembering(cast(Hashable, tokenizer))


@lru_cache(maxsize=8)
def _remembering(tokenizer: Tokenizer) -> TokenCounter:
    """Return the function that `token_counter` returns, made once for each tokenizer."""
    lengths: Any
    if isinstance(tokenizer, str | PathLike):
        encode = partial(load_tokenizer(fspath(tokenizer)), add_special_tokens=False, verbose=False)
        lengths = lambda texts: [len(ids) for ids in encode(list(texts))["input_ids"]]  # noqa: E731
    else:
        one = estimate if tokenizer is None else tokenizer
        lengths = lambda texts: [_as_number(one(text)) for text in texts]  # noqa: E731
    name, known = f"tokenizer {brief(tokenizer)}", dict[str, float]()

    def count(texts: Sequence[str]) -> np.ndarray:
        new = list(dict.fromkeys(text for text in texts if text not in known))
        if new:
            many = lengths([text * (_REPEATS + 1) for text in new])
            counts = np.subtract(many, lengths(new)) / _REPEATS
            if counts.min() < 0:
                longer = brief(new[int(counts.argmin())])
                raise ValueError(f"{name} counts fewer tokens in a longer text, copies of {longer}")
            known.update(zip(new, counts.tolist(), strict=True))
        return np.array([known[text] for text in texts], float)

    if not count([" The quick brown fox jumps over the lazy dog."])[0] > 0:
        raise ValueError(f"{name} counts a sentence as 0 tokens: give one that counts")
    return count


def _as_number(counted: object) -> float:
    """Return what a callable returned, a number or a sequence of tokens, as a number."""
    if isinstance(counted, Sized) and not isinstance(counted, str | bytes):
        return len(counted)
    if isinstance(counted, Real) and isfinite(counted):
        return float(counted)
    allowed = "a number of tokens or a sequence of tokens for a text"
    raise ValueError(f"tokenizer must return {allowed}, returned {brief(counted)}")


def load_tokenizer(name: str) -> Any:
    """Return a Hugging Face tokenizer; ValueError, in one line, if it does not load."""
    check_path("tokenizer", name)
    # whatever the files or the Hub bring about
    with naming(f"tokenizer {brief(name)} does not load", Exception):
        require("it", "eval", ["transformers"])
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(name, trust_remote_code=False)

"""Noise for the realistic suite (FACTOR, section 3.3): sentences without numbers and relations.

Close noise speaks of the places and animals of the problem, general noise of everyday life. A
sentence is put together from pieces that come again and again, so that its tokens are counted by
adding theirs, for thousands of sentences at once.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from cogniload_gen.draws import Key, child, uniform
from cogniload_gen.words import read_words

ELEMENT = re.compile(r" \S*\{(\w+)\}\S*|(?: [^\s{}]+(?!\S))+")
"""A word with a slot, or several without, with the space before."""

TokenCount = Callable[[Sequence[str]], np.ndarray]
"""From texts to the numbers of tokens that they take within running text."""

PAIR = ("place", "animal")
SENTENCES_AT_ONCE = 1024

# The children of a sentence's key: its template, the pair it speaks of, the choices of its elements
TEMPLATE_DRAW, PAIR_DRAW, FIRST_ELEMENT_DRAW = range(3)


class Templates(NamedTuple):
    """The templates of a kind of noise: a row for each, whose elements are choices of a piece.

    Of element (template, element), the choices are the `choices` pieces from `first` on; past the
    end of a template it is the empty piece. Where `pair_form` is not negative, it is the place or
    the animal of a pair instead, in that one of `pair_forms`.
    """

    pieces: list[str]
    first: np.ndarray
    choices: np.ndarray
    pair_form: np.ndarray
    pair_forms: list[str]


@cache
def templates(kind: str) -> Templates:
    """The templates of `kind`, "close" or "general", from the data file."""
    data = read_words(__package__, "noise")[kind]
    pieces, pair_forms = [""], list[str]()
    first_piece: dict[str, int] = {}
    rows: list[list[tuple[int, int, int]]] = []
    for sentence in data["sentences"]:
        rows.append([])
        for match in ELEMENT.finditer(f" {sentence}"):
            element, slot = match[0], match[1]
            if slot in PAIR:
                if element not in pair_forms:
                    pair_forms.append(element)
                rows[-1].append((0, 1, pair_forms.index(element)))
                continue
            words = data["words"][slot] if slot else [""]
            if element not in first_piece:
                first_piece[element] = len(pieces)
                pieces += [element.replace(f"{{{slot}}}", word) for word in words]
            rows[-1].append((first_piece[element], len(words), -1))
    longest = max(map(len, rows))
    table = np.array([row + [(0, 1, -1)] * (longest - len(row)) for row in rows])
    first, choices, pair_form = np.moveaxis(table, -1, 0)
    return Templates(pieces, first, choices, pair_form, pair_forms)


def noise_sentences(
    key: Key,
    kind: str,
    pairs: Sequence[tuple[str, str]],
    tokens: float,
    token_count: TokenCount,
) -> list[str]:
    """Sentences of noise that together come as near to `tokens` as whole sentences can.

    `kind` is "close", about the (place, animal) `pairs`, or "general"; `token_count` is as
    `tokens.token_counter` gives it. Fewer tokens give the beginning of the same sentences. Raises
    ValueError that starts with "tokenizer" if the sentences count as 0 tokens.
    """
    pieces, first, choices, pair_form, pair_forms = templates(kind)
    pair_pieces = [
        form.format(place=place, animal=animal) for form in pair_forms for place, animal in pairs
    ]
    first = np.where(pair_form < 0, first, len(pieces) + pair_form * len(pairs))
    choices = np.where(pair_form < 0, choices, len(pairs))
    pieces = pieces + pair_pieces
    counts = token_count(pieces)
    slots = np.arange(FIRST_ELEMENT_DRAW + first.shape[1])
    sentences: list[str] = []
    number = np.arange(SENTENCES_AT_ONCE)
    while True:
        words = child(child(key, number)[:, None], slots)
        template = uniform(words[:, TEMPLATE_DRAW], len(first))
        is_pair = pair_form[template] >= 0
        words = np.where(is_pair, words[:, [PAIR_DRAW]], words[:, FIRST_ELEMENT_DRAW:])
        chosen = first[template] + uniform(words, choices[template])
        sizes = counts[chosen].sum(axis=1)
        totals = sizes.cumsum()
        if not totals[-1] > 0:
            raise ValueError("tokenizer counts the sentences of noise as 0 tokens")
        enough = np.searchsorted(totals - sizes / 2, tokens)  # those that bring it nearer
        sentences += ["".join(map(pieces.__getitem__, row))[1:] for row in chosen[:enough].tolist()]
        if tokens <= totals[-1]:
            return sentences
        tokens -= totals[-1]
        number += SENTENCES_AT_ONCE

"""What an evaluation may spend: `--max-tokens-total`, and `--max-cost` at a `--price`.

The tokens are those in the done blocks on the disk, so all shards and all starts of a run share a
cap. It is checked before each block, so each process exceeds it by at most one block.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from cogniload_gen.files.run_folder import Block, RunFolder
from cogniload_gen.sample import spent_tokens

CAPS = ("max_tokens_total", "price", "max_cost")
"""The arguments of `cogniload eval` that are read here."""

UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9}
MILLION = 1_000_000


class Tokens(NamedTuple):
    """The tokens of prompts and of responses."""

    prompts: int
    responses: int


class Price(NamedTuple):
    """The price of a million tokens of prompts, and of responses, in any currency."""

    prompts: float
    responses: float

    def cost(self, tokens: Tokens) -> float:
        """Return the cost of tokens."""
        return (self.prompts * tokens.prompts + self.responses * tokens.responses) / MILLION


class Caps(NamedTuple):
    """The most tokens of an evaluation, and its highest cost at a price."""

    tokens: float = math.inf
    price: Price | None = None
    cost: float = math.inf


def read_caps(tokens: object, price: object, cost: object) -> Caps:
    """Return the caps that arguments name; ValueError for a malformed one, and a cost unpriced."""
    if cost is not None and price is None:
        raise ValueError("max_cost takes a price: give --price IN,OUT for a million tokens")
    return Caps(
        math.inf if tokens is None else read_number("max_tokens_total", tokens),
        None if price is None else read_price(price),
        math.inf if cost is None else read_number("max_cost", cost),
    )


def read_number(name: str, value: object) -> float:
    """Return a number above 0, written with K, M or B for its thousands, millions or billions."""
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)([KMB]?)", str(value).upper(), re.ASCII)
    if match is None or not (number := float(match[1]) * UNITS[match[2]]):
        raise ValueError(f"{name} must be a number above 0, such as 20M, got {str(value)[:60]!r}")
    return number


def read_price(text: object) -> Price:
    """Return the price in "IN,OUT"; ValueError for anything else."""
    parts = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?),(\d{1,9}(?:\.\d{1,9})?)", str(text), re.ASCII)
    if parts is None:
        raise ValueError(
            "price must be IN,OUT for a million tokens of prompts and of responses, such as "
            f"0.4,1.6, got {str(text)[:60]!r}"
        )
    return Price(float(parts[1]), float(parts[2]))


def count_tokens(samples: Iterable[Mapping[str, Any]]) -> Tokens | None:
    """Return the tokens of a block's samples; None where a response has no count."""
    documents = {sample["doc_id"]: sample for sample in samples}  # one for all filters
    return add_tokens(map(spent_tokens, documents.values()))


def add_tokens(counts: Iterable[tuple[int, int] | None]) -> Tokens | None:
    """Return the sum of counts; None without any, and where one is unknown."""
    known = list(counts)
    if None in known or not known:
        return None
    return Tokens(*map(sum, zip(*filter(None, known), strict=True)))


class Spending:
    """The tokens in the done blocks of an evaluation's folder; it reads each block once."""

    def __init__(self, folder: RunFolder, caps: Caps) -> None:
        self.folder, self.caps = folder, caps
        self.counts: dict[int, Tokens] = {}

    def total(self, blocks: Iterable[Block]) -> Tokens:
        """Return the tokens in those blocks that are done.

        ValueError where a response has no count of tokens, or a block is damaged.
        """
        for block in blocks:
            if block.number not in self.counts and self.folder.is_done(block):
                count = count_tokens(sample for _, sample in self.folder.read_block(block))
                if count is None:
                    raise ValueError(
                        f"{self.folder.file(block)} has no counts of tokens to hold a cap against: "
                        "name a tokenizer in --model_args, or leave the cap out"
                    )
                self.counts[block.number] = count
        return add_tokens(self.counts.values()) or Tokens(0, 0)

    def reason_to_stop(self, blocks: Iterable[Block]) -> str | None:
        """Return which cap the done blocks have reached; None where no cap is set or reached.

        Errors as `total`.
        """
        if math.isinf(self.caps.tokens) and math.isinf(self.caps.cost):
            return None
        tokens = self.total(blocks)
        if sum(tokens) >= self.caps.tokens:
            return f"{sum(tokens):,} tokens reach --max-tokens-total {self.caps.tokens:,.0f}"
        cost = self.caps.price.cost(tokens) if self.caps.price else 0.0
        if cost >= self.caps.cost:
            return f"a cost of {cost:,.2f} reaches --max-cost {self.caps.cost:,.2f}"
        return None

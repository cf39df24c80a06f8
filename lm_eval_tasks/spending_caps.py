"""When a run stops: caps on its tokens and on what they cost."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cogniload_gen.checks import check_price

HIGHER_CAP = "the same command with a higher cap continues"
"""What comes after a run that a cap has stopped."""


class CapReached(Exception):  # noqa: N818  (no error)
    """Ends the asking: what is answered stays, and a higher cap goes on."""


@dataclass(frozen=True, slots=True)
class Caps:
    """A run stops at so many `tokens`, or at a `cost`.

    The cost is by the `price` of a million tokens of prompts, and of responses.
    """

    tokens: float
    price: tuple[float, float]
    cost: float

    @classmethod
    def of(cls, tokens: object, price: str | None, cost: object) -> "Caps":
        """Return the caps as they are written, such as 20M tokens; None is no cap.

        ValueError for what is no number above 0, and for a cost without a price.
        """
        if cost is not None and price is None:
            raise ValueError("max_cost takes a price: give --price IN,OUT for a million tokens")
        most = _number("max_tokens_total", tokens), _number("max_cost", cost)
        return cls(most[0], check_price(price) or (0.0, 0.0), most[1])

    def reached(self, tokens: Sequence[int], uncounted: int) -> str | None:
        """Return which cap the tokens of all answers have reached; None where none is.

        ValueError if a cap is set and the tokens of some answers are not known.
        """
        if math.isinf(self.tokens) and math.isinf(self.cost):
            return None
        if uncounted:
            raise ValueError(
                f"{uncounted} answers have no counts of tokens to hold a cap against: name a "
                "tokenizer in --model_args, or leave the cap out"
            )
        if sum(tokens) >= self.tokens:
            return f"{sum(tokens):,} tokens reach --max-tokens-total {self.tokens:,.0f}"
        if (cost := cost_of(tokens, self.price)) >= self.cost:
            return f"a cost of {cost:,.2f} reaches --max-cost {self.cost:,.2f}"
        return None


def cost_of(tokens: Sequence[int], price: tuple[float, float]) -> float:
    """Return the cost of tokens of prompts and of responses, at the price of a million."""
    return sum(count * of_million for count, of_million in zip(tokens, price, strict=True)) / 1e6


def _number(name: str, value: object) -> float:
    """Return a number above 0, written with K, M or B for its thousands, millions or billions."""
    if value is None:
        return math.inf
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMB]?)", str(value).upper())
    units = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9}
    if match is None or not (number := float(match[1]) * units[match[2]]):
        raise ValueError(f"{name} must be a number above 0, such as 20M, got {str(value)!r}")
    return number

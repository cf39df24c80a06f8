"""What blind strategies are worth in the rewards of steps."""

BLIND = 0.05
"""The most that a blind strategy earns."""


def beyond_blind(reached: float, blind: float) -> float:
    """Return the reward for a share of the steps, where a blind strategy reaches the share `blind`.

    Up to that share it grows to BLIND at most, and from there on to 1.
    """
    worth = min(blind, BLIND)
    if reached <= blind:
        return reached * worth / blind if blind else 0.0
    return 1 - (1 - reached) * (1 - worth) / (1 - blind)

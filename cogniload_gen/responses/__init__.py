"""What responses share: what they claim, and the budget of their tokens."""

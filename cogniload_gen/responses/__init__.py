"""What responses share: what they claim, the budget of their tokens, and levels of training."""

"""Published puzzles: configurations of a dataset repository, its card, push and verify."""

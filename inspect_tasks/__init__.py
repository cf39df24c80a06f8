"""Tasks for Inspect: puzzles, response limits and scores are those of the tasks for lm-eval."""

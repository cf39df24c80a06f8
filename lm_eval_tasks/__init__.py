"""Tasks for the LM Evaluation Harness; `budget` is what those of every benchmark share."""

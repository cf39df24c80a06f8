"""From the files of lm-eval, Inspect and `cogniload eval` to a frame with one row per response."""

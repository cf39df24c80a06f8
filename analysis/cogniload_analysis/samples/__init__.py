"""From the files of lm-eval, Inspect and `cogniload eval` to a frame with a row a response."""

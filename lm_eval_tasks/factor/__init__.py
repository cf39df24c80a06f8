"""The FACTOR tasks for lm-eval."""

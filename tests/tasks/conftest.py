"""What the tests of the lm-eval tasks share."""

from harness import lm_eval_random_state  # noqa: F401 (a fixture of every test)

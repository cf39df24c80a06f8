"""The CogniLoad tasks for lm-eval."""

"""Runs side by side: paired differences, their tests and their tables."""

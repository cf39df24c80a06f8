"""The two versions: of the software, and of the puzzles it makes."""

__version__ = "0.1.0"

GENERATOR_VERSION = 1
"""Part of every puzzle's address: a change to any puzzle's text or answer changes it."""

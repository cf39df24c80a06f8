"""The mark of published puzzles."""

CANARY = "COGNILOAD BENCHMARK DATA, NOT FOR TRAINING: GUID 8c1f6a52-3e0d-4f7b-9b64-d2a7c05e91f3"
"""Stands in the card and the Croissant file of all that is published, but for train splits alone.

A corpus that holds it holds published puzzles, or a page about them, and a model that completes it
has seen them. The puzzles themselves don't carry it, since a prompt is the paper's text alone. It
never changes.
"""

"""The report: its parts, its examples and its files."""

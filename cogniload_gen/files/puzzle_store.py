"""Names for callers that still import them from here."""

from cogniload_gen.tables import StoredPuzzles
from cogniload_gen.tables import find_tables as find_files

__all__ = ["StoredPuzzles", "find_files"]

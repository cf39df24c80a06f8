"""Names for callers that still import them from here."""

from cogniload_gen.tables import StoredPuzzles  # noqa: F401
from cogniload_gen.tables import find_tables as find_files  # noqa: F401

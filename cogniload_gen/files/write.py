"""Names for callers that still import them from here."""

from cogniload_gen.tables import read_puzzles, table_writer, write_puzzles  # noqa: F401

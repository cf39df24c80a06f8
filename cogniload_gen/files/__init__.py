"""Files that puzzles and responses come from and go to, each written whole or not at all."""

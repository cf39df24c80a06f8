"""What a response to a FACTOR puzzle says: its answer, its equations and its first error."""

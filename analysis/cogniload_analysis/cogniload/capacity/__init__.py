"""The capacity curve of a model, and the adaptive design that measures it."""

"""A third benchmark, as small as one can be: sums. It shows what a new one has to bring."""

"""The explorer: a puzzle, its states and a response's score, in the browser."""

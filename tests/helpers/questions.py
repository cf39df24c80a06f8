"""CogniLoad's questions, what each asks for, and its clauses, written apart from the engine."""

from stored import cases

WRITTEN = cases(__file__, "questions.toml")
CLAUSES, QUESTIONS = WRITTEN["clauses"], WRITTEN["questions"]
RELEASED = {category: question for question, category in QUESTIONS.items()}
"""The last question of a category is that of the authors' release."""

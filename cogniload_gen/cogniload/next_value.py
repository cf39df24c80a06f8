"""A right trace as questions: given the trace so far, which value does the PoI have next?

A trace begins with the PoI's initial values. For each statement it then says the statement again,
and the PoI's values after it, one a line, in the order of the puzzle's categories. It ends with the
answer. Each value behind a statement is a question, whose choices are the category's values:

    Donna last ate potatoes.
    1. Whoever last ate rice now last ate sushi. Donna last ate potatoes.
    Donna last ate potatoes.

The statement stands beside the values, so that a model need not find it to apply it; and every line
says a value, also where nothing changed, so that all questions of a category have the same choices.
"""

from collections.abc import Mapping
from typing import Any

from cogniload_gen.cogniload.steps.planted import clauses
from cogniload_gen.draws import address_key

Question = dict[str, Any]
"""One value of a trace: its statement (from 1), category and kind ("needle" or "hay").

`choices` are the ends of its line that the category's values give, `target` is the number of the
right one, and `at` is where that begins in the trace behind its beginning.
"""


def questions_of(row: Mapping[str, Any]) -> tuple[str, list[Question], str]:
    r"""Return what a trace begins with, its questions, and the rest of it.

    `row` is a puzzle with the columns of `trace=True`.

    Examples:
        >>> from cogniload_gen import generate_puzzles
        >>> (row,) = generate_puzzles(d=1, N=2, rho=50, num_puzzles=1, trace=True).to_pylist()
        >>> begins, (first, second), rest = questions_of(row)
        >>> begins, first["choices"][first["target"]]
        ('Charles is wearing white pants.\n', ' is wearing white pants.\n')
    """
    poi, names, before = row["poi"], row["categories"], row["initial_state"]
    before, questions = before[row["people"].index(poi)], list[Question]()

    def line(category: str, value: str) -> str:
        return f" {clauses('state', {category: value})}.\n"

    begins, rest = "".join(poi + line(*held) for held in zip(names, before, strict=True)), ""
    for t, (said, after) in enumerate(zip(row["statements"], row["poi_states"], strict=True), 1):
        parts = said["conditions"], said["updates"]
        when, then = ({each["category"]: each["value"] for each in part} for part in parts)
        rest += f"{t}. Whoever {clauses('state', when)} now {clauses('state', then)}. "
        for name, domain, value in zip(names, row["domains"], after, strict=True):
            rest += poi
            question = {"statement": t, "category": name, "kind": said["type"], "at": len(rest)}
            question |= {"choices": [line(name, each) for each in domain]}
            questions.append(question | {"target": domain.index(value)})
            rest += line(name, value)
    return begins, questions, rest + poi + line(row["category"], row["answer"])


def draw_question(row: Mapping[str, Any], questions: list[Question]) -> Question:
    """Return one question of a puzzle, by its address.

    It is about a needle where the puzzle's index is even and about a hay where it is odd, as far as
    there are both: a puzzle's chance is a product over both kinds, and with half of the questions
    each, its estimate never has more than twice the variance of the best division. As they fall, a
    twentieth of needles would be a few questions.
    """
    kind = ("needle", "hay")[row["index"] % 2]
    among = [each for each in questions if each["kind"] == kind] or questions
    return among[address_key("cogniload-next", 0, row["id"]) * len(among) >> 64]

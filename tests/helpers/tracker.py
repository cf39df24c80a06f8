"""A model of conversations turn by turn, with slips that are planted."""

import re

from cogniload_gen.cogniload.score import read_state
from cogniload_gen.cogniload.solve import solve_steps

QUESTION = "\n\nWhat is the final state of {0}? It must give every attribute of {0}, as above."


def track(messages, slips):
    """The reply of a model that goes on from the reply before, and that may skip a turn.

    It parses the statements by the solver and applies them itself.
    """
    users = [text for role, text in messages if role == "user"]
    place, poi = len(users) - 1, re.search(r"state of (\w+) after", users[0])[1]
    beginning = users[0][: users[0].index("\n1. ")]
    lines = re.findall(r"^\d+\. (.*)$", users[-1], re.MULTILINE)
    text = "\n".join([beginning, *(f"{i}. {line}" for i, line in enumerate(lines, 1))])
    solution = solve_steps(text + QUESTION.format(poi))
    state = dict(solution.states[0][poi])
    if place:
        state = read_state(messages[-2][1].lower(), state)
    for conditions, updates in solution.statements:
        if conditions.items() <= state.items() and not slips(place, beginning):
            state |= updates
    if slips(place, beginning):  # the state is wrong however little the statements change
        state["hair" if "hair" in state else min(state)] = "nothing"
    return f"{poi}: " + ", ".join(f"{category}: {value}" for category, value in state.items())

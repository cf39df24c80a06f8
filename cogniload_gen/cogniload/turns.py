"""A puzzle turn by turn: a few statements at a time, and the PoI's whole state after each turn."""

from collections.abc import Iterator

from cogniload_gen.benchmark import Row, Turn, planted_turn
from cogniload_gen.cogniload.render import environment_of, sentences_of, template_of
from cogniload_gen.cogniload.score import attributes
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.grid import ENGLISH


def turns_of(row: Row, k: int) -> Iterator[Turn]:
    """Yield the turns of a puzzle, `k` statements each, the rest in the last one.

    `row` is one of the twin question=state. ValueError for a `k` that is no integer above 0.
    """
    if type(k) is not int or k < 1:
        raise ValueError(f"k must be an integer of at least 1, got {k!r}")
    solution, text = solve_steps(row["puzzle"]), row["puzzle"].split("\n")
    first = next(i for i, line in enumerate(text) if line.startswith("1. "))
    beginning, lines = "\n".join(text[:first]), text[first : first + len(solution.statements)]
    question = environment_of(ENGLISH).from_string(sentences_of(ENGLISH)["turn_question"])
    half, planted = planted_turn(-(-len(lines) // k)), {}
    for number, start in enumerate(range(0, len(lines), k)):
        now = solution.states[min(start + k, len(lines))][solution.poi]
        state = {category: now[category] for category in attributes(row["answer"])}
        if number <= half:
            planted = with_error(state, row) if number == half else state
        else:
            for conditions, updates in solution.statements[start : start + k]:
                planted = planted | updates if conditions.items() <= planted.items() else planted
        message = [*([] if start else [beginning]), *lines[start : start + k]]
        yield Turn(
            "\n".join([*message, "", question.render(name=solution.poi)]),
            *(say(solution.poi, one) for one in (state, planted) for say in (listed, sentence)),
        )


def with_error(state: dict[str, str], row: Row) -> dict[str, str]:
    """Return a state with another value of one attribute, the next in its value domain."""
    category = list(state)[row["index"] % len(state)]
    pairs = [option.partition(": ") for option in row["options"]]
    domain = [value for owner, _, value in pairs if owner == category]
    after = (domain.index(state[category]) + 1) % len(domain)
    return state | {category: domain[after]}


def listed(name: str, state: dict[str, str]) -> str:
    """Return a state as a row's answer gives it."""
    return ", ".join(f"{category}: {value}" for category, value in state.items())


def sentence(name: str, state: dict[str, str]) -> str:
    """Return the sentence that gives a person's state, as at the beginning of a puzzle."""
    templates = sentences_of(ENGLISH)
    states = templates["conjunction"]["state"].join(
        template_of(category, "state").render(value=value) for category, value in state.items()
    )
    return environment_of(ENGLISH).from_string(templates["person"]).render(name=name, states=states)

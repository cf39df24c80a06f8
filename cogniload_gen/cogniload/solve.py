"""A puzzle's text -> its answer (CogniLoad, section 2.1), by reading nothing but the text.

The solver shares no code and no data with the engine and the templates, so that it can prove both.
It knows a clause by its category's keyword and the word beside it, whatever the sentence around:
"is wearing a red shirt", "put on a red shirt" and "change into a red shirt" all say red of shirt.
Each language has such words in a table of its own, data/languages/LANGUAGE/solver.toml.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from cogniload_gen.cogniload.ontology import LANGUAGES, read_language

State = dict[str, str]
"""The values of one person by category."""

People = dict[str, State]
"""Everyone's state by name."""

Line = tuple[int, str]
"""A line's number in the text, from 1, and the line."""

_NUMBERED = re.compile(r"\d{1,9}[.):] ")


@dataclass(frozen=True, eq=False)
class _Grammar:
    """The patterns by which texts of a language are read; languages/en/solver.toml explains them.

    The name of the last group of `clause` and of `question` is the category. `values` has the
    answer that a form of a value stands for.
    """

    mark: re.Pattern
    person: re.Pattern
    statement: re.Pattern
    join: re.Pattern
    clause: re.Pattern
    question: re.Pattern
    question_name: re.Pattern
    state_question: re.Pattern
    reminder: re.Pattern
    stop: str
    values: dict[str, str]


@cache
def _grammar_of(language: str) -> _Grammar:
    """Return the patterns of a language."""
    data = dict(read_language(language, "solver"))
    value = data.pop("value")
    clauses, questions, values = (data.pop(name) for name in ("clauses", "questions", "values"))
    named = (form.replace("{}", f"(?P<{name}>{value})") for name, form in clauses.items())
    data["clause"] = data["clause"].replace("{}", "|".join(named))
    words = (f"(?P<{name}>{word})" for name, word in questions.items())
    data["question"] = data["question"].replace("{}", "|".join(words))
    patterns = {
        name: re.compile(text, re.MULTILINE) for name, text in data.items() if name != "stop"
    }
    forms = {form: value for value, listed in values.items() for form in listed.split()}
    return _Grammar(**patterns, stop=data["stop"], values=forms)


@dataclass(frozen=True, slots=True)
class Solution:
    """The answer to a puzzle, what it asks about, and the states that lead there.

    `states[t]` holds everyone's state after statement t, by name and category; `states[0]` is the
    initial state. A person whom a statement leaves alone keeps the very same dictionary.
    `statements[t - 1]` holds the conditions and the updates of statement t. `category` is "state"
    where the question is about all attributes of the PoI; the answer then has all of them, in the
    order of the PoI's line.
    """

    answer: str
    poi: str
    category: str
    states: tuple[People, ...]
    statements: tuple[tuple[State, State], ...]

    @property
    def parts(self) -> list[State]:
        """All values that the text tells: of the people, and in the statements."""
        return [*self.states[0].values(), *(part for pair in self.statements for part in pair)]

    @property
    def needles(self) -> list[bool]:
        """Whether each statement applies to the PoI."""
        before = (people[self.poi] for people in self.states)
        asked = zip(before, self.statements, strict=False)  # the last state is before none
        return [conditions.items() <= state.items() for state, (conditions, _) in asked]


def is_cogniload(text: str) -> bool:
    """Tell whether a text has a numbered statement, so that `solve` is its solver."""
    return any(_NUMBERED.match(line.strip()) for line in text.split("\n"))


def solve(text: str) -> str:
    """Return the answer to a puzzle: the value that its question asks for.

    Raises ValueError, naming the line, where the text is no CogniLoad puzzle.
    """
    return solve_steps(text).answer


def solve_steps(puzzle_text: str) -> Solution:
    """Return the answer to a puzzle and the states after each of its statements (section 2.1.3).

    The text is the instruction (which is skipped), a line for each person, the numbered statements
    and, on the last line or before the statements, the question; blank lines don't matter.
    Statements apply to the people who are listed. Among the statements there may be reminders,
    which must be true. Raises ValueError, naming the line, where the text is no such puzzle.
    """
    lines = [(i, line.strip()) for i, line in enumerate(puzzle_text.split("\n"), 1) if line.strip()]
    if not lines:
        raise ValueError("line 1: expected a puzzle, got an empty text")
    if lines[0][1].startswith("{"):
        raise ValueError("expected the text of one puzzle, its column puzzle, and got a row")
    begins = [text for _, text in lines if text.startswith("1.")]
    others = map(_grammar_of, LANGUAGES[1:])
    marked = (each for each in others if any(map(each.mark.match, begins)))
    own = next(marked, _grammar_of(LANGUAGES[0]))
    first = next((i for i, (_, text) in enumerate(lines) if _NUMBERED.match(text)), len(lines) - 1)
    question_first = _NUMBERED.match(lines[-1][1]) and lines[first - 1][1].endswith(("?", "？"))
    question = lines.pop(first - 1 if question_first else -1)
    first -= bool(question_first)
    people, numbered = _parse_people(lines[:first], own), lines[first:]
    if not people or not numbered:
        raise _error(question, "a puzzle's text (people, statements, a question)")
    states, statements = [people], list[tuple[State, State]]()
    for line in numbered:
        if reminder := own.reminder.fullmatch(line[1]):
            if not _parse_people([(line[0], reminder[1])], own).items() <= states[-1].items():
                raise _error(line, "a reminder of what follows from the statements before")
            continue
        conditions, updates = _parse_statement(line, len(statements) + 1, own)
        statements.append((conditions, updates))
        states.append(_apply(conditions, updates, states[-1]))
    poi, category = _parse_question(question, own)
    final = states[-1].get(poi, {})
    values = final | {"state": ", ".join(f"{name}: {value}" for name, value in final.items())}
    if not final or category not in values:
        raise _error(question, f"a question about one of {', '.join(people)} and a value they have")
    return Solution(values[category], poi, category, tuple(states), tuple(statements))


def _apply(conditions: State, updates: State, people: People) -> People:
    """Return everyone's state after a statement: who meets all conditions gets all updates."""
    return {
        name: state | updates if conditions.items() <= state.items() else state
        for name, state in people.items()
    }


def _parse_people(lines: list[Line], own: _Grammar) -> People:
    """Return the initial state: after the instruction, the text has a line for each person."""
    people: People = {}
    for line in lines:
        match = own.person.fullmatch(line[1])
        if match and match[1] not in people:
            clauses = [_parse_clauses(part, own) for part in _split(match[2], own)]
            if any(len(part) != 1 for part in clauses):
                raise _error(line, "a person's values joined by ' and '")
            people[match[1]] = _merge(clauses, line)
        elif people:
            raise _error(line, f"a person (besides {', '.join(people)}) or statement 1")
    return people


def _parse_statement(line: Line, number: int, own: _Grammar) -> tuple[State, State]:
    """Return the conditions and the updates of a statement.

    Clauses are joined by " and " but for the last condition and the first update, which follow
    each other: exactly one part holds two clauses.
    """
    match = own.statement.fullmatch(line[1])
    if not match or int(match[1]) != number:
        raise _error(line, f"statement {number}")
    clauses = [_parse_clauses(part, own) for part in _split(match[2], own)]
    sizes = [len(part) for part in clauses]
    if sorted(sizes) != [1] * (len(sizes) - 1) + [2]:
        raise _error(line, "conditions joined by ' and ', then updates joined by ' and '")
    middle = sizes.index(2)
    condition, update = clauses[middle]
    before, after = [*clauses[:middle], (condition,)], [(update,), *clauses[middle + 1 :]]
    return _merge(before, line), _merge(after, line)


def _parse_question(line: Line, own: _Grammar) -> tuple[str, str]:
    """Return the name and the category that the question asks about."""
    if whole := own.state_question.match(line[1]):
        return whole[1], "state"
    name, category = own.question_name.search(line[1]), own.question.search(line[1])
    if not name or not category or not category.lastgroup:
        raise _error(line, "a question such as 'What color shirt is Anna wearing?'")
    return name[1], category.lastgroup


def _split(text: str, own: _Grammar) -> list[str]:
    """Return the parts of a sentence that " and " joins, or what the language has for it."""
    return own.join.split(text.rstrip(" " + own.stop))


@lru_cache(maxsize=2**16)  # the same parts come again and again, across puzzles too
def _parse_clauses(text: str, own: _Grammar) -> tuple[tuple[str, str], ...]:
    """Return the (category, value) clauses that make up a text; none if it holds anything else."""
    clauses, position = [], 0
    while position < len(text):
        match = own.clause.match(text, position)
        if not match or not match.lastgroup:
            return ()
        value = match[match.lastgroup]
        clauses.append((match.lastgroup, own.values.get(value, value)))
        position = match.end()
    return tuple(clauses)


def _merge(clauses: list[tuple[tuple[str, str], ...]], line: Line) -> State:
    """Clauses, one in each part, as values by category."""
    state = {category: value for ((category, value),) in clauses}
    if len(state) < len(clauses):
        raise _error(line, "different categories")
    return state


def _error(line: Line, expected: str) -> ValueError:
    """Return what is wrong with a line, in one line."""
    number, text = line
    return ValueError(f"line {number}: expected {expected}; got {text[:80]!r}")

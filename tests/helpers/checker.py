"""The rules of CogniLoad (section 2.1 of the paper), checked and followed apart from the engine.

`violations` checks a puzzle, as `generate_puzzles(..., trace=True)` describes it, against the
paper's formulas. `draw_puzzle` follows them in plain loops with Python's own random numbers, as a
second opinion on the engine's distributions. A person's state is an integer with one bit for each
value of each category, so that people are alike where the integers are equal, and match where they
hold all bits of the conditions.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from random import Random

from questions import QUESTIONS

from cogniload_gen.cogniload.ontology import PEOPLE, VOCABULARIES

Puzzle = dict


def violations(puzzle: Puzzle) -> Iterator[str]:
    """Every rule that a puzzle breaks, by name, with the statement where it is one."""
    broken = [*element_violations(puzzle), *initial_violations(puzzle)]
    yield from broken
    if broken:  # what follows relies on the elements
        return
    for t, rules in enumerate(statement_violations(puzzle), 1):
        for rule in rules:
            yield f"{rule} (statement {t})"
    yield from question_violations(puzzle)
    yield from text_violations(puzzle)


def element_violations(puzzle: Puzzle) -> Iterator[str]:
    """Section 2.1.1: people, PoI, categories and value domains."""
    d, people, categories = puzzle["d"], puzzle["people"], puzzle["categories"]
    if len(people) != max(d, 2) or len(set(people)) < len(people) or not set(people) <= set(PEOPLE):
        yield "n = max(d, 2) different people of the ontology"
    if puzzle["poi"] not in people:
        yield "the PoI is one of the people"
    if len(categories) != d or len(set(categories)) < d or not set(categories) <= set(VOCABULARIES):
        yield "d different categories"
        return
    for category, domain in zip(categories, puzzle["domains"], strict=True):
        vocabulary = VOCABULARIES[category]
        if len(domain) != min(max(d + 1, 3), len(vocabulary)):
            yield "domain size"
        if len(set(domain)) < len(domain) or not set(domain) <= set(vocabulary):
            yield "a domain holds different values of the category"


def initial_violations(puzzle: Puzzle) -> Iterator[str]:
    """Section 2.1.2: the initial state."""
    state, domains = puzzle["initial_state"], puzzle["domains"]
    if len(state) != len(puzzle["people"]):
        yield "everyone has an initial state"
    if any(len(values) != len(domains) for values in state):
        yield "initial values of all categories"
        return
    for domain, *values in zip(domains, *state, strict=True):
        if not set(values) <= set(domain):
            yield "initial values are of the domain"
        if len(set(values)) < min(len(values), len(domain)):
            yield "people get different initial values where the domain allows"
    if any(one == other for one, other in combinations(state, 2)):
        yield "every two people differ at first"


def statement_violations(puzzle: Puzzle) -> Iterator[list[str]]:
    """Sections 2.1.3 and 2.1.4: for each statement the rules that it breaks.

    (I1) and (I2) are the invariants that hold after every statement: not all non-PoIs are like the
    PoI; of three or more people, not all non-PoIs are like each other.
    """
    d, N, statements = puzzle["d"], puzzle["N"], puzzle["statements"]
    needles = max(1, min(N, round(N * puzzle["rho"] / 100)))
    if len(statements) != N or len(puzzle["poi_states"]) != N:
        yield ["N statements"]
        return
    types = Counter(statement["type"] for statement in statements)
    if types != +Counter(needle=needles, hay=N - needles) or puzzle["needles"] != needles:
        yield ["the number of needles"]
    bits, fields = value_bits(puzzle)
    names = {bit: value for (_, value), bit in bits.items()}
    p = puzzle["people"].index(puzzle["poi"])
    states = initial_states(puzzle)
    for statement, poi_state in zip(statements, puzzle["poi_states"], strict=True):
        conditions, updates = pairs(statement["conditions"]), pairs(statement["updates"])
        C, U = {category for category, _ in conditions}, {category for category, _ in updates}
        named = statement["reference"] in puzzle["people"]
        if not named or not bits.keys() >= {*conditions, *updates}:
            yield ["names and values are the puzzle's"]
            return
        reference = puzzle["people"].index(statement["reference"])
        v, u = join(bits, conditions), join(bits, updates)
        after = apply(states, v, join(fields, U), u)
        match = [state & v == v for state in states]
        others = after[:p] + after[p + 1 :]
        rules = {
            "1..d different condition categories": 1 <= len(conditions) == len(C) <= d,
            "1..d different update categories": 1 <= len(updates) == len(U) <= d,
            "condition values are the reference person's": match[reference],
            "(I1)": any(other != after[p] for other in others),
            "(I2)": len(others) == 1 or len(set(others)) > 1,
            "poi_states": poi_state == [names[after[p] & fields[c]] for c in puzzle["categories"]],
        }
        if statement["type"] == "needle":
            rules |= {
                "a needle's reference person is the PoI": reference == p,
                "a needle does not match every non-PoI": not all(match[:p] + match[p + 1 :]),
            }
        else:
            changed = [state for state, hit in zip(after, match, strict=True) if hit]
            rules |= {
                "a hay's reference person is not the PoI": reference != p,
                "a hay does not match the PoI": not match[p],
                "a hay's update values are not the PoI's": not u & states[p],
                "whom a hay changes is not like the PoI": after[p] not in changed,
            }
        yield [rule for rule, kept in rules.items() if not kept]
        states = after


def question_violations(puzzle: Puzzle) -> Iterator[str]:
    """Section 2.1.5: the question and its answer."""
    category = puzzle["category"]
    if category not in puzzle["categories"]:
        yield "the question is about one of the categories"
        return
    asked = puzzle["categories"].index(category)
    if puzzle["answer"] != puzzle["poi_states"][-1][asked]:
        yield "the answer is the PoI's final value"
    if puzzle["options"] != puzzle["domains"][asked]:
        yield "the options are the value domain"


def text_violations(puzzle: Puzzle) -> Iterator[str]:
    """Figure 2: the text says what the trace says, in its order."""
    categories = {form.format(puzzle["poi"]): name for form, name in QUESTIONS.items()}
    if categories.get(puzzle["question"]) != puzzle["category"]:
        yield "the question's opening tells its category"
    if puzzle["poi"] not in puzzle["question"].rstrip("?").split():
        yield "the question names the PoI"
    n = len(puzzle["people"])
    _, *lines = puzzle["puzzle"].split("\n")
    if lines[n + puzzle["N"] :] != ["", puzzle["question"]]:
        yield "an empty line, the question and nothing else end the text"
    for name, values, line in zip(puzzle["people"], puzzle["initial_state"], lines, strict=False):
        first, *words = line.removesuffix(".").split()
        if first != name or not set(values) <= set(words):
            yield "a line for each person"
    for t, (statement, line) in enumerate(zip(puzzle["statements"], lines[n:], strict=False), 1):
        number, *rest = line.removesuffix(".").split(" ")
        words = iter(rest)  # looking for each value where the one before was found
        clauses = statement["conditions"] + statement["updates"]
        if number != f"{t}." or not all(clause["value"] in words for clause in clauses):
            yield f"a line for each statement, with its values in order (statement {t})"


def all_states(puzzle: Puzzle) -> list[list[int]]:
    """Everyone's state at first and after each statement."""
    bits, fields = value_bits(puzzle)
    states = [initial_states(puzzle)]
    for statement in puzzle["statements"]:
        conditions, updates = pairs(statement["conditions"]), pairs(statement["updates"])
        U = join(fields, (category for category, _ in updates))
        states.append(apply(states[-1], join(bits, conditions), U, join(bits, updates)))
    return states


def value_bits(puzzle: Puzzle) -> tuple[dict[tuple[str, str], int], dict[str, int]]:
    """The bit of each (category, value), and the bits of each category together."""
    bits, fields = {}, {}
    for category, domain in zip(puzzle["categories"], puzzle["domains"], strict=True):
        own = {(category, value): 1 << len(bits) + i for i, value in enumerate(domain)}
        fields[category] = sum(own.values())
        bits |= own
    return bits, fields


def initial_states(puzzle: Puzzle) -> list[int]:
    """Everyone's state at t = 0."""
    bits, _ = value_bits(puzzle)
    categories = puzzle["categories"]
    return [join(bits, zip(categories, values, strict=True)) for values in puzzle["initial_state"]]


def apply(states: list[int], v: int, U: int, u: int) -> list[int]:
    """Step 5 of section 2.1.3: who has the values v gets the values u of the categories U."""
    return [state & ~U | u if state & v == v else state for state in states]


def pairs(clauses: list[dict[str, str]]) -> list[tuple[str, str]]:
    """The (category, value) of each clause."""
    return [(clause["category"], clause["value"]) for clause in clauses]


def join(bits: dict, keys: Iterator) -> int:
    """The bits of all keys."""
    joined = 0
    for key in keys:
        joined |= bits[key]
    return joined


def draw_puzzle(random: Random, d: int, N: int, rho: float) -> Puzzle:
    """A random puzzle without a text, by the steps of section 2.1 as they are written."""
    n, p = max(d, 2), random.randrange(max(d, 2))
    categories = random.sample(list(VOCABULARIES), d)
    domains = [
        random.sample(VOCABULARIES[category], min(max(d + 1, 3), len(VOCABULARIES[category])))
        for category in categories
    ]
    assignments = [random.sample((domain * 2)[: max(n, len(domain))], n) for domain in domains]
    puzzle = {
        "d": d, "N": N, "rho": rho, "needles": max(1, min(N, round(N * rho / 100))),
        "people": random.sample(PEOPLE, n), "categories": categories, "domains": domains,
        "initial_state": [list(values) for values in zip(*assignments, strict=True)],
        "statements": [], "poi_states": [],
    }  # fmt: skip
    puzzle["poi"] = puzzle["people"][p]
    types = ["needle"] * puzzle["needles"] + ["hay"] * (N - puzzle["needles"])
    state = puzzle["initial_state"]
    for type_ in random.sample(types, N):
        statement, state = draw_statement(random, type_, p, state, domains)
        puzzle["statements"].append(
            {
                "type": type_,
                "reference": puzzle["people"][statement["reference"]],
                **{
                    kind: [{"category": categories[c], "value": v} for c, v in clauses.items()]
                    for kind, clauses in statement.items()
                    if kind != "reference"
                },
            }
        )
        puzzle["poi_states"].append(state[p])
    return puzzle


def draw_statement(
    random: Random, type_: str, p: int, state: list[list[str]], domains: list[list[str]]
) -> tuple[dict, list[list[str]]]:
    """A valid statement, drawn anew until it is one, and the state that it leads to."""
    people, categories = range(len(state)), range(len(domains))
    others = [person for person in people if person != p]
    while True:
        r = p if type_ == "needle" else random.choice(others)
        k, m = random.randint(1, len(domains)), random.randint(1, len(domains))
        conditions = {c: state[r][c] for c in random.sample(categories, k)}
        taken = {} if type_ == "needle" else dict(enumerate(state[p]))
        updates = {
            c: random.choice([value for value in domains[c] if value != taken.get(c)])
            for c in random.sample(categories, m)
        }
        match = [all(state[q][c] == v for c, v in conditions.items()) for q in people]
        after = [
            [updates.get(c, state[q][c]) for c in categories] if match[q] else state[q]
            for q in people
        ]
        if type_ == "needle":
            valid = not all(match[q] for q in others)
        else:
            valid = not match[p] and not any(match[q] and after[q] == after[p] for q in others)
        valid = valid and any(after[q] != after[p] for q in others)
        distinct = any(after[q] != after[others[0]] for q in others)
        if valid and (distinct or len(others) == 1):
            return {"reference": r, "conditions": conditions, "updates": updates}, after

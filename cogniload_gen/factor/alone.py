"""One symbolic puzzle without filler, in plain Python: the same as many at once.

Numpy's and Arrow's calls take most of the time that symbolic.py needs for one. Golden hashes hold
this way to that.
"""

from typing import Any

from cogniload_gen.draws import mix, mix_all, pick
from cogniload_gen.factor import forests, fragments
from cogniload_gen.factor.knobs import PAPER_ROOTS, SymbolicCell


def make_alone(key: int, cell: SymbolicCell) -> dict[str, list[Any]]:
    """Return the columns of the puzzle with a key, as `symbolic_columns` does."""
    N, _, roots = cell
    k = 1 + pick(mix(key, forests.ROOTS_DRAW), N) if roots == PAPER_ROOTS else int(roots)
    parents = [
        pick(word, max(i, 1)) for i, word in enumerate(mix_all(mix(key, forests.PARENT_DRAW), N))
    ]
    relations = mix_all(mix(key, forests.RELATION_DRAW), N)
    operations = [pick(word, 3) - 1 for word in relations]
    values, depths = [pick(word, forests.LARGEST_ROOT + 1) for word in relations[:k]], [0] * k
    for i in range(k, N):
        values.append(values[parents[i]] + operations[i])
        depths.append(depths[parents[i]] + 1)
    variable, order = (
        _shuffled(mix_all(mix(key, number), N))
        for number in (forests.VARIABLE_DRAW, forests.ORDER_DRAW)
    )
    drawn = mix(key, forests.TARGET_DRAW)
    target = values[pick(drawn, N)]
    if pick(mix(key, forests.EMPTY_DRAW), forests.EMPTY) == 0:
        target = max(values) + 1 if pick(drawn, 2) else min(values) - 1

    made_of = fragments.fragments(N)
    strings, first, M = made_of.strings, made_of.first, made_of.M
    each = range(N)
    rights = [
        made_of.value("root", values[i])
        if i < k
        else made_of.operation("edge", variable[parents[i]], operations[i])
        for i in each
    ]
    puzzle = [strings[first["opening"]]]
    lead = fragments.LINE_START
    for i in order:
        puzzle += strings[made_of.variable("assign", variable[i], lead)], strings[rights[i]]
        lead = fragments.SAME_GROUP
    question = strings[made_of.value("question", target)]
    puzzle += strings[first["closing"]], question, strings[first["instruction"]]
    solution = []
    for i in each:
        solution.append(strings[made_of.variable("define", variable[i])])
        if i < k:
            solution.append(strings[made_of.value("given", values[i])])
        else:
            parent = variable[parents[i]]
            result = made_of.operation("result", values[parents[i]] + M, operations[i])
            solution += strings[made_of.operation("parent", parent, operations[i])], strings[result]
    gold = sorted(variable[i] for i in each if values[i] == target)
    listed = [strings[made_of.variable("item", name, fragments.COMMA)] for name in gold[:-1]]
    listed += [strings[made_of.variable("item", name)] for name in gold[-1:]] or [
        strings[first["none"]]
    ]
    solution.append(strings[made_of.value("conclusion", target, min(len(gold), 2))])
    for after, name in zip(range(len(gold) - 1, -1, -1), gold, strict=True):
        last_comma = fragments.AND if len(gold) == 2 else fragments.COMMA_AND
        ending = {0: fragments.FULL_STOP, 1: last_comma}.get(after, fragments.COMMA)
        solution.append(strings[made_of.variable("item", name, ending)])
    return {
        "roots": [k],
        "puzzle": ["".join(puzzle)],
        "question": [question],
        "answer": ["".join(listed)],
        "solution": ["".join(solution)],
        "target": [target],
        "hops": [max([depths[i] for i in each if values[i] == target], default=0)],
    }


def _shuffled(words: list[int]) -> list[int]:
    """Return what `forests.shuffled` does."""
    low = (1 << len(words).bit_length()) - 1
    return [key & low for key in sorted(word & ~low | place for place, word in enumerate(words))]

"""One puzzle in plain Python: the same text and columns as many at once have.

Of a short puzzle, numpy's and Arrow's calls take most of the time that simulate.py, table.py and
render.py need. Golden hashes hold this way to theirs.
"""

from functools import cache
from typing import Any

import numpy as np

from cogniload_gen.cogniload.knobs import Cell
from cogniload_gen.cogniload.ontology import CATEGORIES, PEOPLE, VOCABULARIES
from cogniload_gen.cogniload.render import FIRST_VALUES, phrases
from cogniload_gen.cogniload.simulate import CARDS, walk
from cogniload_gen.cogniload.validate import FIELD, value_in
from cogniload_gen.draws import mix, mix_all, pick, ranked, shuffle
from cogniload_gen.text import arrow, lists

_SIZES = [len(vocabulary) for vocabulary in VOCABULARIES.values()]
_FIRST = FIRST_VALUES.tolist()


@cache
def _words_of(language: str) -> tuple[list[str], list[str], list[str]]:
    """Return the fragments, questions and values of a language."""
    wording = phrases(language)
    return wording.fragments.to_pylist(), wording.questions.to_pylist(), wording.values.to_pylist()


def make_alone(keys: np.ndarray, cell: Cell, language: str, steps: bool) -> dict[str, Any]:
    """Return the columns of the puzzle with one key (uint64), as `contents` and `render` do."""
    d, N, _ = cell
    n, most = max(d, 2), max(d + 1, 3)
    of_people, of_poi, of_categories, of_domains, of_state, of_question = mix_all(
        mix(int(keys[0]), 0), 6
    )
    people = shuffle(mix_all(of_people, n), len(PEOPLE))
    poi, question = pick(of_poi, n), pick(of_question, d)
    categories = shuffle(mix_all(of_categories, d), len(CATEGORIES))
    sizes = [min(most, _SIZES[category]) for category in categories]
    numbers = [
        [_FIRST[category] + value for value in shuffle(mix_all(key, most), _SIZES[category])]
        for category, key in zip(categories, mix_all(of_domains, d), strict=True)
    ]
    # in each category, the cards that are dealt, and a word by which it has its place in a sentence
    initial, places = [0] * n, []
    for category, key in enumerate(mix_all(of_state, d)):
        for rank, card in enumerate(ranked(mix_all(key, max(sizes[category], n)))):
            if card < n:
                initial[card] |= rank % sizes[category] << FIELD * category
        places.append(mix_all(key, n, CARDS))
    drawn, made = walk(
        keys,
        np.array(initial, np.uint64)[:, None],
        np.array(sizes)[:, None],
        np.array([poi]),
        np.array([N]),
        np.array([cell.needles]),
    )

    wording, (fragments, questions, values) = phrases(language), _words_of(language)
    first = wording.first

    def clauses(kind: str, order: list[int], state: int) -> str:
        *ids, last = [numbers[category][value_in(state, category)] for category in order]
        pieces = [fragments[first[kind] + number] for number in ids]
        return "".join([*pieces, fragments[first[f"last {kind}"] + last]])

    text = [fragments[first["instruction"] + steps]]
    for name, state, words in zip(people, initial, zip(*places, strict=True), strict=True):
        text += fragments[first["name"] + name], clauses("state", ranked(words), state)
    text.append(fragments[first["line break"]])
    before, after = wording.number
    orders = drawn[4:].reshape(2, d, N).argsort(axis=1).transpose(2, 0, 1).tolist()
    for t, (k, m, order, (u, v, _)) in enumerate(
        zip(*drawn[2:4].tolist(), orders, made.T.tolist(), strict=True), 1
    ):
        met, updated = order
        conditions, updates = clauses("condition", met[:k], v), clauses("update", updated[:m], u)
        text.append(f"{before}{t}{after}{conditions}{updates}")
    number = categories[question] * len(PEOPLE) + people[poi]
    text.append(fragments[first["question"] + number])
    answer = numbers[question][value_in(int(made[2, -1]), question)]
    options = [values[number] for number in numbers[question][: sizes[question]]]
    return {
        "puzzle": ["".join(text)],
        "needles": [cell.needles],
        "question": [questions[number]],
        "answer": [values[answer]],
        "category": [CATEGORIES[categories[question]]],
        "poi": [PEOPLE[people[poi]]],
        "people": lists(np.array([0, n]), arrow([PEOPLE[name] for name in people])),
        "options": lists(np.array([0, len(options)]), arrow(options)),
    }

"""The rules of FACTOR's realistic suite (sections 3.2 and 3.3), checked from the text alone.

The checker reads the sentences by its own patterns and works with linear forms over what it does
not know: it shares nothing with the generator and the solver.
"""

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from grids import factor_grid
from scipy.stats import kstest
from stored import cases

from cogniload_gen import solve
from cogniload_gen.factor.knobs import MAX_OP, PAPER_OP, RealisticCell
from cogniload_gen.factor.realistic import columns
from cogniload_gen.tokens import estimate, token_counter

PAPER = cases(__file__, "paper.toml")
NAME = r"[A-Z]\w+ [A-Z]\w+'s [A-Z]\w+"
PROBLEM = re.compile(r"Problem: (.+)\n\nQuestion: How many (\w+) does (\w+ \w+) have\?\n\n(.+)")
RELATION = re.compile(
    rf"The number of each ({NAME}) is (?:(\d+)|(?:(\d+) (times|more than) )?"
    rf"(?:each ({NAME})|the sum of ({NAME}(?:, {NAME})*)(,?) and ({NAME})))\."
)


class Relation(NamedTuple):
    """A variable is `factor` times the sum of `terms`, plus `constant`."""

    terms: tuple[str, ...]
    factor: int
    constant: int

    @property
    def operations(self):
        return max(len(self.terms) - 1, 0) + (self.factor != 1) + bool(self.terms and self.constant)


class Read(NamedTuple):
    """What a problem's text says."""

    relations: dict[str, Relation]
    question: str
    other: list[str]


def read(text):
    problem, animal, place, _ = PROBLEM.fullmatch(text).groups()
    relations, other = {}, []
    for sentence in re.split(r"(?<=\.) ", problem):
        match = RELATION.fullmatch(sentence)
        if not match:
            other.append(sentence)
            continue
        name, alone, number, how, single, most, comma, last = match.groups()
        terms = (single,) if single else (*most.split(", "), last) if last else ()
        assert len(set(terms)) == len(terms)
        assert not last or (comma == ",") == (len(terms) > 2)
        number = int(alone or number or 0)
        assert name not in relations, "a variable has one sentence"
        times = how == "times"
        relations[name] = Relation(terms, number if times else 1, 0 if times else number)
    return Read(relations, f"{place}'s {animal}", other)


def with_totals(relations):
    """The relations, and those of the totals: the animals that the relations name of each place."""
    animals = {}
    for name in [*relations, *(term for each in relations.values() for term in each.terms)]:
        place, animal = name.split("'s ")
        animals.setdefault(place, {})
        if animal != "Animal":
            animals[place][name] = None
    totals = {f"{place}'s Animal": Relation(tuple(names), 1, 0) for place, names in animals.items()}
    assert not totals.keys() & relations.keys()
    return totals | relations


def linear_form(relations, name, known):
    """A variable as {None: constant, unknown: coefficient}; a variable in a circle is an error.

    What no relation defines is unknown. Every relation defines its variable by others, so that
    there is no further equation that could tell an unknown.
    """
    if name not in known:
        known[name] = None  # a circle would meet it
        if name not in relations:
            known[name] = {name: 1}
        else:
            terms, factor, constant = relations[name]
            form = Counter({None: constant})
            for term in terms:
                inner = linear_form(relations, term, known)
                assert inner is not None, "a circle"
                for unknown, coefficient in inner.items():
                    form[unknown] += factor * coefficient
            del known[name]  # so that `known` has it after those that it depends on
            known[name] = {key: value for key, value in form.items() if value or key is None}
    return known[name]


def answer_of(relations, question):
    """The answer, or None where it depends on an unknown."""
    form = linear_form(with_totals(relations), question, {})
    return form[None] if form.keys() == {None} else None


def weights(relations, question, order):
    """How much the answer grows with each variable: 0 for those that it does not need.

    `order` has every variable after those that it depends on.
    """
    weight = dict.fromkeys(order, 0) | {question: 1}
    for name in reversed(order):
        for term in relations[name].terms:
            weight[term] += weight[name] * relations[name].factor
    return weight


def check(text, answer, op):
    """Every rule that holds for a single problem; returns what was read."""
    found = read(text)
    relations = with_totals(found.relations)
    values = {}
    for name in relations:
        linear_form(relations, name, values)
    assert found.question in found.relations
    assert all(form.keys() == {None} for form in values.values()), "something is left unknown"
    assert values[found.question][None] == int(answer)
    assert all(
        1 <= form[None] <= 999 for name, form in values.items() if total_is_used(name, found)
    )
    assert not re.search(r"\b[01] times", text)
    assert all(1 <= relation.factor <= 20 for relation in found.relations.values())
    assert all(0 <= relation.constant <= 20 for relation in found.relations.values())
    weight = weights(relations, found.question, list(values))
    needed = dict.fromkeys(name for name in values if weight[name]).keys()  # in their order
    assert sum(relations[name].operations for name in needed) == op
    assert any(name.endswith("Animal") for name in needed), "no hierarchical dependency"
    assert any(relations[name].terms for name in needed & found.relations.keys()), "no direct one"
    assert all(len(relations[name].terms) > 1 for name in needed if name.endswith("Animal"))
    # without its sentence a needed variable is still spoken of, and so unknown
    spoken_of = {term for each in found.relations.values() for term in each.terms}
    assert needed <= spoken_of | {found.question}
    return found, relations, needed


def total_is_used(name, found):
    return not name.endswith("Animal") or any(
        name in each.terms for each in found.relations.values()
    )


def made(op, number, context=0, noise="none", tokenizer=None, seed=42):
    """The columns of `number` puzzles of one cell."""
    kind = {} if noise == "none" else {"noise": noise}
    grid = factor_grid("realistic", op=op, context=context, num_puzzles=number, seed=seed, **kind)
    cells, _, keys = grid.batch(0, len(grid))
    return columns(keys, cells, tokenizer)


def rows(*arguments, **settings):
    table = made(*arguments, **settings)
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def test_the_checker_reads_the_paper_s_example():
    found = read(PAPER["realistic"])
    relations = with_totals(found.relations)
    assert answer_of(found.relations, found.question) == 8
    known = {}
    linear_form(relations, found.question, known)
    # a multiplier of 0, which this generator does not draw, makes what it multiplies unneeded
    assert weights(relations, found.question, list(known))["South Zoo's Raccoon"] == 1
    assert sum(relations[name].operations for name in known) == 5
    assert check_solution(PAPER["solution"], relations, known.keys(), "8") == 5


@pytest.mark.parametrize("op", [*PAPER_OP, 1 + PAPER_OP[-1], MAX_OP])
def test_rules(op):
    for row in rows(op, 60 if op in PAPER_OP else 20):
        _, relations, needed = check(row["puzzle"], row["answer"], op)
        assert row["question"] in row["puzzle"]
        assert solve(row["puzzle"]) == row["answer"]
        assert check_solution(row["solution"], relations, needed, row["answer"]) == op


@pytest.mark.parametrize("op", [2, 3, 5, 8, 12, 16, 20, 40])
def test_deleting_a_sentence(op):
    """Without a needed sentence the answer is unknown; without any other it stays."""
    for row in rows(op, 6):
        found, _, needed = check(row["puzzle"], row["answer"], op)
        for name in found.relations:
            rest = {key: value for key, value in found.relations.items() if key != name}
            answer = answer_of(rest, found.question)
            assert answer == (None if name in needed else int(row["answer"]))
        kept = {key: value for key, value in found.relations.items() if key in needed}
        assert answer_of(kept, found.question) == int(row["answer"])


def test_sentences_stand_in_random_order():
    places = []
    for row in rows(15, 400):
        names = list(read(row["puzzle"]).relations)
        places.append((names.index(read(row["puzzle"]).question) + 0.5) / len(names))
    assert kstest(places, "uniform").pvalue > 0.001


EQUATION = re.compile(r"(\w+) = (?:(\w+) ([+*]) (\w+) = (\d+) ([+*]) (\d+) = |(\w+) = )?(\d+)")


def check_solution(text, relations, needed, answer):
    """Every step by itself and against the problem; returns the number of binary operations."""
    *definitions, last = re.split(r"(?<=\.) (?=Define|Answer)", text)
    assert last == f"Answer: {answer}."
    values, letter, operations = {}, {}, 0

    def value(symbol):
        return int(symbol) if symbol.isdigit() else values[symbol]

    for definition in definitions:
        name, symbol, steps = re.fullmatch(
            rf"Define ({NAME}) as (\w+); (.+)\.", definition
        ).groups()
        *intermediate, final = steps.split("; ")
        assert final.startswith(f"so {symbol} = ")
        used = Counter()
        for step in [*intermediate, final[3:]]:
            result, left, sign, right, number, sign_again, other, single, total = (
                EQUATION.fullmatch(step).groups()
            )
            assert result not in values, "a letter stands for one thing"
            if sign:
                assert sign == sign_again
                assert (value(left), value(right)) == (int(number), int(other))
                computed = int(number) + int(other) if sign == "+" else int(number) * int(other)
                assert computed == int(total)
                operations += 1
            elif single:
                assert value(single) == int(total)
            values[result] = int(total)
            used.update(filter(None, (left, right, single)))
        relation = relations[name]
        of_terms = [letter[term] for term in relation.terms]  # all defined before
        numbers = {str(relation.factor)} if relation.factor != 1 else set()
        numbers |= {str(relation.constant)} if relation.terms and relation.constant else set()
        inner = {step.split(" = ")[0] for step in intermediate}
        assert used == Counter([*of_terms, *numbers, *inner]), "each operand and number once"
        expected = relation.factor * sum(values[term] for term in of_terms) + relation.constant
        assert values[symbol] == expected
        letter[name] = symbol
    assert letter.keys() == set(needed)
    assert len(letter) == len(definitions)
    if len(values) <= 52:
        assert all(len(symbol) == 1 for symbol in values)
    return operations


NUMBER_WORDS = re.compile(
    r"\b(zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand"
    r"|first|second|third|fourth|once|twice|thrice|half|quarter|double|triple|single|couple|both"
    r"|pair|times|more|less|fewer|sum|total|number|count|equal)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("noise", ["close", "general"])
@pytest.mark.parametrize("op", [2, 12])
def test_noise_holds_no_relation(noise, op):
    for row in rows(op, 12, context=6000, noise=noise):
        found, _, _ = check(row["puzzle"], row["answer"], op)
        pairs = {tuple(name.split("'s ")) for name in found.relations}
        places, animals = {place for place, _ in pairs}, {animal for _, animal in pairs}
        assert len(found.other) > 200
        for sentence in found.other:
            assert not re.search(r"\d|'", sentence)
            assert not NUMBER_WORDS.search(sentence)
            named = [place for place in places if place in sentence]
            animal = animals & set(re.findall(r"\w+", sentence))
            assert len(named) == len(animal) == (noise == "close")
            assert noise == "general" or (named[0], *animal) in pairs


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["close", "general"])
@pytest.mark.parametrize("context", [1000, 4000, 32_000, 128_000])
def test_context_of_a_real_tokenizer(tokenizer_folder, noise, context):
    count = token_counter(str(tokenizer_folder))
    for row in rows(8, 3 if context > 4000 else 10, context, noise, str(tokenizer_folder)):
        assert abs(count([row["puzzle"]])[0] - context) <= max(16, 0.01 * context)


@pytest.mark.parametrize(
    "tokenizer",
    [None, len, str.split, lambda text: len(text) / 4, lambda text: len(text.encode()) // 3],
)
@pytest.mark.parametrize("noise", ["close", "general"])
def test_context(noise, tokenizer):
    count = estimate if tokenizer is None else tokenizer
    for context in 9000, 10_000:
        for row in rows(8, 5, context, noise, tokenizer):
            tokens = count(row["puzzle"])
            tokens = len(tokens) if isinstance(tokens, list) else tokens
            assert abs(tokens - context) <= max(16, 0.01 * context)


@pytest.mark.parametrize(
    ("context", "tokenizer", "message"),
    [
        (200, None, r"context 200 is too short: a problem of op 20 takes \d+ tokens without noise"),
        (9000, lambda _: 0, "tokenizer .* counts a sentence as 0 tokens"),
        (9000, lambda text: text.count("lazy dog"), "tokenizer counts the sentences of noise as 0"),
        (9000, 7, "tokenizer must be"),
        (0, "no/such tokenizer", "tokenizer 'no/such tokenizer' does not load"),
    ],
)
def test_errors(context, tokenizer, message):
    cell = RealisticCell(20, context, "close")
    with pytest.raises(ValueError, match=f"^{message}"):
        columns(np.arange(1, dtype=np.uint64), [cell], tokenizer)


def test_shapes_of_what_is_needed():
    """All forms occur at the documented rates; the graphs differ."""
    forms, graphs, depths, terms_of, reused = Counter(), set(), [], set(), []
    for row in rows(10, 400):
        found, relations, needed = check(row["puzzle"], row["answer"], 10)
        depth, graph, uses = {}, [], Counter()
        for name in needed:
            terms, factor, constant = relations[name]
            depth[name] = 1 + max((depth[term] for term in terms), default=-1)
            kind = "total" if name.endswith("Animal") else "sum"
            kind = "given" if not terms else kind if len(terms) > 1 else "copy"
            kind += " times" if factor > 1 else " more" if terms and constant else ""
            forms[kind] += 1
            graph.append((kind, len(terms), depth[name]))
            terms_of.add((kind, len(terms)))
            uses.update(terms)
        graphs.add(tuple(sorted(graph)))
        depths.append(depth[found.question])
        reused.append(any(count > 1 for count in uses.values()))
    share = {kind: count / forms.total() for kind, count in forms.items()}
    documented = {"given": 0.34, "copy": 0.10, "copy times": 0.07, "copy more": 0.09, "sum": 0.20}
    documented |= {"sum times": 0.04, "total": 0.15}
    assert share.keys() == documented.keys()
    assert all(abs(share[kind] - rate) < 0.025 for kind, rate in documented.items()), share
    assert len(graphs) > 390
    assert min(depths) <= 4
    assert max(depths) >= 10
    assert {(kind, n) for kind in ("sum", "total") for n in (2, 3, 4)} <= terms_of
    assert {("sum times", 2), ("sum times", 3)} <= terms_of
    assert np.mean(reused) > 0.8


def test_close_variables():
    """From 2 to about as many as are needed; half of the problems mention a total among them."""
    close, totals, on_needed = [], [], []
    for row in rows(10, 400):
        found, relations, needed = check(row["puzzle"], row["answer"], 10)
        unneeded = found.relations.keys() - needed
        terms = {term for name in unneeded for term in relations[name].terms}
        close.append(len(unneeded) / len(needed & found.relations.keys()))
        totals.append(any(term.endswith("Animal") for term in terms - needed))
        on_needed.append(bool(terms & needed))
        assert len(unneeded) >= 2
    assert 0.55 < np.mean(close) < 0.8
    assert 1 < max(close) < 2
    assert 0.4 < np.mean(totals) < 0.6
    assert np.mean(on_needed) > 0.9


def test_sentences_stand_anywhere_in_the_noise():
    """Their places are uniform over the boundaries, both ends included."""
    places = []
    for row in rows(4, 150, 4000, "general"):
        sentences = re.split(r"(?<=\.) ", row["puzzle"].split("\n")[0].removeprefix("Problem: "))
        is_noise = np.array([not RELATION.fullmatch(sentence) for sentence in sentences])
        before = is_noise.cumsum()[~is_noise]
        places += (before / is_noise.sum()).tolist()
    assert {0, 1} <= set(places)
    assert kstest(places, "uniform").pvalue > 0.001

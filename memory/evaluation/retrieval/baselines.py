"""Five well-known baselines over whole turns, for comparison with Recall's ranking.

Each ranks the items for every question. BM25 is implemented here, on the words of PostgreSQL's English dictionary:
packages have stemmers of their own, which would explain part of a difference to full-text search.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from django.db import connection

from memory.embeddings.port import Embedder

BM25_K1: Final = 1.2
BM25_B: Final = 0.75
"""The defaults of Lucene and Elasticsearch."""
RRF_K: Final = 60
"""The constant of the paper that proposed reciprocal rank fusion (Cormack, Clarke, Büttcher 2009)."""

DENSE: Final = "dense"
WORDS_ALL: Final = "full text AND"
WORDS_ANY: Final = "full text OR"
BM25: Final = "BM25"
FUSED: Final = "RRF of dense and BM25"
BASELINES: Final = (DENSE, WORDS_ALL, WORDS_ANY, BM25, FUSED)
"""The baselines in the order of the table."""

type Order = list[int]
"""Positions of the found items in the given list, best first."""


def rank_all(items: Sequence[str], questions: Sequence[str], embedder: Embedder) -> dict[str, list[Order]]:
    """Each baseline's orders of `items`, one per question."""
    dense = by_meaning(items, questions, embedder)
    bm25 = by_bm25(items, questions)
    return {
        DENSE: dense,
        WORDS_ALL: by_full_text(items, questions, ALL_WORDS),
        WORDS_ANY: by_full_text(items, questions, ANY_WORD),
        BM25: bm25,
        FUSED: [fuse(orders) for orders in zip(dense, bm25, strict=True)],
    }


def by_meaning(items: Sequence[str], questions: Sequence[str], embedder: Embedder) -> list[Order]:
    """Orders by cosine; the model reads only the start of a long item."""
    cosines = np.stack([embedder.embed_question(question) for question in questions]) @ embedder.embed(items).T
    return [np.argsort(-row, kind="stable").tolist() for row in cosines]


def fuse(orders: Iterable[Order], k: int = RRF_K) -> Order:
    """Reciprocal rank fusion: the sum of 1 / (k + rank), ranks from 1."""
    scores: dict[int, float] = defaultdict(float)
    for order in orders:
        for rank, item in enumerate(order, start=1):
            scores[item] += 1 / (k + rank)
    return best_first(scores)


def best_first(scores: Mapping[int, float]) -> Order:
    """Positions by score, then by position."""
    return sorted(scores, key=lambda item: (-scores[item], item))


# BM25 ------------------------------------------------------------------------------------------------------------


def by_bm25(items: Sequence[str], questions: Sequence[str]) -> list[Order]:
    """Orders by BM25 over the database's English words."""
    score = bm25(words_of(items))
    return [best_first(score(asked)) for asked in words_of(questions)]


def bm25(items: Sequence[Mapping[str, int]]) -> Callable[[Iterable[str]], Mapping[int, float]]:
    """A function from a question's words to the scores of the items (word → count) that contain any of them."""
    length = [sum(counts.values()) for counts in items]
    mean_length = sum(length) / max(1, len(items))
    holders: dict[str, list[int]] = defaultdict(list)
    for item, counts in enumerate(items):
        for word in counts:
            holders[word].append(item)

    def weight(word: str, item: int) -> float:
        found = len(holders[word])
        rarity = math.log(1 + (len(items) - found + 0.5) / (found + 0.5))
        count = items[item][word]
        return rarity * count * (BM25_K1 + 1) / (count + BM25_K1 * (1 - BM25_B + BM25_B * length[item] / mean_length))

    def score(words: Iterable[str]) -> Mapping[int, float]:
        scores: dict[int, float] = defaultdict(float)
        for word in words:
            for item in holders.get(word, ()):
                scores[item] += weight(word, item)
        return scores

    return score


# PostgreSQL ------------------------------------------------------------------------------------------------------

_WORDS: Final = """
SELECT text.number, word.lexeme, cardinality(word.positions)
FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS text (said, number),
    unnest(to_tsvector('english', text.said)) AS word
"""

ALL_WORDS: Final = "websearch_to_tsquery('english', asked)"
ANY_WORD: Final = "replace(plainto_tsquery('english', asked)::text, ' & ', ' | ')::tsquery"

_FULL_TEXT: Final = """
WITH item AS MATERIALIZED (
    SELECT number, to_tsvector('english', said) AS words
    FROM unnest(%(items)s::text[]) WITH ORDINALITY AS item (said, number)
), question AS MATERIALIZED (
    SELECT number, {query} AS query
    FROM unnest(%(questions)s::text[]) WITH ORDINALITY AS question (asked, number)
)
SELECT question.number, array_agg(item.number - 1 ORDER BY ts_rank(words, query) DESC, item.number)
FROM question JOIN item ON words @@ query
GROUP BY question.number
"""


def words_of(texts: Sequence[str]) -> list[Counter[str]]:
    """Stems of each text by PostgreSQL's English dictionary, without stop words, with their counts."""
    words: list[Counter[str]] = [Counter() for _ in texts]
    for number, word, count in _rows(_WORDS, texts=texts):
        words[number - 1][word] = count
    return words


def by_full_text(items: Sequence[str], questions: Sequence[str], query: str) -> list[Order]:
    """Orders of the matching items by `ts_rank`; `query` is `ALL_WORDS` or `ANY_WORD`."""
    orders: list[Order] = [[] for _ in questions]
    for number, order in _rows(_FULL_TEXT.format(query=query), items=items, questions=questions):
        orders[number - 1] = order
    return orders


def _rows(statement: str, **texts: Sequence[str]) -> list[tuple[Any, ...]]:
    clean = {name: [text.replace("\x00", " ") for text in entries] for name, entries in texts.items()}
    with connection.cursor() as cursor:
        cursor.execute(statement, clean)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows

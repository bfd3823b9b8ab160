"""The table of a family of words: reads texts, and scores their words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.count.vocabulary import Buckets, WordSubset
from naively.families.words.rows import WordRows, alike, length_normed, sublinear
from naively.families.words.selection import places
from naively.names import Index
from naively.read.matrix import SparseRows
from naively.read.texts import Texts
from naively.score.scores import Scores
from naively.score.table import LinearTable, Shares
from naively.store.damage import are, need
from naively.store.registry import stored

if TYPE_CHECKING:
    from naively.families.words.block import Words

_MOST_THREADS = 1024


def _check_text_table(table: TextTable) -> None:
    size, all_words = table.features.size, table.features.words
    assert all_words is not None
    need(len(table.linear.present.feature) == size, "the words of a table")
    need(table.few is None, "a table of some words only")
    threads = table.words.threads
    need(threads is None or (type(threads) is int and 1 <= threads <= _MOST_THREADS), "a number of threads")
    need(table.idf is None or are(table.idf, "f8", size), "the weights of words")
    need(table.unknown is None or are(table.unknown, "b1", size), "the words of a table")
    need(table.place is None or are(table.place, "i4", all_words.size), "the places of words")


def _verify_text_table(table: TextTable) -> None:
    place, size = table.place, table.features.size
    need(place is None or not len(place) or (place.min() >= -1 and place.max() < size), "the places of words")
    need(table.idf is None or (table.idf >= 0).all(), "the weights of words")


@stored(check=_check_text_table, verify=_verify_text_table, derived=("place",))
@dataclass(frozen=True, eq=False)
class TextTable(Value):
    """A table of words that reads texts: tokens, their places in the table, their weights."""

    words: Words
    linear: LinearTable
    features: WordSubset
    idf: Array | None
    few: Array | None  # the numbers of the words, in a table of some words
    unknown: Array | None = None  # a mask of words that are unknown though they have a column

    @property
    def classes(self) -> Index:
        return self.linear.classes

    @property
    def prior(self) -> Array:
        return self.linear.prior

    @cached_property
    def place(self) -> Array | None:
        """The column of each word by its number; None where they are the same."""
        numbers, all_words = self.features.numbers, self.features.words
        assert numbers is not None
        assert all_words is not None
        if self.unknown is not None:
            return np.where(self.unknown, -1, np.arange(all_words.size)).astype(np.int32)
        if len(numbers) == all_words.size:
            return None
        place = np.full(all_words.size, -1, np.int32)
        place[numbers] = np.arange(len(numbers), dtype=np.int32)
        return place

    def for_once(self) -> TextTable:
        """Return the table for texts that are scored once."""
        return replace(self, linear=self.linear.for_once())

    def rows(self, texts: Texts | WordRows) -> SparseRows:
        """The weights of the words of each text."""
        family = self.words
        if isinstance(texts, WordRows):
            return self._weighed(*self._placed(texts))
        n_threads, all_words = family.n_threads(texts), self.features.words
        if isinstance(all_words, Buckets):
            starts, column, count = self._bucket_rows(texts, all_words, n_threads)
        else:
            assert all_words is not None
            place = None if self.few is not None else self.place
            starts, column, count = all_words.read(texts.core, family.tokens.core, n_threads, place)
        if self.few is not None:
            starts, column, count = _only_placed(self.few, starts, column, count)
        return self._weighed(starts, column, count)

    def _weighed(self, starts: Array, column: Array, count: Array) -> SparseRows:
        data = self._weighted(starts, column, count)
        return SparseRows(data, *alike(column, starts), (len(starts) - 1, self.features.size))

    def _placed(self, rows: WordRows) -> tuple[Array, Array, Array]:
        """Return counts in the columns of the table; words without a column are left out."""
        numbers, all_words = self.features.numbers, self.features.words
        assert numbers is not None
        plain = self.few is None and not isinstance(all_words, Buckets)
        given = self.words.vocabulary is not None  # then some words may have the number -1
        if plain and self.place is None and not given:
            return rows.starts, rows.number.astype(np.int32), rows.count
        if not plain or given:
            return _only_placed(numbers, rows.starts, rows.number, rows.count)
        assert self.place is not None
        return _known(self.place[rows.number], rows.starts, rows.count)

    def _bucket_rows(self, texts: Texts, all_words: Buckets, n_threads: int) -> tuple[Array, Array, Array]:
        """Return counts in the columns of the table; buckets without a column are left out."""
        numbers = self.features.numbers
        assert numbers is not None
        starts, bucket, count = _core.read_buckets(texts.core, self.words.tokens.core, n_threads, all_words.size, False)
        seen, column = np.unique(bucket, return_inverse=True)
        place = np.searchsorted(numbers, seen)
        known = place < len(numbers)
        known[known] = numbers[place[known]] == seen[known]
        return _core.reorder(
            starts, column.astype(np.int32), count, np.where(known, place, -1).astype(np.int32), n_threads
        )

    def _weighted(self, starts: Array, column: Array, count: Array) -> Array:
        if self.words.family == "bernoulli" or self.words.weighting == "binary":
            return np.ones(len(count), np.uint8)
        if self.idf is None:
            return count
        return length_normed(starts, sublinear(count) * self.idf[column])

    def score(self, texts: Texts | WordRows) -> Scores:
        scores = self.linear.score(self.rows(texts))
        missing = texts.missing
        if len(missing):
            scores.likelihood[missing] = 0.0
            if scores.impossible is not None:
                scores.impossible[missing] = 0.0
        return scores

    def shares(self, texts: Texts | WordRows) -> Shares:
        return self.linear.shares(self.rows(texts))


def _only_placed(numbers: Array, starts: Array, number: Array, count: Array) -> tuple[Array, Array, Array]:
    """Return rows in the columns of some words (sorted numbers); others are left out."""
    return _known(places(numbers, number), starts, count)


def _known(column: Array, starts: Array, count: Array) -> tuple[Array, Array, Array]:
    """Return rows without entries that have no column."""
    if column.min(initial=0) < 0:
        known = column >= 0
        starts = np.concatenate([[0], np.cumsum(known)])[starts].astype(np.int64)
        kept = np.flatnonzero(known)
        column, count = column[kept], count[kept]
    return starts, column.astype(np.int32, copy=False), count

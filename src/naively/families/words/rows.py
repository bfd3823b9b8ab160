"""Texts as rows of words by number, and the weights of words in a text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.count.cells import Cells
from naively.count.counts import WEIGHT_UNIT
from naively.count.vocabulary import Buckets, Vocabulary
from naively.threads import threads


@dataclass(frozen=True, eq=False)
class WordRows(Value):
    """Texts that were read once: the numbers of the words of each, ascending, and their counts."""

    words: Any  # Vocabulary or Buckets, or whatever has their size
    starts: Array
    number: Array
    count: Array
    missing: Array  # of length 0 where no text is

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    @property
    def nnz(self) -> int:
        return len(self.number)

    @cached_property
    def row(self) -> Array:
        """The text of each word."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def tf(self) -> Array:
        """1 + log tf."""
        return sublinear(self.count)

    @cached_property
    def unit(self) -> Array:
        """`tf` with texts scaled to length 1, rounded to the unit of stored weights."""
        return np.rint(length_normed(self.starts, self.tf) / WEIGHT_UNIT) * WEIGHT_UNIT

    def __getitem__(self, rows: slice) -> WordRows:
        first, last, _ = rows.indices(len(self))
        a, b = self.starts[first], self.starts[max(last, first)]
        starts = self.starts[first : max(last, first) + 1] - a
        missing = self.missing[rows] if len(self.missing) else self.missing
        return self._with(starts, slice(a, b), missing)

    def take(self, rows: Array) -> WordRows:
        """The texts with these numbers, in that order."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.arange(starts[-1]) + np.repeat(self.starts[:-1][rows] - starts[:-1], lengths)
        return self._with(starts, entries, self.missing[rows] if len(self.missing) else self.missing)

    def only(self, mask: Array) -> WordRows:
        """Keep some words (a mask); the length of a text becomes that of its remaining words."""
        mine = mask[self.number]
        starts = np.concatenate([[0], np.cumsum(mine)])[self.starts].astype(np.int64)
        return WordRows(self.words, starts, self.number[mine], self.count[mine], self.missing)

    def single_words(self) -> WordRows:
        """Rows of words alone, without sequences of them, as if nothing else had been read."""
        data, length, _, _ = self.words.to_arrays()
        single = length >= 0
        none = np.zeros(0, np.int64)
        words = Vocabulary.from_arrays(data, length[single], none, none)
        return self.only(single).renumbered(np.cumsum(single) - 1, words)

    def masked(self, mask: Array, *, weights: bool = True) -> WordRows:
        """Hide the other words; texts keep their full length in `unit`, if `weights` are needed."""
        if weights:
            _ = self.unit
        mine = mask[self.number]
        starts = np.concatenate([[0], np.cumsum(mine)])[self.starts]
        return self._with(starts, mine, self.missing)

    def renumbered(self, place: Array, words: Any) -> WordRows:
        """Renumber the words of all texts, without sorting them again."""
        other = WordRows(words, self.starts, place[self.number], self.count, self.missing)
        other.__dict__.update({name: self.__dict__[name] for name in ("tf", "unit") if name in self.__dict__})
        return other

    def _with(self, starts: Array, entries: Any, missing: Array) -> WordRows:
        part = WordRows(self.words, starts, self.number[entries], self.count[entries], missing)
        for name in ("tf", "unit"):
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name][entries]
        return part

    def blocks(self, size: int) -> Any:
        """Yield slices of `size` rows."""
        for start in range(0, len(self), size):
            yield slice(start, min(start + size, len(self)))

    def counted(self, codes: Array, classes: int, weight: Array | None, *, weights: bool) -> Cells:
        """Count each word in each class: occurrences, documents and, with `weights`, weights."""
        known = self.__dict__.get("unit") if weights else None  # of the full texts, if words are masked
        arguments = self.starts, self.number, self.count, known, self.words.size, codes, classes, weight
        return Cells.counted(_core.count_rows(*arguments, weights, threads(len(self.number))))


def read_all(rules: Any, texts: Any, n_threads: int) -> WordRows:
    """Read all words of each text, with a vocabulary of these texts."""
    words = Vocabulary()
    starts, number, count = _core.read_growing(texts.core, rules, n_threads, words.table)
    return WordRows(Vocabulary.all_of(words.table), starts, number, count, texts.missing)


def read_words(
    rules: Any, words: Vocabulary | Buckets, texts: Any, n_threads: int, given: Any, *, split: bool
) -> WordRows:
    """Read the known words of each text. With a `given` vocabulary, other words get the number -1: they count for the
    length of a text."""
    missing = texts.missing
    if isinstance(words, Buckets):
        starts, number, count = _core.read_buckets(texts.core, rules, n_threads, words.size, False)
        return WordRows(words, starts, number, count, missing)
    if given is None:
        starts, number, count = words.read(texts.core, rules, n_threads)
        return WordRows(words, starts, number, count, missing)
    own = Vocabulary()
    starts, column, count = _core.read_growing(texts.core, rules, n_threads, own.table)
    own = Vocabulary.all_of(own.table)
    moved = np.full(own.size, -1, np.int64)
    here, there = (known.locate(given, split=split) for known in (own, words))
    moved[here[here >= 0]] = there[here >= 0]
    numbers = moved[column]
    order = np.lexsort((numbers, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
    return WordRows(words, starts, numbers[order], count[order], missing)


def sublinear(count: Array) -> Array:
    """1 + log tf."""
    return 1.0 + np.log(count)


def length_normed(starts: Array, weight: Array) -> Array:
    """Scale the weights of the words of each text to length 1."""
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    length = np.sqrt(np.bincount(row, weights=weight * weight, minlength=len(starts) - 1))
    return weight / np.where(length > 0, length, 1.0)[row]


def inverse_documents(texts: Any, documents: Array) -> Array:
    """Return log((1 + n) / (1 + df)) + 1 for words that are in df of n texts."""
    return np.log((1.0 + texts) / (1.0 + documents)) + 1.0


def alike(column: Array, starts: Array) -> tuple[Array, Array]:
    """Return columns and starts of rows in one type, int32 if that holds them."""
    narrow = starts[-1] <= np.iinfo(np.int32).max
    return (column, starts.astype(np.int32)) if narrow else (column.astype(np.int64), starts)

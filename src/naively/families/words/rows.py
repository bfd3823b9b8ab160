"""Texts as rows of words by number, and what a word in a text weighs."""

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
from naively.families.words.selection import DOCUMENTS
from naively.threads import threads


@dataclass(frozen=True, eq=False)
class WordRows(Value):
    """Texts that were read once: the words of each by number, ascending, and how often each is there."""

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
        """The same with texts brought to the length 1, rounded to what is counted of it."""
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

    def only(self, kept: Array) -> WordRows:
        """Of some words alone (a mask of all); texts are as long as these make them."""
        mine = kept[self.number]
        starts = np.concatenate([[0], np.cumsum(mine)])[self.starts].astype(np.int64)
        return WordRows(self.words, starts, self.number[mine], self.count[mine], self.missing)

    def single_words(self) -> WordRows:
        """Rows of words alone, without sequences of them, as if nothing else had been read."""
        data, length, _, _ = self.words.to_arrays()
        single = length >= 0
        none = np.zeros(0, np.int64)
        words = Vocabulary.from_arrays(data, length[single], none, none)
        return self.only(single).renumbered(np.cumsum(single) - 1, words)

    def shown(self, kept: Array, *, weights: bool = True) -> WordRows:
        """Of some words alone; texts are as long as they were, where their `weights` matter."""
        if weights:
            _ = self.unit
        mine = kept[self.number]
        starts = np.concatenate([[0], np.cumsum(mine)])[self.starts]
        return self._with(starts, mine, self.missing)

    def renumbered(self, place: Array, words: Any) -> WordRows:
        """With other numbers, in whatever order they are then."""
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
        """Slices of so many rows."""
        for start in range(0, len(self), size):
            yield slice(start, min(start + size, len(self)))

    def counted(self, codes: Array, classes: int, weight: Array | None, *, weights: bool) -> Cells:
        """What was seen of each word in each class: occurrences, documents and, if asked for, weights."""
        known = self.__dict__.get("unit") if weights else None  # of whole texts, where these are parts of them
        arguments = self.starts, self.number, self.count, known, self.words.size, codes, classes, weight
        return Cells(*_core.count_rows(*arguments, weights, threads(len(self.number))))


def read_all(rules: Any, texts: Any, many: int) -> WordRows:
    """The words of each text, all of them, in a vocabulary of their own."""
    words = Vocabulary()
    starts, number, count = _core.read_growing(texts.core, rules, many, words.table)
    return WordRows(Vocabulary.all_of(words.table), starts, number, count, texts.missing)


def read_words(rules: Any, words: Vocabulary | Buckets, texts: Any, many: int, given: Any, *, split: bool) -> WordRows:
    """The words of each text; those not known are left out, but with `given` words, where they are -1 (they count for
    the length of a text)."""
    missing = texts.missing
    if isinstance(words, Buckets):
        starts, number, count = _core.read_buckets(texts.core, rules, many, words.size, False)
        return WordRows(words, starts, number, count, missing)
    if given is None:
        starts, number, count = words.read(texts.core, rules, many)
        return WordRows(words, starts, number, count, missing)
    own = Vocabulary()
    starts, column, count = _core.read_growing(texts.core, rules, many, own.table)
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
    """Weights of words, those of each text brought to the length 1."""
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    length = np.sqrt(np.bincount(row, weights=weight * weight, minlength=len(starts) - 1))
    return weight / np.where(length > 0, length, 1.0)[row]


def inverse_documents(cells: Cells, words: int, texts: float) -> Array:
    """log((1 + n) / (1 + df)) + 1 for each word."""
    documents = np.bincount(cells.feature, weights=cells.values[DOCUMENTS], minlength=words)
    return np.log((1.0 + texts) / (1.0 + documents)) + 1.0


def alike(column: Array, starts: Array) -> tuple[Array, Array]:
    """Columns and starts of rows in one type, the narrow one where it will do."""
    narrow = starts[-1] <= np.iinfo(np.int32).max
    return (column, starts.astype(np.int32)) if narrow else (column.astype(np.int64), starts)

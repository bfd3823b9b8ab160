"""Counts of features by class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from naively.arrays import Array, Value, alike, less, narrowed, negated, negative, plus, rounded, scaled
from naively.count.cells import Cells, NegativeCell
from naively.count.columns import CODE_BITS, MISSING, Categories
from naively.count.vocabulary import WordFeatures
from naively.errors import InputError, NegativeCount
from naively.names import Index
from naively.store.damage import COUNTS, LARGEST, are, need
from naively.store.registry import stored

Features = Index | Categories | WordFeatures
PLANES = {
    "counts": ("count",),
    "presence": ("count", "missing"),
    "events": ("count", "missing"),
    "categories": ("count",),
    "words": ("occurrences", "documents", "weight"),
    "unweighted words": ("occurrences", "documents"),
}
"""The planes of each kind of counts."""
WORDS = ("words", "unweighted words")
WEIGHT_UNIT = 2.0**-32
"""The unit of the weights of words, which are stored as whole numbers."""
_MOST_ROWS = 1 << 62
_ROWS_COUNTED = {
    "presence": ("count", "missing"),
    "events": ("missing",),
    "categories": ("count",),
    "words": ("documents",),
    "unweighted words": ("documents",),
}
"""The planes of each kind that no class can have more of than rows."""


def _check_counts(counts: Counts) -> None:
    need(counts.kind in PLANES, "the kind of counts")
    fitting: type = Categories if counts.kind == "categories" else Index
    words = isinstance(counts.features, WordFeatures)
    need(words if counts.kind in WORDS else isinstance(counts.features, fitting), "the features of counts")
    need(are(counts.exact_rows, COUNTS, None), "the rows of counts")
    need(len(counts.cells.exact) == len(PLANES[counts.kind]), "the numbers of a tally")


def _verify_counts(counts: Counts) -> None:
    """Check that cells are those of the classes and features, in order, and hold what can be counted."""
    cells, features = counts.cells, counts.features
    verify_rows(counts.exact_rows)
    if not len(cells):
        return
    need(cells.klass.min() >= 0 and cells.klass.max() < len(counts.exact_rows), "a cell of no class")
    _verify_features(cells.feature, features)
    before, after = cells.feature[:-1], cells.feature[1:]
    sorted_ = (before < after) | ((before == after) & (cells.klass[:-1] < cells.klass[1:]))
    need(sorted_.all(), "cells out of order")
    verify_counts(cells.exact, LARGEST, "counts")
    most = counts.exact_rows[cells.klass]
    for plane in _ROWS_COUNTED.get(counts.kind, ()):
        verify_most(most, cells.exact[PLANES[counts.kind].index(plane)], "more counts than rows")


def _verify_features(feature: Array, features: Features) -> None:
    need(feature.min() >= 0, "a cell of no feature")
    if isinstance(features, Categories):
        column, code = feature >> CODE_BITS, feature & MISSING
        need(column.max() < features.columns.size, "a cell of no column")
        need(((code == MISSING) | (code < features.sizes[column])).all(), "a cell of no category")
    else:
        need(feature.max() < features.size, "a cell of no feature")


def verify_rows(rows: Array) -> None:
    """Raise FileError for rows of classes that cannot be."""
    verify_counts(rows, _MOST_ROWS, "rows")


def verify_counts(counts: Array, most: float, noun: str) -> None:
    """Raise FileError unless counts are written in the one way that they should be, from 0 to `most` together."""
    need(narrowed(counts).dtype == counts.dtype, f"{noun} of another type")
    need(not negative(counts).any(), f"{noun} below zero")
    need(rounded(counts).sum(dtype=np.float64) < most, f"more {noun} than there can be")


def verify_most(most: Array, counts: Array, what: str) -> None:
    """Raise FileError if a count is above its limit."""
    need(not negative(less(*padded(most, counts))).any(), what)


@stored(check=_check_counts, verify=_verify_counts)
@dataclass(frozen=True, eq=False, repr=False)
class Counts(Value):
    """Counts by class and feature, in cells; a part of a tally, which names the classes.

    `exact_rows` are the rows of each class in which the features are known: all but those whose text is missing. All
    counts are exact, so merging in any order gives the same bits.
    """

    kind: str
    exact_rows: Array
    features: Features
    cells: Cells

    @classmethod
    def empty(cls, kind: str, n_classes: int, features: Features) -> Counts:
        return cls(kind, np.zeros(n_classes, np.int64), features, Cells.empty(len(PLANES[kind])))

    @cached_property
    def rows(self) -> Array:
        """The rows of each class as int64, or as the nearest float64."""
        return rounded(self.exact_rows)

    @property
    def planes(self) -> tuple[str, ...]:
        return PLANES[self.kind]

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return len(self.cells) * len(self.planes) + len(self.exact_rows)

    @cached_property
    def exact_totals(self) -> Array:
        """The sum of each plane for each class, int64 or FIXED."""
        return self.cells.exact_totals(len(self.exact_rows))

    @cached_property
    def totals(self) -> Array:
        """The sum of each plane for each class, as float64."""
        return rounded(self.exact_totals).astype(np.float64)

    def __add__(self, other: Counts) -> Counts:
        mine, theirs = self._aligned(other)
        rows = sum_of([mine.exact_rows, theirs.exact_rows])
        return Counts(mine.kind, rows, mine.features, mine.cells + theirs.cells)

    def minus(self, other: Counts, classes: Index) -> Counts:
        """Subtract the other; raise NegativeCount, with the names of `classes`, if that is more than was counted."""
        mine, theirs = self._aligned(other)
        rows = rows_left(classes, mine.exact_rows, theirs.exact_rows, self.rows_noun)
        try:
            cells = mine.cells - theirs.cells
        except NegativeCell as error:
            raise negative_count(error.feature, error.klass, mine.features, classes) from None
        return replace(mine, exact_rows=rows, cells=cells)

    @property
    def rows_noun(self) -> str:
        """The word for rows in an error message."""
        return "rows with a text" if self.kind in WORDS else "rows"

    def negated(self) -> Counts:
        """Return the negative counts, whose sum with others is a difference."""
        return Counts(self.kind, negated(self.exact_rows), self.features, self.cells.negated())

    def scaled(self, factors: Array) -> Counts:
        """Return the counts times a factor for each class."""
        return replace(self, exact_rows=scaled(self.exact_rows, factors), cells=self.cells.scaled(factors))

    def same(self, other: object) -> bool:
        """True if both hold the same counts."""
        if not isinstance(other, Counts) or self.kind != other.kind:
            return False
        try:
            mine, theirs = self._aligned(other)
        except InputError:  # named on one side only
            return False
        return np.array_equal(*padded(mine.exact_rows, theirs.exact_rows)) and mine.cells.same(theirs.cells)

    def renumbered(self, n_classes: int, places: Array) -> Counts:
        """Return the same counts with other numbers for the classes."""
        rows = spread(self.exact_rows, n_classes, places)
        return replace(self, exact_rows=rows, cells=self.cells.renumbered(None, places))

    def without_classes(self, gone: Array) -> Counts:
        """Return the counts without some classes (a mask)."""
        places, mine = np.cumsum(~gone) - 1, ~gone[self.cells.klass]
        rows = spread(self.exact_rows, len(gone), None)[~gone]
        return replace(self, exact_rows=rows, cells=self.cells.taken(mine).renumbered(None, places))

    def dense(self, plane: int = 0) -> Array:
        """Return one plane as an array, classes by features."""
        if isinstance(self.features, Categories):
            raise InputError(f"counts of {self.kind} have no single array; ask for a column")
        result = np.zeros((len(self.exact_rows), self.features.size), self.cells.values.dtype)
        result[self.cells.klass, self.cells.feature] = self.cells.values[plane]
        return result

    def check_alike(self, other: Counts) -> None:
        """Raise InputError if the other counts something else."""
        if not isinstance(other, Counts) or self.kind != other.kind:
            what = f"one of {other.kind}" if isinstance(other, Counts) else type(other).__name__
            raise InputError(f"a tally of {self.kind} and {what} cannot be put together; count the same way twice")

    def _aligned(self, other: Counts) -> tuple[Counts, Counts]:
        """Return both over the union of their features."""
        self.check_alike(other)
        if self.features is other.features:
            return self, other
        features, renumber = self.features.union(other.features, "features")  # type: ignore[arg-type]
        change: Callable[[Array], Array] | None = renumber.__getitem__ if isinstance(renumber, np.ndarray) else renumber
        theirs = replace(other, features=features, cells=other.cells.renumbered(change, None))
        return replace(self, features=features), theirs

    def __repr__(self) -> str:
        if self.kind in WORDS:
            return f"{len(self.cells.features()):_} words"
        wide = self.features.columns.size if isinstance(self.features, Categories) else self.features.size
        return f"{wide:_} features"


def negative_count(feature: int, klass: int, features: Features, classes: Index) -> NegativeCount:
    """Return the error for a cell of which more is to be forgotten than was counted."""
    name = features.name(feature)
    what = f"feature {name!r}"
    if isinstance(features, Categories):
        what = f"column {name[0]!r}, {'a missing value' if name[1] is None else f'category {name[1]!r}'}"
    return NegativeCount(
        f"cannot forget more than was counted: {what} in class {classes.name(klass)!r}; nothing was changed"
    )


def rows_left(classes: Index, rows: Array, gone: Array, what: str = "rows") -> Array:
    """Return rows per class less those in `gone`; raise NegativeCount if that is below zero."""
    rows, gone = padded(rows, gone)
    left = less(rows, gone)
    below = negative(left)
    if below.any():
        k = int(np.argmax(below))
        raise NegativeCount(
            f"cannot forget more than was counted: class {classes.name(k)!r} has {rounded(rows)[k]:g} {what}, "
            f"{rounded(gone)[k]:g} to forget ({float(rounded(negated(left))[k]):.2g} too many); nothing was changed"
        )
    return left


def spread(values: Array, size: int, places: Array | None) -> Array:
    """Return values per class for a longer or reordered list of classes."""
    if places is None and len(values) == size:
        return values
    result = np.zeros((size, *values.shape[1:]), values.dtype)
    result[slice(len(values)) if places is None else places] = values
    return result


def padded(a: Array, b: Array) -> tuple[Array, Array]:
    """Return exact values per class of two sums in one type, with zeros for classes that only the other has."""
    if a.dtype != b.dtype:
        a, b = alike([a, b])
    if len(a) == len(b):
        return a, b
    size = max(len(a), len(b))
    return spread(a, size, None), spread(b, size, None)


def sum_of(parts: list[Array]) -> Array:
    """Return the sum of exact values per class, for more or fewer classes."""
    total, *rest = parts
    for part in rest:
        total = plus(*padded(total, part))
    return total

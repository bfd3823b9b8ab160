"""Cells: numbers for the pairs of feature and class that were seen, and only for these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from naively import _core
from naively.arrays import (
    TOO_LARGE,
    Array,
    Value,
    alike,
    from_core,
    narrowed,
    negated,
    nonzero,
    rounded,
    scaled,
    summed_by,
    sums_by,
    to_core,
)
from naively.errors import NaivelyError, NegativeCount
from naively.store.damage import COUNTS, are, need
from naively.store.registry import stored


class NegativeCell(NegativeCount):
    """Raised with the numbers of a cell from which more was subtracted than it holds."""

    def __init__(self, feature: int, klass: int):
        super().__init__(f"feature {feature} of class number {klass}")
        self.feature, self.klass = feature, klass


def _check_cells(cells: Cells) -> None:
    n_cells = len(cells.feature)
    need(are(cells.feature, "i8", None) and are(cells.klass, "i4", n_cells), "the cells of a tally")
    need(are(cells.exact, COUNTS, None, n_cells), "the numbers of a tally")


@stored(check=_check_cells)
@dataclass(frozen=True, eq=False)
class Cells(Value):
    """Sorted by feature, then class; `exact` has one row for each plane: int64, or FIXED where weights have fractions.

    A view of counts may hold float64 that were computed from them.
    """

    feature: Array
    klass: Array
    exact: Array

    @classmethod
    def empty(cls, planes: int = 1) -> Cells:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros((planes, 0), np.int64))

    @classmethod
    def sorted(cls, feature: Array, klass: Array, exact: Array) -> Cells:
        """Return cells from entries in any order, each pair at most once; cells of zeros are left out."""
        held = nonzero(exact).any(axis=0)
        feature, klass, exact = feature[held], klass[held], exact[:, held]
        order = np.lexsort((klass, feature))
        counts = np.ascontiguousarray(narrowed(exact[:, order]))
        return cls(feature[order].astype(np.int64), klass[order].astype(np.int32), counts)

    @classmethod
    def counted(cls, cells: tuple[Array, Array, Array]) -> Cells:
        """Make cells from the arrays that the core returns."""
        feature, klass, counts = cells
        return cls(feature, klass, from_core(counts))

    def __len__(self) -> int:
        return len(self.feature)

    @cached_property
    def values(self) -> Array:
        """The counts as int64 if all are whole, otherwise as the nearest float64."""
        return rounded(self.exact)

    def __add__(self, other: Cells) -> Cells:
        return self._summed(other, subtract=False)

    def __sub__(self, other: Cells) -> Cells:
        return self._summed(other, subtract=True)

    def _summed(self, other: Cells, *, subtract: bool) -> Cells:
        left, right = map(to_core, alike([self.exact, other.exact]))
        result = _core.sum_cells(self.feature, self.klass, left, other.feature, other.klass, right, subtract)
        if len(result) == 3:
            return Cells.counted(result)
        fault, at = result
        if fault == 2:
            raise NegativeCell(int(other.feature[at]), int(other.klass[at]))
        raise NaivelyError(TOO_LARGE)

    def negated(self) -> Cells:
        return Cells(self.feature, self.klass, negated(self.exact))

    def look_up(self, feature: Array, klass: Array) -> Array:
        """Return the values of these pairs, which must be sorted like cells; 0 where there is no such cell."""
        return rounded(self.exactly(feature, klass))

    def exactly(self, feature: Array, klass: Array) -> Array:
        """Return the same, int64 or FIXED."""
        return from_core(_core.look_up(self.feature, self.klass, to_core(self.exact), feature, klass))

    def scaled(self, factors: Array) -> Cells:
        """Return the values times a factor for each class, rounded down to units of 2^-64; without cells of zeros."""
        exact = scaled(self.exact, factors[self.klass])
        cells, left = Cells(self.feature, self.klass, exact), np.flatnonzero(nonzero(exact).any(axis=0))
        return cells if len(left) == len(cells) else cells.taken(left)

    def renumbered(self, features: Callable[[Array], Array] | None, classes: Array | None) -> Cells:
        """Return the same values with other numbers for features and classes."""
        if features is None and classes is None:
            return self
        feature = self.feature if features is None else features(self.feature)
        if classes is None:  # the cells of each feature stay together, and no two features become one
            return Cells.counted(_core.regrouped(feature, self.klass, to_core(self.exact)))
        return Cells.sorted(feature, classes[self.klass], self.exact)

    def taken(self, places: Array) -> Cells:
        """Return some of the cells (a mask, or places in ascending order)."""
        return Cells(self.feature[places], self.klass[places], np.ascontiguousarray(self.exact[:, places]))

    def features(self) -> Array:
        """The features that have a cell, sorted."""
        if not len(self):
            return self.feature
        return self.feature[np.concatenate([[True], self.feature[1:] != self.feature[:-1]])]

    def exact_totals(self, classes: int) -> Array:
        """Return the sum of each plane for each class, int64 or FIXED."""
        return self._summed_by(self.klass, classes)

    def _summed_by(self, groups: Array, size: int) -> Array:
        try:
            return summed_by(groups, self.exact, size)
        except OverflowError:
            raise NaivelyError(TOO_LARGE) from None

    def of_features(self, width: int) -> Array:
        """Return the sum of the first plane for each of `width` features: int64, FIXED or computed float64."""
        if self.exact.dtype == np.float64:
            return sums_by(self.feature, self.exact[0], width)
        return Cells(self.feature, self.klass, self.exact[:1])._summed_by(self.feature, width)[0]

    def totals(self, classes: int) -> Array:
        """Return the sum of each plane for each class, as float64."""
        return rounded(self.exact_totals(classes)).astype(np.float64)

    def same(self, other: Cells) -> bool:
        pairs = (self.feature, other.feature), (self.klass, other.klass), (self.exact, other.exact)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)


def gathered(layers: Sequence[Cells], features: Array) -> Cells:
    """Add up the cells of these features (sorted, each once) in all layers; their places are the new numbers."""
    exact = alike([cells.exact for cells in layers])
    parts = [(cells.feature, cells.klass, to_core(counts)) for cells, counts in zip(layers, exact, strict=True)]
    whole = all(counts.dtype == np.int64 for counts in exact)
    try:
        return Cells.counted(_core.gather(parts, features, whole))
    except OverflowError:
        raise NaivelyError(TOO_LARGE) from None

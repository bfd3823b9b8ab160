"""Cells: numbers kept only for the pairs of feature and class that were seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from naively import _core
from naively.arrays import WHOLE_LIMIT, Array, close, whole
from naively.errors import NaivelyError, NegativeCount
from naively.store.registry import stored


class NegativeCell(NegativeCount):
    """Raised with the numbers of a cell from which more was subtracted than it holds."""

    def __init__(self, feature: int, klass: int):
        super().__init__(f"feature {feature} of class number {klass}")
        self.feature, self.klass = feature, klass


@stored()
@dataclass(frozen=True, eq=False)
class Cells:
    """Sorted by feature, then class; `values` has one row for each plane."""

    feature: Array
    klass: Array
    values: Array

    @classmethod
    def empty(cls, planes: int = 1) -> Cells:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros((planes, 0), np.int64))

    @classmethod
    def sorted(cls, feature: Array, klass: Array, values: Array) -> Cells:
        """Return cells from entries in any order, each pair at most once; cells of zeros are left out."""
        nonzero = values.any(axis=0)
        feature, klass, values = feature[nonzero], klass[nonzero], values[:, nonzero]
        order = np.lexsort((klass, feature))
        return cls(
            feature[order].astype(np.int64),
            klass[order].astype(np.int32),
            np.ascontiguousarray(whole(values[:, order])),
        )

    def __len__(self) -> int:
        return len(self.feature)

    def __add__(self, other: Cells) -> Cells:
        return self._summed(other, subtract=False)

    def __sub__(self, other: Cells) -> Cells:
        return self._summed(other, subtract=True)

    def _summed(self, other: Cells, *, subtract: bool) -> Cells:
        left, right = self.values, other.values
        if left.dtype != right.dtype:
            left, right = left.astype(np.float64), right.astype(np.float64)
        result = _core.sum_cells(self.feature, self.klass, left, other.feature, other.klass, right, subtract)
        if len(result) == 2:
            fault, at = result
            if fault == 2:
                raise NegativeCell(int(other.feature[at]), int(other.klass[at]))
            raise NaivelyError("a count grew beyond what 64 bits hold; divide the weights by a common factor")
        feature, klass, values = result
        return Cells(feature, klass, whole(values))

    def negated(self) -> Cells:
        return Cells(self.feature, self.klass, -self.values)

    def look_up(self, feature: Array, klass: Array) -> Array:
        """Return the values of these pairs, which must be sorted like cells; 0 where there is no such cell."""
        return _core.look_up(self.feature, self.klass, self.values, feature, klass)

    def renumbered(self, features: Callable[[Array], Array] | None, classes: Array | None) -> Cells:
        """Return the same values with other numbers for features and classes."""
        if features is None and classes is None:
            return self
        feature = self.feature if features is None else features(self.feature)
        if classes is None:  # the cells of each feature stay together, and no two features become one
            return Cells(*_core.regrouped(feature, self.klass, self.values))
        return Cells.sorted(feature, classes[self.klass], self.values)

    def features(self) -> Array:
        """The features that have a cell, sorted."""
        if not len(self):
            return self.feature
        return self.feature[np.concatenate([[True], self.feature[1:] != self.feature[:-1]])]

    def totals(self, classes: int, planes: Collection[int] | None = None) -> Array:
        """Return the sum of each plane for each class; planes other than `planes` are left at 0."""
        sums = np.zeros((len(self.values), classes))
        for p in range(len(self.values)):
            if planes is not None and p not in planes:
                continue
            sums[p] = _by_class(self.klass, self.values[p], classes)
        return sums

    def same(self, other: Cells) -> bool:
        return (
            np.array_equal(self.feature, other.feature)
            and np.array_equal(self.klass, other.klass)
            and close(self.values, other.values)
        )


def _by_class(klass: Array, values: Array, classes: int) -> Array:
    """Sums for each class, the same in whatever order the values come."""
    if values.dtype != np.int64 or not len(values) or int(np.abs(values).max()) * len(values) < WHOLE_LIMIT:
        return np.bincount(klass, weights=values, minlength=classes)
    high, low = values >> _HALF, values & ((1 << _HALF) - 1)  # each half adds up to what float64 holds exactly
    sums = [np.bincount(klass, weights=half, minlength=classes).astype(np.int64) for half in (high, low)]
    return ((sums[0] << _HALF) + sums[1]).astype(np.float64)


_HALF = 26


def gathered(layers: Sequence[Cells], features: Array) -> Cells:
    """The cells of these features (sorted, each once) in all layers together, numbered by their place among them."""
    whole_numbers = all(cells.values.dtype == np.int64 for cells in layers)
    values = [cells.values if whole_numbers else cells.values.astype(np.float64) for cells in layers]
    parts = [(cells.feature, cells.klass, v) for cells, v in zip(layers, values, strict=True)]
    return Cells(*_core.gather(parts, features, whole_numbers))

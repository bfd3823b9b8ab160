"""CountedColumn: the values of one column of numbers, and how often each class has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.arrays import Array, Value
from naively.count.number_counts import EXACT, NumberCounts

_LARGEST = 1 << 21
"""Largest number of counts (values times classes) of a column; beyond that, neighbouring values are put together."""
_FEWEST_VALUES = 16


@dataclass(frozen=True, eq=False)
class CountedColumn(Value):
    """Ranges of numbers, ascending, and their counts, ranges by classes.

    `level` is how many bits of the fraction the ranges keep (52: each is one number); `grouped` is True where a range
    stands for its neighbours too, because ranges and classes are many.
    """

    least: Array
    greatest: Array
    middle: Array
    counts: Array
    level: int
    grouped: bool

    @classmethod
    def of(cls, part: NumberCounts, column: int, n_classes: int) -> CountedColumn:
        least, greatest, middle = part.values(column)
        at, klass, value = part.entries(column)
        most = max(_FEWEST_VALUES, _LARGEST // max(n_classes, 1))
        grouped = len(least) > most
        if grouped:
            first = np.concatenate([[0], by_frequency(np.bincount(at, value, len(least)), most)])
            greatest = greatest[np.append(first[1:], len(greatest)) - 1]
            least, middle, at = least[first], middle[first], np.searchsorted(first, at, side="right") - 1
        counts = np.bincount(at * n_classes + klass, value, len(least) * n_classes).astype(np.float64)
        return cls(least, greatest, middle, counts.reshape(len(least), n_classes), part.level(column), grouped)

    @property
    def exact(self) -> bool:
        """True if each range is one number."""
        return self.level == EXACT and not self.grouped

    @property
    def rows(self) -> Array:
        """The counts as if of rows: weights below one on average are raised to one."""
        many, total = np.count_nonzero(self.counts), self.counts.sum()
        return self.counts * (many / total) if 0 < total < many else self.counts

    @property
    def whole(self) -> bool:
        """True if all values are known, and whole numbers that float64 holds exactly."""
        x = self.least
        return self.exact and bool(((np.abs(x) < 2**53) & (x == np.floor(x))).all())


def by_frequency(weight: Array, bins: int) -> Array:
    """Cuts into parts that hold as nearly the same as values allow."""
    below = np.cumsum(weight)
    wanted = below[-1] * np.arange(1, bins) / bins
    at = np.searchsorted(below, wanted)  # the value at which a part would end
    before = np.where(at > 0, below[at - 1], 0.0)
    cuts = np.unique(np.where(below[at] - wanted <= wanted - before, at + 1, at))
    return cuts[(cuts > 0) & (cuts < len(weight))]

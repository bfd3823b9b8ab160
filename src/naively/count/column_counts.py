"""ColumnCounts: what was seen of columns of numbers, as moments and on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from naively.arrays import Array, Value
from naively.count.counts import Counts
from naively.count.exact_sums import ExactSums
from naively.errors import InputError
from naively.names import Index
from naively.store.damage import need
from naively.store.registry import stored


def _check_columns(part: ColumnCounts) -> None:
    need(part.grid.kind == "grid", "the counts of columns")
    need(len(part.moments.exact_rows) == len(part.grid.exact_rows), "the rows of columns")


@stored(check=_check_columns)
@dataclass(frozen=True, eq=False, repr=False)
class ColumnCounts(Value):
    """Moments of some columns and a grid of some: which of the two a column is weighed by is decided afterwards."""

    moments: ExactSums
    grid: Counts

    @property
    def rows(self) -> Array:
        return self.grid.rows

    @property
    def exact_rows(self) -> Array:
        return self.grid.exact_rows

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return self.moments.size + self.grid.size

    def __add__(self, other: ColumnCounts) -> ColumnCounts:
        return ColumnCounts(self.moments + _checked(other).moments, self.grid + other.grid)

    def minus(self, other: ColumnCounts, classes: Index) -> ColumnCounts:
        """Return the difference."""
        grid = self.grid.minus(_checked(other).grid, classes)  # exact, so it says first what was never counted
        return ColumnCounts(self.moments.minus(other.moments, classes), grid)

    def scaled(self, factors: Array) -> ColumnCounts:
        """Return the counts times a factor for each class."""
        return ColumnCounts(self.moments.scaled(factors), self.grid.scaled(factors))

    def same(self, other: object) -> bool:
        """True if both hold the same."""
        return isinstance(other, ColumnCounts) and self.moments.same(other.moments) and self.grid.same(other.grid)

    def renumbered(self, n_classes: int, places: Array) -> ColumnCounts:
        """The same with other numbers for the classes."""
        return ColumnCounts(self.moments.renumbered(n_classes, places), self.grid.renumbered(n_classes, places))

    def without_classes(self, gone: Array) -> ColumnCounts:
        """Without some classes (a mask), of which nothing is left."""
        return ColumnCounts(self.moments.without_classes(gone), self.grid.without_classes(gone))

    def __repr__(self) -> str:
        return f"{self.moments.features.size:_} columns with moments, {self.grid.features.size:_} on a grid"


def _checked(other: Any) -> ColumnCounts:
    if not isinstance(other, ColumnCounts):
        raise InputError(f"numbers and {type(other).__name__} cannot be put together; count the same way twice")
    return other

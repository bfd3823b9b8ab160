"""Grid: numbers counted in cells that need no range in advance.

A cell is the leading bits of a float64, put into the order of the numbers: sign, exponent and the first bits of the
fraction. So the cell of a number does not depend on the data, grids merge and subtract exactly, and a cell is as
wide as a fixed share (2^-10) of the numbers in it. Whole numbers up to 2,048 have a cell each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.count.columns import CODE_BITS, MISSING
from naively.names import Index
from naively.store.registry import stored

BITS = 10
"""Bits of the fraction that a cell keeps."""
CELLS = 1 << (12 + BITS)
"""Number of cells."""
_SHIFT = 52 - BITS
_SIGN = np.uint64(1 << 63)


@stored()
@dataclass(frozen=True, eq=False, repr=False)
class Grid(Value):
    """Columns of numbers. A feature is a column and a cell: `column << 32 | cell`."""

    columns: Index

    @property
    def size(self) -> int:
        """Number of columns."""
        return self.columns.size

    def union(self, other: Grid, what: str) -> tuple[Grid, Any]:
        """Return the union, and a function from the other's features to their new numbers (None: they keep them)."""
        if other is self:
            return self, None
        columns, moved = self.columns.union(other.columns, f"columns of {what}")
        if moved is None:
            return Grid(columns), None
        return Grid(columns), lambda feature: (moved[feature >> CODE_BITS] << CODE_BITS) | (feature & MISSING)

    def name(self, feature: int) -> Any:
        """Column and number of a feature."""
        column, cell = feature >> CODE_BITS, feature & MISSING
        return self.columns.name(column), None if cell == MISSING else float(starts(np.array([cell]))[0])

    def __repr__(self) -> str:
        return f"Grid({self.columns.size} columns)"


def cells_of(values: Array) -> Array:
    """The cell of each number.

    >>> cells_of(np.array([1.0, 1.0001, 2.0])).tolist()
    [3144704, 3144704, 3145728]
    """
    pattern = (np.asarray(values, np.float64) + 0.0).view(np.uint64)
    ordered = np.where(pattern & _SIGN != 0, ~pattern, pattern | _SIGN)
    return (ordered >> np.uint64(_SHIFT)).astype(np.int64)


def middles(cells: Array) -> Array:
    """The number in the middle of each cell."""
    ordered = (np.asarray(cells).astype(np.uint64) << np.uint64(_SHIFT)) | np.uint64(1 << (_SHIFT - 1))
    pattern = np.where(ordered & _SIGN != 0, ordered & ~_SIGN, ~ordered)
    return pattern.view(np.float64)


def starts(cells: Array) -> Array:
    """The number of each cell that is nearest to zero, which whole numbers are."""
    ordered = np.asarray(cells).astype(np.uint64) << np.uint64(_SHIFT)
    down = ordered & _SIGN == 0  # below zero, where cells run towards it
    ordered = np.where(down, ordered | np.uint64((1 << _SHIFT) - 1), ordered)
    return np.where(down, ~ordered, ordered & ~_SIGN).view(np.float64)


def lowest(cells: Array) -> Array:
    """The smallest number of each cell.

    >>> lowest(cells_of(np.array([-5.0, 5.0]))).round(3).tolist()
    [-5.004, 5.0]
    """
    ordered = np.asarray(cells).astype(np.uint64) << np.uint64(_SHIFT)
    return np.where(ordered & _SIGN != 0, ordered & ~_SIGN, ~ordered).view(np.float64)


def within(cells: Array, share: Array) -> Array:
    """Numbers within cells, by the share of the cell that lies between its start and them."""
    begin, middle = starts(cells), middles(cells)
    return begin + 2.0 * share * (middle - begin)

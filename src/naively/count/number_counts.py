"""NumberCounts: counts of each value of columns of numbers, by class.

A column is counted exactly while it has few different values, and in ticks when there are more. A tick is the leading
bits of a float64 in the order of the numbers: sign, exponent, and as many bits of the fraction as the *level* of the
column says. The level is the finest of 52 (exact), 18, 10, 9 .. 0 at which the column has at most 16,384 ticks (levels
52 and 18), or takes at most 2^20 cells of a tick and a class (level 10 and below). So it is a function of the rows that
were counted, whatever their order and however they were cut into batches; only forgetting does not make it finer again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from naively import _core
from naively.arrays import FIXED, Array, Value, narrowed, rounded, scaled
from naively.count.cells import Cells
from naively.count.columns import CODE_BITS, MISSING
from naively.count.counts import padded, rows_left, spread, sum_of, verify_counts, verify_rows
from naively.count.exact_numbers import ExactNumbers
from naively.count.exact_sums import ExactSums, weight_error
from naively.errors import InputError, NaivelyError, NegativeCount
from naively.names import Index
from naively.store.damage import COUNTS, LARGEST, are, need
from naively.store.registry import stored
from naively.threads import threads

if TYPE_CHECKING:
    from typing_extensions import Self

EXACT = 52
"""The level at which every value is a tick of its own."""
_SIGN = np.uint64(1 << 63)


def _check_part(part: NumberCounts) -> None:
    width = part.features.size
    need(are(part.exact_rows, COUNTS, None) and are(part.levels, "i1", width), "the levels of columns")
    need(are(part.bounds, "i8", width + 1) and are(part.ticks, "u8", None), "the values of columns")
    need(len(part.cells.exact) == 1 and part.well_formed(), "the counts of values")
    need(part.sums.features.size == width and len(part.sums.exact_rows) == len(part.exact_rows), "the sums of columns")


def _verify_part(part: NumberCounts) -> None:
    verify_rows(part.exact_rows)
    verify_counts(part.cells.exact, LARGEST, "counts")


@stored(check=_check_part, verify=_verify_part)
@dataclass(frozen=True, eq=False, repr=False)
class NumberCounts(Value):
    """Counts of the values of some columns by class, each column at its own level.

    >>> codes, rows = np.array([0, 0, 1], np.int32), np.array([2, 1])
    >>> a, _ = NumberCounts.counted([np.array([1.5, np.nan, 1e300])], codes, rows, Index.of(["x"]))
    >>> a.values(0)[0].tolist(), a.counts(0).tolist(), a.missing().tolist()
    ([1.5, 1e+300], [[1, 0], [0, 1]], [[1, 0]])
    >>> (a + a).minus(a, Index.of(["u", "v"])).same(a)
    True

    `ticks` are those of all columns behind one another, ascending in each, and `bounds` is where each column begins. A
    feature of `cells` is `column << 32 | index of the tick in its column`, or MISSING in place of the index. `sums`
    holds n, Σx and Σx² of the columns that are not exact; those of the others follow from their values and are zeros.
    """

    exact_rows: Array
    features: Index
    levels: Array
    bounds: Array
    ticks: Array
    cells: Cells
    sums: ExactSums

    @cached_property
    def rows(self) -> Array:
        """The rows of each class as int64, or as the nearest float64."""
        return rounded(self.exact_rows)

    @classmethod
    def empty(cls, n_classes: int, features: Index) -> Self:
        levels, bounds = np.full(features.size, EXACT, np.int8), np.zeros(features.size + 1, np.int64)
        sums = ExactSums.empty(n_classes, features)
        return cls(sums.exact_rows, features, levels, bounds, np.zeros(0, np.uint64), Cells.empty(), sums)

    def absent(self, exact_rows: Array) -> NumberCounts:
        """Return the counts of rows in which all columns are missing."""
        none = NumberCounts.empty(len(exact_rows), Index(0))
        return replace(none, exact_rows=exact_rows, sums=replace(none.sums, exact_rows=exact_rows))

    @classmethod
    def counted(
        cls,
        columns: list[Array],
        codes: Array,
        rows: Array,
        features: Index,
        weight: Array | None = None,
        levels: Array | None = None,
    ) -> tuple[Self, Any]:
        """Counts of columns of numbers, and the first value that cannot be counted (then without any counts).

        NaN is missing and an infinite value is a fault: kind, row, column. Whole numbers are taken as float64, so that
        some beyond 2^53 become one. `rows` are the rows of each class, by weight; a weight is counted in units of
        2^-64, and is at most 2^62. `levels` are where to begin; a level never becomes finer than that.
        """
        arrays = [_as_counted(values) for values in columns]
        first = np.full(features.size, EXACT, np.int8) if levels is None else levels
        size = len(codes) * len(arrays)
        try:
            values, fault = _core.count_values(arrays, codes, len(rows), weight, first, threads(size))
        except OverflowError as error:
            raise NaivelyError(str(error)) from None
        if fault is not None and fault[2] < 0:
            assert weight is not None
            raise weight_error(weight, fault[1])
        if fault is not None:
            return cls.empty(len(rows), features), fault
        none = ExactSums.empty(len(rows), features)
        part = cls._from(values, rows, features, replace(none, exact_rows=rows))
        coarse = np.flatnonzero(part.levels < EXACT)
        if not len(coarse):
            return part, None
        sums, _ = ExactSums.counted([arrays[j] for j in coarse], codes, rows, Index(len(coarse)), weight)
        return replace(part, sums=_spread_sums(sums, features, coarse)), None

    @classmethod
    def _from(cls, values: Any, rows: Array, features: Index, sums: ExactSums) -> Self:
        levels, bounds, ticks, feature, klass, units, fractions = values
        return cls(rows, features, levels, bounds, ticks, Cells(feature, klass, _amounts(units, fractions)), sums)

    @property
    def _flat(self) -> Any:
        """The arrays that the core takes."""
        units, fractions = _units(self.cells.exact[0])
        return self.levels, self.bounds, self.ticks, self.cells.feature, self.cells.klass, units, fractions

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return len(self.cells) + len(self.ticks) + self.sums.size

    def level(self, column: int) -> int:
        """Return the number of bits of the fraction that a column's ticks keep; 52 is exact."""
        return int(self.levels[column])

    def values(self, column: int) -> tuple[Array, Array, Array]:
        """The least, greatest and middle number of each tick, ascending; all the same where the column is exact.

        >>> x, codes = np.linspace(1.0, 1.01, 20000), np.zeros(20000, np.int32)
        >>> part, _ = NumberCounts.counted([x], codes, np.array([20000]), Index(1))
        >>> part.level(0), [edges[:2].tolist() for edges in part.values(0)[::2]]
        (18, [[1.0, 1.000003814697], [1.0000019073486, 1.0000057220459]])
        """
        cut = np.uint64(EXACT - self.level(column))
        one, ticks = np.uint64(1), self.ticks[self.bounds[column] : self.bounds[column + 1]]
        least = ticks << cut
        middle = least | ((one << cut) >> one)
        return _numbers(least), _numbers(least | ((one << cut) - one)), _numbers(middle)

    def counts(self, column: int) -> Array:
        """Return the counts of each tick of a column, classes by ticks."""
        at, klass, value = self.entries(column)
        result = np.zeros((len(self.rows), int(self.bounds[column + 1] - self.bounds[column])), value.dtype)
        result[klass, at] = value
        return result

    def entries(self, column: int) -> tuple[Array, Array, Array]:
        """The ticks of a column by number, the classes that have them, and how often."""
        begin, end = np.searchsorted(self.cells.feature, [column << CODE_BITS, (column << CODE_BITS) | MISSING])
        return self.cells.feature[begin:end] & MISSING, self.cells.klass[begin:end], self.cells.values[0, begin:end]

    def missing(self) -> Array:
        """Return the number of missing values, columns by classes."""
        result = np.zeros((self.features.size, len(self.rows)), self.cells.values.dtype)
        at = np.flatnonzero(self.cells.feature & MISSING == MISSING)
        result[self.cells.feature[at] >> CODE_BITS, self.cells.klass[at]] = self.cells.values[0, at]
        return result

    def exact_sums(self) -> ExactSums:
        """n, Σx and Σx² of all columns."""
        return self._sums_of(np.ones(self.features.size, bool))

    def __add__(self, other: Self) -> Self:
        a, b = self._aligned(other)
        values, _ = a._combined(b, subtract=False)
        coarse = values[0] < EXACT
        return self._from(
            values, sum_of([a.exact_rows, b.exact_rows]), a.features, a._sums_of(coarse) + b._sums_of(coarse)
        )

    def minus(self, other: Self, classes: Index) -> Self:
        """Return the difference at the coarser level; raise NegativeCount if the other was never counted."""
        a, b = self._aligned(other)
        rows = rows_left(classes, a.exact_rows, b.exact_rows)
        values, fault = a._combined(b, subtract=True)
        if fault is not None:
            column, number, klass = fault
            what = "a missing value" if number is None else f"number {number!r}"
            raise NegativeCount(
                f"cannot forget more than was counted: column {a.features.name(column)!r}, {what} in class "
                f"{classes.name(klass)!r}; nothing was changed"
            )
        coarse = values[0] < EXACT
        return self._from(values, rows, a.features, a._sums_of(coarse).minus(b._sums_of(coarse), classes))

    def _combined(self, other: Self, *, subtract: bool) -> Any:
        try:
            return _core.added_values(self._flat, other._flat, subtract)
        except OverflowError as error:
            raise NaivelyError(str(error)) from None

    def scaled(self, factors: Array) -> Self:
        """Return the counts times a factor for each class; ticks stay, whether or not they have counts left."""
        rows, sums = scaled(self.exact_rows, factors), self.sums.scaled(factors)
        return replace(self, exact_rows=rows, cells=self.cells.scaled(factors), sums=sums)

    def same(self, other: object) -> bool:
        """True if both hold the same counts at the same levels."""
        pair = self._comparable(other)
        return pair is not None and pair[0]._equals(pair[1])

    def same_counts(self, other: object) -> bool:
        """True if both hold the same counts at the coarser of their levels."""
        pair = self._comparable(other)
        if pair is None:
            return False
        levels = np.minimum(pair[0].levels, pair[1].levels)
        return pair[0]._at(levels)._equals(pair[1]._at(levels))

    def _comparable(self, other: object) -> tuple[Self, Self] | None:
        try:
            return self._aligned(other) if isinstance(other, type(self)) else None
        except InputError:  # named on one side only
            return None

    def _equals(self, other: Self) -> bool:
        pairs = (self.levels, other.levels), (self.bounds, other.bounds), (self.ticks, other.ticks)
        return (
            np.array_equal(*padded(self.exact_rows, other.exact_rows))
            and all(np.array_equal(mine, theirs) for mine, theirs in pairs)
            and self.cells.same(other.cells)
            and self.sums.same(other.sums)
        )

    def _at(self, levels: Array) -> Self:
        """The same counts with each column at this level, or at its own where that is coarser."""
        values = _core.coarser_values(self._flat, levels)
        return self._from(values, self.exact_rows, self.features, self._sums_of(values[0] < EXACT))

    def renumbered(self, n_classes: int, places: Array) -> Self:
        """Return the same counts with other numbers for the classes."""
        rows, cells = spread(self.exact_rows, n_classes, places), self.cells.renumbered(None, places)
        return replace(self, exact_rows=rows, cells=cells, sums=self.sums.renumbered(n_classes, places))

    def without_classes(self, gone: Array) -> Self:
        """Return the counts without some classes (a mask), of which nothing is left."""
        places, mine = np.cumsum(~gone) - 1, ~gone[self.cells.klass]
        cells = self.cells.taken(mine)
        rows, sums = spread(self.exact_rows, len(gone), None)[~gone], self.sums.without_classes(gone)
        left = replace(self, exact_rows=rows, cells=cells.renumbered(None, places), sums=sums)
        return left._at(left.levels)  # drops ticks that have no counts left

    def well_formed(self) -> bool:
        """True if all ticks are in order and in use, and all counts above zero."""
        return _core.well_formed_values(self._flat, len(self.rows))

    def __repr__(self) -> str:
        return f"{self.features.size:_} columns of numbers, {len(self.ticks):_} values"

    def _sums_of(self, columns: Array) -> ExactSums:
        """Sums of these columns (a mask), as they were counted or as they follow from exact values."""
        exact = columns & (self.levels == EXACT)
        if not exact.any() or not len(self.ticks):
            return self.sums
        present = np.flatnonzero(self.rows)
        place = np.zeros(len(self.rows), np.int32)
        place[present] = np.arange(len(present))
        sums = ExactNumbers._from(
            _core.sums_of_values(self._flat, exact, place, len(present)), (3, len(present), self.features.size)
        )
        return self.sums + ExactSums(np.zeros(len(self.rows), np.int64), self.features, present, sums)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        """Return both over the union of their columns."""
        if not isinstance(other, NumberCounts):
            what = f"numbers and {type(other).__name__}"
            raise InputError(f"{what} cannot be put together; count the same way twice")
        features, places = self.features.union(other.features, "columns")
        return self._over(features, None), other._over(features, places)

    def _over(self, features: Index, places: Array | None) -> Self:
        """Over columns among which its own have these places; rows have no values in the others."""
        if places is None and self.features.size == features.size:
            return self if self.features is features else replace(self, features=features)
        own = np.arange(self.features.size) if places is None else places
        order, sizes = np.argsort(own), np.zeros(features.size, np.int64)
        sizes[own] = np.diff(self.bounds)
        levels = np.full(features.size, EXACT, np.int8)
        levels[own] = self.levels
        ticks = [self.ticks[self.bounds[j] : self.bounds[j + 1]] for j in order]
        absent, present = np.setdiff1d(np.arange(features.size), own), np.flatnonzero(self.rows)
        missing = Cells.sorted(
            np.repeat((absent << CODE_BITS) | MISSING, len(present)),
            np.tile(present, len(absent)),
            np.tile(self.exact_rows[present], len(absent))[None],
        )
        moved = self.cells.renumbered(
            lambda feature: (own[feature >> CODE_BITS] << CODE_BITS) | (feature & MISSING), None
        )
        return type(self)(
            self.exact_rows,
            features,
            levels,
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([np.zeros(0, np.uint64), *ticks]),
            moved + missing,
            _spread_sums(self.sums, features, own),
        )


def middles(x: Array, level: int) -> Array:
    """The number in the middle of the tick of each number.

    >>> middles(np.array([1.0, 1.9, -3.0]), 0).tolist()
    [1.5, 1.5, -3.0]
    """
    pattern, cut = (np.asarray(x, np.float64) + 0.0).view(np.uint64), np.uint64(EXACT - level)
    ordered = np.where(pattern & _SIGN != 0, ~pattern, pattern | _SIGN)
    return _numbers(((ordered >> cut) << cut) | ((np.uint64(1) << cut) >> np.uint64(1)))


def _as_counted(values: Array) -> Array:
    """An array of a type that the core counts: whole numbers of 32 bits or fewer are as they are in float64."""
    if values.dtype == bool:
        return np.ascontiguousarray(values).view(np.uint8)
    small = values.dtype.kind in "iu" and values.dtype.itemsize < 4
    kept = "fi" if values.dtype.itemsize in (4, 8) else ""
    dtype = values.dtype.newbyteorder("=") if values.dtype.kind in kept or values.dtype == np.uint8 else None
    return np.ascontiguousarray(values, dtype or (np.int32 if small else np.float64))


def _spread_sums(sums: ExactSums, features: Index, places: Array) -> ExactSums:
    """Sums of some columns as those of all, among which they have these places; zeros for the others."""
    width = sums.features.size
    source = np.full(features.size, -1)
    source[places] = np.arange(width)
    step = width * np.arange(3 * len(sums.present)).reshape(3, -1, 1)
    return ExactSums(sums.exact_rows, features, sums.present, sums.sums.take(np.where(source < 0, -1, source + step)))


def _units(exact: Array) -> tuple[Array, Array | None]:
    """Counts as whole numbers and, if there are any, fractions in units of 2^-64."""
    if exact.dtype == np.int64:
        return exact, None
    return np.ascontiguousarray(exact["whole"]), np.ascontiguousarray(exact["fraction"])


def _amounts(units: Array, fractions: Array | None) -> Array:
    """Convert counts to the form in which cells hold them."""
    if fractions is None:
        return units[None]
    exact = np.empty((1, len(units)), FIXED)
    exact["whole"], exact["fraction"] = units, fractions
    return narrowed(exact)


def _numbers(ticks: Array) -> Array:
    """The numbers of ticks of level 52."""
    return np.where(ticks & _SIGN != 0, ticks & ~_SIGN, ~ticks).view(np.float64)

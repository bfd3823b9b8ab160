"""Exact sums of numbers: their number, their sum and the sum of their squares.

Nothing is rounded, so that sums do not depend on the order of rows, on batches or threads, and what was added can be
taken out again without a trace. Means and variances are computed from the sums and rounded once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from naively import _core
from naively.arrays import Array, Value, plus, rounded, scaled
from naively.count.counts import padded, rows_left, spread, sum_of, verify_rows
from naively.count.exact_numbers import ExactNumbers
from naively.count.moments import Moments
from naively.errors import InputError, NegativeCount
from naively.names import Index
from naively.read.matrix import ROW, RowError
from naively.store.damage import COUNTS, are, need
from naively.store.registry import stored
from naively.threads import threads

if TYPE_CHECKING:
    from typing_extensions import Self

_LOST = 1e-4
"""Where less than this share of the values or of their squares is left without a row, digits are lost."""
_CLOSE, _ROUNDING = 1e-11, np.finfo(np.float64).eps
"""The share of the squares that rounding may be, and the share of a mean that its own rounding is."""
_AT_ONCE = 1 << 14


def _check_sums(sums: ExactSums) -> None:
    need(are(sums.exact_rows, COUNTS, None) and are(sums.present, "i8", None), "the rows of sums")
    need(sums.sums.shape == (3, len(sums.present), sums.features.size), "the sums of classes")


def verify_sums(sums: ExactSums) -> None:
    """Raise Damage unless rows can have such sums."""
    verify_rows(sums.exact_rows)
    present, single = sums.present, sums.single()
    need((np.diff(present) > 0).all(), "classes out of order")
    need(not len(present) or (present[0] >= 0 and present[-1] < len(sums.exact_rows)), "sums of no class")
    n, values, squares = single.sums.signs()
    need((n >= 0).all() and (squares >= 0).all(), "squares below zero")
    need(((n > 0) | ((values == 0) & (squares == 0))).all(), "sums of no values")
    need(np.isfinite(single.n).all() and not np.isnan(single.variance).any(), "sums that cannot be")


@stored(check=_check_sums, verify=verify_sums)
@dataclass(frozen=True, eq=False, repr=False)
class ExactSums(Value):
    """Exact n, Σx and Σx² (with weights Σw, Σwx and Σwx²) by class and feature; missing values are in none of them.

    `sums` holds all n, then all Σx, then all Σx²; `present` are the numbers of the classes it has rows for, ascending.

    >>> a, _ = ExactSums.counted(np.array([[1e17], [1.0]]), np.array([0, 0], np.int32), np.array([2]), Index(1))
    >>> b, _ = ExactSums.counted(np.array([[-1e17]]), np.array([0], np.int32), np.array([1]), Index(1))
    >>> (a + b).mean
    array([[0.33333333]])
    >>> (a + b).minus(b, Index.of(["x"])).same(a)
    True
    """

    exact_rows: Array
    features: Index
    present: Array
    sums: ExactNumbers

    @cached_property
    def rows(self) -> Array:
        """The rows of each class as int64, or as the nearest float64."""
        return rounded(self.exact_rows)

    @classmethod
    def empty(cls, n_classes: int, features: Index) -> Self:
        none = ExactNumbers.zeros(cls._shape(0, features))
        return cls(np.zeros(n_classes, np.int64), features, np.zeros(0, np.int64), none)

    @classmethod
    def counted(
        cls, X: Array | list[Array], codes: Array, rows: Array, features: Index, weight: Array | None = None
    ) -> tuple[Self, Any]:
        """Sums of a matrix or of columns, and the first value or weight that cannot be counted (then without any sums).

        `rows` are the rows of each class, by weight. A weight is counted in units of 2^-64, to which it is rounded, and
        is at most 2^62.
        """
        present = np.flatnonzero(np.bincount(codes, minlength=len(rows)))
        local = codes if len(present) == len(rows) else np.searchsorted(present, codes).astype(np.int32)
        count = _core.count_columns_exactly if isinstance(X, list) else _core.count_exactly
        size = len(codes) * features.size
        sums, fault = count(X, local, len(present), weight, threads(size))  # type: ignore[arg-type]
        if fault is not None and fault[2] < 0:
            assert weight is not None
            raise weight_error(weight, fault[1])
        if fault is not None:
            return cls.empty(len(rows), features), fault
        return cls(rows, features, present, ExactNumbers._from(sums, (3, len(present), features.size))), None

    @classmethod
    def _shape(cls, present: int, features: Index) -> tuple[int, ...]:
        """Return the shape of the sums of that many classes."""
        return 3, present, features.size

    def _places(self, columns: Array) -> Array:
        """Return the places of the three kinds of sums of these features (-1: none) among those of a class."""
        return np.broadcast_to(columns, (3, len(columns)))

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return len(self.sums.digits) + len(self.exact_rows)

    @cached_property
    def _moments(self) -> tuple[Array, ...]:
        shape = self.sums.shape[1:]
        return tuple(v.reshape(shape) for v in _core.exact_moments(self.sums.flat, threads(self.sums.digits.size)))

    @property
    def n(self) -> Array:
        """Number of values (Σw), as float64."""
        return self._moments[0]

    @property
    def mean(self) -> Array:
        """Σx / n, correctly rounded; 0 where there are no values."""
        return self._moments[1]

    @property
    def variance(self) -> Array:
        """(n Σx² - (Σx)²) / n², correctly rounded; 0 where there are no values, infinite beyond float64."""
        return self._moments[2]

    @property
    def moments(self) -> Moments:
        """Count, mean and variance of the classes that are present."""
        return Moments(*self._moments)

    @cached_property
    def together(self) -> ExactSums:
        """Return the sums of all classes as those of one."""
        sums = self.sums.total(1)
        rows = sum_of([self.exact_rows[k : k + 1] for k in range(len(self.exact_rows))] or [np.zeros(1, np.int64)])
        present = np.zeros(1, np.int64)
        return ExactSums(rows, self.features, present, ExactNumbers._from(sums.flat, (3, 1, sums.shape[1])))

    def without(self, x: Array, codes: Array, weight: Array) -> Moments:
        """Return for each row of numbers the moments of its class without it, rows by features; NaN is no number.

        `codes` are places among the classes that are present. Where too many digits would be lost by taking a row out
        of the moments, it is taken out of the sums.
        """
        before = self.moments.at(codes)
        left = before.without(x, weight)
        squares, rounding = left.n * left.variance, _ROUNDING * np.abs(before.mean)
        off = weight[:, None] * rounding * (2.0 * np.abs(x - before.mean) + rounding)
        worn = (squares < _LOST * before.n * before.variance) | (off > _CLOSE * squares)
        worn = (left.n < _LOST * before.n) | (worn & (before.variance > 0))
        row, column = np.nonzero(worn & ~np.isnan(x))
        if not len(row):
            return left
        return left.replaced((row, column), self._exactly_without(codes[row], column, x[row, column], weight[row]))

    def _exactly_without(self, klass: Array, column: Array, x: Array, weight: Array) -> Moments:
        """Return the moments of some classes and columns, each without one value, from the sums without it."""
        parts = []
        for begin in range(0, len(x), _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            each = np.arange(len(x[some]), dtype=np.int32)
            values = np.ascontiguousarray(x[some, None], np.float64)
            counted, _ = _core.count_exactly(values, each, len(each), np.ascontiguousarray(weight[some]), 1)
            step = len(self.present) * self.features.size * np.arange(3)[:, None]
            own = self.sums.take(klass[some] * self.features.size + column[some] + step)
            left = own - ExactNumbers._from(counted, own.shape)
            n, mean, variance = _core.exact_moments(left.flat, 1)
            parts.append((n, mean, np.nan_to_num(variance)))  # NaN: other rows were counted
        return Moments(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def single(self) -> ExactSums:
        """Return the sums of each feature by itself."""
        return self

    def refuse_too_wide(self, classes: Index) -> None:
        """Raise InputError if the variance of a class does not fit into float64."""
        finite = np.isfinite(self.variance)
        if not finite.all():
            k, j = np.argwhere(~finite)[0].tolist()
            raise InputError(
                f"column {self.features.name(j)!r} has a variance beyond float64 in class "
                f"{classes.name(int(self.present[k]))!r}; rescale the column"
            )

    def full(self) -> Self:
        """Return the sums with zeros for classes that are absent."""
        n_classes = len(self.exact_rows)
        return self if len(self.present) == n_classes else self._over(self.features, np.arange(n_classes), None)

    def __add__(self, other: Self) -> Self:
        if self._covers(other):  # as one more row of a stream is
            shape = self.sums.shape
            at = slice(None), other.present, slice(None)
            theirs = other.sums if other.sums.shape == shape else other.sums.spread(shape, at)
            return replace(self, exact_rows=plus(self.exact_rows, other.exact_rows), sums=self.sums + theirs)
        a, b = self._aligned(other)
        return type(self)(sum_of([a.exact_rows, b.exact_rows]), a.features, a.present, a.sums + b.sums)

    def _covers(self, other: Self) -> bool:
        """True if the other has the same features and classes, and these sums are there for every class."""
        alike = isinstance(other, ExactSums) and other.features is self.features
        return alike and len(self.present) == len(self.exact_rows) == len(other.exact_rows)

    def minus(self, other: Self, classes: Index) -> Self:
        """Return the difference; raise NegativeCount if the other was never counted."""
        a, b = self._aligned(other)
        rows = rows_left(classes, a.exact_rows, b.exact_rows)
        left = type(self)(rows, a.features, a.present, a.sums - b.sums)
        changed = np.searchsorted(a.present, other.present)
        left._of_classes(changed).refuse_impossible(classes)
        return left

    def refuse_impossible(self, classes: Index) -> None:
        """Raise NegativeCount if no rows can have these sums, since other rows were subtracted than had been added."""
        n, x, squares = self.sums.signs()
        other = (squares < 0) | ((n == 0) & ((x != 0) | (squares != 0))) | np.isnan(self.variance)
        for wrong, what in ((n < 0, "more values than were counted"), (other, "other values than were counted")):
            if wrong.any():
                k, j = np.argwhere(wrong)[0].tolist()
                raise NegativeCount(
                    f"cannot forget {what}: feature {self.features.name(j)!r} of class "
                    f"{classes.name(int(self.present[k]))!r}; nothing was changed"
                )

    def scaled(self, factors: Array) -> Self:
        """Return the sums as if each row weighed so many times as much, by class.

        Where they are rounded, n and Σx² are not below what they should be and Σx is not beyond, so that no variance is
        below zero.
        """
        axes = (1,) * (len(self.sums.shape) - 2)
        away = np.array([True, False, True]).reshape(3, 1, *axes)
        sums = self.sums.scaled(factors[self.present].reshape(-1, *axes), away)
        return replace(self, exact_rows=scaled(self.exact_rows, factors), sums=sums)

    def same(self, other: object) -> bool:
        """True if both hold the same sums."""
        if type(other) is not type(self):
            return False
        try:
            a, b = self._aligned(other)
        except InputError:  # named on one side only
            return False
        return np.array_equal(*padded(a.exact_rows, b.exact_rows)) and a.sums == b.sums

    def __repr__(self) -> str:
        return f"{self.features.size:_} features"

    def renumbered(self, n_classes: int, places: Array) -> Self:
        """Return the same sums with other numbers for the classes."""
        numbers = places[self.present]
        order = np.argsort(numbers)
        return self._rearranged(spread(self.exact_rows, n_classes, places), self.features, numbers[order], order, None)

    def without_classes(self, gone: Array) -> Self:
        """Return the sums without some classes (a mask), of which nothing is left."""
        left = self._of_classes(np.flatnonzero(~gone[self.present]))
        rows, places = spread(self.exact_rows, len(gone), None)[~gone], np.cumsum(~gone) - 1
        return replace(left, exact_rows=rows, present=places[left.present])

    def _of_classes(self, at: Array) -> Self:
        """Return the sums of the classes at these places of `present`."""
        if len(at) == len(self.present):
            return self
        return self._rearranged(self.exact_rows, self.features, self.present[at], at, None)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        """Return both over the union of their features and present classes."""
        if type(other) is not type(self):
            what = f"{type(self).__name__} and {type(other).__name__}"
            raise InputError(f"{what} cannot be put together; count the same way twice")
        features, renumber = self.features.union(other.features, "features")
        present = np.union1d(self.present, other.present)
        return self._over(features, present, None), other._over(features, present, renumber)

    def _over(self, features: Index, present: Array, renumber: Array | None) -> Self:
        if renumber is None and len(self.present) == len(present) and features.size == self.features.size:
            return type(self)(self.exact_rows, features, present, self.sums)
        at = np.searchsorted(present, self.present)
        if renumber is None:
            if features.size == self.features.size:
                sums = self.sums.spread(self._shape(len(present), features), (slice(None), at))
                return type(self)(self.exact_rows, features, present, sums)
            renumber = np.arange(self.features.size)
        classes, columns = np.full(len(present), -1), np.full(features.size, -1)
        classes[at], columns[renumber] = np.arange(len(self.present)), np.arange(self.features.size)
        return self._rearranged(self.exact_rows, features, present, classes, columns)

    def _rearranged(self, rows: Array, features: Index, present: Array, classes: Array, columns: Array | None) -> Self:
        """With the sums of these classes and columns (None: of all), by their present numbers; zeros for -1."""
        columns = np.arange(self.features.size) if columns is None else columns
        places, width = self._places(columns)[:, None], math.prod(self.sums.shape[2:])  # of one class
        index = (np.arange(3)[:, None, None] * len(self.present) + classes[:, None]) * width + places
        index = np.where((classes[:, None] < 0) | (places < 0), -1, index)
        return type(self)(rows, features, present, self.sums.take(index.reshape(self._shape(len(classes), features))))


def weight_error(weight: Array, row: int) -> RowError:
    """Return the error for a weight that cannot be counted."""
    what = f"sample_weight of row {ROW} is {weight[row]}: numbers are weighted by 2^62 at most"
    return RowError(f"{what}; divide the weights by a common factor", row)

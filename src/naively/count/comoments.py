"""Comoments: what was seen of pairs of numbers, as counts, means and products of deviations, in doubles.

Merging follows Chan, Golub and LeVeque (1983) and loses no digits however far the mean is from zero. Subtracting
does lose some: it estimates how many, and refuses where the difference would not be true. All other sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from naively.arrays import Array, Value, rounded, scaled
from naively.count.counts import padded, rows_left, spread, sum_of
from naively.count.moments import Moments
from naively.errors import InputError, NegativeCount
from naively.names import Index
from naively.store.registry import stored

if TYPE_CHECKING:
    from typing_extensions import Self


class DigitsLost(InputError):
    """Raised where too few digits of a difference would be true."""


TOLERANCE = 1e-6
"""The largest error, relative to the variance left, with which a difference is still given."""

_ROUNDING = 8 * np.finfo(np.float64).eps
_FLOOR = 1e-12  # what is smaller compares as zero


def split(n: Array, mean: Array, m2: Array, n2: Array, mean2: Array, m22: Array) -> tuple[Array, Array, Array]:
    """Count and squared deviations of what is left when a set is taken out of another; and the error of the latter."""
    left = n - n2
    left = np.where(np.abs(left) <= _ROUNDING * n, 0.0, left)
    some = left > 0
    ratio = np.divide(n2, left, out=np.zeros_like(left), where=some)
    step = mean2 - mean
    between = step * step * n * ratio
    unsure = _ROUNDING * np.maximum(np.abs(mean), np.abs(mean2))  # of the step
    error = _ROUNDING * (m2 + m22 + between) + (2 * np.abs(step) + unsure) * unsure * n * ratio + unsure**2 * n
    error = np.where((n2 == 0) | ((step == 0) & (m2 == m22)), 0.0, error)  # nothing is lost by taking out nothing
    return left, np.where(some, m2 - m22 - between, 0.0), np.where(some, error, 0.0)


def refuse(n: Array, m2: Array, error: Array, features: Index) -> None:
    """Raises where a difference is wrong or not known well enough."""
    wrong = m2 < -error
    unsure = (error > TOLERANCE * np.abs(m2)) & (error > 0) & (n > 1)
    if wrong.any():
        k, j = (int(v) for v in np.argwhere(wrong)[0])
        raise NegativeCount(
            f"cannot forget what was never counted: feature {features.name(j)!r} would have a negative variance "
            f"({m2[k, j]:.3g} of {n[k, j]:g} values); nothing was changed"
        )
    if unsure.any():
        k, j = (int(v) for v in np.argwhere(unsure)[0])
        raise DigitsLost(
            f"feature {features.name(j)!r}: what is left varies too little beside what is taken away for its variance "
            f"to be known (squares {m2[k, j]:.3g}, error {error[k, j]:.1g}); fit again on the rows that stay; "
            "nothing was changed"
        )


def refuse_strangers(left: Array, mine: list[Array], theirs: list[Array], features: Index) -> None:
    """Raises where all values are taken away, but what is taken is not what there was."""
    (n, mean, m2), (_, mean2, m22) = mine, theirs
    near = 1e-6 * (np.abs(mean) + np.sqrt(np.divide(m2, n, out=np.zeros_like(m2), where=n > 0)))
    other = (left == 0) & (n > 0) & ((np.abs(mean - mean2) > near) | (np.abs(m2 - m22) > 1e-6 * m2 + near**2 * n))
    if other.any():
        k, j = (int(v) for v in np.argwhere(other)[0])
        raise NegativeCount(
            f"cannot forget what was never counted: feature {features.name(j)!r} has mean {mean[k, j]:.6g}, the values "
            f"to forget {mean2[k, j]:.6g}; nothing was changed"
        )


@dataclass(frozen=True, eq=False)
class Diagonal(Value):
    """Moments of each feature by itself, for every class."""

    rows: Array
    features: Index
    moments: Moments

    @property
    def n(self) -> Array:
        return self.moments.n

    @property
    def mean(self) -> Array:
        return self.moments.mean

    @property
    def variance(self) -> Array:
        return self.moments.variance

    def full(self) -> Diagonal:
        return self

    @cached_property
    def together(self) -> Diagonal:
        """The moments of all classes as those of one."""
        return Diagonal(np.atleast_1d(self.rows.sum()), self.features, self.moments.pooled().reshaped(1, -1))

    def without(self, x: Array, codes: Array, weight: Array) -> Moments:
        """Return for each row of numbers the moments of its class without it, rows by features; NaN is no number."""
        return self.moments.at(codes).without(x, weight)


@stored()
@dataclass(frozen=True, eq=False, repr=False)
class Comoments(Value):
    """Moments of pairs of features, per class: for each pair, over the rows that have both.

    `n[c, i, j]` is their number, `mean[c, i, j]` the mean of feature i over them, `m2[c, i, j]` the sum of products
    of deviations. Without missing values this is the scatter matrix of each class. `present` are the numbers of the
    classes that the arrays have rows for, ascending.
    """

    exact_rows: Array
    features: Index
    present: Array
    n: Array
    mean: Array
    m2: Array

    @cached_property
    def rows(self) -> Array:
        """The rows of each class as int64, or as the nearest float64."""
        return rounded(self.exact_rows)

    @classmethod
    def empty(cls, n_classes: int, features: Index) -> Self:
        none = np.zeros((0, features.size, features.size))
        return cls(np.zeros(n_classes, np.int64), features, np.zeros(0, np.int64), none, none, none)

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return 3 * self.n.size + len(self.exact_rows)

    def __add__(self, other: Self) -> Self:
        a, b = self._aligned(other)
        both = a.n + b.n
        share = np.divide(b.n, both, out=np.zeros_like(both), where=both > 0)
        step = b.mean - a.mean
        known = a.n > 0
        mean = np.where(known, a.mean + step * share, b.mean)
        with np.errstate(over="ignore", invalid="ignore"):
            m2 = a.m2 + b.m2 + np.where(known, _product(step) * a.n * share, 0.0)
        if not np.isfinite(m2).all():
            column = a.features.name(int(np.argwhere(~np.isfinite(m2))[0][1]))
            raise InputError(f"feature {column!r}: squares add up to more than float64 holds; rescale it")
        return replace(a, exact_rows=sum_of([a.exact_rows, b.exact_rows]), n=both, mean=mean, m2=m2)

    def minus(self, other: Self, classes: Index) -> Self:
        """Return the difference; raise NegativeCount or DigitsLost where there is none."""
        a, b = self._aligned(other)
        rows = rows_left(classes, a.exact_rows, b.exact_rows)
        if ((b.n - a.n) > 1e-9 * a.n).any():
            raise NegativeCount("cannot forget more values than were counted; nothing was changed")
        mine, theirs = ([_own(v) for v in (m.n, m.mean, m.m2)] for m in (a, b))
        left, own, error = split(*mine, *theirs)
        refuse_strangers(left, mine, theirs, a.features)
        refuse(left, own, error, a.features)
        n = np.where(np.abs(a.n - b.n) <= _ROUNDING * a.n, 0.0, a.n - b.n)
        ratio = np.divide(b.n, n, out=np.zeros_like(n), where=n > 0)
        step = b.mean - a.mean
        mean = np.where(n > 0, a.mean - step * ratio, 0.0)
        m2 = np.where(n > 0, a.m2 - b.m2 - _product(step) * a.n * ratio, 0.0)
        return replace(a, exact_rows=rows, n=n, mean=mean, m2=_bounded(m2, np.where(own <= error, 0.0, own)))

    def scaled(self, factors: Array) -> Self:
        """Return the moments as if each row weighed so many times as much, by class."""
        each = factors[self.present][:, None, None]
        return replace(self, exact_rows=scaled(self.exact_rows, factors), n=self.n * each, m2=self.m2 * each)

    def same(self, other: object) -> bool:
        """True if both hold the same moments, to within rounding."""
        if not isinstance(other, Comoments):
            return False
        try:
            a, b = self._aligned(other)
        except InputError:  # named on one side only
            return False
        deviation = np.sqrt(_own(np.divide(a.m2, a.n, out=np.zeros_like(a.m2), where=a.n > 0)).max(initial=0.0))
        scale = _bounded(np.full_like(a.m2, np.inf), np.maximum(_own(a.m2), _own(b.m2)))
        return (
            np.array_equal(*padded(a.exact_rows, b.exact_rows))
            and np.allclose(a.n, b.n, rtol=1e-9, atol=_FLOOR)
            and bool(np.allclose(a.mean, b.mean, rtol=1e-9, atol=1e-9 * deviation + _FLOOR))
            and bool((np.abs(a.m2 - b.m2) <= 1e-8 * scale + 1e-12 * a.n * a.mean**2 + _FLOOR).all())
        )

    def __repr__(self) -> str:
        return f"{self.features.size:_} features"

    def single(self) -> Diagonal:
        """The moments of each feature by itself."""
        each = self.full()
        n, mean, squares = (_own(values) for values in (each.n, each.mean, each.m2))
        variance = np.divide(squares, n, out=np.zeros_like(squares), where=n > 0)
        return Diagonal(self.rows, self.features, Moments(n, mean, variance))

    def full(self) -> Self:
        """With a row of the arrays for every class."""
        n_classes = len(self.exact_rows)
        if len(self.present) == n_classes:
            return self
        n, mean, m2 = (spread(v, n_classes, self.present) for v in (self.n, self.mean, self.m2))
        return replace(self, present=np.arange(n_classes), n=n, mean=mean, m2=m2)

    @property
    def together(self) -> Diagonal:
        """The moments of each feature by itself, of all classes as those of one."""
        return self.single().together

    def renumbered(self, n_classes: int, places: Array) -> Self:
        """The same with other numbers for the classes."""
        numbers = places[self.present]
        order = np.argsort(numbers)
        n, mean, m2 = (values[order] for values in (self.n, self.mean, self.m2))
        rows = spread(self.exact_rows, n_classes, places)
        return type(self)(rows, self.features, numbers[order], n, mean, m2)

    def without_classes(self, gone: Array) -> Self:
        """Without some classes (a mask), of which nothing is left."""
        mine, places = ~gone[self.present], np.cumsum(~gone) - 1
        n, mean, m2 = (v[mine] for v in (self.n, self.mean, self.m2))
        rows = spread(self.exact_rows, len(gone), None)[~gone]
        return type(self)(rows, self.features, places[self.present[mine]], n, mean, m2)

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        """Both over the same features and present classes: those of either."""
        if type(other) is not type(self):
            what = f"{type(self).__name__} and {type(other).__name__}"
            raise InputError(f"{what} cannot be put together; count the same way twice")
        features, renumber = self.features.union(other.features, "features")
        present = np.union1d(self.present, other.present)
        return self._over(features, present, None), other._over(features, present, renumber)

    def _over(self, features: Index, present: Array, renumber: Array | None) -> Self:
        if renumber is None and len(self.present) == len(present) and features.size == self.features.size:
            return replace(self, features=features)
        at = np.searchsorted(present, self.present)
        columns = np.arange(self.features.size) if renumber is None else renumber
        arrays = []
        for values in (self.n, self.mean, self.m2):
            wide = np.zeros((len(present), features.size, features.size))
            wide[np.ix_(at, columns, columns)] = values
            arrays.append(wide)
        return type(self)(self.exact_rows, features, present, *arrays)


def _product(step: Array) -> Array:
    """Return the products of the steps of two means, for each pair of features."""
    return step * step.transpose(0, 2, 1)


def _own(values: Array) -> Array:
    """The numbers of each feature with itself."""
    return np.einsum("cii->ci", values)


def _bounded(m2: Array, own: Array) -> Array:
    """`m2` with the squares of each feature as they are known, and nothing larger than they allow."""
    edge = np.sqrt(own)
    bound = edge[:, :, None] * edge[:, None, :]  # after Cauchy and Schwarz
    result = np.clip(m2, -bound, bound)
    np.einsum("cii->ci", result)[...] = own
    return result

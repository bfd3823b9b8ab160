"""Moments: what was seen of numbers, as count, mean and squares about the mean.

Merging follows Chan, Golub and LeVeque (1983) and loses no digits however far the mean is from zero. Subtracting
does lose some: it estimates how many, and refuses where the difference would not be true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively.cells import Array, close, whole
from naively.errors import Inexact, InputError, NeverCounted
from naively.names import Index
from naively.tally import rows_left, spread
from naively.values import Value

TOLERANCE = 1e-6
"""The largest error, relative to the variance left, with which a difference is still given."""

_ROUNDING = 8 * np.finfo(np.float64).eps
_FLOOR = 1e-12  # what is smaller compares as zero


def merge(n: Array, mean: Array, m2: Array, n2: Array, mean2: Array, m22: Array) -> tuple[Array, Array, Array]:
    """Moments of two sets of numbers as those of both together.

    >>> [float(v) for v in merge(*map(np.float64, (2, 1.5, 0.5, 1, 6.0, 0.0)))]
    [3.0, 3.0, 14.0]
    """
    both = n + n2
    share = np.divide(n2, both, out=np.zeros_like(both, dtype=np.float64), where=both > 0)
    step = mean2 - mean
    return both, np.where(n > 0, mean + step * share, mean2), m2 + m22 + np.where(n > 0, step * step * n * share, 0.0)


def split(n: Array, mean: Array, m2: Array, n2: Array, mean2: Array, m22: Array) -> tuple[Array, Array, Array, Array]:
    """Moments of what is left when a set is taken out of another; and the error of the last one."""
    left = n - n2
    left = np.where(np.abs(left) <= _ROUNDING * n, 0.0, left)
    some = left > 0
    ratio = np.divide(n2, left, out=np.zeros_like(left), where=some)
    step = mean2 - mean
    between = step * step * n * ratio
    unsure = _ROUNDING * np.maximum(np.abs(mean), np.abs(mean2))  # of the step
    error = _ROUNDING * (m2 + m22 + between) + (2 * np.abs(step) + unsure) * unsure * n * ratio + unsure**2 * n
    error = np.where((step == 0) & (m2 == m22), 0.0, error)
    return (
        left,
        np.where(some, mean - step * ratio, 0.0),
        np.where(some, m2 - m22 - between, 0.0),
        np.where(some, error, 0.0),
    )


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Value):
    """Count, mean and squared deviations per class and feature; missing values are in none of them.

    `a + b` merges, `a - b` forgets or refuses, `a == b` compares to within rounding.

    >>> from naively import GaussianNB
    >>> a = GaussianNB().fit([[1.0], [2.0]], ["x", "x"]).tally_
    >>> b = GaussianNB().fit([[6.0]], ["x"]).tally_
    >>> (a + b).mean, (a + b).m2
    (array([[3.]]), array([[14.]]))
    """

    classes: Index
    rows: Array
    features: Index
    present: Array  # numbers of the classes that the arrays below have rows for, ascending
    n: Array
    mean: Array
    m2: Array

    @classmethod
    def empty(cls, classes: Index, features: Index) -> Moments:
        none = np.zeros((0, features.size))
        return cls(classes, np.zeros(classes.size, np.int64), features, np.zeros(0, np.int64), none, none, none)

    @property
    def size(self) -> int:
        return 3 * self.n.size + self.classes.size

    def __add__(self, other: Moments) -> Moments:
        a, b = self._aligned(other)
        n, mean, m2 = merge(a.n, a.mean, a.m2, b.n, b.mean, b.m2)
        return replace(a, rows=whole(a.rows + b.rows), n=n, mean=mean, m2=m2)

    def __sub__(self, other: Moments) -> Moments:
        a, b = self._aligned(other)
        rows = rows_left(a.classes, a.rows, b.rows)
        if ((b.n - a.n) > 1e-9 * a.n).any():
            raise NeverCounted("cannot forget more values than were counted; nothing was changed")
        n, mean, m2, error = split(a.n, a.mean, a.m2, b.n, b.mean, b.m2)
        refuse_strangers(n, a.n, a.mean, a.m2, b.mean, b.m2, a.features)
        refuse(n, m2, error, a.features)
        return replace(a, rows=rows, n=n, mean=mean, m2=np.where(m2 <= error, 0.0, m2))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        try:
            a, b = self._aligned(other)
        except InputError:  # named on one side only
            return False
        scale = 1e-9 * np.maximum(a.m2, b.m2) + 1e-12 * a.n * a.mean**2 + _FLOOR
        return (
            close(a.rows, b.rows)
            and close(a.n, b.n)
            and bool(
                np.allclose(a.mean, b.mean, rtol=1e-9, atol=1e-9 * np.sqrt(a.variance().max(initial=0.0)) + _FLOOR)
            )
            and bool((np.abs(a.m2 - b.m2) <= scale).all())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Moments({self.rows.sum():_g} rows, {self.classes.size:_} classes, {self.features.size:_} features)"

    def without_classes(self, gone: Array) -> Moments:
        """Without some classes (a mask), of which nothing is left."""
        assert self.classes.names is not None
        kept, places = np.flatnonzero(~gone), np.cumsum(~gone) - 1
        mine = ~gone[self.present]
        n, mean, m2 = (v[mine] for v in (self.n, self.mean, self.m2))
        classes = Index.of(self.classes.names[kept])
        return Moments(classes, self.rows[kept], self.features, places[self.present[mine]], n, mean, m2)

    def full(self) -> Moments:
        """With a row of the arrays for every class."""
        if len(self.present) == self.classes.size:
            return self
        n, mean, m2 = (spread(v, self.classes.size, self.present) for v in (self.n, self.mean, self.m2))
        return replace(self, present=np.arange(self.classes.size), n=n, mean=mean, m2=m2)

    @cached_property
    def pooled(self) -> tuple[Array, Array, Array]:
        """Count, mean and squared deviations per feature, over all classes."""
        n, mean, m2 = np.zeros((3, self.features.size))
        for row in range(len(self.present)):
            n, mean, m2 = merge(n, mean, m2, self.n[row], self.mean[row], self.m2[row])
        return n, mean, m2

    def variance(self) -> Array:
        """Squared deviations over counts; 0 where nothing was seen."""
        return np.divide(self.m2, self.n, out=np.zeros_like(self.m2), where=self.n > 0)

    def _aligned(self, other: Moments) -> tuple[Moments, Moments]:
        if not isinstance(other, Moments):
            raise InputError(f"moments and {type(other).__name__} cannot be put together; count the same way twice")
        classes, moved = self.classes.united(other.classes, "classes")
        features, renumber = self.features.united(other.features, "features")
        theirs = other.present if moved is None else moved[other.present]
        present = np.union1d(self.present, theirs).astype(np.int64)
        return (
            self._over(classes, features, present, self.present, None, None),
            other._over(classes, features, present, theirs, moved, renumber),
        )

    def _over(
        self, classes: Index, features: Index, present: Array, mine: Array, moved: Array | None, renumber: Array | None
    ) -> Moments:
        rows = spread(self.rows, classes.size, moved)
        if len(mine) == len(present) and renumber is None and features.size == self.features.size and moved is None:
            return replace(self, classes=classes, features=features, present=present, rows=rows)
        at = np.searchsorted(present, mine)
        columns = np.arange(self.features.size) if renumber is None else renumber
        arrays = {}
        for name in ("n", "mean", "m2"):
            arrays[name] = np.zeros((len(present), features.size))
            arrays[name][np.ix_(at, columns)] = getattr(self, name)
        return Moments(classes, rows, features, present, **arrays)

    def to_arrow(self) -> Any:
        """As a `pyarrow.Table`, one row for each class and feature."""
        from naively.arrow import moments_to_arrow

        return moments_to_arrow(self)

    @staticmethod
    def from_arrow(table: Any) -> Moments:
        """From what `to_arrow` made."""
        from naively.arrow import moments_from_arrow

        return moments_from_arrow(table)


def refuse(n: Array, m2: Array, error: Array, features: Index) -> None:
    """Raises where a difference is wrong or not known well enough."""
    wrong = m2 < -error
    unsure = (error > TOLERANCE * np.abs(m2)) & (error > 0) & (n > 1)
    if wrong.any():
        k, j = (int(v) for v in np.argwhere(wrong)[0])
        raise NeverCounted(
            f"cannot forget what was never counted: feature {features.name(j)!r} would have a negative variance "
            f"({m2[k, j]:.3g} of {n[k, j]:g} values); nothing was changed"
        )
    if unsure.any():
        k, j = (int(v) for v in np.argwhere(unsure)[0])
        raise Inexact(
            f"feature {features.name(j)!r}: what is left varies too little beside what is taken away for its variance "
            f"to be known (squares {m2[k, j]:.3g}, error {error[k, j]:.1g}); fit again on the rows that stay; "
            "nothing was changed"
        )


def refuse_strangers(left: Array, n: Array, mean: Array, m2: Array, mean2: Array, m22: Array, features: Index) -> None:
    """Raises where all values are taken away, but what is taken is not what there was."""
    near = 1e-6 * (np.abs(mean) + np.sqrt(np.divide(m2, n, out=np.zeros_like(m2), where=n > 0)))
    other = (left == 0) & (n > 0) & ((np.abs(mean - mean2) > near) | (np.abs(m2 - m22) > 1e-6 * m2 + near**2 * n))
    if other.any():
        k, j = (int(v) for v in np.argwhere(other)[0])
        raise NeverCounted(
            f"cannot forget what was never counted: feature {features.name(j)!r} has mean {mean[k, j]:.6g}, the values "
            f"to forget {mean2[k, j]:.6g}; nothing was changed"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Comoments(Value):
    """Moments of pairs of features, per class: for each pair, over the rows that have both.

    `n[c, i, j]` is their number, `mean[c, i, j]` the mean of feature i over them, `m2[c, i, j]` the sum of products
    of deviations. Without missing values this is the scatter matrix of each class.
    """

    classes: Index
    rows: Array
    features: Index
    n: Array
    mean: Array
    m2: Array

    @classmethod
    def empty(cls, classes: Index, features: Index) -> Comoments:
        shape = (classes.size, features.size, features.size)
        return cls(classes, np.zeros(classes.size, np.int64), features, *(np.zeros(shape) for _ in range(3)))

    @property
    def size(self) -> int:
        return 3 * self.n.size + self.classes.size

    def __add__(self, other: Comoments) -> Comoments:
        a, b = self._aligned(other)
        both = a.n + b.n
        share = np.divide(b.n, both, out=np.zeros_like(both), where=both > 0)
        step = b.mean - a.mean
        cross = step * step.transpose(0, 2, 1)
        mean = np.where(a.n > 0, a.mean + step * share, b.mean)
        m2 = a.m2 + b.m2 + np.where(a.n > 0, cross * a.n * share, 0.0)
        return replace(a, rows=whole(a.rows + b.rows), n=both, mean=mean, m2=m2)

    def __sub__(self, other: Comoments) -> Comoments:
        a, b = self._aligned(other)
        rows = rows_left(a.classes, a.rows, b.rows)
        if ((b.n - a.n) > 1e-9 * a.n).any():
            raise NeverCounted("cannot forget more values than were counted; nothing was changed")
        diagonal = np.arange(a.features.size)
        on = (slice(None), diagonal, diagonal)
        n, _, m2, error = split(a.n[on], a.mean[on], a.m2[on], b.n[on], b.mean[on], b.m2[on])
        refuse_strangers(n, a.n[on], a.mean[on], a.m2[on], b.mean[on], b.m2[on], a.features)
        refuse(n, m2, error, a.features)
        left = np.where(np.abs(a.n - b.n) <= _ROUNDING * a.n, 0.0, a.n - b.n)
        some = left > 0
        ratio = np.divide(b.n, left, out=np.zeros_like(left), where=some)
        step = b.mean - a.mean
        mean = np.where(some, a.mean - step * ratio, 0.0)
        between = step * step.transpose(0, 2, 1) * a.n * ratio
        scatter = np.where(some, a.m2 - b.m2 - between, 0.0)
        scatter[on] = np.where(m2 <= error, 0.0, m2)
        bound = np.sqrt(scatter[on])  # after Cauchy and Schwarz
        scatter = np.clip(scatter, -bound[:, :, None] * bound[:, None, :], bound[:, :, None] * bound[:, None, :])
        return replace(a, rows=rows, n=left, mean=mean, m2=scatter)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comoments):
            return NotImplemented
        try:
            a, b = self._aligned(other)
        except InputError:  # named on one side only
            return False
        spread2 = np.einsum("cii->ci", a.m2)
        scale = np.sqrt(np.maximum(spread2[:, :, None] * spread2[:, None, :], 0))
        return (
            close(a.rows, b.rows)
            and close(a.n, b.n)
            and bool(np.allclose(a.mean, b.mean, rtol=1e-9, atol=1e-9 * np.sqrt(spread2.max(initial=0.0)) + _FLOOR))
            and bool((np.abs(a.m2 - b.m2) <= 1e-8 * scale + 1e-12 * a.n * a.mean**2 + _FLOOR).all())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Comoments({self.rows.sum():_g} rows, {self.classes.size:_} classes, {self.features.size:_} features)"

    def without_classes(self, gone: Array) -> Comoments:
        """Without some classes (a mask), of which nothing is left."""
        assert self.classes.names is not None
        n, mean, m2 = (v[~gone] for v in (self.n, self.mean, self.m2))
        return Comoments(Index.of(self.classes.names[~gone]), self.rows[~gone], self.features, n, mean, m2)

    def _aligned(self, other: Comoments) -> tuple[Comoments, Comoments]:
        if not isinstance(other, Comoments):
            raise InputError(f"comoments and {type(other).__name__} cannot be put together; count the same way twice")
        classes, moved = self.classes.united(other.classes, "classes")
        features, renumber = self.features.united(other.features, "features")
        return self._over(classes, features, None, None), other._over(classes, features, moved, renumber)

    def _over(self, classes: Index, features: Index, moved: Array | None, renumber: Array | None) -> Comoments:
        if moved is None and renumber is None and classes.size == len(self.rows) and features is self.features:
            return replace(self, classes=classes)
        at = np.arange(len(self.rows)) if moved is None else moved
        columns = np.arange(self.features.size) if renumber is None else renumber
        arrays = {}
        for name in ("n", "mean", "m2"):
            arrays[name] = np.zeros((classes.size, features.size, features.size))
            arrays[name][np.ix_(at, columns, columns)] = getattr(self, name)
        return Comoments(classes, spread(self.rows, classes.size, moved), features, **arrays)

    def to_arrow(self) -> Any:
        """As a `pyarrow.Table`, one row for each class and pair of features."""
        from naively.arrow import comoments_to_arrow

        return comoments_to_arrow(self)

    @staticmethod
    def from_arrow(table: Any) -> Comoments:
        """From what `to_arrow` made."""
        from naively.arrow import comoments_from_arrow

        return comoments_from_arrow(table)

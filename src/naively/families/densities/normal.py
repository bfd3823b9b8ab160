"""Normal densities of rows, each by the moments of all others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from naively.arrays import Array
from naively.errors import NegativeCount

VANISHING = 1e-200
"""Stands for a variance of zero, so that a feature that never varies decides before all others, but never as NaN."""


_LOST = 1e-6
"""Where less than this is left of the squares, too many digits are gone, and they are added up anew."""


@dataclass(frozen=True, eq=False)
class AllRows:
    """All rows there are: numbers (NaN: missing), the numbers of their classes, and weights."""

    x: Array
    codes: Array
    weight: Array

    def mended(
        self, left: tuple[Array, Array, Array], before: Array, first: int, n: Array, *, of_class: bool
    ) -> tuple[Array, Array, Array]:
        """Moments without each of some rows, added up from all others where subtracting has lost their digits."""
        many, mean, m2 = left
        worn = np.argwhere((m2 < _LOST * before) & (many > 0))
        for i, j in worn.tolist():
            row = first + i
            column = self.x[:, j]
            mine = ~np.isnan(column) & ((self.codes == self.codes[row]) if of_class else True)
            counted = n[self.codes[row], j] if of_class else n[j]
            if abs(self.weight[mine].sum() - counted) > 1e-9 * counted:  # others were counted that are not here
                m2[i, j] = 0.0 if m2[i, j] <= 1e-13 * before[i, j] else m2[i, j]
                continue
            mine[row] = False
            x, w = column[mine], self.weight[mine]
            mean[i, j] = (w @ x) / w.sum()
            mean[i, j] += (w @ (x - mean[i, j])) / w.sum()
            m2[i, j] = w @ (x - mean[i, j]) ** 2
        return many, mean, m2


class Normals:
    """Rows of numbers (NaN: missing), and the moments of each class without them."""

    def __init__(
        self, n: Array, mean: Array, m2: Array, pooled: tuple[Array, Array, Array], every: AllRows, rows: slice
    ):
        x, codes, weight = every.x[rows], every.codes[rows], every.weight[rows]
        self.x, self.codes = x, codes
        self.known = ~np.isnan(x)
        self.filled = np.where(self.known, x, 0.0)
        self.weight = np.where(self.known, weight[:, None], 0.0)
        self.of_classes = n, mean, m2
        left = self._without(n[codes], mean[codes], m2[codes])
        self.n, self.mean, self.m2 = every.mended(left, m2[codes], rows.start, n, of_class=True)
        left = self._without(*(np.broadcast_to(part, x.shape) for part in pooled))
        self.pooled = every.mended(left, np.broadcast_to(pooled[2], x.shape), rows.start, pooled[0], of_class=False)

    def _without(self, n: Array, mean: Array, m2: Array) -> tuple[Array, Array, Array]:
        """Count, mean and squares of a class without the row, rows by features."""
        left = n - self.weight
        if (left < -1e-9 * self.weight).any():
            raise NegativeCount("a row weighs more than was counted of its class: leave out rows that were counted")
        left = np.where(left <= 1e-12 * n, 0.0, left)
        step = np.where(self.known, self.filled - mean, 0.0)
        shift = np.divide(self.weight * step, left, out=np.zeros_like(step), where=left > 0)
        squares = np.maximum(m2 - self.weight * step * (step + shift), 0.0)
        return left, np.where(left > 0, mean - shift, 0.0), np.where(left > 0, squares, 0.0)

    @cached_property
    def pooled_variance(self) -> Array:
        """Over all classes, rows by features."""
        n, _, m2 = self.pooled
        return np.divide(m2, n, out=np.zeros_like(m2), where=n > 0)

    def likelihood(self, extra: Array, *, constant_says_nothing: bool = False) -> Array:
        """Log-densities, rows by classes; `extra` (rows by features, or by one) is added to the variances."""
        n, mean, m2 = (part[None] for part in self.of_classes)
        seen = np.broadcast_to(n > 0, (len(self.x), *n.shape[1:]))
        variance = np.divide(m2, n, out=np.zeros_like(m2), where=n > 0)
        mean, variance = (np.broadcast_to(part, seen.shape).copy() for part in (mean, variance))
        seen = seen.copy()
        rows = np.arange(len(self.x))
        mean[rows, self.codes] = self.mean
        variance[rows, self.codes] = np.divide(self.m2, self.n, out=np.zeros_like(self.m2), where=self.n > 0)
        seen[rows, self.codes] = self.n > 0
        # What a class never saw of a feature is as in all classes together.
        mean = np.where(seen, mean, self.pooled[1][:, None])
        variance = np.where(seen, variance, self.pooled_variance[:, None]) + np.asarray(extra)[:, None]
        variance = np.maximum(variance, VANISHING)
        tells = self.known & (self.pooled[0] > 0)
        if constant_says_nothing:
            tells &= self.pooled_variance > 0
        density = -0.5 * (np.log(2 * np.pi * variance) + (self.filled[:, None] - mean) ** 2 / variance)
        return np.where(tells[:, None], density, 0.0).sum(axis=2)

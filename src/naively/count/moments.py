"""Moments: how many values there are, their mean and their variance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from naively.arrays import Array, Places
from naively.errors import NegativeCount


class Moments(NamedTuple):
    """Count (by weight), mean and variance of values, as arrays of one shape; mean and variance are 0 for no values."""

    n: Array
    mean: Array
    variance: Array

    def at(self, index: Places) -> Moments:
        """Return the moments at an index of the arrays."""
        return Moments(*(part[index] for part in self))

    def reshaped(self, *shape: int) -> Moments:
        """Return the same moments as arrays of another shape."""
        return Moments(*(part.reshape(shape) for part in self))

    def replaced(self, index: Places, others: Moments) -> Moments:
        """Return the moments with others at an index."""
        copies = Moments(*(part.copy() for part in self))
        for copy, other in zip(copies, others, strict=True):
            copy[index] = other
        return copies

    def pooled(self) -> Moments:
        """Return the moments of all values along the first axis together."""
        n = self.n.sum(axis=0)
        share = np.divide(self.n, n, out=np.zeros_like(self.n), where=n > 0)
        mean = (share * self.mean).sum(axis=0)
        return Moments(n, mean, (share * (self.variance + (self.mean - mean) ** 2)).sum(axis=0))

    def without(self, x: Array, weight: Array) -> Moments:
        """Return each row of moments without one row of values; NaN in `x` takes nothing out.

        n' = n - w, mean' = mean - w/n' (x - mean), variance' = n/n' (variance - w/n' (x - mean)²).
        """
        known = ~np.isnan(x)
        weight = np.where(known, weight[:, None], 0.0)
        step = np.where(known, x - self.mean, 0.0)
        n = self.n - weight
        if (n < -1e-9 * weight).any():
            raise NegativeCount("a row weighs more than was counted of its class: leave out rows that were counted")
        n = np.where(n <= 1e-12 * self.n, 0.0, n)
        some = n > 0
        share = np.divide(weight, n, out=np.zeros_like(step), where=some)
        variance = (1.0 + share) * (self.variance - share * step * step)
        return Moments(n, np.where(some, self.mean - share * step, 0.0), np.where(some, np.maximum(variance, 0.0), 0.0))

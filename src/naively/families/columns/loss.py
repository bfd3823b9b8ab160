"""Leaving one row out: what the counts of one column say of each label when its own row is taken away."""

from __future__ import annotations

import numpy as np

from naively.arrays import Array
from naively.count.moments import Moments
from naively.families.columns.counted import CountedColumn, by_frequency
from naively.families.densities.base import NumberFamily, fitted

_MOST = 30.0
"""The largest loss of a single row, so that one surprise does not decide."""


def loss_by_bins(bins: Array, alpha: float) -> float:
    """Mean leave-one-out log-loss of the labels by the bins of one column (bins by classes)."""
    total, size = bins.sum(axis=0), len(bins)
    row, klass = np.nonzero(bins)
    count = bins[row, klass]
    one = np.minimum(count, 1.0)
    with np.errstate(divide="ignore"):
        others = np.log(bins + alpha) - np.log(total + alpha * size) + np.log(total)
        left = total[klass] - one
        own = np.log(count - one + alpha) - np.log(left + alpha * size) + np.log(left)
    return _mean_loss(count, own, _log_sum_of_others(others)[row, klass])


def loss_by_normal(x: Array, counts: Array, n: Array, mean: Array, variance: Array, floor: float) -> float:
    """The same by a normal density for each class; `x` are the numbers that the counts are of."""
    row, klass = np.nonzero(counts)
    at, centre, left = x[row], mean[klass], n[klass] - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        others = _log_density(x[:, None], mean, variance + floor) + np.log(n)
        apart = (n[klass] * centre - at) / left
        squares = np.maximum(n[klass] * variance[klass] - (at - centre) * (at - apart), 0.0)
        own = np.where(left > 0, _log_density(at, apart, squares / left + floor) + np.log(left), -np.inf)
    others = np.where(n > 0, others, -np.inf)
    return _mean_loss(counts[row, klass], own, _log_sum_of_others(others)[row, klass])


def _log_density(x: Array, mean: Array, variance: Array) -> Array:
    return -0.5 * (np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance)


def _mean_loss(counts: Array, own: Array, others: Array) -> float:
    """Mean loss of so many rows each whose class scores `own`, and all other classes together `others`."""
    if not len(counts):
        return 0.0
    with np.errstate(invalid="ignore"):
        loss = np.where(np.isneginf(own), _MOST, np.logaddexp(own, others) - own)
    return float(np.clip(loss, 0.0, _MOST) @ counts / counts.sum())


def _log_sum_of_others(scores: Array) -> Array:
    """For each class, the logarithm of the sum over all other classes.

    The largest of a row is never subtracted from a sum that it dominates, so no digits are lost.
    """
    rows, top = np.arange(len(scores)), scores.argmax(axis=1)
    highest = scores[rows, top]
    shift = np.where(np.isneginf(highest), 0.0, highest)[:, None]
    shares = np.exp(scores - shift)
    largest = shares[rows, top]
    shares[rows, top] = 0.0
    smaller = shares.sum(axis=1)
    rest = (smaller + largest)[:, None] - shares
    rest[rows, top] = smaller
    with np.errstate(divide="ignore"):
        return np.log(rest) + shift


def statistic_moments(family: NumberFamily, column: CountedColumn) -> Moments:
    """The moments of the statistics of a column, classes by statistics."""
    return _moments(np.stack(family.statistics(column.middle)), column.counts)


def _moments(statistics: Array, counts: Array) -> Moments:
    n = counts.sum(axis=0)
    share = np.divide(counts, n, out=np.zeros_like(counts), where=n > 0)
    mean = statistics @ share
    variance = np.stack([((t[:, None] - m) ** 2 * share).sum(axis=0) for t, m in zip(statistics, mean, strict=True)])
    return Moments(np.repeat(n[:, None], len(statistics), axis=1), mean.T, variance.T)


def column_parameters(family: NumberFamily, own: Moments, every: Moments, alpha: float) -> tuple[Array, ...]:
    """Return the parameters of columns, each fitted by itself; the last axes of moments are columns and statistics."""
    return tuple(v[..., 0] for v in fitted(family, own.at((..., None)), every.at((..., None)), alpha))


def loss_by_density(family: NumberFamily, x: Array, counts: Array, alpha: float) -> float:
    """The same by a density of a family for each class."""
    x, counts = _fewer(x, counts, max(_FEWEST, _MOST_DENSITIES // max(counts.shape[1], 1)))
    statistics = np.stack(family.statistics(x))
    own = _moments(statistics, counts)
    every = own.pooled()
    row, klass = np.nonzero(counts)
    left = own.at(klass).without(statistics[:, row].T, np.minimum(counts[row, klass], 1.0))
    with np.errstate(all="ignore"):
        others = family.log_density(x[:, None], column_parameters(family, own, every, alpha)) + np.log(own.n[:, 0])
        mine = family.log_density(x[row], column_parameters(family, left, every, alpha)) + np.log(left.n[:, 0])
    if np.isnan(mine).any() or np.isnan(others).any():
        return np.inf
    return _mean_loss(counts[row, klass], mine, _log_sum_of_others(others)[row, klass])


_MOST_DENSITIES, _FEWEST = 1 << 12, 64
"""Largest number of densities (values times classes) and least number of values that are compared."""


def _fewer(x: Array, counts: Array, most: int) -> tuple[Array, Array]:
    """Values and counts; where values are many, neighbours share their mean."""
    if len(x) <= most:
        return x, counts
    weight = counts.sum(axis=1)
    first = np.concatenate([[0], by_frequency(weight, most)])
    total = np.add.reduceat(weight, first)
    return np.add.reduceat(x * (weight / weight.max()), first) / (total / weight.max()), np.add.reduceat(counts, first)

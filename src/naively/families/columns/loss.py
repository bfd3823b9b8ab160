"""Leaving one row out: what the counts of one column say of each label when its own row is taken away."""

from __future__ import annotations

import numpy as np

from naively.arrays import Array

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

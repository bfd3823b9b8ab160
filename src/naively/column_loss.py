"""Leaving one row out: what the counts of one column say of each label when its own row is taken away."""

from __future__ import annotations

import numpy as np

from naively.cells import Array

_MOST = 30.0
"""The largest loss of a single row, so that one surprise does not decide."""


def loss_by_bins(bins: Array, alpha: float) -> float:
    """Mean log-loss of the labels of a column, told by its bins (bins by classes) alone."""
    total = bins.sum(axis=0)
    size = len(bins)
    one = np.minimum(bins, 1.0)
    with np.errstate(divide="ignore"):
        others = np.log(bins + alpha) - np.log(total + alpha * size) + np.log(total)
        own = np.log(bins - one + alpha) - np.log(total - one + alpha * size) + np.log(total - one)
    return _mean_loss(bins, own, others)


def loss_by_normal(x: Array, counts: Array, n: Array, mean: Array, m2: Array, floor: float) -> float:
    """The same, told by a normal density for each class; `x` are the numbers that the counts are of."""
    with np.errstate(divide="ignore", invalid="ignore"):
        others = _log_density(x[:, None], mean, m2 / n + floor) + np.log(n)
        left = n - 1.0
        apart = (n * mean - x[:, None]) / left
        squares = np.maximum(m2 - (x[:, None] - mean) * (x[:, None] - apart), 0.0)
        own = _log_density(x[:, None], apart, squares / left + floor) + np.log(left)
    others = np.where(n > 0, others, -np.inf)
    own = np.where(left > 0, own, -np.inf)
    return _mean_loss(counts, own, others)


def _log_density(x: Array, mean: Array, variance: Array) -> Array:
    return -0.5 * (np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance)


def _mean_loss(counts: Array, own: Array, others: Array) -> float:
    """Of rows of some kind (counts: kinds by classes) whose class scores `own`, and each other class `others`."""
    there = counts.any(axis=1)
    if not there.any():
        return 0.0
    counts, own, others = counts[there], own[there], others[there]
    seen = counts > 0
    rest = _without_own(others)
    top = np.maximum(rest, own)
    with np.errstate(invalid="ignore"):
        loss = top + np.log(np.exp(rest - top) + np.exp(own - top)) - own
    loss = np.where(np.isneginf(own), _MOST, loss)
    return float((np.clip(loss, 0.0, _MOST)[seen] * counts[seen]).sum() / counts.sum())


def _without_own(scores: Array) -> Array:
    """For each class, the log of the sum over all others: from those before it and those behind it."""
    never = np.full((len(scores), 1), -np.inf)
    before = np.logaddexp.accumulate(np.hstack([never, scores[:, :-1]]), axis=1)
    behind = np.logaddexp.accumulate(np.hstack([never, scores[:, :0:-1]]), axis=1)[:, ::-1]
    return np.logaddexp(before, behind)

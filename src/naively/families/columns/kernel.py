"""Kernel: a smooth density from the counts of values, kept as many narrow bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.arrays import Array
from naively.families.columns.bins import evenly, snapped
from naively.families.columns.counted import CountedColumn, by_frequency
from naively.families.columns.declared import Kernel

_BINS = 256
"""Number of bins between the smallest and the largest number."""
_CURVES = 512
"""Largest number of normal curves of a class; beyond that, neighbours share one."""
USUAL_BINS = 10  # a rule's pseudo-counts are in all as many as for a histogram of so many bins


def kernel_bins(rule: Kernel, column: CountedColumn) -> tuple[Array, Array, Array]:
    """Edges of the bins, what the normal curves about every number come to in each, and the curves' widths."""
    x, counts = column.middle, column.counts
    width = _widths(rule, x, counts)
    reach = 3.0 * float(width.max(initial=0.0))
    largest = np.finfo(np.float64).max / 4
    low, high = (np.clip(v, -largest, largest) for v in (x.min(initial=0.0) - reach, x.max(initial=0.0) + reach))
    edges = snapped(evenly(low, high, _BINS)[1:-1], column)
    bins = np.stack([_smoothed(x, counts[:, k], width[k], edges) for k in range(counts.shape[1])], axis=1)
    return edges, bins, width


def curve_between(centre: Array, width: Array, low: Array, high: Array) -> Array:
    """Return the part of a normal curve between two points; a curve without width lies at its centre."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        part = _below((high - centre) / width) - _below((low - centre) / width)
    return np.where(width > 0, part, (centre >= low) & (centre < high))


def _below(z: Array) -> Any:
    """Return the part of the normal curve below a point."""
    from scipy.special import ndtr

    return ndtr(z)


def _widths(rule: Kernel, x: Array, counts: Array) -> Array:
    """Return the width of the curves of each class: as given, or by Silverman's rule."""
    n = counts.sum(axis=0)
    if rule.bandwidth is not None:
        return np.full(len(n), float(rule.bandwidth))
    scale = max(float(np.abs(x).max(initial=0.0)), np.finfo(np.float64).tiny)
    each = _deviation(x / scale, counts) * scale
    overall = float(_deviation(x / scale, counts.sum(axis=1, keepdims=True))[0]) * scale
    return 1.06 * np.where(each > 0, each, overall) * np.maximum(n, 1.0) ** -0.2


def _deviation(x: Array, counts: Array) -> Array:
    n = np.maximum(counts.sum(axis=0), np.finfo(np.float64).tiny)
    mean = (counts * x[:, None]).sum(axis=0) / n
    return np.sqrt((counts * (x[:, None] - mean) ** 2).sum(axis=0) / n)


def _smoothed(x: Array, weight: Array, width: float, edges: Array) -> Array:
    """Return the probability between neighbouring edges under the curves of one class."""
    seen = weight > 0
    x, weight = x[seen], weight[seen]
    if not len(x):
        return np.zeros(len(edges) + 1)
    if len(x) > _CURVES:
        first = np.concatenate([[0], by_frequency(weight, _CURVES)])
        total = np.add.reduceat(weight, first)
        x, weight = np.add.reduceat(x * (weight / weight.max()), first) / (total / weight.max()), total
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        below = _below((edges - x[:, None]) / width) if width > 0 else (edges > x[:, None]).astype(np.float64)
    below = np.hstack([np.zeros((len(x), 1)), below, np.ones((len(x), 1))])
    return np.maximum(weight @ np.diff(below, axis=1), 0.0)

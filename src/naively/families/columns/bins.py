"""Bins: how a column of numbers is cut, chosen from its counts.

A bin begins at each edge, which is a number. "mdl" cuts in two, again and again, as long as that shortens the
description of the labels (Fayyad and Irani, 1993).
"""

from __future__ import annotations

import numpy as np

from naively import _core
from naively.arrays import Array
from naively.families.columns.counted import CountedColumn, by_frequency
from naively.store.damage import LARGEST

KINDS = ("mdl", "width", "frequency", "sqrt")
_USUAL = 10
"""Number of bins of equal width or frequency where no number is given."""


def edges(kind: str, many: int | None, column: CountedColumn) -> Array:
    """Return the starts of all bins but the first."""
    if len(column.least) < 2:
        return np.zeros(0)
    rows = column.rows
    if kind == "mdl":
        return between(column, _core.description_length_cuts(rows))
    if kind == "width":
        low, high = column.least[0], column.greatest[-1]
        return snapped(evenly(low, high, many or _USUAL)[1:-1], column)
    bins = int(np.sqrt(rows.sum())) if kind == "sqrt" else many or _USUAL
    return between(column, by_frequency(rows.sum(axis=1), min(max(bins, 1), len(column.least))))


def evenly(low: float, high: float, parts: int) -> Array:
    """Return evenly spaced numbers from low to high, without overflow."""
    share = np.linspace(0.0, 1.0, parts + 1)
    return low * (1.0 - share) + high * share


def between(column: CountedColumn, cuts: Array) -> Array:
    """The edges half-way between the values before and at each cut."""
    before, behind = column.greatest[cuts - 1], column.least[cuts]
    half = before / 2 + behind / 2
    return np.unique(np.clip(np.where((half > before) & (half <= behind), half, behind), -LARGEST, LARGEST))


def snapped(edges: Array, column: CountedColumn) -> Array:
    """Edges moved to where ranges of the column begin, so that no bin ends within one."""
    edges = np.unique(np.clip(edges, -LARGEST, LARGEST))
    if column.exact:
        return edges
    place = np.searchsorted(column.least, edges)
    return np.unique(np.where(place < len(column.least), column.least[np.minimum(place, len(column.least) - 1)], edges))


def binned(column: CountedColumn, counts: Array, at: Array) -> Array:
    """Counts of the values of a column by bin and class."""
    result = np.zeros((len(at) + 1, counts.shape[1]))
    np.add.at(result, np.searchsorted(at, column.least, side="right"), counts)
    return result


def bin_range(at: Array, first: int, last: int | None = None) -> str:
    """The numbers from one bin to another (default: of one bin), in words; the upper end is not among them.

    >>> at = np.array([2.0, 8.0])
    >>> bin_range(at, 0), bin_range(at, 1), bin_range(at, 2), bin_range(at, 1, 2)
    ('below 2', '2 to 8', '8 or more', '2 or more')
    """
    last = first if last is None else last
    if not len(at) or (first == 0 and last == len(at)):
        return "any number"
    ends = [f"{end:.6g}" for end in at.tolist()]
    if first == 0:
        return f"below {ends[last]}"
    return f"{ends[first - 1]} or more" if last == len(at) else f"{ends[first - 1]} to {ends[last]}"

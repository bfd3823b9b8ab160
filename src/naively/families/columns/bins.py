"""Bins: how a column of numbers is cut, chosen from its counts on the grid.

A column is given as its cells (ascending) and its counts, cells by classes. Edges are cells: a bin begins at each.
"mdl" cuts in two, again and again, as long as that shortens the description of the labels (Fayyad and Irani, 1993).
"""

from __future__ import annotations

import numpy as np

from naively import _core
from naively.arrays import Array
from naively.count.grid import cells_of, lowest, starts

KINDS = ("mdl", "width", "frequency", "sqrt")
_USUAL = 10
"""Number of bins of equal width or frequency where no number is given."""


def edges(kind: str, many: int | None, cells: Array, counts: Array) -> Array:
    """Where bins begin, but for the first."""
    if len(cells) < 2:
        return np.zeros(0, np.int64)
    if kind == "mdl":
        return between(cells, _core.description_length_cuts(counts))
    if kind == "width":
        low, high = starts(cells[[0, -1]])
        return np.unique(cells_of(evenly(low, high, many or _USUAL)[1:-1]))
    bins = int(np.sqrt(counts.sum())) if kind == "sqrt" else many or _USUAL
    return between(cells, by_frequency(counts.sum(axis=1), min(max(bins, 1), len(cells))))


def evenly(low: float, high: float, parts: int) -> Array:
    """Numbers from low to high, parts apart, however far that is."""
    share = np.linspace(0.0, 1.0, parts + 1)
    return low * (1.0 - share) + high * share


def between(cells: Array, cuts: Array) -> Array:
    """The edges half-way between the cells before and at each cut."""
    if not len(cuts):
        return np.zeros(0, np.int64)
    halves = cells_of(starts(cells[cuts - 1]) / 2 + starts(cells[cuts]) / 2)
    return np.clip(halves, cells[cuts - 1] + 1, cells[cuts])


def by_frequency(weight: Array, bins: int) -> Array:
    """Cuts into parts that hold as nearly the same as cells allow."""
    below = np.cumsum(weight)
    wanted = below[-1] * np.arange(1, bins) / bins
    at = np.searchsorted(below, wanted)  # the cell in which a part would end
    before = np.where(at > 0, below[at - 1], 0.0)
    cuts = np.unique(np.where(below[at] - wanted <= wanted - before, at + 1, at))
    return cuts[(cuts > 0) & (cuts < len(weight))]


def binned(cells: Array, counts: Array, at: Array) -> Array:
    """Counts by bin and class."""
    result = np.zeros((len(at) + 1, counts.shape[1]))
    np.add.at(result, np.searchsorted(at, cells, side="right"), counts)
    return result


def bin_range(at: Array, first: int, last: int | None = None) -> str:
    """The numbers from one bin to another (default: of one bin), in words; the upper end is not among them.

    >>> at = cells_of(np.array([2.0, 8.0]))
    >>> bin_range(at, 0), bin_range(at, 1), bin_range(at, 2), bin_range(at, 1, 2)
    ('below 2', '2 to 8', '8 or more', '2 or more')
    """
    last = first if last is None else last
    if not len(at) or (first == 0 and last == len(at)):
        return "any number"
    ends = [f"{end:.6g}" for end in lowest(at).tolist()]
    if first == 0:
        return f"below {ends[last]}"
    return f"{ends[first - 1]} or more" if last == len(at) else f"{ends[first - 1]} to {ends[last]}"

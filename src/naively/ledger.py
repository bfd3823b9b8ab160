"""Ledger: a growing sum of tallies in which adding a row costs what the row holds.

The sum is kept as a few tallies, each many times the size of the next. A new one goes to the end; neighbours of like
size are merged. So a number is merged again only as often as the sum has grown by some share, and no tally is ever
changed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from naively.cells import Array, Cells, whole
from naively.errors import NeverCounted
from naively.names import Index
from naively.tally import Features, Tally, rows_left
from naively.values import Value

Spectrum = Counter[tuple[int, float, float]]
_STEP = 16
"""How many times larger a level is than the next: more makes more merging, less more levels to look into."""


@dataclass(frozen=True, eq=False)
class View:
    """The counts of some features, numbered from 0 in `features`, with what is known of all of them.

    `entries` are (class, count, missing, how many features) for every feature that was seen, in view or not.
    """

    classes: Index
    rows: Array
    totals: Array
    every: Features
    features: Array | None
    width: int
    cells: Cells
    entries: tuple[Array, Array, Array, Array] | None = None


@dataclass(frozen=True, eq=False)
class Ledger(Value):
    """An immutable list of tallies that stands for their sum."""

    levels: tuple[Any, ...]
    spectrum: Spectrum | None = None

    @property
    def classes(self) -> Index:
        return max((level.classes for level in self.levels), key=len)

    @cached_property
    def features(self) -> Any:
        return reduce(lambda a, b: a.united(b, "features")[0], (level.features for level in self.levels))

    @cached_property
    def rows(self) -> Array:
        """Rows per class."""
        return _sum([level.rows for level in self.levels], self.classes.size)

    @cached_property
    def totals(self) -> Array:
        planes = [[level.totals[p] for level in self.levels] for p in range(len(self.levels[0].planes))]
        return np.array([_sum(parts, self.classes.size) for parts in planes])

    @cached_property
    def total(self) -> Any:
        """The sum as one value."""
        return reduce(add, reversed(self.levels))

    @property
    def size(self) -> int:
        return sum(level.size for level in self.levels)

    def collapsed(self) -> Ledger:
        """The same sum in one piece."""
        return self if len(self.levels) == 1 else Ledger((self.total,), self.spectrum)

    def add(self, value: Any) -> Ledger:
        return Ledger(_merged((*self.levels, value)), self._respread(value))

    def subtract(self, value: Any) -> Ledger:
        """Raises, and changes nothing, where the value was not part of the sum."""
        if not isinstance(value, Tally) or value.size * 4 > self.size:
            return Ledger((self.total - value,))
        rows_left(self.classes, self.rows, _sum([value.rows], self.classes.size))
        here = self.take(np.unique(value.cells.feature))
        try:
            _ = here - value.cells
        except NeverCounted as error:
            raise NeverCounted(f"cannot forget more than was counted: {error}; nothing was changed") from None
        return self.add(value.negated())

    def take(self, features: Array) -> Cells:
        """The cells of these features (sorted, each once)."""
        return reduce(add, (level.cells.take(features) for level in reversed(self.levels)))

    def view(self) -> View:
        """Everything."""
        total = self.total
        features = total.features
        return View(total.classes, total.rows, total.totals, features, None, features.size, total.cells)

    def view_of(self, features: Array) -> View:
        """Some features (sorted, each once), numbered in that order."""
        cells = self.take(features)
        local = Cells(np.searchsorted(features, cells.feature), cells.klass, cells.values)
        return View(self.classes, self.rows, self.totals, self.features, features, len(features), local)

    def with_spectrum(self) -> Ledger:
        """The same sum, with how often each count occurs, which `add` then keeps up to date."""
        if self.spectrum is not None:
            return self
        return Ledger((self.total,), _spectrum(self.total.cells))

    def _respread(self, value: Any) -> Spectrum | None:
        if self.spectrum is None or len(value.cells) * 8 > len(self.spectrum) + 4096:
            return None
        features = np.unique(value.cells.feature)
        before = self.take(features)
        spectrum = self.spectrum.copy()
        for cells, step in ((before, -1), (before + value.cells, 1)):
            for key in zip(cells.klass.tolist(), *cells.values.tolist(), strict=True):
                spectrum[key] += step
                if not spectrum[key]:
                    del spectrum[key]
        return spectrum


def entries_of(spectrum: Spectrum) -> tuple[Array, Array, Array, Array]:
    """The spectrum as arrays: class, count, missing, how many."""
    keys = np.array(list(spectrum.keys()), dtype=np.float64).reshape(-1, 3)
    return (
        keys[:, 0].astype(np.int64),
        keys[:, 1],
        keys[:, 2],
        np.fromiter(spectrum.values(), np.float64, len(spectrum)),
    )


def _spectrum(cells: Cells) -> Spectrum:
    """How many features have each count and number of missing values, for each class."""
    count, missing = cells.values
    most = int(count.max(initial=0)) + 1
    if count.dtype == np.int64 and not missing.any() and most * (int(cells.klass.max(initial=0)) + 1) < 1 << 24:
        many = np.bincount(cells.klass.astype(np.int64) * most + count)
        seen = np.flatnonzero(many)
        return Counter({(k // most, k % most, 0): n for k, n in zip(seen.tolist(), many[seen].tolist(), strict=True)})
    table = np.vstack([cells.klass, cells.values])
    table = table[:, np.lexsort(table)]
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(table, axis=1) != 0).any(axis=0)]))[: table.shape[1]]
    sizes = np.diff(np.append(starts, table.shape[1]))
    keys = zip(*table[:, starts].tolist(), strict=True)
    return Counter(dict(zip(keys, sizes.tolist(), strict=True)))


def _merged(levels: tuple[Any, ...]) -> tuple[Any, ...]:
    while len(levels) > 1 and levels[-2].size < _STEP * levels[-1].size:
        levels = (*levels[:-2], levels[-2] + levels[-1])
    return levels


def _sum(parts: list[Array], size: int) -> Array:
    result = np.zeros(size, np.result_type(*parts))
    for part in parts:
        result[: len(part)] += part
    return whole(result)

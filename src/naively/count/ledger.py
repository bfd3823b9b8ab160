"""Ledger: a growing sum of tallies in which adding a row costs what the row holds.

The sum is kept as a few tallies, each many times the size of the next. A new one goes to the end; neighbours of like
size are merged. So a number is merged again only as often as the sum has grown by some share, and no tally is ever
changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array, Value, whole
from naively.count.cells import Cells, NegativeCell, gathered
from naively.count.tally import Tally, missing_left, negative_count
from naively.errors import NoCounts
from naively.names import Index
from naively.store.registry import stored

_STEP = 16
"""How many times larger a level is than the next: more makes more merging, less more levels to look into."""


@dataclass(frozen=True, eq=False)
class View:
    """The counts that a family makes a table of: of all features, or of some with what is known of all.

    `features` are those in view, numbered from 0 (None: all), and `width` says how many they are. `every` are all
    features, in view or not. `entries` (class, count, missing, number of features) tell of all features that were seen;
    None where all are in view.
    """

    classes: Index
    rows: Array
    totals: Array
    every: Any
    features: Array | None
    width: int
    cells: Cells
    entries: tuple[Array, Array, Array, Array] | None = None

    def view(self) -> View:
        return self

    def with_fewer_rows(self, less: float) -> View:
        """The same counts with so many rows less in every class."""
        return replace(self, rows=np.maximum(self.rows - less, 0.0))


@stored()
@dataclass(frozen=True, eq=False)
class Ledger(Value):
    """An immutable list of tallies that stands for their sum."""

    levels: tuple[Any, ...]
    count_histogram: Cells | None = None

    @cached_property
    def classes(self) -> Index:
        return max((level.classes for level in self.levels), key=len)

    @cached_property
    def features(self) -> Any:
        return reduce(lambda a, b: a.union(b, "features")[0], (level.features for level in self.levels))

    @cached_property
    def rows(self) -> Array:
        """Rows per class."""
        return _sum([level.rows for level in self.levels], self.classes.size)

    @cached_property
    def known(self) -> Array:
        """Rows per class without those whose text is missing."""
        if all(level.missing is None for level in self.levels):
            return self.rows
        return _sum([level.known for level in self.levels], self.classes.size)

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
        return self if len(self.levels) == 1 else Ledger((self.total,), self.count_histogram)

    def add(self, value: Any) -> Ledger:
        return Ledger(_merged((*self.levels, value)), self._respread(value))

    def subtract(self, value: Any) -> Ledger:
        """Raises, and changes nothing, where the value was not part of the sum."""
        if not isinstance(value, Tally) or value.size * 4 > self.size:
            return Ledger((self.total - value,))
        rows = _sum([value.rows], self.classes.size)
        known = rows if value.missing is None else _sum([value.known], self.classes.size)
        missing_left(self.classes, (self.rows, self.known), (rows, known))
        features = np.unique(value.cells.feature)
        mine = Cells(np.searchsorted(features, value.cells.feature), value.cells.klass, value.cells.values)
        try:
            _ = self.take(features) - mine
        except NegativeCell as error:
            raise negative_count(int(features[error.feature]), error.klass, value.features, self.classes) from None
        return self.add(value.negated())

    def take(self, features: Array) -> Cells:
        """The cells of these features (sorted, each once), numbered by their place among them."""
        return gathered([level.cells for level in self.levels], features)

    def view(self) -> View:
        """Everything."""
        return View(self.classes, self.rows, self.totals, self.features, None, self.features.size, self.total.cells)

    def view_of(self, features: Array) -> View:
        """Some features (sorted, each once), numbered in that order."""
        entries = None if self.count_histogram is None else entries_of(self.count_histogram)
        some = features, len(features), self.take(features), entries
        return View(self.classes, self.rows, self.totals, self.features, *some)

    @cached_property
    def whole(self) -> bool:
        """Whether it holds whole numbers alone."""
        return all(level.cells.values.dtype == np.int64 for level in self.levels)

    def with_count_histogram(self) -> Ledger:
        """The same sum, with how often each count occurs, which `add` then keeps up to date.

        Without it where there are fractions, or counts too large for it.
        """
        if self.count_histogram is not None or not self.whole:
            return self
        total = self.total
        if len(total.cells) and total.cells.values.max() >= 1 << _KIND_BITS:
            return self
        return Ledger((total,), count_histogram_of(total.cells))

    def _respread(self, value: Any) -> Cells | None:
        """The histogram once the value is added; None where it would be as much work to make it anew."""
        if self.count_histogram is None or len(value.cells) * 8 > len(self.count_histogram) + 4096:
            return None
        cells = value.cells
        if cells.values.dtype != np.int64:
            return None
        before = reduce(add, (level.cells.look_up(cells.feature, cells.klass) for level in self.levels))
        try:
            return self.count_histogram + Cells(*_core.changed_kinds(before, cells.values, cells.klass))
        except OverflowError:
            return None


@stored()
@dataclass(frozen=True, eq=False)
class Uncounted(Value):
    """What is left of a sum whose counts were not kept: enough to predict by a table, and nothing to learn from."""

    classes: Index
    rows: Array
    features: Any

    @property
    def parts(self) -> dict[str, Uncounted]:
        """The same for each block of a mixed model."""
        return {name: Uncounted(self.classes, self.rows, features) for name, features in self.features.items()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NoCounts(
            "the model was saved frozen: it has its table, but no counts, so it can predict and no more; to learn, "
            "forget, merge, smooth or judge anew, use a model that was saved whole"
        )


# A histogram of counts is made of cells as well: its "features" are kinds of cells, a count and a number of missing
# values, and it tells how many features have a cell of that kind.
_KIND_BITS = 31  # as in the compiled core


def count_histogram_of(cells: Cells) -> Cells:
    """How many features have each count and number of missing values, for each class."""
    count, missing = cells.values
    most, classes = int(count.max(initial=0)) + 1, int(cells.klass.max(initial=0)) + 1
    if missing.any() or most * classes >= 1 << 24:
        return Cells(*_core.changed_kinds(np.zeros_like(cells.values), cells.values, cells.klass))
    many = np.bincount(count * classes + cells.klass)
    seen = np.flatnonzero(many)
    return Cells((seen // classes) << _KIND_BITS, (seen % classes).astype(np.int32), many[seen][None])


def entries_of(count_histogram: Cells) -> tuple[Array, Array, Array, Array]:
    """A histogram of counts as arrays: class, count, missing, number of features."""
    kind = count_histogram.feature
    return count_histogram.klass, kind >> _KIND_BITS, kind & ((1 << _KIND_BITS) - 1), count_histogram.values[0]


def _merged(levels: tuple[Any, ...]) -> tuple[Any, ...]:
    while len(levels) > 1 and levels[-2].size < _STEP * levels[-1].size:
        levels = (*levels[:-2], levels[-2] + levels[-1])
    return levels


def _sum(parts: list[Array], size: int) -> Array:
    """The sum of arrays of different lengths; what only rounding left of fractions is nothing."""
    result = np.zeros(size, np.result_type(*parts))
    for part in parts:
        result[: len(part)] += part
    if result.dtype == np.int64:
        return result
    scale = np.zeros(size)
    for part in parts:
        scale[: len(part)] += np.abs(part)
    return whole(np.where(np.abs(result) <= 1e-12 * scale, 0.0, result))

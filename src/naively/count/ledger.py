"""Ledger: a growing sum of tallies in which adding a row costs what the row holds.

Each part of the sum is kept as a few levels, each at least sixteen times the size of the next. A new part becomes
the last level; neighbours of like size are merged. So a count is merged again only when the sum has grown by a share,
and levels are immutable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array, Value, alike, plus, rounded
from naively.count.cells import Cells, NegativeCell, gathered
from naively.count.counts import Counts, negative_count, rows_left, spread, sum_of
from naively.count.tally import Part, Tally, check_classes, check_missing
from naively.errors import NoCounts
from naively.names import Index
from naively.store.damage import need
from naively.store.fits import fits
from naively.store.registry import stored

_STEP = 16
"""Ratio of the sizes of neighbouring levels: a larger one costs more merging, a smaller one gives more levels."""


@dataclass(frozen=True, eq=False)
class View:
    """The counts that a family makes a table of: of all features, or of some together with totals of all.

    `exact_totals` are the sums of each plane for each class: int64, FIXED or, where they were computed, float64.
    `features` are those in view, numbered from 0 (None: all), and `width` is their number. `all_features` are those in
    view and the others. `entries` (class, count, missing, number of features) sum up the cells of all features; None if
    all are in view.
    """

    classes: Index
    rows: Array
    exact_totals: Array
    all_features: Any
    features: Array | None
    width: int
    cells: Cells
    entries: tuple[Array, Array, Array, Array] | None = None

    @cached_property
    def totals(self) -> Array:
        """The sum of each plane for each class, as float64."""
        return rounded(self.exact_totals).astype(np.float64)

    def with_fewer_rows(self, less: float) -> View:
        """Return the same counts with `less` rows fewer in each class."""
        return replace(self, rows=np.maximum(self.rows - less, 0.0))


@stored()
@dataclass(frozen=True, eq=False)
class PartLedger(Value):
    """One part of a growing sum: an immutable list of parts that stands for their sum, and the classes."""

    classes: Index
    levels: tuple[Any, ...]

    @cached_property
    def features(self) -> Any:
        return reduce(lambda a, b: a.union(b, "features")[0], (level.features for level in self.levels))

    @property
    def features_or_none(self) -> Any:
        """The features; None if the part has no list of them. Counts of a file are not read for it."""
        return self.features if "features" in self.__dict__ or hasattr(self.levels[0], "features") else None

    @cached_property
    def exact_rows(self) -> Array:
        """Rows per class in which the features are known, int64 or FIXED."""
        return spread(sum_of([level.exact_rows for level in self.levels]), self.classes.size, None)

    @cached_property
    def rows(self) -> Array:
        """Rows per class as int64, or as the nearest float64."""
        return rounded(self.exact_rows)

    @cached_property
    def exact_totals(self) -> Array:
        """The sum of each plane for each class, int64 or FIXED."""
        return totals_of([level.exact_totals for level in self.levels], self.classes.size)

    @cached_property
    def totals(self) -> Array:
        """The sum of each plane for each class, as float64."""
        return rounded(self.exact_totals).astype(np.float64)

    @cached_property
    def total(self) -> Any:
        """The sum as one part."""
        return reduce(add, reversed(self.levels))

    @property
    def size(self) -> int:
        return sum(level.size for level in self.levels)

    def add(self, part: Any, classes: Index) -> PartLedger:
        """Return the sum with one more part; `classes` are those of both."""
        levels = (self.total,) if "total" in self.__dict__ else self.levels  # which has been added up already
        sum_ = PartLedger(classes, _merged((*levels, part)))
        features = self.__dict__.get("features")
        if features is not None and part.features is features:
            sum_.__dict__["features"] = features
        histogram = self._histogram_with(part)
        if histogram is not None:
            sum_.__dict__["count_histogram"] = histogram
        return sum_

    def subtract(self, part: Any, classes: Index) -> PartLedger:
        """Return the sum without a part; raise NegativeCount if the sum does not contain it."""
        if not isinstance(part, Counts) or part.size * 4 > self.size:
            return PartLedger(classes, (self.total.minus(part, classes),))
        rows_left(classes, self.exact_rows, part.exact_rows, part.rows_noun)
        try:
            _ = Cells(part.cells.feature, part.cells.klass, self._look_up(part.cells)) - part.cells
        except NegativeCell as error:
            raise negative_count(error.feature, error.klass, part.features, classes) from None
        return self.add(part.negated(), classes)

    def _look_up(self, cells: Cells) -> Array:
        """The exact values of the cells of the same features and classes."""
        return reduce(plus, (level.cells.exactly(cells.feature, cells.klass) for level in self.levels))

    def take(self, features: Array) -> Cells:
        """The cells of these features (sorted, each once), numbered by their place among them."""
        return gathered([level.cells for level in self.levels], features)

    def view(self) -> View:
        """Return the view of all features."""
        return View(
            self.classes, self.rows, self.exact_totals, self.features, None, self.features.size, self.total.cells
        )

    def view_of(self, features: Array) -> View:
        """Return the view of some features (sorted, each once), numbered in that order."""
        histogram = self.__dict__.get("count_histogram")
        entries = None if histogram is None else entries_of(histogram)
        selection = features, len(features), self.take(features), entries
        return View(self.classes, self.rows, self.exact_totals, self.features, *selection)

    @cached_property
    def whole(self) -> bool:
        """True if all counts are whole numbers."""
        return all(level.cells.exact.dtype == np.int64 for level in self.levels)

    @cached_property
    def count_histogram(self) -> Cells | None:
        """Number of cells with each count, kept up to date by `add`; None for fractions, or counts too large."""
        cells = self.total.cells if self.whole else None
        if cells is None or (len(cells) and cells.values.max() >= 1 << _KIND_BITS):
            return None
        return count_histogram_of(cells)

    def _histogram_with(self, part: Any) -> Cells | None:
        """Return the histogram with the part added; None if making it anew would be as much work."""
        histogram: Cells | None = self.__dict__.get("count_histogram")
        if histogram is None or len(part.cells) * 8 > len(histogram) + 4096 or part.cells.exact.dtype != np.int64:
            return None
        cells = part.cells
        try:
            return histogram + Cells(*_core.histogram_change(self._look_up(cells), cells.values, cells.klass))
        except OverflowError:
            return None


def _check_ledger(ledger: Ledger) -> None:
    check_classes(ledger.classes, ledger.exact_rows)
    for part in (ledger.parts or {}).values():
        need(part.classes.listed == ledger.classes.listed, "the classes of a part")
        need(part.levels and all(fits(Part, level) for level in part.levels), "the levels of a part")
        need(all(len(level.exact_rows) <= ledger.classes.size for level in part.levels), "the rows of a part")


@stored(check=_check_ledger)
@dataclass(frozen=True, eq=False)
class Ledger(Value):
    """The growing sum of a model: classes, rows per class and parts; parts are None in a frozen model."""

    classes: Index
    exact_rows: Array
    parts: dict[str, PartLedger] | None

    @cached_property
    def rows(self) -> Array:
        """Rows per class as int64, or as the nearest float64."""
        return rounded(self.exact_rows)

    @classmethod
    def of(cls, tally: Tally) -> Ledger:
        """The sum of one tally."""
        return cls(
            tally.classes, tally.exact_rows, {n: PartLedger(tally.classes, (p,)) for n, p in tally.parts.items()}
        )

    @property
    def counted(self) -> dict[str, PartLedger]:
        """The parts; raises NoCounts where the model was saved without them."""
        if self.parts is None:
            raise NoCounts(
                "the model was saved frozen: it has its table, but no counts, so it can predict and no more; to learn, "
                "forget, merge, smooth or judge anew, use a model that was saved whole"
            )
        return self.parts

    @cached_property
    def total(self) -> Tally:
        """The sum as one value."""
        return Tally(self.classes, self.exact_rows, {name: part.total for name, part in self.counted.items()})

    @cached_property
    def features(self) -> dict[str, Any]:
        """The features of each part; None where the part has no list of them."""
        return {name: part.features_or_none for name, part in self.counted.items()}

    @property
    def size(self) -> int:
        return sum(part.size for part in self.counted.values()) + self.classes.size

    def add(self, tally: Tally) -> Ledger:
        classes, places = self.classes.union(tally.classes, "classes")
        if places is not None:
            tally = tally.renumbered(classes, places)
        given: dict[str, Any] = tally.parts
        new = {
            n: PartLedger(self.classes, (part.absent(self.exact_rows),))
            for n, part in given.items()
            if n not in self.counted
        }
        parts = {name: part.add(given[name], classes) for name, part in (self.counted | new).items()}
        return Ledger(classes, spread(sum_of([self.exact_rows, tally.exact_rows]), classes.size, None), parts)

    def subtract(self, tally: Tally) -> Ledger:
        """Return the sum without a tally; raise NegativeCount if the sum does not contain it."""
        rows = rows_left(self.classes, self.exact_rows, tally.exact_rows)
        parts = {name: part.subtract(tally.parts[name], self.classes) for name, part in self.counted.items()}
        for name, part in self.counted.items():
            check_missing(self.classes, (self.exact_rows, part), (tally.exact_rows, tally.parts[name]))
        return Ledger(self.classes, rows, parts)

    def without_classes(self, empty: Array) -> Ledger:
        """Return the sum without some classes (a mask) that have no counts left."""
        return Ledger.of(self.total.without_classes(empty))


def totals_of(parts: list[Array], size: int) -> Array:
    """The sum of exact totals, planes by classes, for more or fewer classes."""
    return reduce(plus, (spread(part.T, size, None).T for part in alike(parts)))


# A histogram of counts is made of cells as well: its "features" are kinds of cells, a count and a number of missing
# values, and it tells how many features have a cell of that kind.
_KIND_BITS = 31  # as in the compiled core


def count_histogram_of(cells: Cells) -> Cells:
    """Return the number of features with each count and number of missing values, for each class."""
    count, missing = cells.values
    most, classes = int(count.max(initial=0)) + 1, int(cells.klass.max(initial=0)) + 1
    if missing.any() or most * classes >= 1 << 24:
        return Cells(*_core.histogram_change(np.zeros_like(cells.values), cells.values, cells.klass))
    n_features = np.bincount(count * classes + cells.klass)
    seen = np.flatnonzero(n_features)
    return Cells((seen // classes) << _KIND_BITS, (seen % classes).astype(np.int32), n_features[seen][None])


def entries_of(count_histogram: Cells) -> tuple[Array, Array, Array, Array]:
    """A histogram of counts as arrays: class, count, missing, number of features."""
    kind = count_histogram.feature
    return count_histogram.klass, kind >> _KIND_BITS, kind & ((1 << _KIND_BITS) - 1), count_histogram.values[0]


def _merged(levels: tuple[Any, ...]) -> tuple[Any, ...]:
    while len(levels) > 1 and levels[-2].size < _STEP * levels[-1].size:
        levels = (*levels[:-2], levels[-2] + levels[-1])
    return levels

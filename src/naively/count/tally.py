"""Tally: what was seen, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from naively.arrays import Array, Value, close, whole
from naively.count.cells import Cells, NegativeCell
from naively.count.columns import Categories
from naively.count.grid import Grid
from naively.count.vocabulary import WordFeatures
from naively.errors import InputError, NegativeCount
from naively.names import Index
from naively.store.registry import stored

Features = Index | Categories | Grid | WordFeatures
PLANES = {
    "counts": ("count",),
    "presence": ("count", "missing"),
    "events": ("count", "missing"),
    "categories": ("count",),
    "grid": ("count",),
    "words": ("occurrences", "documents", "weight"),
    "unweighted words": ("occurrences", "documents"),
}
"""What the cells of each kind of tally hold."""
WORDS = ("words", "unweighted words")
WEIGHT_UNIT = 2.0**-32
"""What one stands for in the weights of words."""


@stored()
@dataclass(frozen=True, eq=False, repr=False)
class Tally(Value):
    """Counts per class and feature: `a + b` merges, `a - b` forgets, `a == b` compares.

    >>> from naively import MultinomialNB
    >>> a = MultinomialNB().fit([[2, 0], [0, 1]], ["x", "y"]).tally_
    >>> b = MultinomialNB().fit([[0, 3]], ["z"]).tally_
    >>> a + b
    Tally(3 rows, 3 classes, 2 features)
    >>> a + b - b == a
    True

    Whole counts are int64 and exact, so merging in any order gives the same bits. Counts with fractional weights
    are float64, and compare equal to within rounding. Names of which nothing was seen do not make a difference.
    """

    kind: str
    classes: Index
    rows: Array
    features: Features
    cells: Cells
    missing: Array | None = None  # of the rows per class, those whose text is missing; None where there are none

    @classmethod
    def empty(cls, kind: str, classes: Index, features: Features) -> Tally:
        return cls(kind, classes, np.zeros(classes.size, np.int64), features, Cells.empty(len(PLANES[kind])))

    @property
    def known(self) -> Array:
        """Rows per class without those whose text is missing."""
        if self.missing is None:
            return self.rows
        left = self.rows - self.missing
        return left if left.dtype == np.int64 else np.where(np.abs(left) <= 1e-12 * np.abs(self.rows), 0.0, left)

    @property
    def planes(self) -> tuple[str, ...]:
        return PLANES[self.kind]

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return len(self.cells) * len(self.planes) + self.classes.size

    @cached_property
    def totals(self) -> Array:
        """For each kind of number, its sum for each class."""
        return self.cells.totals(self.classes.size)

    def __add__(self, other: Tally) -> Tally:
        mine, theirs = aligned(self, other)
        missing = mine.missing if theirs.missing is None else theirs.missing
        if mine.missing is not None and theirs.missing is not None:
            missing = some_or_none(whole(mine.missing + theirs.missing))
        return replace(mine, rows=whole(mine.rows + theirs.rows), cells=mine.cells + theirs.cells, missing=missing)

    def __sub__(self, other: Tally) -> Tally:
        mine, theirs = aligned(self, other)
        rows, missing = missing_left(mine.classes, (mine.rows, mine.known), (theirs.rows, theirs.known))
        try:
            cells = mine.cells - theirs.cells
        except NegativeCell as error:
            raise negative_count(error.feature, error.klass, mine.features, mine.classes) from None
        return replace(mine, rows=rows, cells=cells, missing=missing)

    def negated(self) -> Tally:
        """What adding would take away; only a step towards a difference."""
        missing = None if self.missing is None else -self.missing
        return replace(self, rows=-self.rows, cells=self.cells.negated(), missing=missing)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.kind != other.kind:
            return False
        try:
            mine, theirs = aligned(self, other)
        except InputError:  # named on one side only
            return False
        return close(mine.rows, theirs.rows) and close(mine.known, theirs.known) and mine.cells.same(theirs.cells)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        rows = self.rows.sum()
        shown = f"{int(rows):_}" if self.rows.dtype == np.int64 else f"{rows:_.6g} (weighted)"
        return f"Tally({shown} rows, {self.classes.size:_} classes, {self._shown_features()})"

    def _shown_features(self) -> str:
        if self.kind in WORDS:
            return f"{len(self.cells.features()):_} words"
        wide = self.features.columns.size if isinstance(self.features, Categories) else self.features.size
        return f"{wide:_} features"

    def without_classes(self, gone: Array) -> Tally:
        """Without some classes (a mask), and without their counts."""
        kept = np.flatnonzero(~gone)
        places = np.cumsum(~gone) - 1
        assert self.classes.names is not None
        classes = Index.of(self.classes.names[kept])
        missing = None if self.missing is None else self.missing[kept]
        mine = ~gone[self.cells.klass]
        cells = Cells(self.cells.feature[mine], self.cells.klass[mine], self.cells.values[:, mine])
        cells = cells.renumbered(None, places)
        return replace(self, classes=classes, rows=self.rows[kept], cells=cells, missing=missing)

    def dense(self, plane: int = 0) -> Array:
        """One kind of number as an array, classes by features."""
        if isinstance(self.features, (Categories, Grid)):
            raise InputError(f"a tally of {self.kind} has no single array; ask for a column")
        result = np.zeros((self.classes.size, self.features.size), self.cells.values.dtype)
        result[self.cells.klass, self.cells.feature] = self.cells.values[plane]
        return result

    def to_arrow(self) -> Any:
        """As a `pyarrow.Table`, one row for each cell."""
        from naively.count.arrow import tally_to_arrow

        return tally_to_arrow(self)

    @staticmethod
    def from_arrow(table: Any) -> Tally:
        """From what `to_arrow` made."""
        from naively.count.arrow import tally_from_arrow

        return tally_from_arrow(table)


def negative_count(feature: int, klass: int, features: Features, classes: Index) -> NegativeCount:
    """What to say of a cell of which more was to be forgotten than was counted."""
    name = features.name(feature)
    what = f"feature {name!r}"
    if isinstance(features, (Categories, Grid)):
        kind = "category" if isinstance(features, Categories) else "number"
        what = f"column {name[0]!r}, {'a missing value' if name[1] is None else f'{kind} {name[1]!r}'}"
    return NegativeCount(
        f"cannot forget more than was counted: {what} in class {classes.name(klass)!r}; nothing was changed"
    )


def some_or_none(missing: Array) -> Array | None:
    """Missing rows per class; None where no class has any, so that equal counts have equal fields."""
    return missing if missing.any() else None


def missing_left(classes: Index, counted: tuple[Array, Array], gone: tuple[Array, Array]) -> tuple[Array, Array | None]:
    """Rows per class after some have gone, and those of them whose text is missing.

    `counted` and `gone` are all rows and those whose text is known. Raises where there were fewer of either kind.
    """
    (rows, known), (gone_rows, gone_known) = counted, gone
    left = rows_left(classes, rows, gone_rows)
    if known is rows and gone_known is gone_rows:
        return left, None
    rows_left(classes, known, gone_known, "rows with a text")
    return left, some_or_none(rows_left(classes, rows - known, gone_rows - gone_known, "rows without a text"))


def rows_left(classes: Index, rows: Array, gone: Array, what: str = "rows") -> Array:
    """Rows per class after some have gone; raises where there were fewer."""
    left = rows - gone
    slack = 0 if left.dtype == np.int64 else 1e-9 * (np.abs(rows) + np.abs(gone))
    if (left < -slack).any():
        k = int(np.argmin(left))
        raise NegativeCount(
            f"cannot forget more than was counted: class {classes.name(k)!r} has {rows[k]:g} {what}, "
            f"{gone[k]:g} to forget; nothing was changed"
        )
    return whole(np.where(np.abs(left) <= slack, 0, left))


T = TypeVar("T", bound=Any)


def spread(values: Array, size: int, moved: Array | None) -> Array:
    """Values per class, in a longer or reordered list of classes."""
    if moved is None and len(values) == size:
        return values
    result = np.zeros((size, *values.shape[1:]), values.dtype)
    result[slice(len(values)) if moved is None else moved] = values
    return result


def aligned(a: Tally, b: Tally) -> tuple[Tally, Tally]:
    """Both over the same classes and features: those of either."""
    if not isinstance(b, Tally):
        raise InputError(f"a tally and {type(b).__name__} cannot be put together; count the same way twice")
    if a.kind != b.kind:
        raise InputError(f"a tally of {a.kind} and one of {b.kind} cannot be put together; count the same way twice")
    if a.classes is b.classes and a.features is b.features:
        return a, b
    classes, moved = a.classes.union(b.classes, "classes")
    features, renumber = a.features.union(b.features, "features")  # type: ignore[arg-type]
    change: Callable[[Array], Array] | None = renumber.__getitem__ if isinstance(renumber, np.ndarray) else renumber
    mine = replace(
        a,
        classes=classes,
        features=features,
        rows=spread(a.rows, classes.size, None),
        missing=None if a.missing is None else spread(a.missing, classes.size, None),
    )
    theirs = replace(
        b,
        classes=classes,
        features=features,
        rows=spread(b.rows, classes.size, moved),
        cells=b.cells.renumbered(change, moved),
        missing=None if b.missing is None else spread(b.missing, classes.size, moved),
    )
    return mine, theirs

"""Tally: the counts of some rows, as a value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from naively.arrays import Array, Value, less, rounded, scaled
from naively.count.counts import WORDS, Counts, padded, rows_left, spread, sum_of, verify_most, verify_rows
from naively.errors import InputError
from naively.names import Index
from naively.report import Report, Sheet
from naively.store.damage import COUNTS, are, need
from naively.store.registry import stored

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self


class Part(Protocol):
    """Counts or moments of some features, by number of class."""

    exact_rows: Array

    @property
    def size(self) -> int:
        """Number of stored numbers."""

    def __add__(self, other: Self) -> Self: ...

    def minus(self, other: Self, classes: Index) -> Self:
        """Subtract the other; raise NegativeCount if that is more than was counted."""

    def scaled(self, factors: Array) -> Self:
        """Return the counts times a factor for each class."""

    def same(self, other: object) -> bool:
        """True if both hold the same."""

    def renumbered(self, n_classes: int, places: Array) -> Self:
        """Return the same part with other numbers for the classes."""

    def without_classes(self, gone: Array) -> Self:
        """Return the part without some classes (a mask)."""


def check_classes(classes: Index, exact_rows: Array) -> None:
    """Raise FileError for classes without names, or without their rows."""
    need(classes.names is not None, "classes without names")
    need(are(exact_rows, COUNTS, classes.size), "the rows of classes")


def _check_tally(tally: Tally) -> None:
    check_classes(tally.classes, tally.exact_rows)
    need(all(len(part.exact_rows) == tally.classes.size for part in tally.parts.values()), "the rows of a part")


def _verify_tally(tally: Tally) -> None:
    verify_rows(tally.exact_rows)
    for part in tally.parts.values():
        verify_most(tally.exact_rows[: len(part.exact_rows)], part.exact_rows, "more rows with a text than there are")


@stored(check=_check_tally, verify=_verify_tally)
@dataclass(frozen=True, eq=False, repr=False)
class Tally(Value, Report):
    """The counts of some rows: classes, rows per class, and a part for each group of features that is counted alike.

    `a + b` merges, `a - b` forgets, `a * 0.5` lets each row count half, `a == b` compares.

    >>> from naively import MultinomialNB
    >>> a = MultinomialNB().fit([[2, 0], [0, 1]], ["x", "y"]).tally_
    >>> b = MultinomialNB().fit([[0, 3]], ["z"]).tally_
    >>> a + b
    Tally(3 rows, 3 classes, 2 features)
    >>> a + b - b == a
    True
    >>> sum([a, b]) == a + b
    True

    Counts are exact, so merging in any order gives the same bits. Names without any count do not make a difference.
    """

    classes: Index
    exact_rows: Array
    parts: dict[str, Part]

    @cached_property
    def rows(self) -> Array:
        """The rows of each class as int64, or, where weights have fractions, as the nearest float64."""
        return rounded(self.exact_rows)

    @property
    def part(self) -> Any:
        """The only part."""
        if len(self.parts) != 1:
            raise InputError(f"the tally has {len(self.parts)} parts, not one; name one: tally.parts[name]")
        return next(iter(self.parts.values()))

    @property
    def size(self) -> int:
        """Number of stored numbers."""
        return sum(part.size for part in self.parts.values()) + self.classes.size

    @property
    def features(self) -> dict[str, Any]:
        """The features of each part; None where the part has no list of them."""
        return {name: getattr(part, "features", None) for name, part in self.parts.items()}

    def __add__(self, other: Tally) -> Tally:
        mine = self.with_parts_of(other)
        classes, theirs = mine.aligned(other.with_parts_of(mine) if isinstance(other, Tally) else other)
        parts = {name: part + theirs.parts[name] for name, part in mine.parts.items()}
        return Tally(classes, sum_of([self.exact_rows, theirs.exact_rows]), parts)

    def with_parts_of(self, other: Any) -> Tally:
        """Return the tally with the parts that only the other one has, if all their columns may be missing."""
        others: dict[str, Any] = other.parts if isinstance(other, Tally) else {}
        absent = [name for name in others if name not in self.parts]
        if not absent or not all(hasattr(others[name], "absent") for name in absent):
            return self
        return replace(self, parts={**self.parts, **{name: others[name].absent(self.exact_rows) for name in absent}})

    def __radd__(self, other: int) -> Tally:
        """Return this tally for 0 + tally, which is how `sum` begins."""
        return self if other == 0 and isinstance(other, int) else NotImplemented

    def __sub__(self, other: Tally) -> Tally:
        classes, theirs = self.aligned(other)
        rows = rows_left(classes, self.exact_rows, theirs.exact_rows)
        parts = {name: part.minus(theirs.parts[name], classes) for name, part in self.parts.items()}
        for name, part in self.parts.items():
            check_missing(classes, (self.exact_rows, part), (theirs.exact_rows, theirs.parts[name]))
        return Tally(classes, rows, parts)

    def __mul__(self, factor: float) -> Tally:
        """Return the counts of rows that weigh so many times as much; where digits run out, they are rounded."""
        if not isinstance(factor, Real) or not 0 <= factor < np.inf:
            return NotImplemented
        return self.scaled(np.full(self.classes.size, float(factor)))

    __rmul__ = __mul__

    def scaled(self, factors: Array) -> Tally:
        """Return the counts times a factor for each class."""
        parts = {name: part.scaled(factors) for name, part in self.parts.items()}
        return Tally(self.classes, scaled(self.exact_rows, factors), parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        try:
            _, theirs = self.aligned(other)
        except InputError:
            return False
        same = np.array_equal(*padded(self.exact_rows, theirs.exact_rows))
        return same and all(part.same(theirs.parts[name]) for name, part in self.parts.items())

    def same_counts(self, other: Tally) -> bool:
        """True if both hold the same counts, those of numbers at the coarser of the two levels of each column.

        What was forgotten does not make a column finer again: `((a + b) - b).same_counts(a)` holds always,
        `(a + b) - b == a` where no column of numbers has become coarser by `b` (docs/decisions.md).
        """
        try:
            _, theirs = self.aligned(other)
        except InputError:
            return False
        pairs: list[tuple[Any, Any]] = [(part, theirs.parts[name]) for name, part in self.parts.items()]
        same = np.array_equal(*padded(self.exact_rows, theirs.exact_rows))
        return same and all(getattr(a, "same_counts", a.same)(b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def aligned(self, other: Tally) -> tuple[Index, Tally]:
        """Return the classes of both, and the other tally with its classes renumbered to match."""
        if not isinstance(other, Tally) or self.parts.keys() != other.parts.keys():
            theirs = f"one of {list(other.parts)}" if isinstance(other, Tally) else type(other).__name__
            raise InputError(
                f"a tally of {list(self.parts)} and {theirs} cannot be put together; count the same way twice"
            )
        classes, places = self.classes.union(other.classes, "classes")
        return classes, other if places is None else other.renumbered(classes, places)

    def renumbered(self, classes: Index, places: Array) -> Tally:
        """Return the same counts over other classes, in which its own have these numbers."""
        parts = {name: part.renumbered(classes.size, places) for name, part in self.parts.items()}
        return Tally(classes, spread(self.exact_rows, classes.size, places), parts)

    def in_order(self) -> Tally:
        """Return the same counts with the classes sorted by name."""
        order = self.classes.order
        if order is None:
            return self
        names = self.classes.names
        assert names is not None
        return self.renumbered(Index.of(names[order]), np.argsort(order))

    def without_classes(self, gone: Array) -> Tally:
        """Return the tally without some classes (a mask) and their counts."""
        assert self.classes.names is not None
        parts = {name: part.without_classes(gone) for name, part in self.parts.items()}
        return Tally(Index.of(self.classes.names[~gone]), self.exact_rows[~gone], parts)

    def to_arrow(self) -> pa.Table:
        """Return a `pyarrow.Table` of one row: a column for what a model file says of a tally, and one for each array.

        >>> from naively import MultinomialNB
        >>> tally = MultinomialNB().fit([[2, 0], [0, 1]], ["x", "y"]).tally_
        >>> tally.to_arrow()["tally.parts.features.cells.exact"].to_pylist()
        [[2, 1]]
        >>> Tally.from_arrow(tally.to_arrow()) == tally
        True
        """
        from naively.count.arrow import tally_to_arrow

        return tally_to_arrow(self)

    @staticmethod
    def from_arrow(table: pa.Table) -> Tally:
        """Return the tally of a table that `to_arrow` made, checked as a file is."""
        from naively.count.arrow import tally_from_arrow

        return tally_from_arrow(table)

    def __repr__(self) -> str:
        rows = self.rows.sum()
        n_rows = f"{int(rows):_}" if self.rows.dtype == np.int64 else f"{rows:_.6g} (weighted)"
        head = f"Tally({n_rows} rows, {self.classes.size:_} classes"
        if len(self.parts) == 1:
            return f"{head}, {self.part!r})"
        return ",\n  ".join([head, *(f"{name}: {part!r}" for name, part in self.parts.items())]) + ")"

    __str__ = __repr__

    def _sheets(self) -> tuple[Sheet, ...]:
        order = range(self.classes.size) if self.classes.order is None else self.classes.order.tolist()
        counts = [f"{n:_}" if isinstance(n, int) else f"{n:_.6g}" for n in self.rows.tolist()]
        rows = [(str(self.classes.name(k)), counts[k]) for k in order]
        if len(rows) > _MOST_SHOWN:
            rows[_MOST_SHOWN:] = [(f"{len(rows) - _MOST_SHOWN:_} more", "")]
        parts = tuple((name, repr(part)) for name, part in self.parts.items())
        return Sheet(("class", "rows"), tuple(rows)), Sheet(("part", "holds"), parts, align="l")


_MOST_SHOWN = 20
"""Number of classes that a notebook shows."""


def check_missing(classes: Index, mine: tuple[Array, Any], gone: tuple[Array, Any]) -> None:
    """Raise NegativeCount for forgetting more rows without a text than were counted; a pair is all rows and a part."""
    if isinstance(gone[1], Counts) and gone[1].kind in WORDS:
        without, gone_without = (less(*padded(rows, part.exact_rows)) for rows, part in (mine, gone))
        rows_left(classes, without, gone_without, "rows without a text")

"""Numbers: what was seen of columns of numbers, as moments and on a grid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from naively.arrays import Array, Value
from naively.count.moments import Moments
from naively.count.tally import Tally
from naively.errors import InputError
from naively.names import Index
from naively.store.registry import stored


@stored()
@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Value):
    """Moments of some columns and a grid of some: which of the two a column is weighed by is decided afterwards."""

    moments: Moments
    grid: Tally

    @property
    def classes(self) -> Index:
        return self.grid.classes

    @property
    def rows(self) -> Array:
        return self.grid.rows

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return self.moments.size + self.grid.size

    def __add__(self, other: Numbers) -> Numbers:
        return Numbers(self.moments + _numbers(other).moments, self.grid + other.grid)

    def __sub__(self, other: Numbers) -> Numbers:
        grid = self.grid - _numbers(other).grid  # exact, so it says first what was never counted
        return Numbers(self.moments - other.moments, grid)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Numbers):
            return NotImplemented
        return self.moments == other.moments and self.grid == other.grid

    __hash__ = None  # type: ignore[assignment]

    def without_classes(self, gone: Array) -> Numbers:
        """Without some classes (a mask), of which nothing is left."""
        grid = self.grid.without_classes(gone)
        return Numbers(replace(self.moments.without_classes(gone), classes=grid.classes), grid)

    def to_arrow(self) -> dict[str, Any]:
        """As two tables of Arrow."""
        return {"moments": self.moments.to_arrow(), "grid": self.grid.to_arrow()}

    @classmethod
    def from_arrow(cls, tables: dict[str, Any]) -> Numbers:
        """From what `to_arrow` made."""
        if not isinstance(tables, dict) or tables.keys() != {"moments", "grid"}:
            raise InputError("expected the two tables, moments and grid, that to_arrow() made")
        return cls(Moments.from_arrow(tables["moments"]), Tally.from_arrow(tables["grid"]))

    def __repr__(self) -> str:
        return f"Numbers({self.moments!r}, {self.grid!r})"


def _numbers(other: Any) -> Numbers:
    if not isinstance(other, Numbers):
        raise InputError(f"numbers and {type(other).__name__} cannot be put together; count the same way twice")
    return other

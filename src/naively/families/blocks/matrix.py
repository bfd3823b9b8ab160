"""Columns of numbers that one family reads together: events, parts of one whole, covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.ledger import PartLedger
from naively.families.base import Family, remainder
from naively.families.blocks.base import TableBlock, WholeBlock, checked
from naively.names import Index
from naively.read.columns import BOOLEAN, NUMBER, numbers
from naively.read.frame import Frame
from naively.read.matrix import interleaved
from naively.score.density import Density
from naively.score.table import CovarianceTable, LinearTable, Shares
from naively.smooth.rules import Smoothing
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class MatrixBlock(TableBlock):
    """Columns that their family reads as one array; `given` is its rule if that is not the model's smoothing."""

    name: str
    sources: tuple[str, ...]
    family: Family
    given: Any = None

    tables = (LinearTable, Density, CovarianceTable)

    def no_features(self) -> Index:
        return Index.of(list(self.sources))

    def count(self, frame: Frame, codes: Array, classes: Index, features: Index, weight: Array | None) -> Any:
        return self.family.count(self.read(frame, features), codes, classes, features, weight)

    def read(self, frame: Frame, features: Index) -> Array:
        return interleaved(self.columns_in(frame), len(frame), np.float64)

    def columns_in(self, frame: Frame) -> list[Array]:
        """Return the columns of a table that the block reads, as numbers."""
        return [numbers(checked(name, frame.get(name), (NUMBER, BOOLEAN), "numbers")[0]) for name in self.sources]

    def rule(self, smoothing: Smoothing) -> Any:
        return smoothing if self.given is None else self.given

    def missing_counts(self, ledger: PartLedger, rows: Array) -> Array | None:
        """Return missing counts; None if the family does not count missing values."""
        total = ledger.total
        if hasattr(total, "single"):
            return remainder(total.rows[:, None], total.single().full().n).T
        return total.dense(1).T if len(total.planes) > 1 else None

    def shares(self, table: Any, rows: Any) -> Shares:
        # In a column of numbers of events, 0 is a value like any other.
        return table.shares(rows, zeros=True) if isinstance(table, LinearTable) else table.shares(rows)

    def columns_of(self, drawn: Any, features: Index) -> dict[str, Any]:
        drawn = drawn.toarray() if hasattr(drawn, "toarray") else drawn
        return {name: drawn[:, j] for j, name in enumerate(self.sources)}


@stored()
@dataclass(frozen=True)
class ArrayBlock(WholeBlock):
    """The rows of an array or a sparse matrix; `columns` are their names, or their number."""

    family: Family
    columns: tuple[str, ...] | int

    name = "features"
    tables: ClassVar[tuple[type, ...]] = (LinearTable, Density, CovarianceTable)

    def no_features(self) -> Any:
        return Index(self.columns) if isinstance(self.columns, int) else Index.of(list(self.columns))

    def features_of(self, table: Any) -> Any:
        return table.features

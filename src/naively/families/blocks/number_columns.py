"""Columns of numbers, each by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.columns import CODE_BITS, MISSING
from naively.count.ledger import PartLedger
from naively.families.base import remainder
from naively.families.blocks.base import TableBlock, checked
from naively.families.columns.declared import Rule
from naively.families.columns.numeric import AnyNumbers, NumberColumns, NumberTable
from naively.names import Index
from naively.read.columns import BOOLEAN, NUMBER, numbers
from naively.read.frame import Frame
from naively.smooth.rules import Smoothing
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class NumberBlock(TableBlock):
    """The numeric columns of a table, each with a density of its own."""

    who: str
    columns: tuple[tuple[str, Rule], ...]

    name = "numbers"
    tables = (NumberTable,)

    @cached_property
    def family(self) -> AnyNumbers:
        return AnyNumbers(self.who, self.columns)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    def no_features(self) -> None:
        return None

    def count(self, frame: Frame, codes: Array, classes: Index, features: None, weight: Array | None) -> Any:
        return self.family.count(self.read(frame, features), codes, classes, features, weight)

    def read(self, frame: Frame, features: None) -> NumberColumns:
        arrays = []
        for name in self.sources:
            values, _ = checked(name, frame.get(name), (NUMBER, BOOLEAN), "numbers")
            arrays.append(numbers(values))
        return NumberColumns(self.sources, tuple(arrays), len(frame))

    def rule(self, smoothing: Smoothing) -> Smoothing:
        return smoothing

    def missing_counts(self, ledger: PartLedger, rows: Array) -> Array:
        total = ledger.total
        gridded, normal = self.family.gridded.lookup, self.family.normal.lookup
        cells, known = total.grid.cells, total.moments.full().n
        result = np.zeros((len(self.columns), len(rows)))
        for i, name in enumerate(self.sources):
            if name in gridded:
                mine = cells.feature == ((gridded[name] << CODE_BITS) | MISSING)
                result[i, cells.klass[mine]] = cells.values[0, mine]
            else:
                result[i] = remainder(total.rows, known[:, normal[name]])
        return result

    def ignored(self, table: Any) -> set[str]:
        return table.ignored

    def columns_of(self, drawn: dict[str, Array], features: None) -> dict[str, Any]:
        return drawn

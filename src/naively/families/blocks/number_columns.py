"""Columns of numbers and flags, each by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import PartLedger
from naively.families.blocks.base import TableBlock, checked
from naively.families.columns.declared import Bernoulli, Refitted, Rule, Undeclared
from naively.families.columns.number_table import NumberColumns, NumberTable
from naively.families.columns.numeric import DecidedColumns
from naively.names import Index
from naively.read.columns import BOOLEAN, NUMBER, numbers
from naively.read.frame import Frame
from naively.smooth.rules import Smoothing
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class NumberBlock(TableBlock):
    """The columns of numbers and flags of a table, each weighed as its counts suggest."""

    who: str
    columns: tuple[tuple[str, Rule], ...]

    name = "numbers"
    tables = (NumberTable,)

    @cached_property
    def family(self) -> DecidedColumns:
        return DecidedColumns(self.who, self.columns)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    def no_features(self) -> Index:
        return self.family.features

    def count(self, frame: Frame, codes: Array, classes: Index, features: Index, weight: Array | None) -> Any:
        return self.family.count(self.read(frame, features), codes, classes, features, weight)

    def read(self, frame: Frame, features: Index | None) -> NumberColumns:
        arrays = []
        for name in self.sources:
            values, _ = checked(name, frame.get(name), (NUMBER, BOOLEAN), "numbers")
            arrays.append(numbers(values))
        return NumberColumns(self.sources, tuple(arrays), len(frame))

    def rule(self, smoothing: Smoothing) -> Smoothing:
        return smoothing

    def missing_counts(self, ledger: PartLedger, rows: Array) -> Array:
        total = ledger.total
        missing = np.zeros((total.features.size, len(rows)))
        missing[:, : len(total.rows)] = total.missing()
        return missing[[total.features.lookup[name] for name in self.sources]]

    def ignored(self, table: Any) -> set[str]:
        return table.ignored

    def columns_of(self, drawn: dict[str, Array], features: Any) -> dict[str, Any]:
        flags = {name for name, rule in self.columns if rule in _FLAGS}
        return {name: _flags(x) if name in flags else x for name, x in drawn.items()}


_FLAGS = Undeclared(boolean=True), Refitted(Bernoulli(), boolean=True)


def _flags(x: Array) -> list[bool | None]:
    return [None if value != value else bool(value) for value in x.tolist()]

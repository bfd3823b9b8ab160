"""Columns of categories: each category has a code that never changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively.arrays import IntArray, Value
from naively.names import Index
from naively.store.damage import need
from naively.store.registry import stored

CODE_BITS = 32
MISSING = (1 << CODE_BITS) - 1
"""The code that stands for "missing" in a column of categories."""


def _check_categories(categories: Categories) -> None:
    need(categories.columns.size == len(categories.values), "one list of categories is needed for each column")


@stored(check=_check_categories)
@dataclass(frozen=True, eq=False, repr=False)
class Categories(Value):
    """Columns of categories. A feature is a column and a code: `column << 32 | code`, which never changes."""

    columns: Index
    values: tuple[Index, ...]

    @property
    def size(self) -> int:
        """Number of categories in all columns together."""
        return sum(v.size for v in self.values)

    @cached_property
    def sizes(self) -> IntArray:
        return np.array([v.size for v in self.values], dtype=np.int64)

    @cached_property
    def offsets(self) -> IntArray:
        """The first category of each column when the columns are joined."""
        return np.concatenate([[0], np.cumsum(self.sizes)])[:-1].astype(np.int64)

    def union(self, other: Categories, what: str) -> tuple[Categories, Any]:
        """Return the union, and a function from the other's features to their new numbers (None: they keep them)."""
        if other is self:
            return self, None
        columns, moved = self.columns.union(other.columns, f"columns of {what}")
        targets = moved if moved is not None else np.arange(other.columns.size)
        values = list(self.values) + [Index(0)] * (columns.size - len(self.values))
        codes: list[IntArray | None] = []
        for theirs, column in zip(other.values, map(int, targets), strict=True):
            values[column], recoded = values[column].union(theirs, f"categories of column {columns.name(column)!r}")
            codes.append(recoded)
        both = Categories(columns, tuple(values))
        if moved is None and all(c is None for c in codes):
            return both, None

        def renumber(feature: IntArray) -> IntArray:
            column, code = feature >> CODE_BITS, feature & MISSING
            result = code.copy()
            for j, recoded in enumerate(codes):
                if recoded is not None:
                    here = (column == j) & (code != MISSING)
                    result[here] = recoded[code[here]]
            return (targets[column] << CODE_BITS) | result

        return both, renumber

    def name(self, feature: int) -> Any:
        """Return the column and the category of a feature."""
        column, code = feature >> CODE_BITS, feature & MISSING
        return self.columns.name(column), None if code == MISSING else self.values[column].name(code)

    def __repr__(self) -> str:
        return f"Categories({self.columns.size} columns, {self.size} categories)"

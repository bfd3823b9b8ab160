"""Missingness: one yes/no feature per column, for whether its value is missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.arrays import Array, Value
from naively.count.columns import Categories
from naively.families.base import remainder
from naively.families.codes import CodeCounts, LeftOutCodes, code_table
from naively.names import Index
from naively.read.columns import missing
from naively.read.frame import Frame
from naively.score.table import CodeTable, Shares
from naively.smooth.evidence import Draws
from naively.smooth.logs import Logs
from naively.smooth.rules import Settled, Smoothing
from naively.store.damage import need
from naively.store.registry import stored


def _check_missingness(missingness: Missingness) -> None:
    need(len(missingness.names) == missingness.table.categories.columns.size, "columns that may be missing")


@stored(check=_check_missingness)
@dataclass(frozen=True, eq=False)
class Missingness(Value):
    """One yes/no feature per column: is its value missing?"""

    names: tuple[str, ...]
    table: CodeTable
    counts: Array  # how often each value is there and missing, by classes
    rule: Settled

    @classmethod
    def of(
        cls, who: str, classes: Index, rows: Array, names: list[str], missing_by_column: list[Array], rule: Smoothing
    ) -> Missingness:
        """Return the table; `missing_by_column` has for each column its missing values by class."""
        missing_rows = np.array(missing_by_column).reshape(len(names), classes.size)
        counts = (
            np.stack([remainder(rows, missing_rows), missing_rows], axis=1)
            .reshape(2 * len(names), classes.size)
            .astype(np.float64)
        )
        counted = _counted(counts, rows)
        settled = rule.settle(lambda: Draws.of(counts, counted.known, 2.0))
        columns = Categories(Index.of([f"{name} missing" for name in names]), (Index(2),) * len(names))
        sizes = np.full(len(names), 2)
        table = code_table(who, classes, columns, np.zeros(classes.size), sizes, counted.logs(settled))
        return cls(tuple(names), table, counts, settled)

    @property
    def missing_counts(self) -> tuple[list[str], list[Array]]:
        """The columns, and for each its missing values by class."""
        return list(self.names), list(self.counts[1::2])

    def codes(self, X: Frame) -> Array:
        """Return 1 for each missing value, rows by columns."""
        result = np.empty((len(X), len(self.names)), np.uint8)
        for j, name in enumerate(self.names):
            result[:, j] = missing(X.get(name))
        return result

    def shares(self, codes: Array) -> Shares:
        return self.table.shares(codes)

    def left_out(self, X: Frame, rows: Array, codes: Array, weight: Array | None) -> Logs:
        """Return the scores of each row by the other rows; `rows` are those of each class."""
        found = self.codes(X)
        each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
        return LeftOutCodes.of(_counted(self.counts, rows), found, codes, each).left_out(self.table, self.rule, found)


def _counted(counts: Array, rows: Array) -> CodeCounts:
    """Return the counts of yes and no for each column; `rows` are those of each class."""
    columns = len(counts) // 2
    known = np.broadcast_to(rows.astype(np.float64), (columns, len(rows)))
    return CodeCounts(counts, np.repeat(np.arange(columns), 2), known, np.full(columns, 2))

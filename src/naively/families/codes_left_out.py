"""Rows of codes left out: only the counts of a row's own class change, by one in each of its categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.count.columns import Categories
from naively.errors import NegativeCount
from naively.families.base import remainder
from naively.families.counts_left_out import unsorted
from naively.score.table import CodeTable, missing_codes
from naively.smooth.rules import Logs, Smoothing


@dataclass(frozen=True, eq=False)
class LeftOutCodes(Value):
    """Rows by columns: counts that are left of a row's categories in its own class, without the row."""

    codes: Array  # the class of each row
    missing: Array
    at: Array  # the category, all of them standing in one line; 0 where there is none
    left: Array
    known: Array
    alone: Array  # True where no other row has the category
    size: Array  # the number of categories of each column

    @classmethod
    def of(
        cls, X: Array, codes: Array, weight: Array, counts: Array, known: Array, categories: Categories,
        share: Array | None = None,
    ) -> LeftOutCodes:  # fmt: skip
        """`counts` are those of all categories in one line, `known` the rows in which a column is (both by classes).

        `share` is what part of a row went to the category that it is in (None: all of it).
        """
        missing, each = missing_codes(X), weight[:, None]
        code = np.where(missing, 0, X).astype(np.int64)
        none = missing | (code < 0) | (code >= categories.sizes)
        at = np.where(none, 0, categories.offsets + code)
        counts = counts if len(counts) else np.zeros((1, known.shape[1]))
        there = np.where(none, 0.0, counts[at, codes[:, None]])
        part = np.where(missing, 0.0, each if share is None else each * share)
        left, rows = there - part, known.T[codes]
        beyond_all = left < -1e-9 * np.maximum(part, rows)  # counts may be differences themselves
        if beyond_all.any():
            raise NegativeCount(
                f"row {int(np.argmax(beyond_all.any(axis=1)))} holds more than was counted of its class: leave out "
                "rows that the model was fitted on"
            )
        left = np.where(left <= 1e-12 * there, 0.0, left)
        alone = (counts.sum(axis=1)[at] - part <= 1e-12 * part) & ~missing
        return cls(codes, missing, at, left, remainder(rows, each), alone, np.maximum(categories.sizes, 1.0))

    def sums(self, values: Array) -> Array:
        """Sums over the columns that each row has."""
        return np.where(self.missing, 0.0, values).sum(axis=1)


def codes_left_out(
    own: LeftOutCodes, table: CodeTable, rule: Smoothing, X: Array, *, ignore: bool, share: Any = 1.0
) -> Logs:
    """Rows by classes; `ignore` leaves out a category that no other row has, `share` is what a rule's pseudo-counts
    are multiplied with, for each column."""
    finite, impossible = unsorted(table.score(X), table.classes)
    finite = finite.copy()
    pseudo = np.broadcast_to(rule.pseudo(None) * share, (len(table.sizes),))
    mine, mine_odd = rule.log(own.left, own.known, pseudo, pseudo * own.size, own.size)
    if ignore and own.alone.any():
        row, column = np.nonzero(own.alone)
        at, classes = own.at[row, column], finite.shape[1]
        np.subtract.at(finite, row, table.weights[at, :classes])
        mine = np.where(own.alone, 0.0, mine)
        if impossible is not None and table.impossible is not None:
            impossible = impossible.copy()
            np.subtract.at(impossible, row, table.impossible[0][at, :classes])
        mine_odd = None if mine_odd is None else np.where(own.alone, 0.0, mine_odd)
    rows = np.arange(len(own.codes))
    finite[rows, own.codes] = own.sums(mine)
    if impossible is not None:
        impossible = impossible.copy()
        impossible[rows, own.codes] = 0.0 if mine_odd is None else own.sums(mine_odd)
    return finite, impossible
